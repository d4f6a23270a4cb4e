"""Declare a mechanism the way it is drawn: frames, points, bodies, coordinates, speeds, forces, constraints.

`System` gathers declarations; `System.mechanism()` gives the frozen Mechanism.  Names follow Kane and Levinson 1985,
and SymPy's mechanics where they agree (orient_axis, locate_new, set_pos, mass centre, inertia order Ixx Iyy Izz Ixy
Iyz Izx).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from kane.errors import InertiaError, InputError
from kane.mechanism import constraints as c
from kane.mechanism import formula as f
from kane.mechanism import loads as ld
from kane.mechanism.basis import FrameVector, checked_vector, vector
from kane.mechanism.beams import Beam
from kane.mechanism.declared import with_names
from kane.mechanism.formula import Formula, Scalar, ScalarLike
from kane.mechanism.given import checked_items, checked_name, names_in
from kane.mechanism.handles import Body, Point, ReferenceFrame, axis_text, different_axes
from kane.mechanism.model import (
    Mechanism,
    Parameter,
    SpeedDefinition,
    Translate,
    Turn,
)


def dot(coordinate: Formula) -> Formula:
    """The rate of a coordinate, for definitions of speeds, constraints and loads."""
    return f.name(f"{coordinate}_dot")


def sin(x: ScalarLike) -> Formula:
    """Sine of a formula."""
    return Formula("sin", (f.formula(x),))


def cos(x: ScalarLike) -> Formula:
    """Cosine of a formula."""
    return Formula("cos", (f.formula(x),))


H = TypeVar("H", Point, ReferenceFrame)


class System:
    """A mechanism being declared: N is the inertial frame, O its origin."""

    def __init__(self, name: str = "system", inertial: str = "N", origin: str = "O") -> None:
        self.name = checked_name(name, "A system")
        checked_name(inertial, "The inertial frame"), checked_name(origin, "The origin")
        self.frames: dict[str, ReferenceFrame] = {}
        self.points: dict[str, Point] = {}
        self.bodies: dict[str, Body] = {}
        self._coordinates: list[str] = []
        self._declared: frozenset[str] = frozenset()
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
        numbers: dict[str, Fraction] = {}
        for key, value in values.items():
            number = f.exact(value)
            if isinstance(number, Formula):
                raise InputError(
                    f"Parameter {key!r} has the value {value!r}, which is not a number.", name=key, value=value
                )
            numbers[key] = number
        plain = names_in(names)
        self._take(*numbers, *plain)
        self._parameters += [Parameter(key, number) for key, number in numbers.items()]
        self._parameters += [Parameter(n) for n in plain]
        made = tuple(f.name(n) for n in (*plain, *numbers))
        return made[0] if len(made) == 1 else made

    def inputs(self, names: str) -> Any:
        """Names of forces, torques and other amounts given at run time."""
        return self._declare(names, lambda n: self._loads.append(ld.Input(n)))

    def specified(self, names: str) -> Any:
        """Motions given at run time with their rates: they may turn frames and move points."""
        return self._declare(names, lambda n: self._loads.append(ld.Specified(n)))

    def _declare(self, names: str, add: Any) -> Any:
        parts = names_in(names)
        self._take(*parts)
        for n in parts:
            add(n)
        made = tuple(f.name(n) for n in parts)
        return made[0] if len(made) == 1 else made

    def _take(self, *names: str) -> None:
        """All the names, or none of them where one is refused."""
        self._declared = with_names(self._declared, names)

    def speeds(self, **definitions: ScalarLike) -> Any:
        """Generalized speeds as combinations of rates: speeds(u1=dot(q1) + dot(q2), u2=dot(q2))."""
        exact = {key: f.exact(value) for key, value in definitions.items()}
        self._take(*exact)
        self._speeds += [SpeedDefinition(key, value) for key, value in exact.items()]
        made = tuple(f.name(key) for key in definitions)
        return made[0] if len(made) == 1 else made

    @property
    def t(self) -> Formula:
        """Time."""
        return f.name("t")

    # geometry

    def frame(self, name: str) -> ReferenceFrame:
        """A new frame, to be oriented."""
        if checked_name(name, "A frame") in self.frames:
            raise InputError(f"There are two frames named {name!r}.", name=name, remedy="Rename one of them.")
        self.frames[name] = ReferenceFrame(self, name)
        return self.frames[name]

    def point(self, name: str) -> Point:
        """A new point, to be located."""
        if checked_name(name, "A point") in self.points:
            raise InputError(f"There are two points named {name!r}.", name=name, remedy="Rename one of them.")
        self.points[name] = Point(self, name)
        return self.points[name]

    def _point(self, point: Point) -> Point:
        return self._handle(point, Point, self.points, "points")

    def _frame(self, frame: ReferenceFrame) -> ReferenceFrame:
        return self._handle(frame, ReferenceFrame, self.frames, "frames")

    def _handle(self, handle: H, kind: type[H], known: Mapping[str, H], where: str) -> H:
        """The handle, one of this system."""
        if isinstance(handle, kind) and known.get(handle.name) is handle:
            return handle
        given = f"{type(handle).__name__} {getattr(handle, 'name', handle)!r}"
        text = f": {where}[{handle!r}]" if isinstance(handle, str) and handle in known else ""
        raise InputError(
            f"{given} is none of the {where} of system {self.name!r}.", value=given,
            remedy=f"Hand over one of its {where} itself{text}.",
        )  # fmt: skip

    # measures

    def dot(self, a: FrameVector, b: FrameVector) -> Formula:
        """The dot product of two vectors given in any frames, as a formula in the angles between them."""
        from kane.mechanism.assemble import dot_product

        for v in (a, b):
            checked_vector(v, "A factor of a dot product")
        return f.formula(dot_product(self, a, b))

    def velocity(self, point: Point, frame: ReferenceFrame, axis: FrameVector) -> Formula:
        """The component along a basis vector of the velocity of a point in a frame."""
        return f.name(f"velocity({self._point(point).name}, {self._frame(frame).name}, {axis_text(axis)})")

    def material_velocity(self, point: Point, body: ReferenceFrame, axis: FrameVector) -> Formula:
        return f.name(f"material_velocity({self._point(point).name}, {self._frame(body).name}, {axis_text(axis)})")

    def angular_velocity(self, body: ReferenceFrame, frame: ReferenceFrame, axis: FrameVector) -> Formula:
        """The component along a basis vector of the angular velocity of one frame in another."""
        return f.name(f"angular_velocity({self._frame(body).name}, {self._frame(frame).name}, {axis_text(axis)})")

    def position(self, point: Point, other: Point, axis: FrameVector) -> Formula:
        """The component along a basis vector of the vector from `other` to `point`."""
        return f.name(f"position({self._point(point).name}, {self._point(other).name}, {axis_text(axis)})")

    def distance(self, point: Point, other: Point) -> Formula:
        """The distance of two points; its rate is distance_dot."""
        return f.name(f"distance({self._point(point).name}, {self._point(other).name})")

    def distance_dot(self, point: Point, other: Point) -> Formula:
        """The rate of the distance of two points."""
        return f.name(f"distance_dot({self._point(point).name}, {self._point(other).name})")

    # bodies

    def particle(self, name: str, point: Point, mass: ScalarLike) -> Body:
        """A particle at a point."""
        return self._body(Body(name, self._point(point), _mass(name, mass)))

    def body(
        self, name: str, frame: ReferenceFrame, mass_centre: Point, mass: ScalarLike, inertia: Sequence[ScalarLike]
    ) -> Body:
        """A rigid body fixed in a frame.

        inertia: (Ixx, Iyy, Izz[, Ixy, Iyz, Izx]) about the mass centre, axes of the frame.
        """
        i = [f.exact(x) for x in checked_items(inertia, f"The inertia scalars of body {name!r}")]
        if len(i) not in (3, 6):
            raise InertiaError(
                f"Body {name!r} has {len(i)} inertia scalars.", name=name, remedy="Give Ixx, Iyy, Izz or all six."
            )
        i += [Fraction(0)] * (6 - len(i))
        centre, fixed = self._point(mass_centre), self._frame(frame)
        return self._body(Body(name, centre, _mass(name, mass), fixed, (i[0], i[3], i[5], i[1], i[4], i[2])))

    def _body(self, body: Body) -> Body:
        if checked_name(body.name, "A body") in self.bodies:
            raise InputError(
                f"There are two bodies named {body.name!r}.", name=body.name, remedy="Rename one of them."
            )
        self.bodies[body.name] = body
        return body

    # loads

    def gravity(self, acceleration: FrameVector) -> None:
        """Uniform gravity: the vector points where things fall, in N."""
        self._gravity = checked_vector(acceleration, "Gravity")

    def force(self, name: str, point: Point, vector: FrameVector, body: ReferenceFrame | None = None) -> None:
        """A force on a point, or on the material point of `body` that is there."""
        checked_vector(vector, f"Force {name!r}")
        on = None if body is None else self._frame(body).name
        self._load(ld.Force(name, self._point(point).name, vector, on))

    def torque(self, name: str, body: ReferenceFrame, vector: FrameVector) -> None:
        """A torque on a body."""
        self._load(ld.Torque(name, self._frame(body).name, checked_vector(vector, f"Torque {name!r}")))

    def force_pair(
        self, name: str, point: Point, body: ReferenceFrame, reaction: ReferenceFrame, vector: FrameVector
    ) -> None:
        """A force on the material point of `body` at `point` and its opposite on the coinciding point of `reaction`."""
        checked_vector(vector, f"Force {name!r}")
        pair = self._frame(body).name, self._frame(reaction).name
        self._load(ld.ForcePair(name, self._point(point).name, *pair, vector))

    def torque_pair(self, name: str, body: ReferenceFrame, reaction: ReferenceFrame, vector: FrameVector) -> None:
        """A torque on `body` and its opposite on `reaction`."""
        checked_vector(vector, f"Torque {name!r}")
        self._load(ld.TorquePair(name, self._frame(body).name, self._frame(reaction).name, vector))

    def actuator(self, name: str, point: Point, other: Point, magnitude: ScalarLike) -> None:
        """A force along the line of two points, pushing them apart when positive."""
        self._load(ld.LineForce(name, self._point(point).name, self._point(other).name, f.exact(magnitude)))

    def spring(self, name: str, point: Point, other: Point, stiffness: ScalarLike, length: ScalarLike = 0) -> None:
        """A linear spring between two points with its natural length."""
        self.actuator(name, point, other, -f.formula(stiffness) * (self.distance(point, other) - length))

    def damper(self, name: str, point: Point, other: Point, coefficient: ScalarLike) -> None:
        """A viscous damper between two points."""
        self.actuator(name, point, other, -f.formula(coefficient) * self.distance_dot(point, other))

    def generalized_force(self, name: str, speed: Formula, value: ScalarLike) -> None:
        """A contribution to the generalized active force of one speed."""
        self._load(ld.GeneralizedForce(name, str(speed), f.exact(value)))

    def _load(self, load: ld.Load) -> None:
        checked_name(load.name, "A load")
        self._loads.append(load)

    def _constrain(self, constraint: c.Constraint | c.GivenVelocity) -> None:
        checked_name(constraint.name, "A constraint")
        self._constraints.append(constraint)

    def add(self, *elements: ld.Load | c.Constraint) -> None:
        """Loads and constraints made elsewhere: joint elements, beams."""
        for element in elements:
            if isinstance(element, (c.Holonomic, c.MotionConstraint, c.Coincident, c.Rolling)):
                self._constraints.append(element)
            elif isinstance(element, (ld.Load, Beam)):
                self._loads.append(element)
            else:
                raise InputError(
                    f"{element!r} is neither a load nor a constraint.", value=repr(element)[:200],
                    remedy="Add what the functions of kane.mechanism.elements return, with a star: s.add(*loads).",
                )  # fmt: skip

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
        frame, start, root = self._frame(frame), self._point(start), f"{checked_name(name, 'A beam')}.root"
        scalars: dict[str, Any] = {k: f.exact(options.pop(k)) for k in ("axial_rigidity", "damping") if k in options}
        names = tuple(str(q) for q in checked_items(coordinates, f"The coordinates of beam {name!r}"))
        for q in names:
            if q not in self._coordinates:
                raise InputError(
                    f"Beam {name!r} has the coordinate {q!r}, which is not declared.", name=name, value=q,
                    remedy="Give one of coordinates(...) for each shape.",
                )  # fmt: skip
        shapes = checked_items(shapes, f"The shapes of beam {name!r}")
        made = Beam(
            name,
            root,
            f.exact(length),
            f.exact(density),
            f.exact(rigidity),
            names,
            shapes,
            **scalars,
            **options,
        )
        frame.orient_new_axis(root, 3, 0).origin = start
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
        self._constrain(c.Holonomic(name, f.exact(expression)))

    def nonholonomic(self, name: str, expression: ScalarLike) -> None:
        """A motion constraint expression = 0, linear in the rates."""
        self._constrain(c.MotionConstraint(name, f.exact(expression)))

    def coincide(
        self, name: str, point: Point, other: Point, frame: ReferenceFrame, axes: Sequence[int] = (1, 2, 3)
    ) -> None:
        """Two points stay together along the axes (1, 2, 3) of a frame: a loop is closed."""
        pair, along = (self._point(point).name, self._point(other).name), self._frame(frame).name
        self._constrain(c.Coincident(name, *pair, along, different_axes(name, axes)))

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
        at, on, along = self._point(contact).name, self._frame(surface).name, self._frame(frame).name
        self._constrain(c.Rolling(name, self._frame(body).name, at, on, along, different_axes(name, axes)))

    def given_velocity(self, point: Point, frame: ReferenceFrame, vector: FrameVector) -> None:
        """A velocity of a point in a frame, derived by hand: it is checked against the derivative of the position."""
        name = f"velocity of {self._point(point).name} in {self._frame(frame).name}"
        checked_vector(vector, f"The {name}")
        self._constrain(c.GivenVelocity(name, self._point(point).name, self._frame(frame).name, vector))

    def mechanism(self) -> Mechanism:
        """The frozen description of everything declared.

        Raises InputError for a frame not oriented, a point not located.
        """
        from kane.mechanism.assemble import assemble

        return assemble(self)


def _mass(name: str, mass: ScalarLike) -> Scalar:
    value = f.exact(mass)
    if not isinstance(value, Formula) and value < 0:
        raise InertiaError(
            f"Body {name!r} has the negative mass {float(value)}.",
            name=name,
            value=float(value),
            remedy="Give a mass that is not negative.",
        )
    return value
