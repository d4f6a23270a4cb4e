"""Runs of parallel axes: quantities of the axes before the run reach a link by one turn of the summed angles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kane.equations.recursion import Wrench
from kane.graph.arena import Ref
from kane.kinematics import vectors as v
from kane.kinematics.accelerations import FrameMotion, arm_matrix, move_through, rate_derivative, rates_with
from kane.kinematics.motion import Kinematics, Shift
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import SimpleRotation, Vec
from kane.mechanism.model import Turn


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
) -> dict[int, FrameMotion]:
    """Ask for w, alpha and a of the nodes of parallel runs by one turn through the sum of the angles.

    Returns their motions with components in the axes before the run.
    """
    seen: dict[int, FrameMotion] = {}
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
        w, alpha = before[run.base]
        alpha = v.add(g, alpha, run.acc, v.cross(g, w, run.rate))
        w = v.add(g, w, run.rate)
        shift = v.ZERO
        for step in k.motions[index].fixed:
            assert isinstance(step, Shift)
            shift = v.add(g, shift, v.apply(g, motions[parent].arm, step.by))
        back = runs[parent].turn if parent in runs else k.motions[parent].step
        assert isinstance(back, SimpleRotation)
        origin[index] = v.add(g, origin[parent], back.out(g, shift))
        run.turn.into(g, origin[index])
        arm, products = arm_matrix(g, w, alpha)
        seen[index] = FrameMotion(w, alpha, origin[index], arm, products)
    return seen


def absolute_wrenches(k: Kinematics, own: Sequence[Wrench], runs: Mapping[int, Parallel]) -> None:
    """Ask for the wrenches of parallel runs in the axes before the run.

    own: without what later nodes of the run carry.
    """
    g = k.graph
    carried: dict[int, Wrench] = {}
    for index in reversed(range(len(own))):
        m = k.motions[index]
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
