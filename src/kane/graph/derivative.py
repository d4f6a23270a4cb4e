"""Derivatives on the graph: a forward sweep along one direction, a reverse sweep per output.

Griewank and Walther, Evaluating Derivatives, 2nd ed., chapters 3.1 and 3.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kane.graph.arena import Graph, Ref
from kane.graph.functions import FUNCTIONS
from kane.graph.program import needed


def partials(g: Graph, node: int) -> tuple[Ref, ...]:
    """Partial derivative of a node by each of its operands (signed references)."""
    op, a = g.op[node], g.args[node]
    ref = 2 * node
    match op:
        case "add":
            return (g.one, g.one)
        case "mul":
            return (a[1], a[0])
        case "div":
            inverse = g.div(g.one, a[1])
            return (inverse, g.neg(g.mul(ref, inverse)))
        case "sqrt":
            return (g.div(g.one, g.add(ref, ref)),)
        case "sin":
            return (g.cos(a[0]),)
        case "cos":
            return (g.neg(g.sin(a[0])),)
        case _:
            return FUNCTIONS[op].partials(g, a, ref)


def forward(g: Graph, outputs: Sequence[Ref], direction: Mapping[Ref, Ref]) -> list[Ref]:
    """d outputs along a direction: symbol -> its rate.  One sweep, tangents shared between outputs."""
    if all(ref < 2 or ref & -2 in direction for ref in outputs):  # no more than symbols
        return [t ^ (ref & 1) if ref > 1 and (t := direction[ref & -2]) > 1 else 0 for ref in outputs]
    tangent: dict[int, Ref] = {}
    for node in needed(g, outputs):
        rate = direction.get(2 * node)
        if rate is None and (rate := direction.get(2 * node + 1)) is not None:
            rate ^= 1
        if rate is not None:
            tangent[node] = rate
            continue
        moving = [(k, a) for k, a in enumerate(g.args[node]) if tangent.get(a >> 1, 0) > 1]
        if moving:
            slopes = partials(g, node)
            tangent[node] = g.sum(g.mul(slopes[k], tangent[a >> 1] ^ (a & 1)) for k, a in moving)
    return [t ^ (ref & 1) if (t := tangent.get(ref >> 1, 0)) > 1 else 0 for ref in outputs]


def gradient(g: Graph, output: Ref, wrt: Sequence[Ref]) -> list[Ref]:
    """d output / d each symbol of wrt, by one reverse sweep over what the output and the symbols share."""
    order = needed(g, [output])
    active = {w >> 1 for w in wrt}
    for node in order:
        if node not in active and any(a >> 1 in active for a in g.args[node]):
            active.add(node)
    adjoint: dict[int, Ref] = {output >> 1: g.one ^ (output & 1)}
    for node in reversed(order):
        bar = adjoint.get(node, 0)
        if bar < 2 or node not in active or not g.args[node]:
            continue
        slopes = partials(g, node)
        for slope, a in zip(slopes, g.args[node], strict=True):
            if a >> 1 in active:
                term = g.mul(bar, slope) ^ (a & 1)
                adjoint[a >> 1] = g.add(adjoint.get(a >> 1, 0), term)
    return [adjoint.get(w >> 1, 0) ^ (w & 1) if adjoint.get(w >> 1, 0) > 1 else 0 for w in wrt]


def jacobian(g: Graph, outputs: Sequence[Ref], wrt: Sequence[Ref]) -> list[list[Ref]]:
    """Rows: outputs, columns: symbols; one reverse sweep an output."""
    return [gradient(g, output, wrt) for output in outputs]
