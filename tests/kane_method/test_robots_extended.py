"""One system: robots of the formats take loads, loops and elastic links; mechanisms declared by hand run natively."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from kane.emit import emit
from kane.equations.constrained import constrained
from kane.equations.derive import derive_task
from kane.equations.programs import matrices_program, motion_program, program_of, residual_program
from kane.equations.projection import kane_equations
from kane.equations.steps import check_steps, expression, work_out
from kane.errors import InputError
from kane.graph.evaluate import evaluate
from kane.kinematics import points as pt
from kane.linearization.linear import linearize
from kane.mechanism.beams import Beam, clamped_free
from kane.mechanism.builder import System, dot
from kane.mechanism.constraints import Holonomic
from kane.mechanism.edit import with_joint_locked
from kane.mechanism.elements import friction
from kane.mechanism.elements.place import on_joint
from kane.mechanism.formula import PI, exact, name
from kane.mechanism.loads import LineForce
from kane.mechanism.model import Frame, Inertia, Joint, Link, Mechanism, Translate
from kane.native import compile_program
from kane.robots import bundled


def chapter(e, inertia, masses, side, moment, names):
    u1, u2, a1, a2 = names
    first = f"-(({inertia})*{a1} - ({masses})*({side})*{a2} + 2*({moment})*{u1}*{u2})"
    second = f"-(-({masses})*({side})*{a1} + ({masses})*{a2} - ({moment})*{u1}**2)"
    g = e.graph
    return [g.sub(x, expression(e, t)) < 2 for x, t in zip(e.inertia, (first, second), strict=True)]


def test_planar_rp_of_the_bundle_is_the_robot_of_the_chapter():
    e = kane_equations(bundled.load("planar_rp"))
    x, y = "(LP + q2 - L/2)", "(LP + q2 + LC)"
    inertia = f"IA + IB + IC + mA*LA**2 + mB*(LA**2 + {x}**2) + mC*(LA**2 + {y}**2)"
    assert all(chapter(e, inertia, "mB + mC", "LA", f"mB*{x} + mC*{y}", ("q1_dot", "q2_dot", "q1_ddot", "q2_ddot")))


def test_stanford_arm_with_joints_locked_is_the_robot_of_the_chapter():
    """Joint 2 level, the wrist straight: A is links 1 and 2, B and C are links 3 to 6, LA = d2 - a3."""
    robot = with_joint_locked(bundled.load("stanford", rotors=False), "joint2", PI / 2)
    for k in (4, 5, 6):
        robot = with_joint_locked(robot, f"joint{k}", 0)
    e = kane_equations(robot)
    places = {"m3": "(q3 + rz3)", "m4": "(q3 - ry4)", "m5": "(q3 + rz5)", "m6": "(q3 + rz6)"}
    arm = "Iyy1 + m1*rz1**2 + Ixx2 + m2*(d2 + ry2)**2 + Iyy3 + Izz4 + Iyy5 + Iyy6"
    inertia = " + ".join([arm, *(f"{m}*((d2 - a3)**2 + {x}**2)" for m, x in places.items())])
    moment = " + ".join(f"{m}*{x}" for m, x in places.items())
    assert all(chapter(e, inertia, "m3 + m4 + m5 + m6", "d2 - a3", moment, ("q1_dot", "q3_dot", "q1_ddot", "q3_ddot")))


def test_a_robot_closed_by_a_slide_is_a_slider_crank():
    """Two equal links with the end on a line through the shoulder: q2 = -2 q1, so T = M_e(q1) q1'^2 / 2."""
    robot = bundled.load("two_link", "particles")
    tip = Frame("tip", robot.links[-1].name, (Translate((name("L"), Fraction(0), Fraction(0))),))
    line = Holonomic("line", name(f"position(tip, {robot.root}, {robot.root}.y)"))
    c = constrained(kane_equations(replace(robot, frames=(tip,), constraints=(line,))))
    q = c.consistent_configuration([0.7, -1.3], keep=(c.equations.points.coordinates.names[0],))
    assert q == pytest.approx([0.7, -1.4])
    u = c.consistent_speeds(q, [1.5, 0], keep=(c.equations.points.coordinates.speeds[0],))
    assert u == pytest.approx([1.5, -3.0])
    motion = c.accelerations(q, u)
    out = evaluate(c.program, c.arrays(q, u))
    ratio = np.array([1, -2.0])
    assert motion.udot @ [2, 1] == pytest.approx(0, abs=1e-11)
    effective = ratio @ out["mass_matrix"] @ ratio
    assert ratio @ (out["active"] - out["bias"]) == pytest.approx(effective * motion.udot[0], rel=1e-10)


