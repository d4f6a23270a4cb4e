"""What is described: links, joints, frames, inertia, loads, constraints, speeds.  Frozen data, exact scalars.

A Mechanism is a tree of frames.  A link is a frame with or without a body.  A joint places its child frame in its
parent frame by a sequence of moves (translations and simple rotations) whose amounts are formulas in coordinates,
parameters and time; joint types are recipes for such sequences (joints.py), so a robot and a mechanism drawn by hand
are one kind of thing. Edit with dataclasses.replace, the methods here or edit.py; every edit gives a new value, the
old one stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, TypeVar

from kane.errors import UnknownNameError
from kane.mechanism.formula import ZERO as NOTHING
from kane.mechanism.formula import Scalar
from kane.mechanism.wording import counted

T = TypeVar("T", "Link", "Joint")
Vector = tuple[Scalar, Scalar, Scalar]
Axis = Literal[0, 1, 2]
_PARTS = ("link", "joint", "frame", "parameter", "load", "constraint", "speed")
ZERO: Vector = (NOTHING, NOTHING, NOTHING)


@dataclass(frozen=True, slots=True)
class Translate:
    """Move the origin by `by`, in the current axes."""

    by: Vector


@dataclass(frozen=True, slots=True)
class Turn:
    """Turn the axes about one of them (0 x, 1 y, 2 z) by `angle`, radians."""

    axis: Axis
    angle: Scalar


@dataclass(frozen=True, slots=True)
class QuaternionTurn:
    """Turn the axes by a unit quaternion (w, x, y, z).

    Either four coordinate names with three speed names (angular velocity in the new axes), or four rationals, which
    need not be normalised.
    """

    quaternion: tuple[str, str, str, str] | tuple[Fraction, Fraction, Fraction, Fraction]
    speeds: tuple[str, str, str] | None = None


@dataclass(frozen=True, slots=True)
class MatrixTurn:
    """Turn the axes by direction cosines: rows[i][j] is old axis i dotted with new axis j, functions of anything."""

    rows: tuple[Vector, Vector, Vector]

    @property
    def transposed(self) -> MatrixTurn:
        """The turn back."""
        a, b, c = zip(*self.rows, strict=True)
        return MatrixTurn((a, b, c))


Move = Translate | Turn | QuaternionTurn | MatrixTurn
Placement = tuple[Move, ...]


def amounts(move: Move) -> tuple[Scalar, ...]:
    """The scalars of a move."""
    match move:
        case Translate(by):
            return by
        case Turn(_, angle):
            return (angle,)
        case MatrixTurn(rows):
            return tuple(x for row in rows for x in row)
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass, mass centre (link frame) and inertia about the mass centre (axes of the link frame turned by `axes`).

    moments: (Ixx, Ixy, Ixz, Iyy, Iyz, Izz), matrix elements.  kg, m, kg m^2.  `resolution`: size of the last printed
    digit of the moments relative to the largest, for judging them; 0 for exact values.
    """

    mass: Scalar
    com: Vector = ZERO
    moments: tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar] = (NOTHING,) * 6
    axes: Placement = ()
    resolution: float = 0.0
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Geometry:
    """A shape for drawing.

    kind: "box" (x, y, z), "cylinder" (radius, length), "sphere" (radius), "capsule", "mesh" (file, scale).
    """

    kind: str
    size: tuple[float, ...] = ()
    placement: Placement = ()
    file: str = ""
    color: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A frame of the tree, with a body when `inertia` is given."""

    name: str
    inertia: Inertia | None = None
    geometry: tuple[Geometry, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Rotor:
    """Motor rotor of a joint: inertia about its axis (kg m^2), turns `ratio` times the joint rate (sign kept).

    `exact` False: reflected inertia inertia * ratio^2 on the diagonal, gyroscopic terms of the armature neglected (as
    Armstrong, Khatib and Burdick do).  True: a spinning rotor carried by link `carrier` about `axis` (link axes;
    default the parent link and the joint axis); the carrier's mass and inertia include the rotor's as if it were
    locked, so that only the spin relative to the carrier is added.
    """

    inertia: Scalar
    ratio: Scalar = Fraction(1)
    exact: bool = False
    carrier: str | None = None
    axis: Vector | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a joint; None where the file has none. rad or m, rad/s or m/s, N m or N, rad/s^2 or m/s^2."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None
    acceleration: float | None = None


@dataclass(frozen=True, slots=True)
class Mimic:
    """The joint's coordinate is ratio * (coordinate of `joint`) + offset."""

    joint: str
    ratio: Scalar = Fraction(1)
    offset: Scalar = Fraction(0)


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint of the tree: `placement`, then the motion of `type` along `axis`.

    placement: fixed, from the parent link's frame to the joint's.  coordinates, speeds: names; empty for the defaults
    of the joint type (joints.py).  moves: only for type "general". damping N m s/rad or N s/m, friction (Coulomb) N m
    or N, stiffness about `rest`.
    """

    name: str
    type: str
    parent: str
    child: str
    placement: Placement = ()
    axis: Vector = (Fraction(0), Fraction(0), Fraction(1))
    coordinates: tuple[str, ...] = ()
    speeds: tuple[str, ...] = ()
    moves: Placement = ()
    pitch: Scalar = Fraction(0)
    limits: Limits = Limits()
    damping: Scalar = Fraction(0)
    friction: Scalar = Fraction(0)
    stiffness: Scalar = Fraction(0)
    rest: Scalar = Fraction(0)
    rotor: Rotor | None = None
    mimic: Mimic | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A named frame placed relative to a link, by fixed or moving formulas: tool, camera, point of a load."""

    name: str
    link: str
    placement: Placement = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named parameter of the description and its value (None: known only at run time)."""

    name: str
    value: Fraction | None = None


@dataclass(frozen=True, slots=True)
class SpeedDefinition:
    """A generalized speed, u = a formula linear in rates.

    Names in it: coordinates `q1`, their rates `q1_dot`, `t`, parameters, the joint types' own speeds, and measures such
    as `angular_velocity(B, N, b3)` (kinematics/measures.py).  The definitions of a mechanism replace all its default
    speeds: there must be as many, and they must be invertible.
    """

    name: str
    definition: Scalar


@dataclass(frozen=True, slots=True)
class Note:
    """One finding of a reader or an edit; kind: lumped, snapped, ignored, repaired, defaulted, nonphysical."""

    kind: str
    text: str
    name: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What a reader found: the file, its findings in order, conventions."""

    file: str = ""
    format: str = ""
    notes: tuple[Note, ...] = ()

    def of(self, kind: str) -> tuple[Note, ...]:
        return tuple(note for note in self.notes if note.kind == kind)


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism: links, joints in file order, extra frames, gravity (where things fall, axes of N), parameters.

    The root link is fixed in the inertial frame N; a floating base is a joint of type "floating" from a root link named
    "world".  loads, constraints, speeds: elements beyond the tree (loads.py, constraints.py).  coordinates: their order
    where it is not that of the joints.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    gravity: Vector = (Fraction(0), Fraction(0), Fraction(-981, 100))
    parameters: tuple[Parameter, ...] = ()
    loads: tuple[object, ...] = ()
    constraints: tuple[object, ...] = ()
    speeds: tuple[SpeedDefinition, ...] = ()
    coordinates: tuple[str, ...] = ()
    report: ImportReport = field(default=ImportReport(), compare=False)

    def __repr__(self) -> str:
        parts = counted((len(getattr(self, f"{noun}s")), noun) for noun in _PARTS)
        return f"<Mechanism {self.name}: {parts}; all of it: kane.formats.write_toml(mechanism)>"

    def link(self, name: str) -> Link:
        """The link of this name; UnknownNameError lists the names."""
        return _find(self.links, name, "link")

    def joint(self, name: str) -> Joint:
        """The joint of this name; UnknownNameError lists the names."""
        return _find(self.joints, name, "joint")

    @property
    def root(self) -> str:
        """The link that is nobody's child."""
        children = {joint.child for joint in self.joints}
        return next(link.name for link in self.links if link.name not in children)

    @property
    def parameter_values(self) -> dict[str, float]:
        """Values of the named parameters that have one."""
        return {p.name: float(p.value) for p in self.parameters if p.value is not None}

    def replace_link(self, link: Link) -> Mechanism:
        """The mechanism with the link of the same name replaced."""
        self.link(link.name)
        return replace(self, links=tuple(link if old.name == link.name else old for old in self.links))

    def replace_joint(self, joint: Joint) -> Mechanism:
        """The mechanism with the joint of the same name replaced."""
        self.joint(joint.name)
        return replace(self, joints=tuple(joint if old.name == joint.name else old for old in self.joints))


def _find(items: tuple[T, ...], name: str, what: str) -> T:
    for item in items:
        if item.name == name:
            return item
    known = ", ".join(item.name for item in items)
    raise UnknownNameError(f"There is no {what} named {name!r}; there are: {known}.", name=name)
