"""Equations of motion in task speeds w = J u + b, and Khatib's operational space of any frame.

Square J: M' = J^-T M J^-1, F' = J^-T F (Buffinton section 6.5.2).  In general (Khatib 1987): Lambda = (J M^-1 Jᵀ)^-1,
Jbar = M^-1 Jᵀ Lambda, mu = Lambda (J M^-1 c - Jdot u), p = Lambda J M^-1 g, null space N = 1 - Jbar J.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.equations.constrained import Array, Evaluator, solved
from kane.equations.programs import program_of
from kane.equations.projection import Equations, bias, check_equations, mass_matrix
from kane.equations.steps import expression
from kane.errors import InputError
from kane.graph.arena import Graph, Ref
from kane.graph.derivative import forward
from kane.graph.evaluate import evaluate
from kane.graph.program import Program
from kane.kinematics import points as pt
from kane.kinematics.linear import Rows, SingularError, reduce_rows, solve_regular
from kane.kinematics.motion import substitute

TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")


@dataclass(frozen=True, slots=True)
class TaskEquations:
    """M' wdot + h' = F' in task speeds w, symbolic.

    determinant: of J; where it vanishes the task speeds are singular.
    """

    names: tuple[str, ...]
    jacobian: Rows
    mass_matrix: Rows
    bias: list[Ref]
    active: list[Ref]
    determinant: Ref


def task_equations(e: Equations, tasks: Mapping[str, str]) -> TaskEquations:
    """Kane's equations in as many task speeds as there are speeds: name -> formula linear in rates, measures included.

    w1 = "velocity(P2, N, n1)" and so on.  h' = J^-T (h - M J^-1 (Jdot u + bdot)). Raises InputError when the task
    speeds are singular in every configuration.
    """
    check_equations(e)
    g, n = e.graph, len(e.inertia)
    names = tuple(tasks)
    if len(names) != n:
        raise InputError(
            f"{len(names)} task speeds for {n} speeds.", value=len(names), remedy="Use task_space for other numbers."
        )
    jac, drift = task_jacobian(e, [expression(e, text) for text in tasks.values()], names)
    try:
        inverse = solve_regular(g, jac, [[g.one if i == k else 0 for k in range(n)] for i in range(n)])
    except SingularError as error:
        bad = ", ".join(names[k] for k in error.rows)
        still = not any(x > 1 for k in error.rows for x in jac[k])
        raise InputError(
            f"Task speed {bad} {'contains no speed' if still else 'depends on the other ones in every configuration'}.",
            name=names[error.rows[0]], remedy="Give as many independent velocities as there are speeds.",
        ) from None
    m = mass_matrix(e)
    half = [[g.dot(row, column) for column in zip(*inverse, strict=True)] for row in m]
    back = [list(column) for column in zip(*inverse, strict=True)]  # J^-T
    mass = [[g.dot(row, column) for column in zip(*half, strict=True)] for row in back]
    rest = [g.sub(b, g.dot(row, drift)) for b, row in zip(bias(e), half, strict=True)]
    return TaskEquations(
        names,
        jac,
        mass,
        [g.dot(row, rest) for row in back],
        [g.dot(row, e.active) for row in back],
        determinant(g, jac),
    )  # fmt: skip


def task_jacobian(e: Equations, tasks: Sequence[Ref], names: Sequence[str]) -> tuple[Rows, list[Ref]]:
    """(J, Jdot u + bdot) of task speeds given as expressions linear in u."""
    g, s = e.graph, e.points.symbols
    columns = [forward(g, tasks, {u: g.one}) for u in s.u]
    for k in range(len(tasks)):
        row = [column[k] for column in columns]
        if any(x > 1 for u in s.u for x in forward(g, row, {u: g.one})):
            raise InputError(
                f"Task speed {names[k]!r} is not linear in the speeds.", name=names[k],
                remedy="Give a velocity, an angular velocity or another combination of speeds.",
            )  # fmt: skip
    drift = substitute(g, pt.time_derivative(e.points, tasks), dict.fromkeys(s.udot, g.zero))
    return [[column[i] for column in columns] for i in range(len(tasks))], drift


def determinant(g: Graph, a: Sequence[Sequence[Ref]]) -> Ref:
    """The determinant by cofactors for up to 3 rows, else by elimination."""
    n = len(a)
    if n == 1:
        return a[0][0]
    if n <= 3:
        minors = [[[row[k] for k in range(n) if k != j] for row in a[1:]] for j in range(n)]
        terms = [g.mul(a[0][j], determinant(g, minors[j])) for j in range(n)]
        return g.sum(t if j % 2 == 0 else g.neg(t) for j, t in enumerate(terms))
    rows, total = [list(row) for row in a], g.one
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k] > 1), None)
        if pivot is None:
            return g.zero
        if pivot != k:
            rows[k], rows[pivot], total = rows[pivot], rows[k], g.neg(total)
        total = g.mul(total, rows[k][k])
        for i in range(k + 1, n):
            factor = g.div(rows[i][k], rows[k][k])
            rows[i] = [g.sub(x, g.mul(factor, y)) for x, y in zip(rows[i], rows[k], strict=True)]
    return total


def rank(g: Graph, a: Sequence[Sequence[Ref]]) -> int:
    """The rank of a matrix of expressions in general position, exactly."""
    return len(reduce_rows(g, a, range(len(a[0]) if a else 0))[1])


@dataclass(frozen=True, slots=True)
class TaskSpace:
    jacobian: Array
    drift: Array
    inertia: Array
    bias: Array
    gravity: Array
    inverse: Array
    null: Array


def task_program(e: Equations, frame: str) -> Program:
    check_equations(e)
    g, p = e.graph, e.points
    k = p.station(frame)
    axes = p.stations[k].axes
    twist = [*pt.express(p, p.axes[axes].w, axes, 0), *pt.express(p, pt.velocities(p)[k], p.stations[k].held, 0)]
    jac, _ = task_jacobian(e, twist, TWIST)
    still = dict.fromkeys(p.symbols.udot, g.zero)
    alpha = pt.express(p, e.accelerations.alpha[axes], axes, 0)
    acc = pt.express(p, e.accelerations.acc[k], p.stations[k].held, 0)
    drift = substitute(g, [*alpha, *acc], still)
    n = len(p.symbols.u)
    gravity = [g.neg(x) if x > 1 else 0 for x in e.contributions.get("gravity", (0,) * n)]
    outputs = [
        ("jacobian", (6, n), [x for row in jac for x in row]),
        ("drift", (6,), drift),
        ("mass_matrix", (n, n), [x for row in mass_matrix(e) for x in row]),
        ("bias", (n,), bias(e)),
        ("gravity", (n,), gravity),
    ]
    return program_of(e, "task_space", outputs)


def task_space(
    program: Program, arrays: Mapping[str, Any], rows: Sequence[int] = range(6), evaluator: Evaluator = evaluate
) -> TaskSpace:
    """Khatib's quantities of a frame at a state; `rows` of the twist that make the task (0-2 angular, 3-5 linear).

    Raises InputError at a singular configuration, naming the direction that cannot be moved.
    """
    out = evaluator(program, arrays)
    pick = list(rows)
    if not pick or any(k not in range(len(TWIST)) for k in pick):
        raise InputError(
            f"rows of the twist are {pick}.", name="rows", value=pick, remedy=f"Choose of 0 to 5: {', '.join(TWIST)}."
        )
    jac, drift, mass = out["jacobian"][pick], out["drift"][pick], out["mass_matrix"]
    compliance = solved(mass, jac.T, next(item.labels for item in program.inputs if item.name == "u"))
    u, sizes, _ = np.linalg.svd(jac)
    if len(pick) > jac.shape[1] or sizes.min() < 1e-9 * sizes.max():
        lost = u[:, -1] if len(sizes) == len(pick) else u[:, len(sizes)]
        text = " ".join(f"{x:+.3f} {TWIST[k]}" for x, k in zip(lost, pick, strict=True) if abs(x) > 1e-6)
        raise InputError(
            f"The task is singular here: the frame cannot move along {text}.", value=float(sizes.min()),
            remedy="Leave this configuration, or choose fewer task rows.",
        )  # fmt: skip
    inertia = np.linalg.inv(jac @ compliance)
    inverse = compliance @ inertia
    return TaskSpace(
        jac,
        drift,
        np.asarray(inertia),
        inertia @ (compliance.T @ out["bias"] - drift),
        inverse.T @ out["gravity"],
        np.asarray(inverse),
        np.eye(jac.shape[1]) - inverse @ jac,
    )
