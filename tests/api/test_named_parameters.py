"""Run-time parameters by name: the caller's order everywhere, zero ones too, what is none refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.emit import emit
from kane.mechanism.given import INERTIAL
from kane.mechanism.model import Inertia, Mechanism
from strategies import random_mechanism

ARM = Path(__file__).parents[2] / "examples" / "arm.urdf"
TASKS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_forces", "kinetic_energy")
STATES = {"inverse_dynamics": 3, "forward_dynamics": 3, "mass_matrix": 1, "gravity_forces": 1, "kinetic_energy": 2}


def with_inertial(m: Mechanism, link: str, p: dict[str, float]) -> Mechanism:
    """The mechanism whose link has these ten parameters about its origin."""
    x = {key: Fraction(value) for key, value in p.items()}
    mass = x["m"]
    c = [x[f"h{i}"] / mass for i in "xyz"]
    square = sum(v * v for v in c)
    moments = []
    for name in INERTIAL[4:]:
        i, j = ("xyz".index(letter) for letter in name[1:])
        moments.append(x[name] - mass * ((square if i == j else 0) - c[i] * c[j]))
    return m.replace_link(replace(m.link(link), inertia=Inertia(mass, (c[0], c[1], c[2]), tuple(moments))))  # type: ignore[arg-type]


def moving_links(m: Mechanism) -> list[str]:
    return [joint.child for joint in m.joints]


def chosen(m: Mechanism, seed: int) -> list[str]:
    """Single parameters of two links and all ten of a third, in an order that is not that of the description."""
    r = np.random.default_rng(seed)
    a, b, c = r.permutation(moving_links(m))[:3]
    own = [f"{link}.{name}" for link in (a, b) for name in r.permutation(INERTIAL)]
    return [*own[::3], str(c), *own[1::3], *own[2::3]]


def expanded(names: list[str]) -> list[str]:
    return [full for n in names for full in ([n] if "." in n else [f"{n}.{letter}" for letter in INERTIAL])]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(3))
def test_the_callers_order_and_zeros(seed: int, task: str) -> None:
    """Random values at run time give what a description with these values gives."""
    m = random_mechanism(seed, 4, ("revolute", "prismatic"), rotors=0.0, empty=0.0)
    flat = moving_links(m)[0]
    m = with_inertial(m, flat, dict.fromkeys(INERTIAL, 0.0) | {"m": 1.0, "Ixx": 1.0, "Iyy": 1.0, "Izz": 1.0})
    names = chosen(m, seed)
    equations = kane.derive(m, parameters=names)
    assert list(equations.parameter_names) == expanded(names)
    described = kane.derive(m, parameters=[n for link in moving_links(m) for n in [link]])
    values = dict(zip(described.parameter_names, described.parameter_values, strict=True))
    assert list(equations.parameter_values) == pytest.approx([values[n] for n in expanded(names)])
    assert 0.0 in equations.parameter_values
    r = np.random.default_rng(seed)
    for full in expanded(names):
        values[full] += 0.01 * r.random()  # type: ignore[operator]
    other = m
    for link in moving_links(m):
        other = with_inertial(other, link, {k: values[f"{link}.{k}"] for k in INERTIAL})  # type: ignore[misc]
    state = [r.uniform(-1, 1, len(equations.speed_names)) for _ in range(STATES[task])]
    p = np.array([values[n] for n in expanded(names)])
    ours = getattr(equations.compile(), task)(*state, p)
    np.testing.assert_allclose(ours, getattr(kane.derive(other).compile(), task)(*state), rtol=1e-9, atol=1e-9)


def test_derivatives_and_printed_code_follow_the_order() -> None:
    robot = kane.load(ARM)
    one, two = (kane.derive(robot, parameters=names) for names in (["b.m", "a.hy", "a.m"], ["a.m", "b.m", "a.hy"]))
    q, qd, qdd = np.array([0.3, -0.4]), np.array([1.0, 0.5]), np.array([-0.7, 0.2])
    swap = [one.parameter_names.index(n) for n in two.parameter_names]
    p = np.array([1.5, 0.1, 2.0])
    task = "inverse_dynamics_parameter_derivatives"
    first = one.compile().inverse_dynamics_parameter_derivatives(q, qd, qdd, p)
    second = two.compile().inverse_dynamics_parameter_derivatives(q, qd, qdd, p[swap])
    np.testing.assert_allclose(second, first[:, swap], atol=1e-14)
    dynamics, ones = one.compile(), np.eye(3)  # torques are linear in these parameters
    slopes = [dynamics.inverse_dynamics(q, qd, qdd, p + e) - dynamics.inverse_dynamics(q, qd, qdd, p) for e in ones]
    np.testing.assert_allclose(first, np.array(slopes).T, atol=1e-12)
    assert one.program(task).inputs[-1].labels == ("b.m", "a.hy", "a.m")
    (text,) = (text for name, text in emit(one.program("inverse_dynamics"), "numpy").items() if name.endswith(".py"))
    space: dict[str, object] = {}
    exec(text, space)
    printed = space["inverse_dynamics"](q, qd, qdd, p)  # type: ignore[operator]
    np.testing.assert_allclose(np.ravel(printed), dynamics.inverse_dynamics(q, qd, qdd, p), rtol=1e-12)


def test_named_parameters_of_the_description_keep_the_order_too() -> None:
    robot = kane.load("two_link")
    assert kane.derive(robot, parameters=["m2", "l1", "m1"]).parameter_names == ("m2", "l1", "m1")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a.m", "a.m"], "'a.m' comes twice"),
        (["a", "a.m"], "'a.m' comes twice"),
        (["base.m"], "no moving link"),
        (["a.cx"], "no inertial parameter"),
        (["hand.m"], "'hand.m'"),
    ],
)
def test_what_is_no_parameter(names: list[str], told: str) -> None:
    with pytest.raises(kane.KaneError, match=told):
        kane.derive(kane.load(ARM), parameters=names)


def test_a_link_that_is_fixed_to_another_has_none_of_its_own() -> None:
    m = kane.load(ARM).mechanism
    last = replace(m.joints[-1], type="fixed", mimic=None, rotor=None)
    m = m.replace_joint(last)
    with pytest.raises(kane.UnknownNameError, match=f"{last.child!r} is fixed to {last.parent!r}"):
        kane.derive(m, parameters=[f"{last.child}.m"])


def test_formulas_are_named_by_what_they_are_made_of() -> None:
    robot = kane.load("two_link")
    link = moving_links(robot.mechanism)[0]
    with pytest.raises(kane.KaneError, match="formula in parameters"):
        kane.derive(robot, parameters=[f"{link}.m", "m1"])
