"""Bodies as they move: each link with everything fixed to it, its mass, mass centre, tensor and principal moments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from kane.mechanism.formula import Formula, Scalar, add, number
from kane.mechanism.model import ZERO, Inertia, Joint, Mechanism, Note, amounts
from kane.mechanism.numeric import (
    Array,
    joint_moves,
    moves_with_parameters_only,
    names_in,
    pose,
    skew,
    tensor,
    values_of,
)

_RELATIVE = 1e-9  # of the largest principal moment: rounding of exact rods and plates
_POINT = 1e-13  # m^2: a body of this radius of gyration squared is a point
_DIGITS = 2.0  # half a last digit for each of three moments, and a little for turning them


@dataclass(frozen=True, slots=True)
class Body:
    """A moving body: the link that heads it, the links fixed together, mass, mass centre, tensor in the head's frame.

    tensor: about the mass centre, axes of the head link.  rounding: what the printed digits leave open, kg m^2.
    """

    link: str
    links: tuple[str, ...]
    mass: float
    com: Array
    tensor: Array
    rounding: float
    moving: bool
    line: int | None = None

    @property
    def principal_moments(self) -> tuple[float, float, float]:
        """Principal moments about the mass centre, ascending."""
        a, b, c = np.linalg.eigvalsh(self.tensor)
        return float(a), float(b), float(c)


def body_heads(mechanism: Mechanism) -> dict[str, str]:
    """For each link the link that heads its body: itself, or what it is fixed to."""
    above = {joint.child: joint for joint in mechanism.joints}
    heads: dict[str, str] = {}
    for link in mechanism.links:
        path = []
        at = link.name
        while at not in heads:
            path.append(at)
            joint = above.get(at)
            if joint is None or not moves_with_parameters_only(joint, mechanism):
                heads[at] = at
                break
            at = joint.parent
        for member in path:
            heads[member] = heads[at]
    return heads


def bodies(mechanism: Mechanism) -> tuple[Body, ...]:
    """Every body with its lumped inertia, in the order of the head links; shifts are done about mass centres.

    Names without a value are given one; ask `is_numeric` where that matters.
    """
    heads = body_heads(mechanism)
    values = values_of(mechanism)
    above = {joint.child: joint for joint in mechanism.joints}
    places = _places(mechanism, heads, above, values)
    groups: dict[str, list[str]] = {}
    for link in mechanism.links:
        groups.setdefault(heads[link.name], []).append(link.name)
    moving = _moving(mechanism, heads, above)
    table = {link.name: link for link in mechanism.links}
    result = []
    for head in (link.name for link in mechanism.links if heads[link.name] == link.name):
        members = groups[head]
        parts = []
        rounding, line = 0.0, table[head].line
        for member in members:
            inertia = table[member].inertia
            if inertia is not None:
                R, p = places[member]
                m, c, I = tensor(inertia, values)
                parts.append((m, p + R @ c, R @ I @ R.T))
                rounding += _DIGITS * inertia.resolution * float(np.max(np.abs(I), initial=0.0))
                line = inertia.line if member == head or table[head].inertia is None else line
        m, c, I = combined(parts)
        result.append(Body(head, tuple(members), m, c, I, rounding, moving[head], line))
    return tuple(result)


def combined(parts: list[tuple[float, Array, Array]]) -> tuple[float, Array, Array]:
    """Mass, mass centre and tensor about it of several (mass, mass centre, tensor about it) in one frame.

    I = sum(I_i - m_i [d_i][d_i]), d_i from the common mass centre; for mass 0 the centre is the first one.
    """
    mass = sum(part[0] for part in parts)
    if len(parts) == 1:
        return parts[0]
    if mass != 0:
        origin = parts[0][1]
        com = origin + sum((m * (c - origin) for m, c, _ in parts), np.zeros(3)) / mass
    else:
        com = parts[0][1] if parts else np.zeros(3)
    total = np.zeros((3, 3))
    for m, c, I in parts:
        d = skew(c - com)
        total = total + I - m * (d @ d)
    return float(mass), com, total


def lumped_body(mechanism: Mechanism, link: str) -> Body:
    """The body of a link: mass, mass centre and tensor about it in the frame and axes of this link.

    Raises UnknownNameError.
    """
    mechanism.link(link)
    heads = body_heads(mechanism)
    body = next(b for b in bodies(mechanism) if b.link == heads[link])
    values = values_of(mechanism)
    above = {joint.child: joint for joint in mechanism.joints}
    R, p = _places(mechanism, heads, above, values)[link]
    return Body(
        link, body.links, body.mass, R.T @ (body.com - p), R.T @ body.tensor @ R, body.rounding, body.moving, body.line
    )


def faults(body: Body) -> str | None:
    """What is impossible about the body's inertia, with numbers; None when nothing is.

    A body has mass >= 0, principal moments >= 0 and no moment larger than the sum of the other two.
    """
    if not np.isfinite(body.tensor).all() or not np.isfinite(body.mass):
        return "its inertia is not finite"
    if body.mass < 0:
        return f"its mass is {body.mass:.9g} kg"
    a, b, c = body.principal_moments
    allowed = _RELATIVE * max(abs(a), abs(c)) + _POINT * body.mass + body.rounding
    moments = f"its principal moments are {a:.6g}, {b:.6g}, {c:.6g} kg m^2"
    if a < -allowed:
        return f"{moments}: the smallest is negative"
    if a + b < c - allowed:
        return f"{moments}: the largest exceeds the sum of the others by {c - a - b:.3g}"
    return None


def inertia_fault(inertia: Inertia, values: Mapping[str, float]) -> str | None:
    """What is impossible about one link's inertia at these values of parameters; None also where one is missing.

    A single moment is taken for that of a body in a plane, whose other ones do not matter.
    """
    turned = [x for move in inertia.axes for x in amounts(move)]
    used = set().union(*(x.names() for x in (inertia.mass, *inertia.moments, *turned) if isinstance(x, Formula)))
    if not used <= values.keys():
        own = inertia.mass.names() if isinstance(inertia.mass, Formula) else set()
        mass = number(inertia.mass, values) if own <= values.keys() else 0.0
        return f"its mass is {mass:.9g} kg" if mass < 0 else None
    m, c, I = tensor(replace(inertia, com=ZERO), values)
    if np.count_nonzero(I) == 1:
        I = I.sum() * np.eye(3)
    return faults(Body("", (), m, c, I, _DIGITS * inertia.resolution * float(np.max(np.abs(I))), True))


def negative_mass(body: Body, inertias: Mapping[str, Inertia | None], known: frozenset[str]) -> str | None:
    """What is impossible about the mass of a body whose other numbers are not all known; known: names with a value."""
    masses = [inertia.mass for name in body.links if (inertia := inertias[name]) is not None]
    used = set().union(*(m.names() for m in masses if isinstance(m, Formula)))
    return f"its mass is {body.mass:.9g} kg" if used <= known and body.mass < 0 else None


def is_numeric(
    mechanism: Mechanism, body: Body, inertias: Mapping[str, Inertia | None], known: frozenset[str]
) -> bool:
    """True when every number of the body's inertia has a value; known: the names that have one."""
    for member in body.links:
        inertia = inertias[member]
        if inertia is not None:
            scalars = (inertia.mass, *inertia.com, *inertia.moments)
            used = set().union(*(s.names() for s in scalars if isinstance(s, Formula)))
            if not used | names_in(inertia.axes) <= known:
                return False
    members = set(body.links[1:]) if body.links[0] == body.link else set(body.links) - {body.link}
    return not members or all(
        joint.child not in members or names_in(joint_moves(joint)) <= known for joint in mechanism.joints
    )


