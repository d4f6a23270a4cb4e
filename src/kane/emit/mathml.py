"""MathML Core: formulas for browsers, and a page with the equations of every task.

Only elements of MathML Core; letters carry their style by themselves (a single letter is italic, a word upright).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from kane.emit.equations import Equations, Left, Row, equations, free_prefix
from kane.emit.expression import Name, Number, Signed, listing, number_text, program_of
from kane.emit.names import comment_text
from kane.emit.render import ATOM, POWER, PRODUCT, SUM, Piece, render, wrapped
from kane.emit.target import Package, refuse_unknown
from kane.emit.text import counts_text
from kane.graph.arena import Graph, Ref
from kane.mechanism.display import display

THIN = ' rspace="0.1667em"'
TIMES, APPLY, MINUS, DOT = "\u2062", "\u2061", "\u2212", "\u22c5"
_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "log": "ln", "sign": "sgn"}
_ACCENT = {1: "\u02d9", 2: "\u00a8"}
_XMLNS = 'xmlns="http://www.w3.org/1998/Math/MathML"'


def name_mathml(user: str) -> str:
    """A user's name as one element."""
    found = display(user)
    base = _letters(found.base)
    if found.dots:
        base = f'<mover accent="true">{base}<mo>{_ACCENT[found.dots]}</mo></mover>'
    below, above = _scripts(found.below), _scripts(found.above)
    if below and above:
        return f"<msubsup>{base}{below}{above}</msubsup>"
    if below:
        return f"<msub>{base}{below}</msub>"
    return f"<msup>{base}{above}</msup>" if above else base


def _letters(text: str) -> str:
    shown = escape(comment_text(text), quote=False)
    return f"<mn>{shown}</mn>" if text.isdecimal() else f"<mi>{shown}</mi>"


def _scripts(text: str) -> str:
    parts = [_letters(part) for part in text.split(",")] if text else []
    return parts[0] if len(parts) == 1 else _row("<mo>,</mo>".join(parts)) if parts else ""


def _row(inner: str) -> str:
    return f"<mrow>{inner}</mrow>"


def _decimal(text: str) -> Piece:
    if "e" not in text:
        return Piece(f"<mn>{text}</mn>", ATOM)
    digits, exponent = text.split("e")
    power = f"<mn>{abs(int(exponent))}</mn>"
    power = _row(f"<mo>{MINUS}</mo>{power}") if int(exponent) < 0 else power
    return Piece(_row(f"<mn>{digits}</mn><mo>{DOT}</mo><msup><mn>10</mn>{power}</msup>"), PRODUCT)


class MathmlStyle:
    """Every piece is one element."""

    bars = True

    def number(self, value: Number) -> Piece:
        text = number_text(value.value)
        if "/" in text:
            above, below = text.split("/")
            return Piece(f"<mfrac><mn>{above}</mn><mn>{below}</mn></mfrac>", POWER)
        return _decimal(text)

    def name(self, name: Name) -> str:
        if name.kind in ("state", "parameter"):
            return name_mathml(name.text)
        return f"<msub><mi>{name.text[0]}</mi><mn>{name.number}</mn></msub>"

    def call(self, op: str, args: Sequence[Piece]) -> Piece:
        texts = [a.text for a in args]
        match op:
            case "pi":
                return Piece("<mi>π</mi>", ATOM)
            case "sqrt":
                return Piece(f"<msqrt>{texts[0]}</msqrt>", ATOM)
            case "abs":
                return Piece(_row(f"<mo>|</mo>{texts[0]}<mo>|</mo>"), ATOM)
            case "pow":
                return Piece(f"<msup>{wrapped(args[0], ATOM, self)}{texts[1]}</msup>", POWER)
            case "select":
                condition = _row(f"{texts[0]}<mo>&gt;</mo><mn>0</mn>")
                rows = ((texts[1], condition), (texts[2], "<mtext>otherwise</mtext>"))
                table = "".join(f"<mtr><mtd>{a}</mtd><mtd>{b}</mtd></mtr>" for a, b in rows)
                return Piece(_row(f"<mo>{{</mo><mtable>{table}</mtable>"), SUM)
        inner = "<mo>,</mo>".join(texts)
        return Piece(_row(f"<mi>{_NAMES.get(op, op)}</mi><mo>{APPLY}</mo>{self.parentheses(inner)}"), ATOM)

    def sum(self, terms: Sequence[tuple[bool, str]]) -> str:
        text = f"<mo>{MINUS}</mo>" * terms[0][0] + terms[0][1]
        return _row(text + "".join(f"<mo>{MINUS if n else '+'}</mo>{t}" for n, t in terms[1:]))

    def product(self, factors: Sequence[str]) -> str:
        text = factors[0]
        for factor in factors[1:]:
            digits = re.match(r"<m(n|row><mn|frac|sup><mn)>", factor)
            named = re.match(r"<m(row|sup)>(<mrow>)?<mi>\w\w", factor)  # 2 sin q, not 2sin q
            text += f"<mo{THIN if named else ''}>{DOT if digits else TIMES}</mo>{factor}"
        return _row(text)

    def quotient(self, above: str, below: str) -> str:
        return f"<mfrac>{above}{below}</mfrac>"

    def power(self, base: str, exponent: int) -> str:
        return f"<msup>{base}<mn>{exponent}</mn></msup>"

    def negative(self, text: str) -> str:
        return _row(f"<mo>{MINUS}</mo>{text}")

    def parentheses(self, text: str) -> str:
        return _row(f"<mo>(</mo>{text}<mo>)</mo>")


