"""Exercises of Kane and Levinson 1985, chapters 10 and 11: kinetic energy, equations of motion, reactions."""

import numpy as np

from kane.equations.activity import kinetic_energy
from kane.equations.programs import matrices_program
from kane.equations.projection import kane_equations
from kane.equations.steps import expression
from kane.graph.evaluate import evaluate
from kane.kinematics.motion import substitute
from kane.mechanism.builder import System, dot
from kane_method.textbook import arm, cart, euler_disc, same


def test_exercise_11_14_the_reaction_at_the_sliding_wheel():
    e, residual = cart(friction=True)
    q1 = expression(e, "e*M*g*cos(theta)/(f - mu*R*u2/sqrt(u2**2 + f**2*u1**2))")
    (left,) = substitute(e.graph, [residual[2]], {e.graph.symbol("Q1"): q1})
    assert left < 2


def test_exercise_10_2_kinetic_energy_of_a_rolling_disc():
    s, *_ = euler_disc("B")
    e = kane_equations(s.mechanism())
    rolling = {e.points.symbols.u[k]: 0 for k in (3, 4)}
    (k,) = substitute(e.graph, [kinetic_energy(e)], rolling)
    assert same(e, k, "m*R**2/8*(5*u1**2 + u2**2 + 6*u3**2)")


def test_exercise_10_4_kinetic_energy_about_a_fixed_point():
    """K = w . I/O . w / 2 with the inertia about the fixed point."""
    s = System("top")
    q = s.coordinates("q1 q2 q3")
    B = s.frame("B").orient_body_fixed(s.N, q, "123")
    m, a = s.parameters("m a")
    s.parameters("I1 I2 I3")
    s.body("B", B, s.O.locate_new("B*", a * B.z), m, ("I1", "I2", "I3"))
    s.speeds(**{f"w{k + 1}": s.angular_velocity(B, s.N, axis) for k, axis in enumerate((B.x, B.y, B.z))})
    e = kane_equations(s.mechanism())
    assert same(e, kinetic_energy(e), "((I1 + m*a**2)*w1**2 + (I2 + m*a**2)*w2**2 + I3*w3**2)/2")


def test_exercise_10_5_kinetic_energy_of_a_triangular_plate():
    s = System("plate")
    q1, q2 = s.coordinates("q1 q2")
    m, a, b = s.parameters("m a b")
    A = s.N.orient_new_axis("A", 2, -q1)
    B = A.orient_new_axis("B", 1, -q2)
    centre = s.O.locate_new("B*", B.vector(2 * a / 3, -b / 3, 0))
    s.body("B", B, centre, m, (m * b**2 / 18, m * a**2 / 18, m * (a**2 + b**2) / 18, m * a * b / 36, 0, 0))
    e = kane_equations(s.mechanism())
    # integrals of the plate about O: x^2: a^2/2 m, x y: -a b/4 m, y^2: b^2/6 m
    wanted = "m/4*((a**2 + b**2*sin(q2)**2/3)*q1_dot**2 + a*b*cos(q2)*q1_dot*q2_dot + b**2*q2_dot**2/3)"
    assert same(e, kinetic_energy(e), wanted)


def test_exercise_11_7_equations_of_the_arm():
    """X_rs of X u' = Y: the generalized inertia of exercise 11.7."""
    e = arm()
    lever = "(LP + (LB + q2)*cos(q1))"
    z15 = f"({lever} - sin(q1)*p1 + cos(q1)*p3)"
    body = "cos(q1)**2*(B1 + C1 + D11) + sin(q1)**2*(B3 + C3 + D33) + 2*sin(q1)*cos(q1)*D31"
    wanted = {
        (0, 0): f"A1 + {body} + mA*LA**2 + mB*(LP + LB*cos(q1))**2 + mC*{lever}**2 + mD*(p2**2 + {z15}**2)",
        (0, 1): "D12*cos(q1) + D23*sin(q1) - mD*p2*(sin(q1)*(LB + q2 + p3) + cos(q1)*p1)",
        (0, 2): "mD*p2*cos(q1)",
        (1, 1): "B2 + C2 + D22 + mB*LB**2 + mC*(LB + q2)**2 + mD*((LB + q2 + p3)**2 + p1**2)",
        (1, 2): "-mD*p1",
        (2, 2): "mC + mD",
    }
    from kane.equations.projection import mass_matrix

    m = mass_matrix(e)
    for (r, c), text in wanted.items():
        assert same(e, m[r][c], text) and same(e, m[c][r], text)


