"""The moving mechanism as one HTML page: points and lines on a canvas, seen from any side; nothing is fetched."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kane.mechanism import formula as f
from kane.mechanism.given import checked_number
from kane.simulation.files import checked_path, replace_whole
from kane.simulation.model import Model
from kane.simulation.page import PAGE
from kane.simulation.skeleton import skeleton

if TYPE_CHECKING:
    from kane.simulation.result import SimulationResult

Array = np.ndarray[Any, np.dtype[np.float64]]
PAGES = (".html", ".htm")
FRAMES = 3000  # at most


def animate(result: SimulationResult, path: str | Path | None = None, fps: int = 30) -> str:
    """The page; written to path when given.  Long runs show fewer frames a second."""
    result.need_points("an animation")
    rate = checked_number("fps", fps, "Give frames a second > 0.", above=0.0)
    if path is not None:
        path = checked_path(path, "an animation", PAGES)
    drawing = skeleton(result.model)
    t0, t1 = float(result.t[0]), float(result.t[-1])
    count = int(np.clip(round(min((t1 - t0) * rate, FRAMES)) + 1, 2, FRAMES))
    t = np.linspace(t0, t1, count)
    y = result.sol(t) if result.sol is not None else np.array([np.interp(t, result.t, row) for row in result.y])
    points = drawing.at(result.model, t, y)
    points = points[np.isfinite(points).all(axis=(1, 2))]
    axes, view = _camera(points, result.model)
    points = points @ axes.T
    span = float(np.ptp(points, axis=(0, 1)).max(initial=0.0)) or 1.0
    digits = max(0, 4 - int(np.floor(np.log10(span))))
    data = {
        "names": drawing.names, "lines": drawing.lines, "masses": drawing.masses, "t0": t0, "t1": t1, "view": view,
        "axes": np.round(axes.T, 12).tolist(), "points": np.round(points, digits).reshape(len(points), -1).tolist(),
    }  # fmt: skip
    name = html.escape(result.model.mechanism.name)
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    page = PAGE.replace("%NAME%", name).replace("%NOTE%", html.escape("" if result.success else result.message))
    page = page.replace("%DATA%", text)
    if path is not None:
        replace_whole(path, lambda place: _write(place, page))
    return page


def _camera(points: Array, model: Model) -> tuple[Array, list[float]]:
    """Rows right, away, up of the display in axes of N, and turn and tilt.

    Gravity points down, a plane motion is faced.
    """
    values = model.mechanism.parameter_values
    gravity = np.array([f.number(x, values) for x in model.mechanism.gravity])
    up = -gravity / np.linalg.norm(gravity) if np.any(gravity) else np.array([0.0, 0.0, 1.0])
    extent = np.ptp(points.reshape(-1, 3), axis=0)
    flat = int(np.argmin(extent))
    plane = bool(extent[flat] <= 1e-6 * (extent.max() or 1.0))
    toward = np.eye(3)[flat if plane else int(np.argmin(np.abs(up)))]
    if plane and abs(toward @ up) > 0.999:  # a motion in a level plane is seen from above
        up = np.eye(3)[1 if flat != 1 else 2]
    up = up - toward * (toward @ up) if plane else up
    toward = toward - up * (toward @ up) / (up @ up)
    up, toward = up / np.linalg.norm(up), toward / np.linalg.norm(toward)
    return np.array([np.cross(up, toward), -toward, up]), [0.0, 0.0] if plane else [0.6, 0.35]


def _write(place: Path, page: str) -> None:
    place.write_text(page, encoding="utf-8")
