"""Links fixed to links, in chains, in bunches and in any order of the file, are one body: summed here with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.mechanism.numeric import skew


def urdf(parents: list[int], numbers: np.ndarray, order: list[int]) -> str:
    """Link k + 1 on link parents[k]; link 1 turns about y, the others are fixed."""
    links, joints = [], []
    for k in order:
        m, x, y, z, shift, roll = numbers[k]
        links.append(
            f'<link name="l{k + 1}"><inertial><origin xyz="{x!r} {y!r} {z!r}"/><mass value="{m!r}"/>'
            f'<inertia ixx="{m!r}" iyy="{m!r}" izz="{m!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        kind = "fixed" if k else "continuous"
        joints.append(
            f'<joint name="j{k}" type="{kind}"><origin xyz="{shift!r} 0 {shift!r}" rpy="{roll!r} 0 0"/>'
            f'<parent link="l{parents[k]}"/><child link="l{k + 1}"/><axis xyz="0 1 0"/></joint>'
        )
    return f'<robot name="bunch"><link name="l0"/>{"".join(links)}{"".join(joints)}</robot>'


@pytest.mark.parametrize("seed", range(8))
def test_one_body(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    parents = [0, *(int(rng.integers(1, k + 1)) for k in range(1, n))]
    numbers = rng.uniform(0.1, 1.0, (n, 6)).astype(float)
    robot = kane.load(urdf(parents, numbers.tolist(), [int(k) for k in rng.permutation(n)]))
    R, p = {1: np.eye(3)}, {1: np.zeros(3)}
    moment = 0.0
    for k in range(n):
        m, x, y, z, shift, roll = numbers[k]
        if k:
            c, s = np.cos(roll), np.sin(roll)
            R[k + 1] = R[parents[k]] @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
            p[k + 1] = p[parents[k]] + R[parents[k]] @ np.array([shift, 0, shift])
        centre = p[k + 1] + R[k + 1] @ np.array([x, y, z])
        moment += m - m * (skew(centre) @ skew(centre))[1, 1]
    M = kane.derive(robot).compile().mass_matrix(np.zeros(1))
    assert M[0, 0] == pytest.approx(moment, rel=1e-12)


def test_long_chains_take_linear_work() -> None:
    """Operations on constants grow with the links, not with their square."""
    sizes = []
    for n in (20, 40):
        numbers = np.full((n, 6), 0.3).tolist()
        program = kane.derive(kane.load(urdf(list(range(n)), numbers, list(range(n))))).derived("mass_matrix").program
        sizes.append(program.first_state - program.first_constant)
    assert sizes[1] < 2.3 * sizes[0]
