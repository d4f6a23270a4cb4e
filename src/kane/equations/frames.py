"""Poses and velocities of frames in N, Jacobians, and external wrenches."""

from __future__ import annotations

from dataclasses import dataclass

from kane.equations.recursion import Wrench
from kane.equations.system import System, wrench_labels
from kane.graph.arena import Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.motion import Kinematics, Shift, Step
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import Mat, Vec

IDENTITY: Mat = ((2, 0, 0), (0, 2, 0), (0, 0, 2))


@dataclass(frozen=True, slots=True)
class Pose:
    """p: position of the origin in N, axes of N; rows: rotation, N components = rows * frame components."""

    position: Vec
    rows: Mat


@dataclass(frozen=True, slots=True)
class FrameState:
    """Pose and velocity of a node: w and velocity in the node's axes, position and rows in N."""

    w: Vec
    velocity: Vec
    position: Vec
    rows: Mat

    def out(self, g: Graph, a: Vec) -> Vec:
        """Components in N."""
        return v.apply(g, self.rows, a)


def advance(g: Graph, pose: Pose, steps: tuple[Step, ...]) -> Pose:
    """The pose after some steps."""
    position, rows = pose.position, pose.rows
    for step in steps:
        if isinstance(step, Shift):
            position = v.add(g, position, v.apply(g, rows, step.by))
        else:  # each row of R times the step's rotation: the row as a vector taken into the turned axes
            a, b, c = (step.into(g, row) for row in rows)
            rows = (a, b, c)
    return Pose(position, rows)


def node_poses(k: Kinematics) -> list[Pose]:
    """Poses of all nodes in N."""
    poses: list[Pose] = []
    for node, m in zip(k.tree.nodes, k.motions, strict=True):
        start = poses[node.parent] if node.parent != ROOT else Pose(v.ZERO, IDENTITY)
        poses.append(advance(k.graph, start, (*m.fixed, m.step)))
    return poses


def frame_pose(k: Kinematics, name: str, poses: list[Pose]) -> tuple[int, Pose]:
    """The node that carries a frame or link, and its pose."""
    node, placement = k.tree.locate(name)
    start = poses[node] if node != ROOT else Pose(v.ZERO, IDENTITY)
    return node, advance(k.graph, start, k.steps(placement))


def frame_states(k: Kinematics) -> list[FrameState]:
    """Pose, angular velocity and origin velocity of all nodes."""
    g = k.graph
    states: list[FrameState] = []
    for index, pose in enumerate(node_poses(k)):
        node, m = k.tree.nodes[index], k.motions[index]
        w, vel = (states[node.parent].w, states[node.parent].velocity) if node.parent != ROOT else (v.ZERO, v.ZERO)
        for step in (*m.fixed, m.step):
            if isinstance(step, Shift):
                vel = v.add(g, vel, v.cross(g, w, step.by))
            else:
                w, vel = step.into(g, w), step.into(g, vel)
        if m.kind == "slide":
            vel = v.add(g, vel, m.rate)
        else:
            w = v.add(g, w, m.rate)
        states.append(FrameState(w, vel, pose.position, pose.rows))
    return states


def jacobian_columns(k: Kinematics, frame: str) -> list[tuple[Vec, Vec]]:
    """For each speed the partial angular velocity and partial velocity of a frame in N, axes of N."""
    g = k.graph
    poses = node_poses(k)
    node, pose = frame_pose(k, frame, poses)
    columns = [(v.ZERO, v.ZERO) for _ in k.symbols.u]
    while node != ROOT:
        m, here = k.motions[node], poses[node]
        for r, partial in m.partials.items():
            direction = v.apply(g, here.rows, partial)
            if m.kind == "slide":
                own = (v.ZERO, direction)
            else:
                own = (direction, v.cross(g, direction, v.sub(g, pose.position, here.position)))
            columns[r] = (v.add(g, columns[r][0], own[0]), v.add(g, columns[r][1], own[1]))
        node = k.tree.nodes[node].parent
    return columns


def external_wrenches(system: System) -> dict[int, list[Wrench]]:
    """Wrenches w (moment first, axes of N, at the frame's origin) as wrenches on nodes, node axes, about node origins.
    """
    g, k = system.g, system.k
    result: dict[int, list[Wrench]] = {}
    if not system.external:
        return result
    symbols = [g.symbol(label) for label in wrench_labels(system.external)]
    poses = node_poses(k)
    for i, frame in enumerate(system.external):
        node, pose = frame_pose(k, frame, poses)
        if node == ROOT:
            continue
        moment, force = _triple(symbols, 6 * i), _triple(symbols, 6 * i + 3)
        arm = v.sub(g, pose.position, poses[node].position)
        turned = v.transpose(poses[node].rows)
        total = v.add(g, moment, v.cross(g, arm, force))
        wrench = Wrench(v.apply(g, turned, force), v.apply(g, turned, total))
        result.setdefault(node, []).append(wrench)
    return result


def _triple(refs: list[Ref], start: int) -> Vec:
    return (refs[start], refs[start + 1], refs[start + 2])
