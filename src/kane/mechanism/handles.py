"""Reference frames, points and bodies of a System being declared (builder.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kane.errors import InputError
from kane.graph.arena import Graph
from kane.mechanism import formula as f
from kane.mechanism.basis import FrameVector, basis, checked_vector, vector
from kane.mechanism.declared import with_names
from kane.mechanism.formula import Formula, Scalar, ScalarLike
from kane.mechanism.given import checked_items
from kane.mechanism.model import Axis, MatrixTurn, Move, QuaternionTurn, Turn, Vector

if TYPE_CHECKING:
    from kane.mechanism.builder import System

_AXES: dict[Any, Axis] = {1: 0, 2: 1, 3: 2, "x": 0, "y": 1, "z": 2}


@dataclass(slots=True, eq=False)
class ReferenceFrame:
    """A reference frame: its axes as vectors x, y, z; oriented once relative to another frame."""

    system: System = field(repr=False)
    name: str
    parent: ReferenceFrame | None = None
    moves: tuple[Move, ...] = ()
    origin: Point | None = None

    @property
    def x(self) -> FrameVector:
        return basis(self.name, 0)

    @property
    def y(self) -> FrameVector:
        return basis(self.name, 1)

    @property
    def z(self) -> FrameVector:
        return basis(self.name, 2)

    def vector(self, *components: ScalarLike) -> FrameVector:
        """The vector with these three components along x, y, z."""
        return vector(self.name, components)

    def orient_axis(self, parent: ReferenceFrame, axis: int | str | FrameVector, angle: ScalarLike) -> ReferenceFrame:
        """Turn this frame relative to `parent` by an angle about axis 1, 2, 3 (or x, y, z, or a basis vector of it)."""
        parent = self.system._frame(parent)
        if isinstance(axis, FrameVector) and not set(axis.frames()) <= {parent.name, self.name}:
            raise InputError(
                f"Frame {self.name!r} is to turn about {axis}, which belongs to neither {self.name!r} nor "
                f"{parent.name!r}.", name=self.name, value=str(axis),
                remedy=f"Turn about an axis of {parent.name}, or put a frame with that axis between them.",
            )  # fmt: skip
        return self._orient(parent, (Turn(axis_index(axis), f.exact(angle)),))

    def orient_body_fixed(self, parent: ReferenceFrame, angles: Sequence[ScalarLike], order: str) -> ReferenceFrame:
        """Turn about own axes one after the other: order "zxy" or "312"."""
        angles = checked_items(angles, f"The angles of frame {self.name!r}")
        if not isinstance(order, str):
            raise InputError(
                f"Frame {self.name!r} is turned in the order {order!r}.", name=self.name, value=repr(order),
                remedy='Name one axis for each angle: "zxy" or "312".',
            )  # fmt: skip
        if len(order) != len(angles):
            raise InputError(
                f"Frame {self.name!r} has {len(angles)} angles and the order {order!r}.", name=self.name, value=order,
                remedy="Name one axis for each angle.",
            )  # fmt: skip
        turns = [
            Turn(axis_index(int(k) if k.isdigit() else k.lower()), f.exact(a))
            for k, a in zip(order, angles, strict=True)
        ]
        return self._orient(parent, tuple(turns))

    def orient_space_fixed(self, parent: ReferenceFrame, angles: Sequence[ScalarLike], order: str) -> ReferenceFrame:
        """Turn about the axes of `parent`, one after the other: the body-fixed turns in reverse order."""
        angles = checked_items(angles, f"The angles of frame {self.name!r}")
        return self.orient_body_fixed(parent, angles[::-1], order[::-1] if isinstance(order, str) else order)

    def orient_quaternion(
        self, parent: ReferenceFrame, quaternion: Sequence[Formula], speeds: Sequence[str] = ()
    ) -> ReferenceFrame:
        """Turn by a unit quaternion (w, x, y, z) of four coordinates.

        speeds: names of its own speeds, angular velocity in `parent`, these axes.
        """
        names = tuple(str(q) for q in checked_items(quaternion, f"The coordinates of frame {self.name!r}"))
        own_rates = tuple(str(u) for u in checked_items(speeds, f"The speeds of frame {self.name!r}"))
        for rate in own_rates:
            with_names(self.system._declared, (rate,))  # refuses what cannot be
        rates = own_rates or tuple(f"{self.name}.w{k}" for k in "xyz")
        own = list(dict.fromkeys(n for n in names if n in self.system._coordinates))
        if len(names) != 4 or len(own) != 4 or len(set(rates)) != 3 or len(rates) != 3:
            raise InputError(
                f"Frame {self.name!r} is turned by a quaternion of {', '.join(names)} with the speeds "
                f"{', '.join(rates)}.", name=self.name, value=names,
                remedy="Give four different coordinates (w, x, y, z), and three names of speeds or none.",
            )  # fmt: skip
        turn = QuaternionTurn((names[0], names[1], names[2], names[3]), (rates[0], rates[1], rates[2]))
        self._orient(parent, (turn,))
        self.system._quaternions[names] = rates
        return self

    def orient_explicit(self, parent: ReferenceFrame, dcm: Sequence[Sequence[ScalarLike]]) -> ReferenceFrame:
        """Turn by direction cosines: dcm[i][j] is parent axis i dotted with own axis j.

        Numbers, or functions of coordinates, parameters and time that are those of a rotation identically (of numbers,
        body-fixed angles 1-2-3 are taken).  Raises InputError when it is not a rotation.
        """
        return self._orient(parent, _turns_of(dcm, self.name))

    def _orient(self, parent: ReferenceFrame, moves: tuple[Move, ...]) -> ReferenceFrame:
        if self.parent is not None or self is self.system.N:
            raise InputError(f"Frame {self.name!r} is oriented twice.", name=self.name, remedy="Make another frame.")
        known: ReferenceFrame | None = self.system._frame(parent)
        while known is not None:
            if known is self:
                raise InputError(
                    f"Frames {self.name!r} and {parent.name!r} are turned relative to each other in a circle.",
                    name=self.name,
                )
            known = known.parent
        self.parent, self.moves = parent, moves
        return self

    def orient_new_axis(self, name: str, axis: int | str | FrameVector, angle: ScalarLike) -> ReferenceFrame:
        """A new frame turned relative to this one by an angle about an axis."""
        made = self.system.frame(name)
        try:
            return made.orient_axis(self, axis, angle)
        except InputError:
            del self.system.frames[name]  # a refused declaration leaves nothing behind
            raise


@dataclass(slots=True, eq=False)
class Point:
    """A point, located once relative to another point."""

    system: System = field(repr=False)
    name: str
    parent: Point | None = None
    vector: FrameVector = field(default_factory=FrameVector)

    def set_pos(self, other: Point, vector: FrameVector) -> Point:
        """Locate this point at `vector` from `other`."""
        if isinstance(other, Point) and other.system is not self.system:
            raise InputError(
                f"Point {self.name!r} is located from {other.name!r}, a point of another system.", name=self.name,
                remedy="Declare all points in one system.",
            )  # fmt: skip
        checked_vector(vector, f"The position of {self.name} from {self.system._point(other).name}")
        if self.parent is not None or self is self.system.O:
            raise InputError(
                f"Point {self.name!r} is located twice.", name=self.name, remedy="A loop is closed by a constraint."
            )
        self.parent, self.vector = other, vector
        return self

    def locate_new(self, name: str, vector: FrameVector) -> Point:
        """A new point at `vector` from this one."""
        made = self.system.point(name)
        try:
            return made.set_pos(self, vector)
        except InputError:
            del self.system.points[name]
            raise


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body (frame, mass centre, inertia about it) or a particle (no frame)."""

    name: str
    point: Point
    mass: Scalar
    frame: ReferenceFrame | None = None
    moments: tuple[Scalar, ...] = (f.ZERO,) * 6


