"""The equations about an operating point: every Jacobian of the nonlinear equations, exact, evaluated there.

Velocities, partial velocities and accelerations stay nonlinear until the derivatives are taken (Buffinton section
6.5.1): nothing is linearised prematurely.  Constraints bring their multipliers along: the residual is F + F* + Aᵀ
lambda.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.equations.conditions import Conditions, find_conditions
from kane.equations.constrained import Array, Constrained, Evaluator, constrained
from kane.equations.joint_loads import driven, with_joint_loads
from kane.equations.programs import program_inputs
from kane.equations.projection import Equations, kane_equations
from kane.graph.arena import Ref
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, Program, build_program
from kane.kinematics import points as pt
from kane.kinematics.coordinates import symbol_name
from kane.kinematics.linear import sparse_jacobian
from kane.mechanism.given import checked_number, mechanism_of
from kane.mechanism.model import Mechanism
from kane.simulation.checks import checked_state

Source = Equations | Mechanism | Any  # what equations are asked of; Any: a Robot or a System, which lie above


@dataclass(frozen=True, slots=True)
class Jacobians:
    """What has to be evaluated at an operating point, as one program; reusable for any number of points.

    Functions: qdot, residual (F + F* + Aᵀ lambda), configuration phi, rates c, second (dc/dt), outputs; each with its
    Jacobians by q, u, udot, lambda and f, named "residual_q" and so on.
    """

    equations: Equations
    conditions: Conditions
    program: Program
    output_names: tuple[str, ...]
    input_names: tuple[str, ...]
    motion: Constrained

    def at(self, point: OperatingPoint) -> dict[str, Array]:
        """All functions and Jacobians at an operating point."""
        arrays: dict[str, Any] = {
            "q": point.q, "u": point.u, "udot": point.udot, "f": point.f, "lambda": point.multipliers, "t": [point.t],
            "p": [self.motion.values[n] for n in self.equations.points.free],
        }  # fmt: skip
        return dict(
            self.motion.evaluator(self.program, {item.name: arrays[item.name] for item in self.program.inputs})
        )


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A state with inputs, accelerations and multipliers: equilibrium, steady motion, or an instant of a trajectory."""

    q: Array
    u: Array
    udot: Array
    f: Array
    multipliers: Array
    t: float = 0.0


def jacobians(
    source: Source,
    outputs: Mapping[str, str] | None = None,
    values: Mapping[str, float] | None = None,
    evaluator: Evaluator = evaluate,
) -> Jacobians:
    """The program of all Jacobians of a mechanism's equations; `outputs`: formulas in states, inputs and measures.

    source: equations, taken as they are; or a robot, mechanism or System, of which springs and dampers of joints act
    too, and which has one input tau for every speed where it declares no inputs (equations/joint_loads.py).
    """
    from kane.equations.steps import expression

    e = source if isinstance(source, Equations) else joint_equations(mechanism_of(source))
    g, s = e.graph, e.points.symbols
    conditions = find_conditions(e)
    m = len(conditions.names)
    names = tuple(f"lambda {n}" for n in conditions.names)
    multipliers = tuple(g.symbol(n) for n in names)
    residual = [
        g.add(r, g.dot(multipliers, (row[k] for row in conditions.jacobian))) for k, r in enumerate(e.residual)
    ]
    functions: dict[str, Sequence[Ref]] = {
        "qdot": [s.rates[n] for n in e.points.coordinates.names],
        "residual": residual,
        "configuration": [x for x in conditions.values if x is not None],
        "rates": conditions.rates,
        "second": pt.time_derivative(e.points, conditions.rates) if m else [],
        "outputs": [expression(e, text) for text in (outputs or {}).values()],
    }
    base = program_inputs(e, rates=True)
    inputs = next((item.labels for item in base if item.name == "f"), ())
    wrt: dict[str, Sequence[Ref]] = {
        "q": s.q, "u": s.u, "udot": s.udot, "lambda": multipliers, "f": [g.symbol(n) for n in inputs]
    }  # fmt: skip
    listed: list[tuple[str, tuple[int, ...], Sequence[Ref]]] = []
    for name, refs in functions.items():
        listed.append((name, (len(refs),), list(refs)))
        rows = sparse_jacobian(g, refs, [x for symbols in wrt.values() for x in symbols])
        start = 0
        for by, symbols in wrt.items():
            flat = [row.get(start + k, 0) for row in rows for k in range(len(symbols))]
            listed.append((f"{name}_{by}", (len(refs), len(symbols)), flat))
            start += len(symbols)
    arrays = (*base, Input("lambda", names)) if names else base
    program = build_program(g, "operating", arrays, listed)
    motion = constrained(e, values, evaluator)
    return Jacobians(e, conditions, program, tuple(outputs or {}), inputs, motion)


def joint_equations(mechanism: Mechanism) -> Equations:
    """Kane's equations of a mechanism with what drives its joints, their springs and their dampers."""
    return with_joint_loads(kane_equations(driven(mechanism)))


def find_state(j: Jacobians, q: Any, u: Any) -> tuple[Array, Array]:
    """q (nq,) and u (n,) from arrays or by name; what is not named is 0, quaternions no turn.

    The rate of coordinate q1 is named q1_dot, or q1 as the speed that it is.
    """
    c = j.equations.points.coordinates
    still = np.array([1.0 if any(n == group[0] for group, _ in c.quaternions) else 0.0 for n in c.names])
    return checked_state(q, still, c.names, "q"), checked_state(u, np.zeros(len(c.speeds)), c.speeds, "u", c.rates)


def find_inputs(j: Jacobians, f: Any) -> Array:
    """The inputs (nf,) from an array or by name, where tau of a speed may go by the speed's name; nothing is all 0."""
    speeds = {symbol_name("tau", n): n for n in j.equations.points.coordinates.speeds}
    also = tuple(speeds.get(n, n) for n in j.input_names)
    given = None if not isinstance(f, Mapping) and np.size(f) == 0 else f
    return checked_state(given, np.zeros(len(also)), j.input_names, "f", also)


def assembled(j: Jacobians, q: Any, u: Any) -> tuple[Array, Array]:
    """q and u as find_state takes them; under constraints what is not named is solved for, near 0.

    Raises ConvergenceError where there is no such state near.
    """
    at, rate = find_state(j, q, u)
    c = j.equations.points.coordinates
    if not j.conditions.names:
        return at, rate
    if q is None or (isinstance(q, Mapping) and set(q) < set(c.names)):
        at = j.motion.consistent_configuration(at, tuple(q or ()))
    if u is None or (isinstance(u, Mapping) and len(u) < len(rate)):
        rate = j.motion.consistent_speeds(at, rate, [n for n in c.speeds if n in (u or ()) or f"{n}_dot" in (u or ())])
    return at, rate


def find_point(j: Jacobians, q: Any, u: Any, f: Any = (), t: float = 0.0) -> OperatingPoint:
    """The operating point at a state: accelerations and multipliers follow from the equations."""
    (at, rate), inputs = find_state(j, q, u), find_inputs(j, f)
    t = checked_number("t", t, "Give a time, s.")
    motion = j.motion.accelerations(at, rate, inputs, t)
    return OperatingPoint(at, rate, motion.udot, inputs, motion.multipliers, t)
