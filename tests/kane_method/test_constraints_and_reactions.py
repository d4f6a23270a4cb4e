import runpy
from pathlib import Path

import numpy as np
import pytest

from kane.equations.conditions import embed, find_conditions
from kane.equations.constrained import constrained
from kane.equations.programs import program_inputs
from kane.equations.projection import kane_equations
from kane.equations.reaction_forces import reaction
from kane.equations.steps import expression, work_out
from kane.errors import InertiaError, InputError, UnknownNameError
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program
from kane.kinematics import points as pt
from kane.mechanism.builder import System, dot
from kane_method.linkages import four_bar

EXAMPLES = Path(__file__).parents[2] / "examples"


def two_link():
    return runpy.run_path(str(EXAMPLES / "two_link.py"))["build"]()


def test_two_link_with_its_tip_on_a_line():
    """Buffinton section 6.5.2: v_P2 .

    n1 = 0 gives u2 = -(1 + s1/s12) u1 and (F1 + F1*) - (1 + s1/s12)(F2 + F2*) = 0.
    """
    s = two_link()
    s.nonholonomic("tip", s.velocity(s.points["P2"], s.N, s.N.x))
    e = kane_equations(s.mechanism())
    g = e.graph
    embedded = embed(e, ("u2",))
    ratio = expression(e, "-(1 + sin(q1)/sin(q1 + q2))")
    assert embedded.matrix == ((ratio,),)
    assert g.sub(embedded.speeds[1], g.mul(ratio, e.points.symbols.u[0])) < 2
    u2 = expression(e, "-(1 + sin(q1)/sin(q1 + q2))*u1")
    rate = g.sub(embedded.rates[1], g.mul(ratio, e.points.symbols.udot[0]))
    wanted = g.mul(pt.time_derivative(e.points, [ratio])[0], e.points.symbols.u[0])
    from kane.kinematics.motion import substitute

    both = {e.points.symbols.u[1]: u2}
    assert g.sub(rate, substitute(g, [wanted], both)[0]) < 2
    both[e.points.symbols.udot[1]] = embedded.rates[1]
    f1, f2 = substitute(g, list(e.residual), both)
    assert g.sub(embedded.residual[0], g.add(f1, g.mul(ratio, f2))) < 2
    assert embedded.redundant == ()


def test_dependent_speeds_are_checked():
    s = two_link()
    s.nonholonomic("tip", s.velocity(s.points["P2"], s.N, s.N.x))
    e = kane_equations(s.mechanism())
    with pytest.raises(InputError, match=r"'u7'"):
        embed(e, ("u7",))
    with pytest.raises(InputError, match=r"do not determine"):
        embed(e, ("u1", "u2"))
    again = two_link()
    again.nonholonomic("tip", "q1_dot")
    with pytest.raises(InputError, match=r"'tip' is left"):
        embed(kane_equations(again.mechanism()), ("u2",))


def parallelogram():
    s = System("parallelogram")
    x, y, th, z = s.coordinates("x y th z")
    B = s.N.orient_new_axis("B", 3, th)
    Bo = s.O.locate_new("B*", x * s.N.x + y * s.N.y)
    s.body("B", B, Bo, 2, (1, 1, "0.3"))
    bead = s.O.locate_new("bead", z * s.N.z)
    s.particle("bead", bead, "0.5")
    s.holonomic("wire", z - "0.25")
    s.gravity(s.N.y * -9.81 + s.N.z * -9.81)
    for k, place in enumerate((-1, 0, 1)):
        hang = s.O.locate_new(f"H{k}", s.N.vector(place, 2, 0))
        hold = Bo.locate_new(f"P{k}", B.vector(place, 0, 0))
        s.holonomic(f"rod{k}", s.distance(hang, hold) - 1)
    return constrained(kane_equations(s.mechanism()))


def test_redundant_conditions_are_named_and_determined_reactions_given():
    c = parallelogram()
    q = [np.sin(0.4), 2 - np.cos(0.4), 0, 0.25]
    u = c.consistent_speeds(q, [np.cos(0.4), np.sin(0.4), 0, 0], keep=("x",))
    motion = c.accelerations(q, u)
    assert motion.redundant == ("rod2",)
    # a pendulum of length 1 in translation: angle'' = -g sin(angle)
    along = motion.udot[0] * np.cos(0.4) + motion.udot[1] * np.sin(0.4)
    assert along == pytest.approx(-9.81 * np.sin(0.4), rel=1e-12)
    assert motion.reaction("wire") == pytest.approx(0.5 * 9.81)
    with pytest.raises(InputError, match=r"rod0, rod1, rod2"):
        motion.reaction("rod1")
    rods = [motion.multipliers[motion.names.index(f"rod{k}")] for k in range(3)]
    assert sum(rods) == pytest.approx(-2 * (9.81 * np.cos(0.4) + (u[0] ** 2 + u[1] ** 2)), rel=1e-10)


