"""Declare a mechanism the way it is drawn: frames, points, particles, bodies, coordinates, speeds, forces, constraints.

`System` gathers declarations; `System.mechanism()` gives the frozen Mechanism.  Names follow Kane and Levinson 1985,
and SymPy's
mechanics where they agree (orient_axis, locate_new, set_pos, mass centre, inertia order Ixx Iyy Izz Ixy Iyz Izx).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from kane.errors import InertiaError, InputError
from kane.mechanism import constraints as c
from kane.mechanism import formula as f
from kane.mechanism import loads as ld
from kane.mechanism.basis import FrameVector, basis, vector
from kane.mechanism.beams import Beam
from kane.mechanism.formula import Formula, Scalar, ScalarLike
from kane.mechanism.model import (
    Axis,
    Mechanism,
    Move,
    Parameter,
    QuaternionTurn,
    SpeedDefinition,
    Translate,
    Turn,
    Vector,
)

_AXES: dict[Any, Axis] = {1: 0, 2: 1, 3: 2, "x": 0, "y": 1, "z": 2}


def dot(coordinate: Formula) -> Formula:
    """The rate of a coordinate, for definitions of speeds, constraints and loads."""
    return f.name(f"{coordinate}_dot")


def sin(x: ScalarLike) -> Formula:
    """Sine of a formula."""
    return Formula("sin", (f.formula(x),))


def cos(x: ScalarLike) -> Formula:
    """Cosine of a formula."""
    return Formula("cos", (f.formula(x),))


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
        return self._orient(parent, (Turn(_axis(axis), f.exact(angle)),))

    def orient_body_fixed(self, parent: ReferenceFrame, angles: Sequence[ScalarLike], order: str) -> ReferenceFrame:
        """Turn about own axes one after the other: order "zxy" or "312"."""
        turns = [
            Turn(_axis(int(k) if k.isdigit() else k.lower()), f.exact(a)) for k, a in zip(order, angles, strict=True)
        ]
        return self._orient(parent, tuple(turns))

    def orient_space_fixed(self, parent: ReferenceFrame, angles: Sequence[ScalarLike], order: str) -> ReferenceFrame:
        """Turn about the axes of `parent`, one after the other: the body-fixed turns in reverse order."""
        return self.orient_body_fixed(parent, tuple(reversed(tuple(angles))), order[::-1])

    def orient_quaternion(
        self, parent: ReferenceFrame, quaternion: Sequence[Formula], speeds: Sequence[str] = ()
    ) -> ReferenceFrame:
        """Turn by a unit quaternion (w, x, y, z) of four coordinates;

        own speeds: angular velocity in `parent`, these axes.
        """
        names = tuple(str(q) for q in quaternion)
        rates = tuple(speeds) or tuple(f"{self.name}.w{k}" for k in "xyz")
        self.system._quaternions[names] = rates
        return self._orient(
            parent, (QuaternionTurn((names[0], names[1], names[2], names[3]), (rates[0], rates[1], rates[2])),)
        )

    def orient_explicit(self, parent: ReferenceFrame, dcm: Sequence[Sequence[ScalarLike]]) -> ReferenceFrame:
        """Turn by direction cosines: dcm[i][j] is parent axis i dotted with own axis j.

        Body-fixed angles 1-2-3 are taken from the matrix; constant matrices only.  Raises InputError when it is not a
        rotation.
        """
        return self._orient(parent, _turns_of(dcm, self.name))

    def _orient(self, parent: ReferenceFrame, moves: tuple[Move, ...]) -> ReferenceFrame:
        if self.parent is not None or self is self.system.N:
            raise InputError(f"Frame {self.name!r} is oriented twice.", name=self.name, remedy="Make another frame.")
        known: ReferenceFrame | None = parent
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
        return self.system.frame(name).orient_axis(self, axis, angle)


@dataclass(slots=True, eq=False)
class Point:
    """A point, located once relative to another point."""

    system: System = field(repr=False)
    name: str
    parent: Point | None = None
    vector: FrameVector = field(default_factory=FrameVector)

    def set_pos(self, other: Point, vector: FrameVector) -> Point:
        """Locate this point at `vector` from `other`."""
        if self.parent is not None or self is self.system.O:
            raise InputError(
                f"Point {self.name!r} is located twice.", name=self.name, remedy="A loop is closed by a constraint."
            )
        self.parent, self.vector = other, vector
        return self

    def locate_new(self, name: str, vector: FrameVector) -> Point:
        """A new point at `vector` from this one."""
        return self.system.point(name).set_pos(self, vector)


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body (frame, mass centre, inertia about it) or a particle (no frame)."""

    name: str
    point: Point
    mass: Scalar
    frame: ReferenceFrame | None = None
    moments: tuple[Scalar, ...] = (Fraction(0),) * 6


