"""Fixed steps of the classical Runge-Kutta method of order 4: whole runs, and a stepper for real time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kane.errors import InputError, UnsupportedError
from kane.mechanism.given import checked_number, checked_whole
from kane.simulation import slots as d
from kane.simulation.checks import STEPS, shaped
from kane.simulation.field import Field
from kane.simulation.inputs import Source, make_source
from kane.simulation.loop import Accuracy, Loop, Steps
from kane.simulation.model import Array, Model, checked_model
from kane.simulation.run import Plan, Record, make_field, raised


class Stepper:
    """A model in fixed steps, for a loop in real time: `step(inputs)` advances by h and gives the state [q, u, work].

    Order 4 (Kutta 1901); no memory is taken and no error estimated in a step.  Under constraints the state is put back
    on them after each step.  t and y are the present time and state.
    """

    def __init__(self, model: Model, h: float, y: Array, t: float = 0.0, field: Field | None = None) -> None:
        h = checked_number("step", h, "Give a time > 0, s.", above=0.0)
        t = checked_number("t", t, "Give a time, s.")
        self.driver, layout = checked_model(model).driver, model.layout
        y = shaped(y, layout.names, "y")
        self.field = field or make_field(self.driver, model, make_source(None, layout.inputs))
        self.loop = Loop(
            self.driver, self.field, y, layout.nq + layout.nu, Accuracy(), model.quaternion_starts, False, 1
        )
        self.h, self._names = h, layout.inputs
        self.loop.control[[d.T, d.H]] = t, h
        self.loop.integers[[d.CAPACITY, d.EVERY]] = 1, 1
        self._call = (
            self.field.f,
            self.field.ctx,
            self.loop.control.ctypes.data,
            self.loop.work.ctypes.data,
            self.loop.out.ctypes.data,
        )

    @property
    def t(self) -> float:
        return self.loop.t

    @property
    def y(self) -> Array:
        """The state; a view that changes with every step."""
        return self.loop.y

    def step(self, inputs: Any = None, count: int = 1) -> Array:
        """Advance by `count` steps with held inputs (unchanged when None); the state, a view."""
        if inputs is not None:
            self.field.inputs[: len(self._names)] = shaped(inputs, self._names, "inputs")
        checked_whole("count", count, 1, STEPS)
        control = self.loop.integers
        control[d.COUNT], control[d.CAPACITY], control[d.EVERY] = 0, count, count
        self.driver.fixed(*self._call, self.field.project)
        return self.loop.y


def run_fixed(model: Model, plan: Plan, step: float | None) -> Record:
    """A run in fixed steps (the last one of a segment shortened to its end)."""
    if step is None:
        raise InputError("The method RK4 wants a step.", name="step", remedy="Pass step=1e-3, for example.")
    if plan.events:
        raise UnsupportedError(
            "Events want dense output, which RK4 has not.", name="events", remedy='Use method="DOP853".'
        )
    field = make_field(model.driver, model, plan.source)
    stepper = Stepper(model, step, plan.y0, plan.t0, field)
    record = Record(plan.t0, plan.y0.copy())
    try:
        _steps(model, plan, stepper, record, plan.source)
    except KeyboardInterrupt as error:
        record.stop(f"interrupted at t = {stepper.t:.9g}", error)
    return record


def _steps(model: Model, plan: Plan, stepper: Stepper, record: Record, source: Source) -> None:
    nq, n, m = model.layout.nq, model.layout.nq + model.layout.nu, len(model.layout.inputs)
    h, t = stepper.h, plan.t0
    while t < plan.t_end:
        end = min(plan.t_end, source.next_break(t))
        if source.held:
            try:
                stepper.field.inputs[:m] = source.value(t, stepper.y[:nq].copy(), stepper.y[nq:n].copy())
            except Exception as error:
                return record.stop(raised(source, t, error), error)
        while t < end:
            size = min(h, end - t)
            if end - t < h * (1 + 1e-9):
                size = end - t
            stepper.loop.control[d.H] = size
            before = stepper.y.copy()
            y = stepper.step().copy()
            record.nfev += 4
            if not np.isfinite(y).all():
                bad = ", ".join(
                    f"{a} = {b}" for a, b in zip(model.layout.names, y, strict=True) if not math.isfinite(b)
                )
                why = stepper.field.error
                if why is not None and not isinstance(why, Exception):
                    raise why
                failed = f"stopped at t = {t:.9g}: not finite: {bad}"
                return record.stop(failed if why is None else raised(source, t, why), why)
            after = end if size == end - t else t + size
            held = stepper.field.inputs[:m].copy()
            record.add(before, t, Steps(np.array([after]), np.array([size]), y[None], None), held)
            t = after
        if plan.progress is not None:
            plan.progress(t, plan.t_end)
