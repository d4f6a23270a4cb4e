"""Edits of a mechanism: each gives a new value and leaves the old one as it is, so undoing is keeping the old one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from kane.errors import NumberError, TopologyError, UnknownNameError, UnsupportedError
from kane.mechanism import exact
from kane.mechanism import formula as f
from kane.mechanism.constraints import Coincident
from kane.mechanism.formula import Scalar, ScalarLike
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.inertia import bodies, body_heads, lumped_notes
from kane.mechanism.joints import joint_type
from kane.mechanism.model import (
    Axis,
    Frame,
    Inertia,
    Joint,
    Link,
    Mechanism,
    Parameter,
    Placement,
    QuaternionTurn,
    Rotor,
    Translate,
    Vector,
)
from kane.mechanism.topology import check_tree

_PAYLOAD = ".payload"
_0 = Fraction(0)


def with_payload(
    mechanism: Described,
    link: str,
    mass: ScalarLike,
    com: Sequence[ScalarLike] = (0, 0, 0),
    inertia: ScalarLike | Sequence[ScalarLike] = 0,
) -> Mechanism:
    """The mechanism with a payload on a link; it takes the place of an earlier one, and mass 0 takes it off.

    com: in the link frame, m.  inertia: about the payload's mass centre in link axes, kg m^2: one number for a sphere,
    three principal moments or (Ixx, Ixy, Ixz, Iyy, Iyz, Izz).  Names in texts become parameters without a value.
    A payload is a link of its own on a fixed joint, so taking it off gives the old mechanism back.
    """
    mechanism = mechanism_of(mechanism)
    mechanism.link(link)
    bare = without_payload(mechanism, link)
    m, moments = f.exact(mass), _moments(inertia)
    if f.is_zero(m) and all(f.is_zero(x) for x in moments):
        return bare
    if len(com) != 3:
        raise NumberError(f"The mass centre has {len(com)} numbers.", value=list(com), remedy="Give x, y and z.")
    x, y, z = (f.exact(v) for v in com)
    a, b, c, d, e, g = moments
    name = link + _PAYLOAD
    load = Link(name, Inertia(m, (x, y, z), (a, b, c, d, e, g)))
    loaded = replace(bare, links=(*bare.links, load), joints=(*bare.joints, Joint(name, "fixed", link, name)))
    check_tree(loaded.links, loaded.joints)
    known = {p.name for p in bare.parameters}
    fresh = sorted(exact.names_used(Mechanism("", (load,), ())) - known)
    return replace(loaded, parameters=bare.parameters + tuple(Parameter(n) for n in fresh))


def without_payload(mechanism: Described, link: str) -> Mechanism:
    """The mechanism without the payload of a link; unchanged when there is none."""
    mechanism = mechanism_of(mechanism)
    name = link + _PAYLOAD
    carried = [item for item in mechanism.links if item.name == name]
    if not carried:
        return mechanism
    bare = replace(
        mechanism,
        links=tuple(item for item in mechanism.links if item.name != name),
        joints=tuple(joint for joint in mechanism.joints if joint.name != name),
    )
    gone = exact.names_used(Mechanism("", tuple(carried), ())) - exact.names_used(bare)
    kept = tuple(p for p in bare.parameters if p.value is not None or p.name not in gone)
    return replace(bare, parameters=kept)


def _moments(inertia: ScalarLike | Sequence[ScalarLike]) -> tuple[Scalar, ...]:
    if isinstance(inertia, (list, tuple)):
        values = [f.exact(v) for v in inertia]
    elif hasattr(inertia, "tolist"):  # a NumPy number, vector or matrix
        listed = inertia.tolist()
        if not isinstance(listed, list):
            return _moments(listed)
        if len(listed) == 3 and isinstance(listed[0], list):
            return _moments([listed[0][0], listed[0][1], listed[0][2], listed[1][1], listed[1][2], listed[2][2]])
        return _moments(listed)
    else:
        value = f.exact(inertia)  # type: ignore[arg-type]
        values = [value] * 3
    if len(values) == 3:
        return values[0], _0, _0, values[1], _0, values[2]
    if len(values) == 6:
        return tuple(values)
    raise NumberError(f"The inertia has {len(values)} numbers.", value=str(inertia), remedy="Give 1, 3 or 6.")


def with_rotors(
    mechanism: Described, rotors: Mapping[str, tuple[ScalarLike, ScalarLike] | None], exact: bool = False
) -> Mechanism:
    """The mechanism with motor rotors: by joint name (inertia kg m^2, gear ratio), or None to take one off.

    exact False: inertia ratio^2 on the diagonal, as Armstrong, Khatib and Burdick 1986 do; True: spinning rotors
    carried by the parent links.  Raises UnknownNameError, UnsupportedError for a joint of several coordinates.
    """
    mechanism = mechanism_of(mechanism)
    changed = mechanism
    for name, value in rotors.items():
        joint = changed.joint(name)
        if len(joint_type(joint).coordinates(joint)) != 1 and value is not None:
            raise UnsupportedError(
                f"Joint {name!r} of type {joint.type!r} cannot have a rotor.", name=name, value=joint.type,
                remedy="Give rotors to joints of one coordinate.",
            )  # fmt: skip
        rotor = None if value is None else Rotor(f.exact(value[0]), f.exact(value[1]), exact)
        changed = changed.replace_joint(replace(joint, rotor=rotor))
    return changed


def with_joint_loop(
    mechanism: Described, name: str, link: str, other: str, at: Sequence[ScalarLike] = (0, 0, 0),
    other_at: Sequence[ScalarLike] = (0, 0, 0), axes: Sequence[Axis] = (0, 1, 2),
) -> Mechanism:  # fmt: skip
    """The mechanism with a loop closed: a point of one link stays on a point of another.

    at, other_at: the points in axes of their links, m.  axes: along which axes of the root link (0 x, 1 y, 2 z) they
    stay together; a planar loop wants two.  The points become frames `name.a` and `name.b`.
    """
    mechanism = mechanism_of(mechanism)
    frames = []
    for suffix, owner, place in (("a", link, at), ("b", other, other_at)):
        mechanism.link(owner)
        if len(place) != 3:
            raise NumberError(f"A point of loop {name!r} has {len(place)} components.", name=name, remedy="Give three.")
        x, y, z = (f.exact(value) for value in place)
        frames.append(Frame(f"{name}.{suffix}", owner, (Translate((x, y, z)),)))
    closed = Coincident(name, frames[0].name, frames[1].name, mechanism.root, tuple(axes))
    return replace(mechanism, frames=(*mechanism.frames, *frames), constraints=(*mechanism.constraints, closed))


def with_joint_locked(mechanism: Described, name: str, at: ScalarLike | Sequence[ScalarLike] = 0) -> Mechanism:
    """The mechanism with a joint fixed where its coordinates have the given value or values; its followers with it."""
    mechanism = mechanism_of(mechanism)
    joint = mechanism.joint(name)
    if joint.mimic is not None:
        raise UnsupportedError(
            f"Joint {name!r} follows {joint.mimic.joint!r}.", name=name, remedy="Lock the joint that it follows."
        )
    coordinates = joint_type(joint).coordinates(joint)
    values = [f.exact(v) for v in at] if isinstance(at, (list, tuple)) else [f.exact(at)] * len(coordinates)  # type: ignore[arg-type]
    if len(values) != len(coordinates):
        raise NumberError(
            f"Joint {name!r} has {len(coordinates)} coordinates.",
            name=name,
            value=str(at),
            remedy="Give as many values.",
        )
    table = dict(zip(coordinates, values, strict=True))
    followers = [j for j in mechanism.joints if j.mimic is not None and j.mimic.joint == name]
    changed = mechanism.replace_joint(_locked(joint, table))
    for follower in followers:
        rule = follower.mimic
        assert rule is not None
        value = f.add(f.mul(rule.ratio, values[0]), rule.offset)
        own = joint_type(follower).coordinates(follower)[0]
        table[own] = value
        changed = changed.replace_joint(_locked(follower, {own: value}))
    gone = set(table)
    return replace(changed, coordinates=tuple(c for c in changed.coordinates if c not in gone))


def _locked(joint: Joint, table: Mapping[str, Scalar]) -> Joint:
    kind = joint_type(joint)
    names = kind.coordinates(joint)
    moves = kind.moves(joint, tuple(f.name(c) for c in names), kind.speeds(joint))
    fixed: list[Any] = []
    for move in exact.mapped(moves, lambda value: exact.substituted(value, table)):
        if isinstance(move, QuaternionTurn) and isinstance(move.quaternion[0], str):
            q = [table[str(c)] for c in move.quaternion]
            if not all(isinstance(v, Fraction) for v in q):
                raise NumberError(
                    f"Joint {joint.name!r} needs numbers to be locked.", name=joint.name, remedy="Give numbers."
                )
            if not any(q):
                q = [Fraction(1), _0, _0, _0]
            fixed += [QuaternionTurn((q[0], q[1], q[2], q[3]))] if any(q[1:]) else []  # type: ignore[arg-type]
        else:
            fixed.append(move)
    return Joint(joint.name, "fixed", joint.parent, joint.child, (*joint.placement, *fixed), line=joint.line)


def renamed(
    mechanism: Described, *, links: Mapping[str, str] | None = None, joints: Mapping[str, str] | None = None
) -> Mechanism:
    """The mechanism with links and joints renamed wherever they are named (frames, followers, carriers, loads too)."""
    mechanism = mechanism_of(mechanism)
    links, joints = links or {}, joints or {}
    for old in links:
        mechanism.link(old)
    for old in joints:
        mechanism.joint(old)
    by_field = {key: links for key in ("link", "parent", "child", "carrier", "body", "frame")}
    by_field["joint"] = joints
    changed = replace(
        mechanism,
        links=tuple(replace(item, name=links.get(item.name, item.name)) for item in mechanism.links),
        joints=tuple(
            replace(_renamed(joint, by_field), name=joints.get(joint.name, joint.name)) for joint in mechanism.joints
        ),
        frames=tuple(_renamed(frame, by_field) for frame in mechanism.frames),
        loads=tuple(_renamed(load, by_field) for load in mechanism.loads),
        constraints=tuple(_renamed(constraint, by_field) for constraint in mechanism.constraints),
    )
    check_tree(changed.links, changed.joints)
    return changed


def _renamed(item: Any, by_field: Mapping[str, Mapping[str, str]]) -> Any:
    if isinstance(item, tuple):
        return tuple(_renamed(part, by_field) for part in item)
    if not is_dataclass(item) or isinstance(item, type):
        return item
    changes: dict[str, Any] = {}
    for entry in fields(item):
        value = getattr(item, entry.name)
        if isinstance(value, str) and entry.name in by_field:
            changes[entry.name] = by_field[entry.name].get(value, value)
        elif isinstance(value, tuple) or is_dataclass(value):
            changes[entry.name] = _renamed(value, by_field)
    return replace(item, **changes)


def without_subtree(mechanism: Described, joint: str) -> Mechanism:
    """The mechanism without a joint and everything behind it; frames there go too.

    Raises TopologyError when a joint that stays follows one that goes.
    """
    mechanism = mechanism_of(mechanism)
    first = mechanism.joint(joint)
    gone = {first.child}
    below: dict[str, list[str]] = {}
    for other in mechanism.joints:
        below.setdefault(other.parent, []).append(other.child)
    stack = [first.child]
    while stack:
        for child in below.get(stack.pop(), ()):
            gone.add(child)
            stack.append(child)
    joints = tuple(other for other in mechanism.joints if other.child not in gone)
    kept = {other.name for other in joints}
    for other in joints:
        if other.mimic is not None and other.mimic.joint not in kept:
            raise TopologyError(
                f"Joint {other.name!r} follows {other.mimic.joint!r}, which would be removed.", name=other.name,
                remedy="Take its mimic rule off first.",
            )  # fmt: skip
    lost = {c for other in mechanism.joints if other.name not in kept for c in joint_type(other).coordinates(other)}
    return replace(
        mechanism,
        links=tuple(link for link in mechanism.links if link.name not in gone),
        joints=joints,
        frames=tuple(frame for frame in mechanism.frames if frame.link not in gone),
        coordinates=tuple(c for c in mechanism.coordinates if c not in lost),
    )


def with_subtree(
    mechanism: Described, link: str, other: Described, placement: Placement = (), prefix: str = ""
) -> Mechanism:
    """The mechanism with another one mounted on a link by a fixed joint; `prefix` goes before the other's names."""
    mechanism, other = mechanism_of(mechanism), mechanism_of(other)
    mechanism.link(link)
    if prefix:
        other = renamed(
            other,
            links={item.name: prefix + item.name for item in other.links},
            joints={item.name: prefix + item.name for item in other.joints},
        )
    mount = Joint(f"{other.root}.mount", "fixed", link, other.root, placement)
    known = {p.name for p in mechanism.parameters}
    joined = replace(
        mechanism,
        links=mechanism.links + other.links,
        joints=(*mechanism.joints, mount, *other.joints),
        frames=mechanism.frames + other.frames,
        parameters=mechanism.parameters + tuple(p for p in other.parameters if p.name not in known),
    )
    check_tree(joined.links, joined.joints)
    return joined


