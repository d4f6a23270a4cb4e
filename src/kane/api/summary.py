"""What a robot is, as text and as the header of every JSON object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kane.mechanism import formula as f
from kane.mechanism.inertia import mass_of

if TYPE_CHECKING:
    from kane.api.robot import Robot

SCHEMA = 1
_ORDER = ("nonphysical", "repaired", "ignored", "defaulted", "snapped", "lumped")  # what matters most first


def header(robot: Robot, command: str, tree: bool = True) -> dict[str, Any]:
    """The fields that every JSON object starts with; gravity and masses are formulas where values are missing.

    tree: whether the command is about the tree alone, and so says what it leaves out.
    """
    notes = [note.text for note in robot.report.notes if note.kind == "nonphysical"]
    notes += _beyond_trees(robot) if tree else []
    return {
        "schema": SCHEMA,
        "command": command,
        "robot": {
            "name": robot.name,
            "joints": list(robot.joint_names),
            "coordinates": list(robot.coordinate_names),
            "speeds": list(robot.speed_names),
            "mass_total": value_of(robot, mass_of(robot.mechanism)),
            "mass_moving": value_of(robot, mass_of(robot.mechanism, "moving")),
        },
        "gravity": [value_of(robot, x) for x in robot.mechanism.gravity],
        "notes": notes,
    }


def value_of(robot: Robot, scalar: f.Scalar) -> float | str:
    """The number, or the formula where a parameter in it has no value."""
    return f.number_or_text(scalar, robot.mechanism.parameter_values)


def shown(robot: Robot, scalar: f.Scalar) -> str:
    """The number in six digits, or the formula where a parameter in it has no value."""
    value = value_of(robot, scalar)
    return value if isinstance(value, str) else f"{value:g}"


def _beyond_trees(robot: Robot) -> list[str]:
    """What the tasks leave out."""
    return [
        f"The mechanism has {what}; the tasks of its tree leave them out, Kane's steps, linear models and simulation "
        "have them."
        for what in ("loads", "constraints")
        if getattr(robot.mechanism, what)
    ]


def import_notes(robot: Robot) -> dict[str, list[str]]:
    """What reading the file changed or passed over, by kind."""
    kinds = ("lumped", "snapped", "ignored", "repaired", "defaulted")
    return {kind: [note.text for note in robot.report.of(kind)] for kind in kinds}


def conventions(robot: Robot) -> list[str]:
    """What q, u and tau of this robot are."""
    lines = [
        "M(q) udot + bias(q, u) = tau, gravity in bias; friction, damping and springs are apart; SI units",
        "N: axes of the root link; inertia about mass centres; Ixy is the element of the matrix",
        "coordinates and forces in the order of the moving joints in the description, followers left out",
    ]
    for joint in robot.mechanism.joints:
        if joint.type == "floating":
            lines.append(
                f"joint {joint.name!r}: q = x, y, z, quaternion w, x, y, z; u = angular, then linear velocity in axes "
                f"of {joint.child!r}; tau = torque, then force in these axes"
            )
        elif joint.type == "spherical":
            lines.append(
                f"joint {joint.name!r}: q = quaternion w, x, y, z; u = angular velocity in axes of {joint.child!r}"
            )
        elif joint.type == "planar":
            lines.append(f"joint {joint.name!r}: q = x, y, angle; u = their rates, in the joint's axes before it moves")
    return lines


def summary(robot: Robot) -> str:
    """The robot on one page: tree, masses, gravity, conventions, notes."""
    gravity = ", ".join(shown(robot, x) for x in robot.mechanism.gravity)
    mass, moving = (shown(robot, mass_of(robot.mechanism, links)) for links in ("all", "moving"))
    lines = [
        f"{robot.name}: {len(robot.coordinate_names)} coordinates, {len(robot.speed_names)} speeds",
        f"  mass {mass} kg, of it moving {moving} kg",
        f"  gravity ({gravity}) m/s^2 in axes of N",
        "",
        *tree_lines(robot),
    ]
    if beyond := _beyond_trees(robot):
        lines += ["", *(f"  {text}" for text in beyond)]
    notes = sorted(robot.report.notes, key=lambda note: _ORDER.index(note.kind) if note.kind in _ORDER else -1)
    if notes:
        lines += ["", *(f"  {note.kind}: {note.text}" for note in notes)]
    return "\n".join(lines)


def tree_lines(robot: Robot) -> list[str]:
    """The tree of links, one line each, indented by depth."""
    mechanism = robot.mechanism
    lines: list[str] = []
    stack = [(mechanism.root, 0, "fixed in N")]
    while stack:
        link, depth, how = stack.pop()
        lines.append(f"  {'  ' * depth}{link}  ({how}){_mass(robot, link)}")
        for joint in reversed([j for j in mechanism.joints if j.parent == link]):
            follows = f", follows {joint.mimic.joint}" if joint.mimic else ""
            stack.append((joint.child, depth + 1, f"{joint.type} {joint.name}{follows}"))
    return lines


def _mass(robot: Robot, link: str) -> str:
    inertia = robot.mechanism.link(link).inertia
    return "" if inertia is None or f.is_zero(inertia.mass) else f"  {shown(robot, inertia.mass)} kg"
