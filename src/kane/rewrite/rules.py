"""Rules of arithmetic around the values in use: distribution, common factors, other associations.

pairs.py finds values that are there already; these rules make new ones.  One step of each rule at every value in use
and round: the local search walks along them, and what leads nowhere is never taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kane.graph.arena import STATE, Ref
from kane.rewrite.alternatives import Alternatives, Way


def ask_by_rules(g: Alternatives, chosen: Mapping[int, Way]) -> int:
    """Record other ways of the values in use by one step of each rule; the number of new ways."""
    before = sum(map(len, g.ways.values()))
    for node in list(chosen):
        way = chosen[node]
        for a, b in (way.args, way.args[::-1]) if len(way.args) == 2 else ():
            if way.op == "mul":
                _ask_product(g, chosen, a, b)
            elif way.op == "add":
                _ask_sum(g, chosen, a, b)
    return sum(map(len, g.ways.values())) - before


def _known(g: Alternatives, chosen: Mapping[int, Way], ref: Ref) -> Iterator[tuple[str, Ref, Ref]]:
    """The ways of an operand with its sign taken in: of one in use the way in use, else all."""
    node = ref >> 1
    if g.level[node] != STATE:
        return
    ways: Iterable[Way] = (chosen[node],) if node in chosen else g.ways.get(node, ())
    for way in ways:
        if way.op == "add":
            sign = way.odd ^ (ref & 1)
            yield "add", way.args[0] ^ sign, way.args[1] ^ sign
        elif way.op == "mul":
            yield "mul", way.args[0] ^ way.odd ^ (ref & 1), way.args[1]


def _ask_product(g: Alternatives, chosen: Mapping[int, Way], a: Ref, b: Ref) -> None:
    """a b with b = p + q: a p + a q; with b = p q: (a p) q and (a q) p."""
    for op, p, q in tuple(_known(g, chosen, b)):
        if op == "add":
            g.add(g.mul(a, p), g.mul(a, q))
        else:
            g.mul(g.mul(a, p), q)
            g.mul(g.mul(a, q), p)


def _ask_sum(g: Alternatives, chosen: Mapping[int, Way], a: Ref, b: Ref) -> None:
    """a + b with b = p + q: (a + p) + q and (a + q) + p; a = z p, b = z q: z (p + q)."""
    left = tuple(_known(g, chosen, a))
    for op, p, q in tuple(_known(g, chosen, b)):
        if op == "add":
            g.add(g.add(a, p), q)
            g.add(g.add(a, q), p)
            continue
        for other, x, y in left:
            if other == "mul":
                for z, rest in ((x, y), (y, x)):
                    for w, last in ((p, q), (q, p)):
                        if z >> 1 == w >> 1:
                            g.mul(z, g.add(rest, last ^ ((z ^ w) & 1)))