def with_link(mechanism: Described, link: Link, joint: Joint) -> Mechanism:
    """The mechanism with one more link on one more joint."""
    mechanism = mechanism_of(mechanism)
    added = replace(mechanism, links=(*mechanism.links, link), joints=(*mechanism.joints, joint))
    check_tree(added.links, added.joints)
    return added


def with_parameters(mechanism: Described, values: Mapping[str, ScalarLike | None]) -> Mechanism:
    """The mechanism with other values of named parameters; None leaves one to be given at run time."""
    mechanism = mechanism_of(mechanism)
    known = [p.name for p in mechanism.parameters]
    for name in values:
        if name not in known:
            raise UnknownNameError(
                f"There is no parameter {name!r}; there are: {', '.join(known) or 'none'}.", name=name
            )
    changed = []
    for p in mechanism.parameters:
        value = values.get(p.name, p.value)
        number = None if value is None else f.exact(value)
        if number is not None and not isinstance(number, Fraction):
            raise NumberError(
                f"The value of {p.name!r} is not a number.", name=p.name, value=str(value), remedy="Give one."
            )
        changed.append(Parameter(p.name, number))
    return replace(mechanism, parameters=tuple(changed))


def lump(mechanism: Described) -> Mechanism:
    """The mechanism with links that are fixed to each other made one link; the others stay as frames of it.

    Masses, mass centres and tensors are rationals, or formulas where angles are general; formulas of plain numbers that
    outgrow 60 operations are rounded to doubles.
    """
    mechanism = mechanism_of(mechanism)
    heads = body_heads(mechanism)
    above = {joint.child: joint for joint in mechanism.joints}
    table = {link.name: link for link in mechanism.links}
    places = {name: exact.path_moves(above, head, name) for name, head in heads.items()}
    groups: dict[str, list[str]] = {}
    for name, head in heads.items():
        groups.setdefault(head, []).append(name)
    links = []
    for link in mechanism.links:
        if heads[link.name] != link.name:
            continue
        members = groups[link.name]
        parts = [exact.placed(i, places[m]) for m in members if (i := table[m].inertia) is not None]
        shapes = tuple(replace(g, placement=places[m] + g.placement) for m in members for g in table[m].geometry)
        links.append(replace(link, inertia=exact.together(parts) if parts else None, geometry=shapes))
    joints = tuple(
        replace(j, parent=heads[j.parent], placement=places[j.parent] + j.placement)
        for j in mechanism.joints
        if heads[j.child] == j.child
    )
    frames = tuple(Frame(name, head, places[name]) for name, head in heads.items() if name != head)
    moved = tuple(replace(fr, link=heads[fr.link], placement=places[fr.link] + fr.placement) for fr in mechanism.frames)
    fresh = (note for note in lumped_notes(bodies(mechanism), mechanism) if note not in mechanism.report.notes)
    report = replace(mechanism.report, notes=mechanism.report.notes + tuple(fresh))
    return replace(mechanism, links=tuple(links), joints=joints, frames=moved + frames, report=report)


def with_gravity(mechanism: Described, gravity: Sequence[ScalarLike]) -> Mechanism:
    """The mechanism with another gravity vector: m/s^2, pointing where things fall, axes of N."""
    mechanism = mechanism_of(mechanism)
    if len(gravity) != 3:
        raise NumberError(
            f"Gravity has {len(gravity)} numbers.", name="gravity", value=list(gravity), remedy="Give x, y and z."
        )
    x, y, z = (f.exact(v) for v in gravity)
    vector: Vector = (x, y, z)
    return replace(mechanism, gravity=vector)