STYLE = MathmlStyle()


def formula_mathml(formula: Signed) -> str:
    """A formula as one element, without <math>."""
    return render(formula, STYLE)


def math(inner: str, block: bool = True) -> str:
    """The <math> element."""
    display_block = ' display="block"' if block else ""
    return f"<math {_XMLNS}{display_block}>{inner}</math>"


def expression_mathml(graph: Graph, ref: Ref) -> str:
    """The expression as a <math> element; above about 60 nodes a table of intermediates, then it."""
    program = program_of(graph, [ref])
    found = listing(program, program.outputs[0].refs, prefix=free_prefix(program))
    result = formula_mathml(found.results[0])
    if not found.lines:
        return math(result)
    rows = [(STYLE.name(name), "<mo>=</mo>", formula_mathml(formula)) for name, formula, _ in found.lines]
    table = ("".join(f"<mtd>{cell}</mtd>" for cell in row) for row in (*rows, ("", "", result)))
    return math(f"<mtable>{''.join(f'<mtr>{row}</mtr>' for row in table)}</mtable>")


@dataclass(frozen=True, slots=True)
class Mathml:
    """The MathML target: one page for all tasks."""

    name: str = "mathml"
    fused: bool = False

    def render(self, package: Package) -> dict[str, str]:
        refuse_unknown(package, self.name)
        title = _text(f"Equations of {package.title}")
        lines = ["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">', f"<title>{title}</title>"]
        lines += ["</head>", "<body>", f"<h1>{title}</h1>", *(f"<p>{_text(note)}</p>" for note in package.notes)]
        for task in equations(package):
            lines += _task(task)
        return {f"{package.name}.html": "\n".join([*lines, "</body>", "</html>", ""])}


def _text(text: str) -> str:
    return escape(comment_text(text), quote=False)


def _task(task: Equations) -> list[str]:
    lines = [f"<h2>{_text(task.program.name)}</h2>", f"<p>{_text(counts_text(task.program.counts))}</p>"]
    for kind, rows in (("Constants", task.constants), ("Intermediates", task.lines), ("Results", task.results)):
        if rows:
            lines += [f"<h3>{kind}</h3>", *(equation_mathml(row, kind == "Constants") for row in rows)]
    return lines


def equation_mathml(row: Row, valued: bool) -> str:
    """A row as a <math> element: left side = formula, and where `valued` = its number."""
    left, formula, value = row
    text = f"{_left(left)}<mo>=</mo>{formula_mathml(formula)}"
    if valued and value:
        negative = f"<mo>{MINUS}</mo>" if value.startswith("-") else ""
        text += f"<mo>=</mo>{negative}{_decimal(value.lstrip('-')).text}"
    return math(_row(text))


def _left(left: Left) -> str:
    if isinstance(left, Name):
        return STYLE.name(left)
    name, where = left
    if not where:
        return name_mathml(name)
    index = "<mo>,</mo>".join(f"<mn>{k}</mn>" for k in where)
    return f"<msub>{name_mathml(name)}{_row(index)}</msub>"


TARGET = Mathml()
