"""Generalized inertia forces of spinning rotors carried by links.

The carrier's inertia holds the rotor as if it were locked; spinning at the rate s about the axis a (fixed in the
carrier, unit) adds
the momentum J s a: F_r* = -w_r . J (s' a + s w x a) - s_r J (alpha . a + s').  Reflected: -s_r J s' alone, as
Armstrong, Khatib and
Burdick 1986 do.
"""

from __future__ import annotations

from fractions import Fraction

from kane.errors import InputError
from kane.graph.arena import Ref
from kane.graph.derivative import forward
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.measures import Measures
from kane.kinematics.points import Points
from kane.kinematics.vectors import Vec
from kane.mechanism.loads import SpinningRotor


def rotor_spin(p: Points, m: Measures, rotor: SpinningRotor) -> tuple[Ref, Ref, Vec, int]:
    """(J, s, a in the carrier's axes, those axes).  Raises InputError when the axis moves in the carrier."""
    axes = p.axes_of(rotor.carrier)
    axis = pt.gather(p, m.vector(rotor.axis), axes)
    g = p.graph
    if any(x > 1 for x in pt.time_derivative(p, axis)) or g.sub(v.dot(g, axis, axis), g.one) > 1:
        raise InputError(
            f"The axis of rotor {rotor.name!r} is not a unit vector fixed in {rotor.carrier!r}.", name=rotor.name,
            remedy="Give it along the axes of its carrier.",
        )  # fmt: skip
    return m.scalar(rotor.inertia), m.scalar(rotor.rate), axis, axes


def rotor_forces(p: Points, m: Measures, rotor: SpinningRotor, alpha: Vec) -> tuple[tuple[Ref, ...], dict[int, Vec]]:
    """(F_r* of the rotor's own spin, the torque -J (s' a + s w x a) on its carrier by axes)."""
    g, s = p.graph, p.symbols
    inertia, spin, axis, axes = rotor_spin(p, m, rotor)
    (rate,) = pt.time_derivative(p, [spin])
    along = rate if rotor.reflected else g.add(rate, v.dot(g, alpha, axis))
    own = [g.neg(g.mul(g.mul(inertia, along), forward(g, [spin], {u: g.one})[0])) for u in s.u]
    if rotor.reflected:
        return tuple(own), {}
    turned = v.add(g, v.scale(g, rate, axis), v.scale(g, spin, v.cross(g, p.axes[axes].w, axis)))
    return tuple(own), {axes: v.scale(g, g.neg(inertia), turned)}


def rotor_energy(p: Points, m: Measures, rotor: SpinningRotor) -> Ref:
    """J s w . a + J s^2 / 2; reflected: the second part."""
    g = p.graph
    inertia, spin, axis, axes = rotor_spin(p, m, rotor)
    own = g.mul(g.number(Fraction(1, 2)), g.mul(spin, spin))
    if not rotor.reflected:
        own = g.add(own, g.mul(spin, v.dot(g, p.axes[axes].w, axis)))
    return g.mul(inertia, own)
