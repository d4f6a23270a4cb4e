"""The run: segments between breaks of the inputs, chunks of compiled steps, events, and what is kept when it stops."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kane.errors import KaneError
from kane.simulation import slots as d
from kane.simulation.constrained_code import call, constrained_code
from kane.simulation.dense import DenseOutput, interpolate
from kane.simulation.driver import Driver
from kane.simulation.events import Event, EventError, Happened, Watch
from kane.simulation.field import Field, constrained_field, native_field, python_field
from kane.simulation.inputs import Source
from kane.simulation.loop import Accuracy, Loop, Steps
from kane.simulation.model import Model

Array = np.ndarray[Any, np.dtype[np.float64]]


STALL = 1e-8  # mean step, relative to the whole span, that counts as no progress
PATIENCE = 3000  # steps without progress after which a run is stopped


@dataclass(slots=True)
class Record:
    """The steps so far: start states and steps, inputs by step, events; status and message at the end."""

    t0: float
    y0: Array
    starts: list[Array] = field(default_factory=list)
    begins: list[Array] = field(default_factory=list)
    steps: list[Steps] = field(default_factory=list)
    held: list[Array] = field(default_factory=list)
    events: list[Happened] = field(default_factory=list)
    status: int = 0
    message: str = "reached the end"
    error: BaseException | None = None
    nfev: int = 0
    rejected: int = 0

    def add(self, start: Array, begin: float, steps: Steps, inputs: Array) -> None:
        """Append steps that begin at a state and time."""
        if len(steps.t):
            self.starts.append(np.concatenate([start[None], steps.y[:-1]]))
            self.begins.append(np.concatenate([[begin], steps.t[:-1]]))
            self.steps.append(steps)
            self.held.append(np.repeat(inputs[None], len(steps.t), 0))

    @property
    def time(self) -> float:
        """The end of the last step."""
        return next((float(s.t[-1]) for s in reversed(self.steps) if len(s.t)), self.t0)

    def drop_last(self) -> None:
        """Forget the last step."""
        last = len(self.steps[-1].t) - 1
        self.steps[-1] = self.steps[-1].first(last)
        for parts in (self.starts, self.begins, self.held):
            parts[-1] = parts[-1][:last]

    def stop(self, message: str, error: BaseException | None = None, status: int = -1) -> None:
        self.status, self.message, self.error = status, message, error

    def dense(self) -> DenseOutput | None:
        """Dense output of all steps, or None when they have none."""
        if not self.steps or self.steps[0].dense is None:
            return None
        return DenseOutput(
            np.concatenate(self.begins),
            np.concatenate([s.t for s in self.steps]),
            np.concatenate(self.starts),
            np.concatenate([s.dense for s in self.steps if s.dense is not None]),
        )

    def points(self) -> tuple[Array, Array, Array]:
        """Times (k,), states (k, n), inputs (k, m), the start included."""
        t = np.concatenate([[self.t0], *(s.t for s in self.steps)])
        y = np.concatenate([self.y0[None], *(s.y for s in self.steps)])
        first = self.held[0][:1] if self.held else np.zeros((1, 0))
        return t, y, np.concatenate([first, *self.held]) if self.held else first


def make_field(driver: Driver, model: Model, source: Source) -> Field:
    """The right-hand side: compiled where inputs are held, else through Python for the inputs' sake."""
    layout, m = model.layout, len(model.layout.inputs)
    nq, n = layout.nq, layout.nq + layout.nu
    if model.rate is not None:
        rate = model.rate
        if source.held:
            return native_field(driver, rate, m)

        def slope(t: float, y: Array, held: Array) -> Array:
            f = source.value(t, y[:nq], y[nq:n])
            return np.asarray(rate(y, np.array([t]), np.ascontiguousarray(f)))

        return python_field(slope, layout.size, np.zeros(max(m, 1)))
    code = constrained_code(model.constraints)
    if source.held:
        return constrained_field(code)

    def constrained(t: float, y: Array, held: Array) -> Array:
        held[:m] = source.value(t, y[:nq], y[nq:n])
        return np.asarray(call(code, t, y, layout.size))

    return python_field(constrained, layout.size, code.inputs, code)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run."""

    t0: float
    t_end: float
    y0: Array
    source: Source
    accuracy: Accuracy
    events: tuple[Event, ...] = ()
    dense: bool = True
    progress: Callable[[float, float], None] | None = None
    chunk: int = 128


def run(model: Model, plan: Plan) -> Record:
    """Integrate; whatever stops it, the part before is in the record."""
    driver = model.driver
    layout = model.layout
    field_ = make_field(driver, model, plan.source)
    free = layout.nq + layout.nu
    capacity = 16 if plan.events else plan.chunk
    loop = Loop(driver, field_, plan.y0, free, plan.accuracy, model.quaternion_starts, plan.dense, capacity)
    record = Record(plan.t0, plan.y0.copy())
    watch = Watch(plan.events, layout.nq, layout.nu) if plan.events else None
    try:
        _run(model, plan, loop, record, watch)
    except KeyboardInterrupt as error:
        record.stop(f"interrupted at t = {record.time:.9g}", error)
    except EventError as error:
        record.stop(f"stopped at t = {record.time:.9g}: {error}", error.__cause__ or error)
    record.nfev, record.rejected = loop.nfev, loop.rejected
    return record


def _run(model: Model, plan: Plan, loop: Loop, record: Record, watch: Watch | None) -> None:
    nq, n = model.layout.nq, model.layout.nq + model.layout.nu
    t, source, first = plan.t0, plan.source, True
    while t < plan.t_end:
        end = min(plan.t_end, source.next_break(t))
        if source.held:
            try:
                loop.field.inputs[: len(model.layout.inputs)] = source.value(t, loop.y[:nq].copy(), loop.y[nq:n].copy())
            except Exception as error:
                return record.stop(raised(source, t, error), error)
        loop.restart(t)
        if first:
            loop.choose_first_step(t, end)
            first = False
        if watch:
            watch.begin(t, loop.y.copy(), loop.slope(t, loop.y), _h(loop))
        if not _segment(model, plan, loop, record, watch, end):
            return
        t = end


def _h(loop: Loop) -> float:
    return float(loop.control[d.H])


def _segment(model: Model, plan: Plan, loop: Loop, record: Record, watch: Watch | None, end: float) -> bool:
    """Advance to the end of a segment; False when the run is over."""
    stalled = 0
    while True:
        begin, start = loop.t, loop.y.copy()
        inputs = loop.field.inputs[: len(model.layout.inputs)].copy()
        status, steps = loop.advance(end)
        if loop.field.error is not None and not isinstance(loop.field.error, Exception):  # Ctrl-C, sys.exit
            record.add(start, begin, steps, inputs)
            raise loop.field.error
        if watch and len(steps.t):
            cut = _events(model, plan, loop, record, watch, (begin, start, steps), inputs)
            if cut is False:
                return False
            if cut:
                continue
        else:
            record.add(start, begin, steps, inputs)
        if plan.progress is not None:
            plan.progress(loop.t, plan.t_end)
        if status == d.DONE:
            return True
        slow = status == d.FULL and loop.t - begin < STALL * (plan.t_end - plan.t0) * len(steps.t)
        stalled = stalled + len(steps.t) if slow else 0
        if stalled > PATIENCE:
            pivot = loop.pivot
            why = (
                "stiff runs want BDF or IDA"
                if pivot is None or pivot > 0.02
                else (f"the constraints are nearly singular here, smallest pivot {pivot:.1e}; start farther from there")
            )
            what = f"no progress with steps of {_h(loop):.1e} s ({why})"
            record.stop(f"stopped at t = {loop.t:.9g}: {what}; fastest: {_fastest(model, loop)}")
            return False
        if status != d.FULL:
            record.stop(*_failure(model, plan, loop, status))
            return False


def _events(
    model: Model, plan: Plan, loop: Loop, record: Record, watch: Watch, made: tuple[float, Array, Steps], inputs: Array
) -> bool | None:
    """Look for events in steps: None when none changes the course, True after a restart, False at the end."""
    begin, start, steps = made
    t0, y0 = begin, start
    for k in range(len(steps.t)):
        assert steps.dense is not None
        t1, dense = float(steps.t[k]), steps.dense[k]
        found = watch.find(t0, t1, y0, dense)
        for t, which in found:
            event = watch.events[which]
            x = (t - t0) / (t1 - t0)
            y = interpolate(np.array([x]), y0[None], dense[None])[0]
            record.events.append(Happened(event.name, t, y[: watch.nq + watch.nu].copy()))
            if not (event.terminal or event.restart or event.action):
                continue
            shorter = Steps(np.array([*steps.t[:k], t]), np.array([*steps.h[:k], t - t0]), np.array([*steps.y[:k], y]),
                            np.concatenate([steps.dense[:k], shortened(y0, dense, x)[None]]))  # fmt: skip
            record.add(start, begin, shorter, inputs)
            if watch.ends(event, t, y):
                loop.restart(t, y)
                record.stop(f"{event.name} at t = {t:.9g}", status=1)
                return False
            if event.restart:  # the step saw forces from beyond the kink: once more, up to it
                record.drop_last()
                loop.restart(t0, y0, t - t0)
                status, again = loop.advance(t)
                record.add(y0, t0, again, inputs)
                y = loop.y.copy()
                if status != d.DONE:
                    record.stop(*_failure(model, plan, loop, status))
                    return False
            if event.action is not None:
                y = _acted(model, event, t, y, watch, inputs)
            loop.restart(t, y, min(_h(loop), max(t1 - t0, 1e-9)))
            watch.begin(t, y, loop.slope(t, y), _h(loop))
            return True
        t0, y0 = t1, steps.y[k]
    record.add(start, begin, steps, inputs)
    return None


def _acted(model: Model, event: Event, t: float, y: Array, watch: Watch, inputs: Array) -> Array:
    """The state after an event's action; the energy that it takes or gives counts as work of loads."""
    after, n = watch.acted(event, t, y), watch.nq + watch.nu
    if model.energy is not None:
        before, now = (sum(model.energy(x, np.array([t]), np.ascontiguousarray(inputs))) for x in (y, after))
        after[n + 1] += now - before
    return after


