"""Periodic motions: Fourier series in every coordinate, with bounds that hold between samples too."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.errors import InputError, NumberError, ShapeError, UnknownNameError
from kane.identification.asked import check_model, is_real
from kane.identification.checks import limits_of
from kane.identification.drawing import drawing
from kane.identification.torque_model import TorqueModel
from kane.mechanism.wording import counted

Array = np.ndarray[Any, np.dtype[Any]]
ROWS = 10_000_000  # of a CSV file
LARGEST = 1e9  # of any limit; its inverse is the least speed, acceleration and effort
DEFAULTS = {True: (np.pi, np.pi, 10.0), False: (0.5, 0.5, 5.0)}  # half range, speed, acceleration: rad or m, s


@dataclass(frozen=True, slots=True)
class MotionLimits:
    """Arrays (n,): lower, upper (rad or m), velocity, acceleration, effort (infinite where there is none)."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    effort: Array


def motion_limits(model: TorqueModel, **given: Sequence[float] | Mapping[str, float] | float) -> MotionLimits:
    """The limits of the description; `given` (lower=, upper=, velocity=, acceleration=, effort=) replace them.

    They are one number, one a joint, or some by name.
    Where nothing is given: half a turn either way, pi rad/s, 10 rad/s^2 (0.5 m, 0.5 m/s, 5 m/s^2), any effort.  Raises
    InputError for a lower limit above the upper one and for limits that are not positive.
    """
    check_model(model)
    n = model.nv
    if model.coordinates != model.speeds:
        raise InputError(
            "Motions are designed for joints of one degree of freedom.", name="robot",
            remedy="Fix the base, or give the motion yourself.",
        )  # fmt: skip
    rows: dict[str, list[float]] = {key: [] for key in ("lower", "upper", "velocity", "acceleration", "effort")}
    for limits, angle in zip(limits_of(model), model.angles, strict=True):
        half, speed, acceleration = DEFAULTS[angle is not False]
        lower, upper = _told(limits.lower), _told(limits.upper)
        rows["lower"].append(-half if lower is None else lower)
        rows["upper"].append(half if upper is None else upper)
        rows["velocity"].append(_told(limits.velocity) or speed)
        rows["acceleration"].append(_told(limits.acceleration) or acceleration)
        rows["effort"].append(_told(limits.effort) or np.inf)
    arrays = {key: np.array(row) for key, row in rows.items()}
    for key, value in given.items():
        if key not in arrays:
            raise InputError(f"There is no limit {key!r}.", name=key, remedy=f"There are {', '.join(arrays)}.")
        if isinstance(value, Mapping) and value:
            value = _by_name(model, key, value, arrays[key])
        try:
            arrays[key] = np.broadcast_to(np.asarray(value, dtype=np.float64), (n,)).copy()
        except (TypeError, ValueError):
            raise ShapeError(
                f"{key} is {value!r}.", name=key, value=repr(value),
                remedy=f"Give one number, {n}: one a joint, or some by name.",
            ) from None  # fmt: skip
    made = MotionLimits(**arrays)
    check_limits(model.joints, made)
    return made


def _by_name(model: TorqueModel, key: str, given: Mapping[str, float], known: Array) -> list[float]:
    """A limit of each joint, of which some are given by name."""
    for name in given:
        if name not in model.joints:
            raise UnknownNameError(f"{key}: there is no {name!r}; there are: {', '.join(model.joints)}.", name=name)
    return [given.get(name, float(own)) for name, own in zip(model.joints, known, strict=True)]


def _told(limit: float | None) -> float | None:
    """A limit of the description; none where it is as large as files write for none (1e10, 1e16)."""
    return limit if limit is not None and abs(limit) <= LARGEST else None


