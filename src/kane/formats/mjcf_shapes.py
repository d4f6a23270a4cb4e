"""Shapes of MJCF geoms for drawing, and what to leave out where nothing is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kane.errors import KaneError
from kane.formats.mjcf_values import placement, rational, vector
from kane.mechanism.joints import about
from kane.mechanism.model import Geometry, Placement, Translate
from kane.mechanism.numeric import skew

_KINDS = {"SPHERE": "sphere", "CAPSULE": "capsule", "CYLINDER": "cylinder", "BOX": "box", "MESH": "mesh"}


def shapes(body: Any, snap: float) -> tuple[Geometry, ...]:
    """The drawable geoms of a body; nothing in them can stop the reading."""
    result = []
    for geom in body.geoms:
        kind = _KINDS.get(geom.type.name.rpartition("_")[2])
        if kind is None:
            continue
        try:
            result.append(_shape(geom, kind, snap))
        except (KaneError, ValueError, ZeroDivisionError):
            continue
    return tuple(result)


def leave_inertia(spec: Any) -> None:
    """Take out of a specification what the inertia of its bodies does not need, in place, before it is compiled.

    Textures, skins, convex hulls and meshes without mass take most of the time of compiling, and their files may be
    missing: no reason to refuse a robot.
    """
    spec.compiler.discardvisual = False
    for kind in (spec.sensors, spec.pairs, spec.skins, spec.excludes, spec.keys, spec.actuators):
        _delete(spec, kind)
    held = {name for item in spec.equalities for name in (item.name1, item.name2)}
    _delete(spec, [tendon for tendon in spec.tendons if tendon.name not in held])
    for item in (*spec.geoms, *spec.sites, *spec.tendons):
        item.material = ""
    _delete(spec, spec.materials)
    _delete(spec, spec.textures)
    _delete(spec, [g for b in spec.bodies for g in b.geoms if g.hfieldname or (g.meshname and not _weighs(b, g))])
    _delete(spec, spec.hfields)
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0  # hulls are made for collisions
    used = {geom.meshname for geom in spec.geoms}
    _delete(spec, [mesh for mesh in spec.meshes if mesh.name not in used])


def _delete(spec: Any, items: Iterable[Any]) -> None:
    for item in list(items):
        spec.delete(item)


def _weighs(body: Any, geom: Any) -> bool:
    """True when a geom is part of its body's inertia."""
    rule, groups = int(body.compiler.inertiafromgeom), body.compiler.inertiagrouprange
    if body.id == 0 or rule == 0 or (rule == 2 and body.explicitinertial) or not groups[0] <= geom.group <= groups[1]:
        return False
    return bool(geom.density != 0 if np.isnan(geom.mass) else geom.mass != 0)


def _shape(geom: Any, kind: str, snap: float) -> Geometry:
    size = [float(v) for v in geom.size]
    r, g, b, a = (float(v) for v in geom.rgba)
    if kind == "mesh":
        return Geometry("mesh", (), placement(geom, snap), geom.meshname, (r, g, b, a))
    if not np.isnan(geom.fromto[0]):
        place, length = _between(np.asarray(geom.fromto, dtype=float))
    else:
        place, length = placement(geom, snap), 2 * size[1]
    sizes: tuple[float, ...] = (size[0],)
    if kind == "box":
        sizes = (2 * size[0], 2 * size[1], 2 * size[2])
    elif kind != "sphere":
        sizes = (size[0], length)
    return Geometry(kind, sizes, place, "", (r, g, b, a))


def _between(ends: np.ndarray[Any, Any]) -> tuple[Placement, float]:
    """Placement of a shape along z between two points, and its length."""
    step = ends[3:] - ends[:3]
    length = float(np.linalg.norm(step))
    axis = skew([0.0, 0.0, 1.0]) @ step
    move = Translate(vector((ends[:3] + ends[3:]) / 2))
    tilt = float(np.arctan2(np.linalg.norm(axis), step[2]))
    if np.linalg.norm(axis) < 1e-12 * length:
        axis = np.array([1.0, 0.0, 0.0])
    return (move, *about(vector(axis), rational(tilt))), length
