"""Linear systems whose entries are expressions: elimination with exact zero tests."""

from __future__ import annotations

from collections.abc import Sequence

from kane.errors import InputError
from kane.graph.arena import Graph, Ref

Rows = list[list[Ref]]


class SingularError(InputError):
    """A square system without a unique solution; `rows` are the rows that depend on the others."""

    rows: tuple[int, ...] = ()


def reduce_rows(
    g: Graph, a: Sequence[Sequence[Ref]], columns: Sequence[int]
) -> tuple[Rows, list[tuple[int, int]], list[int]]:
    """Row-reduce `a` on the candidate columns: (rows, pivots (row, column), rows left without a pivot).

    After it each pivot column is a unit vector.  Pivots are numbers where there are some, then constants, then the
    earliest expression, so
    that as few divisions by the state as possible are made.
    """
    rows = [list(row) for row in a]
    pivots: list[tuple[int, int]] = []
    left = list(range(len(rows)))
    free = list(columns)
    while left:
        found = min(
            ((g.level_of(rows[i][j]), i, n, j) for i in left for n, j in enumerate(free) if rows[i][j] > 1),
            default=None,
        )
        if found is None:
            break
        _, i, _, j = found
        left.remove(i)
        free.remove(j)
        inverse = g.div(g.one, rows[i][j])
        rows[i] = [g.mul(inverse, x) for x in rows[i]]
        rows[i][j] = g.one
        for k in range(len(rows)):
            factor = rows[k][j]
            if k != i and factor > 1:
                rows[k] = [g.sub(x, g.mul(factor, y)) for x, y in zip(rows[k], rows[i], strict=True)]
                rows[k][j] = g.zero
        pivots.append((i, j))
    return rows, pivots, left


def solve(g: Graph, a: Sequence[Sequence[Ref]], b: Sequence[Sequence[Ref]]) -> Rows:
    """X with A X = B for square A (n, n) and B (n, k).  Raises SingularError with the dependent rows."""
    n = len(a)
    rows, pivots, left = reduce_rows(g, [[*x, *y] for x, y in zip(a, b, strict=True)], range(n))
    if left:
        error = SingularError("The system has no unique solution.")
        error.rows = tuple(left)
        raise error
    result: Rows = [[] for _ in range(n)]
    for i, j in pivots:
        result[j] = rows[i][n:]
    return result


def solve_symmetric(g: Graph, a: Sequence[Sequence[Ref]], b: Sequence[Sequence[Ref]]) -> Rows:
    """X with A X = B for symmetric positive definite A, by A = L D Lᵀ from the last row up (sparse for trees).

    Featherstone, Rigid Body Dynamics Algorithms, section 6.5: no fill-in when rows follow their parents.
    """
    n, m = len(a), len(b[0]) if b else 0
    low = [list(row) for row in a]
    inverse: list[Ref] = [0] * n
    for k in reversed(range(n)):
        inverse[k] = g.div(g.one, low[k][k])
        for i in reversed(range(k)):
            if low[k][i] < 2:
                continue
            factor = g.mul(low[k][i], inverse[k])
            for j in range(i + 1):
                if low[k][j] > 1:
                    low[i][j] = g.sub(low[i][j], g.mul(factor, low[k][j]))
            low[k][i] = factor
    x = [list(row) for row in b]
    for k in reversed(range(n)):  # Lᵀ y = b
        for i in range(k):
            if low[k][i] > 1:
                x[i] = [g.sub(x[i][c], g.mul(low[k][i], x[k][c])) for c in range(m)]
    for k in range(n):  # D z = y, L x = z
        x[k] = [g.mul(inverse[k], v) for v in x[k]]
        for i in range(k):
            if low[k][i] > 1:
                x[k] = [g.sub(x[k][c], g.mul(low[k][i], x[i][c])) for c in range(m)]
    return x
