"""The mechanisms of exercises in Kane and Levinson, "Dynamics: Theory and Applications" (1985), and how to compare."""


from kane.equations.conditions import embed
from kane.equations.projection import kane_equations
from kane.equations.steps import check_steps, expression, work_out
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
