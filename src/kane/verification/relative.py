"""Motion of a joint's child in its parent, straight from the definition of each joint type (no moves, no graph).

Columns are the generalized speeds and, last, time (whose "speed" is 1): prescribed motion needs no terms of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kane.errors import UnsupportedError
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Joint, MatrixTurn, Move, QuaternionTurn, Translate
from kane.verification.jets import Jet, jet

Array = npt.NDArray[np.float64]
E = np.eye(3)


@dataclass(frozen=True, slots=True)
class State:
    """What joints are placed by: values by name, rows Q and dQ/dt of qdot = Q [u, 1] (n + 1 columns), and [u, 1]."""

    values: Mapping[str, float]
    index: Mapping[str, int]
    Q: Array
    Qdot: Array
    rates: Array
    columns: Mapping[str, Array]  # a joint's own speed -> unit row over [u, 1]
    columns_rate: Mapping[str, Array]
    followed: Mapping[str, tuple[str, float, float]]  # follower -> (coordinate, ratio, offset)

    @property
    def size(self) -> int:
        return len(self.rates)

    def amount(self, scalar: Scalar) -> tuple[float, Array, Array]:
        """Value of a scalar, its partials by [u, t] and their time derivative."""
        x = jet(scalar, self.index, self.values)
        qdot = self.Q @ self.rates
        return x.value, x.gradient @ self.Q, (x.hessian @ qdot) @ self.Q + x.gradient @ self.Qdot

    def coordinate(self, joint: Joint, k: int = 0) -> tuple[float, Array, Array]:
        """The same of a joint's own coordinate, a follower's included."""
        own = joint_type(joint).coordinates(joint)[k]
        master, ratio, offset = self.followed.get(joint.name, (own, 1.0, 0.0))
        row = self.index[master]
        return ratio * self.values[master] + offset, ratio * self.Q[row], ratio * self.Qdot[row]


@dataclass(frozen=True, slots=True)
class Relative:
    """Child in parent, parent axes: R, p; partial angular and linear velocities A, B (3, n + 1); dA/dt, dB/dt."""

    R: Array
    p: Array
    A: Array
    B: Array
    Adot: Array
    Bdot: Array

    def then(self, other: Relative, rates: Array) -> Relative:
        """This motion followed by another one given in its child's axes."""
        R, w = self.R, self.A @ rates
        arm = R @ other.p
        arm_rate = np.cross(w, arm) + R @ (other.B @ rates)
        A, B = R @ other.A, R @ other.B
        return Relative(
            R @ other.R,
            self.p + arm,
            self.A + A,
            self.B - skew(arm) @ self.A + B,
            self.Adot + R @ other.Adot + skew(w) @ A,
            self.Bdot - skew(arm_rate) @ self.A - skew(arm) @ self.Adot + R @ other.Bdot + skew(w) @ B,
        )


def skew(v: Sequence[float] | Array) -> Array:
    """v x as a matrix."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def still(n: int) -> Relative:
    """No motion."""
    zero = np.zeros((3, n))
    return Relative(np.eye(3), np.zeros(3), zero, zero, zero, zero)


def turned(direction: Array, amount: tuple[float, Array, Array]) -> Relative:
    """A turn about a fixed unit direction (Rodrigues)."""
    x, partial, rate = amount
    K = skew(direction)
    zero = np.zeros((3, len(partial)))
    R = E + math.sin(x) * K + (1 - math.cos(x)) * (K @ K)
    return Relative(R, np.zeros(3), np.outer(direction, partial), zero, np.outer(direction, rate), zero)


def slid(vectors: Sequence[tuple[Array, tuple[float, Array, Array]]]) -> Relative:
    """A translation by amounts along fixed directions."""
    n = len(vectors[0][1][1])
    p, B, Bdot = np.zeros(3), np.zeros((3, n)), np.zeros((3, n))
    for direction, (x, partial, rate) in vectors:
        p, B, Bdot = p + x * direction, B + np.outer(direction, partial), Bdot + np.outer(direction, rate)
    zero = np.zeros((3, n))
    return Relative(np.eye(3), p, zero, B, zero, Bdot)


def quaternion_matrix(q: Sequence[float]) -> Array:
    """Rotation matrix of a quaternion (w, x, y, z) of any length."""
    w, v = q[0], np.asarray(q[1:], dtype=np.float64)
    inner = (w * w - v @ v) * E + 2 * np.outer(v, v) + 2 * w * skew(v)
    result: Array = inner / (w * w + v @ v)
    return result


def moved(move: Move, state: State) -> Relative:
    """One move whose amounts are formulas."""
    if isinstance(move, Translate):
        return slid([(E[k], state.amount(move.by[k])) for k in range(3)])
    if isinstance(move, QuaternionTurn):
        if move.speeds is not None:
            return _ball(state, [str(n) for n in move.quaternion], move.speeds)
        base = still(state.size)
        R = quaternion_matrix([float(x) for x in move.quaternion])
        return Relative(R, base.p, base.A, base.B, base.Adot, base.Bdot)
    if isinstance(move, MatrixTurn):
        return _by_cosines(move, state)
    return turned(E[move.axis], state.amount(move.angle))


def _by_cosines(move: MatrixTurn, state: State) -> Relative:
    """A turn by its matrix C: w x = dC/dt Cᵀ, so that the columns of A are the skew parts of dC/du_k Cᵀ."""
    parts = [[state.amount(x) for x in row] for row in move.rows]
    C = np.array([[x[0] for x in row] for row in parts])
    slopes = np.array([[x[1] for x in row] for row in parts])  # (3, 3, n)
    change = np.array([[x[2] for x in row] for row in parts])
    W = np.einsum("ijk,lj->ilk", slopes, C)
    Wdot = np.einsum("ijk,lj->ilk", change, C) + np.einsum("ijk,lj->ilk", slopes, slopes @ state.rates)
    zero = np.zeros((3, state.size))
    A, Adot = (np.array([w[2, 1] - w[1, 2], w[0, 2] - w[2, 0], w[1, 0] - w[0, 1]]) / 2 for w in (W, Wdot))
    return Relative(C, np.zeros(3), A, zero, Adot, zero)


def through(moves: Sequence[Move], state: State) -> Relative:
    """Moves one after the other."""
    result = still(state.size)
    for move in moves:
        result = result.then(moved(move, state), state.rates)
    return result


def unit_axis(joint: Joint, values: Mapping[str, float]) -> Array:
    """The joint's axis, length 1."""
    a = np.array([x.evaluate(values) if isinstance(x, Formula) else float(x) for x in joint.axis])
    result: Array = a / math.sqrt(a @ a)
    return result


