r"""Steps in LaTeX: every equation, read back, has the value of its step; braces and environments are closed."""

import math
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from kane.equations.programs import program_inputs
from kane.equations.projection import kane_equations
from kane.equations.step_tables import printer
from kane.equations.steps import work_out
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program
from kane.mechanism.builder import System, dot
from kane.mechanism.formula import parse
from kane.mechanism.latex import formula_latex, formula_pieces, name_latex
from kane.robots import bundled
from kane_method.linkages import four_bar

EXAMPLES = Path(__file__).parents[2] / "examples"
FUNCTIONS = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt, "pi": math.pi}


def two_link():
    return runpy.run_path(str(EXAMPLES / "two_link.py"))["build"](damping=True, tip_force=True).mechanism()


def skate():
    s = System("skate")
    x, y, th = s.coordinates("x y th")
    B = s.N.orient_new_axis("B", 3, th)
    edge = s.O.locate_new("edge", x * s.N.x + y * s.N.y)
    s.body("B", B, edge.locate_new("B*", B.x * 0.3), 2, (0.3, 0.2, 0.4))
    s.speeds(u1=s.velocity(edge, s.N, B.x), u2=s.velocity(edge, s.N, B.y), u3=dot(th))
    s.nonholonomic("blade", "u2")
    return s.mechanism()


BUILD = {
    "two_link": two_link, "skate": skate, "four_bar": lambda: four_bar().mechanism(),
    "elbow3": lambda: bundled.load("elbow3"),
}  # fmt: skip


def latex_value(text, values):
    """LaTeX of the printer turned into Python; `values` by the LaTeX of each name."""
    for k, name in enumerate(sorted(values, key=lambda n: -len(n))):
        text = re.sub(re.escape(f"{{{name}}}^"), f" (n{k}_) ^", text)
        text = re.sub(r"(?<![A-Za-z\\])" + re.escape(name) + r"(?![A-Za-z])", f" n{k}_ ", text)
    names = {f"n{k}_": values[name] for k, name in enumerate(sorted(values, key=lambda n: -len(n)))}
    text = re.sub(r"\\(sin|cos)\^\{(\d+)\}\\left\(", r"\1pow(\2, ", text)
    text = re.sub(r"\\left\(|\\bigl\(", "(", text)
    text = re.sub(r"\\right\)|\\bigr\)", ")", text).replace(r"\cdot", "*").replace(r"\,", "*").replace(r"\pi", "pi")
    while "{" in text:
        before = text
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
        text = re.sub(r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)", text)
        text = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", text)
        assert text != before, text
    powers = {"sinpow": lambda n, x: math.sin(x) ** n, "cospow": lambda n, x: math.cos(x) ** n}
    return eval(re.sub(r"\\(sin|cos)", r"\1", text).strip(), {**FUNCTIONS, **powers, **names})


def lines(fragment, number):
    """(left side, right side) of the equations of a step, continued lines joined."""
    body = fragment.split(r"\subsection*{")[number]
    block = body.partition(r"\begin{align*}")[2].partition(r"\end{align*}")[0]
    rows = re.sub(r"( && \\text\{[^{}]*\})? \\\\\n&\\quad", " ", block).split("\\\\\n")
    cells = [re.sub(r" && \\text\{.*\}\s*$", "", row).strip().split("&", 1) for row in rows]
    return [(left.strip(), right.strip().removeprefix("= ")) for left, right in cells]


def values_of(steps, refs, seed=4):
    """Values at random symbols: of the references, and of symbols by their LaTeX."""
    e, s = steps.equations, steps.equations.points.symbols
    extra = steps.held.multiplier_names if steps.held is not None else ()
    inputs = (*program_inputs(e, rates=True), *((Input("l", extra),) if extra else ()))
    random = np.random.default_rng(seed)
    given = {i.name: random.uniform(0.3, 1.5, i.size) for i in inputs}
    found = evaluate(build_program(e.graph, "steps", inputs, [("r", (len(refs),), refs)]), given)["r"]
    by_name = {label: x for i in inputs for label, x in zip(i.labels, given[i.name], strict=True)}
    by_name = {printer(e.points).names.get(n, n): x for n, x in by_name.items()}
    dotted = {n: re.fullmatch(r"(.+?)(?:'|_(d{1,2})ot)", n) for n in by_name}
    typeset = {name_latex(d[1], len(d[2] or "d")) if d else name_latex(n): float(by_name[n]) for n, d in dotted.items()}
    assert len(typeset) == len(by_name) and len(s.udot) == len(e.inertia)
    return found, typeset


