"""Constrained motion as programs, run natively, against the solution at numbers."""

import numpy as np
import pytest

from kane.equations.conditions import embed
from kane.equations.constrained import constrained
from kane.equations.constrained_programs import constrained_motion_program, embedded_motion_program
from kane.equations.projection import kane_equations
from kane.errors import InputError
from kane.mechanism.builder import System, dot
from kane.native import compile_program


def four_bar(twice=False):
    s = System("four_bar")
    t1, t2, t3 = s.coordinates("t1 t2 t3")
    T = s.inputs("T")
    A, B, C = (s.N.orient_new_axis(n, 3, t) for n, t in zip("ABC", (t1, t2, t3), strict=True))
    C0 = s.O.locate_new("C0", s.N.x)
    P = s.O.locate_new("P", A.x * 0.3)
    B1 = P.locate_new("B1", B.x * 0.9)
    B2 = C0.locate_new("B2", C.x * 0.8)
    s.body("crank", A, s.O.locate_new("crank*", A.x * 0.15), 0.5, (0, 0, 0.00375))
    s.body("coupler", B, P.locate_new("coupler*", B.x * 0.45), 1.2, (0, 0, 0.081))
    s.body("rocker", C, C0.locate_new("rocker*", C.x * 0.4), 0.9, (0, 0, 0.048))
    s.gravity(s.N.y * -9.81)
    s.torque("drive", A, T * s.N.z)
    s.coincide("pin", B1, B2, s.N, axes=(1, 2))
    if twice:
        s.nonholonomic("again", s.velocity(B1, s.N, s.N.x) - s.velocity(B2, s.N, s.N.x))
    return kane_equations(s.mechanism())


def test_programs_of_a_four_bar_run_natively():
    e = four_bar()
    c = constrained(e)
    q = c.consistent_configuration([np.pi / 3, 0.6, 1.7], keep=("t1",))
    u = c.consistent_speeds(q, [2.0, 0, 0], keep=("t1",))
    wanted = c.accelerations(q, u, f=[0.4])
    whole = compile_program(constrained_motion_program(e))
    qdot, udot, multipliers = whole(q, u, np.array([0.4]), np.array([0.0]))
    assert np.allclose(udot, wanted.udot, rtol=1e-11)
    assert np.allclose(multipliers, wanted.multipliers, rtol=1e-10)
    assert np.array_equal(qdot, u)
    small = compile_program(embedded_motion_program(embed(e, ("t2", "t3"))))
    qdot, speeds, udot = small(q, np.array([2.0, np.nan, np.nan]), np.array([0.4]), np.array([0.0]))
    assert np.allclose(udot, wanted.udot, rtol=1e-11)
    assert np.allclose(speeds, u, rtol=1e-12) and np.allclose(qdot, u, rtol=1e-12)


def test_redundant_conditions_are_refused_by_name():
    with pytest.raises(InputError, match="again"):
        constrained_motion_program(four_bar(twice=True))


def test_a_sleigh_keeps_its_energy_natively():
    """A knife edge under a body with its mass centre ahead (the Chaplygin sleigh)."""
    s = System("sleigh")
    x, y, th = s.coordinates("x y th")
    B = s.N.orient_new_axis("B", 3, th)
    edge = s.O.locate_new("edge", x * s.N.x + y * s.N.y)
    s.body("B", B, edge.locate_new("B*", B.x * 0.3), 2, (0, 0, 0.4))
    s.speeds(u1=s.velocity(edge, s.N, B.x), u2=s.velocity(edge, s.N, B.y), u3=dot(th))
    s.nonholonomic("blade", "u2")
    e = kane_equations(s.mechanism())
    run = compile_program(embedded_motion_program(embed(e, ("u2",))))
    q, u = np.array([0.0, 0, 0.2]), np.array([0.5, 0.0, 1.5])
    _, speeds, udot = run(q, u, np.array([0.0]))
    # m (v' - a w^2) = 0, (I + m a^2) w' + m a v w = 0
    assert udot == pytest.approx([0.3 * 1.5**2, 0, -2 * 0.3 * 0.5 * 1.5 / (0.4 + 2 * 0.09)])
    assert speeds[1] == 0
