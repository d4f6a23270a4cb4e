"""The robot to be drawn: the tree of placements as formulas, so that the page computes forward kinematics itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.mechanism import model
from kane.mechanism.constraints import Coincident, Holonomic
from kane.mechanism.formula import MEASURES, Formula, Scalar
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Geometry, Joint, Limits, Link, Mechanism, Move, QuaternionTurn, Translate
from kane.mechanism.numeric import SomeValues, pose, tensor, values_of
from kane.report.sections.meshes import Mesh

Json = Any


@dataclass(frozen=True, slots=True)
class Scene:
    """`data` is what scene.js draws: coordinates, links (parents first), frames, closures, meshes."""

    id: ClassVar[str] = "scene"
    title: ClassVar[str] = "In 3-D"
    template: ClassVar[str] = "scene.html"

    data: dict[str, Json]
    sliders: int
    links: int
    note: str


def scene(mechanism: Mechanism, meshes: Mapping[str, Mesh] | None = None, start: Sequence[float] = ()) -> Scene:
    """Links with their placements; start: coordinates to begin with (default: zero within the limits)."""
    c = find_coordinates(mechanism)
    values = values_of(mechanism)
    used = meshes or {}
    above = {joint.child: joint for joint in mechanism.joints}
    order = _parents_first(mechanism, above)
    links = [_link(mechanism.link(name), above.get(name), c, values, used) for name in order]
    frames = [
        {"name": x.name, "link": x.link, "moves": [_move(m, c, values) for m in x.placement]} for x in mechanism.frames
    ]
    closures = _closures(mechanism, c, values)
    coordinates = _coordinates(mechanism, c, start or _apart(c, closures))
    unknown = [p.name for p in mechanism.parameters if p.value is None]
    note = f"Drawn with made-up values of {', '.join(unknown)}, which the description leaves open." if unknown else ""
    data = {
        "name": mechanism.name, "coordinates": coordinates, "links": links, "frames": frames,
        "meshes": {name: mesh.as_json() for name, mesh in sorted(used.items())},
        "closures": closures,
        "gravity": [_float(x, values) for x in mechanism.gravity],
    }  # fmt: skip
    return Scene(data, len(coordinates), len(links), note)


def _parents_first(mechanism: Mechanism, above: Mapping[str, Joint]) -> list[str]:
    children: dict[str, list[str]] = {}
    for name, joint in above.items():
        children.setdefault(joint.parent, []).append(name)
    order, queue = [], [mechanism.root]
    while queue:
        name = queue.pop()
        order.append(name)
        queue += reversed(children.get(name, []))
    return order


def _coordinates(mechanism: Mechanism, c: Coordinates, start: Sequence[float]) -> list[Json]:
    limits: dict[str, Limits] = {}
    for joint in mechanism.joints:
        names = joint_type(joint).coordinates(joint)
        if len(names) == 1:
            limits[names[0]] = joint.limits
    first = {names[0] for names, _ in c.quaternions}
    result = []
    for k, (name, angle) in enumerate(zip(c.names, c.angles, strict=True)):
        own = limits.get(name, Limits())
        reach = math.pi if angle else 1.0
        lower = own.lower if own.lower is not None and math.isfinite(own.lower) else -reach
        upper = own.upper if own.upper is not None and math.isfinite(own.upper) else reach
        zero = 1.0 if name in first else 0.0
        value = start[k] if k < len(start) else min(max(zero, lower), upper)
        kind = "quaternion" if angle is None else "angle" if angle else "length"
        result.append({"name": name, "kind": kind, "lower": lower, "upper": upper, "value": float(value)})
    return result


def _closures(mechanism: Mechanism, c: Coordinates, values: SomeValues) -> list[Json]:
    """Conditions on the configuration that the page keeps: points that stay together, formulas in the coordinates."""
    result: list[Json] = []
    for x in mechanism.constraints:
        if isinstance(x, Coincident):
            result.append({"point": x.point, "other": x.other, "frame": x.frame, "axes": list(x.axes)})
        elif isinstance(x, Holonomic) and not any(n.startswith(tuple(MEASURES)) for n in _names(x.expression)):
            result.append({"formula": _amount(x.expression, c, values)})
    return result


def _names(value: Scalar) -> frozenset[str]:
    return value.names() if isinstance(value, Formula) else frozenset()


def _apart(c: Coordinates, closures: list[Json]) -> Sequence[float]:
    """Where a closed loop starts: all coordinates different, so that the page can close it (zero is often singular)."""
    return tuple(0.5 + 0.35 * k for k in range(len(c.names))) if closures else ()


def _link(link: Link, joint: Joint | None, c: Coordinates, values: SomeValues, meshes: Mapping[str, Mesh]) -> Json:
    moves: list[Json] = []
    if joint is not None:
        kind = joint_type(joint)
        q = tuple(c.values[name] for name in kind.coordinates(joint))
        moves = [_move(m, c, values) for m in (*joint.placement, *kind.moves(joint, q, kind.speeds(joint)))]
    result: dict[str, Json] = {
        "name": link.name, "parent": joint.parent if joint else None, "joint": joint.name if joint else None,
        "type": joint.type if joint else "fixed", "moves": moves,
        "shapes": [s for g in link.geometry if (s := _shape(g, values, meshes)) is not None],
    }  # fmt: skip
    if link.inertia is not None:
        body = _body(link, values)
        if body is not None:
            result["body"] = body
    return result


def _body(link: Link, values: SomeValues) -> Json:
    """Mass, mass centre, and the homogeneous ellipsoid of the same inertia: semi-axes and their axes (row-major)."""
    assert link.inertia is not None
    mass, com, I = tensor(link.inertia, values)
    if not math.isfinite(mass) or mass <= 0:
        return None
    moments, axes = np.linalg.eigh(I)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    squares = np.maximum(2.5 * (np.sum(moments) - 2 * moments) / mass, 0.0)
    return {
        "mass": mass, "com": com.tolist(), "semi": np.sqrt(squares).tolist(), "axes": axes.ravel().tolist(),
    }  # fmt: skip


def _shape(geometry: Geometry, values: SomeValues, meshes: Mapping[str, Mesh]) -> Json:
    if geometry.kind == "mesh" and geometry.file not in meshes:
        return None
    R, p = pose(geometry.placement, values)
    return {
        "kind": geometry.kind, "size": list(geometry.size), "file": geometry.file if geometry.kind == "mesh" else "",
        "rotation": R.ravel().tolist(), "position": p.tolist(), "color": geometry.color,
    }  # fmt: skip


def _move(move: Move, c: Coordinates, values: SomeValues) -> Json:
    """["t", x, y, z], ["r", axis, angle], ["q", w, x, y, z] or ["m", nine cosines]: numbers or formulas."""
    if isinstance(move, Translate):
        return ["t", *(_amount(x, c, values) for x in move.by)]
    if isinstance(move, QuaternionTurn):
        return ["q", *(["name", x] if isinstance(x, str) else float(x) for x in move.quaternion)]
    if isinstance(move, model.MatrixTurn):
        return ["m", *(_amount(x, c, values) for x in model.amounts(move))]
    return ["r", move.axis, _amount(move.angle, c, values)]


def _amount(value: Scalar, c: Coordinates, values: SomeValues) -> Json:
    """A formula as nested lists ["add", a, b]; parts without coordinates and time are numbers."""
    if isinstance(value, Fraction):
        return float(value)
    moving = {*c.names, "t"}
    return _formula(value, moving, values)


def _formula(x: Formula, moving: set[str], values: SomeValues) -> Json:
    if moving.isdisjoint(x.names()):
        return x.evaluate(values)
    if x.op == "name":
        return ["name", str(x.value)]
    return [x.op, *(_formula(arg, moving, values) for arg in x.args)]


def _float(value: Scalar, values: SomeValues) -> float:
    return value.evaluate(values) if isinstance(value, Formula) else float(value)