def axis_index(axis: int | str | FrameVector) -> Axis:
    if isinstance(axis, FrameVector):
        if len(axis.terms) != 1 or axis.terms[0][2] != 1:
            raise InputError(
                f"{axis} is not a basis vector.", value=str(axis), remedy="Turn about x, y or z of the parent frame."
            )
        return axis.terms[0][1]
    if not isinstance(axis, (int, str)) or isinstance(axis, bool) or axis not in _AXES:
        raise InputError(f"{axis!r} is not an axis.", value=axis, remedy="Give 1, 2, 3 or x, y, z.")
    return _AXES[axis]


def different_axes(name: str, axes: Sequence[int]) -> tuple[Axis, ...]:
    """Different axes of a constraint, one at least.  Raises InputError."""
    made = tuple(axis_index(k) for k in checked_items(axes, f"The axes of constraint {name!r}"))
    if not made or len(set(made)) != len(made):
        raise InputError(
            f"Constraint {name!r} has the axes {axes!r}.", name=name, value=repr(axes),
            remedy="Give different ones of 1, 2, 3.",
        )  # fmt: skip
    return made


def axis_text(axis: FrameVector) -> str:
    if not isinstance(axis, FrameVector) or len(axis.terms) != 1 or axis.terms[0][2] != 1:
        raise InputError(
            f"{axis} is not a basis vector.", value=str(axis),
            remedy="Measure along x, y or z of a frame, and add measures with factors.",
        )  # fmt: skip
    ((frame, k, _),) = axis.terms
    return f"{frame}.{'xyz'[k]}"


