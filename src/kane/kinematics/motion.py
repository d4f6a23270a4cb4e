"""How each node of the tree moves in the one before it: its fixed steps, its own step, rates and partial rates.

Notation: w_NB_B angular velocity of B in N, axes of B.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from kane.graph.arena import STATE, Graph, Ref
from kane.graph.derivative import forward
from kane.kinematics import vectors as v
from kane.kinematics.coordinates import Coordinates, Symbols, find_coordinates, make_symbols
from kane.kinematics.tree import Tree, build_tree
from kane.kinematics.vectors import Rotation, SimpleRotation, Vec
from kane.mechanism import formula as f
from kane.mechanism.formula import Scalar
from kane.mechanism.model import Axis, MatrixTurn, Mechanism, Move, Placement, QuaternionTurn, Translate, Turn


@dataclass(frozen=True, slots=True)
class Shift:
    """A translation of the origin, components in the current axes."""

    by: Vec


Step = Shift | Rotation
Partials = tuple[tuple[int, Vec], ...]  # index of a speed, partial velocity


@dataclass(frozen=True, slots=True)
class NodeMotion:
    """The moves of one node in a graph.

    fixed: steps before the motion; step: the motion; kind: "turn" (rate along `axis`), "slide" (rate vector in the
    axes before it) or "ball" (rate vector in the axes after it); rate: three components; partials: rate's partial by
    each speed (index -> vector). own_axes: the motion is followed by a turn in whose axes the rate is simple
    (floating joints).
    """

    fixed: tuple[Step, ...]
    step: Step
    kind: str
    axis: Axis | None
    rate: Vec
    partials: dict[int, Vec]
    own_axes: bool = False


@dataclass(frozen=True, slots=True)
class Kinematics:
    """A mechanism's coordinates, speeds and tree in one graph."""

    graph: Graph
    mechanism: Mechanism
    coordinates: Coordinates
    symbols: Symbols
    tree: Tree
    motions: tuple[NodeMotion, ...]
    gravity: Vec
    parameters: tuple[str, ...]

    def scalar(self, value: Scalar) -> Ref:
        """The reference of a scalar of the description."""
        return resolver(self.graph, self.mechanism, self.symbols, self.parameters)(value)

    def steps(self, placement: Placement) -> tuple[Step, ...]:
        """The steps of fixed moves."""
        scalar = resolver(self.graph, self.mechanism, self.symbols, self.parameters)
        return steps_of(self.graph, placement, scalar, self.symbols)


def resolver(
    graph: Graph, mechanism: Mechanism, symbols: Symbols, free: Sequence[str]
) -> Callable[[Scalar], Ref]:
    """Scalars in the graph; names as in `names_of`."""
    name = names_of(graph, mechanism, symbols, free)
    return lambda value: f.build(value, graph, name)


def names_of(
    graph: Graph, mechanism: Mechanism, symbols: Symbols, free: Collection[str]
) -> Callable[[str], Ref]:
    """Names in the graph: coordinates, time, parameters that stay symbols (`free`), others by their value."""
    values = {p.name: p.value for p in mechanism.parameters}

    def name(text: str) -> Ref:
        if text in symbols.by_name:
            return symbols.by_name[text]
        if text == "t":
            return graph.symbol("t")
        known = values.get(text)
        if known is None or text in free:
            return graph.symbol(text, "parameter")
        return graph.number(known)

    return name


def steps_of(graph: Graph, placement: Placement, scalar: object, symbols: Symbols) -> tuple[Step, ...]:
    """The steps of fixed moves, without those that do nothing; many turns as one rotation."""
    from kane.kinematics.compose import composed

    steps = (make_step(graph, move, scalar, symbols) for move in placement)
    return composed(graph, tuple(step for step in steps if step is not None))


