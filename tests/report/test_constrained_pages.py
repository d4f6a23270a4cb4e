"""Pages of mechanisms with constraints, and of those whose speeds are rates under other names."""

import json
from dataclasses import replace

import pytest

from kane.equations.projection import kane_equations
from kane.equations.steps import work_out
from kane.errors import InputError
from kane.explicit.model import explicit_model
from kane.formats import write_toml
from kane.kinematics.plain_speeds import speeds_as_rates
from kane.mechanism.builder import System, dot
from kane.report import Options, build_report, render
from kane.report.sections.poles import poles_at_rest
from kane.report.sections.recursion import recursive_steps
from kane.report.sections.steps import kane_steps

QUICK = Options(tolerances=(), targets=("c",), base=False, count_explicit=False)


def skate(links=1):
    """A body on a knife edge; more links: a chain of pendulums behind it."""
    s = System("skate")
    x, y = s.coordinates("x y")
    names = [f"a{k}" for k in range(links)]
    angles = s.coordinates(" ".join(names))
    point = s.O.locate_new("P", x * s.N.x + y * s.N.y)
    start = point
    for k, angle in enumerate([angles] if links == 1 else angles):
        frame = s.N.orient_new_axis(f"B{k}", 3, angle)
        s.body(f"B{k}", frame, point.locate_new(f"B{k}*", frame.x * 0.3), 2, (0.1, 0.1, 0.2))
        if k == 0:
            s.nonholonomic("blade", s.velocity(start, s.N, frame.y))
        point = point.locate_new(f"P{k}", frame.x)
    return s.mechanism()


def pendulums(speeds=""):
    s = System("pendulums")
    q1, q2 = s.coordinates("q1 q2")
    rate = dot(q1)
    if speeds == "same":
        rate, _ = s.speeds(u1=dot(q1), u2=dot(q2))
    if speeds == "swapped":
        _, rate = s.speeds(u1=dot(q2), u2=dot(q1))
    A = s.N.orient_new_axis("A", 3, q1)
    B = A.orient_new_axis("B", 3, q2)
    P1 = s.O.locate_new("P1", A.x)
    s.particle("P1", P1, 1.5)
    s.particle("P2", P1.locate_new("P2", B.x * 0.5), 0.7)
    s.gravity(-9.81 * s.N.x)
    s.torque("damper", A, -0.3 * rate * A.z)
    return s.mechanism()


def test_the_page_has_the_constraints_and_no_advice_that_leaves_them_out():
    m = skate()
    text = render(build_report(m, QUICK))
    steps = kane_steps(work_out(kane_equations(m)))
    rows = {step.number: table["rows"] for step, table in zip(steps.steps, steps.data["tables"], strict=True)}
    assert any(row[0] == "blade" and row[1]["f"].endswith(" = 0") for row in rows[2])
    assert [row[0] for row in rows[8]] == ["r = 1", "r = 2", "r = 3", "blade (lambda1)"]
    assert "λ_i" in steps.steps[7].explained and "λ_i" in text
    assert "Use &#39;kane derive&#39;" not in text and "Use 'kane derive'" not in text
    assert text.count("constraints are no part of them") >= 2  # counts, equations


def test_the_explicit_model_names_what_has_constraints():
    with pytest.raises(InputError, match="blade") as error:
        explicit_model(skate())
    assert "Kane's steps" in str(error.value) and "kane simulate" in str(error.value)


def test_steps_from_body_to_body_do_not_leave_constraints_out():
    with pytest.raises(InputError, match="blade"):
        recursive_steps(skate(links=6))
    (section,) = build_report(skate(links=6), Options(only=frozenset({"steps"}))).sections
    assert len(section.steps) == 9 and section.steps[7].rows == 8 + 1
    (section,) = build_report(skate(links=8), Options(only=frozenset({"steps"}))).sections
    assert "blade" in section.why


def repeated(motion):
    return json.dumps(motion.recordings, default=repr)


@pytest.mark.parametrize("speeds", ["same", "swapped"])
def test_speeds_that_are_rates_keep_the_parts_of_the_page(speeds):
    """Values are those without declared speeds; the loads say the same."""
    plain, named = pendulums(), pendulums(speeds)
    parts = frozenset({"explicit", "motion", "maps", "poles"})
    wanted, found = (build_report(m, Options(tolerances=(), count_explicit=False, only=parts)) for m in (plain, named))
    for a, b in zip(wanted.sections, found.sections, strict=True):
        assert type(a) is type(b), b
    assert json.dumps(found.sections[2].data) == json.dumps(wanted.sections[2].data)
    assert found.sections[3].data == wanted.sections[3].data != poles_at_rest(replace(plain, loads=())).data
    assert repeated(found.sections[1]) == repeated(wanted.sections[1])
    a, b = explicit_model(plain), explicit_model(named)
    assert [c.name for c in a.constants] == [c.name for c in b.constants]
    assert len(b.notes) == len(a.notes) + 2
    assert write_toml(speeds_as_rates(named)) == write_toml(plain)


def test_other_speeds_stay():
    s = System("sum")
    q1, q2 = s.coordinates("q1 q2")
    s.speeds(u1=dot(q1), u2=dot(q1) + dot(q2))
    A = s.N.orient_new_axis("A", 3, q1)
    B = A.orient_new_axis("B", 3, q2)
    s.particle("P", s.O.locate_new("P1", A.x).locate_new("P", B.x), 1)
    m = s.mechanism()
    assert speeds_as_rates(m) is m
    with pytest.raises(InputError, match="u1"):
        explicit_model(m)
