"""Exact coefficients: polynomials with rational numbers in the atoms of a description.

Atoms are named parameters and sines of fixed angles.  A Coefficient is a dict from a packed monomial (BITS bits of
exponent an atom, in one integer) to a rational.  Products add the integers.  Atoms may satisfy x^2 = polynomial (sin^2
= 1 - cos^2, sqrt(2)^2 = 2): products are reduced by that, so that equal functions have equal coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from kane.graph.arena import Graph, Ref
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula, Scalar

BITS = 6
_MASK = (1 << BITS) - 1
Number = int | Fraction
Coefficient = dict[int, Number]
K = TypeVar("K", bound=Hashable)
ONE: Coefficient = {0: 1}
_PI = Fraction("3.1415926535897932384626433832795028841971693993751")
_SHORT = 14  # characters of a number that is printed exactly
NEAR_ANGLE = 1e-15  # rad: how much a rounded fixed angle may differ, which the model's notes say
_FINE, _NEAR = 10**8, Fraction(1, 10**16)  # denominators of tan(angle / 2) to start with, and how near to come


def plain(value: Number) -> Number:
    """An integer where the rational is one: integers are faster."""
    return value.numerator if value.denominator == 1 else value


def add(a: Coefficient, b: Coefficient, factor: Number = 1) -> Coefficient:
    """a + factor * b."""
    result = dict(a)
    for key, value in b.items():
        total = result.get(key, 0) + value * factor
        if total:
            result[key] = total
        else:
            result.pop(key, None)
    return result


def scale(a: Coefficient, factor: Number) -> Coefficient:
    if factor == 1:
        return a
    return {key: value * factor for key, value in a.items()} if factor else {}


def accumulate(sums: dict[K, Coefficient], key: K, value: Coefficient, factor: Number = 1) -> None:
    """sums[key] += factor * value; what vanishes is taken out.  Coefficients are shared, never changed in place."""
    known = sums.get(key)
    total = scale(value, factor) if known is None else add(known, value, factor)
    if total:
        sums[key] = total
    elif known is not None:
        del sums[key]


def unimodular_inverse(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """The inverse of a whole matrix of determinant 1 or -1, which is whole too."""
    n = len(rows)
    work = [[Fraction(x) for x in row] + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(rows)]
    for i in range(n):
        pivot = next(r for r in range(i, n) if work[r][i])
        work[i], work[pivot] = work[pivot], work[i]
        work[i] = [x / work[i][i] for x in work[i]]
        for r in range(n):
            if r != i and work[r][i]:
                work[r] = [x - work[r][i] * y for x, y in zip(work[r], work[i], strict=True)]
    return tuple(tuple(int(x) for x in row[n:]) for row in work)


@dataclass(frozen=True, slots=True)
class Atom:
    """A symbol of the coefficients: name, value (None when only known at run time), the formula it stands for."""

    name: str
    value: float | None
    formula: Formula
    exact: Fraction | None = None


class Atoms:
    """The table of atoms of one model, and the arithmetic that needs it."""

    def __init__(self, values: Mapping[str, Fraction | None]) -> None:
        self._values = dict(values)
        self.atoms: list[Atom] = []
        self._place: dict[str, int] = {}
        self.rounding = 0.0  # rad: the most that a fixed angle is rounded by
        self._squares: list[tuple[int, Coefficient]] = []  # (shift of the atom, what its square is)

    def atom(self, name: str, formula: Formula | None = None, exact: Fraction | None = None) -> int:
        """The packed monomial of the atom of this name, made at its first mention."""
        place = self._place.get(name)
        if place is None:
            place = self._place[name] = len(self.atoms)
            known = exact if formula is None and exact is not None else self._values.get(name)
            self.atoms.append(Atom(name, self._float(formula, known), formula or f.name(name), known))
        return 1 << (BITS * place)

    def _float(self, formula: Formula | None, exact: Fraction | None) -> float | None:
        if formula is None:
            return None if exact is None else float(exact)
        try:
            return formula.evaluate({k: float(v) for k, v in self._values.items() if v is not None})
        except KeyError:
            return None

    def taken(self, name: str) -> bool:
        """True when an atom or a parameter has this name."""
        return name in self._place or name in self._values

    def mul(self, a: Coefficient, b: Coefficient) -> Coefficient:
        """The product, reduced by the squares of the atoms."""
        if len(a) < len(b):
            a, b = b, a
        result: Coefficient = {}
        for key_b, value_b in b.items():
            for key_a, value_a in a.items():
                key = key_a + key_b
                total = result.get(key, 0) + value_a * value_b
                if total:
                    result[key] = total
                else:
                    del result[key]
        for shift, square in self._squares:
            result = self._reduced(result, shift, square)
        return result

    def _reduced(self, a: Coefficient, shift: int, square: Coefficient) -> Coefficient:
        if all((key >> shift) & _MASK < 2 for key in a):
            return a
        low: Coefficient = {key: value for key, value in a.items() if (key >> shift) & _MASK < 2}
        high: Coefficient = {key - (2 << shift): value for key, value in a.items() if (key >> shift) & _MASK >= 2}
        return add(low, self.mul(high, square))

    # reading scalars

    def scalar(self, value: Scalar) -> Coefficient:
        """The polynomial of a scalar; what is not a polynomial in names is an atom of its own."""
        if isinstance(value, Fraction):
            return {0: plain(value)} if value else {}
        op, args = value.op, value.args
        if op == "num":
            return self.scalar(Fraction(value.value))  # type: ignore[arg-type]
        if op == "name":
            return {self.atom(str(value.value)): 1}
        if op == "neg":
            return scale(self.scalar(args[0]), -1)
        if op in ("add", "sub"):
            return add(self.scalar(args[0]), self.scalar(args[1]), 1 if op == "add" else -1)
        if op == "mul":
            return self.mul(self.scalar(args[0]), self.scalar(args[1]))
        if op == "div":
            below = self.scalar(args[1])
            if list(below) == [0]:
                return scale(self.scalar(args[0]), 1 / Fraction(below[0]))
        if op == "pow":
            exponent = self.scalar(args[1])
            if list(exponent) == [0] and exponent[0].denominator == 1 and exponent[0] > 0:
                power, base = ONE, self.scalar(args[0])
                for _ in range(int(exponent[0])):
                    power = self.mul(power, base)
                return power
        if op == "cos":
            return self.cos_sin(args[0])[0]
        if op == "sin":
            return self.cos_sin(args[0])[1]
        return {self.atom(str(value), value): 1}

    def cos_sin(self, angle: Scalar) -> tuple[Coefficient, Coefficient]:
        """Cosine and sine of a fixed angle, exact: multiples of pi/12 by roots, others by a pair of atoms."""
        terms = linear_form(angle)
        if terms is not None:
            halves = terms.pop("pi", Fraction(0))
            if not any(terms.values()) and (halves * 12).denominator == 1:
                return self._twelfths(int(halves * 12) % 24), self._twelfths(int(halves * 12 - 6) % 24)
            quarter, rest = divmod(halves, Fraction(1, 2))
            if rest == 0 and quarter:
                base = _rebuilt(terms)
                c, s = self.cos_sin(base)
                turned = ((c, s), (scale(s, -1), c), (scale(c, -1), scale(s, -1)), (s, scale(c, -1)))
                return turned[int(quarter) % 4]
        formula = f.formula(angle)
        if formula.op == "neg":
            c, s = self.cos_sin(formula.args[0])
            return c, scale(s, -1)
        if not formula.names():
            return self._near(formula, linear_form(angle))
        text = str(formula)
        known = self.taken(f"sin({text})")
        cos_key = self.atom(f"cos({text})", Formula("cos", (formula,)))
        sin_key = self.atom(f"sin({text})", Formula("sin", (formula,)))
        if not known:
            self._squares.append((sin_key.bit_length() - 1, {0: 1, 2 * cos_key: -1}))
        return {cos_key: 1}, {sin_key: 1}

    def _near(self, angle: Formula, terms: dict[str, Fraction] | None) -> tuple[Coefficient, Coefficient]:
        """A rational point of the circle within NEAR_ANGLE of a fixed angle: cos^2 + sin^2 = 1 holds exactly.

        The angle is reduced to one turn exactly, rounded to a double, and its half's tangent to two digits more than
        doubles have near 1: 2e-16 rad each.
        """
        self.rounding = max(self.rounding, NEAR_ANGLE)
        if terms is None:
            value = angle.evaluate({})
            turned = math.remainder(value, 2 * math.pi)
            self.rounding = max(self.rounding, NEAR_ANGLE * (1 + 2 * abs(value)))
        else:
            whole = terms.get("", Fraction(0)) + terms.get("pi", Fraction(0)) * _PI
            turned = float(whole - 2 * _PI * round(whole / (2 * _PI)))
        exact = Fraction(math.tan(turned / 2))
        fine = _FINE
        while abs((t := exact.limit_denominator(fine)) - exact) > _NEAR:
            fine *= 100
        square = t * t
        cos, sin = (1 - square) / (1 + square), 2 * t / (1 + square)
        return {0: plain(cos)} if cos else {}, {0: plain(sin)} if sin else {}

    def _twelfths(self, k: int) -> Coefficient:
        """cos(k pi / 12)."""
        k = min(k, 24 - k)
        if k > 6:
            return scale(self._twelfths(12 - k), -1)
        half = Fraction(1, 2)
        if k in (0, 4, 6):
            simple: dict[int, Coefficient] = {0: ONE, 4: {0: half}, 6: {}}
            return simple[k]
        if k in (2, 3):
            return {self._root(3 if k == 2 else 2): half}
        two, three = self._root(2), self._root(3)
        return {two + three: Fraction(1, 4), two: Fraction(1 if k == 1 else -1, 4)}

    def _root(self, n: int) -> int:
        known = self.taken(f"sqrt({n})")
        key = self.atom(f"sqrt({n})", Formula("sqrt", (f.formula(n),)))
        if not known:
            self._squares.append((key.bit_length() - 1, {0: n}))
        return key

    # values

    def exponents(self, key: int) -> list[tuple[int, int]]:
        """(atom index, exponent) of a packed monomial."""
        result, place = [], 0
        while key:
            if key & _MASK:
                result.append((place, key & _MASK))
            key >>= BITS
            place += 1
        return result

    def value(self, a: Coefficient) -> float | None:
        """The floating-point value, summed exactly where the atoms are rational; None when an atom has no value."""
        exact = self.rational(a)
        if exact is not None:
            return float(exact)
        parts = []
        for key, number in a.items():
            part = float(number)
            for place, power in self.exponents(key):
                x = self.atoms[place].value
                if x is None:
                    return None
                part *= x**power
            parts.append(part)
        return math.fsum(parts)

    def rational(self, a: Coefficient) -> Fraction | None:
        """The value as a rational number, where all atoms are rational."""
        total = Fraction(0)
        for key, number in a.items():
            part = Fraction(number)
            for place, power in self.exponents(key):
                x = self.atoms[place].exact
                if x is None:
                    return None
                part *= x**power
            total += part
        return total

    def build(self, graph: Graph, a: Coefficient, resolve: Callable[[str], Ref]) -> Ref:
        """The coefficient in a graph; `resolve` gives the reference of a name (a symbol, or a number)."""
        total = graph.zero
        for key, number in sorted(a.items(), key=lambda item: self.sort_key(item[0])):
            product = graph.number(number)
            for place, power in self.exponents(key):
                product = graph.mul(product, graph.power(self.atoms[place].formula.build(graph, resolve), power))
            total = graph.add(total, product)
        return total

    # text

    def sort_key(self, key: int) -> tuple[object, ...]:
        """Orders monomials for reading: by their atoms in order of mention."""
        return tuple((place, -power) for place, power in self.exponents(key))

    def text(self, a: Coefficient) -> str:
        """The formula, as readable text: m2*ry2**2 + ..."""
        parts: list[str] = []
        for key in sorted(a, key=self.sort_key):
            number = a[key]
            factors = [self._power_text(place, power) for place, power in self.exponents(key)]
            if abs(number) != 1 or not factors:
                factors.insert(0, short_text(abs(Fraction(number))))
            sign = "-" if number < 0 else "+"
            parts.append(f"{sign} {'*'.join(factors)}" if parts else f"{'-' if number < 0 else ''}{'*'.join(factors)}")
        return " ".join(parts) or "0"

    def _power_text(self, place: int, power: int) -> str:
        atom = self.atoms[place]
        name = atom.name if atom.name.isidentifier() or atom.formula.op in ("sin", "cos", "sqrt") else f"({atom.name})"
        return name if power == 1 else f"{name}**{power}"


def short_text(number: Fraction) -> str:
    """A number as it is where that is short, else twelve digits of it (sines and cosines of general angles)."""
    exact = f.scalar_text(number)
    return exact if len(exact) <= _SHORT else f"{float(number):.12g}"


def linear_form(value: Scalar) -> dict[str, Fraction] | None:
    """A scalar as rational combination of names, "pi" and "" (the number); None when it is not one."""
    if isinstance(value, Fraction):
        return {"": value} if value else {}
    op, args = value.op, value.args
    if op == "num":
        return {"": Fraction(value.value)}  # type: ignore[arg-type]
    if op in ("name", "pi"):
        return {str(value.value) if op == "name" else "pi": Fraction(1)}
    if op not in ("neg", "add", "sub", "mul", "div"):
        return None
    parts = [linear_form(arg) for arg in args]
    if any(part is None for part in parts):
        return None
    first = parts[0] or {}
    if op == "neg":
        return {k: -v for k, v in first.items()}
    second = parts[1] or {}
    if op in ("add", "sub"):
        sign = 1 if op == "add" else -1
        total = {k: first.get(k, Fraction(0)) + sign * second.get(k, Fraction(0)) for k in {**first, **second}}
        return {k: v for k, v in total.items() if v}
    if op == "div":
        return {k: v / second[""] for k, v in first.items()} if set(second) == {""} else None
    if set(first) <= {""}:
        return {k: v * first.get("", 0) for k, v in second.items()}
    return {k: v * second.get("", 0) for k, v in first.items()} if set(second) <= {""} else None


def _rebuilt(terms: Mapping[str, Fraction]) -> Scalar:
    """The scalar of a linear form."""
    total: Scalar = Fraction(0)
    for name in sorted(terms):
        unit: Scalar = Fraction(1) if name == "" else f.PI if name == "pi" else f.name(name)
        total = f.add(total, f.mul(terms[name], unit))
    return total
