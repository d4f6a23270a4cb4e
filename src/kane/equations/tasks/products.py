"""Tasks: derivatives along a direction, by parameters, and second derivatives.

A direction in the coordinates is a vector of speeds (the tangent): dq moves q by what the kinematic equations make
of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from kane.equations.analytic import Rows, analytic_derivatives, serves
from kane.equations.composite import mass_matrix
from kane.equations.forward import elimination_order, factorise, solve, solve_columns
from kane.equations.system import System, derive_system
from kane.equations.tasks.derivatives import inverse_derivatives
from kane.equations.tasks.dynamics import accelerations, newton_euler
from kane.equations.tasks.task import Outputs, Task
from kane.errors import UnsupportedError
from kane.graph.arena import Ref
from kane.graph.derivative import forward, jacobian
from kane.graph.transplant import transplant


def moved_coordinates(system: System, along: Sequence[Ref]) -> dict[Ref, Ref]:
    """What the speeds `along` do to each coordinate: the kinematic equations, linear in the speeds, at them."""
    g, s = system.g, system.k.symbols
    rates = [s.rates[n] for n in system.k.coordinates.names]
    moved = forward(g, rates, dict(zip(s.u, along, strict=True)))
    return {q: rate for q, rate in zip(s.q, moved, strict=True) if rate > 1}


def _inverse_along(system: System, frame: str | None) -> Outputs:
    """One forward sweep over the recursion."""
    s = system.k.symbols
    tau = newton_euler(system, s.u, s.udot, external=True)
    direction = moved_coordinates(system, system.vector("dq"))
    direction |= dict(zip((*s.u, *s.udot), (*system.vector("dqd"), *system.vector("dqdd")), strict=True))
    return [("dtau", (system.nv,), forward(system.g, tau, direction))]


def _forward_along(system: System, frame: str | None) -> Outputs:
    """One forward sweep over the factorisation."""
    tau = system.vector("tau")
    udot = accelerations(system, tau)
    direction = moved_coordinates(system, system.vector("dq"))
    direction |= dict(zip((*system.k.symbols.u, *tau), (*system.vector("dqd"), *system.vector("dtau")), strict=True))
    return [("dqdd", (system.nv,), forward(system.g, udot, direction))]


def _forward_along_implicit(system: System, frame: str | None) -> Outputs:
    """M dqdd = dtau - (change of the inverse dynamics at qdd held still): the factor of qdd serves again."""
    g, s = system.g, system.k.symbols
    own = _twin(system)
    direction = moved_coordinates(own, own.vector("dq"))
    direction |= dict(zip(own.k.symbols.u, own.vector("dqd"), strict=True))
    inverse = newton_euler(own, own.k.symbols.u, own.k.symbols.udot, external=True)
    change = forward(own.g, inverse, direction)
    factor = factorise(g, mass_matrix(system.k, system.bodies, system.rotors), elimination_order(system.k),
                       system.k.coordinates.speeds)  # fmt: skip
    bias = newton_euler(system, s.u, external=True)
    udot = solve(g, factor, [g.sub(t, b) for t, b in zip(system.vector("tau"), bias, strict=True)])
    moved = transplant(own.g, change, g, dict(zip(s.names_udot, udot, strict=True)))
    right = [g.sub(t, m) for t, m in zip(system.vector("dtau"), moved, strict=True)]
    return [("dqdd", (system.nv,), solve(g, factor, right))]


def _twin(system: System) -> System:
    """The same system in a graph of its own."""
    return derive_system(system.k.mechanism, tuple(system.parameters) or "numeric", system.external)


def _by_parameters(system: System, tau: Sequence[Ref]) -> Rows:
    """d tau / d p by reverse sweeps."""
    if not system.parameters and system.nv:
        raise UnsupportedError(
            "Derivatives by parameters want parameters that are run-time inputs; all have been baked in.",
            name="parameters",
            remedy='Derive with parameters="symbolic" or with a list of names.',
        )
    g = system.g
    return jacobian(g, tau, [g.symbol(name, "parameter") for name in system.parameters])


def _inverse_by_parameters(system: System, frame: str | None) -> Outputs:
    s = system.k.symbols
    rows = _by_parameters(system, newton_euler(system, s.u, s.udot, external=True))
    return [("dtau_dp", (system.nv, len(system.parameters)), [e for row in rows for e in row])]


def _forward_by_parameters(system: System, frame: str | None) -> Outputs:
    """dqdd/dp = -M^-1 dtau/dp at the accelerations of the state."""
    g, s, own = system.g, system.k.symbols, _twin(system)
    rows = _by_parameters(own, newton_euler(own, own.k.symbols.u, own.k.symbols.udot, external=True))
    factor = factorise(g, mass_matrix(system.k, system.bodies, system.rotors), elimination_order(system.k),
                       system.k.coordinates.speeds)  # fmt: skip
    bias = newton_euler(system, s.u, external=True)
    udot = solve(g, factor, [g.sub(t, b) for t, b in zip(system.vector("tau"), bias, strict=True)])
    known = dict(zip(s.names_udot, udot, strict=True))
    n, m = system.nv, len(system.parameters)
    flat = transplant(own.g, [e for row in rows for e in row], g, known)
    columns = solve_columns(g, factor, [[g.neg(flat[i * m + c]) for i in range(n)] for c in range(m)])
    return [("dqdd_dp", (n, m), [columns[c][i] for i in range(n) for c in range(m)])]


def _second(system: System, frame: str | None) -> Outputs:
    """Forward sweeps, one a speed, over the first derivatives.  [i, r, s]: row i, first by r, then by s.

    Where speeds are rates, d2tau_dqdq and d2tau_dqddqd are symmetric in r and s, and shared values make it so.
    """
    g, s, n = system.g, system.k.symbols, system.nv
    if serves(system):
        by_q, by_u, M = analytic_derivatives(system)
    else:
        by_q, by_u = inverse_derivatives(system)
        M = mass_matrix(system.k, system.bodies, system.rotors)
    blocks: dict[str, list[list[Ref]]] = {}
    for r in range(n):
        along = moved_coordinates(system, [g.one if j == r else g.zero for j in range(n)])
        for name, rows, direction in (
            ("d2tau_dqdq", by_q, along),
            ("d2tau_dqddq", by_u, along),
            ("d2tau_dqddqd", by_u, {s.u[r]: g.one}),
            ("d2tau_dqdddq", M, along),
        ):
            blocks.setdefault(name, []).append(forward(g, [e for row in rows for e in row], direction))
    made = blocks or {name: [] for name in SECOND}
    return [(name, (n, n, n), [block[r][k] for k in range(n * n) for r in range(n)]) for name, block in made.items()]


SECOND = ("d2tau_dqdq", "d2tau_dqddq", "d2tau_dqddqd", "d2tau_dqdddq")
_INVERSE, _FORWARD = ("q", "qd", "qdd"), ("q", "qd", "tau")
TASKS = (
    Task("inverse_dynamics_jvp", (*_INVERSE, "dq", "dqd", "dqdd"), _inverse_along, external=True,
         method="forward sweep"),
    Task(
        "forward_dynamics_jvp", (*_FORWARD, "dq", "dqd", "dtau"), _forward_along, external=True,
        method="forward sweep", alternatives=(("forward sweep, implicit", _forward_along_implicit),),
    ),
    Task("inverse_dynamics_parameter_derivatives", _INVERSE, _inverse_by_parameters, external=True,
         method="reverse sweeps", by_parameters=True),
    Task("forward_dynamics_parameter_derivatives", _FORWARD, _forward_by_parameters, external=True,
         method="reverse sweeps, implicit", by_parameters=True),
    Task("inverse_dynamics_second_derivatives", _INVERSE, _second, method="forward sweeps over first derivatives"),
)  # fmt: skip
