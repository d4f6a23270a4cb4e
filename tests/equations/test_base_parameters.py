"""Base parameters: tau = Y_b beta, the rank by pinocchio's regressor, closed forms of small arms."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.equations.base_parameters import base_parameters
from kane.equations.derive import derive_task
from kane.equations.modular import fraction_of
from kane.formats.urdf import read_urdf
from kane.graph.evaluate import evaluate
from kane.mechanism.formula import name, parse
from kane.mechanism.model import Inertia, Joint, Link, Mechanism, Parameter, Rotor, Translate, Turn
from strategies import random_mechanism, random_state

ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"


def planar_arm(length, rotor=None):
    """Two links in a vertical plane, all ten parameters of each link given by numbers."""
    body = Inertia(
        Fraction(2), (Fraction(1, 4), Fraction(1, 10), Fraction(1, 20)),
        tuple(Fraction(x, 100) for x in (5, 1, 2, 6, 1, 7)),
    )  # fmt: skip
    quarter = parse("pi/2")
    joints = (
        Joint("j1", "revolute", "base", "l1", (Turn(0, quarter),)),
        Joint("j2", "revolute", "l1", "l2", (Translate((length, Fraction(0), Fraction(0))),), rotor=rotor),
    )
    parameters = (Parameter("L", Fraction(2, 5)),) if not isinstance(length, Fraction) else ()
    return Mechanism("planar", (Link("base"), Link("l1", body), Link("l2", body)), joints, parameters=parameters)


def outputs(mechanism, task, state):
    program = derive_task(mechanism, task).program
    (value,) = evaluate(program, {i.name: state[i.name] for i in program.inputs}).values()
    return value


def test_planar_arm_has_the_six_parameters_of_the_textbook():
    found = base_parameters(planar_arm(Fraction(2, 5)))
    assert found.formulas == (
        "l1.hx + 0.4*l2.m", "l1.hy", "l1.Izz + 0.16*l2.m", "l2.hx", "l2.hy", "l2.Izz",
    )  # fmt: skip
    zz = Fraction(7, 100) + 2 * (Fraction(1, 16) + Fraction(1, 100))
    expected = [0.5 + 0.8, 0.2, zz + Fraction(32, 100), 0.5, 0.2, zz]
    assert np.allclose(found.values, [float(x) for x in expected], rtol=0, atol=1e-15)
    assert found.regrouped["l2.m"] == (("l1.hx", Fraction(2, 5)), ("l1.Izz", Fraction(4, 25)))
    across = ("hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz")
    assert set(found.vanish) == {"l1.m", *(f"{link}.{p}" for link in ("l1", "l2") for p in across)}
    assert not found.approximate


def test_named_lengths_stay_in_the_formulas():
    found = base_parameters(planar_arm(name("L")), parameters=["L"])
    assert found.formulas[0] == "l1.hx + L*l2.m" and found.formulas[2] == "l1.Izz + L**2*l2.m"
    numbers = base_parameters(planar_arm(Fraction(2, 5))).array()
    assert np.allclose(found.array({"L": 0.4}), numbers, rtol=0, atol=1e-15)


def test_rotors_are_kept_apart_where_they_act_differently():
    rotor = Rotor(Fraction(1, 1000), Fraction(10))
    found = base_parameters(planar_arm(Fraction(2, 5), rotor))
    assert found.names[-1] == "j2.Im" and found.count == 7
    assert np.isclose(found.values[-1], 0.1)
    every = base_parameters(planar_arm(Fraction(2, 5)), rotors="all")
    assert every.count == 7 and every.formulas[2] == "l1.Izz + 0.16*l2.m + j1.Im"


@given(st.integers(0, 10_000))
def test_torque_is_base_regressor_times_base_parameters(seed):
    mechanism = random_mechanism(seed, joints=4, mimic=0.2)
    found = base_parameters(mechanism)
    state = random_state(mechanism, seed, batch=12)
    Y, tau = outputs(mechanism, "base_regressor", state), outputs(mechanism, "inverse_dynamics", state)
    assert Y.shape == (*tau.shape, found.count)
    scale = np.abs(Y * np.array(found.values)).sum(-1).max()
    assert np.abs(Y @ np.array(found.values) - tau).max() < 1e-10 * scale


@given(st.integers(0, 10_000))
def test_full_regressor_is_base_regressor_times_map_and_base_columns_are_independent(seed):
    mechanism = random_mechanism(seed, joints=3, rotors=0.0)
    found = base_parameters(mechanism)
    state = random_state(mechanism, seed, batch=60)
    full, base = outputs(mechanism, "regressor", state), outputs(mechanism, "base_regressor", state)
    assert np.abs(full - base @ found.array()).max() < 1e-9 * np.abs(full).max()
    stacked = base.reshape(-1, found.count)
    singular = np.linalg.svd(stacked / np.linalg.norm(stacked, axis=0), compute_uv=False)
    assert singular[-1] > 1e-6 * singular[0]
    where = [found.full.index(n) for n in found.vanish]
    assert not np.any(full[..., where])


ARMS = (
    "xarm_description/urdf/xarm7.urdf", "ur_description/urdf/ur5_robot.urdf", "z1_description/urdf/z1.urdf",
    "double_pendulum_description/urdf/double_pendulum_simple.urdf", "solo_description/robots/solo12.urdf",
)  # fmt: skip


@pytest.mark.parametrize("robot", ARMS)
def test_number_of_base_parameters_is_the_rank_of_pinocchios_regressor(robot):
    path = ROBOTS / robot
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(30):
        q = pin.integrate(model, pin.neutral(model), rng.uniform(-2, 2, model.nv))
        v, a = rng.uniform(-3, 3, (2, model.nv))
        rows.append(pin.computeJointTorqueRegressor(model, data, q, v, a))
    W = np.vstack(rows)
    W = W[:, np.linalg.norm(W, axis=0) > 1e-9]
    singular = np.linalg.svd(W / np.linalg.norm(W, axis=0), compute_uv=False)
    count = base_parameters(read_urdf(path)).count
    assert singular[count - 1] > 1e-7 * singular[0]
    assert count == len(singular) or singular[count] < 1e-10 * singular[0]


def test_nearly_special_geometry_is_reported_and_keeps_its_map_bounded():
    square, nearly = planar_arm(Fraction(2, 5)), planar_arm(Fraction(2, 5))
    tilt = Turn(1, Fraction(1, 10**9))
    second = nearly.joint("j2")
    nearly = nearly.replace_joint(replace(second, placement=(*second.placement, tilt)))
    found = base_parameters(nearly)
    assert found.count > 6 and set(found.names) - set(found.weak) == set(base_parameters(square).names)
    assert np.abs(found.array()).max() < 10


def test_fraction_is_found_from_its_residues_and_not_in_noise():
    primes = (2**89 - 1, 2**107 - 1)
    value = Fraction(-123456789, 10**8)
    residues = [value.numerator * pow(value.denominator, -1, p) % p for p in primes]
    assert fraction_of(residues, primes) == value
    rng = np.random.default_rng(1)
    for _ in range(50):
        noise = [int.from_bytes(rng.bytes(24), "little") % p for p in primes]
        assert fraction_of(noise, primes) is None
    assert fraction_of([0, 0], primes) == 0
