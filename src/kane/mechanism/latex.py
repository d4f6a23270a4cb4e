"""Names and formulas in LaTeX: of a user's symbols, and of formulas in pieces between which a line may break."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kane.mechanism.display import LETTER, display
from kane.mechanism.formula import Formula

OPERATORS = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "log": "ln"} | {
    name: name for name in ("sin", "cos", "tan", "exp", "sinh", "cosh", "tanh", "min", "max")
}
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", **{c: f"\\{c}" for c in "&%$#_{}"},
}  # fmt: skip


def escape(text: str) -> str:
    """Text outside formulas."""
    return "".join(f"${_greek(ch)}$" if ch in LETTER else _SPECIAL.get(ch, ch) for ch in text)


def name_latex(user: str, dots: int = 0) -> str:
    """A user's name in a formula; dots: of a rate, above those that the name has."""
    found = display(user)
    base, dots = _letters(found.base), found.dots + dots
    if dots:
        base = rf"\{'d' * dots}ot{{{base}}}"
    below, above = (",".join(_letters(part) for part in text.split(",")) for text in (found.below, found.above))
    return base + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _letters(text: str) -> str:
    if text in LETTER:
        return _greek(text)
    return text if re.fullmatch(r"[A-Za-z]|\d*", text) else _upright(text)


def _upright(text: str) -> str:
    plain = "".join(_greek(ch) + " " if ch in LETTER else _SPECIAL.get(ch, ch) for ch in text)
    odd = re.search(r"[^A-Za-z0-9\\{} ]|\\text", plain)
    return rf"\text{{{escape(text)}}}" if odd else rf"\mathrm{{{plain}}}"


def _greek(letter: str) -> str:
    name = LETTER[letter]
    return {"omicron": "o"}.get(name, f"\\{name}")


LONG = 14  # symbols in a sum that may break within its parentheses
Namer = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Product:
    """(-1)^negative above / below."""

    negative: bool
    above: tuple[Formula, ...]
    below: tuple[Formula, ...]


def formula_latex(formula: Formula, namer: Namer = name_latex) -> str:
    """A formula on one line."""
    return _sum(formula, namer)


def is_sum(formula: Formula) -> bool:
    """True where a factor beside the formula wants parentheses around it."""
    return len(_terms(formula)) > 1


def formula_pieces(formula: Formula, namer: Namer = name_latex) -> list[str]:
    """A formula as pieces one after the other; a line may break before each."""
    pieces: list[str] = []
    for k, (negative, term) in enumerate(_terms(formula)):
        product = _product(term, negative)
        sign = "-" if product.negative else "+" if k else ""
        first, *rest = _product_pieces(product, namer)
        pieces += [f"{sign} {first}" if k else f"{sign}{first}", *rest]
    return pieces


def _product_pieces(p: _Product, namer: Namer) -> list[str]:
    """A product; a long sum among its factors breaks."""
    long = next((k for k, x in enumerate(p.above) if x.op in ("add", "sub") and _size(x) > LONG), None)
    if long is None:
        return [_product_latex(p, namer)]
    rest = _Product(False, (*p.above[:long], *p.above[long + 1 :]), p.below)
    before = _product_latex(rest, namer) if rest.above or rest.below else ""
    pieces = formula_pieces(p.above[long], namer)
    space = r" \, " if before else ""
    return [rf"{before}{space}\bigl({pieces[0]}", *pieces[1:-1], rf"{pieces[-1]}\bigr)"]


def _size(formula: Formula) -> int:
    return sum(map(_size, formula.args)) if formula.args else 1


def _terms(formula: Formula) -> list[tuple[bool, Formula]]:
    """The signed terms of a sum."""
    if formula.op == "add":
        return [*_terms(formula.args[0]), *_terms(formula.args[1])]
    if formula.op == "sub":
        return [*_terms(formula.args[0]), *((not sign, x) for sign, x in _terms(formula.args[1]))]
    if formula.op == "neg":
        return [(not sign, x) for sign, x in _terms(formula.args[0])]
    return [(False, formula)]


def _product(formula: Formula, negative: bool = False) -> _Product:
    if formula.op == "neg":
        return _product(formula.args[0], not negative)
    if formula.op not in ("mul", "div"):
        return _Product(negative, (formula,), ())
    a, b = _product(formula.args[0]), _product(formula.args[1])
    if formula.op == "div":
        b = _Product(b.negative, b.below, b.above)
    return _Product(negative ^ a.negative ^ b.negative, (*a.above, *b.above), (*a.below, *b.below))


def _sum(formula: Formula, namer: Namer) -> str:
    text = ""
    for negative, term in _terms(formula):
        product = _product(term, negative)
        sign = "-" if product.negative else "+"
        own = _product_latex(product, namer)
        text = f"{text} {sign} {own}" if text else f"-{own}" if product.negative else own
    return text


def _product_latex(p: _Product, namer: Namer) -> str:
    """Factors by juxtaposition over a bar; sums beside other factors follow it."""
    if not p.below:
        return _factors(p.above, namer)
    bar = [x for x in p.above if x.op not in ("add", "sub")]
    after = [x for x in p.above if x.op in ("add", "sub")]
    if not bar and len(after) == 1:
        bar, after = after, []
    alone = len(p.below) == 1
    above = _sum(bar[0], namer) if len(bar) == 1 else _factors(bar, namer) or "1"
    below = _sum(p.below[0], namer) if alone else _factors(p.below, namer)
    text = rf"\frac{{{above}}}{{{below}}}"
    return rf"{text} \, {_factors(after, namer)}" if after else text


def _factors(factors: Sequence[Formula], namer: Namer) -> str:
    text = ""
    for x in factors:
        if x.op == "num" and x.value == 1 and len(factors) > 1:
            continue
        own = _factor(x, namer)
        digits = bool(text) and own[0].isdigit()
        text += (r" \cdot " if digits else r" \, " if text else "") + own
    return text or ("1" if factors else "")


def _factor(x: Formula, namer: Namer) -> str:
    match x.op:
        case "num":
            return _number(Fraction(x.value))  # type: ignore[arg-type]
        case "name":
            return namer(str(x.value))
        case "pi":
            return r"\pi"
        case "sqrt":
            return rf"\sqrt{{{_sum(x.args[0], namer)}}}"
        case "abs":
            return rf"\left|{_sum(x.args[0], namer)}\right|"
        case "pow":
            return _power(x.args[0], x.args[1], namer)
        case "add" | "sub" | "mul" | "div" | "neg":
            return rf"\left({_sum(x, namer)}\right)"
    return rf"{_head(x.op)}\left({', '.join(_sum(a, namer) for a in x.args)}\right)"


def _head(op: str) -> str:
    return f"\\{OPERATORS[op]}" if op in OPERATORS else rf"\operatorname{{{op}}}"


def _power(base: Formula, exponent: Formula, namer: Namer) -> str:
    above, own = _sum(exponent, namer), _factor(base, namer)
    if base.op in OPERATORS and exponent.op == "num":
        return own.replace(_head(base.op), f"{_head(base.op)}^{{{above}}}", 1)
    if base.op in ("add", "sub", "mul", "div", "neg"):  # in parentheses already
        return f"{own}^{{{above}}}"
    if base.op == "name":
        return f"{{{own}}}^{{{above}}}" if "^" in own or "dot" in own else f"{own}^{{{above}}}"
    return f"{own}^{{{above}}}" if base.op in ("num", "pi", "sqrt") else rf"\left({own}\right)^{{{above}}}"


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
