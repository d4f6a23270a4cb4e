"""Towards a configuration that fulfils conditions: damped steps from a guess, which do not leave it far behind.

Newton's method alone takes a guess near a singular configuration to places many turns away.  Here a step is
-Jᵀ (J Jᵀ + lambda 1)^-1 phi with lambda = |phi|^2 DAMPING (Levenberg 1944; Marquardt 1963), halved while it makes
|phi| larger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
ROUNDS, HALVINGS = 60, 10
DAMPING = 0.3
NEAR = 1e-4  # residual from which Newton's method goes on


def approached(
    conditions: Callable[[Array], tuple[Array, Array]], moved: Callable[[Array, Array], Array], q: Array
) -> Array:
    """A configuration from which Newton's method may go on: near the conditions, or the guess where none is found.

    conditions: phi (m,) and its slope J (m, k) by the free directions at q; moved: q after a step (k,) along them.
    """
    near = q
    phi, J = conditions(q)
    for _ in range(ROUNDS):
        size = float(np.linalg.norm(phi))
        if size <= NEAR:
            return near
        if not np.isfinite(size) or not np.isfinite(J).all():
            return q
        step = -J.T @ np.linalg.lstsq(J @ J.T + DAMPING * size**2 * np.eye(len(phi)), phi, rcond=None)[0]
        for _ in range(HALVINGS):
            trial = moved(near, step)
            phi, J = conditions(trial)
            if np.linalg.norm(phi) < size:
                break
            step = 0.5 * step
        near = trial
    return q
