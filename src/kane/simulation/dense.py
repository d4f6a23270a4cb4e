"""Dense output: the state at any time of a run, of order 7 (Hairer, Norsett and Wanner 1993, section II.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def interpolate(x: Array, start: Array, dense: Array) -> Array:
    """States (k, n) at fractions x (k,) of steps with coefficients dense (k, 7, n) from states start (k, n)."""
    total = np.zeros_like(start)
    x = x[:, None]
    for i in range(dense.shape[1]):
        total = (total + dense[:, -1 - i]) * (x if i % 2 == 0 else 1 - x)
    return start + total


@dataclass(frozen=True, slots=True)
class DenseOutput:
    """The solution as a function: sol(t) is (n,) for a number and (n, k) for times (k,), as solve_ivp's.

    Steps from `start` with states y0 (k, n) to `end`; times outside the run give the nearest step's polynomial.
    """

    start: Array
    end: Array
    y0: Array
    coefficients: Array

    def __call__(self, t: Any) -> Array:
        times = np.atleast_1d(np.asarray(t, dtype=np.float64))
        if not len(self.end):
            raise ValueError("the run has no step to interpolate in")
        k = np.clip(np.searchsorted(self.end, times, side="left"), 0, len(self.end) - 1)
        x = (times - self.start[k]) / (self.end[k] - self.start[k])
        result = interpolate(x, self.y0[k], self.coefficients[k]).T
        return result[:, 0] if np.ndim(t) == 0 else result
