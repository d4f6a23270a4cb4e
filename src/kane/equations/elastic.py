"""Generalized inertia and active forces of elastic beams: integrals of v_r . a along the beam by sums over shapes.

v and a at s are sums of (vector) x (function of s); the integral of a product needs only the Gram matrix of the
functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kane.equations.applied import Push
from kane.errors import InputError
from kane.graph.arena import Ref
from kane.graph.derivative import forward
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.measures import Measures
from kane.kinematics.motion import speeds_in, substitute
from kane.kinematics.points import Points
from kane.kinematics.vectors import Vec
from kane.mechanism import formula as f
from kane.mechanism.beams import Beam, axial_stiffness, bending_stiffness, gram


@dataclass(frozen=True, slots=True)
class BeamMotion:
    """Place from the root, velocity and acceleration of a beam's material points.

    Vectors in the link's axes, one a function of s (the first, for the root, is no arm), and the weights of products.
    """

    arms: tuple[Vec, ...]
    velocity: tuple[Vec, ...]
    acceleration: tuple[Vec, ...]
    weights: tuple[tuple[Ref, ...], ...]


def beam_motion(p: Points, m: Measures, beam: Beam, origin_acceleration: Vec) -> BeamMotion:
    """The motion of a beam's material points, functions 1, s, phi_k, chi_j, shortening (k <= l)."""
    g = p.graph
    for name in (*beam.coordinates, *beam.axial_coordinates):
        if name not in p.symbols.by_name:
            raise InputError(f"Beam {beam.name!r} uses the coordinate {name!r}, which is not declared.", name=name)
    place = p.station(beam.link)
    station = p.stations[place]
    w = p.axes[station.axes].w
    length = m.scalar(beam.length)
    x, y = v.unit(0), v.unit(beam.axis)
    arms: list[Vec] = [v.scale(g, length, x)]
    arms += [v.scale(g, m.scalar(f.name(q)), y) for q in beam.coordinates]
    arms += [v.scale(g, m.scalar(f.name(q)), x) for q in beam.axial_coordinates]
    if beam.stiffening == "geometric":
        q = [m.scalar(f.name(n)) for n in beam.coordinates]
        half = g.div(g.number(Fraction(1, 2)), length)
        for k in range(len(q)):
            for l in range(k, len(q)):
                product = g.mul(half, g.mul(q[k], q[l]))
                arms.append(v.scale(g, g.neg(product if k == l else g.add(product, product)), x))
    velocity = [pt.express(p, pt.velocities(p)[place], station.held, station.axes)]
    acceleration = [pt.express(p, origin_acceleration, station.held, station.axes)]
    for arm in arms:
        vel = _derivative(p, w, arm)
        velocity.append(vel)
        acceleration.append(_derivative(p, w, vel))
    mass = g.mul(m.scalar(beam.density), length)
    weights = tuple(tuple(g.mul(mass, g.number(_clean(value))) for value in row) for row in gram(beam))
    return BeamMotion((v.ZERO, *arms), tuple(velocity), tuple(acceleration), weights)


def _derivative(p: Points, w: Vec, vector: Vec) -> Vec:
    x, y, z = pt.time_derivative(p, vector)
    return v.add(p.graph, (x, y, z), v.cross(p.graph, w, vector))


def _clean(value: float) -> Fraction:
    exact = f.exact(float(value) if abs(value) > 1e-14 else 0.0)
    assert isinstance(exact, Fraction)
    return exact


def beam_inertia(p: Points, beam: Beam, motion: BeamMotion) -> tuple[Ref, ...]:
    """F_r* = -int density v_r . a dxi of a beam."""
    g, s = p.graph, p.symbols
    total = []
    for r in range(len(s.u)):
        partial = [_partial(p, vel, r) for vel in motion.velocity]
        force = g.zero
        for i, a in enumerate(partial):
            if all(x < 2 for x in a):
                continue
            for j, b in enumerate(motion.acceleration):
                force = g.add(force, g.mul(motion.weights[i][j], v.dot(g, a, b)))
        total.append(g.neg(force) if force > 1 else 0)
    return tuple(_first_order(p, beam, total)) if beam.truncated else tuple(total)


