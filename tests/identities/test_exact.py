"""What has to hold exactly: regrouping at random primes, zeros that are zero, the same bytes under any hash seed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane import robots
from kane.equations.derive import derive_task
from kane.equations.tasks import TASKS
from kane.graph.evaluate import equal
from kane.mechanism.model import Inertia, Joint, Link, Mechanism, Turn
from kane.verification.exact import regrouping, tiny, torques
from strategies import TYPES, random_mechanism


@pytest.mark.parametrize("name", ["puma560", "puma560_corke", "stanford", "scara", "ur_like"])
@pytest.mark.parametrize("parameters", ["numeric", "symbolic"])
def test_regrouped_torques_of_bundled_robots(name: str, parameters: str) -> None:
    """At random primes, decimals as rationals: not a matter of rounding."""
    assert regrouping(robots.load(name), parameters).ok  # type: ignore[arg-type]


@settings(max_examples=6)
@given(seed=st.integers(0, 2**20), joints=st.integers(2, 5))
def test_regrouped_torques_of_random_trees(seed: int, joints: int) -> None:
    assert regrouping(random_mechanism(seed, joints, TYPES)).ok


def test_regrouping_check_notices_the_last_digit() -> None:
    """A moment changed by 1e-15 kg m^2 is another function."""
    m = robots.load("puma560")
    link = m.links[-1]
    assert link.inertia is not None
    moments = (link.inertia.moments[0], Fraction(1, 10**15), *link.inertia.moments[2:])
    other = m.replace_link(Link(link.name, Inertia(link.inertia.mass, link.inertia.com, moments)))
    assert not equal(torques(m), torques(other, plain=True), 1)


@pytest.mark.parametrize("turn", [None, *((a, k) for a in (0, 1) for k in (1, 2, 3))])
def test_vertical_axis_has_no_gravity_terms(turn: tuple[int, int] | None) -> None:
    """A vertical axis carries no weight and no tiny numbers, however the joint frame is turned by right angles."""
    from kane.mechanism.formula import PI

    placement, axis = (), [Fraction(0), Fraction(0), Fraction(1)]
    if turn is not None:
        a, k = turn
        placement = (Turn(a, PI * Fraction(k, 2)),)  # type: ignore[arg-type]
        if k % 2:  # z of N in the turned axes
            axis = [Fraction(0)] * 3
            axis[1 - a] = Fraction(1)
    one, zero = Fraction(1), Fraction(0)
    body = Inertia(2 * one, (one / 3, one / 7, one / 5), (one, one / 9, zero, one, zero, one))
    m = Mechanism(
        "post", (Link("base"), Link("arm", body)), (Joint("turn", "revolute", "base", "arm", placement, tuple(axis)),)
    )  # fmt: skip
    gravity = derive_task(m, "gravity_forces").program
    assert gravity.outputs[0].refs[0] >> 1 in range(len(gravity.values))
    value = gravity.values[gravity.outputs[0].refs[0] >> 1]
    assert (value.op, value.payload) == ("num", 0)
    for task in ("inverse_dynamics", "mass_matrix", "forward_dynamics", "kinetic_energy"):
        program = derive_task(m, task).program
        assert not tiny(program)
        assert program.counts.trig == 0, task


@settings(max_examples=5)
@given(seed=st.integers(0, 2**20))
def test_right_angles_leave_no_tiny_numbers(seed: int) -> None:
    m = random_mechanism(seed, 4, ("revolute", "prismatic"))
    for task in ("inverse_dynamics", "mass_matrix"):
        assert not tiny(derive_task(m, task).program, 1e-15)


SCRIPT = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from kane import robots
from kane.equations.derive import derive_task
from kane.equations.tasks import TASKS
from strategies import SIMPLE, random_mechanism
for m in (
    robots.load("puma560"), random_mechanism(8, 4, SIMPLE, mimic=0.3), random_mechanism(9, 3, ("floating", "revolute"))
):
    for name, task in TASKS.items():
        if name == "slotine_li_regressor" and m.name == "random9":
            continue
        made = derive_task(m, name, m.links[-1].name if task.per_frame else None, "symbolic")
        print(m.name, name, hashlib.sha256(repr(made.program).encode()).hexdigest())
"""


def test_same_bytes_under_any_hash_seed() -> None:
    """Every task, three mechanisms, two interpreters with different PYTHONHASHSEED."""
    tests = str(Path(__file__).parents[1])
    outputs = []
    for seed in ("1", "31337"):
        made = subprocess.run(
            [sys.executable, "-c", SCRIPT, tests],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(made.stdout)
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) >= 3 * len(TASKS) - 1


def test_deriving_twice_gives_the_same_program() -> None:
    m = random_mechanism(12, 4)
    first, second = (repr(derive_task(m, "inverse_dynamics").program) for _ in range(2))
    assert hashlib.sha256(first.encode()).digest() == hashlib.sha256(second.encode()).digest()


def test_order_of_links_in_the_file_does_not_change_the_torques() -> None:
    from dataclasses import replace

    from kane.graph.evaluate import evaluate
    from strategies import random_state

    m = random_mechanism(13, 4)
    other = replace(m, links=(m.links[0], *reversed(m.links[1:])))
    s = random_state(m, 13)
    a, b = (evaluate(derive_task(x, "inverse_dynamics").program, s)["tau"] for x in (m, other))
    np.testing.assert_allclose(a, b, rtol=1e-12)
