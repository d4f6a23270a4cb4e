"""Conditions on the motion: holonomic (in coordinates and time) and nonholonomic (linear in the rates).

A condition is `expression = 0`, a formula in coordinates, rates, speeds, parameters, `t` and measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

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
    """Rolling without slip: the material points of `body` and `surface` at `contact` have one velocity, along `axes`
    of `frame`.

    `contact` is a place, not a material point: its own rate of change is not used.
    """

    name: str
    body: str
    contact: str
    surface: str
    frame: str
    axes: tuple[Axis, ...] = (0, 1)


@dataclass(frozen=True, slots=True)
class AuxiliarySpeed:
    """A motion that does not happen, let happen in the partial velocities only, to bring a nonworking force into
    evidence.

    velocity along axis of `frame` of the material point of `body` at `point` relative to that of `reaction`, or with
    kind "angular" its angular velocity;
    the force asked for is the one that keeps it zero.
    """

    name: str
    kind: Literal["force", "torque"]
    body: str
    reaction: str
    frame: str
    axis: Axis
    point: str = ""


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
