"""The model in absolute angles of parallel axes, for programs and abbreviation: fewer and shorter elements.

With u = S q (for parallel axes: the sums of angles up to each of them) the kinetic energy has A' = S^-T A S^-1 and tau
= S' tau'.  The relation of parallel axes among the Christoffel symbols then holds by itself: what it makes equal
appears once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from kane.explicit.algebra import plain, unimodular_inverse
from kane.explicit.angles import Angle, Group, positive
from kane.explicit.bounds import Motion
from kane.explicit.christoffel import ConstantSpace, christoffel
from kane.explicit.energy import Element, combine
from kane.explicit.evaluate import Array
from kane.explicit.forms import Former, Frame, Product
from kane.explicit.lumping import Expression, Term
from kane.explicit.model import ExplicitModel

Rows = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """ratio * constant * product * motion, a summand of the generalized force of absolute coordinate `row`.

    motion: () for gravity, (j,) for the acceleration of absolute coordinate j, (j, k) for the product of two
    speeds.  `factors` hold angles as integer vectors over the joint coordinates.
    """

    row: int
    term: Term
    motion: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Absolute:
    """u = S q; the pieces of tau' in the constants of the model.

    Rotor inertia is left at the joints, as (coordinate, constant).
    """

    transform: Rows
    pieces: tuple[Piece, ...]
    rotors: tuple[tuple[int, int], ...]


def absolute_form(model: ExplicitModel) -> Absolute:
    """The forces tau' of a model:  tau_i = sum_k S_ki tau'_k + Im_i qdd_i  (Im: rotors that stay at the joint)."""
    change = Change(model)
    n = model.n
    a, g = change.matrix(), change.gravity()
    pieces = []
    for i in range(n):
        for j in range(n):
            pieces += [Piece(i, t, (j,)) for t in change.write(a[i][j])]
    for (i, j, k), value in christoffel(change.space, a, model.turns).items():
        factor = 1 if j == k else 2
        pieces += [Piece(i, Term(t.ratio * factor, t.constant, t.factors), (j, k)) for t in change.write(value)]
    for i in range(n):
        pieces += [Piece(i, t, ()) for t in change.write(g[i])]
    rotors = []
    for i in range(n):
        for t in model.A[i][i]:
            if model.constants[t.constant].kind == "rotor":
                if change.alone(i):
                    pieces.append(Piece(i, t, (i,)))
                else:
                    rotors.append((i, t.constant))
    return Absolute(change.transform, tuple(pieces), tuple(rotors))


def joint_parts(form: Absolute, piece: Piece, constants: Array) -> list[tuple[int, Motion, float, Product]]:
    """What a piece adds to the joints' torques: (joint, motion in joint coordinates, coefficient, product)."""
    n = len(form.transform)
    size = float(piece.term.ratio) * float(constants[piece.term.constant])
    motions: dict[Motion, float] = {(): size}
    for j in piece.motion:
        motions = {
            (*m, k): w * form.transform[j][k] for m, w in motions.items() for k in range(n) if form.transform[j][k]
        }
    merged: dict[Motion, float] = {}
    for m, w in motions.items():
        key = tuple(sorted(m))
        merged[key] = merged.get(key, 0.0) + w
    return [
        (i, m, w * form.transform[piece.row][i], piece.term.factors)
        for i in range(n)
        if form.transform[piece.row][i]
        for m, w in merged.items()
        if w
    ]


