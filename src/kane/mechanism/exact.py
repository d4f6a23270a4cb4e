"""Exact rotations, poses and lumped bodies: rational where the numbers allow it, formulas otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from kane.mechanism import formula as f
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.model import (
    Inertia,
    Joint,
    MatrixTurn,
    Mechanism,
    Move,
    Placement,
    QuaternionTurn,
    Translate,
    Turn,
    Vector,
    amounts,
)

Rotation = tuple[Vector, Vector, Vector]
_0, _1 = Fraction(0), Fraction(1)
IDENTITY: Rotation = ((_1, _0, _0), (_0, _1, _0), (_0, _0, _1))
_LONGEST = 60
_SINES = {0: "0", 1: "1/2", 2: "sqrt(3)/2", 3: "1", 4: "sqrt(3)/2", 5: "1/2"}  # of multiples of pi/6


def pi_share(angle: Scalar) -> Fraction | None:
    """The rational k of an angle k pi; None for any other angle."""
    if isinstance(angle, Fraction):
        return _0 if angle == 0 else None
    if angle.op == "pi":
        return _1
    if angle.op == "neg":
        inner = pi_share(angle.args[0])
        return None if inner is None else -inner
    if angle.op in ("mul", "div"):
        a, b = (f.simplified(arg) for arg in angle.args)
        if isinstance(b, Fraction) and (share := pi_share(a)) is not None:
            return share * b if angle.op == "mul" else share / b
        if angle.op == "mul" and isinstance(a, Fraction) and (share := pi_share(b)) is not None:
            return a * share
        return None
    if angle.op in ("add", "sub"):
        one, two = (pi_share(f.simplified(arg)) for arg in angle.args)
        if one is not None and two is not None:
            return one + two if angle.op == "add" else one - two
    return None


def cosine_sine(angle: Scalar) -> tuple[Scalar, Scalar]:
    """cos and sin of an angle, exact numbers for multiples of pi/6."""
    share = pi_share(angle)
    if share is None or (share * 6).denominator != 1:
        return f.function("cos", angle), f.function("sin", angle)
    k = int(share * 6) % 12
    return _sine((k + 3) % 12), _sine(k)


def _sine(k: int) -> Scalar:
    value = f.parse(_SINES[k % 6])
    return minus(value) if k >= 6 else value


def minus(value: Scalar) -> Scalar:
    """-value, without a sign on zero."""
    return value if f.is_zero(value) else f.neg(value)


def rotation(move: Turn | QuaternionTurn | MatrixTurn) -> Rotation:
    """The rotation matrix of a fixed turn."""
    if isinstance(move, MatrixTurn):
        return move.rows
    if isinstance(move, Turn):
        c, s = cosine_sine(move.angle)
        i, j = (move.axis + 1) % 3, (move.axis + 2) % 3
        rows = [list(row) for row in IDENTITY]
        rows[i][i], rows[i][j], rows[j][i], rows[j][j] = c, minus(s), s, c
        return _rotation(rows)
    w, x, y, z = (Fraction(q) for q in move.quaternion)
    n = w * w + x * x + y * y + z * z
    rows = [
        [(w * w + x * x - y * y - z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n],
        [2 * (x * y + w * z) / n, (w * w - x * x + y * y - z * z) / n, 2 * (y * z - w * x) / n],
        [2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, (w * w - x * x - y * y + z * z) / n],
    ]
    return _rotation(rows)


def _rotation(rows: Sequence[Sequence[Scalar]]) -> Rotation:
    a, b, c = ((row[0], row[1], row[2]) for row in rows)
    return a, b, c


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """The sum of products."""
    result: Scalar = _0
    for x, y in zip(a, b, strict=True):
        result = f.add(result, f.mul(x, y))
    return result


def apply(R: Rotation, v: Vector) -> Vector:
    """R v."""
    return dot(R[0], v), dot(R[1], v), dot(R[2], v)


def product(A: Rotation, B: Rotation) -> Rotation:
    """A B."""
    columns = list(zip(*B, strict=True))
    return _rotation([[dot(row, column) for column in columns] for row in A])


def plus(a: Vector, b: Vector) -> Vector:
    """a + b."""
    return f.add(a[0], b[0]), f.add(a[1], b[1]), f.add(a[2], b[2])


def pose(moves: Placement) -> tuple[Rotation, Vector]:
    """Rotation and position after fixed moves."""
    R: Rotation = IDENTITY
    p: Vector = (_0, _0, _0)
    for move in moves:
        if isinstance(move, Translate):
            p = plus(p, apply(R, move.by))
        else:
            R = _rotation([[shortened(x) for x in row] for row in product(R, rotation(move))])
    return R, _vector([shortened(x) for x in p])


def shortened(value: Scalar) -> Scalar:
    """The value; the nearest double where a formula of plain numbers has outgrown 60 operations.

    Products of general rotations grow without end, and their digits are those of a double wherever they are used.
    """
    if not isinstance(value, Formula) or _operations(value, _LONGEST) <= _LONGEST or value.names():
        return value
    return f.exact(value.evaluate({}))


def _operations(value: Formula, limit: int) -> int:
    count, stack = 0, [value]
    while stack and count <= limit:
        count += 1
        stack += stack.pop().args
    return count


def placed(inertia: Inertia, moves: Placement) -> Inertia:
    """The inertia of a body seen from the frame in which the body's frame is placed by the moves."""
    R, p = pose(moves)
    turns = tuple(move for move in moves if not isinstance(move, Translate))
    return replace(inertia, com=plus(p, apply(R, inertia.com)), axes=turns + inertia.axes)


