"""Kane's equations link by link: F_r + F_r* = 0 in a number of operations linear in the number of joints.

For each node the inertia force F* and inertia torque T* of its body are formed about the node's origin; they are
summed from the tips to the root, and F_r* is the dot product with the partial velocities relative to the parent,
which are all that a tree needs (a partial velocity of u_r is the same rigid motion for every body behind joint r).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kane.equations.inertial import BodyInertia, RotorTerm, rotor_drive
from kane.graph.arena import Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.accelerations import FrameMotion, frame_motions, rate_derivative, rates_with
from kane.kinematics.motion import Kinematics, NodeMotion, Shift, Step
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import Vec


@dataclass(frozen=True, slots=True)
class Wrench:
    """A force and a moment about a frame's origin, in its axes."""

    force: Vec = v.ZERO
    moment: Vec = v.ZERO


def add_wrench(g: Graph, a: Wrench, b: Wrench) -> Wrench:
    return Wrench(v.add(g, a.force, b.force), v.add(g, a.moment, b.moment))


def wrench_out(g: Graph, steps: Sequence[Step], wrench: Wrench) -> Wrench:
    """The wrench about the origin and in the axes before the steps: moment' = moment + d x force."""
    force, moment = wrench.force, wrench.moment
    for step in reversed(steps):
        if isinstance(step, Shift):
            moment = v.add(g, moment, v.cross(g, step.by, force))
        else:
            force, moment = step.out(g, force), step.out(g, moment)
    return Wrench(force, moment)


def body_wrench(g: Graph, body: BodyInertia, motion: FrameMotion) -> Wrench:
    """Minus the inertia force and torque of a body about its node's origin.

    force = m a + U h;  moment = I alpha + w x (I w) + h x a, the gyroscopic part through the products of w that U
    holds.
    """
    U, (xx, yy, zz, _, xz, yz) = motion.arm, motion.products
    xy = motion.products[3]
    Ixx, Ixy, Ixz, Iyy, Iyz, Izz = body.tensor
    alpha, h, a = motion.alpha, body.first, motion.acc
    force = v.add(g, v.scale(g, body.mass, a), v.apply(g, U, h))
    rows = (
        ((Ixx, alpha[0]), (g.sub(Izz, Iyy), yz), (Ixy ^ 1, U[2][0]), (Ixz, U[1][0]), (Iyz, g.sub(zz, yy))),
        ((Iyy, alpha[1]), (g.sub(Ixx, Izz), xz), (Iyz ^ 1, U[0][1]), (Ixy, U[2][1]), (Ixz, g.sub(xx, zz))),
        ((Izz, alpha[2]), (g.sub(Iyy, Ixx), xy), (Ixz ^ 1, U[1][2]), (Iyz, U[0][2]), (Ixy, g.sub(yy, xx))),
    )
    x, y, z = (g.sum(g.mul(c, s) for c, s in row) for row in rows)
    return Wrench(force, v.add(g, (x, y, z), v.cross(g, h, a)))


def inverse_dynamics(
    k: Kinematics,
    bodies: Sequence[BodyInertia],
    rotors: Sequence[RotorTerm],
    u: Sequence[Ref],
    udot: Sequence[Ref],
    gravity: Vec,
    external: Mapping[int, Sequence[Wrench]] | None = None,
) -> list[Ref]:
    """Generalized forces tau_r = -(F_r* + F_r of weight and external forces) that give the motion (q, u, udot).

    external: wrenches acting on nodes, about the node's origin in node axes.  Kane and Levinson 1985, eq. 6.1; Luh,
    Walker, Paul 1980.
    """
    g = k.graph
    motions = frame_motions(k, u, udot, gravity)
    wrenches = []
    for index, (node, body) in enumerate(zip(k.tree.nodes, bodies, strict=True)):
        with g.origin(f"{node.name}: inertia force"):
            total = body_wrench(g, body, motions[index])
        for wrench in (external or {}).get(index, ()):
            total = Wrench(v.sub(g, total.force, wrench.force), v.sub(g, total.moment, wrench.moment))
        wrenches.append(total)
    tau = [g.zero] * len(u)
    for rotor in rotors:
        with g.origin(f"{rotor.joint}: rotor"):
            add_rotor(k, rotor, motions, wrenches, tau, u, udot)
    for index in reversed(range(len(motions))):
        node, m = k.tree.nodes[index], k.motions[index]
        with g.origin(f"{node.name}: generalized inertia force"):
            project(g, m, wrenches[index], tau)
        if node.parent != ROOT:
            with g.origin(f"{node.name}: carried to its parent"):
                carried = wrench_out(g, (*m.fixed, m.step), wrenches[index])
                wrenches[node.parent] = add_wrench(g, wrenches[node.parent], carried)
    return tau


def project(g: Graph, m: NodeMotion, wrench: Wrench, tau: list[Ref]) -> None:
    """Add the node's part of each generalized force: partial (angular) velocity times force (moment)."""
    load = wrench.force if m.kind == "slide" else wrench.moment
    for r, partial in m.partials.items():
        tau[r] = g.add(tau[r], g.dot(partial, load))


def add_rotor(
    k: Kinematics, rotor: RotorTerm, motions: Sequence[FrameMotion], wrenches: list[Wrench], tau: list[Ref],
    u: Sequence[Ref], udot: Sequence[Ref],
) -> None:  # fmt: skip
    """Reflected: J r^2 qdd on the joint.  Exact: J r (s.alpha + r qdd) there, momentum J r qd s on the carrier.

    q is the joint's own coordinate (a follower's included), so that the sign of the spin is that of the joint.
    """
    g = k.graph
    drive = rotor_drive(k, rotor)
    rate, acc = rates_with(k, drive, u)[0], rate_derivative(k, drive, u, udot)[0]
    spin_inertia = g.mul(rotor.inertia, rotor.ratio)
    torque = g.mul(g.mul(spin_inertia, rotor.ratio), acc)
    if rotor.carrier is not None:
        motion = motions[rotor.carrier]
        torque = g.add(torque, g.mul(spin_inertia, g.dot(rotor.axis, motion.alpha)))
        axis = v.scale(g, spin_inertia, rotor.axis)
        moment = v.add(g, v.scale(g, acc, axis), v.scale(g, rate, v.cross(g, motion.w, axis)))
        wrenches[rotor.carrier] = add_wrench(g, wrenches[rotor.carrier], Wrench(v.ZERO, moment))
    for r, partial in drive.partials.items():
        tau[r] = g.add(tau[r], g.mul(partial[0], torque))
