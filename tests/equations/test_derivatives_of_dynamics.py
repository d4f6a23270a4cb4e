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
