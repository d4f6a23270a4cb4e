"""A variational integrator of order 2 for long runs: discrete Lagrangian h L((q0 + q1)/2, (q1 - q0)/h).

It is symplectic.
Position-momentum form (Marsden and West 2001, sections 1.3, 2.3 and 3.2): with the slopes at the midpoint
    p0 = L_v - (h/2)(L_q + F),   p1 = L_v + (h/2)(L_q + F),
solved for q1 by Newton's method with compiled derivatives.  The energy of a conservative run oscillates and does not
drift.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.equations.system import derive_system
from kane.errors import ConvergenceError, InputError, UnsupportedError
from kane.graph.arena import Graph, Ref
from kane.graph.derivative import gradient, jacobian
from kane.graph.program import build_program
from kane.native.function import NativeFunction, compile_program
from kane.simulation.loop import Steps
from kane.simulation.model import Array, Model, energy_refs, joint_forces
from kane.simulation.run import Plan, Record, raised

TOLERANCE = 1e-14  # of the Newton step, relative
LIMIT = 30


@dataclass(frozen=True, slots=True)
class Slopes:
    """The compiled slopes of the Lagrangian.

    (y, t, f) -> L_v, L_q + F, their derivatives by q and v, power of F's parts.
    """

    function: NativeFunction
    n: int

    def at(self, q: Array, v: Array, t: float, f: Array, works: int) -> tuple[Array, ...]:
        return tuple(self.function(np.concatenate([q, v, np.zeros(works)]), np.array([t]), f))


def slopes(model: Model) -> Slopes:
    """The slopes of a model without constraints whose speeds are rates of its coordinates.

    Raises UnsupportedError for constraints, quaternions and speeds of other kinds.
    """
    layout = model.layout
    if model.constraints is not None or layout.quaternions or layout.speeds != layout.coordinates:
        raise UnsupportedError(
            "The variational integrator wants speeds that are rates of the coordinates, and no constraints.",
            name="method",
            remedy='Use method="DOP853" (with tight tolerances for long runs).',
        )
    g, q, v, lagrangian, forces, powers = _lagrangian(model)
    momentum = gradient(g, lagrangian, v)
    pull = [g.add(a, b) for a, b in zip(gradient(g, lagrangian, q), forces, strict=True)]
    n = len(q)
    outputs: list[tuple[str, tuple[int, ...], Any]] = [("momentum", (n,), momentum), ("pull", (n,), pull)]
    for name, refs, by in (("Pq", momentum, q), ("Pv", momentum, v), ("Sq", pull, q), ("Sv", pull, v)):
        outputs.append((name, (n, n), [x for row in jacobian(g, refs, by) for x in row]))
    outputs.append(("powers", (len(powers),), powers))
    return Slopes(compile_program(build_program(g, "slopes", layout.arrays(), outputs)), n)


def _lagrangian(model: Model) -> tuple[Graph, Any, Any, Ref, list[Ref], list[Ref]]:
    """Graph, q, v, T - V, generalized forces beside it, powers of inputs and losses."""
    mechanism = model.mechanism
    if not mechanism.loads and not mechanism.speeds:
        system = derive_system(mechanism)
        g, s = system.g, system.k.symbols
        kinetic, potential = energy_refs(system, model.extra)
        tau, own = system.vector("tau"), joint_forces(system, model.extra)
        forces = [g.add(a, b) for a, b in zip(tau, own.losses, strict=True)]
        return g, s.q, s.u, g.sub(kinetic, potential), forces, [g.dot(tau, s.u), g.dot(own.losses, s.u)]
    from kane.simulation.declared import lagrangian_parts

    return lagrangian_parts(mechanism, model.extra)


def run_variational(model: Model, plan: Plan, step: float | None) -> Record:
    """A run in fixed steps."""
    if step is None:
        raise InputError("The method variational wants a step.", name="step", remedy="Pass step=1e-3, for example.")
    if plan.events:
        raise UnsupportedError("Events want dense output.", name="events", remedy='Use method="DOP853".')
    made, layout = slopes(model), model.layout
    n, works = layout.nq, len(layout.works)
    record = Record(plan.t0, plan.y0.copy())
    q, u, work = plan.y0[:n].copy(), plan.y0[n : 2 * n].copy(), plan.y0[2 * n :].copy()
    count = max(1, math.ceil((plan.t_end - plan.t0) / step - 1e-9))
    h = (plan.t_end - plan.t0) / count
    p = None
    try:
        for k in range(count):
            t = plan.t0 + k * h
            try:
                f = np.ascontiguousarray(plan.source.value(t + h / 2, q, u))
            except Exception as error:
                record.stop(raised(plan.source, t, error), error)
                break
            if p is None:
                p = made.at(q, u, t, f, works)[0]
            y0 = np.concatenate([q, u, work])
            try:
                with np.errstate(all="ignore"):  # what is not finite is found below
                    q, p, powers, used = _step(made, q, u, p, t, h, f, works)
                    _, _, _, mass, _, _, _ = made.at(q, np.zeros(n), t + h, f, works)
                    after = _solved(mass, p - made.at(q, np.zeros(n), t + h, f, works)[0])
                    if not (np.isfinite(after).all() and np.isfinite(powers).all()):
                        raise _failed(h)
            except (ConvergenceError, np.linalg.LinAlgError) as error:
                k = int(np.argmax(np.abs(u)))
                fast = f"fastest: {layout.speed_names[k]} = {u[k]:.6g}"
                why = error if isinstance(error, ConvergenceError) else _failed(h)
                record.stop(f"stopped at t = {t:.9g}: {why} ({fast})", error)
                break
            u = after
            work = work + h * powers
            record.nfev += used + 2
            y = np.concatenate([q, u, work])
            record.add(y0, t, Steps(np.array([t + h]), np.array([h]), y[None], None), f)
            if plan.progress is not None and k % 256 == 255:
                plan.progress(t + h, plan.t_end)
    except KeyboardInterrupt as error:
        record.stop(f"interrupted at t = {plan.t0 + len(record.steps) * h:.9g}", error)
    return record


def _solved(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)


def _step(  # noqa: PLR0913
    s: Slopes, q: Array, u: Array, p: Array, t: float, h: float, f: Array, works: int
) -> tuple[Array, Array, Array, int]:
    """q1, p1, powers at the midpoint and the evaluations it took."""
    after = q + h * u
    for k in range(LIMIT):
        middle, v = 0.5 * (q + after), (after - q) / h
        momentum, pull, Pq, Pv, Sq, Sv, powers = s.at(middle, v, t + h / 2, f, works)
        gap = momentum - 0.5 * h * pull - p
        slope = Pv / h + 0.5 * Pq - 0.5 * h * (Sv / h + 0.5 * Sq)
        change = np.linalg.solve(slope, -gap)
        after = after + change
        if not np.isfinite(after).all():
            break
        if np.abs(change).max() <= TOLERANCE * (1 + np.abs(after).max()):
            middle, v = 0.5 * (q + after), (after - q) / h
            momentum, pull, _, _, _, _, powers = s.at(middle, v, t + h / 2, f, works)
            whole = np.zeros(works)
            whole[: len(powers)] = powers
            return after, momentum + 0.5 * h * pull, whole, k + 2
    raise _failed(h)


def _failed(h: float) -> ConvergenceError:
    return ConvergenceError(
        f"the step of {h:g} s has no solution near.", name="step", value=h, remedy="Take a smaller step."
    )
