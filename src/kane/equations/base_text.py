"""Base parameters as text: constant expressions of a graph as formulas, sums of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kane.graph.arena import Graph, Ref
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula

Coefficient = Fraction | Formula | float


def formula_text(names: Sequence[str], base: int, row: Sequence[Coefficient]) -> str:
    """The base parameter as text: its own name first, then what goes into it."""
    text = names[base]
    for name, x in zip(names, row, strict=True):
        if x == 0 or name == names[base]:
            continue
        negative = not isinstance(x, Formula) and x < 0
        size: Coefficient = -x if negative else x
        if isinstance(size, Formula):
            factor = f"({size})*" if size.op in ("add", "sub", "neg") else f"{size}*"
        elif isinstance(size, Fraction):
            written = f.scalar_text(size)
            factor = "" if size == 1 else f"({written})*" if "/" in written else f"{written}*"
        else:
            factor = f"{size:.12g}*"
        text += f" {'-' if negative else '+'} {factor}{name}"
    return text


def to_formula(g: Graph, ref: Ref) -> Formula:
    """A constant expression of a graph as a formula (shared parts are written out)."""
    if ref & 1:
        return -to_formula(g, ref ^ 1)
    node = ref >> 1
    op, args = g.op[node], g.args[node]
    if op == "num":
        return f.formula(g.numbers[node])
    if op == "sym":
        return f.name(g.symbols[node].name)
    parts = [to_formula(g, a) for a in args]
    if op == "add" and args[1] & 1:
        return parts[0] - to_formula(g, args[1] ^ 1)
    if op == "add" and args[0] & 1:
        return parts[1] - to_formula(g, args[0] ^ 1)
    if op == "mul" and args[0] == args[1]:
        return parts[0] ** 2
    return Formula(op, tuple(parts))