class System:
    """A mechanism being declared: N is the inertial frame, O its origin."""

    def __init__(self, name: str = "system", inertial: str = "N", origin: str = "O") -> None:
        self.name = name
        self.frames: dict[str, ReferenceFrame] = {}
        self.points: dict[str, Point] = {}
        self.bodies: dict[str, Body] = {}
        self._coordinates: list[str] = []
        self._quaternions: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._speeds: list[SpeedDefinition] = []
        self._parameters: list[Parameter] = []
        self._loads: list[ld.Load | Beam] = []
        self._constraints: list[c.Constraint | c.GivenVelocity] = []
        self.N = self.frames[inertial] = ReferenceFrame(self, inertial)
        self.O = self.points[origin] = Point(self, origin)
        self._gravity = FrameVector()

    # scalars

    def coordinates(self, names: str) -> Any:
        """Generalized coordinates: names separated by blanks; one Formula, or a tuple of several."""
        return self._declare(names, self._coordinates.append)

    def parameters(self, names: str = "", **values: ScalarLike) -> Any:
        """Constants without values (names) and with values (keywords)."""
        for key, value in values.items():
            number = f.exact(value)
            if isinstance(number, Formula):
                raise InputError(
                    f"Parameter {key!r} has the value {value!r}, which is not a number.", name=key, value=value
                )
            self._parameters.append(Parameter(key, number))
        made = self._declare(names, lambda n: self._parameters.append(Parameter(n))) if names else ()
        if not values:
            return made
        given = tuple(f.name(key) for key in values)
        result = (made if isinstance(made, tuple) else (made,)) + given
        return result if len(result) > 1 else result[0]

    def inputs(self, names: str) -> Any:
        """Names of forces, torques and other amounts given at run time."""
        return self._declare(names, lambda n: self._loads.append(ld.Input(n)))

    def specified(self, names: str) -> Any:
        """Motions given at run time with their rates: they may turn frames and move points."""
        return self._declare(names, lambda n: self._loads.append(ld.Specified(n)))

    def _declare(self, names: str, add: Any) -> Any:
        parts = names.replace(",", " ").split()
        for n in parts:
            taken = n in self._coordinates or n in (p.name for p in self._parameters) or n == "t"
            if taken:
                raise InputError(f"{n!r} is declared twice.", name=n, remedy="Choose another name.")
            add(n)
        made = tuple(f.name(n) for n in parts)
        return made if len(made) > 1 else made[0]

    def speeds(self, **definitions: ScalarLike) -> Any:
        """Generalized speeds as combinations of rates: speeds(u1=dot(q1) + dot(q2), u2=dot(q2))."""
        for key, value in definitions.items():
            self._speeds.append(SpeedDefinition(key, f.exact(value)))
        made = tuple(f.name(key) for key in definitions)
        return made if len(made) > 1 else made[0]

    @property
    def t(self) -> Formula:
        """Time."""
        return f.name("t")

    # geometry

    def frame(self, name: str) -> ReferenceFrame:
        """A new frame, to be oriented."""
        if name in self.frames:
            raise InputError(f"There are two frames named {name!r}.", name=name, remedy="Rename one of them.")
        self.frames[name] = ReferenceFrame(self, name)
        return self.frames[name]

    def point(self, name: str) -> Point:
        """A new point, to be located."""
        if name in self.points:
            raise InputError(f"There are two points named {name!r}.", name=name, remedy="Rename one of them.")
        self.points[name] = Point(self, name)
        return self.points[name]

    # measures

    def dot(self, a: FrameVector, b: FrameVector) -> Formula:
        """The dot product of two vectors given in any frames, as a formula in the angles between them."""
        from kane.mechanism.assemble import dot_product

        return f.formula(dot_product(self, a, b))

    def velocity(self, point: Point, frame: ReferenceFrame, axis: FrameVector) -> Formula:
        """The component along a basis vector of the velocity of a point in a frame."""
        return f.name(f"velocity({point.name}, {frame.name}, {_axis_text(axis)})")

    def material_velocity(self, point: Point, body: ReferenceFrame, axis: FrameVector) -> Formula:
        return f.name(f"material_velocity({point.name}, {body.name}, {_axis_text(axis)})")

    def angular_velocity(self, body: ReferenceFrame, frame: ReferenceFrame, axis: FrameVector) -> Formula:
        """The component along a basis vector of the angular velocity of one frame in another."""
        return f.name(f"angular_velocity({body.name}, {frame.name}, {_axis_text(axis)})")

    def position(self, point: Point, other: Point, axis: FrameVector) -> Formula:
        """The component along a basis vector of the vector from `other` to `point`."""
        return f.name(f"position({point.name}, {other.name}, {_axis_text(axis)})")

    def distance(self, point: Point, other: Point) -> Formula:
        """The distance of two points; its rate is distance_dot."""
        return f.name(f"distance({point.name}, {other.name})")

    def distance_dot(self, point: Point, other: Point) -> Formula:
        """The rate of the distance of two points."""
        return f.name(f"distance_dot({point.name}, {other.name})")

    # bodies

    def particle(self, name: str, point: Point, mass: ScalarLike) -> Body:
        """A particle at a point."""
        return self._body(Body(name, point, _mass(name, mass)))

    def body(
        self, name: str, frame: ReferenceFrame, mass_centre: Point, mass: ScalarLike, inertia: Sequence[ScalarLike]
    ) -> Body:
        """A rigid body fixed in a frame:

        inertia (Ixx, Iyy, Izz[, Ixy, Iyz, Izx]) about the mass centre, axes of the frame.
        """
        i = [f.exact(x) for x in inertia]
        if len(i) not in (3, 6):
            raise InertiaError(
                f"Body {name!r} has {len(i)} inertia scalars.", name=name, remedy="Give Ixx, Iyy, Izz or all six."
            )
        i += [Fraction(0)] * (6 - len(i))
        return self._body(Body(name, mass_centre, _mass(name, mass), frame, (i[0], i[3], i[5], i[1], i[4], i[2])))

    def _body(self, body: Body) -> Body:
        if body.name in self.bodies:
            raise InputError(
                f"There are two bodies named {body.name!r}.", name=body.name, remedy="Rename one of them."
            )
        self.bodies[body.name] = body
        return body

    # loads

    def gravity(self, acceleration: FrameVector) -> None:
        """Uniform gravity: the vector points where things fall, in N."""
        self._gravity = acceleration

    def force(self, name: str, point: Point, vector: FrameVector, body: ReferenceFrame | None = None) -> None:
        """A force on a point, or on the material point of `body` that is there."""
        self._loads.append(ld.Force(name, point.name, vector, body.name if body else None))

    def torque(self, name: str, body: ReferenceFrame, vector: FrameVector) -> None:
        """A torque on a body."""
        self._loads.append(ld.Torque(name, body.name, vector))

    def force_pair(
        self, name: str, point: Point, body: ReferenceFrame, reaction: ReferenceFrame, vector: FrameVector
    ) -> None:
        """A force on the material point of `body` at `point` and its opposite on the coinciding point of `reaction`."""
        self._loads.append(ld.ForcePair(name, point.name, body.name, reaction.name, vector))

    def torque_pair(self, name: str, body: ReferenceFrame, reaction: ReferenceFrame, vector: FrameVector) -> None:
        """A torque on `body` and its opposite on `reaction`."""
        self._loads.append(ld.TorquePair(name, body.name, reaction.name, vector))

    def actuator(self, name: str, point: Point, other: Point, magnitude: ScalarLike) -> None:
        """A force along the line of two points, pushing them apart when positive."""
        self._loads.append(ld.LineForce(name, point.name, other.name, f.exact(magnitude)))

    def spring(self, name: str, point: Point, other: Point, stiffness: ScalarLike, length: ScalarLike = 0) -> None:
        """A linear spring between two points with its natural length."""
        self.actuator(name, point, other, -f.formula(stiffness) * (self.distance(point, other) - length))

    def damper(self, name: str, point: Point, other: Point, coefficient: ScalarLike) -> None:
        """A viscous damper between two points."""
        self.actuator(name, point, other, -f.formula(coefficient) * self.distance_dot(point, other))

    def generalized_force(self, name: str, speed: Formula, value: ScalarLike) -> None:
        """A contribution to the generalized active force of one speed."""
        self._loads.append(ld.GeneralizedForce(name, str(speed), f.exact(value)))

    def add(self, *elements: ld.Load | c.Constraint) -> None:
        """Loads and constraints made elsewhere: joint elements, beams."""
        for element in elements:
            if isinstance(element, (c.Holonomic, c.MotionConstraint, c.Coincident, c.Rolling)):
                self._constraints.append(element)
            else:
                self._loads.append(element)

    def beam(  # noqa: PLR0913
        self,
        name: str,
        frame: ReferenceFrame,
        start: Point,
        shapes: Sequence[Formula],
        coordinates: Sequence[Formula],
        length: ScalarLike,
        density: ScalarLike,
        rigidity: ScalarLike,
        **options: Any,
    ) -> Beam:
        """An elastic beam along x of a frame from a point: shapes of s = xi / L (beams.py), one coordinate each.

        options: the other fields of Beam; scalars may be text.
        """
        link = self.frame(f"{name}.root").orient_axis(frame, 3, 0)
        link.origin = start
        scalars: dict[str, Any] = {k: f.exact(options.pop(k)) for k in ("axial_rigidity", "damping") if k in options}
        names = tuple(str(q) for q in coordinates)
        made = Beam(
            name,
            link.name,
            f.exact(length),
            f.exact(density),
            f.exact(rigidity),
            names,
            tuple(shapes),
            **scalars,
            **options,
        )
        self._loads.append(made)
        return made

    def beam_end(self, name: str, beam: Beam, s: ScalarLike = 1) -> tuple[Point, ReferenceFrame]:
        """A point and a frame that move and turn with the beam at s: for tip bodies and forces."""
        shift, turn = beam.end(name, s).moves
        assert isinstance(shift, Translate) and isinstance(turn, Turn)
        root = self.frames[beam.link]
        assert root.origin is not None
        point = root.origin.locate_new(f"{name}.point", vector(root.name, shift.by))
        return point, self.frame(name).orient_axis(root, turn.axis + 1, turn.angle)

    # constraints

    def holonomic(self, name: str, expression: ScalarLike) -> None:
        """A configuration constraint expression = 0."""
        self._constraints.append(c.Holonomic(name, f.exact(expression)))

    def nonholonomic(self, name: str, expression: ScalarLike) -> None:
        """A motion constraint expression = 0, linear in the rates."""
        self._constraints.append(c.MotionConstraint(name, f.exact(expression)))

    def coincide(
        self, name: str, point: Point, other: Point, frame: ReferenceFrame, axes: Sequence[int] = (1, 2, 3)
    ) -> None:
        """Two points stay together along the axes (1, 2, 3) of a frame: a loop is closed."""
        self._constraints.append(c.Coincident(name, point.name, other.name, frame.name, tuple(_axis(k) for k in axes)))

    def roll(
        self,
        name: str,
        body: ReferenceFrame,
        contact: Point,
        surface: ReferenceFrame,
        frame: ReferenceFrame,
        axes: Sequence[int] = (1, 2),
    ) -> None:
        """Rolling without slip of a body on a surface body, along the axes (1, 2, 3) of a frame."""
        self._constraints.append(
            c.Rolling(name, body.name, contact.name, surface.name, frame.name, tuple(_axis(k) for k in axes))
        )

    def given_velocity(self, point: Point, frame: ReferenceFrame, vector: FrameVector) -> None:
        """A velocity of a point in a frame, derived by hand: it is checked against the derivative of the position."""
        name = f"velocity of {point.name} in {frame.name}"
        self._constraints.append(c.GivenVelocity(name, point.name, frame.name, vector))

    def mechanism(self) -> Mechanism:
        """The frozen description of everything declared.

        Raises InputError for a frame not oriented, a point not located.
        """
        from kane.mechanism.assemble import assemble

        return assemble(self)


