"""Dense output: the state at any time of a run, of order 7 (Hairer, Norsett and Wanner 1993, section II.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.errors import InputError, ShapeError
from kane.mechanism.given import real_array

Array = np.ndarray[Any, np.dtype[np.float64]]


def interpolate(x: Array, start: Array, dense: Array) -> Array:
    """States (k, n) at fractions x (k,) of steps with coefficients dense (k, 7, n) from states start (k, n)."""
    total = np.zeros_like(start)
    x = x[:, None]
    with np.errstate(all="ignore"):  # a run that grows beyond numbers says so itself
        for i in range(dense.shape[1]):
            total = (total + dense[:, -1 - i]) * (x if i % 2 == 0 else 1 - x)
        return start + total


@dataclass(frozen=True, slots=True)
class DenseOutput:
    """The solution as a function: sol(t) is (n,) for a number and (n, k) for times (k,), as solve_ivp's.

    Steps from `start` with states y0 (k, n) to `end`.  Raises ShapeError for what is no times, InputError for times
    outside the run.
    """

    start: Array
    end: Array
    y0: Array
    coefficients: Array

    def __call__(self, t: Any) -> Array:
        given = np.asarray(real_array("t", t))
        first, last = float(self.start[0]), float(self.end[-1])
        slack = 1e-9 * (last - first)
        if given.ndim > 1:
            raise ShapeError(f"t has shape {given.shape}.", name="t", remedy="Give a time, or times (k,).")
        outside = ~((given >= first - slack) & (given <= last + slack))
        if outside.any():
            bad = float(given[outside].ravel()[0])
            raise InputError(
                f"t = {bad:.9g} is outside the run.", name="t", value=bad,
                remedy=f"It is from {first:.9g} to {last:.9g} s.",
            )  # fmt: skip
        times = np.atleast_1d(given)
        k = np.clip(np.searchsorted(self.end, times, side="left"), 0, len(self.end) - 1)
        x = (times - self.start[k]) / (self.end[k] - self.start[k])
        result = interpolate(x, self.y0[k], self.coefficients[k]).T
        return result[:, 0] if given.ndim == 0 else result
