"""Friction, transmissions, rotors, backlash, clearance, stops: power balance with each and closed forms."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from kane.equations.activity import activities, inertia_activity, kinetic_energy
from kane.equations.programs import motion_program, program_of
from kane.equations.projection import kane_equations
from kane.errors import InputError
from kane.graph.evaluate import evaluate
from kane.kinematics import points as pt
from kane.mechanism.builder import System, dot
from kane.mechanism.elements import contact, friction, transmission
from kane.mechanism.elements.place import on_coordinate, slide, turn


def block(*elements, mass=2, force=False):
    """A block on a rail with elements on its coordinate."""
    s = System("block")
    x = s.coordinates("x")
    P = s.O.locate_new("P", x * s.N.x)
    s.particle("P", P, mass)
    if force:
        s.force("push", P, s.inputs("F") * s.N.x)
    s.add(*(load for element in elements for load in element))
    return kane_equations(s.mechanism())


def march(e, y0, until, f=(), **options):
    program = motion_program(e)
    n = len(e.points.symbols.q)

    def right(t, y):
        out = evaluate(program, {"q": y[:n], "u": y[n:], "t": [t], "f": f})
        return np.concatenate([out["qdot"], out["udot"]])

    return solve_ivp(right, (0, until), y0, rtol=1e-10, atol=1e-12, method="DOP853", **options)


def effort(e, name, q, u, f=()):
    program = program_of(e, "effort", [("f", (), [e.contributions[name][0]])])
    return float(evaluate(program, {"q": [q], "u": [u], "t": [0], "f": f})["f"])


X = on_coordinate("x")


def test_viscous_friction_decays():
    e = block(friction.viscous("damper", X, "0.6"))
    run = march(e, [0, 1.5], 2)
    assert run.y[1, -1] == pytest.approx(1.5 * np.exp(-0.3 * 2), rel=1e-9)


def test_coulomb_friction_loses_its_work():
    """Stopping distance m v^2 / (2 c): all kinetic energy goes into c times the distance."""
    e = block(friction.coulomb("rub", X, "1.5"))
    stop = march(e, [0, 3.0], 5, events=_stopped)
    distance = stop.y_events[0][0][0]
    assert distance == pytest.approx(2 * 3.0**2 / (2 * 1.5), rel=1e-8)
    assert effort(e, "rub", 0, -0.1) == 1.5
    assert effort(e, "rub", 0, 0) == 0
    smooth = block(friction.coulomb("rub", X, "1.5", width="0.01"))
    assert effort(smooth, "rub", 0, 0.005) == pytest.approx(-1.5 * np.tanh(0.5))


def _stopped(t, y):
    return y[1] - 1e-9


_stopped.terminal = True


def test_stribeck_curve():
    e = block(friction.stribeck("seal", X, 2, 3, "0.1", "0.4"))
    for v in (0.01, 0.1, 1.0):
        assert effort(e, "seal", 0, v) == pytest.approx(-(2 + np.exp(-((v / 0.1) ** 2)) + 0.4 * v))
        assert effort(e, "seal", 0, -v) == -effort(e, "seal", 0, v)


def test_stop_reproduces_an_elastic_bounce():
    """Contact lasts pi sqrt(m / k) and reverses the velocity; the depth is v sqrt(m / k)."""
    k = 5000.0
    e = block(contact.stop("stop", X, -1, 1, k))
    run = march(e, [1.0, 2.0], np.pi * np.sqrt(2 / k), max_step=1e-3)
    assert run.y[:, -1] == pytest.approx([1.0, -2.0], abs=1e-7)
    assert run.y[0].max() == pytest.approx(1 + 2 * np.sqrt(2 / k), rel=1e-5)
    assert effort(e, "stop", 0.999, 5) == 0
    assert effort(e, "stop", -1.1, 0) == pytest.approx(500)


def test_contact_never_pulls_and_loses_energy():
    e = block(contact.stop("stop", X, -1, 1, 5000, "0.4"))
    assert effort(e, "stop", 1.1, -100) == 0
    run = march(e, [1.0, 1.0], 0.1, max_step=1e-3)
    # Hunt and Crossley: the ratio of restitution r solves (d v (1 + r)) = ln((1 + d v) / (1 - d v r))
    r, loss = -run.y[1, -1], 0.4
    assert loss * (1 + r) == pytest.approx(np.log((1 + loss) / (1 - loss * r)), rel=1e-6)


def two_masses(gap, stiffness):
    """Two masses on a rail, a tooth of one between two flanks of the other."""
    s = System("teeth")
    x, y = s.coordinates("x y")
    P = s.O.locate_new("P", x * s.N.x)
    Q = s.O.locate_new("Q", y * s.N.x)
    s.particle("P", P, 1)
    s.particle("Q", Q, 3)
    A = s.frame("A").orient_axis(s.N, 3, 0)
    B = s.frame("B").orient_axis(s.N, 3, 0)
    A.origin, B.origin = P, Q
    place = slide(x - y, dot(x) - dot(y), "A", "B", s.N.x, "P")
    s.add(*contact.backlash("teeth", place, gap, stiffness))
    return kane_equations(s.mechanism())


def test_backlash_is_a_two_mass_impact_with_a_limit_cycle():
    gap, k, v, mu = 0.1, 4000.0, 0.8, 3 / 4
    period = 2 * (gap / v + np.pi * np.sqrt(mu / k))
    run = march(two_masses(gap, k), [0, 0, v, 0], 3 * period, max_step=2e-3, dense_output=True)
    assert run.y[2] + 3 * run.y[3] == pytest.approx(np.full(run.t.size, v), abs=1e-9)
    for cycle in (1, 2, 3):
        x, y, u, w = run.sol(cycle * period)
        assert (x - y, u - w) == pytest.approx((0, v), abs=1e-5)
    first = run.sol(gap / 2 / v + np.pi * np.sqrt(mu / k) + 1e-4)  # after one elastic impact
    assert first[2:] == pytest.approx([v * (1 - 3) / 4, v * 2 / 4], abs=1e-6)


def test_clearance_is_free_inside_and_springs_outside():
    s = System("pin")
    x, y = s.coordinates("x y")
    P = s.O.locate_new("P", x * s.N.x + y * s.N.y)
    s.particle("P", P, 1)
    s.add(*contact.clearance("bearing", "P", "O", "0.01", 1000))
    e = kane_equations(s.mechanism())
    out = evaluate(motion_program(e), {"q": [0.003, 0.004], "u": [0, 0], "t": [0]})["udot"]
    assert np.array_equal(out, [0, 0])
    out = evaluate(motion_program(e), {"q": [0.03, 0.04], "u": [0, 0], "t": [0]})["udot"]
    assert out == pytest.approx([-1000 * 0.04 * 0.6, -1000 * 0.04 * 0.8])
    # bouncing across a diameter: period 2 (2 gap / v + pi sqrt(m / k))
    v = 0.5
    period = 2 * (2 * 0.01 / v + np.pi / np.sqrt(1000))
    run = march(e, [1e-9, 0, v, 0], period, max_step=1e-3)
    assert run.y[[0, 2], -1] == pytest.approx([0, v], abs=1e-5)


def test_efficiency_loses_its_share_both_ways():
    e = block(transmission.drive("gear", X, 10, "0.5", "0.8"))
    assert effort(e, "gear", 0, 2) == pytest.approx(10 * 0.5 * 0.8)  # the motor drives: 20 % lost on the way out
    assert effort(e, "gear", 0, -2) == pytest.approx(
        10 * 0.5 / 0.8
    )  # the load drives: 20 % of its power lost on the way in
    work = quad(
        lambda t: effort(e, "gear", 0, np.cos(t)) * np.cos(t), 0, 2 * np.pi, points=[np.pi / 2, 3 * np.pi / 2]
    )[0]
    assert work == pytest.approx(2 * 5 * (0.8 - 1 / 0.8), rel=1e-9)


def test_compliant_transmission_reduces_to_a_rigid_one():
    """A motor inertia J behind a ratio n and a spring: the free frequency is that of J n^2 against the mass."""
    s = System("gear")
    x, th = s.coordinates("x th")
    P = s.O.locate_new("P", x * s.N.x)
    s.particle("P", P, 2)
    motor = on_coordinate("th")
    s.add(*transmission.rotor("rotor", "N", s.N.x, "0.01", motor))
    s.add(*transmission.compliance("gear", on_coordinate("x"), motor, 10, 300))
    from kane.linearization.linear import linearize

    linear = linearize(kane_equations(s.mechanism()), [0, 0], [0, 0])
    reduced = 1 / (1 / 2 + 1 / (0.01 * 100))
    assert np.abs(linear.eigenvalues).max() == pytest.approx(np.sqrt(300 / reduced))
    assert th is not x


def gyro(kind):
    s = System("gimbal")
    a, b = s.coordinates("a b")
    A = s.N.orient_new_axis("A", 3, a)
    B = A.orient_new_axis("B", 1, b)
    centre = s.O.locate_new("B*", B.vector("0.1", "0.2", "0.3"))
    J, T, m, n = "0.02", "0.013", "0.7", 25
    if kind == "body":
        W = B.orient_new_axis("W", 2, n * b)
        s.body("W", W, s.O.locate_new("W*", B.vector("0.2", 0, "0.1")), m, (T, J, T))
        s.body("A", A, s.O, 1, (1, 2, 3))
    else:
        s.body("A", A, s.O, 1, (1, 2, 3))
        s.body("locked", B, s.O.locate_new("W*", B.vector("0.2", 0, "0.1")), m, (T, J, T))
        s.add(*transmission.rotor("W", "B", B.y, J, on_coordinate("b"), n, exact=kind == "exact"))
    s.body("B", B, centre, 2, ("0.4", "0.5", "0.6", "0.01", "0.02", "0.03"))
    s.gravity(s.N.z * -9.81)
    return kane_equations(s.mechanism())


def test_exact_rotor_equals_the_wheel_as_a_body():
    state = {"q": [0.3, 0.8], "u": [1.2, -2.1], "t": [0]}
    body, exact, reflected = (evaluate(motion_program(gyro(k)), state)["udot"] for k in ("body", "exact", "reflected"))
    assert np.allclose(exact, body, rtol=1e-12)
    assert not np.allclose(reflected, body, rtol=1e-3)


def test_exact_rotor_against_a_hand_derivation():
    s = System("table")
    a, c = s.coordinates("a c")
    A = s.N.orient_new_axis("A", 3, a)
    T = A.orient_new_axis("T", 1, c)
    s.body("T", T, s.O, 1, (1, 1, 1))
    s.add(*transmission.rotor("wheel", "T", T.y, "0.05", turn(a, "40", "", "", T.x)))
    e = kane_equations(s.mechanism())
    udot = evaluate(motion_program(e), {"q": [0, 0], "u": [3, 0], "t": [0]})["udot"]
    # h = J s y turned at w z: dh/dt = -J s w x, so the body is turned by +J s w about x
    assert udot == pytest.approx([0, 0.05 * 40 * 3 / 1])


def test_coupled_gearing_moves_power_without_loss():
    """Two motors on the axes of a differential wrist: G from motor to joint rates; power in equals power out."""
    s = System("wrist")
    p, r = s.coordinates("p r")
    A = s.N.orient_new_axis("A", 1, p)
    B = A.orient_new_axis("B", 3, r)
    s.body("B", B, s.O.locate_new("B*", B.x * "0.1"), 1, ("0.02", "0.03", "0.04"))
    m1, m2 = s.inputs("m1 m2")
    places = [on_coordinate("p"), on_coordinate("r")]
    gearing = [[50, 10], [50, -10]]
    s.add(*transmission.coupled("wrist", places, gearing, [m1, m2]))
    s.add(*transmission.coupled_rotors("rotor", ["N", "N"], [s.N.x, s.N.x], ["1e-5", "1e-5"], places, gearing))
    e = kane_equations(s.mechanism())
    g, (u1, u2) = e.graph, e.points.symbols.u
    power = g.sum(activities(e).values())
    motors = [g.add(g.mul(g.number(50), u1), g.mul(g.number(10 * sign), u2)) for sign in (1, -1)]
    put_in = g.add(g.mul(g.symbol("m1"), motors[0]), g.mul(g.symbol("m2"), motors[1]))
    assert g.sub(power, put_in) < 2
    with pytest.raises(InputError, match="one row a motor"):
        transmission.coupled("bad", places, [[1]], [m1])


@pytest.mark.parametrize("kind", ["body", "exact", "reflected"])
def test_power_balance_with_rotors(kind):
    """Activity of loads plus that of inertia is the residual times the speeds, dK/dt its negative."""
    e = gyro(kind)
    g = e.graph
    total = g.sum([*activities(e).values(), inertia_activity(e)])
    assert g.sub(total, g.dot(e.residual, e.points.symbols.u)) < 2
    assert pt.time_derivative(e.points, [kinetic_energy(e)])[0] > 1


def test_power_balance_with_every_element():
    place = on_coordinate("x")
    elements = [
        friction.viscous("v", place, "0.3"), friction.coulomb("c", place, "0.2", "0.1"),
        friction.stribeck("s", place, 1, 2, "0.1", "0.3", "0.05"), friction.spring("k", place, 5, "0.1"),
        contact.stop("stop", place, -1, 1, 50, 1), contact.backlash("back", place, "0.1", 60, 1),
        transmission.drive("gear", place, 3, "0.7", "0.9"),
        transmission.rotor("rotor", "N", slide_axis(), "0.1", place, 4),
    ]  # fmt: skip
    e = block(*elements)
    g = e.graph
    total = g.sum([*activities(e).values(), inertia_activity(e)])
    assert g.sub(total, g.dot(e.residual, e.points.symbols.u)) < 2
    for name in ("v", "c", "s"):
        assert effort(e, name, 0, 0.7) * 0.7 < 0


def slide_axis():
    from kane.mechanism.basis import basis

    return basis("N", 0)
