"""The robot on one page: facts, tree, conventions, and what reading its file changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import ClassVar

from kane.kinematics.coordinates import find_coordinates
from kane.mechanism import formula as f
from kane.mechanism.inertia import mass_of
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Joint, Limits, Mechanism

CONVENTIONS = (
    ("Equations", "M(q) u̇ + bias(q, u) = τ; with u = q̇, bias holds Coriolis, centrifugal and gravity forces."),
    ("Units", "SI: m, kg, s, rad, N, N m."),
    ("Frames", "N is the inertial frame; the root link is fixed in it. Poses are of a frame in N."),
    ("Friction", "Rigid-body tasks leave friction and damping out; simulation includes them."),
    ("Jacobians", "Angular rows first, axes of N, at the frame's origin."),
    (
        "Counts",
        "Additions and multiplications whose result depends on the state. Free: what depends only on parameters, "
        "and multiplication by −1. Divisions, roots and sine/cosine are counted apart.",
    ),
)
KINDS = {
    "nonphysical": "Inertia that no body can have",
    "repaired": "Repaired",
    "lumped": "Lumped",
    "snapped": "Taken as exact",
    "ignored": "Passed over",
    "defaulted": "Assumed",
}


@dataclass(frozen=True, slots=True)
class Branch:
    """One link of the tree: depth, name, how it is held, limits, mass."""

    depth: int
    link: str
    how: str
    coordinates: str
    limits: str
    mass: str


@dataclass(frozen=True, slots=True)
class Overview:
    """Facts (name, value), the tree, conventions, import notes by kind."""

    id: ClassVar[str] = "robot"
    title: ClassVar[str] = "Robot"
    template: ClassVar[str] = "overview.html"

    facts: tuple[tuple[str, str], ...]
    tree: tuple[Branch, ...]
    conventions: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, tuple[str, ...]], ...]


def overview(mechanism: Mechanism) -> Overview:
    """What is described, in words and numbers."""
    c = find_coordinates(mechanism)
    values = mechanism.parameter_values
    gravity = ", ".join(_number(x, values) for x in mechanism.gravity)
    facts = [
        ("Coordinates", f"{len(c.names)}: {_listed(c.names)}"),
        ("Speeds", f"{len(c.speeds)}: {_listed(c.speeds)}" if c.speeds != c.names else "rates of the coordinates"),
        ("Gravity", f"({gravity}) m/s² in axes of N, pointing where things fall"),
    ]
    facts += _masses(mechanism)
    if mechanism.loads:
        facts.append(("Loads", _listed([str(getattr(x, "name", type(x).__name__)) for x in mechanism.loads])))
    if mechanism.constraints:
        facts.append(("Constraints", _listed([str(getattr(x, "name", "")) for x in mechanism.constraints])))
    if mechanism.report.file:
        facts.append(("Read from", PurePath(mechanism.report.file).name))
    notes = tuple(
        (title, tuple(note.text for note in mechanism.report.of(kind)))
        for kind, title in KINDS.items()
        if mechanism.report.of(kind)
    )
    return Overview(tuple(facts), _tree(mechanism), CONVENTIONS, notes)


def _masses(mechanism: Mechanism) -> list[tuple[str, str]]:
    total, moving = (_number(mass_of(mechanism, of), mechanism.parameter_values) for of in ("all", "moving"))
    return [("Mass", f"{total} kg, of it moving {moving} kg")]


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:14])
    return shown + (f" and {len(names) - 14} more" if len(names) > 14 else "")


def _tree(mechanism: Mechanism) -> tuple[Branch, ...]:
    children: dict[str, list[Joint]] = {}
    for each in mechanism.joints:
        children.setdefault(each.parent, []).append(each)
    rows = []
    stack: list[tuple[str, int, Joint | None]] = [(mechanism.root, 0, None)]
    while stack:
        link, depth, joint = stack.pop()
        rows.append(_branch(mechanism, link, depth, joint))
        stack += [(j.child, depth + 1, j) for j in reversed(children.get(link, []))]
    return tuple(rows)


def _branch(mechanism: Mechanism, link: str, depth: int, joint: Joint | None) -> Branch:
    inertia = mechanism.link(link).inertia
    mass = ""
    if inertia is not None and not f.is_zero(inertia.mass):
        mass = f"{_number(inertia.mass, mechanism.parameter_values)} kg"
    if joint is None:
        return Branch(depth, link, "fixed in N", "", "", mass)
    follows = f", follows {joint.mimic.joint}" if joint.mimic else ""
    names = ", ".join(joint_type(joint).coordinates(joint)) if not joint.mimic else ""
    return Branch(depth, link, f"{joint.type} {joint.name}{follows}", names, _limits(joint.limits), mass)


def _limits(limits: Limits) -> str:
    parts = []
    if limits.lower is not None and limits.upper is not None:
        parts.append(f"{limits.lower:.4g} … {limits.upper:.4g}")
    if limits.velocity is not None:
        parts.append(f"|q̇| ≤ {limits.velocity:.4g}")
    if limits.effort is not None:
        parts.append(f"|τ| ≤ {limits.effort:.4g}")
    return ", ".join(parts)


def _number(value: f.Scalar, values: dict[str, float]) -> str:
    found = f.number_or_text(value, values)
    return found if isinstance(found, str) else f"{found:.6g}"
