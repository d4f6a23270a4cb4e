"""Every task of the robots of the development wheels against pinocchio, MuJoCo, the witness and the physical laws.

The normal suite takes a dozen robots; `pytest -m sweep` takes all, fixed and floating, at 20 random states. Not
covered: files that kane refuses (REFUSED, with the reason), forward dynamics of joints without inertia (MASSLESS),
files without moving joints (NO_JOINTS); MuJoCo where its URDF reader does not go (floating bases).
"""

from __future__ import annotations

import pytest

from kane.equations.derive import derive_task
from kane.errors import InputError, MasslessJointError
from kane.formats import read
from kane.graph.program import Program
from kane.mechanism.checks import judge
from kane.mechanism.model import Mechanism
from kane.verification.check import Check
from kane.verification.exact import exact_checks
from kane.verification.laws import verify
from kane.verification.oracles import compare_mujoco, compare_pinocchio
from robot_files import MASSLESS, REFUSED, degrees, load, robot_files

TASKS = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces", "coriolis_matrix",
    "kinetic_energy", "potential_energy", "kinematic_equations", "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives", "regressor",
)  # fmt: skip
OF_FRAMES = ("forward_kinematics", "jacobian", "jacobian_rate")
NO_JOINTS = ("erd/hector_description/robots/quadrotor_base.urdf", "erd/iris_description/robots/iris_simple.urdf")
QUICK = (
    ("erd/double_pendulum_description/urdf/double_pendulum_continuous.urdf", "floating"),
    ("erd/panda_description/urdf/panda.urdf", "fixed"),
    ("erd/ur_description/urdf/ur5_robot.urdf", "fixed"),
    ("erd/kinova_description/robots/kinova.urdf", "fixed"),
    ("erd/finger_edu_description/robots/finger_edu.urdf", "floating"),
    ("erd/borinot_description/urdf/borinot_flying_arm_2.urdf", "floating"),
    ("erd/xarm_description/urdf/xarm7.urdf", "fixed"),
    ("erd/so_arm_description/urdf/so101.urdf", "fixed"),
    ("erd/z1_description/urdf/z1.urdf", "floating"),
    ("erd/bolt_description/robots/bolt.urdf", "floating"),
    ("erd/tiago_description/robots/tiago_no_hand.urdf", "fixed"),
    ("erd/baxter_description/urdf/baxter.urdf", "fixed"),
)


def programs(mechanism: Mechanism, tasks: tuple[str, ...], frame: str | None = None) -> dict[str, Program]:
    return {task: derive_task(mechanism, task, frame).program for task in tasks}


def checked(name: str, base: str, states: int) -> list[Check]:
    path, m = robot_files()[name], load(name, base)
    tasks = tuple(t for t in TASKS if not (name in MASSLESS and t.startswith("forward_dynamics")))
    functions = programs(m, tasks)
    links = {m.links[-1].name, m.links[len(m.links) // 2].name}
    frames = {link: programs(m, OF_FRAMES, link) for link in sorted(links)}
    physical = not m.report.of("nonphysical") and name not in MASSLESS
    pinocchio = compare_pinocchio(path, m, functions, 1, states, frames)
    # nothing was left out in silence: the Coriolis matrix is checked twice, the kinematic equations are not
    assert len(pinocchio) == len(tasks) + 3 * len(frames), pinocchio
    mujoco = compare_mujoco(path, m, functions, 2, min(states, 8))
    laws = verify(m, functions, 3, min(states, 4), physical=physical)
    return [*pinocchio, *mujoco, *laws, *exact_checks(m, seed=4)]


@pytest.mark.parametrize(("name", "base"), QUICK, ids=[f"{n.rpartition('/')[2]}-{b}" for n, b in QUICK])
def test_some_robots(name: str, base: str) -> None:
    checks = checked(name, base, 8)
    assert all(c.ok for c in checks), [c for c in checks if not c.ok]


@pytest.mark.parametrize("name", REFUSED)
def test_refused_files(name: str) -> None:
    """What is not covered is refused with the reason."""
    with pytest.raises(InputError, match=REFUSED[name]):
        judge(read(robot_files()[name]), "accept")


@pytest.mark.parametrize("name", MASSLESS)
def test_joints_without_inertia(name: str) -> None:
    """Refused by name of the joint; the sweep compares all their tasks but forward dynamics."""
    with pytest.raises(MasslessJointError, match=MASSLESS[name]):
        judge(read(robot_files()[name]), "accept")


@pytest.mark.parametrize("name", NO_JOINTS)
def test_files_without_joints(name: str) -> None:
    assert degrees(load(name, "fixed")) == 0
    assert degrees(load(name, "floating")) == 6


@pytest.mark.sweep
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", [n for n in robot_files() if n not in REFUSED])
def test_all_robots(name: str, base: str) -> None:
    if degrees(load(name, base)) == 0:
        assert name in NO_JOINTS
        return
    checks = checked(name, base, 20)
    assert all(c.ok for c in checks), [c for c in checks if not c.ok]
