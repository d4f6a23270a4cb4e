"""Links fixed to links, in chains, in bunches and in any order of the file, are one body: summed here with NumPy."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kane
from kane.equations.derive import derive_task
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


def carriers(links: int, rng: np.random.Generator) -> str:
    """Two turning links with so many fixed ones between them, placed by random shifts and three random angles."""
    parts = ['<robot name="carriers"><link name="l0"/>']
    for k in range(1, links + 3):
        kind = "continuous" if k in (1, links + 2) else "fixed"
        x, y, z, roll, pitch, yaw = rng.uniform(-1, 1, 6).round(3).tolist()
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="{x} {z} {y}"/><mass value="{k}"/>'
            f'<inertia ixx="0.1" iyy="0.11" izz="0.12" ixy="0.01" ixz="0.02" iyz="0.01"/></inertial></link>'
            f'<joint name="j{k}" type="{kind}"><origin xyz="{x} {y} {z}" rpy="{roll} {pitch} {yaw}"/>'
            f'<parent link="l{k - 1}"/><child link="l{k}"/><axis xyz="0 0 1"/></joint>'
        )
    return "".join([*parts, "</robot>"])


@pytest.mark.parametrize("task", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_links_between_two_joints_cost_nothing(task: str) -> None:
    """However many fixed links stand between two joints, the operations are those of one placement."""
    counts = [
        derive_task(kane.load(carriers(links, np.random.default_rng(1))).mechanism, task).program.counts
        for links in (0, 1, 2, 9)
    ]
    assert len({(c.mul, c.add, c.trig) for c in counts}) == 1


def test_composed_placements_agree_with_pinocchio() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        text = carriers(seed + 1, rng)
        model = pin.buildModelFromXML(text)
        data, robot = model.createData(), kane.derive(kane.load(text)).compile()
        q, qd, qdd = rng.uniform(-2, 2, (3, 2))
        full = np.ravel(np.column_stack([np.cos(q), np.sin(q)]))  # continuous joints: cosine and sine
        assert np.allclose(robot.inverse_dynamics(q, qd, qdd), pin.rnea(model, data, full, qd, qdd), rtol=1e-11)
        M = pin.crba(model, data, full)
        assert np.allclose(np.triu(robot.mass_matrix(q)), np.triu(M), rtol=1e-11)
