"""Floating-point poses and motions of a mechanism, for judging a description; equations are derived elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from kane.mechanism.formula import Formula, Scalar, name, number
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Inertia, Joint, MatrixTurn, Mechanism, Move, QuaternionTurn, Translate, Turn, amounts

Array = npt.NDArray[np.float64]
_E = np.eye(3)
NOISE = 1e-14  # of the largest value: rounding of sums and products


class SomeValues(dict[str, float]):
    """Values for names; a name without a value gets one of its own between 0.3 and 1.3, the same in every run."""

    def __missing__(self, key: str) -> float:
        return 0.3 + crc32(key.encode()) / 2**32


def skew(v: Sequence[float] | Array) -> Array:
    """The matrix of the cross product v x."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def rotation(move: Turn | QuaternionTurn | MatrixTurn, values: Mapping[str, float]) -> Array:
    """The rotation matrix (3, 3) of a turn: columns are the new axes in the old ones."""
    if isinstance(move, MatrixTurn):
        return np.array([[number(x, values) for x in row] for row in move.rows])
    if isinstance(move, Turn):
        angle = number(move.angle, values)
        c, s = math.cos(angle), math.sin(angle)
        i, j = (move.axis + 1) % 3, (move.axis + 2) % 3
        result: Array = np.eye(3)
        result[i, i], result[i, j], result[j, i], result[j, j] = c, -s, s, c
        return result
    w, x, y, z = (values[q] if isinstance(q, str) else float(q) for q in move.quaternion)
    v = np.array([x, y, z])
    matrix = (w * w - v @ v) * _E + 2.0 * np.outer(v, v) + 2.0 * w * skew(v)
    result = matrix / (w * w + v @ v)
    return result


def pose(moves: Sequence[Move], values: Mapping[str, float]) -> tuple[Array, Array]:
    """Rotation (3, 3) and position (3,) after the moves."""
    R, p = np.eye(3), np.zeros(3)
    for move in moves:
        if isinstance(move, Translate):
            p = p + R @ np.array([number(x, values) for x in move.by])
        else:
            R = R @ rotation(move, values)
    return R, p


def joint_moves(joint: Joint) -> tuple[Move, ...]:
    """The moves from parent link frame to child link frame, in the joint's coordinate names."""
    kind = joint_type(joint)
    q = kind.coordinates(joint)
    return (*joint.placement, *kind.moves(joint, tuple(name(c) for c in q), kind.speeds(joint)))


def coordinate_names(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of all coordinates, joint by joint."""
    return tuple(c for joint in mechanism.joints for c in joint_type(joint).coordinates(joint))


def without_noise(values: Any, largest: float | None = None, share: float = NOISE) -> Array:
    """The values for showing: those within `share` of the largest (by default of these values) are 0, and so is -0."""
    x = np.asarray(values, dtype=np.float64)
    size = np.where(np.isfinite(x), np.abs(x), 0.0).max(initial=0.0) if largest is None else largest
    return np.where(np.abs(x) <= share * size, 0.0, x)


def values_of(mechanism: Mechanism) -> SomeValues:
    """Parameter values, and some value for every other name."""
    return SomeValues(mechanism.parameter_values)


def names_in(moves: Sequence[Move]) -> set[str]:
    """All names that the moves depend on."""
    found: set[str] = set()
    for move in moves:
        if isinstance(move, QuaternionTurn):
            found.update(q for q in move.quaternion if isinstance(q, str))
            continue
        for amount in amounts(move):
            if isinstance(amount, Formula):
                found |= amount.names()
    return found


def moves_with_parameters_only(joint: Joint, mechanism: Mechanism) -> bool:
    """True when the child is fixed in the parent: no coordinate and no time in the moves."""
    if joint.type == "fixed":
        return True
    if joint_type(joint).coordinates(joint):
        return False
    return names_in(joint_moves(joint)) <= {p.name for p in mechanism.parameters}


def columns(
    moves: Sequence[Move], values: Mapping[str, float], wanted: frozenset[str]
) -> tuple[Array, Array, dict[str, Array]]:
    """Pose of the child and, by name, its twist (angular, linear at the child origin; child axes) for each unit rate.

    A quaternion of coordinates gives three columns named by its speeds.
    """
    R, p = np.eye(3), np.zeros(3)
    twists: dict[str, tuple[Array, Array, Array]] = {}

    def put(key: str, w: Array, v: Array) -> None:
        old = twists.get(key)
        moment = np.cross(p, w) + v  # velocity of the point at the parent origin
        twists[key] = (w, moment, p) if old is None else (old[0] + w, old[1] + moment, p)

    for move in moves:
        if isinstance(move, Translate):
            for k, amount in enumerate(move.by):
                for key, rate in _rates(amount, values, wanted).items():
                    put(key, np.zeros(3), R[:, k] * rate)
            p = p + R @ np.array([number(x, values) for x in move.by])
            continue
        turn = rotation(move, values)
        if isinstance(move, Turn):
            for key, rate in _rates(move.angle, values, wanted).items():
                put(key, R[:, move.axis] * rate, np.zeros(3))
        if isinstance(move, MatrixTurn):
            slopes = [[_rates(x, values, wanted) for x in row] for row in move.rows]
            for key in sorted({key for row in slopes for rates in row for key in rates}):
                skewed = np.array([[rates.get(key, 0.0) for rates in row] for row in slopes]) @ turn.T
                put(key, R @ np.array([skewed[2, 1], skewed[0, 2], skewed[1, 0]]), np.zeros(3))
        R = R @ turn
        if isinstance(move, QuaternionTurn) and move.speeds is not None:
            for k, key in enumerate(move.speeds):
                put(key, R[:, k].copy(), np.zeros(3))
    return R, p, {key: np.concatenate((R.T @ w, R.T @ (v + np.cross(w, p)))) for key, (w, v, _) in twists.items()}


def _rates(amount: Scalar, values: Mapping[str, float], wanted: frozenset[str]) -> dict[str, float]:
    if not isinstance(amount, Formula):
        return {}
    return {key: derivative(amount, key, values) for key in sorted(amount.names() & wanted)}


def derivative(f: Formula, key: str, values: Mapping[str, float]) -> float:
    """The partial derivative of a formula with respect to a name, forward, to rounding."""
    if key not in f.names():
        return 0.0
    if f.op == "name":
        return 1.0
    d = [derivative(arg, key, values) for arg in f.args]
    x = [arg.evaluate(values) for arg in f.args] if f.op not in ("add", "sub", "neg") else []
    match f.op:
        case "add":
            return d[0] + d[1]
        case "sub":
            return d[0] - d[1]
        case "neg":
            return -d[0]
        case "mul":
            return d[0] * x[1] + x[0] * d[1]
        case "div":
            return (d[0] - x[0] / x[1] * d[1]) / x[1]
        case "sin":
            return math.cos(x[0]) * d[0]
        case "cos":
            return -math.sin(x[0]) * d[0]
    step = 1e-6  # rarely met operations: a central difference is enough to see whether something moves
    shifted = [f.evaluate({**values, **{n: values[n] for n in f.names()}, key: values[key] + s}) for s in (step, -step)]
    return (shifted[0] - shifted[1]) / (2 * step)


def tensor(inertia: Inertia, values: Mapping[str, float]) -> tuple[float, Array, Array]:
    """Mass, mass centre (3,) and tensor about it (3, 3), in link axes."""
    xx, xy, xz, yy, yz, zz = (number(x, values) for x in inertia.moments)
    R, _ = pose(inertia.axes, values)
    I = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    return number(inertia.mass, values), np.array([number(x, values) for x in inertia.com]), I
