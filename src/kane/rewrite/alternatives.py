"""A graph that remembers every way in which a value was asked for: one node a value, several ways to compute it.

The ordinary graph keeps the structure that was built first.  This one also keeps the later ones, so that several
formulations built in it side by side share their values, and select.py may take each value by the way that
costs least in the end (an e-graph whose equalities come from residues instead of rules; Tate et al. 2009).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kane.graph.arena import STATE, Graph, Ref
from kane.graph.evaluate import rebuild
from kane.graph.field import Field
from kane.graph.program import Program, build_program, operands_first


class Way(NamedTuple):
    """One instruction that gives the node: op and signed operands; `odd`: it gives the node's negative."""

    op: str
    args: tuple[Ref, ...]
    odd: int


class Alternatives(Graph):
    """A Graph whose `ways[node]` lists the instructions that give a state node, in the order they were asked for."""

    def __init__(self, field: Field | None = None) -> None:
        self.ways: dict[int, list[Way]] = {}
        self.trace: dict[int, Way] | None = None  # first way of each value asked for since it was set
        self._known: set[tuple[int, str, Ref, Ref]] = set()
        super().__init__(field)

    def add(self, a: Ref, b: Ref) -> Ref:
        """a + b."""
        ref = super().add(a, b)
        if a > 1 and b > 1:
            self._record(ref, "add", a, b)
        return ref

    def mul(self, a: Ref, b: Ref) -> Ref:
        """a * b."""
        ref = super().mul(a, b)
        if a > 3 and b > 3:
            self._record(ref, "mul", a, b)
        return ref

    def div(self, a: Ref, b: Ref) -> Ref:
        """a / b."""
        ref = super().div(a, b)
        if a > 1 and self.level[b >> 1] == STATE:
            self._record(ref, "div", a, b)
        return ref

    def sin(self, a: Ref) -> Ref:
        """The sine of an angle."""
        ref = super().sin(a)
        self._record_function(ref, "sin", a)
        return ref

    def cos(self, a: Ref) -> Ref:
        """The cosine of an angle."""
        ref = super().cos(a)
        self._record_function(ref, "cos", a)
        return ref

    def _record_function(self, ref: Ref, op: str, a: Ref) -> None:
        node, way = ref >> 1, Way(op, (a,), ref & 1)
        if self.level[node] == STATE and (node, op, a, 0) not in self._known:
            self._known.add((node, op, a, 0))
            self.ways.setdefault(node, []).append(way)
        if self.trace is not None and self.level[node] == STATE:
            self.trace.setdefault(node, way)

    def _record(self, ref: Ref, op: str, a: Ref, b: Ref) -> None:
        node = ref >> 1
        if self.level[node] != STATE or a >> 1 == node or b >> 1 == node:
            return
        way = Way(op, (a, b), ref & 1)
        if self.trace is not None:
            self.trace.setdefault(node, way)
        if op == "mul":
            a, b = a & ~1, b & ~1
        key = (node, op, a, b) if op == "div" or a < b else (node, op, b, a)
        if op == "add":  # a + b = n is also -a - b = -n
            key = min(key, (node, op, min(a ^ 1, b ^ 1), max(a ^ 1, b ^ 1)))
        if key not in self._known:
            self._known.add(key)
            self.ways.setdefault(node, []).append(way)


def load(program: Program, graph: Alternatives) -> list[list[Ref]]:
    """The program's values in the graph; references of its outputs, array by array."""
    refs = rebuild(program, graph)
    return [[refs[r >> 1] ^ (r & 1) for r in out.refs] for out in program.outputs]


def written(
    graph: Alternatives, program: Program, outputs: Sequence[Sequence[Ref]], chosen: dict[int, Way]
) -> Program:
    """A program with the inputs and outputs of `program`, each state value computed by its chosen way."""
    fresh = Graph(graph.field)
    made: dict[int, Ref] = {}
    for node in needed(graph, chosen, [r >> 1 for array in outputs for r in array]):
        way = chosen.get(node)
        op, args = (way.op, way.args) if way else (graph.op[node], graph.args[node])
        given = [made[a >> 1] ^ (a & 1) for a in args]
        with fresh.origin(graph.note[node]):
            made[node] = _make(graph, fresh, node, op, given) ^ (way.odd if way else 0)
    arrays = [
        (out.name, out.shape, [made[r >> 1] ^ (r & 1) for r in refs])
        for out, refs in zip(program.outputs, outputs, strict=True)
    ]
    return build_program(fresh, program.name, program.inputs, arrays)


def _make(graph: Graph, fresh: Graph, node: int, op: str, given: list[Ref]) -> Ref:
    match op:
        case "num":
            return fresh.number(graph.numbers[node])
        case "sym":
            return fresh.symbol(graph.symbols[node].name, graph.symbols[node].kind)
        case "pi":
            return fresh.pi()
        case "add" | "mul" | "div" | "sqrt" | "sin" | "cos":
            return getattr(fresh, op)(*given)  # type: ignore[no-any-return]
        case _:
            return fresh.function(op, *given)


def needed(graph: Graph, chosen: dict[int, Way], roots: Iterable[int]) -> list[int]:
    """Nodes that the roots need by their chosen ways, operands first."""

    def operands(node: int) -> Iterator[int]:
        return (a >> 1 for a in reversed(chosen[node].args if node in chosen else graph.args[node]))

    return operands_first(roots, operands)


def copied(graph: Graph) -> Graph:
    """A plain graph with the same nodes, to be built on without changing the first."""
    twin = Graph.__new__(Graph)
    for name, value in vars(graph).items():
        setattr(twin, name, value.copy() if isinstance(value, (list, dict, set)) else value)
    return twin
