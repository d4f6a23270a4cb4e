"""Reactions with beams, rotors and conditions of every kind beyond the cut."""

import numpy as np
import pytest

from kane.equations.applied import Push
from kane.equations.conditions import find_conditions
from kane.equations.constrained import constrained
from kane.equations.constraint_forces import condition_pushes
from kane.equations.programs import program_inputs
from kane.equations.projection import kane_equations, project
from kane.equations.reaction_forces import reaction
from kane.errors import InputError
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program
from kane.kinematics import points as pt
from kane.mechanism import constraints as c
from kane.mechanism.beams import clamped_free
from kane.mechanism.builder import System, dot, sin
from kane.mechanism.loads import SpinningRotor


def spatial():
    """Two bodies in space, not a chain of one plane, and a particle free in a plane."""
    s = System("spatial")
    q = s.coordinates("q1 q2 q3 q4 x y")
    A = s.frame("A").orient_body_fixed(s.N, q[:2], "31")
    B = s.frame("B").orient_body_fixed(A, q[2:4], "23")
    P = s.O.locate_new("P", A.vector(1, "0.3", "0.2"))
    Q = P.locate_new("Q", B.vector("0.4", 1, "0.1"))
    R = s.O.locate_new("R", q[4] * s.N.x + q[5] * s.N.y)
    s.body("a", A, P, 2, (1, 2, "2.5"))
    s.body("b", B, Q, 1, (1, "1.5", "1.2"))
    s.particle("r", R, 1)
    return s, A, B, P, Q, R, q


HOLONOMIC = {
    "position in N": lambda s, A, B, P, Q, R: s.position(Q, R, s.N.y),
    "slot": lambda s, A, B, P, Q, R: s.position(Q, R, A.y),
    "rod": lambda s, A, B, P, Q, R: s.distance(Q, R) - 2,
    "function": lambda s, A, B, P, Q, R: s.position(Q, P, A.x) * s.distance(P, R) - sin(s.position(R, s.O, B.z)),
}
MOTION = {
    "skate": lambda s, A, B, P, Q, R: s.velocity(R, s.N, A.y),
    "relative": lambda s, A, B, P, Q, R: s.velocity(Q, A, B.x),
    "material": lambda s, A, B, P, Q, R: s.material_velocity(R, B, A.z) * s.distance(P, R),
    "spin": lambda s, A, B, P, Q, R: s.angular_velocity(B, A, B.z) - s.angular_velocity(A, s.N, A.x) * 2,
    "length": lambda s, A, B, P, Q, R: s.distance_dot(Q, R) + s.velocity(R, s.N, s.N.x),
}


@pytest.mark.parametrize("kind", [*HOLONOMIC, *MOTION])
def test_forces_of_a_condition_do_its_virtual_work(kind):
    """sum of v_r . force + w_r . torque = lambda d phi' / d u_r: equal as functions."""
    s, *made, _ = spatial()
    if kind in HOLONOMIC:
        s.holonomic("phi", HOLONOMIC[kind](s, *made))
    else:
        s.nonholonomic("phi", MOTION[kind](s, *made))
    e = kane_equations(s.mechanism())
    g = e.graph
    (row,) = find_conditions(e).jacobian
    pushes = condition_pushes(e, e.points.mechanism.constraints[0])
    assert pushes and all(isinstance(push, Push) for push in pushes)
    found = project(e.points, pushes)
    assert all(g.sub(a, g.mul(g.symbol("lambda phi"), b)) < 2 for a, b in zip(found, row, strict=True))
    assert sum(x > 1 for x in row) > 1


@pytest.mark.parametrize("axes", [(1,), (2, 3), (1, 2, 3)])
def test_coinciding_points_along_moving_axes_do_their_virtual_work(axes):
    s, A, _, _, Q, R, _ = spatial()
    s.coincide("pin", Q, R, A, axes)
    e = kane_equations(s.mechanism())
    g = e.graph
    rows = find_conditions(e).jacobian
    for condition, row in zip(c.scalar_conditions(e.points.mechanism.constraints[0]), rows, strict=True):
        multiplier = g.symbol(f"lambda {condition.name}")
        found = project(e.points, condition_pushes(e, condition))
        assert all(g.sub(a, g.mul(multiplier, b)) < 2 for a, b in zip(found, row, strict=True))


def values(e, mixed, q, u, udot, multipliers=()):
    names = tuple(f"lambda {n}" for n in find_conditions(e).names)
    inputs = (*program_inputs(e, rates=True), *((Input("lambda", names),) if names else ()))
    given = {"q": q, "u": u, "udot": udot, "t": [0.3], "lambda": multipliers}
    program = build_program(e.graph, "vector", inputs, [("v", (3,), pt.gather(e.points, mixed, 0))])
    return evaluate(program, {i.name: given[i.name] for i in inputs})["v"]


def test_what_moves_freely_is_held_by_nothing():
    """A crank whose slot guides a particle that is free in the plane: no moment at the pivot, no force in the plane."""
    s = System("slot")
    q, x, y = s.coordinates("q x y")
    A = s.N.orient_new_axis("A", 3, q)
    s.body("crank", A, s.O.locate_new("C", "0.2" * A.x), 1, (0, 0, "0.1"))
    R = s.O.locate_new("R", x * s.N.x + y * s.N.y)
    s.particle("bead", R, "0.5")
    s.gravity(s.N.y * -9.81)
    s.coincide("slot", R, s.O, A, (2,))
    e = kane_equations(s.mechanism(), parameters=())
    sol = constrained(e)
    place = sol.consistent_configuration([0.5, 0.8, 0.6], keep=("q", "x"))
    u = sol.consistent_speeds(place, [1.5, -0.3, 0], keep=("q", "x"))
    motion = sol.accelerations(place, u)
    state = (place, u, motion.udot, motion.multipliers)
    assert abs(values(e, reaction(e, "A").moment, *state)[2]) < 1e-13
    assert np.allclose(values(e, reaction(e, "R").force, *state), 0, atol=1e-13)
    assert abs(motion.multipliers[0]) > 0.1


