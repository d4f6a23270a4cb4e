"""Placement of link frames: the origin of a link may lie anywhere on its joint's axis.

A shift between two links costs operations for each of its components that is not zero, in the acceleration and in
the moment.
Sliding an origin along its axis moves a component to another link's shift, where it may meet another or
cancel it, or to the axes in which it is a single component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kane.equations.inertial import carry_out
from kane.equations.system import System
from kane.graph.arena import Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.motion import Kinematics, Shift, Step
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import Vec

Axial = Mapping[int, Ref]  # node -> how far its origin slides along its axis


def along(k: int, amount: Ref) -> Vec:
    return (amount * (k == 0), amount * (k == 1), amount * (k == 2))


def tidy(g: Graph, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same steps with shifts moved to the front past turns and merged, where that makes no more components."""
    done: list[Step] = []
    for step in steps:
        if isinstance(step, Shift):
            _insert(g, done, step.by)
        else:
            done.append(step)
    return tuple(s for s in done if not isinstance(s, Shift) or s.by != v.ZERO)


def _insert(g: Graph, done: list[Step], by: Vec) -> None:
    at = len(done)
    while at and not isinstance(done[at - 1], Shift):
        before = done[at - 1]
        assert not isinstance(before, Shift)
        moved = before.out(g, by)
        if _size(moved) > _size(by):
            break
        by, at = moved, at - 1
    if at and isinstance(done[at - 1], Shift):
        old = done[at - 1]
        assert isinstance(old, Shift)
        done[at - 1] = Shift(v.add(g, old.by, by))
    else:
        done.insert(at, Shift(by))


def _size(by: Vec) -> int:
    return sum(x > 1 for x in by)


def slide_origins(system: System, amounts: Axial) -> System:
    """The system with the origins of some turning links slid along their axes; its `bodies` are not yet regrouped."""
    g, k = system.g, system.k
    motions, bodies = list(k.motions), list(system.plain)
    for index, (node, m) in enumerate(zip(k.tree.nodes, k.motions, strict=True)):
        steps: list[Step] = list(m.fixed)
        above = k.motions[node.parent].axis if node.parent != ROOT else None
        if node.parent in amounts and above is not None:
            steps.insert(0, Shift(v.neg(along(above, amounts[node.parent]))))
        if index in amounts and m.axis is not None:
            steps.append(Shift(along(m.axis, amounts[index])))
            bodies[index] = carry_out(g, (Shift(v.neg(along(m.axis, amounts[index]))),), bodies[index])
        motions[index] = replace(m, fixed=tidy(g, steps))
    return replace(system, k=replace(k, motions=tuple(motions)), plain=tuple(bodies), bodies=tuple(bodies))


def slides(k: Kinematics, index: int) -> list[Ref]:
    """Amounts worth trying for a turning link: those that cancel a component along its axis before or behind it."""
    g, m = k.graph, k.motions[index]
    if m.kind != "turn" or m.axis is None:
        return []
    found: dict[Ref, None] = {}
    total = v.ZERO
    for step in m.fixed:  # the whole shift in the node's own axes
        total = v.add(g, total, step.by) if isinstance(step, Shift) else step.into(g, total)
    if total[m.axis] > 1:
        found[g.neg(total[m.axis])] = None
    for child in k.tree.children(index):
        for step in k.motions[child].fixed:
            if not isinstance(step, Shift):
                break
            if step.by[m.axis] > 1:
                found[step.by[m.axis]] = None
    return list(found)


def shift_size(k: Kinematics) -> int:
    """Components of shifts that are not zero, those before the first joint left out."""
    return sum(
        _size(step.by)
        for node, m in zip(k.tree.nodes, k.motions, strict=True)
        for step in m.fixed
        if isinstance(step, Shift) and node.parent != ROOT
    )
