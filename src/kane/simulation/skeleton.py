"""The drawing of a mechanism: named points in N and the lines between them, as one compiled function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane.equations.frames import frame_pose, node_poses
from kane.equations.projection import kane_equations
from kane.equations.system import derive_system
from kane.graph.arena import Ref
from kane.graph.program import build_program
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.mechanism import formula as f
from kane.mechanism.model import Mechanism
from kane.native.function import NativeFunction, compile_program
from kane.simulation.model import Array, Model


@dataclass(frozen=True, slots=True)
class Skeleton:
    """names (k,), lines (i, j) between points, masses: points that are mass centres; place: (y, t, f) -> (k, 3)."""

    names: tuple[str, ...]
    lines: tuple[tuple[int, int], ...]
    masses: tuple[int, ...]
    place: NativeFunction

    def at(self, model: Model, t: Array, y: Array) -> Array:
        """Points (times, k, 3) at times (times,) and states (n, times)."""
        layout, count = model.layout, len(t)
        whole = np.zeros((count, layout.size))
        whole[:, : len(y)] = y.T
        return np.asarray(self.place(whole, t.reshape(-1, 1), np.zeros((count, len(layout.inputs)))))


def skeleton(model: Model) -> Skeleton:
    """The points of a model: origins of links and mass centres of a robot, the declared points of a system."""
    m = model.mechanism
    declared = bool(m.loads or m.constraints or m.speeds)
    names, lines, masses, refs, graph = _declared(m) if declared else _tree(m)
    flat = [x for p in refs for x in p]
    program = build_program(graph, "skeleton", model.layout.arrays(), [("points", (len(refs), 3), flat)])
    return Skeleton(tuple(names), tuple(lines), tuple(masses), compile_program(program))


def _tree(m: Mechanism):  # type: ignore[no-untyped-def]
    system = derive_system(m)
    k, g = system.k, system.g
    poses = node_poses(k)
    parents = {j.child: j.parent for j in m.joints}
    names: list[str] = []
    points: list[v.Vec] = []
    lines: list[tuple[int, int]] = []
    masses: list[int] = []
    for link in m.links:
        _, pose = frame_pose(k, link.name, poses)
        own = len(names)
        names.append(link.name)
        points.append(pose.position)
        if link.name in parents and parents[link.name] in names:
            lines.append((names.index(parents[link.name]), own))
        if link.inertia is not None and not f.is_zero(link.inertia.mass):
            x, y, z = (k.scalar(c) for c in link.inertia.com)
            masses.append(len(names))
            lines.append((own, len(names)))
            names.append(f"{link.name}*")
            points.append(v.add(g, pose.position, v.apply(g, pose.rows, (x, y, z))))
    return names, lines, masses, points, g


def _declared(m: Mechanism):  # type: ignore[no-untyped-def]
    e = kane_equations(m, parameters=())
    p = e.points
    chosen: dict[int, int] = {}
    names: list[str] = []
    points: list[v.Vec] = []
    lines: list[tuple[int, int]] = []
    seen: dict[tuple[Ref, ...], int] = {}
    for name, station in sorted(p.place.items(), key=lambda item: item[1]):
        place = pt.gather(p, pt.position(p, station), 0)
        key = tuple(place)
        if key not in seen:  # frames at one point are drawn once
            seen[key] = len(names)
            names.append(name)
            points.append(place)
        chosen[station] = seen[key]
    for station in sorted(chosen):
        parent = p.stations[station].parent
        while parent >= 0 and parent not in chosen:
            parent = p.stations[parent].parent
        if parent >= 0 and chosen[parent] != chosen[station]:
            lines.append((chosen[parent], chosen[station]))
    masses = sorted({chosen[b.station] for b in p.bodies if b.station in chosen})
    return names, sorted(set(lines)), masses, points, e.graph
