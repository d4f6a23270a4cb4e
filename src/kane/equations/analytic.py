"""Derivatives of inverse dynamics by composite bodies: cost proportional to the pairs (joint, ancestor).

Turning all that is behind a joint by a small angle about its axis e changes, in axes turned with it, the acceleration
of a point at r (from the joint's origin o, with velocity rdot relative to o) by  z + Y x r + 2 x x rdot,  where x =
w_P x e,  Y = alpha_P x e + w_P x x,  z = a_P x e and w_P, alpha_P, a_P are the motion of the parent's frame at o (a_P
less gravity).  A change of the rate gives z = 0, Y = x + w x e and e in the place of x.  Summed over the composite
body behind the joint, with m, h, I, P = sum m rdot and K = sum m rdot r^T, the forces change by F = m z + Y x h + 2 x
x P,  N = h x z + I Y + 2 (tr K - K) x.  Columns: (F, N) is carried to the ancestors; rows: the same form is carried as
the coefficients of (z, Y, x).  P and K are kept doubled, so that no factor 2 is left.  The result equals Singh, Russell
and Wensing 2022, eqs. 29-32, in the velocity-free coordinates of Khalil's recursion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from kane.equations.inertial import BodyInertia, carry_out, combine
from kane.equations.recursion import Wrench, add_wrench, body_wrench, wrench_out
from kane.equations.system import System
from kane.graph.arena import CONSTANT, Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.accelerations import FrameMotion, frame_motions, move_through
from kane.kinematics.motion import Kinematics, Shift, Step
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import Mat, Vec

Rows = list[list[Ref]]
_NOTHING = (v.ZERO, v.ZERO, v.ZERO)


@dataclass(frozen=True, slots=True)
class Freedom:
    """One speed at a node: unit direction e (times `factor`), turning or sliding, and what its changes do.

    by_q, by_u: (x, Y, z) of a change of the coordinate and of the rate.
    """

    speed: int
    e: Vec
    turning: bool
    factor: Ref
    by_q: tuple[Vec, Vec, Vec]
    by_u: tuple[Vec, Vec, Vec]


@dataclass(frozen=True, slots=True)
class Composite:
    """All that is behind a node: (m, h, I), 2 P and 2 K about the node's origin, node axes."""

    body: BodyInertia
    P: Vec
    K: Mat


def serves(system: System) -> bool:
    """True when every rate is a constant times one speed (or a quaternion's), and no wrench or rotor acts elsewhere."""
    k = system.k
    if system.external or any(r.carrier is not None for r in system.rotors) or k.mechanism.speeds:
        return False
    for m in k.motions:
        if m.own_axes or m.kind == "ball":
            continue
        refs = [x for p in m.partials.values() for x in p]
        own = v.total(k.graph, [v.scale(k.graph, k.symbols.u[r], p) for r, p in m.partials.items()])
        if len(m.partials) != 1 or own != m.rate or any(k.graph.level_of(x) > CONSTANT for x in refs):
            return False
    return all(_alone(k, i) for i, m in enumerate(k.motions) if m.own_axes)


def _alone(k: Kinematics, index: int) -> bool:
    """A floating joint's slide starts in N and carries nothing but its ball."""
    children = k.tree.children(index)
    node = k.tree.nodes[index]
    ball = len(children) == 1 and k.motions[children[0]].kind == "ball" and not k.tree.nodes[children[0]].fixed
    return node.parent == ROOT and ball and not node.links


def analytic_derivatives(
    system: System, udot: Sequence[Ref] | None = None, by_rates_only: bool = False
) -> tuple[Rows, Rows, Rows]:
    """(dtau/dq in the tangent, dtau/du, M) of inverse dynamics at udot (its symbols by default).

    by_rates_only: the first is left empty; the others do not depend on udot.
    """
    g, k, n = system.g, system.k, system.nv
    motions = frame_motions(k, k.symbols.u, k.symbols.udot if udot is None else udot, system.gravity)
    nodes = range(len(motions))
    freedoms = [_freedoms(system, i, motions) for i in nodes]
    stages = [_stages(k, i, motions) for i in nodes]
    composites = [_own(g, body, motion) for body, motion in zip(system.bodies, motions, strict=True)]
    wrenches = [Wrench() for _ in nodes]
    if by_rates_only:
        freedoms = [[replace(f, by_q=_NOTHING) for f in each] for each in freedoms]
    else:
        wrenches = [body_wrench(g, body, motion) for body, motion in zip(system.bodies, motions, strict=True)]
    by_q, by_u, M = ([[g.zero] * n for _ in range(n)] for _ in range(3))
    for i in reversed(nodes):
        parent, steps = k.tree.nodes[i].parent, [s for s, _, _ in stages[i]]
        for f in freedoms[i]:
            _columns(system, i, f, freedoms, composites[i], wrenches[i], by_q, by_u)
            _rows(system, i, f, freedoms, stages, composites[i], by_q, by_u, M)
        if parent != ROOT:
            composites[parent] = _joined(g, composites[parent], _carried(g, stages[i], composites[i]))
            wrenches[parent] = add_wrench(g, wrenches[parent], wrench_out(g, steps, wrenches[i]))
    for rotor in system.rotors:
        reflected = g.mul(rotor.inertia, g.mul(rotor.ratio, rotor.ratio))
        for f in freedoms[rotor.node]:
            square = g.mul(reflected, g.mul(f.factor, f.factor))
            M[f.speed][f.speed] = g.add(M[f.speed][f.speed], square)
    return by_q, by_u, M


