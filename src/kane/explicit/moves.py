"""Fixed moves with exact coefficients, and what they do to vectors and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kane.errors import UnsupportedError
from kane.explicit.algebra import Atoms, Coefficient, add
from kane.mechanism.model import Placement, QuaternionTurn, Translate, Turn

Rows = tuple[tuple[Coefficient, Coefficient, Coefficient], ...]
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True, slots=True)
class Along:
    """A fixed translation by `by` along a coordinate axis."""

    axis: int
    by: Coefficient


@dataclass(frozen=True, slots=True)
class About:
    """A fixed turn about a coordinate axis."""

    axis: int
    cos: Coefficient
    sin: Coefficient


@dataclass(frozen=True, slots=True)
class Turned:
    """A fixed rotation by a rational matrix: components before it = rows * components after it."""

    rows: Rows


Fixed = Along | About | Turned


def fixed_moves(atoms: Atoms, placement: Placement) -> list[Fixed]:
    """Fixed moves with exact coefficients; those that do nothing are left out."""
    result: list[Fixed] = []
    for move in placement:
        match move:
            case Translate(by):
                parts = [(axis, atoms.scalar(amount)) for axis, amount in enumerate(by)]
                result += [Along(axis, amount) for axis, amount in parts if amount]
            case Turn(axis, angle):
                cos, sin = atoms.cos_sin(angle)
                if sin or cos != {0: 1}:
                    result.append(About(axis, cos, sin))
            case QuaternionTurn(quaternion, _):
                rows = _matrix([Fraction(x) for x in quaternion])  # not a coordinate: that is a spherical joint
                if any(rows[i][j] != ({0: 1} if i == j else {}) for i in range(3) for j in range(3)):
                    result.append(Turned(rows))
            case _:
                raise UnsupportedError(
                    "A frame is turned by direction cosines with names: an explicit model is made of turns.",
                    remedy="Turn the frame by angles.",
                )
    return result


def _matrix(q: list[Fraction]) -> Rows:
    """The rotation of a quaternion of any length: R(q) / |q|^2 is rational."""
    w, x, y, z = q
    n = w * w + x * x + y * y + z * z
    full = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    rows = [[{0: e / n} if e else {} for e in row] for row in full]
    return tuple((row[0], row[1], row[2]) for row in rows)  # type: ignore[misc]


def turn_vector(atoms: Atoms, move: About | Turned, v: Sequence[Coefficient]) -> list[Coefficient]:
    """Components before a fixed turn from components after it."""
    if isinstance(move, About):
        i, j = (move.axis + 1) % 3, (move.axis + 2) % 3
        result = list(v)
        result[i] = add(atoms.mul(move.cos, v[i]), atoms.mul(move.sin, v[j]), -1)
        result[j] = add(atoms.mul(move.sin, v[i]), atoms.mul(move.cos, v[j]))
        return result
    rows = []
    for row in move.rows:
        total: Coefficient = {}
        for e, x in zip(row, v, strict=True):
            total = add(total, atoms.mul(e, x))
        rows.append(total)
    return rows


def turn_tensor(atoms: Atoms, move: Fixed, t: Sequence[Coefficient]) -> list[Coefficient]:
    """A symmetric tensor in the axes before a fixed turn: R T R'."""
    if isinstance(move, Along):
        return list(t)
    full = [[t[PAIRS.index((min(i, j), max(i, j)))] for j in range(3)] for i in range(3)]
    half = [turn_vector(atoms, move, row) for row in full]  # rows of T R' (T symmetric)
    columns = [turn_vector(atoms, move, [half[i][j] for i in range(3)]) for j in range(3)]
    return [columns[j][i] for i, j in PAIRS]
