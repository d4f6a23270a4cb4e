"""The triangles of a Collada file: geometries placed by the nodes of its scene, in metres, z upwards."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Triangles = np.ndarray[Any, np.dtype[np.int64]]
Element = ElementTree.Element
Named = dict[str | None, Element]


def collada_triangles(data: bytes) -> tuple[Array, Triangles]:
    """Corners (k, 3) and triangles (m, 3) of all geometries that the scene places.

    Raises ValueError, LookupError or ParseError (a SyntaxError) for a file that is not what it should be.
    """
    if b"<!DOCTYPE" in data[:4000] or b"<!ENTITY" in data:
        raise ValueError("a mesh file with entities")
    root = ElementTree.fromstring(data)
    for node in root.iter():
        node.tag = node.tag.rpartition("}")[2]
    named = {node.get("id"): node for node in root.iter() if node.get("id")}
    unit = root.find("asset/unit")
    up = root.findtext("asset/up_axis", "Y_UP").strip()
    start = np.eye(4) * float(unit.get("meter", 1.0) if unit is not None else 1.0)
    if up == "Y_UP":
        start[:3, :3] = start[:3, :3] @ np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    corners: list[Array] = []
    for scene in root.iterfind("library_visual_scenes/visual_scene"):
        for placed, geometry in _placed(scene, start, named, 0):
            points = np.concatenate([*_corners(geometry, named), np.zeros((0, 3))])
            corners.append(points @ placed[:3, :3].T + placed[:3, 3])
    found = np.concatenate([*corners, np.zeros((0, 3))])
    return found, np.arange(len(found)).reshape(-1, 3)


def _placed(node: Element, pose: Array, named: Named, depth: int) -> Iterator[tuple[Array, Element]]:
    """Geometries below a node with their poses."""
    if depth > 40:
        raise ValueError("nodes within nodes without end")
    for child in node:
        match child.tag:
            case "matrix" | "translate" | "rotate" | "scale":
                pose = pose @ _transform(child)
            case "node":
                yield from _placed(child, pose, named, depth + 1)
            case "instance_node":
                yield from _placed(named[child.get("url", "")[1:]], pose, named, depth + 1)
            case "instance_geometry":
                yield pose, named[child.get("url", "")[1:]]


def _transform(element: Element) -> Array:
    values = np.array((element.text or "").split(), dtype=float)
    result = np.eye(4)
    if element.tag == "matrix":
        return values.reshape(4, 4)
    if element.tag == "translate":
        result[:3, 3] = values
    elif element.tag == "scale":
        result[:3, :3] = np.diag(values)
    else:
        (x, y, z), angle = values[:3] / np.linalg.norm(values[:3]), math.radians(values[3])
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        result[:3, :3] = np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
    return result


def _corners(geometry: Element, named: Named) -> Iterator[Array]:
    """Corners (3 m, 3) of each group of triangles or polygons of a geometry."""
    mesh = geometry.find("mesh")
    if mesh is None:
        return
    for group in mesh:
        if group.tag not in ("triangles", "polylist"):
            continue
        inputs = list(group.iterfind("input"))
        stride = 1 + max(int(x.get("offset", 0)) for x in inputs)
        vertex = next(x for x in inputs if x.get("semantic") == "VERTEX")
        index = np.array((group.findtext("p") or "").split(), dtype=np.int64).reshape(-1, stride)
        corner = index[:, int(vertex.get("offset", 0))]
        if group.tag == "polylist":
            corner = _fans(corner, np.array((group.findtext("vcount") or "").split(), dtype=np.int64))
        yield _positions(named[vertex.get("source", "")[1:]], named)[corner]


def _fans(corner: Triangles, counts: Triangles) -> Triangles:
    """Polygons as fans of triangles."""
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    fans = [(s, s + k, s + k + 1) for s, n in zip(starts, counts, strict=True) for k in range(1, n - 1)]
    return corner[np.array(fans, dtype=np.int64).reshape(-1)]


def _positions(vertices: Element, named: Named) -> Array:
    source = next(x for x in vertices.iterfind("input") if x.get("semantic") == "POSITION")
    values = named[source.get("source", "")[1:]].findtext("float_array") or ""
    return np.array(values.split(), dtype=float).reshape(-1, 3)