def beam(slides=False, **options):
    s = System("beam")
    th, x, d1, d2 = s.coordinates("th x d1 d2")
    A = s.N.orient_new_axis("A", 3, th)
    P = s.O.locate_new("P", A.x * x if slides else A.x * "0.3")
    H = s.frame("H").orient_axis(A, 3, "0.2")
    made = s.beam("beam", H, P, clamped_free(2), [d1, d2], 2, "1.5", 30, **options)
    tip, _ = s.beam_end("tip", made)
    s.particle("load", tip, "0.4")
    if not slides:
        s.particle("spare", s.O.locate_new("S", s.N.x * x), 1)
    s.gravity(s.N.vector(1, -9, 0))
    return kane_equations(s.mechanism(), parameters=())


@pytest.mark.parametrize("options", [{}, {"stiffening": "none"}])
def test_a_free_joint_before_a_beam_transmits_nothing_along_its_motion(options):
    """The moment about a free pivot and the force along a free slide are minus F_r + F_r*, as functions."""
    e = beam(**options)
    p, g = e.points, e.graph
    moment = pt.gather(p, reaction(e, "A").moment, 0)[2]
    assert g.add(moment, e.residual[0]) < 2
    e = beam(slides=True, **options)
    p, g = e.points, e.graph
    force = pt.gather(p, reaction(e, "P").force, p.axes_of("A"))[0]
    assert g.add(force, e.residual[1]) < 2
    assert force > 1


def test_a_truncated_beam_has_the_reaction_of_its_own_equations():
    s = System("beam")
    th, d = s.coordinates("th d")
    A = s.N.orient_new_axis("A", 3, th)
    s.beam("beam", A, s.O, clamped_free(1), [d], 2, "1.5", 30, truncated=True)
    e = kane_equations(s.mechanism(), parameters=())
    moment = pt.gather(e.points, reaction(e, "A").moment, 0)[2]
    assert e.graph.add(moment, e.residual[0]) < 2


def test_the_clamp_of_a_spinning_beam():
    """Straight and steady: m w^2 L / 2 inwards; weight m g and moment m g L / 2 (1.1 kg, 0.8 m, 3 rad/s)."""
    s = System("clamp")
    th, d = s.coordinates("th d")
    H = s.N.orient_new_axis("H", 3, th)
    s.beam("beam", H, s.O, clamped_free(1), [d], "0.8", "1.375", 5)
    s.gravity(s.N.y * -10)
    e = kane_equations(s.mechanism(), parameters=())
    r = reaction(e, "H")
    assert np.allclose(values(e, r.force, [0, 0], [3, 0], [0, 0]), [-1.1 * 9 * 0.4, 11, 0], rtol=1e-12)
    assert np.allclose(values(e, r.moment, [0, 0], [3, 0], [0, 0]), [0, 0, 4.4], rtol=1e-12)


def test_a_gyroscope_needs_a_moment():
    """J W about x of a frame that turns at w about z: moment J W w along y on the carrier."""
    s = System("gyro")
    q = s.coordinates("q")
    A = s.N.orient_new_axis("A", 3, q)
    s.body("frame", A, s.O.locate_new("C", s.N.x * 0), 1, (1, 1, 1))
    s.add(SpinningRotor("wheel", "A", A.x, 2, 50 + 0 * dot(q)))
    e = kane_equations(s.mechanism(), parameters=())
    assert np.allclose(values(e, reaction(e, "A").moment, [0.0], [0.7], [0.0]), [0, 2 * 50 * 0.7, 0], atol=1e-12)


def chain():
    s = System("chain")
    q = s.coordinates("q1 q2 q3")
    frame, point = s.N, s.O
    for k, x in enumerate(q, 1):
        frame = frame.orient_new_axis(f"B{k}", 3, x)
        s.body(f"b{k}", frame, point.locate_new(f"C{k}", frame.x * "0.5"), k, (0, 0, "0.1"))
        point = point.locate_new(f"P{k}", frame.x)
    s.gravity(s.N.y * -9.81)
    return s, q


def test_a_drive_given_as_a_condition_is_part_of_the_reaction_at_its_joint():
    s, q = chain()
    s.holonomic("drive", q[1] - sin(s.t))
    e = kane_equations(s.mechanism(), parameters=())
    g, p = e.graph, e.points
    moment = {k: pt.gather(p, reaction(e, f"B{k}").moment, 0)[2] for k in (1, 2, 3)}
    assert g.add(moment[1], e.residual[0]) < 2
    assert g.add(moment[2], e.residual[1]) < 2  # what the drive exerts, lambda, balances it
    assert g.add(moment[3], e.residual[2]) < 2


def test_a_gear_is_refused_where_its_forces_have_no_place():
    s, q = chain()
    s.holonomic("gear", q[1] - 2 * q[2])
    s.nonholonomic("other", dot(q[0]) + dot(q[1]))
    e = kane_equations(s.mechanism(), parameters=())
    assert pt.gather(e.points, reaction(e, "B3").force, 0)[0] > 1  # across the cut: part of the reaction
    with pytest.raises(InputError, match=r"'gear' couples the joints 'B2', 'B3'") as caught:
        reaction(e, "B2")
    assert caught.value.name == "gear"
    assert "measures" in caught.value.remedy
