"""The expression graph: an append-only arena of short nodes, shared by value.

A reference is an integer, `2 * node + sign`; an odd reference is the negative of its node, so that negation is free
and x and -x share one node.  Nodes are binary, nothing is flattened: the association chosen by the caller is kept,
because the operation count is the product.  A new node is looked up by its residue at a random point (field.py), not by
its shape: expressions that are equal as functions (sin^2 + cos^2 = 1, commutativity, distribution, sums of angles
included) are one node, and what vanishes is 0.  Residues also order operands, so the result does not depend on
hash seeds or on ids.

Every node has a level: 0 a rational number, 1 depends on parameters only, 2 depends on the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Literal

from kane.graph.field import DEFAULT_FIELD, Field
from kane.graph.functions import FUNCTIONS

Ref = int
Kind = Literal["state", "parameter"]
NUMBER, CONSTANT, STATE = 0, 1, 2
_LINEAR = ("add", "mul", "num", "pi")  # what the linear form of an angle is read through


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named unknown: part of the state, or a parameter."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Angle:
    """A linear form halves * pi + radians + sum(coefficient * node): the argument of a sine."""

    terms: tuple[tuple[int, Fraction], ...]
    halves: Fraction
    radians: Fraction


class Graph:
    """An arena of expressions.  Build with its methods; read `op[i]`, `args[i]`, `level[i]`, `note[i]` of node i."""

    zero: Ref = 0
    one: Ref = 2

    def __init__(self, field: Field | None = None) -> None:
        self.field = field or DEFAULT_FIELD
        self._prime = self.field.prime
        self.op: list[str] = []
        self.args: list[tuple[Ref, ...]] = []
        self.level: list[int] = []
        self.residue: list[int] = []
        self._signed: list[int] = []  # residue of each signed reference
        self.note: list[str] = []
        self.numbers: dict[int, Fraction] = {}
        self.symbols: dict[int, Symbol] = {}
        self.quaternions: list[tuple[str, ...]] = []
        self._by_residue: dict[int, Ref] = {}
        self._by_name: dict[str, Ref] = {}
        self._angles: dict[int, int] = {}  # node -> exponent of the angle in the circle group
        self._circle: dict[int, tuple[int, int]] = {}
        self._inverse: dict[int, int] = {}
        self._origin = ""
        self.number(Fraction(0))
        self.number(Fraction(1))

    def __len__(self) -> int:
        return len(self.op)

    @contextmanager
    def origin(self, note: str) -> Iterator[None]:
        """Nodes made inside carry this note: which body, which term."""
        before, self._origin = self._origin, note
        try:
            yield
        finally:
            self._origin = before

    # leaves

    def number(self, value: Fraction | int) -> Ref:
        """The node of a rational number."""
        value = Fraction(value)
        if value < 0:
            return self.number(-value) ^ 1
        inverse = self._inverse.get(value.denominator)
        if inverse is None:
            inverse = self._inverse[value.denominator] = self.field.inverse(value.denominator)
        return self._number(value, value.numerator * inverse % self._prime)

    def _number(self, value: Fraction, residue: int) -> Ref:
        if value < 0:
            return self._number(-value, self._prime - residue) ^ 1
        known = self._by_residue.get(residue)
        if known is not None and self.level[known >> 1] == NUMBER:
            return known
        ref = self._new("num", (), NUMBER, residue)
        self.numbers[ref >> 1] = value
        return ref

    def symbol(self, name: str, kind: Kind = "state") -> Ref:
        """The symbol of this name, made at its first mention.

        Raises ValueError when the name is already there with the other kind.
        """
        known = self._by_name.get(name)
        if known is not None:
            if self.symbols[known >> 1].kind != kind:
                raise ValueError(f"symbol {name!r} is already a {self.symbols[known >> 1].kind} symbol")
            return known
        return self._symbol(name, kind, self.field.symbol(name))

    def unit_quaternion(self, names: Sequence[str]) -> tuple[Ref, ...]:
        """Four state symbols whose squares sum to one identically; the known ones when they are there already."""
        if all(name in self._by_name for name in names):
            return tuple(self._by_name[name] for name in names)
        point = self.field.unit_quaternion(tuple(names))
        self.quaternions.append(tuple(names))
        return tuple(self._symbol(name, "state", r) for name, r in zip(names, point, strict=True))

    def _symbol(self, name: str, kind: Kind, residue: int) -> Ref:
        if name in self._by_name:
            raise ValueError(f"symbol {name!r} is declared twice")
        ref = self._new("sym", (), STATE if kind == "state" else CONSTANT, residue)
        self.symbols[ref >> 1] = Symbol(name, kind)
        self._by_name[name] = ref
        return ref

    def pi(self) -> Ref:
        """The constant pi (a node of level 1)."""
        return self._leaf("pi")

    def _leaf(self, op: str) -> Ref:
        residue = self.field.hash("leaf", op)
        return self._by_residue.get(residue) or self._new(op, (), CONSTANT, residue)

    # arithmetic

    def neg(self, a: Ref) -> Ref:
        return a ^ 1 if a > 1 else 0

    def add(self, a: Ref, b: Ref) -> Ref:
        """a + b."""
        if a < 2:
            return b
        if b < 2:
            return a
        signed, levels = self._signed, self.level
        x, y, prime = signed[a], signed[b], self._prime
        residue = x + y
        if residue >= prime:
            residue -= prime
        p, q = levels[a >> 1], levels[b >> 1]
        if p < q:
            p = q
        known = self._by_residue.get(residue)
        if known is not None and levels[known >> 1] <= p:
            return known
        if p == NUMBER:
            return self._number(self._value(a) + self._value(b), residue)
        if self.residue[a >> 1] > self.residue[b >> 1]:
            a, b = b, a
        if a & 1:
            if b & 1:
                return self._new("add", (a ^ 1, b ^ 1), p, prime - residue) ^ 1
            a, b = b, a
        return self._new("add", (a, b), p, residue)

    def sub(self, a: Ref, b: Ref) -> Ref:
        """a - b."""
        return self.add(a, b ^ 1)

    def mul(self, a: Ref, b: Ref) -> Ref:
        """a * b."""
        if a < 4 or b < 4:
            if a < 2 or b < 2:
                return 0
            return b ^ (a & 1) if a < 4 else a ^ (b & 1)
        signed, levels, prime = self._signed, self.level, self._prime
        residue = signed[a] * signed[b] % prime
        p, q = levels[a >> 1], levels[b >> 1]
        if p < q:
            p = q
        known = self._by_residue.get(residue)
        if known is not None and levels[known >> 1] <= p:
            return known
        if p == NUMBER:
            return self._number(self._value(a) * self._value(b), residue)
        if (a ^ b) & 1:
            a, b = a & -2, b & -2
            return self._new("mul", (b, a) if signed[a] > signed[b] else (a, b), p, prime - residue) ^ 1
        if a & 1:
            a, b = a ^ 1, b ^ 1
        return self._new("mul", (b, a) if signed[a] > signed[b] else (a, b), p, residue)

    def div(self, a: Ref, b: Ref) -> Ref:
        """a / b; by a constant it becomes a product with the reciprocal.  ZeroDivisionError when b is 0."""
        if b < 2:
            raise ZeroDivisionError("division by an expression that is identically zero")
        if a < 2:
            return 0
        sign = (a ^ b) & 1
        a, b = a & ~1, b & ~1
        if self.level[b >> 1] == NUMBER:
            value = 1 / self.numbers[b >> 1]
            return self.mul(a, self.number(value)) ^ sign
        if self.level[b >> 1] == CONSTANT and a != self.one:
            return self.mul(a, self.div(self.one, b)) ^ sign
        residue = self.residue[a >> 1] * self.field.inverse(self.residue[b >> 1]) % self._prime
        level = max(self.level[a >> 1], self.level[b >> 1])
        known = self._find(residue, level)
        return (known if known is not None else self._new("div", (a, b), level, residue)) ^ sign

    def power(self, a: Ref, n: int) -> Ref:
        """a ** n for an integer n, by repeated multiplication."""
        if n < 0:
            return self.div(self.one, self.power(a, -n))
        result, square = self.one, a
        while n:
            if n & 1:
                result = self.mul(result, square)
            n >>= 1
            if n:
                square = self.mul(square, square)
        return result

    def sum(self, terms: Iterable[Ref]) -> Ref:
        """The sum from left to right."""
        total = self.zero
        for term in terms:
            if term > 1:
                total = self.add(total, term)
        return total

    def dot(self, a: Iterable[Ref], b: Iterable[Ref]) -> Ref:
        """The sum of products from left to right."""
        total = self.zero
        for x, y in zip(a, b, strict=True):
            if x > 1 and y > 1:
                total = self.add(total, self.mul(x, y))
        return total

    # functions

    def sqrt(self, a: Ref) -> Ref:
        """The square root; exact for squares of rationals."""
        if a < 2:
            return 0
        if self.level[a >> 1] == NUMBER:
            if a & 1:
                raise ValueError(f"square root of the negative number {self._value(a)}")
            return self._sqrt_number(self._value(a))
        return self._uninterpreted("sqrt", (a,))

    def _sqrt_number(self, value: Fraction) -> Ref:
        square, rest = _split_square(value.numerator * value.denominator)
        scale = self.number(Fraction(square, value.denominator))
        if rest == 1:
            return scale
        if rest in (2, 3, 6):  # the roots that multiples of pi/12 are made of share their residues with them
            eighth, sixth = (self.field.circle(self.field.turn(Fraction(1, k), Fraction(0))) for k in (4, 3))
            root2, root3 = 2 * eighth[0] % self._prime, 2 * sixth[1] % self._prime
            residue = {2: root2, 3: root3, 6: root2 * root3 % self._prime}[rest]
            root = self._find(residue, CONSTANT)
            if root is None:
                root = self._new("sqrt", (self.number(rest),), CONSTANT, residue)
        else:
            root = self._uninterpreted("sqrt", (self.number(rest),))
        return self.mul(scale, root)

    def sin(self, a: Ref) -> Ref:
        """The sine of an angle (a linear form in symbols and pi stays exact)."""
        return self._trigonometric(a, 1)

    def cos(self, a: Ref) -> Ref:
        """The cosine of an angle."""
        return self._trigonometric(a, 0)

    def _trigonometric(self, a: Ref, part: int) -> Ref:
        if self.op[a >> 1] not in _LINEAR:  # one free angle
            base = self._angle(a >> 1)
            exponent = self.field.prime + 1 - base if a & 1 else base
            return self._on_circle(a, part, exponent)
        angle = self.angle(a)
        quarter = int(angle.halves * 2 // 1) if angle.terms or angle.radians else 0
        if quarter % 4:
            rest = self.sub(a, self.mul(self.pi(), self.number(Fraction(quarter, 2))))
            c, s = self._trigonometric(rest, 0), self._trigonometric(rest, 1)
            return ((c, s ^ 1, c ^ 1, s)[quarter % 4], (s, c, s ^ 1, c ^ 1)[quarter % 4])[part]
        if not angle.terms and not angle.radians and (angle.halves * 12).denominator == 1:
            return self._twelfth(int(angle.halves * 12), part)
        return self._on_circle(a, part, self._exponent(angle))

    def _on_circle(self, a: Ref, part: int, exponent: int) -> Ref:
        """cos (part 0) or sin (1) of an angle with this exponent."""
        point = self._circle.get(exponent)
        if point is None:
            point = self._circle[exponent] = self.field.circle(exponent)
        level = max(CONSTANT, self.level[a >> 1])  # also of a rational angle: no rational number
        known = self._find(point[part], level)
        if known is not None:
            return known
        op, odd = ("sin", a & 1) if part else ("cos", 0)  # nodes carry the positive argument
        return self._new(op, (a & ~1,), level, -point[part] % self._prime if odd else point[part]) ^ odd

    def _twelfth(self, k: int, part: int) -> Ref:
        """sin or cos of k pi/12."""
        k = (k if part == 0 else 6 - k) % 24  # as a cosine
        k = min(k, 24 - k)
        if k > 6:
            return self._twelfth(12 - k, 0) ^ 1
        if k in (0, 4, 6):
            return {0: self.one, 4: self.number(Fraction(1, 2)), 6: self.zero}[k]
        if k in (2, 3):
            return self.div(self.sqrt(self.number(3 if k == 2 else 2)), self.number(2))
        six, two = self._sqrt_number(Fraction(6)), self._sqrt_number(Fraction(2))
        return self.div(self.add(six, two if k == 1 else two ^ 1), self.number(4))

    def angle(self, a: Ref) -> Angle:
        """The linear form of an angle expression."""
        terms: dict[int, Fraction] = {}
        halves = radians = Fraction(0)
        stack = [(a, Fraction(1))]
        while stack:
            ref, factor = stack.pop()
            node, factor = ref >> 1, -factor if ref & 1 else factor
            op, args = self.op[node], self.args[node]
            if op == "add":
                stack += [(arg, factor) for arg in args]
            elif op == "mul" and self.level[args[0] >> 1] == NUMBER:
                stack.append((args[1], factor * self.numbers[args[0] >> 1]))
            elif op == "mul" and self.level[args[1] >> 1] == NUMBER:
                stack.append((args[0], factor * self.numbers[args[1] >> 1]))
            elif op == "num":
                radians += factor * self.numbers[node]
            elif op == "pi":
                halves += factor
            else:
                terms[node] = terms.get(node, Fraction(0)) + factor
        kept = sorted((self.residue[n], n, f) for n, f in terms.items() if f)
        return Angle(tuple((n, f) for _, n, f in kept), halves, radians)

    def _angle(self, node: int) -> int:
        """The exponent of a free angle."""
        base = self._angles.get(node)
        if base is None:
            base = self._angles[node] = self.field.angle_symbol(self.residue[node])
        return base

    def _exponent(self, angle: Angle) -> int:
        total = self.field.turn(angle.halves, angle.radians)
        for node, factor in angle.terms:
            base = self._angle(node)
            scaled = self.field.scaled_angle(base, factor)
            if scaled is None:  # an odd fraction is an angle of its own: its multiples and negative stay exact
                scaled = factor.numerator * self.field.hash("angle", self.residue[node], factor.denominator)
            total += scaled
        return total % (self._prime + 1)

    def function(self, name: str, *args: Ref) -> Ref:
        """An elementary or piecewise function of functions.FUNCTIONS."""
        known = FUNCTIONS.get(name)
        if known is None or len(args) != known.arity:
            raise ValueError(f"no function {name!r} of {len(args)} arguments; there are {', '.join(sorted(FUNCTIONS))}")
        if name == "select" and args[1] == args[2]:
            return args[1]
        if known.parity == "odd" and args[0] < 2:  # f(0) = 0
            return self.zero
        if known.parity != "none":
            sign = args[0] & 1 if known.parity == "odd" else 0
            return self._uninterpreted(name, (args[0] & ~1,)) ^ sign
        return self._uninterpreted(name, args)

    def _uninterpreted(self, op: str, args: tuple[Ref, ...]) -> Ref:
        residue = self.field.hash(op, *(self._signed[a] for a in args))
        level = max(CONSTANT, *(self.level[a >> 1] for a in args))
        known = self._find(residue, level)
        return known if known is not None else self._new(op, args, level, residue)

    # the table

    def _value(self, a: Ref) -> Fraction:
        return -self.numbers[a >> 1] if a & 1 else self.numbers[a >> 1]

    def _find(self, residue: int, level: int) -> Ref | None:
        known = self._by_residue.get(residue)
        if known is None or self.level[known >> 1] > level:
            return None
        return known

    def _new(self, op: str, args: tuple[Ref, ...], level: int, residue: int) -> Ref:
        args_, table, signed = self.args, self._by_residue, self._signed
        ref = len(signed)
        negative = self._prime - residue if residue else 0
        self.op.append(op)
        args_.append(args)
        self.level.append(level)
        self.residue.append(residue)
        self.note.append(self._origin)
        signed.append(residue)
        signed.append(negative)
        table[negative] = ref ^ 1
        table[residue] = ref
        return ref

    # questions

    def value_of(self, a: Ref) -> Fraction | None:
        """The rational number that a is, or None."""
        return self._value(a) if self.level[a >> 1] == NUMBER else None

    def level_of(self, a: Ref) -> int:
        return self.level[a >> 1]

    def residue_of(self, a: Ref) -> int:
        """The residue of a signed reference: equal residues mean equal functions."""
        return self._signed[a]


def _split_square(n: int) -> tuple[int, int]:
    """n = square^2 * rest, taking out small prime factors and a perfect square."""
    square, rest = 1, n
    for f in (2, 3, 5, 7, 11, 13):
        while rest % (f * f) == 0:
            rest //= f * f
            square *= f
    root = isqrt(rest)
    return (square * root, 1) if root * root == rest else (square, rest)
