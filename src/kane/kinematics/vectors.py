"""Vectors, rotations and symmetric tensors over a graph: triples of references, folded by the graph itself.

A fixed or moving turn is applied to a vector in two products a component pair; rotation matrices are not multiplied
out, which costs fewer operations (Khalil and Kleinfinger 1987).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kane.graph.arena import STATE, Graph, Ref
from kane.mechanism.model import Axis

Vec = tuple[Ref, Ref, Ref]
Sym = tuple[Ref, Ref, Ref, Ref, Ref, Ref]  # xx xy xz yy yz zz
Mat = tuple[Vec, Vec, Vec]
ZERO: Vec = (0, 0, 0)
SYM_ZERO: Sym = (0, 0, 0, 0, 0, 0)
INDEX = ((0, 1, 2), (1, 3, 4), (2, 4, 5))  # place of element (i, j) in Sym


def unit(axis: Axis) -> Vec:
    """The basis vector of an axis."""
    return (2 * (axis == 0), 2 * (axis == 1), 2 * (axis == 2))


def add(g: Graph, first: Vec, *others: Vec) -> Vec:
    add_ = g.add
    x, y, z = first
    for a, b, c in others:
        if a > 1:
            x = add_(x, a) if x > 1 else a
        if b > 1:
            y = add_(y, b) if y > 1 else b
        if c > 1:
            z = add_(z, c) if z > 1 else c
    return (x, y, z)


def neg(v: Vec) -> Vec:
    x, y, z = v
    return (x ^ 1 if x > 1 else 0, y ^ 1 if y > 1 else 0, z ^ 1 if z > 1 else 0)


def sub(g: Graph, a: Vec, b: Vec) -> Vec:
    return add(g, a, neg(b))


def scale(g: Graph, s: Ref, v: Vec) -> Vec:
    x, y, z = v
    mul = g.mul
    return (mul(s, x) if x > 1 else 0, mul(s, y) if y > 1 else 0, mul(s, z) if z > 1 else 0)


def dot(g: Graph, a: Sequence[Ref], b: Sequence[Ref]) -> Ref:
    return g.dot(a, b)


def cross(g: Graph, a: Vec, b: Vec) -> Vec:
    a0, a1, a2 = a
    b0, b1, b2 = b
    if (a0 < 2 and a1 < 2 and a2 < 2) or (b0 < 2 and b1 < 2 and b2 < 2):
        return ZERO
    return (_cross(g, a1, b2, a2, b1), _cross(g, a2, b0, a0, b2), _cross(g, a0, b1, a1, b0))


def _cross(g: Graph, a: Ref, b: Ref, c: Ref, d: Ref) -> Ref:
    """a b - c d; most of what mechanisms have is zero."""
    if c < 2 or d < 2:
        return g.mul(a, b) if a > 1 and b > 1 else 0
    if a < 2 or b < 2:
        return g.mul(c, d) ^ 1
    return g.add(g.mul(a, b), g.mul(c, d) ^ 1)


def apply(g: Graph, m: Mat, v: Vec) -> Vec:
    """Matrix times vector."""
    return (g.dot(m[0], v), g.dot(m[1], v), g.dot(m[2], v))


def transpose(m: Mat) -> Mat:
    a, b, c = zip(*m, strict=True)
    return (a, b, c)


def product(g: Graph, a: Mat, b: Mat) -> Mat:
    columns = [apply(g, a, column) for column in transpose(b)]
    return transpose((columns[0], columns[1], columns[2]))


def sym_apply(g: Graph, s: Sym, v: Vec) -> Vec:
    """Symmetric tensor times vector."""
    xx, xy, xz, yy, yz, zz = s
    return (g.dot((xx, xy, xz), v), g.dot((xy, yy, yz), v), g.dot((xz, yz, zz), v))


def sym_add(g: Graph, *tensors: Sym) -> Sym:
    a = [g.sum(parts) for parts in zip(*tensors, strict=True)]
    return (a[0], a[1], a[2], a[3], a[4], a[5])


def sym_scale(g: Graph, s: Ref, t: Sym) -> Sym:
    a = [g.mul(s, x) for x in t]
    return (a[0], a[1], a[2], a[3], a[4], a[5])


def parallel(g: Graph, a: Vec, b: Vec) -> Sym:
    """-(a x)(b x) - (b x)(a x), symmetric: what a shift adds to a tensor; (a x)(b x) means the matrix product."""
    ab = [g.mul(a[i], b[i]) for i in range(3)]
    total = [g.add(ab[(i + 1) % 3], ab[(i + 2) % 3]) for i in range(3)]
    off = [g.neg(g.add(g.mul(a[i], b[j]), g.mul(a[j], b[i]))) for i, j in ((0, 1), (0, 2), (1, 2))]
    twice = [g.add(t, t) for t in total]
    return (twice[0], off[0], off[1], twice[1], off[2], twice[2])


def shell(g: Graph, a: Vec) -> Sym:
    """(a . a) 1 - a a: the tensor of a unit point mass at a."""
    squares = [g.mul(x, x) for x in a]
    off = [g.neg(g.mul(a[i], a[j])) for i, j in ((0, 1), (0, 2), (1, 2))]
    xx, yy, zz = (g.add(squares[(i + 1) % 3], squares[(i + 2) % 3]) for i in range(3))
    return (xx, off[0], off[1], yy, off[2], zz)


@dataclass(frozen=True, slots=True)
class SimpleRotation:
    """A turn about a coordinate axis; child components from parent components: `into`, back: `out`."""

    axis: Axis
    cos: Ref
    sin: Ref

    def into(self, g: Graph, v: Vec) -> Vec:
        """Components in the turned axes."""
        return self._rotate(g, v, self.sin)

    def out(self, g: Graph, v: Vec) -> Vec:
        """Components in the axes before the turn."""
        return self._rotate(g, v, self.sin ^ 1)

    def _rotate(self, g: Graph, v: Vec, s: Ref) -> Vec:
        x, y, z = v
        if self.axis == 2:
            return (*self._plane(g, x, y, s), z)
        if self.axis == 1:
            z, x = self._plane(g, z, x, s)
            return (x, y, z)
        return (x, *self._plane(g, y, z, s))

    def _plane(self, g: Graph, a: Ref, b: Ref, s: Ref) -> tuple[Ref, Ref]:
        """(c a + s b, c b - s a)."""
        c, mul = self.cos, g.mul
        if a < 2:
            return (a, b) if b < 2 else (mul(s, b), mul(c, b))
        if b < 2:
            return mul(c, a), g.neg(mul(s, a))
        return g.add(mul(c, a), mul(s, b)), g.add(mul(c, b), mul(s, a) ^ 1)

    def sym_out(self, g: Graph, t: Sym) -> Sym:
        """A symmetric tensor in the axes before the turn: 8 multiplications, 8 additions.

        With w = s (Tii - Tjj) + 2 c Tij: Tii' = Tii - s w, Tjj' = Tjj + s w, Tij' = c w - Tij.
        """
        i, j, k = (self.axis + 1) % 3, (self.axis + 2) % 3, self.axis
        result = list(t)
        ii, jj, ij, ik, jk = INDEX[i][i], INDEX[j][j], INDEX[i][j], INDEX[i][k], INDEX[j][k]
        w = g.add(g.mul(self.sin, g.sub(t[ii], t[jj])), g.mul(self.cos, g.add(t[ij], t[ij])))
        sw = g.mul(self.sin, w)
        result[ii], result[jj] = g.sub(t[ii], sw), g.add(t[jj], sw)
        result[ij] = g.sub(g.mul(self.cos, w), t[ij])
        result[ik] = g.sub(g.mul(self.cos, t[ik]), g.mul(self.sin, t[jk]))
        result[jk] = g.add(g.mul(self.sin, t[ik]), g.mul(self.cos, t[jk]))
        return (result[0], result[1], result[2], result[3], result[4], result[5])

    def matrix(self, g: Graph) -> Mat:
        """Components before the turn = matrix * components after it."""
        columns = [self.out(g, unit(k)) for k in (0, 1, 2)]
        return transpose((columns[0], columns[1], columns[2]))


@dataclass(frozen=True, slots=True)
class MatrixRotation:
    """A rotation by its matrix (parent components = matrix * child components)."""

    rows: Mat

    def into(self, g: Graph, v: Vec) -> Vec:
        return apply(g, transpose(self.rows), v)

    def out(self, g: Graph, v: Vec) -> Vec:
        return apply(g, self.rows, v)

    def sym_out(self, g: Graph, t: Sym) -> Sym:
        """A symmetric tensor in the axes before the turn: 25 multiplications, 28 additions of a matrix of constants.

        R T Rᵀ = Tzz 1 + R (T - Tzz 1) Rᵀ, linear in the five elements of the second term, which keeps its trace.
        """
        r = self.rows
        if any(g.level_of(x) == STATE for row in r for x in row):  # their products would cost more
            full: Mat = ((t[0], t[1], t[2]), (t[1], t[3], t[4]), (t[2], t[4], t[5]))
            half = product(g, r, full)
            e = [[g.dot(half[i], r[j]) for j in range(3)] for i in range(3)]
            return (e[0][0], e[0][1], e[0][2], e[1][1], e[1][2], e[2][2])
        xx, yy, zz = g.sub(t[0], t[5]), g.sub(t[3], t[5]), t[5]
        places = ((0, 0, xx), (0, 1, t[1]), (0, 2, t[2]), (1, 1, yy), (1, 2, t[4]))

        def element(i: int, j: int) -> Ref:
            sides = ((g.mul(r[i][m], r[j][n]), g.mul(r[i][n], r[j][m]) * (m != n), x) for m, n, x in places)
            return g.sum(g.mul(g.add(one, other), x) for one, other, x in sides)

        a, b, c, d, f = (element(i, j) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2)))
        last = g.sub(g.sub(g.add(xx, yy), a), d)
        return (g.add(a, zz), b, c, g.add(d, zz), f, g.add(last, zz))

    def matrix(self, g: Graph) -> Mat:
        return self.rows


Rotation = SimpleRotation | MatrixRotation


def spin(g: Graph, rows: Mat, rates: Mat) -> Vec:
    """Angular velocity, own axes, of a rotation matrix that changes: the skew matrix Cᵀ dC/dt."""
    a, b, c = transpose(rows)
    x, y, z = transpose(rates)
    return (g.dot(c, y), g.dot(a, z), g.dot(b, x))


def quaternion_rotation(g: Graph, w: Ref, x: Ref, y: Ref, z: Ref) -> MatrixRotation:
    """The rotation of a unit quaternion: R = 1 + 2 w [v]x + 2 [v]x [v]x."""
    x2, y2, z2 = g.add(x, x), g.add(y, y), g.add(z, z)
    xx, yy, zz = g.mul(x, x2), g.mul(y, y2), g.mul(z, z2)
    xy, xz, yz = g.mul(x, y2), g.mul(x, z2), g.mul(y, z2)
    wx, wy, wz = g.mul(w, x2), g.mul(w, y2), g.mul(w, z2)
    one = g.one
    return MatrixRotation(
        (
            (g.sub(one, g.add(yy, zz)), g.sub(xy, wz), g.add(xz, wy)),
            (g.add(xy, wz), g.sub(one, g.add(xx, zz)), g.sub(yz, wx)),
            (g.sub(xz, wy), g.add(yz, wx), g.sub(one, g.add(xx, yy))),
        )
    )


def total(g: Graph, vectors: Iterable[Vec]) -> Vec:
    """The sum of vectors."""
    result = ZERO
    for v in vectors:
        result = add(g, result, v)
    return result
