"""What drives a mechanism: constants, sampled profiles, functions, controllers at their own rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kane.errors import InputError, ShapeError, UnknownNameError

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
    """Inputs as the run wants them: `held` ones are constant up to the next break."""

    value: Callable[[float, Array, Array], Array]
    held: bool
    next_break: Callable[[float], float]
    name: str = "inputs"
    idle: bool = False


def make_source(inputs: Any, names: tuple[str, ...]) -> Source:
    """The source of the inputs, whatever they are given as.

    Nothing, an array (m,), {name: number or function of t}, a Profile, a Controller, or a function (t, q, u).  Raises
    ShapeError for an array of another length, UnknownNameError for a name that is no input.
    """
    m = len(names)
    if inputs is None:
        return _constant(np.zeros(m), idle=True)
    if isinstance(inputs, Profile):
        return _profile(inputs, m, names)
    if isinstance(inputs, Controller):
        value = _checked(inputs.law, names, inputs.name)
        if inputs.period is None:
            return Source(value, False, lambda t: math.inf, inputs.name)
        period, start = float(inputs.period), inputs.start
        if not period > 0:
            raise InputError(
                f"The period of {inputs.name} is {period}.", name="period", value=period, remedy="Give a time > 0."
            )
        return Source(
            value, True, lambda t: start + period * (math.floor((t - start) / period + 1e-9) + 1), inputs.name
        )
    if isinstance(inputs, Mapping):
        return _named(inputs, names)
    if callable(inputs):
        return Source(_checked(inputs, names, getattr(inputs, "__name__", "inputs")), False, lambda t: math.inf)
    return _constant(_vector(inputs, names, "inputs"))


def _constant(value: Array, idle: bool = False) -> Source:
    return Source(lambda t, q, u: value, True, lambda t: math.inf, idle=idle or not np.any(value))


def _vector(value: Any, names: tuple[str, ...], who: str) -> Array:
    array = np.asarray(value, dtype=np.float64)
    if array.shape != (len(names),):
        raise ShapeError(
            f"{who} gave an array of shape {array.shape}; expected ({len(names)},): {', '.join(names)}.", name=who,
            value=array.shape,
        )  # fmt: skip
    return array


def _checked(law: Law, names: tuple[str, ...], who: str) -> Callable[[float, Array, Array], Array]:
    def value(t: float, q: Array, u: Array) -> Array:
        array = _vector(law(t, q, u), names, who)
        if not np.isfinite(array).all():
            bad = ", ".join(f"{n} = {x}" for n, x in zip(names, array, strict=True) if not math.isfinite(x))
            raise InputError(f"{who} gave {bad}.", name=who, value=bad)
        return array

    return value


def _profile(p: Profile, m: int, names: tuple[str, ...]) -> Source:
    times, values = np.asarray(p.times, dtype=float), np.asarray(p.values, dtype=float)
    values = values[:, None] if values.ndim == 1 else values
    if values.shape != (len(times), m) or not (np.diff(times) > 0).all():
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
            raise UnknownNameError(f"There is no input {name!r}; there are: {', '.join(names)}.", name=name)
    if not any(callable(x) for x in inputs.values()):
        return _constant(_vector([float(inputs.get(n, 0.0)) for n in names], names, "inputs"))

    def law(t: float, q: Array, u: Array) -> list[float]:
        given = [inputs.get(n, 0.0) for n in names]
        return [float(x(t)) if callable(x) else float(x) for x in given]

    return Source(_checked(law, names, "inputs"), False, lambda t: math.inf)
