"""How the work grows with the number of links: the equations linearly, the mass matrix as its entries."""

import runpy
from pathlib import Path

import pytest

from kane.equations.projection import kane_equations, mass_and_bias
from kane.mechanism.builder import System, dot

BENCHMARK = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "kane_sympy.py"))


def arm(n):
    s = System("arm")
    q = s.coordinates(" ".join(f"q{k}" for k in range(n)))
    s.speeds(**{f"u{k}": dot(x) for k, x in enumerate(q)})
    frame, point = s.N, s.O
    for k, x in enumerate(q):
        frame = frame.orient_new_axis(f"B{k}", (3, 2, 1)[k % 3], x)
        s.body(f"body{k}", frame, point.locate_new(f"C{k}", frame.vector(1, 2, 3)), k + 1, (1, 2, "2.5"))
        point = point.locate_new(f"P{k}", frame.vector(0, 1, 2))
    s.gravity(s.N.vector(1, 2, -9))
    return kane_equations(s.mechanism())


@pytest.mark.parametrize("build", [arm, BENCHMARK["pendulum"]])
def test_equations_grow_linearly_and_the_mass_matrix_as_its_entries(build):
    sizes = {n: build(n) for n in (10, 20, 40)}
    first = {n: len(e.graph) for n, e in sizes.items()} if build is arm else None
    if first:
        assert first[40] - first[20] < 2.1 * (first[20] - first[10])  # inverse dynamics: linear
    for e in sizes.values():
        mass_and_bias(e)
    whole = {n: len(e.graph) for n, e in sizes.items()}
    assert whole[40] / whole[20] < 4.2
    assert len(sizes[40].inertia) in (40, 41)
