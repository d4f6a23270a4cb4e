"""Steps 3 and 4: Christoffel symbols of the first kind from A, and the relations that leave few of them.

[i;jk] = (d_k a_ij + d_j a_ik - d_i a_jk) / 2, b_i,jk = 2 [i;jk], c_ij = [i;jj] (Armstrong, Khatib and Burdick 1986, eq.
4-10). Derivatives are formed only where the relations leave something, and the constants are combined again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

from kane.explicit.algebra import Atoms, Coefficient, Number, plain, scale
from kane.explicit.angles import Group, expand, multiply
from kane.explicit.arm import Arm
from kane.explicit.energy import Element, Key, combine, derivative
from kane.explicit.forms import Formed, Former, Product, primitive
from kane.explicit.lumping import Constant, Expression, Lumped, Term, simple, term_order
from kane.graph.arena import Graph

Symbol = tuple[int, int, int]  # i, j <= k
Vector = dict[tuple[int, int, int], Fraction]  # (k, i, j), i <= j: the derivative d_k a_ij


@dataclass(frozen=True, slots=True)
class ChristoffelReport:
    """How many symbols there are, how many each relation removes, how many remain unique up to sign."""

    total: int
    removed: dict[str, int]
    unique: int
    zero: int

    def as_dict(self) -> dict[str, object]:
        return {"total": self.total, "removed": dict(self.removed), "unique": self.unique, "zero": self.zero}


class ConstantSpace:
    """Elements with coefficients over the independent constants: vectors of a few whole numbers."""

    def __init__(
        self, constants: Sequence[Constant], relations: Sequence[Sequence[tuple[int, Fraction]]], n: int, atoms: Atoms
    ) -> None:
        self.constants, self.n = tuple(constants), n
        graph = Graph()
        self.prime = graph.field.prime
        free = lambda name: graph.symbol(name, "parameter")
        self.residues = [graph.residue_of(atoms.build(graph, c.coefficient, free)) for c in constants]
        self.vectors: list[Coefficient] = [{k: 1} for k in range(len(constants))]
        for relation in relations:
            if not all(simple(v) for _, v in relation):
                continue  # a coincidence of lengths: the constants are kept apart
            *rest, (last, factor) = relation
            vector: Coefficient = {}
            for k, v in rest:
                for index, value in self.vectors[k].items():
                    vector[index] = vector.get(index, 0) - value * v / factor
            self.vectors[last] = {k: v.numerator if v.denominator == 1 else v for k, v in vector.items() if v}
        self._expanded: dict[Product, dict[Key, Number]] = {}
        self.known = {}
        for k, vector in reversed(list(enumerate(self.vectors))):
            base, ratio = primitive(vector)
            self.known[base] = (k, ratio)

    def element(self, expression: Expression) -> Element:
        """An expression in codes of single coordinates."""
        result: Element = {}
        for term in expression:
            for key, weight in self._expand(term.factors).items():
                value = scale(self.vectors[term.constant], term.ratio * weight)
                result = combine(result, {key: value})
        return {key: {k: v.numerator if v.denominator == 1 else v for k, v in c.items()} for key, c in result.items()}

    def residue(self, c: Coefficient) -> int:
        """The value of a combination of constants at a random point modulo a prime: 0 when it vanishes identically."""
        total = 0
        for k, v in c.items():
            total += v.numerator * pow(v.denominator, -1, self.prime) * self.residues[k]
        return total % self.prime

    def nonzero(self, element: Element) -> Element:
        """The element without coefficients that vanish by dependences of the constants."""
        return {key: c for key, c in element.items() if self.residue(c)}

    def fingerprint(self, element: Element) -> tuple[tuple[Key, int], ...]:
        """Equal for equal elements."""
        return tuple(sorted((key, self.residue(c)) for key, c in element.items()))

    def opposite(self, fingerprint: tuple[tuple[Key, int], ...]) -> tuple[tuple[Key, int], ...]:
        return tuple((key, self.prime - r) for key, r in fingerprint)

    def _expand(self, factors: Product) -> dict[Key, Number]:
        known = self._expanded.get(factors)
        if known is None:
            slides = [(angle, power) for angle, power, sin in factors if sin < 0]
            turns = [(angle, power) for angle, power in ((a, (c, s)) for a, c, s in factors if s >= 0)]
            known = {(0,) * self.n: 1}
            for angle, (c, s) in turns:  # cos^2 is no code: expand it one by one
                for _ in range(c):
                    known = multiply(known, expand(((angle, 1),), self.n))
                known = multiply(known, expand(((angle, 2 * s),), self.n)) if s else known
            for angle, power in slides:
                place = angle.index(1)
                known = {(*key[:place], key[place] + power, *key[place + 1 :]): v for key, v in known.items()}
            self._expanded[factors] = known
        return known


def symbols(n: int) -> list[Symbol]:
    """All (i, j, k) with j <= k."""
    return [(i, j, k) for i in range(n) for j, k in combinations_with_replacement(range(n), 2)]


def b_columns(n: int) -> list[tuple[int, int]]:
    """Columns of B: (0,1), (0,2), ..., (n-2, n-1)."""
    return [(j, k) for j in range(n) for k in range(j + 1, n)]


def christoffel(
    space: ConstantSpace, elements: Sequence[Sequence[Element]], turns: Sequence[bool]
) -> dict[Symbol, Element]:
    """[i;jk] of a matrix of elements, canonical; zero ones are empty."""
    n = len(elements)
    made: dict[tuple[int, int, int], Element] = {}

    def d(k: int, i: int, j: int) -> Element:
        place = (k, min(i, j), max(i, j))
        if place not in made:
            made[place] = derivative(elements[i][j], k, turns[k])
        return made[place]

    half = Fraction(1, 2)
    result = {}
    for i, j, k in symbols(n):
        if j == k:  # d_j a_ij - d_i a_jj / 2
            value = combine(d(j, i, j), d(i, j, j), -half)
        else:
            value = combine(combine(combine({}, d(k, i, j), half), d(j, i, k), half), d(i, j, k), -half)
        result[i, j, k] = space.nonzero({key: {c: plain(v) for c, v in part.items()} for key, part in value.items()})
    return result


def write_symbols(space: ConstantSpace, former: Former, values: Sequence[Element]) -> Lumped:
    """Elements over the constants in their shortest form; combinations of constants become constants (step 4)."""
    constants: list[Constant] = list(space.constants)
    known = dict(space.known)
    expressions = []
    count = sum(c.kind == "inertia" for c in constants)
    for value in values:
        formed: Formed = former(value)
        terms = []
        for key in sorted(formed):
            base, ratio = primitive(formed[key])
            if base not in known:
                count += 1
                constants.append(_combined(f"I{count}", base, space.constants))
                known[base] = (len(constants) - 1, Fraction(1))
            index, unit = known[base]
            terms.append(Term(ratio / unit, index, key))
        expressions.append(tuple(sorted(terms, key=term_order)))
    return Lumped(tuple(constants), tuple(expressions))


def _combined(name: str, base: frozenset[tuple[int, Number]], constants: Sequence[Constant]) -> Constant:
    parts = tuple((constants[k].name, Fraction(v)) for k, v in sorted(base))
    text = ""
    for part, v in parts:
        size = "" if abs(v) == 1 else f"{abs(v)}*"
        text += f" {'-' if v < 0 else '+'} {size}{part}" if text else f"{'-' if v < 0 else ''}{size}{part}"
    values = [constants[k].value for k, _ in sorted(base)]
    total = (
        None if any(v is None for v in values) else sum(float(v) * (values[n] or 0.0) for n, (_, v) in enumerate(parts))
    )
    return Constant(name, "inertia", (), text, total, parts)


# counting by the relations


def report(
    arm: Arm, groups: Sequence[Group], unique: int, zero: int, elements: Sequence[Sequence[Element]]
) -> ChristoffelReport:
    """Unique symbols after each relation of Armstrong, Khatib and Burdick 1986, eq. 7-10.

    unique: of this arm's expressions.
    """
    n = len(arm.names)
    live = _live(arm)
    formal = {s: _formal(s, live) for s in symbols(n)}
    total = len(formal)
    removed: dict[str, int] = {}
    left = total
    stages: list[tuple[str, dict[Symbol, Vector]]] = [
        ("(7, 8) symmetry, and no influence of the joints before", formal)
    ]
    idle = {k for k in range(n) if not any(any(key[k] for key in e) for row in elements for e in row)}
    formal = {s: {d: v for d, v in vector.items() if d[0] not in idle} for s, vector in formal.items()}
    stages.append(("(9) coordinates that nothing depends on", formal))
    formal = _with_parallels(arm, groups, formal)
    stages.append(("(10) parallel axes", formal))
    for name, vectors in stages:
        count = _unique(list(vectors.values()))
        removed[name] = left - count
        left = count
    removed["equal up to sign or zero in this arm"] = left - unique
    return ChristoffelReport(total, removed, unique, zero)


def _unique(vectors: Sequence[Vector]) -> int:
    """Nonzero vectors up to sign."""
    found = set()
    for vector in vectors:
        if vector:
            items = frozenset(vector.items())
            if frozenset((key, -v) for key, v in vector.items()) not in found:
                found.add(items)
    return len(found)


def _ancestors(arm: Arm) -> list[set[int]]:
    """For each coordinate those on its path to the root, itself included."""
    result: list[set[int]] = [set() for _ in arm.names]
    for index in range(len(arm.steps)):
        at = index
        while at >= 0:
            result[arm.steps[index].coordinate].add(arm.steps[at].coordinate)
            at = arm.steps[at].parent
    return result


def _live(arm: Arm) -> set[tuple[int, int, int]]:
    """(k, i, j), i <= j, where d_k a_ij may be different from zero."""
    above = _ancestors(arm)
    n = len(arm.names)
    live = set()
    for i in range(n):
        for j in range(i, n):
            if i not in above[j] and j not in above[i]:
                continue
            inner, outer = (j, i) if j in above[i] else (i, j)
            for k in range(n):
                if k not in above[inner] and (k in above[outer] or outer in above[k]):
                    live.add((k, i, j))
    return live


def _formal(s: Symbol, live: set[tuple[int, int, int]]) -> Vector:
    i, j, k = s
    half = Fraction(1, 2)
    vector: Vector = {}
    for a, b, c, v in ((k, i, j, half), (j, i, k, half), (i, j, k, -half)):
        place = (a, min(b, c), max(b, c))
        if place in live:
            vector[place] = vector.get(place, Fraction(0)) + v
    return {p: v for p, v in vector.items() if v}


def _with_parallels(arm: Arm, groups: Sequence[Group], formal: dict[Symbol, Vector]) -> dict[Symbol, Vector]:
    """Reduce by [i;ak] = +-[i;bk] for parallel axes a before b, k at or beyond b.

    The partial velocities of the two have equal derivatives.
    """
    above = _ancestors(arm)
    rows: list[Vector] = []
    for a, b, sign in _pairs(arm, groups):
        for i in range(len(arm.names)):
            for k in range(len(arm.names)):
                if b in above[k]:
                    left = formal[i, min(a, k), max(a, k)]
                    right = formal[i, min(b, k), max(b, k)]
                    difference = {
                        p: left.get(p, Fraction(0)) - sign * right.get(p, Fraction(0)) for p in {**left, **right}
                    }
                    row = _reduced({p: v for p, v in difference.items() if v}, rows)
                    if row:
                        rows.append(row)
    return {s: _reduced(vector, rows) for s, vector in formal.items()}


def _pairs(arm: Arm, groups: Sequence[Group]) -> list[tuple[int, int, int]]:
    """(a, b, sign) of parallel axes in a group, a before b."""
    above = _ancestors(arm)
    pairs = []
    for group in groups:
        for total in group.sums:
            members = [k for k, v in enumerate(total) if v]
            for a in members:
                for b in members:
                    if a != b and a in above[b]:
                        pairs.append((a, b, total[a] * total[b]))
    return sorted(set(pairs))


def parallel_pairs(arm: Arm, groups: Sequence[Group]) -> list[tuple[int, int]]:
    """Next neighbours among parallel axes: (a, b), a before b."""
    above = _ancestors(arm)
    pairs = [(a, b) for a, b, _ in _pairs(arm, groups)]
    return [
        (a, b) for a, b in pairs if not any((a, c) in pairs and c in above[b] and c != b for c in range(len(arm.names)))
    ]


def _reduced(vector: Vector, rows: Sequence[Vector]) -> Vector:
    """The rest after elimination by rows, each with its own pivot (its greatest place)."""
    rest = dict(vector)
    for row in rows:
        pivot = max(row)
        if pivot in rest:
            factor = rest[pivot] / row[pivot]
            for p, v in row.items():
                total = rest.get(p, Fraction(0)) - factor * v
                if total:
                    rest[p] = total
                else:
                    rest.pop(p, None)
    return rest
