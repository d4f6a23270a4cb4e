"""The form that runs: by measurement, never another function, both counts told."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.errors import InputError
from kane.graph.arena import Graph
from kane.graph.program import Input, Program, build_program
from kane.native import quickest
from kane.native.quickest import instructions


def powers(n: int) -> Program:
    """x ** (n + 1) by n products one after another."""
    g = Graph()
    x = y = g.symbol("x")
    for _ in range(n):
        y = g.mul(y, x)
    return build_program(g, "power", [Input("x", ("x",))], [("y", (1,), [y])])


def steps(n: int) -> Program:
    """A program that takes longer than that of `powers` with as many operations or fewer: divisions in a chain."""
    g = Graph()
    y = g.symbol("x")
    for _ in range(n):
        y = g.div(g.one, g.add(g.one, y))
    return build_program(g, "power", [Input("x", ("x",))], [("y", (1,), [y])])


@pytest.mark.parametrize("mode", ["single", "batch"])
def test_the_longer_and_quicker_form_runs(mode: str) -> None:
    """40 additions between divisions are fewer operations than 120 products, and take far longer."""
    found = quickest({"slow": steps(40), "quick": powers(120)}, mode)  # type: ignore[arg-type]
    assert (found.form, found.counted.total, found.executed.total) == ("quick", 40, 120)
    assert found.ns["quick"] < found.ns["slow"]


def test_the_form_with_the_fewest_operations_is_kept() -> None:
    found = quickest({"long": powers(400), "short": powers(4)})
    assert found.form == "short" and found.executed == found.counted
    alone = quickest({"one": powers(4), "same": powers(4)})
    assert alone.form == "one" and not alone.ns


def test_instructions_are_those_after_fusing() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    total = g.add(g.mul(x, y), g.add(g.sin(x), y))
    program = build_program(g, "t", [Input("v", ("x", "y"))], [("o", (1,), [total])])
    assert program.counts.total == 3 and instructions(program) == 2  # sin(x) + y, then one multiply-add


def test_through_the_facade() -> None:
    eq = kane.derive(kane.load("puma560"))
    plain, chosen = eq.compile(), eq.compile(["mass_matrix"], quickest_for="batch")
    assert not plain.running and list(chosen.running) == ["mass_matrix"]
    running = chosen.running["mass_matrix"]
    assert running.counted == chosen.counts["mass_matrix"] and running.executed.total >= running.counted.total
    assert running.as_dict()["instructions"] < running.executed.total
    q = np.random.default_rng(0).uniform(-2, 2, (7, 6))
    np.testing.assert_allclose(chosen.mass_matrix(q), plain.mass_matrix(q), rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="single, batch or None"):
        eq.compile(quickest_for="always")  # type: ignore[arg-type]
