"""Derivatives along directions, by parameters and of second order, against the first derivatives and differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.equations.derive import derive_task
from kane.errors import UnsupportedError
from kane.graph.evaluate import evaluate
from kane.mechanism.model import Mechanism
from kane.robots.generated import chain
from kane.verification.functions import rate
from strategies import SIMPLE, random_mechanism, random_state
from task_values import value, values
from tolerances import DIFFERENCE

ROUND = 1e-10  # other sums of the same terms, through one solution


def close(a: np.ndarray, b: np.ndarray, tolerance: float) -> None:
    scale = max(1.0, np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    assert np.abs(a - b).max(initial=0.0) <= tolerance * scale


def directions(s: dict[str, np.ndarray], third: str, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=len(s["qd"])) for name in ("dq", "dqd", third)}


@settings(max_examples=10)
@given(seed=st.integers(0, 2**20), joints=st.integers(1, 4))
def test_directions_are_the_derivatives_times_vectors(seed: int, joints: int) -> None:
    m = random_mechanism(seed, joints, (*SIMPLE, "spherical", "floating"), mimic=0.2)
    s = random_state(m, seed)
    for task, third in (("inverse_dynamics", "dqdd"), ("forward_dynamics", "dtau")):
        d = directions(s, third, seed)
        blocks = values(m, f"{task}_derivatives", s).values()
        expected = sum(block @ v for block, v in zip(blocks, d.values(), strict=True))
        close(value(m, f"{task}_jvp", s | d), expected, ROUND)


def test_a_direction_costs_less_than_the_derivatives() -> None:
    m = chain(6, seed=1, skew=False)
    for task in ("inverse_dynamics", "forward_dynamics"):
        along = derive_task(m, f"{task}_jvp").program.counts.total
        assert along < derive_task(m, f"{task}_derivatives").program.counts.total
        assert along < 3 * derive_task(m, task).program.counts.total


@pytest.mark.parametrize("task", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("seed", [1, 2])
def test_derivatives_by_parameters(task: str, seed: int) -> None:
    """Every inertial parameter of every body, by differences of the task itself."""
    m = random_mechanism(seed, 3, ("revolute", "prismatic", "spherical"))
    s = random_state(m, seed)
    made = derive_task(m, f"{task}_parameter_derivatives", parameters="symbolic")
    p = np.array(list(made.parameters.values()), dtype=float)
    plain = derive_task(m, task, parameters="symbolic")
    assert list(plain.parameters) == list(made.parameters)
    (block,) = evaluate(made.program, s | {"p": p}).values()
    assert block.shape == (len(s["qd"]), len(p))
    for c in range(len(p)):
        e = np.eye(len(p))[c]
        expected = rate(lambda h, e=e: next(iter(evaluate(plain.program, s | {"p": p + h * e}).values())))
        close(block[:, c], expected, DIFFERENCE)


def test_a_chosen_parameter() -> None:
    """dtau/dp of one body is the part of the regressor that belongs to it."""
    m = random_mechanism(4, 3, ("revolute",), rotors=0.0, empty=0.0)
    s = random_state(m, 4)
    link = m.links[-1].name
    made = derive_task(m, "inverse_dynamics_parameter_derivatives", parameters=(link,))
    assert all(name.startswith(f"{link}.") for name in made.parameters)
    block = values(m, "inverse_dynamics_parameter_derivatives", s, parameters=(link,))["dtau_dp"]
    close(block, value(m, "regressor", s)[:, -block.shape[1] :], ROUND)


def test_baked_parameters_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="symbolic"):
        derive_task(random_mechanism(1, 2), "inverse_dynamics_parameter_derivatives")


@settings(max_examples=6)
@given(seed=st.integers(0, 2**20))
def test_second_derivatives(seed: int) -> None:
    m = random_mechanism(seed, 3, (*SIMPLE, "spherical", "floating"))
    s = random_state(m, seed)
    second = values(m, "inverse_dynamics_second_derivatives", s)
    first = derive_task(m, "inverse_dynamics_derivatives").program
    n = len(s["qd"])
    for r in range(n):
        e = np.eye(n)[r]
        along = {"q": value(m, "kinematic_equations", {"q": s["q"], "qd": e}), "qd": e}
        for name, block, by in (
            ("d2tau_dqdq", "dtau_dq", "q"), ("d2tau_dqddq", "dtau_dqd", "q"),
            ("d2tau_dqddqd", "dtau_dqd", "qd"), ("d2tau_dqdddq", "dtau_dqdd", "q"),
        ):  # fmt: skip
            expected = rate(
                lambda h, by=by, block=block, d=along: evaluate(first, s | {by: s[by] + h * d[by]})[block]
            )
            close(second[name][:, :, r], expected, DIFFERENCE)


@pytest.mark.parametrize("seed", [5, 6])
def test_second_derivatives_are_symmetric_where_speeds_are_rates(seed: int) -> None:
    """Equal elements are one value, so that they agree to the last bit."""
    m: Mechanism = random_mechanism(seed, 3, ("revolute", "prismatic"))
    s = random_state(m, seed)
    made = values(m, "inverse_dynamics_second_derivatives", s)
    for name in ("d2tau_dqdq", "d2tau_dqddqd"):
        assert (made[name] == made[name].transpose(0, 2, 1)).all()
    assert (made["d2tau_dqdddq"] == made["d2tau_dqdddq"].transpose(1, 0, 2)).all()


def test_pattern_of_zeros() -> None:
    """What is marked zero is zero in every state, and nothing else is."""
    import kane

    m = random_mechanism(11, 5, ("revolute", "prismatic"), rotors=0.0, empty=0.0)
    eq = kane.derive(m)
    for task in ("inverse_dynamics_derivatives", "inverse_dynamics_second_derivatives", "mass_matrix"):
        seen = {name: np.zeros(pattern.shape, bool) for name, pattern in eq.sparsity(task).items()}
        for seed in range(3):
            for name, array in values(m, task, random_state(m, seed)).items():
                seen[name] |= array != 0
        for name, pattern in eq.sparsity(task).items():
            assert (seen[name] == pattern).all(), (task, name)
            assert not pattern.all()
