"""Mechanisms of the simulation tests, declared by hand."""

import numpy as np

from kane import robots
from kane.mechanism.builder import System, cos, sin


def n_four_bar(count):
    """IFToMM's chain of windows: uprights hinged to the ground, cross bars between their tops; absolute angles."""
    s = System("n_four_bar")
    N = s.N
    up = [s.coordinates(f"a{k}") for k in range(count + 1)]
    across = [s.coordinates(f"b{k}") for k in range(count)]
    tops = []
    for k, angle in enumerate(up):
        frame = N.orient_new_axis(f"A{k}", 3, angle)
        foot = s.O.locate_new(f"O{k}", N.x * k)
        tops.append(foot.locate_new(f"T{k}", frame.x))
        s.body(f"upright{k}", frame, foot.locate_new(f"U{k}", frame.x * "1/2"), 1, (0, 0, "1/12"))
    for k, angle in enumerate(across):
        frame = N.orient_new_axis(f"B{k}", 3, angle)
        end = tops[k].locate_new(f"E{k}", frame.x)
        s.body(f"bar{k}", frame, tops[k].locate_new(f"C{k}", frame.x * "1/2"), 1, (0, 0, "1/12"))
        s.coincide(f"joint{k}", end, tops[k + 1], N, axes=(1, 2))
    s.gravity(N.y * -9.81)
    return s, np.array([np.pi / 2] * (count + 1) + [0.0] * count), np.array([-1.0] * (count + 1) + [0.0] * count)


ANDREWS = {  # Hairer and Wanner 1996, section VII.7; IVP test set
    "m1": 0.04325,
    "m2": 0.00365,
    "m3": 0.02373,
    "m4": 0.00706,
    "m5": 0.0705,
    "m6": 0.00706,
    "m7": 0.05498,
    "xa": -0.06934,
    "ya": -0.00227,
    "xb": -0.03635,
    "yb": 0.03273,
    "xc": 0.014,
    "yc": 0.072,
    "c0": 4530.0,
    "i1": 2.194e-06,
    "i2": 4.41e-07,
    "i3": 5.255e-06,
    "i4": 5.667e-07,
    "i5": 1.169e-05,
    "i6": 5.667e-07,
    "i7": 1.912e-05,
    "d": 0.028,
    "da": 0.0115,
    "e": 0.02,
    "ea": 0.01421,
    "rr": 0.007,
    "ra": 0.00092,
    "l0": 0.07785,
    "ss": 0.035,
    "sa": 0.01874,
    "sb": 0.01043,
    "sc": 0.018,
    "sd": 0.02,
    "ta": 0.02308,
    "tb": 0.00916,
    "u": 0.04,
    "ua": 0.01228,
    "ub": 0.00449,
    "zf": 0.02,
    "zt": 0.04,
    "fa": 0.01421,
    "mom": 0.033,
}
ANDREWS_START = [
    -0.06171389001427645,
    0,
    0.45527981916307037,
    0.22266839016588588,
    0.48736497954384256,
    -0.22266839016588588,
    1.2305474445498212,
]
ANDREWS_END = [
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805303,
    0.5347301163226948,
    1.048080741042263,
]
ANDREWS_SPEEDS = [
    1139.920302151208,
    -1424.379294994111,
    11.03291221937134,
    19.29337464421385,
    0.5735699284790808,
    -19.29337464421385,
    0.3231791658026955,
]


def andrews():
    """Andrews' squeezing mechanism: seven bodies in a plane, three loops closed at P3."""
    p = ANDREWS
    s = System("andrews")
    N, O = s.N, s.O
    be, th, ga, ph, de, om, ep = s.coordinates("beta theta gamma phi delta omega epsilon")
    V = lambda x, y: N.x * x + N.y * y
    at = lambda name, v: O.locate_new(name, v)

    def body(k, angle, centre):
        frame = N.orient_new_axis(f"K{k}", 3, angle)
        s.body(f"K{k}", frame, at(f"G{k}", centre), p[f"m{k}"], (0, 0, p[f"i{k}"]))
        return frame

    bt = be + th
    K1 = body(1, be, V(p["ra"] * cos(be), p["ra"] * sin(be)))
    end = V(p["rr"] * cos(be), p["rr"] * sin(be))
    body(2, bt, end + V(-p["da"] * cos(bt), -p["da"] * sin(bt)))
    joint = end + V(-p["d"] * cos(bt), -p["d"] * sin(bt))
    B, A = V(p["xb"], p["yb"]), V(p["xa"], p["ya"])
    body(3, ga, B + V(p["sa"] * sin(ga) + p["sb"] * cos(ga), -p["sa"] * cos(ga) + p["sb"] * sin(ga)))
    third = B + V(p["ss"] * sin(ga), -p["ss"] * cos(ga))
    pd, oe = ph + de, om + ep
    body(
        4, pd, A + V(p["zt"] * cos(de) + (p["e"] - p["ea"]) * sin(pd), p["zt"] * sin(de) - (p["e"] - p["ea"]) * cos(pd))
    )
    body(5, de, A + V(p["ta"] * cos(de) - p["tb"] * sin(de), p["ta"] * sin(de) + p["tb"] * cos(de)))
    body(
        6,
        oe,
        A + V(p["u"] * sin(ep) + (p["zf"] - p["fa"]) * cos(oe), -p["u"] * cos(ep) + (p["zf"] - p["fa"]) * sin(oe)),
    )
    body(7, ep, A + V(p["ua"] * sin(ep) - p["ub"] * cos(ep), -p["ua"] * cos(ep) - p["ub"] * sin(ep)))
    P1, P2 = at("P1", joint), at("P2", third)
    P3 = at("P3", A + V(p["e"] * sin(pd) + p["zt"] * cos(de), -p["e"] * cos(pd) + p["zt"] * sin(de)))
    P4 = at("P4", A + V(p["zf"] * cos(oe) + p["u"] * sin(ep), p["zf"] * sin(oe) - p["u"] * cos(ep)))
    D = at("D", B + V(p["sc"] * sin(ga) + p["sd"] * cos(ga), -p["sc"] * cos(ga) + p["sd"] * sin(ga)))
    C = at("C", V(p["xc"], p["yc"]))
    s.spring("spring", D, C, p["c0"], p["l0"])
    s.torque("drive", K1, N.z * p["mom"])
    for name, q in (("b", P2), ("d", P3), ("f", P4)):
        s.coincide(name, P1, q, N, axes=(1, 2))
    return s


