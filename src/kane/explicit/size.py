"""How large an explicit model will be, before it is made: harmonics by where they can be different from zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from kane.errors import UnsupportedError
from kane.explicit.arm import Arm
from kane.explicit.moves import About, Along, Turned

LIMIT = 3_500  # terms of the upper triangle of A that can be read and differentiated in seconds
_MANY = 12_000  # keys of one quantity at which the count stops
_LONGEST = 15  # steps whose keys fit 64 bits
_GENERAL = 8  # what a term costs more when fixed turns are in general directions: long rational numbers


class _TooManyError(Exception):
    """The count was stopped."""


def refuse_too_large(arm: Arm, name: str, rounded: bool = False, limit: int = LIMIT) -> None:
    """UnsupportedError with the number of terms when the upper triangle of A would have more than `limit`.

    rounded: whether there are fixed angles whose sines and cosines are long numbers.
    """
    if len(arm.steps) < 4:
        return
    found = count_terms(arm)
    terms, about = (_MANY, "more than") if found is None else (found, "about")
    general = rounded or any(isinstance(move, Turned) for step in arm.steps for move in step.fixed)
    if terms * (_GENERAL if general else 1) > limit:
        raise UnsupportedError(
            f"The explicit form of {name} has {about} {terms} terms in the kinetic energy matrix alone.",
            name=name,
            value=terms,
            remedy="Use 'kane derive' (kane.derive), whose recursive equations stay short, or fix some joints and take "
            "the explicit form of the rest.",
        )


def count_terms(arm: Arm) -> int | None:
    """An upper bound of the terms cos^a sin^b ... in the upper triangle of A, as if nothing cancelled.

    None where one quantity on the way has more than 12,000 terms: the count itself would take long.  Every quantity is
    the set of its keys, an integer each: four bits (1, c, s, cs, s^2) a step of the path.
    """
    try:
        return sum(len(found) for found in _Keys(arm).elements().values())
    except _TooManyError:
        return None


class _Keys:
    """Sets of packed keys through the moves: the algorithm of energy.py without coefficients."""

    def __init__(self, arm: Arm) -> None:
        self.arm = arm

    def elements(self) -> dict[tuple[int, int], Any]:
        steps = self.arm.steps
        bodies = [self._body(k) for k in range(len(steps))]
        for k in reversed(range(len(steps))):
            if steps[k].parent >= 0:
                up = self._down_body(k, bodies[k])
                bodies[steps[k].parent] = [_union(a, b) for a, b in zip(bodies[steps[k].parent], up, strict=True)]
        found: dict[tuple[int, int], Any] = {}
        for k, step in enumerate(steps):
            momentum = _unit(bodies[k], step.kind, step.axis)
            at = k
            while at >= 0:
                other = steps[at]
                part = momentum[3 + other.axis] if other.kind == "turn" else momentum[other.axis]
                place = (min(step.coordinate, other.coordinate), max(step.coordinate, other.coordinate))
                found[place] = _union(found.get(place, _NONE), part)
                momentum = self._down_momentum(at, momentum)
                at = other.parent
        return found

    def _bit(self, k: int) -> Any:
        """The key of the cosine or slide of a step; long trees need integers of any length."""
        wide = len(self.arm.steps) > _LONGEST
        return np.array([1 << (4 * k)], dtype=object if wide else np.int64)

    def _body(self, k: int) -> list[Any]:
        """mass, first (3), tensor (6)."""
        body = self.arm.steps[k].body
        if body is None:
            return [_NONE] * 10
        return [_ONE if part else _NONE for part in (body.mass, *body.first, *body.tensor)]

    def _down_body(self, k: int, b: list[Any]) -> list[Any]:
        step = self.arm.steps[k]
        one = self._bit(k)
        b = _turn_body(b, step.axis, one, 4 * one) if step.kind == "turn" else _shift_body(b, step.axis, one)
        for move in reversed(step.fixed):
            if isinstance(move, Along):
                b = _shift_body(b, move.axis, _ONE)
            elif isinstance(move, About):
                b = _turn_body(b, move.axis, _ONE if move.cos else None, _ONE if move.sin else None)
            else:
                b = _matrix_body(b, move)
        return b

    def _down_momentum(self, k: int, m: list[Any]) -> list[Any]:
        step = self.arm.steps[k]
        one = self._bit(k)
        force, moment = m[:3], m[3:]
        if step.kind == "turn":
            force, moment = _turn_vector(force, step.axis, one, 4 * one), _turn_vector(moment, step.axis, one, 4 * one)
        else:
            moment = _shift_moment(force, moment, step.axis, one)
        for move in reversed(step.fixed):
            if isinstance(move, Along):
                moment = _shift_moment(force, moment, move.axis, _ONE)
            elif isinstance(move, About):
                c, s = _ONE if move.cos else None, _ONE if move.sin else None
                force, moment = _turn_vector(force, move.axis, c, s), _turn_vector(moment, move.axis, c, s)
            else:
                force, moment = _matrix_vector(force, move), _matrix_vector(moment, move)
        return [*force, *moment]


_NONE = np.array([], dtype=np.int64)
_ONE = np.array([0], dtype=np.int64)
_INDEX = ((0, 1, 2), (1, 3, 4), (2, 4, 5))


def _union(*parts: Any) -> Any:
    kept = [p for p in parts if len(p)]
    if not kept:
        return _NONE
    if len(kept) == 1:
        return kept[0]
    found = np.unique(np.concatenate(kept))
    if len(found) > _MANY:
        raise _TooManyError
    return found


def _by(a: Any, *factors: Any) -> Any:
    for factor in factors:
        if factor is None:
            return _NONE
        a = a + factor
    return a


def _turn_vector(v: list[Any], axis: int, c: Any, s: Any) -> list[Any]:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result = list(v)
    result[i], result[j] = _union(_by(v[i], c), _by(v[j], s)), _union(_by(v[i], s), _by(v[j], c))
    return result


def _turn_body(b: list[Any], axis: int, c: Any, s: Any) -> list[Any]:
    t = b[4:]
    i, j = (axis + 1) % 3, (axis + 2) % 3
    ii, jj, ij, ik, jk = _INDEX[i][i], _INDEX[j][j], _INDEX[i][j], _INDEX[i][axis], _INDEX[j][axis]
    differ = _union(t[ii], t[jj])
    new = list(t)
    new[ii] = _union(t[ii], _by(differ, s, s), _by(t[ij], c, s))
    new[jj] = _union(t[jj], _by(differ, s, s), _by(t[ij], c, s))
    new[ij] = _union(t[ij], _by(differ, c, s), _by(t[ij], s, s))
    new[ik], new[jk] = _union(_by(t[ik], c), _by(t[jk], s)), _union(_by(t[ik], s), _by(t[jk], c))
    return [b[0], *_turn_vector(b[1:4], axis, c, s), *new]


def _shift_body(b: list[Any], axis: int, by: Any) -> list[Any]:
    new = list(b)
    across = _union(_by(b[1 + axis], by), _by(b[0], by, by))
    for k in ((axis + 1) % 3, (axis + 2) % 3):
        new[4 + _INDEX[k][k]] = _union(new[4 + _INDEX[k][k]], across)
        new[4 + _INDEX[axis][k]] = _union(new[4 + _INDEX[axis][k]], _by(b[1 + k], by))
    new[1 + axis] = _union(b[1 + axis], _by(b[0], by))
    return new


def _shift_moment(force: list[Any], moment: list[Any], axis: int, by: Any) -> list[Any]:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    result = list(moment)
    result[i], result[j] = _union(moment[i], _by(force[j], by)), _union(moment[j], _by(force[i], by))
    return result


def _matrix_vector(v: list[Any], move: Turned) -> list[Any]:
    return [_union(*(x for e, x in zip(row, v, strict=True) if e)) for row in move.rows]


def _matrix_body(b: list[Any], move: Turned) -> list[Any]:
    everything = _union(*b[4:])
    return [b[0], *_matrix_vector(b[1:4], move), *([everything] * 6)]


def _unit(b: list[Any], kind: str, axis: int) -> list[Any]:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    force: list[Any] = [_NONE] * 3
    moment: list[Any] = [_NONE] * 3
    if kind == "turn":
        force[i], force[j] = b[1 + j], b[1 + i]
        moment = [b[4 + _INDEX[row][axis]] for row in range(3)]
    else:
        force[axis] = b[0]
        moment[i], moment[j] = b[1 + j], b[1 + i]
    return [*force, *moment]
