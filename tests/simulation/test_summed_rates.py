"""Simulation in rates summed over runs of parallel axes: the same motion for fewer operations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from kane.equations.derive import derive_task
from kane.graph.evaluate import evaluate, random_inputs
from kane.mechanism.model import Mechanism
from kane.robots.bundled import load as bundled
from kane.simulation.model import SUMS, Model, prepare
from kane.simulation.simulate import simulate
from planar_trees import planar_tree


def with_springs(mechanism: Mechanism) -> Mechanism:
    joints = (replace(j, stiffness=Fraction(3), damping=Fraction(1, 5), rest=Fraction(1, 4)) for j in mechanism.joints)
    return replace(mechanism, joints=tuple(joints))


def accelerations(model: Model, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """udot of the model's rate, inputs and joint forces included."""
    assert model.rate is not None
    n = len(q)
    rate = model.rate(np.concatenate([q, qd, [0.0, 0.0]]), np.zeros(1), tau)
    assert np.array_equal(rate[:n], qd)
    return np.asarray(rate[n : 2 * n])


def test_chosen_where_axes_are_parallel_and_equal_to_the_derived() -> None:
    for mechanism in (planar_tree((0, 1, 2)), planar_tree((0, 1, 2, 2), general=True, rotors=True), bundled("ur_like")):
        plain, sprung = prepare(mechanism), prepare(with_springs(mechanism))
        assert plain.method == sprung.method == SUMS
        program = derive_task(mechanism, "forward_dynamics").program
        x = {name: rows[0] for name, rows in random_inputs(program, 1, 1.5, seed=3).items()}
        wanted = evaluate(program, x)["qdd"]
        np.testing.assert_allclose(accelerations(plain, x["q"], x["qd"], x["tau"]), wanted, rtol=1e-10, atol=1e-10)
        pushed = x | {"tau": x["tau"] - 3 * (x["q"] - 0.25) - 0.2 * x["qd"]}
        wanted = evaluate(program, pushed)["qdd"]
        np.testing.assert_allclose(accelerations(sprung, x["q"], x["qd"], x["tau"]), wanted, rtol=1e-10, atol=1e-10)


def test_a_swinging_tree_keeps_its_energy() -> None:
    run = simulate(planar_tree((0, 1, 1, 3), general=True), 3.0, [0.4, -0.3, 0.8, 0.2])
    assert run.success and run.energy_ok and np.ptp(run.y[0]) > 0.1
    assert np.abs(run.energy - run.energy[0]).max() < 1e-7 * np.abs(run.energy).max()


def test_no_parallel_axes_no_sums() -> None:
    assert prepare(bundled("stanford")).method != SUMS