def make_step(graph: Graph, move: Move, scalar: object, symbols: Symbols) -> Step | None:
    """The step of a move; None when it does nothing."""
    to_ref = scalar
    assert callable(to_ref)
    match move:
        case Translate(by):
            x, y, z = (to_ref(s) for s in by)
            return Shift((x, y, z)) if (x, y, z) != v.ZERO else None
        case Turn(axis, angle):
            a = to_ref(angle)
            return SimpleRotation(axis, graph.cos(a), graph.sin(a)) if a > 1 else None
        case QuaternionTurn(quaternion, None):
            e = [graph.number(x) for x in quaternion if not isinstance(x, str)]
            return _normalised(graph, e)
        case MatrixTurn(rows):
            a, b, c = ((to_ref(x), to_ref(y), to_ref(z)) for x, y, z in rows)
            return v.MatrixRotation((a, b, c)) if (a, b, c) != (v.unit(0), v.unit(1), v.unit(2)) else None
        case QuaternionTurn(quaternion, _):
            w, x, y, z = (symbols.by_name[n] for n in quaternion if isinstance(n, str))
            return v.quaternion_rotation(graph, w, x, y, z)


def matrix_spin(g: Graph, step: Step | None, direction: Mapping[Ref, Ref]) -> Vec:
    """The angular velocity, own axes, of a turn by a matrix along the direction of time."""
    if not isinstance(step, v.MatrixRotation):
        return v.ZERO
    r = forward(g, [x for row in step.rows for x in row], direction)
    return v.spin(g, step.rows, ((r[0], r[1], r[2]), (r[3], r[4], r[5]), (r[6], r[7], r[8])))


def _normalised(g: Graph, q: list[Ref]) -> Rotation | None:
    """R(q) / |q|^2 is rational: no root is needed."""
    square = g.dot(q, q)
    w, x, y, z = q
    inverse = g.div(g.number(1), square)
    rows = []
    vec = (x, y, z)
    for i in range(3):
        row = []
        for j in range(3):
            k = 3 - i - j
            if i == j:
                rest = [vec[m] for m in range(3) if m != i]
                e = g.sub(g.add(g.mul(w, w), g.mul(vec[i], vec[i])), g.dot(rest, rest))
            else:
                sign = 1 if (j - i) % 3 == 2 else 0
                twist = g.mul(w, vec[k]) ^ 1 if sign == 0 else g.mul(w, vec[k])
                half = g.add(g.mul(vec[i], vec[j]), twist)
                e = g.add(half, half)
            row.append(g.mul(e, inverse))
        rows.append((row[0], row[1], row[2]))
    if [rows[k][k] for k in range(3)] == [g.one] * 3:
        return None
    return v.MatrixRotation((rows[0], rows[1], rows[2]))


def derive_kinematics(mechanism: Mechanism, parameters: Sequence[str] = (), graph: Graph | None = None) -> Kinematics:
    """Coordinates, speeds, tree and motions of a mechanism; `parameters`: named parameters that stay symbols."""
    graph = graph or Graph()
    coordinates = find_coordinates(mechanism)
    tree = build_tree(mechanism, coordinates)
    free = tuple(parameters)
    if mechanism.speeds:
        from kane.kinematics.points import speed_symbols

        symbols = speed_symbols(graph, mechanism, coordinates, free)
    else:
        symbols = make_symbols(graph, coordinates)

    scalar = resolver(graph, mechanism, symbols, free)
    gx, gy, gz = (scalar(s) for s in mechanism.gravity)
    floating = {names for group, _, _ in coordinates.positions for names in group} if not mechanism.speeds else set()
    motions = []
    for node in tree.nodes:
        fixed = steps_of(graph, node.fixed, scalar, symbols)
        motions.append(_motion(graph, symbols, coordinates, node.motion, fixed, scalar, floating))
    return Kinematics(graph, mechanism, coordinates, symbols, tree, tuple(motions), (gx, gy, gz), free)


