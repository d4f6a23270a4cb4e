"""The bodies of the steps: mass, first moment and inertia as exact coefficients; numbers get names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kane.explicit.algebra import Atoms, Coefficient, add
from kane.explicit.moves import PAIRS, Along, fixed_moves, turn_tensor, turn_vector
from kane.kinematics.tree import Attached, Node
from kane.mechanism.formula import Scalar
from kane.mechanism.model import Inertia, Mechanism, Turn

MOMENTS = ("xx", "xy", "xz", "yy", "yz", "zz")


@dataclass(frozen=True, slots=True)
class Body:
    """Mass, first moment and inertia about the origin of the step's frame (order xx xy xz yy yz zz)."""

    mass: Coefficient
    first: tuple[Coefficient, ...]
    tensor: tuple[Coefficient, ...]


def free_name(atoms: Atoms, wanted: str) -> str:
    """The wanted name, with underscores until it is not taken."""
    while atoms.taken(wanted):
        wanted += "_"
    return wanted


def _scalars(inertia: Inertia) -> tuple[Scalar, ...]:
    return (inertia.mass, *inertia.com, *inertia.moments)


def node_body(mechanism: Mechanism, node: Node, index: int, atoms: Atoms) -> Body | None:
    """The body of a node, its numbers named.

    m2, rx2, Ixx2: about the mass centre; of several links fixed together m2, hx2, Jxx2: about the origin.
    """
    carried = [(at, mechanism.link(at.link).inertia) for at in node.links]
    present = [(at, inertia) for at, inertia in carried if inertia is not None]
    if not present:
        return None
    numeric = all(isinstance(s, Fraction) for _, inertia in present for s in _scalars(inertia))
    if not numeric:
        bodies = [_body(atoms, at, inertia, [atoms.scalar(s) for s in _scalars(inertia)]) for at, inertia in present]
        return _total(bodies)
    number = index + 1
    if len(present) == 1 and not present[0][0].placement and not present[0][1].axes:
        names = ["m", "rx", "ry", "rz", *(f"I{m}" for m in MOMENTS)]
        values = _scalars(present[0][1])
        named = [_named(atoms, f"{n}{number}", Fraction(v)) for n, v in zip(names, values, strict=True)]  # type: ignore[arg-type]
        return _body(atoms, *present[0], named)
    lumped = _total(
        [_body(atoms, at, inertia, [atoms.scalar(s) for s in _scalars(inertia)]) for at, inertia in present]
    )
    names = ["m", "hx", "hy", "hz", *(f"J{m}" for m in MOMENTS)]
    parts = [lumped.mass, *lumped.first, *lumped.tensor]
    named = [_named(atoms, f"{n}{number}", _rational(atoms, part)) for n, part in zip(names, parts, strict=True)]
    return Body(named[0], tuple(named[1:4]), tuple(named[4:]))


def _rational(atoms: Atoms, part: Coefficient) -> Fraction:
    exact = atoms.rational(part)
    if exact is not None:
        return exact
    value = atoms.value(part) or 0.0
    return Fraction(value) if abs(value) > 1e-15 else Fraction(0)


def _named(atoms: Atoms, name: str, value: Fraction) -> Coefficient:
    return {atoms.atom(free_name(atoms, name), exact=value): 1} if value else {}


def _body(atoms: Atoms, at: Attached, inertia: Inertia, s: Sequence[Coefficient]) -> Body:
    """One body in its node's frame: h = m c, I = I_c + m (c.c 1 - c c), carried through the placement."""
    tensor = list(s[4:])
    for move in reversed(fixed_moves(atoms, inertia.axes)):
        tensor = turn_tensor(atoms, move, tensor)
    com = list(s[1:4])
    for move in reversed(fixed_moves(atoms, at.placement)):
        if isinstance(move, Along):
            com[move.axis] = add(com[move.axis], move.by)
        else:
            com, tensor = turn_vector(atoms, move, com), turn_tensor(atoms, move, tensor)
    first = [atoms.mul(s[0], c) for c in com]
    square: Coefficient = {}
    for h, c in zip(first, com, strict=True):
        square = add(square, atoms.mul(h, c))
    for n, (i, j) in enumerate(PAIRS):
        tensor[n] = add(tensor[n], atoms.mul(first[i], com[j]), -1)
        if i == j:
            tensor[n] = add(tensor[n], square)
    return Body(s[0], tuple(first), tuple(tensor))


def _total(bodies: Sequence[Body]) -> Body:
    first = bodies[0]
    for body in bodies[1:]:
        first = Body(
            add(first.mass, body.mass),
            tuple(add(a, b) for a, b in zip(first.first, body.first, strict=True)),
            tuple(add(a, b) for a, b in zip(first.tensor, body.tensor, strict=True)),
        )
    return first


def symmetric(
    mechanism: Mechanism,
    children: Sequence[int],
    node: Node,
    body: Body | None,
    atoms: Atoms,
    free: Sequence[str],
    notes: list[str],
) -> Body | None:
    """A last link symmetric about its joint axis: one name for both moments across, so that its angle drops out.

    Symmetric in value, not by its names.
    """
    carried = [(at, i) for at in node.links if (i := mechanism.link(at.link).inertia) is not None]
    if body is None or children or len(carried) != 1 or carried[0][0].placement or carried[0][1].axes:
        return body
    if not isinstance(node.motion, Turn):
        return body
    k = node.motion.axis
    row, column = (k + 1) % 3, (k + 2) % 3
    a, b = PAIRS.index((row, row)), PAIRS.index((column, column))
    off = [body.tensor[n] for n, (x, y) in enumerate(PAIRS) if x != y]
    if body.first[row] or body.first[column] or any(off):
        return body
    difference = add(body.tensor[a], body.tensor[b], -1)
    value = atoms.rational(difference)
    names = {atoms.atoms[place].name for key in difference for place, _ in atoms.exponents(key)}
    if not difference or value != 0 or not names.isdisjoint(free):
        return body
    notes.append(
        f"Link {carried[0][0].link!r} is symmetric about the axis of joint {node.joint!r}: "
        "its moments across the axis are one."
    )
    tensor = list(body.tensor)
    tensor[b] = body.tensor[a]
    return Body(body.mass, body.first, tuple(tensor))
