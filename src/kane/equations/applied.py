"""What loads apply: forces at stations and torques on axes, each on a link (step 7 of Kane's method)."""

from __future__ import annotations

from dataclasses import dataclass, field

from kane.errors import InputError
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.measures import Measures
from kane.kinematics.points import Mixed, Points
from kane.mechanism import loads as ld


@dataclass(frozen=True, slots=True)
class Push:
    """A force at a station and a torque on a set of axes, acting on the link or frame of this name."""

    link: str
    station: int = 0
    force: Mixed = field(default_factory=dict)
    axes: int = 0
    torque: Mixed = field(default_factory=dict)


Applied = list[Push]


def applied_loads(p: Points, m: Measures) -> dict[str, Applied]:
    """Forces and torques of every load, by load name; gravity first, as "gravity"."""
    result: dict[str, Applied] = {}
    gx, gy, gz = (m.scalar(x) for x in p.mechanism.gravity)
    if (gx, gy, gz) != v.ZERO:
        result["gravity"] = [Push(b.link, b.station, {0: v.scale(p.graph, b.mass, (gx, gy, gz))}) for b in p.bodies]
    for load in p.mechanism.loads:
        if isinstance(load, (ld.Input, ld.GeneralizedForce)):
            continue
        if not isinstance(load, (ld.Force, ld.Torque, ld.ForcePair, ld.TorquePair, ld.LineForce)):
            continue
        if load.name in result:
            raise InputError(f"Two loads are named {load.name!r}.", name=load.name, remedy="Rename one of them.")
        result[load.name] = _applied(p, m, load)
    return result


def _applied(p: Points, m: Measures, load: object) -> Applied:
    match load:
        case ld.Force(_, point, vector, None):
            return [Push(point, p.station(point), m.vector(vector))]
        case ld.Force(_, point, vector, body) if body is not None:
            return [material_force(p, body, point, m.vector(vector))]
        case ld.Torque(_, body, vector):
            return [Push(body, axes=p.axes_of(body), torque=m.vector(vector))]
        case ld.ForcePair(_, point, body, reaction, vector):
            force = m.vector(vector)
            return [material_force(p, body, point, force), material_force(p, reaction, point, pt.mixed_neg(force))]
        case ld.TorquePair(_, body, reaction, vector):
            torque = m.vector(vector)
            return [
                Push(body, axes=p.axes_of(body), torque=torque),
                Push(reaction, axes=p.axes_of(reaction), torque=pt.mixed_neg(torque)),
            ]
        case ld.LineForce(_, point, other, magnitude):
            a, b = p.station(point), p.station(other)
            arm = pt.position(p, a, b)
            if all(part == v.ZERO for part in arm.values()):
                raise InputError(
                    f"Load {load.name!r} acts along the line of {point!r} and {other!r}, which are one point always.",
                    name=load.name, remedy="Name two points that can be apart.",
                )  # fmt: skip
            size = p.graph.div(m.scalar(magnitude), p.graph.sqrt(pt.mixed_dot(p, arm, arm)))
            force = {k: v.scale(p.graph, size, part) for k, part in arm.items()}
            return [Push(point, a, force), Push(other, b, pt.mixed_neg(force))]
    raise InputError(f"{load!r} is no load.", remedy="Use the classes of kane.mechanism.loads.")


def material_force(p: Points, body: str, point: str, force: Mixed) -> Push:
    """A force on the material point of a body that is at a point: the force at the body's origin and its moment."""
    g, origin = p.graph, p.station(body)
    arm = pt.position(p, p.station(point), origin)
    moment: Mixed = {}
    for i, a in arm.items():
        for j, b in force.items():
            moment = pt.mixed_add(p, moment, {i: v.cross(g, a, pt.express(p, b, j, i))})
    return Push(body, origin, force, p.stations[origin].axes, moment)
