import numpy as np
import pytest

from kane.equations.activity import kinetic_energy
from kane.equations.conditions import embed
from kane.equations.programs import matrices_program
from kane.equations.projection import kane_equations
from kane.equations.steps import check_steps, expression, work_out
from kane.graph.evaluate import evaluate
from kane.kinematics.motion import substitute
from kane.mechanism.builder import System, dot
from kane.mechanism.formula import PI, name


def same(e, ref, text):
    """Whether a reference is the function that a text says."""
    return e.graph.sub(ref, expression(e, text)) < 2


def right(e, entries, **options):
    wrong = [str(c) for c in check_steps(work_out(e, **options), entries) if not c.equal]
    assert not wrong


def euler_disc(speeds):
    """The frames of exercises 2.7, 4.18, 8.3 and 10.2: A, B' (q1 about z), B (pi/2 - q2 about x), C (q3 about B.z)."""
    s = System("disc", inertial="A")
    q1, q2, q3, q4, q5 = s.coordinates("q1 q2 q3 q4 q5")
    Bp = s.N.orient_new_axis("B'", 3, q1)
    B = Bp.orient_new_axis("B", 1, PI / 2 - q2)
    C = B.orient_new_axis("C", 3, q3)
    R, m = s.parameters("R m")
    contact = s.O.locate_new("C^", q4 * s.N.x + q5 * s.N.y)
    centre = contact.locate_new("C*", R * B.y)
    s.body("C", C, centre, m, (m * R**2 / 4, m * R**2 / 4, m * R**2 / 2))
    axes = {"A": s.N, "B": B}[speeds]
    rates = {f"u{k + 1}": s.angular_velocity(C, s.N, axis) for k, axis in enumerate((axes.x, axes.y, axes.z))}
    s.speeds(**rates, u4=s.material_velocity(contact, C, s.N.x), u5=s.material_velocity(contact, C, s.N.y))
    return s, B, C, contact, centre


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


def arm():
    """The arm of exercises 3.15, 8.14, 11.7 and 11.8: A turns in E, B in A, C slides in B, D is fixed in C."""
    s = System("arm", inertial="E")
    q0, q1, q2 = s.coordinates("q0 q1 q2")
    LA, LB, LP, p1, p2, p3, g = s.parameters("LA LB LP p1 p2 p3 g")
    A = s.N.orient_new_axis("A", 1, q0)
    B = A.orient_new_axis("B", 2, q1)
    C = B.orient_new_axis("C", 1, 0)
    D = C.orient_new_axis("D", 1, 0)
    As = s.O.locate_new("A*", LA * A.z)
    P = s.O.locate_new("P", LP * A.z)
    Bs = P.locate_new("B*", LB * B.z)
    Cs = Bs.locate_new("C*", q2 * B.z)
    Ds = Cs.locate_new("D*", p1 * B.x + p2 * B.y + p3 * B.z)
    C.origin = D.origin = Cs
    s.speeds(u1=s.angular_velocity(A, s.N, A.x), u2=s.angular_velocity(B, A, B.y), u3=s.velocity(Cs, B, B.z))
    mA, mB, mC, mD = s.parameters("mA mB mC mD")
    s.parameters("A1 A2 A3 B1 B2 B3 C1 C2 C3 D11 D22 D33 D12 D23 D31")
    s.body("A", A, As, mA, ("A1", "A2", "A3"))
    s.body("B", B, Bs, mB, ("B1", "B2", "B3"))
    s.body("C", C, Cs, mC, ("C1", "C2", "C3"))
    s.body("D", D, Ds, mD, ("D11", "D22", "D33", "D12", "D23", "D31"))
    s.gravity(-g * s.N.x)
    T, U, K = (s.inputs(f"{c}1 {c}2 {c}3".replace("1", "_1").replace("2", "_2").replace("3", "_3")) for c in "TUK")
    s.torque("T E/A", A, A.vector(*T))
    s.torque_pair("T A/B", B, A, B.vector(*U))
    s.force_pair("K B/C", Cs, C, B, B.vector(*K))
    s.torque_pair("T B/C", C, B, B.vector(*K))
    return kane_equations(s.mechanism())


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


def glass(speeds):
    """Two particles on a rod between panes of glass that turn at the rate omega (exercises 8.1, 8.2, 8.15, 8.16)."""
    s = System("panes", inertial="A")
    q1, q2, q3 = s.coordinates("q1 q2 q3")
    g, L, m1, m2, omega = s.parameters("g L m1 m2 omega")
    B = s.N.orient_new_axis("B", 2, omega * s.t)
    E = B.orient_new_axis("E", 3, q3)
    P1 = s.O.locate_new("P1", q1 * B.x + q2 * B.y)
    P2 = P1.locate_new("P2", L * E.x)
    s.particle("P1", P1, m1)
    s.particle("P2", P2, m2)
    f1, f2, c, y = s.inputs("f1 f2 C Y")
    s.force("R1", P1, f1 * B.z + c * E.x - m1 * g * B.y)
    s.force("R2", P2, f2 * B.z - c * E.x - m2 * g * B.y + (y * E.y if speeds == "E" else 0 * E.y))
    axes = {"A": s.N, "E": E}.get(speeds)
    if axes:
        s.speeds(u1=s.velocity(P1, s.N, axes.x), u2=s.velocity(P1, s.N, axes.y), u3=dot(q3))
    else:
        s.speeds(u1=dot(q1), u2=dot(q2), u3=dot(q3))
    return s, B, E, P2


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


