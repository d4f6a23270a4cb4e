"""Tasks: first derivatives of inverse and forward dynamics, in the tangent of the coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from kane.equations.analytic import Rows, analytic_derivatives, bias_by_rates, serves
from kane.equations.composite import mass_matrix
from kane.equations.forward import Factor, elimination_order, factorise, solve, solve_columns
from kane.equations.system import System, derive_system
from kane.equations.tasks.dynamics import newton_euler
from kane.equations.tasks.task import Outputs, Task
from kane.graph.arena import Ref
from kane.graph.derivative import jacobian
from kane.graph.transplant import transplant


def tangent(system: System, rows: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
    """d/dq in the tangent: column r is the derivative along qdot for a unit speed u_r (identity where u = qdot)."""
    g, s, names = system.g, system.k.symbols, system.k.coordinates.names
    rates = [s.rates[n] for n in names]
    if tuple(rates) == s.u:
        return [list(row) for row in rows]
    W = jacobian(g, rates, s.u)
    return [[g.sum(g.mul(row[i], W[i][r]) for i in range(len(names))) for r in range(system.nv)] for row in rows]


def inverse_derivatives(system: System) -> tuple[Rows, Rows]:
    """(dtau/dq in the tangent, dtau/du) of inverse dynamics."""
    g, s = system.g, system.k.symbols
    tau = newton_euler(system, s.u, s.udot, external=True)
    rows = jacobian(g, tau, [*s.q, *s.u])
    by_q = tangent(system, [row[: len(s.q)] for row in rows])
    by_u = [row[len(s.q) :] for row in rows]
    return by_q, by_u


def _inverse(system: System, frame: str | None) -> Outputs:
    by_q, by_u = inverse_derivatives(system)
    return blocks(system, by_q, by_u, mass_matrix(system.k, system.bodies, system.rotors))


def inverse_by_composites(system: System, frame: str | None) -> Outputs | None:
    """(dtau/dq, dtau/du, M) by composite bodies; None where analytic.serves says no."""
    return blocks(system, *analytic_derivatives(system)) if serves(system) else None


def blocks(system: System, *given: Rows) -> Outputs:
    """The outputs of inverse dynamics' derivatives: by q, by u, by udot."""
    n, names = system.nv, ("dtau_dq", "dtau_dqd", "dtau_dqdd")
    return [(name, (n, n), [e for row in block for e in row]) for name, block in zip(names, given, strict=True)]


def _forward(system: System, frame: str | None) -> Outputs:
    """Reverse sweeps in a graph of their own, then copied with udot in the place of its symbols."""
    own = derive_system(system.k.mechanism, tuple(system.parameters) or "numeric", system.external)
    by_q, by_u = inverse_derivatives(own)
    factor, udot = _solved(system)
    known = dict(zip(system.k.symbols.names_udot, udot, strict=True))
    n, flat = system.nv, [e for block in (by_q, by_u) for row in block for e in row]
    moved = transplant(own.g, flat, system.g, known)
    rows = [moved[i * n : (i + 1) * n] for i in range(2 * n)]
    return implicit(system, factor, rows[:n], rows[n:])


def forward_by_composites(system: System, frame: str | None) -> Outputs | None:
    """(dqdd/dq, dqdd/du, M^-1), bias and mass matrix from the same pass; None where analytic.serves says no."""
    if not serves(system):
        return None
    g, n = system.g, system.nv
    _, by_u, M = analytic_derivatives(system, [g.zero] * n, by_rates_only=True)
    factor = factorise(g, M, elimination_order(system.k), system.k.coordinates.speeds)
    bias = bias_by_rates(system, by_u)
    udot = solve(g, factor, [g.sub(t, b) for t, b in zip(system.vector("tau"), bias, strict=True)])
    by_q, by_u, _ = analytic_derivatives(system, udot)
    return implicit(system, factor, by_q, by_u)


def _solved(system: System) -> tuple[Factor, list[Ref]]:
    """The factorised mass matrix and the accelerations."""
    g = system.g
    M = mass_matrix(system.k, system.bodies, system.rotors)
    factor = factorise(g, M, elimination_order(system.k), system.k.coordinates.speeds)
    bias = newton_euler(system, system.k.symbols.u, external=True)
    return factor, solve(g, factor, [g.sub(t, b) for t, b in zip(system.vector("tau"), bias, strict=True)])


def implicit(system: System, factor: Factor, by_q: Rows, by_u: Rows) -> Outputs:
    """d qdd = -M^-1 dID at qdd = FD(q, qd, tau), and M^-1; one factorisation serves all columns."""
    g, n = system.g, system.nv
    outputs = []
    for name, block, sign in (("dqdd_dq", by_q, 1), ("dqdd_dqd", by_u, 1), ("dqdd_dtau", _identity(n), 0)):
        right = [[row[r] ^ sign if row[r] > 1 else 0 for row in block] for r in range(n)]
        columns = solve_columns(g, factor, right)
        outputs.append((name, (n, n), [columns[r][i] for i in range(n) for r in range(n)]))
    return outputs


def _identity(n: int) -> list[list[Ref]]:
    return [[2 * (i == j) for j in range(n)] for i in range(n)]


_INVERSE, _FORWARD = ("q", "qd", "qdd"), ("q", "qd", "tau")
TASKS = (
    Task(
        "inverse_dynamics_derivatives", _INVERSE, _inverse, external=True, method="reverse sweeps",
        alternatives=(("composite bodies", inverse_by_composites),),
    ),
    Task(
        "forward_dynamics_derivatives", _FORWARD, _forward, external=True, method="reverse sweeps, implicit",
        alternatives=(("composite bodies, implicit", forward_by_composites),),
    ),
)  # fmt: skip