def bias_by_rates(system: System, by_u: Rows) -> list[Ref]:
    """The bias forces, given dtau/du: velocity terms are quadratic in u, hence (1/2) (dtau/du) u; and the weight.

    The weight of all behind a freedom is known by its composite mass and first moment: m e . a or e . (h x a), with a
    the upward acceleration that stands for gravity.
    """
    g, k, u = system.g, system.k, system.k.symbols.u
    half = g.number(Fraction(1, 2))
    bias = [g.mul(half, g.dot(row, u)) for row in by_u]
    nodes = range(len(k.motions))
    up: list[Vec] = []
    for i in nodes:
        parent, m = k.tree.nodes[i].parent, k.motions[i]
        a = up[parent] if parent != ROOT else v.neg(system.gravity)
        for step in (*m.fixed, m.step):
            a = a if isinstance(step, Shift) else step.into(g, a)
        up.append(a)
    zeros = [g.zero] * system.nv
    still = frame_motions(k, zeros, zeros, v.ZERO)
    freedoms = [_freedoms(system, i, still) for i in nodes]
    bodies = list(system.bodies)
    for i in reversed(nodes):
        parent, m = k.tree.nodes[i].parent, k.motions[i]
        load = Wrench(v.scale(g, bodies[i].mass, up[i]), v.cross(g, bodies[i].first, up[i]))
        for f in freedoms[i]:
            bias[f.speed] = g.add(bias[f.speed], g.mul(f.factor, _taken(g, f, load)))
        if parent != ROOT:
            bodies[parent] = combine(g, bodies[parent], carry_out(g, (*m.fixed, m.step), bodies[i]))
    return bias


def _freedoms(system: System, index: int, motions: Sequence[FrameMotion]) -> list[Freedom]:
    """The freedoms of a node; those of a floating joint's slide are taken at its ball, in body axes."""
    g, k = system.g, system.k
    m, node = k.motions[index], k.tree.nodes[index]
    if m.own_axes:
        return []
    slide = k.motions[node.parent] if node.parent != ROOT and k.motions[node.parent].own_axes else None
    w, alpha, a = _parent_field(system, index, motions, slide is not None)
    if m.kind != "ball":
        ((speed, partial),) = m.partials.items()
        factor = g.sum(partial) if sum(x > 1 for x in partial) == 1 else g.one
        e = v.unit((0, 1, 2)[[x > 1 for x in partial].index(True)]) if factor != g.one else partial
        turn = m.kind == "turn"
        return [(_turning if turn else _sliding)(g, speed, e, factor, (w, alpha, a), motions[index].w)]
    own = [_turning(g, r, p, g.one, (w, alpha, a), motions[index].w) for r, p in m.partials.items()]
    if slide is not None:
        u = k.symbols.u
        order = sorted(slide.partials)
        vel = (u[order[0]], u[order[1]], u[order[2]])
        own = [_with_slide(g, f, vel) for f in own]
        w_own = motions[index].w
        for axis, r in enumerate(order):
            e = v.unit((0, 1, 2)[axis])
            own.append(Freedom(r, e, False, g.one, _NOTHING, (v.ZERO, v.ZERO, v.cross(g, w_own, e))))
    return own


def _turning(g: Graph, speed: int, e: Vec, factor: Ref, parent: tuple[Vec, Vec, Vec], w_own: Vec) -> Freedom:
    w, alpha, a = parent
    x = v.cross(g, w, e)
    Y = v.add(g, v.cross(g, alpha, e), v.cross(g, w, x))
    return Freedom(speed, e, True, factor, (x, Y, v.cross(g, a, e)), (e, v.add(g, x, v.cross(g, w_own, e)), v.ZERO))


