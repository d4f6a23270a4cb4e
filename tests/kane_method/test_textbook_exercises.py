"""Exercises of Kane and Levinson 1985, chapters 2 to 8: kinematics, generalized active and inertia forces."""

import pytest

from kane.equations.conditions import embed
from kane.equations.projection import kane_equations
from kane.kinematics.motion import substitute
from kane.mechanism.builder import System, dot
from kane.mechanism.formula import name
from kane_method.textbook import arm, cart, euler_disc, glass, right, same, shaft


def test_exercise_2_7_kinematic_equations():
    e = kane_equations(euler_disc("B")[0].mechanism())
    right(
        e,
        {"q1_dot": "u2/cos(q2)", "q2_dot": "-u1", "q3_dot": "u3 - u2*tan(q2)"} | {"q3_dot": "u3 - u2*sin(q2)/cos(q2)"},
    )
    e = kane_equations(euler_disc("A")[0].mechanism())
    turned = "(u1*sin(q1) - u2*cos(q1))"
    right(
        e,
        {
            "q1_dot": f"u3 - sin(q2)/cos(q2)*{turned}",
            "q2_dot": "-u1*cos(q1) - u2*sin(q1)",
            "q3_dot": f"{turned}/cos(q2)",
        },
    )


@pytest.mark.parametrize("right_size", [True, False])
def test_exercise_3_10_pure_rolling_in_a_bearing(right_size):
    s = System("bearing", inertial="R")
    q7, a1, a2, a3, k = s.coordinates("q7 a1 a2 a3 k")
    r, theta = s.parameters("r theta")
    A = s.N.orient_new_axis("A", 3, q7)
    B = A.orient_new_axis("B", 1, -theta)
    S = s.frame("S").orient_body_fixed(A, (a1, a2, a3), "123")
    C = s.N.orient_new_axis("C", 3, k)
    sine, cosine = name("theta"), name("theta")
    from kane.mechanism.builder import cos, sin

    b = r * (1 + sin(sine)) / (cos(cosine) - sin(sine)) if right_size else r * 3
    centre = s.O.locate_new("S*", b * A.y)
    S.origin = centre
    s.roll("floor", S, centre.locate_new("S1", -r * A.z), s.N, A, axes=(1, 2, 3))
    s.roll("wall", S, centre.locate_new("S2", r * A.y), s.N, A, axes=(1, 2, 3))
    s.roll("cone", S, centre.locate_new("S^", -r * B.y), C, A, axes=(1, 2, 3))
    e = kane_equations(s.mechanism())
    embedded = embed(e)
    assert len(embedded.independent) == 1
    spin = e.measures.scalar(s.angular_velocity(C, S, B.y))
    (left,) = substitute(e.graph, [spin], dict(zip(e.points.symbols.u, embedded.speeds, strict=True)))
    assert (left < 2) == right_size


def test_exercise_3_15_velocities_and_accelerations_of_an_arm():
    right(
        arm(),
        {
            "w_A": "u1*a1", "w_B": "u1*cos(q1)*b1 + u2*b2 + u1*sin(q1)*b3",
            "alpha_B": "(u1'*cos(q1) - u1*u2*sin(q1))*b1 + u2'*b2 + (u1'*sin(q1) + u1*u2*cos(q1))*b3",
            "v_A*": "-LA*u1*a2", "v_B*": "LB*u2*b1 - (LP + LB*cos(q1))*u1*b2",
            "v_C*": "(LB + q2)*u2*b1 - (LP + (LB + q2)*cos(q1))*u1*b2 + u3*b3",
            "a_A*": "-LA*u1'*a2 - LA*u1**2*a3",
            "v_D*_3": "b3", "v_D*_2": "(LB + q2 + p3)*b1 - p1*b3",
        },
    )  # fmt: skip


def test_exercise_4_1_a_point_on_a_line():
    s = System("line", inertial="A")
    t1, t2, t3, q = s.coordinates("t1 t2 t3 q")
    B = s.frame("B").orient_space_fixed(s.N, (t1, t2, t3), "123")
    P = s.O.locate_new("P", q * B.x)
    e = kane_equations(s.mechanism())
    found = [e.measures.scalar(s.position(P, s.O, axis)) for axis in (s.N.x, s.N.y, s.N.z)]
    wanted = ["q*cos(t2)*cos(t3)", "q*cos(t2)*sin(t3)", "-q*sin(t2)"]
    assert all(same(e, x, t) for x, t in zip(found, wanted, strict=True))


def test_exercise_4_18_velocity_of_the_centre_of_a_disc():
    s, *_ = euler_disc("B")
    s._speeds.clear()
    e = kane_equations(s.mechanism())
    right(e, {"v_C*": "q4_dot*a1 + q5_dot*a2 - R*q1_dot*sin(q2)*b1 - R*q2_dot*b3"}, frames=())