def test_springs_and_friction_on_a_robot():
    robot = bundled.load("two_link")
    joint = next(j.name for j in robot.joints if j.type == "revolute")
    tip, root = robot.links[-1].name, robot.root
    spring = LineForce("spring", tip, root, -50 * (name(f"distance({tip}, {root})") - exact("0.5")))
    changed = replace(robot, loads=(spring, *friction.viscous("grease", on_joint(robot, joint), "0.7")))
    plain, e = kane_equations(robot), kane_equations(changed)
    assert e.inertia != () and len(e.contributions) >= 2
    q, u = [0.4, 0.9], [1.0, -2.0]
    zero = [0.0] * len(plain.points.free)
    values = [robot.parameter_values.get(n, 1.0) for n in e.points.free] if zero else []
    state = {"q": q, "u": u, "t": [0], "p": values}
    program = program_of(e, "grease", [("f", (2,), e.contributions["grease"]), ("s", (2,), e.contributions["spring"])])
    out = evaluate(program, {i.name: state[i.name] for i in program.inputs})
    assert np.allclose(out["f"], [-0.7, 0])
    # the spring's generalized force is minus the gradient of its potential
    length = e.measures.scalar(name(f"distance({tip}, {root})"))
    g = e.graph
    potential = g.mul(g.number(25), g.power(g.sub(length, g.number(Fraction(1, 2))), 2))
    from kane.graph.derivative import gradient

    slopes = program_of(e, "slopes", [("s", (2,), [g.neg(x) for x in gradient(g, potential, e.points.symbols.q)])])
    assert np.allclose(evaluate(slopes, {i.name: state[i.name] for i in slopes.inputs})["s"], out["s"], rtol=1e-10)


def test_a_link_made_flexible():
    """The hub with a clamped beam, as links and joints with a Beam among the loads: 26.538 rad/s by quadrature."""
    hub = Inertia(
        Fraction(1), moments=(Fraction(1), Fraction(0), Fraction(0), Fraction(1), Fraction(0), exact("0.02"))
    )
    joint = Joint("shaft", "revolute", "base", "hub", coordinates=("th",))
    beam = Beam("beam", "hub", exact("0.9"), exact("0.55"), exact("3.2"), ("d",), clamped_free(1))
    robot = Mechanism("arm", (Link("base"), Link("hub", hub)), (joint,), loads=(beam,), coordinates=("th", "d"))
    linear = linearize(kane_equations(robot), [0, 0], [0, 0])
    assert np.abs(linear.eigenvalues).max() == pytest.approx(26.53796056344, rel=1e-9)
    with pytest.raises(InputError, match="coordinate 'd'"):
        kane_equations(replace(robot, coordinates=("th",)))


def spherical_wrist():
    s = System("top")
    names = s.coordinates("qw qx qy qz a")
    B = s.frame("B").orient_quaternion(s.N, names[:4])
    W = B.orient_new_axis("W", 3, names[4])
    s.body("B", B, s.O.locate_new("B*", B.vector("0.1", "0.2", "0.3")), 2, (1, 2, "2.5"))
    s.body("W", W, s.O.locate_new("W*", B.vector(0, 0, "0.5")), 1, ("0.1", "0.1", "0.15"))
    s.gravity(s.N.z * -9.81)
    return s, B, W


def test_quaternions_with_speeds_of_the_users_own():
    s, B, W = spherical_wrist()
    own = kane_equations(s.mechanism())
    s.speeds(
        w1=s.angular_velocity(B, s.N, B.x), w2=s.angular_velocity(B, s.N, B.y),
        w3=s.angular_velocity(W, s.N, B.z), w4=dot(name("a")),
    )  # fmt: skip
    mixed = kane_equations(s.mechanism())
    q = np.array([0.5, -0.5, 0.1, 0.7, 0.4])
    q[:4] /= np.linalg.norm(q[:4])
    mapped = np.eye(4)
    mapped[2, 3] = 1  # w3 = natural third component + a'
    natural = np.array([0.3, -0.2, 0.5, 1.1])
    a = evaluate(motion_program(own), {"q": q, "u": natural, "t": [0]})
    b = evaluate(motion_program(mixed), {"q": q, "u": mapped @ natural, "t": [0]})
    assert np.allclose(b["qdot"], a["qdot"], atol=1e-14)
    assert np.allclose(b["udot"], mapped @ a["udot"], rtol=1e-11)
    assert a["qdot"][:4] @ q[:4] == pytest.approx(0, abs=1e-15)


