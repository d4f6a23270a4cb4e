"""Find new ways to compute values: every sum, difference and product of two values that happens to be a third.

Residues make the search exact and blind to form: distribution, factoring, regrouping, identities of sine and cosine and
whatever else makes two expressions equal are all found by looking a residue up.
"""

from __future__ import annotations

from collections.abc import Sequence

from kane.graph.arena import CONSTANT, STATE, Ref
from kane.rewrite.alternatives import Alternatives

INNER = 30  # new inner values a target and form
WINDOW = 160  # values compared with each other in large programs


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

    At most `limit` inner values a target and form are made.
    """
    p, residue, table = g.field.prime, g.residue, g._by_residue
    sums, products = _pair_tables(g, pool)
    inverse = {z: pow(residue[z], -1, p) for z in pool}
    before = len(g)
    for t in targets:
        r = residue[t]
        found: dict[str, int] = {}
        for z in pool:
            if z == t:
                continue
            ratio = r * inverse[z] % p
            less, more = (r - residue[z]) % p, (r + residue[z]) % p
            for form, sign, inner in (
                ("z(x+y)", 0, ratio), ("zxy", 0, ratio), ("z+xy", 0, less), ("z+xy", 1, more),
                ("z+x+y", 0, less), ("z+x+y", 1, more),
            ):  # fmt: skip
                if inner in table or found.get(form, 0) >= limit:
                    continue
                pairs = sums if form.endswith("x+y)") or form == "z+x+y" else products
                pair = pairs.get(inner)
                if pair is None:
                    continue
                x, y = pair
                if t in (x >> 1, y >> 1):
                    continue
                found[form] = found.get(form, 0) + 1
                made = g.add(x, y) if pairs is sums else g.mul(x, y)
                if form.startswith("z+"):
                    g.add(2 * z + sign, made)
                else:
                    g.mul(2 * z, made)
    return len(g) - before


def _pair_tables(g: Alternatives, pool: Sequence[int]) -> tuple[dict[int, tuple[Ref, Ref]], dict[int, tuple[Ref, Ref]]]:
    """Residues of sums and products of all pairs, both signs; the first pair found is kept."""
    p, residue = g.field.prime, g.residue
    sums: dict[int, tuple[Ref, Ref]] = {}
    products: dict[int, tuple[Ref, Ref]] = {}
    for i, x in enumerate(pool):
        rx = residue[x]
        for y in pool[i:]:
            ry = residue[y]
            total = (rx + ry) % p
            sums.setdefault(total, (2 * x, 2 * y))
            sums.setdefault(p - total, (2 * x + 1, 2 * y + 1))
            if x != y:
                less = (rx - ry) % p
                sums.setdefault(less, (2 * x, 2 * y + 1))
                sums.setdefault(p - less, (2 * x + 1, 2 * y))
            product = rx * ry % p
            products.setdefault(product, (2 * x, 2 * y))
            products.setdefault(p - product, (2 * x + 1, 2 * y))
    return sums, products


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
    """Record new ways for these values (operands first): all pairs up to `largest` of them, else pairs within
    windows.
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
