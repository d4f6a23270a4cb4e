"""Loads: forces, torques and pairs of them, generalized forces, and the names of inputs known only at run time.

Amounts are formulas in coordinates, rates (`q1_dot`), speeds, parameters, inputs, `t` and measures
(kinematics/points.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from kane.mechanism.basis import FrameVector
from kane.mechanism.formula import Scalar


@dataclass(frozen=True, slots=True)
class Force:
    """A force, N, acting where the frame or link `point` is.

    `body`: the force acts on the material point of that link that coincides with `point` at the instant; None: `point`
    itself moves with the matter it acts on.
    """

    name: str
    point: str
    vector: FrameVector
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Torque:
    """A torque, N m, on the link `body`."""

    name: str
    body: str
    vector: FrameVector


@dataclass(frozen=True, slots=True)
class ForcePair:
    """`vector` at `point` of `body`, and its opposite on the coinciding material point of `reaction`.

    The points P of A and P-hat of B of a prismatic joint: only their relative velocity does work.
    """

    name: str
    point: str
    body: str
    reaction: str
    vector: FrameVector


@dataclass(frozen=True, slots=True)
class TorquePair:
    """`vector` on the link `body` and its opposite on the link `reaction`."""

    name: str
    body: str
    reaction: str
    vector: FrameVector


@dataclass(frozen=True, slots=True)
class LineForce:
    """A force of this magnitude along the line of two points, pushing them apart when positive.

    Actuators, springs and dampers.
    """

    name: str
    point: str
    other: str
    magnitude: Scalar


@dataclass(frozen=True, slots=True)
class GeneralizedForce:
    """A contribution to the generalized active force of one speed: what acts on a coordinate without a place."""

    name: str
    speed: str
    value: Scalar


@dataclass(frozen=True, slots=True)
class SpinningRotor:
    """A rotor that spins at `rate` about the unit vector `axis` fixed in the link `carrier`.

    rate: a formula linear in rates.  inertia: about the axis, kg m^2; the carrier's own inertia holds the rotor as if
    locked.  reflected: gyroscopic terms and the coupling with the carrier's motion are left out.
    """

    name: str
    carrier: str
    axis: FrameVector
    inertia: Scalar
    rate: Scalar
    reflected: bool = False


@dataclass(frozen=True, slots=True)
class Specified:
    """A motion given at run time: `name`, `name_dot` and `name_ddot` are inputs; formulas of moves may use `name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Input:
    """A name that formulas of loads use and that is given at run time: a drive torque, a tip force."""

    name: str


Load = Force | Torque | ForcePair | TorquePair | LineForce | GeneralizedForce | SpinningRotor | Specified | Input
