"""Find new ways to compute values: every sum, difference and product of two values that happens to be a third.

Residues make the search exact and blind to form: distribution, factoring, regrouping, identities of sine and cosine and
whatever else makes two expressions equal are all found by looking a residue up.
"""

from __future__ import annotations

from collections.abc import Sequence

from kane.graph.arena import CONSTANT, STATE, Ref
from kane.rewrite.alternatives import Alternatives

INNER = 30  # new inner values a target and form
WINDOW = 100  # values compared with each other in large programs


def one_step(g: Alternatives, targets: Sequence[int], pool: Sequence[int]) -> int:
    """Record every way target = x + y, x - y or x y with x in the pool and y any value of the graph; their number."""
    p, residue, table = g.field.prime, g.residue, g._by_residue
    inverse = {x: pow(residue[x], -1, p) for x in pool}
    before = sum(map(len, g.ways.values()))
    for t in targets:
        r = residue[t]
        for x in pool:
            if x == t:
                continue
            for sign, left in ((0, r - residue[x]), (1, r + residue[x])):
                y = table.get(left % p)
                if y is not None and y > 1:
                    g.add(2 * x + sign, y)
            y = table.get(r * inverse[x] % p)
            if y is not None and y > 3:
                g.mul(2 * x, y)
    return sum(map(len, g.ways.values())) - before


def two_step(g: Alternatives, targets: Sequence[int], pool: Sequence[int], limit: int = 12) -> int:
    """Record ways target = z + x y, z x y, z (x + y), z + x + y whose inner value is new; their number.

    At most `limit` inner values a target and outer operation are made.
    """
    p, residue, table = g.field.prime, g.residue, g._by_residue
    pairs = pair_table(g, pool)
    inverse = {z: pow(residue[z], -1, p) for z in pool}
    before = len(g)
    for t in targets:
        r = residue[t]
        factors = terms = 0
        for z in pool:
            rz = residue[z]
            pair = pairs.get(r * inverse[z] % p)
            if pair is not None and factors < limit and _fresh(pair, t, z) and r * inverse[z] % p not in table:
                factors += 1
                g.mul(2 * z, _made(g, pair))
            for sign, inner in ((0, (r - rz) % p), (1, (r + rz) % p)):
                pair = pairs.get(inner)
                if pair is not None and terms < limit and _fresh(pair, t, z) and inner not in table:
                    terms += 1
                    g.add(2 * z + sign, _made(g, pair))
    return len(g) - before


Pair = tuple[bool, Ref, Ref]  # whether it is a product, and its operands


def _fresh(pair: Pair, target: int, z: int) -> bool:
    return target not in (pair[1] >> 1, pair[2] >> 1, z)


def _made(g: Alternatives, pair: Pair) -> Ref:
    product, x, y = pair
    return g.mul(x, y) if product else g.add(x, y)


def pair_table(g: Alternatives, pool: Sequence[int]) -> dict[int, Pair]:
    """Residues of products and sums of all pairs, both signs; the first pair found is kept."""
    p, residue = g.field.prime, g.residue
    table: dict[int, Pair] = {}
    for i, x in enumerate(pool):
        rx, x2 = residue[x], 2 * x
        for y in pool[i:]:
            ry, y2 = residue[y], 2 * y
            product, total, less = rx * ry % p, (rx + ry) % p, (rx - ry) % p
            table.setdefault(product, (True, x2, y2))
            table.setdefault(p - product, (True, x2 + 1, y2))
            table.setdefault(total, (False, x2, y2))
            table.setdefault(p - total, (False, x2 + 1, y2 + 1))
            if less:
                table.setdefault(less, (False, x2, y2 + 1))
                table.setdefault(p - less, (False, x2 + 1, y2))
    return table


def pool_of(g: Alternatives, nodes: Sequence[int]) -> list[int]:
    """Values to combine: these nodes, and the constants and state symbols that they are made of."""
    pool = dict.fromkeys(nodes)
    for node in nodes:
        for way in g.ways.get(node, ()):
            for a in way.args:
                if g.level[a >> 1] <= CONSTANT or g.op[a >> 1] in ("sym", "sin", "cos"):
                    pool.setdefault(a >> 1)
    return [n for n in pool if n > 1 and (g.level[n] != STATE or g.residue[n])]


def saturate(g: Alternatives, nodes: Sequence[int], largest: int) -> None:
    """Record new ways for these values (operands first).

    All pairs up to `largest` values, else pairs within windows.
    """
    sums = [n for n in nodes if g.op[n] in ("add", "mul")]
    if len(sums) <= largest:
        one_step(g, sums, range(2, len(g)))
        two_step(g, sums, pool_of(g, nodes), INNER)
        return
    for start in range(0, len(sums), WINDOW // 2):
        window = sums[start : start + WINDOW]
        pool = pool_of(g, window)
        one_step(g, window, pool)
        two_step(g, window, pool, INNER // 2)
