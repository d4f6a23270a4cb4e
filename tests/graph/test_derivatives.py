"""Forward and reverse derivatives agree with each other, with differences, and with closed forms."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.graph.arena import Graph
from kane.graph.derivative import forward, gradient, jacobian
from kane.graph.evaluate import evaluate
from kane.graph.functions import FUNCTIONS
from kane.graph.program import Input, build_program
from random_expressions import NAMES, build

POINT = {"x": 0.37, "y": 0.71, "z": -0.42}


def values(g: Graph, refs: list[int], point: dict[str, float]) -> np.ndarray:
    program = build_program(g, "f", [Input("s", tuple(point))], [("f", (len(refs),), refs)])
    return evaluate(program, {"s": np.array(list(point.values()))})["f"]


@settings(max_examples=40)
@given(seed=st.integers(0, 2**30), depth=st.integers(1, 4))
def test_forward_and_reverse_are_the_same_function(seed: int, depth: int) -> None:
    """d f . v by one forward sweep is the very node of the gradient dotted with v, and the difference quotient."""
    g, r = Graph(), random.Random(seed)
    outputs = [build(g, r, depth)[0] for _ in range(3)]
    wrt = [g.symbol(n) for n in NAMES]
    v = [g.symbol(f"v{n}") for n in NAMES]
    swept = forward(g, outputs, dict(zip(wrt, v, strict=True)))
    rows = jacobian(g, outputs, wrt)
    assert swept == [g.dot(row, v) for row in rows]
    h = 1e-6
    for k, name in enumerate(NAMES):
        high, low = (values(g, outputs, POINT | {name: POINT[name] + s * h}) for s in (1, -1))
        exact = values(g, [row[k] for row in rows], POINT)
        assert exact == pytest.approx((high - low) / (2 * h), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_partials_of_every_function(name: str) -> None:
    g = Graph()
    args = [g.symbol(n) for n in NAMES[: FUNCTIONS[name].arity]]
    point = {n: POINT[n] for n in NAMES[: len(args)]}
    f = g.function(name, *args)
    h = 1e-6
    for n, slope in zip(point, gradient(g, f, args), strict=True):
        high, low = (values(g, [f], point | {n: point[n] + s * h}) for s in (1, -1))
        assert values(g, [slope], point) == pytest.approx((high - low) / (2 * h), rel=1e-6, abs=1e-8)


def test_closed_forms() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    assert gradient(g, g.mul(g.sin(x), y), [x, y]) == [g.mul(g.cos(x), y), g.sin(x)]
    assert gradient(g, g.div(g.one, x), [x]) == [g.neg(g.div(g.one, g.mul(x, x)))]
    assert gradient(g, g.neg(g.power(x, 4)), [x, y]) == [g.neg(g.mul(g.number(4), g.power(x, 3))), g.zero]
    assert gradient(g, x, [x, y]) == [g.one, g.zero]
    assert forward(g, [g.sqrt(x)], {x: y}) == [g.div(y, g.mul(g.number(2), g.sqrt(x)))]


def test_gradient_by_a_negative_reference() -> None:
    """d(x y)/d(-x) = -y."""
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    assert gradient(g, g.mul(x, y), [g.neg(x)]) == [g.neg(y)]
    assert forward(g, [g.mul(x, y)], {g.neg(x): g.one}) == [g.neg(y)]
