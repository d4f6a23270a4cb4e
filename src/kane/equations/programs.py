"""Kane's equations as programs: what evaluate, native and emit serve."""

from __future__ import annotations

from collections.abc import Sequence

from kane.equations.projection import Equations, bias, check_equations, mass_matrix
from kane.graph.arena import Ref
from kane.graph.program import Input, Program, build_program
from kane.kinematics.linear import solve_symmetric
from kane.mechanism import loads as ld


def program_inputs(e: Equations, rates: bool = False) -> tuple[Input, ...]:
    """Input arrays q, u, (udot,) f, s, t, p; empty ones are left out.

    f: the mechanism's inputs; s: specified motions and their rates; p: parameters that are symbols.
    """
    p, s = e.points, e.points.symbols
    inputs = tuple(load.name for load in p.mechanism.loads if isinstance(load, ld.Input))
    symbol = dict(zip(p.coordinates.names, s.names_q, strict=True))
    groups = tuple(tuple(symbol[n] for n in group) for group, _ in p.coordinates.quaternions)
    arrays = [Input("q", s.names_q, "state", groups), Input("u", s.names_u)]
    arrays += [Input("udot", s.names_udot)] if rates else []
    arrays += [Input("f", inputs)] if inputs else []
    given = tuple(f"{n}{rate}" for n in p.coordinates.specified for rate in ("", "_dot", "_ddot"))
    arrays += [Input("s", given)] if given else []
    arrays += [Input("t", ("t",))]
    arrays += [Input("p", p.free, "parameter")] if p.free else []
    return tuple(arrays)


def program_of(
    e: Equations, name: str, outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Ref]]], rates: bool = False
) -> Program:
    """A program of any expressions of the equations: outputs (name, shape, references)."""
    return build_program(e.graph, name, program_inputs(e, rates), outputs)


def residual_program(e: Equations) -> Program:
    """inverse dynamics: residual (n,) = F_r + F_r* at (q, u, udot)."""
    check_equations(e)
    n = len(e.inertia)
    return program_of(e, "kane_residual", [("residual", (n,), e.residual)], rates=True)


def matrices_program(e: Equations) -> Program:
    """mass_matrix (n, n), bias (n,), active (n,): M udot + bias = active."""
    check_equations(e)
    n = len(e.inertia)
    flat = [x for row in mass_matrix(e) for x in row]
    return program_of(
        e, "kane_matrices", [("mass_matrix", (n, n), flat), ("bias", (n,), bias(e)), ("active", (n,), e.active)]
    )


def motion_program(e: Equations) -> Program:
    """qdot (nq,) and udot (n,) at (q, u), by L D Lᵀ: motion without constraints."""
    check_equations(e)
    g, s = e.graph, e.points.symbols
    right = [[g.sub(a, b)] for a, b in zip(e.active, bias(e), strict=True)]
    udot = [row[0] for row in solve_symmetric(g, mass_matrix(e), right)]
    qdot = [s.rates[n] for n in e.points.coordinates.names]
    return program_of(e, "kane_motion", [("qdot", (len(qdot),), qdot), ("udot", (len(udot),), udot)])
