"""All MJCF files of the wheels against MuJoCo: inverse and forward dynamics, mass matrix, bias, gravity.

Run by `make sweep`, which installs the wheels.  Loops, tendons and what else is no part of the tree are left out on
both sides; TREE_ONLY names the files that are refused unless that is asked for, REFUSED those that are never read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kane.equations.derive import derive_task
from kane.errors import FormatError, InputError, UnsupportedError
from kane.formats import read
from kane.mechanism.checks import judge
from kane.verification.mjcf_oracle import compare_mjcf
from robot_files import degrees, wheel_files, wheel_folder

pytest.importorskip("mujoco")
TASKS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces")
FILES = wheel_files(".xml", b"<mujoco")

KITCHEN = "gymnasium_robotics/envs/assets/kitchen_franka"
ITEMS = ("backwall", "counters", "hingecabinet", "kettle", "microwave", "oven", "slidecabinet")
# part of the message -> files
REASONS = {
    "Unrecognized XML model type: 'mujocoinclude'": (  # fragments for inclusion, no models by themselves
        "gymnasium_robotics/envs/assets/adroit_hand/adroit_assets.xml",
        "gymnasium_robotics/envs/assets/adroit_hand/adroit_model.xml",
        *(f"{KITCHEN}/franka_assets/{name}.xml" for name in ("actuator", "assets", "basic_scene", "chain")),
        f"{KITCHEN}/kitchen_assets/basic_scene.xml",
        *(f"{KITCHEN}/kitchen_assets/item_assets/{name}_{kind}.xml" for name in ITEMS for kind in ("asset", "chain")),
    ),
    "unrecognized element Element 'texture'": ("gymnasium_robotics/envs/assets/hand/shared_asset.xml",),  # a fragment
    "Error opening file '[a-z_]*.xml'": (  # tests of dm_control whose parts lie elsewhere
        "dm_control/mjcf/test_assets/model_with_invalid_filenames.xml",
        "dm_control/mujoco/testing/assets/model_with_assets.xml",
    ),
    "mass and inertia of moving bodies must be larger": ("dm_control/mjcf/test_assets/test_model.xml",),
    "inertia of geoms comes: Error: Error opening file": (  # inertia of meshes that the wheel has not
        "dm_control/locomotion/walkers/assets/build_fruitfly/assets/drosophila.xml",
        "dm_control/locomotion/walkers/assets/build_fruitfly/floor.xml",
        "dm_control/locomotion/walkers/assets/build_fruitfly/fruitfly.xml",
    ),
    "global coordinates no longer supported": ("pybullet_data/mjcf/hopper.xml", "pybullet_data/mjcf/walker2d.xml"),
    "unrecognized attribute": (
        "pybullet_data/mjcf/swimmer.xml",
        "robosuite/models/assets/grippers/xarm7_gripper.xml",
    ),
    "required attribute missing": ("pybullet_data/mjcf/half_cheetah.xml",),
    "invalid keyword": ("pybullet_data/mjcf/humanoid_fixed.xml",),
    "repeated name": (
        "dm_control/locomotion/walkers/assets/dog_v2/scene.xml",
        "robosuite/models/assets/grippers/robotiq_gripper_85.xml",
    ),
    "moves no inertia": ("robosuite/models/assets/bases/null_mobile_base.xml",),
}
REFUSED = {name: reason for reason, names in REASONS.items() for name in names}

FETCH, HAND = "gymnasium_robotics/envs/assets/fetch", "gymnasium_robotics/envs/assets/hand"
TREE_REASONS = {
    "has springdamper": (
        "dm_control/locomotion/walkers/assets/dog_v2/dog.xml",
        "dm_control/locomotion/walkers/assets/fruitfly_v2/floor.xml",
        "dm_control/locomotion/walkers/assets/fruitfly_v2/fruitfly.xml",
        "dm_control/suite/dog.xml",
    ),
    "tendon .* has stiffness, damping, friction or armature": (
        "dm_control/suite/fish.xml",
        "gymnasium_robotics/envs/multiagent_mujoco/assets/coupled_half_cheetah.xml",
        "robosuite/models/assets/grippers/jaco_three_finger_gripper.xml",
    ),
    "of type (floating|spherical) has stiffness, damping, friction or armature": (
        "dm_control/mujoco/testing/assets/model_with_ball_joints.xml",
        *(f"{FETCH}/{name}.xml" for name in ("pick_and_place", "push", "slide")),
        *(f"{HAND}/manipulate_{name}.xml" for name in ("block", "egg", "pen")),
        *(f"{HAND}/manipulate_{name}_touch_sensors.xml" for name in ("block", "egg", "pen")),
        "pybullet_data/mjcf/striker.xml",
    ),
    "equality .* holds the body .* which does not exist": (f"{FETCH}/shared.xml",),  # a fragment, nothing moves
    "closes a loop": (
        "dm_control/suite/manipulator.xml",
        "dm_control/suite/quadruped.xml",
        "dm_control/suite/stacker.xml",
        f"{FETCH}/reach.xml",
        "robosuite/models/assets/grippers/robotiq_gripper_140.xml",
        "robosuite/models/assets/grippers/robotiq_gripper_s.xml",
    ),
}
# parts or meshes in other folders of the wheel, which must be given
OUTSIDE = (
    "dm_control/locomotion/walkers/assets/dog_v2/dog.xml",
    "gymnasium_robotics/envs/assets/kitchen_franka/kitchen_assets/kitchen_env_model.xml",
)
TREE_ONLY = {name: reason for reason, names in TREE_REASONS.items() for name in names}


@pytest.mark.sweep
@pytest.mark.parametrize("name", FILES)
def test_all_files(name: str) -> None:
    """Read, and of one mind with MuJoCo at 20 random states; or refused for the reason that stands above."""
    path, folders = FILES[name], [wheel_folder(name)] if name in OUTSIDE else []
    if name in REFUSED:
        with pytest.raises(InputError, match=REFUSED[name]):
            judge(read(path), "accept")
        return
    if name in OUTSIDE:
        with pytest.raises(FormatError, match="leads out of the model's folder"):
            read(path, constraints="ignore")
    if name in TREE_ONLY:
        with pytest.raises(UnsupportedError, match=TREE_ONLY[name]):
            read(path, folders=folders)
    compare(path, folders, tree_only=name in TREE_ONLY)


def compare(path: Path, folders: Sequence[Path] = (), tree_only: bool = False) -> None:
    m = judge(read(path, constraints="ignore" if tree_only else "refuse", folders=folders), "accept")
    if degrees(m) == 0:
        return
    checks = compare_mjcf(path, m, {task: derive_task(m, task).program for task in TASKS}, 1, 20)
    assert len(checks) == len(TASKS) and not any(c.note for c in checks), checks
    assert all(c.ok for c in checks), [c for c in checks if not c.ok]


BODY = '<inertial pos="0.02 0.01 0.1" mass="{}" diaginertia="0.01 0.012 0.004" euler="20 0 25"/>'
OWN = f"""<mujoco model="own">
  <compiler eulerseq="zyx"/><option gravity="1 -2 -9"/>
  <worldbody>
    <body pos="0 0 1" euler="10 20 30">{BODY.format(3)}<freejoint/>
      <body pos="0.1 0 0.2" euler="0 45 90">{BODY.format(2)}<joint type="ball" pos="-0.02 0 0.01"/>
        <body pos="0 0.3 0" quat="0.5 0.1 -0.3 0.4">{BODY.format(1)}
          <joint axis="1 2 -1" ref="15" armature="0.2" stiffness="3"/>
          <joint type="slide" axis="0 1 1" ref="0.1" damping="1"/>
          <body name="hand">{BODY.format(0.5)}<joint name="leader" axis="0 0 1" pos="0.1 0 0"/>
            <body name="thumb" pos="0.1 0 0">{BODY.format(0.4)}<joint name="follower" axis="0 1 0" ref="30"/></body>
          </body>
        </body>
      </body>
    </body>
    <body><joint type="slide" axis="0 0 1"/><geom type="capsule" size="0.05" fromto="0 0 0 0.1 0.2 0.3"/></body>
  </worldbody>
  <equality><joint joint1="follower" joint2="leader" polycoef="0.1 -0.5 0 0 0"/></equality>
</mujoco>"""


def test_all_joint_types_of_a_file_of_our_own(tmp_path: Path) -> None:
    """Free and ball joints, two joints on a body, ref, armature, a follower, inertia from geoms."""
    path = tmp_path / "own.xml"
    path.write_text(OWN)
    compare(path)


def test_the_oracle_sees_a_wrong_number(tmp_path: Path) -> None:
    path, other = tmp_path / "own.xml", tmp_path / "other.xml"
    path.write_text(OWN)
    for old, new in (("0.4", "0.4001"), ("0.2", "0.21"), ("0 45 90", "0 45 91")):
        other.write_text(OWN.replace(f'"{old}"', f'"{new}"'))
        m = read(other)
        checks = compare_mjcf(path, m, {task: derive_task(m, task).program for task in TASKS}, 1, 3)
        assert not checks[2].ok and checks[2].name == "MuJoCo: mass_matrix"
