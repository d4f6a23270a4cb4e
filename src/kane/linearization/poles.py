"""Eigenvalues with how far rounding may have moved each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kane.equations.constrained import Array

ROUNDINGS = 100  # of the matrix itself, which was computed: units in the last place of its norm


def poles_and_errors(A: Any) -> tuple[np.ndarray[Any, np.dtype[np.complex128]], Array]:
    """Eigenvalues (n,) of A, the least stable first, and the distance (n,) within which rounding may have moved each.

    eps |A| / |y' x| with the unit eigenvectors y, x to the left and right of the balanced matrix, times ROUNDINGS; of
    a double one without two eigenvectors at most the square root (Golub and Van Loan, Matrix Computations, 7.2).
    """
    from scipy import linalg

    A = np.asarray(A, dtype=np.float64)
    if not len(A):
        return np.zeros(0, dtype=np.complex128), np.zeros(0)
    balanced, _ = linalg.matrix_balance(A)
    values, left, right = linalg.eig(balanced, left=True, right=True)
    size, unit = np.linalg.norm(balanced, 2), ROUNDINGS * np.finfo(float).eps
    along = np.abs((left.conj() * right).sum(axis=0))
    errors = unit * size / np.maximum(along, np.sqrt(unit))
    order = np.lexsort((values.imag, -np.round(values.real, 9)))
    return values[order].astype(np.complex128), errors[order]


def without_rounding(values: Iterable[complex], errors: Iterable[float]) -> list[complex]:
    """Poles for reading: real and imaginary parts within their errors are 0."""
    kept = [
        (x.real if abs(x.real) > error else 0.0, x.imag if abs(x.imag) > error else 0.0)
        for x, error in zip(values, errors, strict=True)
    ]
    return [complex(*x) for x in kept]
