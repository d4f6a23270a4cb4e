"""Poles are shown as zero only where rounding may have made them: of stiff systems slow ones stay, double zeros go."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from kane.linearization.poles import poles_and_errors, without_rounding


def companion(springs: list[float], dampers: list[float]) -> np.ndarray:
    """A chain of unit masses, the first of which hangs on the wall."""
    n = len(springs)
    D = np.eye(n) - np.eye(n, k=-1)
    K, C = (D.T @ np.diag(values) @ D for values in (springs, dampers))
    return np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]])


def test_slow_poles_beside_fast_ones_are_kept() -> None:
    values, errors = poles_and_errors(np.diag([-1e-3, -2e7, 0.25]))
    assert sorted(x.real for x in without_rounding(values, errors)) == [-2e7, -1e-3, 0.25]


@pytest.mark.parametrize("free", [1, 2, 3])
@pytest.mark.parametrize("stiff", [1.0, 1e3, 1e6])
def test_rigid_motions_are_zero_twice_each(free: int, stiff: float) -> None:
    """Chains of masses that no spring holds: each has the pole 0 twice, with one eigenvector."""
    parts = [companion([0.0, stiff, 0.3 * stiff], [0.0, 0.01, 0.02]) for _ in range(free)]
    A = np.zeros((6 * free, 6 * free))
    for k, part in enumerate(parts):
        A[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = part
    turn = np.linalg.qr(np.random.default_rng(free).normal(size=A.shape))[0]
    for matrix in (A, turn @ A @ turn.T):
        values, errors = poles_and_errors(matrix)
        assert sum(x == 0 for x in without_rounding(values, errors)) == 2 * free
        assert all(x.real < 0 for x in without_rounding(values, errors) if x != 0)


def test_errors_hold() -> None:
    """Against the exact eigenvalues (50 digits) of random matrices, well and badly scaled."""
    random = np.random.default_rng(0)
    for k in range(20):
        n = int(random.integers(2, 7))
        A = random.normal(size=(n, n)) * 10.0 ** random.integers(-4 * (k % 2), 1, (n, n))
        with mpmath.workdps(50):
            exact = mpmath.eig(mpmath.matrix(A.tolist()), left=False, right=False)
        values, errors = poles_and_errors(A)
        for value, error in zip(values, errors, strict=True):
            assert min(abs(complex(x) - value) for x in exact) <= error


def test_an_oscillation_without_damping_is_on_the_limit() -> None:
    values, errors = poles_and_errors(companion([4.0, 9.0], [0.0, 0.0]))
    assert all(x.real == 0 and x.imag != 0 for x in without_rounding(values, errors))


def test_no_states() -> None:
    values, errors = poles_and_errors(np.zeros((0, 0)))
    assert len(values) == len(errors) == 0
