"""The activity of each load and of inertia, and the energies (Buffinton eq. 6.2-6.5)."""

from __future__ import annotations

from fractions import Fraction

from kane.equations.applied import Applied
from kane.equations.projection import Equations
from kane.equations.rotors import find_spins, rotor_energy
from kane.graph.arena import Ref
from kane.kinematics import points as pt
from kane.kinematics import vectors as v


def activities(e: Equations) -> dict[str, Ref]:
    """Power of each load by name: force . velocity + torque . angular velocity, prescribed motions included."""
    result = {name: e.graph.dot(forces, e.points.symbols.u) for name, forces in e.contributions.items()}
    return result | {name: activity(e, applied) for name, applied in e.applied.items()}


def activity(e: Equations, applied: Applied) -> Ref:
    """A = v . F (eq. 6.3) of what a load applies."""
    p, g = e.points, e.graph
    power, vel = g.zero, pt.velocities(p)
    for push in applied:
        s = p.stations[push.station]
        if push.force:
            power = g.add(power, v.dot(g, pt.gather(p, push.force, s.held), vel[push.station]))
        if push.torque:
            power = g.add(power, v.dot(g, pt.gather(p, push.torque, push.axes), p.axes[push.axes].w))
    return power


def inertia_activity(e: Equations) -> Ref:
    """A* = sum of v . F* + w . T* (eq. 6.4): minus the rate of the kinetic energy."""
    return e.graph.neg(pt.time_derivative(e.points, [kinetic_energy(e)])[0])


def kinetic_energy(e: Equations) -> Ref:
    """K = sum of m v . v / 2 + w . I w / 2, rotors included, beams not."""
    p, g = e.points, e.graph
    double, velocities = g.zero, pt.velocities(p)
    for body in p.bodies:
        vel, w = velocities[body.station], p.axes[body.axes].w
        double = g.add(double, g.mul(body.mass, v.dot(g, vel, vel)))
        double = g.add(double, v.dot(g, w, v.sym_apply(g, body.moments, w)))
    half = g.mul(g.number(Fraction(1, 2)), double)
    return g.sum([half, *(rotor_energy(p, spin) for spin in find_spins(p, e.measures))])


def gravity_energy(e: Equations) -> Ref:
    """V = -sum of m g . r, zero where mass centres are at the origin of N."""
    p, g = e.points, e.graph
    gx, gy, gz = (e.measures.scalar(x) for x in p.mechanism.gravity)
    return g.neg(g.sum(g.mul(b.mass, pt.mixed_dot(p, pt.position(p, b.station), {0: (gx, gy, gz)})) for b in p.bodies))
