"""Contacts inside joints: backlash (dead zone), stops, radial clearance.

A contact pushes and never pulls: stiffness times depth times (1 + damping * rate of depth), not below zero (Hunt and
Crossley 1975).
"""

from __future__ import annotations

from kane.errors import InputError
from kane.mechanism import formula as f
from kane.mechanism.elements.place import Place, amount, positive_part
from kane.mechanism.formula import Formula, ScalarLike
from kane.mechanism.loads import LineForce, Load


def pushing(depth: Formula, rate: Formula, stiffness: ScalarLike, damping: ScalarLike) -> Formula:
    """The contact's force at a depth (negative: no contact) and its rate."""
    loss = positive_part(f.formula(1) + f.formula(damping) * rate)
    return f.formula(stiffness) * positive_part(depth) * loss


def backlash(
    name: str, place: Place, gap: ScalarLike, stiffness: ScalarLike, damping: ScalarLike = 0
) -> tuple[Load, ...]:
    """No effort while |displacement| < gap / 2, the contact's beyond: a tooth between two flanks."""
    half = amount(name, "gap", gap) / 2
    return stop(name, place, -half, half, stiffness, damping)


def stop(
    name: str, place: Place, lower: ScalarLike, upper: ScalarLike, stiffness: ScalarLike, damping: ScalarLike = 0
) -> tuple[Load, ...]:
    """Stops at both ends of the travel of a joint."""
    low, high = f.exact(lower), f.exact(upper)
    if not isinstance(low, Formula) and not isinstance(high, Formula) and low > high:
        raise InputError(
            f"Element {name!r}: its lower end {float(low):.9g} is above its upper end {float(high):.9g}.", name=name,
            value=float(low), remedy="Give the lower end first.",
        )  # fmt: skip
    amount(name, "stiffness", stiffness), amount(name, "damping", damping)
    x, v = place.displacement, place.rate
    below = pushing(f.formula(lower) - x, -v, stiffness, damping)
    above = pushing(x - upper, v, stiffness, damping)
    return (place.load(name, below - above),)


def clearance(
    name: str, pin: str, hole: str, gap: ScalarLike, stiffness: ScalarLike, damping: ScalarLike = 0
) -> tuple[Load, ...]:
    """A pin centred at one point in a hole centred at another, with radial clearance `gap`: contact beyond it.

    The centres must not coincide exactly, where the direction is undefined.
    """
    amount(name, "gap", gap), amount(name, "stiffness", stiffness), amount(name, "damping", damping)
    distance, rate = f.name(f"distance({pin}, {hole})"), f.name(f"distance_dot({pin}, {hole})")
    return (LineForce(name, pin, hole, -pushing(distance - gap, rate, stiffness, damping)),)
