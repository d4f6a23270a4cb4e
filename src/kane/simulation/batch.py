"""Thousands of starts at once: the compiled loops over batches whose states are columns, a block at a time.

A block (64 states by default) stays in the first-level cache through the whole run.  The adaptive loop takes for each
block the step that its most demanding state wants, so every state is at least as accurate as it would be alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kane.errors import InputError, ShapeError, UnsupportedError
from kane.mechanism.given import checked_choice, checked_whole, real_array
from kane.simulation import slots as d
from kane.simulation.checks import checked_accuracy, checked_pace, checked_rising, unit_quaternions
from kane.simulation.driver import Driver
from kane.simulation.field import batch_field
from kane.simulation.loop import Accuracy, Loop
from kane.simulation.model import Array, Model, prepare

BLOCK = 64


@dataclass(frozen=True, slots=True, eq=False)
class BatchResult:
    """Many runs from one start time.

    t (k,); y (k, states, n), n the coordinates and speeds; work (k, states, 2); names; ok (states,) bool.  ok: False
    for a state that left the finite numbers.
    """

    model: Model
    t: Array
    y: Array
    work: Array
    ok: Any
    nfev: int

    @property
    def names(self) -> tuple[str, ...]:
        return self.model.layout.names[: self.y.shape[-1]]

    def __getitem__(self, name: str) -> Array:
        """A coordinate or speed (k, states) by name."""
        return np.asarray(self.y[..., self.model.layout.index(name)])

    @property
    def energy_error(self) -> Array:
        """The change of T + V - work from the first to the last time, relative to the energies, of each state."""
        if self.model.energy is None:
            return np.full(self.y.shape[1], np.nan)
        m = len(self.model.layout.inputs)
        sums, sizes = [], []
        for k in (0, -1):
            whole = np.concatenate([self.y[k], self.work[k]], axis=-1)
            kinetic, potential = self.model.energy(
                whole, np.full((len(whole), 1), self.t[k]), np.zeros((len(whole), m))
            )
            sums.append(kinetic + potential - self.work[k].sum(axis=-1))
            sizes.append(np.abs(kinetic) + np.abs(potential))
        return np.asarray(np.abs(sums[1] - sums[0]) / np.maximum(np.maximum(*sizes), 1e-300))


def simulate_batch(  # noqa: PLR0913
    source: Any,
    times: Sequence[float],
    q: Any,
    u: Any,
    *,
    inputs: Any = None,
    method: Literal["DOP853", "RK4"] = "DOP853",
    step: float | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-11,
    threads: int = 1,
    block: int = BLOCK,
) -> BatchResult:
    """The motions from many starts q (states, nq), u (states, nu), at times (k,), the first being the start.

    inputs: (m,) or (states, m), held.  Raises UnsupportedError for a system with constraints, ShapeError for wrong
    arrays, InputError for starts that are not finite.
    """
    model = source if isinstance(source, Model) else prepare(source)
    checked_choice("method", method, ("DOP853", "RK4"))
    r, a, _ = checked_accuracy(rtol, atol)
    t = checked_rising(times)
    checked_whole("threads", threads, 1)
    checked_whole("block", block, 1)
    if step is not None:
        step = checked_pace("step", step, float(t[0]), float(t[-1]))
    if model.rate is None:
        raise UnsupportedError("Batches have no constraints.", name="constraints", remedy="Run the states one by one.")
    if method == "RK4" and step is None:
        raise InputError("The method RK4 wants a step.", name="step", remedy="Pass step=1e-3, for example.")
    y = _starts(model, q, u)
    count = len(y)
    given = _inputs(model, inputs, count)
    driver = model.driver
    out = np.empty((len(t), model.layout.size, count))
    out[0] = y.T

    def work(first: int) -> int:
        part = slice(first, min(first + block, count))
        return _block(model, driver, t, y[part], given[part], out[:, :, part], _Way(method, step, Accuracy(r, a)))

    firsts = range(0, count, block)
    if threads > 1:
        model.rate.batch_address  # noqa: B018  (compiled once, before the threads)
        with ThreadPoolExecutor(threads) as pool:
            nfev = sum(pool.map(work, firsts))
    else:
        nfev = sum(map(work, firsts))
    n = model.layout.nq + model.layout.nu
    whole = out.transpose(0, 2, 1)
    ok = np.isfinite(whole).all(axis=(0, 2))
    return BatchResult(model, t, whole[..., :n], whole[..., n:], ok, nfev)


@dataclass(frozen=True, slots=True)
class _Way:
    method: str
    step: float | None
    accuracy: Accuracy


def _inputs(model: Model, inputs: Any, count: int) -> Array:
    names = model.layout.inputs
    given = np.zeros(len(names)) if inputs is None else np.asarray(real_array("inputs", inputs))
    if given.shape not in ((len(names),), (count, len(names))):
        raise ShapeError(
            f"inputs has shape {given.shape}; expected ({len(names)},) or ({count}, {len(names)}): {', '.join(names)}.",
            name="inputs", remedy="Batches take held inputs, one number for each.",
        )  # fmt: skip
    whole = np.broadcast_to(given, (count, len(names)))
    bad = np.argwhere(~np.isfinite(whole))
    if len(bad):
        row, column = bad[0]
        remedy = "Give finite numbers."
        raise InputError(f"Input {names[column]} of state {row} is {whole[row, column]}.", name="inputs", remedy=remedy)
    return whole


def _starts(model: Model, q: Any, u: Any) -> Array:
    layout = model.layout
    q, u = np.asarray(real_array("q", q)), np.asarray(real_array("u", u))
    if q.ndim != 2 or q.shape[1] != layout.nq or u.shape != (len(q), layout.nu):
        raise ShapeError(
            f"Starts have shapes {q.shape} and {u.shape}; expected (states, {layout.nq}) and (states, {layout.nu}).",
            name="q", remedy="Give a row for each state.",
        )  # fmt: skip
    if not len(q):
        raise ShapeError("There is no start.", name="q", remedy="Give a row for each state, one at least.")
    y = np.concatenate([q, u, np.zeros((len(q), len(layout.works)))], axis=1)
    bad = np.argwhere(~np.isfinite(y))
    if len(bad):
        row, column = bad[0]
        name = layout.names[column]
        what, value = f"Start {row} has {name} = {y[row, column]}.", float(y[row, column])
        raise InputError(what, name=name, value=value, remedy="Give finite numbers.")
    for k in model.quaternion_starts:
        y[:, k : k + 4] = unit_quaternions(y[:, k : k + 4], layout.coordinates[k])
    return y


def _block(model: Model, driver: Driver, t: Array, y: Array, inputs: Array, out: Array, way: _Way) -> int:
    """Run a block, padded to whole vectors by repeating its last state."""
    assert model.rate is not None
    count = len(y)
    columns = -(-count // d.LANES) * d.LANES
    pad = [*range(count), *[count - 1] * (columns - count)]
    field = batch_field(driver, model.rate, len(model.layout.inputs), columns)
    field.inputs[: inputs.shape[1]] = inputs[pad].T
    free = model.layout.nq + model.layout.nu
    loop = Loop(driver, field, np.ascontiguousarray(y[pad].T), free, way.accuracy, model.quaternion_starts, False, 64)
    loop.control[d.T] = t[0]
    if way.method == "DOP853":
        loop.choose_first_step(float(t[0]), float(t[-1]))
    for k in range(1, len(t)):
        if way.method == "RK4":
            _fixed(driver, loop, float(t[k - 1]), float(t[k]), float(way.step or 0.0))
        else:
            status = d.FULL
            while status == d.FULL:
                status, _ = loop.advance(float(t[k]))
            if status != d.DONE:
                out[k:] = np.nan
                return loop.nfev * count
        out[k] = loop.y[:, :count]
    return loop.nfev * count


def _fixed(driver: Driver, loop: Loop, t0: float, t1: float, step: float) -> None:
    steps = max(1, math.ceil((t1 - t0) / step - 1e-9))
    loop.control[[d.T, d.H]] = t0, (t1 - t0) / steps
    i = loop.integers
    i[d.COUNT], i[d.CAPACITY], i[d.EVERY] = 0, steps, steps
    i[d.NFEV] += 4 * steps
    c, w, o = loop.control.ctypes.data, loop.work.ctypes.data, loop.out.ctypes.data
    driver.fixed(loop.field.f, loop.field.ctx, c, w, o, 0)
