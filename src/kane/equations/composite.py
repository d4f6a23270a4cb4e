"""The mass matrix by composite bodies (Walker and Orin 1982, method 3) in first moments and link-frame inertia."""

from __future__ import annotations

from collections.abc import Sequence

from kane.equations.inertial import BodyInertia, RotorTerm, carry_out, combine, rotor_drive
from kane.equations.recursion import Wrench, wrench_out
from kane.graph.arena import Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.motion import Kinematics, NodeMotion
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import INDEX, Vec


def mass_matrix(
    k: Kinematics, bodies: Sequence[BodyInertia], rotors: Sequence[RotorTerm]
) -> list[list[Ref]]:
    """M (nv, nv), symmetric: M_rs = sum over bodies of partial velocities dotted with partial momenta.

    A unit rate of a motion gives the composite body behind it the momentum (f, n); dotted with the partial velocities
    on the way to the root it gives a row of M.
    """
    g, n = k.graph, len(k.symbols.u)
    composite = list(bodies)
    M = [[g.zero] * n for _ in range(n)]
    for index in reversed(range(len(composite))):
        m, parent = k.motions[index], k.tree.nodes[index].parent
        with g.origin(f"{k.tree.nodes[index].name}: composite body"):
            for r, partial in m.partials.items():
                _fill_row(k, M, index, r, momentum(g, composite[index], m, partial))
            if parent != ROOT:
                composite[parent] = combine(g, composite[parent], carry_out(g, (*m.fixed, m.step), composite[index]))
    for rotor in rotors:
        with g.origin(f"{rotor.joint}: rotor"):
            _add_rotor(k, M, rotor)
    return M


def momentum(g: Graph, body: BodyInertia, m: NodeMotion, partial: Vec) -> Wrench:
    """Momentum (f, n) of a body at its node's origin for a rate `partial`: f = m v + w x h, n = I w + h x v."""
    if m.kind == "slide":
        return Wrench(v.scale(g, body.mass, partial), v.cross(g, body.first, partial))
    if m.kind == "turn":
        assert m.axis is not None
        k = m.axis
        column = tuple(g.mul(partial[k], body.tensor[INDEX[i][k]]) for i in range(3))
        return Wrench(v.cross(g, partial, body.first), (column[0], column[1], column[2]))
    return Wrench(v.cross(g, partial, body.first), v.sym_apply(g, body.tensor, partial))


def _fill_row(k: Kinematics, M: list[list[Ref]], index: int, r: int, load: Wrench) -> None:
    """Dot the momentum of u_r at one node with the partials of that node and of all nodes before it."""
    g = k.graph
    at = index
    while True:
        m = k.motions[at]
        for s, partial in m.partials.items():
            if at == index and s < r:
                continue
            term = g.dot(partial, load.force if m.kind == "slide" else load.moment)
            _add(g, M, r, s, term, at == index and s == r)
        at = k.tree.nodes[at].parent
        if at == ROOT:
            return
        load = wrench_out(g, (*m.fixed, m.step), load)


def _add(g: Graph, M: list[list[Ref]], r: int, s: int, term: Ref, same: bool) -> None:
    """Add a term to M_rs and M_sr; two motions of one speed (followers) meet on the diagonal twice."""
    if r == s:
        M[r][r] = g.add(M[r][r], term if same else g.add(term, term))
        return
    M[r][s] = g.add(M[r][s], term)
    M[s][r] = M[r][s]


def _add_rotor(k: Kinematics, M: list[list[Ref]], rotor: RotorTerm) -> None:
    """J (r p)(r p)^T on the driving speeds; exact rotors also couple them with the speeds that turn the carrier."""
    g = k.graph
    spin = g.mul(rotor.inertia, rotor.ratio)
    drive = {r: p[0] for r, p in rotor_drive(k, rotor).partials.items()}
    for r, p in drive.items():
        for s, q in drive.items():
            M[r][s] = g.add(M[r][s], g.mul(g.mul(spin, rotor.ratio), g.mul(p, q)))
    if rotor.carrier is None:
        return
    load, at = Wrench(v.ZERO, v.scale(g, spin, rotor.axis)), rotor.carrier
    while at != ROOT:
        other = k.motions[at]
        if other.kind != "slide":
            for s, partial in other.partials.items():
                for r, p in drive.items():
                    term = g.mul(p, g.dot(partial, load.moment))
                    M[r][s] = g.add(M[r][s], term)
                    M[s][r] = g.add(M[s][r], term) if r != s else g.add(M[r][s], term)
        load = wrench_out(g, (*other.fixed, other.step), load)
        at = k.tree.nodes[at].parent
