"""Kane's recursion in the forms that the search combines; every form gives the same values, some at a lower price.

A body's inertia force and torque can be written with the tensor of inertia or with second moments, in the link's own
axes or in the axes before its joint's turn.  In the latter the parameters turn instead of the motion: dearer for a link
that carries others, which want its motion in its own axes, cheaper for the last one and for links near the base.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from kane.equations.inertial import BodyInertia
from kane.equations.recursion import Wrench, add_rotor, add_wrench, body_wrench, project, wrench_out
from kane.equations.system import System
from kane.graph.arena import Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.accelerations import (
    FrameMotion,
    arm_matrix,
    frame_motions,
    move_through,
    rate_derivative,
    rates_with,
)
from kane.kinematics.motion import Kinematics, Shift, Step
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import INDEX, SimpleRotation, Sym, Vec
from kane.search.parallel import absolute_motions, absolute_wrenches, parallel_runs
from kane.search.placement import along as along_axis
from kane.search.regroup import second_moment
from kane.search.spin import spin_moment, spun

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
    system: System, u: Sequence[Ref], udot: Sequence[Ref], gravity: Vec, forms: Mapping[int, Form],
    levers: Collection[int] = (), spins: Collection[int] = (),
) -> list[Ref]:  # fmt: skip
    """tau of the motion (q, u, udot).

    forms: node -> how its inertia force is written, "tensor" where it is not named; levers: nodes whose shift along
    their own axis meets the force in their own axes; spins: nodes with inertia about their axes as in spin.py.
    """
    g, k = system.g, system.k
    bodies, spinning = spun(system, spins)
    motions = frame_motions(k, u, udot, gravity)
    wrenches: list[Wrench] = []
    ahead = [Wrench()] * len(motions)  # of bodies, in the axes before their turn
    beyond = [Wrench()] * len(motions)  # of children that were shifted with the node, before its slide
    in_front: set[int] = set()
    for index, body in enumerate(bodies):
        form, step = forms.get(index, "tensor"), k.motions[index].step
        with g.origin(f"{k.tree.nodes[index].name}: inertia force"):
            if form in BEFORE and isinstance(step, SimpleRotation):
                before = motion_before(k, index, motions, u, udot, gravity)
                ahead[index] = turned_wrench(g, body, before, form, step)
                in_front.add(index)
                wrenches.append(Wrench())
            else:
                own, moment = _axial_apart(k, index, body, motions, gravity, form)
                wrenches.append(own)
                ahead[index] = Wrench(v.ZERO, moment)
            axis = k.motions[index].axis
            if index in spinning and axis is not None:
                spin = spin_moment(g, axis, spinning[index], motions[index].alpha)
                wrenches[index] = add_wrench(g, wrenches[index], Wrench(v.ZERO, spin))
    tau = [g.zero] * len(u)
    for rotor in system.rotors:
        with g.origin(f"{rotor.joint}: rotor"):
            add_rotor(k, rotor, motions, wrenches, tau, u, udot)
    for index in reversed(range(len(motions))):
        node, m = k.tree.nodes[index], k.motions[index]
        along = axial_shift(k, index) if index in levers else None
        with g.origin(f"{node.name}: generalized inertia force"):
            total = wrenches[index]
            if m.kind == "turn":  # the axis is the same before and after the turn
                lever = along.inner if along else ()
                turned = wrench_out(g, (m.step,), total)
                project(g, m, add_wrench(g, turned, ahead[index]) if index in in_front else total, tau)
                turned = wrench_out(g, (m.step, *lever), total) if lever else turned
                total = add_wrench(g, turned, wrench_out(g, lever, ahead[index]))
            else:
                project(g, m, add_wrench(g, total, beyond[index]), tau)
                total = add_wrench(g, wrench_out(g, (m.step,), total), beyond[index])
        if node.parent != ROOT:
            with g.origin(f"{node.name}: carried to its parent"):
                carried = wrench_out(g, along.fixed if along else m.fixed, total)
                target = beyond if along and along.past_slide else wrenches
                target[node.parent] = add_wrench(g, target[node.parent], carried)
    return tau


def _axial_apart(
    k: Kinematics, index: int, body: BodyInertia, motions: Sequence[FrameMotion], gravity: Vec, form: Form
) -> tuple[Wrench, Vec]:
    """The body's wrench in its own axes, and the moment of a first moment along its axis in those before its turn.

    That moment is h e x a: a is at hand in the axes before the turn.
    """
    g, m = k.graph, k.motions[index]
    if m.kind != "turn" or m.axis is None or body.first[m.axis] < 2:
        return turned_wrench(g, body, motions[index], form), v.ZERO
    along = along_axis(m.axis, body.first[m.axis])
    rest = replace(body, first=v.sub(g, body.first, along))
    own = turned_wrench(g, rest, motions[index], form)
    force = v.add(g, own.force, v.apply(g, motions[index].arm, along))
    return Wrench(force, own.moment), v.cross(g, along, acc_before(k, index, motions, gravity))


def acc_before(k: Kinematics, index: int, motions: Sequence[FrameMotion], gravity: Vec) -> Vec:
    """The acceleration of a node's origin in the axes before its motion."""
    g, m, parent = k.graph, k.motions[index], k.tree.nodes[index].parent
    if parent == ROOT:
        return move_through(g, m.fixed, v.ZERO, v.ZERO, [v.neg(gravity)], None)[2][0]
    above = motions[parent]
    return move_through(g, m.fixed, above.w, above.alpha, [above.acc], above.arm)[2][0]