def test_exercise_8_1_active_forces_for_three_choices_of_speeds():
    for choice, first, second in (
        ("A", "0", "-(m1 + m2)*g"),
        ("rates", "0", "-(m1 + m2)*g"),
        ("E", "-(m1 + m2)*g*sin(q3)", "Y - (m1 + m2)*g*cos(q3)"),
    ):
        e = kane_equations(glass(choice)[0].mechanism())
        third = "L*Y - m2*g*L*cos(q3)" if choice == "E" else "-m2*g*L*cos(q3)"
        assert all(same(e, x, t) for x, t in zip(e.active, (first, second, third), strict=True))
X2 = "(u1' - L*u3'*sin(q3) - L*u3**2*cos(q3))"  # second rates of x2 = q1 + L c3 and y2 = q2 + L s3
Y2 = "(u2' + L*u3'*cos(q3) - L*u3**2*sin(q3))"
GLASS = (
    f"-m1*(u1' - omega**2*q1) - m2*({X2} - omega**2*(q1 + L*cos(q3)))",
    f"-m1*u2' - m2*{Y2}",
    f"-m2*(-L*sin(q3)*({X2} - omega**2*(q1 + L*cos(q3))) + L*cos(q3)*{Y2})",
)


def test_exercise_8_15_inertia_forces():
    e = kane_equations(glass("rates")[0].mechanism())
    assert all(same(e, x, t) for x, t in zip(e.inertia, GLASS, strict=True))
    turned = kane_equations(glass("A")[0].mechanism())  # u1 = q1' cos wt - w q1 sin wt: F1* is divided by cos wt
    rate = f"(({'(u1 + omega*q1*sin(omega*t))/cos(omega*t)'}))"
    above = f"(u1' + omega*{rate}*sin(omega*t) + omega**2*q1*cos(omega*t))"
    second = f"({above}/cos(omega*t) + (u1 + omega*q1*sin(omega*t))*omega*sin(omega*t)/cos(omega*t)**2)"
    assert same(turned, turned.inertia[0], f"({GLASS[0].replace(chr(117) + '1' + chr(39), second)})/cos(omega*t)")


def test_exercises_8_2_and_8_16_a_knife_edge():
    """The velocity of P2 in the panes has no component along E.y: u3 = -u2 / L."""
    s, B, E, P2 = glass("E")
    s.nonholonomic("edge", s.velocity(P2, B, E.y))
    e = kane_equations(s.mechanism())
    g = e.graph
    embedded = embed(e, ("u3",))
    assert same(e, embedded.speeds[2], "-u2/L")
    active = [g.add(e.active[r], g.mul(embedded.matrix[0][r], e.active[2])) for r in (0, 1)]
    assert same(e, active[0], "-(m1 + m2)*g*sin(q3)")
    assert same(e, active[1], "-m1*g*cos(q3)")  # the force of the edge has dropped out
    rates = kane_equations(glass("rates")[0].mechanism())
    assert same(rates, rates.inertia[1], GLASS[1])
    # exercise 8.16: on u3 = -u2/L the second particle only moves along E.x in the panes
    inertia = [
        g.sub(x, a)
        for x, a in zip(
            embedded.residual,
            substitute(g, active, dict(zip(e.points.symbols.u, embedded.speeds, strict=True))),
            strict=True,
        )
    ]
    along = "(u1' + u2**2/L - omega**2*q1*cos(q3))"  # of P1 along E.x; q3' = -u2/L
    assert same(e, inertia[0], f"-m1*{along} - m2*(u1' + u2**2/L - u2**2/L - omega**2*(q1 + L*cos(q3))*cos(q3))")
    assert same(e, inertia[1], "-m1*(u2' - u1*u2/L + omega**2*q1*sin(q3))")


def test_exercise_8_3_active_forces_of_a_disc():
    s, _, C, contact, _ = euler_disc("B")
    g = s.parameters("g")
    Px, Py, Pz = s.inputs("Px Py Pz")
    s.gravity(-g * s.N.z)
    s.force("contact", contact, s.N.vector(Px, Py, Pz), body=C)
    e = kane_equations(s.mechanism())
    wanted = ("-m*g*R*sin(q2)", "0", "0", "Px", "Py")
    assert all(same(e, x, t) for x, t in zip(e.active, wanted, strict=True))


def test_exercise_8_4_discs_on_a_shaft():
    e = shaft(False)
    embedded = embed(e, ("u4", "u5", "u6"))
    wanted = ("-(M13 + M23)/R", "L*(M13 - M23)/R", "-(M13 + M23)")
    assert all(same(e, x, t) for x, t in zip(embedded.residual, wanted, strict=True))


