"""What simulate, batches, steppers, controllers and results are handed wrongly: refused at once by an error of kane
that names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kane
from kane.simulation import (
    Contact,
    Controller,
    Event,
    Model,
    Profile,
    Stepper,
    computed_torque,
    drive,
    gravity_compensation,
    operational_space,
    pd,
    prepare,
    prescribed_torques,
    rigid_stop,
    simulate,
    simulate_batch,
    spline,
)
from simulation import simulated as sim

NAN, INF = float("nan"), float("inf")
STARTS = sim.STARTS


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


JUNK: dict[str, Any] = {
    "a text": "x", "bytes": b"x", "a list of texts": ["a"], "ragged": [[1], [2, 3]], "a set": {1, 2},
    "an object": object(), "complex": 1j, "a complex array": np.array([1j]), "too large": 10**400, "NaN": NAN,
    "too long to print": 10**5000, "a matrix": np.zeros((2, 2, 2)), "a slice": slice(1), "no text": Unprintable(),
    "a date": np.datetime64("2020-01-01"), "names of nothing": {"nowhere": 1}, "no names": {None: 1},
    "a generator": (x for x in ()),
}  # fmt: skip
ARGUMENTS = (
    "t", "q", "u", "inputs", "method", "rtol", "atol", "max_step", "step", "t_eval", "events", "start", "guess",
    "parameters", "energy_tolerance", "dense", "progress",
)  # fmt: skip
MAY_BE: dict[str, tuple[str, ...]] = {"events": ("a generator",)}


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return sim.kinds()


@pytest.mark.parametrize("which", STARTS)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_what_is_no_argument(models: dict[str, Model], which: str, name: str) -> None:
    for kind, value in JUNK.items():
        if kind in MAY_BE.get(name, ()):
            continue
        given = {"t": 0.01, **STARTS[which], name: value}
        t = given.pop("t")
        with pytest.raises(kane.KaneError) as caught:
            pytest.fail(f"{kind}: {simulate(models[which], t, **given).message}")
        text = str(caught.value)
        assert name in text or f"no {name}" in text or "The start has" in text or "There is no input" in text, kind
        assert len(text) < 600, kind


@pytest.mark.parametrize("which", ["arm", "loop", "declared"])
def test_batches(models: dict[str, Model], which: str) -> None:
    if which == "loop":
        with pytest.raises(kane.UnsupportedError, match="one by one"):
            simulate_batch(models[which], [0, 0.01], np.zeros((2, 3)), np.zeros((2, 3)))
        return
    n = models[which].layout.nq
    good = {"times": [0, 0.01], "q": np.zeros((3, n)), "u": np.zeros((3, n))}
    assert simulate_batch(models[which], **good).ok.all()
    for name in ("times", "q", "u", "inputs", "method", "step", "rtol", "atol", "threads", "block"):
        for kind, value in JUNK.items():
            with pytest.raises(kane.KaneError, match=rf"{name}|^Start|^Input "):
                pytest.fail(f"{name}, {kind}: {simulate_batch(models[which], **{**good, name: value})}")
    wrong = {"times": [0, 0], "threads": 0, "block": 2.5, "q": np.zeros((0, n)), "inputs": [NAN] * n}
    for name, value in wrong.items():
        with pytest.raises(kane.KaneError):
            simulate_batch(models[which], **{**good, name: value})


NUMBERS = (None, "x", NAN, [1, 2, 3, 4, 5], 10**400, 1j, {})


@pytest.mark.parametrize("value", NUMBERS, ids=str)
@pytest.mark.parametrize(("name", "make"), {
    "slip": lambda arm, x: prepare(arm, slip=x),
    "contacts": lambda arm, x: prepare(arm, contacts=[x]),
    "coordinate": lambda arm, x: prepare(arm, contacts=[Contact(x, upper=1)]),
    "stiffness": lambda arm, x: prepare(arm, contacts=[Contact("q1", upper=1, stiffness=x)]),
    "upper of": lambda arm, x: prepare(arm, contacts=[Contact("q1", lower=0, upper=[x])]),
    "restitution": lambda arm, x: rigid_stop(prepare(arm), "q1", 0.0, restitution=x),
    "model|Model": lambda arm, x: gravity_compensation(x),
    "Model": lambda arm, x: Stepper(x, 1e-3, np.zeros(6)),
    "step": lambda arm, x: Stepper(prepare(arm), x, np.zeros(6)),
    "y ": lambda arm, x: Stepper(prepare(arm), 1e-3, [x]),
    "inputs": lambda arm, x: Stepper(prepare(arm), 1e-3, np.zeros(6)).step([x]),
    "count": lambda arm, x: Stepper(prepare(arm), 1e-3, np.zeros(6)).step(count=x),
    "target": lambda arm, x: pd(prepare(arm), [x], 1, 1),
    "kp": lambda arm, x: pd(prepare(arm), [0, 0], [x], 1),
    "kd": lambda arm, x: computed_torque(prepare(arm), spline([0, 1], [[0, 0], [1, 1]]), 1, [x]),
    "trajectory": lambda arm, x: computed_torque(prepare(arm), [x], 1, 1),
    "The trajectory|trajectory": lambda arm, x: prescribed_torques(prepare(arm), lambda t: x, [0, 1]),
    "frame": lambda arm, x: operational_space(prepare(arm), [x], [1, 0, 0], 1, 1),
    "times": lambda arm, x: spline([0, x], [[0, 0], [1, 1]]),
    "q ": lambda arm, x: spline([0, 1], [x]),
    "qdd": lambda arm, x: drive(prepare(arm))([0, 0], [0, 0], [x]),
}.items(), ids=lambda x: x.strip() if isinstance(x, str) else "")  # fmt: skip
def test_what_runs_are_made_of(name: str, make: Callable[[Any, Any], Any], value: Any) -> None:
    with pytest.raises(kane.KaneError, match=name):
        pytest.fail(str(make(kane.load("two_link"), value)))


@pytest.mark.parametrize("value", NUMBERS, ids=str)
@pytest.mark.parametrize(("name", "make"), {
    "period": lambda x: Controller(lambda t, q, u: [0.0], [x]),
    "start of": lambda x: Controller(lambda t, q, u: [0.0], 0.1, start=x),
    "law": lambda x: Controller(x),
    "times": lambda x: Profile([0.0, x], np.zeros(2)),
    "profile": lambda x: Profile(np.array([0.0, 1.0]), [0.0, x]),
    "kind": lambda x: Profile(np.array([0.0, 1.0]), np.zeros(2), x),
    "F": lambda x: {"F": x},
    "no input": lambda x: {str(x): 1.0},
}.items(), ids=lambda x: x.strip() if isinstance(x, str) else "")  # fmt: skip
def test_inputs_that_are_none(models: dict[str, Model], name: str, make: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(kane.KaneError, match=name):
        pytest.fail(simulate(models["declared"], 0.1, [0.1], inputs=make(value)).message)


@pytest.mark.parametrize("value", [5, "x", NAN, [1], {}, 2.5, INF], ids=str)
@pytest.mark.parametrize("name", ["function", "action", "ends", "terminal", "restart", "direction", "name"])
def test_events_that_are_none(models: dict[str, Model], name: str, value: Any) -> None:
    if name == "name" and value == "x":
        return
    event = Event(**({"function": lambda t, q, u: q[0]} | {name: value}))
    with pytest.raises(kane.InputError, match=f"{name}.*event|event.* name"):
        simulate(models["declared"], 0.1, [0.1], events=event)


@pytest.mark.parametrize("pace", [1e-18, 1e-300])
def test_paces_that_do_not_move_the_time(models: dict[str, Model], pace: float) -> None:
    held = Controller(lambda t, q, u: [0.0], pace)
    with pytest.raises(kane.InputError, match="period of controller"):
        simulate(models["declared"], 0.1, [0.1], inputs=held)
    for method in ("RK4", "variational"):
        with pytest.raises(kane.InputError, match="at least"):
            simulate(models["declared"], (1e10, 1e10 + 1), [0.1], method=method, step=1e-9)


def test_samples_far_from_zero(models: dict[str, Model]) -> None:
    """Samples at 1e6 s, whose times are rounded to 1e-7 periods: each is taken once."""
    calls: list[float] = []

    def law(t: float, q: Any, u: Any) -> list[float]:
        calls.append(t)
        return [0.0]

    run = simulate(models["declared"], (1e6, 1e6 + 0.05), [0.1], inputs=Controller(law, 1e-3))
    assert run.success and np.allclose(np.diff(calls), 1e-3, atol=1e-8) and 50 <= len(calls) <= 51


# starts and parameters beyond all measure


@pytest.mark.parametrize("size", [1e300, -1e308, 1e155])
@pytest.mark.parametrize("method", ["DOP853", "RK4", "variational"])
@pytest.mark.parametrize("which", STARTS)
def test_sizes_beyond_all_measure_stop_the_run(models: dict[str, Model], which: str, method: Any, size: float) -> None:
    model = models[which]
    step = None if method == "DOP853" else 0.005
    for name in (model.layout.speeds[0], model.layout.speeds[-1]):
        given = {**STARTS[which], "u": {name: size}}
        try:
            run = simulate(model, 0.01, **given, method=method, step=step)
        except kane.KaneError as error:
            assert isinstance(error, (kane.ConvergenceError, kane.UnsupportedError)), error
            continue
        assert np.isfinite(run.y).all() and run.summary() and run.as_dict()
        assert run.status == 0 or (run.message.startswith("stopped at t = ") and len(run.t) >= 1)
        assert run.status == 0 or any(n in run.message for n in model.layout.names)


def test_the_length_of_a_quaternion_does_not_matter(models: dict[str, Model]) -> None:
    runs = [simulate(models["floating"], 0.01, {"root.qw": s, "root.qx": s}) for s in (1.0, 2.0**900, 2.0**-900)]
    assert runs[0].success and all(np.array_equal(r.y, runs[0].y) for r in runs)
    with pytest.raises(kane.InputError, match=r"quaternion of root.qw is zero.*1, 0, 0, 0"):
        simulate(models["floating"], 0.01, {"root.qw": 0.0})


@pytest.mark.parametrize("value", [None, NAN, INF, "x", "1/0", [1], 1j, {}], ids=str)
def test_values_of_parameters(value: Any) -> None:
    with pytest.raises(kane.InputError, match=r"Parameter 'm'.*parameters={'m'"):
        simulate(sim.rolling_disc(), 0.01, parameters={"m": value})


def test_a_compiled_model_takes_no_parameters(models: dict[str, Model]) -> None:
    with pytest.raises(kane.InputError, match=r"Pass them to prepare"):
        simulate(models["declared"], 0.1, parameters={"m": 2})


def test_bodies_without_mass() -> None:
    run = simulate(sim.rolling_disc(), 0.01, {"q2": 0.1}, parameters={"m": 0})
    assert run.status == -1 and "rate of" in run.message and run.summary() and run.as_dict()["redundant"] == []
    with pytest.raises(kane.InputError, match="Give the bodies mass"):
        run.reactions()
