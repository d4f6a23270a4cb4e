"""Other readings of a log that fits badly: degrees for radians, joints exchanged, friction left out.

Readings are compared by the likelihood of normal noise with a deviation of its own for each joint: the sum over the
joints of the logarithm of what least squares leaves unexplained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from kane.identification import torques
from kane.identification.factors import RANK, triangle
from kane.identification.finding import DEGREE, MILLIMETRE, RPM, Finding, column_of_speed
from kane.identification.signals import TIMES, seconds
from kane.identification.torque_model import TorqueModel

Array = np.ndarray[Any, np.dtype[Any]]
Samples = tuple[Array, Array, Array, Array]
POOR = 0.05  # of the torque's own size: a residual above it calls for other readings
BETTER = 0.7  # how much less the logarithms of the residuals have to be in another reading
SAME = 0.1  # by how much they may be more in a reading that is as good
LEAST = 1e-3  # of the torque's own size: what is left below it is no better than this
SLIGHT = 0.02  # of the torque's own size: a residual below it is not looked at for friction
ALIKE = 0.5  # correlation of a residual with the speed or its sign that speaks of friction
TRIAL = 1500  # samples of the trial fits
ROWS = 20  # rows a parameter are enough for them
MANY = 12  # joints above which pairs are not tried


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to read a log, and what is told when it is the right one."""

    kind: str
    text: str
    joint: int
    sample: int
    log: Samples
    way: str = ""


def other_readings(
    model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array, rates: bool = False
) -> tuple[Finding, ...]:
    """The reading with which a log fits much better than as it is; rates: q, qd, qdd are known to agree.

    Torques of the wrong sign or size are a reading too, which is told and not refused.
    """
    pick = picked(model, len(q))
    if not len(pick):
        return ()
    log = q[pick], qd[pick], qdd[pick], tau[pick]
    plain = misfit(model, *log)
    told, right = _torques(model, log, plain)
    if plain.max() < POOR:
        return told
    best, found = min(_size(plain) - BETTER, right), None
    for reading in (*_units(model, log, pick, rates), *_orders(model, log, rates), *_mirrored(model, log)):
        size = _size(misfit(model, *reading.log))
        if size < best - 1e-3:
            best, found = size, reading
    if found is not None:
        return (Finding(found.kind, found.text, model.joints[found.joint], found.sample, found.way),)
    return told


def _torques(model: TorqueModel, log: Samples, plain: Array) -> tuple[tuple[Finding, ...], float]:
    """What is told of torques of the wrong sign or size, and the size of the misfit when they are right (or inf)."""
    joints = torques.evidence(model, *log)
    best, told = _size(plain) + SAME, None
    for factors in torques.factors_of(joints):
        size = _size(misfit(model, *log[:3], log[3] * factors))
        if size < best - 1e-3:
            best, told = size, factors
    return ((), np.inf) if told is None else (torques.findings(model, joints, told), best)