def _motion(
    g: Graph, s: Symbols, c: Coordinates, move: Move, fixed: tuple[Step, ...], scalar: object, floating: set[str]
) -> NodeMotion:
    """One node's motion: its step, its rate (linear in the speeds) and the rate's partial by each speed."""
    assert callable(scalar)
    step = make_step(g, move, scalar, s)
    own_axes = False
    axis: Axis | None = None
    rate: Sequence[Ref]
    match move:
        case Turn(axis, angle):
            kind, rate = "turn", v.scale(g, rates_of(g, s, [scalar(angle)])[0], v.unit(axis))
        case QuaternionTurn(_, speeds):
            assert speeds is not None
            kind, rate = "ball", [s.natural[n] for n in speeds]
        case MatrixTurn():
            kind, rate = "ball", matrix_spin(g, step, rate_direction(g, s))
        case Translate(by):
            kind, rate = "slide", rates_of(g, s, [scalar(x) for x in by])
            own_axes = any(isinstance(x, f.Formula) and not floating.isdisjoint(x.names()) for x in by)
    if step is None:  # a motion that is identically nothing still has a place in the tree
        step = Shift(v.ZERO)
    vector: Vec = (rate[0], rate[1], rate[2])
    return NodeMotion(fixed, step, kind, axis, vector, dict(partials_of(g, vector, speeds_of(s))), own_axes)


def rates_of(g: Graph, s: Symbols, refs: Sequence[Ref]) -> list[Ref]:
    """Time derivatives of functions of q and t, in q, u, t."""
    return forward(g, refs, rate_direction(g, s))


def rate_direction(g: Graph, s: Symbols) -> dict[Ref, Ref]:
    """The direction of time in the symbols: q -> qdot, t -> 1."""
    return {s.by_name[name]: rate for name, rate in s.rates.items()} | {g.symbol("t"): g.one}


def partials_of(g: Graph, rate: Vec, speeds: dict[int, int]) -> Partials:
    """d rate / d u_r for the speeds (node -> r) that a rate depends on: its partial velocities."""
    moving = [k for k in (0, 1, 2) if rate[k] > 1]
    if not moving:
        return ()
    if len(moving) == 1 and rate[moving[0]] >> 1 in speeds:  # one speed along one axis
        ((k, ref),) = ((k, rate[k]) for k in moving)
        along = v.unit(k)  # type: ignore[arg-type]
        return ((speeds[ref >> 1], v.neg(along) if ref & 1 else along),)
    seen = {ref >> 1 for ref in rate if ref > 1}
    stack = [node for node in seen if node not in speeds]
    for node in stack:
        for a in g.args[node]:
            if a >> 1 not in seen and g.level[a >> 1] == STATE:
                seen.add(a >> 1)
                stack.append(a >> 1)
    result = []
    for r, node in sorted((speeds[node], node) for node in seen if node in speeds):
        x, y, z = forward(g, rate, {2 * node: g.one})
        result.append((r, (x, y, z)))
    return tuple(result)


def speeds_of(s: Symbols) -> dict[int, int]:
    """Node of each generalized speed -> its index."""
    return {u >> 1: r for r, u in enumerate(s.u)}


def speeds_in(g: Graph, s: Symbols, ref: Ref) -> set[int]:
    """Indices of the speeds that an expression depends on."""
    place = speeds_of(s)
    found: set[int] = set()
    seen: set[int] = set()
    stack = [ref >> 1]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in place:
            found.add(place[node])
        stack += [a >> 1 for a in g.args[node]]
    return found


def substitute(g: Graph, refs: Sequence[Ref], replacement: dict[Ref, Ref]) -> list[Ref]:
    """Expressions with symbols replaced by other expressions."""
    from kane.graph.program import needed

    done: dict[int, Ref] = {s >> 1: r ^ (s & 1) for s, r in replacement.items()}
    for node in needed(g, refs):
        if node in done:
            continue
        args = [done[a >> 1] ^ (a & 1) for a in g.args[node]]
        op = g.op[node]
        if not args or all(n == o for n, o in zip(args, g.args[node], strict=True)):
            done[node] = 2 * node
        elif op in ("add", "mul", "div", "sqrt", "sin", "cos"):
            done[node] = getattr(g, op)(*args)
        else:
            done[node] = g.function(op, *args)
    return [done[r >> 1] ^ (r & 1) if done[r >> 1] > 1 else 0 for r in refs]
