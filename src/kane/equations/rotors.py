"""Generalized inertia forces of spinning rotors carried by links.

The carrier's inertia holds the rotor as if it were locked; spinning at the rate s about the axis a (fixed in the
carrier, unit) adds the momentum J s a: F_r* = -w_r . J (s' a + s w x a) - s_r J (alpha . a + s').  Reflected: -s_r J
s' alone, as Armstrong, Khatib and Burdick 1986 do.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from kane.errors import InputError
from kane.graph.arena import Ref
from kane.graph.derivative import forward
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.measures import Measures
from kane.kinematics.motion import Shift, make_step
from kane.kinematics.points import Points
from kane.kinematics.vectors import Vec
from kane.mechanism.joints import joint_type
from kane.mechanism.loads import SpinningRotor
from kane.mechanism.model import Joint, Rotor


@dataclass(frozen=True, slots=True)
class Spin:
    """Inertia J, rate s, axis in the carrier's axes (zero where reflected), those axes."""

    name: str
    inertia: Ref
    rate: Ref
    axis: Vec
    axes: int
    carrier: str


def find_spins(p: Points, m: Measures) -> tuple[Spin, ...]:
    """All rotors of a mechanism: those of its joints, and the elements SpinningRotor.

    Raises InputError for an axis that is not a unit vector fixed in its carrier.
    """
    spins = [_of_joint(p, m, joint, joint.rotor) for joint in p.mechanism.joints if joint.rotor is not None]
    for load in p.mechanism.loads:
        if isinstance(load, SpinningRotor):
            axes = p.axes_of(load.carrier)
            axis = v.ZERO if load.reflected else pt.gather(p, m.vector(load.axis), axes)
            spins.append(
                _checked(p, Spin(load.name, m.scalar(load.inertia), m.scalar(load.rate), axis, axes, load.carrier))
            )
    return tuple(spins)


def _of_joint(p: Points, m: Measures, joint: Joint, rotor: Rotor) -> Spin:
    g = p.graph
    value = p.coordinates.values[joint_type(joint).coordinates(joint)[0]]
    rate = g.mul(m.scalar(rotor.ratio), pt.time_derivative(p, [m.scalar(value)])[0])
    carrier = rotor.carrier or joint.parent
    axes, axis = p.axes_of(carrier), v.ZERO
    if rotor.exact:
        x, y, z = (m.scalar(s) for s in rotor.axis or joint.axis)
        size = g.div(g.one, g.sqrt(g.dot((x, y, z), (x, y, z))))
        axis = v.scale(g, size, (x, y, z))
        if rotor.axis is None and rotor.carrier is None:  # the joint's own axis, back through its placement
            for move in reversed(joint.placement):
                step = make_step(g, move, m.scalar, p.symbols)
                axis = axis if step is None or isinstance(step, Shift) else step.out(g, axis)
    return Spin(joint.name, m.scalar(rotor.inertia), rate, axis, axes, carrier)


def _checked(p: Points, spin: Spin) -> Spin:
    g = p.graph
    fixed = not any(x > 1 for x in pt.time_derivative(p, spin.axis))
    if any(x > 1 for x in spin.axis) and (not fixed or g.sub(v.dot(g, spin.axis, spin.axis), g.one) > 1):
        raise InputError(
            f"The axis of rotor {spin.name!r} is not a unit vector fixed in {spin.carrier!r}.", name=spin.name,
            remedy="Give it along the axes of its carrier.",
        )  # fmt: skip
    return spin


def rotor_forces(p: Points, spin: Spin, alpha: Vec) -> tuple[tuple[Ref, ...], dict[int, Vec]]:
    """(F_r* of the rotor's own spin, the torque -J (s' a + s w x a) on its carrier by axes); alpha of the carrier."""
    g, s = p.graph, p.symbols
    (rate,) = pt.time_derivative(p, [spin.rate])
    along = g.add(rate, v.dot(g, alpha, spin.axis))
    own = [g.neg(g.mul(g.mul(spin.inertia, along), forward(g, [spin.rate], {u: g.one})[0])) for u in s.u]
    turned = v.add(g, v.scale(g, rate, spin.axis), v.scale(g, spin.rate, v.cross(g, p.axes[spin.axes].w, spin.axis)))
    return tuple(own), {spin.axes: v.scale(g, g.neg(spin.inertia), turned)}


def rotor_energy(p: Points, spin: Spin) -> Ref:
    """J s w . a + J s^2 / 2."""
    g = p.graph
    half = g.mul(g.number(Fraction(1, 2)), g.mul(spin.rate, spin.rate))
    return g.mul(spin.inertia, g.add(half, g.mul(spin.rate, v.dot(g, p.axes[spin.axes].w, spin.axis))))
