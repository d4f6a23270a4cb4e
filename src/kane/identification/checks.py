"""What is wrong with a log, found before anything is estimated: each finding names the joint and the sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kane.errors import InputError
from kane.identification.factors import RANK, triangle
from kane.identification.torque_model import TorqueModel
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Limits

Array = np.ndarray[Any, np.dtype[Any]]
DEGREE = 180.0 / np.pi
RPM = 60.0 / (2.0 * np.pi)
UNITS = (
    ("degrees", DEGREE),
    ("revolutions per minute", RPM),
    ("revolutions", 1.0 / (2.0 * np.pi)),
    ("millimetres", 1e3),
)
CLOSE = 0.05  # how near, relative, the ratio of two measures of one thing has to be to that of two units
STILL = 1e-9  # rad or m: less movement is none
SPANS = 100  # of a log, over which positions are compared with speeds
RUN = 5  # samples at one extreme torque in a row are saturation,
COARSE = 0.2  # unless there are fewer different values than this share of the samples:
FLAT = 0.1  # then this share of the samples has to be there
POOR = 0.3  # of the torque's own size: a residual above it calls for the tests of exchanged joints and of degrees
SLIGHT = 0.02  # of the torque's own size: a residual below it is not looked at for friction
ALIKE = 0.5  # correlation of a residual with the speed or its sign that speaks of friction
NOISY = 0.1  # of an acceleration: more noise is told
TRIAL = 1500  # samples of the trial fits


@dataclass(frozen=True, slots=True)
class Finding:
    """kind: "nan", "time", "units", "swapped": refused; "saturated", "still", "range", "friction", "noise": told."""

    kind: str
    text: str
    joint: str = ""
    sample: int | None = None

    @property
    def refused(self) -> bool:
        return self.kind in ("nan", "time", "units", "swapped")


def check_log(
    model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array, t: Array | None = None
) -> tuple[Finding, ...]:
    """All findings about samples (n, ...) of one motion, worst first; t (n,): times in seconds."""
    bad = broken_samples(model, q, qd, qdd, tau, t)
    if bad:
        return bad
    arrays = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
    found = list(_rates(model, arrays, t)) or list(_limits(model, arrays))
    if not found:
        found = list(_by_trial(model, q, qd, qdd, tau))
    told = (*saturation(model, tau), *still_joints(model, q, qd))
    return (*found, *told) if found else (*told, *missing_friction(model, q, qd, qdd, tau))


def broken_samples(
    model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array, t: Array | None = None
) -> tuple[Finding, ...]:
    """Values that are not finite and times that do not increase."""
    arrays = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
    return (*_not_finite(model, arrays), *_time(t, len(q)))


def refuse(findings: Sequence[Finding], accept: Sequence[str] = ()) -> None:
    """InputError for the first finding that is refused and whose kind is not accepted."""
    for finding in findings:
        if finding.refused and finding.kind not in accept:
            raise InputError(
                finding.text, code=f"Log{finding.kind.capitalize()}Error", name=finding.joint or None,
                value=finding.sample,
                remedy=None if finding.kind in ("nan", "time") else f"If it is right, pass accept=[{finding.kind!r}].",
            )  # fmt: skip


def _not_finite(model: TorqueModel, arrays: dict[str, Array]) -> Iterator[Finding]:
    for name, a in arrays.items():
        bad = np.argwhere(~np.isfinite(a))
        if len(bad):
            sample, column = (int(i) for i in bad[0])
            label = model.coordinates[column] if name == "q" else model.speeds[column]
            joint = dict(zip(model.speeds, model.joints, strict=True)).get(label, label)
            yield Finding(
                "nan", f"{name} of joint {joint!r} is {a[sample, column]} at sample {sample} ({len(bad)} such values).",
                joint, sample,
            )  # fmt: skip


def _time(t: Array | None, n: int) -> Iterator[Finding]:
    if t is None:
        return
    if t.shape != (n,):
        yield Finding("time", f"t has shape {t.shape}, the log has {n} samples.")
        return
    if not np.isfinite(t).all():
        sample = int(np.flatnonzero(~np.isfinite(t))[0])
        yield Finding("time", f"Time is {t[sample]} at sample {sample}.", sample=sample)
        return
    back = np.flatnonzero(np.diff(t) <= 0)
    if len(back):
        i = int(back[0]) + 1
        yield Finding(
            "time", f"Time does not increase: {t[i - 1]:.9g} s, then {t[i]:.9g} s at sample {i} ({len(back)} times).",
            sample=i,
        )  # fmt: skip


# units and order, by what must agree


def _rates(model: TorqueModel, arrays: dict[str, Array], t: Array | None) -> Iterator[Finding]:
    """dq/dt against qd and dqd/dt against qdd: a ratio betrays units, another joint's rate betrays order."""
    if t is None or len(t) < 20:
        return
    where = _column_of_speed(model)
    n = model.nv
    q = np.stack([arrays["q"][:, where[j]] if where[j] is not None else np.zeros(len(t)) for j in range(n)], axis=1)
    usable = [j for j in range(n) if where[j] is not None]
    for low, high, symbols in ((q, arrays["qd"], ("q", "qd")), (arrays["qd"], arrays["qdd"], ("qd", "qdd"))):
        # over a span the change is the integral of the rate: steps of encoders and noise hardly matter
        steps = 0.5 * (high[1:] + high[:-1]) * np.diff(t)[:, None]
        integral = np.concatenate([np.zeros((1, n)), np.cumsum(steps, axis=0)])
        span = max(1, len(t) // SPANS)
        slope, fit = _match(low[span:] - low[:-span], integral[span:] - integral[:-span])
        for j in usable if symbols[0] == "q" else range(n):
            if fit[j, j] > 0.8:
                for unit, size in UNITS:
                    for factor, wrong, right in ((size, symbols[0], symbols[1]), (1.0 / size, symbols[1], symbols[0])):
                        if abs(slope[j, j] / factor - 1.0) < CLOSE:
                            yield Finding(
                                "units", f"{wrong} of joint {model.joints[j]!r} is {size:.4g} times what {right} says: "
                                f"is it in {unit}?", model.joints[j], 0,
                            )  # fmt: skip
                            break
                continue
            others = [i for i in range(n) if i != j and fit[j, i] > 0.95 and abs(slope[j, i] - 1.0) < CLOSE]
            if others and fit[j, j] < 0.5:
                yield Finding(
                    "swapped", f"The rate of {symbols[0]} of joint {model.joints[j]!r} is {symbols[1]} of joint "
                    f"{model.joints[others[0]]!r}: columns exchanged?", model.joints[j], 0,
                )  # fmt: skip


def _match(a: Array, b: Array) -> tuple[Array, Array]:
    """slope (n, n) of a_j = slope b_i and the share of a_j's square that it explains."""
    product, square = a.T @ b, (b**2).sum(axis=0)
    own = (a**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(square > 0, product / square, 0.0)
        fit = np.where((own > 0)[:, None] & (square > 0), product**2 / np.outer(own, square), 0.0)
    return slope, fit


def _column_of_speed(model: TorqueModel) -> list[int | None]:
    """For each speed the place of the coordinate whose rate it is."""
    return [model.coordinates.index(name) if name in model.coordinates else None for name in model.speeds]


def limits_of(model: TorqueModel) -> list[Limits]:
    """Limits of the joint of each speed."""
    by_speed = {
        name: joint.limits
        for joint in model.mechanism.joints
        if joint.mimic is None
        for name in joint_type(joint).speeds(joint)
    }
    return [by_speed.get(name, Limits()) for name in model.speeds]


def _limits(model: TorqueModel, arrays: dict[str, Array]) -> Iterator[Finding]:
    """Positions and speeds far beyond the joint's limits that come within them as degrees or revolutions per minute."""
    where = _column_of_speed(model)
    for j, (limits, place) in enumerate(zip(limits_of(model), where, strict=True)):
        name = model.joints[j]
        if place is not None and limits.lower is not None and limits.upper is not None and model.angles[place]:
            values = arrays["q"][:, place]
            reach = max(abs(limits.lower), abs(limits.upper), 1e-9)
            worst = int(np.argmax(np.abs(values)))
            if abs(values[worst]) > 3.0 * reach and abs(values[worst]) / DEGREE < 1.2 * reach:
                yield Finding(
                    "units", f"q of joint {name!r} is {values[worst]:.4g} at sample {worst}, its limits are "
                    f"{limits.lower:.4g} to {limits.upper:.4g} rad: is it in degrees?", name, worst,
                )  # fmt: skip
            elif abs(values[worst]) > 1.2 * reach:
                yield Finding(
                    "range",
                    f"q of joint {name!r} is {values[worst]:.4g} at sample {worst}, beyond its limits.",
                    name,
                    worst,
                )
        if limits.velocity:
            speeds = arrays["qd"][:, j]
            worst = int(np.argmax(np.abs(speeds)))
            size = abs(speeds[worst]) / limits.velocity
            if size > 4.0:
                unit = "degrees per second" if size > 1.2 * RPM else "revolutions per minute"
                yield Finding(
                    "units", f"qd of joint {name!r} is {speeds[worst]:.4g} at sample {worst}, its limit is "
                    f"{limits.velocity:.4g}: is it in {unit}?", name, worst,
                )  # fmt: skip
            elif size > 1.2:
                yield Finding(
                    "range",
                    f"qd of joint {name!r} is {speeds[worst]:.4g} at sample {worst}, beyond its limit.",
                    name,
                    worst,
                )


# units and order, by what fits


def _by_trial(model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array) -> Iterator[Finding]:
    """When the model fits badly: does it fit with degrees for radians, or with two joints exchanged?"""
    n = len(q)
    pick = np.unique(np.linspace(0, n - 1, min(n, TRIAL)).astype(int))
    q, qd, qdd, tau = q[pick], qd[pick], qdd[pick], tau[pick]
    if len(q) * model.nv < 2 * len(model.names):
        return
    plain = misfit(model, q, qd, qdd, tau)
    if plain.max() < POOR:
        return
    found = list(_units_by_trial(model, (q, qd, qdd, tau), float(plain.sum()), pick))
    if found:
        yield from found
        return
    if model.nq != model.nv or model.nv > 12:
        return
    best, pair, what = plain.sum(), (0, 0), ""
    for i, j in combinations(range(model.nv), 2):
        order = list(range(model.nv))
        order[i], order[j] = j, i
        sizes = {
            "tau": misfit(model, q, qd, qdd, tau[:, order]).sum(),
            "q, qd and qdd": misfit(model, q[:, order], qd[:, order], qdd[:, order], tau).sum(),
        }
        for name, size in sizes.items():
            if size < 0.5 * plain.sum() and size < 0.999 * best:
                best, pair, what = size, (i, j), name
    if what:
        first, second = (model.joints[i] for i in pair)
        yield Finding(
            "swapped", f"The log fits when {what} of joints {first!r} and {second!r} are exchanged: wrong order?",
            first, 0,
        )  # fmt: skip


def _units_by_trial(
    model: TorqueModel, log: tuple[Array, Array, Array, Array], plain: float, pick: Array
) -> Iterator[Finding]:
    """The one change of units with which the log fits best, when it fits much better."""
    q, qd, qdd, tau = log
    turning = [j for j, place in enumerate(_column_of_speed(model)) if place is not None and model.angles[place]]
    at = [model.coordinates.index(model.speeds[j]) for j in turning]
    groups = [(turning, at), *(([j], [i]) for j, i in zip(turning, at, strict=True) if len(turning) > 1)]
    best, text, worst = 0.5 * plain, "", (0, 0)
    for joints, columns in groups if model.nv <= 12 else groups[:1]:
        for what, scales in (
            ("motion", (DEGREE,) * 3),
            ("q", (DEGREE, 1, 1)),
            ("qd", (1, DEGREE, 1)),
            ("qd", (1, RPM, 1)),
        ):
            if what != "qd" and np.abs(q[:, columns]).max() < np.pi:
                continue
            trial = [q.copy(), qd.copy(), qdd.copy()]
            for a, c, scale in zip(trial, (columns, joints, joints), scales, strict=True):
                a[:, c] /= scale
            size = float(misfit(model, trial[0], trial[1], trial[2], tau).sum())
            if size < 0.999 * best:
                unit = "revolutions per minute" if RPM in scales else "degrees"
                source = qd[:, joints] if what == "qd" else q[:, columns]
                sample, k = (int(i) for i in np.unravel_index(np.argmax(np.abs(source)), source.shape))
                name = "qd" if what == "qd" else "q"
                best, worst = size, (int(pick[sample]), joints[k])
                text = (
                    f"The log fits when the {what} is taken in {unit}: {name} of joint {model.joints[joints[k]]!r} is "
                )
                text += f"{source[sample, k]:.4g} at sample {pick[sample]}."
    if text:
        yield Finding("units", text, model.joints[worst[1]], worst[0])


def misfit(model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array) -> Array:
    """For each joint the residual of least squares against its torque about the mean (0: fits, 1: says nothing)."""
    return np.asarray(np.linalg.norm(_trial_residual(model, q, qd, qdd, tau), axis=0))


def _trial_residual(model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array) -> Array:
    """Residuals of least squares, each joint's in units of the length of its torque about the mean."""
    W = model.regressor(q, qd, qdd)
    scale = np.maximum(np.linalg.norm(tau - tau.mean(axis=0), axis=0), 1e-9 * max(1.0, float(np.abs(tau).max())))
    k = W.shape[-1]
    R = triangle(np.concatenate([W / scale[:, None], (tau / scale)[..., None]], axis=-1).reshape(-1, k + 1))
    lengths = np.linalg.norm(R[:k, :k], axis=0)
    lengths[lengths == 0] = 1.0
    x = np.linalg.lstsq(R[:k, :k] / lengths, R[:k, k], rcond=RANK)[0] / lengths
    return np.asarray(tau / scale - (W / scale[:, None]) @ x)


# told, not refused


def saturation(model: TorqueModel, tau: Array) -> Iterator[Finding]:
    """Torques that stay at an extreme value, or that reach the joint's effort limit."""
    for j, limits in enumerate(limits_of(model)):
        column = tau[:, j]
        size = float(np.abs(column).max())
        if size == 0:
            continue
        starts, lengths = _runs(np.abs(np.diff(column)) <= 1e-9 * size)
        ends = np.minimum(column.max() - column[starts], column[starts] - column.min()) <= 1e-9 * size
        long = np.flatnonzero(ends & (lengths >= RUN))
        coarse = len(np.unique(column)) < COARSE * len(column)  # a round peak of coarse steps is flat too
        if len(long) and len(long) < len(starts) and (not coarse or lengths[long].sum() > FLAT * len(column)):
            run = int(starts[long[0]])
            yield Finding(
                "saturated", f"tau of joint {model.joints[j]!r} stays at {column[run]:.6g} from sample {run} on "
                f"({int(lengths[long].sum())} samples in all): saturated?", model.joints[j], run,
            )  # fmt: skip
        elif limits.effort and size >= 0.999 * limits.effort:
            run = int(np.argmax(np.abs(column)))
            yield Finding(
                "saturated", f"tau of joint {model.joints[j]!r} is {column[run]:.6g} at sample {run}: "
                f"its limit is {limits.effort:.6g}.", model.joints[j], run,
            )  # fmt: skip


def missing_friction(model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array) -> Iterator[Finding]:
    """Joints without friction in the model whose residual follows their speed or its sign."""
    pick = np.unique(np.linspace(0, len(q) - 1, min(len(q), TRIAL)).astype(int))
    if len(pick) * model.nv < 2 * len(model.names):
        return
    residual = _trial_residual(model, q[pick], qd[pick], qdd[pick], tau[pick])
    have = {column.row for column in model.friction if column.kind != "offset"}
    for j in range(model.nv):
        size = float(np.linalg.norm(residual[:, j]))
        if j in have or size < SLIGHT:
            continue
        for shape in (qd[pick, j], np.sign(qd[pick, j])):
            length = float(np.linalg.norm(shape))
            if length and abs(float(residual[:, j] @ shape)) > ALIKE * size * length:
                yield Finding(
                    "friction", f"What is left of the torque of joint {model.joints[j]!r} follows its speed: "
                    "friction? Pass friction='all'.", model.joints[j], 0,
                )  # fmt: skip
                break


def noisy_rates(model: TorqueModel, noise: Array, qdd: Array) -> Iterator[Finding]:
    """Joints whose accelerations are noise from encoder steps to a share that makes parameters too small."""
    for joint, own, size in zip(model.joints, noise, qdd.std(axis=0), strict=True):
        if own > NOISY * size > 0:
            yield Finding(
                "noise", f"Encoder steps make {own / size:.0%} of the accelerations of joint {joint!r}: "
                "parameters will be too small; lower the cutoff.", joint, 0,
            )  # fmt: skip


def _runs(equal: Array) -> tuple[Array, Array]:
    """Starts and lengths of the runs of equal neighbours: equal (n - 1,), whether a sample is as the one before."""
    starts = np.concatenate([[0], np.flatnonzero(~equal) + 1])
    return starts, np.diff(np.concatenate([starts, [len(equal) + 1]]))


def still_joints(model: TorqueModel, q: Array, qd: Array) -> Iterator[Finding]:
    """Joints that never moved: what only their motion shows cannot be known."""
    for j, place in enumerate(_column_of_speed(model)):
        spread = float(np.ptp(q[:, place])) if place is not None else 0.0
        if spread < STILL and float(np.abs(qd[:, j]).max()) < STILL:
            yield Finding(
                "still", f"Joint {model.joints[j]!r} never moved (samples 0 to {len(q) - 1}).", model.joints[j], 0
            )


def moved(model: TorqueModel, findings: Sequence[Finding]) -> tuple[bool, ...]:
    """For each joint whether it moved."""
    still = {finding.joint for finding in findings if finding.kind == "still"}
    return tuple(name not in still for name in model.joints)
