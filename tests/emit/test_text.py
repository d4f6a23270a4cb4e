"""Text: minimal parentheses, the user's names, values that come back when the text is evaluated."""

from __future__ import annotations

import math
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.emit import emit
from kane.emit.text import expression_text
from kane.graph.arena import Graph
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program

sys.path.insert(0, str(Path(__file__).parent))
from emit_models import all_functions, two_link

SCOPE = {
    **{n: getattr(math, n) for n in "sin cos tan asin acos atan atan2 exp log sinh cosh tanh".split()},
    "sqrt": math.sqrt, "pi": math.pi, "abs": abs, "min": min, "max": max, "pow": pow,
    "sign": lambda x: (x > 0) - (x < 0), "select": lambda c, a, b: a if c > 0 else b,
}  # fmt: skip


def run(text: str, values: dict[str, float]) -> dict[str, float]:
    """Evaluate lines `name = formula [= number]` as a reader would; a last line without a name is called result."""
    scope = dict(values)
    for line in text.splitlines():
        parts = [p.strip() for p in line.split(" = ")]
        name, formula = (parts[0], parts[1]) if len(parts) > 1 else ("result", parts[0])
        scope[name] = eval(formula.replace("^", "**"), {**SCOPE, **{k: v for k, v in scope.items() if "[" not in k}})
    return scope


def test_minimal_parentheses():
    g = Graph()
    a, b, c = (g.symbol(n, "parameter") for n in "abc")
    q2, q3 = g.symbol("q2"), g.symbol("q3")
    half = g.number(Fraction(1, 2))
    cases = {
        "a + b - c": g.sub(g.add(a, b), c),
        "a - b - c": g.sub(a, g.add(b, c)),
        "a*(b - c)": g.mul(a, g.sub(b, c)),
        "-a*b": g.neg(g.mul(a, b)),
        "a - b*c": g.sub(a, g.mul(b, c)),
        "cos(q2 + q3)": g.cos(g.add(q2, q3)),
        "q2/(a + q3)": g.div(q2, g.add(a, q3)),
        "a*b^2": g.mul(a, g.mul(b, b)),
        "(a + q2)^2": g.mul(g.add(a, q2), g.add(a, q2)),
        "0.5*q2": g.mul(half, q2),
        "1/3": g.number(Fraction(1, 3)),
        "2*q2/3": g.mul(q2, g.number(Fraction(2, 3))),
        "q3 - q2/(3*a)": g.sub(q3, g.mul(g.div(g.one, a), g.mul(q2, g.number(Fraction(1, 3))))),
        "`a-b`": g.symbol("a-b"),
        "a/b": g.div(a, b),
        "q2*q3/(a*b)": g.mul(g.div(g.one, g.mul(a, b)), g.mul(q2, q3)),
        "-q2 - q3": g.neg(g.add(q2, q3)),
        "0": g.zero,
        "-1": g.neg(g.one),
    }
    assert {text: expression_text(g, ref) for text, ref in cases.items()} == {text: text for text in cases}


def test_large_expressions_get_numbered_intermediates():
    g = Graph()
    x = g.symbol("x")
    value = x
    for n in range(1, 60):
        value = g.add(g.mul(value, value), g.number(n))
    text = expression_text(g, value)
    lines = text.splitlines()
    assert len(lines) < 130 and max(map(len, lines)) < 80
    assert lines[0].startswith("v1 = ") and re.fullmatch(r"59 \+ v\d+\^2", lines[-1])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_text_has_the_value_of_the_expression(data):
    g = Graph()
    pool = [g.symbol("x"), g.symbol("y"), g.symbol("m", "parameter")]
    pool += [g.number(Fraction(7, 5)), g.number(Fraction(1, 3))]
    for _ in range(data.draw(st.integers(1, 40))):
        a, b = (data.draw(st.sampled_from(pool)) ^ data.draw(st.integers(0, 1)) for _ in range(2))
        op = data.draw(st.sampled_from(("add", "mul", "div", "sin", "cos", "sub")))
        if op == "div":
            pool.append(g.div(a, g.add(g.number(2), g.sin(b))))
        else:
            pool.append(getattr(g, op)(a) if op in ("sin", "cos") else getattr(g, op)(a, b))
    values = {"x": 0.3, "y": -0.7, "m": 1.1}
    inputs = [Input("x", ("x", "y")), Input("p", ("m",), "parameter")]
    want = evaluate(build_program(g, "f", inputs, [("r", (), (pool[-1],))]), {"x": [0.3, -0.7], "p": [1.1]})["r"]
    got = run(expression_text(g, pool[-1]), values)["result"]
    assert math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-9 * 2 ** 12)


@pytest.mark.parametrize("symbolic", [(), ("m1", "l2", "grav")])
def test_text_of_tasks_has_their_values(symbolic):
    programs = two_link(symbolic)
    text = emit(programs, "text", "arm", notes=("gravity along -y",))["arm.txt"]
    assert "- gravity along -y" in text and "(link 2: F*)" in text
    given = {"q": [0.4, -1.2], "qd": [0.3, 0.8], "qdd": [-0.5, 1.5], "p": [1.3, 0.31, 9.81][: len(symbolic)]}
    for program, part in zip(programs, text.split("== ")[1:], strict=True):
        assert f"{program.counts.total} operations" in part
        scope = {}
        for item in program.inputs:
            scope |= {re.sub(r"\W", "_", label): v for label, v in zip(item.labels, given[item.name], strict=True)}
        lines = [line for line in part.replace(".d", "_d").splitlines()[3:] if " = " in line and "= [" not in line]
        got = run("\n".join(lines), scope)
        for out in program.outputs:
            want = np.ravel(evaluate(program, given)[out.name])
            found = [got[k] for k in got if k == out.name or k.startswith(out.name + "[")]
            np.testing.assert_allclose(found, want, rtol=1e-12)


def test_text_of_all_functions():
    program = all_functions()
    text = emit([program], "text", "f")["f.txt"]
    lines = [line for line in text.splitlines()[4:] if " = " in line and "= [" not in line]
    got = run("\n".join(lines), {"x": 0.4, "y": -0.9, "z": 1.7})
    want = evaluate(program, {"w": [0.4, -0.9, 1.7, 0.0]})["out"]
    np.testing.assert_allclose([got[f"out[{k + 1}]"] for k in range(want.size)], want, rtol=1e-12, atol=1e-15)


def test_no_minus_before_a_sum_in_brackets_of_a_function() -> None:
    g = Graph()
    a, b = g.symbol("a"), g.symbol("b")
    for ref in (g.cos(g.sub(a, b)), g.sin(g.sub(b, a)), g.function("tanh", g.sub(a, b))):
        assert "(-(" not in expression_text(g, ref)