@dataclass(frozen=True, slots=True)
class AxialShift:
    """A shift along a turn's own axis, next to the turn: it may be gone through before or after the turn.

    inner: the shift as a step; fixed: the fixed steps without it; past_slide: it is the parent's slide.
    """

    inner: tuple[Shift, ...]
    fixed: tuple[Step, ...]
    past_slide: bool


def axial_shift(k: Kinematics, index: int) -> AxialShift | None:
    """The shift along the axis of a turning node just before it: of its fixed steps, or its parent's slide."""
    m, parent = k.motions[index], k.tree.nodes[index].parent
    if m.kind != "turn" or m.axis is None or parent == ROOT:
        return None
    if m.fixed:
        last = m.fixed[-1]
        if not isinstance(last, Shift) or last.by[m.axis] < 2:
            return None
        along = along_axis(m.axis, last.by[m.axis])
        rest = v.sub(k.graph, last.by, along)
        kept = (*m.fixed[:-1], Shift(rest)) if rest != v.ZERO else m.fixed[:-1]
        return AxialShift((Shift(along),), kept, False)
    above = k.motions[parent]
    if above.kind == "slide" and isinstance(above.step, Shift) and not above.own_axes:
        if all(x < 2 for i, x in enumerate(above.step.by) if i != m.axis) and above.step.by != v.ZERO:
            return AxialShift((above.step,), (), True)
    return None


