"""Torques of the wrong sign or size: what no robot can have, and what is far from the description's bodies.

Each joint speaks for itself.  The inertia that it feels is positive and its friction takes power, whatever the bodies;
and its torque without friction goes as that of the description, however rough that is.  A sign that turns all this is
that of the log.  Sizes can be told from the description only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.identification.factors import RANK
from kane.identification.finding import Finding, column_of_speed
from kane.identification.torque_model import TorqueModel
from kane.mechanism.formula import number

Array = np.ndarray[Any, np.dtype[Any]]
CLEAR, DOUBT = 8.0, 3.0  # deviations from zero that are believed (noise may be correlated), and that speak against it
SHARE = 0.1  # of a torque's own size: friction below it is no evidence
ALIKE, UNLIKE = 0.8, 0.3  # correlation with the description: that is believed, that speaks against a belief
FACTOR = 30.0  # by which a description may be wrong
STATES = 200  # at which inertia is averaged


@dataclass(frozen=True, slots=True)
class JointEvidence:
    """What one joint's torque says.

    inertia: the mean that is felt at the joint, kg m^2 or kg; power: mean of its friction, W; each with the number of
    its deviations from zero, 0 where it says nothing.  correlation: of the torque with that of the description's
    bodies, slope: the torque in units of it, friction and an offset taken off both; 0 where there is none.
    """

    inertia: float = 0.0
    inertia_sure: float = 0.0
    power: float = 0.0
    power_sure: float = 0.0
    correlation: float = 0.0
    slope: float = 0.0
    slope_sure: float = 0.0

    @property
    def votes(self) -> tuple[int, int, int]:
        """Of inertia, friction and description: 1 for the sign of the log, -1 against it, 0 for neither."""
        against = self.correlation < -ALIKE and self.slope_sure < -CLEAR
        described = -1 if against else int(self.correlation > UNLIKE and self.slope_sure > DOUBT)
        return _vote(self.inertia_sure), _vote(self.power_sure), described

    @property
    def turned(self) -> bool:
        """True when the torque has the opposite sign of the motion: nothing physical denies it, and more is for it."""
        return max(self.votes[:2]) <= 0 and sum(self.votes) < 0

    @property
    def scale(self) -> float:
        """How many times larger the torque is than the description says; 1 where that is no wonder."""
        size = abs(self.slope)
        sure = abs(self.correlation) > ALIKE and abs(self.slope_sure) > CLEAR
        return size if sure and not 1.0 / FACTOR < size < FACTOR else 1.0

    @property
    def factor(self) -> float:
        """What the torque is to be multiplied by."""
        return (-1.0 if self.turned else 1.0) / self.scale


def _vote(sure: float) -> int:
    return -1 if sure < -CLEAR else int(sure > DOUBT)


def evidence(model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array) -> tuple[JointEvidence, ...]:
    """The evidence of every joint from samples (n, ...)."""
    k = model.base.count
    W = model.regressor(q, qd, qdd)[..., :k]
    felt = _felt(model, q[:: max(1, len(q) // STATES)])[..., :k]
    described = W @ np.nan_to_num(model.prior[:k])
    return tuple(_alone(W[:, j], qd[:, j], tau[:, j], felt[j], described[:, j]) for j in range(model.nv))


def _felt(model: TorqueModel, q: Array) -> Array:
    """(nv, k): row j times x is the mean of M_jj, the torque of joint j for its own acceleration alone."""
    still = np.zeros((len(q), model.nv))
    rest = model.regressor(q, still, still)
    rows = []
    for j in range(model.nv):
        push = still.copy()
        push[:, j] = 1.0
        rows.append((model.regressor(q, still, push) - rest)[:, j].mean(axis=0))
    return np.stack(rows)


def _alone(W: Array, speed: Array, tau: Array, felt: Array, described: Array) -> JointEvidence:
    """One joint's torque (n,) on its row of the regressor, and on the description's torque; friction beside both."""
    size = float(np.linalg.norm(tau - tau.mean()))
    if size <= 1e-9 * max(1.0, float(np.abs(tau).max())):
        return JointEvidence()
    friction = np.column_stack([speed, np.sign(speed), np.ones_like(speed)])
    inertia = _fitted(np.column_stack([W, friction]), tau, np.append(felt, np.zeros(3)))
    both = np.column_stack([described, friction])
    lost = np.array([0.0, float((speed**2).mean()), float(np.abs(speed).mean()), 0.0])
    power, slope = _fitted(both, tau, lost), _fitted(both, tau, np.eye(4)[0])
    if np.linalg.norm(friction[:, :2] @ power.x[1:3]) < SHARE * size:
        power = _Value(power.x, power.value, 0.0)
    base = np.linalg.qr(friction)[0]
    a, b = (y - base @ (base.T @ y) for y in (tau, described))
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    correlation = float(a @ b) / lengths if lengths > 1e-9 * size * float(np.linalg.norm(described)) else 0.0
    return JointEvidence(inertia.value, inertia.sure, power.value, power.sure, correlation, slope.value, slope.sure)


@dataclass(frozen=True, slots=True)
class _Value:
    """A linear function of an estimate x, and how many of its deviations it is from zero (0: not determined)."""

    x: Array
    value: float
    sure: float


def _fitted(A: Array, y: Array, g: Array) -> _Value:
    """g x of the least squares x of A x = y."""
    lengths = np.linalg.norm(A, axis=0)
    lengths[lengths == 0] = 1.0
    U, s, Vt = np.linalg.svd(A / lengths, full_matrices=False)
    keep = s > RANK * s[0]
    x = (Vt[keep].T @ ((U[:, keep].T @ y) / s[keep])) / lengths
    sigma = float(np.linalg.norm(y - A @ x)) / np.sqrt(max(1, len(y) - int(keep.sum())))
    scaled, value = g / lengths, float(g @ x)
    seen = Vt[keep] @ scaled
    determined = np.linalg.norm(scaled - Vt[keep].T @ seen) <= 1e-3 * np.linalg.norm(scaled)
    deviation = max(sigma * float(np.linalg.norm(seen / s[keep])), 1e-12 * abs(value))
    return _Value(x, value, value / deviation if determined and deviation else 0.0)


def factors_of(found: Sequence[JointEvidence]) -> list[Array]:
    """What the torques (nv,) are to be multiplied by: as each joint says, and all alike where most say so."""
    own = np.array([e.factor for e in found])
    if (own == 1.0).all():
        return []
    wrong = np.flatnonzero(own != 1.0)
    usual = float(np.median(own[wrong]))
    alike = [j for j in wrong if 0.5 < own[j] / usual < 2.0]
    free = all(_agrees(e, usual) for j, e in enumerate(found) if j not in alike)
    return [np.full(len(own), usual), own] if 2 * len(alike) >= len(own) and free else [own]


def _agrees(e: JointEvidence, factor: float) -> bool:
    """True when a joint that is not sure of this factor says nothing that it would be wrong."""
    sign = sum(e.votes) <= 0 if factor < 0 else not e.turned
    return sign and (abs(e.slope_sure) < DOUBT or 1.0 / FACTOR < abs(e.slope * factor) < FACTOR)


def findings(model: TorqueModel, found: Sequence[JointEvidence], factors: Array) -> tuple[Finding, ...]:
    """What is told of torques that are to be multiplied by these factors."""
    told = [_sign(model, j, e) for j, e in enumerate(found) if factors[j] < 0]
    return (*told, *(_size(model, j, e, 1.0 / abs(factors[j])) for j, e in enumerate(found) if abs(factors[j]) != 1.0))


def _sign(model: TorqueModel, j: int, e: JointEvidence) -> Finding:
    inertia, friction, described = e.votes
    why = [f"its inertia would be {e.inertia:.3g} {'kg m^2' if _turns(model, j) else 'kg'}"] if inertia < 0 else []
    why += [f"its friction would drive it with {-e.power:.3g} W"] if friction < 0 else []
    why += [f"it goes against the description (correlation {e.correlation:.2f})"] if described < 0 else []
    text = f"tau of joint {model.joints[j]!r} has the wrong sign: {'; '.join(why) or 'as those of the others'}"
    return Finding("sign", f"{text}. Turn the sign of its tau, or of its q, qd and qdd.", model.joints[j], 0)


def _size(model: TorqueModel, j: int, e: JointEvidence, scale: float) -> Finding:
    return Finding(
        "scale", f"tau of joint {model.joints[j]!r} is {scale:.4g} times what the description's bodies need "
        f"(correlation {abs(e.correlation):.2f}): {_unit(model, j, scale)}? Convert it, or correct the description.",
        model.joints[j], 0,
    )  # fmt: skip


def _unit(model: TorqueModel, j: int, scale: float) -> str:
    turns = _turns(model, j)
    joint = next((joint for joint in model.mechanism.joints if joint.name == model.joints[j]), None)
    if joint is not None and joint.rotor is not None:
        ratio = abs(number(joint.rotor.ratio, model.mechanism.parameter_values))
        if ratio > 1.0 and 0.5 < scale * ratio < 2.0:
            return f"is it the motor's, before a gear of {ratio:.6g}"
    units = {1e3: "N mm" if turns else "mN", 100.0: "N cm" if turns else "cN", 1e-3: "kN m" if turns else "kN"}
    named = [unit for size, unit in units.items() if 0.5 < scale / size < 2.0]
    return f"is it in {named[0]}" if named else "is it in another unit, or a motor's before its gear"


def _turns(model: TorqueModel, j: int) -> bool:
    place = column_of_speed(model)[j]
    return place is None or model.angles[place] is not False