def _turns_of(dcm: Sequence[Sequence[ScalarLike]], name: str) -> tuple[Move, ...]:
    exact = [[f.exact(x) for x in row] for row in dcm] if all(isinstance(r, Iterable) for r in _rows(dcm)) else []
    if [len(row) for row in exact] != [3, 3, 3]:
        raise InputError(f"The direction cosines of frame {name!r} are not three rows of three.", name=name)
    if any(isinstance(x, Formula) and x.names() for row in exact for x in row):
        a, b, c = ((row[0], row[1], row[2]) for row in exact)
        return (_matrix_turn((a, b, c), name),)
    rows = [[f.number(x) for x in row] for row in exact]
    gram = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in rows] for p in rows]
    if any(abs(gram[i][j] - (i == j)) > 1e-9 for i in range(3) for j in range(3)) or _determinant(rows) < 0:
        raise InputError(
            f"The direction cosines of frame {name!r} are not those of a rotation.",
            name=name,
            remedy="Give orthonormal rows, right-handed.",
        )
    angle = f.function
    x: Vector = (f.exact(dcm[1][2]), f.exact(dcm[2][2]), f.exact(dcm[0][2]))
    first = angle("atan2", f.neg(x[0]), x[1])
    second = angle("asin", x[2])
    third = angle("atan2", f.neg(f.exact(dcm[0][1])), f.exact(dcm[0][0]))
    return (Turn(0, first), Turn(1, second), Turn(2, third))


def _rows(dcm: object) -> Iterable[object]:
    return dcm if isinstance(dcm, Iterable) else (dcm,)


def _determinant(m: Sequence[Sequence[float]]) -> float:
    return sum(m[0][k] * (m[1][k - 2] * m[2][k - 1] - m[1][k - 1] * m[2][k - 2]) for k in range(3))


def _matrix_turn(rows: tuple[Vector, Vector, Vector], name: str) -> MatrixTurn:
    """Checked to be a rotation for all values of its names."""
    g = Graph()
    c = [[f.build(x, g, g.symbol) for x in row] for row in rows]
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        if g.dot(c[i], c[j]) != g.one * (i == j):
            raise InputError(
                f"The direction cosines of frame {name!r} are not those of a rotation: rows {i + 1} and {j + 1} "
                f"{'have not the length one' if i == j else 'are not perpendicular'} for all values.",
                name=name, remedy="Give orthonormal rows, for instance products of sines and cosines.",
            )  # fmt: skip
    across = [g.sub(g.mul(c[0][k - 2], c[1][k - 1]), g.mul(c[0][k - 1], c[1][k - 2])) for k in range(3)]
    if g.dot(across, c[2]) != g.one:
        raise InputError(
            f"The direction cosines of frame {name!r} are left-handed.", name=name, remedy="Change the sign of a row."
        )
    return MatrixTurn(rows)
