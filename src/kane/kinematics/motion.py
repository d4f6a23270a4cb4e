"""Velocities and accelerations frame by frame (steps 3 and 5 of Kane's method), by walking the moves of the tree.

Notation: w_NB_B angular velocity of B in N, axes of B; U = [alpha x] + [w x][w x] takes a fixed arm to its
acceleration (Khalil and Kleinfinger 1987); a is the acceleration of the frame's origin less gravity, so that weight
needs no term of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from kane.graph.arena import STATE, Graph, Ref
from kane.graph.derivative import forward
from kane.kinematics import vectors as v
from kane.kinematics.coordinates import Coordinates, Symbols, find_coordinates, make_symbols
from kane.kinematics.tree import ROOT, Tree, build_tree
from kane.kinematics.vectors import Mat, Rotation, SimpleRotation, Vec
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


@dataclass(frozen=True, slots=True)
class FrameMotion:
    """Motion of a frame in N, components along its own axes.

    w angular velocity, alpha angular acceleration, vel velocity of the origin, acc its acceleration less gravity.  arm:
    the matrix U = [alpha x] + [w x][w x]; products: -wx^2, -wy^2, -wz^2, wx wy, wx wz, wy wz.
    """

    w: Vec
    alpha: Vec
    acc: Vec
    arm: Mat
    products: tuple[Ref, Ref, Ref, Ref, Ref, Ref]


def arm_matrix(g: Graph, w: Vec, alpha: Vec) -> tuple[Mat, tuple[Ref, Ref, Ref, Ref, Ref, Ref]]:
    """U = [alpha x] + [w x][w x] and the products of w it is made of."""
    xx, yy, zz = (g.neg(g.mul(x, x)) for x in w)
    xy, xz, yz = g.mul(w[0], w[1]), g.mul(w[0], w[2]), g.mul(w[1], w[2])
    rows = (
        (g.add(yy, zz), g.sub(xy, alpha[2]), g.add(xz, alpha[1])),
        (g.add(xy, alpha[2]), g.add(xx, zz), g.sub(yz, alpha[0])),
        (g.sub(xz, alpha[1]), g.add(yz, alpha[0]), g.add(xx, yy)),
    )
    return rows, (xx, yy, zz, xy, xz, yz)


def move_through(
    g: Graph, steps: Sequence[Step], w: Vec, alpha: Vec, parts: list[Vec], arm: Mat | None
) -> tuple[Vec, Vec, list[Vec], Mat | None]:
    """Carry angular velocity, angular acceleration and acceleration parts through fixed steps."""
    for step in steps:
        if isinstance(step, Shift):
            if arm is None:
                arm = arm_matrix(g, w, alpha)[0]
            parts = [v.add(g, parts[0], v.apply(g, arm, step.by)), *parts[1:]]
        else:
            w, alpha, parts, arm = step.into(g, w), step.into(g, alpha), [step.into(g, p) for p in parts], None
    return w, alpha, parts, arm


def frame_motions(k: Kinematics, u: Sequence[Ref], udot: Sequence[Ref], gravity: Vec) -> list[FrameMotion]:
    """Angular velocity and acceleration, and origin acceleration less gravity, of every node's frame.

    u and udot replace the speeds and their rates (zeros give the static or the bias case).  Buffinton steps 3 and 5;
    the recursion is that of Luh, Walker and Paul 1980.
    """
    g = k.graph
    base = (v.ZERO, v.ZERO, [v.neg(gravity)], None)
    states: dict[int, tuple[Vec, Vec, list[Vec], Mat | None]] = {ROOT: base}
    motions: list[FrameMotion] = []
    for index, (node, m) in enumerate(zip(k.tree.nodes, k.motions, strict=True)):
        w, alpha, parts, arm = move_through(g, m.fixed, *states[node.parent])
        rate = rates_with(k, m, u)
        acc = rate_derivative(k, m, u, udot)
        if m.kind == "slide":
            w, alpha, parts, arm = move_through(g, (m.step,), w, alpha, parts, arm)
            coriolis = v.cross(g, w, rate)
            inner = v.add(g, acc, coriolis, coriolis)
            parts = [*parts, inner] if m.own_axes else [v.add(g, parts[0], inner), *parts[1:]]
        else:
            w, alpha, parts, arm = move_through(g, (m.step,), w, alpha, parts, None)
            alpha = v.add(g, alpha, acc, v.cross(g, w, rate))
            w = v.add(g, w, rate)
            parts, arm = [v.total(g, parts)], None
        if arm is None:
            arm, products = arm_matrix(g, w, alpha)
        else:
            products = arm_matrix(g, w, alpha)[1]
        states[index] = (w, alpha, parts, arm)
        motions.append(FrameMotion(w, alpha, v.total(g, parts), arm, products))
    return motions


def rates_with(k: Kinematics, m: NodeMotion, u: Sequence[Ref]) -> Vec:
    """The rate with other values of the speeds: it is linear in them (plus prescribed motion)."""
    if tuple(u) == k.symbols.u:
        return m.rate
    g = k.graph
    rest = prescribed_rate(k, m)
    return v.total(g, [rest, *(v.scale(g, u[r], p) for r, p in m.partials.items())])


def prescribed_rate(k: Kinematics, m: NodeMotion) -> Vec:
    """The part of the rate that no speed controls (specified motions); zero for most mechanisms."""
    g = k.graph
    own = v.total(g, [v.scale(g, k.symbols.u[r], p) for r, p in m.partials.items()])
    return v.sub(g, m.rate, own)


def rate_derivative(k: Kinematics, m: NodeMotion, u: Sequence[Ref], udot: Sequence[Ref]) -> Vec:
    """Time derivative of the rate's components, with the given speeds and their derivatives."""
    g, s = k.graph, k.symbols
    linear = v.total(g, [v.scale(g, udot[r], p) for r, p in m.partials.items()])
    if m.own_axes:  # d/dt (R v) = R (vdot + w x v): the first part is `linear`, R (w x v) the second
        return v.add(g, linear, _own_axes_term(k, m, u))
    fixed = tuple(s.u) == tuple(u)
    drift = forward(g, list(m.rate), rate_direction(g, s))
    if not any(d > 1 for d in drift):
        return linear
    if not fixed:
        drift = substitute(g, drift, dict(zip(s.u, u, strict=True)))
    return v.add(g, linear, (drift[0], drift[1], drift[2]))


def _own_axes_term(k: Kinematics, m: NodeMotion, u: Sequence[Ref]) -> Vec:
    g, c = k.graph, k.coordinates
    for _, speeds, q in c.positions:
        if c.speeds.index(speeds[0]) in m.partials:
            vel = [u[c.speeds.index(n)] for n in speeds]
            w = [u[c.speeds.index(n)] for n in c.quaternions[q][1]]
            quaternion = [k.symbols.by_name[n] for n in c.quaternions[q][0]]
            turned = v.cross(g, (w[0], w[1], w[2]), (vel[0], vel[1], vel[2]))
            return v.quaternion_rotation(g, *quaternion).out(g, turned)
    raise AssertionError("no floating joint has these speeds")


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
