"""The tree of elementary motions that a mechanism's joints make.

Each node has some fixed moves from its parent node's frame and then one moving move: a turn, a translation or a
quaternion. A joint of several degrees of freedom is a run of nodes without bodies between them.  Fixed joints
disappear: a link's frame is a node's frame followed by fixed moves, so the bodies fixed to each other are one.
"""

from __future__ import annotations

from dataclasses import dataclass

from kane.errors import TopologyError, UnknownNameError
from kane.kinematics.coordinates import Coordinates
from kane.mechanism.formula import Formula
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Frame, Joint, Mechanism, Move, Placement, QuaternionTurn, amounts

ROOT = -1  # the inertial frame N


@dataclass(frozen=True, slots=True)
class Attached:
    """A link fixed to a node's frame by `placement`."""

    link: str
    placement: Placement


@dataclass(frozen=True, slots=True)
class Node:
    """One elementary motion: parent node, fixed moves, the moving move, the links fixed to the frame after it."""

    name: str
    parent: int
    fixed: Placement
    motion: Move
    joint: str
    links: tuple[Attached, ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes, parents first; `place[link or frame name]` is (node or ROOT, fixed moves after it)."""

    nodes: tuple[Node, ...]
    root_links: tuple[Attached, ...]
    place: dict[str, tuple[int, Placement]]

    def children(self, index: int) -> tuple[int, ...]:
        return tuple(k for k, node in enumerate(self.nodes) if node.parent == index)

    def locate(self, name: str) -> tuple[int, Placement]:
        """Where a link or frame is; UnknownNameError lists the names."""
        if name not in self.place:
            raise UnknownNameError(
                f"There is no link or frame named {name!r}; there are: {', '.join(self.place)}.", name=name
            )
        return self.place[name]


def build_tree(mechanism: Mechanism, coordinates: Coordinates) -> Tree:
    """The tree of a mechanism, children in file order."""
    moving = {*coordinates.names, *coordinates.specified, "t"}
    by_parent: dict[str, list[Joint]] = {}
    for joint in mechanism.joints:
        by_parent.setdefault(joint.parent, []).append(joint)
    nodes: list[Node] = []
    place: dict[str, tuple[int, Placement]] = {mechanism.root: (ROOT, ())}
    stack = [mechanism.root]
    while stack:
        parent = stack.pop()
        for joint in by_parent.get(parent, ()):
            if joint.child in place:
                raise TopologyError(f"Link {joint.child!r} is reached twice.", name=joint.child, line=joint.line)
            place[joint.child] = _extend(nodes, place[parent], moves_of(joint, coordinates), joint, moving)
        stack += [joint.child for joint in reversed(by_parent.get(parent, ()))]
    lost = [link.name for link in mechanism.links if link.name not in place]
    if lost:
        raise TopologyError(f"Links {', '.join(lost)} are not connected to {mechanism.root!r}.", name=lost[0])
    attached: dict[int, list[Attached]] = {}
    for link in mechanism.links:
        node, tail = place[link.name]
        attached.setdefault(node, []).append(Attached(link.name, tail))
    done = tuple(
        Node(n.name, n.parent, n.fixed, n.motion, n.joint, tuple(attached.get(k, ()))) for k, n in enumerate(nodes)
    )
    return Tree(done, tuple(attached.get(ROOT, ())), _with_frames(place, mechanism.frames))


def moves_of(joint: Joint, coordinates: Coordinates) -> Placement:
    kind = joint_type(joint)
    values = tuple(coordinates.values[name] for name in kind.coordinates(joint))
    return (*joint.placement, *kind.moves(joint, values, kind.speeds(joint)))


def _extend(
    nodes: list[Node], start: tuple[int, Placement], moves: Placement, joint: Joint, moving: set[str]
) -> tuple[int, Placement]:
    """Append a node for each moving move; returns where the moves end."""
    node, fixed = start[0], list(start[1])
    run = sum(is_moving(move, moving) for move in moves)
    for move in moves:
        if is_moving(move, moving):
            number = sum(n.joint == joint.name for n in nodes)
            name = joint.child if run == 1 else f"{joint.child}.{number + 1}"
            nodes.append(Node(name, node, tuple(fixed), move, joint.name))
            node, fixed = len(nodes) - 1, []
        else:
            fixed.append(move)
    return node, tuple(fixed)


def is_moving(move: Move, moving: set[str]) -> bool:
    """True when an amount of the move depends on a coordinate or on time."""
    return any(isinstance(s, Formula) and not moving.isdisjoint(s.names()) for s in amounts(move)) or (
        isinstance(move, QuaternionTurn) and move.speeds is not None
    )


def _with_frames(
    place: dict[str, tuple[int, Placement]], frames: tuple[Frame, ...]
) -> dict[str, tuple[int, Placement]]:
    result = dict(place)
    for frame in frames:
        node, tail = place[frame.link]
        result.setdefault(frame.name, (node, (*tail, *frame.placement)))
    return result
