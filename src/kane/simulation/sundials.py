"""Stiff runs with CVODE and constraints as differential-algebraic equations with IDA, both of SUNDIALS (extra: dae)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np

from kane.errors import MissingExtraError, UnsupportedError, install
from kane.simulation.constraints import solve
from kane.simulation.loop import Steps
from kane.simulation.model import Array, Model
from kane.simulation.run import Plan, Record, raised

STABILISATION = 50.0  # 1/s: constraint residuals of IDA's equations fade with this rate (Baumgarte 1972)


def _sundae(name: str) -> Any:
    try:
        import sksundae.cvode
        import sksundae.ida
    except ImportError as error:
        raise MissingExtraError(f"The method {name} wants SUNDIALS.", name="dae", remedy=install("dae")) from error
    return sksundae


class _Traced:
    """The inputs' values; the traceback of what they raise is kept, which SUNDIALS' callbacks lose."""

    def __init__(self, value: Callable[[float, Array, Array], Array]) -> None:
        self.value = value
        self.raised: BaseException | None = None
        self.trace: TracebackType | None = None

    def __call__(self, t: float, q: Array, u: Array) -> Array:
        try:
            return self.value(t, q, u)
        except BaseException as error:
            self.raised, self.trace = error, error.__traceback__
            raise

    def restore(self, error: BaseException) -> None:
        """Give an error of the inputs its own traceback back."""
        if error is self.raised:
            error.__traceback__ = self.trace


def _traced(plan: Plan) -> tuple[Plan, _Traced]:
    value = _Traced(plan.source.value)
    return replace(plan, source=replace(plan.source, value=value)), value


def run_bdf(model: Model, plan: Plan, step: float | None) -> Record:
    """A run with CVODE's BDF (orders 1 to 5): for stiff springs, dampers and friction."""
    if model.rate is None:
        raise UnsupportedError("BDF takes no constraints.", name="method", value="BDF", remedy='Use method="IDA".')
    if plan.events:
        raise UnsupportedError("Events want dense output.", name="events", remedy='Use method="DOP853".')
    cvode, rate, layout = _sundae("BDF").cvode, model.rate, model.layout
    nq, n = layout.nq, layout.nq + layout.nu
    held = np.zeros(len(layout.inputs))
    plan, traced = _traced(plan)

    def make(record: Record) -> Any:
        def slope(t: float, y: Array, out: Array) -> None:
            f = held if plan.source.held else plan.source.value(t, y[:nq], y[nq:n])
            record.nfev += 1
            out[:] = rate(y, np.array([t]), np.ascontiguousarray(f))

        atol = np.full(layout.size, plan.accuracy.atol)
        atol[n:] = 1e-6
        return cvode.CVODE(slope, method="BDF", rtol=plan.accuracy.rtol, atol=atol, max_num_steps=100_000)

    return _segments(model, plan, traced, held, make, lambda solver, span, y: solver.solve(span, y), lambda t, y: y)


def run_ida(model: Model, plan: Plan, step: float | None) -> Record:
    """A run with IDA: M udot = F + Aᵀ lambda and the stabilised accelerations of the constraints.

    States are put back on the constraints.
    """
    if model.constraints is None:
        raise UnsupportedError("IDA is for constraints.", name="method", value="IDA", remedy='Use method="BDF".')
    if plan.events:
        raise UnsupportedError("Events want dense output.", name="events", remedy='Use method="DOP853".')
    ida, c, layout = _sundae("IDA").ida, model.constraints, model.layout
    nq, n, size = layout.nq, layout.nq + layout.nu, layout.size
    held = np.zeros(len(layout.inputs))
    plan, traced = _traced(plan)
    first = c.evaluate(plan.t0, plan.y0, held)
    kept = solve(*first[1:5]).kept  # redundant conditions are left out
    places = np.array([c.held.index(x) if x in c.held else -1 for x in c.names])[kept]

    def inputs(t: float, y: Array) -> Array:
        return held if plan.source.held else plan.source.value(t, y[:nq], y[nq:n])

    def make(record: Record) -> Any:
        def residual(t: float, x: Array, xp: Array, out: Array) -> None:
            y, push = np.ascontiguousarray(x[:size]), x[size:]
            record.nfev += 1
            qdot, M, force, A, gamma, rates, rest, powers, by_udot = c.evaluate(t, y, inputs(t, y))
            phi, _ = c.positions(y, np.array([t]), held)
            udot, a = xp[nq:n], A[kept]
            out[:nq] = xp[:nq] - qdot
            out[nq:n] = M @ udot - force - a.T @ push
            off = np.where(places >= 0, phi[places], 0.0) if len(phi) else 0.0
            out[size:] = a @ udot + gamma[kept] + 2 * STABILISATION * rates[kept] + STABILISATION**2 * off
            power = np.array(powers)
            power[2] += by_udot @ udot - push @ rest[kept]
            out[n:size] = xp[n:size] - power

        atol = np.full(size + len(kept), plan.accuracy.atol)
        atol[n:] = 1e-4
        options = {"rtol": plan.accuracy.rtol, "atol": atol, "algebraic_idx": list(range(size, size + len(kept)))}
        return ida.IDA(residual, max_num_steps=100_000, **options)

    def advance(solver: Any, span: Array, y: Array) -> Any:
        f = inputs(float(span[0]), y)
        made = solve(*c.evaluate(float(span[0]), y, f)[1:5])
        x = np.concatenate([y, made.multipliers[kept]])
        return solver.solve(span, x, np.concatenate([c.slope(float(span[0]), y, f), np.zeros(len(kept))]))

    return _segments(model, plan, traced, held, make, advance, c.project)


def _segments(
    model: Model, plan: Plan, traced: _Traced, held: Array, make: Callable[[Record], Any],
    advance: Callable[[Any, Array, Array], Any], correct: Callable[[float, Array], Array],
) -> Record:  # fmt: skip
    """Segment by segment between breaks of the inputs, each with a fresh solver."""
    layout, source = model.layout, plan.source
    nq, n = layout.nq, layout.nq + layout.nu
    record = Record(plan.t0, plan.y0.copy())
    t, y = plan.t0, plan.y0.copy()
    while t < plan.t_end:
        end = min(plan.t_end, source.next_break(t))
        try:
            if source.held:
                held[:] = source.value(t, y[:nq], y[nq:n])
            solution = advance(make(record), np.array([t, end]), y)
        except KeyboardInterrupt as error:
            record.stop(f"interrupted at t = {t:.9g}", error)
            return record
        except Exception as error:
            traced.restore(error)
            record.stop(raised(source, t, error), error)
            return record
        times, states = np.asarray(solution.t)[1:], np.asarray(solution.y)[1:, : layout.size].copy()
        if len(times):
            for k, time in enumerate(times):
                states[k] = correct(float(time), states[k])
                for start in model.quaternion_starts:
                    states[k, start : start + 4] /= np.linalg.norm(states[k, start : start + 4])
            record.add(y, t, Steps(times, np.diff([t, *times]), states, None), held.copy())
            y = states[-1].copy()
        if not solution.success or not np.isfinite(y).all():
            record.stop(f"stopped at t = {float(times[-1]) if len(times) else t:.9g}: {solution.message}")
            return record
        t = end
        if plan.progress is not None:
            try:
                plan.progress(t, plan.t_end)
            except KeyboardInterrupt as error:
                record.stop(f"interrupted at t = {t:.9g}", error)
                return record
    return record
