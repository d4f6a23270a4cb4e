"""Forward dynamics in speeds that make the mass matrix simple: rates summed over runs of parallel axes.

Mitiguy and Kane's efficient motion variables, found instead of chosen: for links that turn about parallel axes the
speed of each is its angular speed about the axis relative to the frame before the run, w_r = qd_r + w_s with s the link
before it.  A unit w_r turns link r and what hangs on it otherwise, and only translates the later links of the run, so
that an element of the mass matrix between two links of a run is a constant times the cosine of the angle between them
wherever nothing else moves behind them.  With qd = Z w the equations are (Z^T M Z) wdot = Z^T (tau - bias).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kane.equations.composite import mass_matrix, momentum
from kane.equations.forward import elimination_order, factorise, solve
from kane.equations.inertial import BodyInertia, carry_out, combine
from kane.equations.recursion import Wrench, wrench_out
from kane.equations.system import System
from kane.graph.arena import CONSTANT, Graph, Ref
from kane.graph.derivative import forward
from kane.kinematics import vectors as v
from kane.kinematics.motion import Kinematics, NodeMotion, Shift
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import SimpleRotation, Vec
from kane.mechanism.model import Turn
from kane.search.parallel import parallel_runs

LONGEST = 20  # speeds of a robot; the equations of larger ones are cheaper by articulated bodies
TERMS = 16  # sums longer than this are not opened


@dataclass(frozen=True, slots=True)
class Runs:
    """parent: node -> the node before it in its run.  before: the same by speeds; after: the speeds right behind."""

    parent: Mapping[int, int]
    before: Mapping[int, int]
    after: Mapping[int, tuple[int, ...]]


def find_runs(k: Kinematics) -> Runs:
    """Runs of turns about parallel axes, each driven by a speed of its own."""
    zeros = [k.graph.zero] * len(k.symbols.u)
    drivers = [r for m in k.motions for r in m.partials]

    def own(m: NodeMotion) -> bool:
        (driver, partial), *others = m.partials.items()
        return not others and drivers.count(driver) == 1 and m.axis is not None and partial == v.unit(m.axis)

    runs = parallel_runs(k, k.symbols.u, zeros)
    parents = {i: k.tree.nodes[i].parent for i in runs}
    parent = {i: p for i, p in parents.items() if own(k.motions[i]) and own(k.motions[p])}
    speed = {i: next(iter(k.motions[i].partials)) for i in (*parent, *parent.values())}
    before = {speed[i]: speed[p] for i, p in parent.items()}
    after = {s: tuple(r for r, p in before.items() if p == s) for s in before.values()}
    return Runs(parent, before, after)


def worth_trying(k: Kinematics) -> bool:
    """True when there are rates to sum and the robot is not too large."""
    return len(k.symbols.u) <= LONGEST and bool(find_runs(k).before)


def forward_dynamics(
    system: System, runs: Runs, forces: Callable[[Sequence[Ref]], list[Ref]], tau: Sequence[Ref] | None = None
) -> list[Ref]:
    """qdd from (q, qd, tau) by L^T D L of the mass matrix of the summed rates.

    forces: those of the joints that give a motion with rates u and no acceleration, as a function of u.  tau: symbols
    where it is None.
    """
    g, k = system.g, system.k
    M = mass_matrix_of_sums(system, runs)
    if is_planar(k, runs):
        _ask_for_planar(system, runs, M, forces([g.zero] * system.nv))
    factor = factorise(g, M, elimination_order(k), k.coordinates.speeds)
    given, bias = (_less_next(g, runs, f) for f in (tau or system.vector("tau"), forces(k.symbols.u)))
    rate = solve(g, factor, [g.sub(a, b) for a, b in zip(given, bias, strict=True)])
    return [g.sub(x, rate[runs.before[r]]) if r in runs.before else x for r, x in enumerate(rate)]


def is_planar(k: Kinematics, runs: Runs) -> bool:
    """True when every motion is a turn of a run that starts at the root."""
    turns = all(m.kind == "turn" for m in k.motions)
    return turns and all(n in runs.parent or node.parent == ROOT for n, node in enumerate(k.tree.nodes))


def _ask_for_planar(system: System, runs: Runs, M: Sequence[Sequence[Ref]], weight: Sequence[Ref]) -> None:
    """Ask for the bias forces as a sum over pairs of links: bias_r = sum_s dM_rs/dtheta_s w_s^2 + weight_r.

    theta: the angles summed like the rates.  M_rs depends on the angle between the two links alone, so that all other
    Christoffel symbols vanish.
    """
    g, k = system.g, system.k
    sums = list(k.symbols.u)
    for r in range(system.nv):  # parents come first
        if r in runs.before:
            sums[r] = g.add(sums[runs.before[r]], k.symbols.u[r])
    squares = [g.mul(w, w) for w in sums]
    slope = [[g.zero] * system.nv for _ in sums]
    for r in range(system.nv):
        s = r
        while s in runs.before:
            s = runs.before[s]
            (slope[s][r],) = forward(g, [M[r][s]], {k.symbols.q[r]: g.one})
            slope[r][s] = g.neg(slope[s][r])
    for r, row in enumerate(slope):
        g.add(g.dot(row, squares), _less_next(g, runs, weight)[r])


def _less_next(g: Graph, runs: Runs, forces: Sequence[Ref]) -> list[Ref]:
    """Z^T f: each force less those of the joints right behind in its run."""
    result = []
    for r, force in enumerate(forces):
        for s in runs.after.get(r, ()):
            force = _without(g, force, forces[s])
        result.append(force)
    return result


def _without(g: Graph, total: Ref, term: Ref) -> Ref:
    """total - term; where it is a term of the sum, the sum of the others."""
    terms = list(_terms(g, total))
    if term in terms:
        terms.remove(term)
        return g.sum(terms)
    return g.sub(total, term)


def _terms(g: Graph, total: Ref) -> Iterator[Ref]:
    """The terms of a sum, all inner sums opened unless there are too many."""
    found = [total]
    while len(found) < TERMS:
        at = next((n for n, ref in enumerate(found) if g.op[ref >> 1] == "add"), None)
        if at is None:
            break
        ref = found[at]
        found[at : at + 1] = [a ^ (ref & 1) for a in g.args[ref >> 1]]
    return iter(found)


def mass_matrix_of_sums(system: System, runs: Runs) -> list[list[Ref]]:
    """Z^T M Z, by the momentum of a unit rate of each speed; Walker and Orin's composite bodies cut at the runs."""
    g, k = system.g, system.k
    n, nodes = system.nv, range(len(system.bodies))
    M = [[g.zero] * n for _ in range(n)]
    composite, turning = list(system.bodies), list(system.bodies)  # turning: without later links of the node's run
    for index in reversed(nodes):
        m, parent = k.motions[index], k.tree.nodes[index].parent
        with g.origin(f"{k.tree.nodes[index].name}: composite body"):
            for r, partial in m.partials.items():
                load, inner = _momentum(system, runs, composite, turning[index], index, partial)
                _fill_row(system, runs, M, index, r, load, inner)
            if parent != ROOT:
                carried = carry_out(g, (*m.fixed, m.step), composite[index])
                composite[parent] = combine(g, composite[parent], carried)
                if index not in runs.parent:
                    turning[parent] = combine(g, turning[parent], carried)
    return _with_rotors(system, runs, M)


