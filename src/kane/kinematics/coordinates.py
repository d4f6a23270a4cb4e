"""Generalized coordinates and speeds: names, symbols, and the kinematic equations qdot = f(q, u, t).

Step 2 of Kane's method.  Speeds are the rates of the coordinates unless the joint type (quaternions) or the user
defines them otherwise.  Followers (mimic joints) have no coordinate of their own: their value is a formula in the one
they follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from kane.errors import TopologyError
from kane.graph.arena import Graph, Ref
from kane.mechanism import formula as f
from kane.mechanism.formula import Scalar
from kane.mechanism.joints import joint_type
from kane.mechanism.loads import Specified
from kane.mechanism.model import Joint, MatrixTurn, Mechanism, QuaternionTurn, Turn, amounts


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Independent coordinates and speeds in file order.

    names, speeds: the user's names.  values: name of every joint coordinate -> its scalar (followers: a formula).
    quaternions: groups of four coordinate names with three speed names. positions: for a floating joint, three
    position names, then its quaternion group's index: velocities in child axes. angles: per coordinate True for an
    angle, False for a length, None for a quaternion component. natural: the joints' own speeds, which differ from
    `speeds` where the user defines those.  specified: motions given at run time with their first and second rates.
    """

    names: tuple[str, ...]
    speeds: tuple[str, ...]
    values: dict[str, Scalar]
    angles: tuple[bool | None, ...]
    quaternions: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    positions: tuple[tuple[tuple[str, ...], tuple[str, ...], int], ...] = ()
    natural: tuple[str, ...] = ()
    specified: tuple[str, ...] = ()

    @property
    def rates(self) -> tuple[str, ...]:
        """The speeds as states are named: one that is a coordinate's rate by its name with `_dot`."""
        return tuple(f"{n}_dot" if n in self.names else n for n in self.speeds)


@dataclass(frozen=True, slots=True)
class Symbols:
    """The references of q, u, udot, and of the rates qdot (expressions in q, u and t) by coordinate name.

    natural: the joints' own speeds by name, expressions in q, u and t.
    """

    q: tuple[Ref, ...]
    u: tuple[Ref, ...]
    udot: tuple[Ref, ...]
    by_name: dict[str, Ref]
    rates: dict[str, Ref]
    names_q: tuple[str, ...]
    names_u: tuple[str, ...]
    names_udot: tuple[str, ...]
    natural: dict[str, Ref] = field(default_factory=dict)


def find_coordinates(mechanism: Mechanism) -> Coordinates:
    """Coordinates and speeds of all joints, followers resolved.

    Raises TopologyError for a circle of followers and for names that one symbol would stand for.
    """
    angle: dict[str, bool | None] = {}  # by name, in file order
    rate: dict[str, None] = {}
    values: dict[str, Scalar] = {}
    quaternions: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    positions: list[tuple[tuple[str, ...], tuple[str, ...], int]] = []
    followers = [joint for joint in mechanism.joints if joint.mimic is not None]
    for joint in mechanism.joints:
        if joint.mimic is not None:
            continue
        kind = joint_type(joint)
        own, rates = kind.coordinates(joint), kind.speeds(joint)
        formulas: tuple[f.Formula, ...] = ()
        rate.update(dict.fromkeys(rates))
        if own:
            for n, a in zip(own, kind.angles or _angles(joint, own), strict=True):
                angle.setdefault(n, a)
            formulas = tuple([f.name(n) for n in own])
            values.update(zip(own, formulas, strict=True))
        for move in kind.moves(joint, formulas, rates):
            if isinstance(move, QuaternionTurn) and move.speeds is not None:
                quaternions.append((tuple(str(n) for n in move.quaternion), move.speeds))
                if joint.type == "floating":
                    positions.append((own[:3], rates[3:], len(quaternions) - 1))
    for joint in followers:
        values[joint_type(joint).coordinates(joint)[0]] = _followed(mechanism, joint)
    for n in mechanism.coordinates:
        if n not in angle:
            angle[n], values[n] = False, f.name(n)
            rate.setdefault(n)
    names, speeds, angles = list(angle), list(rate), list(angle.values())
    if mechanism.coordinates:
        rank = {n: k for k, n in enumerate(mechanism.coordinates)}
        pairs = sorted(zip(names, angles, strict=True), key=lambda item: rank.get(item[0], len(rank)))
        names, angles = [n for n, _ in pairs], [a for _, a in pairs]
        for group, own_speeds in quaternions:  # their speeds come where the quaternion does
            rank |= dict.fromkeys(own_speeds, rank.get(group[0], len(rank)))
        speeds.sort(key=lambda n: rank.get(n, len(rank)))
    _check_symbols(names, mechanism)
    defined = tuple(s.name for s in mechanism.speeds)
    return Coordinates(
        tuple(names),
        defined or tuple(speeds),
        values,
        tuple(angles),
        tuple(quaternions),
        tuple(positions),
        tuple(speeds),
        tuple(load.name for load in mechanism.loads if isinstance(load, Specified)),
    )


def _angles(joint: Joint, own: tuple[str, ...]) -> tuple[bool | None, ...]:
    """Of a joint given by its moves: what only translates is a length."""
    turned: set[str] = set()
    components: set[object] = set()
    for move in joint.moves:
        if isinstance(move, Turn) and isinstance(move.angle, f.Formula):
            turned |= move.angle.names()
        elif isinstance(move, MatrixTurn):
            turned.update(*(x.names() for x in amounts(move) if isinstance(x, f.Formula)))
        elif isinstance(move, QuaternionTurn):
            components.update(move.quaternion)
    return tuple(None if n in components else n in turned or not joint.moves for n in own)


