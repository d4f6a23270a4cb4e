"""One run of a compiled loop: its buffers, and the accepted steps as arrays."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.simulation import slots as d
from kane.simulation.driver import Driver, call_slope
from kane.simulation.field import Field

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Steps:
    """Accepted steps: end times, sizes, states at the ends (k, n), and dense output coefficients (k, 7, n) or none."""

    t: Array
    h: Array
    y: Array
    dense: Array | None

    def first(self, count: int) -> Steps:
        """The first so many steps."""
        return Steps(self.t[:count], self.h[:count], self.y[:count], None if self.dense is None else self.dense[:count])


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Tolerances of the adaptive loop; atol one for all or one an element."""

    rtol: float = 1e-11
    atol: float = 1e-13
    max_step: float = math.inf
    first_step: float | None = None


class Loop:
    """The adaptive loop over one state (n,) or a batch (n, columns) whose states share the step."""

    def __init__(  # noqa: PLR0913
        self, driver: Driver, field: Field, y: Array, free: int, accuracy: Accuracy, quaternions: tuple[int, ...] = (),
        dense: bool = True, capacity: int = 128,
    ) -> None:  # fmt: skip
        """free: elements (from the first on) that the error is measured on; the others follow."""
        self.driver, self.field, self.accuracy = driver, field, accuracy
        n = y.shape[0]
        columns = 1 if y.ndim == 1 else y.shape[1]
        if columns > 1 and columns % d.LANES:
            raise ValueError(f"{columns} columns are no multiple of {d.LANES}")
        padded = -(-n * columns // d.LANES) * d.LANES
        self.shape, self.size, self.padded = y.shape, n * columns, padded
        self.capacity, self.with_dense = capacity, dense
        self.stride = 2 + padded * (1 + (d.DENSE if dense else 0))
        self._memory = np.zeros((4 + d.ROWS) * padded + d.LANES)
        self.work = self._memory.reshape(-1)
        self.out = np.zeros(capacity * self.stride)
        self.control = np.zeros(d.CONTROL)
        self.integers = self.control.view(np.int64)
        self.table = np.array([len(quaternions), *quaternions], dtype=np.int64)
        self.work[: self.size] = y.reshape(-1)
        atol = self.work[3 * padded : 4 * padded]
        atol[:] = np.inf
        atol[: free * columns] = accuracy.atol
        lines = padded // (columns if columns > 1 else d.LANES)
        self.control[[d.RTOL, d.MAX_STEP, d.SIZE]] = accuracy.rtol, accuracy.max_step, max(free, 1)
        i = self.integers
        i[d.PADDED], i[d.LINES], i[d.CHUNKS] = padded, lines, padded // d.LANES // lines
        i[d.COLUMNS], i[d.STRIDE], i[d.CAPACITY], i[d.WANT_DENSE] = columns, self.stride, capacity, dense
        i[d.QUATERNIONS], i[d.FRESH] = self.table.ctypes.data, 1
        i[d.PIVOT_AT] = field.pivot
        self.control[[d.PIVOT_1, d.PIVOT_2]] = np.nan

    @property
    def t(self) -> float:
        return float(self.control[d.T])

    @property
    def y(self) -> Array:
        """The state now; a view."""
        return self.work[: self.size].reshape(self.shape)

    @property
    def pivot(self) -> float | None:
        """The smallest relative pivot of the constraints at the last step; None without constraints."""
        return float(self.control[d.PIVOT]) if self.field.pivot else None

    @property
    def nfev(self) -> int:
        return int(self.integers[d.NFEV])

    @property
    def rejected(self) -> int:
        return int(self.integers[d.REJECTED])

    def restart(self, t: float, y: Array | None = None, h: float | None = None) -> None:
        """Go on from another time or state, or with other inputs."""
        self.control[d.T] = t
        if y is not None:
            self.control[[d.PIVOT_1, d.PIVOT_2]] = np.nan
            self.work[: self.size] = np.asarray(y).reshape(-1)
        if h is not None:
            self.control[d.H] = h
        self.integers[d.FRESH] = 1

    def slope(self, t: float, y: Array) -> Array:
        """ydot at a state, by the same right-hand side."""
        x, time = np.zeros(2 * self.padded), np.array([t])
        x[: self.size] = np.asarray(y).reshape(-1)
        call_slope(self.field.f, self.field.ctx, time.ctypes.data, x.ctypes.data, x.ctypes.data + 8 * self.padded)
        return x[self.padded : self.padded + self.size].reshape(self.shape)

    def choose_first_step(self, t: float, t_end: float) -> None:
        """The first step size (Hairer, Norsett and Wanner 1993, section II.4)."""
        wanted = self.accuracy.first_step
        if wanted is None:
            y, f0 = self.y.copy(), self.slope(t, self.y)
            atol = self.work[3 * self.padded : 3 * self.padded + self.size].reshape(self.shape)
            scale = atol + np.abs(y) * self.accuracy.rtol
            with np.errstate(all="ignore"):
                d0, d1 = (math.sqrt(float(np.mean(np.square(x / scale)))) for x in (y, f0))
                h0 = 1e-6 if not (d0 > 1e-5 and d1 > 1e-5) else 0.01 * d0 / d1
                h0 = h0 if 0 < h0 < math.inf else 1e-6  # where a norm is too large for a number
                f1 = self.slope(t + h0, y + h0 * f0)
                d2 = math.sqrt(float(np.mean(np.square((f1 - f0) / scale)))) / h0
            steep = max(d1, d2)
            h1 = max(1e-6, h0 * 1e-3) if not steep > 1e-15 else (0.01 / steep) ** (1 / 8)
            wanted = min(100 * h0, h1)
            wanted = wanted if math.isfinite(wanted) and wanted > 0 else 1e-6
            wanted = max(wanted, self._ahead(t, f0))
        self.control[d.H] = min(wanted, t_end - t, self.accuracy.max_step)

    def _ahead(self, t: float, f0: Array) -> float:
        """How the pivot falls near a singular configuration, for the loop; a step that goes over it, or 0."""
        if not self.field.pivot:
            return 0.0
        cell, y = ctypes.c_double.from_address(self.field.pivot), self.y.copy()
        self.slope(t, y)
        now, speed = cell.value, float(np.abs(f0[: len(f0) // 2]).max(initial=0.0))
        if not (0 < now < 0.1 and 0 < speed < math.inf):
            return 0.0
        small = 1e-2 * now / speed
        self.slope(t + small, y + small * f0)
        rate = (cell.value - now) / small
        for pivot, time, back in ((d.PIVOT_1, d.T_1, 1), (d.PIVOT_2, d.T_2, 2)):
            self.control[[pivot, time]] = now - rate * back * small, t - back * small
        return 0.25 / speed

    def advance(self, t_end: float) -> tuple[int, Steps]:
        """Run until t_end or until the buffer is full: status of driver.py, accepted steps."""
        self.control[d.T_END] = t_end
        self.integers[d.COUNT] = 0
        status = self.driver.adaptive(
            self.field.f, self.field.ctx, self.control.ctypes.data, self.work.ctypes.data, self.out.ctypes.data,
            self.field.project,
        )  # fmt: skip
        count = int(self.integers[d.COUNT])
        rows = self.out.reshape(self.capacity, self.stride)[:count]
        y = rows[:, 2 : 2 + self.size].reshape(count, *self.shape).copy()
        dense = None
        if self.with_dense:
            coefficients = rows[:, 2 + self.padded :].reshape(count, d.DENSE, self.padded)[:, :, : self.size]
            dense = coefficients.reshape(count, d.DENSE, *self.shape).copy()
        return status, Steps(rows[:, 0].copy(), rows[:, 1].copy(), y, dense)