def ask_for_all(
    system: System, u: Sequence[Ref], udot: Sequence[Ref], gravity: Vec, spins: Collection[int] = ()
) -> None:
    """Ask an Alternatives graph for the same recursion in all forms and axes, and by turns through sums of angles."""
    g, k = system.g, system.k
    bodies, spinning = spun(system, spins)
    motions = frame_motions(k, u, udot, gravity)
    runs = parallel_runs(k, u, udot)
    in_run = absolute_motions(k, motions, runs, gravity)
    own: list[Wrench] = []
    spins_of: list[Vec] = []
    own_before: dict[int, Wrench] = {}
    for index, body in enumerate(bodies):
        step, axis = k.motions[index].step, k.motions[index].axis
        own.append(_in_all(g, body, motions[index], FORMS[:2]))
        spin: Vec = v.ZERO
        if index in spinning and axis is not None:
            spin = spin_moment(g, axis, spinning[index], motions[index].alpha)
            own[index] = add_wrench(g, own[index], Wrench(v.ZERO, spin))
        spins_of.append(spin)
        if isinstance(step, SimpleRotation) and k.motions[index].kind == "turn":
            before = motion_before(k, index, motions, u, udot, gravity)
            assert axis is not None
            parent = k.tree.nodes[index].parent
            above = (v.ZERO, v.ZERO) if parent == ROOT else (motions[parent].w, motions[parent].alpha)
            w, alpha, _, _ = move_through(g, k.motions[index].fixed, *above, [v.ZERO], None)
            _ask_arms(g, axis, step, before, rates_with(k, k.motions[index], u)[axis], w, alpha)
            own_before[index] = add_wrench(g, _in_all(g, body, before, BEFORE, step), Wrench(v.ZERO, spin))
        if index in runs:
            _in_all(g, body, in_run[index], BEFORE, runs[index].turn)
    behind = [Wrench()] * len(own)  # what children carry to a node, those of its own run apart
    run = [Wrench()] * len(own)
    past, aside = [Wrench()] * len(own), [Wrench()] * len(own)  # of children shifted with a node's slide, and others
    for index in reversed(range(len(own))):
        node, m = k.tree.nodes[index], k.motions[index]
        rest = add_wrench(g, behind[index], run[index])
        total = add_wrench(g, own[index], rest)
        ahead = wrench_out(g, (m.step,), total)
        if index in own_before:
            add_wrench(g, own_before[index], wrench_out(g, (m.step,), rest))
            apart, moment = _axial_apart(k, index, bodies[index], motions, gravity, FORMS[0])
            if moment != v.ZERO:
                apart = add_wrench(g, apart, Wrench(v.ZERO, spins_of[index]))
                turned = wrench_out(g, (m.step,), add_wrench(g, apart, rest))
                add_wrench(g, turned, Wrench(v.ZERO, moment))
        if past[index] != Wrench():
            add_wrench(g, wrench_out(g, (m.step,), add_wrench(g, own[index], aside[index])), past[index])
        if node.parent != ROOT:
            carried = wrench_out(g, m.fixed, ahead)
            target = run if index in runs else behind
            target[node.parent] = add_wrench(g, target[node.parent], carried)
            along = axial_shift(k, index)
            lever = wrench_out(g, (*along.fixed, m.step, *along.inner), total) if along else Wrench()
            share, mine = (past, lever) if along and along.past_slide else (aside, carried)
            share[node.parent] = add_wrench(g, share[node.parent], mine)
    absolute_wrenches(k, [add_wrench(g, a, b) for a, b in zip(own, behind, strict=True)], runs)


def _ask_arms(g: Graph, axis: int, turn: SimpleRotation, before: FrameMotion, rate: Ref, w: Vec, alpha: Vec) -> None:
    """Ask for the elements of U that a turn at `rate` changes, from the motion (w, alpha) without it.

    e the turn's axis, a and b across: U_ea = w_a (w_e + 2 rate) - alpha_b, U_eb = w_b (w_e + 2 rate) + alpha_a;
    U_ae and U_be, the acceleration of e, do not feel it. In the axes before the turn and in those after it.
    """
    a, b = (axis + 1) % 3, (axis + 2) % 3
    g.add(w[axis], g.add(rate, rate))
    twice = g.add(before.w[axis], rate)
    for x, y in ((w, alpha), (turn.into(g, w), turn.into(g, alpha))):
        g.sub(g.mul(x[a], twice), y[b])
        g.add(g.mul(x[b], twice), y[a])
        g.add(g.mul(x[a], w[axis]), y[b])
        g.sub(g.mul(x[b], w[axis]), y[a])


def _in_all(
    g: Graph, body: BodyInertia, motion: FrameMotion, forms: Sequence[Form], turn: SimpleRotation | None = None
) -> Wrench:
    """The wrench, asked for in all these forms."""
    return [turned_wrench(g, body, motion, form, turn) for form in forms][-1]
