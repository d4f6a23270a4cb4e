"""Covariance of an estimate whose noise is correlated in time, from the residuals of blocks of consecutive samples.

A sandwich over blocks (Newey and West 1987), corrected for what a block itself did to the fit (Bell and McCaffrey
2002) and for the repeats of a periodic motion, where ripple repeats too.  Three of the deviations are meant to hold for
all parameters of a robot together, so they are widened by the number of parameters and by how few blocks a parameter's
error comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
WINDOW = 4  # blocks over which noise may be correlated
REPEAT = 0.45  # of the usual difference of two blocks: less is one motion done again
LEVERAGE = 0.9  # of a block's own part in the fit: one that determines a parameter alone hides its noise
FEW = 8.0  # degrees of freedom of a deviation that are taken at least
MISSED = 0.02  # of all logs: where a parameter is beyond three deviations


def block_covariance(R: Array, x: Array, w: Array, inverse: Array) -> Array:
    """Covariance (k, k) of x, the weighted least squares estimate with joint weights w.

    R (blocks, nv, k + 1, k + 1): factors of [W | tau]; inverse (k, r): x = inverse z in coordinates z in which W^T W is
    1.
    """
    k = len(x)
    blocks, size = len(R), inverse.shape[1]
    rows = (w[:, None, None] * R).reshape(blocks, -1, k + 1)
    error = rows @ np.append(x, -1.0)
    white = rows[..., :k] @ inverse
    across = white.transpose(0, 2, 1)
    g, own = (across @ error[..., None])[..., 0], across @ white
    if blocks < 2 or not size:
        return np.zeros((k, k))
    g = np.linalg.solve(np.eye(size) - LEVERAGE * own, g[..., None])[..., 0] @ inverse.T  # what each block adds to x
    products = [g[lag:].T @ g[: blocks - lag] for lag in range(max(1, blocks - WINDOW))]
    covariance = _windowed(products, [0])
    repeats = _repeated(own, len(products))
    if repeats:
        covariance = larger(covariance, _windowed(products, [0, *repeats]))
    grow = widening(k, _freedom(g))
    return np.asarray(covariance * np.outer(grow, grow))


def _windowed(products: Sequence[Array], peaks: Sequence[int]) -> Array:
    """The sum of products over all lags, with triangular weights about the peaks."""
    total = products[0]
    for lag in range(1, len(products)):
        weight = max(1.0 - abs(lag - peak) / WINDOW for peak in peaks)
        if weight > 0:
            total = total + weight * (products[lag] + products[lag].T)
    return total


def _repeated(own: Array, lags: int) -> list[int]:
    """Lags at which blocks see the same motion again: their W^T W agree far better than at other lags."""
    change = np.ones(lags)
    for lag in range(1, lags):
        size = float((own[lag:] ** 2).sum() + (own[:-lag] ** 2).sum())
        change[lag] = float(((own[lag:] - own[:-lag]) ** 2).sum()) / size if size else 1.0
    usual = float(np.median(change[WINDOW:])) if lags > WINDOW else 0.0
    return [
        lag
        for lag in range(WINDOW, lags)
        if change[lag] < REPEAT * usual and change[lag] == change[max(1, lag - WINDOW) : lag + WINDOW].min()
    ]


def _freedom(g: Array) -> Array:
    """Degrees of freedom of each parameter's deviation (Satterthwaite 1946), from the shares of the blocks g."""
    squares = g**2
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = 3.0 * squares.sum(axis=0) ** 2 / (squares**2).sum(axis=0)
    return np.asarray(np.maximum(np.nan_to_num(freedom, nan=FEW), FEW))


def widening(count: int, freedom: Array) -> Array:
    """What deviations of so many degrees of freedom are multiplied by, at least 1.

    Three of them are then Student's t for all of `count` parameters together (Bonferroni) but for MISSED of the logs.
    """
    from scipy.special import stdtrit

    return np.asarray(np.maximum(stdtrit(freedom, 1.0 - 0.5 * MISSED / max(1, count)) / 3.0, 1.0))


def larger(a: Array, b: Array) -> Array:
    """b with deviations not below those of a, correlations kept."""
    da, db = np.sqrt(np.diag(a)), np.sqrt(np.clip(np.diag(b), 0, None))
    with np.errstate(divide="ignore", invalid="ignore"):
        grow = np.where(db > 0, np.maximum(da / db, 1.0), 0.0)
    scaled = b * np.outer(grow, grow)
    scaled[np.diag_indices_from(scaled)] = np.maximum(da, db) ** 2
    return np.asarray(scaled)
