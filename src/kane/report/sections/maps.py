"""Inertia and gravity torque of each coordinate over the two coordinates that change them most."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kane.equations.derive import Derived, derive_task
from kane.graph.evaluate import evaluate
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism.model import Mechanism
from kane.mechanism.numeric import without_noise
from kane.report.sections.motion import LARGEST, Array, coordinate_ranges, coordinates_of_speeds, held

CELLS = 41  # along each side
MOST = 24  # coordinates that are shown


@dataclass(frozen=True, slots=True)
class Maps:
    """`data`: by coordinate two axes with their ranges, and maps as bytes between their least and greatest value."""

    id: ClassVar[str] = "maps"
    title: ClassVar[str] = "Over the workspace"
    template: ClassVar[str] = "maps.html"

    data: dict[str, Any]
    left_out: str = ""


def maps(mechanism: Mechanism, derived: Mapping[str, Derived]) -> Maps:
    """Maps of M_ii(q) and of the gravity torque g_i(q), the other coordinates in the middle of their ranges."""
    c = find_coordinates(mechanism)
    places = coordinates_of_speeds(c)
    if places is None or mechanism.constraints:
        return Maps({}, "Maps are drawn for trees whose speeds are the rates of their coordinates.")
    names = ("mass_matrix", "gravity_forces")
    tasks = [derived[name] if name in derived else derive_task(mechanism, name) for name in names]
    if any(len(made.program.values) > LARGEST for made in tasks):
        return Maps({}, "The equations are too long to be evaluated over the workspace here.")
    open_ = [name for made in tasks for name, value in made.parameters.items() if value is None]
    if open_ or any(not {i.name for i in made.program.inputs} <= {"q", "p"} for made in tasks):
        return Maps({}, "The equations depend on more than the coordinates, so there are no maps to show.")
    ranges = []
    for name, own in zip(c.names, coordinate_ranges(mechanism), strict=True):
        fixed = held(c, name)
        ranges.append(own if fixed is None else (fixed, fixed))
    moving = [(i, name) for i, (name, place) in enumerate(zip(c.speeds, places, strict=True)) if place is not None]
    if not moving or all(low >= high for low, high in ranges):
        return Maps({}, "No joint moves by one coordinate of its own, so there are no maps to show.")
    axes = _axes(tasks, ranges)
    items = [_of(i, name, tasks, ranges, axes[i]) for i, name in moving[:MOST]]
    return Maps({"cells": CELLS, "names": list(c.names), "items": items})


def _values(made: Derived, q: Array) -> Array:
    """The diagonal of M, or g, at these coordinates (k, n)."""
    p = np.array([0.0 if x is None else x for x in made.parameters.values()])
    given = {"q": q, "p": p}
    found = next(iter(evaluate(made.program, {item.name: given[item.name] for item in made.program.inputs}).values()))
    return np.asarray(np.diagonal(found, axis1=-2, axis2=-1) if len(made.program.outputs[0].shape) == 2 else found)


def _of(
    i: int, name: str, tasks: list[Derived], ranges: list[tuple[float, float]], axes: tuple[int, int]
) -> dict[str, Any]:
    x, y = axes
    centres = (np.arange(CELLS) + 0.5) / CELLS
    grid = np.tile([(a + b) / 2 for a, b in ranges], (CELLS * CELLS, 1))
    across, up = ((ranges[k][0] + (ranges[k][1] - ranges[k][0]) * centres) for k in (x, y))
    grid[:, y] = np.repeat(up, CELLS)
    grid[:, x] = np.tile(across, CELLS)
    maps = [_packed(without_noise(_values(made, grid))[:, i]) for made in tasks]
    return {"name": name, "x": x, "y": y, "range": [*ranges[x], *ranges[y]], "maps": maps}


def _packed(values: Array) -> dict[str, Any]:
    low, high = float(values.min()), float(values.max())
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        return {"low": low, "high": low, "cells": ""}
    steps = np.rint((values - low) / (high - low) * 255).astype(np.uint8)
    cells = base64.b64encode(steps.tobytes()).decode()
    return {"low": float(f"{low:.5g}"), "high": float(f"{high:.5g}"), "cells": cells}


def _axes(tasks: list[Derived], ranges: list[tuple[float, float]]) -> list[tuple[int, int]]:
    """For each speed the two coordinates along which its inertia and gravity torque vary most, about fixed states."""
    n = len(ranges)
    random = np.random.default_rng(0)
    low, high = np.array(ranges).T
    centre = low + (high - low) * random.uniform(0.2, 0.8, (4, 1, n))
    varied = np.repeat(centre, 7, axis=1)
    free = [k for k in range(n) if low[k] < high[k]]
    sizes = []  # by free coordinate: (task, speed)
    for k in free:
        at = varied.copy()
        at[:, :, k] = low[k] + (high[k] - low[k]) * np.linspace(0.05, 0.95, 7)
        sizes.append([np.ptp(_values(made, at), axis=1).mean(axis=0) for made in tasks])
    scale = np.maximum(np.max(sizes, axis=0), 1e-300)
    shares = np.round(np.sum(sizes / scale, axis=1), 9)
    found = []
    for i in range(shares.shape[1]):
        order = sorted(range(len(free)), key=lambda k: (-shares[k, i], k))
        chosen = [free[k] for k in order[:2]]
        found.append((min(chosen), max(chosen)))
    return found
