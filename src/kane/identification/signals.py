"""From raw encoder and torque samples to what least squares needs: filtered without delay, differentiated.

The same filter goes over torques and over the columns of the regressor, so friction at a reversal of speed and
everything else keeps its place (parallel filtering, Gautier 1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.errors import InputError
from kane.identification.asked import is_real

Array = np.ndarray[Any, np.dtype[Any]]
ORDER = 4
TIMES = (("milliseconds", "ms", 1e3), ("microseconds", "us", 1e6), ("nanoseconds", "ns", 1e9))
FEWEST = 4  # samples that have a step of time


@dataclass(frozen=True, slots=True)
class Motion:
    """t (n,), q (n, nq), qd, qdd, tau (n, nv) at an even rate; trimmed: samples left out at each end."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    trimmed: int = 0


def sample_time(t: Array, first: int = 0) -> float:
    """The step of an even sampling; first: number of its first sample.

    Raises InputError when steps differ by more than half of their median.
    """
    steps = np.diff(np.asarray(t, dtype=np.float64))
    if len(steps) < FEWEST - 1:
        raise InputError(f"{len(t)} samples are too few to filter.", name="t", value=len(t), remedy="Record more.")
    step = float(np.median(steps))
    far = np.flatnonzero(np.abs(steps - step) > 0.5 * step)
    if len(far):
        i = int(far[0])
        raise InputError(
            f"The step of time is {steps[i]:.6g} s at sample {i + first}, elsewhere {step:.6g} s: samples missing?",
            name="t", value=i + first, remedy="Resample with signals.resampled, or split the log there.",
        )  # fmt: skip
    return step


def resampled(t: Array, values: Array, step: float | None = None) -> tuple[Array, Array]:
    """Values (n, k) at an even step, by linear interpolation."""
    t = np.asarray(t, dtype=np.float64)
    h = step or float(np.median(np.diff(t)))
    even = np.arange(t[0], t[-1] + 0.5 * h, h)
    return even, np.stack([np.interp(even, t, column) for column in np.asarray(values, dtype=np.float64).T], axis=1)


def suits(cutoff: float, step: float, samples: int) -> bool:
    """True for a cutoff (Hz) below half of the sampling rate, with one period at least within the samples."""
    return 1.0 / samples <= cutoff * step < 0.5


def seconds(unit: str) -> str:
    """What to do about times in another unit."""
    short, size = next((short, size) for name, short, size in TIMES if name == unit)
    return f"Divide t by {size:,.0f}, or name its column t_{short}."


def check_pace(t: Array, step: float, cutoff: float) -> None:
    """InputError for samples too far apart for the cutoff (Hz) which are not when times are in a smaller unit."""
    if suits(cutoff, step, len(t)):
        return
    for unit, _, size in TIMES:
        if suits(cutoff, step / size, len(t)):
            raise InputError(
                f"t is {t[0]:.9g} at the first sample and {t[1]:.9g} at the next, too far apart for a cutoff of "
                f"{cutoff:.6g} Hz: is t in {unit}?", code="LogUnitsError", name="t", value=float(t[1]),
                remedy=f"{seconds(unit)} Where it is in seconds, choose a cutoff below {0.5 / step:.6g} Hz.",
            )  # fmt: skip


def low_pass(values: Array, step: float, cutoff: float) -> Array:
    """Butterworth low-pass, order 4, forward and backward along the first axis: no delay, gain 1/2 at cutoff (Hz)."""
    from scipy import signal

    if not suits(cutoff, step, len(values)):
        raise InputError(
            f"A cutoff of {cutoff:.6g} Hz does not suit {len(values)} samples {step:.6g} s apart.", name="cutoff",
            value=cutoff, remedy=f"Choose one from {1.0 / (step * len(values)):.6g} to below {0.5 / step:.6g} Hz.",
        )  # fmt: skip
    sections = signal.butter(ORDER, cutoff, fs=1.0 / step, output="sos")
    pad = min(len(values) - 1, int(3.0 * ORDER / (cutoff * step)))
    return np.asarray(signal.sosfiltfilt(sections, values, axis=0, padlen=pad))