def _sliding(g: Graph, speed: int, e: Vec, factor: Ref, parent: tuple[Vec, Vec, Vec], w_own: Vec) -> Freedom:
    w, alpha, _ = parent
    we = v.cross(g, w, e)
    z = v.add(g, v.cross(g, alpha, e), v.cross(g, w, we))
    return Freedom(speed, e, False, factor, (v.ZERO, v.ZERO, z), (v.ZERO, v.ZERO, v.add(g, we, we)))


def _with_slide(g: Graph, f: Freedom, vel: Vec) -> Freedom:
    """The origin's acceleration vdot + w x v changes with the angular velocity too."""
    x, Y, z = f.by_u
    return Freedom(f.speed, f.e, f.turning, f.factor, f.by_q, (x, Y, v.add(g, z, v.cross(g, f.e, vel))))


def _parent_field(system: System, index: int, motions: Sequence[FrameMotion], floating: bool) -> tuple[Vec, Vec, Vec]:
    """(w, alpha, a) of the parent's frame at this node's origin, node axes; for a floating joint that of N."""
    g, k = system.g, system.k
    node, m = k.tree.nodes[index], k.motions[index]
    steps = (*m.fixed, m.step)
    if floating:
        above = k.motions[node.parent]
        turns = [s for s in (*above.fixed, above.step, *steps) if not isinstance(s, Shift)]
        a = v.neg(system.gravity)
        for turn in turns:
            a = turn.into(g, a)
        return v.ZERO, v.ZERO, a
    if node.parent == ROOT:
        w, alpha, a0, arm = v.ZERO, v.ZERO, v.neg(system.gravity), None
    else:
        p = motions[node.parent]
        w, alpha, a0, arm = p.w, p.alpha, p.acc, p.arm
    w, alpha, parts, _ = move_through(g, steps, w, alpha, [a0], arm)
    return w, alpha, parts[0]


def _stages(k: Kinematics, index: int, motions: Sequence[FrameMotion]) -> list[tuple[Step, Vec, Vec]]:
    """Each step from parent to node with the angular velocity of its axes and, for the slide, the rate."""
    g = k.graph
    node, m = k.tree.nodes[index], k.motions[index]
    w = motions[node.parent].w if node.parent != ROOT else v.ZERO
    result = []
    for step in (*m.fixed, m.step):
        rate = m.rate if step is m.step and m.kind == "slide" else v.ZERO
        result.append((step, w, rate))
        if not isinstance(step, Shift):
            w = step.into(g, w)
    return result


def _own(g: Graph, body: BodyInertia, motion: FrameMotion) -> Composite:
    """2 P = w x 2 h, 2 K = [w x] 2 S with the second moments 2 S = tr I 1 - 2 I."""
    xx, xy, xz, yy, yz, zz = body.tensor
    xy, xz, yz = (g.neg(_twice(g, a)) for a in (xy, xz, yz))
    diagonal = (g.sub(g.add(yy, zz), xx), g.sub(g.add(xx, zz), yy), g.sub(g.add(xx, yy), zz))
    S: Mat = ((diagonal[0], xy, xz), (xy, diagonal[1], yz), (xz, yz, diagonal[2]))
    columns = [v.cross(g, motion.w, column) for column in S]
    first = v.cross(g, motion.w, v.add(g, body.first, body.first))
    return Composite(body, first, v.transpose((columns[0], columns[1], columns[2])))


def _twice(g: Graph, a: Ref) -> Ref:
    return g.add(a, a)


def _doubled_rate(g: Graph, w: Vec, step: Shift, rate: Vec) -> Vec:
    """Twice the velocity of a shifted origin: 2 w x d + 2 rate."""
    return v.add(g, v.cross(g, w, v.add(g, step.by, step.by)), v.add(g, rate, rate))


def _joined(g: Graph, a: Composite, b: Composite) -> Composite:
    rows = [v.add(g, x, y) for x, y in zip(a.K, b.K, strict=True)]
    return Composite(combine(g, a.body, b.body), v.add(g, a.P, b.P), (rows[0], rows[1], rows[2]))


def _carried(g: Graph, stages: Sequence[tuple[Step, Vec, Vec]], c: Composite) -> Composite:
    """About the parent's origin: with o moving at s = w x d + rate, K' = K + P d^T + s h'^T, P' = P + m s; doubled."""
    body, P, K = c.body, c.P, c.K
    for step, w, rate in reversed(stages):
        body = carry_out(g, (step,), body)
        if isinstance(step, Shift):
            s = _doubled_rate(g, w, step, rate)
            rows = [v.add(g, K[i], v.scale(g, P[i], step.by), v.scale(g, s[i], body.first)) for i in range(3)]
            K, P = (rows[0], rows[1], rows[2]), v.add(g, P, v.scale(g, body.mass, s))
        else:
            rows = [step.out(g, row) for row in K]
            columns = [step.out(g, column) for column in v.transpose((rows[0], rows[1], rows[2]))]
            K, P = v.transpose((columns[0], columns[1], columns[2])), step.out(g, P)
    return Composite(body, P, K)


