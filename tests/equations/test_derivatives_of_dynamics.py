"""Derivatives of inverse and forward dynamics, in the tangent, against central differences of fourth order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.equations.derive import derive_task
from kane.graph.evaluate import evaluate
from kane.mechanism.model import Mechanism
from kane.verification.functions import rate
from strategies import SIMPLE, TYPES, general_mechanism, random_mechanism, random_state
from task_values import value, values
from tolerances import DIFFERENCE


def check(mechanism: Mechanism, seed: int) -> None:
    s = random_state(mechanism, seed)
    n = s["qd"].shape[-1]
    for task, third in (("inverse_dynamics", "qdd"), ("forward_dynamics", "tau")):
        program = derive_task(mechanism, task).program
        made = list(values(mechanism, f"{task}_derivatives", s).values())
        for r in range(n):
            e = np.eye(n)[r]
            along = value(mechanism, "kinematic_equations", {"q": s["q"], "qd": e})
            for column, name, direction in ((made[0], "q", along), (made[1], "qd", e), (made[2], third, e)):
                expected = rate(
                    lambda h, name=name, d=direction, program=program: next(
                        iter(evaluate(program, s | {name: s[name] + h * d}).values())
                    )
                )
                scale = max(1.0, np.abs(expected).max(initial=0.0), np.abs(column).max(initial=0.0))
                assert np.abs(column[:, r] - expected).max(initial=0.0) <= DIFFERENCE * scale, (task, name, r)


@pytest.mark.parametrize("kind", TYPES[:-1])
def test_chain_of_one_type(kind: str) -> None:
    check(random_mechanism(7, 2, (kind,)), 7)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**20), joints=st.integers(2, 4))
def test_trees(seed: int, joints: int) -> None:
    check(random_mechanism(seed, joints, (*SIMPLE, "spherical", "floating"), mimic=0.2), seed)


def test_general_joints() -> None:
    check(general_mechanism(3), 3)


def test_speeds_of_the_users_own() -> None:
    """The tangent direction of a speed is what it does to the coordinates."""
    from dataclasses import replace

    from kane.mechanism import formula as f
    from kane.mechanism.model import SpeedDefinition

    m = random_mechanism(5, 2, ("revolute", "prismatic"))
    texts = ("j1_dot + sin(j2)*j2_dot", "(2 + cos(j1))*j2_dot")
    check(replace(m, speeds=tuple(SpeedDefinition(f"u{k}", f.parse(t)) for k, t in enumerate(texts))), 5)


def test_spinning_rotors() -> None:
    check(random_mechanism(6, 4, ("revolute", "prismatic"), rotors=1.0, exact=True), 6)


def test_external_wrenches_move_with_their_frames() -> None:
    """The derivatives hold w fixed in axes of N: J^T w changes with q."""
    m = random_mechanism(8, 3, ("revolute", "spherical"))
    s = random_state(m, 8) | {"w": np.array([1.0, -2.0, 0.5, 3.0, 1.5, -1.0])}
    frame = m.links[-1].name
    made = values(m, "inverse_dynamics_derivatives", s, external=(frame,))["dtau_dq"]
    program = derive_task(m, "inverse_dynamics", external=(frame,)).program
    for r in range(len(s["qd"])):
        along = value(m, "kinematic_equations", {"q": s["q"], "qd": np.eye(len(s["qd"]))[r]})
        expected = rate(lambda h, d=along: evaluate(program, s | {"q": s["q"] + h * d})["tau"])  # type: ignore[misc]
        assert made[:, r] == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_parameters_that_stay_symbols() -> None:
    m = random_mechanism(9, 3, ("revolute", "prismatic"))
    s = random_state(m, 9)
    for task in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        numeric, symbolic = values(m, task, s), values(m, task, s, parameters="symbolic")
        for name, array in numeric.items():
            assert symbolic[name] == pytest.approx(array, rel=1e-9, abs=1e-11)