def plane_axes(normal: Array) -> tuple[Array, Array]:
    """x and y of a planar joint: those of the joint frame, turned the short way by which z comes onto the normal."""
    across = np.array([-normal[1], normal[0], 0.0])
    s = math.hypot(normal[0], normal[1])
    if s == 0.0:
        return (E[0], E[1]) if normal[2] > 0 else (-E[0], E[1])
    R = turned(across / s, (math.atan2(s, normal[2]), np.zeros(1), np.zeros(1))).R
    return R[:, 0], R[:, 1]


def relative(joint: Joint, state: State) -> Relative:
    """Child link in parent link.  Raises UnsupportedError for a joint type without a definition here."""
    start = through(joint.placement, state)
    if joint.type not in _TYPES:
        raise UnsupportedError(
            f"The check by plain Newton-Euler does not know joint type {joint.type!r}.",
            name=joint.name,
            value=joint.type,
        )
    motion = _TYPES[joint.type](joint, state)
    return start if motion is None else start.then(motion, state.rates)


def _revolute(joint: Joint, s: State) -> Relative:
    return turned(unit_axis(joint, s.values), s.coordinate(joint))


def _prismatic(joint: Joint, s: State) -> Relative:
    return slid([(unit_axis(joint, s.values), s.coordinate(joint))])


def _cylindrical(joint: Joint, s: State) -> Relative:
    axis = unit_axis(joint, s.values)
    return slid([(axis, s.coordinate(joint, 1))]).then(turned(axis, s.coordinate(joint, 0)), s.rates)


def _screw(joint: Joint, s: State) -> Relative:
    axis, (x, partial, rate) = unit_axis(joint, s.values), s.coordinate(joint)
    pitch = joint.pitch.evaluate(s.values) if isinstance(joint.pitch, Formula) else float(joint.pitch)
    advance = slid([(axis, (pitch * x, pitch * partial, pitch * rate))])
    return advance.then(turned(axis, (x, partial, rate)), s.rates)


def _planar(joint: Joint, s: State) -> Relative:
    normal = unit_axis(joint, s.values)
    x, y = plane_axes(normal)
    place = slid([(x, s.coordinate(joint, 0)), (y, s.coordinate(joint, 1))])
    return place.then(turned(normal, s.coordinate(joint, 2)), s.rates)


def _universal(joint: Joint, s: State) -> Relative:
    return turned(E[0], s.coordinate(joint, 0)).then(turned(E[1], s.coordinate(joint, 1)), s.rates)


def _ball(s: State, quaternion: Sequence[str], speeds: Sequence[str]) -> Relative:
    """Angular velocity in child axes: w = R u; dw/dt = R udot, since w x w = 0."""
    R = quaternion_matrix([s.values[n] for n in quaternion])
    C, Cdot = (np.array([table[n] for n in speeds]) for table in (s.columns, s.columns_rate))
    w = R @ (C @ s.rates)
    zero = np.zeros((3, s.size))
    return Relative(R, np.zeros(3), R @ C, zero, R @ Cdot + skew(w) @ R @ C, zero)


def _spherical(joint: Joint, s: State) -> Relative:
    kind = joint_type(joint)
    return _ball(s, kind.coordinates(joint), kind.speeds(joint))


def _floating(joint: Joint, s: State) -> Relative:
    """Velocity of the origin in child axes too: v = R u, dv/dt = R udot + w x v."""
    kind = joint_type(joint)
    names, speeds = kind.coordinates(joint), kind.speeds(joint)
    turn = _ball(s, names[3:], speeds[:3])
    C, Cdot = (np.array([table[n] for n in speeds[3:]]) for table in (s.columns, s.columns_rate))
    p = np.array([s.values[n] for n in names[:3]])
    w = turn.A @ s.rates
    return Relative(turn.R, p, turn.A, turn.R @ C, turn.Adot, turn.R @ Cdot + skew(w) @ turn.R @ C)


def _general(joint: Joint, s: State) -> Relative:
    return through(joint.moves, s)


_TYPES: dict[str, Callable[[Joint, State], Relative | None]] = {
    "revolute": _revolute,
    "continuous": _revolute,
    "prismatic": _prismatic,
    "fixed": lambda joint, s: None,
    "cylindrical": _cylindrical,
    "screw": _screw,
    "planar": _planar,
    "universal": _universal,
    "spherical": _spherical,
    "floating": _floating,
    "general": _general,
}

__all__ = ["Jet", "Relative", "State", "relative", "skew", "through", "unit_axis"]