def _change(g: Graph, c: Composite, change: tuple[Vec, Vec, Vec]) -> Wrench:
    """F = m z + Y x h + 2 x x P, N = h x z + I Y + 2 (tr K x - K x)."""
    x, Y, z = change
    force = v.add(g, v.scale(g, c.body.mass, z), v.cross(g, Y, c.body.first), v.cross(g, x, c.P))
    spin = v.apply(g, _traced(g, c.K), x)
    return Wrench(force, v.add(g, v.cross(g, c.body.first, z), v.sym_apply(g, c.body.tensor, Y), spin))


def _traced(g: Graph, K: Mat) -> Mat:
    """tr K - K."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = K
    return (
        (g.add(yy, zz), g.neg(xy), g.neg(xz)),
        (g.neg(yx), g.add(xx, zz), g.neg(yz)),
        (g.neg(zx), g.neg(zy), g.add(xx, yy)),
    )


def _columns(  # noqa: PLR0913
    system: System, index: int, f: Freedom, freedoms: list[list[Freedom]], c: Composite, total: Wrench, by_q: Rows,
    by_u: Rows,
) -> None:  # fmt: skip
    """Column f.speed: forces of the composite body's changes on this node and on all its ancestors."""
    g, k = system.g, system.k
    change_q, change_u = _change(g, c, f.by_q), _change(g, c, f.by_u)
    for other in freedoms[index]:
        _put(g, by_q, other, f, _taken(g, other, change_q))
        _put(g, by_u, other, f, _taken(g, other, change_u))
    if f.turning:
        turned = Wrench(v.cross(g, f.e, total.force), v.cross(g, f.e, total.moment))
    else:
        turned = Wrench(v.ZERO, v.cross(g, f.e, total.force))
    change_q = add_wrench(g, change_q, turned)
    while (parent := k.tree.nodes[index].parent) != ROOT:
        steps = (*k.motions[index].fixed, k.motions[index].step)
        change_q, change_u = wrench_out(g, steps, change_q), wrench_out(g, steps, change_u)
        for other in freedoms[parent]:
            _put(g, by_q, other, f, _taken(g, other, change_q))
            _put(g, by_u, other, f, _taken(g, other, change_u))
        index = parent


def _taken(g: Graph, f: Freedom, load: Wrench) -> Ref:
    return g.dot(f.e, load.moment if f.turning else load.force)


def _put(g: Graph, rows: Rows, row: Freedom, column: Freedom, value: Ref) -> None:
    scaled = g.mul(value, g.mul(row.factor, column.factor))
    rows[row.speed][column.speed] = g.add(rows[row.speed][column.speed], scaled)


def _rows(  # noqa: PLR0913
    system: System, index: int, f: Freedom, freedoms: list[list[Freedom]],
    stages: list[list[tuple[Step, Vec, Vec]]], c: Composite, by_q: Rows, by_u: Rows, M: Rows,
) -> None:  # fmt: skip
    """Row f.speed: the force of f as a linear form in the changes (z, Y, x) of each ancestor; M on the way."""
    g, k = system.g, system.k
    if f.turning:
        of_z, of_Y = v.cross(g, f.e, c.body.first), v.sym_apply(g, c.body.tensor, f.e)
        of_x = v.apply(g, v.transpose(_traced(g, c.K)), f.e)
    else:
        of_z, of_Y = v.scale(g, c.body.mass, f.e), v.cross(g, c.body.first, f.e)
        of_x = v.cross(g, c.P, f.e)
    for other in freedoms[index]:
        _put(g, M, other, f, _taken(g, other, Wrench(of_z, of_Y)))
    while (parent := k.tree.nodes[index].parent) != ROOT:
        for step, w, rate in reversed(stages[index]):
            if isinstance(step, Shift):
                s = _doubled_rate(g, w, step, rate)
                of_Y, of_x = v.add(g, of_Y, v.cross(g, step.by, of_z)), v.add(g, of_x, v.cross(g, s, of_z))
            else:
                of_z, of_Y, of_x = step.out(g, of_z), step.out(g, of_Y), step.out(g, of_x)
        for other in freedoms[parent]:
            for rows, (x, Y, z) in ((by_q, other.by_q), (by_u, other.by_u)):
                value = g.sum((g.dot(of_z, z), g.dot(of_Y, Y), g.dot(of_x, x)))
                _put(g, rows, f, other, value)
            mass = _taken(g, other, Wrench(of_z, of_Y))
            _put(g, M, f, other, mass)
            _put(g, M, other, f, mass)
        index = parent