def _momentum(
    system: System, runs: Runs, composite: Sequence[BodyInertia], turning: BodyInertia, index: int, partial: Vec
) -> tuple[Wrench, Vec]:
    """Momentum of a unit rate about the node's origin, and the part of its moment that the node itself feels.

    Later links of the run move with the velocity of their origin: mass times v, and first moment x v about it.
    """
    g, k = system.g, system.k
    load = momentum(g, turning, k.motions[index], partial)
    inner = load.moment
    for child in (c for c in k.tree.children(index) if runs.parent.get(c) == index):
        m, arm = k.motions[child], _arm(g, k.motions[child])
        velocity = v.cross(g, partial, arm)
        force = v.scale(g, composite[child].mass, velocity)
        assert isinstance(m.step, SimpleRotation)
        spin = v.cross(g, m.step.out(g, composite[child].first), velocity)
        lever = v.cross(g, arm, force)
        inner = v.add(g, inner, lever)
        load = Wrench(v.add(g, load.force, force), v.add(g, load.moment, spin, lever))
    return load, inner


def _arm(g: Graph, m: NodeMotion) -> Vec:
    """The shift before a node of a run."""
    total = v.ZERO
    for step in m.fixed:
        assert isinstance(step, Shift)
        total = v.add(g, total, step.by)
    return total


def _fill_row(system: System, runs: Runs, M: list[list[Ref]], index: int, r: int, load: Wrench, inner: Vec) -> None:
    """Dot the momentum of w_r with the partials on the way to the root; later links of a run act by their force."""
    g, k = system.g, system.k
    at, below, angle, first = index, ROOT, g.zero, load.force
    while True:
        m = k.motions[at]
        for s, partial in m.partials.items():
            if at == index and s < r:
                continue
            if at == index and m.kind != "slide":
                term = g.dot(partial, inner)
            elif below in runs.parent:
                arm = _arm(g, k.motions[below])
                if angle > 1:
                    _ask(g, first, arm, m, angle)
                term = g.dot(partial, v.cross(g, arm, load.force))
            else:
                term = g.dot(partial, load.force if m.kind == "slide" else load.moment)
            M[r][s] = g.add(M[r][s], term)
            M[s][r] = M[r][s]
        parent = k.tree.nodes[at].parent
        if parent == ROOT:
            return
        motion = k.tree.nodes[at].motion
        together = at in runs.parent and (at == index or angle > 1)
        angle = g.add(angle, k.scalar(motion.angle)) if together and isinstance(motion, Turn) else g.zero
        if angle > 1:
            assert m.axis is not None
            SimpleRotation(m.axis, g.cos(angle), g.sin(angle)).out(g, first)  # asked for first: one turn, not several
        load = wrench_out(g, (*m.fixed, m.step), load)
        below, at = at, parent


def _ask(g: Graph, force: Vec, arm: Vec, m: NodeMotion, angle: Ref) -> None:
    """Ask for the lever of a constant force as constants times cosine and sine of the angle."""
    assert m.axis is not None
    if any(g.level_of(x) > CONSTANT for x in (*force, *arm)):
        return
    a, b = (m.axis + 1) % 3, (m.axis + 2) % 3
    along = g.sub(g.mul(arm[a], force[b]), g.mul(arm[b], force[a]))
    across = g.add(g.mul(arm[a], force[a]), g.mul(arm[b], force[b]))
    g.add(g.mul(along, g.cos(angle)), g.mul(across, g.sin(angle)))


def _with_rotors(system: System, runs: Runs, M: list[list[Ref]]) -> list[list[Ref]]:
    """M plus Z^T R Z with R the matrix of the rotors alone."""
    g = system.g
    if not system.rotors:
        return M
    R = mass_matrix(system.k, [BodyInertia() for _ in system.bodies], system.rotors)
    half = [list(row) for row in zip(*(_less_next(g, runs, row) for row in R), strict=True)]
    full = [_less_next(g, runs, row) for row in half]
    return [[g.add(a, b) for a, b in zip(x, y, strict=True)] for x, y in zip(M, full, strict=True)]