_NODES = np.cos(np.pi * (np.arange(7) + 0.5) / 7) / 2 + 0.5


def shortened(y0: Array, dense: Array, x: float) -> Array:
    """Coefficients of the same polynomial over the first fraction x of its step."""
    states = interpolate(_NODES * x, np.repeat(y0[None], 7, 0), np.repeat(dense[None], 7, 0)) - y0
    basis = np.zeros((7, 7))
    for j in range(7):
        unit = np.zeros((7, 7, 1))
        unit[:, j] = 1.0
        basis[:, j] = interpolate(_NODES, np.zeros((7, 1)), unit)[:, 0]
    return np.asarray(np.linalg.solve(basis, states))


def raised(source: Source, t: float, error: BaseException) -> str:
    """That the inputs raised an error, or what they gave wrongly."""
    what = str(error) if isinstance(error, KaneError) else f"{source.name} raised {type(error).__name__}: {error}"
    return f"stopped at t = {t:.9g}: {what}"


def _failure(model: Model, plan: Plan, loop: Loop, status: int) -> tuple[str, BaseException | None]:
    """What to say when a step fails: the time, the names and the values."""
    t, y, names = loop.t, loop.y.copy(), model.layout.names
    error = loop.field.error
    if error is not None:
        return raised(plan.source, t, error), error
    rates = loop.slope(t, y)
    bad = [f"{n} = {v:.6g}" for n, v in zip(names, y, strict=True) if not math.isfinite(v)]
    bad += [f"rate of {n} = {v:.6g}" for n, v in zip(names, rates, strict=True) if not math.isfinite(v)]
    if bad:
        return f"stopped at t = {t:.9g}: not finite: {', '.join(bad)}", None
    size = f"the step size underflows ({_h(loop):.2e} s)"
    return f"stopped at t = {t:.9g}: {size}; fastest: {_fastest(model, loop)}", None


def _fastest(model: Model, loop: Loop) -> str:
    """The elements of the state that change fastest, with their values."""
    names, y = model.layout.names, loop.y.copy()
    rates, n = loop.slope(loop.t, y), model.layout.nq + model.layout.nu
    steep = np.argsort(-np.abs(rates[:n]) / (1 + np.abs(y[:n])))[:3]
    return ", ".join(f"{names[k]} = {y[k]:.6g} (rate {rates[k]:.3g})" for k in steep)
