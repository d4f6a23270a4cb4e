"""What simulate and simulate_batch are handed: spans, paces, accuracies, output times, and what functions give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from kane.errors import InputError, ShapeError, UnknownNameError
from kane.mechanism.given import checked_number, real_array, shown

Array = np.ndarray[Any, np.dtype[np.float64]]
STEPS = 1_000_000_000  # of a fixed length in one run: what memory holds is less


def checked_span(t: Any) -> tuple[float, float]:
    """Start and end of an end, or of a start and an end.  Raises InputError."""
    ends: tuple[Any, ...] = (0.0, t) if isinstance(t, Real) else ()
    if isinstance(t, (tuple, list)) or (isinstance(t, np.ndarray) and t.ndim == 1):
        ends = tuple(t)
    if len(ends) != 2 or not all(isinstance(x, Real) and not isinstance(x, bool) for x in ends):
        raise InputError(
            f"t is {shown(t)}.", name="t", value=shown(t), remedy="Give the end, or (start, end), s, with start < end."
        )
    try:
        t0, t_end = map(float, ends)
    except OverflowError:
        t0 = t_end = math.nan
    if not (math.isfinite(t0) and math.isfinite(t_end) and t_end > t0):
        what, remedy = " to ".join(map(shown, ends)), "Give finite times with t0 < t_end, s."
        raise InputError(f"The times {what} are no span.", name="t", value=shown(t), remedy=remedy)
    return t0, t_end


def checked_pace(name: str, value: Any, t0: float, t_end: float) -> float:
    """A time > 0, s, of which a run has not too many, and which moves the time at all.  Raises InputError."""
    least = max((t_end - t0) / STEPS, 4 * math.ulp(max(abs(t0), abs(t_end))))
    try:
        return checked_number(name, value, "", low=least)
    except InputError:
        raise InputError(
            f"The {name} is {shown(value)} for {t0:.6g} to {t_end:.6g} s.", name=name, value=shown(value),
            remedy=f"Give a time of {least:.3g} s at least ({STEPS} of them at most).",
        ) from None  # fmt: skip


def checked_accuracy(rtol: Any, atol: Any, max_step: Any = math.inf) -> tuple[float, float, float]:
    """Tolerances and the longest step.  Raises InputError."""
    r, a = (
        checked_number(name, x, "Give one such as 1e-11.", low=0.0, high=1e6)
        for name, x in (("rtol", rtol), ("atol", atol))
    )
    return r, a, checked_bound("max_step", max_step, "Give a time > 0, s, or math.inf.", above=0.0)


def checked_bound(name: str, value: Any, remedy: str, low: float = -math.inf, above: float = -math.inf) -> float:
    """A number in limits, or infinity for no bound.  Raises InputError."""
    unbounded = isinstance(value, float) and value == math.inf
    return math.inf if unbounded else checked_number(name, value, remedy, low=low, above=above)


def checked_times(t_eval: Any, t0: float, t_end: float) -> Array:
    """Output times, rising within the span (to rounding).  Raises InputError."""
    slack = 1e-9 * (t_end - t0)
    try:
        wanted = np.asarray(real_array("t_eval", t_eval))
    except ShapeError:
        wanted = np.array(np.nan)
    inside = wanted.ndim == 1 and bool(((wanted >= t0 - slack) & (wanted <= t_end + slack)).all())
    if not inside or (np.diff(wanted) < 0).any():
        raise InputError(
            f"t_eval is {shown(t_eval)}.", name="t_eval", value=shown(t_eval),
            remedy=f"Give rising times from {t0:g} to {t_end:g} s.",
        )  # fmt: skip
    return np.asarray(np.clip(wanted, t0, t_end))


def checked_rising(times: Any) -> Array:
    """Two rising times or more.  Raises ShapeError for what is no numbers, InputError for anything else."""
    t = np.asarray(real_array("times", times))
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0).all() or not np.isfinite(t).all():
        raise InputError(
            f"times are {shown(times)}.", name="times", value=shown(times),
            remedy="Give two rising times, s, or more.",
        )  # fmt: skip
    return t


def checked_state(
    values: Any, default: Array, names: Sequence[str], who: str, other: Sequence[str] = ()
) -> Array:
    """Numbers by order or by name (or by another name), the rest by default.

    Raises UnknownNameError, ShapeError, and InputError for numbers that are not finite.
    """
    result = default.copy()
    if hasattr(values, "items"):
        for name, value in values.items():
            if name not in names and name not in other:
                raise UnknownNameError(f"{who} has no {name!r}; there are: {', '.join(names)}.", name=str(name))
            number = real_array(f"{who} of {name}", value)
            if number.shape != ():
                raise ShapeError(f"{who} of {name} has shape {number.shape}.", name=name, remedy="Give one number.")
            result[names.index(name) if name in names else other.index(name)] = number
    elif values is not None:
        result[:] = shaped(values, names, who)
    finite(result, names, "The start has" if who in ("q", "u") else f"{who} has")
    return result


def unit_quaternions(rows: Array, name: str) -> Array:
    """Quaternions (k, 4) of length 1.  Raises InputError for one that is zero."""
    _, exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True))
    scaled = np.ldexp(rows, -exponents)  # no square is too large or too small for a number
    sizes = np.linalg.norm(scaled, axis=1, keepdims=True)
    if not sizes.all():
        which = f" of start {int(np.argmin(sizes))}" if len(rows) > 1 else ""
        remedy = "Give (1, 0, 0, 0) for no turn."
        raise InputError(f"The quaternion of {name}{which} is zero.", name=name, value=0.0, remedy=remedy)
    return np.asarray(scaled / sizes)


def shaped(values: Any, names: Sequence[str], who: str, verb: str = "has") -> Array:
    """An array (n,) of numbers, one a name; `verb`: how `who` comes by them.  Raises ShapeError."""
    array = values if type(values) is np.ndarray and values.dtype == np.float64 else real_array(who, values)
    if array.shape != (len(names),):
        raise ShapeError(
            f"{who} {verb} shape {array.shape}; expected ({len(names)},): {', '.join(names)}.", name=who,
            value=array.shape, remedy="Give one number for each.",
        )  # fmt: skip
    return np.asarray(array)


def finite(values: Array, names: Sequence[str], what: str) -> None:
    """InputError that names what is not finite, after `what` such as "q has"."""
    if not np.isfinite(values).all():
        bad = ", ".join(f"{n} = {x}" for n, x in zip(names, values, strict=True) if not math.isfinite(x))
        raise InputError(f"{what} {bad}.", name=bad.partition(" ")[0], value=bad, remedy="Give finite numbers.")