def picked(model: TorqueModel, n: int) -> Array:
    """Even samples for trial fits; none when they are too few."""
    count = min(n, TRIAL, max(200, ROWS * len(model.names) // model.nv))
    pick = np.unique(np.linspace(0, n - 1, count).astype(int))
    return pick if len(pick) * model.nv >= 2 * len(model.names) else pick[:0]


def _size(misfits: Array) -> float:
    return float(np.log(np.maximum(misfits, LEAST)).sum())


def _units(model: TorqueModel, log: Samples, pick: Array, rates: bool) -> Iterator[_Reading]:
    """Degrees, revolutions per minute or millimetres in some arrays, of all such joints or of one; times too small."""
    places = column_of_speed(model)
    for angles, size, unit, least in ((True, DEGREE, "degrees", np.pi), (False, MILLIMETRE, "millimetres", 1.0)):
        of_kind = [j for j, place in enumerate(places) if place is not None and model.angles[place] is angles]
        kinds = [("motion", (size,) * 3, unit)]
        if not rates:
            kinds += [("q", (size, 1, 1), unit), ("qd", (1, size, 1), unit), ("qdd", (1, 1, size), unit)]
            kinds += [("qd", (1, RPM, 1), "revolutions per minute")] if angles else []
        groups = [of_kind, *([j] for j in of_kind if len(of_kind) > 1)]
        for joints in groups if model.nv <= MANY else groups[:1]:
            for what, scales, name in kinds if joints else ():
                yield from _scaled(model, log, pick, joints, (what, scales, name, least))
    for unit, _, size in TIMES if rates else ():
        text = f"The log fits when t is taken in {unit}."
        yield _Reading("units", text, 0, 1, (log[0], log[1] * size, log[2] * size**2, log[3]), seconds(unit))


def _scaled(
    model: TorqueModel, log: Samples, pick: Array, joints: list[int], kind: tuple[str, tuple[float, ...], str, float]
) -> Iterator[_Reading]:
    """Some arrays of some joints in another unit, unless positions are below `least`, which is no wonder then."""
    what, scales, unit, least = kind
    columns = [model.coordinates.index(model.speeds[j]) for j in joints]
    source = {"qd": log[1][:, joints], "qdd": log[2][:, joints]}.get(what, log[0][:, columns])
    sample, k = (int(i) for i in np.unravel_index(np.argmax(np.abs(source)), source.shape))
    if what in ("q", "motion") and abs(source[sample, k]) < least:
        return
    trial = [a.copy() for a in log]
    for a, c, scale in zip(trial, (columns, joints, joints), scales, strict=False):
        a[:, c] /= scale
    text = (
        f"The log fits when the {what} is taken in {unit}: {'q' if what == 'motion' else what} of joint "
        f"{model.joints[joints[k]]!r} is {source[sample, k]:.4g} at sample {pick[sample]}."
    )
    yield _Reading("units", text, joints[k], int(pick[sample]), (trial[0], trial[1], trial[2], trial[3]))


def _orders(model: TorqueModel, log: Samples, rates: bool) -> Iterator[_Reading]:
    """Columns of two joints exchanged in some arrays."""
    if model.nq != model.nv or model.nv > MANY:
        return
    kinds: tuple[tuple[str, Sequence[int]], ...] = (("tau", (3,)), ("q, qd and qdd", (0, 1, 2)))
    if not rates:
        kinds += (("q", (0,)), ("qd", (1,)), ("qdd", (2,)))
    for i, j in combinations(range(model.nv), 2):
        order = list(range(model.nv))
        order[i], order[j] = j, i
        first, second = model.joints[i], model.joints[j]
        for name, which in kinds:
            trial = [a[:, order] if k in which else a for k, a in enumerate(log)]
            text = f"The log fits when {name} of joints {first!r} and {second!r} are exchanged, from sample 0 on."
            yield _Reading("swapped", text, i, 0, (trial[0], trial[1], trial[2], trial[3]))


def _mirrored(model: TorqueModel, log: Samples) -> Iterator[_Reading]:
    """The motion of one joint the other way round."""
    for j, place in enumerate(column_of_speed(model) if model.nv <= MANY else ()):
        if place is not None:
            trial = [a.copy() for a in log]
            for a, column in zip(trial, (place, j, j), strict=False):
                a[:, column] *= -1.0
            text = f"The log fits when the sign of q, qd and qdd of joint {model.joints[j]!r} is turned."
            yield _Reading("sign", text, j, 0, (trial[0], trial[1], trial[2], trial[3]))


def misfit(model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array) -> Array:
    """For each joint the residual of least squares against its torque about the mean (0: fits, 1: says nothing).

    Joints without friction in the model have some here: that it is missing is no sign of another reading.
    """
    W = np.concatenate([model.regressor(q, qd, qdd), _other_friction(model, qd)], axis=-1)
    return np.asarray(np.linalg.norm(_trial_residual(W, tau), axis=0))


def _other_friction(model: TorqueModel, qd: Array) -> Array:
    """Columns (n, nv, 3 m) of viscous and Coulomb friction and an offset of the m joints without any in the model."""
    bare = [j for j in range(model.nv) if j not in {column.row for column in model.friction}]
    columns = np.zeros((*qd.shape, 3, len(bare)))
    for i, j in enumerate(bare):
        columns[:, j, :, i] = np.column_stack([qd[:, j], np.sign(qd[:, j]), np.ones(len(qd))])
    return columns.reshape(*qd.shape, -1)


def _trial_residual(W: Array, tau: Array) -> Array:
    """Residuals of least squares, each joint's in units of the length of its torque about the mean."""
    scale = np.maximum(np.linalg.norm(tau - tau.mean(axis=0), axis=0), 1e-9 * max(1.0, float(np.abs(tau).max())))
    k = W.shape[-1]
    R = triangle(np.concatenate([W / scale[:, None], (tau / scale)[..., None]], axis=-1).reshape(-1, k + 1))
    lengths = np.linalg.norm(R[:k, :k], axis=0)
    lengths[lengths == 0] = 1.0
    x = np.linalg.lstsq(R[:k, :k] / lengths, R[:k, k], rcond=RANK)[0] / lengths
    return np.asarray(tau / scale - (W / scale[:, None]) @ x)


def missing_friction(model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array) -> Iterator[Finding]:
    """Joints without friction in the model whose residual follows their speed or its sign."""
    pick = picked(model, len(q))
    if not len(pick):
        return
    residual = _trial_residual(model.regressor(q[pick], qd[pick], qdd[pick]), tau[pick])
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
