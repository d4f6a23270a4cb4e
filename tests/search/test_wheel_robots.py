"""Searched programs of real robots: within 1e-12 of the unsearched ones at random states, and proved equal."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.graph.evaluate import equal, evaluate, random_inputs
from kane.mechanism.model import Mechanism
from kane.search import Effort, optimise
from robot_files import FOLDERS, WHEELS

ERD = FOLDERS["erd"]
FILES: dict[str, tuple[Path, str]] = {
    "panda": (ERD / "panda_description/urdf/panda.urdf", "fixed"),
    "ur5": (ERD / "ur_description/urdf/ur5_robot.urdf", "fixed"),
    "iiwa": (WHEELS / "pybullet_data/kuka_iiwa/model.urdf", "fixed"),
    "talos": (ERD / "talos_data/robots/talos_reduced.urdf", "floating"),
}
TASKS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
STATES, CLOSE = 200, 1e-12


@cache
def robot(name: str) -> Mechanism:
    file, base = FILES[name]
    if not file.exists():
        pytest.skip(f"{file.name} of {name} is in no wheel that is installed")
    return kane.load(file, base=base, nonphysical="accept", rotors=False).mechanism  # type: ignore[arg-type]


def compare(name: str, task: str, effort: Effort) -> None:
    """Relative to the largest element of each output over all states."""
    found = optimise(robot(name), task, effort=effort)
    assert found.program.counts.total <= found.unsearched.counts.total
    arrays = random_inputs(found.program, STATES, 2.0, seed=11)
    a, b = evaluate(found.unsearched, arrays), evaluate(found.program, arrays)
    for out in a:
        assert np.isfinite(a[out]).all() and np.abs(a[out] - b[out]).max() <= CLOSE * np.abs(a[out]).max()
    assert equal(found.program, found.unsearched)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", FILES)
def test_low_effort(name: str, task: str) -> None:
    compare(name, task, "low")


@pytest.mark.sweep
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", FILES)
def test_normal_effort(name: str, task: str) -> None:
    compare(name, task, "normal")
