"""Step 2, the trigonometric form: each element written in the angles and squares that make it shortest to read.

An element is canonical in codes of single joint angles (energy.py).  To read, sums of angles of parallel axes,
harmonics, and cos^2 or sin^2 are chosen per element.  Fewest terms win; ties go to the form with fewer numeric factors,
then to the one whose equal coefficients have equal signs (sums rather than differences), then to the shortest formulas,
then to cosines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as choices
from math import gcd, lcm
from typing import Literal

from kane.explicit.algebra import Coefficient, Number, accumulate, scale
from kane.explicit.angles import Angle, Basis, Converter, Factors, Group, bases
from kane.explicit.energy import Element

Style = Literal["shortest", "powers", "harmonics"]
Product = tuple[tuple[Angle, int, int], ...]  # (angle, power of cos, power of sin); slides: (unit vector, power, -1)
Formed = dict[Product, Coefficient]
_EXHAUSTIVE = 4000  # coefficients times choices up to which all choices of squares are compared
_READABLE = 150  # terms beyond which squares are left as they are
_SQUARE = 4
SLIDE = 1000  # added to the exponent of a slide, which shares the place of an angle's code


def primitive(c: Coefficient) -> tuple[frozenset[tuple[int, Number]], Fraction]:
    """A coefficient as ratio times a primitive one: coprime integers, the entry of the smallest key positive."""
    denominator, numerator = 1, 0
    for value in c.values():
        denominator = lcm(denominator, value.denominator)
    for value in c.values():
        numerator = gcd(numerator, value.numerator * (denominator // value.denominator))
    ratio = Fraction(numerator, denominator)
    if c[min(c)] < 0:
        ratio = -ratio
    if ratio == 1:
        return frozenset(c.items()), ratio
    inverse = 1 / ratio
    return frozenset((key, _plain(value * inverse)) for key, value in c.items()), ratio


def _plain(value: Number) -> Number:
    return value.numerator if value.denominator == 1 else value


@dataclass(frozen=True, slots=True)
class Frame:
    """What forms need to know of an arm: number of coordinates, which turn, groups of parallel axes."""

    n: int
    turns: tuple[bool, ...]
    groups: tuple[Group, ...]

    def unit(self, k: int) -> Angle:
        return tuple(int(i == k) for i in range(self.n))


class Former:
    """Writes elements; keeps the conversion tables of one arm."""

    def __init__(self, frame: Frame, style: Style = "shortest") -> None:
        self.frame, self.style = frame, style
        self._converters: dict[Basis, Converter] = {}

    def __call__(self, element: Element) -> Formed:
        """The element in its shortest form."""
        if not element:
            return {}
        if self.style == "harmonics":
            everything = tuple(k for k in range(self.frame.n) if self.frame.turns[k])
            written = self._written(element, [Basis(everything, (), True)])
        else:
            written = self._shortest_angles(element)
        return merge_squares(choose_squares(written))

    def _shortest_angles(self, element: Element) -> dict[Factors, Coefficient]:
        chosen: list[Basis] = []
        for group in self.frame.groups:
            involved = tuple(k for k in group.coordinates if any(key[k] for key in element))
            if involved:
                chosen.append(bases(group, involved)[0])
        best = self._written(element, chosen)
        for place, basis in enumerate(chosen):
            group = next(g for g in self.frame.groups if set(basis.involved) <= set(g.coordinates))
            for other in bases(group, basis.involved)[1:]:
                if other.harmonic and self.style == "powers":
                    continue
                trial = [*chosen[:place], other, *chosen[place + 1 :]]
                written = self._written(element, trial)
                if _size(written) < _size(best):
                    best, chosen = written, trial
        return best

    def _written(self, element: Element, chosen: Sequence[Basis]) -> dict[Factors, Coefficient]:
        """The element with the coordinates of each basis written in its angles."""
        covered = {k for basis in chosen for k in basis.involved}
        rest = [k for k in range(self.frame.n) if k not in covered]
        converters = [(basis, self._converter(basis)) for basis in chosen]
        units = {k: self.frame.unit(k) for k in rest}
        result: dict[Factors, Coefficient] = {}
        for key, value in element.items():
            fixed: Factors = tuple((units[k], self._code(k, key[k])) for k in rest if key[k])
            parts: list[tuple[Factors, Number]] = [(fixed, 1)]
            for basis, converter in converters:
                local = converter(tuple(key[k] for k in basis.involved))
                parts = [((*left, *right), u * v) for left, u in parts for right, v in local]
            for factors, weight in parts:
                accumulate(result, tuple(sorted(factors)), value, weight)
        return {factors: {k: _plain(v) for k, v in c.items()} for factors, c in result.items()}

    def _converter(self, basis: Basis) -> Converter:
        known = self._converters.get(basis)
        if known is None:
            known = self._converters[basis] = Converter(basis, self.frame.n)
        return known

    def _code(self, k: int, code: int) -> int:
        return code if self.frame.turns[k] else SLIDE + code


def _size(written: dict[Factors, Coefficient]) -> tuple[int, int]:
    return len(written), sum(map(len, written.values()))


def choose_squares(written: dict[Factors, Coefficient]) -> dict[Factors, Coefficient]:
    """For each angle with sin^2 the choice of cos^2 (code -4) or sin^2 that reads shortest."""
    powers: dict[Angle, set[int]] = {}
    for factors in written:
        for angle, code in factors:
            powers.setdefault(angle, set()).add(code)
    squared = [angle for angle, codes in sorted(powers.items()) if _SQUARE in codes and max(codes) <= _SQUARE]
    if not squared or len(written) > _READABLE:
        return written
    size = sum(map(len, written.values()))
    if size * 2 ** len(squared) <= _EXHAUSTIVE:
        trials: Iterable[tuple[bool, ...]] = choices((False, True), repeat=len(squared))
        scored = ((score(_with_cosines(written, squared, trial)), trial) for trial in trials)
        best = min(scored)[1]
        return _with_cosines(written, squared, best)
    current = written
    for angle in squared:
        trial = _with_cosines(current, [angle], (True,))
        if score(trial) < score(current):
            current = trial
    return current


def _with_cosines(
    written: dict[Factors, Coefficient], angles: Sequence[Angle], chosen: Sequence[bool]
) -> dict[Factors, Coefficient]:
    """sin^2 = 1 - cos^2 for the chosen angles."""
    for angle, wanted in zip(angles, chosen, strict=True):
        if not wanted:
            continue
        result: dict[Factors, Coefficient] = {}
        for factors, value in written.items():
            parts = [(factors, value)]
            if (angle, _SQUARE) in factors:
                without = tuple(item for item in factors if item[0] != angle)
                with_cosine = tuple(sorted((*without, (angle, -_SQUARE))))
                parts = [(without, value), (with_cosine, scale(value, -1))]
            for key, part in parts:
                accumulate(result, key, part)
        written = result
    return written


def score(written: dict[Factors, Coefficient]) -> tuple[int, int, int, int, int]:
    """Length of a form: terms, numeric factors, coefficients of both signs, monomials, squares of sines."""
    groups: dict[frozenset[tuple[int, Number]], list[Fraction]] = {}
    for value in written.values():
        base, ratio = primitive(value)
        groups.setdefault(base, []).append(ratio)
    factors = mixed = length = 0
    for base, ratios in groups.items():
        sizes = [abs(r) for r in ratios]
        factors += len(sizes) - max(sizes.count(s) for s in sizes)
        mixed += len({r > 0 for r in ratios}) > 1
        length += len(base)
    sines = sum((angle, code) == (angle, _SQUARE) for key in written for angle, code in key)
    return len(written), factors, mixed, length, sines


def merge_squares(written: dict[Factors, Coefficient]) -> Formed:
    """Products with explicit powers; K x - K x s^2 becomes K x c^2 (and the other way round)."""
    current = dict(written)
    for key in sorted(written):
        for angle, code in key:
            if code in (_SQUARE, -_SQUARE) and key in current:
                without = tuple(item for item in key if item[0] != angle)
                if without in current and current[without] == scale(current[key], -1):
                    value = current.pop(without)
                    del current[key]
                    accumulate(current, tuple(sorted((*without, (angle, -code)))), value)
    return {tuple((angle, *_powers(code)) for angle, code in key): value for key, value in current.items()}


def _powers(code: int) -> tuple[int, int]:
    if code >= SLIDE:
        return code - SLIDE, -1
    return (2, 0) if code == -_SQUARE else (code & 1, code >> 1)
