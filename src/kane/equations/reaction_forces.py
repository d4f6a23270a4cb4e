"""Nonworking forces brought into evidence: the force and moment that hold a link at its place in the tree.

An auxiliary speed that would let the link leave its place has the partial velocities 1 for everything beyond, so that
its equation F_aux + F*_aux + reaction = 0 is a sum over what lies beyond the cut (Kane and Levinson 1985, section
4.9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kane.equations.applied import Applied, Push
from kane.equations.constraint_forces import constraint_pushes
from kane.equations.elastic import beam_motion, beam_push
from kane.equations.projection import Equations, check_equations
from kane.equations.rotors import find_spins, rotor_forces
from kane.equations.steps import inertial_push
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.points import Mixed
from kane.mechanism.beams import Beam


@dataclass(frozen=True, slots=True)
class Reaction:
    """Force, and moment about the origin of `link`, that the rest of the mechanism exerts on `link` and all beyond it.

    Expressions in q, u, udot, inputs and the multipliers of constraints ("lambda name"); a drive at the cut is part of
    it.
    """

    link: str
    force: Mixed
    moment: Mixed


def reaction(e: Equations, link: str, without: Sequence[str] = ()) -> Reaction:
    """The reaction at the joint that carries a link.

    without: loads that act across the cut (motors, springs of that joint), counted as part of the reaction instead of
    as loads; a condition on the joint's own coordinates is part of it as well.  Raises InputError for a formula in
    coordinates that couples joints beyond the cut with others: its forces have no place.
    """
    check_equations(e)
    p = e.points
    beyond = links_beyond(e, link)
    frames = {frame.name: frame.link for frame in p.mechanism.frames}
    pushes: Applied = [push for b in p.bodies if b.link in beyond for push in inertial_push(e, b)]
    for name, applied in e.applied.items():
        if name not in without:
            pushes += applied
    pushes += constraint_pushes(e, beyond)
    for load in p.mechanism.loads:
        if isinstance(load, Beam) and load.link in beyond:
            held = e.accelerations.acc[p.station(load.link)]
            pushes.append(beam_push(p, e.measures, load, beam_motion(p, e.measures, load, held)))
    for spin in find_spins(p, e.measures):
        torque = rotor_forces(p, spin, e.accelerations.alpha[spin.axes])[1]
        pushes.append(Push(spin.carrier, axes=spin.axes, torque=torque))
    origin = p.station(link)
    force: Mixed = {}
    moment: Mixed = {}
    for push in pushes:
        if frames.get(push.link, push.link) in beyond:
            force = pt.mixed_add(p, force, pt.mixed_neg(push.force))
            arm = pt.position(p, push.station, origin)
            moment = pt.mixed_add(p, moment, pt.mixed_neg(push.torque), pt.mixed_neg(mixed_cross(e, arm, push.force)))
    return Reaction(link, force, moment)


def links_beyond(e: Equations, link: str) -> set[str]:
    """A link and everything carried by it."""
    e.points.station(link)
    children: dict[str, list[str]] = {}
    for joint in e.points.mechanism.joints:
        children.setdefault(joint.parent, []).append(joint.child)
    found, stack = {link}, [link]
    for name in stack:
        found.update(children.get(name, ()))
        stack += children.get(name, ())
    return found


def mixed_cross(e: Equations, a: Mixed, b: Mixed) -> Mixed:
    """a x b of mixed vectors, in the axes of a's pieces."""
    p = e.points
    total: Mixed = {}
    for i, x in a.items():
        for j, y in b.items():
            total = pt.mixed_add(p, total, {i: v.cross(p.graph, x, pt.express(p, y, j, i))})
    return total