class Change:
    """Elements of a model in absolute coordinates, canonical there and written in angles of the joints."""

    def __init__(self, model: ExplicitModel) -> None:
        self.model = model
        n = model.n
        sums: dict[int, Angle] = {}
        for group in model.groups:
            for total in group.sums:
                sums[_last(total, group, model)] = total
        unit = [tuple(int(i == k) for i in range(n)) for k in range(n)]
        self.transform: Rows = tuple(sums.get(k, unit[k]) for k in range(n))
        self.inverse = unimodular_inverse(self.transform)
        relations = [[(next(i for i, c in enumerate(model.constants) if c.name == name), v) for name, v in d.parts]
                     for d in model.dependences]  # fmt: skip
        plain_constants = [c for c in model.constants if not c.parts]
        self.index = [k for k, c in enumerate(model.constants) if not c.parts]
        place = {k: p for p, k in enumerate(self.index)}
        self.place = place
        mapped = [[(place[k], v) for k, v in relation] for relation in relations]
        self.space = ConstantSpace(plain_constants, mapped, n, model.atoms)
        groups = tuple(Group(g.coordinates, tuple(unit[k] for k in g.coordinates)) for g in model.groups)
        self.former = Former(Frame(n, model.turns, groups), "powers")

    def alone(self, i: int) -> bool:
        """True when the speed of joint i is absolute coordinate i itself."""
        return sum(map(abs, self.transform[i])) == 1

    def angle_in(self, angle: Angle) -> Angle:
        """An angle of the joints as a vector over the absolute coordinates: v' = S^-T v."""
        n = self.model.n
        return tuple(sum(self.inverse[i][k] * angle[i] for i in range(n)) for k in range(n))

    def angle_out(self, angle: Angle) -> Angle:
        n = self.model.n
        return tuple(sum(self.transform[i][k] * angle[i] for i in range(n)) for k in range(n))

    def element(self, expression: Expression) -> Element:
        """An expression of the model (rotors left out), canonical in absolute coordinates."""
        mapped = []
        for t in expression:
            if self.model.constants[t.constant].kind != "rotor":
                factors = tuple((self.angle_in(a) if s >= 0 else a, c, s) for a, c, s in t.factors)
                mapped.append(Term(t.ratio, self.place[t.constant], factors))
        return self.space.element(tuple(mapped))

    def matrix(self) -> list[list[Element]]:
        """A' = S^-T A S^-1."""
        n = self.model.n
        plain_a = {(i, j): self.element(self.model.A[i][j]) for i in range(n) for j in range(i, n)}
        rows: list[list[Element]] = [[{} for _ in range(n)] for _ in range(n)]
        for i in range(n):
            for j in range(i, n):
                total: Element = {}
                for p in range(n):
                    for q in range(n):
                        weight = self.inverse[p][i] * self.inverse[q][j]
                        if weight:
                            total = combine(total, plain_a[min(p, q), max(p, q)], weight)
                rows[i][j] = rows[j][i] = self.space.nonzero(_plain(total))
        return rows

    def gravity(self) -> list[Element]:
        """g' = S^-T g."""
        n = self.model.n
        plain_g = [self.element(e) for e in self.model.g]
        result = []
        for i in range(n):
            total: Element = {}
            for p in range(n):
                if self.inverse[p][i]:
                    total = combine(total, plain_g[p], self.inverse[p][i])
            result.append(self.space.nonzero(_plain(total)))
        return result

    def write(self, element: Element) -> list[Term]:
        """Terms in the constants of the model, one for each constant of a product."""
        terms = []
        for factors, coefficient in sorted(self.former(element).items()):
            outward, sign = self._outward(factors)
            terms += [Term(Fraction(v) * sign, self.index[k], outward) for k, v in sorted(coefficient.items())]
        return terms

    def _outward(self, factors: Product) -> tuple[Product, int]:
        """A product in angles of the joints, each with a positive first entry, and the sign that this costs."""
        sign, result = 1, []
        for angle, c, s in factors:
            moved = self.angle_out(angle) if s >= 0 else angle
            if s >= 0 and moved != positive(moved):
                moved, sign = positive(moved), sign * (-1) ** s
            result.append((moved, c, s))
        return tuple(sorted(result)), sign


def _plain(element: Element) -> Element:
    return {key: {k: plain(v) for k, v in c.items()} for key, c in element.items()}


def _last(total: Angle, group: Group, model: ExplicitModel) -> int:
    """The coordinate that a sum of parallel angles ends with: the one whose other members all come before it."""
    shorter = [s for s in group.sums if s != total and all(not v or total[k] for k, v in enumerate(s))]
    members = {k for k, v in enumerate(total) if v}
    for s in shorter:
        members -= {k for k, v in enumerate(s) if v}
    return min(members)
