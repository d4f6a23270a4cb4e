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
from kane.equations.constrained import Array, Constrained, Evaluator, constrained, ordered
from kane.equations.programs import program_inputs
from kane.equations.projection import Equations, kane_equations
from kane.errors import InputError
from kane.graph.arena import Ref
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, Program, build_program
from kane.kinematics import points as pt
from kane.kinematics.linear import sparse_jacobian
from kane.mechanism.given import mechanism_of, real_array
from kane.mechanism.model import Mechanism

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

    source: the equations, or the mechanism, robot or System that they are of.
    """
    from kane.equations.steps import expression

    e = source if isinstance(source, Equations) else kane_equations(mechanism_of(source))
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


def find_point(j: Jacobians, q: Any, u: Any, f: Any = (), t: float = 0.0) -> OperatingPoint:
    """The operating point at a state: accelerations and multipliers follow from the equations."""
    arrays = {"q": real_array("q", q), "u": real_array("u", u), "inputs": ordered(j.input_names, f)}
    for name, array in (*arrays.items(), ("t", real_array("t", t))):
        if not np.isfinite(array).all():
            raise InputError(f"{name} is {array}.", name=name, value=str(array), remedy="Give finite numbers.")
    motion = j.motion.accelerations(arrays["q"], arrays["u"], arrays["inputs"], t)
    return OperatingPoint(arrays["q"], arrays["u"], motion.udot, arrays["inputs"], motion.multipliers, t)