def test_exercise_11_8_uncoupled_equations():
    """With D* on the line of B* and C* and D's axes along b1, b2, b3, the equations give u1', u2', u3' one by one."""
    e = arm()
    g = e.graph
    zero = {g.symbol(n, "parameter"): 0 for n in ("p1", "p2", "D12", "D23", "D31")}
    residual = substitute(g, list(e.residual), zero)
    lever = "(LB + q2)"
    far = "(LB + q2 + p3)"
    assert same(
        e,
        residual[2],
        f"K_3 - g*(mC + mD)*sin(q1) - (mC + mD)*u3' + mC*({lever}*u2**2 + (LP + {lever}*cos(q1))*cos(q1)*u1**2)"
        f" + mD*({far}*u2**2 + (LP + {far}*cos(q1))*cos(q1)*u1**2)",
    )
    from kane.graph.derivative import forward

    for r in range(3):
        for c in range(3):
            (slope,) = forward(g, [residual[r]], {e.points.symbols.udot[c]: g.one})
            assert (slope > 1) == (r == c)


def test_exercise_11_10_a_crank_a_rod_and_a_piston():
    """The pin force R between crank and rod is brought into evidence by cutting there."""
    s = System("engine")
    q1, q2, z = s.coordinates("q1 q2 z")
    mA, mB, mC, kA, kB, a, a_, b, b_, c_ = s.parameters("mA mB mC kA kB a astar b bstar cstar")
    s.parameters("A1 A3 B1 B3 C1 C2 C3")
    A = s.N.orient_new_axis("A", 2, q1)
    B = s.N.orient_new_axis("B", 2, -q2)
    C = s.N.orient_new_axis("C", 1, 0)
    P = s.O.locate_new("P", a * A.z)
    Co = s.O.locate_new("C*", z * s.N.z)
    Q = Co.locate_new("Q", -c_ * s.N.z)
    P2 = Q.locate_new("P'", -b * B.z)
    C.origin = Co
    s.body("A", A, s.O.locate_new("A*", -a_ * A.z), mA, ("A1", mA * kA**2, "A3"))
    s.body("B", B, Q.locate_new("B*", -b_ * B.z), mB, ("B1", mB * kB**2, "B3"))
    s.body("C", C, Co, mC, ("C1", "C2", "C3"))
    s.speeds(u1=dot(q1), u2=s.angular_velocity(B, s.N, s.N.y), u3=s.velocity(Co, s.N, s.N.z))
    R = s.inputs("R1 R2 R3")
    s.force("pin on A", P, s.N.vector(*R))
    s.force("pin on B", P2, -s.N.vector(*R))
    s.force("gas", Co, s.N.vector(*s.inputs("Q1 Q2 Q3")))
    s.torque("drive", A, s.N.vector(*s.inputs("al1 al2 al3")))
    e = kane_equations(s.mechanism())
    active = ("al2 + a*(R1*cos(q1) - R3*sin(q1))", "b*(R1*cos(q2) + R3*sin(q2))", "Q3 - R3")
    inertia = (
        "-mA*(astar**2 + kA**2)*u1'",
        "-mB*((bstar**2 + kB**2)*u2' - bstar*sin(q2)*u3')",
        "-((mB + mC)*u3' - mB*bstar*sin(q2)*u2' + mB*bstar*cos(q2)*u2**2)",
    )
    assert all(same(e, x, t) for x, t in zip(e.active, active, strict=True))
    assert all(same(e, x, t) for x, t in zip(e.inertia, inertia, strict=True))
    out = evaluate(matrices_program(e), {i.name: np.ones(i.size) for i in matrices_program(e).inputs})
    assert np.allclose(out["mass_matrix"], out["mass_matrix"].T)
