"""Kane's recursion in the forms that the search combines; every form gives the same values, some at a lower price.

A body's inertia force and torque can be written with the tensor of inertia or with second moments, in the link's own
axes or in the axes before its joint's turn.  In the latter the parameters turn instead of the motion: dearer for a link
that carries others, which want its motion in its own axes, cheaper for the last one and for links near the base.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from kane.equations.inertial import BodyInertia
from kane.equations.recursion import Wrench, add_rotor, add_wrench, body_wrench, project, wrench_out
from kane.equations.system import System
from kane.graph.arena import Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.motion import (
    FrameMotion,
    Kinematics,
    arm_matrix,
    frame_motions,
    move_through,
    rate_derivative,
    rates_with,
)
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import INDEX, SimpleRotation, Sym, Vec
from kane.search.parallel import absolute_motions, absolute_wrenches, parallel_runs
from kane.search.regroup import second_moment

Form = Literal["tensor", "second moments", "tensor before the turn", "second moments before the turn"]
FORMS: tuple[Form, ...] = get_args(Form)
BEFORE = FORMS[2:]


def second_moments(g: Graph, body: BodyInertia) -> Sym:
    """J about the origin: xx, xy, xz, yy, yz, zz."""
    a = [second_moment(g, body, i, j) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    return (a[0], a[1], a[2], a[3], a[4], a[5])


def second_moment_wrench(g: Graph, mass: Ref, h: Vec, J: Sym, motion: FrameMotion) -> Wrench:
    """Minus the inertia force and torque: force = m a + U h; moment = axial vector of U J - (U J)^T, plus h x a.

    With the second moments J a coefficient meets one element of U instead of a product of w and an element of alpha.
    """
    U, diagonal = motion.arm, motion.products[:3]
    force = v.add(g, v.scale(g, mass, motion.acc), v.apply(g, U, h))
    rows: list[Ref] = []
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        ij, ik, jk = J[INDEX[i][j]], J[INDEX[i][k]], J[INDEX[j][k]]
        terms = [
            g.mul(J[INDEX[j][j]], U[k][j]), g.neg(g.mul(J[INDEX[k][k]], U[j][k])), g.mul(ij, U[k][i]),
            g.neg(g.mul(ik, U[j][i])), g.mul(jk, g.sub(diagonal[j], diagonal[k])),
        ]  # fmt: skip
        rows.append(g.sum(terms))
    return Wrench(force, v.add(g, (rows[0], rows[1], rows[2]), v.cross(g, h, motion.acc)))


def turned_wrench(
    g: Graph, body: BodyInertia, motion: FrameMotion, form: Form, turn: SimpleRotation | None = None
) -> Wrench:
    """The body's wrench in the axes that the motion is given in: its own, or those before `turn`."""
    second = form.startswith("second")
    sym = second_moments(g, body) if second else body.tensor
    h = body.first
    if turn is not None:
        h, sym = turn.out(g, h), turn.sym_out(g, sym)
    return (
        second_moment_wrench(g, body.mass, h, sym, motion) if second
        else body_wrench(g, BodyInertia(body.mass, h, sym), motion)
    )  # fmt: skip


def motion_before(
    k: Kinematics, index: int, motions: Sequence[FrameMotion], u: Sequence[Ref], udot: Sequence[Ref], gravity: Vec
) -> FrameMotion:
    """The motion of a turning link's frame, its components in the axes before the turn."""
    g, m, parent = k.graph, k.motions[index], k.tree.nodes[index].parent
    start = (v.ZERO, v.ZERO, v.neg(gravity), None)
    if parent != ROOT:
        above = motions[parent]
        start = (above.w, above.alpha, above.acc, above.arm)  # type: ignore[assignment]
    w, alpha, parts, _ = move_through(g, m.fixed, start[0], start[1], [start[2]], start[3])
    rate = rates_with(k, m, u)
    alpha = v.add(g, alpha, rate_derivative(k, m, u, udot), v.cross(g, w, rate))
    w = v.add(g, w, rate)
    arm, products = arm_matrix(g, w, alpha)
    return FrameMotion(w, alpha, parts[0], arm, products)


