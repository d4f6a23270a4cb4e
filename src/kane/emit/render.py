"""From formula trees to notation: what text, LaTeX and MathML share.

A Style says how to write the pieces; `render` decides where parentheses are needed and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

from kane.emit.expression import Call, Name, Node, Number, Product, Signed, Sum, spread

SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4


class Piece(NamedTuple):
    """Text and how strongly it binds (SUM, PRODUCT, POWER, ATOM)."""

    text: str
    binding: int


class Style(Protocol):
    """A notation.  `bars`: quotients have a bar that groups what is above and below."""

    bars: bool

    def number(self, value: Number) -> Piece: ...

    def name(self, name: Name) -> str: ...

    def call(self, op: str, args: Sequence[Piece]) -> Piece: ...

    def sum(self, terms: Sequence[tuple[bool, str]]) -> str: ...

    def product(self, factors: Sequence[str]) -> str: ...

    def quotient(self, above: str, below: str) -> str: ...

    def power(self, base: str, exponent: int) -> str: ...

    def negative(self, text: str) -> str: ...

    def parentheses(self, text: str) -> str: ...


def render(formula: Signed, style: Style) -> str:
    """A formula in a notation."""
    return _signed(formula, style).text


def _signed(formula: Signed, style: Style) -> Piece:
    formula = spread(formula)
    piece = _node(formula.node, style)
    return Piece(style.negative(piece.text), SUM) if formula.negative else piece


def _node(node: Node, style: Style) -> Piece:
    match node:
        case Number():
            return style.number(node)
        case Name():
            return Piece(style.name(node), ATOM)
        case Call(op, args):
            return style.call(op, [_signed(a, style) for a in args])
        case Sum(terms):
            parts = [(t.negative, wrapped(_node(t.node, style), PRODUCT, style)) for t in terms]
            return Piece(style.sum(parts), SUM)
        case Product(above, below):
            return _product(above, below, style)


def _product(above: Sequence[tuple[Node, int]], below: Sequence[tuple[Node, int]], style: Style) -> Piece:
    top, bottom = (_factors(side, style, grouped=bool(below) and style.bars) for side in (above, below))
    if not below:
        return top
    if style.bars:
        return Piece(style.quotient(top.text, bottom.text), POWER)
    under = bottom.text if bottom.binding > PRODUCT else style.parentheses(bottom.text)
    return Piece(style.quotient(wrapped(top, PRODUCT, style), under), PRODUCT)


def _factors(factors: Sequence[tuple[Node, int]], style: Style, grouped: bool) -> Piece:
    """The product of powers; a single one next to a bar needs no parentheses."""
    if not factors:
        return style.number(Number(Fraction(1)))
    if len(factors) == 1 and factors[0][1] == 1:
        piece = _node(factors[0][0], style)
        return piece if grouped or piece.binding > PRODUCT else Piece(style.parentheses(piece.text), ATOM)
    texts = []
    for node, exponent in factors:
        piece = _node(node, style)
        if exponent == 1:
            texts.append(wrapped(piece, POWER, style))
        else:
            texts.append(style.power(wrapped(piece, ATOM, style), exponent))
    return Piece(style.product(texts) if len(texts) > 1 else texts[0], PRODUCT if len(texts) > 1 else POWER)


def wrapped(piece: Piece, least: int, style: Style) -> str:
    """The text, in parentheses when it binds less than `least`."""
    return piece.text if piece.binding >= least else style.parentheses(piece.text)
