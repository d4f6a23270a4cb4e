"""Pseudo-inertia: ten inertial parameters as a symmetric 4x4 matrix that is positive definite exactly for real bodies.

J = [[S, h], [h^T, m]], S = tr(I)/2 1 - I the second moments of mass about the link's origin (Wensing, Kim and Slotine
2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
UPPER = tuple((i, j) for j in range(4) for i in range(j + 1))  # columns of the upper triangle, the order of clarabel
ROOT2 = float(np.sqrt(2.0))


def pseudo_inertia(parameters: Sequence[float] | Array) -> Array:
    """J (4, 4) of (m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz)."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = (float(x) for x in parameters)
    half = 0.5 * (xx + yy + zz)
    return np.array([[half - xx, -xy, -xz, hx], [-xy, half - yy, -yz, hy], [-xz, -yz, half - zz, hz], [hx, hy, hz, m]])


def parameters_of(J: Array) -> Array:
    """The ten parameters of a pseudo-inertia."""
    a, b, c = J[0, 0], J[1, 1], J[2, 2]
    return np.array(
        [J[3, 3], J[0, 3], J[1, 3], J[2, 3], b + c, -J[0, 1], -J[0, 2], a + c, -J[1, 2], a + b], dtype=np.float64
    )


def svec(J: Array) -> Array:
    """The upper triangle as a vector (10,) with the inner product of matrices."""
    return np.array([J[i, j] * (1.0 if i == j else ROOT2) for i, j in UPPER])


def smat(v: Array) -> Array:
    """The symmetric matrix of a vector."""
    J = np.zeros((4, 4))
    for x, (i, j) in zip(v, UPPER, strict=True):
        J[i, j] = J[j, i] = x / (1.0 if i == j else ROOT2)
    return J


def is_physical(parameters: Sequence[float] | Array, tolerance: float = 0.0) -> bool:
    """True when the eigenvalues of J, in units of its own size, are above -tolerance (strictly positive for 0)."""
    J = pseudo_inertia(parameters)
    scale = np.sqrt(np.abs(np.diag(J)))
    if not np.all(scale > 0):
        return bool(tolerance) and not np.any(J)
    least = float(np.linalg.eigvalsh(J / np.outer(scale, scale))[0])
    return least > -tolerance if tolerance else least > 0


FLOOR = 1e-3  # of the bodies' usual squared radius: what a body of the prior has in every direction at least


def metric_factors(bodies: Array) -> list[Array]:
    """For each body (10,) a factor L with J0 = L L^T positive definite: the prior, lifted where it is no real body."""
    masses = bodies[:, 0]
    positive = masses[masses > 0]
    light = 0.01 * float(np.mean(positive)) if len(positive) else 1.0
    spread = []
    parts = []
    for p in bodies:
        m = max(float(p[0]), light)
        c = p[1:4] / m
        J = pseudo_inertia(p)
        central = J[:3, :3] - m * np.outer(c, c)
        parts.append((m, c, central))
        spread.append(max(float(np.trace(central)) / m, 0.0))
    radii = [s for s in spread if s > 0]
    radius = float(np.median(radii)) if radii else 0.01
    factors = []
    for m, c, central in parts:
        values, vectors = np.linalg.eigh(central)
        lifted = (vectors * np.maximum(values, FLOOR * m * radius)) @ vectors.T
        J = np.zeros((4, 4))
        J[:3, :3] = lifted + m * np.outer(c, c)
        J[:3, 3] = J[3, :3] = m * c
        J[3, 3] = m
        factors.append(np.linalg.cholesky(J))
    return factors
