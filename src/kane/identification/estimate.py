"""Parameters from factors: ordinary and weighted least squares, deviations, what cannot be known and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kane.errors import ConvergenceError, InputError
from kane.identification.factors import BLOCKS, Factors, Solution, chunk_factors, merged, solve
from kane.identification.torque_model import TorqueModel

Array = np.ndarray[Any, np.dtype[Any]]
Method = Literal["ols", "wls", "irls"]
ROWS = 2000  # samples of a chunk: its regressor stays in the cache
HUBER = 1.345  # residuals beyond this many deviations lose weight; 95 % efficient for normal noise (Huber 1981)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A parameter that this motion does not determine, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate x (k,) with deviations (k,), correlation (k, k) and covariance (k, k).

    sigma (nv,): residual deviation of each joint, N m or N.  condition: of the weighted regressor; scaled_condition: of
    it with columns of unit length.  unknown: what stays at the description's value.
    """

    names: tuple[str, ...]
    x: Array
    deviations: Array
    correlation: Array
    covariance: Array
    sigma: Array
    condition: float
    scaled_condition: float
    unknown: tuple[Unknown, ...]
    method: Method
    samples: int


def chunks_of(*arrays: Array, blocks: int = BLOCKS) -> Iterator[tuple[Array, ...]]:
    """Slices of arrays along the first axis: at most ROWS long, and at least `blocks` of them where there can be."""
    n = len(arrays[0])
    size = max(1, min(ROWS, -(-n // blocks)))
    for start in range(0, n, size):
        yield tuple(a[start : start + size] for a in arrays)


def model_factors(model: TorqueModel, q: Array, qd: Array, qdd: Array, tau: Array) -> Factors:
    """Factors of samples in memory, chunk by chunk."""
    return merged(chunk_factors(model.regressor(*c[:3]), c[3]) for c in chunks_of(q, qd, qdd, tau))


def estimate(
    model: TorqueModel, factors: Factors, method: Method = "ols", correlated: bool = False, moved: Sequence[bool] = ()
) -> Estimate:
    """Ordinary ("ols") or per-joint weighted ("wls") least squares; moved: for each joint whether it moved."""
    prior, per_joint = model.prior, factors.joint_factors()
    solution = solve(factors, prior, None, correlated and method == "ols", per_joint)
    if method == "wls":
        solution = _weighted(factors, prior, solution, correlated, per_joint)
    return _described(model, factors, solution, method, moved)


def _weighted(factors: Factors, prior: Array, solution: Solution, correlated: bool, per_joint: Array) -> Solution:
    """Joints weighted by 1 / sigma_j until the sigmas stay (Gautier 1997)."""
    for _ in range(50):
        floor = 1e-12 * max(1.0, float(solution.sigma.max(initial=0.0)))
        sigma = np.maximum(solution.sigma, floor)
        fresh = solve(factors, prior, 1.0 / sigma, False, per_joint)
        if np.allclose(fresh.sigma, solution.sigma, rtol=1e-6, atol=10 * floor):
            break
        solution = fresh
    return solve(factors, prior, 1.0 / sigma, correlated, per_joint)


def robust_estimate(
    model: TorqueModel, W: Array, tau: Array, moved: Sequence[bool] = ()
) -> tuple[Estimate, Factors]:
    """Iteratively reweighted least squares on W (n, nv, k), tau (n, nv): samples by Huber's weights, joints by scale.

    The scale is the median absolute deviation.  Returns the factors with the last weights too, in which outliers have
    little say.  Raises ConvergenceError after 100 rounds.
    """
    first = solve(merged(chunk_factors(*c) for c in chunks_of(W, tau)), model.prior)
    x = first.x
    for _ in range(100):
        residual = tau - W @ x
        scale = 1.4826 * np.median(np.abs(residual), axis=0)
        scale = np.maximum(scale, 1e-12 * max(1.0, float(np.abs(tau).max())))
        far = np.abs(residual) / scale
        weights = np.minimum(1.0, HUBER / np.maximum(far, 1e-300))
        factors = merged(chunk_factors(*c) for c in chunks_of(W, tau, weights))
        solution = solve(factors, model.prior, 1.0 / scale, True)
        step = np.abs(solution.x - x) / np.where(np.isfinite(solution.deviations), solution.deviations, 1.0).clip(
            1e-300
        )
        x = solution.x
        if step.max(initial=0.0) < 1e-3:
            return _described(model, factors, solution, "irls", moved), factors
    raise ConvergenceError(
        "Reweighted least squares did not settle in 100 rounds.", remedy="Look at the residuals; try method='wls'."
    )


def _described(
    model: TorqueModel, factors: Factors, solution: Solution, method: Method, moved: Sequence[bool]
) -> Estimate:
    deviations = solution.deviations
    known = np.where(np.isfinite(deviations) & (deviations > 0), deviations, 1.0)
    finite = np.where(np.isfinite(solution.covariance), solution.covariance, 0.0)
    correlation = finite / np.outer(known, known)
    correlation[np.diag_indices_from(correlation)] = 1.0
    return Estimate(
        model.names, solution.x, deviations, correlation, solution.covariance, solution.sigma, solution.condition,
        solution.scaled_condition, unknown_parameters(model, solution, moved), method, int(factors.total),
    )  # fmt: skip


def unknown_parameters(model: TorqueModel, solution: Solution, moved: Sequence[bool]) -> tuple[Unknown, ...]:
    """Parameters with a part in a direction that the samples do not determine."""
    still = [joint for joint, m in zip(model.joints, moved, strict=False) if not m]
    cause = f" (joint {', '.join(still)} did not move)" if still else ""
    weak = set(model.base.weak)
    found = []
    part = np.linalg.norm(solution.null, axis=1)
    for i, name in enumerate(model.names):
        if part[i] <= 1e-6:
            continue
        if solution.lengths[i] == 0:
            found.append(Unknown(name, f"it has no effect in this motion{cause}"))
            continue
        shares = np.abs(solution.null @ solution.null[i])
        partners = [model.names[k] for k in np.argsort(-shares) if k != i and shares[k] > 1e-3 * shares.max()][:4]
        why = "the geometry is nearly special" if name in weak else f"only a sum with {', '.join(partners)} shows"
        found.append(Unknown(name, f"{why}{cause}"))
    return tuple(found)


def require_samples(model: TorqueModel, samples: float) -> None:
    """InputError when there are fewer rows than parameters."""
    if samples * model.nv < len(model.names):
        raise InputError(
            f"{samples:.0f} samples of {model.nv} joints cannot determine {len(model.names)} parameters.",
            name="samples", value=samples, remedy="Record a longer motion.",
        )  # fmt: skip
