"""Accelerations from forces: by factorising the mass matrix, or by articulated bodies; the caller takes the cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kane.equations.inertial import BodyInertia, RotorTerm
from kane.equations.recursion import Wrench, add_wrench, body_wrench, wrench_out
from kane.errors import MasslessJointError
from kane.graph.arena import Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.accelerations import frame_motions
from kane.kinematics.motion import Kinematics, Shift, Step
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import INDEX, Mat, Sym, Vec

Rows = list[list[Ref]]


@dataclass(frozen=True, slots=True)
class Factor:
    """M = L^T D L with rows taken in `order` (tips first), so that the zeros of a tree stay zeros (Featherstone 2005).

    inverse[r] = 1 / D_r; lower[r]: the speeds s after r in the order with L_rs not zero.
    """

    order: tuple[int, ...]
    inverse: dict[int, Ref]
    lower: dict[int, dict[int, Ref]]


def factorise(
    g: Graph, M: Sequence[Sequence[Ref]], order: Sequence[int], names: Sequence[str] = ()
) -> Factor:
    """The factorisation of a symmetric positive definite matrix of expressions; zeros are skipped.

    Raises MasslessJointError when the matrix is singular for every state; `names`: of the speeds, for its message.
    """
    A = [list(row) for row in M]
    inverse: dict[int, Ref] = {}
    lower: dict[int, dict[int, Ref]] = {}
    with g.origin("factorisation of M"):
        for position, r in enumerate(order):
            inverse[r] = _reciprocal(g, A[r][r], names[r] if names else str(r + 1))
            rest = [s for s in order[position + 1 :] if A[r][s] > 1]
            lower[r] = {s: g.mul(A[r][s], inverse[r]) for s in rest}
            for i, s in enumerate(rest):
                for t in rest[i:]:
                    A[s][t] = A[t][s] = g.sub(A[s][t], g.mul(lower[r][s], A[r][t]))
    return Factor(tuple(order), inverse, lower)


def _reciprocal(g: Graph, inertia: Ref, name: str) -> Ref:
    """1 / inertia behind a speed."""
    if inertia < 2:
        raise MasslessJointError(
            f"The mass matrix is singular in every state: speed {name!r} can change without any inertia being moved.",
            name=name,
            remedy="Give the links behind its joint mass and inertia, or leave out forward dynamics.",
        )
    return g.div(g.one, inertia)


def solve(g: Graph, factor: Factor, b: Sequence[Ref]) -> list[Ref]:
    """x with M x = b; what is known last is subtracted last, so that the next one need not wait long."""
    x = list(b)
    with g.origin("solution of M x = f"):
        for r in factor.order:
            for s, l in factor.lower[r].items():
                x[s] = g.sub(x[s], g.mul(l, x[r]))
        for r in reversed(factor.order):
            x[r] = g.mul(x[r], factor.inverse[r])
            for s, l in reversed(factor.lower[r].items()):
                x[r] = g.sub(x[r], g.mul(l, x[s]))
    return x


def solve_columns(g: Graph, factor: Factor, columns: Sequence[Sequence[Ref]]) -> list[list[Ref]]:
    """X with M X = B, given the columns of B: as `solve`, in sums that keep fewer values waiting."""
    solved = []
    with g.origin("solution of M x = f"):
        for b in columns:
            x = list(b)
            for r in factor.order:
                for s, l in factor.lower[r].items():
                    x[s] = g.sub(x[s], g.mul(l, x[r]))
            for r in reversed(factor.order):
                known = g.sum(g.mul(l, x[s]) for s, l in reversed(factor.lower[r].items()))
                x[r] = g.sub(g.mul(x[r], factor.inverse[r]), known)
            solved.append(x)
    return solved


def elimination_order(k: Kinematics) -> list[int]:
    """Speeds tips first."""
    order: list[int] = []
    for m in reversed(k.motions):
        order += [r for r in reversed(m.partials) if r not in order]
    return order + [r for r in range(len(k.symbols.u)) if r not in order]


@dataclass(frozen=True, slots=True)
class Articulated:
    """n = I alpha + H a, f = H^T alpha + M a: apparent inertia of a node and all behind it, at its origin."""

    I: Sym
    H: Mat
    M: Sym


def serves_articulated(k: Kinematics, rotors: Sequence[RotorTerm]) -> bool:
    """True when each speed drives one node and no rotor is carried elsewhere."""
    speeds = [r for m in k.motions for r in m.partials]
    single = all(len(k.motions[rotor.node].partials) == 1 for rotor in rotors)
    return len(speeds) == len(set(speeds)) and single and all(rotor.carrier is None for rotor in rotors)


def articulated_bodies(
    k: Kinematics, bodies: Sequence[BodyInertia], rotors: Sequence[RotorTerm], tau: Sequence[Ref], gravity: Vec
) -> list[Ref]:
    """udot from (q, u, tau) by articulated bodies (Featherstone 2008, table 7.1), one speed eliminated at a time.

    Wrenches start from the motion with udot = 0, so what is solved for is the change that udot makes.
    """
    g, n = k.graph, len(k.motions)
    zeros = [g.zero] * len(k.symbols.u)
    motions = frame_motions(k, k.symbols.u, zeros, gravity)
    inertia = [_rigid(g, body) for body in bodies]
    wrench = [body_wrench(g, body, motion) for body, motion in zip(bodies, motions, strict=True)]
    drive = {rotor.node: g.mul(rotor.inertia, g.mul(rotor.ratio, rotor.ratio)) for rotor in rotors}
    eliminated: list[list[tuple[int, Vec, Vec, Vec, Ref, Ref]]] = [[] for _ in range(n)]
    for index in reversed(range(n)):
        m, parent = k.motions[index], k.tree.nodes[index].parent
        with g.origin(f"{k.tree.nodes[index].name}: articulated body"):
            for r, partial in m.partials.items():
                U = _column(g, inertia[index], partial, m.kind)
                own = wrench[index].force if m.kind == "slide" else wrench[index].moment
                across = U[1] if m.kind == "slide" else U[0]
                D = g.add(g.dot(partial, across), g.mul(drive.get(index, 0), g.dot(partial, partial)))
                inverse = _reciprocal(g, D, k.coordinates.speeds[r])
                e = g.sub(tau[r], g.dot(partial, own))
                eliminated[index].append((r, partial, *U, inverse, e))
                inertia[index] = _without(g, inertia[index], U, inverse)
                ratio = g.mul(e, inverse)
                push = Wrench(v.scale(g, ratio, U[1]), v.scale(g, ratio, U[0]))
                wrench[index] = add_wrench(g, wrench[index], push)
            if parent != ROOT:
                steps = (*m.fixed, m.step)
                inertia[parent] = _sum(g, inertia[parent], _carried(g, steps, inertia[index]))
                wrench[parent] = add_wrench(g, wrench[parent], wrench_out(g, steps, wrench[index]))
    with g.origin("accelerations from root to tips"):
        return _accelerations(k, eliminated)


def _accelerations(k: Kinematics, eliminated: list[list[tuple[int, Vec, Vec, Vec, Ref, Ref]]]) -> list[Ref]:
    """udot root to tips: udot_r = (e - U . a) / D, with a the change of acceleration of the node so far."""
    g = k.graph
    udot = [g.zero] * len(k.symbols.u)
    changes: list[tuple[Vec, Vec]] = []
    for index, m in enumerate(k.motions):
        parent = k.tree.nodes[index].parent
        alpha, a = changes[parent] if parent != ROOT else (v.ZERO, v.ZERO)
        for step in (*m.fixed, m.step):
            if isinstance(step, Shift):
                a = v.add(g, a, v.cross(g, alpha, step.by))
            else:
                alpha, a = step.into(g, alpha), step.into(g, a)
        for r, partial, U_n, U_f, inverse, e in reversed(eliminated[index]):
            known = g.add(g.dot(U_n, alpha), g.dot(U_f, a))
            udot[r] = g.mul(g.sub(e, known), inverse)
            own = v.scale(g, udot[r], partial)
            alpha, a = (alpha, v.add(g, a, own)) if m.kind == "slide" else (v.add(g, alpha, own), a)
        changes.append((alpha, a))
    return udot


def _rigid(g: Graph, body: BodyInertia) -> Articulated:
    h, m = body.first, body.mass
    H: Mat = ((0, h[2] ^ 1 if h[2] > 1 else 0, h[1]), (h[2], 0, g.neg(h[0])), (g.neg(h[1]), h[0], 0))
    return Articulated(body.tensor, H, (m, 0, 0, m, 0, m))


def _column(g: Graph, A: Articulated, partial: Vec, kind: str) -> tuple[Vec, Vec]:
    """(moment, force) that a unit acceleration along the partial asks for."""
    if kind == "slide":
        return v.apply(g, A.H, partial), v.sym_apply(g, A.M, partial)
    return v.sym_apply(g, A.I, partial), v.apply(g, v.transpose(A.H), partial)


def _without(g: Graph, A: Articulated, U: tuple[Vec, Vec], inverse: Ref) -> Articulated:
    """A - U U^T / D."""
    n, f = U
    sn, sf = v.scale(g, inverse, n), v.scale(g, inverse, f)
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    I = tuple(g.sub(A.I[INDEX[i][j]], g.mul(sn[i], n[j])) for i, j in pairs)
    M = tuple(g.sub(A.M[INDEX[i][j]], g.mul(sf[i], f[j])) for i, j in pairs)
    H = tuple(tuple(g.sub(A.H[i][j], g.mul(sn[i], f[j])) for j in range(3)) for i in range(3))
    return Articulated(I, H, M)  # type: ignore[arg-type]


def _sum(g: Graph, A: Articulated, B: Articulated) -> Articulated:
    H = tuple(v.add(g, a, b) for a, b in zip(A.H, B.H, strict=True))
    return Articulated(v.sym_add(g, A.I, B.I), (H[0], H[1], H[2]), v.sym_add(g, A.M, B.M))


def _carried(g: Graph, steps: Sequence[Step], A: Articulated) -> Articulated:
    """The apparent inertia at the frame before the steps."""
    for step in reversed(steps):
        if isinstance(step, Shift):
            A = _shifted(g, A, step.by)
        else:
            half = [step.out(g, row) for row in A.H]
            columns = [step.out(g, column) for column in v.transpose((half[0], half[1], half[2]))]
            H = v.transpose((columns[0], columns[1], columns[2]))
            A = Articulated(step.sym_out(g, A.I), H, step.sym_out(g, A.M))
    return A


def _shifted(g: Graph, A: Articulated, d: Vec) -> Articulated:
    """H' = H + [d x] M;  I' = I + [d x] H^T - H' [d x]."""
    M: Mat = ((A.M[0], A.M[1], A.M[2]), (A.M[1], A.M[3], A.M[4]), (A.M[2], A.M[4], A.M[5]))
    dM = v.transpose((v.cross(g, d, M[0]), v.cross(g, d, M[1]), v.cross(g, d, M[2])))
    H = tuple(v.add(g, a, b) for a, b in zip(A.H, dM, strict=True))
    dHt = v.transpose((v.cross(g, d, A.H[0]), v.cross(g, d, A.H[1]), v.cross(g, d, A.H[2])))
    tensor = list(A.I)
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        back = v.cross(g, H[i], d)[j]  # row i of H' times [d x]: (row x d)_j
        tensor[INDEX[i][j]] = g.sub(g.add(A.I[INDEX[i][j]], dHt[i][j]), back)
    return Articulated((tensor[0], tensor[1], tensor[2], tensor[3], tensor[4], tensor[5]), (H[0], H[1], H[2]), A.M)
