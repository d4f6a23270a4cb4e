"""Expressions taken apart into coefficients, against derivatives of the same expressions."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from kane.graph.arena import Graph, Ref
from kane.graph.derivative import forward
from kane.kinematics.linear import NotLinearError, affine


def expressions(seed: int, count: int = 6) -> tuple[Graph, list[Ref], list[Ref]]:
    """Random expressions that are linear in x0.. with coefficients in states, parameters and numbers."""
    g, r = Graph(), random.Random(f"affine {seed}")
    x = [g.symbol(f"x{k}") for k in range(count)]
    free = [g.symbol("q"), g.sin(g.symbol("q")), g.symbol("m", "parameter"), g.symbol("l", "parameter")]
    free += [g.number(Fraction(2, 3)), g.add(g.symbol("m", "parameter"), g.symbol("q"))]
    pool = list(x)
    for _ in range(60):
        a, b, c = r.choice(pool), r.choice(pool), r.choice(free)
        a, c = a ^ r.randint(0, 1), c ^ r.randint(0, 1)
        both = g.add(g.mul(a, c), g.mul(b, c))
        made = r.choice((g.add(a, b), g.add(a, c), g.mul(a, c), g.div(a, c), both, g.sub(a, b)))
        if made > 1:
            pool.append(made)
    return g, x, [ref ^ r.randint(0, 1) for ref in r.sample(pool, 5)] + [pool[-1], free[2], x[0] ^ 1, 0]


@pytest.mark.parametrize("seed", range(20))
def test_coefficients_are_derivatives(seed: int) -> None:
    g, x, refs = expressions(seed)
    rest, rows = affine(g, refs, x)
    for ref, constant, row in zip(refs, rest, rows, strict=True):
        for k, symbol in enumerate(x):
            (slope,) = forward(g, [ref], {symbol: g.one})
            assert g.sub(row.get(k, 0), slope) < 2
        assert g.sub(g.add(constant, g.sum(g.mul(c, x[k]) for k, c in row.items())), ref) < 2
    assert all(c > 1 for row in rows for c in row.values())


@pytest.mark.parametrize("seed", range(20))
def test_a_triangle_has_the_same_lower_half(seed: int) -> None:
    g, x, refs = expressions(seed)
    rest, rows = affine(g, refs[:6], x)
    half_rest, half = affine(g, refs[:6], x, triangle=True)
    assert rest == half_rest
    for i, (whole, lower) in enumerate(zip(rows, half, strict=True)):
        assert {k: c for k, c in whole.items() if k <= i} == {k: c for k, c in lower.items() if k <= i}


def test_constant_factors_add_up_first() -> None:
    """m (x sin q) + l (x sin q): one product with the state, and one with the sum m + l, which costs nothing."""
    g = Graph()
    x, q, m, l = g.symbol("x"), g.symbol("q"), g.symbol("m", "parameter"), g.symbol("l", "parameter")
    moved = g.mul(x, g.sin(q))
    _, (row,) = affine(g, [g.add(g.mul(m, moved), g.mul(l, moved))], [x])
    slope = row[0]
    assert g.op[slope >> 1] == "mul"
    assert {g.op[a >> 1] for a in g.args[slope >> 1]} == {"sin", "add"}


def test_rows_belong_to_the_caller() -> None:
    """Two expressions with one set of coefficients do not share it."""
    g = Graph()
    x = g.symbol("x")
    _, rows = affine(g, [x, g.add(x, g.symbol("q"))], [x])
    rows[0][0] = 0
    assert rows[1] == {0: g.one}


def test_what_is_not_linear_is_named() -> None:
    g = Graph()
    x, q = g.symbol("x"), g.symbol("q")
    linear = g.sub(g.mul(g.add(x, q), g.add(x, q)), g.mul(x, x))
    rest, rows = affine(g, [linear], [x])
    assert rows == [{0: g.add(q, q)}]
    assert rest == [g.mul(q, q)]
    with pytest.raises(NotLinearError) as caught:
        affine(g, [x, g.mul(x, x)], [x])
    assert caught.value.index == 1
