"""Velocities, partial velocities and accelerations of every frame and point (steps 3 to 5 of Kane's method).

A mechanism is walked move by move.  Each turn makes a set of axes (frames turned about one axis by equal total angles
are one), each translation a station: a point together with the axes it is described in.  Angular velocities are kept
in own axes, velocities in the axes of the station; positions are sums of pieces, one for each set of axes, so that L
a1 + L b1 is printed as it is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kane.errors import UnknownNameError
from kane.graph.arena import STATE, Graph, Ref
from kane.graph.derivative import forward
from kane.kinematics import vectors as v
from kane.kinematics.coordinates import Coordinates, Symbols
from kane.kinematics.speeds import define_speeds
from kane.kinematics.tree import moves_of
from kane.kinematics.vectors import Vec
from kane.kinematics.walk import Axes, PlacedBody, Station, Walk, express_between, first_turns
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.model import Joint, Mechanism

Mixed = dict[int, Vec]  # a vector: components by set of axes


@dataclass(frozen=True, slots=True)
class Points:
    """All sets of axes and stations; axes 0 and station 0 are N and its origin.

    place: link or frame name -> station.  direction: that of time, q -> qdot, u -> udot, t -> 1.
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
    direction: dict[Ref, Ref]

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
    graph: Graph,
    mechanism: Mechanism,
    coordinates: Coordinates,
    symbols: Symbols,
    free: Sequence[str] = (),
    runs: bool = False,
) -> Points:
    """Walk a mechanism: its axes and stations with angular velocities and velocities.

    runs: hold velocities in the axes before a run of turns about parallel axes, which takes fewer operations;
    otherwise in the axes of each frame, which reads better.
    """
    root = mechanism.root
    walk = Walk(graph, mechanism, symbols, tuple(free), "N" if root in ("N", "world") else root)
    place = {root: 0}
    by_parent: dict[str, list[Joint]] = {}
    for joint in mechanism.joints:
        by_parent.setdefault(joint.parent, []).append(joint)
    order = [root]
    for link in order:
        order += [joint.child for joint in by_parent.get(link, ())]
    moves = {joint.child: moves_of(joint, coordinates) for joint in mechanism.joints}
    following: dict[str, frozenset[int]] = {}
    for link in reversed(order):  # the axes of the turns that come next beyond a link
        beyond = (first_turns(moves[joint.child], following[joint.child]) for joint in by_parent.get(link, ()))
        following[link] = frozenset().union(*beyond) if runs else frozenset()
    stack = [root]
    while stack:
        link = stack.pop()
        for joint in by_parent.get(link, ()):
            place[joint.child] = walk.moves(place[link], moves[joint.child], joint.child, following[joint.child])
        stack += [joint.child for joint in reversed(by_parent.get(link, ()))]
    for frame in mechanism.frames:
        place.setdefault(frame.name, walk.moves(place[frame.link], frame.placement, frame.name))
    bodies = tuple(walk.body(link.name, place[link.name], link.inertia) for link in mechanism.links if link.inertia)
    return Points(
        graph,
        mechanism,
        coordinates,
        symbols,
        tuple(free),
        tuple(walk.axes),
        tuple(walk.stations),
        place,
        bodies,
        walk.direction | dict(zip(symbols.u, symbols.udot, strict=True)),
    )


def no_points(
    graph: Graph, mechanism: Mechanism, coordinates: Coordinates, symbols: Symbols, free: Sequence[str] = ()
) -> Points:
    """A Points without axes and stations, where only names are resolved."""
    return Points(graph, mechanism, coordinates, symbols, tuple(free), (), (), {}, (), {})


def speed_symbols(graph: Graph, mechanism: Mechanism, coordinates: Coordinates, free: Sequence[str] = ()) -> Symbols:
    """The symbols of a mechanism whose generalized speeds are defined by the user."""
    from kane.kinematics.measures import Measures

    placed: dict[int, Measures] = {}
    measured = any(
        "(" in n for s in mechanism.speeds if isinstance(s.definition, Formula) for n in s.definition.names()
    )

    def resolver(symbols: Symbols, value: Scalar) -> Ref:
        if 0 not in placed:
            walked = place_points if measured else no_points
            placed[0] = Measures(walked(graph, mechanism, coordinates, symbols, free), symbols.natural)
        return placed[0].scalar(value)

    return define_speeds(graph, mechanism, coordinates, resolver)


def time_derivative(p: Points, refs: Sequence[Ref]) -> list[Ref]:
    """d/dt of expressions in q, u and t: q -> qdot, u -> udot."""
    g = p.graph
    if not any(g.level_of(x) == STATE for x in refs):
        return [0] * len(refs)
    return forward(g, refs, p.direction)


# vectors in several sets of axes


def express(p: Points, components: Vec, source: int, target: int) -> Vec:
    """Components in another set of axes, through the nearest common base."""
    return express_between(p.graph, p.axes, components, source, target)


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
        {p.stations[k].axes: p.stations[k].shift or v.ZERO} for k in reversed(path) if p.stations[k].shift is not None
    ]
    behind: list[Mixed] = [
        {p.stations[k].axes: v.neg(p.stations[k].shift or v.ZERO)} for k in back if p.stations[k].shift is not None
    ]
    return mixed_add(p, *ahead, *behind)


def _path(p: Points, k: int) -> list[int]:
    path = []
    while k >= 0:
        path.append(k)
        k = p.stations[k].parent
    return path


def derivative_in_n(p: Points, vector: Mapping[int, Vec]) -> Mixed:
    """d/dt in N of a mixed vector: components, plus w x in their axes (Kane and Levinson 1985, 1.7, 2.3)."""
    result: Mixed = {}
    for k, part in vector.items():
        x, y, z = time_derivative(p, part)
        result[k] = v.add(p.graph, (x, y, z), v.cross(p.graph, p.axes[k].w, part))
    return _nonzero(result)


def velocities(p: Points) -> tuple[Vec, ...]:
    """The velocity in N of every station, components in the axes in which it is held."""
    g = p.graph
    result = [v.ZERO]
    for s in p.stations[1:]:
        base = express(p, result[s.parent], p.stations[s.parent].held, s.held)
        if s.shift is not None:
            own = v.add(g, s.rate, v.cross(g, p.axes[s.axes].w, s.shift))
            base = v.add(g, base, express(p, own, s.axes, s.held))
        result.append(base)
    return tuple(result)


def velocity(p: Points, station: int) -> Mixed:
    """The velocity in N of a station's point, as pieces: sum of rate + w x piece."""
    return derivative_in_n(p, position(p, station))


def material_velocity(p: Points, body: int, point: int) -> Mixed:
    """The velocity in N of the material point of a body's frame that coincides with a point.

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
