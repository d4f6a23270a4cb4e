"""Kane's recursion in the forms that the search combines; every form gives the same values, some at a lower price."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kane.equations.inertial import BodyInertia
from kane.equations.recursion import Wrench, add_rotor, add_wrench, body_wrench, project, wrench_out
from kane.equations.system import System
from kane.graph.arena import Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.motion import (
    FrameMotion,
    Kinematics,
    Shift,
    frame_motions,
    move_through,
    rate_derivative,
    rates_with,
)
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import SimpleRotation, Vec
from kane.mechanism.model import Turn
from kane.search.regroup import second_moment


def second_moment_wrench(g: Graph, body: BodyInertia, motion: FrameMotion) -> Wrench:
    """Minus the inertia force and torque: force = m a + U h; moment = axial vector of U J - (U J)^T, plus h x a.

    With the second moments J a coefficient meets one element of U instead of a product of w and an element of alpha.
    """
    U, (xx, yy, zz, _, _, _) = motion.arm, motion.products
    J = [[second_moment(g, body, i, j) for j in range(3)] for i in range(3)]
    h, a = body.first, motion.acc
    force = v.add(g, v.scale(g, body.mass, a), v.apply(g, U, h))
    diagonal = (xx, yy, zz)
    rows: list[Ref] = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        terms = [
            g.mul(J[j][j], U[k][j]), g.neg(g.mul(J[k][k], U[j][k])), g.mul(J[i][j], U[k][i]),
            g.neg(g.mul(J[i][k], U[j][i])), g.mul(J[j][k], g.sub(diagonal[j], diagonal[k])),
        ]  # fmt: skip
        rows.append(g.sum(terms))
    return Wrench(force, v.add(g, (rows[0], rows[1], rows[2]), v.cross(g, h, a)))


def inverse_dynamics(
    system: System, u: Sequence[Ref], udot: Sequence[Ref], gravity: Vec, second: Collection[int] = (),
    every: bool = False
) -> list[Ref]:
    """tau of the motion (q, u, udot).

    second: nodes whose moment is written with second moments.  every: also ask for what may be had in other ways
    (other form of the moment, turns through sums of angles), for a graph that
    remembers alternatives.
    """
    g, k = system.g, system.k
    motions = frame_motions(k, u, udot, gravity)
    runs = parallel_runs(k, u, udot) if every else {}
    if every:
        absolute_motions(k, motions, runs, gravity)
    wrenches, own = [], []
    for index, (node, body) in enumerate(zip(k.tree.nodes, system.bodies, strict=True)):
        with g.origin(f"{node.name}: inertia force"):
            form = second_moment_wrench if index in second else body_wrench
            wrenches.append(form(g, body, motions[index]))
            for other in (body_wrench, second_moment_wrench) if every else ():
                other(g, body, motions[index])
    own = list(wrenches)
    tau = [g.zero] * len(u)
    for rotor in system.rotors:
        add_rotor(k, rotor, motions, wrenches, tau, u, udot)
    for index in reversed(range(len(motions))):
        node, m = k.tree.nodes[index], k.motions[index]
        with g.origin(f"{node.name}: generalized inertia force"):
            project(g, m, wrenches[index], tau)
        if node.parent != ROOT:
            with g.origin(f"{node.name}: carried to its parent"):
                carried = wrench_out(g, (*m.fixed, m.step), wrenches[index])
                wrenches[node.parent] = add_wrench(g, wrenches[node.parent], carried)
                if index not in runs:
                    own[node.parent] = add_wrench(g, own[node.parent], carried)
    absolute_wrenches(k, own, runs)
    return tau


@dataclass(frozen=True, slots=True)
class Parallel:
    """A node seen from the frame before the first turn of its run of parallel axes.

    base: first node of the run; turn: by the sum of the angles; angle, rate, acc: sums over the run.
    """

    base: int
    turn: SimpleRotation
    angle: Ref
    rate: Vec
    acc: Vec


def parallel_runs(k: Kinematics, u: Sequence[Ref], udot: Sequence[Ref]) -> dict[int, Parallel]:
    """The turns that follow a turn about a parallel axis with nothing but a shift between."""
    g = k.graph
    sums: dict[int, tuple[int, Ref, Vec, Vec]] = {}
    runs: dict[int, Parallel] = {}
    for index, (node, m) in enumerate(zip(k.tree.nodes, k.motions, strict=True)):
        if m.kind != "turn" or m.axis is None or not isinstance(node.motion, Turn):
            continue
        angle, rate, acc = k.scalar(node.motion.angle), rates_with(k, m, u), rate_derivative(k, m, u, udot)
        base = index
        above = sums.get(node.parent)
        if above and k.motions[node.parent].axis == m.axis and all(isinstance(s, Shift) for s in m.fixed):
            base, angle = above[0], g.add(above[1], angle)
            rate, acc = v.add(g, above[2], rate), v.add(g, above[3], acc)
            turn = SimpleRotation(m.axis, g.cos(angle), g.sin(angle))
            runs[index] = Parallel(base, turn, angle, rate, acc)
        sums[index] = (base, angle, rate, acc)
    return runs


def absolute_motions(
    k: Kinematics, motions: Sequence[FrameMotion], runs: Mapping[int, Parallel], gravity: Vec
) -> None:
    """Ask for w, alpha and a of the nodes of parallel runs by one turn through the sum of the angles."""
    g = k.graph
    before: dict[int, tuple[Vec, Vec]] = {}
    origin: dict[int, Vec] = {}  # acceleration of a node's origin in the axes before its run
    for base in sorted({run.base for run in runs.values()}):
        parent = k.tree.nodes[base].parent
        start = (v.ZERO, v.ZERO, v.neg(gravity)) if parent == ROOT else (
            motions[parent].w, motions[parent].alpha, motions[parent].acc
        )  # fmt: skip
        arm = None if parent == ROOT else motions[parent].arm
        w, alpha, parts, _ = move_through(g, k.motions[base].fixed, start[0], start[1], [start[2]], arm)
        before[base], origin[base] = (w, alpha), parts[0]
    for index, run in runs.items():
        parent = k.tree.nodes[index].parent
        w, alpha = (run.turn.into(g, x) for x in before[run.base])
        w = v.add(g, w, run.rate)
        v.add(g, alpha, run.acc, v.cross(g, w, run.rate))
        shift = v.ZERO
        for step in k.motions[index].fixed:
            assert isinstance(step, Shift)
            shift = v.add(g, shift, v.apply(g, motions[parent].arm, step.by))
        back = runs[parent].turn if parent in runs else k.motions[parent].step
        assert isinstance(back, SimpleRotation)
        origin[index] = v.add(g, origin[parent], back.out(g, shift))
        run.turn.into(g, origin[index])


def absolute_wrenches(
    k: Kinematics, own: Sequence[Wrench], runs: Mapping[int, Parallel]
) -> None:
    """Ask for the wrenches of parallel runs carried to the axes before the run by one turn; `own`: all but later
    nodes of the run.
    """
    g = k.graph
    carried: dict[int, Wrench] = {}
    for index in reversed(range(len(own))):
        node, m = k.tree.nodes[index], k.motions[index]
        later = [c for c in k.tree.children(index) if c in runs]
        if index not in runs and not later:
            continue
        turn = runs[index].turn if index in runs else m.step
        assert not isinstance(turn, Shift)
        force, moment = own[index].force, own[index].moment
        total = carried_later = v.ZERO
        for c in later:
            inner = turn.into(g, carried[c].force)
            for step in k.motions[c].fixed:
                assert isinstance(step, Shift)
                moment = v.add(g, moment, v.cross(g, step.by, inner))
            total, carried_later = v.add(g, total, carried[c].force), v.add(g, carried_later, carried[c].moment)
        carried[index] = Wrench(v.add(g, turn.out(g, force), total), v.add(g, turn.out(g, moment), carried_later))
        del node
