"""Derivatives in other formulations: fewer operations, the same functions."""

from __future__ import annotations

import pytest

from kane import robots
from kane.graph.evaluate import equal
from kane.mechanism.edit import with_rotors
from kane.robots.generated import tree
from kane.search import optimise

TASKS = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["puma560", "ur_like", "stanford"])
def test_fewer_operations_at_low_effort(name: str, task: str) -> None:
    found = optimise(robots.load(name), task, effort="low")
    assert found.program.counts.total < found.unsearched.counts.total
    assert equal(found.program, found.unsearched)
    saved = sum(row.saved_mul + row.saved_add for row in found.trail)
    assert saved == found.unsearched.counts.total - found.program.counts.total


@pytest.mark.parametrize("task", TASKS)
def test_a_tree_with_rotors(task: str) -> None:
    m = tree(6, types=("revolute", "prismatic"), seed=2)
    found = optimise(with_rotors(m, {m.joints[0].name: ("0.001", "50")}), task, effort="low")
    assert found.program.counts.total <= found.unsearched.counts.total
    assert equal(found.program, found.unsearched)
