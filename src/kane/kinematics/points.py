"""Velocities, partial velocities and accelerations of every frame and point (steps 3 to 5 of Kane's method).

A mechanism is walked move by move.  Each turn makes a set of axes (frames turned about one axis by equal total angles
are one), each
translation a station: a point together with the axes it is described in.  Angular velocities are kept in own axes,
velocities in the axes of
the station; positions are sums of pieces, one for each set of axes, so that L a1 + L b1 is printed as it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kane.errors import UnknownNameError
from kane.graph.arena import Graph, Ref
from kane.graph.derivative import forward
from kane.kinematics import vectors as v
from kane.kinematics.coordinates import Coordinates, Symbols
from kane.kinematics.motion import Shift, make_step, resolve
from kane.kinematics.speeds import define_speeds
from kane.kinematics.tree import _moves
from kane.kinematics.vectors import MatrixRotation, Rotation, SimpleRotation, Sym, Vec
from kane.mechanism.formula import Scalar
from kane.mechanism.model import Inertia, Joint, Mechanism, Move, QuaternionTurn, Translate, Turn

Mixed = dict[int, Vec]  # a vector: components by set of axes


@dataclass(frozen=True, slots=True)
class Axes:
    """A set of axes: base components = step.out(own components); `axis`, `angle` where it is a simple turn of the base.

    rate: angular velocity in the base, w: in N, both in own axes.
    """

    name: str
    base: int
    step: Rotation | None
    axis: int | None
    angle: Ref
    rate: Vec
    w: Vec


@dataclass(frozen=True, slots=True)
class Station:
    """A point in a set of axes: after a turn (`turn`) or a translation (`shift`, with its rate) from the parent
    station.

    vel: velocity in N of the point, in these axes.
    """

    parent: int
    axes: int
    turn: Rotation | None
    shift: Vec
    rate: Vec
    vel: Vec


@dataclass(frozen=True, slots=True)
class PlacedBody:
    """A body: its mass centre's station, the axes of its moments (Ixx Ixy Ixz Iyy Iyz Izz), mass."""

    link: str
    station: int
    axes: int
    mass: Ref
    moments: Sym


@dataclass(frozen=True, slots=True)
class Points:
    """All sets of axes and stations;

    `place`: link or frame name -> station; axes 0 and station 0 are N and its origin.
    """

    graph: Graph
    mechanism: Mechanism
    coordinates: Coordinates
    symbols: Symbols
    free: tuple[str, ...]
    axes: tuple[Axes, ...]
    stations: tuple[Station, ...]
    place: dict[str, int]
    bodies: tuple[PlacedBody, ...]

    def station(self, name: str) -> int:
        """The station of a link or frame; UnknownNameError lists the names."""
        if name not in self.place:
            known = ", ".join(self.place)
            raise UnknownNameError(f"There is no point or frame named {name!r}; there are: {known}.", name=name)
        return self.place[name]

    def axes_of(self, name: str) -> int:
        """The set of axes of a link or frame."""
        return self.stations[self.station(name)].axes


def place_points(
    graph: Graph, mechanism: Mechanism, coordinates: Coordinates, symbols: Symbols, free: Sequence[str] = ()
) -> Points:
    """Walk a mechanism: its axes and stations with angular velocities and velocities."""
    walk = _Walk(graph, mechanism, symbols, tuple(free))
    root = mechanism.root
    place = {root: 0}
    walk.axes.append(Axes("N" if root in ("N", "world") else root, -1, None, None, 0, v.ZERO, v.ZERO))
    walk.stations.append(Station(-1, 0, None, v.ZERO, v.ZERO, v.ZERO))
    by_parent: dict[str, list[Joint]] = {}
    for joint in mechanism.joints:
        by_parent.setdefault(joint.parent, []).append(joint)
    stack = [root]
    while stack:
        link = stack.pop()
        for joint in by_parent.get(link, ()):
            place[joint.child] = walk.moves(place[link], _moves(joint, coordinates), joint.child)
        stack += [joint.child for joint in reversed(by_parent.get(link, ()))]
    for frame in mechanism.frames:
        place.setdefault(frame.name, walk.moves(place[frame.link], frame.placement, frame.name))
    bodies = tuple(walk.body(link.name, place[link.name], link.inertia) for link in mechanism.links if link.inertia)
    return Points(
        graph, mechanism, coordinates, symbols, tuple(free), tuple(walk.axes), tuple(walk.stations), place, bodies
    )


def speed_symbols(graph: Graph, mechanism: Mechanism, coordinates: Coordinates, free: Sequence[str] = ()) -> Symbols:
    """The symbols of a mechanism whose generalized speeds are defined by the user."""
    from kane.kinematics.measures import Measures

    placed: dict[int, Measures] = {}

    def resolver(symbols: Symbols, value: Scalar) -> Ref:
        if 0 not in placed:
            points = place_points(graph, mechanism, coordinates, symbols, free)
            placed[0] = Measures(points, symbols.natural)
        return placed[0].scalar(value)

    return define_speeds(graph, mechanism, coordinates, resolver)


