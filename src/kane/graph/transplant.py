"""Copy expressions from one graph into another, with symbols replaced on the way.

Nodes are shared by value, so a node's structure may mention a symbol that its value does not depend on.  Replacing
symbols inside one graph would find such nodes again; a copy into a graph that never had the symbol cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kane.graph.arena import Graph, Ref
from kane.graph.program import needed


def transplant(source: Graph, refs: Sequence[Ref], target: Graph, replacement: Mapping[str, Ref]) -> list[Ref]:
    """The expressions in the target graph; symbols in `replacement` (by name) become these references of the target."""
    done: dict[int, Ref] = {}
    for node in needed(source, refs):
        args = [done[a >> 1] ^ (a & 1) for a in source.args[node]]
        with target.origin(source.note[node]):
            done[node] = copy_node(source, node, args, target, replacement)
    return [done[r >> 1] ^ (r & 1) for r in refs]


def copy_node(source: Graph, node: int, args: list[Ref], target: Graph, replacement: Mapping[str, Ref]) -> Ref:
    """One node with these operands in the target graph; a symbol in `replacement` becomes that reference."""
    op = source.op[node]
    match op:
        case "num":
            return target.number(source.numbers[node])
        case "sym":
            symbol = source.symbols[node]
            known = replacement.get(symbol.name)
            return target.symbol(symbol.name, symbol.kind) if known is None else known
        case "pi":
            return target.pi()
        case "add" | "mul" | "div" | "sqrt" | "sin" | "cos":
            made: Ref = getattr(target, op)(*args)
            return made
        case _:
            return target.function(op, *args)
