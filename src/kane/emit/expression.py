"""Formulas for people: the tree that the text, LaTeX, MathML and SymPy printers share.

A value of a Program becomes sums of signed terms, products of factors over factors, powers and calls.  This
flattening is for display only; the program keeps its association.  Order is by name: numbers, parameters, state,
intermediates.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from kane.graph.arena import Graph, Ref
from kane.graph.program import Input, Program, build_program
from kane.rewrite.tidy import tidy

LIMIT = 60  # nodes of one printed expression; beyond it there are numbered intermediates
LINE = 16  # nodes of one line among numbered intermediates
ANGLE = 8  # nodes of an angle that is printed inside its sine


@dataclass(frozen=True, slots=True)
class Number:
    """A rational number, not negative."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Name:
    """A user's symbol, or an intermediate (`number` is its position in the numbering)."""

    text: str
    kind: Literal["parameter", "state", "intermediate", "constant"]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """A function of arguments ("pi" has none)."""

    op: str
    args: tuple[Signed, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of signed terms."""

    terms: tuple[Signed, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """above / below, each a product of (factor, exponent)."""

    above: tuple[tuple[Node, int], ...]
    below: tuple[tuple[Node, int], ...] = ()


Node = Number | Name | Call | Sum | Product


@dataclass(frozen=True, slots=True)
class Signed:
    """A node or its negative."""

    negative: bool
    node: Node

    def times(self, sign: int | bool) -> Signed:
        return Signed(self.negative != bool(sign), self.node)


@dataclass(frozen=True, slots=True)
class Listing:
    """An expression as lines `name = formula` and the results that use them."""

    lines: tuple[tuple[Name, Signed, str], ...]  # the note of origin comes last
    results: tuple[Signed, ...]


def program_of(graph: Graph, refs: Sequence[Ref]) -> Program:
    """The program of these references, tidied for reading; every symbol of the graph is an input."""
    graph, refs = tidy(graph, refs)
    symbols = graph.symbols.values()
    inputs = [
        Input("p", tuple(s.name for s in symbols if s.kind == "parameter"), "parameter"),
        Input("x", tuple(s.name for s in symbols if s.kind == "state")),
    ]
    return build_program(graph, "expression", inputs, [("value", (len(refs),), refs)])


def whole(program: Program, refs: Sequence[Ref], names: Mapping[int, Node] | None = None) -> tuple[Signed, ...]:
    """The formulas of these references without intermediates; `names` are printed by name."""
    given = dict(names or {})
    nodes: dict[int, Signed] = {}
    for index in needed(program, refs, given):
        nodes[index] = Signed(False, given[index]) if index in given else _node(program, index, nodes)
    return tuple(nodes[r >> 1].times(r & 1) for r in refs)


def listing(
    program: Program,
    refs: Sequence[Ref],
    prefix: str = "v",
    names: Mapping[int, Node] | None = None,
    limit: int = LIMIT,
) -> Listing:
    """The formulas of these references, with numbered intermediates when one would exceed `limit` nodes.

    Shared values and long ones get a line each; symbols, numbers and sines of short angles never do.
    """
    given = dict(names or {})
    order = needed(program, refs, given)
    sizes = tree_sizes(program, order, given)
    if max((sizes[r >> 1] for r in refs), default=0) <= limit:
        return Listing((), whole(program, refs, given))
    uses = dict.fromkeys(order, 0)
    for index in order:
        for a in () if index in given else program.values[index].args:
            uses[a >> 1] += 1
    for r in refs:
        uses[r >> 1] += 1
    nodes: dict[int, Signed] = {}
    inlined: dict[int, int] = {}
    lines: list[tuple[Name, Signed, str]] = []
    for index in order:
        op, args, _, note = program.values[index]
        if index in given:
            nodes[index], inlined[index] = Signed(False, given[index]), 1
            continue
        nodes[index] = _node(program, index, nodes)
        inlined[index] = 1 + sum(inlined[a >> 1] for a in args)
        plain = not args or (op in ("sin", "cos") and sizes[index] <= ANGLE)
        if not plain and (uses[index] > 1 or inlined[index] >= LINE):
            name = Name(f"{prefix}{len(lines) + 1}", "intermediate", len(lines) + 1)
            lines.append((name, nodes[index], note))
            nodes[index], inlined[index] = Signed(False, name), 1
    return Listing(tuple(lines), tuple(nodes[r >> 1].times(r & 1) for r in refs))


def needed(program: Program, refs: Sequence[Ref], stop: Collection[int] = ()) -> list[int]:
    """The indices that these references need, in program order; what `stop` needs is left out."""
    seen = {r >> 1 for r in refs}
    for index in range(max(seen, default=-1), -1, -1):
        if index in seen and index not in stop:
            seen.update(a >> 1 for a in program.values[index].args)
    return sorted(seen)


def tree_sizes(program: Program, order: Sequence[int], stop: Collection[int] = ()) -> dict[int, int]:
    """Nodes of each value written out as a tree."""
    sizes: dict[int, int] = {}
    for index in order:
        args = () if index in stop else program.values[index].args
        sizes[index] = 1 + sum(sizes[a >> 1] for a in args)
    return sizes


def _node(program: Program, index: int, nodes: Mapping[int, Signed]) -> Signed:
    op, refs, payload, _ = program.values[index]
    args = [nodes[r >> 1].times(r & 1) for r in refs]
    match op:
        case "input":
            assert isinstance(payload, tuple)
            item = program.inputs[payload[0]]
            return Signed(False, Name(item.labels[payload[1]], item.kind))
        case "num":
            assert isinstance(payload, Fraction)
            return Signed(payload < 0, Number(abs(payload)))
        case "add":
            return _sum(args)
        case "mul":
            return _product(args[0], args[1])
        case "fma":
            return _sum([_product(args[0], args[1]), args[2]])
        case "div":
            return _product(args[0], args[1], divide=True)
        case _:
            return Signed(False, Call(op, tuple(spread(a) for a in args)))


def _sum(args: Sequence[Signed]) -> Signed:
    terms: list[Signed] = []
    for arg in args:
        terms += [t.times(arg.negative) for t in arg.node.terms] if isinstance(arg.node, Sum) else [arg]
    terms.sort(key=lambda t: sort_key(t.node))
    return Signed(False, _leading(terms))


def _leading(terms: Sequence[Signed]) -> Sum:
    """The sum with a positive term in front when there is one."""
    first = next((k for k, t in enumerate(terms) if not t.negative), 0)
    return Sum((terms[first], *terms[:first], *terms[first + 1 :]))


def spread(formula: Signed) -> Signed:
    """The formula with the sign of a negative sum on its terms."""
    if not formula.negative or not isinstance(formula.node, Sum):
        return formula
    terms = sorted((t.times(1) for t in formula.node.terms), key=lambda t: sort_key(t.node))
    return Signed(False, _leading(terms))


def _product(a: Signed, b: Signed, divide: bool = False) -> Signed:
    above: list[tuple[Node, int]] = []
    below: list[tuple[Node, int]] = []
    for arg, up in ((a, True), (b, not divide)):
        parts = arg.node if isinstance(arg.node, Product) else _quotient(arg.node)
        (above if up else below).extend(parts.above)
        (below if up else above).extend(parts.below)
    return Signed(a.negative != b.negative, Product(_powers(above), _powers(below)))


def _quotient(node: Node) -> Product:
    """A factor; a number that is printed as a fraction is split, so that x/3 is not (1/3)*x."""
    if isinstance(node, Number) and "/" in number_text(node.value):
        return Product(((Number(Fraction(node.value.numerator)), 1),), ((Number(Fraction(node.value.denominator)), 1),))
    return Product(((node, 1),))


def _powers(factors: Sequence[tuple[Node, int]]) -> tuple[tuple[Node, int], ...]:
    total: dict[Node, int] = {}
    for node, exponent in factors:
        if node != Number(Fraction(1)):
            total[node] = total.get(node, 0) + exponent
    return tuple(sorted(total.items(), key=lambda item: sort_key(item[0])))


def sort_key(node: Node) -> tuple[object, ...]:
    """Numbers, then constants and parameters, state, intermediates, calls, products, sums; names in natural order."""
    match node:
        case Number(value):
            return (0, natural(str(value)))
        case Name(text, kind, number):
            return ({"constant": 1, "parameter": 2, "state": 3, "intermediate": 4}[kind], number, natural(text))
        case Call(op, args):
            return (5, *(sort_key(a.node) for a in args), (9, op))
        case Product(above, below):
            return (6, *(sort_key(n) for n, _ in above), (7,), *(sort_key(n) for n, _ in below))
        case Sum(terms):
            return (8, *(sort_key(t.node) for t in terms))


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key of a name: q2 before q10."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", text) if part)


def number_text(value: Fraction) -> str:
    """A rational number for people: an exact decimal, a small fraction, or else the nearest float64."""
    short = repr(float(value))
    if Fraction(short) == value:
        return short.removesuffix(".0") if "e" not in short else short
    if value.denominator < 1000 and abs(value.numerator) < 10000:
        return f"{value.numerator}/{value.denominator}"
    return short
