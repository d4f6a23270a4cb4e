"""Which values a leaf really influences: what cancels on the way does not count.

The leaf gets another residue, and the values that data flow takes from it are computed again at the random point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kane.graph.arena import Ref
from kane.graph.field import Field

WORK = 1_500_000  # values computed again altogether (seconds); beyond, data flow alone decides


def influenced(
    ops: Sequence[str], args: Sequence[Sequence[Ref]], residues: Sequence[int], leaf: int, order: Iterable[int],
    field: Field,
) -> set[int]:  # fmt: skip
    """The values that change with a leaf; order: those that data flow takes from it, operands first.

    Exact but for chance (about one in 2^60): the residues are those of the values at one random point.
    """
    p = field.prime
    new: dict[int, int] = {leaf: field.hash("changed", residues[leaf])}
    for index in order:
        if not any(a >> 1 in new for a in args[index]):
            continue
        a = [_signed(new, residues, ref, p) for ref in args[index]]
        value = _value(field, ops[index], a)
        if value != residues[index]:
            new[index] = value
    return set(new)


def _signed(new: Mapping[int, int], residues: Sequence[int], ref: Ref, p: int) -> int:
    value = new.get(ref >> 1, residues[ref >> 1])
    return (p - value) % p if ref & 1 else value


def _value(field: Field, op: str, a: Sequence[int]) -> int:
    p = field.prime
    match op:
        case "add":
            return (a[0] + a[1]) % p
        case "mul":
            return a[0] * a[1] % p
        case "fma":
            return (a[0] * a[1] + a[2]) % p
        case "div":
            return a[0] * field.inverse(a[1]) % p
        case _:
            return field.hash("changed", op, *a)


def behind(
    ops: Sequence[str], args: Sequence[Sequence[Ref]], residues: Sequence[int], leaves: Mapping[int, int], field: Field
) -> list[int]:
    """For each value the bits of the leaves that influence it; leaves: index -> its bit.  Operands come first."""
    flow: list[int] = []
    for index, refs in enumerate(args):
        own = 1 << leaves[index] if index in leaves else 0
        for ref in refs:
            own |= flow[ref >> 1]
        flow.append(own)
    if sum(bits.bit_count() for bits in flow) > WORK:
        return flow
    exact = [0] * len(flow)
    for leaf, place in leaves.items():
        bit = 1 << place
        order = [index for index, bits in enumerate(flow) if bits & bit and index != leaf]
        for index in influenced(ops, args, residues, leaf, order, field):
            exact[index] |= bit
    return exact