def shaft(extra):
    s = System("shaft", inertial="A")
    q1, q2, q3, q4, x, z = s.coordinates("q1 q2 q3 q4 x z")
    L, R, w1, w2 = s.parameters("L R omega1 omega2")
    N = s.N.orient_new_axis("N", 2, q3)
    S = N.orient_new_axis("S", 3, q4)
    C1, C2 = S.orient_new_axis("C1", 3, q1), S.orient_new_axis("C2", 3, q2)
    So = s.O.locate_new("S*", x * s.N.x + R * s.N.y + z * s.N.z)
    one, two = So.locate_new("C1*", -L * N.z), So.locate_new("C2*", L * N.z)
    S.origin, C1.origin, C2.origin = So, one, two
    s.speeds(
        u1=s.velocity(So, s.N, N.x), u2=s.angular_velocity(S, s.N, N.y), u3=s.angular_velocity(S, s.N, N.z),
        u4=s.angular_velocity(C1, s.N, N.z), u5=s.angular_velocity(C2, s.N, N.z), u6=s.velocity(So, s.N, N.z),
    )  # fmt: skip
    for k, (disc, place) in enumerate(((C1, one), (C2, two)), 1):
        s.roll(f"disc{k}", disc, place.locate_new(f"C{k}^", -R * N.y), s.N, N, axes=(1, 2, 3))
        m = s.inputs(" ".join(f"M{k}{i}" for i in (1, 2, 3)))
        f = s.inputs(" ".join(f"K{k}{i}" for i in (1, 2, 3)))
        s.torque_pair(f"M{k}", disc, S, N.vector(*m))
        s.force_pair(f"K{k}", place, disc, S, N.vector(*f))
    if extra:
        s.nonholonomic("motor1", s.angular_velocity(C1, S, N.z) - w1)
        s.nonholonomic("motor2", s.angular_velocity(C2, S, N.z) - w2)
    return kane_equations(s.mechanism())


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


def cart(friction=False):
    s = System("cart", inertial="F")
    q1, tilt, q2, q3, y, z = s.coordinates("q1 tilt q2 q3 y z")
    R, M, g, e, f, th, mu = s.parameters("R M g e f theta mu")
    a, b, mA, mB, IA, J, K = s.parameters("a b mA mB IA J K")
    I2, I3, I23 = s.parameters("IA22 IA33 IA23")
    P = s.N.orient_new_axis("P", 2, -th)
    T = P.orient_new_axis("T", 1, q1)
    A = T.orient_new_axis("A", 3, tilt)
    B, C = A.orient_new_axis("B", 3, q2), A.orient_new_axis("C", 3, q3)
    D = s.O.locate_new("D", P.vector(R, y, z))
    A.origin = D
    Bs, Cs = D.locate_new("B*", b * A.z), D.locate_new("C*", -b * A.z)
    s.body("A", A, D.locate_new("A*", a * A.y), mA, (IA, I2, I3, 0, I23, 0))
    s.body("B", B, Bs, mB, (K, K, J))
    s.body("C", C, Cs, mB, (K, K, J))
    Q = D.locate_new("Q", f * A.y - R * A.x)
    s.force("weight", D.locate_new("S*", e * A.y), -M * g * s.N.x)
    Q1, Q2, Q3 = s.inputs("Q1 Q2 Q3")
    if friction:
        from kane.mechanism.formula import function

        speed = function("sqrt", name("u2") ** 2 + f**2 * name("u1") ** 2)
        Q2, Q3 = -mu * Q1 * name("u2") / speed, -mu * Q1 * f * name("u1") / speed
    s.force("track", Q, A.vector(Q1, Q2, Q3))
    s.speeds(
        u1=s.angular_velocity(A, s.N, A.x), u2=s.velocity(D, s.N, A.y), u3=s.angular_velocity(A, s.N, A.z),
        u4=s.velocity(D, s.N, A.z), u5=s.angular_velocity(B, A, A.z), u6=s.angular_velocity(C, A, A.z),
    )  # fmt: skip
    s.nonholonomic("no side slip", "u4")
    for n, wheel, centre in (("left", B, Bs), ("right", C, Cs)):
        s.roll(n, wheel, centre.locate_new(f"{n} contact", -R * A.x), s.N, A, axes=(2,))
    k = kane_equations(s.mechanism())
    residual = embed(k, ("u4", "u5", "u6")).residual
    zero = {k.points.symbols.by_name["tilt"]: 0, k.points.symbols.u[2]: 0, k.points.symbols.udot[2]: 0}
    return k, substitute(k.graph, list(residual), zero)


CART = ("M*g*e*sin(theta)*cos(q1) + f*Q3", "M*g*sin(theta)*sin(q1) + Q2", "e*M*g*cos(theta) - Q1*f - Q2*R")


def test_exercises_8_12_and_8_17_a_cart_with_an_auxiliary_speed():
    e, residual = cart()
    inertia = (
        "-(IA + 2*J*b**2/R**2 + 2*K + mA*a**2 + 2*mB*b**2)*u1' - mA*a*u1*u2",
        "-(mA + 2*mB + 2*J/R**2)*u2' + mA*a*u1**2",
        "0",
    )
    assert all(same(e, x, f"{a} + {b}") for x, a, b in zip(residual, CART, inertia, strict=True))


def test_exercise_11_14_the_reaction_at_the_sliding_wheel():
    e, residual = cart(friction=True)
    q1 = expression(e, "e*M*g*cos(theta)/(f - mu*R*u2/sqrt(u2**2 + f**2*u1**2))")
    (left,) = substitute(e.graph, [residual[2]], {e.graph.symbol("Q1"): q1})
    assert left < 2


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
