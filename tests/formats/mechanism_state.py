"""Floating-point kinematics of a description for comparing readers with other libraries."""

from __future__ import annotations

import numpy as np

from kane.mechanism.model import Mechanism
from kane.mechanism.numeric import SomeValues, joint_moves, pose


def link_poses(m: Mechanism, values: dict[str, float]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pose of every link in the root; followers get their values from their leaders."""
    from kane.mechanism import formula as f
    from kane.mechanism.joints import joint_type

    known = SomeValues({**m.parameter_values, **values})
    for j in m.joints:
        if j.mimic is not None:
            leader = joint_type(m.joint(j.mimic.joint)).coordinates(m.joint(j.mimic.joint))[0]
            own = joint_type(j).coordinates(j)[0]
            known[own] = f.number(j.mimic.ratio) * known[leader] + f.number(j.mimic.offset)
    below: dict[str, list] = {}
    for j in m.joints:
        below.setdefault(j.parent, []).append(j)
    found = {m.root: (np.eye(3), np.zeros(3))}
    stack = [m.root]
    while stack:
        at = stack.pop()
        R, p = found[at]
        for j in below.get(at, ()):
            turn, step = pose(joint_moves(j), known)
            found[j.child] = (R @ turn, p + R @ step)
            stack.append(j.child)
    return found


def without_lines(m: Mechanism) -> Mechanism:
    """The mechanism without the line numbers of its file."""
    from dataclasses import replace

    links = tuple(
        replace(link, line=None, inertia=None if link.inertia is None else replace(link.inertia, line=None))
        for link in m.links
    )
    return replace(m, links=links, joints=tuple(replace(j, line=None) for j in m.joints))
