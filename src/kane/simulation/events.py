"""Events: zeros of functions of the state, located on the dense output; what they do to the state; rigid stops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kane.errors import InputError
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
        try:
            value = float(event.function(t, y[: self.nq], y[self.nq : self.nq + self.nu]))
        except Exception as error:
            text = f"event {event.name!r} raised {type(error).__name__}: {error}"
            raise InputError(text, name=event.name) from error
        if math.isnan(value):
            raise InputError(f"event {event.name!r} gave nan", name=event.name, value=value)
        return value

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
