"""What is wrong with a log, found before anything is estimated: each finding names the joint and the sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kane.errors import InputError
from kane.identification.finding import DEGREE, MILLIMETRE, RPM, Finding, column_of_speed
from kane.identification.guesses import missing_friction, other_readings
from kane.identification.signals import TIMES, seconds
from kane.identification.torque_model import TorqueModel
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Limits

Array = np.ndarray[Any, np.dtype[Any]]
UNITS = {
    True: (("degrees", DEGREE), ("revolutions per minute", RPM), ("revolutions", 1.0 / (2.0 * np.pi))),
    False: (("millimetres", MILLIMETRE),),
}
CLOSE = 0.05  # how near, relative, the ratio of two measures of one thing has to be to that of two units
STILL, CREEP = 1e-4, 0.05  # rad or m, and rad/s or m/s: less movement, less usual speed is none
LONG = 20.0  # times the limit of a slide: in metres it is a mistake, in millimetres none
FEW = 20  # samples: with fewer, rates are not compared
SPANS = 100  # of a log, over which positions are compared with speeds
RUN, OFTEN = 3, 6  # samples at one extreme torque, in a row or in all, are saturation,
COARSE = 0.2  # unless there are fewer different values than this share of the samples:
FLAT = 0.1  # then this share of the samples has to be there
HUGE = 1e50  # values beyond are no measurements, and their powers overflow
NOISY = 0.1  # of an acceleration: more noise is told


def check_log(
    model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array, t: Array | None = None, fits: bool = True
) -> tuple[Finding, ...]:
    """All findings about samples (n, ...) of one motion, worst first; t (n,): times in seconds.

    fits: also what only trial fits of the model show.
    """
    bad = broken_samples(model, q, qd, qdd, tau, t)
    if bad:
        return bad
    arrays = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
    found = list(_rates(model, arrays, t)) or list(_limits(model, arrays))
    if fits and not any(f.refused for f in found):
        found = [*other_readings(model, q, qd, qdd, tau, t is not None and len(t) >= FEW), *found]
    told = (*saturation(model, tau), *still_joints(model, q, qd))
    return (*found, *told) if found or not fits else (*told, *missing_friction(model, q, qd, qdd, tau))


def broken_samples(
    model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array, t: Array | None = None
) -> tuple[Finding, ...]:
    """Values that are not finite, or beyond all measure, and times that do not increase."""
    arrays = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
    return (*_not_finite(model, arrays), *_time(t, len(q)))


def refuse(findings: Sequence[Finding], accept: Sequence[str] = ()) -> None:
    """InputError for the first finding that is refused and whose kind is not accepted."""
    for finding in findings:
        if finding.refused and finding.kind not in accept:
            raise InputError(
                finding.text, code=f"Log{finding.kind.capitalize()}Error", name=finding.joint or None,
                value=finding.sample,
                remedy=None if finding.kind in ("nan", "time") else _way(finding),
            )  # fmt: skip


def _way(finding: Finding) -> str:
    return f"{finding.way} If it is right as it is, pass accept=[{finding.kind!r}].".strip()


def _not_finite(model: TorqueModel, arrays: dict[str, Array]) -> Iterator[Finding]:
    for name, a in arrays.items():
        bad = np.argwhere(~(np.abs(a) <= HUGE))
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
    """dq/dt against qd and dqd/dt against qdd: a ratio betrays units, another joint's rate betrays order.

    Without times samples are taken as even, at the pace on which most joints agree.
    """
    samples = len(arrays["q"])
    if samples < FEW:
        return
    where = column_of_speed(model)
    n = model.nv
    q = np.stack([arrays["q"][:, where[j]] if where[j] is not None else np.zeros(samples) for j in range(n)], axis=1)
    usable = [j for j in range(n) if where[j] is not None]
    steps = np.ones(samples - 1) if t is None else np.diff(t)
    for low, high, symbols in ((q, arrays["qd"], ("q", "qd")), (arrays["qd"], arrays["qdd"], ("qd", "qdd"))):
        # over a span the change is the integral of the rate: steps of encoders and noise hardly matter
        integral = np.zeros((samples, n))
        np.cumsum(0.5 * (high[1:] + high[:-1]) * steps[:, None], axis=0, out=integral[1:])
        span = max(1, samples // SPANS)
        slope, fit = _match(low[span:] - low[:-span], integral[span:] - integral[:-span])
        own = [j for j in usable if fit[j, j] > 0.8]
        if t is None:
            pace = float(np.median([slope[j, j] for j in own])) if len(own) > 2 else 0.0
            agree = sum(abs(slope[j, j] - pace) < CLOSE * pace for j in own)
            if agree < max(2, 0.5 * len(usable)):
                continue
            slope = slope / pace
        late = [unit for unit, _, size in TIMES if own and all(abs(slope[j, j] * size - 1.0) < CLOSE for j in own)]
        if t is not None and late:
            yield Finding(
                "units", f"{symbols[0]} of joint {model.joints[own[0]]!r} and all others change too little for "
                f"{symbols[1]}: is t in {late[0]}? It is {t[1]:.6g} at sample 1.", model.joints[own[0]], 1,
                seconds(late[0]),
            )  # fmt: skip
            return
        for j in usable if symbols[0] == "q" else range(n):
            if fit[j, j] > 0.8:
                yield from _unit(model, arrays, symbols, j, float(slope[j, j]))
                continue
            others = [i for i in range(n) if i != j and fit[j, i] > 0.95 and abs(slope[j, i] - 1.0) < CLOSE]
            if others and fit[j, j] < 0.5:
                yield Finding(
                    "swapped", f"The rate of {symbols[0]} of joint {model.joints[j]!r} is {symbols[1]} of joint "
                    f"{model.joints[others[0]]!r}, from sample 0 on: columns exchanged?", model.joints[j], 0,
                )  # fmt: skip


def _unit(
    model: TorqueModel, arrays: dict[str, Array], symbols: tuple[str, str], j: int, slope: float
) -> Iterator[Finding]:
    """A ratio of a measure of joint j to the integral of its rate that is one of two units."""
    place = column_of_speed(model)[j]
    for unit, size in UNITS[place is None or model.angles[place] is not False]:
        for factor, wrong, right in ((size, symbols[0], symbols[1]), (1.0 / size, symbols[1], symbols[0])):
            if abs(slope / factor - 1.0) < CLOSE:
                values = arrays[wrong][:, place if wrong == "q" and place is not None else j]
                worst = int(np.argmax(np.abs(values)))
                yield Finding(
                    "units", f"{wrong} of joint {model.joints[j]!r} is {size:.4g} times what {right} says "
                    f"({values[worst]:.4g} at sample {worst}): is it in {unit}?", model.joints[j], worst,
                )  # fmt: skip
                return


def _match(a: Array, b: Array) -> tuple[Array, Array]:
    """slope (n, n) of a_j = slope b_i and the share of a_j's square that it explains."""
    product, square = a.T @ b, (b**2).sum(axis=0)
    own = (a**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(square > 0, product / square, 0.0)
        fit = np.where((own > 0)[:, None] & (square > 0), product**2 / np.outer(own, square), 0.0)
    return slope, fit


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
    """Positions and speeds far beyond the joint's limits, and the unit in which they come within them."""
    for j, (limits, place) in enumerate(zip(limits_of(model), column_of_speed(model), strict=True)):
        turns = place is None or model.angles[place] is not False
        if place is not None and limits.lower is not None and limits.upper is not None:
            reach = max(abs(limits.lower), abs(limits.upper), 1e-9)
            told = f"{limits.lower:.4g} to {limits.upper:.4g} {'rad' if turns else 'm'}"
            yield from _position(model, j, arrays["q"][:, place], reach, told)
        if limits.velocity:
            yield from _speed(model, j, arrays["qd"][:, j], limits.velocity, turns)


def _position(model: TorqueModel, j: int, values: Array, reach: float, limits: str) -> Iterator[Finding]:
    name, worst = model.joints[j], int(np.argmax(np.abs(values)))
    size, turns = abs(float(values[worst])) / reach, limits.endswith("rad")
    what = f"q of joint {name!r} is {values[worst]:.4g} at sample {worst}"
    if turns and 3.0 < size < 1.2 * DEGREE:
        yield Finding("units", f"{what}, its limits are {limits}: is it in degrees?", name, worst)
    elif not turns and LONG < size < 3.0 * MILLIMETRE:
        yield Finding("units", f"{what}, its limits are {limits}: is it in millimetres?", name, worst)
    elif turns and size > 1.2:
        yield Finding("range", f"{what}, beyond its limits.", name, worst)


def _speed(model: TorqueModel, j: int, values: Array, limit: float, turns: bool) -> Iterator[Finding]:
    name, worst = model.joints[j], int(np.argmax(np.abs(values)))
    size = abs(float(values[worst])) / limit
    what = f"qd of joint {name!r} is {values[worst]:.4g} at sample {worst}"
    if turns and size > 4.0:
        unit = "degrees per second" if size > 1.2 * RPM else "revolutions per minute"
        yield Finding("units", f"{what}, its limit is {limit:.4g} rad/s: is it in {unit}?", name, worst)
    elif not turns and size > LONG:
        yield Finding("units", f"{what}, its limit is {limit:.4g} m/s: is it in millimetres per second?", name, worst)
    elif size > 1.2:
        yield Finding("range", f"{what}, beyond its limit.", name, worst)


# told, not refused


def saturation(model: TorqueModel, tau: Array) -> Iterator[Finding]:
    """Torques that stay at an extreme value, or that reach the joint's effort limit."""
    for j, limits in enumerate(limits_of(model)):
        column = tau[:, j]
        size = float(np.abs(column).max())
        if size == 0:
            continue
        near = 1e-9 * size
        starts, lengths = _runs(np.abs(np.diff(column)) <= near)
        top, bottom = column.max() - column[starts] <= near, column[starts] - column.min() <= near
        ends, often = top | bottom, max(int(lengths[top].sum()), int(lengths[bottom].sum()))
        long = ends & (lengths >= RUN)
        share = len(np.unique(column)) / len(column)
        if share < COARSE:  # a round peak of coarse steps is flat too
            full = lengths[ends & (lengths >= 2 * RUN)].sum() > FLAT * len(column)
        else:  # a motion done again has its peak again
            full = bool(long.any()) or often * share >= OFTEN
        if full and len(starts) > 2:
            run = int(starts[np.flatnonzero(long if long.any() else ends)[0]])
            yield Finding(
                "saturated", f"tau of joint {model.joints[j]!r} stays at {column[run]:.6g} from sample {run} on "
                f"({int(lengths[ends].sum())} samples in all): saturated?", model.joints[j], run,
            )  # fmt: skip
        elif limits.effort and size >= 0.999 * limits.effort:
            run = int(np.argmax(np.abs(column)))
            yield Finding(
                "saturated", f"tau of joint {model.joints[j]!r} is {column[run]:.6g} at sample {run}: "
                f"its limit is {limits.effort:.6g}.", model.joints[j], run,
            )  # fmt: skip


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
    """Joints that never moved, but for what an encoder's last digit does: what only their motion shows is not known."""
    for j, place in enumerate(column_of_speed(model)):
        spread = float(np.ptp(q[:, place])) if place is not None else 0.0
        if spread < STILL and float(np.sqrt((qd[:, j] ** 2).mean())) < CREEP:
            yield Finding(
                "still", f"Joint {model.joints[j]!r} never moved (samples 0 to {len(q) - 1}).", model.joints[j], 0
            )


def moved(model: TorqueModel, findings: Sequence[Finding]) -> tuple[bool, ...]:
    """For each joint whether it moved."""
    still = {finding.joint for finding in findings if finding.kind == "still"}
    return tuple(name not in still for name in model.joints)
