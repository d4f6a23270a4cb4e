"""The frames that move in a tree of turns and slides, in numbers: where each is from its parent, what it carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from kane.errors import InputError
from kane.kinematics.coordinates import Coordinates
from kane.kinematics.tree import ROOT, Node, Tree, build_tree
from kane.mechanism.formula import Formula, Scalar, number
from kane.mechanism.inertia import combined
from kane.mechanism.model import Mechanism, QuaternionTurn, Translate, Turn
from kane.mechanism.numeric import Array, pose, tensor

Kind = Literal["turn", "slide", "ball", "free"]


@dataclass(frozen=True, slots=True)
class Moving:
    """A moving frame: origin at `place` in the parent's axes, axes turned by `turned` and then by the joint.

    rate: (speed's place, factor, components in own axes) of the angular velocity (turn, ball, free) or of the velocity
    (slide); shift: the same for the velocity of a free origin.  travel: (coordinate, components in own axes).
    """

    name: str
    parent: int
    kind: Kind
    place: Array
    turned: Array
    motion: str
    rate: tuple[tuple[int, Array], ...]
    shift: tuple[tuple[int, Array], ...] = ()
    travel: tuple[tuple[str, Array], ...] = ()
    mass: float = 0.0
    com: Any = None
    inertia: Any = None


def moving_frames(mechanism: Mechanism, c: Coordinates) -> tuple[Moving, ...]:
    """The frames that move, parents first; InputError where one cannot be written here."""
    if any(p.value is None for p in mechanism.parameters):
        raise InputError("With this many speeds the steps are written with numbers, and some parameters have none.")
    if c.natural and c.natural != c.speeds:
        raise InputError("With this many speeds the steps are written for rates of the joints' own coordinates.")
    if any(joint.rotor is not None and joint.rotor.exact for joint in mechanism.joints):
        raise InputError("With this many speeds the steps are written without spinning rotors.")
    values = mechanism.parameter_values
    tree = build_tree(mechanism, c)
    free = {names[0]: k for k, (names, _, _) in enumerate(c.positions)}
    made: list[Moving] = []
    at: dict[int, int] = {ROOT: ROOT}
    skipped: dict[int, int] = {}
    for k, node in enumerate(tree.nodes):
        first = _names(node.motion.by[0]) if isinstance(node.motion, Translate) else set()
        if first and next(iter(first)) in free and node.parent == ROOT:
            at[k], skipped[k] = ROOT, free[next(iter(first))]
            continue
        made.append(_moving(mechanism, tree, c, k, (at[node.parent], skipped.get(node.parent)), values))
        at[k] = len(made) - 1
    return tuple(made)


def _moving(
    mechanism: Mechanism, tree: Tree, c: Coordinates, k: int, where: tuple[int, int | None],
    values: Mapping[str, float],
) -> Moving:  # fmt: skip
    node, (parent, position) = tree.nodes[k], where
    turned, place = pose(node.fixed, values)
    body = _body(mechanism, node, values)
    place_of = {name: r for r, name in enumerate(c.speeds)}
    unit = np.eye(3)
    motion = node.motion
    if isinstance(motion, QuaternionTurn):
        assert motion.speeds is not None
        rate = tuple((place_of[name], unit[i]) for i, name in enumerate(motion.speeds))
        if position is None:
            return Moving(node.name, parent, "ball", place, turned, "turn by its quaternion", rate, (), (), *body)
        names, speeds, _ = c.positions[position]
        shift = tuple((place_of[name], unit[i]) for i, name in enumerate(speeds))
        travel = tuple((name, unit[i]) for i, name in enumerate(names))
        above = tree.nodes[node.parent]
        turned, place = pose((*above.fixed, *node.fixed), values)
        if not np.allclose(turned, np.eye(3), atol=1e-12):
            raise InputError("With this many speeds the steps are written for free bodies along the axes of N.")
        label = above.joint if not node.links else node.links[0].link
        return Moving(label, parent, "free", place, turned, "free in space", rate, shift, travel, *body)
    if not isinstance(motion, Turn | Translate):
        raise InputError("With this many speeds the steps are written for turns and slides of the joints.")
    amounts = (motion.angle,) if isinstance(motion, Turn) else motion.by
    slopes, start = _slopes(amounts, c, values)
    ((name, slope),) = slopes.items()
    r = place_of[name]
    if isinstance(motion, Turn):
        if start[0]:
            extra = pose((Turn(motion.axis, Fraction(float(start[0]))),), {})[0]
            turned = turned @ extra
        own = slope[0] * unit[motion.axis]
        text = f"turn by {_times(slope[0], name)} about its axis {motion.axis + 1}"
        return Moving(node.name, parent, "turn", place, turned, text, ((r, own),), (), (), *body)
    place = place + turned @ start
    size = float(np.linalg.norm(slope))
    text = f"slide by {_times(size, name)} along {_direction(slope / size)}"
    return Moving(node.name, parent, "slide", place, turned, text, ((r, slope),), (), ((name, slope),), *body)


def _names(value: Scalar) -> set[str]:
    return set(value.names()) if isinstance(value, Formula) else set()


def _slopes(
    amounts: Sequence[Scalar], c: Coordinates, values: Mapping[str, float]
) -> tuple[dict[str, Array], Array]:
    """Derivative of the amounts by their one coordinate, and the amounts where it is zero."""
    used = sorted({n for x in amounts for n in _names(x)} & {*c.names})
    if len(used) != 1 or any("t" in _names(x) or _names(x) & {*c.specified} for x in amounts):
        raise InputError("With this many speeds the steps are written for joints of one coordinate a move.")

    def value(q: float) -> Array:
        return np.array([number(x, {**values, used[0]: q}) for x in amounts])

    start, slope = value(0.0), value(1.0) - value(0.0)
    if not np.allclose(value(-2.5), start - 2.5 * slope, rtol=1e-9, atol=1e-12):
        raise InputError("With this many speeds the steps are written for moves linear in their coordinate.")
    return {used[0]: slope}, start


def _body(mechanism: Mechanism, node: Node, values: Mapping[str, float]) -> tuple[float, Any, Any]:
    """Mass, mass centre and tensor about it of all that is fixed to a node, in its axes."""
    parts = []
    for at in node.links:
        inertia = mechanism.link(at.link).inertia
        if inertia is not None:
            R, p = pose(at.placement, values)
            mass, com, I = tensor(inertia, values)
            parts.append((mass, p + R @ com, R @ I @ R.T))
    if not parts:
        return 0.0, None, None
    mass, com, I = combined(parts)
    return (mass, com, I) if mass or np.any(I) else (0.0, None, None)


def _times(factor: float, name: str) -> str:
    return name if factor == 1 else f"−{name}" if factor == -1 else f"{factor:.6g}·{name}"


def _direction(d: Array) -> str:
    for axis in range(3):
        if abs(d[axis]) == 1:
            return f"its axis {axis + 1}" if d[axis] > 0 else f"its axis {axis + 1}, backwards"
    return f"({', '.join(f'{x:.4g}' for x in d)})"