def _followed(mechanism: Mechanism, joint: Joint) -> Scalar:
    """ratio * q + offset of the independent coordinate at the end of a chain of followers."""
    ratio: Scalar = Fraction(1)
    offset: Scalar = Fraction(0)
    seen = [joint.name]
    while joint.mimic is not None:
        offset = f.add(offset, f.mul(ratio, joint.mimic.offset))
        ratio = f.mul(ratio, joint.mimic.ratio)
        joint = mechanism.joint(joint.mimic.joint)
        if joint.name in seen:
            raise TopologyError(
                f"Joints {', '.join(seen)} follow each other in a circle.", name=joint.name, line=joint.line,
                remedy="Let one of them move freely.",
            )  # fmt: skip
        seen.append(joint.name)
    (master,) = joint_type(joint).coordinates(joint)
    return f.add(f.mul(ratio, f.name(master)), offset)


def symbol_name(prefix: str, coordinate: str) -> str:
    """The graph's name of a coordinate (q), its rate (qd) or second rate (qdd): q1, qd1; q_elbow, qd_elbow."""
    if coordinate[:1] == "q":
        plain = coordinate[2:] if coordinate[1:2] == "_" else coordinate[1:]
        if plain.isdigit():
            return prefix + plain
    return f"{prefix}_{coordinate}"


def _check_symbols(names: Sequence[str], mechanism: Mechanism) -> None:
    """Two names with one symbol (q1 and q_1; elbow and a parameter q_elbow) would be taken for the same quantity."""
    owner = {p.name: p.name for p in mechanism.parameters}
    for name in names:
        suffix = symbol_name("", name)
        for prefix in ("q", "qd", "qdd", "tau"):
            symbol = prefix + suffix
            if symbol in owner:
                raise TopologyError(
                    f"The names {owner[symbol]!r} and {name!r} give one symbol, {symbol}.",
                    file=mechanism.report.file or None, name=name, value=symbol, remedy="Rename one of them.",
                )  # fmt: skip
            owner[symbol] = name


def make_symbols(graph: Graph, c: Coordinates) -> Symbols:
    """Symbols of q, u, udot in the graph and the kinematic equations.

    Quaternion: qdot = (1/2) (qw, q_v) o (0, w), angular velocity w in child axes; position: xdot = R v.
    """
    q_names = tuple(symbol_name("q", n) for n in c.names)
    in_quaternion = {n for group, _ in c.quaternions for n in group}
    refs: dict[str, Ref] = {}
    for group, _ in c.quaternions:
        refs |= dict(zip(group, graph.unit_quaternion([symbol_name("q", n) for n in group]), strict=True))
    for name, text in zip(c.names, q_names, strict=True):
        if name not in in_quaternion:
            refs[name] = graph.symbol(text)
    u_names = tuple(symbol_name("qd", n) if n in c.names else n for n in c.speeds)
    udot_names = tuple(symbol_name("qdd", n) if n in c.names else f"{n}'" for n in c.speeds)
    u = {n: graph.symbol(text) for n, text in zip(c.speeds, u_names, strict=True)}
    udot = tuple(graph.symbol(text) for text in udot_names)
    rates = {n: u[n] for n in c.names if n in u}
    refs, rates = with_specified(graph, c, refs, rates)
    for group, speeds in c.quaternions:
        rates |= _quaternion_rates(graph, [refs[n] for n in group], [u[n] for n in speeds], group)
    for group, speeds, k in c.positions:
        rates |= _position_rates(graph, [refs[n] for n in c.quaternions[k][0]], [u[n] for n in speeds], group)
    return Symbols(
        tuple(refs[n] for n in c.names),
        tuple(u[n] for n in c.speeds),
        udot,
        refs,
        rates,
        q_names,
        u_names,
        udot_names,
        u,
    )


def with_specified(
    graph: Graph, c: Coordinates, refs: dict[str, Ref], rates: dict[str, Ref]
) -> tuple[dict[str, Ref], dict[str, Ref]]:
    """Names and rates with those of the motions given at run time."""
    refs, rates = dict(refs), dict(rates)
    for n in c.specified:
        refs[n], refs[f"{n}_dot"] = graph.symbol(n), graph.symbol(f"{n}_dot")
        rates[n], rates[f"{n}_dot"] = refs[f"{n}_dot"], graph.symbol(f"{n}_ddot")
    return refs, rates


def _quaternion_rates(g: Graph, q: list[Ref], w: list[Ref], names: tuple[str, ...]) -> dict[str, Ref]:
    half = g.number(Fraction(1, 2))
    a = [g.mul(half, x) for x in q]
    rates = (
        g.neg(g.sum((g.mul(a[1], w[0]), g.mul(a[2], w[1]), g.mul(a[3], w[2])))),
        g.sum((g.mul(a[0], w[0]), g.mul(a[2], w[2]), g.neg(g.mul(a[3], w[1])))),
        g.sum((g.mul(a[0], w[1]), g.mul(a[3], w[0]), g.neg(g.mul(a[1], w[2])))),
        g.sum((g.mul(a[0], w[2]), g.mul(a[1], w[1]), g.neg(g.mul(a[2], w[0])))),
    )
    return dict(zip(names, rates, strict=True))


def _position_rates(g: Graph, q: list[Ref], v: list[Ref], names: tuple[str, ...]) -> dict[str, Ref]:
    from kane.kinematics.vectors import quaternion_rotation

    moved = quaternion_rotation(g, *q).out(g, (v[0], v[1], v[2]))
    return dict(zip(names, moved, strict=True))
