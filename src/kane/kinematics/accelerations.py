"""Velocities and accelerations of every frame, by walking the tree (steps 3 and 5 of Kane's method).

U = [alpha x] + [w x][w x] takes a fixed arm to its acceleration (Khalil and Kleinfinger 1987); a is the acceleration of
the frame's origin less gravity, so that weight needs no term of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kane.graph.arena import Graph, Ref
from kane.graph.derivative import forward
from kane.kinematics import vectors as v
from kane.kinematics.motion import Kinematics, NodeMotion, Shift, Step, rate_direction, substitute
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import Mat, Vec


@dataclass(frozen=True, slots=True)
class FrameMotion:
    """Motion of a frame in N, components along its own axes.

    w angular velocity, alpha angular acceleration, vel velocity of the origin, acc its acceleration less gravity.  arm:
    the matrix U = [alpha x] + [w x][w x]; products: -wx^2, -wy^2, -wz^2, wx wy, wx wz, wy wz.
    """

    w: Vec
    alpha: Vec
    acc: Vec
    arm: Mat
    products: tuple[Ref, Ref, Ref, Ref, Ref, Ref]


def arm_matrix(g: Graph, w: Vec, alpha: Vec) -> tuple[Mat, tuple[Ref, Ref, Ref, Ref, Ref, Ref]]:
    """U = [alpha x] + [w x][w x] and the products of w it is made of."""
    xx, yy, zz = (g.neg(g.mul(x, x)) for x in w)
    xy, xz, yz = g.mul(w[0], w[1]), g.mul(w[0], w[2]), g.mul(w[1], w[2])
    rows = (
        (g.add(yy, zz), g.sub(xy, alpha[2]), g.add(xz, alpha[1])),
        (g.add(xy, alpha[2]), g.add(xx, zz), g.sub(yz, alpha[0])),
        (g.sub(xz, alpha[1]), g.add(yz, alpha[0]), g.add(xx, yy)),
    )
    return rows, (xx, yy, zz, xy, xz, yz)


def move_through(
    g: Graph, steps: Sequence[Step], w: Vec, alpha: Vec, parts: list[Vec], arm: Mat | None
) -> tuple[Vec, Vec, list[Vec], Mat | None]:
    """Carry angular velocity, angular acceleration and acceleration parts through fixed steps."""
    for step in steps:
        if isinstance(step, Shift):
            if arm is None:
                arm = arm_matrix(g, w, alpha)[0]
            parts = [v.add(g, parts[0], v.apply(g, arm, step.by)), *parts[1:]]
        else:
            w, alpha, parts, arm = step.into(g, w), step.into(g, alpha), [step.into(g, p) for p in parts], None
    return w, alpha, parts, arm


def frame_motions(k: Kinematics, u: Sequence[Ref], udot: Sequence[Ref], gravity: Vec) -> list[FrameMotion]:
    """Angular velocity and acceleration, and origin acceleration less gravity, of every node's frame.

    u and udot replace the speeds and their rates (zeros give the static or the bias case).  Buffinton steps 3 and 5;
    the recursion is that of Luh, Walker and Paul 1980.
    """
    g = k.graph
    base = (v.ZERO, v.ZERO, [v.neg(gravity)], None)
    states: dict[int, tuple[Vec, Vec, list[Vec], Mat | None]] = {ROOT: base}
    motions: list[FrameMotion] = []
    for index, (node, m) in enumerate(zip(k.tree.nodes, k.motions, strict=True)):
        w, alpha, parts, arm = move_through(g, m.fixed, *states[node.parent])
        rate = rates_with(k, m, u)
        acc = rate_derivative(k, m, u, udot)
        if m.kind == "slide":
            w, alpha, parts, arm = move_through(g, (m.step,), w, alpha, parts, arm)
            coriolis = v.cross(g, w, rate)
            inner = v.add(g, acc, coriolis, coriolis)
            parts = [*parts, inner] if m.own_axes else [v.add(g, parts[0], inner), *parts[1:]]
        else:
            w, alpha, parts, arm = move_through(g, (m.step,), w, alpha, parts, None)
            alpha = v.add(g, alpha, acc, v.cross(g, w, rate))
            w = v.add(g, w, rate)
            parts, arm = [v.total(g, parts)], None
        if arm is None:
            arm, products = arm_matrix(g, w, alpha)
        else:
            products = arm_matrix(g, w, alpha)[1]
        states[index] = (w, alpha, parts, arm)
        motions.append(FrameMotion(w, alpha, v.total(g, parts), arm, products))
    return motions


def rates_with(k: Kinematics, m: NodeMotion, u: Sequence[Ref]) -> Vec:
    """The rate with other values of the speeds: it is linear in them (plus prescribed motion)."""
    if tuple(u) == k.symbols.u:
        return m.rate
    g = k.graph
    rest = prescribed_rate(k, m)
    return v.total(g, [rest, *(v.scale(g, u[r], p) for r, p in m.partials.items())])


def prescribed_rate(k: Kinematics, m: NodeMotion) -> Vec:
    """The part of the rate that no speed controls (specified motions); zero for most mechanisms."""
    g = k.graph
    own = v.total(g, [v.scale(g, k.symbols.u[r], p) for r, p in m.partials.items()])
    return v.sub(g, m.rate, own)


def rate_derivative(k: Kinematics, m: NodeMotion, u: Sequence[Ref], udot: Sequence[Ref]) -> Vec:
    """Time derivative of the rate's components, with the given speeds and their derivatives."""
    g, s = k.graph, k.symbols
    linear = v.total(g, [v.scale(g, udot[r], p) for r, p in m.partials.items()])
    if m.own_axes:  # d/dt (R v) = R (vdot + w x v): the first part is `linear`, R (w x v) the second
        return v.add(g, linear, _own_axes_term(k, m, u))
    fixed = tuple(s.u) == tuple(u)
    drift = forward(g, list(m.rate), rate_direction(g, s))
    if not any(d > 1 for d in drift):
        return linear
    if not fixed:
        drift = substitute(g, drift, dict(zip(s.u, u, strict=True)))
    return v.add(g, linear, (drift[0], drift[1], drift[2]))


def _own_axes_term(k: Kinematics, m: NodeMotion, u: Sequence[Ref]) -> Vec:
    g, c = k.graph, k.coordinates
    for _, speeds, q in c.positions:
        if c.speeds.index(speeds[0]) in m.partials:
            vel = [u[c.speeds.index(n)] for n in speeds]
            w = [u[c.speeds.index(n)] for n in c.quaternions[q][1]]
            quaternion = [k.symbols.by_name[n] for n in c.quaternions[q][0]]
            turned = v.cross(g, (w[0], w[1], w[2]), (vel[0], vel[1], vel[2]))
            return v.quaternion_rotation(g, *quaternion).out(g, turned)
    raise AssertionError("no floating joint has these speeds")
