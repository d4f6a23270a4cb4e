"""For reading: numbers multiplied out, like terms collected, each product one coefficient times its factors.

A formula on a page is judged by eye, not by its count, so this pass makes a graph of its own and no program that is
counted or run goes through it.  Sums that are used in several places stay in one piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kane.graph.arena import Graph, Ref
from kane.graph.program import needed
from kane.graph.transplant import copy_node

Factors = tuple[Ref, ...]  # positive references of the new graph, sorted
Form = dict[Factors, Fraction]  # coefficient of each product, in the order of mention
SHORT = 2  # terms of a sum that is opened wherever it is used


def tidy(source: Graph, refs: Sequence[Ref]) -> tuple[Graph, list[Ref]]:
    """The same functions in a new graph, written for reading."""
    target = Graph(source.field)
    order = needed(source, refs)
    uses = dict.fromkeys(order, 0)
    for node in order:
        for a in source.args[node]:
            uses[a >> 1] += 1
    forms: dict[int, Form] = {}
    made: dict[int, Ref] = {}

    def whole(ref: Ref) -> Ref:
        node = ref >> 1
        if node not in made:
            made[node] = _build(target, forms[node])
        return made[node] ^ (ref & 1) if made[node] > 1 else 0

    def opened(ref: Ref) -> Form:
        form, sign = forms[ref >> 1], -1 if ref & 1 else 1
        if len(form) > SHORT and uses[ref >> 1] > 1:
            return _atom(whole(ref))
        return {factors: sign * c for factors, c in form.items()}

    def single(ref: Ref) -> Form:
        form = forms[ref >> 1]
        return opened(ref) if len(form) < 2 else _atom(whole(ref))

    for node in order:
        args = source.args[node]
        match source.op[node]:
            case "num":
                value = source.numbers[node]
                forms[node] = {(): value} if value else {}
            case "add":
                forms[node] = _sum(opened(args[0]), opened(args[1]))
            case "mul":
                forms[node] = _product(single(args[0]), single(args[1]))
            case _:
                forms[node] = _atom(copy_node(source, node, [whole(a) for a in args], target, {}))
    return target, [whole(r) for r in refs]


def _atom(ref: Ref) -> Form:
    return {(ref & ~1,): Fraction(-1 if ref & 1 else 1)} if ref > 1 else {}


def _sum(a: Form, b: Form) -> Form:
    total = dict(a)
    for factors, c in b.items():
        total[factors] = total.get(factors, Fraction(0)) + c
    return {factors: c for factors, c in total.items() if c}


def _product(a: Form, b: Form) -> Form:
    return {tuple(sorted((*x, *y))): c * d for x, c in a.items() for y, d in b.items()}


def _build(graph: Graph, form: Form) -> Ref:
    terms = []
    for factors, c in form.items():
        product = graph.one
        for factor in factors:
            product = graph.mul(product, factor)
        terms.append(graph.mul(graph.number(c), product))
    return graph.sum(terms)
