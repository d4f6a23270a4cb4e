"""The explicit model in the page against the Python model: equations, values, levels, constants."""

from __future__ import annotations

import numpy as np
import pytest

from browser.mathml_value import Reader, equation, key, value
from kane.equations.derive import derive_task
from kane.explicit.abbreviate import abbreviate
from kane.explicit.evaluate import Waves, constant_values, expression_value, gravity, mass_matrix
from kane.explicit.model import explicit_model
from kane.explicit.ranges import default_ranges
from kane.graph.evaluate import evaluate
from kane.mechanism.formula import parse

MATHS = "[...x.querySelectorAll('math')].map((m) => new XMLSerializer().serializeToString(m))"
ELEMENTS = f"() => [...document.querySelectorAll('#elements [data-element]')].map((x) => [x.dataset.element, {MATHS}])"
STEPS = f"() => [...document.querySelectorAll('#steps [data-text]')].map((x) => [x.dataset.text, {MATHS}])"
CARD = f"() => {{ const x = document.getElementById('constant-card'); return {MATHS}; }}"
SHARES = (
    "() => [...document.querySelector('#elements .bars').querySelectorAll('.value')]"
    ".map((x) => parseFloat(x.textContent))"
)
TASK = (
    "(name) => { const x = [...document.querySelectorAll('#equations details')]"
    f".find((d) => d.querySelector('summary').textContent.startsWith(name));"
    f" x.open = true; kane.open(x); return {MATHS}; }}"
)
OPEN_STEPS = "() => document.querySelectorAll('#steps details').forEach((d) => { d.open = true; kane.open(d); })"


@pytest.fixture(scope="module")
def model(mechanisms):
    return explicit_model(mechanisms("puma560"))


@pytest.fixture(scope="module")
def levels(model):
    ranges = default_ranges(model)
    return [model, *(abbreviate(model, x, "paper", ranges) for x in (0.01, 0.05))]


def tab(page, matrix):
    page.page.locator(f"#matrix-{matrix}").click()


def test_equations_have_the_values_of_the_model(view, model):
    page = view("puma560")
    q = np.array([0.3, -0.7, 1.1, 0.4, -0.9, 0.2])
    names = dict(zip(model.symbol_names, q, strict=True))
    constants = constant_values(model)
    names |= {c.name: x for c, x in zip(model.constants, constants, strict=True)}
    waves = Waves(q)
    n = model.n
    cells = {"A": {f"a{i + 1}{j + 1}": model.A[i][j] for i in range(n) for j in range(i, n)}}
    cells["B"] = {
        f"b{i + 1},{a + 1}{b + 1}": model.B[i][k] for i in range(n) for k, (a, b) in enumerate(model.b_columns)
    }
    cells["C"] = {f"c{i + 1}{j + 1}": model.C[i][j] for i in range(n) for j in range(n)}
    cells["g"] = {f"g{i + 1}": model.g[i] for i in range(n)}
    page.run("() => kane.setLevel(0)")
    for matrix, expected in cells.items():
        tab(page, matrix)
        shown = page.run(ELEMENTS)
        assert [label for label, _ in shown] == [label for label, e in expected.items() if e]
        for label, texts in shown:
            _, right = equation(texts)
            assert Reader(names).value(right) == pytest.approx(
                float(expression_value(expected[label], constants, waves)), rel=1e-12, abs=1e-15
            ), label


def test_the_slider_changes_equations_and_counts_as_the_model_does(view, levels, model):
    page = view("puma560")
    q = [0.3, -0.7, 1.1, 0.4, -0.9, 0.2]
    slider = page.page.locator("#level")
    slider.focus()
    page.page.keyboard.press("Home")
    for k, level in enumerate(levels):
        if k:
            slider.focus()
            page.page.keyboard.press("ArrowRight")
        now = level.model if k else level
        counts = page.run("() => kane.explicit.counts()")
        if k:
            assert counts == level.counts.as_dict()
            assert page.run("() => kane.explicit.tolerance()") == level.tolerance
            assert f"{level.counts.total} operations" in page.page.locator("#level-title").text_content()
        for matrix, expected in (("A", mass_matrix(now, q)), ("g", gravity(now, q)[:, None])):
            for i, j in np.ndindex(expected.shape):
                found = page.run("([m, i, j, q]) => kane.explicit.value(m, i, j, q)", [matrix, i, j, q])
                assert found == pytest.approx(expected[i, j], rel=1e-12, abs=1e-14)
        tab(page, "g")
        assert page.run("() => kane.explicit.shown()") == [f"g{i + 1}" for i, e in enumerate(now.g) if e]
    totals = [page.run("(k) => { kane.setLevel(k); return kane.explicit.counts().total; }", k) for k in range(3)]
    assert totals == sorted(totals, reverse=True) and len(set(totals)) == 3
    page.run("() => kane.setLevel(0)")