def test_exercise_8_5_driven_discs():
    embedded = embed(shaft(True), ("u1", "u2", "u4", "u5", "u6"))
    assert embedded.residual == (0,)


def test_exercise_8_6_a_linkage():
    s = System("linkage", inertial="A")
    q1, q2, q3 = s.coordinates("q1 q2 q3")
    L1, L2, L3, L4, m1, m2, g = s.parameters("L1 L2 L3 L4 m1 m2 g")
    s.speeds(u1=dot(q1), u2=dot(q2), u3=dot(q3))
    X, Y, Z = (s.N.orient_new_axis(n, 3, q) for n, q in zip("XYZ", (q1, q2, q3), strict=True))
    P1 = s.O.locate_new("P1", L1 * X.x)
    P2 = P1.locate_new("P2", L2 * Y.x)
    s.particle("P1", P1, m1)
    s.particle("P2", P2, m2)
    s.gravity(g * s.N.x)
    end = s.O.locate_new("end", L3 * Z.x + L4 * s.N.y)
    s.coincide("pin", P2, end, s.N, axes=(1, 2))
    e = kane_equations(s.mechanism())
    g_, embedded = e.graph, embed(e, ("u2", "u3"))
    force = g_.add(e.active[0], g_.mul(embedded.matrix[0][0], e.active[1]))
    ratio = "L1*sin(q3 - q1)/(L2*sin(q2 - q3))"
    assert same(e, embedded.matrix[0][0], ratio)
    assert same(e, force, f"-(m1 + m2)*g*L1*sin(q1) - m2*g*L2*sin(q2)*{ratio}")


def test_exercise_8_7_a_folding_linkage():
    s = System("truss")
    q = s.coordinates("q1 q2 q3")
    g, m, L = s.parameters("g m L")
    Q, R, S = s.inputs("Q R S")
    s.speeds(**{f"u{k + 1}": L * dot(x) for k, x in enumerate(q)})
    point = s.O
    for k, (x, sign) in enumerate(zip(q, (1, -1, 1), strict=True)):
        frame = s.N.orient_new_axis(f"B{k}", 3, x * sign)
        middle = point.locate_new(f"P{2 * k + 1}", L / 2 * frame.x)
        point = middle.locate_new(f"P{2 * k + 2}", L / 2 * frame.x)
        s.force(f"middle{k}", middle, 6 * m * g * s.N.x)
        s.force(f"end{k}", point, 5 * m * g * s.N.x + (S, -Q, R)[k] * s.N.y)
    e = kane_equations(s.mechanism())
    wanted = (
        "-30*m*g*sin(q1) + (S - Q + R)*cos(q1)",
        "-19*m*g*sin(q2) + (Q - R)*cos(q2)",
        "-8*m*g*sin(q3) + R*cos(q3)",
    )
    assert all(same(e, x, t) for x, t in zip(e.active, wanted, strict=True))


def test_exercise_8_8_a_plate_on_two_beams():
    s = System("plate")
    q1, q2 = s.coordinates("q1 q2")
    b, g, m, L, stiff = s.parameters("b g m L EI")
    s.speeds(u1=dot(q1), u2=dot(q2))
    B = s.N.orient_new_axis("B", 2, (q1 - q2) / (2 * b))
    middle = s.O.locate_new("B*", -(q1 + q2) / 2 * s.N.x)
    P1, P2 = s.O.locate_new("P1", -q1 * s.N.x - b * s.N.z), s.O.locate_new("P2", -q2 * s.N.x + b * s.N.z)
    s.force("weight", middle, -m * g * s.N.x)
    for k, (point, own, other) in enumerate(((P1, q1, q2), (P2, q2, q1))):
        slope = (other - own) / (2 * b)
        s.force(f"shear{k}", point, 12 * stiff / L**3 * (own - L / 2 * slope) * s.N.x)
        s.torque(f"bend{k}", B, (12 * stiff / L**2 * (L / 3 * slope - own / 2)) * (1 - 2 * k) * s.N.y)
    e = kane_equations(s.mechanism())
    k11, k12 = "(1 + L/(2*b) + L**2/(6*b**2))", "(L/(2*b) + L**2/(6*b**2))"
    # F1 = m g / 2 - 12 EI / L^3 (k11 q1 - k12 q2) with the slopes' share of both ends
    assert same(e, e.active[0], f"m*g/2 - 12*EI/L**3*({k11}*q1 - {k12}*q2)")
    assert same(e, e.active[1], f"m*g/2 - 12*EI/L**3*({k11}*q2 - {k12}*q1)")


