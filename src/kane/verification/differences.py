"""Where pinocchio and MuJoCo have other numbers than we by design, said in words."""

from __future__ import annotations

from kane.mechanism.formula import number_or_text
from kane.mechanism.inertia import mass_of
from kane.mechanism.model import Joint, Mechanism


def differences(mechanism: Mechanism) -> tuple[str, ...]:
    """What the other libraries do otherwise with this robot, and how it was compared all the same."""
    format_ = mechanism.report.format
    joints = mechanism.joints
    followers = [j for j in joints if j.mimic is not None]
    lines = []
    if followers and format_ == "urdf":
        lines.append(
            f"mimic: followers have no freedom of their own here ({_names(followers)}); MuJoCo and, unless asked, "
            "pinocchio leave them free. Compared with their motion reduced by hand."
        )
    elif followers:
        lines.append(
            f"equalities: followers follow exactly here ({_names(followers)}), softly in MuJoCo. Compared with "
            "constraints off and their motion reduced by hand."
        )
    rotors = [j for j in joints if j.rotor is not None]
    if rotors and format_ == "urdf":
        lines.append(
            f"armature: rotor inertia of {_names(rotors)} is part of M here; the others do not read it from URDF "
            "(model.armature, dof_armature). Compared without it."
        )
    fused = number_or_text(mass_of(mechanism, "still"), mechanism.parameter_values)
    if fused:
        mass = fused if isinstance(fused, str) else f"{fused:.6g}"
        lines.append(
            f"fused root: {mass} kg are fixed to the root and load no joint here; pinocchio keeps them in its "
            "universe, MuJoCo fuses them with its world. M and bias are the same."
        )
    if format_ == "urdf" and (turning := [j for j in joints if j.type == "continuous"]):
        lines.append(
            f"continuous: {_names(turning)} are one angle each here and in MuJoCo, cosine and sine in pinocchio's q."
        )
    if format_ == "urdf" and any(j.type == "floating" for j in joints):
        lines.append(
            "floating: here u is angular, then linear velocity and the quaternion w, x, y, z; pinocchio has the linear "
            "velocity first and the quaternion x, y, z, w."
        )
    if format_ == "mjcf" and any(j.type == "floating" for j in joints):
        lines.append(
            "free joint: here both velocities are in axes of the body, the angular one first; MuJoCo has the linear "
            "one first, in axes of the world."
        )
    if any(j.damping or j.friction or j.stiffness for j in joints):
        lines.append("friction, damping and springs of joints are apart from M and bias in all of them.")
    return tuple(lines)


def _names(joints: list[Joint]) -> str:
    names = [repr(joint.name) for joint in joints]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