def beam_forces(p: Points, m: Measures, beam: Beam, motion: BeamMotion) -> tuple[Ref, ...]:
    """F_r of elasticity, of its damping, and of gravity on a beam."""
    g, s = p.graph, p.symbols
    total: list[Ref] = [0] * len(s.u)
    bend = bending_stiffness(beam.shapes) if beam.shapes else ()
    pull = axial_stiffness(beam.axial_shapes) if beam.axial_shapes else ()
    length = m.scalar(beam.length)
    stiffness = g.div(m.scalar(beam.rigidity), g.power(length, 3))
    axial = g.div(m.scalar(beam.axial_rigidity), length)
    damping = m.scalar(beam.damping)
    for names, matrix, scale in ((beam.coordinates, bend, stiffness), (beam.axial_coordinates, pull, axial)):
        for i, name in enumerate(names):
            force = g.zero
            for j, other in enumerate(names):
                size = g.mul(scale, g.number(_clean(matrix[i][j])))
                moved = g.add(s.by_name[other], g.mul(damping, s.rates[other]))
                force = g.sub(force, g.mul(size, moved))
            rate = s.rates[name]
            for r in speeds_in(g, s, rate):
                total[r] = g.add(total[r], g.mul(force, forward(g, [rate], {s.u[r]: g.one})[0]))
    gravity = tuple(m.scalar(x) for x in p.mechanism.gravity)
    if any(x > 1 for x in gravity):
        weight = pt.express(p, (gravity[0], gravity[1], gravity[2]), 0, p.stations[p.station(beam.link)].axes)
        for r in range(len(s.u)):
            for i, vel in enumerate(motion.velocity):
                total[r] = g.add(total[r], g.mul(motion.weights[i][0], v.dot(g, _partial(p, vel, r), weight)))
    return tuple(_first_order(p, beam, total)) if beam.truncated else tuple(total)


def beam_push(p: Points, m: Measures, beam: Beam, motion: BeamMotion) -> Push:
    """Inertia force and gravity of a whole beam at its root, and their moment about the root.

    int (g - a) density dxi and int r x (g - a) density dxi.
    """
    g, station = p.graph, p.station(beam.link)
    axes = p.stations[station].axes
    gx, gy, gz = (m.scalar(x) for x in p.mechanism.gravity)
    weight = pt.express(p, (gx, gy, gz), 0, axes)
    force, moment = v.ZERO, v.ZERO
    for i, arm in enumerate(motion.arms):
        for j, a in enumerate(motion.acceleration):
            part = v.scale(g, motion.weights[i][j], v.sub(g, weight, a) if j == 0 else v.neg(a))
            force = v.add(g, force, part) if i == 0 else force
            moment = v.add(g, moment, v.cross(g, arm, part))
    if beam.truncated:
        x, y, z, mx, my, mz = _first_order(p, beam, [*force, *moment])
        force, moment = (x, y, z), (mx, my, mz)
    return Push(beam.link, station, {axes: force}, axes, {axes: moment})


def _partial(p: Points, vector: Vec, r: int) -> Vec:
    x, y, z = forward(p.graph, vector, {p.symbols.u[r]: p.graph.one})
    return (x, y, z)


def _first_order(p: Points, beam: Beam, refs: Sequence[Ref]) -> list[Ref]:
    """Terms of at most first order in the elastic coordinates, their speeds and those speeds' rates.

    The linearisation comes after the partial velocities have been formed, so that nothing is lost.
    """
    g, s = p.graph, p.symbols
    names = (*beam.coordinates, *beam.axial_coordinates)
    small = [s.by_name[n] for n in names]
    for n in names:
        rate = s.rates[n]
        if rate not in s.u:
            raise InputError(
                f"Beam {beam.name!r} is truncated, but the rate of {n!r} is no generalized speed.", name=n,
                remedy="Define the rates of elastic coordinates as speeds, or do not truncate.",
            )  # fmt: skip
        small += [rate, s.udot[s.u.index(rate)]]
    at_zero = dict.fromkeys(small, g.zero)
    constant = substitute(g, list(refs), at_zero)
    slopes = [substitute(g, forward(g, list(refs), {x: g.one}), at_zero) for x in small]
    return [
        g.sum([c, *(g.mul(slope[k], x) for slope, x in zip(slopes, small, strict=True))])
        for k, c in enumerate(constant)
    ]
