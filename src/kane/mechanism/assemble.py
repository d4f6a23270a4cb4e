"""From declared frames and points to the tree of links of a Mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from fractions import Fraction
from typing import TYPE_CHECKING

from kane.errors import InertiaError, InputError
from kane.mechanism import formula as f
from kane.mechanism.basis import FrameVector
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.inertia import inertia_fault
from kane.mechanism.loads import Specified, Torque, TorquePair
from kane.mechanism.model import (
    Frame,
    Inertia,
    Joint,
    Link,
    MatrixTurn,
    Mechanism,
    Move,
    QuaternionTurn,
    Translate,
    Turn,
)

if TYPE_CHECKING:
    from kane.mechanism.builder import System
    from kane.mechanism.handles import Body, Point, ReferenceFrame


def assemble(system: System) -> Mechanism:
    """The Mechanism of a System: frames and points are links, bodies give inertia to those of their mass centres.

    A frame's link starts at the first point from which something is located along its axes.
    """
    for frame in system.frames.values():
        if frame.parent is None and frame is not system.N:
            raise InputError(
                f"Frame {frame.name!r} is not oriented.",
                name=frame.name,
                remedy=f"Call {frame.name}.orient_axis(...) first.",
            )
    reached = {system.O.name}
    for point in system.points.values():
        _reach(point, reached, system.O.name)
        if point.name in system.frames:
            raise InputError(
                f"A point and a frame are both named {point.name!r}.", name=point.name, remedy="Rename one of them."
            )
    work = _Assembly(system)
    for frame in system.frames.values():
        work.frame_link(frame)
    for point in system.points.values():
        work.point_link(point)
    for body in system.bodies.values():
        work.attach(body)
    gravity = system._gravity
    if any(frame != system.N.name for frame in gravity.frames()):
        raise InputError(
            "Gravity is given in a moving frame.",
            value=str(gravity),
            remedy=f"Give it along the axes of {system.N.name}.",
        )
    return Mechanism(
        system.name,
        tuple(work.links.values()),
        tuple(work.joints),
        tuple(work.frames),
        gravity.part(system.N.name),
        tuple(system._parameters),
        tuple(system._loads),
        tuple(system._constraints),
        tuple(system._speeds),
        tuple(system._coordinates),
    )


def _reach(point: Point, reached: set[str], origin: str) -> None:
    """A point must be connected to the origin; `reached`: those that are known to be."""
    seen: dict[str, None] = {}
    here: Point | None = point
    while here is not None and here.name not in reached:
        if here.name in seen:
            raise InputError(f"Points {', '.join(seen)} are located from each other in a circle.", name=point.name)
        seen[here.name] = None
        here = here.parent
    if here is None:
        last = list(seen)[-1]
        raise InputError(
            f"Point {point.name!r} is not connected to the origin {origin!r}: "
            f"the position of {last!r} is not given, so it has no velocity.",
            name=point.name,
            remedy=f"Locate it: {last}.set_pos(point, vector).",
        )
    reached.update(seen)


def _named_bodies(system: System) -> set[str]:
    """The frames whose material points loads and constraints mean."""
    named: set[str] = set()
    for item in (*system._loads, *system._constraints):
        if not isinstance(item, (Torque, TorquePair)):  # these turn with the frame wherever its bodies are
            named |= {getattr(item, part, "") or "" for part in ("body", "reaction", "surface")}
    return named


class _Assembly:
    def __init__(self, system: System) -> None:
        self.system = system
        self.links: dict[str, Link] = {system.N.name: Link(system.N.name)}
        self.joints: list[Joint] = []
        self.frames = [Frame(system.O.name, system.N.name)]
        self.frame_links: dict[str, str] = {system.N.name: system.N.name}
        self.point_links: dict[str, tuple[str, ReferenceFrame]] = {system.O.name: (system.N.name, system.N)}
        self.listed: set[str] = set()
        self.carried: dict[str, Body] = {}
        self.values = {p.name: float(p.value) for p in system._parameters if p.value is not None}
        self.rank = {name: k for k, name in enumerate(system._coordinates)}
        given = (load.name for load in system._loads if isinstance(load, Specified))
        self.known = {*system._coordinates, *(p.name for p in system._parameters), *given, "t"}
        self.origins = {system.N.name: system.O}
        for frame in system.frames.values():
            if frame.origin is not None:
                self.origins[frame.name] = frame.origin
        for point in system.points.values():
            for name in point.vector.frames():
                if point.parent is not None:
                    self.origins.setdefault(name, point.parent)
        for body in system.bodies.values():
            if body.frame is not None:
                self._place(body, body.frame)

    def _place(self, body: Body, frame: ReferenceFrame) -> None:
        """A frame's material points are those of its rigid body: its link starts where the body has a fixed point.

        Raises InputError where two bodies in one frame move apart and a load or constraint means one of them.
        """
        start = self.origins.setdefault(frame.name, body.point)
        if start is body.point or frame is self.system.N or frame.origin is not None:
            return
        if self._fixed(body.point, start, frame):
            self.carried.setdefault(frame.name, body)
        elif frame.name not in self.carried:
            self.origins[frame.name] = body.point
            self.carried[frame.name] = body
        elif frame.name in _named_bodies(self.system):
            other = self.carried[frame.name].name
            raise InputError(
                f"Bodies {other!r} and {body.name!r} share the frame {frame.name!r} and move apart: a material point "
                f"of {frame.name!r} may be that of either.", name=frame.name,
                remedy=f"Give one of them a frame of its own: {frame.name}.orient_new_axis(name, 1, 0).",
            )  # fmt: skip

    def _fixed(self, point: Point, other: Point, frame: ReferenceFrame) -> bool:
        """True when one of two points is located from the other, or both from a third, by constants in the frame."""
        constant = {p.name for p in self.system._parameters}
        above: list[list[Point]] = []
        for start in (point, other):
            chain = [start]
            while (here := chain[-1]).parent is not None and here.vector.frames() in ((), (frame.name,)):
                if not all(not isinstance(c, Formula) or c.names() <= constant for _, _, c in here.vector.terms):
                    break
                chain.append(here.parent)
            above.append(chain)
        return any(a is b for a in above[0] for b in above[1])

    def origin(self, frame: ReferenceFrame) -> Point:
        """The point at which a frame's link is placed."""
        known = self.origins.get(frame.name)
        if known is None:
            assert frame.parent is not None
            known = self.origins[frame.name] = self.origin(frame.parent)
        return known

    def frame_link(self, frame: ReferenceFrame) -> str:
        """The link of a frame, at its origin point."""
        if frame.name not in self.frame_links:
            origin, parent = self.origin(frame), frame.parent
            if parent is not None and parent is not self.system.N and self.origin(parent) is origin:
                start, axes = self.frame_link(parent), parent  # turned where it is: carried by what it is turned from
                self.frame_links[frame.name] = frame.name
            else:
                self.frame_links[frame.name] = frame.name
                start, axes = self.point_link(origin)
            self._join(start, frame.name, _path(axes, frame))
        return self.frame_links[frame.name]

    def point_link(self, point: Point) -> tuple[str, ReferenceFrame]:
        """The link of a point and the frame of its axes: those of the last term of its position."""
        if point.name in self.point_links:
            return self.point_links[point.name]
        assert point.parent is not None
        names = point.vector.frames()
        for name in names:
            if name not in self.system.frames:
                raise InputError(f"Frame {name!r} in {point.vector} is not a frame of this system.", name=name)
        first = self.system.frames[names[0]] if names else None
        start, axes = self.point_link(point.parent)
        if first is not None and self.origin(first) is point.parent and first.name not in self.frame_links:
            self.frame_link(first)
        if first is not None and first.name in self.frame_links and self.origin(first) is point.parent:
            start, axes = self.frame_links[first.name], first
        moves: tuple[Move, ...] = ()
        for name in names:
            frame = self.system.frames[name]
            moves += (*_path(axes, frame), Translate(point.vector.part(name)))
            axes = frame
        self.point_links[point.name] = (point.name, axes)
        self._join(start, point.name, moves)
        return point.name, axes

    def attach(self, body: Body) -> None:
        """Give a body's inertia to the link at its mass centre whose axes are its frame."""
        link, axes = self.point_link(body.point)
        frame = body.frame
        if frame is not None and frame is not axes:
            if self.origin(frame) is body.point:
                link = self.frame_link(frame)
            else:
                link = self._extra(link, body.name, _path(axes, frame))
        if self.links[link].inertia is not None:
            link = self._extra(link, body.name, ())
        m = body.moments
        used = frozenset().union(*[value.names() for value in (body.mass, *m) if isinstance(value, Formula)])
        self._check(used, "body", body.name)
        inertia = Inertia(body.mass, moments=(m[0], m[1], m[2], m[3], m[4], m[5]))
        if fault := inertia_fault(inertia, self.values):
            raise InertiaError(
                f"Body {body.name!r} cannot be: {fault}.", name=body.name,
                remedy="Give a mass that is not negative, and moments about the mass centre.",
            )  # fmt: skip
        self.links[link] = Link(link, inertia)

    def _extra(self, link: str, name: str, moves: tuple[Move, ...]) -> str:
        while name in self.links:
            name += "*"
        self._join(link, name, moves)
        return name

    def _join(self, parent: str, child: str, moves: tuple[Move, ...]) -> None:
        used: set[str] = set()
        quaternions: list[str] = []
        speeds: list[str] = []
        for move in moves:
            if isinstance(move, Translate):
                used.update(*[x.names() for x in move.by if isinstance(x, Formula)])
            elif isinstance(move, Turn):
                used.update(move.angle.names() if isinstance(move.angle, Formula) else ())
            elif isinstance(move, MatrixTurn):
                used.update(*[x.names() for row in move.rows for x in row if isinstance(x, Formula)])
            elif move.speeds is not None and move.quaternion[0] not in self.listed:
                quaternions += [str(n) for n in move.quaternion]
                speeds += move.speeds
        self._check(used, "the place of", child)
        coordinates = [n for n in used if n in self.rank and n not in self.listed and n not in quaternions]
        if len(coordinates) > 1:
            coordinates.sort(key=self.rank.__getitem__)
        self.listed.update(coordinates, quaternions)
        own = tuple(coordinates + quaternions)
        self.links[child] = Link(child)
        rates = (*coordinates, *speeds) if speeds else ()
        self.joints.append(Joint(child, "general", parent, child, coordinates=own, speeds=rates, moves=moves))

    def _check(self, names: Set[str], what: str, owner: str) -> None:
        if not names <= self.known:
            name = min(names - self.known)
            raise InputError(
                f"{name!r} in {what} {owner!r} is not declared.", name=name,
                remedy="Declare it as a coordinate or a parameter.",
            )  # fmt: skip


