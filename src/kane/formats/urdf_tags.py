"""Which tags and attributes URDF has, and what is said about the others."""

from __future__ import annotations

from difflib import get_close_matches

from kane.errors import FormatError
from kane.formats.xml import Element
from kane.mechanism.model import Note

_ORIGIN = ("xyz", "rpy")
_NONE: tuple[str, ...] = ()
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "robot": ("name", "version", "xmlns"),
    "link": ("name", "type"),
    "joint": ("name", "type"),
    "inertial": _NONE,
    "origin": (*_ORIGIN, "quat_xyzw"),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity", "acceleration", "jerk", "deceleration"),
    "dynamics": ("damping", "friction", "spring_stiffness", "spring_reference"),
    "mimic": ("joint", "multiplier", "offset"),
}
CHILDREN: dict[str, tuple[str, ...]] = {
    "robot": ("link", "joint", "material", "transmission", "gazebo"),
    "link": ("inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller"),
    "origin": _NONE,
    "mass": _NONE,
    "inertia": _NONE,
    "parent": _NONE,
    "child": _NONE,
    "axis": _NONE,
    "limit": _NONE,
    "dynamics": _NONE,
    "mimic": _NONE,
}
_HOME = {tag: parent for parent in ("link", "inertial", "joint") for tag in CHILDREN[parent] if tag != "origin"}


def foreign(root: Element, file: str | None, strict: bool) -> tuple[list[Note], dict[str, list[Element]]]:
    """Notes on tags and attributes that are not URDF's, and the vendor elements by tag.

    A tag or attribute that resembles one of URDF's, or stands in the wrong place, is a finding of its own; other tags
    give one line each.  strict: the findings are refused (FormatError).
    """
    findings: list[Note] = []
    vendors: dict[str, list[Element]] = {}
    seen: set[tuple[str, str]] = set()
    stack = [root]
    while stack:
        element = stack.pop()
        tag = element.tag
        attributes = ATTRIBUTES[tag]
        for name in element.attributes:
            if name not in attributes and ":" not in name:
                close = get_close_matches(name, attributes, 1, 0.6)
                if close and close[0] not in element.attributes and (tag, name) not in seen:
                    seen.add((tag, name))
                    findings.append(_finding(element, f"attribute {name!r}", f"did you mean {close[0]!r}?"))
        known = CHILDREN[tag]
        for child in element.children:
            if child.tag in known:
                if child.tag in CHILDREN:
                    stack.append(child)
                continue
            remedy = _suggestion(child.tag, tag, known)
            if remedy is None:
                vendors.setdefault(child.tag, []).append(child)
            elif (tag, child.tag) not in seen:
                seen.add((tag, child.tag))
                findings.append(_finding(child, f"inside <{tag}>", remedy))
    findings.sort(key=lambda note: note.line or 0)
    if strict and findings:
        first = findings[0]
        raise FormatError(
            first.text,
            file=file,
            line=first.line,
            name=first.name,
            element=first.name,
            remedy="Correct it, or read the file without strict=True.",
        )
    lines = [
        Note("ignored", f"vendor element <{tag}>{_times(len(found))}", tag, found[0].line)
        for tag, found in vendors.items()
    ]
    lines.sort(key=lambda note: note.line or 0)
    return findings + lines, vendors


def _finding(element: Element, where: str, remedy: str) -> Note:
    return Note(
        "ignored",
        f"{element} {where} is not known to URDF and has no effect: {remedy}",
        f"<{element.tag}>",
        element.line,
    )


def _suggestion(tag: str, parent: str, known: tuple[str, ...]) -> str | None:
    if ":" in tag:
        return None
    home = _HOME.get(tag)
    if home is not None and home != parent and parent in ("robot", "link", "joint", "inertial"):
        return f"it belongs inside <{home}>"
    close = get_close_matches(tag, known, 1, 0.75)
    return f"did you mean <{close[0]}>?" if close else None


def _times(n: int) -> str:
    return "" if n == 1 else f", {n} times"
