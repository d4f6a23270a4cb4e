"""Find new ways to compute values: every sum, difference and product of two values that happens to be a third.

Residues make the search exact and blind to form: distribution, factoring, regrouping, identities of sine and cosine and
whatever else makes two expressions equal are all found by looking a value up.  Where millions of pairs are compared,
doubles at a random point say which may be equal (sorted arrays), and residues which are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kane.graph.arena import CONSTANT, STATE, Ref
from kane.graph.evaluate import operation_value
from kane.rewrite.alternatives import Alternatives

INNER = 30  # new inner values a target and form
WINDOW = 100  # values compared with each other in large programs
SAME = 3  # pairs of one value that are taken
NEAR = 1e-9  # relative difference of doubles that may be equal
Floats = np.ndarray[Any, np.dtype[np.float64]]
Indices = np.ndarray[Any, np.dtype[np.int64]]


class Pair(NamedTuple):
    """A product or a sum of two references."""

    product: bool
    x: Ref
    y: Ref


class Doubles:
    """The values of a graph's nodes at a random point, as doubles; grows with the graph."""

    def __init__(self, g: Alternatives) -> None:
        self.graph = g
        self._values: list[float] = []

    def _symbol(self, node: int) -> float:
        """Between 1/2 and 3/2, from the residue; unit quaternions are unit."""
        g, name = self.graph, self.graph.symbols[node].name
        group = next((group for group in g.quaternions if name in group), (name,))
        point = {other: 0.5 + g.residue[g._by_name[other] >> 1] / g.field.prime for other in group}
        return point[name] / (math.hypot(*point.values()) if len(group) > 1 else 1.0)

    def array(self) -> Floats:
        """Values by node; what is not finite or 0 has a value that meets nothing."""
        g, values = self.graph, self._values
        with np.errstate(all="ignore"):
            for n in range(len(values), len(g)):
                op = g.op[n]
                if op == "sym":
                    value = self._symbol(n)
                elif op == "num":
                    value = float(g.numbers[n])
                else:
                    a = [-values[r >> 1] if r & 1 else values[r >> 1] for r in g.args[n]]
                    value = a[0] + a[1] if op == "add" else a[0] * a[1] if op == "mul" else float(
                        operation_value(op, a, None, [])
                    )
                values.append(value)
        result = np.array(values)
        result[~np.isfinite(result) | (result == 0)] = math.nan
        return result


class Sorted:
    """Absolute values to be looked up."""

    def __init__(self, values: Floats) -> None:
        self.order = np.argsort(np.abs(values), kind="stable")
        self.values = np.abs(values)[self.order]

    def find(self, wanted: Floats, deep: int = 1) -> tuple[Indices, Indices]:
        """(which of the wanted ones, places of near values), at most `deep` places each."""
        sizes = np.abs(wanted)
        first = np.searchsorted(self.values, sizes * (1 - NEAR))
        hits, places = [], []
        for k in range(deep):
            at = np.minimum(first + k, len(self.values) - 1)
            hit = np.nonzero((np.abs(self.values[at] - sizes) <= 2 * NEAR * sizes) & (at == first + k))[0]
            hits.append(hit)
            places.append(self.order[at[hit]])
        return np.concatenate(hits), np.concatenate(places)


