"""Least squares from triangular factors: bounded memory, any number of samples, any order of arrival.

The samples of a joint j in a block b of consecutive samples are kept as the triangular factor R_bj of [W | tau].  With
them every weighting of the joints, the residuals and the covariance that allows for correlated noise follow without a
second pass (Golub and Van Loan, section 5.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.identification.noise import block_covariance, larger, widening

Array = np.ndarray[Any, np.dtype[Any]]
LEAF, PANEL = 256, 8  # rows and columns that are worked on together
BLOCKS = 64  # of consecutive samples that are kept apart


@dataclass(frozen=True, slots=True)
class Factors:
    """R (blocks, nv, k + 1, k + 1): triangular factors of [W | tau]; samples (blocks,): rows of each joint."""

    R: Array
    samples: Array

    @property
    def size(self) -> int:
        """Number of parameters k."""
        return int(self.R.shape[-1]) - 1

    @property
    def total(self) -> float:
        """Number of samples (a sample has one row a joint)."""
        return float(self.samples.sum())

    def joint_factors(self) -> Array:
        """(nv, k + 1, k + 1): one factor a joint, over all blocks."""
        return np.stack([triangle(self.R[:, j].reshape(-1, self.size + 1)) for j in range(self.R.shape[1])])


def empty_factors(nv: int, k: int) -> Factors:
    return Factors(np.zeros((0, nv, k + 1, k + 1)), np.zeros(0))


def chunk_factors(W: Array, tau: Array, weights: Array | None = None) -> Factors:
    """One block: W (n, nv, k), tau (n, nv), weights (n, nv) of the squared residuals."""
    n, nv, k = W.shape
    R = np.zeros((1, nv, k + 1, k + 1))
    for j in range(nv):
        rows = np.empty((n, k + 1))
        rows[:, :k], rows[:, k] = W[:, j], tau[:, j]
        if weights is not None:
            rows *= np.sqrt(weights[:, j])[:, None]
        used = np.flatnonzero(rows.any(axis=0))
        R[0, j] = _expanded(triangle(rows[:, used]), used, k + 1)
    return Factors(R, np.array([float(n)]))


def triangle(rows: Array) -> Array:
    """The square triangular factor R of some rows A (n, m): R^T R = A^T A.

    LEAF rows after LEAF rows go into the factor so far (Golub and Van Loan, section 6.5; LAPACK's tpqrt): what is
    worked on stays in the cache, and panels are so narrow that the linear algebra library starts no threads for them.
    """
    from scipy.linalg import lapack

    m = rows.shape[1]
    R = np.zeros((m, m), order="F")
    for start in range(0, len(rows) if m else 0, LEAF):
        leaf = np.array(rows[start : start + LEAF], dtype=np.float64, order="F")
        R = lapack.dtpqrt(0, min(PANEL, m), R, leaf, overwrite_a=True, overwrite_b=True)[0]
    return np.ascontiguousarray(R)


def _expanded(R: Array, used: Array, size: int) -> Array:
    """A factor of some columns as one of all, each row at the place of its diagonal: triangular still."""
    result = np.zeros((size, size))
    result[np.ix_(used, used)] = R
    return result


def merged(parts: Iterable[Factors], blocks: int = BLOCKS) -> Factors:
    """Factors of samples that follow each other; neighbours are combined until at most `blocks` are left."""
    R: list[Array] = []
    samples: list[float] = []
    share = 1
    held: list[tuple[Array, float]] = []
    for part in parts:
        for block, n in zip(part.R, part.samples, strict=True):
            held.append((block, float(n)))
            if len(held) == share:
                R.append(_combined([b for b, _ in held]))
                samples.append(sum(n for _, n in held))
                held = []
            if len(R) >= 2 * blocks:
                R = [_combined(R[i : i + 2]) for i in range(0, len(R), 2)]
                samples = [sum(samples[i : i + 2]) for i in range(0, len(samples), 2)]
                share *= 2
    if held:
        R.append(_combined([b for b, _ in held]))
        samples.append(sum(n for _, n in held))
    if not R:
        raise ValueError("no samples")
    return Factors(np.stack(R), np.array(samples))


def _combined(parts: Sequence[Array]) -> Array:
    """One block (nv, k + 1, k + 1) of several."""
    if len(parts) == 1:
        return parts[0]
    stacked = np.concatenate(parts, axis=1)
    result = np.zeros_like(parts[0])
    for j, rows in enumerate(stacked):
        used = np.flatnonzero(rows.any(axis=0))
        result[j] = _expanded(triangle(rows[:, used]), used, rows.shape[1])
    return result


@dataclass(frozen=True, slots=True)
class Solution:
    """Estimate of weighted least squares.

    x: parameters; covariance: theirs; sigma (nv,): residual standard deviation of each joint, N m; condition: of the
    weighted regressor as it is, scaled: with columns of unit length; null (k, d): directions that the samples do not
    determine, columns scaled to unit length, along which x stays at the prior; lengths: of the weighted columns.
    """

    x: Array
    covariance: Array
    sigma: Array
    condition: float
    scaled_condition: float
    null: Array
    lengths: Array

    @property
    def deviations(self) -> Array:
        """Standard deviations; infinite for what the samples do not determine."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))


RANK = 1e-9  # singular values of the scaled regressor below this, relative to the largest, count as none


def solve(
    factors: Factors, prior: Array, weights: Array | None = None, correlated: bool = False,
    per_joint: Array | None = None,
) -> Solution:  # fmt: skip
    """Least squares with joint weights 1 / sigma_j (ones by default), at the prior where the samples say nothing.

    per_joint: factors.joint_factors() when they are there already.

    Covariance: sigma^2 (W^T W)^-1 with the joint's own sigma; `correlated`: from the sums of W^T residual over blocks
    instead, which holds for noise that is correlated within a block; the larger of the two deviations is kept, and both
    are widened until three of them hold for all parameters together (noise.widening).
    """
    per_joint = factors.joint_factors() if per_joint is None else per_joint
    nv, k = len(per_joint), factors.size
    w = np.ones(nv) if weights is None else np.asarray(weights, dtype=np.float64)
    R = triangle((w[:, None, None] * per_joint).reshape(-1, k + 1))
    A, b = R[:k, :k], R[:k, k] - R[:k, :k] @ prior
    lengths = np.linalg.norm(A, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)
    U, s, Vt = np.linalg.svd(A / scale)
    keep = s > RANK * s[0] if k and s[0] > 0 else np.zeros(k, dtype=bool)
    V = Vt[keep].T
    x = prior + (V @ ((U[:, keep].T @ b) / s[keep])) / scale
    residual = per_joint @ np.append(x, -1.0)
    squares = (residual**2).sum(axis=1)
    freedom = max(1.0, factors.total - int(keep.sum()) / nv)
    sigma = np.sqrt(squares / freedom)
    inverse = (V / s[keep]) / scale[:, None]  # A^+ = inverse U^T
    middle = np.zeros((k, k))
    for j in range(nv):  # sum of w^4 sigma^2 W_j^T W_j: the joints' own noise
        Wj = per_joint[j][:, :k]
        middle += (w[j] ** 4 * sigma[j] ** 2) * (Wj.T @ Wj)
    bread = inverse @ inverse.T
    covariance = bread @ middle @ bread
    if correlated:
        own = covariance * float(widening(k, np.array(np.inf))) ** 2
        covariance = larger(own, block_covariance(factors.R, x, w, inverse))
    covariance = _symmetric(covariance)
    null = Vt[~keep].T
    lost = np.linalg.norm(null, axis=1) > 1e-6
    covariance[lost, lost] = np.inf
    smallest = s[keep][-1] if keep.all() and k else 0.0
    plain = np.linalg.svd(A, compute_uv=False) if k else np.ones(1)
    return Solution(
        x, covariance, sigma,
        float(plain[0] / plain[-1]) if keep.all() and k else np.inf,
        float(s[0] / smallest) if smallest else np.inf, null, lengths,
    )  # fmt: skip


def _symmetric(a: Array) -> Array:
    return np.asarray(0.5 * (a + a.T))
