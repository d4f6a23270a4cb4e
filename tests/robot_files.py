"""The URDF files of the development wheels, and what is left out with the reason."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path

from kane.formats import read
from kane.mechanism.checks import judge
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Mechanism
from kane.verification.laws import without_rotors

SITE = Path(sysconfig.get_path("purelib"))
FOLDERS = {
    "erd": SITE / "cmeel.prefix/share/example-robot-data/robots",
    "icub": Path(sysconfig.get_path("data")) / "share/iCub/robots",
}

# name -> part of the message that refuses it; pinocchio reads none of them rightly either
REFUSED = {
    "erd/ur_description/urdf/ur3.urdf": "no link",
    "erd/alex_description/urdf/alex_psyonic_hands.urdf": "mimics",
}

# joints that move no inertia (hands without mass): a joint that is named in the refusal
MASSLESS = {
    "erd/romeo_description/urdf/romeo.urdf": "RHand",
    "erd/romeo_description/urdf/romeo_laas_small.urdf": "r_gripper_joint",
}


@cache
def robot_files() -> dict[str, Path]:
    """Short name -> path, sorted."""
    found = {f"{key}/{p.relative_to(root)}": p for key, root in FOLDERS.items() for p in root.rglob("*.urdf")}
    return dict(sorted(found.items()))


def load(name: str, base: str) -> Mechanism:
    """The mechanism of a file, non-physical inertia accepted, without rotors (pinocchio reads none).

    Those with joints that move no inertia, which kane.load refuses, are taken as they are: forward dynamics has no
    answer for them, the other tasks have.
    """
    mechanism = read(robot_files()[name], base=base)  # type: ignore[arg-type]
    if name in MASSLESS:
        return without_rotors(mechanism)
    return without_rotors(judge(mechanism, "accept"))


def degrees(mechanism: Mechanism) -> int:
    return sum(len(joint_type(j).speeds(j)) for j in mechanism.joints if j.mimic is None)
