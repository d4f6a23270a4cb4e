"""Kane's steps with constraints: the equations as printed give the accelerations of the solution at numbers."""

import re

import numpy as np
import pytest

from kane.equations.conditions import embed
from kane.equations.constrained import constrained
from kane.equations.held import hold
from kane.equations.programs import program_inputs
from kane.equations.projection import kane_equations
from kane.equations.steps import check_steps, expression, work_out
from kane.errors import InputError, UnknownNameError
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program
from kane.mechanism.builder import System, cos, dot, sin
from kane_method.linkages import four_bar


def disc(own=False):
    """A disc rolling on a plane; own: in body-fixed speeds, declared."""
    s = System("disc")
    x, y, q1, q2, q3 = s.coordinates("x y q1 q2 q3")
    m, R, g = s.parameters(m=2, R="0.3", g="9.81")
    A = s.N.orient_new_axis("A", 3, q1)
    B = A.orient_new_axis("B", 1, q2)
    D = B.orient_new_axis("D", 2, q3)
    C = s.O.locate_new("C", x * s.N.x + y * s.N.y)
    s.body("D", D, C.locate_new("P", R * B.z), m, (m * R**2 / 4, m * R**2 / 2, m * R**2 / 4))
    s.gravity(-g * s.N.z)
    if own:
        w = [s.angular_velocity(D, s.N, axis) for axis in (B.x, B.y, B.z)]
        s.speeds(u1=w[0], u2=w[1], u3=w[2], u4=dot(x), u5=dot(y))
    s.roll("roll", D, C, s.N, s.N)
    return s


def sleigh():
    """A knife edge under a body with its mass centre ahead, in rates of the coordinates, pushed."""
    s = System("sleigh")
    x, y, th = s.coordinates("x y th")
    B = s.N.orient_new_axis("B", 3, th)
    edge = s.O.locate_new("edge", x * s.N.x + y * s.N.y)
    s.body("B", B, edge.locate_new("B*", B.x * 0.3), 2, (0, 0, 0.4))
    s.torque("push", B, s.inputs("T") * s.N.z)
    s.nonholonomic("blade", s.velocity(edge, s.N, B.y))
    return s


def skate():
    """A knife edge on a slope with the edge's speeds, of which one vanishes."""
    s = System("skate")
    x, y, th = s.coordinates("x y th")
    B = s.N.orient_new_axis("B", 3, th)
    edge = s.O.locate_new("edge", x * s.N.x + y * s.N.y)
    s.body("B", B, edge, 2, (0, 0, 0.4))
    s.speeds(u1=s.velocity(edge, s.N, B.x), u2=s.velocity(edge, s.N, B.y), u3=dot(th))
    s.gravity(-3 * s.N.x)
    s.nonholonomic("blade", "u2")
    return s


def geared():
    """Two pendulums of which one turns thrice as fast, backwards; a third is driven in time."""
    s = System("geared")
    a, b, c = s.coordinates("a b c")
    for name, q, length in (("A", a, 1), ("B", b, 0.5), ("C", c, 0.7)):
        frame = s.N.orient_new_axis(name, 3, q)
        s.particle(name, s.O.locate_new(f"P{name}", frame.x * length), 1.5)
    s.spring("spring", s.points["PB"], s.points["PC"], 20, 0.3)
    s.gravity(s.N.y * -9.81)
    s.holonomic("gear", b + 3 * a)
    s.holonomic("drive", c - 0.4 * sin(2 * s.t))
    return s


def driven():
    """Everything prescribed: a pendulum on a carriage, both driven in time."""
    s = System("driven")
    x, th = s.coordinates("x th")
    A = s.N.orient_new_axis("A", 3, th)
    cart = s.O.locate_new("cart", x * s.N.x)
    s.particle("cart", cart, 2)
    s.particle("bob", cart.locate_new("P", A.y * -0.8), 1)
    s.gravity(s.N.y * -9.81)
    s.holonomic("carriage", x - cos(s.t))
    s.nonholonomic("turn", dot(th) - sin(3 * s.t))
    return s


def steady():
    """A particle of constant speed in space: a condition that is not linear in the speeds."""
    s = System("steady")
    x, y, z = s.coordinates("x y z")
    s.particle("P", s.O.locate_new("P", x * s.N.x + y * s.N.y + z * s.N.z), 1.3)
    s.gravity(s.N.z * -9.81)
    s.nonholonomic("speed", dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2 - 4)
    return s


MECHANISMS = {
    "disc": (disc, "eliminated"), "disc in own speeds": (lambda: disc(own=True), "eliminated"),
    "skate": (skate, "eliminated"), "geared": (geared, "eliminated"), "sleigh": (sleigh, "multipliers"),
    "four-bar": (four_bar, "multipliers"), "four-bar, closed twice": (lambda: four_bar(twice=True), "multipliers"),
    "driven": (driven, "multipliers"), "steady": (steady, "multipliers"),
}  # fmt: skip


