"""Joint types: which coordinates and speeds a joint has, and by which moves it places its child.

To add a joint type, add a class with the obligations of JointType and a row in JOINT_TYPES.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Protocol

from kane.errors import InputError, UnsupportedError
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.model import Axis, Joint, Move, QuaternionTurn, Translate, Turn, Vector

QUATERNION = ("qw", "qx", "qy", "qz")


class JointType(Protocol):
    """The obligations of a joint type.

    1. `coordinates(joint)`: default coordinate names, in order.  2. `speeds(joint)`: default speed names; a speed
    with the name of a coordinate is that coordinate's rate.  3. `moves(joint, coordinates, speeds)`: the moves from
    the joint frame to the child frame. 4. `angles`: for each coordinate, True when it is an angle (periodic), False
    for a length, None for a component of a quaternion.
    """

    @property
    def angles(self) -> tuple[bool | None, ...]: ...

    def coordinates(self, joint: Joint) -> tuple[str, ...]: ...

    def speeds(self, joint: Joint) -> tuple[str, ...]: ...

    def moves(self, joint: Joint, q: tuple[Scalar, ...], names: tuple[str, ...]) -> tuple[Move, ...]: ...


def _suffixed(joint: Joint, suffixes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{joint.name}.{s}" for s in suffixes) if len(suffixes) > 1 else (joint.name,) * len(suffixes)


def about(axis: Vector, angle: Scalar) -> tuple[Move, ...]:
    """Moves that turn by `angle` about a fixed axis of any direction and length.

    Raises InputError for the zero axis.
    """
    turned = _coordinate_axis(axis)
    if turned is not None:
        k, sign = turned
        return (Turn(k, angle if sign > 0 else f.neg(angle)),)
    there, back = _aligned(axis)
    return (*there, Turn(2, angle), *back)


def along(axis: Vector, amount: Scalar) -> tuple[Move, ...]:
    """Moves that translate by `amount` along a fixed axis of any direction and length."""
    turned = _coordinate_axis(axis)
    if turned is not None:
        k, sign = turned
        step: list[Scalar] = [Fraction(0)] * 3
        step[k] = amount if sign > 0 else f.neg(amount)
        return (Translate((step[0], step[1], step[2])),)
    there, back = _aligned(axis)
    return (*there, Translate((Fraction(0), Fraction(0), amount)), *back)


def _coordinate_axis(axis: Vector) -> tuple[Axis, int] | None:
    nonzero = [k for k in range(3) if not f.is_zero(axis[k])]
    if not nonzero:
        raise InputError("The axis of a moving joint is zero.", value="0 0 0", remedy="Give the direction of the axis.")
    if len(nonzero) > 1:
        return None
    value = axis[nonzero[0]]
    return nonzero[0], -1 if f.number(value) < 0 else 1  # type: ignore[return-value]


def _aligned(axis: Vector) -> tuple[tuple[Move, ...], tuple[Move, ...]]:
    """Fixed turns that take z to the axis, and their inverse; exact quaternion where the length is rational."""
    x, y, z = axis
    if isinstance(x, Fraction) and isinstance(y, Fraction) and isinstance(z, Fraction):
        length = _rational_root(x * x + y * y + z * z)
        if length is not None and length + z == 0:
            return (Turn(1, f.PI),), (Turn(1, -f.PI),)
        if length is not None:
            w, zero = length + z, Fraction(0)
            return (QuaternionTurn((w, -y, x, zero)),), (QuaternionTurn((w, y, -x, zero)),)
    across = f.add(f.mul(x, x), f.mul(y, y))
    alpha = _exact_angle(y, x, f.mul(y, y)) or f.function("atan2", y, x)
    beta = _exact_angle(Fraction(1), z, across) or f.function("atan2", f.function("sqrt", across), z)
    return (Turn(2, alpha), Turn(1, beta)), (Turn(1, f.neg(beta)), Turn(2, f.neg(alpha)))


def _exact_angle(sign: Scalar, x: Scalar, square: Scalar) -> Formula | None:
    """atan2(y, x) for y with this square and this sign where it is a multiple of pi/4 or pi/6, else None."""
    if not (isinstance(sign, Fraction) and isinstance(x, Fraction) and isinstance(square, Fraction)):
        return None
    ratio = square / x**2 if x else Fraction(-1)
    third = Fraction(1, 3)
    first = {-1: Fraction(1, 2), 0: Fraction(0), 1: Fraction(1, 4), 3: third, third: Fraction(1, 6)}.get(ratio)
    if first is None:
        return None
    turn = first if x >= 0 else 1 - first
    return f.PI * (turn if sign >= 0 else -turn)


def _rational_root(value: Fraction) -> Fraction | None:
    p, q = isqrt(value.numerator), isqrt(value.denominator)
    return Fraction(p, q) if p * p == value.numerator and q * q == value.denominator else None


@dataclass(frozen=True, slots=True)
class _Simple:
    """A joint whose speeds are the rates of its coordinates; `recipe(axis, q, pitch)` gives the moves."""

    suffixes: tuple[str, ...]
    angles: tuple[bool | None, ...]
    kinds: tuple[str, ...]

    def coordinates(self, joint: Joint) -> tuple[str, ...]:
        return joint.coordinates or _suffixed(joint, self.suffixes)

    def speeds(self, joint: Joint) -> tuple[str, ...]:
        return joint.speeds or self.coordinates(joint)

    def moves(self, joint: Joint, q: tuple[Scalar, ...], names: tuple[str, ...]) -> tuple[Move, ...]:
        result: list[Move] = []
        for kind, value in zip(self.kinds, q, strict=True):
            result += about(joint.axis, value) if kind == "turn" else along(joint.axis, value)
        return tuple(result)


@dataclass(frozen=True, slots=True)
class _Screw(_Simple):
    """Turn by q and advance by pitch * q (pitch in m/rad) along the same axis."""

    def moves(self, joint: Joint, q: tuple[Scalar, ...], names: tuple[str, ...]) -> tuple[Move, ...]:
        return (*about(joint.axis, q[0]), *along(joint.axis, f.mul(joint.pitch, q[0])))


@dataclass(frozen=True, slots=True)
class _Planar(_Simple):
    """Slide along two axes of the plane whose normal is the axis, then turn about the normal.

    For a normal along z the coordinates are (x, y, theta); for another one the plane's x and y follow from turning z
    onto it.
    """

    def moves(self, joint: Joint, q: tuple[Scalar, ...], names: tuple[str, ...]) -> tuple[Move, ...]:
        inner: tuple[Move, ...] = (Translate((q[0], q[1], Fraction(0))), Turn(2, q[2]))
        if joint.axis[0] == 0 and joint.axis[1] == 0 and f.number(joint.axis[2]) > 0:
            return inner
        there, back = _aligned(joint.axis)
        if len(there) > 1 and isinstance(there[0], Turn):  # the short way, as the quaternion does
            azimuth = there[0].angle
            there, back = (*there, Turn(2, -azimuth)), (Turn(2, azimuth), *back)
        return (*there, *inner, *back)


@dataclass(frozen=True, slots=True)
class _Universal(_Simple):
    """Turn about x, then about the new y of the joint frame."""

    def moves(self, joint: Joint, q: tuple[Scalar, ...], names: tuple[str, ...]) -> tuple[Move, ...]:
        return (Turn(0, q[0]), Turn(1, q[1]))


@dataclass(frozen=True, slots=True)
class _Spherical:
    """A unit quaternion (w, x, y, z); speeds: angular velocity of the child in the parent, child axes."""

    angles: tuple[bool | None, ...] = (None,) * 4

    def coordinates(self, joint: Joint) -> tuple[str, ...]:
        return joint.coordinates or _suffixed(joint, QUATERNION)

    def speeds(self, joint: Joint) -> tuple[str, ...]:
        return joint.speeds or _suffixed(joint, ("wx", "wy", "wz"))

    def moves(self, joint: Joint, q: tuple[Scalar, ...], names: tuple[str, ...]) -> tuple[Move, ...]:
        c = self.coordinates(joint)
        return (QuaternionTurn((c[0], c[1], c[2], c[3]), (names[0], names[1], names[2])),)


@dataclass(frozen=True, slots=True)
class _Floating:
    """Six degrees of freedom: x y z and a unit quaternion.

    Speeds: angular velocity, then velocity of the origin, along the child's axes.
    """

    angles: tuple[bool | None, ...] = (False, False, False, None, None, None, None)

    def coordinates(self, joint: Joint) -> tuple[str, ...]:
        return joint.coordinates or _suffixed(joint, ("x", "y", "z", *QUATERNION))

    def speeds(self, joint: Joint) -> tuple[str, ...]:
        return joint.speeds or _suffixed(joint, ("wx", "wy", "wz", "vx", "vy", "vz"))

    def moves(self, joint: Joint, q: tuple[Scalar, ...], names: tuple[str, ...]) -> tuple[Move, ...]:
        c = self.coordinates(joint)
        turn = QuaternionTurn((c[3], c[4], c[5], c[6]), (names[0], names[1], names[2]))
        return (Translate((q[0], q[1], q[2])), turn)


@dataclass(frozen=True, slots=True)
class _Fixed(_Simple):
    """No motion."""


@dataclass(frozen=True, slots=True)
class _General(_Simple):
    """The joint's own `moves`, in its own coordinate names."""

    def coordinates(self, joint: Joint) -> tuple[str, ...]:
        return joint.coordinates

    def moves(self, joint: Joint, q: tuple[Scalar, ...], names: tuple[str, ...]) -> tuple[Move, ...]:
        return joint.moves


_ONE_TURN, _ONE_SLIDE = _Simple(("",), (True,), ("turn",)), _Simple(("",), (False,), ("slide",))
JOINT_TYPES: dict[str, JointType] = {
    "revolute": _ONE_TURN,
    "continuous": _ONE_TURN,
    "prismatic": _ONE_SLIDE,
    "fixed": _Fixed((), (), ()),
    "cylindrical": _Simple(("angle", "slide"), (True, False), ("turn", "slide")),
    "screw": _Screw(("",), (True,), ("turn",)),
    "planar": _Planar(("x", "y", "theta"), (False, False, True), ()),
    "universal": _Universal(("x", "y"), (True, True), ()),
    "spherical": _Spherical(),
    "floating": _Floating(),
    "general": _General((), (), ()),
}


def joint_type(joint: Joint) -> JointType:
    """The joint's type; UnsupportedError lists the types there are."""
    kind = JOINT_TYPES.get(joint.type)
    if kind is None:
        raise UnsupportedError(
            f"Joint {joint.name!r} has the unknown type {joint.type!r}.",
            name=joint.name,
            value=joint.type,
            line=joint.line,
            remedy=f"Use one of: {', '.join(JOINT_TYPES)}.",
        )
    return kind
