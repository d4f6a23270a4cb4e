"""The arena: equal functions are one node, unequal ones are not, numbers stay exact, levels, errors."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.graph.arena import CONSTANT, NUMBER, STATE, Graph
from kane.graph.evaluate import evaluate
from kane.graph.functions import FUNCTIONS
from kane.graph.program import Input, build_program
from random_expressions import NAMES, build


@pytest.fixture
def g() -> Graph:
    return Graph()


def number_of(g: Graph, ref: int, **point: float) -> float:
    """The value of an expression."""
    names = sorted(point)
    kinds = [Input("s", tuple(names))] if names else []
    program = build_program(g, "f", kinds, [("f", (), [ref])])
    return float(evaluate(program, {"s": np.array([point[n] for n in names])})["f"])


def test_signs_and_order_share_nodes(g: Graph) -> None:
    x, y, z = (g.symbol(n) for n in NAMES)
    assert g.add(x, y) == g.add(y, x)
    assert g.mul(x, y) == g.mul(y, x)
    assert g.sub(x, y) == g.neg(g.sub(y, x))
    assert g.mul(g.neg(x), y) == g.neg(g.mul(x, y))
    assert g.add(g.add(x, y), z) == g.add(x, g.add(z, y))
    assert g.sub(x, x) == g.zero
    assert g.mul(x, g.zero) == g.zero
    assert g.mul(g.add(x, y), z) == g.add(g.mul(x, z), g.mul(y, z))
    assert g.div(g.mul(x, y), y) == x
    assert g.sub(g.mul(g.add(x, y), g.sub(x, y)), g.sub(g.mul(x, x), g.mul(y, y))) == g.zero


def test_trigonometric_identities(g: Graph) -> None:
    x, y = g.symbol("x"), g.symbol("y")
    s, c = g.sin(x), g.cos(x)
    assert g.add(g.mul(s, s), g.mul(c, c)) == g.one
    both = g.add(x, y)
    assert g.sin(both) == g.add(g.mul(s, g.cos(y)), g.mul(c, g.sin(y)))
    assert g.cos(g.mul(g.number(2), x)) == g.sub(g.mul(c, c), g.mul(s, s))
    assert g.sin(g.neg(x)) == g.neg(s)
    assert g.cos(g.neg(x)) == c
    third = g.mul(g.number(Fraction(1, 3)), x)
    s3 = g.sin(third)
    assert g.sub(g.mul(g.number(3), s3), g.mul(g.number(4), g.power(s3, 3))) == s
    assert g.sin(g.add(x, g.mul(g.pi(), g.number(Fraction(1, 2))))) == c
    assert g.cos(g.sub(x, g.pi())) == g.neg(c)
    p = g.mul(g.symbol("w", "parameter"), g.symbol("t"))  # a product is an angle too
    assert g.add(g.power(g.sin(p), 2), g.power(g.cos(p), 2)) == g.one


@pytest.mark.parametrize("k", range(-24, 25))
def test_multiples_of_pi_over_12_are_exact(g: Graph, k: int) -> None:
    """0, +-1/2, +-1 are numbers, the others roots; all agree with floating point."""
    angle = g.mul(g.pi(), g.number(Fraction(k, 12)))
    c, s = g.cos(angle), g.sin(angle)
    assert g.add(g.mul(c, c), g.mul(s, s)) == g.one
    assert number_of(g, c) == pytest.approx(math.cos(k * math.pi / 12), abs=2e-15)
    assert number_of(g, s) == pytest.approx(math.sin(k * math.pi / 12), abs=2e-15)
    if k % 6 == 0:
        assert {g.level_of(c), g.level_of(s)} == {NUMBER}


def test_cosine_of_a_right_angle_is_zero_not_tiny(g: Graph) -> None:
    assert g.cos(g.mul(g.pi(), g.number(Fraction(1, 2)))) == g.zero
    assert g.cos(g.mul(g.pi(), g.number(Fraction(7, 2)))) == g.zero


def test_fixed_angle_is_a_pair_of_constants(g: Graph) -> None:
    """A rotation by 0.3 rad keeps c^2 + s^2 = 1 exactly, and cos(0.6) is made of cos(0.3)."""
    a = g.number(Fraction(3, 10))
    c, s = g.cos(a), g.sin(a)
    assert g.add(g.mul(c, c), g.mul(s, s)) == g.one
    assert g.level_of(c) == CONSTANT
    assert g.cos(g.number(Fraction(6, 10))) == g.sub(g.mul(c, c), g.mul(s, s))
    assert number_of(g, c) == math.cos(0.3)


def test_roots(g: Graph) -> None:
    assert g.value_of(g.sqrt(g.number(Fraction(9, 4)))) == Fraction(3, 2)
    assert g.mul(g.sqrt(g.number(2)), g.sqrt(g.number(3))) == g.sqrt(g.number(6))
    four = g.number(4)
    assert g.mul(g.sqrt(g.number(2)), g.sqrt(g.number(8))) == four
    assert number_of(g, g.sqrt(g.number(Fraction(12, 5)))) == pytest.approx(math.sqrt(2.4), rel=1e-15)
    with pytest.raises(ValueError, match="negative number -2"):
        g.sqrt(g.number(-2))


def test_powers_and_division(g: Graph) -> None:
    x = g.symbol("x")
    assert g.power(x, 0) == g.one
    assert g.power(x, 5) == g.mul(g.power(x, 2), g.power(x, 3))
    assert g.power(x, -2) == g.div(g.one, g.mul(x, x))
    assert g.value_of(g.div(g.number(1), g.number(3))) == Fraction(1, 3)
    with pytest.raises(ZeroDivisionError, match="identically zero"):
        g.div(x, g.sub(x, x))


def test_levels(g: Graph) -> None:
    x, m = g.symbol("x"), g.symbol("m", "parameter")
    assert [g.level_of(r) for r in (g.number(2), m, g.mul(m, m), x, g.mul(m, x))] == [
        NUMBER, CONSTANT, CONSTANT, STATE, STATE
    ]  # fmt: skip
    with pytest.raises(ValueError, match="'x' is already a state symbol"):
        g.symbol("x", "parameter")


def test_unit_quaternion(g: Graph) -> None:
    q = g.unit_quaternion(("w", "x", "y", "z"))
    assert g.sum(g.mul(a, a) for a in q) == g.one


def test_functions(g: Graph) -> None:
    x = g.symbol("x")
    assert g.function("tanh", g.neg(x)) == g.neg(g.function("tanh", x))
    assert g.function("abs", g.neg(x)) == g.function("abs", x)
    assert g.function("select", x, x, x) == x
    assert g.function("tan", g.zero) == g.zero
    for name in ("gamma", "tan2"):
        with pytest.raises(ValueError, match=f"no function '{name}'"):
            g.function(name, x)
    with pytest.raises(ValueError, match="no function 'atan2' of 1 arguments"):
        g.function("atan2", x)


def test_notes(g: Graph) -> None:
    with g.origin("link 1"):
        inner = g.mul(g.symbol("x"), g.symbol("y"))
    assert g.note[inner >> 1] == "link 1"
    assert g.note[g.add(inner, g.one) >> 1] == ""


@settings(max_examples=60)
@given(seed=st.integers(0, 2**30), depth=st.integers(1, 5))
def test_random_expressions_have_the_value_of_their_formula(seed: int, depth: int) -> None:
    """Sharing by residue never puts one function in the place of another."""
    r, g = random.Random(seed), Graph()
    pairs = [build(g, r, depth) for _ in range(4)]
    for k in range(3):
        point = {n: random.Random(seed + k).uniform(-1.5, 1.5) * (1 + i) for i, n in enumerate(NAMES)}
        for ref, function in pairs:
            expected = function(point)
            assert number_of(g, ref, **point) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(seed=st.integers(0, 2**30))
def test_rational_arithmetic_is_exact(seed: int) -> None:
    r, g = random.Random(seed), Graph()
    total, ref = Fraction(1), g.one
    for _ in range(30):
        x = Fraction(r.randint(-99, 99), r.choice((1, 3, 7, 10, 1000, 64)))
        kind = r.choice(("add", "sub", "mul"))
        total = {"add": total + x, "sub": total - x, "mul": total * (x or 1)}[kind]
        ref = getattr(g, kind)(ref, g.number(x if kind != "mul" else (x or 1)))
    assert g.value_of(ref) == total


def test_every_function_evaluates() -> None:
    g = Graph()
    for name, f in FUNCTIONS.items():
        args = [g.symbol(n) for n in NAMES[: f.arity]]
        point = dict(zip(NAMES, (0.3, 0.7, -0.4), strict=True))
        value = number_of(g, g.function(name, *args), **{n: point[n] for n in NAMES[: f.arity]})
        assert np.isfinite(value)