def printed(steps, step):
    """Left sides of the equations "... = 0" of a step, as they are printed, read back."""
    h = steps.held
    names = dict(zip(h.multiplier_names, h.multipliers, strict=True))
    texts = [row[-1].removesuffix(" = 0") for row in step.rows if row[-1].endswith(" = 0")]
    return [expression(steps.equations, text, names) for text in texts]


def evaluator(steps, refs):
    e, names = steps.equations, steps.held.multiplier_names
    inputs = (*program_inputs(e, rates=True), *((Input("l", names),) if names else ()))
    program = build_program(e.graph, "printed", inputs, [("values", (len(refs),), refs)])
    p = [float(e.points.mechanism.parameter_values[n]) for n in e.points.free]
    f = [0.7] * sum(i.size for i in inputs if i.name == "f")

    def at(q, u, udot, multipliers, t):
        given = {"q": q, "u": u, "udot": udot, "l": multipliers, "t": [t], "p": p, "f": f}
        return evaluate(program, {i.name: given[i.name] for i in inputs})["values"]

    return at, f


def states(e, count=6, seed=5):
    """Random states that fulfil the conditions: (q, u, t)."""
    rng, c, n = np.random.default_rng(seed), constrained(e), len(e.inertia)
    for _ in range(count):
        t = float(rng.uniform(0, 2))
        guess = np.array([np.pi / 3, 0.6, 1.7]) if e.points.mechanism.name == "four_bar" else np.zeros(n)
        q = c.consistent_configuration(guess + rng.normal(size=n) * (0.1 if guess.any() else 1.0), t=t)
        yield q, c.consistent_speeds(q, rng.normal(size=n), t=t), t


@pytest.mark.parametrize("name", MECHANISMS)
def test_printed_equations_give_the_accelerations(name):
    build, form = MECHANISMS[name]
    e = kane_equations(build().mechanism())
    steps = work_out(e)
    assert (steps.held.embedded is None) == (form == "multipliers")
    n, m = len(e.inertia), len(steps.held.multipliers)
    independent = list(range(n)) if steps.held.embedded is None else list(steps.held.embedded.independent)
    free = len(independent) + m
    equations = printed(steps, steps.kane)
    assert len(equations) == free
    at, f = evaluator(steps, equations)
    for q, u, t in states(e):
        wanted = constrained(e).accelerations(q, u, f, t)
        speeds = np.full(n, np.nan)  # what is eliminated is not asked for
        speeds[independent] = u[independent]

        def gap(z, q=q, speeds=speeds, t=t):
            udot = np.full(n, np.nan)
            udot[independent] = z[: len(independent)]
            return at(q, speeds, udot, z[len(independent) :], t)

        rest = gap(np.zeros(free))
        slope = np.stack([gap(x) - rest for x in np.eye(free)], axis=1)
        assert np.linalg.cond(slope) < 1e8
        found = np.linalg.solve(slope, -rest)
        assert found[: len(independent)] == pytest.approx(wanted.udot[independent], rel=1e-8, abs=1e-8)
        if name == "four-bar":
            assert found[n:] == pytest.approx(wanted.multipliers, rel=1e-8)


@pytest.mark.parametrize("name", MECHANISMS)
def test_step_2_has_the_constraints_and_the_dependent_speeds(name):
    e = kane_equations(MECHANISMS[name][0]().mechanism())
    steps = work_out(e)
    conditions = printed(steps, steps.speeds)
    assert conditions
    at, _ = evaluator(steps, conditions)
    names = [row[0].partition(",")[0].partition(" (")[0] for row in steps.speeds.rows]
    assert set(hold(e).conditions.names) <= set(names)
    whole = (*e.points.symbols.names_u, *e.points.symbols.names_udot)
    dependent = [row[1].split(" = ") for row in steps.speeds.rows if row[0] == "dependent"]
    right, _ = evaluator(steps, [expression(e, text) for _, text in dependent])
    for q, u, t in states(e, 3):
        nothing = np.zeros(len(steps.held.multipliers))
        udot = constrained(e).accelerations(q, u, evaluator(steps, [])[1], t).udot
        assert at(q, u, udot, nothing, t) == pytest.approx(0, abs=1e-8)
        assert np.abs(at(q, u + 0.3, udot, nothing, t)).max() > 1e-3
        left = [np.concatenate([u, udot])[whole.index(name)] for name, _ in dependent]
        assert right(q, u, udot, nothing, t) == pytest.approx(left, rel=1e-8, abs=1e-8)


def test_a_choice_of_dependent_speeds_is_worked_out():
    """What embed gives is taken: the four-bar in its crank alone, singular elsewhere."""
    e = kane_equations(four_bar().mechanism())
    steps = work_out(embed(e, ("t2", "t3")))
    assert len(steps.kane.rows) == 1 and steps.kane.rows[0][0] == "r = 1"
    at, f = evaluator(steps, [steps.value("equation_1"), steps.value("F~_1"), steps.value("F~*_1")])
    for q, u, t in states(e):
        udot = constrained(e).accelerations(q, u, f, t).udot
        whole, active, inertia = at(q, [u[0], np.nan, np.nan], [udot[0], np.nan, np.nan], [], t)
        assert whole == pytest.approx(0, abs=1e-9 * (1 + abs(active))) and active == pytest.approx(-inertia)