@pytest.mark.parametrize("name", BUILD)
def test_equations_have_the_values_of_the_steps(name):
    steps = work_out(kane_equations(BUILD[name]()))
    text = steps.latex()
    checked = 0
    for number, step in ((6, steps.inertia_forces), (7, steps.active_forces), (8, steps.kane)):
        keys = [k for k in step.values if not k.startswith("F~")]
        found, names = values_of(steps, [step.values[k] for k in keys])
        printed = lines(text, number)
        if number == 8:
            printed = [(left, right.removesuffix("= 0")) for left, right in printed]
        assert len(printed) == len(keys)
        for want, (_, right) in zip(found, printed, strict=True):
            assert latex_value(right, names) == pytest.approx(float(want), rel=1e-9, abs=1e-9), right
            checked += want != 0
    assert checked > 3


def test_vectors_have_their_coefficients():
    """The angular velocity of the last link of an arm, component by component."""
    steps = work_out(kane_equations(bundled.load("elbow3")))
    left = [k for k, _ in lines(steps.latex(), 3)]
    assert len(left) == len(steps.velocities.values)
    for (_, right), value in zip(lines(steps.latex(), 3), steps.velocities.values.values(), strict=True):
        kept = [c for part in value.values() for c in part if c > 1]
        found, names = values_of(steps, [*kept, 0][: len(kept)] or [0])
        units = {x: 1.0 for x in re.findall(r"\\hat\{\\mathbf\{\w\}\}_\{(?:\d|\\text\{[^{}]*\})\}", right)}
        assert len(units) == len(set(units)) and (len(kept) == right.count(r"\hat"))
        joined = re.sub(r"\\right\) \\hat", r"\\right) \\, \\hat", right)
        assert latex_value(joined, names | units) == pytest.approx(float(sum(found)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", BUILD)
def test_the_fragment_is_closed(name):
    text = work_out(kane_equations(BUILD[name]())).latex()
    plain = re.sub(r"\\[{}]", "", text)
    depth = 0
    for c in plain:
        depth += (c == "{") - (c == "}")
        assert depth >= 0
    assert depth == 0
    assert re.findall(r"\\begin\{(.*?)\}", text) == re.findall(r"\\end\{(.*?)\}", text)
    for row in text.split("\\\\\n"):  # an automatic parenthesis closes in its line
        assert row.count(r"\left") == row.count(r"\right")
    assert text.count(r"\bigl(") == text.count(r"\bigr)")
    assert [int(n) for n in re.findall(r"\\subsection\*\{(\d)\.", text)] == list(range(1, 10))
    assert "\\begin{align*}\n\n" not in text


@pytest.mark.parametrize(
    "text",
    ["a - (b - c)", "-(a + b)*c", "a/(b*c)", "a/b/c", "a/(b/c)", "(a + b)/(a - c)", "a*(b + c)/4", "3*2*a", "2*3/4",
     "a**2*b", "sin(a)**2*cos(b + c)", "-a**2", "(-a)**2", "(a/b)**2", "sqrt(a + b)**3", "a - -b", "1/a", "-2/(3*a)"],
)  # fmt: skip
def test_formulas_are_typeset_with_their_values(text):
    values = {"a": 0.7, "b": 1.3, "c": 0.4}
    tree = parse(text)
    want = float(tree.evaluate(values)) if hasattr(tree, "evaluate") else float(tree)
    if hasattr(tree, "evaluate"):
        assert latex_value(formula_latex(tree), values) == pytest.approx(want)
        assert latex_value(" ".join(formula_pieces(tree)), values) == pytest.approx(want)


def test_odd_names_are_escaped():
    s = System("odd")
    q = s.coordinates("q_a")
    m = s.parameters("m_1")
    A = s.N.orient_new_axis("A_arm", 3, q)
    s.particle("P_1", s.O.locate_new("P_1", 2 * A.x), m)
    text = work_out(kane_equations(s.mechanism())).latex()
    assert r"\hat{\mathbf{y}}_{\text{A\_arm}}" in text and r"\mathbf{v}^{\text{P\_1}}" in text and "m_{1}" in text


def test_abbreviations_are_defined_and_used_in_all_steps():
    robot = runpy.run_path(str(EXAMPLES / "rp_robot.py"))["build"]().mechanism()
    steps = work_out(kane_equations(robot), abbreviations={"x": "LP + q2 - L/2"})
    text = steps.latex()
    first, *_ = text.partition(r"\subsection")
    assert r"x &= \mathrm{LP} + q_{2} - \frac{L}{2}" in first
    velocity = next(line for line in text.splitlines() if r"\mathbf{v}^{B*} &=" in line)
    assert velocity.count("x") == 1 and "q_{2}" not in velocity
