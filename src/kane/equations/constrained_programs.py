"""Motion under constraints as straight-line programs, for native code and emission."""

from __future__ import annotations

from kane.equations.conditions import Embedded, find_conditions
from kane.equations.programs import program_of
from kane.equations.projection import Equations, check_equations, mass_and_bias
from kane.errors import InputError
from kane.graph.program import Program
from kane.kinematics.linear import affine, reduce_rows, solve_symmetric
from kane.kinematics.motion import substitute


def constrained_motion_program(e: Equations) -> Program:
    """qdot (nq), udot (n) and multipliers (m) at (q, u): udot = M^-1 (F - bias + Aᵀ lambda), A udot + gamma = 0.

    Raises InputError naming conditions that depend on the others in every configuration.
    """
    check_equations(e)
    g, s, n = e.graph, e.points.symbols, len(e.inertia)
    c = find_conditions(e)
    _, _, left = reduce_rows(g, c.jacobian, range(n))
    if left:
        bad = ", ".join(c.names[i] for i in left)
        raise InputError(f"Redundant conditions: {bad}.", name=c.names[left[0]], remedy="Leave them out.")
    matrix, bias = mass_and_bias(e)
    m = len(c.names)
    right = [[*(row[k] for row in c.jacobian), g.sub(e.active[k], bias[k])] for k in range(n)]
    x = solve_symmetric(g, matrix, right)  # M^-1 [Aᵀ, F - bias]
    schur = [[g.dot(row, (x[k][j] for k in range(n))) for j in range(m)] for row in c.jacobian]
    rest = [
        [g.neg(g.add(gamma, g.dot(row, (x[k][m] for k in range(n)))))]
        for gamma, row in zip(c.gamma, c.jacobian, strict=True)
    ]
    multipliers = [row[0] for row in solve_symmetric(g, schur, rest)] if m else []
    udot = [g.add(x[k][m], g.dot(x[k][:m], multipliers)) for k in range(n)]
    qdot = [s.rates[name] for name in e.points.coordinates.names]
    outputs = [("qdot", (len(qdot),), qdot), ("udot", (n,), udot), ("multipliers", (m,), multipliers)]
    return program_of(e, "constrained_motion", outputs)


def embedded_motion_program(x: Embedded) -> Program:
    e = x.equations
    g, s = e.graph, e.points.symbols
    rates = [s.udot[k] for k in x.independent]
    rest, slopes = affine(g, x.residual, rates)
    p = len(rates)
    matrix = [[g.neg(row[k]) if k in row else 0 for k in range(p)] for row in slopes]
    own = [row[0] for row in solve_symmetric(g, matrix, [[b] for b in rest])]
    udot = substitute(g, list(x.rates), dict(zip(rates, own, strict=True)))
    qdot = substitute(g, [s.rates[n] for n in e.points.coordinates.names], dict(zip(s.u, x.speeds, strict=True)))
    outputs = [("qdot", (len(qdot),), qdot), ("u", (len(s.u),), x.speeds), ("udot", (len(s.u),), udot)]
    return program_of(e, "embedded_motion", outputs)
