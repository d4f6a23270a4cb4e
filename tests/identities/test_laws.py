"""Physical laws on random mechanisms of every joint type; and that each check can fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.equations.derive import derive_task
from kane.graph.program import Program
from kane.mechanism.model import Mechanism
from kane.verification.exact import exact_checks
from kane.verification.laws import frames_agree, verify
from strategies import SIMPLE, TYPES, general_mechanism, random_mechanism

TASKS = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces", "coriolis_matrix",
    "kinetic_energy", "potential_energy", "kinematic_equations",
)  # fmt: skip


def programs(mechanism: Mechanism) -> dict[str, Program]:
    return {task: derive_task(mechanism, task).program for task in TASKS}


def check(mechanism: Mechanism, seed: int) -> None:
    checks = (*verify(mechanism, programs(mechanism), seed), *exact_checks(mechanism, seed=seed))
    assert len(checks) == 12
    assert all(c.ok for c in checks), [c for c in checks if not c.ok]


@pytest.mark.parametrize("kind", TYPES[:-1])
def test_chain_of_one_type(kind: str) -> None:
    check(random_mechanism(5, 3, (kind,)), 5)


@given(seed=st.integers(0, 2**20), joints=st.integers(2, 5))
def test_trees(seed: int, joints: int) -> None:
    check(random_mechanism(seed, joints, mimic=0.2), seed)


@given(seed=st.integers(0, 2**20), joints=st.integers(2, 4))
def test_spinning_rotors(seed: int, joints: int) -> None:
    check(random_mechanism(seed, joints, (*SIMPLE, "spherical"), rotors=0.9, exact=True), seed)


@given(seed=st.integers(0, 2**20))
def test_general_joints(seed: int) -> None:
    check(general_mechanism(seed), seed)


ARM = random_mechanism(11, 3, ("revolute", "prismatic", "universal"), rotors=0.0, empty=0.0)
HEAVIER = ARM.replace_link(replace(ARM.links[-1], inertia=replace(ARM.links[-1].inertia, mass=Fraction(9))))  # type: ignore[type-var]
LIGHT = replace(ARM, gravity=(Fraction(0), Fraction(1), Fraction(2)))
CAUGHT = {
    "inverse_dynamics": (HEAVIER, "tau = M udot + bias"),
    "forward_dynamics": (HEAVIER, "inverse of forward dynamics"),
    "mass_matrix": (HEAVIER, "kinetic energy = u M u / 2"),
    "bias_forces": (LIGHT, "C u = bias - gravity"),
    "gravity_forces": (LIGHT, "gravity = dV/dq"),
    "coriolis_matrix": (HEAVIER, "dM/dt - 2C skew"),
    "kinetic_energy": (HEAVIER, "power = d(T + V)/dt"),
    "potential_energy": (LIGHT, "gravity = dV/dq"),
}


@pytest.mark.parametrize("task", CAUGHT)
def test_wrong_equations_are_found(task: str) -> None:
    """The equations of another mechanism in one task: the law that uses them fails, and so does the witness."""
    other, law = CAUGHT[task]
    found = verify(ARM, programs(ARM) | {task: derive_task(other, task).program}, 3)
    failed = {c.name for c in found if not c.ok}
    assert law in failed
    has_witness = task not in ("coriolis_matrix", "kinetic_energy", "potential_energy")
    assert ("agreement with plain Newton-Euler" in failed) == has_witness


def test_impossible_inertia_is_found() -> None:
    last = ARM.links[-1]
    assert last.inertia is not None
    negative = ARM.replace_link(replace(last, inertia=replace(last.inertia, mass=Fraction(-9))))
    found = {c.name: c for c in verify(negative, programs(negative), 3)}
    assert not found["M positive definite"].ok
    accepted = {c.name: c for c in verify(negative, programs(negative), 3, physical=False)}
    assert all(c.ok for c in accepted.values())
    assert "non-physical" in accepted["M positive definite"].note


def test_frames_are_compared_with_the_witness() -> None:
    tasks = ("forward_kinematics", "jacobian", "jacobian_rate")
    table = {name: {t: derive_task(ARM, t, name).program for t in tasks} for name in ("l2", "l3")}
    assert [c.ok for c in frames_agree(ARM, table)] == [True] * 6
    crossed = frames_agree(ARM, {"l2": table["l3"], "l3": table["l2"]})
    assert [c.ok for c in crossed] == [False] * 6


def test_not_a_number_is_not_agreement() -> None:
    """A function that returns NaN fails every check it takes part in."""

    class Broken:
        program = programs(ARM)["inverse_dynamics"]

        def __call__(self, *arrays: np.ndarray) -> np.ndarray:
            return np.full(np.shape(arrays[1]), np.nan)

    found = verify(ARM, programs(ARM) | {"inverse_dynamics": Broken()}, 3)
    assert {c.name for c in found if not c.ok} >= {
        "agreement with plain Newton-Euler", "inverse of forward dynamics", "power = d(T + V)/dt"
    }  # fmt: skip


def test_parameters_without_values() -> None:
    """Checks go on with the values that are given for them (1 where the regressor needs one)."""
    from kane.mechanism import formula as f
    from kane.mechanism.model import Parameter

    last = ARM.links[-1]
    assert last.inertia is not None
    heavy = replace(last, inertia=replace(last.inertia, mass=f.name("load")))
    m = replace(ARM.replace_link(heavy), parameters=(Parameter("load"),))
    checks = (*verify(m, programs(m), parameters=(2.5,)), *exact_checks(m))
    assert len(checks) == 12
    assert all(c.ok for c in checks), checks
    wrong = verify(m, programs(m) | {"mass_matrix": derive_task(ARM, "mass_matrix").program}, parameters=(2.5,))
    assert not all(c.ok for c in wrong)


def test_laws_that_want_the_kinematic_equations_are_left_out_without_them() -> None:
    m = random_mechanism(2, 2, ("floating", "revolute"))
    made = programs(m)
    names = {c.name for c in verify(m, made)}
    del made["kinematic_equations"]
    fewer = verify(m, made)
    assert all(c.ok for c in fewer)
    assert names - {c.name for c in fewer} == {"dM/dt - 2C skew", "gravity = dV/dq", "power = d(T + V)/dt"}