def one_step(g: Alternatives, targets: Sequence[int], pool: Sequence[int], doubles: Doubles) -> int:
    """Record every way target = x + y, x - y or x y with x in the pool and y any value of the graph; their number."""
    p, residue, table = g.field.prime, g.residue, g._by_residue
    before = sum(map(len, g.ways.values()))
    if not targets or not pool:
        return 0
    values = doubles.array()
    known = Sorted(values)
    t, x = values[list(targets)][:, None], values[list(pool)][None, :]
    width = len(pool)
    found: dict[tuple[int, int], list[int]] = {}
    for kind, wanted in ((0, t - x), (1, t + x), (2, t / x)):
        hits, _ = known.find(wanted.ravel())
        for hit in hits.tolist():
            found.setdefault((hit // width, hit % width), []).append(kind)
    for (i, j), kinds in sorted(found.items()):
        n, m = targets[i], pool[j]
        for kind in kinds if n != m else ():
            if kind == 2:
                y = table.get(residue[n] * pow(residue[m], -1, p) % p)
                if y is not None and y > 3:
                    g.mul(2 * m, y)
            else:
                y = table.get((residue[n] + (residue[m] if kind else -residue[m])) % p)
                if y is not None and y > 1:
                    g.add(2 * m + kind, y)
    return sum(map(len, g.ways.values())) - before


def two_step(g: Alternatives, targets: Sequence[int], pool: Sequence[int], doubles: Doubles, limit: int = 12) -> int:
    """Record ways target = z + x y, z x y, z (x + y), z + x + y whose inner value is new; their number.

    At most `limit` inner values a target and outer operation are made.
    """
    if not targets or not pool:
        return 0
    p, residue, table = g.field.prime, g.residue, g._by_residue
    pairs = PairTable(g, pool, doubles)
    before = len(g)
    values = doubles.array()
    t, z = values[list(targets)][:, None], values[list(pool)][None, :]
    width = len(pool)
    made: dict[tuple[int, bool], int] = {}
    for kind, wanted in ((2, t / z), (0, t - z), (1, t + z)):
        hits, places = pairs.without(*pairs.sorted.find(wanted.ravel(), SAME), np.repeat(targets, width))
        for hit, place in zip(hits.tolist(), places.tolist(), strict=True):
            n, m = targets[hit // width], pool[hit % width]
            key = (n, kind == 2)
            if kind == 2:
                inner = residue[n] * pow(residue[m], -1, p) % p
            else:
                inner = (residue[n] + (residue[m] if kind else -residue[m])) % p
            pair = pairs.pair(place, inner)
            if pair is None or n == m:
                continue
            if inner not in table:
                if made.get(key, 0) >= limit:
                    continue
                made[key] = made.get(key, 0) + 1
            value = g.mul(pair.x, pair.y) if pair.product else g.add(pair.x, pair.y)
            if kind == 2:
                g.mul(2 * m, value)
            else:
                g.add(2 * m + kind, value)
    return len(g) - before


class PairTable:
    """All sums, differences and products of two values of a pool."""

    def __init__(self, g: Alternatives, pool: Sequence[int], doubles: Doubles) -> None:
        self.graph, self.pool = g, list(pool)
        self._values = doubles.array()
        v = self._values[self.pool]
        self._i, self._j = np.triu_indices(len(v))
        a, b = v[self._i], v[self._j]
        less = a - b
        less[self._i == self._j] = math.nan
        self.sorted = Sorted(np.concatenate([a * b, a + b, less]))

    def without(self, hits: Indices, places: Indices, targets: Indices) -> tuple[Indices, Indices]:
        """The hits whose pair does not hold its target, in the order of targets."""
        at, pool, wanted = places % len(self._i), np.array(self.pool), targets[hits]
        kept = (pool[self._i[at]] != wanted) & (pool[self._j[at]] != wanted)
        order = np.argsort(hits[kept], kind="stable")
        return hits[kept][order], places[kept][order]

    def find(self, a: Ref, b: Ref) -> Pair | None:
        """A pair that gives the sum of two references."""
        g, v = self.graph, self._values
        total = (-v[a >> 1] if a & 1 else v[a >> 1]) + (-v[b >> 1] if b & 1 else v[b >> 1])
        _, places = self.sorted.find(np.array([total]), SAME)
        residue = (g.residue_of(a) + g.residue_of(b)) % g.field.prime
        found = [pair for place in places.tolist() if (pair := self.pair(place, residue)) is not None]
        return next((pair for pair in found if pair.product), found[0] if found else None)

    def pair(self, place: int, residue: int) -> Pair | None:
        """The pair at a place of the sorted values with its signs, None where it is not exactly what is wanted."""
        g, p = self.graph, self.graph.field.prime
        kind, at = divmod(place, len(self._i))
        x, y = self.pool[int(self._i[at])], self.pool[int(self._j[at])]
        rx, ry = g.residue[x], g.residue[y]
        total = (rx * ry, rx + ry, rx - ry)[kind] % p
        if total not in (residue, p - residue):
            return None
        odd = int(total != residue)
        return Pair(kind == 0, 2 * x + odd, 2 * y + (0 if kind == 0 else odd ^ (kind == 2)))


def pool_of(g: Alternatives, nodes: Sequence[int]) -> list[int]:
    """Values to combine: these nodes, and the constants and state symbols that they are made of."""
    pool = dict.fromkeys(nodes)
    for node in nodes:
        for way in g.ways.get(node, ()):
            for a in way.args:
                if g.level[a >> 1] <= CONSTANT or g.op[a >> 1] in ("sym", "sin", "cos"):
                    pool.setdefault(a >> 1)
    return [n for n in pool if n > 1 and (g.level[n] != STATE or g.residue[n])]


def saturate(g: Alternatives, nodes: Sequence[int], largest: int, doubles: Doubles | None = None) -> None:
    """Record new ways for these values (operands first).

    All pairs up to `largest` values, else pairs within windows.
    """
    doubles = doubles or Doubles(g)
    sums = [n for n in nodes if g.op[n] in ("add", "mul")]
    if len(sums) <= largest:
        one_step(g, sums, range(2, len(g)), doubles)
        two_step(g, sums, pool_of(g, nodes), doubles, INNER)
        return
    for start in range(0, len(sums), WINDOW // 2):
        window = sums[start : start + WINDOW]
        pool = pool_of(g, window)
        one_step(g, window, pool, doubles)
        two_step(g, window, pool, doubles, INNER // 2)
