"""The second way to the explicit model: sample A and g on a grid, transform once; no code of the symbolic way.

Every element is a trigonometric polynomial of degree 2 in each angle and a polynomial of degree 2 in each slide, so
values on 5 points an angle (3 a slide) determine it exactly.  Body by body over the coordinates of its ancestors: a
tree's whole grid would explode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from kane.errors import UnsupportedError
from kane.explicit.bounds import waves
from kane.explicit.evaluate import constant_values
from kane.explicit.lumping import Expression
from kane.explicit.model import ExplicitModel
from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.kinematics.tree import ROOT, Tree, build_tree
from kane.mechanism.formula import Formula, number
from kane.mechanism.model import Inertia, Mechanism, Move, QuaternionTurn, Translate, Turn

Array = np.ndarray[Any, np.dtype[np.float64]]
Harmonics = dict[tuple[int, ...], complex]  # harmonic of each angle, power of each slide -> weight
_LARGEST = 400_000  # grid points of one body


@dataclass(frozen=True, slots=True)
class Sampled:
    """A (upper triangle by (i, j)) without rotors and g (by i) in harmonics exp(i k.q) and powers of the slides."""

    A: dict[tuple[int, int], Harmonics]
    g: dict[int, Harmonics]


@dataclass(frozen=True, slots=True)
class _Frame:
    """Rotation (..., 3, 3) and position (..., 3) of a frame in N over the grid; one axis of the grid a coordinate."""

    rotation: Array
    position: Array


def sample(mechanism: Mechanism) -> Sampled:
    """Harmonics of A and g of a tree of turns and slides, from values on a grid.

    Raises UnsupportedError when a body has too many ancestors for a grid.
    """
    c = find_coordinates(mechanism)
    tree = build_tree(mechanism, c)
    table = mechanism.parameter_values
    result = Sampled({}, {})
    for node in range(len(tree.nodes)):
        bodies = [(at, mechanism.link(at.link).inertia) for at in tree.nodes[node].links]
        for at, inertia in bodies:
            if inertia is not None:
                _add_body(result, (mechanism, tree, c, table), node, at.placement, inertia)
    return result


def _add_body(
    result: Sampled,
    of: tuple[Mechanism, Tree, Coordinates, Mapping[str, float]],
    node: int,
    placement: Sequence[Move],
    inertia: Inertia,
) -> None:
    mechanism, tree, c, table = of
    path = []
    while node != ROOT:
        path.append(node)
        node = tree.nodes[node].parent
    path.reverse()
    rates = [_rate(tree.nodes[k].motion, c, table) for k in path]
    used = sorted({name for _, _, ratios in rates for name in ratios})
    points = [_points(name, c, rates) for name in used]
    if np.prod([float(len(p)) for p in points]) > _LARGEST:
        raise UnsupportedError(f"A body of {mechanism.name} has {len(used)} moving ancestors, too many for a grid.")
    frames, axes = [], []
    frame = _Frame(np.eye(3), np.zeros(3))
    for k, (kind, axis, ratios) in zip(path, rates, strict=True):
        frame = _moved(frame, tree.nodes[k].fixed, table)
        frames.append(frame)
        axes.append((kind, axis, ratios))
        frame = _through(frame, tree.nodes[k].motion, used, points, ratios, table)
    frame = _moved(frame, placement, table)
    mass, com = number(inertia.mass, table), np.array([number(x, table) for x in inertia.com])
    t = [number(x, table) for x in inertia.moments]
    turned = _moved(_Frame(np.eye(3), np.zeros(3)), inertia.axes, table).rotation
    central = turned @ np.array([[t[0], t[1], t[2]], [t[1], t[3], t[4]], [t[2], t[4], t[5]]]) @ turned.T
    centre = frame.position + frame.rotation @ com
    spatial = frame.rotation @ central @ np.swapaxes(frame.rotation, -1, -2)
    linear, angular = _jacobians(frames, axes, centre, len(c.names), c)
    gravity = np.array([number(x, table) for x in mechanism.gravity])
    present = sorted({c.names.index(name) for name in used})
    for place, i in enumerate(present):
        _transform(result.g.setdefault(i, {}), -mass * linear[i] @ gravity, used, points, c)
        for j in present[place:]:
            value = mass * np.einsum("...i,...i->...", linear[i], linear[j])
            value = value + np.einsum("...i,...ij,...j->...", angular[i], spatial, angular[j])
            _transform(result.A.setdefault((i, j), {}), value, used, points, c)


def _rate(motion: Move, c: Coordinates, table: Mapping[str, float]) -> tuple[str, int, dict[str, Array]]:
    """Kind, axis and for each coordinate the derivative of the amount by it (a vector for slides)."""
    match motion:
        case Turn(axis, angle):
            names = [n for n in c.names if isinstance(angle, Formula) and n in angle.names()]
            zero = dict(table) | dict.fromkeys(names, 0.0)
            return "turn", axis, {n: np.array([number(angle, zero | {n: 1.0}) - number(angle, zero)]) for n in names}
        case Translate(by):
            names = [n for n in c.names if any(isinstance(x, Formula) and n in x.names() for x in by)]
            zero = dict(table) | dict.fromkeys(names, 0.0)
            slopes = {n: np.array([number(x, zero | {n: 1.0}) - number(x, zero) for x in by]) for n in names}
            return "slide", 0, slopes
    raise UnsupportedError("The grid serves turns and slides only.")


def _points(name: str, c: Coordinates, rates: Sequence[tuple[str, int, dict[str, Array]]]) -> Array:
    """5 points for an angle, 3 for a slide; more where followers raise the degree."""
    if c.angles[c.names.index(name)]:
        degree = 2 * sum(abs(round(float(r[name][0]))) for kind, _, r in rates if name in r and kind == "turn")
        return np.arange(2 * degree + 1, dtype=np.float64) * (2 * np.pi / (2 * degree + 1))
    count = 2 * sum(name in r for _, _, r in rates) + 1
    return np.arange(count, dtype=np.float64) * (2.0 / (count - 1)) - 1.0


def _moved(frame: _Frame, moves: Sequence[Move], table: Mapping[str, float]) -> _Frame:
    rotation, position = frame.rotation, frame.position
    for move in moves:
        match move:
            case Translate(by):
                position = position + rotation @ np.array([number(x, table) for x in by])
            case Turn(axis, angle):
                rotation = rotation @ _turn(axis, np.array(number(angle, table)))
            case QuaternionTurn(quaternion, _):
                w, x, y, z = (float(e) for e in quaternion)
                v = np.array([x, y, z])
                cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
                n = w * w + v @ v
                rotation = rotation @ (((w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross) / n)
    return _Frame(rotation, position)


def _turn(axis: int, angle: Array) -> Array:
    """Rotations about a coordinate axis, (..., 3, 3)."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result = np.zeros((*angle.shape, 3, 3))
    result[..., axis, axis] = 1
    result[..., i, i] = result[..., j, j] = np.cos(angle)
    result[..., j, i] = np.sin(angle)
    result[..., i, j] = -np.sin(angle)
    return result


