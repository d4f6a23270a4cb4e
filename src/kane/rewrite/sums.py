"""Regroup sums: two terms of a long sum side by side, where together they cost less than apart.

The association that a sum was built with hides pairs of its terms: those with a common factor, and those whose sum is a
value, a product or a multiple of a value that is there anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kane.graph.arena import Ref
from kane.rewrite.alternatives import Alternatives, Way
from kane.rewrite.pairs import PairTable

TERMS = 16  # longer sums are regrouped in pieces
PAIRS = 16  # pairs taken of one sum


def regroup_sums(
    g: Alternatives, chosen: Mapping[int, Way], users: Mapping[int, int], pairs: PairTable | None
) -> int:
    """Record other associations of the sums in use; `pairs`: sums and products of values (pairs.py).

    Returns the number of pairs put side by side.
    """
    inner = {a >> 1 for n, way in chosen.items() if way.op == "add" for a in way.args if users.get(a >> 1) == 1}
    count = 0
    for root, way in list(chosen.items()):
        if way.op != "add" or root in inner:
            continue
        terms = list(_terms(g, chosen, users, root))
        if not 3 <= len(terms) <= TERMS:
            continue
        taken = 0
        for i, a in enumerate(terms):
            for b in terms[i + 1 :]:
                if taken < PAIRS and _together(g, a, b, pairs):
                    taken += 1
                    total = g.add(a, b)
                    for term in terms:
                        if term not in (a, b):
                            total = g.add(total, term)
        count += taken
    return count


def _terms(g: Alternatives, chosen: Mapping[int, Way], users: Mapping[int, int], root: int) -> Iterator[Ref]:
    """The terms of a sum: inner sums that nothing else uses are opened."""
    stack = [2 * root]
    while stack:
        ref = stack.pop()
        way = chosen.get(ref >> 1)
        if way is not None and way.op == "add" and (ref >> 1 == root or users.get(ref >> 1) == 1):
            stack += [a ^ way.odd ^ (ref & 1) for a in way.args]
        else:
            yield ref


def _together(g: Alternatives, a: Ref, b: Ref, pairs: PairTable | None) -> bool:
    """Ask for a + b in the ways that are worth it; whether there is one."""
    p = g.field.prime
    total = (g.residue_of(a) + g.residue_of(b)) % p
    if total in g._by_residue:
        return True
    found = False
    pair = pairs.find(a, b) if pairs is not None else None
    if pair is not None and pair.product:
        g.mul(pair.x, pair.y)
        found = True
    first, second = _factors(g, a), _factors(g, b)
    for z, rest in first.items():
        if z in second:
            g.mul(2 * z, g.add(rest ^ (a & 1), second[z] ^ (b & 1)))
            found = True
    for z in (*first, *second):
        other = g._by_residue.get(total * pow(g.residue[z], -1, p) % p)
        if other is not None:
            g.mul(2 * z, other)
            found = True
    return found


def _factors(g: Alternatives, ref: Ref) -> dict[int, Ref]:
    """Factor -> cofactor for the ways in which a value (not its negative) is a product."""
    found: dict[int, Ref] = {}
    for way in g.ways.get(ref >> 1, ()):
        if way.op == "mul":
            for z, rest in (way.args, way.args[::-1]):
                found.setdefault(z >> 1, rest ^ (z & 1) ^ way.odd)
    return found
