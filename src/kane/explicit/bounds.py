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
    coefficients = grid_values(field, steps)
    at = worst_above(field, coefficients, box)
    inside = at[_within(steps, box, degrees)]
    return Bound(min(factor * float(at.max()), simple), float(inside.max(initial=0.0)), len(at))


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
    """Coefficients (N, M) on the grid -pi + 2 pi m / steps of every angle, by one FFT a component."""
    turned = field.amplitude * np.where(field.k.sum(axis=1) % 2, -1.0, 1.0)[:, None]  # the grid starts at -pi
    place = tuple(field.k.astype(int).T % np.array(steps)[:, None])
    count = turned.shape[1]
    values = np.empty((int(np.prod(steps)), count))
    for m in range(0, count, 2):  # components are real: two in one complex transform
        table = np.zeros(tuple(steps), dtype=complex)
        np.add.at(table, place, turned[:, m] + (1j * turned[:, m + 1] if m + 1 < count else 0))
        flat = np.fft.ifftn(table).ravel() * table.size
        values[:, m] = flat.real
        if m + 1 < count:
            values[:, m + 1] = flat.imag
    return values


def worst_above(field: Field, coefficients: Array, box: Box) -> Array:
    """`worst` at the points where it may be the greatest, 0 elsewhere (the sum of absolute values shows which)."""
    sums: Array = np.abs(coefficients) @ np.array([_size(motion, box) for motion in field.motions])
    result = np.zeros(len(sums))
    order = np.argsort(-sums, kind="stable")
    level = 0.0
    for start in range(0, len(order), 2000):
        chunk = order[start : start + 2000]
        if sums[chunk[0]] <= level:
            break
        result[chunk] = worst(field, coefficients[chunk], None, box)
        level = max(level, float(result[chunk].max()))
    return result


def _within(steps: Sequence[int], box: Box, degrees: Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which points of the grid lie in the ranges of the angles."""
    inside: Any = np.ones(tuple(steps), dtype=bool)
    for d in (int(d) for d in np.flatnonzero(degrees)):
        points = -np.pi + 2 * np.pi * np.arange(steps[d]) / steps[d]
        shape = [1] * len(steps)
        shape[d] = -1
        inside = inside & ((points >= box.lower[d] - 1e-9) & (points <= box.upper[d] + 1e-9)).reshape(shape)
    flat: np.ndarray[Any, np.dtype[np.bool_]] = inside.ravel()
    return flat
