"""Robot: a mechanism with what its users ask of it, and `load`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kane.errors import FormatError, InputError, NumberError, UnknownNameError, UnsupportedError
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism import formula as f
from kane.mechanism.checks import judge
from kane.mechanism.formula import Scalar, ScalarLike
from kane.mechanism.given import mechanism_of, shown
from kane.mechanism.model import Axis, ImportReport, Mechanism

if TYPE_CHECKING:
    from kane.equations.base_parameters import BaseParameters

Base = Literal["fixed", "floating"]
Nonphysical = Literal["refuse", "accept"]
_CHOICES = {
    "base": ("fixed", "floating"),
    "nonphysical": ("refuse", "accept"),
    "constraints": ("refuse", "ignore"),
    "convention": ("standard", "modified"),
}
Rotors = bool | Mapping[str, tuple[ScalarLike, ScalarLike]] | str | Path | None


@dataclass(frozen=True, slots=True)
class Robot:
    """A mechanism read from a file, bundled or built.  Edits give a new Robot; the old one stays."""

    mechanism: Mechanism

    def __post_init__(self) -> None:
        object.__setattr__(self, "mechanism", mechanism_of(self.mechanism))  # of a Robot or a System, too

    def __repr__(self) -> str:
        return f"<Robot {self.name}: {len(self.coordinate_names)} coordinates, {len(self.speed_names)} speeds>"

    @property
    def name(self) -> str:
        """Name in the description."""
        return self.mechanism.name

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints that move by coordinates of their own, in file order."""
        return tuple(j.name for j in self.mechanism.joints if j.type != "fixed" and j.mimic is None)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the elements of q."""
        return find_coordinates(self.mechanism).names

    @property
    def speed_names(self) -> tuple[str, ...]:
        """Names of the elements of qd, qdd and tau."""
        return find_coordinates(self.mechanism).speeds

    def index(self, name: str) -> int:
        """Place of a coordinate (or one-coordinate joint) in q; UnknownNameError lists the names."""
        names = self.coordinate_names
        if name not in names:
            raise UnknownNameError(f"There is no coordinate {name!r}; there are: {', '.join(names)}.", name=name)
        return names.index(name)

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Gravity in axes of N, pointing where things fall, m/s^2.

        Raises UnknownNameError where a parameter in it has no value; `mechanism.gravity` has the formulas.
        """
        values = self.mechanism.parameter_values
        x, y, z = (f.number(s, values) for s in self.mechanism.gravity)
        return x, y, z

    @property
    def report(self) -> ImportReport:
        """What reading the file lumped, snapped, ignored, repaired or defaulted."""
        return self.mechanism.report

    @property
    def total_mass(self) -> float:
        """Mass of all links, kg.  Raises UnknownNameError where a parameter in it has no value."""
        from kane.mechanism.inertia import total_mass

        return total_mass(self.mechanism)

    @property
    def moving_mass(self) -> float:
        """Mass of the links that move, kg.  Raises UnknownNameError where a parameter in it has no value."""
        from kane.mechanism.inertia import moving_mass

        return moving_mass(self.mechanism)

    def summary(self) -> str:
        """The robot on one page of text."""
        from kane.api.summary import summary

        return summary(self)

    def with_payload(
        self,
        link: str,
        mass: ScalarLike,
        com: Sequence[ScalarLike] = (0, 0, 0),
        inertia: ScalarLike | Sequence[ScalarLike] = 0,
    ) -> Robot:
        """The robot with a payload on a link (replacing an earlier one); mass 0 takes it off without a trace."""
        from kane.mechanism.edit import with_payload

        return Robot(with_payload(self.mechanism, link, mass, com, inertia))

    def with_rotors(self, rotors: Mapping[str, tuple[ScalarLike, ScalarLike]], exact: bool = False) -> Robot:
        """The robot with motor rotors {joint: (inertia kg m^2, ratio)}; exact ones are carried and spin."""
        from kane.mechanism.edit import with_rotors

        return Robot(with_rotors(self.mechanism, rotors, exact=exact))

    def with_parameters(self, values: Mapping[str, ScalarLike | None]) -> Robot:
        """The robot with these values of its named parameters, as a DH table with symbols has; None takes one away.

        Raises UnknownNameError, which lists the parameters.
        """
        from kane.mechanism.edit import with_parameters

        taken: Nonphysical = "accept" if self.report.of("nonphysical") else "refuse"
        return Robot(judge(with_parameters(self.mechanism, values), taken))

    def with_joint_loop(
        self,
        name: str,
        link: str,
        other: str,
        at: Sequence[ScalarLike] = (0, 0, 0),
        other_at: Sequence[ScalarLike] = (0, 0, 0),
        axes: Sequence[Axis] = (0, 1, 2),
    ) -> Robot:
        """The robot with a loop closed: a point of one link stays on a point of another (kane.simulate keeps it).

        axes: along which axes of the root link; a planar loop wants two, such as (0, 1).
        """
        from kane.mechanism.edit import with_joint_loop

        return Robot(with_joint_loop(self.mechanism, name, link, other, at, other_at, axes))

    def base_parameters(self, **options: Any) -> BaseParameters:
        """Base parameters: formulas, values, which vanish or regroup, and the map from full to base parameters."""
        from kane.equations.base_parameters import base_parameters

        return base_parameters(self.mechanism, **options)

    def lump(self) -> Robot:
        """The robot with links that are fixed to each other merged; frames kept."""
        from kane.mechanism.edit import lump

        return Robot(lump(self.mechanism))


