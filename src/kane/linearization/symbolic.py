"""Linearised equations as formulas: M du' + G du + K dq = H df about a symbolic operating point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kane.equations.programs import program_inputs
from kane.equations.projection import Equations
from kane.equations.steps import expression
from kane.graph.arena import Ref
from kane.graph.derivative import forward
from kane.kinematics.motion import substitute

Matrix = list[list[Ref]]


@dataclass(frozen=True, slots=True)
class LinearEquations:
    """M (n, n), G (n, n), K (n, nq), H (n, nf).

    residual (n): what is left of Kane's equations at the point, 0 in equilibrium.
    """

    M: Matrix
    G: Matrix
    K: Matrix
    H: Matrix
    residual: list[Ref]


def linear_equations(e: Equations, at: Mapping[str, str | int]) -> LinearEquations:
    """Kane's equations linearised about a point given by formulas for coordinates, speeds and inputs (not given: 0).

    Derivatives are taken of the nonlinear equations, then the point is put in: no premature linearisation (Buffinton
    section 6.5.1).  Constraints are not included.
    """
    g, s, c = e.graph, e.points.symbols, e.points.coordinates
    inputs = next((item.labels for item in program_inputs(e) if item.name == "f"), ())
    symbols = {**dict(zip(c.names, s.q, strict=True)), **dict(zip(c.speeds, s.u, strict=True))}
    symbols |= {n: g.symbol(n) for n in inputs}
    point = {symbols[n]: expression(e, str(at.get(n, 0))) for n in symbols} | dict.fromkeys(s.udot, g.zero)
    point = {ref: point[ref] for ref in point}

    def matrix(wrt: list[Ref], sign: int) -> Matrix:
        columns = [substitute(g, forward(g, list(e.residual), {x: g.one}), point) for x in wrt]
        return [[(column[i] ^ sign) if column[i] > 1 else 0 for column in columns] for i in range(len(e.residual))]

    return LinearEquations(
        matrix(list(s.udot), 1),
        matrix(list(s.u), 1),
        matrix(list(s.q), 1),
        matrix([symbols[n] for n in inputs], 0),
        substitute(g, list(e.residual), point),
    )
