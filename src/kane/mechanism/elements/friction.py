"""Friction of joints: viscous, Coulomb, Stribeck."""

from __future__ import annotations

from kane.mechanism import formula as f
from kane.mechanism.elements.place import Place, amount
from kane.mechanism.formula import Formula, ScalarLike
from kane.mechanism.loads import Load


def direction(rate: Formula, width: ScalarLike) -> Formula:
    """sign(rate), or tanh(rate / width) where a width makes it smooth."""
    scale = f.exact(width)
    return Formula("sign", (rate,)) if f.is_zero(scale) else Formula("tanh", (rate / scale,))


def viscous(name: str, place: Place, coefficient: ScalarLike) -> tuple[Load, ...]:
    """-b rate."""
    return (place.load(name, -(amount(name, "coefficient", coefficient) * place.rate)),)


def coulomb(name: str, place: Place, level: ScalarLike, width: ScalarLike = 0) -> tuple[Load, ...]:
    """-level sign(rate); `width` in units of the rate makes it tanh."""
    amount(name, "width", width)
    return (place.load(name, -(amount(name, "level", level) * direction(place.rate, width))),)


def stribeck(
    name: str,
    place: Place,
    level: ScalarLike,
    static: ScalarLike,
    velocity: ScalarLike,
    coefficient: ScalarLike = 0,
    width: ScalarLike = 0,
) -> tuple[Load, ...]:
    """-(level + (static - level) exp(-(rate / velocity)^2)) sign(rate) - coefficient rate."""
    amount(name, "width", width)
    ratio = place.rate / amount(name, "velocity", velocity, zero=False)
    drop = (amount(name, "static", static) - amount(name, "level", level)) * Formula("exp", (-(ratio * ratio),))
    return (
        place.load(
            name, -((f.formula(level) + drop) * direction(place.rate, width)
                   + amount(name, "coefficient", coefficient) * place.rate)
        ),
    )


def spring(name: str, place: Place, stiffness: ScalarLike, rest: ScalarLike = 0) -> tuple[Load, ...]:
    """-k (displacement - rest)."""
    return (place.load(name, -(f.formula(stiffness) * (place.displacement - rest))),)
