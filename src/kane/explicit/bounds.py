"""Certified bounds of dropped terms: the greatest torque error over all angles, speeds and accelerations of a box.

For a joint the error is linear in the accelerations and quadratic in the speeds, with trigonometric polynomials of q as
coefficients:

    e(q, qd, qdd) = sum_l a_l(q) qdd_l + sum_{j<=k} n_jk(q) qd_j qd_k + g(q).

At fixed q its maximum over the box of qd and qdd is at most sum |a_l| A_l + max over signs of the quadratic form + |g|
(`worst`); a grid of q with the factor of `certify` proves it for all q.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from kane.explicit.angles import Angle

Array = np.ndarray[Any, np.dtype[np.float64]]
Motion = tuple[int, ...]  # () gravity, (l,) acceleration, (j, k) speeds, j <= k; joint coordinates
Factor = tuple[Angle, int, int]
FINE, COARSE = 500_000, 70_000  # grid points of a certificate, and of a first look
_CHUNK = 2_000  # points at which the greatest error is worked out at once
Wave = dict[Angle, complex]  # sum of weight * exp(i k.q)


def waves(factors: Sequence[Factor]) -> Wave:
    """The angles of a product as exponentials (slides left out)."""
    result: Wave = {}
    for angle, c, s in factors:
        if s < 0:
            continue
        if not result:
            result = {(0,) * len(angle): 1.0 + 0j}
        for power, up, down in ((c, 0.5 + 0j, 0.5 + 0j), (s, -0.5j, 0.5j)):
            for _ in range(power):
                moved: Wave = {}
                for k, weight in result.items():
                    for sign, factor in ((1, up), (-1, down)):
                        target = tuple(x + sign * y for x, y in zip(k, angle, strict=True))
                        moved[target] = moved.get(target, 0j) + weight * factor
                result = moved
    return result


@dataclass(frozen=True, slots=True)
class Box:
    """Ranges: q lower and upper (n), greatest |qd| and |qdd| (n)."""

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array


@dataclass(frozen=True, slots=True)
class Field:
    """One joint's error: component m is Re(sum_h amplitude[h, m] exp(i k_h . q)), weighted by its motion.

    motions[m]; scale[m]: greatest value of the slides' part.
    """

    k: Array  # (H, n)
    amplitude: np.ndarray[Any, np.dtype[np.complex128]]  # (H, M)
    motions: tuple[Motion, ...]
    loose: tuple[bool, ...]  # components multiplied by slides, which may be anything up to their greatest

    @property
    def empty(self) -> bool:
        return not self.motions


def make_field(n: int, parts: Iterable[tuple[Motion, float, Sequence[Factor]]], box: Box) -> Field:
    """The field of a sum of (motion, coefficient, product).

    Each power of the slides is a component of its own, at its greatest.
    """
    components: dict[tuple[Motion, tuple[Factor, ...]], dict[Angle, complex]] = {}
    for motion, coefficient, factors in parts:
        slides = tuple(f for f in factors if f[2] < 0)
        size = 1.0
        for angle, power, _ in slides:
            place = angle.index(1)
            size *= max(abs(box.lower[place]), abs(box.upper[place])) ** power
        component = components.setdefault((motion, slides), {})
        for k, weight in (waves(factors) or {(0,) * n: 1.0 + 0j}).items():
            component[k] = component.get(k, 0j) + weight * coefficient * size
    keys = sorted({k for c in components.values() for k in c})
    loose = tuple(bool(slides) for _, slides in components)
    place_of = {k: h for h, k in enumerate(keys)}
    amplitude = np.zeros((len(keys), len(components)), dtype=complex)
    for m, component in enumerate(components.values()):
        for k, weight in component.items():
            amplitude[place_of[k], m] = weight
    motions = tuple(motion for motion, _ in components)
    return Field(np.array(keys, dtype=float).reshape(-1, n), amplitude, motions, loose)


def values(field: Field, q: Array) -> Array:
    """Coefficients (N, M) at angles (N, n)."""
    result: Array = (np.exp(1j * (q @ field.k.T)) @ field.amplitude).real
    return result


def worst(field: Field, coefficients: Array, slack: Array | None, box: Box) -> Array:
    """An upper bound (N) of the error for coefficients (N, M) known up to slack (N, M).

    It is exact but for maxima of squares inside an interval.
    """
    size = np.array([_size(motion, box) for motion in field.motions])
    spread = np.zeros(len(coefficients)) if slack is None else slack @ size
    linear = [m for m, motion in enumerate(field.motions) if len(motion) == 1]
    total: Array = spread + np.abs(coefficients[:, linear]) @ size[linear]
    rest = [m for m, motion in enumerate(field.motions) if len(motion) != 1 and not field.loose[m]]
    for m, motion in enumerate(field.motions):
        if len(motion) != 1 and field.loose[m]:
            total = total + np.abs(coefficients[:, m]) * size[m]
    if not rest:
        return total
    joints = sorted({j for m in rest for j in field.motions[m]})
    upward, downward = np.full(len(coefficients), -np.inf), np.full(len(coefficients), -np.inf)
    for signs in product((1.0, -1.0), repeat=max(0, len(joints) - 1)):
        sign = dict(zip(joints, (1.0, *signs), strict=False))  # no joints: no signs
        form = np.zeros(len(coefficients))
        squares_up, squares_down = np.zeros(len(coefficients)), np.zeros(len(coefficients))
        for m in rest:
            motion = field.motions[m]
            value = coefficients[:, m] * size[m]
            if len(motion) == 2 and motion[0] == motion[1]:  # a square is between 0 and its greatest
                squares_up += np.maximum(value, 0)
                squares_down += np.maximum(-value, 0)
            elif motion:
                form += value * sign[motion[0]] * sign[motion[1]]
            else:
                form += value
        upward, downward = np.maximum(upward, form + squares_up), np.maximum(downward, squares_down - form)
    result: Array = total + np.maximum(upward, downward)
    return result


def _size(motion: Motion, box: Box) -> float:
    if len(motion) == 1:
        return float(box.acceleration[motion[0]])
    return float(np.prod([box.speed[j] for j in motion]))


@dataclass(frozen=True, slots=True)
class Bound:
    """A certified upper bound, the greatest value found at a point of the ranges, and the points that prove it."""

    upper: float
    lower: float
    points: int


def certify(field: Field, box: Box, budget: int = FINE) -> Bound:
    """The greatest error over the box, from a grid of the angles.

    At fixed speeds and accelerations the error is a trigonometric polynomial of degree d in an angle, so that on
    more than 2 d equal steps, M of them, its greatest value is at most that of the grid over cos(pi d / M) (Riesz
    1914: near its maximum |T| a polynomial is at least |T| cos(d x)); angle by angle these factors multiply.  The
    sum of all absolute coefficients is a bound too; the smaller one is taken.
    """
    if field.empty:
        return Bound(0.0, 0.0, 0)
    weights = np.abs(field.amplitude).sum(axis=0)[None, :]
    simple = float(worst(field, np.zeros_like(weights), weights, box)[0])
    degrees = np.abs(field.k).max(axis=0).astype(int)
    steps = grid_steps(degrees, budget)
    factor = float(np.prod([1 / np.cos(np.pi * d / m) for d, m in zip(degrees, steps, strict=True) if d]))
    greatest, inside = _greatest(field, component_grids(field, steps), steps, box)
    return Bound(min(factor * greatest, simple), inside, int(np.prod(steps)))


def grid_steps(degrees: Sequence[int], budget: int) -> tuple[int, ...]:
    """Steps for each angle, a multiple of its degree d, within a budget of points.

    12 d where that fits, at least 2 d + 1.
    """
    for multiple in (16, 14, 12, 10, 9, 8, 7, 6, 5, 4, 3):
        steps = tuple(multiple * d if d else 1 for d in degrees)
        if np.prod(np.array(steps, dtype=float)) <= budget:
            return steps
    return tuple(2 * d + 1 if d else 1 for d in degrees)


def grid_values(field: Field, steps: Sequence[int]) -> Array:
    """Coefficients (N, M) on the grid -pi + 2 pi m / steps of every angle."""
    grids = component_grids(field, steps)
    return np.stack([np.broadcast_to(grid, tuple(steps)).ravel() for grid in grids], axis=-1)


def component_grids(field: Field, steps: Sequence[int]) -> list[Array]:
    """Every component on the grid, one axis an angle, of length 1 where it does not depend on the angle.

    By one FFT for two components (they are real) of the same angles.
    """
    harmonics = field.k.astype(int)
    turned = field.amplitude * np.where(harmonics.sum(axis=1) % 2, -1.0, 1.0)[:, None]  # the grid starts at -pi
    groups: dict[tuple[bool, ...], list[int]] = {}
    for m in range(turned.shape[1]):
        used = tuple(harmonics[turned[:, m] != 0].any(axis=0).tolist())
        groups.setdefault(used, []).append(m)
    grids: dict[int, Array] = {}
    for used, members in groups.items():
        shape = tuple(n if own else 1 for n, own in zip(steps, used, strict=True))
        for pair in (members[k : k + 2] for k in range(0, len(members), 2)):
            weight = turned[:, pair[0]] + (1j * turned[:, pair[1]] if len(pair) > 1 else 0)
            some = np.flatnonzero(turned[:, pair].any(axis=1))
            table = np.zeros(shape, dtype=complex)
            np.add.at(table, tuple(harmonics[some].T % np.array(shape)[:, None]), weight[some])
            values = np.fft.ifftn(table, axes=[a for a, own in enumerate(used) if own]) * table.size
            grids |= dict(zip(pair, (values.real, values.imag), strict=False))
    return [grids[m] for m in range(turned.shape[1])]


def _greatest(field: Field, grids: Sequence[Array], steps: Sequence[int], box: Box) -> tuple[float, float]:
    """The greatest `worst` on the grid, and the greatest seen inside the ranges.

    Where the sum of absolute values is not above what is found already, `worst` is not worked out.
    """
    by_shape: dict[tuple[int, ...], Array] = {}
    for grid, motion in zip(grids, field.motions, strict=True):
        part = np.abs(grid) * _size(motion, box)
        by_shape[grid.shape] = by_shape[grid.shape] + part if grid.shape in by_shape else part
    sums: Array = np.zeros(tuple(steps))
    for part in by_shape.values():
        sums += part
    flat = sums.ravel()
    first = np.argpartition(flat, len(flat) - _CHUNK)[-_CHUNK:] if len(flat) > _CHUNK else np.arange(len(flat))
    greatest, inside = _worst_at(field, grids, first, (steps, box))
    flat[first] = 0.0
    rest = np.flatnonzero(flat > greatest)
    rest = rest[np.argsort(-flat[rest], kind="stable")]
    for start in range(0, len(rest), _CHUNK):
        chunk = rest[start : start + _CHUNK]
        if flat[chunk[0]] <= greatest:
            break
        other = _worst_at(field, grids, chunk, (steps, box))
        greatest, inside = max(greatest, other[0]), max(inside, other[1])
    return greatest, inside


def _worst_at(
    field: Field, grids: Sequence[Array], points: np.ndarray[Any, np.dtype[np.int64]], where: tuple[Sequence[int], Box]
) -> tuple[float, float]:
    """The greatest `worst` at points of the grid, and the greatest of those inside the ranges."""
    steps, box = where
    place = np.unravel_index(points, tuple(steps))
    coefficients = np.empty((len(points), len(grids)))
    for m, grid in enumerate(grids):
        coefficients[:, m] = grid[tuple(i if n > 1 else 0 for i, n in zip(place, grid.shape, strict=True))]
    found = worst(field, coefficients, None, box)
    within = np.ones(len(points), dtype=bool)
    for d, n in enumerate(steps):
        if n > 1:
            angle = -np.pi + 2 * np.pi * place[d] / n
            within &= (angle >= box.lower[d] - 1e-9) & (angle <= box.upper[d] + 1e-9)
    return float(found.max(initial=0.0)), float(found[within].max(initial=0.0))
