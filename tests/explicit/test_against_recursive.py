"""Values of A, B, C and g against the recursive engine and against sampling, on bundled and random robots."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane import robots
from kane.equations.derive import derive_task
from kane.explicit import evaluate as ev
from kane.explicit.model import ExplicitModel, explicit_model
from kane.explicit.program import program
from kane.explicit.sampling import largest_difference
from kane.graph.evaluate import evaluate
from kane.mechanism.formula import PI, Scalar
from kane.mechanism.model import Inertia, Joint, Link, Mechanism, Move, Rotor, Translate, Turn
from kane.robots.generated import tree

ROBOTS = ("elbow3", "planar_rp", "puma560", "rx90", "scara", "stanford", "two_link", "ur_like")


def states(n: int, count: int = 20) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(3, count, n))


def check_torques(model: ExplicitModel) -> None:
    """Backward error of tau against the recursive inverse dynamics; values of run-time parameters are drawn."""
    q, qd, qdd = states(model.n)
    recursive = derive_task(model.mechanism, "inverse_dynamics").program
    names = recursive.parameter_names
    values = dict(zip(names, np.random.default_rng(1).uniform(0.5, 1.5, len(names)), strict=True))
    arrays = {"q": q, "qd": qd, "qdd": qdd, "p": np.array(list(values.values()))}
    expected = evaluate(recursive, arrays)["tau"]
    tau = ev.inverse_dynamics(model, q, qd, qdd, values)
    size = np.abs(expected).max(axis=0) + 1e-9
    assert np.max(np.abs(tau - expected) / size) < 1e-12


@pytest.mark.parametrize("name", ROBOTS)
def test_torques_of_bundled_robots(name: str) -> None:
    check_torques(explicit_model(robots.load(name)))


@pytest.mark.parametrize(
    ("n", "types", "branching", "skew"),
    [
        (4, ("revolute",), 1, False),
        (4, ("revolute", "prismatic"), 1, True),
        (5, ("revolute", "prismatic", "cylindrical"), 2, True),
        (2, ("universal", "planar"), 1, False),
        (5, ("revolute",), 2, False),
    ],
)
def test_trees(n: int, types: tuple[str, ...], branching: int, skew: bool) -> None:
    model = explicit_model(tree(n, branching=branching, types=types, seed=n, skew=skew))
    check_torques(model)
    assert largest_difference(model) < 1e-12


def test_followers_and_rotors_of_a_tree() -> None:
    check_torques(explicit_model(_gripper(Fraction(-1))))
    check_torques(explicit_model(_gripper(Fraction(2))))
    assert largest_difference(explicit_model(_gripper(Fraction(2)))) < 1e-12


def _gripper(ratio: Fraction) -> Mechanism:
    """Two jaws on a turning palm, the second one following the first."""
    from kane.mechanism.model import Mimic

    body = Inertia(
        Fraction(2), (Fraction(1, 5), Fraction(1, 10), Fraction(0)), tuple(Fraction(k, 50) for k in (3, 0, 0, 4, 0, 5))
    )
    links = (Link("base"), Link("palm", body), Link("left", body), Link("right", body))
    up: tuple[Move, ...] = (Translate((Fraction(1, 4), Fraction(0), Fraction(0))), Turn(0, PI / 2))
    joints = (
        Joint("wrist", "revolute", "base", "palm", rotor=Rotor(Fraction(1, 100), Fraction(10))),
        Joint("left", "revolute", "palm", "left", up),
        Joint("right", "revolute", "palm", "right", up, mimic=Mimic("left", ratio, Fraction(1, 10))),
    )
    return Mechanism("gripper", links, joints)


hundredths = st.integers(-60, 60).map(lambda k: Fraction(k, 100))


@st.composite
def dh_tables(draw: st.DrawFn) -> Mechanism:
    """Random modified DH tables: twists by multiples of 90, 45 or 30 degrees, some lengths zero, turns and slides."""
    n = draw(st.integers(2, 4))
    links, joints = [Link("base")], []
    for k in range(1, n + 1):
        moves: list[Move] = []
        twist = draw(st.sampled_from((0, 90, -90, 180, 45, 30)))
        if twist:
            angle: Scalar = PI * Fraction(twist, 180)
            moves.append(Turn(0, angle))
        a, d = (
            draw(st.sampled_from((Fraction(0), draw(hundredths)))),
            draw(st.sampled_from((Fraction(0), draw(hundredths)))),
        )
        moves.append(Translate((a, Fraction(0), d)))
        kind = draw(st.sampled_from(("revolute", "revolute", "prismatic")))
        com = tuple(draw(hundredths) for _ in range(3))
        moments = tuple(
            Fraction(draw(st.integers(20, 90)), 100) if m in (0, 3, 5) else draw(hundredths) / 10 for m in range(6)
        )
        mass = Fraction(draw(st.integers(1, 50)), 10)
        links.append(Link(f"link{k}", Inertia(mass, com, moments)))  # type: ignore[arg-type]
        joints.append(Joint(f"q{k}", kind, links[-2].name, f"link{k}", tuple(moves)))
    return Mechanism("table", tuple(links), tuple(joints), gravity=(draw(hundredths), Fraction(0), Fraction(-981, 100)))


@settings(max_examples=25, deadline=None)
@given(dh_tables())
def test_random_dh_tables(mechanism: Mechanism) -> None:
    model = explicit_model(mechanism)
    check_torques(model)
    assert largest_difference(model) < 1e-11


@pytest.mark.parametrize("name", ["elbow3", "stanford", "puma560"])
def test_symbols_are_the_derivatives_of_the_matrix(name: str) -> None:
    """B and C from central differences of A: [i;jk] = (d_k a_ij + d_j a_ik - d_i a_jk) / 2."""
    model = explicit_model(robots.load(name))
    q = states(model.n, 5)[0]
    step = 1e-5
    rates = np.stack(
        [
            (ev.mass_matrix(model, q + step * e) - ev.mass_matrix(model, q - step * e)) / (2 * step)
            for e in np.eye(model.n)
        ],
        -1,
    )
    symbol = (rates + np.swapaxes(rates, -1, -2) - np.moveaxis(rates, -1, -3)) / 2  # (..., i, j, k)
    b, c = ev.b_matrix(model, q), ev.c_matrix(model, q)
    for place, (j, k) in enumerate(model.b_columns):
        np.testing.assert_allclose(b[..., place], 2 * symbol[..., j, k], atol=2e-8)
    for j in range(model.n):
        np.testing.assert_allclose(c[..., j], symbol[..., j, j], atol=2e-8)


@pytest.mark.parametrize("name", ["two_link", "elbow3", "scara", "planar_rp", "stanford"])
def test_programs_compute_the_model(name: str) -> None:
    model = explicit_model(robots.load(name))
    q, qd, qdd = states(model.n)
    values = dict.fromkeys(model.parameters, 0.7)
    arrays = {"q": q, "qd": qd, "qdd": qdd, "p": np.array(list(values.values()))}
    tau = evaluate(program(model), arrays)["tau"]
    np.testing.assert_allclose(tau, ev.inverse_dynamics(model, q, qd, qdd, values), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(
        evaluate(program(model, "mass_matrix"), arrays)["M"], ev.mass_matrix(model, q, values), atol=1e-12
    )
    np.testing.assert_allclose(
        evaluate(program(model, "gravity_forces"), arrays)["g"], ev.gravity(model, q, values), atol=1e-11
    )


def test_program_with_run_time_parameters() -> None:
    model = explicit_model(robots.load("elbow3"), "symbolic")
    numeric = explicit_model(robots.load("elbow3"))
    q, qd, qdd = states(3)
    made = program(model)
    values = [model.parameters[name] for name in made.parameter_names]
    tau = evaluate(made, {"q": q, "qd": qd, "qdd": qdd, "p": np.array(values, dtype=float)})["tau"]
    np.testing.assert_allclose(tau, ev.inverse_dynamics(numeric, q, qd, qdd), rtol=1e-11, atol=1e-11)
    assert made.constant_counts.total > 0