def test_a_constant_says_where_it_is_from_and_where_it_occurs(view, model):
    page = view("puma560")
    tab(page, "A")
    index = next(k for k, c in enumerate(model.constants) if c.name == "I5")
    page.page.locator(f"button[data-constant='{index}']").click()
    card = page.page.locator("#constant-card").text_content()
    assert "link3" in card and "link2" not in card
    assert "0.372123081" in card
    upper = [(i, j) for i in range(6) for j in range(i, 6)]
    assert all(f"a{i + 1}{j + 1}" in card for i, j in upper if any(t.constant == index for t in model.A[i][j]))
    lit = page.run("() => [...document.querySelectorAll('#elements .lit')].map((x) => x.textContent)")
    assert len(lit) == sum(t.constant == index for i, j in upper for t in model.A[i][j])
    formula = page.run(CARD)
    _, right = equation(formula)
    names = {a.name: a.value for a in model.atoms.atoms if a.formula.op == "name"}
    assert Reader(names).value(right) == pytest.approx(model.constants[index].value, rel=1e-9)


def test_every_matrix_can_be_seen(view):
    page = view("puma560")
    for matrix in "BCgA":
        tab(page, matrix)
        assert page.page.locator("#elements").is_visible()
        assert page.page.locator("#elements li").first.is_visible()
        assert page.run("() => document.getElementById('matrix-panel').getAttribute('aria-labelledby')") == (
            f"matrix-{matrix}"
        )


def test_significance_bars_are_sorted_shares(view):
    page = view("puma560")
    tab(page, "A")
    page.run("() => document.querySelector('[name=elements-mode][value=significance]').click()")
    shares = page.run(SHARES)
    assert shares[0] == 100 and shares == sorted(shares, reverse=True) and len(shares) > 5
    page.run("() => document.querySelector('[name=elements-mode][value=equations]').click()")


def test_task_equations_are_mathml_with_their_values(view, mechanisms):
    """gravity_forces of the page, read back line by line, against the program."""
    page, m = view("puma560"), mechanisms("puma560")
    q = np.array([0.3, -0.7, 1.1, 0.4, -0.9, 0.2])
    names = {f"q{k + 1}": x for k, x in enumerate(q)}
    for text in page.run(TASK, "gravity_forces"):
        left, right = equation([text])
        end = next((k for k, x in enumerate(right) if x.tag == "mo" and x.text == "="), len(right))
        names[key(left[0])] = Reader(names).value(right[:end])
    expected = evaluate(derive_task(m, "gravity_forces").program, {"q": q})
    (name, array), = expected.items()
    for k, x in enumerate(array):
        found = [v for label, v in names.items() if label in (f"{name}{k + 1}", f"{name}_{k + 1}")]
        assert found and found[0] == pytest.approx(x, rel=1e-12, abs=1e-12)


def test_equations_of_a_humanoid_are_typeset_when_opened_with_their_values(view, mechanisms):
    """The first of thousands of lines, read back one after another, against the program's own values."""
    page, m = view("humanoid"), mechanisms("humanoid")
    program = derive_task(m, "inverse_dynamics").program
    random = np.random.default_rng(8)
    arrays = {item.name: random.uniform(-1, 1, item.size) for item in program.inputs}
    named = {x: v for item in program.inputs for x, v in zip(item.labels, arrays[item.name], strict=True)}
    page.run("() => { const d = document.querySelector('[data-late=inverse_dynamics]').parentElement;"
             " d.open = true; kane.open(d); }")  # fmt: skip
    more = (
        "() => { const b = document.querySelector('[data-late=inverse_dynamics] button:not([hidden])');"
        " if (b) b.click(); return b !== null; }"
    )
    lines = "() => document.querySelectorAll('[data-late=inverse_dynamics] .equations > div').length"
    first = page.run(lines)
    assert first <= 600
    while page.run(more):
        pass
    assert page.run(lines) > 2 * first
    rows = page.run("() => [...document.querySelectorAll('[data-late=inverse_dynamics] .equations math')]"
                    ".map((m) => new XMLSerializer().serializeToString(m))")  # fmt: skip
    names = dict(named)
    for text in rows:
        left, right = equation([text])
        end = next((k for k, x in enumerate(right) if x.tag == "mo" and x.text == "="), len(right))
        names[key(left[0])] = Reader(names).value(right[:end])
    tau = evaluate(program, arrays)["tau"]
    found = [names[f"τ{k + 1}"] for k in range(len(tau))]
    assert np.allclose(found, tau, rtol=1e-9, atol=1e-9)


def test_steps_are_typeset_with_their_values(view, mechanisms):
    """Formulas of the steps, read back, against the formulas as text."""
    page = view("two_link")
    page.run(OPEN_STEPS)
    random = np.random.default_rng(2)
    checked = zero = 0
    for text, parts in page.run(STEPS):
        left, equals, right = text.partition(" = ")
        if (equals and right != "0") or not left.strip("0"):
            continue
        formula = parse(left.replace("'", "_dot"))
        names = {n: float(x) for n, x in zip(sorted(formula.names()), random.uniform(0.5, 2, 40), strict=False)}
        typeset = names | {n[0] + "d" + n[1:-4]: x for n, x in names.items() if n.endswith("_dot")}  # a dot above
        found = Reader(typeset).value(equation(parts)[0]) if equals else value(parts, typeset)
        assert found == pytest.approx(formula.evaluate(names), rel=1e-12), text
        checked += 1
        zero += bool(equals)
    assert checked > 5 and zero == 2