class _Walk:
    """The arena of a walk: axes and stations made so far, shared where they are equal."""

    def __init__(self, graph: Graph, mechanism: Mechanism, symbols: Symbols, free: tuple[str, ...]) -> None:
        self.g, self.mechanism, self.symbols, self.free = graph, mechanism, symbols, free
        self.axes: list[Axes] = []
        self.stations: list[Station] = []
        self._turns: dict[tuple[object, ...], int] = {}
        self._known: dict[tuple[object, ...], int] = {}
        self._direction = rate_direction(graph, symbols)

    def scalar(self, value: Scalar) -> Ref:
        return resolve(self.g, self.mechanism, self.symbols, self.free, value)

    def moves(self, station: int, moves: Sequence[Move], name: str) -> int:
        """The station after these moves; the last new axes get the name."""
        turned = [k for k, move in enumerate(moves) if isinstance(move, (Turn, QuaternionTurn))]
        for k, move in enumerate(moves):
            step = make_step(self.g, move, self.scalar, self.symbols)
            if step is None:
                continue
            if isinstance(step, Shift):
                station = self._shift(station, step.by)
            else:
                label = name if k == turned[-1] else f"{name}.{turned.index(k) + 1}"
                station = self._turn(station, move, step, label)
        return station

    def body(self, link: str, station: int, inertia: Inertia) -> PlacedBody:
        """A body's mass centre and the axes of its moments."""
        centre = self.moves(station, (Translate(inertia.com),), link)
        axes = self.stations[self.moves(centre, inertia.axes, f"{link}.inertia")].axes
        a = [self.scalar(x) for x in inertia.moments]
        return PlacedBody(link, centre, axes, self.scalar(inertia.mass), (a[0], a[1], a[2], a[3], a[4], a[5]))

    def _shift(self, station: int, by: Vec) -> int:
        key = (station, by)
        if key not in self._known:
            g, s = self.g, self.stations[station]
            x, y, z = forward(g, by, self._direction)
            rate: Vec = (x, y, z)
            vel = v.add(g, s.vel, rate, v.cross(g, self.axes[s.axes].w, by))
            self._known[key] = len(self.stations)
            self.stations.append(Station(station, s.axes, None, by, rate, vel))
        return self._known[key]

    def _turn(self, station: int, move: Move, step: Rotation, name: str) -> int:
        before = self.stations[station].axes
        after = self._axes(before, move, step, name)
        if after == before:
            return station
        key = (station, "turn", after)
        if key not in self._known:
            vel = step.into(self.g, self.stations[station].vel)
            self._known[key] = len(self.stations)
            self.stations.append(Station(station, after, step, v.ZERO, v.ZERO, vel))
        return self._known[key]

    def _axes(self, before: int, move: Move, step: Rotation, name: str) -> int:
        g = self.g
        if not isinstance(move, Turn):
            key = (before, *(step.rows if isinstance(step, MatrixRotation) else (step,)))
            rate = v.ZERO
            if isinstance(move, QuaternionTurn) and move.speeds is not None:
                x, y, z = (self.symbols.natural[n] for n in move.speeds)
                rate = (x, y, z)
            return self._turns[key] if key in self._turns else self._new(key, name, before, step, None, 0, rate)
        angle, own = self.scalar(move.angle), self.axes[before]
        base = before
        if own.axis == move.axis:  # a further turn about the same axis
            base, angle = own.base, g.add(own.angle, angle)
        if angle < 2:
            return base
        key = (base, move.axis, angle)
        if key in self._turns:
            return self._turns[key]
        whole = step if base == before else SimpleRotation(move.axis, g.cos(angle), g.sin(angle))
        (rate1,) = forward(g, [angle], self._direction)
        return self._new(key, name, base, whole, move.axis, angle, v.scale(g, rate1, v.unit(move.axis)))

    def _new(
        self, key: tuple[object, ...], name: str, base: int, step: Rotation, axis: int | None, angle: Ref, rate: Vec
    ) -> int:
        w = v.add(self.g, step.into(self.g, self.axes[base].w), rate)
        self._turns[key] = len(self.axes)
        self.axes.append(Axes(name, base, step, axis, angle, rate, w))
        return self._turns[key]


def rate_direction(g: Graph, s: Symbols) -> dict[Ref, Ref]:
    """The direction of time in the symbols: q -> qdot, t -> 1."""
    return {s.by_name[name]: rate for name, rate in s.rates.items()} | {g.symbol("t"): g.one}


def time_derivative(p: Points, refs: Sequence[Ref]) -> list[Ref]:
    """d/dt of expressions in q, u and t: q -> qdot, u -> udot."""
    s = p.symbols
    return forward(p.graph, refs, rate_direction(p.graph, s) | dict(zip(s.u, s.udot, strict=True)))


# vectors in several sets of axes


