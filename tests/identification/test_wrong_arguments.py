"""What is no log, no setting and no chunk is refused by name: never taken as zeros, never an error of NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from identification.arms import planar
from kane.errors import InputError, KaneError, ShapeError
from kane.identification import FourierMotion, IdentificationWarning, Identifier
from kane.mechanism.model import Link, Mechanism

NAN, INF = float("nan"), float("inf")


class Log:
    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        motion = FourierMotion(("j1", "j2"), 5.0, np.zeros(2), *0.3 * rng.normal(size=(2, 2, 3)))
        self.t = np.arange(0.0, 5.0, 0.01)
        self.q, self.qd, self.qdd = motion(self.t)
        model = Identifier(planar()).model
        self.tau = model.torque(self.q, self.qd, self.qdd, model.prior)
        self.prior = model.prior

    @property
    def arrays(self) -> dict[str, Any]:
        return {"q": self.q, "qd": self.qd, "qdd": self.qdd, "tau": self.tau}


@pytest.fixture(scope="module")
def log() -> Log:
    return Log()


SPOILT: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda a: None,
    "text": lambda a: "x",
    "texts": lambda a: a.astype(str),
    "an object": lambda a: object(),
    "complex": lambda a: 1j * a,
    "not a number": lambda a: a * NAN,
    "infinite": lambda a: a + INF,
    "beyond all measure": lambda a: a * 1e200,
    "empty": lambda a: a[:0],
    "short": lambda a: a[:5],
    "one joint": lambda a: a[:, :1],
    "ragged": lambda a: [[1.0, 2.0], [3.0]],
    "missing values": lambda a: np.where(np.abs(a) >= 0, None, None),
    "three axes": lambda a: a[None],
}


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("name", ["q", "qd", "qdd", "tau"])
def test_spoilt_arrays(log: Log, name: str, how: str) -> None:
    given = {**log.arrays, name: SPOILT[how](log.arrays[name])}
    with pytest.raises(InputError if how in ("not a number", "infinite", "beyond all measure")
                       else ShapeError, match=rf"\b{name}\b"):  # fmt: skip
        Identifier(planar()).fit(**given)
    with pytest.raises(KaneError, match=rf"\b{name}\b"):
        Identifier(planar()).fit_chunks([list(given.values())])
    fitted = Identifier(planar()).fit(**log.arrays)
    for judge in (fitted.score, fitted.prediction_error):
        with pytest.raises(KaneError, match=rf"\b{name}\b"):
            judge(**given)
    if name in ("q", "tau"):
        with pytest.raises(KaneError):
            Identifier(planar()).fit_raw(log.t, given["q"], given["tau"], 10.0)


@pytest.mark.parametrize("t", ["x", ["a"] * 500, object(), np.zeros((500, 1)), np.zeros(3), np.full(500, NAN), 1j])
def test_spoilt_times(log: Log, t: Any) -> None:
    with pytest.raises(KaneError, match=r"\bt\b|Time"):
        Identifier(planar()).fit(**log.arrays, t=t)
    with pytest.raises(KaneError, match=r"\bt\b|Time"):
        Identifier(planar()).fit_raw(t, log.q, log.tau, 10.0)
    with pytest.raises(ShapeError, match="t is not an array"):
        Identifier(planar()).fit_raw(None, log.q, log.tau, 10.0)


@pytest.mark.parametrize("cutoff", [0, -1, NAN, INF, "x", None, True, 1e-9, 0.1, 50.0, 1e9])
def test_cutoffs(log: Log, cutoff: Any) -> None:
    with pytest.raises(InputError, match="cutoff"):
        Identifier(planar()).fit_raw(log.t, log.q, log.tau, cutoff)


@pytest.mark.parametrize("chunks", [None, 5, "x", [], [()], [(1, 2)], [np.zeros(3)], [5], [None], ["abcd"]], ids=str)
def test_what_are_no_chunks(chunks: Any) -> None:
    with pytest.raises(KaneError, match=r"[Cc]hunk|There are no samples"):
        Identifier(planar()).fit_chunks(chunks)
    with pytest.raises(KaneError, match=r"[Cc]hunk|There are no samples"):
        Identifier(planar()).fit_raw_chunks(chunks, 10.0)


def test_torques_are_not_left_out_of_a_chunk(log: Log) -> None:
    with pytest.raises(ShapeError, match="Chunk 0 is 3 arrays"):
        Identifier(planar()).fit_chunks([(log.q, log.qd, log.qdd)])


@pytest.mark.parametrize("size", [1, 3, 7, 50, 499])
def test_chunks_too_short_for_the_filters_wait_for_the_next(log: Log, size: int) -> None:
    """Noiseless samples, in pieces of any size: what is found is what was put in, and no piece is lost."""
    pieces = [slice(i, i + size) for i in range(0, len(log.t), size)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)
        found = Identifier(planar()).fit_raw_chunks(((log.t[s], log.q[s], log.tau[s]) for s in pieces), 20.0)
        whole = Identifier(planar()).fit_raw(log.t, log.q, log.tau, 20.0)
    assert found.coef_ == pytest.approx(log.prior, abs=2e-2)
    assert found.n_samples_ >= 0.8 * whole.n_samples_


@pytest.mark.parametrize(
    "setting",
    [{"method": m} for m in ("x", None, 5)] + [{"correlated": c} for c in ("x", 5)] + [{"consistent": "yes"}]
    + [{"prior_weight": w} for w in (-1, NAN, "x", None)] + [{"accept": a} for a in ("range", None, 5, [1])]
    + [{"rotors": "x"}, {"friction": 5}, {"coulomb_width": -1}, {"coulomb_width": NAN}, {"robot": 5}],
    ids=str,
)  # fmt: skip
def test_settings(log: Log, setting: dict[str, Any]) -> None:
    name = next(iter(setting)).removeprefix("coulomb_")
    with pytest.raises(InputError, match=name):
        Identifier(**{"robot": planar(), **setting}).fit(**log.arrays)
    with pytest.raises(InputError, match=name):
        Identifier(planar()).set_params(**setting).fit(**log.arrays)


def test_nothing_is_learned_yet() -> None:
    fresh = Identifier(planar())
    for name in ("coef_", "x_", "tolerances_", "impossible_"):
        assert not hasattr(fresh, name)
    with pytest.raises(AttributeError, match=r"coef_ yet: it is learned by fit"):
        _ = fresh.coef_
    states = np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 2))
    for call in (fresh.table, fresh.as_dict, fresh.to_mechanism, lambda: fresh.predict(*states)):
        with pytest.raises(InputError, match=r"learned nothing yet\. Call fit first"):
            call()


@pytest.mark.parametrize("factors", [None, 5, "x", np.zeros((2, 3))], ids=str)
def test_what_are_no_factors(factors: Any) -> None:
    with pytest.raises(InputError, match="no factors"):
        Identifier(planar()).fit_factors(factors)


def test_a_robot_in_which_nothing_moves() -> None:
    with pytest.raises(InputError, match="No joint of stone moves"):
        Identifier(Mechanism("stone", (Link("base"),), ())).fit(*(np.zeros((5, 0)),) * 4)