def test_direction_cosines():
    s = System("dcm")
    c, n = np.cos(0.3), np.sin(0.3)
    B = s.frame("B").orient_explicit(s.N, [[0, -c, n], [1, 0, 0], [0, n, c]])
    P = s.O.locate_new("P", B.vector(1, 2, 3))
    e = kane_equations(s.mechanism())
    place = pt.gather(e.points, pt.position(e.points, e.points.station("P")), 0)
    out = evaluate(program_of(e, "place", [("p", (3,), place)]), {"q": np.zeros(0), "u": np.zeros(0), "t": [0]})["p"]
    assert np.allclose(out, np.array([[0, -c, n], [1, 0, 0], [0, n, c]]) @ [1, 2, 3], atol=1e-15)
    assert P.name == "P"
    with pytest.raises(InputError, match="not those of a rotation"):
        s.frame("C").orient_explicit(s.N, [[1, 0, 0], [0, 1, 0], [0, 1, 0]])


def test_motions_specified_at_run_time():
    """A pendulum whose pivot moves as given: theta'' = -(g + y'') sin / L - x'' cos / L."""
    s = System("pivot")
    th = s.coordinates("theta")
    x, y = s.specified("x y")
    pivot = s.O.locate_new("pivot", x * s.N.x + y * s.N.y)
    A = s.N.orient_new_axis("A", 3, th)
    s.particle("P", pivot.locate_new("P", A.y * "-0.7"), 2)
    s.gravity(s.N.y * -9.81)
    e = kane_equations(s.mechanism())
    given = {"q": [0.4], "u": [1.0], "s": [1, 2, 3.0, 4, 5, 6.0], "t": [0]}
    wanted = -(9.81 + 6) * np.sin(0.4) / 0.7 - 3 * np.cos(0.4) / 0.7
    assert evaluate(motion_program(e), given)["udot"] == pytest.approx([wanted])
    right = check_steps(work_out(e), {"v_P": "x_dot*n1 + y_dot*n2 + 7/10*theta_dot*a1"})
    assert right[0].equal


def mechanism_by_hand():
    s = System("by_hand")
    q1, q2 = s.coordinates("q1 q2")
    m, L = s.parameters("m L")
    s.speeds(u1=dot(q1), u2=dot(q1) + dot(q2))
    A = s.N.orient_new_axis("A", 3, q1)
    B = A.orient_new_axis("B", 1, q2)
    P = s.O.locate_new("P", L * A.x)
    s.body("B", B, P.locate_new("B*", B.vector(0, L / 2, "0.1")), m, ("0.1", "0.2", "0.3"))
    s.gravity(s.N.z * -9.81)
    s.torque("motor", A, s.inputs("T") * A.z)
    return s.mechanism()


def test_a_mechanism_declared_by_hand_runs_natively_and_as_c():
    e = kane_equations(mechanism_by_hand())
    program = motion_program(e)
    state = {"q": [0.3, 0.8], "u": [1.0, -0.5], "f": [0.2], "t": [0.0], "p": [2.0, 0.6]}
    wanted = evaluate(program, state)
    native = compile_program(program)
    got = native(*(np.asarray(state[i.name], float) for i in program.inputs))
    for name_, value in zip(("qdot", "udot"), got, strict=True):
        assert np.allclose(value, wanted[name_], rtol=1e-13)
    files = emit([program], "c")
    assert any("udot" in text for text in files.values())


def test_the_recursion_serves_a_mechanism_declared_by_hand():
    mechanism = mechanism_by_hand()
    e = kane_equations(mechanism)
    rng = np.random.default_rng(0)
    q, u, udot = rng.normal(size=(3, 2))
    program = derive_task(mechanism, "inverse_dynamics", parameters=("m", "L")).program
    values = {"q": q, "qd": u, "qdd": udot, "p": [2.0, 0.6]}
    tau = evaluate(program, {i.name: values[i.name] for i in program.inputs})["tau"]
    given = {"q": q, "u": u, "udot": udot, "f": [0.0], "t": [0], "p": [2.0, 0.6]}
    assert np.allclose(evaluate(residual_program(e), given)["residual"], -tau, rtol=1e-12)
    assert np.allclose(
        evaluate(matrices_program(e), {k: given[k] for k in ("q", "u", "f", "t", "p")})["bias"].shape, (2,)
    )


def test_frames_of_robots_are_places():
    robot = replace(
        bundled.load("two_link"),
        frames=(Frame("tool", bundled.load("two_link").links[-1].name, (Translate((exact("0.1"),) * 3),)),),
    )
    e = kane_equations(robot)
    tool = pt.position(e.points, e.points.station("tool"), e.points.station(robot.links[-1].name))
    (piece,) = tool.values()
    assert all(e.graph.value_of(x) == Fraction(1, 10) for x in piece)
