"""Angles that an element may be written in: joint angles, sums of angles of parallel axes, multiples.

An angle is an integer vector over the coordinates.  Each parallel axis has the sum of the angles up to it; differences
of such sums are the sums over runs of parallel joints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from kane.explicit.algebra import Atoms, Coefficient, Number, unimodular_inverse
from kane.explicit.arm import Arm
from kane.explicit.energy import Key, multiple_angle
from kane.explicit.moves import Along, turn_vector

Angle = tuple[int, ...]
_ENUMERATED = 3  # coordinates for which all bases of run sums are tried


@dataclass(frozen=True, slots=True)
class Group:
    """Coordinates of parallel axes: for each axis the sum of the angles up to it."""

    coordinates: tuple[int, ...]
    sums: tuple[Angle, ...]

    def runs(self, involved: tuple[int, ...]) -> list[Angle]:
        """Sums over runs of parallel joints that stay within the involved coordinates, shortest first."""
        zero = (0,) * len(self.sums[0])
        found = set()
        for a, b in combinations((zero, *self.sums), 2):
            angle = positive(tuple(y - x for x, y in zip(a, b, strict=True)))
            if any(angle) and all(not value or k in involved for k, value in enumerate(angle)):
                found.add(angle)
        return sorted(found, key=lambda v: (sum(map(abs, v)), [-abs(x) for x in v]))


def positive(angle: Angle) -> Angle:
    """The angle or its negative, the first entry positive."""
    first = next((x for x in angle if x), 0)
    return tuple(-x for x in angle) if first < 0 else angle


def parallel_groups(arm: Arm, atoms: Atoms) -> tuple[Group, ...]:
    """Groups of two or more coordinates whose axes stay parallel for all q."""
    n = len(arm.names)
    sums: list[Angle | None] = []
    heads: list[int] = []  # the step that starts the run
    for index, step in enumerate(arm.steps):
        if step.kind != "turn":
            sums.append(None)
            heads.append(-1)
            continue
        own = tuple(int(step.ratio) if k == step.coordinate else 0 for k in range(n))
        above, sign = _parallel_ancestor(arm, atoms, index)
        base = sums[above] if above >= 0 else None
        if base is None:
            sums.append(own)
            heads.append(index)
        else:
            sums.append(tuple(x + sign * y for x, y in zip(base, own, strict=True)) if sign > 0 else
                        tuple(y - x for x, y in zip(base, own, strict=True)))  # fmt: skip
            heads.append(heads[above])
    groups = []
    for head in sorted({h for h in heads if h >= 0}):
        members = [s for s, h in zip(sums, heads, strict=True) if h == head and s is not None]
        coordinates = tuple(k for k in range(n) if any(s[k] for s in members))
        if len(coordinates) > 1:
            groups.append(Group(coordinates, tuple(dict.fromkeys(positive(s) for s in members if any(s)))))
    often = [k for group in groups for k in group.coordinates]
    simple = all(abs(int(s.ratio)) == 1 for s in arm.steps if s.kind == "turn")
    unique = len({s.coordinate for s in arm.steps}) == len(arm.steps)
    return tuple(groups) if simple and unique and len(often) == len(set(often)) else ()


def _parallel_ancestor(arm: Arm, atoms: Atoms, index: int) -> tuple[int, int]:
    """The nearest turn above when its axis is parallel, and 1 or -1; (-1, 1) otherwise."""
    step = arm.steps[index]
    axis: list[Coefficient] = [{0: 1} if k == step.axis else {} for k in range(3)]
    at = index
    while True:
        for move in reversed(arm.steps[at].fixed):
            if not isinstance(move, Along):
                axis = turn_vector(atoms, move, axis)
        at = arm.steps[at].parent
        if at < 0:
            return -1, 1
        other = arm.steps[at]
        if other.kind == "turn":
            along = axis[other.axis]
            parallel = not axis[(other.axis + 1) % 3] and not axis[(other.axis + 2) % 3] and along in ({0: 1}, {0: -1})
            return (at, int(along[0])) if parallel else (-1, 1)


@dataclass(frozen=True, slots=True)
class Basis:
    """Angles for the coordinates of a group.

    harmonic: cosines and sines of all multiples and sums instead of powers.
    """

    involved: tuple[int, ...]
    angles: tuple[Angle, ...]
    harmonic: bool = False


def bases(group: Group, involved: tuple[int, ...]) -> list[Basis]:
    """The ways to write a function of the involved coordinates: sums along runs first, harmonics last."""
    n = len(group.sums[0])
    unit = tuple(tuple(int(k == c) for k in range(n)) for c in involved)
    if len(involved) < 2:
        return [Basis(involved, unit)]
    found: list[tuple[Angle, ...]] = []
    if len(involved) <= _ENUMERATED:
        found = [c for c in combinations(group.runs(involved), len(involved)) if abs(_determinant(c, involved)) == 1]
        found.sort(key=lambda c: -sum(_is_sum(a, group) for a in c))
    else:
        sums = tuple(a for a in group.sums if all(not v or k in involved for k, v in enumerate(a)))
        if len(sums) == len(involved) and abs(_determinant(sums, involved)) == 1:
            found.append(sums)
    found = [*found, unit] if unit not in found else found
    return [*(Basis(involved, angles) for angles in found), Basis(involved, (), True)]


def _is_sum(angle: Angle, group: Group) -> bool:
    return angle in group.sums


def _determinant(angles: tuple[Angle, ...], involved: tuple[int, ...]) -> int:
    rows = [[Fraction(a[k]) for k in involved] for a in angles]
    result = Fraction(1)
    for i in range(len(rows)):
        pivot = next((r for r in range(i, len(rows)) if rows[r][i]), None)
        if pivot is None:
            return 0
        if pivot != i:
            rows[i], rows[pivot] = rows[pivot], rows[i]
            result = -result
        result *= rows[i][i]
        for r in range(i + 1, len(rows)):
            factor = rows[r][i] / rows[i][i]
            rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i], strict=True)]
    return int(result)


Factors = tuple[tuple[Angle, int], ...]  # (angle, code 2 b + a of cos^a sin^b), sorted


class Converter:
    """Monomials in sines and cosines of single coordinates, written in the angles of a basis."""

    def __init__(self, basis: Basis, n: int) -> None:
        self.basis, self.n = basis, n
        self._known: dict[Key, list[tuple[Factors, Number]]] = {}
        self._multiples: dict[int, tuple[dict[int, int], dict[int, int]]] = {}
        # k over the coordinates = k' over the angles times their matrix
        self._inverse = unimodular_inverse([[a[c] for c in basis.involved] for a in basis.angles])

    def __call__(self, codes: Key) -> list[tuple[Factors, Number]]:
        """Codes over the involved coordinates -> factors with rational weights."""
        known = self._known.get(codes)
        if known is None:
            known = self._known[codes] = self._convert(codes)
        return known

    def _convert(self, codes: Key) -> list[tuple[Factors, Number]]:
        basis = self.basis
        waves, divisor = exponentials(codes)
        if basis.harmonic:
            return sorted((key, reduced(value, divisor)) for key, value in self._harmonics(waves).items())
        total: dict[Key, int] = {}
        for k, (re, im) in waves.items():
            turned = [sum(k[i] * self._inverse[i][j] for i in range(len(k))) for j in range(len(k))]
            real: dict[Key, int] = {(): re}
            imag: dict[Key, int] = {(): im}
            for multiple in turned:
                cos, sin = self._multiple(multiple)
                real, imag = _outer(real, cos, imag, sin, -1), _outer(imag, cos, real, sin, 1)
            for key, value in real.items():
                total[key] = total.get(key, 0) + value
        result = []
        for key, value in total.items():
            if value:
                factors = tuple(sorted((a, c) for a, c in zip(basis.angles, key, strict=True) if c))
                result.append((factors, reduced(value, divisor)))
        return sorted(result)

    def _multiple(self, k: int) -> tuple[dict[int, int], dict[int, int]]:
        if k not in self._multiples:
            self._multiples[k] = multiple_angle(k)
        return self._multiples[k]

    def _harmonics(self, waves: dict[Key, tuple[int, int]]) -> dict[Factors, int]:
        result: dict[Factors, int] = {}
        for k, (re, im) in waves.items():
            angle = tuple(k[self.basis.involved.index(c)] if c in self.basis.involved else 0 for c in range(self.n))
            if not any(angle):
                result[()] = result.get((), 0) + re
            elif positive(angle) == angle:
                for code, value in ((1, 2 * re), (2, -2 * im)):
                    if value:
                        result[((angle, code),)] = value
        return {key: value for key, value in result.items() if value}


def reduced(value: int, divisor: int) -> Number:
    """value / divisor, an integer where it is one."""
    whole, rest = divmod(value, divisor)
    return whole if rest == 0 else Fraction(value, divisor)


def _outer(a: dict[Key, int], x: dict[int, int], b: dict[Key, int], y: dict[int, int], sign: int) -> dict[Key, int]:
    """a x + sign b y with one more code."""
    result: dict[Key, int] = {}
    for left, right, factor in ((a, x, 1), (b, y, sign)):
        for key, u in left.items():
            for code, v in right.items():
                new = (*key, code)
                result[new] = result.get(new, 0) + factor * u * v
    return {key: value for key, value in result.items() if value}


def exponentials(codes: Key) -> tuple[dict[Key, tuple[int, int]], int]:
    """A product of cos^a sin^b as a sum of exp(i k.q): k -> whole (real, imaginary) weight; their common divisor."""
    result: dict[Key, tuple[int, int]] = {(): (1, 0)}
    divisor = 1
    for code in codes:
        wave: dict[int, tuple[int, int]] = {0: (1, 0)}
        for _ in range(code & 1):
            wave = _times(wave, {1: (1, 0), -1: (1, 0)})
        for _ in range(code >> 1):
            wave = _times(wave, {1: (0, -1), -1: (0, 1)})
        divisor *= 2 ** ((code & 1) + (code >> 1))
        result = {(*k, m): (a * c - b * d, a * d + b * c) for k, (a, b) in result.items() for m, (c, d) in wave.items()}
    return result, divisor


def _times(a: dict[int, tuple[int, int]], b: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    result: dict[int, tuple[int, int]] = {}
    for k, (p, q) in a.items():
        for m, (r, s) in b.items():
            x, y = result.get(k + m, (0, 0))
            result[k + m] = (x + p * r - q * s, y + p * s + q * r)
    return {k: v for k, v in result.items() if v[0] or v[1]}


def expand(factors: Factors, n: int) -> dict[Key, Number]:
    """A product of sines and cosines of angles, in codes of single coordinates."""
    result: dict[Key, Number] = {(0,) * n: 1}
    for angle, code in factors:
        cos: dict[Key, Number] = {(0,) * n: 1}
        sin: dict[Key, Number] = {}
        for k, multiple in enumerate(angle):
            if multiple:
                c, s = (_at(k, p, n) for p in multiple_angle(multiple))
                cos, sin = (
                    _sum(multiply(cos, c), multiply(sin, s), -1),
                    _sum(multiply(sin, c), multiply(cos, s), 1),
                )
        for _ in range(code & 1):
            result = multiply(result, cos)
        for _ in range(code >> 1):
            result = multiply(result, sin)
    return result


def _at(k: int, polynomial: Mapping[int, Number], n: int) -> dict[Key, Number]:
    return {tuple(code if j == k else 0 for j in range(n)): v for code, v in polynomial.items()}


def _sum(a: dict[Key, Number], b: dict[Key, Number], sign: int) -> dict[Key, Number]:
    total = {key: a.get(key, 0) + sign * b.get(key, 0) for key in {**a, **b}}
    return {key: value for key, value in total.items() if value}


def multiply(a: dict[Key, Number], b: dict[Key, Number]) -> dict[Key, Number]:
    result: dict[Key, Number] = {}
    for x, u in a.items():
        for y, v in b.items():
            parts: dict[Key, Number] = {(): u * v}
            for p, q in zip(x, y, strict=True):
                if p & q & 1:  # cos^2 = 1 - sin^2
                    parts = {
                        (*key, code): w * m for key, w in parts.items() for code, m in ((p + q - 2, 1), (p + q + 2, -1))
                    }
                else:
                    parts = {(*key, p + q): w for key, w in parts.items()}
            for key, w in parts.items():
                result[key] = result.get(key, 0) + w
    return {key: value for key, value in result.items() if value}
