"""External wrenches through the facade: (..., k, 6), moment first, axes of N, at the frame's origin."""

from __future__ import annotations

import numpy as np
import pytest

import kane


def test_wrenches_do_the_work_of_their_jacobians() -> None:
    frames = ("link2", "link6")
    plain = kane.derive(kane.load("puma560")).compile()
    pushed = kane.derive(kane.load("puma560"), external=frames).compile()
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, 5, 6))
    w = rng.uniform(-1, 1, (5, 2, 6))
    work = sum(np.einsum("bir,bi->br", plain.jacobian(q, frame), w[:, k]) for k, frame in enumerate(frames))
    expected = plain.inverse_dynamics(q, qd, qdd) - work
    np.testing.assert_allclose(pushed.inverse_dynamics(q, qd, qdd, w), expected, atol=1e-12)
    np.testing.assert_allclose(pushed.inverse_dynamics(q[0], qd[0], qdd[0], w[0]), expected[0], atol=1e-12)
    tau = pushed.inverse_dynamics(q, qd, qdd, w)
    np.testing.assert_allclose(pushed.forward_dynamics(q, qd, tau, w=w), qdd, atol=1e-9)


def test_one_frame_and_run_time_parameters() -> None:
    eq = kane.derive(kane.load("two_link"), parameters="symbolic", external=("link2",))
    dynamics, p = eq.compile(), np.array(eq.parameter_values)
    q, w = np.array([0.3, -0.2]), np.array([[0.0, 0.0, 1.5, 0.2, -0.3, 0.0]])
    baked = kane.derive(kane.load("two_link"), external=("link2",)).compile()
    expected = baked.bias_forces(q, q, w)
    np.testing.assert_allclose(dynamics.bias_forces(q, q, p, w), expected, atol=1e-12)
    np.testing.assert_allclose(dynamics.bias_forces(q, q, w), expected, atol=1e-12)
    np.testing.assert_allclose(dynamics.bias_forces(q, q, p=p, w=w), expected, atol=1e-12)


def test_wrong_shape_states_both() -> None:
    dynamics = kane.derive(kane.load("two_link"), external=("link1", "link2")).compile()
    q = np.zeros(2)
    with pytest.raises(kane.ShapeError, match=r"\(12,\); expected \(\.\.\., 2, 6\)"):
        dynamics.inverse_dynamics(q, q, q, np.zeros(12))
    with pytest.raises(TypeError, match="w"):
        dynamics.inverse_dynamics(q, q, q)
