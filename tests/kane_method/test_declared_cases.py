"""Mechanisms declared by hand: a bead in a turning tube, a rolling disc, a four-bar linkage.

In the kind of public bug reports (sympy#23386, sympy#27631, mujoco#172).  The expected numbers, of twelve decimals, are
from derivations of another kind, two or more for each that agree: Lagrange's equations from positions (bead; with
multipliers, disc), moments about the contact point (disc), the energy of the one coordinate (linkage).
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kane.equations.activity import gravity_energy, kinetic_energy
from kane.equations.conditions import embed
from kane.equations.constrained import constrained
from kane.equations.constrained_programs import embedded_motion_program
from kane.equations.programs import matrices_program, motion_program, program_of
from kane.equations.projection import kane_equations
from kane.errors import ConvergenceError, InputError
from kane.graph.evaluate import evaluate
from kane.kinematics.points import velocities
from kane.mechanism.builder import System, cos, dot, sin
from kane.native import compile_program
from kane_method.linkages import four_bar


def bead():
    """A bead P in a tube that is tilted by beta on a turntable, and a particle Q that hangs from it."""
    s = System("bead")
    r, phi = s.coordinates("r phi")
    m, mq, L, beta, W, g = s.parameters(m=0.8, mq=0.3, L=0.25, beta=0.35, W=4, g=9.81)
    u1, u2 = s.speeds(u1=dot(r), u2=dot(phi))
    B = s.N.orient_new_axis("B", 3, W * s.t)
    tube = cos(beta) * B.x + sin(beta) * B.z
    P = s.O.locate_new("P", r * tube)
    Q = P.locate_new("Q", L * (sin(phi) * B.x - cos(phi) * B.z))
    s.particle("P", P, m)
    s.particle("Q", Q, mq)
    s.gravity(-g * s.N.z)
    return s, P, Q, B, tube, u1, u2


def test_bead_on_turntable():
    s, P, _, B, tube, u1, _ = bead()
    s.given_velocity(P, B, u1 * tube)
    e = kane_equations(s.mechanism(), parameters=())
    state = {"q": [0.4, 0.3], "u": [0.5, -1.2], "t": [0.7]}
    out = evaluate(matrices_program(e), state)
    assert np.allclose(out["mass_matrix"], [[1.1, 0.07490626953], [0.07490626953, 0.01875]], atol=1e-11)
    assert np.allclose(evaluate(motion_program(e), state)["udot"], [2.059496412452, 7.667112519377], rtol=1e-11)
    speed = program_of(e, "speed", [("v", (3,), velocities(e.points)[e.points.station("P")])])
    assert np.linalg.norm(evaluate(speed, state)["v"]) == pytest.approx(1.583981691726, abs=1e-12)


def test_a_velocity_given_in_the_wrong_frame_is_refused():
    s, P, _, _, tube, u1, _ = bead()
    s.given_velocity(P, s.N, u1 * tube)
    with pytest.raises(InputError, match="'P' in 'N'"):
        kane_equations(s.mechanism())


def disc(plane_coordinates=True):
    """A thin disc that rolls on a level plane: yaw, lean, spin; its contact point's place is located on the plane."""
    s = System("disc")
    q1, q2, q3, x, y = s.coordinates("q1 q2 q3 x y")
    m, r, g = s.parameters(m=2, r=0.25, g=9.81)
    Y = s.N.orient_new_axis("Y", 3, q1)
    K = Y.orient_new_axis("K", 1, q2)
    D = K.orient_new_axis("D", 2, q3)
    contact = s.O.locate_new("C", x * s.N.x + y * s.N.y)
    centre = contact.locate_new("D*", r * K.z)
    s.body("D", D, centre, m, (m * r**2 / 4, m * r**2 / 2, m * r**2 / 4))
    s.gravity(-g * s.N.z)
    s.roll("rolling", D, contact, s.N, s.N)
    return s


DISC_Q, DISC_RATES = [0.4, 0.35, 0.2], [1.1, -0.4, 6.0]
DISC_WANTED = [5.109792880241, 18.593831558172, -1.063263452431]