def test_the_disc_is_that_of_the_books():
    """A thin disc: 5/4 and 3/2 m R^2 about the point of contact."""
    steps = work_out(kane_equations(disc().mechanism()))
    right = {
        "equation_4": "m*g*R*sin(q2) - m*R**2*(5/4*q2_ddot - 3/2*cos(q2)*q1_dot*q3_dot"
        " - 5/4*sin(q2)*cos(q2)*q1_dot**2)",
        "equation_5": "-m*R**2*(3/2*(q1_ddot*sin(q2) + q3_ddot) + 5/2*cos(q2)*q1_dot*q2_dot)",
        "constraint_1": "x_dot - R*cos(q1)*q3_dot",
        "F~*_5": "-m*R**2*(1/2*(q3_ddot + q1_ddot*sin(q2) + cos(q2)*q1_dot*q2_dot) + sin(q2)*q1_ddot"
        " + 2*cos(q2)*q1_dot*q2_dot) - m*R*(x_ddot*cos(q1) + y_ddot*sin(q1))",
    }
    assert all(found.equal for found in check_steps(steps, right)), [str(x) for x in check_steps(steps, right)]
    wrong = "-m*R**2*(1/2*(q1_ddot*sin(q2) + q3_ddot) + 1/2*cos(q2)*q1_dot*q2_dot)"  # as if the disc were free
    (found,) = check_steps(steps, {"equation_5": wrong})
    assert not found.equal and found.missing
    free = {"equation_1": "-m*x_ddot"}
    with pytest.raises(UnknownNameError, match="equation_3"):
        check_steps(steps, free)


def test_a_hand_derivation_with_multipliers_is_checked():
    s = System("pendulum")
    x, y = s.coordinates("x y")
    m, L, g = s.parameters("m L g")
    s.particle("P", s.O.locate_new("P", x * s.N.x + y * s.N.y), m)
    s.gravity(-g * s.N.y)
    s.holonomic("rod", (x**2 + y**2 - L**2) / 2)
    steps = work_out(kane_equations(s.mechanism()))
    right = {
        "equation_1": "lambda1*x - m*x_ddot", "equation_2": "lambda1*y - m*y_ddot - m*g",
        "constraint_1_dot": "x*x_ddot + y*y_ddot + x_dot**2 + y_dot**2", "configuration_1": "(x**2 + y**2 - L**2)/2",
    }  # fmt: skip
    assert all(found.equal for found in check_steps(steps, right))
    (found,) = check_steps(steps, {"equation_2": "-m*y_ddot - m*g"})
    assert found.missing == ("lambda1*y",) and not found.extra


def test_a_parameter_named_lambda1_is_not_the_multiplier():
    s = System("slope")
    x, y = s.coordinates("x y")
    (lambda1,) = s.parameters("lambda1 k")[:1]
    s.particle("P", s.O.locate_new("P", x * s.N.x + y * s.N.y), lambda1)
    s.holonomic("line", sin(x) - y * x)
    steps = work_out(kane_equations(s.mechanism()))
    assert steps.held.multiplier_names == ("lambda_c1",)


def test_constraints_that_contradict_each_other_have_no_steps():
    s = System("stuck")
    x, y = s.coordinates("x y")
    s.particle("P", s.O.locate_new("P", x * s.N.x + y * s.N.y), 1)
    s.nonholonomic("one", dot(x) - 1)
    s.nonholonomic("two", dot(x) - 2)
    with pytest.raises(InputError, match="contradicts"):
        work_out(kane_equations(s.mechanism()))


def test_without_constraints_step_8_is_plain():
    s = System("free")
    x = s.coordinates("x")
    s.particle("P", s.O.locate_new("P", x * s.N.x), 1)
    steps = work_out(kane_equations(s.mechanism()))
    assert steps.held is None and steps.kane.title == "Kane's equations F_r + F*_r = 0"
    assert not re.search("constraint|lambda", str(steps))


def test_a_contradiction_beside_a_condition_that_needs_multipliers_is_refused():
    """Not said to follow from the others."""
    s = System("stuck")
    a, b, c = s.coordinates("a b c")
    for name, q in (("A", a), ("B", b), ("C", c)):
        s.particle(name, s.O.locate_new(f"P{name}", s.N.orient_new_axis(name, 3, q).x), 1)
    s.nonholonomic("link", sin(a) * dot(b) + cos(b) * dot(c))
    s.nonholonomic("one", dot(a) - 1)
    e = kane_equations(s.mechanism())
    assert hold(e).embedded is None and not hold(e).redundant
    s.nonholonomic("two", dot(a) - 2)
    with pytest.raises(InputError, match="contradicts"):
        work_out(kane_equations(s.mechanism()))


def test_steps_worked_out_again_have_the_same_multipliers():
    e = kane_equations(four_bar().mechanism())
    assert [work_out(e).held.multiplier_names for _ in range(2)] == [("lambda1", "lambda2")] * 2
