"""LaTeX: a document with the equations of every task; expressions for other documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kane.emit.equations import Equations, Left, Row, equations, free_prefix
from kane.emit.expression import Name, Number, listing, number_text, program_of
from kane.emit.render import ATOM, POWER, PRODUCT, SUM, Piece, render, wrapped
from kane.emit.target import Package, refuse_unknown
from kane.emit.text import counts_text
from kane.graph.arena import Graph, Ref
from kane.mechanism.latex import OPERATORS, escape, name_latex


class LatexStyle:
    """Products by juxtaposition, quotients with a bar."""

    bars = True

    def number(self, value: Number) -> Piece:
        text = number_text(value.value)
        if "/" in text:
            above, below = text.split("/")
            return Piece(rf"\frac{{{above}}}{{{below}}}", POWER)
        if "e" in text:
            digits, exponent = text.split("e")
            return Piece(rf"{digits} \cdot 10^{{{int(exponent)}}}", PRODUCT)
        return Piece(text, ATOM)

    def name(self, name: Name) -> str:
        return name_latex(name.text) if name.kind in ("state", "parameter") else f"{name.text[0]}_{{{name.number}}}"

    def call(self, op: str, args: Sequence[Piece]) -> Piece:
        texts = [a.text for a in args]
        match op:
            case "pi":
                return Piece(r"\pi", ATOM)
            case "sqrt":
                return Piece(rf"\sqrt{{{texts[0]}}}", ATOM)
            case "abs":
                return Piece(rf"\left|{texts[0]}\right|", ATOM)
            case "pow":
                return Piece(f"{wrapped(args[0], ATOM, self)}^{{{texts[1]}}}", POWER)
            case "select":
                cases = rf"{texts[1]} & {texts[0]} > 0 \\ {texts[2]} & \text{{otherwise}}"
                return Piece(rf"\begin{{cases}} {cases} \end{{cases}}", SUM)
        head = f"\\{OPERATORS[op]}" if op in OPERATORS else rf"\operatorname{{{op}}}"
        return Piece(rf"{head}\left({', '.join(texts)}\right)", ATOM)

    def sum(self, terms: Sequence[tuple[bool, str]]) -> str:
        (negative, text), *rest = terms
        return "".join([self.negative(text) if negative else text, *(f" {'-' if n else '+'} {t}" for n, t in rest)])

    def product(self, factors: Sequence[str]) -> str:
        text = factors[0]
        for before, factor in pairwise(factors):
            digits = before[-1].isdigit() and factor[0].isdigit()
            text += (r" \cdot " if digits or r"\cdot" in factor else r" \, ") + factor
        return text

    def quotient(self, above: str, below: str) -> str:
        return rf"\frac{{{above}}}{{{below}}}"

    def power(self, base: str, exponent: int) -> str:
        return f"{{{base}}}^{{{exponent}}}" if "^" in base else f"{base}^{{{exponent}}}"

    def negative(self, text: str) -> str:
        return f"-{text}"

    def parentheses(self, text: str) -> str:
        return rf"\left({text}\right)"


STYLE = LatexStyle()


def expression_latex(graph: Graph, ref: Ref) -> str:
    """The expression; above about 60 nodes an `aligned` block of numbered intermediates that ends with the result."""
    program = program_of(graph, [ref])
    found = listing(program, program.outputs[0].refs, prefix=free_prefix(program))
    result = render(found.results[0], STYLE)
    if not found.lines:
        return result
    lines = [f"{STYLE.name(name)} &= {render(formula, STYLE)}" for name, formula, _ in found.lines]
    return "\\begin{aligned}\n" + " \\\\\n".join([*lines, f"&\\quad {result}"]) + "\n\\end{aligned}"


@dataclass(frozen=True, slots=True)
class Latex:
    """The LaTeX target: one document for all tasks."""

    name: str = "latex"
    fused: bool = False

    def render(self, package: Package) -> dict[str, str]:
        refuse_unknown(package, self.name)
        lines = [
            r"\documentclass{article}", r"\usepackage[utf8]{inputenc}", r"\usepackage[a4paper,margin=20mm]{geometry}",
            r"\usepackage{amsmath}", r"\allowdisplaybreaks", r"\begin{document}",
            rf"\section*{{Equations of {escape(package.title)}}}",
        ]  # fmt: skip
        lines += [rf"{escape(note)}\par" for note in package.notes]
        for task in equations(package):
            lines += _task(task)
        return {f"{package.name}.tex": "\n".join([*lines, r"\end{document}", ""])}


def _task(task: Equations) -> list[str]:
    lines = [rf"\subsection*{{{escape(task.program.name)}}}", rf"{escape(counts_text(task.program.counts))}\par"]
    for kind, rows in (("Constants", task.constants), ("Intermediates", task.lines), ("Results", task.results)):
        if rows:
            body = [_row(row, valued=kind == "Constants") for row in rows]
            lines += [kind, r"\begin{align*}", " \\\\\n".join(body), r"\end{align*}"]
    return lines


def _row(row: Row, valued: bool) -> str:
    left, formula, value = row
    text = f"{_left(left)} &= {render(formula, STYLE)}"
    return f"{text} = {_decimal(value)}" if valued and value else text


def _left(left: Left) -> str:
    if isinstance(left, Name):
        return STYLE.name(left)
    name, where = left
    text = name_latex(name)
    if not where:
        return text
    index = ",".join(str(k) for k in where)
    return f"{{{text}}}_{{{index}}}" if "_" in text else f"{text}_{{{index}}}"


def _decimal(value: str) -> str:
    if "e" not in value:
        return value
    digits, exponent = value.split("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}"


TARGET = Latex()
