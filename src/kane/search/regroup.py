"""Choice of the base parameters: how much of the mass on a joint's axis belongs to either body (the set is not unique).

A turn cannot tell whether mass on its axis moves with the child or with the parent: m, h_k and J_kk (zeroth, first and
second moment along the axis k) may be split between the two bodies at will.  Giving all to the parent is the usual
choice (Khalil and Kleinfinger 1987).  Keeping one of them on the child instead makes one parameter of the parent vanish
that costs more operations: with the mass kept, the parent loses a first moment, because a point mass in the child's
origin does what it did. Notation: J = (1/2) tr(I) 1 - I, the second moments, so that everything here is linear and
additive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kane.equations.inertial import BodyInertia, carry_out, combine, from_refs
from kane.graph.arena import Graph, Ref
from kane.kinematics import vectors as v
from kane.kinematics.motion import Kinematics
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import INDEX, SYM_ZERO

OWN = ("m", "h", "J")  # what a turn's axis can carry: moments 0, 1, 2 along it
BALANCES = ("a", "b", "none", "ak", "bk")
STAY: tuple[tuple[str, ...], ...] = ((), ("h",), ("m",), ("m", "h"))
# parent's mass and parameters across its axis k; a, b, k right-handed; Jd = Jaa - Jbb
CLEARED = ("m", "ha", "hb", "Jaa", "Jbb", "Jab", "Jak", "Jbk", "Jd")


@dataclass(frozen=True, slots=True)
class Split:
    """At one turn: moments `keep` stay on the child, so large that the parent's parameters `clear` vanish.

    balance: the second moment that remains otherwise, "none" (J_kk = 0), "a" (I_aa = 0), "b" (I_bb = 0), "ak"
    (I_aa = I_kk) or "bk" (I_bb = I_kk).  stay: moments 0 and 1 of which nothing goes to the parent.
    """

    keep: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()
    balance: str = "b"
    stay: tuple[str, ...] = ()


DEFAULT = Split(balance="a")


def second_moment(g: Graph, body: BodyInertia, i: int, j: int) -> Ref:
    """J_ij of a body."""
    t = body.tensor
    if i != j:
        return g.neg(t[INDEX[i][j]]) if t[INDEX[i][j]] > 1 else 0
    trace = g.sum((t[0], t[3], t[5]))
    return g.sub(g.div(trace, g.number(2)), t[INDEX[i][i]])


def line_mass(k: int, moment: str, amount: Ref) -> BodyInertia:
    """A mass distribution on axis k of a frame with one moment only."""
    if moment == "m":
        return BodyInertia(amount)
    if moment == "h":
        return BodyInertia(0, (amount * (k == 0), amount * (k == 1), amount * (k == 2)))
    tensor = list(SYM_ZERO)
    for i in range(3):
        if i != k:
            tensor[INDEX[i][i]] = amount
    return BodyInertia(0, v.ZERO, (tensor[0], tensor[1], tensor[2], tensor[3], tensor[4], tensor[5]))


def _entry(g: Graph, body: BodyInertia, k: int, name: str) -> Ref:
    if name == "m":
        return body.mass
    at = {"a": (k + 1) % 3, "b": (k + 2) % 3, "k": k}
    if name[0] == "h":
        return body.first[at[name[1]]]
    if name == "Jd":
        a, b = at["a"], at["b"]
        return g.sub(second_moment(g, body, a, a), second_moment(g, body, b, b))
    return second_moment(g, body, at[name[1]], at[name[2]])


def regroup_with(
    k: Kinematics, bodies: Sequence[BodyInertia], splits: Mapping[int, Split], stop: int = 0
) -> list[BodyInertia] | None:
    """The bodies regrouped from tips to root (to node `stop`), each turn split as told; None without a solution."""
    g = k.graph
    result = list(bodies)
    for index in reversed(range(stop, len(result))):
        m, parent = k.motions[index], k.tree.nodes[index].parent
        if m.kind == "ball" or m.own_axes:
            continue
        body = result[index]
        if m.kind == "slide":
            moved = BodyInertia(0, v.ZERO, body.tensor)
        else:
            assert m.axis is not None
            split = splits.get(index, DEFAULT)
            kept = _kept(k, result, index, split)
            if kept is None:
                return None
            moved = _own(g, body, m.axis, split, kept)
        result[index] = _minus(g, body, moved)
        if parent != ROOT:
            result[parent] = combine(g, result[parent], carry_out(g, m.fixed, moved))
    return result


def _minus(g: Graph, a: BodyInertia, b: BodyInertia) -> BodyInertia:
    return from_refs([g.sub(x, y) for x, y in zip(a.refs(), b.refs(), strict=True)])


def _own(g: Graph, body: BodyInertia, axis: int, split: Split, kept: Mapping[str, Ref]) -> BodyInertia:
    """What goes to the parent: all moments on the axis less those kept."""
    rest = kept.get("J", 0)
    if "J" not in split.keep and split.balance != "none":
        a, b = (second_moment(g, body, (axis + i) % 3, (axis + i) % 3) for i in (1, 2))
        rest = {"a": g.neg(b), "b": g.neg(a), "ak": a, "bk": b}[split.balance]
    whole = {"m": body.mass, "h": body.first[axis]}
    mass, first = (0 if name in split.stay else g.sub(whole[name], kept.get(name, 0)) for name in ("m", "h"))
    moved = combine(g, line_mass(axis, "m", mass), line_mass(axis, "h", first))
    return combine(g, moved, line_mass(axis, "J", g.sub(second_moment(g, body, axis, axis), rest)))


def _kept(k: Kinematics, bodies: Sequence[BodyInertia], index: int, split: Split) -> dict[str, Ref] | None:
    """Amounts kept on the child of a turn so that the parent's entries vanish: a small linear system."""
    g, parent = k.graph, k.tree.nodes[index].parent
    if not split.keep:
        return {}
    if parent == ROOT or len(split.keep) != len(split.clear):
        return None
    m, above = k.motions[index], k.motions[parent].axis
    assert m.axis is not None
    if above is None and split.clear != ("m",):
        return None
    everything = _own(g, bodies[index], m.axis, split, dict.fromkeys(split.keep, 0))
    full = combine(g, bodies[parent], carry_out(g, m.fixed, everything))
    units = [carry_out(g, m.fixed, line_mass(m.axis, name, g.one)) for name in split.keep]
    above = above or 0
    rows = [[_entry(g, unit, above, name) for unit in units] for name in split.clear]
    right = [_entry(g, full, above, name) for name in split.clear]
    found = solve_small(g, rows, right)
    return None if found is None else dict(zip(split.keep, found, strict=True))


def solve_small(g: Graph, rows: list[list[Ref]], right: list[Ref]) -> list[Ref] | None:
    """x with rows x = right by elimination; None when singular."""
    n = len(right)
    A = [[*row, b] for row, b in zip(rows, right, strict=True)]
    for i in range(n):
        pivot = next((r for r in range(i, n) if A[r][i] > 1), None)
        if pivot is None:
            return None
        A[i], A[pivot] = A[pivot], A[i]
        for r in range(n):
            if r != i and A[r][i] > 1:
                factor = g.div(A[r][i], A[i][i])
                A[r] = [g.sub(x, g.mul(factor, y)) for x, y in zip(A[r], A[i], strict=True)]
    return [g.div(A[i][n], A[i][i]) for i in range(n)]
