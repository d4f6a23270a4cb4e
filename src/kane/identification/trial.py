"""Trial motions of a search: every one fills its joints' position, speed and acceleration limits exactly.

A joint's variables are the shape of its Fourier series (sine and cosine coefficients up to a factor), where in the room
that the limits leave its centre lies, and how much of the largest amplitude is used.  So no trial needs a constraint,
and slopes by q, qd, qdd go back to the variables in closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kane.identification.motion import FourierMotion, MotionLimits, fine_times, within

Array = np.ndarray[Any, np.dtype[Any]]
Bases = tuple[Array, Array, Array]
LEAST = 0.05  # of the largest amplitude that the limits leave


@dataclass(frozen=True, slots=True)
class Trials:
    """Motions of one period (s) and number of harmonics H within limits; rest: speed and acceleration zero at the ends.

    Variables p: shape (n, 2 H), sine coefficients times their harmonic, then cosine; n of the place; n of the fill.
    times: where motions
    are looked at; at and fine: values, rates and second rates of the series there and where extremes are looked for.
    """

    joints: tuple[str, ...]
    limits: MotionLimits
    period: float
    harmonics: int
    rest: bool
    times: Array = field(repr=False)
    at: Bases = field(repr=False)
    fine: Bases = field(repr=False)
    grow: float

    def shaped(self, p: Array) -> tuple[Array, Array, Array]:
        """Coefficients (n, 2 H), place (n,) and fill (n,) of variables."""
        n, H = len(self.joints), self.harmonics
        shape = p[: 2 * n * H].reshape(n, 2 * H) / _harmonic(H)
        place, fill = 0.5 + 0.5 * np.sin(p[2 * n * H :].reshape(2, n))
        return _rested(shape) if self.rest else shape, place, LEAST + (1.0 - LEAST) * fill

    def motion(self, p: Array) -> FourierMotion:
        """The motion of variables."""
        shape, place, fill = self.shaped(p)
        halves = shape.reshape(len(self.joints), 2, self.harmonics)
        return within(self.limits, self.period, halves, place, fill, self.joints)

    def widened(self, p: Array) -> Array:
        """The variables of a series of fewer harmonics, as variables of this one."""
        n = len(self.joints)
        shape = p[: -2 * n].reshape(n, 2, -1)
        more = np.zeros((n, 2, self.harmonics - shape.shape[2]))
        return np.concatenate([np.concatenate([shape, more], axis=2).ravel(), p[-2 * n :]])

    def states(self, motion: FourierMotion) -> tuple[Array, Array, Array]:
        """q, qd, qdd (samples, n) of a motion at the trial times."""
        coefficients = np.hstack([motion.sine, motion.cosine]).T
        q, qd, qdd = (basis @ coefficients for basis in self.at)
        return motion.centre + q, qd, qdd

    def slopes(self, p: Array, gq: Array, gqd: Array, gqdd: Array) -> Array:
        """The derivative by p of what has the slopes gq, gqd, gqdd (samples, n) by the motion at the trial times.

        q = c + s f with f of the coefficients alone, s = fill min(room / w, v / |f'|, a / |f''|), w = max f - min f and
        c = lower - s min f + place (room - s w).  An extreme of f changes as f does where the extreme is.
        """
        n, H = len(self.joints), self.harmonics
        shape, place, fill = self.shaped(p)
        (high, d_high), (low, d_low) = (_extreme(self.fine[0], shape, sign) for sign in (1.0, -1.0))
        width, d_width = self.grow * (high - low), self.grow * (d_high - d_low)
        least, d_least = 0.5 * (high + low - width), 0.5 * (d_high + d_low - d_width)
        room = self.limits.upper - self.limits.lower
        speed, d_speed = _size(self.fine[1], shape)
        push, d_push = _size(self.fine[2], shape)
        rates = self.grow * speed / self.limits.velocity, self.grow * push / self.limits.acceleration
        uses = np.stack([width / room, *rates])  # of each limit, by a motion of scale 1
        d_ln = np.stack([d_width / width[:, None], d_speed / speed[:, None], d_push / push[:, None]])
        binding = uses.argmax(axis=0), range(n)
        scale = fill / uses[binding]
        pull = sum(g.T @ basis for g, basis in zip((gq, gqd, gqdd), self.at, strict=True))  # by coefficients of q
        by_centre = gq.sum(axis=0)
        by_scale = (pull * shape).sum(axis=1) - by_centre * (least + place * width)
        by_shape = scale[:, None] * (pull - by_centre[:, None] * (d_least + place[:, None] * d_width))
        by_shape -= (by_scale * scale)[:, None] * d_ln[binding]
        by_place = by_centre * (room - scale * width)
        by_fill = by_scale * scale / fill * (1.0 - LEAST)
        half = 0.5 * np.cos(p[2 * n * H :].reshape(2, n))
        shaped = (_rested(by_shape) if self.rest else by_shape) / _harmonic(H)
        return np.concatenate([shaped.ravel(), by_place * half[0], by_fill * half[1]])


def trials(
    joints: Sequence[str], limits: MotionLimits, series: tuple[float, int], rest: bool, samples: int
) -> Trials:
    """Trial motions that are looked at `samples` times a period."""
    period, H = series
    times = np.arange(samples) * (period / samples)
    fine, grow = fine_times(period, H)
    at, extremes = (_bases(t, period, H) for t in (times, fine))
    return Trials(tuple(joints), limits, period, H, rest, times, at, extremes, grow)


def _bases(times: Array, period: float, harmonics: int) -> Bases:
    """Values, rates and second rates (samples, 2 H) of the sines, then of the cosines."""
    k = np.arange(1, harmonics + 1) * (2.0 * np.pi / period)
    phase = np.multiply.outer(times, k)
    s, c = np.sin(phase), np.cos(phase)
    return np.hstack([s, c]), np.hstack([k * c, -k * s]), np.hstack([-k * k * s, -k * k * c])


def _extreme(basis: Array, shape: Array, sign: float) -> tuple[Array, Array]:
    """The largest (sign 1) or least (-1) value of each joint's series (n,), and its slope by the coefficients."""
    values = sign * (basis @ shape.T)
    where = values.argmax(axis=0)
    return sign * values[where, range(len(shape))], basis[where]


def _size(basis: Array, shape: Array) -> tuple[Array, Array]:
    """The largest size of each joint's series and its slope."""
    values = basis @ shape.T
    where = np.abs(values).argmax(axis=0)
    found = values[where, range(len(shape))]
    return np.maximum(np.abs(found), 1e-300), np.sign(found)[:, None] * basis[where]


def _harmonic(H: int) -> Array:
    """1 .. H for the sines, then for the cosines: with these units all variables matter about alike."""
    return np.tile(np.arange(1.0, H + 1), 2)


def _rested(shape: Array) -> Array:
    """The nearest coefficients with sum k sine_k = 0 and sum k^2 cosine_k = 0: rest where the period begins."""
    H = shape.shape[1] // 2
    k = np.arange(1.0, H + 1)
    parts = []
    for part, along in ((shape[:, :H], k), (shape[:, H:], k**2)):
        parts.append(part - np.outer(part @ along, along) / float(along @ along))
    return np.hstack(parts)


def falling_variables(n: int, harmonics: int, rng: np.random.Generator) -> Array:
    """Variables of a random motion whose coefficients fall with the harmonic: good to begin a search with."""
    shape = rng.normal(size=(n, 2, harmonics))
    return np.concatenate([shape.ravel(), rng.uniform(-1, 1, n), np.full(n, 0.5 * np.pi)])


def even_variables(n: int, harmonics: int, rng: np.random.Generator) -> Array:
    """Variables of a random motion: coefficients even between -1 and 1, each joint as large as its limits allow."""
    shape = rng.uniform(-1.0, 1.0, size=(n, 2 * harmonics)) * _harmonic(harmonics)
    return np.concatenate([shape.ravel(), np.zeros(n), np.full(n, 0.5 * np.pi)])
