"""Step 2, lumped constants: coefficients proportional as polynomials are one constant, shared across elements.

The constants I1, I2, ... of the kinetic energy matrix and g1, g2, ... of gravity; how they depend on each other
linearly; and the elements in them.  For parallel axes a before b the energy of b's turning is contained in a's, so b's
constant is split off a's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Literal

from kane.explicit.algebra import Atoms, Coefficient, Number, add, scale
from kane.explicit.angles import Angle
from kane.explicit.forms import Formed, Product, primitive

Kind = Literal["inertia", "gravity", "rotor"]
Base = tuple[frozenset[tuple[int, Number]], int]  # primitive coefficient, and which of its families of simple ratios
_SIMPLE = 12  # constants whose ratio has larger terms stay apart: 4318/4331 is a coincidence of lengths, 2 is not


@dataclass(frozen=True, slots=True)
class Constant:
    """A lumped constant: name, its polynomial in the atoms, formula as text, value (None: known only at run time).

    `parts`: for a constant combined from others (B and C), their names with rational factors.
    """

    name: str
    kind: Kind
    polynomial: tuple[tuple[int, Number], ...]
    formula: str
    value: float | None
    parts: tuple[tuple[str, Fraction], ...] = ()

    @property
    def coefficient(self) -> Coefficient:
        return dict(self.polynomial)


@dataclass(frozen=True, slots=True)
class Term:
    """ratio * constant * product of sines, cosines and slides; constant: index into the model's constants."""

    ratio: Fraction
    constant: int
    factors: Product


Expression = tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Lumped:
    """Constants and the elements in them, in the order given."""

    constants: tuple[Constant, ...]
    elements: tuple[Expression, ...]


class Lumper:
    """Finds the constants of some elements (formed, coefficients over the atoms)."""

    def __init__(self, atoms: Atoms, kind: Kind, letter: str) -> None:
        self.atoms, self.kind, self.letter = atoms, kind, letter
        self._splits: dict[frozenset[tuple[int, Number]], list[Coefficient]] = {}
        self._families: dict[frozenset[tuple[int, Number]], list[Fraction]] = {}

    def split(self, outer: Formed, inner: Formed) -> None:
        """Take the inner joint's constant term out of the outer one's, where it is wholly in it."""
        a, b = outer.get((), {}), inner.get((), {})
        if not a or not b:
            return
        rest = add(a, b, -1)
        if rest and len(rest) == len(a) - len(b):
            self._splits[primitive(a)[0]] = [scale(part, 1 / primitive(a)[1]) for part in (rest, b)]

    def _family(self, base: frozenset[tuple[int, Number]], ratio: Fraction) -> int:
        """The place among the families of this coefficient whose ratios are simple to each other."""
        families = self._families.setdefault(base, [])
        for place, first in enumerate(families):
            if simple(ratio / first):
                return place
        families.append(ratio)
        return len(families) - 1

    def _parts(self, value: Coefficient) -> list[tuple[Base, Fraction]]:
        base, ratio = primitive(value)
        if base not in self._splits:
            return [((base, self._family(base, ratio)), ratio)]
        return [found for part in self._splits[base] for found in self._parts(scale(part, ratio))]

    def __call__(self, elements: Sequence[Formed]) -> Lumped:
        """Constants named by falling magnitude, scaled so that all their multiples are whole."""
        flat: list[list[tuple[Base, Fraction, Product]]] = []
        multiples: dict[Base, list[Fraction]] = {}
        for element in elements:
            terms = [(base, ratio, key) for key in sorted(element) for base, ratio in self._parts(element[key])]
            for base, ratio, _ in terms:
                multiples.setdefault(base, []).append(ratio)
            flat.append(terms)
        units = {base: _unit(ratios) for base, ratios in multiples.items()}
        polynomials = {base: scale(dict(base[0]), unit) for base, unit in units.items()}
        values = {base: self.atoms.value(c) for base, c in polynomials.items()}
        order = list(multiples)
        if all(v is not None for v in values.values()):
            place = {base: k for k, base in enumerate(order)}
            order.sort(key=lambda base: (-abs(values[base] or 0.0), place[base]))
        index = {base: k for k, base in enumerate(order)}
        constants = tuple(
            Constant(
                f"{self.letter}{k + 1}", self.kind, tuple(sorted(polynomials[base].items())),
                self.atoms.text(polynomials[base]), values[base],
            )
            for base, k in index.items()
        )  # fmt: skip
        made = tuple(
            tuple(sorted((Term(ratio / units[base], index[base], key) for base, ratio, key in terms), key=term_order))
            for terms in flat
        )
        return Lumped(constants, made)


def simple(ratio: Fraction) -> bool:
    """A ratio of small whole numbers."""
    return abs(ratio.numerator) <= _SIMPLE and ratio.denominator <= _SIMPLE


def term_order(term: Term) -> tuple[object, ...]:
    return term.constant, len(term.factors), term.factors


def _unit(ratios: Sequence[Fraction]) -> Fraction:
    """The greatest number that all ratios are whole multiples of, with the sign of most (of the first in a tie)."""
    denominator = lcm(*(r.denominator for r in ratios))
    numerator = gcd(*(r.numerator * (denominator // r.denominator) for r in ratios))
    balance = sum(1 if r > 0 else -1 for r in ratios) or (1 if ratios[0] > 0 else -1)
    return Fraction(numerator, denominator) * (1 if balance > 0 else -1)


def dependences(constants: Sequence[Constant]) -> tuple[tuple[tuple[int, Fraction], ...], ...]:
    """Linear dependences: combinations of constants that vanish identically, the last entry the dependent one."""
    found = []
    rows: list[tuple[Coefficient, dict[int, Fraction]]] = []
    for index, constant in enumerate(constants):
        rest: Coefficient = constant.coefficient
        used: dict[int, Fraction] = {index: Fraction(1)}
        for reduced, combination in rows:
            pivot = min(reduced)
            if pivot in rest:
                factor = -Fraction(rest[pivot]) / Fraction(reduced[pivot])
                rest = add(rest, reduced, factor)
                for k, v in combination.items():
                    used[k] = used.get(k, Fraction(0)) + factor * v
        if rest:
            rows.append((rest, used))
        else:
            found.append(tuple((k, v) for k, v in sorted(used.items()) if v))
    return tuple(_whole(combination) for combination in found)


def _whole(combination: tuple[tuple[int, Fraction], ...]) -> tuple[tuple[int, Fraction], ...]:
    """Coprime whole factors, the first positive."""
    denominator = lcm(*(v.denominator for _, v in combination))
    numerator = gcd(*(v.numerator * (denominator // v.denominator) for _, v in combination))
    unit = Fraction(numerator, denominator) * (1 if combination[0][1] > 0 else -1)
    return tuple((k, v / unit) for k, v in combination)


def angles_of(expressions: Iterable[Expression]) -> list[Angle]:
    """All angles whose sine or cosine is needed, sorted."""
    return sorted({angle for e in expressions for term in e for angle, _, sin in term.factors if sin >= 0})