def particle(*conditions):
    s = System("particle")
    x, y = s.coordinates("x y")
    P = s.O.locate_new("P", x * s.N.x + y * s.N.y)
    s.particle("P", P, 2)
    s.gravity(s.N.y * -9.81)
    for k, text in enumerate(conditions):
        s.nonholonomic(f"c{k}", text)
    return kane_equations(s.mechanism())


def test_contradicting_conditions_are_named():
    with pytest.raises(InputError, match=r"'c1' contradicts"):
        embed(particle("x_dot - 1", "2*x_dot - 3"))
    assert embed(particle("x_dot - 1", "2*x_dot - 2")).redundant == ("c1",)
    c = constrained(particle("x_dot - y", "x_dot - 2*y"))
    with pytest.raises(InputError, match=r"contradicts the other"):
        c.accelerations([0, 0], [0, 1.0])
    with pytest.raises(InputError, match=r"speed residual is 1"):
        constrained(particle("x_dot - 1")).accelerations([0, 0], [2, 0])
    with pytest.raises(InputError, match=r"does not restrain"):
        find_conditions(particle("x - 1"))


def test_a_condition_that_is_not_linear_is_treated_at_acceleration_level():
    """Appell's constraint of constant speed: the tangential part of gravity is cancelled."""
    e = particle("x_dot**2 + y_dot**2 - 25")
    assert find_conditions(e).linear == (False,)
    with pytest.raises(InputError, match=r"not linear"):
        embed(e)
    u = np.array([3.0, 4.0])
    udot = constrained(e).accelerations([0, 0], u).udot
    assert udot @ u == pytest.approx(0, abs=1e-12)
    normal = np.array([-4, 3]) / 5
    assert udot @ normal == pytest.approx(-9.81 * normal[1])


def values(e, mixed, motion, q, u, f=()):
    """A mixed vector's components in N at numbers."""
    x = pt.gather(e.points, mixed, 0)
    names = tuple(f"lambda {n}" for n in motion.names)
    arrays = {"q": q, "u": u, "udot": motion.udot, "t": [0], "f": f, "lambda": motion.multipliers}
    inputs = (*program_inputs(e, rates=True), *((Input("lambda", names),) if names else ()))
    program = build_program(e.graph, "vector", inputs, [("v", (3,), x)])
    return evaluate(program, {i.name: arrays[i.name] for i in inputs})["v"]


def test_contact_force_of_a_rolling_disc():
    s = System("disc")
    q1, q2, q3, x, y = s.coordinates("q1 q2 q3 x y")
    D = s.frame("D").orient_body_fixed(s.N, (q1, q2, q3), "312")
    K = s.frame("K").orient_body_fixed(s.N, (q1, q2), "31")
    contact = s.O.locate_new("C", x * s.N.x + y * s.N.y)
    centre = contact.locate_new("D*", K.z * "0.25")
    s.body("D", D, centre, 2, ("1/32", "1/16", "1/32"))
    s.gravity(s.N.z * -9.81)
    s.roll("rolling", D, contact, s.N, s.N)
    e = kane_equations(s.mechanism())
    c = constrained(e)
    q = [0.4, 0.35, 0.2, 0.0, 0.0]
    u = c.consistent_speeds(q, [1.1, -0.4, 6.0, 0, 0], keep=("q1", "q2", "q3"))
    motion = c.accelerations(q, u)
    normal = values(e, reaction(e, "C").force, motion, q, u)
    a = values(
        e, {e.points.stations[e.points.station("D*")].held: e.accelerations.acc[e.points.station("D*")]}, motion, q, u
    )
    friction = np.array([motion.reaction("rolling.x"), motion.reaction("rolling.y"), 0])
    assert np.allclose(friction[:2], 2 * a[:2], rtol=1e-11)  # the plane's only horizontal force
    assert np.allclose(normal, [0, 0, 2 * (a[2] + 9.81)], atol=1e-11)


def test_reactions_of_the_two_link_robot():
    """On link B at the joint: force m (a - g); the shoulder carries both particles; the moments are the motors'."""
    e = kane_equations(two_link().mechanism())
    g, p = e.graph, e.points
    r = reaction(e, "B", without=("motor AB",))
    wanted = pt.mixed_add(p, pt.derivative_in_n(p, pt.velocity(p, p.station("P2"))), {0: (expression(e, "g"), 0, 0)})
    wanted = {k: tuple(g.mul(expression(e, "m"), x) for x in part) for k, part in wanted.items()}
    gap = pt.mixed_add(p, r.force, pt.mixed_neg(wanted))
    assert all(x < 2 for x in pt.gather(p, gap, 0))
    moment = pt.gather(p, r.moment, p.axes_of("B"))
    assert g.sub(g.sub(expression(e, "T_AB"), moment[2]), e.residual[1]) < 2
    base = reaction(e, "A", without=("motor A",))
    shoulder = pt.gather(p, base.moment, p.axes_of("A"))[2]
    assert g.sub(g.sub(expression(e, "T_A"), shoulder), e.residual[0]) < 2