def rate(values: Array, step: float) -> Array:
    """Central differences (second order; one-sided at the ends) along the first axis."""
    return np.asarray(np.gradient(np.asarray(values, dtype=np.float64), step, axis=0, edge_order=2))


def encoder_noise(q: Array, step: float, cutoff: float) -> Array:
    """Standard deviation that encoder steps leave in accelerations below a cutoff, for each column of raw positions.

    White noise of variance s^2 / 12 up to half the sampling rate, differentiated twice: s^2 / 12 2 h (2 pi)^4 fc^5 / 5.
    """
    change = np.abs(np.diff(q, axis=0))
    change[change <= 1e-9 * max(1.0, float(np.abs(q).max(initial=0.0)))] = np.nan
    s = np.array([np.nanmin(c) if np.isfinite(c).any() else 0.0 for c in change.T])
    whole = np.abs(change / s - np.round(change / s)) < 0.02  # of positions that are multiples of one step
    share = whole.sum(axis=0) / np.maximum(np.isfinite(change).sum(axis=0), 1)
    s = np.where(share > 0.95, s, 0.0)
    return np.asarray(s * np.sqrt(2.0 * step * (2.0 * np.pi) ** 4 * cutoff**5 / 60.0))


def checked_cutoff(cutoff: Any) -> float:
    """The cutoff, Hz; InputError for what is no positive number."""
    if not is_real(cutoff) or not cutoff > 0:
        raise InputError(
            f"The cutoff is {cutoff!r} Hz.", name="cutoff", value=repr(cutoff),
            remedy="Give some five to ten times the fastest motion, Hz.",
        )  # fmt: skip
    return float(cutoff)


def edge(step: float, cutoff: float) -> int:
    """Samples at each end that a filter of this cutoff spoils."""
    return int(np.ceil(1.0 / (cutoff * step)))


def differentiated(t: Array, q: Array, tau: Array, cutoff: float, qd: Array | None = None) -> Motion:
    """Filtered positions, their rates and second rates, of raw positions q (n, nq = nv) at even times.

    cutoff: Hz, some five to ten times the fastest motion.  qd: measured speeds to be used instead of differentiated
    positions.  Torques are not filtered here: see parallel_filter.  Joints have to be of one degree of freedom.
    """
    if q.shape != tau.shape:
        raise InputError(
            f"Positions {q.shape} cannot be differentiated to speeds of torques {tau.shape}.", name="q", value=q.shape,
            remedy="Give qd and qdd of joints with several degrees of freedom yourself.",
        )  # fmt: skip
    step, cutoff = sample_time(t), checked_cutoff(cutoff)
    check_pace(t, step, cutoff)
    smooth = low_pass(q, step, cutoff)
    speed = rate(smooth, step) if qd is None else low_pass(qd, step, cutoff)
    acceleration = rate(speed, step)
    cut = min(edge(step, cutoff), max(0, (len(t) - 2) // 4))
    keep = slice(cut, len(t) - cut)
    return Motion(np.asarray(t)[keep], smooth[keep], speed[keep], acceleration[keep], np.asarray(tau)[keep], cut)


def parallel_filter(W: Array, tau: Array, step: float, cutoff: float) -> tuple[Array, Array]:
    """W (n, nv, k) and tau (n, nv) under one low-pass, then thinned to about two samples a period of the cutoff."""
    n = len(tau)
    flat = np.concatenate([W.reshape(n, -1), tau], axis=1)
    used = flat.any(axis=0)
    flat[:, used] = low_pass(flat[:, used], step, cutoff)
    thin = max(1, int(0.5 / (cutoff * step)))
    cut = min(edge(step, cutoff), (n - 1) // 4)
    kept = flat[cut : n - cut : thin]
    size = W.shape[1] * W.shape[2]
    return kept[:, :size].reshape(-1, *W.shape[1:]), kept[:, size:]
