"""Certificates on grids: components where they do not depend on an angle, and the greatest of all points."""

from __future__ import annotations

import numpy as np
import pytest

from kane.explicit import bounds
from kane.explicit.bounds import Box, Field, certify, component_grids, grid_steps, make_field, values, worst

N = 4


def box() -> Box:
    return Box(np.full(N, -1.0), np.full(N, 2.0), np.array([1.0, 0.5, 2.0, 1.0]), np.array([3.0, 1.0, 0.2, 1.0]))


def field(seed: int) -> Field:
    """Terms of one, two and three angles, and of none, under all kinds of motion."""
    random = np.random.default_rng(seed)
    unit = lambda *k: tuple(int(i in k) for i in range(N))
    products = [
        (), ((unit(0), 1, 0),), ((unit(1), 0, 2),), ((unit(0), 1, 1), (unit(2), 0, 1)), ((unit(1, 2), 2, 0),),
        ((unit(0), 0, 1), (unit(1), 1, 0), (unit(3), 1, 0)),
    ]  # fmt: skip
    motions = [(), (0,), (2,), (0, 1), (1, 1), (0, 3)]
    parts = [(m, float(random.normal()), p) for k, m in enumerate(motions) for p in products[: k + 1]]
    return make_field(N, parts, box())


@pytest.mark.parametrize("seed", range(4))
def test_grids_hold_the_values_at_their_points(seed: int) -> None:
    made = field(seed)
    steps = grid_steps(np.abs(made.k).max(axis=0).astype(int), 20_000)
    axes = [-np.pi + 2 * np.pi * np.arange(n) / n for n in steps]
    points = np.stack([x.ravel() for x in np.meshgrid(*axes, indexing="ij")], axis=-1)
    points[:, [d for d in range(N) if steps[d] == 1]] = 0.7  # nothing depends on these
    direct = values(made, points)
    np.testing.assert_allclose(bounds.grid_values(made, steps), direct, atol=1e-12)
    sizes = [grid.size for grid in component_grids(made, steps)]
    assert min(sizes) == 1 and max(sizes) == len(points)
    found = certify(made, box(), 20_000)
    factor = np.prod([1 / np.cos(np.pi * d / n) for d, n in zip(np.abs(made.k).max(axis=0), steps, strict=True) if d])
    sums = np.abs(made.amplitude).sum(axis=0)[None, :]
    simple = worst(made, np.zeros_like(sums), sums, box())[0]
    greatest = worst(made, direct, None, box()).max()
    assert bounds._greatest(made, component_grids(made, steps), steps, box())[0] == pytest.approx(greatest, rel=1e-12)
    assert found.upper == pytest.approx(min(factor * greatest, simple), rel=1e-12)
    inside = np.all((points >= box().lower - 1e-9) & (points <= box().upper + 1e-9), axis=1)
    assert found.lower <= worst(made, direct[inside], None, box()).max() * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_no_point_is_above_the_bound(seed: int) -> None:
    made = field(seed)
    q = np.random.default_rng(seed + 50).uniform(-np.pi, np.pi, (20_000, N))
    assert worst(made, values(made, q), None, box()).max() <= certify(made, box(), 5_000).upper
