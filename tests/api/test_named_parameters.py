"""Run-time parameters by name: the caller's order everywhere, zero ones too, what is none refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.emit import emit
from kane.equations.programs import motion_program
from kane.mechanism import formula as f
from kane.mechanism.builder import System
from kane.mechanism.edit import with_parameters
from kane.mechanism.given import INERTIAL
from kane.mechanism.model import Inertia, Mechanism, Parameter
from kane.native import compile_program
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
    for name in (link, f"{link}.m"):
        with pytest.raises(kane.InputError, match=rf"'{link}.m' is a formula in parameters.*made of"):
            kane.derive(robot, parameters=[name, "m1"])


ZEROS = """# name: zeros
# modified DH
joint,alpha_prev_rad,a_prev_m,d_m,theta,mass_kg,com_x_m,com_y_m,com_z_m,Ixx,Iyy,Izz,Ixy,Ixz,damping,friction,rotor_inertia
1,0,a0=0,d1=0,q1,m1=2.0,x1=0.2,y1=0,z1=0,0.05,0.05,0.05,p1=0,0,b1=0,f1=0,J1=0
2,-pi/2,a1=0,0,q2,m2=1.4,x2=0.2,0,z2=0,0.03,0.03,0.03,0,p2=0,b2=0.1,f2=0,0
3,0,a2=0.4,d3=0,q3,m3=0.5,x3=0.1,y3=0,0,0.03,0.03,0.03,0,0,0.2,0,0
"""
STATES_OF = STATES | {
    "bias_forces": 2, "friction_forces": 1, "passive_forces": 2, "potential_energy": 1, "regressor": 3,
    "inverse_dynamics_derivatives": 3,
}  # fmt: skip


def with_zeros() -> kane.Robot:
    """A robot with lengths, places, products, damping, friction, a rotor and gravity by name, most of them zero."""
    m = kane.load(ZEROS, nonphysical="accept").mechanism
    return kane.Robot(with_gravity_by_name(m))


def with_gravity_by_name(m: Mechanism) -> Mechanism:
    added = tuple(Parameter(name, Fraction(value)) for name, value in (("gx", 0), ("gz", -10)))
    return replace(m, parameters=(*m.parameters, *added), gravity=(f.name("gx"), Fraction(0), f.name("gz")))


def test_zero_parameters_of_the_description() -> None:
    """Lengths, places, products, friction, rotors and gravity of value 0 are inputs, and give what a description does.
    """
    robot, r = with_zeros(), np.random.default_rng(0)
    names = [str(n) for n in r.permutation([p.name for p in robot.mechanism.parameters])]
    equations = kane.derive(robot, parameters=names)
    assert list(equations.parameter_names) == names
    assert equations.parameter_values == tuple(float(robot.mechanism.parameter_values[n]) for n in names)
    values = {n: Fraction(int(r.integers(1, 60)), 100) for n in names}
    ours, theirs = equations.compile(), kane.derive(with_parameters(robot, values)).compile()
    p = np.array([float(values[n]) for n in names])
    for task, count in STATES_OF.items():
        states = r.uniform(-1, 1, (count, 3))
        a, b = getattr(ours, task)(*states, p), getattr(theirs, task)(*states)
        for x, y in zip(*((v if isinstance(v, tuple) else (v,)) for v in (a, b)), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-9, err_msg=task)


def test_searched_forms_do_not_divide_by_parameters_of_value_zero() -> None:
    robot, names = kane.load("two_link"), ["J2", "m2", "r1"]
    zero = with_parameters(robot, dict.fromkeys(names, 0))
    values = {"J2": Fraction(1, 3), "m2": Fraction(3, 2), "r1": Fraction(1, 5)}
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    ours = kane.derive(zero, parameters=names, effort="normal").compile()
    for given in (values, dict.fromkeys(names, Fraction(0)) | {"m2": Fraction(1)}):
        other = kane.derive(with_parameters(robot, given)).compile()
        p = np.array([float(given[n]) for n in names])
        np.testing.assert_allclose(ours.inverse_dynamics(q, qd, qdd, p), other.inverse_dynamics(q, qd, qdd), atol=1e-12)
        np.testing.assert_allclose(ours.mass_matrix(q, p), other.mass_matrix(q), atol=1e-12)


def test_symbolic_ones_of_value_zero_are_not_divided_by() -> None:
    """The short form of the elbow arm divides by rx3, unless the description says that it is 0."""
    robot = with_parameters(kane.load("elbow3"), {"rx3": 0})
    ours = kane.derive(robot, parameters="symbolic", effort="normal").compile().inverse_dynamics
    states = np.random.default_rng(0).uniform(-1, 1, (3, 3))
    np.testing.assert_allclose(ours(*states), kane.derive(robot).compile().inverse_dynamics(*states), atol=1e-12)


def test_batches_over_parameters_follow_the_order() -> None:
    equations = kane.derive(kane.load(ARM), parameters=["b.hy", "a.m", "b.m", "b.Ixy"])
    dynamics, r = equations.compile(), np.random.default_rng(0)
    states = r.uniform(-1, 1, (3, 50, 2))
    p = np.array(equations.parameter_values) + r.uniform(0, 0.1, (50, 4))
    many = dynamics.inverse_dynamics(*states, p)
    assert np.array_equal(many, [dynamics.inverse_dynamics(*states[:, k], p[k]) for k in range(50)])


@pytest.mark.parametrize("task", ["jacobian", "jacobian_rate", "forward_kinematics", "partial_velocities"])
def test_frames_have_parameters_too(task: str) -> None:
    robot, names = with_zeros(), ["a2", "d3", "a1"]
    values = {"a2": Fraction(1, 2), "d3": Fraction(1, 5), "a1": Fraction(-1, 3)}
    state = list(np.random.default_rng(1).uniform(-1, 1, (2 if task == "jacobian_rate" else 1, 3)))
    ours = getattr(kane.derive(robot, parameters=names).compile(), task)
    expected = getattr(kane.derive(with_parameters(robot, values)).compile(), task)(*state, "link3")
    p = np.array([float(values[n]) for n in names])
    np.testing.assert_allclose(ours(*state, "link3", p), expected, atol=1e-14)
    np.testing.assert_allclose(ours(*state, "link3", p=p), expected, atol=1e-14)
    np.testing.assert_allclose(ours(*state, frame="link3", p=p), expected, atol=1e-14)
    as_described = getattr(kane.derive(robot).compile(), task)(*state, "link3")
    np.testing.assert_allclose(ours(*state, "link3"), as_described, atol=1e-14)


def pendulum() -> System:
    """A bob on a rod: mass and length without values, g = 9.81, and an offset of 0."""
    s = System("pendulum")
    q = s.coordinates("q")
    m, L = s.parameters("m L")
    g, e = s.parameters(g="9.81", e=0)
    rod = s.N.orient_new_axis("rod", 3, q)
    s.particle("bob", s.O.locate_new("bob", L * rod.x + e * rod.y), m)
    s.gravity(-g * s.N.y)
    return s


@pytest.mark.parametrize(
    ("chosen", "order"),
    [
        (None, ("m", "L", "g", "e")),
        (["e", "g", "L", "m"], ("e", "g", "L", "m")),
        (["g"], ("g", "m", "L")),
        ((), ("m", "L")),
        (["e", "m"], ("e", "m", "L")),
    ],
)
def test_equations_by_hand_keep_the_order_and_what_has_no_value(
    chosen: list[str] | None, order: tuple[str, ...]
) -> None:
    """q'' of (L cos q - e sin q, ...): -g (L cos q - e sin q) / (L^2 + e^2)."""
    values = {"g": 9.81, "e": 0.0} | {n: 1.5 + k for k, n in enumerate(order)}
    f = compile_program(motion_program(kane.kane_equations(pendulum(), parameters=chosen)))
    assert f.program.parameter_names == order
    _, udot = f([0.3], [0.7], [0.0], [values[n] for n in order])
    g, L, e = values["g"], values["L"], values["e"]
    np.testing.assert_allclose(udot, -g * (L * np.cos(0.3) - e * np.sin(0.3)) / (L**2 + e**2), rtol=1e-13)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["m", "m"], "'m' comes twice"),
        (["mass"], "'mass' is no parameter that is declared; there are: m, L, g, e"),
        (["bob.m"], "'bob.m' is no parameter that is declared.*kane.derive"),
        ("m", "list or tuple"),
        ({"m"}, "no order"),
    ],
)
def test_what_is_no_parameter_of_equations_by_hand(names: list[str], told: str) -> None:
    with pytest.raises(kane.KaneError, match=told):
        kane.kane_equations(pendulum(), parameters=names)


def test_the_explicit_model_takes_its_own_names() -> None:
    """Those that its constants are written in, also where the file names none."""
    x = kane.explicit(kane.load(ARM), parameters=["rx2", "m1"])
    assert list(x.model.parameters) == ["rx2", "m1"]
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    f = compile_program(x.program("inverse_dynamics"))
    expected = kane.derive(kane.load(ARM)).compile().inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(f(q, qd, qdd, [0.15, 2.0]), expected)
    with pytest.raises(kane.UnknownNameError, match=r"'b.m' is no parameter of the model; there are: m1, rx1"):
        kane.explicit(kane.load(ARM), parameters=["b.m"])