def test_rolling_disc_with_multipliers():
    e = kane_equations(disc().mechanism(), parameters=())
    c = constrained(e)
    q = [*DISC_Q, 0, 0]
    u = c.consistent_speeds(q, [*DISC_RATES, 0, 0], keep=("q1", "q2", "q3"))
    motion = c.accelerations(q, u)
    assert np.allclose(motion.udot[:3], DISC_WANTED, rtol=1e-11)
    assert all(motion.determined)
    speed = program_of(e, "speed", [("v", (3,), velocities(e.points)[e.points.station("D*")])])
    v = evaluate(speed, {"q": q, "u": u, "t": [0]})["v"]
    assert np.linalg.norm(v) == pytest.approx(1.597429997197, abs=1e-11)


def test_rolling_disc_with_dependent_speeds():
    e = kane_equations(disc().mechanism(), parameters=())
    embedded = embed(e, ("x", "y"))
    g, s = e.graph, e.points.symbols
    program = program_of(
        e, "residual", [("residual", (3,), embedded.residual), ("u", (5,), embedded.speeds)], rates=True
    )
    state = {"q": [*DISC_Q, 0, 0], "u": [*DISC_RATES, np.nan, np.nan], "t": [0]}
    out = evaluate(program, {**state, "udot": [*DISC_WANTED, np.nan, np.nan]})
    assert np.abs(out["residual"]).max() < 1e-10
    off = evaluate(program, {**state, "udot": [*(np.array(DISC_WANTED) + 1), np.nan, np.nan]})["residual"]
    assert np.abs(off).max() > 0.1
    assert g.value_of(s.u[0]) is None


def test_four_bar():
    c = constrained(kane_equations(four_bar().mechanism()))
    q = c.consistent_configuration([np.pi / 3, 0.6, 1.7], keep=("t1",))
    assert np.allclose(q, [1.047197551197, 0.63059891954, 1.725276185423], atol=1e-11)
    u = c.consistent_speeds(q, [2.0, 0, 0], keep=("t1",))
    assert np.allclose(u, [2.0, -0.470530838369, 0.341467104572], atol=1e-11)
    motion = c.accelerations(q, u, f=[0.4])
    assert np.allclose(motion.udot, [-11.092381195004, 3.775524389711, -0.130370540369], rtol=1e-10)
    assert c.dependent_speeds(q) and len(c.dependent_speeds(q)) == 2


def test_a_state_that_contradicts_a_constraint_is_named():
    c = constrained(kane_equations(four_bar().mechanism()))
    with pytest.raises(InputError, match=r"B\.[xy].*position residual"):
        c.accelerations([1.0, 0.6, 1.7], [0, 0, 0], f=[0.4])
    with pytest.raises(ConvergenceError):
        c.consistent_configuration([3.0, 0.6, 0.1], keep=("t1", "t3"))


def test_rolling_disc_keeps_its_energy():
    """Kinetic plus potential energy over five seconds: drift below 1e-7 of its size."""
    e = kane_equations(disc().mechanism(), parameters=())
    run = compile_program(embedded_motion_program(embed(e, ("x", "y"))))
    whole = program_of(e, "energy", [("energy", (), [e.graph.add(kinetic_energy(e), gravity_energy(e))])])
    zero = np.array([0.0])

    def right(t, y):
        qdot, _, udot = run(y[:5], np.concatenate([y[5:], [0, 0]]), zero)
        return np.concatenate([qdot, udot[:3]])

    found = solve_ivp(
        right,
        (0, 5),
        [*DISC_Q, 0, 0, *DISC_RATES],
        rtol=1e-11,
        atol=1e-12,
        method="DOP853",
        t_eval=np.linspace(0, 5, 6),
    )

    def energy(y):
        speeds = run(y[:5], np.concatenate([y[5:], [0, 0]]), zero)[1]
        return float(evaluate(whole, {"q": y[:5], "u": speeds, "t": [0]})["energy"])

    values = [energy(y) for y in found.y.T]
    assert np.ptp(values) < 1e-7 * abs(values[0])
    assert np.ptp(found.y[1]) > 0.1  # it really wobbles
