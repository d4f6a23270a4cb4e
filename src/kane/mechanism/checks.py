"""What no mechanism can have: impossible inertia, joints that move no inertia."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from kane.errors import InertiaError, MasslessJointError, NumberError, TopologyError
from kane.mechanism.formula import Formula, number
from kane.mechanism.inertia import Body, bodies, faults, is_numeric, lumped_notes, negative_mass
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Inertia, Joint, Mechanism, Note
from kane.mechanism.numeric import Array, SomeValues, columns, joint_moves, skew, tensor, values_of

_ZERO = 1e-13  # of the inertia behind a joint: less than this is rounding
OVERRIDE = 'Correct it, or accept it as it is with nonphysical="accept" (--nonphysical accept).'


def judge(mechanism: Mechanism, nonphysical: Literal["refuse", "accept"] = "refuse") -> Mechanism:
    """The mechanism, with a note for each moving body whose inertia no body can have, and for each lumped body.

    Raises InertiaError naming link, numbers, line and the override when nonphysical is "refuse"; MasslessJointError for
    a joint that moves no inertia, always; NumberError for a formula without a finite value; TopologyError for names
    that mean two things.
    """
    check_names(mechanism)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told below, link by link
            return _judged(mechanism, nonphysical)
    except ArithmeticError as error:
        raise NumberError(
            f"A formula of the description has no finite value ({error}).",
            file=mechanism.report.file or None,
            remedy="Check the values of its parameters.",
        ) from None


def _judged(mechanism: Mechanism, nonphysical: Literal["refuse", "accept"]) -> Mechanism:
    found_bodies = bodies(mechanism)
    inertias = {link.name: link.inertia for link in mechanism.links}
    known = frozenset(mechanism.parameter_values)
    found = [
        (body, [name for name in body.links if inertias[name] is not None], fault)
        for body in found_bodies
        if body.moving
        and (
            fault := faults(body)
            if is_numeric(mechanism, body, inertias, known)
            else negative_mass(body, inertias, known)
        )
    ]
    if found and nonphysical == "refuse":
        body, heavy, fault = found[0]
        others = f" Also: {', '.join(repr(names[0]) for _, names, _ in found[1:])}." if len(found) > 1 else ""
        raise InertiaError(
            f"link {_label(body, heavy)}: {fault}.{others}",
            file=mechanism.report.file or None,
            line=body.line,
            element="<inertial>" if mechanism.report.format == "urdf" else None,
            name=heavy[0],
            value=body.mass if body.mass < 0 else list(body.principal_moments),
            remedy=OVERRIDE,
        )
    check_massless(mechanism)
    notes = lumped_notes(found_bodies, mechanism)
    notes += [Note("nonphysical", f"link {_label(b, heavy)}: {text}", heavy[0], b.line) for b, heavy, text in found]
    said = set(mechanism.report.notes)
    fresh = tuple(note for note in notes if note not in said)
    if not fresh:
        return mechanism
    return replace(mechanism, report=replace(mechanism.report, notes=mechanism.report.notes + fresh))


def check_names(mechanism: Mechanism) -> None:
    """Raise TopologyError where a coordinate is called as time, a parameter or another joint's coordinate is, and
    NumberError where masses or gravity depend on a coordinate.
    """
    taken = {"t": "time"} | {p.name: "a parameter" for p in mechanism.parameters}
    moving: dict[str, str] = {}
    for joint in mechanism.joints:
        own = dict.fromkeys(joint_type(joint).coordinates(joint))
        for key in own:
            if key in taken:
                raise TopologyError(
                    f"joint {joint.name!r}: its coordinate {key!r} has the name of {taken[key]}.",
                    file=mechanism.report.file or None, line=joint.line, name=joint.name, value=key,
                    remedy="Give one of them another name.",
                )  # fmt: skip
        taken |= dict.fromkeys(own, f"a coordinate of joint {joint.name!r}")
        moving |= dict.fromkeys(own, joint.name)
    for link in mechanism.links:
        body = link.inertia
        for value in () if body is None else (body.mass, *body.com, *body.moments):
            strange = sorted(value.names() & moving.keys()) if isinstance(value, Formula) else []
            if strange:
                raise NumberError(
                    f"the inertia of link {link.name!r} depends on the coordinate {strange[0]!r}.",
                    file=mechanism.report.file or None, line=link.line, name=link.name, value=str(value),
                    remedy="Write numbers or parameters: a body's inertia is constant in its own axes.",
                )  # fmt: skip


def _label(body: Body, heavy: list[str]) -> str:
    """The first link that has inertia, and those fixed together with it."""
    others = [name for name in body.links if name != heavy[0]]
    return f"{heavy[0]!r} (with {', '.join(map(repr, others))} fixed to it)" if others else repr(heavy[0])


def check_massless(mechanism: Mechanism) -> None:
    """Raise MasslessJointError when a joint moves no inertia, naming it and the links behind it.

    The mass matrix at an arbitrary state is built from composite bodies (Featherstone, Rigid Body Dynamics Algorithms,
    section 6.2), rotors added, followers folded onto their leaders; then it is factored from the tips to the root.  A
    zero on the diagonal is a joint that moves nothing, a zero pivot one that moves nothing by itself.
    """
    keys, M, size = mass_matrix(mechanism)
    if not keys:
        return
    owners = _owners(mechanism)
    d = np.diagonal(M)
    for k in range(len(keys) - 1, -1, -1):
        if not d[k] > _ZERO * size[k]:
            raise _massless(mechanism, owners[keys[k]], "moves no inertia")
    s = 1.0 / np.sqrt(d)
    scaled = (M * s[:, None] * s[None, :])[::-1, ::-1]
    try:
        if np.min(np.diagonal(np.linalg.cholesky(scaled))) ** 2 > _ZERO:
            return
    except np.linalg.LinAlgError:
        pass
    joint = owners[keys[_zero_pivot(scaled, len(keys))]]
    raise _massless(mechanism, joint, "moves no inertia that the joints behind it do not move alike")


def _zero_pivot(scaled: Array, n: int) -> int:
    work = scaled.copy()
    for k in range(n):
        if work[k, k] <= _ZERO:
            return n - 1 - k
        column = work[k + 1 :, k] / work[k, k]
        work[k + 1 :, k + 1 :] -= np.outer(column, work[k, k + 1 :])
    return n - 1 - int(np.argmin(np.diagonal(work)))


def _massless(mechanism: Mechanism, joint: Joint, what: str) -> MasslessJointError:
    below: dict[str, list[str]] = {}
    for other in mechanism.joints:
        below.setdefault(other.parent, []).append(other.child)
    links, stack = [], [joint.child]
    while stack:
        at = stack.pop()
        links.append(at)
        stack += reversed(below.get(at, []))
    shown = ", ".join(repr(n) for n in links[:8]) + (f" and {len(links) - 8} more" if len(links) > 8 else "")
    return MasslessJointError(
        f"joint {joint.name!r} {what}; it moves {'link' if len(links) == 1 else 'the links'} {shown}.",
        file=mechanism.report.file or None,
        line=joint.line,
        element="<joint>" if mechanism.report.format == "urdf" else None,
        name=joint.name,
        value=", ".join(links),
        remedy=f"Give {joint.child!r} mass and inertia, give the joint a rotor, or make the joint fixed.",
    )


def _owners(mechanism: Mechanism) -> dict[str, Joint]:
    owners: dict[str, Joint] = {}
    for joint in mechanism.joints:
        kind = joint_type(joint)
        for key in (*kind.coordinates(joint), *kind.speeds(joint)):
            owners.setdefault(key, joint)
    return owners


def mass_matrix(
    mechanism: Mechanism, values: Mapping[str, float] | None = None
) -> tuple[tuple[str, ...], Array, Array]:
    """Names of independent rates, mass matrix (n, n) at some state, and (n,) the inertia behind each, in floats.

    values: of all names; by default some are chosen.  For judging only: speeds other than the rates of coordinates are
    not regarded.
    """
    values = SomeValues(values_of(mechanism) if values is None else values)
    wanted = frozenset(c for joint in mechanism.joints for c in joint_type(joint).coordinates(joint))
    followers = {}
    for key, leader, ratio, offset in _followers(mechanism, values):
        followers[key] = (leader, ratio)
        values[key] = ratio * values[leader] + offset
    inertia = {link.name: _spatial(link.inertia, values) for link in mechanism.links}
    forces: dict[str, tuple[list[tuple[str, float]], Array]] = {}
    own: dict[str, list[tuple[str, float]]] = {}
    rows: list[tuple[list[tuple[str, float]], list[tuple[str, float]], Array, Array]] = []
    for joint in _tips_first(mechanism):
        R, p, twists = columns(joint_moves(joint), values, wanted)
        I = inertia[joint.child]
        labels, F = forces.pop(joint.child, ([], np.zeros((6, 0))))
        if twists:
            S = np.column_stack(list(twists.values()))
            mine = own[joint.name] = [followers.get(key, (key, 1.0)) for key in twists]
            labels, F = labels + mine, np.concatenate((F, I @ S), axis=1)
            behind = (S[:3] ** 2).sum(0) * np.trace(I[:3, :3]) + (S[3:] ** 2).sum(0) * I[3, 3]
            rows.append((mine, labels, S.T @ F, behind + _armature(joint, values)))
        X = np.zeros((6, 6))  # forces of the child frame in the parent frame
        X[:3, :3] = X[3:, 3:] = R
        X[:3, 3:] = skew(p) @ R
        inertia[joint.parent] = inertia[joint.parent] + X @ I @ X.T
        before, old = forces.get(joint.parent, ([], np.zeros((6, 0))))
        forces[joint.parent] = (before + labels, np.concatenate((old, X @ F), axis=1))
    keys = tuple(dict.fromkeys(key for joint in mechanism.joints for key, _ in own.get(joint.name, ())))
    index = {key: k for k, key in enumerate(keys)}
    M, size = np.zeros((len(keys), len(keys))), np.zeros(len(keys))
    for mine, labels, block, behind in rows:
        others = len(labels) - len(mine)
        at = np.array([index[key] for key, _ in labels])
        block = block * np.array([r for _, r in labels])
        for k, (key, ratio) in enumerate(mine):
            i = index[key]
            np.add.at(M[i], at, ratio * block[k])
            np.add.at(M[:, i], at[:others], ratio * block[k, :others])
            size[i] += ratio * ratio * behind[k]
    for joint in mechanism.joints:
        for key, ratio in own.get(joint.name, ()):
            M[index[key], index[key]] += ratio * ratio * _armature(joint, values)
    return keys, M, size


def _armature(joint: Joint, values: Mapping[str, float]) -> float:
    """Reflected rotor inertia: inertia times ratio squared."""
    return 0.0 if joint.rotor is None else number(joint.rotor.inertia, values) * number(joint.rotor.ratio, values) ** 2


def _spatial(inertia: Inertia | None, values: Mapping[str, float]) -> Array:
    """Spatial inertia (6, 6) about the link origin: Featherstone, Rigid Body Dynamics Algorithms, equation 2.63."""
    result = np.zeros((6, 6))
    if inertia is not None:
        m, c, I = tensor(inertia, values)
        cx = skew(c)
        result[:3, :3], result[:3, 3:], result[3:, :3] = I - m * (cx @ cx), m * cx, -m * cx
        result[3:, 3:] = m * np.eye(3)
    return result


def _tips_first(mechanism: Mechanism) -> list[Joint]:
    """Joints so that each comes before the joint that carries its parent."""
    below: dict[str, list[Joint]] = {}
    for joint in mechanism.joints:
        below.setdefault(joint.parent, []).append(joint)
    order, stack = [], [mechanism.root]
    while stack:
        for joint in below.get(stack.pop(), ()):
            order.append(joint)
            stack.append(joint.child)
    return order[::-1]


def _followers(mechanism: Mechanism, values: Mapping[str, float]) -> list[tuple[str, str, float, float]]:
    """For each mimicking joint its coordinate, the independent coordinate, ratio and offset."""
    table = {joint.name: joint for joint in mechanism.joints}
    found = []
    for joint in mechanism.joints:
        leader, ratio, offset, steps = joint, 1.0, 0.0, 0
        while leader.mimic is not None and steps <= len(table):
            offset += ratio * number(leader.mimic.offset, values)
            ratio *= number(leader.mimic.ratio, values)
            leader, steps = table[leader.mimic.joint], steps + 1
        if leader is not joint:
            own, other = (joint_type(j).coordinates(j)[0] for j in (joint, leader))
            found.append((own, other, ratio, offset))
    return found
