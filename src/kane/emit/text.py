"""Plain text: formulas with the user's names, minimal parentheses, numbered intermediates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kane.emit.equations import Equations, Left, equations, free_prefix
from kane.emit.expression import (
    LIMIT,
    Name,
    Number,
    Signed,
    listing,
    needed,
    number_text,
    program_of,
    tree_sizes,
    whole,
)
from kane.emit.render import ATOM, PRODUCT, Piece, render
from kane.emit.target import Package, arguments, refuse_unknown
from kane.graph.arena import Graph, Ref
from kane.graph.program import OperationCounts, Program


def expression_text(graph: Graph, ref: Ref) -> str:
    """The expression in the user's names; above about 60 nodes its numbered intermediates, then the result."""
    program = program_of(graph, [ref])
    found = listing(program, program.outputs[0].refs, prefix=free_prefix(program))
    lines = [f"{name.text} = {format_text(formula)}" for name, formula, _ in found.lines]
    return "\n".join([*lines, format_text(found.results[0])])


class TextStyle:
    """a*b, a/b, a^2, sin(x); names as the user wrote them."""

    bars = False

    def number(self, value: Number) -> Piece:
        text = number_text(value.value)
        return Piece(text, PRODUCT if "/" in text else ATOM)

    def name(self, name: Name) -> str:
        return shown(name.text)

    def call(self, op: str, args: Sequence[Piece]) -> Piece:
        return Piece(op if op == "pi" else f"{op}({', '.join(a.text for a in args)})", ATOM)

    def sum(self, terms: Sequence[tuple[bool, str]]) -> str:
        (negative, text), *rest = terms
        return "".join([self.negative(text) if negative else text, *(f" {'-' if n else '+'} {t}" for n, t in rest)])

    def product(self, factors: Sequence[str]) -> str:
        return "*".join(factors)

    def quotient(self, above: str, below: str) -> str:
        return f"{above}/{below}"

    def power(self, base: str, exponent: int) -> str:
        return f"{base}^{exponent}"

    def negative(self, text: str) -> str:
        return f"-{text}"

    def parentheses(self, text: str) -> str:
        return f"({text})"


STYLE = TextStyle()


def format_text(formula: Signed) -> str:
    """A formula as text."""
    return render(formula, STYLE)


def shown(name: str) -> str:
    """A user's name inside a formula: in backquotes when it could be read as a formula itself."""
    return name if re.fullmatch(r"[^\W\d][\w.{}',\[\]]*", name) else f"`{name}`"


def counts_text(counts: OperationCounts) -> str:
    """Operation counts in one line."""
    parts = [f"{counts.total} operations ({counts.mul} mul, {counts.add} add)"]
    parts += [f"{counts.div} div"] * bool(counts.div) + [f"{counts.sqrt} sqrt"] * bool(counts.sqrt)
    parts.append(f"{counts.trig} sin/cos of {counts.trig_arguments} argument{'s' * (counts.trig_arguments != 1)}")
    return ", ".join(parts + [f"{counts.functions} other functions"] * bool(counts.functions))


def formula_text(program: Program, index: int) -> str:
    """The formula of a constant in the user's names, for a comment; empty when it is long."""
    order = needed(program, [2 * index])
    if tree_sizes(program, order)[index] > LIMIT:
        return ""
    formula = format_text(whole(program, [2 * index])[0])
    return formula if len(formula) <= 160 else ""


@dataclass(frozen=True, slots=True)
class Text:
    """The text target: one file for all tasks."""

    name: str = "text"
    fused: bool = False

    def render(self, package: Package) -> dict[str, str]:
        refuse_unknown(package, self.name)
        lines = [f"Equations of {package.title} (elements are numbered from 1)", ""]
        lines += [f"- {note}" for note in package.notes] + [""] * bool(package.notes)
        for task in equations(package):
            lines += _task(task)
        return {f"{package.name}.txt": "\n".join(lines).rstrip("\n") + "\n"}


def _task(task: Equations) -> list[str]:
    program = task.program
    inputs = ", ".join(item.name for _, item in arguments(program))
    outputs = ", ".join(out.name for out in program.outputs)
    lines = [f"== {program.name}({inputs}) -> {outputs}", counts_text(program.counts)]
    lines += [f"{item.name} = [{', '.join(item.labels)}]" for _, item in arguments(program) if item.size]
    lines.append("")
    if task.constants:
        lines.append("Constants")
        for left, formula, value in task.constants:
            lines.append(f"{_left(left)} = {format_text(formula)}" + (f" = {value}" if value else ""))
        lines.append("")
    note = ""
    for left, formula, origin in task.lines:
        if origin and origin != note:
            note = origin
            lines.append(f"  ({note})")
        lines.append(f"{_left(left)} = {format_text(formula)}")
    lines += [""] * bool(task.lines)
    return [*lines, *(f"{_left(left)} = {format_text(formula)}" for left, formula, _ in task.results), ""]


def _left(left: Left) -> str:
    if isinstance(left, Name):
        return left.text
    name, where = left
    return f"{name}[{','.join(str(k) for k in where)}]" if where else name


TARGET = Text()
