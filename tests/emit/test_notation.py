"""LaTeX, MathML and SymPy: what is printed has the value of the expression."""

from __future__ import annotations

import math
import re
import sys
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.emit import emit
from kane.emit.latex import expression_latex
from kane.emit.mathml import expression_mathml, name_mathml
from kane.emit.sympy_ import program_to_sympy, to_sympy
from kane.errors import MissingExtraError
from kane.graph.arena import Graph
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program
from kane.mechanism.display import display
from kane.mechanism.latex import name_latex

sys.path.insert(0, str(Path(__file__).parent))
from emit_models import all_functions, two_link

VALUES = {"q2": 0.3, "qd_elbow": -0.7, "m_{1}": 1.1, "theta": 0.9, "x^a": 1.7}
CORE = set("math mrow mi mn mo mtext mfrac msqrt msub msup msubsup mover mtable mtr mtd".split())
OPERATORS = {"+": "+", "\u2212": "-", "\u2062": "*", "\u22c5": "*", "\u2061": "", "(": "(", ")": ")", ",": ","}
FUNCTIONS = {
    **{n: getattr(math, n) for n in "sin cos tan exp sinh cosh tanh atan2".split()},
    "arcsin": math.asin, "arccos": math.acos, "arctan": math.atan, "ln": math.log, "min": min, "max": max, "π": math.pi,
    "sgn": lambda x: (x > 0) - (x < 0), "abs": abs, "sqrt": math.sqrt, "select": lambda c, a, b: a if c > 0 else b,
}  # fmt: skip


def python_of(element, names):
    """A MathML element as a Python expression; `names` maps the serialised form of names to Python names."""
    tag = element.tag.split("}")[1]
    assert tag in CORE and set(element.attrib) <= {"display", "accent", "rspace"}
    inner = ElementTree.tostring(element, encoding="unicode")
    inner = re.sub(r' xmlns:ns0="[^"]*"|ns0:', "", inner)
    if inner in names:
        return names[inner]
    kids = list(element)
    match tag:
        case "mn" | "mi":
            return element.text
        case "mo":
            return OPERATORS[element.text]
        case "mfrac":
            return f"(({python_of(kids[0], names)})/({python_of(kids[1], names)}))"
        case "msqrt":
            return f"sqrt({''.join(python_of(k, names) for k in kids)})"
        case "msup":
            return f"(({python_of(kids[0], names)})**({python_of(kids[1], names)}))"
        case "mrow" if kids[0].text == "|":
            return f"abs({python_of(kids[1], names)})"
        case "mrow" if kids[0].text == "{":
            (a, c), (b, _) = kids[1]
            return f"select({python_of(c[0][0], names)}, {python_of(a[0], names)}, {python_of(b[0], names)})"
        case _:
            return "".join(python_of(k, names) for k in kids)


def mathml_value(text, values):
    """The value of a printed <math> element; a table is evaluated row by row."""
    names = {name_mathml(user): f"n{k}" for k, user in enumerate(values)}
    scope = {**FUNCTIONS, **{f"n{k}": v for k, v in enumerate(values.values())}}
    root = ElementTree.fromstring(text)
    body = root[0]
    if body.tag.endswith("mtable"):
        for row in body:
            name, _, formula = row
            value = eval(python_of(formula[0], names), scope)
            if len(name):
                key = re.sub(r' xmlns:ns0="[^"]*"|ns0:', "", ElementTree.tostring(name[0], encoding="unicode"))
                names[key] = f"v{len(names)}"
                scope[names[key]] = value
        return value
    return eval(python_of(body, names), scope)


def random_expression(data, size):
    g = Graph()
    pool = [g.symbol(n, "parameter" if n.startswith("m") else "state") for n in VALUES]
    pool += [g.number(Fraction(n, d)) for n, d in ((7, 5), (1, 3), (1, 10**5))] + [g.pi(), g.sqrt(g.number(5))]
    for _ in range(data.draw(st.integers(1, size))):
        a, b = (data.draw(st.sampled_from(pool)) ^ data.draw(st.integers(0, 1)) for _ in range(2))
        op = data.draw(st.sampled_from(("add", "mul", "div", "sin", "cos", "sub", "tanh", "abs")))
        if op == "div":
            pool.append(g.div(a, g.add(g.number(2), g.sin(b))))
        elif op in ("tanh", "abs"):
            pool.append(g.function(op, a))
        else:
            pool.append(getattr(g, op)(a) if op in ("sin", "cos") else getattr(g, op)(a, b))
    state = [n for n in VALUES if not n.startswith("m")]
    program = build_program(
        g, "f", [Input("x", tuple(state)), Input("p", ("m_{1}",), "parameter")], [("r", (), (pool[-1],))]
    )
    want = evaluate(program, {"x": [VALUES[n] for n in state], "p": [VALUES["m_{1}"]]})["r"]
    return g, pool[-1], float(want)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_mathml_has_the_value_of_the_expression(data):
    g, ref, want = random_expression(data, 40)
    got = mathml_value(expression_mathml(g, ref), VALUES)
    assert math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-8)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_sympy_has_the_value_of_the_expression(data):
    sympy = pytest.importorskip("sympy")
    g, ref, want = random_expression(data, 12)
    got = to_sympy(g, ref).evalf(30, subs={sympy.Symbol(n): v for n, v in VALUES.items()})
    assert math.isclose(float(got), want, rel_tol=1e-9, abs_tol=1e-9)


