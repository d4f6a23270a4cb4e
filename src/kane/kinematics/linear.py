"""Linear systems whose entries are expressions: elimination with exact zero tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kane.errors import InputError
from kane.graph.arena import STATE, Graph, Ref
from kane.graph.derivative import forward, partials
from kane.graph.program import needed

Rows = list[list[Ref]]
Row = dict[int, Ref]  # coefficients by column


class SingularError(InputError):
    """A square system without a unique solution; `rows` are the rows that depend on the others."""

    rows: tuple[int, ...] = ()


class NotLinearError(InputError):
    """An expression that is not linear in the symbols asked for; `index`: its place."""

    index: int = 0


def reduce_rows(
    g: Graph, a: Sequence[Sequence[Ref]], columns: Sequence[int], highest: int = STATE
) -> tuple[Rows, list[tuple[int, int]], list[int]]:
    """Row-reduce `a` on the candidate columns: (rows, pivots (row, column), rows left without a pivot).

    After it each pivot column is a unit vector.  Pivots are numbers where there are some, then constants, then the
    earliest expression, so that as few divisions by the state as possible are made; none is above the level `highest`.
    """
    width = len(a[0]) if a else 0
    sparse = [{j: x for j, x in enumerate(row) if x > 1} for row in a]
    rank = {j: n for n, j in enumerate(columns)}
    pivots: list[tuple[int, int]] = []
    left = list(range(len(a)))
    while left:
        found = min(
            ((g.level_of(x), len(sparse[i]), i, rank[j], j) for i in left for j, x in sparse[i].items() if j in rank),
            default=None,
        )
        if found is None or found[0] > highest:
            break
        _, _, i, _, j = found
        left.remove(i)
        del rank[j]
        inverse = g.div(g.one, sparse[i][j])
        pivot = sparse[i] = {k: g.mul(inverse, x) for k, x in sparse[i].items()}
        pivot[j] = g.one
        for k, row in enumerate(sparse):
            factor = row.get(j, 0)
            if k == i or factor < 2:
                continue
            for c, x in pivot.items():
                value = g.sub(row.get(c, 0), g.mul(factor, x))
                if value > 1 and c != j:
                    row[c] = value
                else:
                    row.pop(c, None)
        pivots.append((i, j))
    rows = [[row.get(j, 0) for j in range(width)] for row in sparse]
    return rows, pivots, left


def affine(
    g: Graph, refs: Sequence[Ref], symbols: Sequence[Ref], triangle: bool = False
) -> tuple[list[Ref], list[dict[int, Ref]]]:
    """Expressions linear in symbols: constant part and coefficient by index of the symbol, in one sweep.

    triangle: only the coefficients on and below the diagonal, all that a symmetric matrix needs.  Raises NotLinearError
    with the index of the first expression that is not linear.
    """
    add, mul, ops, operands, level, one = g.add, g.mul, g.op, g.args, g.level, g.one
    # of a node: coefficients, their common factor (what is constant is kept apart, as masses add up), constant part
    known: dict[int, tuple[Row, Ref, Ref]] = {s >> 1: ({k: one ^ (s & 1)}, one, 0) for k, s in enumerate(symbols)}
    nonlinear: set[int] = set()
    order = _dependents(g, refs, symbols)
    last = _last_rows(g, order, refs) if triangle else {}
    for node in order:
        op, args, row = ops[node], operands[node], last.get(node, len(symbols))
        a, b = args if len(args) == 2 else (args[0], 0)
        left, right = known.get(a >> 1), known.get(b >> 1)
        if left is None and op != "div":
            left, right, a, b = right, left, b, a
        if left is None or (right is not None and op != "add") or op not in ("add", "mul", "div"):
            nonlinear.add(node)  # the value may still be linear, where what is not cancels
            slopes, constant = _by_derivative(g, node, symbols)
            known[node] = (slopes, one, constant)
            continue
        p, s, x = left
        if a & 1:
            s, x = s ^ 1, x ^ 1
        if triangle and p and max(p) > row:
            p = {k: c for k, c in p.items() if k <= row}
        if op != "add":
            times = mul if op == "mul" else g.div
            if level[b >> 1] < STATE:
                known[node] = (p, times(s, b), times(x, b))
            else:
                known[node] = ({k: times(c, b) for k, c in p.items()}, s, times(x, b))
        elif right is None:
            known[node] = (p, s, add(x, b))
        else:
            q, t, y = right
            if b & 1:
                t, y = t ^ 1, y ^ 1
            if triangle and q and max(q) > row:
                q = {k: c for k, c in q.items() if k <= row}
            known[node] = (*_total(g, p, s, q, t), add(x, y))
    found = [known.get(r >> 1, ({}, one, r & ~1)) for r in refs]
    constants = [c ^ (r & 1) for r, (_, _, c) in zip(refs, found, strict=True)]
    rows = [dict(_times(g, p, s ^ (r & 1))) for r, (p, s, _) in zip(refs, found, strict=True)]
    if nonlinear:
        _check_linear(g, rows, symbols)
    return [c if c > 1 else 0 for c in constants], rows


def _times(g: Graph, p: Row, s: Ref) -> Row:
    """s p."""
    return p if s == g.one else {k: g.mul(c, s) for k, c in p.items()}


def _total(g: Graph, p: Row, s: Ref, q: Row, t: Ref) -> tuple[Row, Ref]:
    """s p + t q as coefficients and their common factor."""
    if not p or not q:
        return (p, s) if p else (q, t)
    if s | 1 != t | 1:
        if p == q:
            both = g.add(s, t)
            return (p, both) if both > 1 else ({}, g.one)
        p, q, s, t = _times(g, p, s), _times(g, q, t), g.one, g.one
    flip = (s ^ t) & 1
    total = dict(p)
    for k, c in q.items():
        if k not in total:
            total[k] = c ^ flip
        elif (both := g.add(total[k], c ^ flip)) > 1:
            total[k] = both
        else:
            del total[k]
    return total, s


def _dependents(g: Graph, refs: Sequence[Ref], symbols: Sequence[Ref]) -> list[int]:
    """The nodes that the expressions need and that depend on the symbols, operands before users."""
    if not symbols:
        return []
    args, level = g.args, g.level
    depends = {s >> 1 for s in symbols}
    first, lowest = min(depends), min(level[s >> 1] for s in symbols)
    seen = {ref >> 1 for ref in refs}
    stack = list(seen)
    for node in stack:
        for a in args[node]:
            a >>= 1
            if a > first and a not in seen and level[a] >= lowest:
                seen.add(a)
                stack.append(a)
    order = []
    for node in sorted(seen - depends):  # a node is made after its operands
        for a in args[node]:
            if a >> 1 in depends:
                depends.add(node)
                order.append(node)
                break
    return order


def _last_rows(g: Graph, order: Sequence[int], refs: Sequence[Ref]) -> dict[int, int]:
    """The last of the expressions that each node is part of."""
    last = dict.fromkeys(order, 0)
    last.update((ref >> 1, row) for row, ref in enumerate(refs))
    for node in reversed(order):
        row = last[node]
        for a in g.args[node]:
            if last.get(a >> 1, row) < row:
                last[a >> 1] = row
    return last


def sparse_jacobian(g: Graph, refs: Sequence[Ref], symbols: Sequence[Ref]) -> list[dict[int, Ref]]:
    slopes: dict[int, dict[int, Ref]] = {s >> 1: {k: g.one ^ (s & 1)} for k, s in enumerate(symbols)}
    for node in needed(g, refs):
        args = g.args[node]
        if node in slopes or not any(a >> 1 in slopes for a in args):
            continue
        total: dict[int, Ref] = {}
        for slope, a in zip(partials(g, node), args, strict=True):
            for k, c in slopes.get(a >> 1, {}).items():
                term = g.mul(slope, c ^ (a & 1))
                total[k] = g.add(total[k], term) if k in total else term
        kept = {k: c for k, c in total.items() if c > 1}
        if kept:
            slopes[node] = kept
    return [{k: c ^ (r & 1) for k, c in slopes.get(r >> 1, {}).items()} for r in refs]


def _by_derivative(g: Graph, node: int, symbols: Sequence[Ref]) -> tuple[dict[int, Ref], Ref]:
    slopes = {k: c for k, s in enumerate(symbols) if (c := forward(g, [2 * node], {s: g.one})[0]) > 1}
    terms = (g.mul(c, symbols[k]) for k, c in slopes.items())
    return slopes, g.sub(2 * node, g.sum(terms))


def _check_linear(g: Graph, rows: Sequence[dict[int, Ref]], symbols: Sequence[Ref]) -> None:
    for i, row in enumerate(rows):
        for c in row.values():
            if any(forward(g, [c], {s: g.one})[0] > 1 for s in symbols):
                error = NotLinearError("An expression is not linear.")
                error.index = i
                raise error


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


MOST = 6  # rows of a block that is solved by cofactors


def solve_regular(g: Graph, a: Sequence[Sequence[Ref]], b: Sequence[Sequence[Ref]]) -> Rows:
    """As solve, with no division but by numbers and by the determinants of the blocks that numbers leave.

    Where A is regular these are not zero, while a pivot may be: the rates of Euler angles by body-fixed components of
    the angular velocity have the pivot sin(q3), but the determinant cos(q2).  Blocks of more than MOST rows are solved
    by pivots all the same.
    """
    n = len(a)
    rows = [[*x, *y] for x, y in zip(a, b, strict=True)]
    free_rows, free_columns = dict.fromkeys(range(n)), dict.fromkeys(range(n))
    taken: list[tuple[int, int]] = []
    while (at := _number_in(g, rows, free_rows, free_columns)) is not None:
        i, j = at
        del free_rows[i], free_columns[j]
        taken.append(at)
        inverse = g.div(g.one, rows[i][j])
        rows[i] = [g.mul(inverse, x) for x in rows[i]]
        for k in range(n):
            if k != i and rows[k][j] > 1:
                factor = rows[k][j]
                rows[k] = [g.sub(x, g.mul(factor, y)) if y > 1 else x for x, y in zip(rows[k], rows[i], strict=True)]
    blocks = _blocks(rows, list(free_rows), list(free_columns))
    minors = [_Minors(g, rows) for _ in blocks]
    if any(len(r) != len(c) or len(r) > MOST for r, c in blocks) or any(
        not m(tuple(r), tuple(c)) > 1 for m, (r, c) in zip(minors, blocks, strict=True)
    ):
        return solve(g, a, b)
    result: Rows = [[] for _ in range(n)]
    for minor, (r, c) in zip(minors, blocks, strict=True):
        whole = minor(tuple(r), tuple(c))
        for y, j in enumerate(c):
            others = tuple(k for k in c if k != j)
            cofactors = [minor(tuple(k for k in r if k != i), others) ^ ((x + y) & 1) for x, i in enumerate(r)]
            cofactors = [x if x > 1 else 0 for x in cofactors]
            result[j] = [g.div(g.dot(cofactors, (rows[i][k] for i in r)), whole) for k in range(n, len(rows[0]))]
    for i, j in taken:
        right = rows[i][n:]
        for k in free_columns:
            if rows[i][k] > 1:
                right = [g.sub(x, g.mul(rows[i][k], y)) for x, y in zip(right, result[k], strict=True)]
        result[j] = right
    return result


def _number_in(
    g: Graph, rows: Rows, free_rows: Mapping[int, None], columns: Mapping[int, None]
) -> tuple[int, int] | None:
    """The place of an element that is a number other than zero, in rows with few others first."""
    found = [(i, j) for i in free_rows for j in columns if rows[i][j] > 1 and g.value_of(rows[i][j]) is not None]
    return min(found, key=lambda at: (sum(rows[at[0]][k] > 1 for k in columns), at), default=None)


def _blocks(rows: Rows, left: list[int], columns: list[int]) -> list[tuple[list[int], list[int]]]:
    """Rows and columns that nothing else is coupled with."""
    found = []
    while left:
        own, shared = [left[0]], set()
        for i in own:
            shared |= {k for k in columns if rows[i][k] > 1}
            own += [k for k in left if k not in own and any(rows[k][c] > 1 for c in shared)]
        left = [i for i in left if i not in own]
        found.append((sorted(own), sorted(shared)))
    return found


class _Minors:
    """Determinants of square parts of rows, by expansion along the first row, each once."""

    def __init__(self, g: Graph, rows: Rows) -> None:
        self.g, self.rows = g, rows
        self.known: dict[tuple[tuple[int, ...], tuple[int, ...]], Ref] = {((), ()): g.one}

    def __call__(self, r: tuple[int, ...], c: tuple[int, ...]) -> Ref:
        if len(r) != len(c):
            return 0
        if (r, c) not in self.known:
            g, total = self.g, self.g.zero
            for k, j in enumerate(c):
                if self.rows[r[0]][j] > 1:
                    part = g.mul(self.rows[r[0]][j], self(r[1:], c[:k] + c[k + 1 :]))
                    total = g.sub(total, part) if k & 1 else g.add(total, part)
            self.known[r, c] = total
        return self.known[r, c]


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