def check_limits(joints: Sequence[str], limits: Any) -> None:
    """InputError for limits that leave no joint any room, and for speeds, accelerations, efforts that are not positive.

    Room, speed and acceleration are finite; so is an effort, or infinite where there is none.
    """
    if not isinstance(limits, MotionLimits):
        raise InputError(f"limits is {limits!r}.", name="limits", value=repr(limits), remedy="Give motion_limits(...).")
    for key in ("lower", "upper", "velocity", "acceleration", "effort"):
        values = getattr(limits, key)
        if not isinstance(values, np.ndarray) or values.shape != (len(joints),):
            raise ShapeError(
                f"{key} is not an array of {len(joints)} limits.", name=key, value=repr(values),
                remedy="Give motion_limits(...).",
            )  # fmt: skip
    for j, name in enumerate(joints):
        lower, upper = float(limits.lower[j]), float(limits.upper[j])
        if not -LARGEST <= lower < upper <= LARGEST:
            raise InputError(
                f"Joint {name!r} has the lower limit {lower:.6g} and the upper limit {upper:.6g}.", name=name,
                remedy=f"Give lower= and upper= within {LARGEST:g}.",
            )  # fmt: skip
        for key in ("velocity", "acceleration", "effort"):
            value = float(getattr(limits, key)[j])
            if not (1.0 / LARGEST <= value <= LARGEST or (key == "effort" and value == np.inf)):
                raise InputError(
                    f"Joint {name!r} has the {key} limit {value:.6g}.", name=name, value=value,
                    remedy=f"Give {key}= between {1.0 / LARGEST:g} and {LARGEST:g}.",
                )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FourierMotion:
    """q(t) = centre + sum of sine_k sin(k w t) + cosine_k cos(k w t), w = 2 pi / period; both (n, harmonics)."""

    joints: tuple[str, ...]
    period: float
    centre: Array
    sine: Array
    cosine: Array

    def __repr__(self) -> str:
        sizes = counted(((len(self.joints), "joint"), (self.sine.shape[1], "harmonic")))
        return f"<FourierMotion: {sizes}, period {self.period:g} s>"

    def __call__(self, t: Any) -> tuple[Array, Array, Array]:
        """q, qd, qdd (m, n) at times t (m,)."""
        k = np.arange(1, self.sine.shape[1] + 1) * (2.0 * np.pi / self.period)
        phase = np.multiply.outer(np.asarray(t, dtype=np.float64), k)
        s, c = np.sin(phase), np.cos(phase)
        return (
            self.centre + s @ self.sine.T + c @ self.cosine.T,
            c @ (k * self.sine).T - s @ (k * self.cosine).T,
            -(s @ (k * k * self.sine).T) - c @ (k * k * self.cosine).T,
        )

    def times(self, count: int) -> Array:
        """Even times over one period, its end left out."""
        return np.arange(count) * (self.period / count)

    def bounds(self) -> tuple[Array, Array, Array, Array]:
        """Lower and upper bound of q, bounds of |qd| and |qdd|, each (n,), for all times.

        A trigonometric polynomial of degree H is at most its largest value on M even points over cos(pi H / M) (Ehlich
        and Zeller 1964).
        """
        times, grow = fine_times(self.period, self.sine.shape[1])
        q, qd, qdd = self(times)
        middle = 0.5 * (q.max(axis=0) + q.min(axis=0))
        half = np.abs(q - middle).max(axis=0) * grow
        return middle - half, middle + half, np.abs(qd).max(axis=0) * grow, np.abs(qdd).max(axis=0) * grow

    def csv(self, rate: float = 100.0, periods: float = 1.0) -> str:
        """Text of t and q, qd, qdd by joint name, `rate` rows a second.  Raises NumberError."""
        check_table(self.period, rate, periods)
        t = np.arange(0.0, periods * self.period + 0.5 / rate, 1.0 / rate)
        values = np.hstack([t[:, None], *self(t)])
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["t", *(f"{s}_{j}" for s in ("q", "qd", "qdd") for j in self.joints)])
        writer.writerows([[f"{x:.9g}" for x in row] for row in values])
        return text.getvalue()

    def svg(self, width: int = 720, height: int = 180) -> str:
        """A drawing of q, qd and qdd of every joint over one period."""
        t = np.linspace(0.0, self.period, 400)
        return drawing(self.joints, t, self(t), width, height)


def check_table(period: float, rate: Any, periods: Any = 1.0) -> None:
    """NumberError for a rate (Hz) and a number of periods that make no table."""
    for name, value in (("rate", rate), ("periods", periods)):
        if not is_real(value) or not 0 < value <= ROWS:
            raise NumberError(
                f"{name} is {value!r}.", name=name, value=repr(value), remedy="Give a positive number."
            )
    if rate * periods * period > ROWS:
        raise NumberError(
            f"The table has more than {ROWS} rows.", name="rate", value=rate, remedy="Lower the rate."
        )


def fine_times(period: float, harmonics: int) -> tuple[Array, float]:
    """Even times (40 H,) of a period, and what the largest value there is multiplied by to bound all others."""
    M = 40 * harmonics
    return np.arange(M) * (period / M), float(1.0 / np.cos(np.pi * harmonics / M))


def within(
    limits: MotionLimits, period: float, shape: Array, place: Array, fill: Array, joints: tuple[str, ...]
) -> FourierMotion:
    """The largest motion of this shape that keeps its joints within position, speed and acceleration limits.

    shape (n, 2, harmonics): sine and cosine coefficients up to a factor a joint; fill (n,) of the largest amplitude;
    place (n,), 0 to 1: where in the room that the limits leave its centre lies.
    """
    zero = np.zeros(len(place))
    free = FourierMotion(joints, period, zero, shape[:, 0], shape[:, 1])
    low, high, speed, acceleration = free.bounds()
    room = limits.upper - limits.lower
    with np.errstate(divide="ignore"):
        size = np.minimum.reduce([room / (high - low), limits.velocity / speed, limits.acceleration / acceleration])
    size = np.where(np.isfinite(size), size, 0.0) * fill * (1.0 - 1e-9)
    centre = limits.lower - size * low + place * (room - size * (high - low))
    scale = size[:, None]
    return FourierMotion(joints, period, centre, scale * shape[:, 0], scale * shape[:, 1])