def _path(start: ReferenceFrame, end: ReferenceFrame) -> tuple[Move, ...]:
    """The turns that take the axes of one frame to those of another, through their nearest common ancestor."""
    if start is end:
        return ()
    if end.parent is start:
        return tuple(_merged(end.moves))
    up, down = _ancestors(start), _ancestors(end)
    common = next(frame for frame in up if frame in down)
    back = up[: up.index(common)]
    moves: list[Move] = []
    for frame in back:
        moves += [_inverse(move) for move in reversed(frame.moves)]
    for frame in reversed(down[: down.index(common)]):
        moves += frame.moves
    return tuple(_merged(moves))


def _ancestors(frame: ReferenceFrame) -> list[ReferenceFrame]:
    chain = [frame]
    while chain[-1].parent is not None:
        chain.append(chain[-1].parent)
    return chain


def _inverse(move: Move) -> Move:
    if isinstance(move, Turn):
        return Turn(move.axis, f.neg(move.angle))
    if isinstance(move, QuaternionTurn):
        return _cosines(move).transposed
    assert isinstance(move, MatrixTurn)
    return move.transposed


def _cosines(move: QuaternionTurn) -> MatrixTurn:
    """The direction cosines of a unit quaternion."""
    w, x, y, z = (f.name(str(n)) for n in move.quaternion)
    return MatrixTurn((
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    ))  # fmt: skip


