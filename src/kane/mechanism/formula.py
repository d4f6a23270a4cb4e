"""Exact scalars of a description: rational numbers and small formulas in names, written and read as text.

A description holds `Scalar = Fraction | Formula`.  Formulas are frozen trees over named symbols (coordinates, speeds,
parameters, `t`), `pi`, rationals and functions; `str()` and `parse()` are inverse to each other, so a description can
be written to a file.
"""

from __future__ import annotations

import ast
import math
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from kane.errors import NumberError, UnknownNameError
from kane.graph.arena import Graph, Ref
from kane.graph.functions import FUNCTIONS

_BINARY = {"add": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
_RANK = {"add": 1, "sub": 1, "mul": 2, "div": 2, "neg": 3, "pow": 4}
_AST = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow"}
_LONGEST = 400  # characters of a number
_PLACES = 18  # behind the point of a number without an exponent
_LITERAL = re.compile(r"(?<![\w.])(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?")
_ODD = re.compile(r"(?<![\w.])(?:0[xXbBoO]|\d[\d.]*_)")  # hexadecimal and the like, digits grouped by underscores
_CALLS = {"sin": 1, "cos": 1, "sqrt": 1, **{key: function.arity for key, function in FUNCTIONS.items()}}
MEASURES = frozenset(("velocity", "material_velocity", "angular_velocity", "position", "distance", "distance_dot"))


@dataclass(frozen=True, slots=True)
class Formula:
    """One node: op, operands, and `value` of a number or a name."""

    op: str
    args: tuple[Formula, ...] = ()
    value: Fraction | str | None = None

    def __add__(self, other: ScalarLike) -> Formula:
        return Formula("add", (self, formula(other)))

    def __radd__(self, other: ScalarLike) -> Formula:
        return Formula("add", (formula(other), self))

    def __sub__(self, other: ScalarLike) -> Formula:
        return Formula("sub", (self, formula(other)))

    def __rsub__(self, other: ScalarLike) -> Formula:
        return Formula("sub", (formula(other), self))

    def __mul__(self, other: ScalarLike) -> Formula:
        if not isinstance(other, (Formula, int, str, float, Decimal, Fraction)):
            return NotImplemented  # scalar times vector is the vector's business
        return Formula("mul", (self, formula(other)))

    def __rmul__(self, other: ScalarLike) -> Formula:
        return Formula("mul", (formula(other), self))

    def __truediv__(self, other: ScalarLike) -> Formula:
        return Formula("div", (self, formula(other)))

    def __rtruediv__(self, other: ScalarLike) -> Formula:
        return Formula("div", (formula(other), self))

    def __pow__(self, other: ScalarLike) -> Formula:
        return Formula("pow", (self, formula(other)))

    def __neg__(self) -> Formula:
        return Formula("neg", (self,))

    def __str__(self) -> str:
        return _text(self, 0)

    def __repr__(self) -> str:
        return f"parse({str(self)!r})"

    def names(self) -> frozenset[str]:
        """The symbols in it."""
        if self.op == "name":
            return frozenset((str(self.value),))
        return frozenset().union(*[arg.names() for arg in self.args]) if self.args else frozenset()

    def evaluate(self, values: Mapping[str, float]) -> float:
        """The floating-point value.  Raises UnknownNameError, a KeyError, for a name without a value."""
        if self.op == "num":
            return float(self.value)  # type: ignore[arg-type]
        if self.op == "name":
            try:
                return float(values[str(self.value)])
            except KeyError:
                raise valueless(str(self.value)) from None
        a = [arg.evaluate(values) for arg in self.args]
        return float(_FLOAT[self.op](*a) if self.op in _FLOAT else FUNCTIONS[self.op].value(*a))

    def build(self, graph: Graph, resolve: Callable[[str], Ref]) -> Ref:
        """The reference of this formula in a graph; `resolve` gives the reference of a name."""
        if self.op == "num":
            return graph.number(self.value)  # type: ignore[arg-type]
        if self.op == "name":
            return resolve(str(self.value))
        if self.op == "pi":
            return graph.pi()
        if self.op == "pow" and self.args[1].op in ("num", "neg"):
            exponent = Fraction(self.args[1].evaluate({})).limit_denominator(10**6)
            base = self.args[0].build(graph, resolve)
            if exponent.denominator == 1:
                return graph.power(base, int(exponent))
            if exponent.denominator == 2:
                return graph.power(graph.sqrt(base), int(exponent * 2))
        a = [resolve(str(arg.value)) if arg.op == "name" else arg.build(graph, resolve) for arg in self.args]
        if self.op in ("add", "sub", "mul", "div", "neg", "sqrt", "sin", "cos"):
            result: Ref = getattr(graph, self.op)(*a)
            return result
        return graph.function(self.op, *a)


Scalar = Fraction | Formula
ScalarLike = Fraction | Formula | int | str | float | Decimal

_FLOAT: dict[str, Callable[..., float]] = {
    "pi": lambda: math.pi,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
    "neg": lambda a: -a,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
}


def name(text: str) -> Formula:
    """The symbol of this name."""
    return Formula("name", (), text)


PI = Formula("pi")
ZERO = Fraction(0)


def exact(value: ScalarLike) -> Scalar:
    """A scalar from a number (floats by their shortest decimal) or from text ("1.5", "pi/2", "L1*cos(q1)").

    Raises NumberError for what is not finite or cannot be read.
    """
    if isinstance(value, Formula):  # before Fraction, whose test is slow
        return value
    if isinstance(value, str):
        return parse(value)
    if isinstance(value, Fraction):
        return value
    try:
        return Fraction(Decimal(repr(float(value)))) if isinstance(value, float) else Fraction(value)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        text = repr(value)
        raise NumberError(f"{text} is not a finite number.", value=text, remedy="Give a finite number.") from None


def formula(value: ScalarLike) -> Formula:
    """The value as a Formula."""
    scalar = exact(value)
    if isinstance(scalar, Formula):
        return scalar
    return Formula("num", (), scalar) if scalar >= 0 else Formula("neg", (Formula("num", (), -scalar),))


def function(op: str, *args: ScalarLike) -> Scalar:
    """sin, cos, sqrt or another function of scalars."""
    return Formula(op, tuple(formula(a) for a in args))


def parse(text: str) -> Scalar:
    """Read a number or a formula: + - * / **, parentheses, pi, names and functions; nothing else is evaluated.

    Raises NumberError naming the text.
    """
    stripped = text.strip()
    try:
        plain = stripped.isascii() and "_" not in stripped and len(stripped) <= _LONGEST
        decimal = Decimal(stripped if plain else "nan")
        if decimal.is_finite() and (not decimal or -400 < decimal.adjusted() < 309):
            number = Fraction(decimal)
            if abs(number) <= sys.float_info.max:
                return number
    except (ArithmeticError, ValueError):
        pass
    try:
        if _ODD.search(stripped):
            raise ValueError("only decimal numbers are read")
        for text_ in _LITERAL.findall(stripped):
            literal = Decimal(text_)
            if len(text_) > _LONGEST or (literal and not -400 < literal.adjusted() < 309):
                raise ValueError("a number in it is out of range")
        with warnings.catch_warnings():  # Python's own remarks on odd literals
            warnings.simplefilter("ignore")
            tree = ast.parse(stripped.replace("^", "**"), mode="eval")
        result = _from_ast(tree.body)
        if not result.names() and not math.isfinite(result.evaluate({})):
            raise ValueError("it is not finite")
    except (SyntaxError, ValueError, RecursionError, ArithmeticError, MemoryError, TypeError) as error:
        raise NumberError(
            f"{text!r} is neither a number nor a formula ({error}).",
            value=text,
            remedy="Write a decimal number or a formula such as 'pi/2' or 'L1*cos(q1)'.",
        ) from None
    return simplified(result)


def simplified(f: Formula) -> Scalar:
    """A Fraction where the formula is a plain rational, otherwise the formula."""
    value = _rational(f)
    return f if value is None else value


def _rational(f: Formula) -> Fraction | None:
    if f.op == "num":
        return Fraction(f.value)  # type: ignore[arg-type]
    if f.op not in ("add", "sub", "mul", "div", "neg"):
        return None
    a = [_rational(arg) for arg in f.args]
    if any(x is None for x in a) or (f.op == "div" and a[1] == 0):
        return None
    return Fraction(_FLOAT[f.op](*a))


def _from_ast(node: ast.expr) -> Formula:
    match node:
        case ast.BinOp(left, op, right) if type(op) in _AST:
            return Formula(_AST[type(op)], (_from_ast(left), _from_ast(right)))
        case ast.UnaryOp(ast.USub(), operand):
            return -_from_ast(operand)
        case ast.UnaryOp(ast.UAdd(), operand):
            return _from_ast(operand)
        case ast.Constant(value) if isinstance(value, (int, float)) and not isinstance(value, bool):
            return formula(ast.unparse(node) if isinstance(value, int) else value)
        case ast.Name("pi"):
            return PI
        case ast.Name(identifier) if identifier.lower() not in ("nan", "inf", "infinity"):
            return name(identifier)
        case ast.Call(ast.Name(called), arguments, []) if len(arguments) == _CALLS.get(called):
            return Formula(called, tuple(_from_ast(a) for a in arguments))
        case ast.Call(ast.Name(called), arguments, []) if called in MEASURES:  # a component of a motion, by names
            return name(ast.unparse(node))
    raise ValueError(f"{ast.unparse(node)!r} is not allowed")


def _text(f: Formula, rank: int) -> str:
    if f.op == "num":
        return _number_text(Fraction(f.value), rank)  # type: ignore[arg-type]
    if f.op == "name":
        return str(f.value)
    if f.op == "pi":
        return "pi"
    own = _RANK.get(f.op)
    if own is None:
        return f"{f.op}({', '.join(_text(a, 0) for a in f.args)})"
    if f.op == "neg":
        inner = f"-{_text(f.args[0], own)}"
    elif f.op == "pow":
        inner = f"{_text(f.args[0], own + 1)}**{_text(f.args[1], own)}"
    else:
        inner = f"{_text(f.args[0], own)} {_BINARY[f.op]} {_text(f.args[1], own + 1)}"
    return f"({inner})" if own < rank else inner


def _number_text(value: Fraction, rank: int) -> str:
    """A terminating decimal where there is one, else a quotient."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:
        digits = max(_valuation(value.denominator, 2), _valuation(value.denominator, 5))
        return _scientific(value, digits) if digits > _PLACES else _fixed(value, digits)
    text = f"{value.numerator}/{value.denominator}"
    return f"({text})" if rank > 1 else text


def _scientific(value: Fraction, digits: int) -> str:
    """1.73e-18: one digit before the point; digits: how many decimals the value has."""
    text = str(value.numerator * 10**digits // value.denominator)
    exponent = len(text) - 1 - digits
    return f"{text[0]}{'.' + text[1:] if text[1:] else ''}e{exponent}"


def _fixed(value: Fraction, digits: int) -> str:
    scaled = str(abs(value.numerator) * 10**digits // value.denominator).rjust(digits + 1, "0")
    return f"{scaled[:-digits]}.{scaled[-digits:]}" if digits else scaled


def _valuation(n: int, prime: int) -> int:
    k = 0
    while n % prime == 0:
        n, k = n // prime, k + 1
    return k


def scalar_text(value: Scalar) -> str:
    """The text that parse() reads back to the same scalar."""
    if isinstance(value, Formula):
        return str(value)
    return str(formula(value))


def number(value: Scalar, values: Mapping[str, float] | None = None) -> float:
    """The floating-point value of a scalar, with values for its names."""
    return value.evaluate({} if values is None else values) if isinstance(value, Formula) else float(value)


def number_or_text(value: Scalar, values: Mapping[str, float]) -> float | str:
    """The floating-point value, or the formula's text where a name of it has none."""
    if isinstance(value, Formula) and not all(name in values for name in value.names()):
        return str(value)
    return number(value, values)


def valueless(name: str) -> UnknownNameError:
    """The error of a parameter whose value is needed, and was not given."""
    remedy = f"Give one: robot.with_parameters({{{name!r}: 2.5}}), or --values {name}=2.5 in a command."
    return UnknownNameError(f"Parameter {name!r} has no value.", name=name, remedy=remedy)


def build(value: Scalar, graph: Graph, resolve: Callable[[str], Ref]) -> Ref:
    """The reference of a scalar in a graph."""
    return value.build(graph, resolve) if isinstance(value, Formula) else graph.number(value)


def add(a: Scalar, b: Scalar) -> Scalar:
    """a + b, folded where both are rational."""
    if isinstance(a, Formula):
        return a + b if isinstance(b, Formula) or b else a
    if isinstance(b, Formula):
        return formula(a) + b if a else b
    return a + b


def mul(a: Scalar, b: Scalar) -> Scalar:
    """a * b, folded where both are rational or one is 0 or 1."""
    if isinstance(a, Formula):
        if isinstance(b, Formula):
            return a * b
        return a if b == 1 else a * b if b else ZERO
    if isinstance(b, Formula):
        return b if a == 1 else formula(a) * b if a else ZERO
    return a * b


def neg(a: Scalar) -> Scalar:
    return -a


def is_zero(value: Any) -> bool:
    """True for the rational 0."""
    return not isinstance(value, Formula) and isinstance(value, Fraction) and not value
