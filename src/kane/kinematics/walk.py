"""The walk of a mechanism move by move: sets of axes and stations, shared where they are equal.

Along a run of turns about parallel axes, velocities are held in the axes before the run: one rotation a link instead
of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kane.graph.arena import STATE, Graph, Ref
from kane.graph.derivative import forward
from kane.kinematics import vectors as v
from kane.kinematics.coordinates import Symbols
from kane.kinematics.motion import Partials, make_step, matrix_spin, names_of, partials_of, rate_direction, speeds_of
from kane.kinematics.vectors import MatrixRotation, Rotation, SimpleRotation, Sym, Vec
from kane.mechanism.formula import ZERO as NOTHING
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.model import ZERO as NOWHERE
from kane.mechanism.model import Axis, Inertia, MatrixTurn, Mechanism, Move, QuaternionTurn, Translate, Turn


@dataclass(frozen=True, slots=True)
class Axes:
    """A set of axes: base components = step.out(own components).

    axis, angle: where it is a simple turn of the base.  rate: angular velocity in the base, w: in N, both in own axes.
    partials: d rate / d u_r, with r, for the speeds that the rate depends on.
    """

    name: str
    base: int
    step: Rotation | None
    axis: Axis | None
    angle: Ref
    rate: Vec
    w: Vec
    partials: Partials = ()


@dataclass(frozen=True, slots=True)
class Station:
    """A point with a set of axes: after a translation (`shift` in these axes, with its rate) or a turn (None).

    held: the axes, these or their base, along which its velocity and acceleration are worked out.  partials: see Axes.
    """

    parent: int
    axes: int
    held: int
    shift: Vec | None
    rate: Vec
    partials: Partials = ()


@dataclass(frozen=True, slots=True)
class PlacedBody:
    """A body: its mass centre's station, the axes of its moments (Ixx Ixy Ixz Iyy Iyz Izz), mass."""

    link: str
    station: int
    axes: int
    mass: Ref
    moments: Sym


