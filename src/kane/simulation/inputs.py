"""What drives a mechanism: constants, sampled profiles, functions, controllers at their own rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kane.errors import InputError, ShapeError, UnknownNameError
from kane.mechanism.given import checked_choice, checked_function, checked_number, real_array, shown
from kane.simulation.checks import finite, shaped

Array = np.ndarray[Any, np.dtype[np.float64]]
Law = Callable[[float, Array, Array], Any]


@dataclass(frozen=True, slots=True)
class Profile:
    """Inputs (k, m) at times (k,); between them held or linear; before and after the first and last value."""

    times: Array
    values: Array
    kind: Literal["linear", "hold"] = "linear"

    def at(self, t: float) -> Array:
        """The inputs at a time."""
        if self.kind == "hold":
            k = int(np.searchsorted(self.times, t + 1e-14 * abs(t) + 1e-300, side="right")) - 1
            return np.asarray(self.values[max(k, 0)])
        return np.array([np.interp(t, self.times, column) for column in self.values.T])


@dataclass(frozen=True, slots=True)
class Controller:
    """A law (t, q, u) -> inputs; with a period it is sampled and its output held, without one it acts continuously.

    `parts`: what it is made of, for reports.
    """

    law: Law
    period: float | None = None
    name: str = "controller"
    start: float = 0.0

    def __call__(self, t: float, q: Array, u: Array) -> Any:
        return self.law(t, q, u)

    def every(self, period: float) -> Controller:
        """The same controller at a sample period, s."""
        return Controller(self.law, period, self.name, self.start)

    def plus(self, other: Law) -> Controller:
        """The sum with another law."""
        return Controller(
            lambda t, q, u: np.asarray(self.law(t, q, u)) + np.asarray(other(t, q, u)), self.period, self.name
        )


@dataclass(frozen=True, slots=True)
class Source:
    """Inputs as the run wants them: `held` ones are constant up to the next break; period: between breaks, if any."""

    value: Callable[[float, Array, Array], Array]
    held: bool
    next_break: Callable[[float], float]
    name: str = "inputs"
    idle: bool = False
    period: float | None = None


def make_source(inputs: Any, names: tuple[str, ...]) -> Source:
    """The source of the inputs, whatever they are given as.

    Nothing, an array (m,), {name: number or function of t}, a Profile, a Controller, or a function (t, q, u).  Raises
    ShapeError for an array of another length or what is no numbers, InputError for what is not finite, UnknownNameError
    for a name that is no input.
    """
    m = len(names)
    if inputs is None:
        return _constant(np.zeros(m), idle=True)
    if isinstance(inputs, Profile):
        return _profile(inputs, m, names)
    if isinstance(inputs, Controller):
        return _controller(inputs, names)
    if isinstance(inputs, Mapping):
        return _named(inputs, names)
    if callable(inputs):
        return Source(_checked(inputs, names, getattr(inputs, "__name__", "inputs")), False, lambda t: math.inf)
    return _constant(_vector(inputs, names, "inputs", "has"))


def _constant(value: Array, idle: bool = False) -> Source:
    return Source(lambda t, q, u: value, True, lambda t: math.inf, idle=idle or not np.any(value))


def _vector(value: Any, names: tuple[str, ...], who: str, verb: str = "gave") -> Array:
    array = shaped(value, names, who, verb)
    finite(array, names, f"{who} {verb}")
    return array


def _checked(law: Law, names: tuple[str, ...], who: str) -> Callable[[float, Array, Array], Array]:
    return lambda t, q, u: _vector(law(t, q, u), names, who)


def _controller(c: Controller, names: tuple[str, ...]) -> Source:
    value = _checked(checked_function(f"The law of {c.name}", c.law, "(t, q, u)"), names, c.name)
    if c.period is None:
        return Source(value, False, lambda t: math.inf, c.name)
    period = checked_number(f"The period of {c.name}", c.period, "Give a time > 0, s.", above=0.0)
    far = 1e12 * period  # beyond, rounding moves the samples
    start = checked_number(f"The start of {c.name}", c.start, f"Give a time within {far:.3g} s.", -far, far)

    def following(t: float) -> float:
        k = math.floor((t - start) / period + 1e-9) + 1
        after = start + period * k
        return after if after > t + 2 * math.ulp(t) else start + period * (k + 1)  # rounding: this one is t itself

    return Source(value, True, following, c.name, period=period)


def _profile(p: Profile, m: int, names: tuple[str, ...]) -> Source:
    checked_choice("The kind of a profile", p.kind, ("linear", "hold"))
    times, values = real_array("The times of a profile", p.times), real_array("The values of a profile", p.values)
    values = values[:, None] if values.ndim == 1 else values
    rising = times.ndim == 1 and len(times) > 0 and bool((np.diff(times) > 0).all() and np.isfinite(times).all())
    if values.shape != (*times.shape, m) or not rising:
        raise ShapeError(
            f"A profile has times {times.shape} and values {values.shape}; "
            f"expected rising times (k,) and values (k, {m}).",
            name="inputs",
            remedy=f"The columns are {', '.join(names)}.",
        )
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"The profile of {names[column]} is {values[row, column]} at t = {times[row]:g}.", name=names[column]
        )
    whole = Profile(times, values, p.kind)

    def following(t: float) -> float:
        k = int(np.searchsorted(times, t + 1e-14 * abs(t) + 1e-300, side="right"))
        return float(times[k]) if k < len(times) else math.inf

    return Source(lambda t, q, u: whole.at(t), p.kind == "hold", following, "profile")


def _named(inputs: Mapping[str, Any], names: tuple[str, ...]) -> Source:
    for name in inputs:
        if name not in names:
            raise UnknownNameError(f"There is no input {name!r}; there are: {', '.join(names)}.", name=str(name))
    fixed = {n: _number(x, n, "has") for n, x in inputs.items() if not callable(x)}
    moving = {n: x for n, x in inputs.items() if callable(x)}
    if not moving:
        return _constant(_vector([fixed.get(n, 0.0) for n in names], names, "inputs", "has"))

    def law(t: float, q: Array, u: Array) -> list[float]:
        return [_number(moving[n](t), n) if n in moving else fixed.get(n, 0.0) for n in names]

    return Source(_checked(law, names, "inputs"), False, lambda t: math.inf)


def _number(value: Any, name: str, verb: str = "gave") -> float:
    """One number of the input of a name."""
    number = real_array(f"The input of {name}", value)
    if number.shape != ():
        raise ShapeError(
            f"The input of {name} {verb} shape {number.shape}.", name=name, value=shown(value),
            remedy="Give one number, or a function of t that gives one.",
        )  # fmt: skip
    return float(number)
