"""simulate: from a mechanism and a start to a SimulationResult."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from kane.errors import InputError, UnknownNameError, UnsupportedError
from kane.mechanism.given import checked_choice, checked_flag, checked_function, checked_mapping, shown
from kane.simulation.checks import (
    checked_accuracy,
    checked_bound,
    checked_pace,
    checked_span,
    checked_state,
    checked_times,
    unit_quaternions,
)
from kane.simulation.contacts import contact_events
from kane.simulation.events import Event, checked_events
from kane.simulation.inputs import make_source
from kane.simulation.loop import Accuracy
from kane.simulation.model import Array, Layout, Model, prepare
from kane.simulation.result import SimulationResult
from kane.simulation.run import Plan, Record, raised, run

Method = Literal["DOP853", "RK4", "variational", "BDF", "IDA"]
State = Sequence[float] | Mapping[str, float] | Array | None


def simulate(  # noqa: PLR0913
    source: Any,
    t: float | tuple[float, float],
    q: State = None,
    u: State = None,
    *,
    inputs: Any = None,
    method: Method = "DOP853",
    rtol: float = 1e-11,
    atol: float = 1e-13,
    max_step: float = math.inf,
    step: float | None = None,
    t_eval: Any = None,
    events: Sequence[Event] | Event | None = (),
    start: Literal["refuse", "correct"] = "refuse",
    guess: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    energy_tolerance: float = 1e-6,
    dense: bool = True,
    progress: Callable[[float, float], None] | None = None,
) -> SimulationResult:
    """The motion of a mechanism from q, u over t (an end, or start and end), s.

    source: a Model of `prepare`, a Mechanism, a robot or a declared system.  q, u: start by order or by name (what is
    not named is 0, unit quaternions).  inputs: see inputs.make_source; tau of a robot, the declared inputs of a
    system. method: "DOP853" (order 8, adaptive, compiled loop); "RK4" (order 4, fixed `step`); "variational" (order 2,
    symplectic, fixed `step`); "BDF" (stiff, SUNDIALS CVODE) and "IDA" (constraints as a DAE, SUNDIALS), extra `dae`.
    t_eval: output times (default: the steps).  Under constraints, what is not named in q and u is solved for, from
    `guess`; start: what to do with a whole start that is off the constraints; refused, the error's `value` is the
    nearest consistent (q, u).  progress(t, t_end) is called now and then.

    A run that cannot go on stops: its result has status -1, the reason in `message` and the part before; what a
    function of the inputs or events raised is its `error`, unchanged.  What `progress` raises goes through.  Raises
    InputError for a start that is not finite or off the constraints and for every argument that is none, ShapeError
    and UnknownNameError for wrong arrays and names.
    """
    model = prepared(source, parameters)
    t0, t_end = checked_span(t)
    accuracy = Accuracy(*checked_accuracy(rtol, atol, max_step))
    checked_choice("start", start, ("refuse", "correct"))
    energy_tolerance = checked_bound("energy_tolerance", energy_tolerance, "Give a number >= 0 such as 1e-6.", low=0.0)
    pace = None if step is None else checked_pace("step", step, t0, t_end)
    wanted = None if t_eval is None else checked_times(t_eval, t0, t_end)
    dense = checked_flag("dense", dense) or wanted is not None
    if progress is not None:
        checked_function("progress", progress, "(t, t_end)")
    way, watched = _methods(method), checked_events(events)
    if method == "DOP853":
        watched += contact_events(model.extra.contacts, model.layout.coordinates)
    given = make_source(inputs, model.layout.inputs)
    if given.period is not None:
        checked_pace(f"period of {given.name}", given.period, t0, t_end)
    y0 = start_state(model, t0, q, u, start, guess)
    plan = Plan(t0, t_end, y0, given, accuracy, watched, dense or bool(watched), progress)
    record = way(model, plan, pace)
    return make_result(model, plan, record, wanted, energy_tolerance, method)


def prepared(source: Any, parameters: Mapping[str, Any] | None = None) -> Model:
    """The Model that is given, or that of what is.  Raises InputError for parameters of what is compiled already."""
    if not isinstance(source, Model):
        return prepare(source, parameters)
    if checked_mapping("parameters", parameters, "{'m1': 2.5}"):
        raise InputError(
            f"parameters is {shown(parameters)}, but the model is compiled with its own values.", name="parameters",
            value=shown(parameters), remedy="Pass them to prepare(source, parameters).",
        )  # fmt: skip
    return source


def _methods(method: Any) -> Callable[[Model, Plan, float | None], Record]:
    if not isinstance(method, str):
        method = shown(method)
    if method == "DOP853":
        return lambda model, plan, step: run(model, plan)
    if method == "RK4":
        from kane.simulation.fixed import run_fixed

        return run_fixed
    if method == "variational":
        from kane.simulation.variational import run_variational

        return run_variational
    if method in ("BDF", "IDA"):
        from kane.simulation.sundials import run_bdf, run_ida

        return run_bdf if method == "BDF" else run_ida
    raise UnsupportedError(
        f"There is no method {method!r}.",
        name="method",
        value=method,
        remedy="There are DOP853, RK4, variational, BDF, IDA.",
    )


def start_state(
    model: Model, t: float, q: State, u: State, start: str = "refuse", guess: Mapping[str, float] | None = None
) -> Array:
    """y at the start: [q, u, 0, 0]; quaternions normalised, constraints fulfilled."""
    layout = model.layout
    first = np.zeros(layout.nq)
    for k in model.quaternion_starts:
        first[k] = 1.0
    slow = np.zeros(layout.nu)
    near = checked_mapping("guess", guess, "{'q2': 0.6}")
    known = (*layout.coordinates, *layout.speed_names, *layout.speeds)
    for name in near:
        if name not in known:
            raise UnknownNameError(f"guess has no {name!r}; there are: {', '.join(layout.names)}.", name=str(name))
    of_q = {n: x for n, x in near.items() if n in layout.coordinates}
    of_u = {n: x for n, x in near.items() if n not in of_q}
    first = checked_state(of_q, first, layout.coordinates, "guess")
    slow = checked_state(of_u, slow, layout.speeds, "guess", layout.speed_names)
    qs = checked_state(q, first, layout.coordinates, "q")
    us = checked_state(u, slow, layout.speeds, "u", layout.speed_names)
    for k in model.quaternion_starts:
        qs[k : k + 4] = unit_quaternions(qs[None, k : k + 4], layout.coordinates[k])[0]
    if model.constraints is not None:
        qs, us = model.constraints.start(t, qs, us, start, _given(layout, q, u))
    return np.concatenate([qs, us, np.zeros(len(layout.works))])


def _given(layout: Layout, q: State, u: State) -> tuple[Any, Any]:
    """Masks of what was given, in order or by name."""
    masks = []
    for values, names, other in ((q, layout.coordinates, ()), (u, layout.speeds, layout.speed_names)):
        if values is None:
            masks.append(np.zeros(len(names), bool))
        elif isinstance(values, Mapping):
            also = other or names
            masks.append(np.array([n in values or o in values for n, o in zip(names, also, strict=True)]))
        else:
            masks.append(np.ones(len(names), bool))
    return masks[0], masks[1]


def make_result(
    model: Model, plan: Plan, record: Record, wanted: Array | None, energy_tolerance: float, method: str
) -> SimulationResult:
    """The result of a record: at the steps, or at given times."""
    layout = model.layout
    n = layout.nq + layout.nu
    sol = record.dense()
    t, y, inputs = record.points()
    if wanted is not None:
        wanted = wanted[(wanted >= t[0]) & (wanted <= t[-1])]
        k = np.clip(np.searchsorted(t, wanted, side="left"), 0, len(t) - 1)
        at_start = (wanted == t[0])[:, None]
        y = np.where(at_start, y[0], sol(wanted).T if sol is not None else y[k])
        t, inputs = wanted, inputs[k] if inputs.shape[1] else np.zeros((len(wanted), 0))
    m = len(layout.inputs)
    if not plan.source.held:
        inputs = _inputs_at(plan, record, t, y, m, layout)
    elif inputs.shape[1] != m:
        inputs = np.zeros((len(t), m))
    result = SimulationResult(
        model,
        t,
        y[:, :n].T.copy(),
        sol,
        tuple(record.events),
        record.nfev,
        record.status,
        record.message,
        y[:, n:].T.copy(),
        inputs.T.copy(),
        energy_tolerance,
        plan.source.idle,
        method,
        record.rejected,
        record.error,
        None if plan.source.held else plan.source.value,
    )
    if len(t) and not result.energy_ok:
        from dataclasses import replace

        text = (
            f"{result.message}; the energy error {result.energy_error:.2e} exceeds its tolerance {energy_tolerance:g}"
        )
        result = replace(result, message=text)
    return result


def _inputs_at(plan: Plan, record: Record, t: Array, y: Array, m: int, layout: Layout) -> Array:
    """What functions give at the points; where they raise, NaN, and the result says so."""
    nq, n = layout.nq, layout.nq + layout.nu
    made = np.full((len(t), m), np.nan)
    for k, (time, x) in enumerate(zip(t, y, strict=True)):
        try:
            made[k] = plan.source.value(float(time), x[:nq], x[nq:n])
        except (Exception, KeyboardInterrupt) as error:
            if record.error is None:
                record.stop(raised(plan.source, float(time), error), error)
    return made
