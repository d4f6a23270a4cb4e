"""Conditions on the motion: holonomic (in coordinates and time) and nonholonomic (linear in the rates).

A condition is `expression = 0`, a formula in coordinates, rates, speeds, parameters, `t` and measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from kane.mechanism.basis import FrameVector
from kane.mechanism.formula import Scalar, add, name, neg
from kane.mechanism.model import Axis


@dataclass(frozen=True, slots=True)
class Holonomic:
    """expression(q, t) = 0.  Its multiplier is the force or moment that goes with the expression."""

    name: str
    expression: Scalar


@dataclass(frozen=True, slots=True)
class MotionConstraint:
    """expression(q, rates, t) = 0, linear in the rates."""

    name: str
    expression: Scalar


@dataclass(frozen=True, slots=True)
class Coincident:
    """Two points stay together, along the listed axes of `frame`: a loop closed by a ball or pin joint."""

    name: str
    point: str
    other: str
    frame: str
    axes: tuple[Axis, ...] = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Rolling:
    """Rolling without slip: material points at `contact` have one velocity, along `axes` of `frame`.

    The points are those of `body` and `surface`.  `contact` is a place, not a material point: its own rate of change is
    not used.
    """

    name: str
    body: str
    contact: str
    surface: str
    frame: str
    axes: tuple[Axis, ...] = (0, 1)


@dataclass(frozen=True, slots=True)
class GivenVelocity:
    """A velocity of a point in a frame derived by hand, to be checked against the derivative of the position."""

    name: str
    point: str
    frame: str
    vector: FrameVector


Constraint = Holonomic | MotionConstraint | Coincident | Rolling


def scalar_conditions(constraint: Constraint) -> tuple[Holonomic | MotionConstraint, ...]:
    """The scalar conditions that a constraint stands for, each with a name of its own."""
    match constraint:
        case Holonomic() | MotionConstraint():
            return (constraint,)
        case Coincident(own, point, other, frame, axes):
            return tuple(
                Holonomic(f"{own}.{'xyz'[k]}", name(f"position({point}, {other}, {frame}.{'xyz'[k]})")) for k in axes
            )
        case Rolling(own, body, contact, surface, frame, axes):
            return tuple(
                MotionConstraint(f"{own}.{'xyz'[k]}", _slip(body, contact, surface, f"{frame}.{'xyz'[k]}"))
                for k in axes
            )


def _slip(body: str, contact: str, surface: str, axis: str) -> Scalar:
    one = name(f"material_velocity({contact}, {body}, {axis})")
    two: Scalar = name(f"material_velocity({contact}, {surface}, {axis})") if surface else Fraction(0)
    return add(one, neg(two))
