"""Hand-built programs for the tests of emission."""

from __future__ import annotations

from fractions import Fraction

from kane.graph.arena import Graph
from kane.graph.program import Input, Program, build_program


def two_link(
    parameters: tuple[str, ...] = (), names: tuple[str, str] = ("q1", "q2")
) -> tuple[Program, Program, Program]:
    """Inverse dynamics, mass matrix, energy of a planar arm with point masses; `parameters` stay symbols.

    Closed form (Craig, Introduction to Robotics, example 6.7): masses m1, m2 at the ends of links l1, l2.
    """
    g = Graph()
    numbers = {"m1": "1.3", "m2": "0.7", "l1": "0.45", "l2": "0.31", "grav": "9.81"}
    p = {n: g.symbol(n, "parameter") if n in parameters else g.number(Fraction(v)) for n, v in numbers.items()}
    q1, q2 = (g.symbol(n) for n in names)
    qd1, qd2 = (g.symbol(f"{n}.d") for n in names)
    qdd1, qdd2 = (g.symbol(f"{n}.dd") for n in names)
    c2, s2 = g.cos(q2), g.sin(q2)
    c1, c12 = g.cos(q1), g.cos(g.add(q1, q2))
    with g.origin("link 2: F*"):
        m2l2l2 = g.mul(p["m2"], g.mul(p["l2"], p["l2"]))
        m2l1l2 = g.mul(p["m2"], g.mul(p["l1"], p["l2"]))
        m12l1l1 = g.mul(g.add(p["m1"], p["m2"]), g.mul(p["l1"], p["l1"]))
        m22 = m2l2l2
        m12 = g.add(m2l2l2, g.mul(m2l1l2, c2))
        m11 = g.sum((m2l2l2, g.mul(g.mul(g.number(2), m2l1l2), c2), m12l1l1))
        h = g.mul(m2l1l2, s2)
    with g.origin("link 1: F /* gravity */ \\"):
        g2 = g.mul(g.mul(p["m2"], g.mul(p["l2"], p["grav"])), c12)
        g1 = g.add(g2, g.mul(g.mul(g.add(p["m1"], p["m2"]), g.mul(p["l1"], p["grav"])), c1))
    centrifugal = g.mul(h, g.mul(qd1, qd1))
    coriolis = g.sub(g.neg(g.mul(h, g.mul(qd2, qd2))), g.mul(g.number(2), g.mul(h, g.mul(qd1, qd2))))
    tau1 = g.sum((g.mul(m11, qdd1), g.mul(m12, qdd2), coriolis, g1))
    tau2 = g.sum((g.mul(m12, qdd1), g.mul(m22, qdd2), centrifugal, g2))
    energy = g.mul(g.number(Fraction(1, 2)), g.sum((
        g.mul(m11, g.mul(qd1, qd1)), g.mul(g.number(2), g.mul(m12, g.mul(qd1, qd2))), g.mul(m22, g.mul(qd2, qd2)),
    )))
    q, qd = Input("q", names), Input("qd", tuple(f"{n}.d" for n in names))
    qdd, par = Input("qdd", tuple(f"{n}.dd" for n in names)), Input("p", tuple(parameters), "parameter")
    extra = (par,) if parameters else ()
    return (
        build_program(g, "inverse_dynamics", (q, qd, qdd, *extra), [("tau", (2,), (tau1, tau2))]),
        build_program(g, "mass_matrix", (q, *extra), [("M", (2, 2), (m11, m12, m12, m22))]),
        build_program(g, "kinetic_energy", (q, qd, *extra), [("T", (), (energy,)), ("unused", (0,), ())]),
    )


def all_functions(parameter: bool = False) -> Program:
    """One output for each function of the graph, of state symbols, with constants of irrational value."""
    g = Graph()
    x, y, z = (g.symbol(n) for n in ("x", "y", "z"))
    a = g.symbol("a", "parameter") if parameter else g.sqrt(g.number(5))
    tilt = g.sin(g.number(Fraction(3, 10)))
    ratio = g.div(x, g.add(g.number(2), g.mul(y, y)))
    inside = g.div(x, g.add(g.number(1), g.mul(x, x)))
    positive = g.add(g.number(1), g.mul(y, y))
    f = g.function
    outputs = [
        g.add(g.mul(a, x), g.mul(tilt, y)), ratio, g.sqrt(positive), g.sin(x), g.cos(g.add(x, g.mul(y, g.number(2)))),
        f("tan", inside), f("asin", inside), f("acos", inside), f("atan", x), f("atan2", x, positive), f("exp", y),
        f("log", positive), f("sinh", x), f("cosh", x), f("tanh", x), f("abs", x), f("sign", x), f("select", x, y, z),
        f("min", x, y), f("max", x, y), f("pow", positive, z), g.sub(g.neg(x), y), g.mul(f("exp", a), z),
        g.number(Fraction(-7, 3)), g.pi(), g.zero, x, a, g.neg(y),
    ]  # fmt: skip
    inputs = [Input("w", ("x", "y", "z", "nobody"))] + [Input("p", ("a",), "parameter")] * parameter
    return build_program(g, "everything", inputs, [("out", (len(outputs),), outputs), ("one", (), (ratio,))])