def _through(
    frame: _Frame, motion: Move, used: Sequence[str], points: Sequence[Array], ratios: Mapping[str, Array],
    table: Mapping[str, float],
) -> _Frame:  # fmt: skip
    zero = dict(table) | dict.fromkeys(ratios, 0.0)
    amount: Array = np.zeros((1,) * len(used) + (len(next(iter(ratios.values()))),))
    for name, slope in ratios.items():
        shape = [1] * len(used)
        shape[used.index(name)] = -1
        amount = amount + points[used.index(name)].reshape(*shape, 1) * slope
    if isinstance(motion, Turn):
        angle = amount[..., 0] + number(motion.angle, zero)
        return _Frame(frame.rotation @ _turn(motion.axis, angle), frame.position)
    assert isinstance(motion, Translate)
    shift = amount + np.array([number(x, zero) for x in motion.by])
    return _Frame(frame.rotation, frame.position + np.einsum("...ij,...j->...i", frame.rotation, shift))


def _jacobians(
    frames: Sequence[_Frame], axes: Sequence[tuple[str, int, dict[str, Array]]], centre: Array, n: int, c: Coordinates
) -> tuple[list[Array], list[Array]]:
    """Partial velocities of the mass centre and partial angular velocities, in N."""
    linear, angular = [np.zeros(3) for _ in range(n)], [np.zeros(3) for _ in range(n)]
    for frame, (kind, axis, ratios) in zip(frames, axes, strict=True):
        for name, slope in ratios.items():
            k = c.names.index(name)
            if kind == "turn":
                direction = frame.rotation[..., :, axis] * slope[0]
                angular[k] = angular[k] + direction
                linear[k] = linear[k] + np.cross(direction, centre - frame.position)
            else:
                linear[k] = linear[k] + frame.rotation @ slope
    return linear, angular


