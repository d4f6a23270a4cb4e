"""What joints bring by themselves: their springs and dampers as active forces, and a drive for every speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kane.equations.projection import Equations
from kane.graph.arena import Ref
from kane.graph.derivative import gradient
from kane.kinematics import points as pt
from kane.kinematics.coordinates import find_coordinates, symbol_name
from kane.mechanism import formula as f
from kane.mechanism.joints import joint_type
from kane.mechanism.loads import GeneralizedForce, Input
from kane.mechanism.model import Joint, Mechanism

SPRINGS, DAMPERS = "springs of joints", "dampers of joints"


def driven(mechanism: Mechanism, beside: bool = False) -> Mechanism:
    """The mechanism with one input for every speed, its generalized force tau, where it declares no inputs.

    beside: also where it does.  The input of speed q1 is named tau1, that of speed elbow tau_elbow.
    """
    if not beside and any(isinstance(load, Input) for load in mechanism.loads):
        return mechanism
    speeds = find_coordinates(mechanism).speeds
    drives = [(name, symbol_name("tau", name)) for name in speeds]
    forces = (GeneralizedForce(tau, name, f.name(tau)) for name, tau in drives)
    return replace(mechanism, loads=(*mechanism.loads, *(Input(tau) for _, tau in drives), *forces))


def joint_motions(e: Equations) -> Iterator[tuple[Joint, Ref, Ref]]:
    """(joint, coordinate, rate) of every simple coordinate of joints; a follower's are those of its formula."""
    p = e.points
    inside = {name for group, _ in p.coordinates.quaternions for name in group}
    for joint in p.mechanism.joints:
        for name in joint_type(joint).coordinates(joint):
            if name not in inside:
                q = e.measures.scalar(p.coordinates.values[name])
                yield joint, q, pt.time_derivative(p, [q])[0]


def on_speeds(e: Equations, rate: Ref, force: Ref) -> list[Ref]:
    """The generalized forces (n,) of a force along what has this rate."""
    return [e.graph.mul(slope, force) if slope > 1 else 0 for slope in gradient(e.graph, rate, e.points.symbols.u)]


def with_joint_loads(e: Equations) -> Equations:
    """The equations with -k (q - rest) of the joints' springs and -b qd of their dampers among the active forces.

    Dry friction stays out: it has no slope at rest.
    """
    g, n = e.graph, len(e.active)
    springs, dampers = [g.zero] * n, [g.zero] * n
    for joint, q, rate in joint_motions(e):
        k, b = e.measures.scalar(joint.stiffness), e.measures.scalar(joint.damping)
        if k > 1:
            pull = g.mul(k, g.sub(e.measures.scalar(joint.rest), q))
            springs = [g.add(a, x) for a, x in zip(springs, on_speeds(e, rate, pull), strict=True)]
        if b > 1:
            drag = g.neg(g.mul(b, rate))
            dampers = [g.add(a, x) for a, x in zip(dampers, on_speeds(e, rate, drag), strict=True)]
    found = {name: tuple(x) for name, x in ((SPRINGS, springs), (DAMPERS, dampers)) if any(x)}
    active = tuple(g.sum(parts) for parts in zip(e.active, *found.values(), strict=True))
    return replace(e, active=active, contributions={**e.contributions, **found})
