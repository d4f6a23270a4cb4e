"""Counts of Christoffel symbols on other arms, the grouped two-link arm, JSON text that can be read back, forms."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from kane import robots
from kane.explicit import evaluate as ev
from kane.explicit.model import ExplicitModel, explicit_model
from kane.explicit.program import graph_of, program
from kane.explicit.size import count_terms
from kane.explicit.text import as_dict, columns_text, element_text
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program
from kane.mechanism.formula import number, parse
from kane.mechanism.model import Inertia, Joint, Link, Mechanism
from kane.robots.generated import chain, tree


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_general_serial_arm(n: int) -> None:
    """Of n^2 (n + 1) / 2 symbols the general relations leave n (n^2 - 1) / 3."""
    report = explicit_model(chain(n, seed=n + 20, skew=n < 4)).christoffel
    assert report.total == n * n * (n + 1) // 2
    assert report.total - next(iter(report.removed.values())) == n * (n * n - 1) // 3


def test_branches_share_nothing() -> None:
    """Two branches on a trunk: elements between them vanish, and the relations know it."""
    model = explicit_model(tree(5, branching=2, seed=3, skew=False))
    above = {0: {0}, 1: {0, 1}, 2: {0, 2}, 3: {0, 1, 3}, 4: {0, 1, 4}}
    for i in range(5):
        for j in range(i + 1, 5):
            related = i in above[j]
            assert bool(model.A[i][j]) <= related
    assert model.A[1][2] == model.A[3][4] == ()
    assert model.christoffel.unique <= model.christoffel.total - sum(list(model.christoffel.removed.values())[:3])


def test_planar_arm_is_written_in_differences_of_angles() -> None:
    """Three parallel axes: a11 needs one cosine for each pair of links and none of its own angle."""
    body = Inertia(Fraction(3), (Fraction(1, 5), Fraction(0), Fraction(0)), tuple(map(Fraction, (0, 0, 0, 0, 0, 1))))  # type: ignore[arg-type]
    from kane.mechanism.model import Translate

    step = (Translate((Fraction(1, 2), Fraction(0), Fraction(0))),)
    links = (Link("base"), *(Link(f"link{k}", body) for k in (1, 2, 3)))
    joints = tuple(
        Joint(f"q{k}", "revolute", "base" if k == 1 else f"link{k - 1}", f"link{k}", step if k > 1 else ())
        for k in (1, 2, 3)
    )
    gravity = (Fraction(0), Fraction(-981, 100), Fraction(0))
    model = explicit_model(Mechanism("planar", links, joints, gravity=gravity))
    text = element_text(model, model.A[0][0])
    assert {w for w in ("cos(q2)", "cos(q3)", "cos(q2+q3)") if w in text} == {"cos(q2)", "cos(q3)", "cos(q2+q3)"}
    assert sum(bool(t.factors) for t in model.A[0][0]) == 3
    assert "cos(q1+q2+q3)" in element_text(model, model.g[2])
    removed = list(model.christoffel.removed.values())
    assert removed[2] > 0 and model.christoffel.unique == 3


def test_two_link_arm_in_five_constants() -> None:
    """m2 l1 r2 and the two inertias, m1 r1 + m2 l1 and m2 r2; values at one state, from the closed form."""
    model = explicit_model(robots.load("two_link"))
    constants = as_dict(model)["constants"]
    inertia = sorted(c["value"] for c in constants if c["kind"] == "inertia")
    gravity = sorted(c["value_over_g"] for c in constants if c["kind"] == "gravity")
    np.testing.assert_allclose(inertia, [0.07536, 0.126, 0.4968], rtol=1e-12)
    np.testing.assert_allclose(gravity, [0.252, 1.14], rtol=1e-12)
    q = np.array([0.7, -1.1])
    np.testing.assert_allclose(
        ev.mass_matrix(model, q), [[0.686466222599, 0.1325131113], [0.1325131113, 0.07536]], atol=1e-9
    )
    np.testing.assert_allclose(ev.b_matrix(model, q)[:, 0], [0.224584254735, 0.0], atol=1e-9)
    np.testing.assert_allclose(ev.c_matrix(model, q), [[0, 0.112292127368], [-0.112292127368, 0]], atol=1e-9)
    np.testing.assert_allclose(ev.gravity(model, q), [10.830509421772, 2.276973304494], atol=1e-9)


def test_three_joint_example_of_murray_and_neuman() -> None:
    """a11 = I1 + I2 c2^2 + I3 c2 c23 + I4 c23^2 with I1 computed off line."""
    model = explicit_model(robots.load("elbow3"))
    terms = model.A[0][0]
    assert [len(t.factors) for t in terms].count(0) == 1 and len(terms) == 4
    assert all(s == 0 for t in terms for _, _, s in t.factors)


def read_back(model: ExplicitModel, text: str, q: np.ndarray) -> float:
    values = {c.name: v for c, v in zip(model.constants, ev.constant_values(model), strict=True)}
    return number(parse(text), values | dict(zip(model.symbol_names, q, strict=True)))


@pytest.mark.parametrize("name", ["puma560", "stanford", "scara"])
def test_json_strings_are_the_elements(name: str) -> None:
    model = explicit_model(robots.load(name))
    made = as_dict(model, {"inverse_dynamics": program(model, "mass_matrix").counts})
    json.dumps(made, allow_nan=False)
    assert made["B_columns"] == columns_text(model) and len(made["B_columns"]) == model.n * (model.n - 1) // 2
    q = np.random.default_rng(8).uniform(-1, 1, model.n)
    a, b, c, g = (f(model, q) for f in (ev.mass_matrix, ev.b_matrix, ev.c_matrix, ev.gravity))
    for i in range(model.n):
        assert read_back(model, made["g"][i], q) == pytest.approx(g[i], abs=1e-12)
        for j in range(model.n):
            assert read_back(model, made["A"][i][j], q) == pytest.approx(a[i, j], abs=1e-12)
            assert read_back(model, made["C"][i][j], q) == pytest.approx(c[i, j], abs=1e-12)
        for k in range(len(model.b_columns)):
            assert read_back(model, made["B"][i][k], q) == pytest.approx(b[i, k], abs=1e-12)


def test_expressions_for_printers() -> None:
    model = explicit_model(robots.load("elbow3"))
    graph, refs = graph_of(model)
    names = [c.name for c in model.constants]
    inputs = [Input("q", model.symbol_names), Input("p", tuple(names), "parameter")]
    made = build_program(graph, "A", inputs, [("A", (3, 3), refs["A"])])
    q = np.array([0.3, -0.8, 0.4])
    found = evaluate(made, {"q": q, "p": ev.constant_values(model)})["A"]
    np.testing.assert_allclose(found, ev.mass_matrix(model, q), atol=1e-14)


@pytest.mark.parametrize("style", ["powers", "harmonics"])
def test_either_form_may_be_asked_for(style: str) -> None:
    plain = explicit_model(robots.load("elbow3"))
    other = explicit_model(robots.load("elbow3"), style=style)  # type: ignore[arg-type]
    q = np.random.default_rng(3).normal(size=(5, 3))
    np.testing.assert_allclose(ev.mass_matrix(other, q), ev.mass_matrix(plain, q), atol=1e-13)
    powers = [c + s for row in other.A for e in row for t in e for _, c, s in t.factors]
    assert max(powers) == (1 if style == "harmonics" else 2)


def test_size_is_an_upper_bound() -> None:
    """Keys that can be there, against keys that are there in a general arm (canonical in single angles)."""
    from kane.explicit.algebra import Atoms
    from kane.explicit.arm import read_arm
    from kane.explicit.energy import energy

    for mechanism in (
        chain(4, seed=2, skew=False),
        robots.load("stanford"),
        tree(4, types=("revolute", "prismatic"), seed=1),
    ):
        atoms = Atoms({p.name: p.value for p in mechanism.parameters})
        arm = read_arm(mechanism, atoms, ())
        a, _ = energy(arm, atoms)
        keys = sum(len(a[i][j]) for i in range(len(a)) for j in range(i, len(a)))
        assert keys <= count_terms(arm) <= 1.6 * keys + 10


@pytest.mark.parametrize("branches", [5, 6, 12])  # 15 steps, the most that fit 64 bits, and more
def test_branches_are_counted_each_for_itself(branches: int) -> None:
    from dataclasses import replace

    from kane.explicit.algebra import Atoms
    from kane.explicit.arm import read_arm

    arm = read_arm(robots.load("elbow3"), Atoms({}), ())
    n = len(arm.steps)
    steps = tuple(
        replace(s, parent=s.parent + n * k if s.parent >= 0 else s.parent, coordinate=s.coordinate + n * k)
        for k in range(branches)
        for s in arm.steps
    )
    assert count_terms(replace(arm, steps=steps)) == branches * count_terms(arm)


@pytest.mark.parametrize("n", [9, 14, 20])
def test_the_count_of_a_long_chain_stops(n: int) -> None:
    from kane.explicit.algebra import Atoms
    from kane.explicit.arm import read_arm

    mechanism = chain(n, seed=1, skew=False)
    assert count_terms(read_arm(mechanism, Atoms({p.name: p.value for p in mechanism.parameters}), ())) is None


def test_output_does_not_depend_on_the_hash_seed() -> None:
    import subprocess
    import sys

    code = (
        "from kane import robots\nfrom kane.explicit.model import explicit_model\nfrom kane.explicit.text import page\n"
        "print(page(explicit_model(robots.load('puma560'))))"
    )
    run = lambda seed: subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
    )
    assert run("1").stdout == run("2").stdout
