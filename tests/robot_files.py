"""The robot files of the wheels: where they are, and what is refused or left out with the reason.

The development extra brings example-robot-data ("erd") and icub-models ("icub"); `make sweep` puts the wheels that
tests/robot_wheels.txt names into the folder `robots` of the environment.
"""

from __future__ import annotations

import sys
import sysconfig
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from kane.errors import MasslessJointError
from kane.formats import read
from kane.mechanism.checks import judge
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Mechanism
from kane.verification.laws import without_rotors

SITE = Path(sysconfig.get_path("purelib"))
WHEELS = Path(sys.prefix) / "robots"
FOLDERS = {
    "erd": SITE / "cmeel.prefix/share/example-robot-data/robots",
    "icub": Path(sysconfig.get_path("data")) / "share/iCub/robots",
}
PACKAGES = ("pybullet_data", "robosuite", "dm_control", "gymnasium", "gymnasium_robotics")
RANDOM_BODIES = "pybullet_data/random_urdfs/"  # a thousand bodies of one link

# URDF: part of the message -> files; pinocchio reads none of them rightly either
URDF_REASONS = {
    "There is no link": (  # unexpanded xacro, no robot
        "erd/ur_description/urdf/ur3.urdf",
        "pybullet_data/torus_deform.urdf",
    ),
    "mimics .* which does not exist": ("erd/alex_description/urdf/alex_psyonic_hands.urdf",),
    "is not a finite decimal number": (  # 0.07, and -1.57.
        "pybullet_data/bicycle/bike.urdf",
        "pybullet_data/biped/biped2d_pybullet.urdf",
    ),
    "numbers where 3 are needed": (  # $(optenv ...), four numbers
        "pybullet_data/husky/husky.urdf",
        "pybullet_data/quadruped/microtaur/microtaur.urdf",
    ),
    "The XML does not parse": ("pybullet_data/humanoid/humanoid.urdf",),
}
REFUSED = {name: reason for reason, names in URDF_REASONS.items() for name in names}

# joints that move no inertia (hands without mass): a joint that is named in the refusal
MASSLESS = {
    "erd/romeo_description/urdf/romeo.urdf": "RHand",
    "erd/romeo_description/urdf/romeo_laas_small.urdf": "r_gripper_joint",
}
# on a floating base the root joint moves no inertia: links without any, or (random bodies) with mass and a zero tensor
MASSLESS_BASE = {
    f"pybullet_data/{name}.urdf": "root"
    for name in (
        "cartpole", "cube_no_rotation", "cube_rotate", "differential/diff_ring", "pendulum5", "plane", "plane100",
        "plane_implicit", "plane_transparent", "samurai", "sphere2red_nocol", "table/table",
        "table_square/table_square", "toys/concave_box", "tray/tray", "tray/tray_textured2", "tray/traybox",
    )
}  # fmt: skip


@cache
def robot_files() -> dict[str, Path]:
    """Short name -> path of the URDF files of the development wheels, sorted."""
    found = {f"{key}/{p.relative_to(root)}": p for key, root in FOLDERS.items() for p in root.rglob("*.urdf")}
    return dict(sorted(found.items()))


@cache
def wheel_folder(name: str) -> Path:
    """The folder of the package that a file belongs to."""
    package = name.partition("/")[0]
    spec = find_spec(package)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else WHEELS / package


@cache
def wheel_files(suffix: str, holds: bytes) -> dict[str, Path]:
    """Short name -> path of the files of the sweep's wheels with this suffix and this start tag."""
    found = {}
    for package in PACKAGES:
        root = wheel_folder(package)
        for path in root.rglob(f"*{suffix}") if root.is_dir() else ():
            if holds in path.read_bytes()[:100_000]:
                found[f"{package}/{path.relative_to(root)}"] = path
    return dict(sorted(found.items()))


def urdf_files() -> dict[str, Path]:
    """All URDF files that are there."""
    return robot_files() | wheel_files(".urdf", b"<robot")


def massless(name: str, base: str) -> str | None:
    """The joint that moves no inertia, None when there is none."""
    if base == "floating" and name.startswith(RANDOM_BODIES):
        return "root"
    return MASSLESS.get(name) or (MASSLESS_BASE.get(name) if base == "floating" else None)


def load(name: str, base: str) -> Mechanism:
    """The mechanism of a file, non-physical inertia accepted, without rotors (pinocchio reads none).

    Those with joints that move no inertia, which kane.load refuses, are taken as they are: forward dynamics has no
    answer for them, the other tasks have.
    """
    mechanism = read(urdf_files()[name], base=base)  # type: ignore[arg-type]
    joint = massless(name, base)
    if joint is None:
        return without_rotors(judge(mechanism, "accept"))
    with pytest.raises(MasslessJointError, match=joint):
        judge(mechanism, "accept")
    return without_rotors(mechanism)


def degrees(mechanism: Mechanism) -> int:
    return sum(len(joint_type(j).speeds(j)) for j in mechanism.joints if j.mimic is None)