def _transform(into: Harmonics, value: Array, used: Sequence[str], points: Sequence[Array], c: Coordinates) -> None:
    """Add the harmonics of values on the grid: FFT along angles, interpolation along slides."""
    shape = tuple(len(p) for p in points)
    table: Any = np.broadcast_to(value, shape).astype(complex)
    meanings = []
    for axis, (name, p) in enumerate(zip(used, points, strict=True)):
        if c.angles[c.names.index(name)]:
            table = np.fft.fft(table, axis=axis) / len(p)
            half = len(p) // 2
            meanings.append([k if k <= half else k - len(p) for k in range(len(p))])
        else:
            inverse = np.linalg.inv(np.vander(p, increasing=True))
            table = np.moveaxis(np.tensordot(inverse, table, axes=(1, axis)), 0, axis)
            meanings.append(list(range(len(p))))
    places = [c.names.index(name) for name in used]
    for index in np.argwhere(np.abs(table) > 1e-15 * np.abs(table).max(initial=0.0)):
        key = [0] * len(c.names)
        for place, meaning, at in zip(places, meanings, index, strict=True):
            key[place] = meaning[at]
        into[tuple(key)] = into.get(tuple(key), 0j) + complex(table[tuple(index)])


def harmonics(model: ExplicitModel, expression: Expression) -> Harmonics:
    """An expression of a model in harmonics of the angles and powers of the slides, rotors left out."""
    constants = constant_values(model)
    result: Harmonics = {}
    for t in expression:
        if model.constants[t.constant].kind == "rotor":
            continue
        slides = [0] * model.n
        for angle, power, s in t.factors:
            if s < 0:
                slides[angle.index(1)] += power
        for k, weight in (waves(t.factors) or {(0,) * model.n: 1.0 + 0j}).items():
            key = tuple(a + b for a, b in zip(k, slides, strict=True))
            result[key] = result.get(key, 0j) + weight * float(t.ratio) * float(constants[t.constant])
    return result


def largest_difference(model: ExplicitModel) -> float:
    """The greatest difference of a harmonic of A or g between the two ways, relative to the element's largest."""
    sampled = sample(model.mechanism)
    worst = 0.0
    for i, j in product(range(model.n), repeat=2):
        if i <= j:
            worst = max(worst, _difference(harmonics(model, model.A[i][j]), sampled.A.get((i, j), {})))
    for i in range(model.n):
        worst = max(worst, _difference(harmonics(model, model.g[i]), sampled.g.get(i, {})))
    return worst


def _difference(a: Harmonics, b: Harmonics) -> float:
    size = max([abs(v) for v in (*a.values(), *b.values())], default=0.0)
    apart = max([abs(a.get(k, 0j) - b.get(k, 0j)) for k in {**a, **b}], default=0.0)
    return apart / size if size > 1e-12 else 0.0
