"""Tasks: first derivatives of inverse and forward dynamics, in the tangent of the coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from kane.equations.composite import mass_matrix
from kane.equations.forward import elimination_order, factorise, solve
from kane.equations.system import System
from kane.equations.tasks.dynamics import accelerations, newton_euler
from kane.equations.tasks.task import Outputs, Task
from kane.graph.arena import Ref
from kane.graph.derivative import jacobian
from kane.kinematics.motion import substitute


def tangent(system: System, rows: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
    """d/dq in the tangent: column r is the derivative along qdot for a unit speed u_r (identity where u = qdot)."""
    g, s, names = system.g, system.k.symbols, system.k.coordinates.names
    rates = [s.rates[n] for n in names]
    if tuple(rates) == s.u:
        return [list(row) for row in rows]
    W = jacobian(g, rates, s.u)
    return [[g.sum(g.mul(row[i], W[i][r]) for i in range(len(names))) for r in range(system.nv)] for row in rows]


def inverse_derivatives(system: System, udot: Sequence[Ref] | None = None) -> tuple[list[list[Ref]], list[list[Ref]]]:
    """(dtau/dq in the tangent, dtau/du) of inverse dynamics at udot (its symbols by default)."""
    g, s = system.g, system.k.symbols
    tau = newton_euler(system, s.u, s.udot, external=True)
    rows = jacobian(g, tau, [*s.q, *s.u])
    by_q = tangent(system, [row[: len(s.q)] for row in rows])
    by_u = [row[len(s.q) :] for row in rows]
    if udot is not None:
        flat = substitute(g, [e for row in [*by_q, *by_u] for e in row], dict(zip(s.udot, udot, strict=True)))
        n = system.nv
        split = [flat[i * n : (i + 1) * n] for i in range(2 * n)]
        by_q, by_u = split[:n], split[n:]
    return by_q, by_u


def _inverse(system: System, frame: str | None) -> Outputs:
    n = system.nv
    by_q, by_u = inverse_derivatives(system)
    M = mass_matrix(system.k, system.bodies, system.rotors)
    flat = [[e for row in block for e in row] for block in (by_q, by_u, M)]
    return [(name, (n, n), refs) for name, refs in zip(("dtau_dq", "dtau_dqd", "dtau_dqdd"), flat, strict=True)]


def _forward(system: System, frame: str | None) -> Outputs:
    """d qdd = -M^-1 dID at qdd = FD(q, qd, tau), and M^-1."""
    g, n = system.g, system.nv
    udot = accelerations(system, system.vector("tau"))
    by_q, by_u = inverse_derivatives(system, udot)
    factor = factorise(g, mass_matrix(system.k, system.bodies, system.rotors), elimination_order(system.k))
    outputs = []
    for name, block, sign in (("dqdd_dq", by_q, 1), ("dqdd_dqd", by_u, 1), ("dqdd_dtau", _identity(n), 0)):
        columns = [solve(g, factor, [row[r] ^ sign if row[r] > 1 else 0 for row in block]) for r in range(n)]
        outputs.append((name, (n, n), [columns[r][i] for i in range(n) for r in range(n)]))
    return outputs


def _identity(n: int) -> list[list[Ref]]:
    return [[2 * (i == j) for j in range(n)] for i in range(n)]


TASKS = (
    Task("inverse_dynamics_derivatives", ("q", "qd", "qdd"), _inverse, external=True, method="reverse sweeps"),
    Task("forward_dynamics_derivatives", ("q", "qd", "tau"), _forward, external=True, method="implicit"),
)