class Walk:
    """The arena of a walk: axes and stations made so far."""

    def __init__(self, graph: Graph, mechanism: Mechanism, symbols: Symbols, free: tuple[str, ...], root: str) -> None:
        self.g, self.symbols = graph, symbols
        self.axes = [Axes(root, -1, None, None, 0, v.ZERO, v.ZERO)]
        self.stations = [Station(-1, 0, 0, v.ZERO, v.ZERO)]
        self.direction = rate_direction(graph, symbols)
        self._turns: dict[tuple[object, ...], int] = {}
        self._known: dict[tuple[object, ...], int] = {}
        self._speeds = speeds_of(symbols)
        self._names = dict(symbols.by_name)
        self._resolve = names_of(graph, mechanism, symbols, frozenset(free))

    def scalar(self, value: Scalar) -> Ref:
        """The reference of a scalar of the description."""
        if not isinstance(value, Formula):
            return self.g.number(value) if value is not NOTHING and value else 0
        if value.op == "name":
            return self._name(str(value.value))
        return value.build(self.g, self._name)

    def _name(self, text: str) -> Ref:
        known = self._names.get(text)
        if known is None:
            known = self._names[text] = self._resolve(text)
        return known

    def moves(self, station: int, moves: Sequence[Move], name: str, following: frozenset[int] = frozenset()) -> int:
        """The station after these moves; the last new axes get the name.

        following: axes of turns that come next, where velocities are held along runs of parallel turns.
        """
        turned: list[int] = []
        for k, move in enumerate(moves):
            if isinstance(move, Translate):
                a, b, c = move.by
                by = (self.scalar(a), self.scalar(b), self.scalar(c))
                station = self._shift(station, by) if by != v.ZERO else station
            else:
                turned = turned or [i for i, m in enumerate(moves) if not isinstance(m, Translate)]
                label = name if k == turned[-1] else f"{name}.{turned.index(k) + 1}"
                after = self._axes(self.stations[station].axes, move, label)
                own = self.axes[after]
                run = bool(following) and own.axis in first_turns(moves[k + 1 :], following)
                station = self._turn(station, after, own.base if run else after)
        return station

    def body(self, link: str, station: int, inertia: Inertia) -> PlacedBody:
        """A body's mass centre and the axes of its moments."""
        centre = station if inertia.com is NOWHERE else self.moves(station, (Translate(inertia.com),), link)
        turned = self.moves(centre, inertia.axes, f"{link}.inertia") if inertia.axes else centre
        axes = self.stations[turned].axes
        a = [self.scalar(x) for x in inertia.moments]
        return PlacedBody(link, centre, axes, self.scalar(inertia.mass), (a[0], a[1], a[2], a[3], a[4], a[5]))

    def _shift(self, station: int, by: Vec) -> int:
        key = (station, by)
        if key not in self._known:
            g, s = self.g, self.stations[station]
            rate: Vec = v.ZERO
            level, (a, b, c) = g.level, by
            if level[a >> 1] == STATE or level[b >> 1] == STATE or level[c >> 1] == STATE:
                x, y, z = forward(g, by, self.direction)
                rate = (x, y, z)
            self._known[key] = len(self.stations)
            partials = partials_of(g, rate, self._speeds)
            self.stations.append(Station(station, s.axes, s.held, by, rate, partials))
        return self._known[key]

    def _turn(self, station: int, after: int, held: int) -> int:
        s = self.stations[station]
        if after == s.axes and held == s.held:
            return station
        key = (station, "turn", after, held)
        if key not in self._known:
            self._known[key] = len(self.stations)
            self.stations.append(Station(station, after, held, None, v.ZERO))
        return self._known[key]

    def _axes(self, before: int, move: Turn | QuaternionTurn | MatrixTurn, name: str) -> int:
        """The axes after a turn: those that equal turns made before, or new ones."""
        g = self.g
        if not isinstance(move, Turn):
            step = make_step(g, move, self.scalar, self.symbols)
            if step is None:
                return before
            assert isinstance(step, MatrixRotation)
            key: tuple[object, ...] = (before, *step.rows)
            rate = v.ZERO
            if isinstance(move, MatrixTurn):
                rate = matrix_spin(g, step, self.direction)
            elif move.speeds is not None:
                x, y, z = (self.symbols.natural[n] for n in move.speeds)
                rate = (x, y, z)
            return self._turns[key] if key in self._turns else self._new(key, name, before, step, None, 0, rate)
        angle, own, base = self.scalar(move.angle), self.axes[before], before
        if own.axis == move.axis:  # a further turn about the same axis
            base, angle = own.base, g.add(own.angle, angle)
        if angle < 2:
            return base
        key = (base, move.axis, angle)
        if key in self._turns:
            return self._turns[key]
        turn = SimpleRotation(move.axis, g.cos(angle), g.sin(angle))
        (speed,) = forward(g, (angle,), self.direction)
        rate = (speed * (move.axis == 0), speed * (move.axis == 1), speed * (move.axis == 2))
        return self._new(key, name, base, turn, move.axis, angle, rate)

    def _new(
        self, key: tuple[object, ...], name: str, base: int, step: Rotation, axis: Axis | None, angle: Ref, rate: Vec
    ) -> int:
        carried = self.axes[base].w
        w = v.add(self.g, step.into(self.g, carried), rate) if max(carried) > 1 else rate
        partials = partials_of(self.g, rate, self._speeds)
        self._turns[key] = len(self.axes)
        self.axes.append(Axes(name, base, step, axis, angle, rate, w, partials))
        return self._turns[key]


def first_turns(moves: Sequence[Move], following: frozenset[int] = frozenset()) -> frozenset[int]:
    """The axis of the first simple turn among moves, or what follows them; empty for a quaternion."""
    for move in moves:
        if isinstance(move, Turn):
            return frozenset((move.axis,))
        if not isinstance(move, Translate):
            return frozenset()
    return following


def express_between(g: Graph, axes: Sequence[Axes], components: Vec, source: int, target: int) -> Vec:
    """Components in another set of axes, through the nearest common base."""
    if source == target or max(components) < 2:
        return components
    if axes[source].base == target:
        return _step(axes, source).out(g, components)
    if axes[target].base == source:
        return _step(axes, target).into(g, components)
    up, down = _chain(axes, source), _chain(axes, target)
    common = next(a for a in up if a in down)
    up, down = up[: up.index(common)], down[: down.index(common)]
    last: tuple[int, int] | None = None
    if up and down and axes[up[-1]].axis is not None and axes[up[-1]].axis == axes[down[-1]].axis:
        last, up, down = (up[-1], down[-1]), up[:-1], down[:-1]  # two turns about one axis: turn by the difference
    for k in up:
        components = _step(axes, k).out(g, components)
    if last:
        a, b = axes[last[0]], axes[last[1]]
        angle = g.sub(b.angle, a.angle)
        assert a.axis is not None
        components = SimpleRotation(a.axis, g.cos(angle), g.sin(angle)).into(g, components)
    for k in reversed(down):
        components = _step(axes, k).into(g, components)
    return components


def _step(axes: Sequence[Axes], k: int) -> Rotation:
    step = axes[k].step
    assert step is not None
    return step


def _chain(axes: Sequence[Axes], k: int) -> list[int]:
    chain = [k]
    while axes[chain[-1]].base >= 0:
        chain.append(axes[chain[-1]].base)
    return chain
