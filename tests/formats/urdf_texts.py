"""Small URDF texts for tests."""

from __future__ import annotations

INERTIA = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.025"/>'


def body(name: str, mass: str = "1.5", com: str = "0.1 0 0", inertia: str = INERTIA, extra: str = "") -> str:
    """A link with inertia."""
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>{inertia}</inertial>{extra}</link>'
    )


def joint(
    name: str, parent: str, child: str, kind: str = "revolute", axis: str = "0 0 1", origin: str = "", extra: str = ""
) -> str:
    """A joint with limits."""
    place = f"<origin {origin}/>" if origin else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{place}'
        f'<axis xyz="{axis}"/><limit lower="-2" upper="2" effort="10" velocity="3"/>{extra}</joint>'
    )


def robot(*parts: str, name: str = "r") -> str:
    """A robot, one part a line, so that line 2 is the first part."""
    return "\n".join([f'<robot name="{name}">', *parts, "</robot>"])


def two_joints(**changes: str) -> str:
    """Base, two bodies, two revolute joints."""
    return robot(
        '<link name="base"/>',
        changes.get("a", body("a")),
        changes.get("b", body("b")),
        changes.get("j1", joint("j1", "base", "a")),
        changes.get("j2", joint("j2", "a", "b", axis="0 1 0", origin='xyz="0.4 0 0" rpy="0 0 0"')),
        changes.get("more", ""),
    )
