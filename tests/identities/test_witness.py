"""Every task of random mechanisms against the independent witness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.equations.derive import derive_task
from kane.graph.evaluate import evaluate
from kane.mechanism.model import Mechanism
from kane.verification.witness import bear_witness
from strategies import SIMPLE, TYPES, general_mechanism, random_mechanism, random_state
from tolerances import ROUNDING


def value(mechanism: Mechanism, task: str, state: dict, frame: str | None = None) -> np.ndarray:
    return next(iter(evaluate(derive_task(mechanism, task, frame).program, state).values()))


def close(actual: np.ndarray, expected: np.ndarray, scale: float = 1.0) -> None:
    error = np.abs(np.asarray(actual) - expected).max(initial=0.0)
    assert error <= ROUNDING * max(1.0, scale, np.abs(expected).max(initial=0.0)), (error, actual, expected)


def check(mechanism: Mechanism, seed: int) -> None:
    s = random_state(mechanism, seed)
    seen = bear_witness(mechanism, s["q"], s["qd"], s["qdd"])
    close(seen.tau, seen.M @ s["qdd"] + seen.bias)
    close(value(mechanism, "kinematic_equations", s), seen.qdot)
    close(value(mechanism, "mass_matrix", s), seen.M)
    close(value(mechanism, "gravity_forces", s), seen.gravity)
    close(value(mechanism, "bias_forces", s), seen.bias)
    close(value(mechanism, "inverse_dynamics", s), seen.tau)
    close(value(mechanism, "kinetic_energy", s), np.array(seen.T))
    close(value(mechanism, "potential_energy", s), np.array(seen.V))
    qdd = value(mechanism, "forward_dynamics", s)
    size = np.abs(seen.M) @ np.abs(qdd) + np.abs(seen.bias) + np.abs(s["tau"])
    assert (np.abs(seen.M @ qdd + seen.bias - s["tau"]) <= ROUNDING * (1 + size.max())).all()
    frame = mechanism.links[-1].name
    close(value(mechanism, "forward_kinematics", s, frame=frame), seen.pose(frame))
    close(value(mechanism, "jacobian", s, frame=frame), seen.jacobian(frame))
    close(value(mechanism, "jacobian_rate", s, frame=frame), seen.jacobian_rate(frame))


@pytest.mark.parametrize("kind", TYPES[:-1])
def test_one_joint(kind: str) -> None:
    """One joint, and two of the same type."""
    for seed, joints in ((1, 1), (2, 1), (3, 2), (4, 2)):
        check(random_mechanism(seed, joints, (kind,)), seed)


@given(seed=st.integers(0, 2**20), joints=st.integers(2, 6))
def test_trees(seed: int, joints: int) -> None:
    check(random_mechanism(seed, joints), seed)


@given(seed=st.integers(0, 2**20), joints=st.integers(2, 6))
def test_followers(seed: int, joints: int) -> None:
    types = ("revolute", "prismatic", "continuous", "screw", "spherical")
    check(random_mechanism(seed, joints, types, mimic=0.6), seed)


@given(seed=st.integers(0, 2**20), joints=st.integers(2, 5))
def test_spinning_rotors(seed: int, joints: int) -> None:
    check(random_mechanism(seed, joints, (*SIMPLE, "floating"), mimic=0.2, rotors=0.9, exact=True), seed)


@given(seed=st.integers(0, 2**20))
def test_general_joints(seed: int) -> None:
    check(general_mechanism(seed), seed)
