"""The mass matrix, of which only the lower half is worked out, against derivatives of the inertia forces."""

from dataclasses import replace
from fractions import Fraction

import pytest

from kane.equations.projection import kane_equations, mass_and_bias
from kane.graph.derivative import forward
from kane.mechanism.builder import System
from kane.mechanism.model import Rotor
from kane.robots import bundled
from kane_method.test_against_other_principles import random_system


def beam(**options):
    """An elastic beam on a turning hub that slides."""
    s = System("beam")
    q1, q2, d1, d2 = s.coordinates("q1 q2 d1 d2")
    A = s.N.orient_new_axis("A", 3, q1)
    P = s.O.locate_new("P", q2 * A.x)
    s.body("hub", A, P, 2, (1, 1, 1))
    x = System().coordinates("s")
    s.beam("beam", A, P, (x**2, x**3), (d1, d2), 1, "1.5", 10, **options)
    return s.mechanism()


def exact_rotors():
    robot = bundled.load("puma560")
    rotor = Rotor(Fraction(1, 1000), Fraction(50), exact=True)
    return replace(robot, joints=tuple(replace(j, rotor=rotor if j.type == "revolute" else None) for j in robot.joints))


CASES = {f"random{k}": lambda k=k: random_system(k).mechanism() for k in range(6)}
CASES |= {"beam": beam, "truncated beam": lambda: beam(truncated=True), "rotors": exact_rotors}
CASES |= {"stanford": lambda: bundled.load("stanford")}


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_mass_matrix_is_the_derivative_of_the_inertia_forces(case, runs):
    e = kane_equations(CASES[case](), parameters=(), runs=runs)
    g, udot = e.graph, e.points.symbols.udot
    M, bias = mass_and_bias(e)
    for s, x in enumerate(udot):
        column = forward(g, e.inertia, {x: g.one})
        assert all(g.add(M[r][s], c) < 2 for r, c in enumerate(column)), s
    for row, b, f in zip(M, bias, e.inertia, strict=True):
        assert g.sum([g.dot(row, udot), b, f]) < 2
    assert any(x > 1 for row in M for x in row)
    assert case == "truncated beam" or all(M[r][s] == M[s][r] for r in range(len(M)) for s in range(r))
