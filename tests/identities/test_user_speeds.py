"""Generalized speeds of the user's own: everything follows from the equations in the rates by qdot = W u + z."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.equations.derive import derive_task
from kane.mechanism import formula as f
from kane.mechanism.model import Mechanism, SpeedDefinition
from kane.verification.exact import exact_checks
from kane.verification.laws import verify
from kane.verification.witness import bear_witness
from strategies import random_mechanism, random_state
from task_values import value
from tolerances import ROUNDING

TASKS = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces", "coriolis_matrix",
    "kinetic_energy", "potential_energy", "kinematic_equations",
)  # fmt: skip


def with_speeds(mechanism: Mechanism) -> Mechanism:
    """Three speeds for coordinates j1, j2, j3: combinations with coefficients in the coordinates."""
    texts = ("j1_dot + sin(j2)*j2_dot", "2*j2_dot - j3_dot*cos(j1)", "(2 + cos(j3))*j3_dot")
    return replace(mechanism, speeds=tuple(SpeedDefinition(f"u{k}", f.parse(t)) for k, t in enumerate(texts, 1)))


def inverse(q: np.ndarray) -> np.ndarray:
    """W with qdot = W u, from the definitions."""
    Y = np.array([[1, np.sin(q[1]), 0], [0, 2, -np.cos(q[0])], [0, 0, 2 + np.cos(q[2])]])
    return np.linalg.inv(Y)


def arm(seed: int) -> Mechanism:
    return random_mechanism(seed, 3, ("revolute", "prismatic", "continuous"))


@settings(max_examples=8)
@given(seed=st.integers(0, 2**20))
def test_transformed_equations(seed: int) -> None:
    """M_u = W^T M W; tau_u = W^T tau(q, W u, W udot + Wdot u)."""
    plain, m = arm(seed), with_speeds(arm(seed))
    rng = np.random.default_rng(seed)
    q, u, udot, tau = rng.uniform(-1, 1, (4, 3))
    s = {"q": q, "qd": u, "qdd": udot, "tau": tau}
    W = inverse(q)
    qd = W @ u
    h = 1e-3
    Wdot = sum(w * inverse(q + k * h * qd) for k, w in ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))) / h
    rates = {"q": q, "qd": qd, "qdd": W @ udot + Wdot @ u}
    for task, expected, tolerance in (
        ("kinematic_equations", qd, ROUNDING),
        ("mass_matrix", W.T @ value(plain, "mass_matrix", rates) @ W, ROUNDING),
        ("gravity_forces", W.T @ value(plain, "gravity_forces", rates), ROUNDING),
        ("inverse_dynamics", W.T @ value(plain, "inverse_dynamics", rates), 1e-9),
        ("kinetic_energy", value(plain, "kinetic_energy", rates), ROUNDING),
    ):
        error = np.abs(value(m, task, s) - expected).max()
        assert error <= tolerance * max(1.0, np.abs(expected).max()), (task, error)
    frame = m.links[-1].name
    J = value(plain, "jacobian", rates, frame=frame)
    assert value(m, "jacobian", s, frame=frame) == pytest.approx(J @ W, abs=1e-12)
    Jdot = value(plain, "jacobian_rate", rates, frame=frame)
    assert value(m, "jacobian_rate", s, frame=frame) == pytest.approx(Jdot @ W + J @ Wdot, abs=1e-9)


@settings(max_examples=6)
@given(seed=st.integers(0, 2**20))
def test_laws(seed: int) -> None:
    """T = u M u / 2, power, skewness (Hamel terms in C), gravity along each speed, ID of FD."""
    m = with_speeds(arm(seed))
    programs = {task: derive_task(m, task).program for task in TASKS}
    checks = (*verify(m, programs, seed), *exact_checks(m, seed=seed))
    assert all(c.ok for c in checks), [c for c in checks if not c.ok]
    assert not checks[0].note.startswith("not checked")  # the witness knows them too


def test_mixed_with_quaternions_and_time() -> None:
    """Speeds over a ball joint's angular velocity and a slide, with a part given in time."""
    m = random_mechanism(21, 2, ("spherical", "prismatic"))
    kinds = {j.name: j.type for j in m.joints}
    assert set(kinds.values()) == {"spherical", "prismatic"}
    ball, slide = sorted(kinds, key=lambda n: kinds[n] != "spherical")
    renamed = replace(
        m,
        joints=tuple(
            replace(j, speeds=("wx", "wy", "wz"), coordinates=("a", "b", "c", "d")) if j.name == ball else j
            for j in m.joints
        ),
    )
    texts = (f"wx + {slide}*wz", "wy - sin(t)", f"2*wz + a*{slide}_dot", f"3*{slide}_dot + t*wx/5")
    m = replace(renamed, speeds=tuple(SpeedDefinition(f"u{k}", f.parse(t)) for k, t in enumerate(texts, 1)))
    s = random_state(m, 2) | {"t": np.array([0.7])}
    seen = bear_witness(m, s["q"], s["qd"], s["qdd"], time=0.7)
    frame = m.links[-1].name
    for task, expected in (
        ("kinematic_equations", seen.qdot), ("mass_matrix", seen.M), ("inverse_dynamics", seen.tau),
        ("kinetic_energy", np.array(seen.T)), ("bias_forces", seen.bias), ("gravity_forces", seen.gravity),
    ):  # fmt: skip
        assert value(m, task, s) == pytest.approx(expected, rel=1e-10, abs=1e-10), task
    for task, reference in (("jacobian", seen.jacobian(frame)), ("jacobian_rate", seen.jacobian_rate(frame))):
        assert value(m, task, s, frame=frame) == pytest.approx(reference, rel=1e-10, abs=1e-10), task


def test_floating_base() -> None:
    """Combinations of body-axes velocities, coefficients in position and quaternion, and a joint's rate."""
    m = random_mechanism(5, 2, ("floating", "revolute"))
    assert m.joints[0].type == "floating"
    own = {"coordinates": tuple("xyzabcd"), "speeds": ("wx", "wy", "wz", "vx", "vy", "vz")}
    base = replace(m, joints=(replace(m.joints[0], **own), *m.joints[1:]))
    texts = ("wx + wy", "wy", "2*wz + x*vx", "vx + y*wx", "vy + wz*b", "3*vz", "j2_dot + wx")
    m = replace(base, speeds=tuple(SpeedDefinition(f"u{k}", f.parse(t)) for k, t in enumerate(texts, 1)))
    s = random_state(m, 4)
    seen = bear_witness(m, s["q"], s["qd"], s["qdd"])
    for task, expected in (
        ("kinematic_equations", seen.qdot), ("mass_matrix", seen.M), ("inverse_dynamics", seen.tau),
        ("kinetic_energy", np.array(seen.T)), ("jacobian_rate", seen.jacobian_rate(m.links[-1].name)),
    ):  # fmt: skip
        frame = m.links[-1].name if task == "jacobian_rate" else None
        assert value(m, task, s, frame=frame) == pytest.approx(expected, rel=1e-10, abs=1e-10), task
    programs = {task: derive_task(m, task).program for task in TASKS}
    assert all(c.ok for c in verify(m, programs, 4))