def lumped_notes(found: Sequence[Body], mechanism: Mechanism) -> list[Note]:
    """A note for each body of several links: which are lumped into the first that has inertia (else into the head)."""
    heavy = {link.name for link in mechanism.links if link.inertia is not None}
    notes = []
    for body in found:
        if len(body.links) > 1:
            first = next((name for name in body.links if name in heavy), body.link)
            others = ", ".join(repr(name) for name in body.links if name != first)
            notes.append(Note("lumped", f"{others} into {first!r}", first))
    return notes


def total_mass(mechanism: Mechanism) -> float:
    """The mass of all links, kg.  Raises UnknownNameError where a parameter in it has no value."""
    return number(mass_of(mechanism), mechanism.parameter_values)


def moving_mass(mechanism: Mechanism) -> float:
    """The mass of the links that can move, kg: the root link and what is fixed to it are left out.

    Raises UnknownNameError where a parameter in it has no value.
    """
    return number(mass_of(mechanism, "moving"), mechanism.parameter_values)


def mass_of(mechanism: Mechanism, links: Literal["all", "moving", "still"] = "all") -> Scalar:
    """The mass of the links, of those that can move or of those that cannot: a number, or a formula of parameters."""
    heads = {} if links == "all" else body_heads(mechanism)
    still = heads.get(mechanism.root)
    total: Scalar = Fraction(0)
    for link in mechanism.links:
        if link.inertia is not None and (links == "all" or (heads[link.name] == still) == (links == "still")):
            total = add(total, link.inertia.mass)
    return total


def _places(
    mechanism: Mechanism, heads: Mapping[str, str], above: Mapping[str, Joint], values: Mapping[str, float]
) -> dict[str, tuple[Array, Array]]:
    """Pose of each link in the frame of its body's head."""
    places: dict[str, tuple[Array, Array]] = {}
    for link in mechanism.links:
        path = []
        at = link.name
        while at not in places and heads[at] != at:
            path.append(at)
            at = above[at].parent
        if at not in places:
            places[at] = (np.eye(3), np.zeros(3))
        for member in reversed(path):
            R, p = places[above[member].parent]
            turn, step = pose(joint_moves(above[member]), values)
            places[member] = (R @ turn, p + R @ step)
    return places


def _moving(mechanism: Mechanism, heads: Mapping[str, str], above: Mapping[str, Joint]) -> dict[str, bool]:
    """For each head whether it can move: any head but the root's."""
    root = heads[mechanism.root]
    return {head: head != root for head in set(heads.values())}
