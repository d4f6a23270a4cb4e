"""Where the forces of constraints act: virtual work of the measures that a condition is written in.

A condition phi = 0 with the multiplier lambda does the virtual work lambda delta phi, and a measure changes as its
points and frames move: delta (r . a) = (delta r_P - delta r_Q) . a + (a x r) . delta theta_A for position(P, Q, a), a
fixed in A.  So each measure names the points and bodies that its force or moment acts on.
"""

from __future__ import annotations

from collections.abc import Collection

from kane.equations.applied import Applied, Push, material_force
from kane.equations.projection import Equations
from kane.errors import InputError
from kane.graph.arena import Ref
from kane.graph.derivative import forward
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.motion import substitute
from kane.kinematics.points import Mixed
from kane.kinematics.tree import moves_of
from kane.mechanism import constraints as c
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Joint, QuaternionTurn, amounts

_PLACES = ("position", "distance")  # measures that a configuration constraint differentiates
_RATES = ("velocity", "material_velocity", "angular_velocity", "distance_dot")


def constraint_pushes(e: Equations, beyond: Collection[str]) -> Applied:
    """The forces and moments of all constraints, multipliers "lambda name" times their directions.

    beyond: the links beyond a cut.  Raises InputError for a formula in coordinates of joints on both sides of it: the
    forces that couple them have no place.
    """
    result: Applied = []
    for item in e.points.mechanism.constraints:
        if isinstance(item, (c.Holonomic, c.MotionConstraint, c.Coincident, c.Rolling)):
            for condition in c.scalar_conditions(item):
                _refuse_coupling(e, condition, beyond)
                result += condition_pushes(e, condition)
    return result


def condition_pushes(e: Equations, condition: c.Holonomic | c.MotionConstraint) -> Applied:
    """The forces and moments of the measures in one scalar condition."""
    g = e.graph
    kinds = _PLACES if isinstance(condition, c.Holonomic) else _RATES
    measures: dict[str, Ref] = {}

    def resolve(text: str) -> Ref:
        if text.partition("(")[0] not in kinds or "(" not in text:
            return e.measures.scalar(f.name(text))
        return measures.setdefault(text, g.symbol(f"measure {text}"))

    whole = f.build(condition.expression, g, resolve)
    values = {symbol: e.measures.scalar(f.name(text)) for text, symbol in measures.items()}
    multiplier = g.symbol(f"lambda {condition.name}")
    result: Applied = []
    for text, symbol in measures.items():
        slope = substitute(g, forward(g, [whole], {symbol: g.one}), values)[0]
        result += _measure_pushes(e, text, g.mul(multiplier, slope))
    return result


def _measure_pushes(e: Equations, text: str, size: Ref) -> Applied:
    """What does the work size * delta measure."""
    p, g = e.points, e.graph
    kind, _, rest = text.rstrip(")").partition("(")
    a = [part.strip() for part in rest.split(",")]
    if kind.startswith("distance"):
        arm = pt.position(p, p.station(a[0]), p.station(a[1]))
        per_length = g.div(size, g.sqrt(pt.mixed_dot(p, arm, arm)))
        pull = {k: v.scale(g, per_length, part) for k, part in arm.items()}
        return [Push(a[0], p.station(a[0]), pull), Push(a[1], p.station(a[1]), pt.mixed_neg(pull))]
    frame, axis = e.measures.basis(a[2])
    axes = p.axes_of(frame)
    along: Mixed = {axes: v.scale(g, size, v.unit(axis))}
    back = pt.mixed_neg(along)
    match kind:
        case "position":
            ends = [Push(a[0], p.station(a[0]), along), Push(a[1], p.station(a[1]), back)]
            arm = pt.position(p, p.station(a[0]), p.station(a[1]))
            twist = pt.mixed_add(p, *({i: v.cross(g, pt.express(p, along[axes], axes, i), x)} for i, x in arm.items()))
            return [*ends, Push(frame, axes=axes, torque=twist)] if axes and twist else ends
        case "velocity":
            ends = [Push(a[0], p.station(a[0]), along)]
            return [*ends, material_force(p, a[1], a[0], back)] if p.axes_of(a[1]) else ends
        case "material_velocity":
            return [material_force(p, a[1], a[0], along)]
        case _:
            return [
                Push(name, axes=p.axes_of(name), torque=moment)
                for name, moment in ((a[0], along), (a[1], back))
                if p.axes_of(name)
            ]


def _refuse_coupling(e: Equations, condition: c.Holonomic | c.MotionConstraint, beyond: Collection[str]) -> None:
    """A formula in coordinates acts at their joints: before the cut, within what is beyond it, or across it there."""
    joints = _joints_of(e, condition)
    if len({joint.parent in beyond for joint in joints}) > 1:
        names = ", ".join(repr(joint.name) for joint in joints)
        raise InputError(
            f"Constraint {condition.name!r} couples the joints {names} by a formula without a place, so its force "
            "across the cut is not known.", name=condition.name,
            remedy="Write it with measures of points and frames, as coinciding points or as rolling.",
        )  # fmt: skip


def _joints_of(e: Equations, condition: c.Holonomic | c.MotionConstraint) -> list[Joint]:
    """The joints whose coordinates (or, in a motion constraint, rates and speeds) a condition restrains itself."""
    p, s = e.points, e.points.symbols
    expression = condition.expression
    names = set(expression.names()) if isinstance(expression, Formula) else set()
    if isinstance(condition, c.Holonomic):
        own = {n for n in names if n in p.coordinates.values}
    else:
        own = {n.removesuffix("_dot") for n in names if n.endswith("_dot") and n.removesuffix("_dot") in s.rates}
        defined = {d.name: d.definition for d in p.mechanism.speeds}
        for n in names & {*defined, *p.coordinates.natural}:
            definition = defined.get(n)
            used = definition.names() if isinstance(definition, Formula) else {n}
            own |= {x.removesuffix("_dot") for x in used}
    return [joint for joint in p.mechanism.joints if own & _names_of(e, joint)]


def _names_of(e: Equations, joint: Joint) -> set[str]:
    """Coordinates and speeds that move a joint."""
    found: set[str] = set(joint_type(joint).speeds(joint))
    for move in moves_of(joint, e.points.coordinates):
        found.update(*(x.names() for x in amounts(move) if isinstance(x, Formula)))
        if isinstance(move, QuaternionTurn):
            found |= {str(x) for x in move.quaternion}
    return found & {*e.points.coordinates.values, *e.points.coordinates.natural}