def latex_value(text, values):
    """Evaluate the printer's LaTeX by turning it into Python; braces are balanced, so innermost groups go first."""
    for k, user in enumerate(values):
        text = text.replace(name_latex(user), f" n{k} ")
    text = text.replace(r"\left|", "abs(").replace(r"\right|", ")").replace(r"\left(", "(").replace(r"\right)", ")")
    text = text.replace(r"\cdot", "*").replace(r"\,", "*").replace(r"\pi", "π")
    while "{" in text:
        before = text
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
        text = re.sub(r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)", text)
        text = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", text)
        text = re.sub(r"(?<![}\w])\{([^{}]*)\}(?=\*\*)", r"(\1)", text)
        assert text != before, text
    text = re.sub(r"\\(sin|cos|tanh)", r"\1", text)
    return eval(text, {**FUNCTIONS, **{f"n{k}": v for k, v in enumerate(values.values())}})


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_latex_has_the_value_of_the_expression(data):
    g, ref, want = random_expression(data, 8)
    text = expression_latex(g, ref)
    if "aligned" not in text:
        assert math.isclose(latex_value(text, VALUES), want, rel_tol=1e-9, abs_tol=1e-8)


def test_names_are_typeset():
    assert [name_latex(n) for n in ("q2", "qd_elbow", "qdd1", "theta_1", "m_{pt}", "x^a", "Ixx3", "λ")] == [
        "q_{2}", r"\dot{q}_{\mathrm{elbow}}", r"\ddot{q}_{1}", r"\theta_{1}", r"m_{\mathrm{pt}}", "x^{a}",
        r"\mathrm{Ixx}_{3}", r"\lambda",
    ]  # fmt: skip
    assert name_mathml("qd2") == '<msub><mover accent="true"><mi>q</mi><mo>˙</mo></mover><mn>2</mn></msub>'
    assert name_mathml("x_{1}^a") == "<msubsup><mi>x</mi><mn>1</mn><mi>a</mi></msubsup>"
    assert name_mathml("theta") == "<mi>θ</mi>" and name_mathml("a<b") == "<mi>a&lt;b</mi>"
    assert name_latex("3rd.link") == r"\text{3rd.link}"
    assert name_latex("a&b_c%") == r"\text{a\&b\_c\%}"
    assert display("q_x_{1}").below == "x,1"


def test_all_functions_are_printed():
    program = all_functions()
    given = {"w": [0.4, -0.9, 1.7, 0.0]}
    want = evaluate(program, given)["out"]
    sympy = pytest.importorskip("sympy")
    values = dict(zip(("x", "y", "z"), given["w"], strict=False))
    subs = {sympy.Symbol(n): v for n, v in values.items()}
    got = [float(e.evalf(20, subs=subs)) for e in program_to_sympy(program)["out"]]
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)
    page = emit([program], "mathml", "f")["f.html"]
    rows = re.findall(r"<math .*?</math>", page)
    names: dict[str, str] = {name_mathml(n): n for n in values}
    scope = {**FUNCTIONS, **values}
    results = []
    for row in rows:
        left, _, right, *_ = ElementTree.fromstring(row)[0]
        key = re.sub(r' xmlns:ns0="[^"]*"|ns0:', "", ElementTree.tostring(left, encoding="unicode"))
        results.append(eval(python_of(right, names), scope))
        if "<mi>out</mi>" not in key:
            names[key] = f"k{len(names)}"
            scope[names[key]] = results[-1]
    np.testing.assert_allclose(results[-want.size - 1 : -1], want, rtol=1e-12, atol=1e-15)
    for text in (page, *emit([program], "latex", "f").values()):
        assert "everything" in text


@pytest.mark.parametrize("target", ["latex", "mathml"])
def test_documents(target):
    (text,) = emit(two_link(("m1",), ("lambda", "x_{1}")), target, "a & b", notes=("50 % <sure>",)).values()
    assert "inverse" in text and text.endswith("\n")
    assert ("a &amp; b" in text and "50 % &lt;sure&gt;" in text) if target == "mathml" else r"a \& b" in text
    if target == "latex":
        assert text.count("{") == text.count("}") and r"\lambda" in text and r"\begin{align*}" in text


def test_missing_sympy(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    g = Graph()
    with pytest.raises(MissingExtraError, match=r"kane\[sympy\]"):
        to_sympy(g, g.symbol("x"))


def test_every_target_is_documented_and_has_a_module():
    from kane.emit import TARGETS

    assert sorted(TARGETS) == ["c", "casadi", "jax", "julia", "latex", "mathml", "matlab", "numpy", "rust", "text"]
    assert all(TARGETS[name].name == name and type(TARGETS[name]).__doc__ for name in TARGETS)