def test_pin_forces_of_a_four_bar_balance():
    e = kane_equations(four_bar(torque=False).mechanism())
    c = constrained(e)
    q = c.consistent_configuration([np.pi / 3, 0.6, 1.7], keep=("t1",))
    u = c.consistent_speeds(q, [2.0, 0, 0], keep=("t1",))
    motion = c.accelerations(q, u)
    total = np.zeros(3)
    for link in ("A", "C"):
        total += values(e, reaction(e, link).force, motion, q, u)
        moment = values(e, reaction(e, link).moment, motion, q, u)
        assert abs(moment[2]) < 1e-12  # a free pin transmits no moment about its axis
    momentum = np.zeros(3)
    for b in e.points.bodies:
        axes = e.points.stations[b.station].held
        a = values(e, {axes: e.accelerations.acc[b.station]}, motion, q, u)
        momentum += float(e.graph.value_of(b.mass)) * (a + np.array([0, 9.81, 0]))
    assert np.allclose(total, momentum, atol=1e-11)


def test_nonworking_forces_drop_out():
    """A force pair normal to a slide and the tension of a rod do no work: no generalized active force."""
    s = System("slide")
    q = s.coordinates("q")
    A = s.N.orient_new_axis("A", 3, s.t * 2)
    P = s.O.locate_new("P", q * A.x)
    Q = P.locate_new("Q", A.vector(1, 2, 0))
    s.particle("P", P, 1)
    N = s.inputs("N")
    s.force_pair("wall", P, s.frame("S").orient_axis(A, 3, 0), A, N * A.y)
    s.actuator("rod", Q, P, N)
    s.frames["S"].origin = P
    e = kane_equations(s.mechanism())
    assert all(x < 2 for forces in e.contributions.values() for x in forces)
    assert "does no work" in str(work_out(e).activity)


def bare():
    s = System("bare")
    q1, q2 = s.coordinates("q1 q2")
    A = s.N.orient_new_axis("A", 3, q1)
    return s, q1, q2, A


def test_bad_descriptions_are_named():
    s, q1, q2, A = bare()
    lost = s.point("lost")
    s.particle("P", lost, 1)
    with pytest.raises(InputError, match=r"'lost' is not connected.*no velocity"):
        s.mechanism()
    s, q1, q2, A = bare()
    s.force("push", s.point("nowhere"), A.x)
    with pytest.raises(InputError, match=r"'nowhere'"):
        s.mechanism()
    s, q1, q2, A = bare()
    s.speeds(u1=dot(q1) + dot(q2), u2=2 * dot(q1) + 2 * dot(q2))
    with pytest.raises(InputError, match=r"u2 depends linearly"):
        kane_equations(s.mechanism())
    s, q1, q2, A = bare()
    s.speeds(u1=dot(q1))
    with pytest.raises(InputError, match=r"1 generalized speeds"):
        kane_equations(s.mechanism())
    s, q1, q2, A = bare()
    s.speeds(u1=dot(q1) ** 2, u2=dot(q2))
    with pytest.raises(InputError, match=r"'u1' is not linear"):
        kane_equations(s.mechanism())
    s, q1, q2, A = bare()
    with pytest.raises(InertiaError, match=r"'P'.*negative mass -2"):
        s.particle("P", s.O, -2)
    s.particle("heavy", s.O, s.parameters(mass=-3))
    with pytest.raises(InertiaError, match=r"'heavy'.*its mass is -3 kg"):
        s.mechanism()
    s, q1, q2, A = bare()
    with pytest.raises(InputError, match=r"oriented twice"):
        A.orient_axis(s.N, 1, q2)
    with pytest.raises(InputError, match=r"two points named"):
        s.point("P") and s.point("P")
    s.frame("loose")
    with pytest.raises(InputError, match=r"'loose' is not oriented"):
        s.mechanism()
    s, q1, q2, A = bare()
    s.particle("P", s.O.locate_new("P", A.x * "length"), 1)
    with pytest.raises(InputError, match=r"'length'.*not declared"):
        s.mechanism()
    s, q1, q2, A = bare()
    s.torque("T", A, A.z * "torque")
    with pytest.raises(UnknownNameError, match=r"'torque' is not defined"):
        kane_equations(s.mechanism())


def test_configurations_from_any_guess_stay_near_it():
    c = constrained(kane_equations(four_bar(torque=False).mechanism()))
    rng = np.random.default_rng(3)
    for _ in range(40):
        guess = rng.uniform(-np.pi, np.pi, 3)
        q = c.consistent_configuration(guess)
        assert np.abs(q - guess).max() < 2.0 * np.pi
        kept = rng.uniform(-np.pi, np.pi)
        assert c.consistent_configuration([kept, 0.6, 1.7], keep=("t1",))[0] == kept
