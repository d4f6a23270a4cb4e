"""W x against the torques and friction of the equations."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from identification.arms import planar, rough
from kane.equations.derive import derive_task
from kane.errors import InputError, ShapeError
from kane.graph.evaluate import evaluate
from kane.identification.torque_model import torque_model
from kane.mechanism.model import Rotor
from strategies import random_mechanism, random_state


def outputs(mechanism, task, state):
    program = derive_task(mechanism, task).program
    (value,) = evaluate(program, {i.name: state[i.name] for i in program.inputs}).values()
    return value


@settings(max_examples=4)
@given(st.integers(0, 1000))
def test_regressor_times_described_parameters_is_torque_and_friction(seed):
    mechanism = random_mechanism(seed, joints=3, types=("revolute", "prismatic"))
    mechanism = rough(mechanism, [0.3, 0.5, 0.7], [1.1, 0.2, 0.4])
    model = torque_model(mechanism, friction="all")
    state = random_state(mechanism, seed, batch=7)
    expected = outputs(mechanism, "inverse_dynamics", state) + outputs(mechanism, "friction_forces", state)
    tau = model.torque(state["q"], state["qd"], state["qdd"], model.prior)
    assert np.allclose(tau, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_friction_columns_are_what_was_asked_for():
    arm = rough(planar(), [0.3, 0], [0, 0.4])
    assert torque_model(arm).names[-2:] == ("j1.coulomb", "j2.viscous")
    assert torque_model(arm, friction="none").names == torque_model(planar()).names
    assert torque_model(arm, friction=["offset"]).names[-2:] == ("j1.offset", "j2.offset")
    with pytest.raises(InputError, match="stiction"):
        torque_model(arm, friction=["stiction"])


def test_coulomb_friction_is_linear_within_its_width():
    model = torque_model(planar(), friction=["coulomb"], width=0.1)
    speeds = np.array([[-0.2, 0.02], [0.05, 0.3]])
    W = model.regressor(np.zeros((2, 2)), speeds, np.zeros((2, 2)))
    assert np.allclose(W[:, 0, -2], [-1.0, 0.5]) and np.allclose(W[:, 1, -1], [0.2, 1.0])
    assert not W[:, 0, -1].any() and not W[:, 1, -2].any()


def test_rotors_get_columns():
    geared = planar(rotor=Rotor(Fraction(1, 1000), Fraction(10)))
    model = torque_model(geared)
    assert "j2.Im" in model.names and np.isclose(model.prior[-1], 0.1)
    assert dict(zip(model.names, model.formulas, strict=True))["l1.Izz"].endswith("+ j1.Im")
    assert torque_model(geared, rotors="none").base.count + 1 == torque_model(planar(), rotors="all").base.count


def test_wrong_shapes_are_told_with_both_shapes():
    model = torque_model(planar())
    with pytest.raises(ShapeError, match=r"qd has shape \(5, 3\), expected \(5, 2\).*j1, j2"):
        model.checked(np.zeros((5, 2)), np.zeros((5, 3)), np.zeros((5, 2)))
