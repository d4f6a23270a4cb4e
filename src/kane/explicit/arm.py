"""The tree as the explicit model sees it: one elementary turn or slide a step, exact bodies, and what it cannot serve.

A step belongs to a coordinate with an integer ratio (followers: q = ratio * coordinate), so that every element stays a polynomial
in sines, cosines and slides of the coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from kane.errors import UnsupportedError
from kane.explicit.algebra import Atoms, Coefficient, add, linear_form
from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.kinematics.tree import ROOT, Attached, Node, build_tree
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.model import Inertia, Joint, Mechanism, Placement, QuaternionTurn, Translate, Turn

Rows = tuple[tuple[Coefficient, Coefficient, Coefficient], ...]
MOMENTS = ("xx", "xy", "xz", "yy", "yz", "zz")
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
_REMEDY = "Use 'kane derive' (kane.derive): its recursive equations serve every joint type and closed loops."


@dataclass(frozen=True, slots=True)
class Along:
    """A fixed translation by `by` along a coordinate axis."""

    axis: int
    by: Coefficient


@dataclass(frozen=True, slots=True)
class About:
    """A fixed turn about a coordinate axis."""

    axis: int
    cos: Coefficient
    sin: Coefficient


@dataclass(frozen=True, slots=True)
class Turned:
    """A fixed rotation by a rational matrix: components before it = rows * components after it."""

    rows: Rows


Fixed = Along | About | Turned


@dataclass(frozen=True, slots=True)
class Body:
    """Mass, first moment and inertia about the origin of the step's frame (order xx xy xz yy yz zz)."""

    mass: Coefficient
    first: tuple[Coefficient, ...]
    tensor: tuple[Coefficient, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One elementary motion: fixed moves from the parent step's frame, then a turn or slide of a coordinate times `ratio`."""

    parent: int
    fixed: tuple[Fixed, ...]
    kind: Literal["turn", "slide"]
    axis: int
    coordinate: int
    ratio: Fraction
    body: Body | None


@dataclass(frozen=True, slots=True)
class Arm:
    """The steps of a tree, its coordinates, gravity along the axes of N, rotor inertia by coordinate, notes for the reader."""

    steps: tuple[Step, ...]
    names: tuple[str, ...]
    turns: tuple[bool, ...]
    gravity: tuple[Coefficient, Coefficient, Coefficient]
    rotors: dict[int, Coefficient]
    notes: tuple[str, ...]


def read_arm(mechanism: Mechanism, atoms: Atoms, free: Sequence[str]) -> Arm:
    """The steps of a mechanism; `free`: parameters given at run time.

    Raises UnsupportedError naming the joint for floating and spherical joints, screws, closed loops, prescribed motion and followers
    whose ratio breaks the period.
    """
    _refuse_beyond_trees(mechanism)
    coordinates = find_coordinates(mechanism)
    tree = build_tree(mechanism, coordinates)
    notes: list[str] = []
    steps: list[Step] = []
    last: dict[int, int] = {ROOT: ROOT}  # node -> its last step
    for index, node in enumerate(tree.nodes):
        moves = _elementary(mechanism, node, coordinates)
        body = _node_body(mechanism, node, index, atoms)
        body = _symmetric(mechanism, tree.children(index), node, body, atoms, free, notes)
        parent, fixed = last[node.parent], list(fixed_moves(atoms, node.fixed))
        for k, (before, kind, axis, coordinate, ratio) in enumerate(moves):
            own = body if k == len(moves) - 1 else None
            steps.append(Step(parent, (*fixed, *fixed_moves(atoms, before)), kind, axis, coordinate, ratio, own))
            parent, fixed = len(steps) - 1, []
        last[index] = parent
    turns = _kinds(mechanism, steps, coordinates)
    rotors = _rotors(mechanism, tree.nodes, coordinates, atoms, notes)
    return Arm(tuple(steps), coordinates.names, turns, _gravity(mechanism, atoms), rotors, tuple(notes))


def _refuse_beyond_trees(mechanism: Mechanism) -> None:
    if mechanism.constraints:
        first = mechanism.constraints[0]
        name = getattr(first, "name", type(first).__name__)
        raise UnsupportedError(
            f"{mechanism.name} has a constraint ({name}): an explicit model needs a tree, a closed loop has none.",
            name=str(name), remedy=_REMEDY,
        )  # fmt: skip
    if mechanism.speeds:
        raise UnsupportedError(
            f"{mechanism.name} defines the generalized speed {mechanism.speeds[0].name!r}: the explicit model is written in the rates.",
            name=mechanism.speeds[0].name, remedy=_REMEDY,
        )  # fmt: skip
    for joint in mechanism.joints:
        if joint.type in ("floating", "spherical", "screw"):
            raise _refusal(mechanism, joint.name, f"is {joint.type}: its motion is no turn or slide by one coordinate")


def _refusal(mechanism: Mechanism, name: str, why: str) -> UnsupportedError:
    joint: Joint | None = next((j for j in mechanism.joints if j.name == name), None)
    line = joint.line if joint else None
    return UnsupportedError(f"Joint {name!r} {why}.", name=name, line=line, remedy=_REMEDY)


Elementary = tuple[Placement, Literal["turn", "slide"], int, int, Fraction]


def _elementary(mechanism: Mechanism, node: Node, c: Coordinates) -> list[Elementary]:
    """The turns and slides of a node's moving move: (fixed moves before, kind, axis, coordinate, ratio)."""
    match node.motion:
        case Turn(axis, angle):
            constant, parts = _split(mechanism, node, angle, c)
            if len(parts) != 1:
                raise _refusal(mechanism, node.joint, f"turns by {f.scalar_text(angle)}, not by one coordinate")
            coordinate, ratio = parts[0]
            if ratio.denominator != 1:
                raise _refusal(
                    mechanism, node.joint,
                    f"follows {c.names[coordinate]!r} with the ratio {ratio}, which is no integer: the model would not repeat after a turn",
                )  # fmt: skip
            before: Placement = (Turn(axis, constant),) if not f.is_zero(constant) else ()
            return [(before, "turn", axis, coordinate, ratio)]
        case Translate(by):
            split = [_split(mechanism, node, amount, c) for amount in by]
            constants: tuple[Scalar, Scalar, Scalar] = (split[0][0], split[1][0], split[2][0])
            shift: Placement = () if all(f.is_zero(x) for x in constants) else (Translate(constants),)
            slides: list[Elementary] = [
                (shift, "slide", axis, coordinate, ratio) for axis in range(3) for coordinate, ratio in split[axis][1]
            ]
            return [slides[0], *(((), *slide[1:]) for slide in slides[1:])]
        case _:
            raise _refusal(mechanism, node.joint, "turns by a quaternion")


def _split(mechanism: Mechanism, node: Node, amount: Scalar, c: Coordinates) -> tuple[Scalar, list[tuple[int, Fraction]]]:
    """A motion's amount as a constant and (coordinate, ratio) pairs."""
    names = amount.names() if isinstance(amount, Formula) else frozenset()
    if "t" in names and "t" not in c.names:
        raise _refusal(mechanism, node.joint, "is moved by the time")
    if names.isdisjoint(c.names):
        return amount, []
    form = linear_form(amount)
    if form is None:
        raise _refusal(mechanism, node.joint, f"moves by {f.scalar_text(amount)}, which is not a rational multiple of a coordinate")
    parts = [(c.names.index(n), ratio) for n, ratio in form.items() if n in c.names]
    constant: Scalar = Fraction(0)
    for name, value in sorted(form.items()):
        if name not in c.names:
            unit: Scalar = Fraction(1) if name == "" else f.PI if name == "pi" else f.name(name)
            constant = f.add(constant, f.mul(value, unit))
    return constant, sorted(parts)


def _kinds(mechanism: Mechanism, steps: Sequence[Step], c: Coordinates) -> tuple[bool, ...]:
    """True for coordinates that turn; one that does both is refused."""
    kinds: list[set[str]] = [set() for _ in c.names]
    for step in steps:
        kinds[step.coordinate].add(step.kind)
    for name, kind in zip(c.names, kinds, strict=True):
        if len(kind) > 1:
            raise UnsupportedError(f"Coordinate {name!r} is an angle and a length at once.", name=name, remedy=_REMEDY)
    return tuple("turn" in kind for kind in kinds)


def fixed_moves(atoms: Atoms, placement: Placement) -> list[Fixed]:
    """Fixed moves with exact coefficients; those that do nothing are left out."""
    result: list[Fixed] = []
    for move in placement:
        match move:
            case Translate(by):
                parts = [(axis, atoms.scalar(amount)) for axis, amount in enumerate(by)]
                result += [Along(axis, amount) for axis, amount in parts if amount]
            case Turn(axis, angle):
                cos, sin = atoms.cos_sin(angle)
                if sin or cos != {0: 1}:
                    result.append(About(axis, cos, sin))
            case QuaternionTurn(quaternion, _):
                rows = _matrix([Fraction(x) for x in quaternion])  # not a coordinate: that is a spherical joint
                if any(rows[i][j] != ({0: 1} if i == j else {}) for i in range(3) for j in range(3)):
                    result.append(Turned(rows))
    return result


def _matrix(q: list[Fraction]) -> Rows:
    """The rotation of a quaternion of any length: R(q) / |q|^2 is rational."""
    w, x, y, z = q
    n = w * w + x * x + y * y + z * z
    full = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    rows = [[{0: e / n} if e else {} for e in row] for row in full]
    return tuple((row[0], row[1], row[2]) for row in rows)  # type: ignore[misc]


def _gravity(mechanism: Mechanism, atoms: Atoms) -> tuple[Coefficient, Coefficient, Coefficient]:
    """Gravity in N; one number along an axis gets the name g."""
    x, y, z = (atoms.scalar(s) for s in mechanism.gravity)
    present = [k for k, part in enumerate((x, y, z)) if part]
    if len(present) == 1 and list((x, y, z)[present[0]]) == [0] and not atoms.taken("g"):
        value = Fraction((x, y, z)[present[0]][0])
        part: Coefficient = {atoms.atom("g", exact=abs(value)): 1 if value > 0 else -1}
        vector: list[Coefficient] = [{}, {}, {}]
        vector[present[0]] = part
        x, y, z = vector
    return x, y, z


def _rotors(
    mechanism: Mechanism, nodes: Sequence[Node], c: Coordinates, atoms: Atoms, notes: list[str]
) -> dict[int, Coefficient]:
    """Reflected rotor inertia, inertia * ratio^2, by coordinate (Armstrong, Khatib and Burdick: kept apart from the arm's)."""
    result: dict[int, Coefficient] = {}
    for joint in mechanism.joints:
        node = next((n for n in nodes if n.joint == joint.name), None)
        if joint.rotor is None or node is None:
            continue
        if joint.rotor.exact:
            raise _refusal(mechanism, joint.name, "has an exact spinning rotor; the explicit model takes reflected ones")
        ((_, _, _, coordinate, ratio), *_) = _elementary(mechanism, node, c)
        value = f.mul(joint.rotor.inertia, f.mul(joint.rotor.ratio, joint.rotor.ratio))
        if isinstance(value, Fraction) and value:
            part: Coefficient = {atoms.atom(free_name(atoms, f"Im{coordinate + 1}"), exact=value): 1}
        else:
            part = atoms.scalar(value)
        result[coordinate] = add(result.get(coordinate, {}), part, ratio * ratio)
    if result:
        notes.append("Rotor inertia is reflected on the diagonal; gyroscopic terms of the armatures are neglected.")
    return {k: v for k, v in result.items() if v}


# bodies


def free_name(atoms: Atoms, wanted: str) -> str:
    """The wanted name, with underscores until it is not taken."""
    while atoms.taken(wanted):
        wanted += "_"
    return wanted


def _scalars(inertia: Inertia) -> tuple[Scalar, ...]:
    return (inertia.mass, *inertia.com, *inertia.moments)


def _node_body(mechanism: Mechanism, node: Node, index: int, atoms: Atoms) -> Body | None:
    """The body of a node.  Numbers get names (m2, rx2, Ixx2: mass centre; several links fixed together: m2, hx2, Jxx2: origin)."""
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
    lumped = _total([_body(atoms, at, inertia, [atoms.scalar(s) for s in _scalars(inertia)]) for at, inertia in present])
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
    """One body in its node's frame: h = m c, I = I_c + m (c.c 1 - c c), carried through the placement about its mass centre."""
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


def turn_vector(atoms: Atoms, move: About | Turned, v: Sequence[Coefficient]) -> list[Coefficient]:
    """Components before a fixed turn from components after it."""
    if isinstance(move, About):
        i, j = (move.axis + 1) % 3, (move.axis + 2) % 3
        result = list(v)
        result[i] = add(atoms.mul(move.cos, v[i]), atoms.mul(move.sin, v[j]), -1)
        result[j] = add(atoms.mul(move.sin, v[i]), atoms.mul(move.cos, v[j]))
        return result
    rows = []
    for row in move.rows:
        total: Coefficient = {}
        for e, x in zip(row, v, strict=True):
            total = add(total, atoms.mul(e, x))
        rows.append(total)
    return rows


def turn_tensor(atoms: Atoms, move: Fixed, t: Sequence[Coefficient]) -> list[Coefficient]:
    """A symmetric tensor in the axes before a fixed turn: R T R'."""
    if isinstance(move, Along):
        return list(t)
    full = [[t[PAIRS.index((min(i, j), max(i, j)))] for j in range(3)] for i in range(3)]
    half = [turn_vector(atoms, move, row) for row in full]  # rows of T R' (T symmetric)
    columns = [turn_vector(atoms, move, [half[i][j] for i in range(3)]) for j in range(3)]
    return [columns[j][i] for i, j in PAIRS]


def _symmetric(
    mechanism: Mechanism, children: Sequence[int], node: Node, body: Body | None, atoms: Atoms, free: Sequence[str],
    notes: list[str],
) -> Body | None:
    """A last link that is symmetric about its joint axis in value: both moments across get one name, so its angle drops out."""
    carried = [(at, i) for at in node.links if (i := mechanism.link(at.link).inertia) is not None]
    if body is None or children or len(carried) != 1 or carried[0][0].placement or carried[0][1].axes:
        return body
    if not isinstance(node.motion, Turn):
        return body
    k = node.motion.axis
    i, j = (k + 1) % 3, (k + 2) % 3
    a, b = PAIRS.index((i, i)), PAIRS.index((j, j))
    off = [body.tensor[n] for n, (x, y) in enumerate(PAIRS) if x != y]
    if body.first[i] or body.first[j] or any(off):
        return body
    difference = add(body.tensor[a], body.tensor[b], -1)
    value = atoms.rational(difference)
    names = {atoms.atoms[place].name for key in difference for place, _ in atoms.exponents(key)}
    if not difference or value != 0 or not names.isdisjoint(free):
        return body
    notes.append(f"Link {carried[0][0].link!r} is symmetric about the axis of joint {node.joint!r}: its moments across the axis are one.")
    tensor = list(body.tensor)
    tensor[b] = body.tensor[a]
    return Body(body.mass, body.first, tuple(tensor))