def test_exercise_8_9_a_rod_in_a_circular_wire():
    s = System("wire")
    q1, y, z = s.coordinates("q1 y z")
    m, g, r, th, mu = s.parameters("m g r theta s")
    C = s.N.orient_new_axis("C", 1, q1)
    A, B = C.orient_new_axis("A", 1, -th), C.orient_new_axis("B", 1, th)
    off = C.vector(0, y, z)
    from kane.mechanism.builder import cos

    centre = s.O.locate_new("R*", off - r * cos(th) * C.z)
    PA, PB = s.O.locate_new("PA", off - r * A.z), s.O.locate_new("PB", off - r * B.z)
    s.speeds(u1=dot(q1), u2=dot(y), u3=dot(z))
    TA, TB, NA, NB = s.inputs("TA TB NA NB")
    s.force("weight", centre, -m * g * s.N.z)
    s.force("friction A", PA, -mu * TA * A.y)
    s.force("friction B", PB, -mu * TB * B.y)
    s.force("normal A", PA, NA * A.z)
    s.force("normal B", PB, NB * B.z)
    e = kane_equations(s.mechanism())
    at_rest = {e.points.symbols.by_name[n]: 0 for n in ("y", "z")}
    found = substitute(e.graph, list(e.active), at_rest)
    wanted = (
        "-m*g*r*cos(theta)*sin(q1) - s*r*(TA + TB)",
        "-m*g*sin(q1) - s*(TA + TB)*cos(theta) + (NA - NB)*sin(theta)",
        "-m*g*cos(q1) + s*(TA - TB)*sin(theta) + (NA + NB)*cos(theta)",
    )
    assert all(same(e, x, t) for x, t in zip(found, wanted, strict=True))


def test_exercise_8_10_a_gear_train():
    """Teeth A 60, B 30, C 30, D 61, E 20: the shaft E turns 244 times as fast as B."""
    s = System("gears", inertial="A")
    b, f_, cd, e_ = s.coordinates("b f cd e")
    B = s.N.orient_new_axis("B", 1, b)
    F = s.N.orient_new_axis("F", 1, f_)
    s.speeds(u1=dot(b), u2=dot(b) - dot(f_), u3=dot(cd), u5=-(dot(e_) - dot(f_)))
    E = s.N.orient_new_axis("E", 1, e_)
    F.orient_new_axis("CD", 2, cd)
    s.nonholonomic("BC", "30*u2 - 30*u3")
    s.nonholonomic("DE", "20*u5 - 61*u3")
    s.nonholonomic("AD", "60*(u2 - u1) - 61*u3")
    TB, TE = s.inputs("TB TE")
    s.torque("TB", B, TB * s.N.x)
    s.torque("TE", E, TE * s.N.x)
    e = kane_equations(s.mechanism())
    (force,) = embed(e, ("u2", "u3", "u5")).residual
    assert same(e, force, "TB + 244*TE")


CART = ("M*g*e*sin(theta)*cos(q1) + f*Q3", "M*g*sin(theta)*sin(q1) + Q2", "e*M*g*cos(theta) - Q1*f - Q2*R")


def test_exercises_8_12_and_8_17_a_cart_with_an_auxiliary_speed():
    e, residual = cart()
    inertia = (
        "-(IA + 2*J*b**2/R**2 + 2*K + mA*a**2 + 2*mB*b**2)*u1' - mA*a*u1*u2",
        "-(mA + 2*mB + 2*J/R**2)*u2' + mA*a*u1**2",
        "0",
    )
    assert all(same(e, x, f"{a} + {b}") for x, a, b in zip(residual, CART, inertia, strict=True))


def test_exercise_8_14_active_forces_of_the_arm():
    e = arm()
    wanted = (
        "T_1",
        "U_2 - g*((mB*LB + mC*(LB + q2) + mD*(LB + q2 + p3))*cos(q1) - mD*p1*sin(q1))",
        "K_3 - g*(mC + mD)*sin(q1)",
    )
    assert all(same(e, x, t) for x, t in zip(e.active, wanted, strict=True))


def test_exercise_8_18_inertia_torque():
    s = System("body")
    q = s.coordinates("q1 q2 q3")
    B = s.frame("B").orient_body_fixed(s.N, q, "123")
    s.parameters("I11 I22 I33 I12 I23 I31")
    s.body("B", B, s.O, 1, ("I11", "I22", "I33", "I12", "I23", "I31"))
    s.speeds(**{f"w{k + 1}": s.angular_velocity(B, s.N, axis) for k, axis in enumerate((B.x, B.y, B.z))})
    e = kane_equations(s.mechanism())
    h = ["(I11*w1 + I12*w2 + I31*w3)", "(I12*w1 + I22*w2 + I23*w3)", "(I31*w1 + I23*w2 + I33*w3)"]
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        rate = h[k].replace("w1", "w1'").replace("w2", "w2'").replace("w3", "w3'")
        assert same(e, e.inertia[k], f"-{rate} - (w{i + 1}*{h[j]} - w{j + 1}*{h[i]})")
