"""Numbers in generated code: exact values rounded once, printed as the shortest decimals that read back the same.

Rational numbers are rounded from the fraction.  Irrational constants that no run-time parameter enters (sines of fixed
angles, roots) are evaluated with 60 decimal digits and rounded once, so that every target holds the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, Overflow, localcontext
from fractions import Fraction
from typing import Literal

import numpy as np

from kane.errors import NumberError, UnsupportedError
from kane.graph.program import Program

Precision = Literal["double", "float"]
DIGITS = 60
_GUARD = 15
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def rounded(value: Fraction, precision: Precision = "double") -> float:
    """The nearest float64 or float32 (ties to even).  Raises NumberError when the value is beyond the largest."""
    try:
        near = float(value)
    except OverflowError:
        near = float("inf")
    if precision == "float" and near - near == 0:
        with np.errstate(over="ignore"):
            middle = np.float32(near)
        below, above = np.nextafter(middle, np.float32(-np.inf)), np.nextafter(middle, np.float32(np.inf))
        candidates = [c for c in (middle, below, above) if np.isfinite(c)] if np.isfinite(middle) else []
        # the second rounding can break a tie the wrong way: compare with the exact value
        near = float(min(candidates, key=lambda c: abs(Fraction(float(c)) - value))) if candidates else float("inf")
    if near - near != 0:
        message = f"the number {value} does not fit in a {precision}"
        raise NumberError(message, value=str(value), remedy="Change the units.")
    return near


def shortest(value: float, precision: Precision = "double") -> str:
    """The shortest decimal that reads back as this float64 (or float32), always with a point or an exponent."""
    if precision == "double":
        return repr(float(value))
    text = str(np.float32(value))
    return text if "." in text or "e" in text else text + ".0"


def baked_constants(program: Program) -> dict[int, Fraction]:
    """Values of the constants that depend on no run-time parameter, to 60 digits, by index.

    The rest of the constants section depends on parameters; so does nothing else.
    Raises UnsupportedError for a function that is not known here, NumberError for a value that is no number.
    """
    known: dict[int, Decimal] = {}
    result: dict[int, Fraction] = {}
    with localcontext(Context(prec=DIGITS + _GUARD, Emin=-(10**9), Emax=10**9)):
        for index, (op, args, payload, _) in enumerate(program.values[: program.first_state]):
            if op == "num":
                assert isinstance(payload, Fraction)
                known[index] = Decimal(payload.numerator) / Decimal(payload.denominator)
            elif op != "input" and all(a >> 1 in known for a in args):
                known[index] = _evaluate(op, [-known[a >> 1] if a & 1 else known[a >> 1] for a in args])
                result[index] = Fraction(+known[index])
    return result


def _evaluate(op: str, a: list[Decimal]) -> Decimal:
    if op not in _FUNCTIONS:
        message = f"no high-precision value of the function {op!r}"
        raise UnsupportedError(message, name=op, remedy="Make its argument a parameter.")
    try:
        result: Decimal = _FUNCTIONS[op](*a)
        return result
    except (ArithmeticError, Overflow) as error:
        shown = ", ".join(f"{x:.17g}" for x in a)
        raise NumberError(f"the constant {op}({shown}) is no number", name=op, value=shown) from error


def _sin(x: Decimal) -> Decimal:
    return _cos_sin(x)[1]


def _cos(x: Decimal) -> Decimal:
    return _cos_sin(x)[0]


def _cos_sin(x: Decimal) -> tuple[Decimal, Decimal]:
    """Reduce to |x| <= pi/4, then Taylor."""
    quarter = int((x / (_PI / 2)).to_integral_value())
    x -= quarter * (_PI / 2)
    c, s = _taylor(x, 0), _taylor(x, 1)
    return ((c, s), (-s, c), (-c, -s), (s, -c))[quarter % 4]


def _taylor(x: Decimal, start: int) -> Decimal:
    total = term = x if start else Decimal(1)
    n = start
    while term and term.adjusted() > -(DIGITS + _GUARD + 5):
        term *= -x * x / ((n + 1) * (n + 2))
        total += term
        n += 2
    return total


def _atan(x: Decimal) -> Decimal:
    """Halve the angle until the series is short: atan(x) = 2 atan(x / (1 + sqrt(1 + x^2)))."""
    halvings = 0
    while abs(x) > Decimal("0.05"):
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    total = term = x
    n = 1
    while term and term.adjusted() > -(DIGITS + _GUARD + 5):
        term *= -x * x
        n += 2
        total += term / n
    return total * Decimal(2**halvings)


def _atan2(y: Decimal, x: Decimal) -> Decimal:
    if x > 0:
        return _atan(y / x)
    if x < 0:
        return _atan(y / x) + (_PI if y >= 0 else -_PI)
    return Decimal(0) if y == 0 else (_PI / 2).copy_sign(y)


def _asin(x: Decimal) -> Decimal:
    return _atan2(x, ((1 - x) * (1 + x)).sqrt())


def _power(x: Decimal, y: Decimal) -> Decimal:
    return x ** int(y) if y == int(y) and abs(y) < 64 else (y * x.ln()).exp()


def _sign(x: Decimal) -> Decimal:
    return Decimal((x > 0) - (x < 0))


_FUNCTIONS: dict[str, Callable[..., Decimal]] = {
    "pi": lambda: _PI,
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "fma": lambda a, b, c: a * b + c,
    "div": lambda a, b: a / b,
    "sqrt": lambda a: a.sqrt(),
    "sin": _sin,
    "cos": _cos,
    "tan": lambda a: _sin(a) / _cos(a),
    "asin": _asin,
    "acos": lambda a: _PI / 2 - _asin(a),
    "atan": _atan,
    "atan2": _atan2,
    "exp": lambda a: a.exp(),
    "log": lambda a: a.ln(),
    "sinh": lambda a: (a.exp() - (-a).exp()) / 2,
    "cosh": lambda a: (a.exp() + (-a).exp()) / 2,
    "tanh": lambda a: 1 - 2 / ((2 * a).exp() + 1),
    "abs": abs,
    "sign": _sign,
    "select": lambda c, a, b: a if c > 0 else b,
    "min": min,
    "max": max,
    "pow": _power,
}
