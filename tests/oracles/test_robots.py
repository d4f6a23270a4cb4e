"""Every task of all URDF files of the wheels against pinocchio, MuJoCo, the witness and the physical laws.

The normal suite takes a dozen robots of the development wheels; the sweep takes all files of all wheels that are
installed (`make sweep` installs them), fixed and floating, at 20 random states.  Not covered: files that kane refuses
(REFUSED, with the reason), forward dynamics of joints without inertia (MASSLESS), a fixed base where nothing moves on
it; MuJoCo where its URDF reader does not go (floating bases).
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
from robot_files import MASSLESS, REFUSED, degrees, load, massless, robot_files, urdf_files

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
    path, m = urdf_files()[name], load(name, base)
    light = massless(name, base) is not None
    tasks = tuple(t for t in TASKS if not (light and t.startswith("forward_dynamics")))
    functions = programs(m, tasks)
    links = {m.links[-1].name, m.links[len(m.links) // 2].name}
    frames = {link: programs(m, OF_FRAMES, link) for link in sorted(links)}
    physical = not m.report.of("nonphysical") and not light
    pinocchio = compare_pinocchio(path, m, functions, 1, states, frames)
    # nothing was left out in silence: the Coriolis matrix is checked twice, the kinematic equations are not
    assert len(pinocchio) == len(tasks) + 3 * len(frames), pinocchio
    mujoco = compare_mujoco(path, m, functions, 2, states)
    laws = verify(m, functions, 3, min(states, 4), physical=physical)
    return [*pinocchio, *mujoco, *laws, *exact_checks(m, seed=4)]


@pytest.mark.parametrize(("name", "base"), QUICK, ids=[f"{n.rpartition('/')[2]}-{b}" for n, b in QUICK])
def test_some_robots(name: str, base: str) -> None:
    checks = checked(name, base, 8)
    assert all(c.ok for c in checks), [c for c in checks if not c.ok]


@pytest.mark.parametrize("name", [n for n in REFUSED if n in urdf_files()])
def test_refused_files(name: str) -> None:
    """What is not covered is refused with the reason."""
    with pytest.raises(InputError, match=REFUSED[name]):
        judge(read(urdf_files()[name]), "accept")


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
@pytest.mark.parametrize("name", [n for n in urdf_files() if n not in REFUSED])
def test_all_files(name: str, base: str) -> None:
    """Files in which nothing moves (the random bodies among them) are compared on a floating base only."""
    if degrees(load(name, base)) == 0:
        assert base == "fixed"
        return
    checks = checked(name, base, 20)
    assert all(c.ok for c in checks), [c for c in checks if not c.ok]
