"""Functions of the user's in a run: what they give or raise stops it, and is kept as it was raised."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

import kane
from kane.simulation import Controller, Event, Model, simulate
from simulation import simulated as sim

NAN, INF = float("nan"), float("inf")
STARTS = sim.STARTS


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return sim.kinds()


GIVEN: dict[str, Any] = {
    "None": None, "a text": "x", "NaN": NAN, "too many": [1.0] * 9, "complex": 1j, "ragged": ([0.1], None), "dict": {},
}  # fmt: skip


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("method", ["DOP853", "RK4", "variational"])
def test_what_inputs_give(models: dict[str, Model], method: Any, kind: str) -> None:
    step = None if method == "DOP853" else 0.01

    def law(t: float, *_: Any) -> Any:
        return GIVEN[kind]

    for inputs in (law, {"F": law}, Controller(law, 0.01)):
        run = simulate(models["declared"], 0.1, [0.1], inputs=inputs, method=method, step=step)
        assert run.status == -1 and isinstance(run.error, kane.KaneError) and str(run.error) in run.message


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("name", ["function", "action", "ends"])
def test_what_events_give(models: dict[str, Model], name: str, kind: str) -> None:
    if name == "ends" and kind == "NaN":
        return  # a number, which counts as true
    functions: dict[str, Any] = {"function": lambda t, q, u: q[0], "action": lambda t, q, u: (q, u)}
    functions[name] = lambda t, q, u: GIVEN[kind]
    for which in ("declared", "loop"):
        whole = simulate(models[which], 0.4, **STARTS[which]).q[0]
        level = 0.5 * (whole.min() + whole.max())
        if name != "function":
            functions["function"] = lambda t, q, u, level=level: q[0] - level
        run = simulate(models[which], 0.4, **STARTS[which], events=Event(**functions, name="gate"))
        assert run.status == -1 and "event 'gate' gave" in run.message and isinstance(run.error, kane.InputError)


def fails(t: float, *_: Any) -> Any:
    raise LookupError("the user's own")


@pytest.mark.parametrize("where", ["inputs", "named inputs", "sampled", "function", "action", "ends"])
@pytest.mark.parametrize("method", ["DOP853", "RK4", "variational", "BDF"])
def test_what_a_function_raises_is_the_error_of_the_run(models: dict[str, Model], method: Any, where: str) -> None:
    """The very exception, with the traceback into the function."""
    if method == "BDF":
        pytest.importorskip("sksundae")
    mark = Event(lambda t, q, u: q[0] - 0.05, "gate", action=lambda t, q, u: (q, u))
    given: dict[str, Any] = {
        "inputs": {"inputs": fails}, "named inputs": {"inputs": {"F": fails}},
        "sampled": {"inputs": Controller(fails, 0.01)}, "function": {"events": Event(fails)},
        "action": {"events": Event(mark.function, action=fails)},
        "ends": {"events": Event(mark.function, ends=fails, action=mark.action)},
    }[where]  # fmt: skip
    if method != "DOP853":
        if "events" in given:
            with pytest.raises(kane.UnsupportedError, match="DOP853"):
                simulate(models["declared"], 0.3, [0.1], method=method, step=0.01, **given)
            return
        given["step"] = None if method == "BDF" else 0.01
    run = simulate(models["declared"], 0.3, [0.1], method=method, **given)
    assert run.status == -1 and "raised LookupError: the user's own" in run.message
    assert type(run.error) is LookupError and traceback.extract_tb(run.error.__traceback__)[-1].name == "fails"


@pytest.mark.parametrize(("method", "step"), [("DOP853", None), ("RK4", 1e-4), ("variational", 1e-4), ("BDF", None)])
@pytest.mark.parametrize("error", [LookupError("own"), kane.InputError("own"), SystemExit(3)], ids=repr)
def test_what_progress_raises_goes_through(models: dict[str, Model], method: Any, step: Any, error: Exception) -> None:
    if method == "BDF":
        pytest.importorskip("sksundae")

    def told(t: float, end: float) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        simulate(models["declared"], 0.1, [0.1], method=method, step=step, progress=told)
    assert caught.value is error and traceback.extract_tb(error.__traceback__)[-1].name == "told"


@pytest.mark.parametrize("method", ["DOP853", "RK4", "variational"])
def test_the_end_of_the_program_goes_through(models: dict[str, Model], method: Any) -> None:
    def law(t: float, q: Any, u: Any) -> Any:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        simulate(models["declared"], 0.1, [0.1], inputs=law, method=method, step=None if method == "DOP853" else 0.01)


def test_inputs_that_fail_only_where_output_is_wanted(models: dict[str, Model]) -> None:
    """The run itself never asks at t = 0.05; the result does, and says that it could not have it."""

    def law(t: float, q: Any, u: Any) -> list[float]:
        if t == 0.05:
            raise LookupError("a gap")
        return [1.0]

    run = simulate(models["declared"], 0.1, [0.1], inputs=law, t_eval=[0.0, 0.05, 0.1])
    assert run.status == -1 and "t = 0.05" in run.message and isinstance(run.error, LookupError)
    assert np.isnan(run["F"]).tolist() == [False, True, False] and np.isfinite(run.y).all()