def inverse_dynamics(
    system: System, u: Sequence[Ref], udot: Sequence[Ref], gravity: Vec, forms: Mapping[int, Form]
) -> list[Ref]:
    """tau of the motion (q, u, udot).

    forms: node -> how its inertia force is written, "tensor" where it is not named.
    """
    g, k = system.g, system.k
    motions = frame_motions(k, u, udot, gravity)
    wrenches: list[Wrench] = []
    ahead: dict[int, Wrench] = {}  # wrenches of bodies written in the axes before their turn
    for index, body in enumerate(system.bodies):
        form, step = forms.get(index, "tensor"), k.motions[index].step
        with g.origin(f"{k.tree.nodes[index].name}: inertia force"):
            if form in BEFORE and isinstance(step, SimpleRotation):
                before = motion_before(k, index, motions, u, udot, gravity)
                ahead[index] = turned_wrench(g, body, before, form, step)
                wrenches.append(Wrench())
            else:
                wrenches.append(turned_wrench(g, body, motions[index], form))
    tau = [g.zero] * len(u)
    for rotor in system.rotors:
        add_rotor(k, rotor, motions, wrenches, tau, u, udot)
    for index in reversed(range(len(motions))):
        node, m = k.tree.nodes[index], k.motions[index]
        with g.origin(f"{node.name}: generalized inertia force"):
            total = wrenches[index]
            if m.kind == "turn":  # the axis is the same before and after the turn
                total = add_wrench(g, wrench_out(g, (m.step,), total), ahead.get(index, Wrench()))
                project(g, m, total if index in ahead else wrenches[index], tau)
            else:
                project(g, m, total, tau)
                total = wrench_out(g, (m.step,), total)
        if node.parent != ROOT:
            with g.origin(f"{node.name}: carried to its parent"):
                carried = wrench_out(g, m.fixed, total)
                wrenches[node.parent] = add_wrench(g, wrenches[node.parent], carried)
    return tau


def ask_for_all(system: System, u: Sequence[Ref], udot: Sequence[Ref], gravity: Vec) -> None:
    """Ask an Alternatives graph for the same recursion in all forms and axes, and by turns through sums of angles."""
    g, k = system.g, system.k
    motions = frame_motions(k, u, udot, gravity)
    runs = parallel_runs(k, u, udot)
    in_run = absolute_motions(k, motions, runs, gravity)
    own: list[Wrench] = []
    own_before: dict[int, Wrench] = {}
    for index, body in enumerate(system.bodies):
        step = k.motions[index].step
        own.append(_in_all(g, body, motions[index], FORMS[:2]))
        if isinstance(step, SimpleRotation) and k.motions[index].kind == "turn":
            before = motion_before(k, index, motions, u, udot, gravity)
            own_before[index] = _in_all(g, body, before, BEFORE, step)
        if index in runs:
            _in_all(g, body, in_run[index], BEFORE, runs[index].turn)
    behind = [Wrench()] * len(own)  # what children carry to a node, those of its own run apart
    run = [Wrench()] * len(own)
    for index in reversed(range(len(own))):
        node, m = k.tree.nodes[index], k.motions[index]
        rest = add_wrench(g, behind[index], run[index])
        ahead = wrench_out(g, (m.step,), add_wrench(g, own[index], rest))
        if index in own_before:
            add_wrench(g, own_before[index], wrench_out(g, (m.step,), rest))
        if node.parent != ROOT:
            carried = wrench_out(g, m.fixed, ahead)
            target = run if index in runs else behind
            target[node.parent] = add_wrench(g, target[node.parent], carried)
    absolute_wrenches(k, [add_wrench(g, a, b) for a, b in zip(own, behind, strict=True)], runs)


def _in_all(
    g: Graph, body: BodyInertia, motion: FrameMotion, forms: Sequence[Form], turn: SimpleRotation | None = None
) -> Wrench:
    """The wrench, asked for in all these forms."""
    return [turned_wrench(g, body, motion, form, turn) for form in forms][-1]
