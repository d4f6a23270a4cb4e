"""Vectors as a dynamicist writes them: sums of scalars times basis vectors of named frames, L a1 + L b1.

Nothing is resolved into other axes here; kinematics/points.py does that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from kane.errors import InputError
from kane.mechanism import formula as f
from kane.mechanism.formula import Scalar, ScalarLike
from kane.mechanism.model import Axis, Vector

Term = tuple[str, Axis, Scalar]
_ONE = Fraction(1)
_X: Axis = 0
_Y: Axis = 1
_Z: Axis = 2


@dataclass(frozen=True, slots=True)
class FrameVector:
    """A sum of terms (frame, axis 0..2, coefficient); `()` is the zero vector."""

    terms: tuple[Term, ...] = ()

    def __add__(self, other: FrameVector) -> FrameVector:
        total = {(frame, axis): c for frame, axis, c in self.terms}
        for frame, axis, c in other.terms:
            total[frame, axis] = f.add(total[frame, axis], c) if (frame, axis) in total else c
        return FrameVector(tuple((frame, axis, c) for (frame, axis), c in total.items() if not f.is_zero(c)))

    def __radd__(self, other: int) -> FrameVector:
        return self  # sum() starts from 0

    def __sub__(self, other: FrameVector) -> FrameVector:
        return self + -other

    def __neg__(self) -> FrameVector:
        return FrameVector(tuple((frame, axis, f.neg(c)) for frame, axis, c in self.terms))

    def __mul__(self, factor: ScalarLike) -> FrameVector:
        scale = f.exact(factor)
        return FrameVector(tuple([(frame, axis, f.mul(scale, c)) for frame, axis, c in self.terms]))

    __rmul__ = __mul__

    def __truediv__(self, divisor: ScalarLike) -> FrameVector:
        return self * (f.formula(1) / divisor)

    def __str__(self) -> str:
        return " + ".join(f"({f.scalar_text(c)}) {label(frame, axis)}" for frame, axis, c in self.terms) or "0"

    def frames(self) -> tuple[str, ...]:
        """The frames in it, in order of appearance."""
        return tuple(dict.fromkeys([frame for frame, _, _ in self.terms]))

    def part(self, frame: str) -> Vector:
        """Its components along the axes of one frame."""
        parts: list[Scalar] = [f.ZERO] * 3
        for own, axis, c in self.terms:
            if own == frame:
                parts[axis] = f.add(parts[axis], c)
        return (parts[0], parts[1], parts[2])


def basis(frame: str, axis: Axis) -> FrameVector:
    """The basis vector of a frame: axis 0, 1, 2 for the first, second and third."""
    return FrameVector(((frame, axis, _ONE),))


def vector(frame: str, components: Iterable[ScalarLike]) -> FrameVector:
    """A vector from its three components in one frame."""
    x, y, z = (f.exact(c) for c in components)
    return FrameVector(tuple([(frame, k, c) for k, c in ((_X, x), (_Y, y), (_Z, z)) if not f.is_zero(c)]))


def checked_vector(value: object, owner: str) -> FrameVector:
    """The value, which has to be a vector of what is called `owner`.  Raises InputError."""
    if not isinstance(value, FrameVector):
        raise InputError(
            f"{owner} is given as {str(value)!r}, which is not a vector.", name=owner, value=str(value),
            remedy="Multiply scalars by basis vectors: 3*N.x + 2*A.y.",
        )  # fmt: skip
    return value


def label(frame: str, axis: int) -> str:
    """The printed name of a basis vector: a1, a2, a3 of frame A; n1 of N; shoulder.x for longer names."""
    return f"{frame.lower()}{axis + 1}" if len(frame) <= 2 else f"{frame}.{'xyz'[axis]}"
