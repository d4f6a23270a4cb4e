"""Inertia about a link's own axis that acts without its gyroscopic part, like a rotor's.

A body that is round about its axis e has the angular momentum I (w . e) e, and asks for the moment
I (alpha . e) e + I (w . e) w x e.  Where w is u z + v e, with z the direction of all earlier axes that are not parallel
to e, w x e is at right angles to z and to e: no joint feels it.  So for the first two directions of a chain any
amount of such inertia may be written as I (alpha . e) e alone, and may be so large that another parameter vanishes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from kane.equations.inertial import BodyInertia
from kane.equations.system import System
from kane.graph.arena import Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.motion import Kinematics, Shift
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import INDEX, Vec
from kane.mechanism.model import Axis
from kane.search.regroup import second_moment


def may_spin(k: Kinematics, index: int) -> bool:
    """True for a turning node whose axis and the axes before it have no more than two directions, one after another."""
    m = k.motions[index]
    if m.kind != "turn" or m.axis is None or k.tree.nodes[index].parent == ROOT:
        return False
    direction, changes = v.unit(m.axis), 0
    while True:
        for step in reversed(m.fixed):
            if not isinstance(step, Shift):
                direction = step.out(k.graph, direction)
        index = k.tree.nodes[index].parent
        if index == ROOT:
            return True
        m = k.motions[index]
        if m.kind == "slide":
            continue
        if m.kind != "turn" or m.axis is None:
            return False
        if any(direction[i] > 1 for i in range(3) if i != m.axis):
            changes += 1
            direction = v.unit(m.axis)
        if changes > 1:
            return False


def spun(system: System, nodes: Collection[int]) -> tuple[Sequence[BodyInertia], dict[int, Ref]]:
    """The bodies without some inertia about their axes at these nodes, and how much it is.

    So much that the second moment along the axis vanishes: with I_aa = 0 before, J_bb vanishes as well.
    """
    g, k = system.g, system.k
    bodies, taken = list(system.bodies), dict[int, Ref]()
    for index in nodes:
        axis = k.motions[index].axis
        if axis is None or not may_spin(k, index):
            continue
        along = second_moment(g, bodies[index], axis, axis)
        amount = g.neg(g.add(along, along))
        if amount > 1:
            taken[index] = amount
            bodies[index] = _less(g, bodies[index], axis, amount)
    return bodies, taken


def _less(g: Graph, body: BodyInertia, axis: int, amount: Ref) -> BodyInertia:
    tensor = list(body.tensor)
    place = INDEX[axis][axis]
    tensor[place] = g.sub(tensor[place], amount)
    return replace(body, tensor=(tensor[0], tensor[1], tensor[2], tensor[3], tensor[4], tensor[5]))


def spin_moment(g: Graph, axis: Axis, amount: Ref, alpha: Vec) -> Vec:
    """amount (alpha . e) e."""
    return v.scale(g, g.mul(amount, alpha[axis]), v.unit(axis))
