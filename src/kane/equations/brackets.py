"""Lie brackets of generalized speeds: how far they are from rates of coordinates.

A speed u_r belongs to the motion X_r = d qdot / d u_r over the coordinates.  [u, e_j] are the components of the
bracket of X = sum u_i X_i with X_j; for the angular velocity in body axes it is w x e_j, for rates it is zero.
Hamel's terms are made of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from kane.equations.system import System
from kane.graph.arena import Ref
from kane.graph.derivative import forward
from kane.kinematics.linear import solve_regular

Columns = dict[int, dict[int, Ref]]


def brackets(system: System) -> Columns:
    """[u, e_j]^l: column j -> row l -> value; columns that are zero are left out."""
    k = system.k
    if k.mechanism.speeds:
        return _of_defined_speeds(system)
    return _of_body_axes(system, k.coordinates.speeds, k.symbols.u)


def _of_body_axes(system: System, names: Sequence[str], v: Sequence[Ref]) -> Columns:
    """Of the joints' own speeds v: angular velocity and velocity in body axes."""
    c = system.k.coordinates
    at = names.index
    result: Columns = {}
    for _, speeds in c.quaternions:
        w = [at(n) for n in speeds]
        _cross_columns([v[i] for i in w], w, w, result)
    for _, speeds, k in c.positions:
        linear, w = [at(n) for n in speeds], [at(n) for n in c.quaternions[k][1]]
        _cross_columns([v[i] for i in linear], w, linear, result)
        _cross_columns([v[i] for i in w], linear, linear, result)
    return result


def _cross_columns(a: Sequence[Ref], columns: Sequence[int], rows: Sequence[int], into: Columns) -> None:
    """Add the matrix [a x] at these rows and columns."""
    for j in range(3):
        for i in range(3):
            if i != j:
                sign = 1 if (j - i) % 3 == 1 else 0  # [a x]_12 = -a_3
                column = into.setdefault(columns[j], {})
                assert rows[i] not in column
                column[rows[i]] = a[3 - i - j] ^ sign


def _of_defined_speeds(system: System) -> Columns:
    """v = S u, v the joints' own speeds: S [u, e_j] = X(S e_j) - X_j(S u) + [S u, S e_j]."""
    g, k = system.g, system.k
    s, c, n = k.symbols, k.coordinates, system.nv
    v = [s.natural[name] for name in c.natural]
    S = [forward(g, v, {u: g.one}) for u in s.u]  # S[j][m] = d v_m / d u_j
    own = _of_body_axes(system, c.natural, v)
    along_u = {s.by_name[name]: rate for name, rate in s.rates.items()}
    right = []
    for j, u in enumerate(s.u):
        rates = forward(g, list(s.rates.values()), {u: g.one})
        along_j = {s.by_name[name]: rate for name, rate in zip(s.rates, rates, strict=True)}
        changes = zip(forward(g, S[j], along_u), forward(g, v, along_j), strict=True)
        column = [g.sub(a, b) for a, b in changes]
        for m, entries in own.items():
            for l, value in entries.items():
                column[l] = g.add(column[l], g.mul(value, S[j][m]))
        right.append(column)
    solved = solve_regular(g, _transposed(S), _transposed(right))
    result = {j: {l: solved[l][j] for l in range(n) if solved[l][j] > 1} for j in range(n)}
    return {j: column for j, column in result.items() if column}


def _transposed(rows: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
    return [list(row) for row in zip(*rows, strict=True)]
