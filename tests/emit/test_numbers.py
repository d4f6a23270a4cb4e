"""Numbers: rounded once, printed so that they read back the same."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.emit.numbers import baked_constants, rounded, shortest
from kane.errors import NumberError
from kane.graph.arena import Graph
from kane.graph.functions import FUNCTIONS
from kane.graph.program import build_program


@settings(max_examples=200, deadline=None)
@given(st.fractions(min_value=-(10**9), max_value=10**9))
def test_rounding_is_to_the_nearest_and_the_decimals_read_back(x):
    for precision, kind in (("double", np.float64), ("float", np.float32)):
        value = rounded(x, precision)
        error = abs(Fraction(value) - x)
        for side in (-np.inf, np.inf):
            assert error <= abs(Fraction(float(np.nextafter(kind(value), kind(side)))) - x)
        assert kind(shortest(value, precision)) == kind(value)
        assert "." in shortest(value, precision) or "e" in shortest(value, precision)


def test_float32_is_rounded_once():
    """Just above the middle of two float32: rounding through float64 would go down."""
    x = 1 + Fraction(1, 2**24) + Fraction(1, 2**60)
    assert np.float32(float(x)) == np.float32(1.0)
    assert rounded(x, "float") == float(np.nextafter(np.float32(1), np.float32(2)))


def test_too_large():
    with pytest.raises(NumberError, match="does not fit in a float"):
        rounded(Fraction(10) ** 39, "float")
    with pytest.raises(NumberError, match="does not fit in a double"):
        rounded(Fraction(10) ** 309, "double")


ARGUMENTS = {"acos": "0.3", "asin": "-0.3", "log": "2.7", "pow": "1.7 0.3", "atan2": "0.4 -1.9", "select": "1 2.5 3.5"}


@pytest.mark.parametrize("name", [*FUNCTIONS, "sin", "cos", "sqrt"])
def test_constants_have_sixty_digits(name):
    """Against mpmath at 80 digits (piecewise functions against their values)."""
    import mpmath

    g = Graph()
    texts = ARGUMENTS.get(name, "1.75 0.5 3"[: 4 if name not in FUNCTIONS or FUNCTIONS[name].arity == 1 else 8]).split()
    tilt = g.sub(g.sqrt(g.number(7)), g.sqrt(g.number(7)))  # exactly zero
    args = [g.add(g.number(Fraction(t)), tilt) for t in texts]
    ref = getattr(g, name)(*args) if name in ("sin", "cos", "sqrt") else g.function(name, *args)
    program = build_program(g, "f", [], [("y", (), (ref,))])
    out = program.outputs[0].refs[0]
    found = baked_constants(program)[out >> 1] * (-1 if out & 1 else 1)
    plain = {
        "abs": lambda x: abs(x), "min": min, "max": max, "pow": mpmath.power,
        "sign": lambda x: mpmath.mpf(1), "select": lambda c, a, b: a,
    }  # fmt: skip
    with mpmath.workdps(80):
        want = plain.get(name, getattr(mpmath, name, None))(*(mpmath.mpf(t) for t in texts))
        assert abs(mpmath.mpf(found.numerator) / found.denominator - want) <= abs(want) * mpmath.mpf(10) ** -59


def test_pi_and_large_angles():
    import mpmath

    g = Graph()
    program = build_program(g, "f", [], [("y", (2,), (g.pi(), g.sin(g.number(123456789))))])
    pi, sine = (baked_constants(program)[r >> 1] * (1 - 2 * (r & 1)) for r in program.outputs[0].refs)
    with mpmath.workdps(80):
        assert abs(mpmath.mpf(pi.numerator) / pi.denominator - mpmath.pi) < mpmath.mpf(10) ** -59
        assert abs(mpmath.mpf(sine.numerator) / sine.denominator - mpmath.sin(123456789)) < mpmath.mpf(10) ** -59


def test_a_constant_that_is_no_number():
    g = Graph()
    bad = g.function("log", g.sub(g.sqrt(g.number(2)), g.number(2)))
    with pytest.raises(NumberError, match="log"):
        baked_constants(build_program(g, "f", [], [("y", (), (bad,))]))
