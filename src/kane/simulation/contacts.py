"""Clearance: compliant stops and backlash as forces of the model, rigid stops with restitution as events."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from kane.errors import InputError, NumberError, UnknownNameError, UnsupportedError
from kane.graph.arena import Graph, Ref
from kane.graph.derivative import gradient
from kane.mechanism.formula import ScalarLike, exact
from kane.mechanism.given import checked_items, checked_kind, checked_mapping, checked_number, shown
from kane.simulation.events import Event

if TYPE_CHECKING:
    from kane.simulation.model import Array, Model


@dataclass(frozen=True, slots=True)
class Contact:
    """A compliant contact where x = sum of factor times coordinate is below `lower` or above `upper`.

    Force -k p (1 + d p') on x for a penetration p (Hunt and Crossley 1975); stiffness k, N/m or N m/rad; damping d,
    s/m or s/rad. A stop is {"q1": 1}; backlash between a motor and its load is {"motor": 1, "load": -ratio} with lower
    = -upper = half the gap.
    """

    coordinates: Mapping[str, ScalarLike] | str
    lower: ScalarLike | None = None
    upper: ScalarLike | None = None
    stiffness: ScalarLike = 1e5
    damping: ScalarLike = 0
    name: str = "contact"

    @property
    def factors(self) -> Mapping[str, ScalarLike]:
        return {self.coordinates: 1} if isinstance(self.coordinates, str) else self.coordinates


def checked_contacts(contacts: Any) -> tuple[Contact, ...]:
    """Contacts, or one.  Raises InputError for what is none, or has no number where one is wanted."""
    made = (contacts,) if isinstance(contacts, Contact) else checked_items(contacts, "contacts")
    for item in made:
        checked_kind("contacts", item, Contact, 'Give Contacts of kane.simulation: Contact("q1", upper=1).')
        what = f"of contact {shown(item.name)}"
        factors = {item.coordinates: 1} if isinstance(item.coordinates, str) else item.coordinates
        if not checked_mapping(f"coordinates {what}", factors, 'a name, or {"q1": 1, "q2": -2}'):
            raise InputError(f"coordinates {what} are none.", name="coordinates", remedy="Name one at least.")
        numbers = {f"the factor of {n}": x for n, x in factors.items()}
        numbers |= {n: x for n in ("lower", "upper") if (x := getattr(item, n)) is not None}
        for name, value in (numbers | {"stiffness": item.stiffness, "damping": item.damping}).items():
            try:
                number = float(exact(value))  # type: ignore[arg-type]
            except (NumberError, TypeError, OverflowError):  # a formula is no number either
                number = math.nan
            if not (number >= 0 if name in ("stiffness", "damping") else math.isfinite(number)):
                raise InputError(
                    f"{name} {what} is {shown(value)}.", name=name, value=shown(value),
                    remedy="Give a finite number, for stiffness and damping one >= 0.",
                )  # fmt: skip
    return made


@dataclass(frozen=True, slots=True)
class ContactForces:
    """Generalized forces of the contacts: elastic ones with their energy, and the damping ones."""

    springs: tuple[Ref, ...]
    losses: tuple[Ref, ...]
    energy: Ref


def contact_forces(
    g: Graph, values: Mapping[str, Ref], rates: Mapping[str, Ref], speeds: Sequence[Ref], contacts: Sequence[Contact]
) -> ContactForces:
    """The forces of contacts; values and rates of the coordinates by name."""
    springs, losses, energy = [g.zero] * len(speeds), [g.zero] * len(speeds), g.zero
    for item in contacts:
        for name in item.factors:
            if name not in values:
                known = ", ".join(values)
                raise UnknownNameError(
                    f"Contact {item.name!r}: there is no coordinate {name!r}; there are: {known}.", name=name
                )
        x = g.sum(g.mul(_number(g, c), values[n]) for n, c in item.factors.items())
        rate = g.sum(g.mul(_number(g, c), rates[n]) for n, c in item.factors.items())
        k, d = _number(g, item.stiffness), _number(g, item.damping)
        for limit, sign in ((item.upper, 1), (item.lower, -1)):
            if limit is None:
                continue
            over = g.sub(x, _number(g, limit))
            depth = g.function("max", over if sign > 0 else g.neg(over), g.zero)
            push = g.mul(k, depth)
            elastic = g.neg(push) if sign > 0 else push
            lost = g.neg(g.mul(g.mul(push, d), rate))
            energy = g.add(energy, g.mul(g.number(Fraction(1, 2)), g.mul(push, depth)))
            for r, slope in enumerate(gradient(g, rate, speeds)):
                if slope > 1:
                    springs[r] = g.add(springs[r], g.mul(slope, elastic))
                    losses[r] = g.add(losses[r], g.mul(slope, lost))
    return ContactForces(tuple(springs), tuple(losses), energy)


def _number(g: Graph, value: ScalarLike) -> Ref:
    number = exact(value)
    if not isinstance(number, Fraction):
        raise InputError(f"{value!r} is no number.", name="contact", value=value)
    return g.number(number)


def contact_events(contacts: Sequence[Contact], coordinates: Sequence[str]) -> tuple[Event, ...]:
    """Events where contacts begin and end; steps end there, because the force has a kink."""
    events = []
    for item in contacts:
        places = [(coordinates.index(n), float(exact(c))) for n, c in item.factors.items()]  # type: ignore[arg-type]
        for limit, side in ((item.lower, "lower"), (item.upper, "upper")):
            if limit is not None:
                events.append(Event(_gap(places, float(exact(limit))), f"{item.name} {side}", restart=True))  # type: ignore[arg-type]
    return tuple(events)


def _gap(places: Sequence[tuple[int, float]], limit: float) -> Callable[[float, Array, Array], float]:
    return lambda t, q, u: sum(c * float(q[k]) for k, c in places) - limit


def rigid_stop(
    model: Model, coordinate: str, lower: float | None = None, upper: float | None = None, restitution: float = 0.0,
    rest_speed: float = 1e-6,
) -> tuple[Event, ...]:  # fmt: skip
    """Events of rigid stops of a coordinate: an impact reverses its rate times `restitution`.

    The impulse acts through the mass matrix.  u+ = u - (1 + e) u_r w / w_r with w = M^-1 e_r.  Impacts slower than
    rest_speed, and all with e = 0, end the run: the coordinate rests on its stop (a compliant Contact goes on).  Raises
    UnsupportedError where the coordinate's rate is no speed of its own.
    """
    from kane.simulation.model import checked_model

    layout = checked_model(model).layout
    if model.rate is None or layout.inputs != layout.speeds or coordinate not in layout.speeds:
        raise UnsupportedError(
            f"A rigid stop of {coordinate!r} wants a tree whose inputs are the forces on its coordinates.",
            name=coordinate,
            remedy="Use a compliant Contact.",
        )
    for name, value in (("lower", lower), ("upper", upper)):
        if value is not None:
            checked_number(f"{name} of the stop of {coordinate!r}", value, "Give a number, or None for no stop.")
    checked_number("restitution", restitution, "Give a number from 0 to 1.", low=0.0, high=1.0)
    checked_number("rest_speed", rest_speed, "Give a speed >= 0.", low=0.0)
    r, c = layout.speeds.index(coordinate), layout.index(coordinate)
    rate, size = model.rate, len(layout.inputs)

    def impact(t: float, q: Array, u: Array) -> tuple[Array, Array]:
        y = np.concatenate([q, u, np.zeros(len(layout.works))])
        push = np.zeros(size)
        free = np.asarray(rate(y, np.array([t]), push))
        push[r] = 1.0
        w = (np.asarray(rate(y, np.array([t]), push)) - free)[layout.nq : layout.nq + layout.nu]
        return q, u - (1 + restitution) * u[r] * w / w[r]

    def gap(limit: float) -> Callable[[float, Array, Array], float]:
        return lambda t, q, u: float(q[c]) - limit

    def rests(t: float, q: Array, u: Array) -> bool:
        return restitution == 0 or abs(float(u[r])) < rest_speed

    sides = ((lower, -1, "lower"), (upper, 1, "upper"))
    return tuple(
        Event(gap(limit), f"{coordinate} at its {side} stop", direction=direction, action=impact, ends=rests)
        for limit, direction, side in sides
        if limit is not None
    )