def _merged(moves: Sequence[Move]) -> list[Move]:
    """Neighbouring turns about one axis are one turn."""
    result: list[Move] = []
    for move in moves:
        last = result[-1] if result else None
        if isinstance(move, Turn) and isinstance(last, Turn) and last.axis == move.axis:
            result[-1] = Turn(move.axis, f.add(last.angle, move.angle))
        else:
            result.append(move)
    return [m for m in result if not (isinstance(m, Turn) and f.is_zero(m.angle))]


def dot_product(system: System, a: FrameVector, b: FrameVector) -> Scalar:
    """a . b, the parts of b turned into the frames of a."""
    total: Scalar = Fraction(0)
    for first in a.frames():
        for second in b.frames():
            part = list(b.part(second))
            for move in reversed(_path(system.frames[first], system.frames[second])):
                if isinstance(move, QuaternionTurn):
                    move = _cosines(move)
                if isinstance(move, MatrixTurn):
                    part = [_sum(f.mul(x, y) for x, y in zip(row, part, strict=True)) for row in move.rows]
                    continue
                assert isinstance(move, Turn)
                part = _turned(move, part)
            for x, y in zip(a.part(first), part, strict=True):
                total = f.add(total, f.mul(x, y))
    return total


def _sum(terms: Iterable[Scalar]) -> Scalar:
    total: Scalar = f.ZERO
    for term in terms:
        total = f.add(total, term)
    return total


def _turned(move: Turn, v: list[Scalar]) -> list[Scalar]:
    """Components before a turn from components after it."""
    c, s = f.function("cos", move.angle), f.function("sin", move.angle)
    i, j = (move.axis + 1) % 3, (move.axis + 2) % 3
    result = list(v)
    result[i] = f.add(f.mul(c, v[i]), f.neg(f.mul(s, v[j])))
    result[j] = f.add(f.mul(s, v[i]), f.mul(c, v[j]))
    return result
