"""Triangle meshes for drawing (STL, OBJ, Collada), thinned by clustering vertices and packed into 16-bit integers."""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kane.mechanism.model import Mechanism
from kane.report.sections.collada import collada_triangles

Array = np.ndarray[Any, np.dtype[np.float64]]
BUDGET = 400_000  # bytes of all meshes in a page, before base64
_LARGEST_FILE = 40_000_000


@dataclass(frozen=True, slots=True)
class Mesh:
    """Vertices (k, 3), m, before scaling; triangles (m, 3)."""

    vertices: Array
    triangles: np.ndarray[Any, np.dtype[np.int64]]

    def as_json(self) -> dict[str, Any]:
        """Vertices as 16-bit steps of a box and triangles as 16-bit indices, base64, little-endian."""
        low, high = self.vertices.min(0), self.vertices.max(0)
        step = np.where(high > low, (high - low) / 65535, 1.0)
        packed = np.rint((self.vertices - low) / step).astype("<u2")
        return {
            "low": low.tolist(), "step": step.tolist(), "vertices": _base64(packed),
            "triangles": _base64(self.triangles.astype("<u2")),
        }  # fmt: skip


def _base64(array: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(array.tobytes()).decode("ascii")


def find_meshes(mechanism: Mechanism, folder: Path | None, budget: int = BUDGET) -> dict[str, Mesh]:
    """The meshes of a mechanism that are found beside its file, thinned to fit the budget; others are left out."""
    names = sorted({g.file for link in mechanism.links for g in link.geometry if g.kind == "mesh" and g.file})
    paths = {name: path for name in names if (path := _find(name, folder)) is not None}
    read = {name: mesh for name, path in paths.items() if (mesh := _read(path)) is not None}
    share = budget // max(len(read), 1)
    return {name: thinned(mesh, max(share // 9, 60)) for name, mesh in read.items()}


def _find(name: str, folder: Path | None) -> Path | None:
    if folder is None or ("://" in name and not name.startswith(("package://", "file://"))):
        return None
    if name.startswith("package://"):
        rest = name.removeprefix("package://")
        package, _, inner = rest.partition("/")
        places = [up / tail for up in (folder, *folder.parents[:4]) for tail in (rest, inner) if up.name != package]
        places += [up / inner for up in (folder, *folder.parents[:4])]
    else:
        places = [folder / name.removeprefix("file://")]
    return next((p for p in places if p.is_file() and p.stat().st_size < _LARGEST_FILE), None)


def _read(path: Path) -> Mesh | None:
    """The mesh of an STL, OBJ or Collada file; None for other kinds and for files that are not what they say."""
    try:
        if path.suffix.lower() == ".stl":
            return _stl(path.read_bytes())
        if path.suffix.lower() == ".dae":
            return _merged(*collada_triangles(path.read_bytes()))
        if path.suffix.lower() == ".obj":
            return _obj(path.read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError, LookupError, SyntaxError, struct.error):
        return None
    return None


def _stl(data: bytes) -> Mesh | None:
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        corners = np.frombuffer(data, kind, count, 84)["corners"].astype(float).reshape(-1, 3)
    else:
        lines = (line.split() for line in data.decode("ascii", "replace").splitlines())
        corners = np.array([[float(x) for x in w[1:4]] for w in lines if w[:1] == ["vertex"]])
    return _merged(corners, np.arange(len(corners)).reshape(-1, 3))


def _obj(text: str) -> Mesh | None:
    vertices: list[list[float]] = []
    triangles: list[Sequence[int]] = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(x) for x in words[1:4]])
        elif words[:1] == ["f"]:
            at = [int(w.split("/")[0]) for w in words[1:]]
            at = [k - 1 if k > 0 else len(vertices) + k for k in at]
            triangles += [(at[0], at[k], at[k + 1]) for k in range(1, len(at) - 1)]
    return _merged(np.array(vertices), np.array(triangles, dtype=np.int64).reshape(-1, 3))


def _merged(vertices: Array, triangles: np.ndarray[Any, np.dtype[np.int64]]) -> Mesh | None:
    if not len(triangles) or not np.isfinite(vertices).all():
        return None
    unique, inverse = np.unique(vertices, axis=0, return_inverse=True)
    return Mesh(unique, inverse.reshape(-1)[triangles])


def thinned(mesh: Mesh, triangles: int) -> Mesh:
    """The mesh with vertices merged on a grid as fine as leaves at most this many triangles (and 65,536 vertices)."""
    low, size = mesh.vertices.min(0), float(np.ptp(mesh.vertices, axis=0).max()) or 1.0
    cells = 256
    while len(mesh.triangles) > triangles or len(mesh.vertices) > 65_000:
        key = np.floor((mesh.vertices - low) / size * cells).astype(np.int64)
        _, inverse, number = np.unique(key, axis=0, return_inverse=True, return_counts=True)
        inverse = inverse.reshape(-1)
        sums = np.stack([np.bincount(inverse, mesh.vertices[:, k]) for k in range(3)], 1)
        corners = inverse[mesh.triangles]
        a, b, c = corners.T
        kept = np.unique(np.sort(corners[(a != b) & (b != c) & (a != c)], axis=1), axis=0, return_index=True)[1]
        full = corners[(a != b) & (b != c) & (a != c)][np.sort(kept)]
        made = Mesh(sums / number[:, None], full)
        if len(full) <= triangles and len(number) <= 65_000:
            return made
        if cells <= 4:
            return Mesh(made.vertices, full[:triangles])
        cells = int(cells * 0.8)
    return mesh
