"""Events: zeros of functions of the state, located on the dense output; what they do to the state; rigid stops."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from kane.errors import InputError
from kane.mechanism.given import checked_flag, checked_function, checked_kind, checked_name, checked_number, shown
from kane.simulation.dense import interpolate

Array = np.ndarray[Any, np.dtype[np.float64]]
SAMPLES = 6  # intervals of a step that are looked at for a change of sign


@dataclass(frozen=True, slots=True)
class Event:
    """function(t, q, u) = 0.  direction: 1 rising, -1 falling, 0 both.  terminal: the run ends there.

    action(t, q, u) -> (q, u) changes the state.  restart: the step ends at the event, because the forces have a kink
    there. ends(t, q, u): whether this occurrence ends the run.
    """

    function: Callable[[float, Array, Array], float]
    name: str = "event"
    terminal: bool = False
    direction: int = 0
    action: Callable[[float, Array, Array], tuple[Array, Array]] | None = None
    restart: bool = False
    ends: Callable[[float, Array, Array], bool] | None = None


_DIRECTIONS = "Give 1 for rising, -1 for falling, 0 for both."


class EventError(InputError):
    """What a function of an event raised (then its cause), or gave."""


def checked_events(events: Any) -> tuple[Event, ...]:
    """Events, or one, or None.  Raises InputError for what is none, and for one that can never take place."""
    if events is None:
        return ()
    if callable(events) or isinstance(events, (str, bytes, Mapping)) or not isinstance(events, Iterable):
        events = (events,)
    elif isinstance(events, np.ndarray):
        events = events.reshape(-1)
    made = tuple(events)
    for event in made:
        remedy = "Give Events of kane.simulation: Event(function of (t, q, u), name)."
        checked_kind("events", event, Event, remedy)
        checked_name(event.name, "An event")
        what = f"of event {event.name!r}"
        checked_function(f"The function {what}", event.function, "(t, q, u) that gives a number")
        for name, function in (("action", event.action), ("ends", event.ends)):
            if function is not None:
                checked_function(f"The {name} {what}", function, "(t, q, u)")
        checked_flag(f"terminal {what}", event.terminal)
        checked_flag(f"restart {what}", event.restart)
        way = checked_number(f"The direction {what}", event.direction, _DIRECTIONS)
        if way not in (-1, 0, 1):
            raise InputError(f"The direction {what} is {way}.", name="direction", value=way, remedy=_DIRECTIONS)
    return made


def called(event: Event, what: str, function: Callable[..., Any], *state: Any) -> Any:
    """What a function of an event gives.  What it raises is the cause of an EventError."""
    try:
        return function(*state)
    except Exception as error:
        who = f"event {event.name!r}" if what == "function" else f"the {what} of event {event.name!r}"
        raise EventError(f"{who} raised {type(error).__name__}: {error}", name=event.name) from error


@dataclass(frozen=True, slots=True)
class Happened:
    """An event that took place: its name, the time, and the state before it."""

    name: str
    t: float
    y: Array


@dataclass(slots=True)
class Watch:
    """The events of a run, with the sign of each function after the last step."""

    events: Sequence[Event]
    nq: int
    nu: int
    signs: list[float] = field(default_factory=list)

    def value(self, event: Event, t: float, y: Array) -> float:
        value = called(event, "function", event.function, t, y[: self.nq], y[self.nq : self.nq + self.nu])
        try:
            several = isinstance(value, (str, bytes)) or (isinstance(value, np.ndarray) and value.ndim > 0)
            number = math.nan if several else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isnan(number):
            raise EventError(f"event {event.name!r} gave {shown(value)}, not one number", name=event.name, value=number)
        return number

    def ends(self, event: Event, t: float, y: Array) -> bool:
        """Whether this occurrence ends the run."""
        if event.terminal or event.ends is None:
            return event.terminal
        value = called(event, "ends", event.ends, t, y[: self.nq], y[self.nq : self.nq + self.nu])
        if not isinstance(value, (Real, np.bool_)) and getattr(value, "shape", None) != ():
            raise EventError(f"ends of event {event.name!r} gave {shown(value)}, not True or False", name=event.name)
        return bool(value)

    def acted(self, event: Event, t: float, y: Array) -> Array:
        """The state after an event's action."""
        assert event.action is not None
        n = self.nq + self.nu
        made = called(event, "action", event.action, t, y[: self.nq].copy(), y[self.nq : n].copy())
        parts = [x if x is None else np.asarray(x) for x in made] if isinstance(made, (tuple, list)) else []
        right = len(parts) == 2 and all(x is not None and x.dtype.kind in "biuf" for x in parts)
        if not right or [x.shape for x in parts if x is not None] != [(self.nq,), (self.nu,)]:
            raise EventError(
                f"the action of event {event.name!r} gave {shown(made)}, not (q, u)", name=event.name,
                remedy=f"with shapes ({self.nq},) and ({self.nu},)",
            )  # fmt: skip
        after = np.concatenate([*parts, y[n:]])
        if not np.isfinite(after).all():
            raise EventError(f"the action of event {event.name!r} gave {shown(made)}, not finite", name=event.name)
        return np.asarray(after, dtype=np.float64)

    def begin(self, t: float, y: Array, slope: Array, h: float) -> None:
        """Signs just after t, so that an event that was handled there is not found again."""
        self.signs = []
        for event in self.events:
            value = self.value(event, t, y)
            ahead = self.value(event, t + 1e-6 * h, y + 1e-6 * h * slope)
            near = abs(value) <= 1e-9 * (1 + abs(ahead - value) * 1e6)
            self.signs.append(math.copysign(1.0, ahead if near and ahead != 0 else value))

    def find(self, t0: float, t1: float, y0: Array, dense: Array) -> list[tuple[float, int]]:
        """(time, event) of the zeros within a step, in order, up to the first one that ends the step."""
        found: list[tuple[float, int]] = []
        fractions = np.linspace(0, 1, SAMPLES + 1)[1:]
        count = len(fractions)
        states = interpolate(fractions, np.repeat(y0[None], count, 0), np.repeat(dense[None], count, 0))
        for k, event in enumerate(self.events):
            sign, before = self.signs[k], 0.0
            for x, y in zip(fractions, states, strict=True):
                value = self.value(event, t0 + x * (t1 - t0), y)
                if value != 0 and math.copysign(1.0, value) != sign:
                    if event.direction in (0, math.copysign(1.0, value)):
                        found.append((self._zero(event, t0, t1, y0, dense, before, float(x), sign), k))
                    sign = math.copysign(1.0, value)
                before = float(x)
            self.signs[k] = sign
        found.sort()
        return found

    def _zero(  # noqa: PLR0913
        self, event: Event, t0: float, t1: float, y0: Array, dense: Array, a: float, b: float, sign: float
    ) -> float:
        """The first point found, by bisection to the last bits, on the side after the zero."""

        def at(x: float) -> float:
            y = interpolate(np.array([x]), y0[None], dense[None])[0]
            return self.value(event, t0 + x * (t1 - t0), y)

        for _ in range(60):
            middle = 0.5 * (a + b)
            if middle in (a, b):
                break
            value = at(middle)
            if value == 0 or math.copysign(1.0, value) != sign:
                b = middle
            else:
                a = middle
        return t0 + b * (t1 - t0)
