"""A robot taken apart: mass by balance, centre on a knife edge, inertia by swinging, drives by a torque spring.

The methods of Armstrong, Khatib and Burdick 1986, section 4, with standard errors.  Tensors are (xx, xy, xz, yy, yz,
zz), matrix elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kane.errors import InputError
from kane.identification.quantity import Quantity, quantity

Triple = tuple[Quantity, Quantity, Quantity]
Tensor = tuple[Quantity, Quantity, Quantity, Quantity, Quantity, Quantity]
PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True, slots=True)
class MeasuredBody:
    """Mass (kg), mass centre (m, link frame) and tensor about it (kg m^2, link axes)."""

    mass: Quantity
    com: Triple
    tensor: Tensor


def frequency(periods: Quantity | float, time: Quantity | float) -> Quantity:
    """omega = 2 pi periods / time, rad/s."""
    return quantity(periods) * (2.0 * math.pi) / quantity(time)


def bifilar_inertia(
    mass: Quantity, gravity: Quantity, distance: Quantity, length: Quantity, omega: Quantity
) -> Quantity:
    """I = M g r^2 / (omega^2 l) about the vertical through the mass centre (Armstrong et al. 1986, eq. 11).

    distance r: of each wire from the axis; length l: of the wires; omega: of the twisting oscillation.
    """
    return mass * gravity * distance**2 / (omega**2 * length)


def tensor_from_swings(axes: Sequence[Sequence[float]], inertias: Sequence[Quantity]) -> Tensor:
    """The tensor of which a . I a is the inertia about each axis a through the mass centre (least squares).

    Three swings about perpendicular axes give the diagonal when they are the coordinate axes (products are then taken
    as zero); six in general position give everything.  Raises InputError when the axes do not determine it.
    """
    units = []
    for axis in axes:
        a = np.asarray(axis, dtype=np.float64)
        if a.shape != (3,) or not np.isfinite(a).all() or not a.any():
            raise InputError(f"{axis} is no axis.", name="axes", value=repr(axis), remedy="Give three numbers.")
        a = a / np.abs(a).max()
        units.append(a / np.linalg.norm(a))
    rows = np.array([[a[i] * a[j] * (1.0 if i == j else 2.0) for i, j in PAIRS] for a in units])
    diagonal = np.flatnonzero(np.abs(rows).max(axis=0) > 0)
    rank = int(np.linalg.matrix_rank(rows[:, diagonal])) if len(rows) else 0
    if rank < len(diagonal) or (set(diagonal.tolist()) != {0, 3, 5} and len(diagonal) < 6):
        raise InputError(
            f"{len(axes)} swings about these axes do not determine the tensor: rank {rank} of {max(len(diagonal), 3)}.",
            name="axes", remedy="Swing about x, y, z for a diagonal tensor, about six general axes for a full one.",
        )  # fmt: skip
    inverse = np.zeros((6, len(rows)))
    inverse[diagonal] = np.linalg.pinv(rows[:, diagonal])
    made = [_sum(float(w) * value for w, value in zip(row, inertias, strict=True)) for row in inverse]
    return (made[0], made[1], made[2], made[3], made[4], made[5])


def _sum(terms: Iterable[Quantity]) -> Quantity:
    total = Quantity(0.0)
    for term in terms:
        total = total + term
    return total


def diagonal(xx: Quantity, yy: Quantity, zz: Quantity) -> Tensor:
    zero = Quantity(0.0)
    return (xx, zero, zero, yy, zero, zz)


def box_shell(mass: Quantity, x: Quantity, y: Quantity, z: Quantity) -> Tensor:
    """A closed box of thin even walls with outer sides x, y, z, about its centre.

    Ixx = m/6 ... summed face by face: the pair of faces normal to x has area 2 y z, and so on.
    """
    area = x * y + y * z + z * x
    faces = ((y * z, x), (z * x, y), (x * y, z))
    square = []
    for axis, own in enumerate((x, y, z)):
        total = Quantity(0.0)
        for normal, (part, across) in enumerate(faces):
            mean = across**2 / 4.0 if normal == axis else own**2 / 12.0
            total = total + part * mean
        square.append(mass * total / area)
    return diagonal(square[1] + square[2], square[2] + square[0], square[0] + square[1])


def cylinder_shell(mass: Quantity, radius: Quantity, length: Quantity, ends: int = 2) -> Tensor:
    """A thin tube along z with 0, 1 or 2 thin ends of the same sheet, about its mass centre."""
    side, lid = 2.0 * radius * length, radius**2
    total = side + float(ends) * lid
    tube, cap = mass * side / total, mass * lid / total
    about = tube * radius**2 + float(ends) * cap * radius**2 / 2.0
    offset = cap * length / 2.0 / mass if ends == 1 else Quantity(0.0)
    across = tube * (radius**2 / 2.0 + length**2 / 12.0) + float(ends) * cap * (radius**2 / 4.0 + length**2 / 4.0)
    across = across - mass * offset**2
    return diagonal(across, across, about)


def sphere_shell(mass: Quantity, radius: Quantity) -> Tensor:
    """A thin sphere: 2/3 m r^2."""
    I = mass * radius**2 * (2.0 / 3.0)
    return diagonal(I, I, I)


def point(mass: Quantity) -> Tensor:
    zero = mass * 0.0
    return diagonal(zero, zero, zero)


SHELLS: dict[str, tuple[tuple[str, ...], Callable[..., Tensor]]] = {
    "box": (("x", "y", "z"), box_shell),
    "cylinder": (("radius", "length"), cylinder_shell),
    "sphere": (("radius",), sphere_shell),
    "point": ((), point),
}


def along(tensor: Tensor, axis: int) -> Tensor:
    """A tensor made about z as one about the coordinate axis 0, 1 or 2."""
    xx, xy, xz, yy, yz, zz = tensor
    if axis == 0:
        return (zz, xz, yz, xx, xy, yy)
    if axis == 1:
        return (yy, yz, xy, zz, xz, xx)
    return tensor


def joined(parts: Sequence[MeasuredBody]) -> MeasuredBody:
    """Bodies fixed to each other as one: a link with the motors that it carries."""
    mass = _sum(p.mass for p in parts)
    centre = [_sum(p.mass * p.com[i] for p in parts) / mass for i in range(3)]
    elements = []
    for k, (i, j) in enumerate(PAIRS):
        total = Quantity(0.0)
        for p in parts:
            d = [p.com[n] - centre[n] for n in range(3)]
            square = d[0] ** 2 + d[1] ** 2 + d[2] ** 2
            shift = square - d[i] * d[j] if i == j else -(d[i] * d[j])
            total = total + p.tensor[k] + p.mass * shift
        elements.append(total)
    a, b, c, d_, e, f = elements
    return MeasuredBody(mass, (centre[0], centre[1], centre[2]), (a, b, c, d_, e, f))


def first_and_second(body: MeasuredBody) -> tuple[Quantity, ...]:
    """(m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz) about the link's origin."""
    h = [body.mass * c for c in body.com]
    square = body.com[0] ** 2 + body.com[1] ** 2 + body.com[2] ** 2
    moments = []
    for k, (i, j) in enumerate(PAIRS):
        shift = square - body.com[i] * body.com[j] if i == j else -(body.com[i] * body.com[j])
        moments.append(body.tensor[k] + body.mass * shift)
    return (body.mass, *h, *moments)


def reflected_inertia(rotor: Quantity, ratio: Quantity) -> Quantity:
    """Drive inertia felt at the joint: rotating parts times the square of the gear ratio."""
    return rotor * ratio**2


def spring_inertia(stiffness: Quantity, gravity_gradient: Quantity, omega: Quantity) -> Quantity:
    """All inertia at a joint that is driven as a torsion spring and swings at omega: I = (k + dg/dq) / omega^2."""
    return (stiffness + gravity_gradient) / omega**2
