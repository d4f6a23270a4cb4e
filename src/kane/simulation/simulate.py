"""simulate: from a mechanism and a start to a SimulationResult."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np

from kane.errors import InputError, ShapeError, UnknownNameError, UnsupportedError
from kane.simulation.contacts import contact_events
from kane.simulation.events import Event
from kane.simulation.inputs import make_source
from kane.simulation.loop import Accuracy
from kane.simulation.model import Array, Layout, Model, prepare
from kane.simulation.result import SimulationResult
from kane.simulation.run import Plan, Record, run

STEPS = 1_000_000_000  # of a fixed length in one run: what memory holds is less
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
    events: Sequence[Event] = (),
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

    A run that cannot go on stops: its result has status -1, the reason in `message` and the part before.  Raises
    InputError for a start that is not finite or off the constraints, ShapeError and UnknownNameError for wrong arrays
    and names.
    """
    model = source if isinstance(source, Model) else prepare(source, parameters)
    t0, t_end = _span(t)
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, Real) or not 0 <= value < 1e6:
            raise InputError(f"{name} is {value!r}.", name=name, value=repr(value), remedy="Give one such as 1e-11.")
    if start not in ("refuse", "correct"):
        raise InputError(f"start is {start!r}.", name="start", value=repr(start), remedy="Use 'refuse' or 'correct'.")
    if step is not None and not (isinstance(step, Real) and t_end - t0 <= STEPS * step):
        raise InputError(
            f"The step is {step!r} for {t_end - t0:.6g} s.", name="step", value=repr(step),
            remedy=f"Give a step > 0, s, with {STEPS} steps at most.",
        )  # fmt: skip
    wanted = None if t_eval is None else _wanted(t_eval, t0, t_end)
    y0 = start_state(model, t0, q, u, start, guess)
    given = make_source(inputs, model.layout.inputs)
    accuracy = Accuracy(rtol, atol, max_step, None)
    watched = (
        (*events, *contact_events(model.extra.contacts, model.layout.coordinates))
        if method == "DOP853"
        else tuple(events)
    )
    plan = Plan(t0, t_end, y0, given, accuracy, watched, dense or bool(watched) or wanted is not None, progress)
    record = _methods(method)(model, plan, step)
    return make_result(model, plan, record, wanted, energy_tolerance, method)


def _span(t: Any) -> tuple[float, float]:
    """Start and end of an end, or of a start and an end.  Raises InputError."""
    ends = (0.0, t) if isinstance(t, Real) else tuple(t) if isinstance(t, (tuple, list, np.ndarray)) else ()
    if len(ends) != 2 or not all(isinstance(x, Real) for x in ends):
        raise InputError(
            f"t is {t!r}.", name="t", value=repr(t), remedy="Give the end, or (start, end), s, with start < end."
        )
    t0, t_end = map(float, ends)
    if not (math.isfinite(t0) and math.isfinite(t_end) and t_end > t0):
        raise InputError(
            f"The times {t0} to {t_end} are no span.", name="t", value=(t0, t_end), remedy="Give t0 < t_end."
        )
    return t0, t_end


def _wanted(t_eval: Any, t0: float, t_end: float) -> Array:
    """Output times, rising within the span (to rounding).  Raises InputError."""
    slack = 1e-9 * (t_end - t0)
    try:
        wanted = np.asarray(t_eval, dtype=np.float64)
    except (TypeError, ValueError):
        wanted = np.array(np.nan)
    inside = wanted.ndim == 1 and bool(((wanted >= t0 - slack) & (wanted <= t_end + slack)).all())
    if not inside or (np.diff(wanted) < 0).any():
        raise InputError(
            f"t_eval is {t_eval!r}."[:200], name="t_eval", value=repr(t_eval)[:200],
            remedy=f"Give rising times from {t0:g} to {t_end:g} s.",
        )  # fmt: skip
    return np.clip(wanted, t0, t_end)


def _methods(method: str) -> Callable[[Model, Plan, float | None], Record]:
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
    for name, value in (guess or {}).items():
        place = layout.index(name)
        (first if place < layout.nq else slow)[place if place < layout.nq else place - layout.nq] = value
    qs = _filled(q, first, layout.coordinates, "q")
    us = _filled(u, slow, layout.speeds, "u", layout.speed_names)
    for k in model.quaternion_starts:
        norm = float(np.linalg.norm(qs[k : k + 4]))
        if norm == 0:
            name = layout.coordinates[k]
            raise InputError(f"The quaternion of {name} is zero.", name=name, remedy="Give (1, 0, 0, 0) for no turn.")
        qs[k : k + 4] /= norm
    if model.constraints is not None:
        qs, us = model.constraints.start(t, qs, us, start, _given(layout, q, u))
    return np.concatenate([qs, us, np.zeros(len(layout.works))])


def _given(layout: Layout, q: State, u: State) -> tuple[Any, Any] | None:
    """Masks of what was named, or None when whole arrays were given."""
    if not (isinstance(q, Mapping) or isinstance(u, Mapping) or q is None or u is None):
        return None
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


def _filled(values: State, default: Array, names: tuple[str, ...], who: str, other: tuple[str, ...] = ()) -> Array:
    result = default.copy()
    if isinstance(values, Mapping):
        for name, value in values.items():
            if name not in names and name not in other:
                raise UnknownNameError(f"{who} has no {name!r}; there are: {', '.join(names)}.", name=name)
            result[names.index(name) if name in names else other.index(name)] = _floats(value, name, ())
    elif values is not None:
        result[:] = _floats(values, who, (len(names),), f": {', '.join(names)}")
    if not np.isfinite(result).all():
        bad = ", ".join(f"{n} = {x}" for n, x in zip(names, result, strict=True) if not math.isfinite(x))
        raise InputError(f"The start has {bad}.", name=who, value=bad, remedy="Give finite numbers.")
    return result


def _floats(values: Any, who: str, shape: tuple[int, ...], listed: str = "") -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{who} is {values!r}.", name=who, remedy="Give numbers.") from None
    if array.shape != shape:
        raise ShapeError(f"{who} has shape {array.shape}; expected {shape}{listed}.", name=who)
    return array


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
        values = [_input_at(plan, float(a), x[: layout.nq], x[layout.nq : n], m) for a, x in zip(t, y, strict=True)]
        inputs = np.array(values).reshape(len(t), m)
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
    )
    if len(t) and not result.energy_ok:
        from dataclasses import replace

        text = (
            f"{result.message}; the energy error {result.energy_error:.2e} exceeds its tolerance {energy_tolerance:g}"
        )
        result = replace(result, message=text)
    return result


def _input_at(plan: Plan, t: float, q: Array, u: Array, m: int) -> Array:
    try:
        return plan.source.value(t, q, u)
    except Exception:  # the run has stopped because of it, and says so
        return np.full(m, np.nan)
