"""Numbers, angles and orientations of MuJoCo's specification objects, made exact again."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from kane.errors import NumberError
from kane.formats.values import pi_multiple
from kane.mechanism import formula as f
from kane.mechanism.exact import apply, plus, pose
from kane.mechanism.formula import Scalar
from kane.mechanism.joints import about
from kane.mechanism.model import Axis, Move, Placement, QuaternionTurn, Translate, Turn, Vector

_AXIS: dict[str, Axis] = {"x": 0, "y": 1, "z": 2}


@contextmanager
def heard(said: list[str]) -> Iterator[None]:
    """What MuJoCo warns of, collected: it would print it and write a file into the working folder."""
    import mujoco

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        said += [str(warning.message) for warning in caught]
    finally:
        mujoco.set_mju_user_warning(before)


def rational(value: float) -> Fraction:
    """The decimal number that was written: the shortest one that gives this double."""
    number = f.exact(float(value))
    assert isinstance(number, Fraction)
    return number


def vector(values: Sequence[float]) -> Vector:
    """Three exact numbers."""
    x, y, z = (rational(v) for v in values)
    return x, y, z


def angle(value: float, degrees: bool, snap: float) -> Scalar:
    """Radians; multiples of 15 degrees, or within `snap` of a multiple of pi/12, are exact."""
    if degrees:
        share = rational(value) / 15
        return pi_multiple(int(share)) if share.denominator == 1 else f.formula(rational(value)) * f.PI / 180
    k = round(value * 12 / np.pi)
    return pi_multiple(k) if abs(value - k * np.pi / 12) <= snap else rational(value)


def in_radians(value: float, degrees: bool) -> float:
    """A float in radians."""
    return float(np.deg2rad(value)) if degrees else float(value)


def turns(quat: Sequence[float], alt: Any, compiler: Any, snap: float) -> tuple[Move, ...]:
    """Moves of an orientation given as quaternion, Euler angles, axis and angle, two axes or the z axis."""
    kind = alt.type.name.rpartition("_")[2]
    degrees = bool(compiler.degree)
    if kind == "EULER":
        sequence = "".join(compiler.eulerseq)
        if len(sequence) != 3 or not set(sequence.lower()) <= set(_AXIS):
            raise NumberError(
                f"eulerseq={sequence!r} is not a sequence of three axes.", name="eulerseq", value=sequence,
                remedy="Write three of x, y, z, X, Y, Z.",
            )  # fmt: skip
        moves: list[Move] = []
        for letter, value in zip(sequence, alt.euler, strict=True):
            turn = Turn(_AXIS[letter.lower()], angle(value, degrees, snap))
            moves = [*moves, turn] if letter.islower() else [turn, *moves]  # capitals: about fixed axes
        return tuple(m for m in moves if isinstance(m, Turn) and not f.is_zero(m.angle))
    if kind == "AXISANGLE":
        amount = angle(alt.axisangle[3], degrees, snap)
        return () if f.is_zero(amount) else about(vector(alt.axisangle[:3]), amount)
    if kind == "XYAXES":
        x, y = np.asarray(alt.xyaxes[:3]), np.asarray(alt.xyaxes[3:])
        x = x / np.linalg.norm(x)
        y = y - x * (x @ y)
        y = y / np.linalg.norm(y)
        return _matrix_turn(np.column_stack((x, y, np.cross(x, y))))
    if kind == "ZAXIS":
        z = np.asarray(alt.zaxis) / np.linalg.norm(alt.zaxis)
        if 1.0 + z[2] < 1e-12:
            return (Turn(0, f.PI),)
        return _quaternion(np.array([1.0 + z[2], -z[1], z[0], 0.0]))
    return _quaternion(np.asarray(quat, dtype=float))


def _matrix_turn(R: np.ndarray[Any, Any]) -> tuple[Move, ...]:
    """The quaternion of a rotation matrix, from its largest component (Shepperd 1978)."""
    t = np.trace(R)
    candidates = np.array([t, R[0, 0], R[1, 1], R[2, 2]])
    k = int(np.argmax(candidates))
    if k == 0:
        q = np.array([1.0 + t, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    else:
        i = k - 1
        j, m = (i + 1) % 3, (i + 2) % 3
        q = np.zeros(4)
        q[0] = R[m, j] - R[j, m]
        q[1 + i] = 1.0 + R[i, i] - R[j, j] - R[m, m]
        q[1 + j], q[1 + m] = R[j, i] + R[i, j], R[m, i] + R[i, m]
    q[np.abs(q) < 1e-15] = 0.0
    return _quaternion(q)


def _quaternion(q: np.ndarray[Any, Any]) -> tuple[Move, ...]:
    if not np.isfinite(q).all() or not q.any():
        raise NumberError(
            f"The quaternion {q.tolist()} is not a rotation.", value=q.tolist(), remedy="Give a unit quaternion."
        )
    if not q[1:].any():
        return ()
    w, x, y, z = (rational(v) for v in q)
    return (QuaternionTurn((w, x, y, z)),)


def placement(element: Any, snap: float) -> Placement:
    """Where an element (body, site, geom, frame) stands in its parent, enclosing <frame> elements included."""
    by = vector(element.pos)
    own: Placement = (Translate(by),) if any(by) else ()
    own += turns(element.quat, element.alt, element_compiler(element), snap)
    return frames(element, snap) + own


def frames(element: Any, snap: float) -> Placement:
    """The moves of the <frame> elements around an element, outermost first."""
    result: Placement = ()
    frame = element.frame
    while frame is not None:
        by = vector(frame.pos)
        here: Placement = (Translate(by),) if any(by) else ()
        result = here + turns(frame.quat, frame.alt, element_compiler(frame), snap) + result
        frame = frame.frame
    return result


def through(moves: Placement, point: Vector, direction: Vector) -> tuple[Vector, Vector]:
    """A point and a direction given behind the moves, seen from before them."""
    if not moves:
        return point, direction
    R, p = pose(moves)
    return plus(p, apply(R, point)), apply(R, direction)


def element_compiler(element: Any) -> Any:
    """The compiler settings that hold for an element (attached models keep their own)."""
    return element.compiler