def express(p: Points, components: Vec, source: int, target: int) -> Vec:
    """Components in another set of axes, through the nearest common base."""
    g = p.graph
    if source == target or components == v.ZERO:
        return components
    up, down = _chain(p, source), _chain(p, target)
    common = next(a for a in up if a in down)
    up, down = up[: up.index(common)], down[: down.index(common)]
    last: tuple[int, int] | None = None
    if up and down and p.axes[up[-1]].axis is not None and p.axes[up[-1]].axis == p.axes[down[-1]].axis:
        last, up, down = (up[-1], down[-1]), up[:-1], down[:-1]  # two turns about one axis: turn by the difference
    for k in up:
        components = _step(p, k).out(g, components)
    if last:
        a, b = p.axes[last[0]], p.axes[last[1]]
        angle = g.sub(b.angle, a.angle)
        assert a.axis is not None
        components = SimpleRotation(a.axis, g.cos(angle), g.sin(angle)).into(g, components)  # type: ignore[arg-type]
    for k in reversed(down):
        components = _step(p, k).into(g, components)
    return components


def _step(p: Points, k: int) -> Rotation:
    step = p.axes[k].step
    assert step is not None
    return step


def _chain(p: Points, k: int) -> list[int]:
    chain = [k]
    while p.axes[chain[-1]].base >= 0:
        chain.append(p.axes[chain[-1]].base)
    return chain


def gather(p: Points, vector: Mapping[int, Vec], target: int) -> Vec:
    """A mixed vector in one set of axes."""
    return v.total(p.graph, [express(p, part, k, target) for k, part in vector.items()])


def mixed_add(p: Points, *vectors: Mapping[int, Vec]) -> Mixed:
    """The sum of mixed vectors; pieces that vanish are left out."""
    total: Mixed = {}
    for vector in vectors:
        for k, part in vector.items():
            total[k] = v.add(p.graph, total[k], part) if k in total else part
    return _nonzero(total)


def _nonzero(vector: Mapping[int, Vec]) -> Mixed:
    """Without pieces that vanish, and without negative zeros."""
    clean = {k: (x * (x > 1), y * (y > 1), z * (z > 1)) for k, (x, y, z) in vector.items()}
    return {k: part for k, part in clean.items() if part != v.ZERO}


def mixed_neg(vector: Mapping[int, Vec]) -> Mixed:
    return {k: v.neg(part) for k, part in vector.items()}


def mixed_dot(p: Points, a: Mapping[int, Vec], b: Mapping[int, Vec]) -> Ref:
    """The dot product of mixed vectors."""
    g = p.graph
    return g.sum(v.dot(g, express(p, x, i, j), y) for i, x in a.items() for j, y in b.items())


def position(p: Points, point: int, origin: int = 0) -> Mixed:
    """The vector from one station to another, as pieces."""
    path, back = _path(p, point), _path(p, origin)
    while path and back and path[-1] == back[-1]:
        path.pop()
        back.pop()
    ahead: list[Mixed] = [
        {p.stations[k].axes: p.stations[k].shift} for k in reversed(path) if p.stations[k].turn is None
    ]
    behind: list[Mixed] = [
        {p.stations[k].axes: v.neg(p.stations[k].shift)} for k in back if p.stations[k].turn is None
    ]
    return mixed_add(p, *ahead, *behind)


def _path(p: Points, k: int) -> list[int]:
    path = []
    while k >= 0:
        path.append(k)
        k = p.stations[k].parent
    return path


def derivative_in_n(p: Points, vector: Mapping[int, Vec]) -> Mixed:
    """d/dt in N of a mixed vector:

    componentwise, plus w x in its own axes (Kane and Levinson 1985, section 1.7 and 2.3).
    """
    result: Mixed = {}
    for k, part in vector.items():
        x, y, z = time_derivative(p, part)
        result[k] = v.add(p.graph, (x, y, z), v.cross(p.graph, p.axes[k].w, part))
    return _nonzero(result)


def velocity(p: Points, station: int) -> Mixed:
    """The velocity in N of a station's point, as pieces: sum of rate + w x piece."""
    return derivative_in_n(p, position(p, station))


def material_velocity(p: Points, body: int, point: int) -> Mixed:
    """The velocity in N of the material point of a body's frame that coincides with a point:

    v of the frame's origin + w x arm.
    """
    return mixed_add(p, velocity(p, body), turning(p, p.stations[body].axes, position(p, point, body)))


def turning(p: Points, axes: int, arm: Mapping[int, Vec]) -> Mixed:
    """w x arm, piece by piece, w of one set of axes."""
    w = p.axes[axes].w
    return mixed_add(p, *({k: v.cross(p.graph, express(p, w, axes, k), part)} for k, part in arm.items()))


def partials(p: Points, vector: Mapping[int, Vec]) -> list[Mixed]:
    """d vector / d u_r for every speed: partial velocities of a velocity (Kane and Levinson 1985, section 2.14)."""
    result: list[Mixed] = []
    for u in p.symbols.u:
        parts = {}
        for k, part in vector.items():
            x, y, z = forward(p.graph, part, {u: p.graph.one})
            parts[k] = (x, y, z)
        result.append(_nonzero(parts))
    return result