def robot_names() -> tuple[str, ...]:
    """Names of the bundled robots."""
    from kane.robots import names

    return tuple(names())


def load(  # noqa: PLR0913
    source: str | Path,
    *,
    base: Base = "fixed",
    gravity: Sequence[ScalarLike] | None = None,
    nonphysical: Nonphysical = "refuse",
    snap: float = 1e-11,
    rotors: Rotors = None,
    variant: str | None = None,
    strict: bool = False,
    convention: Literal["standard", "modified"] | None = None,
    constraints: Literal["refuse", "ignore"] = "refuse",
    folders: Sequence[str | Path] = (),
) -> Robot:
    """A robot from a file, from URDF text, or bundled by name.

    Files: .urdf, .xacro, .mjcf, .xml (of either), .sdf, .world; DH tables .csv, .toml, .json; kane's own .toml.  base:
    "floating" lets the root move.  gravity: vector pointing where things fall (default: the file's, else (0, 0,
    -9.81)). nonphysical: "accept" takes inertia that no body can have, and notes it.  snap: angles within this many
    radians of a multiple of pi/12 are taken as exact.  rotors: False leaves rotors out; {joint: (inertia, ratio)} or a
    motor table (CSV) puts them on.  variant: of a bundled robot.  strict: nothing in the file is repaired.  convention:
    of a DH table that does not say.  constraints: "ignore" leaves loops and tendons of MJCF out.  folders: where
    included files and meshes may lie besides the file's own folder.  Raises InputError and its kinds, naming file,
    line, element, value and the way out.
    """
    from kane import formats, robots
    from kane.formats.urdf import floating

    if not isinstance(source, (str, bytes, os.PathLike)):
        raise InputError(
            f"{shown(source)} is no name and no file.", name="source", value=shown(source),
            remedy="Give a bundled robot's name, a path or URDF text; kane.Robot takes a Mechanism or a kane.System.",
        )  # fmt: skip
    if not 0.0 <= snap < 0.1:  # the multiples are 0.26 rad apart; nan is refused too
        raise NumberError(f"snap is {snap!r} rad.", name="snap", value=snap, remedy="Give 0 to 0.1, such as 1e-11.")
    given = {"base": base, "nonphysical": nonphysical, "constraints": constraints, "convention": convention}
    for option, value in given.items():
        if value is not None and value not in _CHOICES[option]:
            raise InputError(
                f"{option} is {value!r}.", name=option, value=value, remedy=f"Use {' or '.join(_CHOICES[option])}."
            )
    text = str(source)
    if text in robots.names():
        mechanism = robots.load(text, variant=variant, rotors=rotors if isinstance(rotors, bool) else None)
        accept: Nonphysical = "accept"
        if base == "floating":
            mechanism, _ = floating(mechanism)
    else:
        if not any(mark in text for mark in "/.<{\n\\") and not os.path.exists(text):
            raise FormatError(
                f"There is no file and no bundled robot named {text!r}.", name=text,
                remedy=f"Bundled robots: {', '.join(robots.names())}.",
            )  # fmt: skip
        if variant is not None:
            raise UnsupportedError("Only bundled robots have variants.", name=variant, remedy="Leave the variant out.")
        mechanism = formats.read(
            source, base=base, snap=snap, strict=strict, convention=convention, constraints=constraints,
            folders=folders,
        )  # fmt: skip
        accept = nonphysical
    mechanism = _with_rotors(mechanism, rotors)
    if gravity is not None:
        mechanism = replace(mechanism, gravity=_vector(gravity, mechanism))
    judged = judge(mechanism, accept)
    find_coordinates(judged)  # names that clash are told here, not at the first derivation
    return Robot(judged)


def _with_rotors(mechanism: Mechanism, rotors: Rotors) -> Mechanism:
    """The mechanism with the rotors asked for; True asks for those of the description."""
    from kane.formats import read_rotors
    from kane.mechanism.edit import with_rotors

    if rotors is None or rotors is True:
        if rotors and not any(joint.rotor for joint in mechanism.joints):
            raise UnsupportedError("The description has no rotors.", name="rotors", remedy="Give them by joint.")
        return mechanism
    if rotors is False:
        return with_rotors(mechanism, {joint.name: None for joint in mechanism.joints if joint.rotor})
    return with_rotors(mechanism, rotors if isinstance(rotors, Mapping) else read_rotors(rotors))


def _vector(values: Sequence[ScalarLike], mechanism: Mechanism) -> tuple[Scalar, Scalar, Scalar]:
    if isinstance(values, str) or not hasattr(values, "__len__") or len(values) != 3:
        text = list(map(str, values)) if hasattr(values, "__len__") and not isinstance(values, str) else repr(values)
        raise FormatError(f"gravity is {text}.", name="gravity", value=text, remedy="Give three numbers, m/s^2.")
    x, y, z = (f.exact(v) for v in values)
    known = {p.name for p in mechanism.parameters} | {"t"}
    strange = sorted({n for s in (x, y, z) if isinstance(s, f.Formula) for n in s.names()} - known)
    if strange:
        raise NumberError(
            f"gravity holds {strange[0]!r}, which is no parameter of the robot.", name=strange[0],
            value=list(map(str, values)), remedy="Give three numbers in m/s^2.",
        )  # fmt: skip
    return x, y, z
