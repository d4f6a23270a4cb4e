"""Expressions of a graph from Python text: "x * (y + z)"."""

from __future__ import annotations

from collections.abc import Collection

from kane.graph.arena import Graph


def from_text(g: Graph, text: str, names: Collection[str], parameters: Collection[str] = ()) -> int:
    """The reference of a text in sums, differences and products of these symbols."""

    class Ref:
        def __init__(self, ref: int) -> None:
            self.ref = ref

        def __add__(self, other: Ref) -> Ref:
            return Ref(g.add(self.ref, other.ref))

        def __sub__(self, other: Ref) -> Ref:
            return Ref(g.sub(self.ref, other.ref))

        def __mul__(self, other: Ref) -> Ref:
            return Ref(g.mul(self.ref, other.ref))

    symbols = {n: Ref(g.symbol(n, "parameter")) for n in parameters} | {n: Ref(g.symbol(n)) for n in names}
    ref: int = eval(text, symbols).ref
    return ref