def _mass(name: str, mass: ScalarLike) -> Scalar:
    value = f.exact(mass)
    if isinstance(value, Fraction) and value < 0:
        raise InertiaError(
            f"Body {name!r} has the negative mass {float(value)}.",
            name=name,
            value=float(value),
            remedy="Give a mass that is not negative.",
        )
    return value


def _axis(axis: int | str | FrameVector) -> Axis:
    if isinstance(axis, FrameVector):
        if len(axis.terms) != 1 or axis.terms[0][2] != 1:
            raise InputError(
                f"{axis} is not a basis vector.", value=str(axis), remedy="Turn about x, y or z of the parent frame."
            )
        return axis.terms[0][1]
    if axis not in _AXES:
        raise InputError(f"{axis!r} is not an axis.", value=axis, remedy="Give 1, 2, 3 or x, y, z.")
    return _AXES[axis]


def _axis_text(axis: FrameVector) -> str:
    ((frame, k, _),) = axis.terms
    return f"{frame}.{'xyz'[k]}"


def _turns_of(dcm: Sequence[Sequence[ScalarLike]], name: str) -> tuple[Move, ...]:
    try:
        rows = [[f.number(f.exact(x)) for x in row] for row in dcm]
    except KeyError as error:
        raise InputError(
            f"The direction cosines of frame {name!r} depend on {error.args[0]!r}.", name=name,
            remedy="Turn the frame by angles or a quaternion; direction cosines are for constant orientations.",
        ) from None  # fmt: skip
    gram = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in rows] for p in rows]
    if any(abs(gram[i][j] - (i == j)) > 1e-9 for i in range(3) for j in range(3)):
        raise InputError(
            f"The direction cosines of frame {name!r} are not those of a rotation.",
            name=name,
            remedy="Give orthonormal rows.",
        )
    angle = f.function
    x: Vector = (f.exact(dcm[1][2]), f.exact(dcm[2][2]), f.exact(dcm[0][2]))
    first = angle("atan2", f.neg(x[0]), x[1])
    second = angle("asin", x[2])
    third = angle("atan2", f.neg(f.exact(dcm[0][1])), f.exact(dcm[0][0]))
    return (Turn(0, first), Turn(1, second), Turn(2, third))
