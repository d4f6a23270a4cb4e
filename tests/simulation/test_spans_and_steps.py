"""Spans and fixed steps that are none are refused at once: no error of Python, no run without an end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kane

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "t", [0, -1, NAN, INF, "x", None, (1,), (1, 0), (0, 1, 2), [], {}, 1j, np.zeros(2), ("a", "b")], ids=str
)
def test_spans(t: Any) -> None:
    with pytest.raises(kane.InputError, match=r"^t is|are no span"):
        kane.simulate(kane.load("two_link"), t, [0.1, 0.2])


@pytest.mark.parametrize("method", ["RK4", "variational"])
@pytest.mark.parametrize("step", [0, -1, NAN, "x", 1e-300, 1e-15, 1j])
def test_steps(method: Any, step: Any) -> None:
    with pytest.raises(kane.InputError, match="step"):
        kane.simulate(kane.load("two_link"), 0.1, [0.1, 0.2], method=method, step=step)


@pytest.mark.parametrize("t", [0.02, (0.0, 0.02), [0, np.float64(0.02)], np.array([0.0, 0.02])], ids=str)
def test_spans_that_are_taken(t: Any) -> None:
    run = kane.simulate(kane.load("two_link"), t, [0.1, 0.2], method="RK4", step=0.01)
    assert run.t[-1] == pytest.approx(0.02) and run.success


@pytest.mark.parametrize("name", ["rtol", "atol", "start"])
@pytest.mark.parametrize("value", [-1, NAN, INF, "x", None])
def test_accuracies_and_starts(name: str, value: Any) -> None:
    with pytest.raises(kane.InputError, match=f"{name} is"):
        kane.simulate(kane.load("two_link"), 0.1, [0.1, 0.2], **{name: value})


@pytest.mark.parametrize(
    "t_eval", [[0.1, 0.05], [-1, 0.05], [0.05, 0.3], [NAN], 0.05, "x", ["a"], {}, [[0.0, 0.1]]], ids=str
)
def test_output_times(t_eval: Any) -> None:
    with pytest.raises(kane.InputError, match="t_eval is"):
        kane.simulate(kane.load("two_link"), 0.1, [0.1, 0.2], t_eval=t_eval)
    assert kane.simulate(kane.load("two_link"), 0.1, [0.1, 0.2], t_eval=np.linspace(0, 0.1, 7)).t.shape == (7,)


@pytest.mark.parametrize("name", ["q", "u", "f"])
@pytest.mark.parametrize("value", ["x", {"a": {}}, [NAN, 0.0], [INF, 0.0], [None, 1j], ["a", "b"]], ids=str)
def test_operating_points(name: str, value: Any) -> None:
    given = {"q": [0.1, 0.2], "u": [0.0, 0.0], "f": [0.0, 0.0]} | {name: value}
    with pytest.raises(kane.KaneError):
        kane.linearize(kane.load("two_link"), **given)
