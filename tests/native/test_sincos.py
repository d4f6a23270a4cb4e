"""The sine/cosine pair: at most 2 units in the last place up to 1e5, correct beyond, equal bits at any width."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from kane.graph.arena import Graph
from kane.graph.program import Input, build_program
from kane.native import NativeFunction, compile_program
from kane.rewrite.sincos import DOUBLE, FLOAT


def sine_and_cosine(dtype: str, n: int = 1) -> NativeFunction:
    g = Graph()
    x = [g.symbol(f"x{i}") for i in range(n)]
    outputs = [("s", (n,), [g.sin(a) for a in x]), ("c", (n,), [g.cos(a) for a in x])]
    return compile_program(build_program(g, "sc", [Input("x", tuple(f"x{i}" for i in range(n)))], outputs), dtype)


def arguments(dtype: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    turns = rng.integers(-63000, 63000, 700) * (np.pi / 2)  # next to the zeros
    near = np.concatenate([turns, np.nextafter(turns, 0), np.arange(-20, 21) * np.pi / 4])
    spread = np.concatenate([rng.uniform(-s, s, 700) for s in (1e-3, 1.0, 4.0, 100.0, 99999.0)])
    every = np.concatenate([near, spread, [0.0, 1e-300, 1e5, -1e5]]).astype(dtype)
    return np.clip(every, -1e5, 1e5)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_two_units_in_the_last_place(dtype: str) -> None:
    f = sine_and_cosine(dtype)
    x = arguments(dtype)
    got = f(x[:, None])
    with mpmath.workdps(50):
        for values, exact in zip(got, (mpmath.sin, mpmath.cos), strict=True):
            for a, value in zip(x, values[:, 0], strict=True):
                true = exact(mpmath.mpf(float(a)))
                unit = float(np.spacing(np.abs(np.asarray(float(true), dtype=dtype)))) or 5e-324
                assert abs(mpmath.mpf(float(value)) - true) <= 2 * unit, (a, value)


@pytest.mark.parametrize("x", [100000.1, -1e6, 3e7, 1e22, -1e300, 1.7e308])
def test_beyond_the_range(x: float) -> None:
    s, c = sine_and_cosine("float64")([x])
    with mpmath.workdps(400):
        true = np.array([float(mpmath.sin(x)), float(mpmath.cos(x))])
        np.testing.assert_array_almost_equal_nulp(np.array([s[0], c[0]]), true, 1)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_equal_bits_at_any_width(dtype: str) -> None:
    x = arguments(dtype)
    single = sine_and_cosine(dtype)
    expected = np.stack([np.stack(single(x[i : i + 1])) for i in range(0, 400)])
    together = np.stack(single(x[:400, None]), axis=1)
    np.testing.assert_array_equal(expected, together)
    for n in (2, 3, 5, 11):
        f = sine_and_cosine(dtype, n)
        rows = x[: 400 // n * n].reshape(-1, n)
        packed = np.stack([np.stack(f(row)) for row in rows])
        np.testing.assert_array_equal(packed.swapaxes(1, 2).reshape(-1, 2), expected[: rows.size, :, 0])


def test_special_values_stay_in_their_lane() -> None:
    f = sine_and_cosine("float64", 8)
    x = np.linspace(-3, 3, 8)
    calm = f(x)
    for bad in (np.nan, np.inf, -np.inf, 1e18):
        y = x.copy()
        y[3] = bad
        for quiet, wild in zip(calm, f(y), strict=True):
            assert np.isnan(wild[3]) == (not abs(bad) < np.inf)
            np.testing.assert_array_equal(np.delete(quiet, 3), np.delete(wild, 3))


@pytest.mark.parametrize("k", [DOUBLE, FLOAT], ids=["double", "float"])
def test_constants_of_the_reduction(k: object) -> None:
    assert isinstance(k, type(DOUBLE))
    digits = 53 if k.bits == 64 else 24
    with mpmath.workprec(400):
        total = mpmath.fsum(mpmath.mpf(part) for part in k.half_pi)
        assert abs(total - mpmath.pi / 2) < mpmath.mpf(2) ** (-3 * digits + 1)
        assert abs(k.two_over_pi * mpmath.pi / 2 - 1) < mpmath.mpf(2) ** -digits
        rounded = [Fraction(part) for part in k.half_pi]
        assert all(part.numerator.bit_length() <= digits for part in rounded)
        kind = np.float64 if k.bits == 64 else np.float32
        for value in (*k.half_pi, *k.sine, *k.cosine, k.two_over_pi, k.magic):
            assert float(kind(value)) == value