def tensor(inertia: Inertia) -> tuple[Scalar, ...]:
    """(Ixx, Ixy, Ixz, Iyy, Iyz, Izz) about the mass centre in the axes of the frame: R I R^T."""
    if not inertia.axes or all(f.is_zero(x) for x in inertia.moments):
        return inertia.moments
    R, _ = pose(inertia.axes)
    xx, xy, xz, yy, yz, zz = inertia.moments
    I: Rotation = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    rows = [apply(I, row) for row in R]  # I is symmetric, so these are the rows of R I
    return tuple(shortened(dot(rows[i], R[j])) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))


def together(parts: Sequence[Inertia]) -> Inertia:
    """One body made of several in one frame; shifts are done about the common mass centre.

    m = sum m_i, c = sum m_i c_i / m, I = sum I_i + m_i (d.d 1 - d d^T) with d = c_i - c.
    """
    parts = [part for part in parts if not _empty(part)] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    mass: Scalar = _0
    for part in parts:
        mass = f.add(mass, part.mass)
    com = parts[0].com
    if not f.is_zero(mass):
        com = _vector([_quotient(dot([p.mass for p in parts], [p.com[k] for p in parts]), mass) for k in range(3)])
    moments: list[Scalar] = [_0] * 6
    for part in parts:
        d = _vector([f.add(part.com[k], minus(com[k])) for k in range(3)])
        x, y, z = d
        xx, yy, zz = (f.mul(v, v) for v in d)
        shift = (
            f.add(yy, zz),
            minus(f.mul(x, y)),
            minus(f.mul(x, z)),
            f.add(xx, zz),
            minus(f.mul(y, z)),
            f.add(xx, yy),
        )
        for k, own in enumerate(tensor(part)):
            moments[k] = f.add(moments[k], f.add(own, f.mul(part.mass, shift[k])))
    a, b, c, e, g, h = (shortened(m) for m in moments)
    com = _vector([shortened(x) for x in com])
    sizes = [float(abs(m)) for part in parts for m in part.moments if isinstance(m, Fraction)]
    largest = max(sizes, default=0.0)
    rounding = sum(
        p.resolution * max((float(abs(m)) for m in p.moments if isinstance(m, Fraction)), default=0.0) for p in parts
    )
    return Inertia(mass, com, (a, b, c, e, g, h), (), rounding / largest if largest else 0.0, parts[0].line)


def _empty(part: Inertia) -> bool:
    return f.is_zero(part.mass) and all(f.is_zero(x) for x in part.moments)


def _quotient(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(b, Fraction):
        return f.mul(1 / b, a)
    return a if f.is_zero(a) else f.formula(a) / b


def _vector(items: Sequence[Scalar]) -> Vector:
    return items[0], items[1], items[2]


def substituted(value: Scalar, table: Mapping[str, Scalar]) -> Scalar:
    """The scalar with names replaced."""
    if not isinstance(value, Formula) or not value.names() & set(table):
        return value
    if value.op == "name":
        return table[str(value.value)]
    arguments = tuple(f.formula(substituted(arg, table)) for arg in value.args)
    return f.simplified(replace(value, args=arguments))


def mapped(moves: Placement, change: Callable[[Scalar], Scalar]) -> Placement:
    """The moves with each amount changed; moves that vanish are left out."""
    result: list[Move] = []
    for move in moves:
        if isinstance(move, Translate):
            by = _vector([change(x) for x in move.by])
            result += [] if all(f.is_zero(x) for x in by) else [Translate(by)]
        elif isinstance(move, Turn):
            angle = change(move.angle)
            result += [] if f.is_zero(angle) else [Turn(move.axis, angle)]
        elif isinstance(move, MatrixTurn):
            x, y, z = (_vector([change(e) for e in row]) for row in move.rows)
            result.append(MatrixTurn((x, y, z)))
        else:
            result.append(move)
    return tuple(result)


def names_used(mechanism: Mechanism) -> set[str]:
    """Every name in the mechanism's formulas (loads and constraints are not looked into)."""
    scalars: list[Scalar] = list(mechanism.gravity)
    moves: list[Move] = [move for frame in mechanism.frames for move in frame.placement]
    for joint in mechanism.joints:
        moves += [*joint.placement, *joint.moves]
        scalars += [*joint.axis, joint.pitch, joint.damping, joint.friction, joint.stiffness, joint.rest]
        scalars += [joint.rotor.inertia, joint.rotor.ratio] if joint.rotor else []
        scalars += [joint.mimic.ratio, joint.mimic.offset] if joint.mimic else []
    for link in mechanism.links:
        if link.inertia is not None:
            scalars += [link.inertia.mass, *link.inertia.com, *link.inertia.moments]
            moves += link.inertia.axes
    for move in moves:
        scalars += amounts(move)
    scalars += [speed.definition for speed in mechanism.speeds]
    return set().union(*(s.names() for s in scalars if isinstance(s, Formula)))


def path_moves(joints: Mapping[str, Joint], head: str, link: str) -> Placement:
    """The placements from a head link down to a link fixed to it."""
    steps: list[Placement] = []
    at = link
    while at != head:
        joint = joints[at]
        steps.append((*joint.placement, *joint.moves))
        at = joint.parent
    return tuple(move for step in reversed(steps) for move in step)
