"""What is printed reads back as the same function; long expressions get numbered intermediates."""

import runpy
from pathlib import Path

import pytest

from kane.equations.projection import kane_equations
from kane.equations.steps import expression, terms_of, work_out
from kane.equations.terms import Terms
from kane.kinematics.points import velocities
from kane.mechanism.builder import System, dot
from kane.robots import bundled

EXAMPLES = Path(__file__).parents[2] / "examples"


def two_link():
    return runpy.run_path(str(EXAMPLES / "two_link.py"))["build"](damping=True, tip_force=True)


def rp():
    return runpy.run_path(str(EXAMPLES / "rp_robot.py"))["build"]()


def cone():
    """A spatial mechanism with a quotient in its speeds."""
    s = System("cone")
    q1, q2 = s.coordinates("q1 q2")
    m, L = s.parameters("m L")
    A = s.N.orient_new_axis("A", 3, q1)
    B = A.orient_new_axis("B", 1, q2)
    s.body("B", B, s.O.locate_new("B*", B.vector(0, L, L / 2)), m, (1, 2, 3))
    s.speeds(u1=s.angular_velocity(B, s.N, B.z), u2=dot(q2))
    s.spring("spring", s.points["B*"], s.O.locate_new("H", s.N.z * 2), 5, 1)
    return s


@pytest.mark.parametrize("build", [two_link, rp, cone, lambda: bundled.load("elbow3")])
def test_formulas_read_back(build):
    built = build()
    e = kane_equations(built.mechanism() if isinstance(built, System) else built)
    t = terms_of(e)
    refs = [*e.inertia, *e.active, *e.residual]
    for velocity in velocities(e.points):
        refs += velocity
    for ref in refs:
        text = t.text(ref)
        assert "where" in text or e.graph.sub(expression(e, text), ref) < 2, text
    assert sum("where" in t.text(ref) for ref in refs) < len(refs) / 2


def test_books_forms():
    e = kane_equations(two_link().mechanism())
    t = terms_of(e)
    assert t.text(e.inertia[1]) == "-L**2*m*((1 + cos(q2))*u1' + u2' + sin(q2)*u1**2)"
    assert t.text(expression(e, "(q1 + 1)*(q1 - 1)")) in ("q1**2 - 1", "-(1 - q1**2)")
    assert t.text(expression(e, "sin(q1)**2*m + cos(q1)**2*m")) == "m"
    assert t.text(expression(e, "m/(2*L)")) == "m/(2*L)"
    assert t.text(expression(e, "0*q1")) == "0"
    assert t.text(expression(e, "1 - sin(q1)**2*3")) in ("3*cos(q1)**2 - 2", "-(3*sin(q1)**2 - 1)", "1 - 3*sin(q1)**2")


def test_abbreviations_are_used():
    e = kane_equations(rp().mechanism())
    t = terms_of(e, {"xB": "LP + q2 - L/2"})
    velocity = velocities(e.points)[e.points.station("B*")]
    assert "xB*u1" in [t.text(x).replace("u1*xB", "xB*u1") for x in velocity]


def test_long_expressions_are_nested():
    s = System("long")
    names = s.coordinates(" ".join(f"q{k}" for k in range(9)))
    frame, point = s.N, s.O
    for k, q in enumerate(names):
        frame = frame.orient_new_axis(f"F{k}", (1, 2, 3)[k % 3], q)
        point = point.locate_new(f"P{k}", frame.vector(1, 2, 3))
    s.particle("P", point, 1)
    s.gravity(s.N.z * -9.81)
    e = kane_equations(s.mechanism())
    text = Terms(e.graph).text(e.residual[0])
    assert "where z1 = " in text
    assert len(text) < 40000
    other = kane_equations(s.mechanism())
    assert Terms(other.graph).text(other.residual[0]) == text


@pytest.mark.parametrize("own", ["L", "z1"])
def test_intermediates_are_no_names_of_the_mechanism(own):
    """What is printed reads back, whatever the parameters are called."""
    s = System("arm")
    (length,) = s.parameters(f"{own} m")[:1]
    frame, point = s.N, s.O
    for k, q in enumerate(s.coordinates("a b c d")):
        frame = frame.orient_new_axis(f"F{k}", (3, 1, 2)[k % 3], q)
        point = point.locate_new(f"P{k}", length * frame.x + frame.y * (k + 1))
        s.particle(f"M{k}", point, "m")
    s.gravity(s.N.y * -9.81)
    e = kane_equations(s.mechanism())
    main, where, rest = terms_of(e).text(e.residual[0]).partition(" where ")
    assert where
    meant = {}
    for name, _, value in (line.partition(" = ") for line in rest.split("; ")):
        meant[name] = expression(e, value, meant)
    assert own not in meant
    assert expression(e, main, meant) == e.residual[0]


TITLES = (
    "Preliminaries", "Generalized coordinates and speeds", "Velocities and angular velocities", "Partial velocities",
    "Accelerations", "Generalized inertia forces", "Generalized active forces", "Kane's equations",
)  # fmt: skip


def test_all_steps_are_printed():
    steps = work_out(kane_equations(rp().mechanism()))
    text = str(steps)
    for k, title in enumerate(TITLES, 1):
        assert f"{k}. {title}" in text
    assert [step.number for step in steps] == list(range(1, 10))
