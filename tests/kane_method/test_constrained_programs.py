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
from kane_method.linkages import four_bar


def test_programs_of_a_four_bar_run_natively():
    e = kane_equations(four_bar().mechanism())
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
        constrained_motion_program(kane_equations(four_bar(twice=True).mechanism()))


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