def double_pendulum():
    """Point masses 1 and 0.7 kg on massless rods of 1 and 0.8 m; absolute angles from straight down."""
    s = System("double_pendulum")
    a, b = s.coordinates("a b")
    A, B = s.N.orient_new_axis("A", 3, a), s.N.orient_new_axis("B", 3, b)
    P = s.O.locate_new("P", A.x * 1)
    Q = P.locate_new("Q", B.x * "0.8")
    s.particle("P", P, 1)
    s.particle("Q", Q, "0.7")
    s.gravity(s.N.x * 9.81)
    return s


def four_bar(axes=(1, 2)):
    """Crank 0.3, coupler 0.9, rocker 0.8 m, ground 1 m; uniform rods; axes (1, 2, 3) close the loop once too often."""
    s = System("four_bar")
    t1, t2, t3 = s.coordinates("t1 t2 t3")
    T = s.inputs("T")
    N = s.N
    A, B, C = (N.orient_new_axis(n, 3, t) for n, t in zip("ABC", (t1, t2, t3), strict=True))
    C0 = s.O.locate_new("C0", N.x)
    P = s.O.locate_new("P", A.x * 0.3)
    B1, B2 = P.locate_new("B1", B.x * 0.9), C0.locate_new("B2", C.x * 0.8)
    rods = (("crank", A, s.O, "0.3", "0.5"), ("coupler", B, P, "0.9", "1.2"), ("rocker", C, C0, "0.8", "0.9"))
    for name, frame, start, length, mass in rods:
        centre = start.locate_new(f"{name}*", frame.x * f"{length}/2")
        s.body(name, frame, centre, mass, (0, 0, f"{mass}*{length}**2/12"))
    s.gravity(N.y * -9.81)
    s.torque("drive", A, T * N.z)
    s.coincide("B", B1, B2, N, axes=axes)
    return s


FOUR_BAR_START = {"q": {"t1": np.pi / 3}, "u": {"t1": 2.0}, "guess": {"t2": 0.6, "t3": 1.7}}


def rolling_disc():
    """A thin disc of 2 kg and 0.25 m on a level plane: yaw q1, lean q2, spin q3, contact at (x, y)."""
    s = System("disc")
    q1, q2, q3, x, y = s.coordinates("q1 q2 q3 x y")
    m, r, g = s.parameters(m=2, r=0.25, g=9.81)
    K = s.N.orient_new_axis("Y", 3, q1).orient_new_axis("K", 1, q2)
    D = K.orient_new_axis("D", 2, q3)
    contact = s.O.locate_new("C", x * s.N.x + y * s.N.y)
    s.body("D", D, contact.locate_new("D*", r * K.z), m, (m * r**2 / 4, m * r**2 / 2, m * r**2 / 4))
    s.gravity(-g * s.N.z)
    s.roll("rolling", D, contact, s.N, s.N)
    return s


def falling(height_axis="z"):
    """A mass of 2 kg that slides up and down."""
    s = System("falling")
    h = s.coordinates("h")
    P = s.O.locate_new("P", getattr(s.N, height_axis) * h)
    s.particle("P", P, 2)
    s.gravity(s.N.z * -10)
    return s


def oscillator(stiffness=100):
    """A mass of 1 kg on a spring between two points, with a force input."""
    s = System("oscillator")
    x = s.coordinates("x")
    F = s.inputs("F")
    P = s.O.locate_new("P", s.N.x * x)
    s.particle("P", P, 1)
    s.force("push", P, s.N.x * F)
    s.force("spring", P, s.N.x * (-stiffness * x))
    return s


STARTS = {"arm": {"q": [0.1] * 6}, "loop": FOUR_BAR_START, "floating": {}, "declared": {"q": [0.1]}}


def kinds():
    """A model of every kind that simulate tells apart, for the starts of STARTS."""
    from kane.api.robot import load
    from kane.simulation.model import prepare

    return {
        "arm": prepare(robots.load("puma560")),
        "loop": prepare(four_bar()),
        "floating": prepare(load("puma560", base="floating")),
        "declared": prepare(oscillator()),
    }
