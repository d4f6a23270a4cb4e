"""Where a joint element acts: the displacement it sees, its rate, and the load it makes of an effort."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from kane.errors import InputError, UnsupportedError
from kane.mechanism import formula as f
from kane.mechanism.basis import FrameVector
from kane.mechanism.formula import Formula, ScalarLike
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.joints import joint_type
from kane.mechanism.loads import ForcePair, GeneralizedForce, Load, TorquePair


@dataclass(frozen=True, slots=True)
class Place:
    """A displacement with its rate; an effort on it acts on `body` along `axis` and back on `reaction`.

    point: where a slide's force acts; empty for a turn.  speed: instead of bodies, the generalized speed that is the
    rate.
    """

    displacement: Formula
    rate: Formula
    body: str = ""
    reaction: str = ""
    axis: FrameVector = field(default_factory=FrameVector)
    point: str = ""
    speed: str = ""

    def load(self, name: str, effort: ScalarLike) -> Load:
        """The load of an effort, positive along the displacement."""
        value = f.exact(effort)
        if self.speed:
            return GeneralizedForce(name, self.speed, value)
        if self.point:
            return ForcePair(name, self.point, self.body, self.reaction, self.axis * value)
        return TorquePair(name, self.body, self.reaction, self.axis * value)


def on_joint(mechanism: Described, joint: str) -> Place:
    """The place of a one-degree-of-freedom joint of a robot whose speeds are rates of coordinates."""
    mechanism = mechanism_of(mechanism)
    known = mechanism.joint(joint)
    kind = joint_type(known)
    names = kind.coordinates(known)
    if len(names) != 1 or known.mimic is not None or mechanism.speeds:
        raise UnsupportedError(
            f"Joint {joint!r} has no single coordinate whose rate is a speed.", name=joint,
            remedy="Make the place from its bodies and axis.",
        )  # fmt: skip
    return on_coordinate(names[0])


def on_coordinate(name: str) -> Place:
    """The place of a coordinate whose rate is a generalized speed."""
    return Place(f.name(name), f.name(f"{name}_dot"), speed=name)


def turn(displacement: Formula, rate: Formula, body: str, reaction: str, axis: FrameVector) -> Place:
    """The place of a turning joint: `displacement` turns `body` about `axis` relative to `reaction`."""
    return Place(displacement, rate, body, reaction, axis)


def slide(displacement: Formula, rate: Formula, body: str, reaction: str, axis: FrameVector, point: str) -> Place:
    """The place of a sliding joint; the forces act on both bodies at `point`."""
    return Place(displacement, rate, body, reaction, axis, point)


def amount(name: str, what: str, value: ScalarLike, zero: bool = True, most: int | None = None) -> Formula:
    """An amount that is not negative, nor zero unless `zero`, nor above `most`; formulas are taken as they are.

    Raises InputError naming the element and the amount.
    """
    exact = f.exact(value)
    bounds = f"{'not negative' if zero else 'positive'}{'' if most is None else f' and at most {most}'}"
    known = not isinstance(exact, f.Formula) or not exact.names()
    number = f.number(exact) if known else 1.0
    if number < 0 or (number == 0 and not zero) or (most is not None and known and number > most):
        raise InputError(
            f"Element {name!r}: {what} is {number:.9g}.", name=name, element=what, value=number,
            remedy=f"It has to be {bounds}.",
        )  # fmt: skip
    return f.formula(exact)


def ratio_of(name: str, ratio: ScalarLike) -> Formula:
    """A gear ratio, which may be negative but not zero.  Raises InputError."""
    exact = f.exact(ratio)
    if not isinstance(exact, f.Formula) and exact == 0:
        raise InputError(f"Element {name!r}: its ratio is 0.", name=name, value=0, remedy="Give motor over joint rate.")
    return f.formula(exact)


def positive_part(x: Formula) -> Formula:
    """max(x, 0)."""
    return Formula("max", (x, f.formula(Fraction(0))))
