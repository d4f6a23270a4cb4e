"""Motions that are functions of time: tasks take t, and their partials by the speeds leave prescribed rates alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.equations.derive import derive_task
from kane.errors import UnsupportedError
from kane.mechanism import formula as f
from kane.mechanism.model import Frame, Joint, Mechanism, Translate, Turn
from kane.verification.witness import bear_witness
from strategies import inertia, random_mechanism, random_state
from task_values import value
from tolerances import ROUNDING


def driven(seed: int) -> Mechanism:
    """A random tree on a base that shakes and turns as given, with a joint whose moves mix a coordinate with time."""
    import random
    from fractions import Fraction

    m = random_mechanism(seed, 3, ("revolute", "prismatic", "spherical", "screw"))
    shaking = Joint(
        "shaker", "general", "ground", "base",
        moves=(Turn(1, f.parse("0.3*sin(2*t)")), Translate((f.parse("0.1*t*t"), Fraction(0), f.parse("cos(t)")))),
    )  # fmt: skip
    mixed = Joint(
        "mixed", "general", m.links[-1].name, "arm", coordinates=("x",), moves=(Turn(2, f.parse("x + t*x*x/5")),)
    )  # fmt: skip
    from kane.mechanism.model import Link

    return replace(
        m,
        links=(Link("ground"), *m.links, Link("arm", inertia(random.Random(seed)))),
        joints=(shaking, *m.joints, mixed),
        frames=(Frame("tip", "arm", (Translate((Fraction(1, 5), f.parse("0.1*sin(3*t)"), Fraction(0))),)),),
    )


@settings(max_examples=8)
@given(seed=st.integers(0, 2**20), t=st.floats(-2, 2))
def test_against_the_witness(seed: int, t: float) -> None:
    m = driven(seed)
    s = random_state(m, seed) | {"t": np.array([t])}
    seen = bear_witness(m, s["q"], s["qd"], s["qdd"], time=t)
    expected = {
        "kinematic_equations": seen.qdot,
        "mass_matrix": seen.M,
        "gravity_forces": seen.gravity,
        "bias_forces": seen.bias,
        "inverse_dynamics": seen.tau,
        "kinetic_energy": np.array(seen.T),
        "potential_energy": np.array(seen.V),
    }
    for task, reference in expected.items():
        error = np.abs(value(m, task, s) - reference).max(initial=0.0)
        assert error <= ROUNDING * max(1.0, np.abs(reference).max(initial=0.0)), task
    qdd = value(m, "forward_dynamics", s)
    size = np.abs(seen.M) @ np.abs(qdd) + np.abs(seen.bias) + np.abs(s["tau"])
    assert (np.abs(seen.M @ qdd + seen.bias - s["tau"]) <= ROUNDING * size.max()).all()
    total = value(m, "generalized_active_forces", s) + value(m, "generalized_inertia_forces", s)
    assert np.abs(total + seen.tau).max() <= ROUNDING * max(1.0, np.abs(seen.tau).max())
    for task, reference in (
        ("forward_kinematics", seen.pose("tip")), ("jacobian", seen.jacobian("tip")),
        ("jacobian_rate", seen.jacobian_rate("tip")),
    ):  # fmt: skip
        assert np.abs(value(m, task, s, frame="tip") - reference).max() <= ROUNDING * 10, task


def test_velocities_of_the_witness_are_derivatives_of_its_poses() -> None:
    """The partial velocity that belongs to time."""
    m = driven(3)
    s = random_state(m, 3)
    frame = "base"
    before, after = (
        bear_witness(m, s["q"], s["qd"], s["qdd"], time=0.4 + h).pose(frame) for h in (-1e-6, 1e-6)
    )
    seen = bear_witness(m, s["q"], s["qd"], s["qdd"], time=0.4)
    velocity = (after - before)[:3, 3] / 2e-6
    assert seen.frames[frame].B @ seen.state.rates == pytest.approx(velocity, abs=1e-8)


def test_coriolis_matrix_is_refused() -> None:
    for task in ("coriolis_matrix", "coriolis_times", "slotine_li_regressor"):
        with pytest.raises(UnsupportedError, match="prescribed motion"):
            derive_task(driven(1), task)
