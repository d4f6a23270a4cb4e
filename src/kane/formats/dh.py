"""Read tables of Denavit-Hartenberg parameters in CSV, TOML or JSON: standard and modified, numbers or symbols.

Modified (Craig, Introduction to Robotics, eq. 3.6): T_i = RotX(alpha_{i-1}) TransX(a_{i-1}) RotZ(theta_i) TransZ(d_i).
Standard (Denavit and Hartenberg 1955, Paul 1981): T_i = RotZ(theta_i) TransZ(d_i) TransX(a_i) RotX(alpha_i).
The joint is revolute where a coordinate stands in theta, prismatic where it stands in d.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from kane.errors import FormatError, NumberError
from kane.formats.dh_cells import Cells, Coordinate, Row, coordinate_of
from kane.formats.dh_table import Table, read_table
from kane.formats.source import Source
from kane.mechanism import formula as f
from kane.mechanism.formula import Scalar
from kane.mechanism.model import (
    Frame,
    ImportReport,
    Inertia,
    Joint,
    Limits,
    Link,
    Mechanism,
    Mimic,
    Move,
    Note,
    Parameter,
    Placement,
    Rotor,
    Translate,
    Turn,
    Vector,
)
from kane.mechanism.topology import check_tree

Convention = Literal["standard", "modified"]
_0 = Fraction(0)


def read_dh(
    source: Source,
    *,
    convention: Convention | None = None,
    snap: float = 1e-11,
    name: str | None = None,
) -> Mechanism:
    """The serial arm that a DH table describes.

    Columns: alpha, a, d, theta (alpha_prev, a_prev for modified), with units in the name (_rad, _deg, _m, _mm), and
    optionally joint, type, mass, com_x, com_y, com_z, Ixx ... Izz about the mass centre, rotor_inertia, gear_ratio,
    damping, friction, lower, upper, velocity, effort.  Entries: numbers, formulas such as q1+pi/2, 90deg, and
    `name=value`, which declares a named parameter.
    Raises FormatError when the convention is not stated, NumberError for entries, with file and line.
    """
    table = read_table(source, name)
    used = _convention(table, convention)
    cells = Cells(table.file, snap, dict(table.parameters))
    for row in range(len(table.rows)):  # declarations first, in the order of the table
        cells.declare(table.at(row), table.columns)
    for row in range(len(table.rows)):
        cells.check(table.at(row), table.columns)
    builder = _Builder(table, cells, used)
    for row in range(len(table.rows)):
        builder.add(row)
    return builder.finish()


def _convention(table: Table, asked: Convention | None) -> Convention:
    stated = {c for c in (asked, table.convention) if c is not None}
    if any(column.startswith(("alpha_prev", "a_prev")) for column in table.columns):
        stated.add("modified")
    if len(stated) == 1:
        return stated.pop()
    what = "states no convention" if not stated else "states two conventions: standard and modified"
    raise FormatError(
        f"The DH table {what}; the same numbers mean another arm in the other one.",
        file=table.file,
        line=table.header_line,
        name="convention",
        value=", ".join(sorted(stated)) or None,
        remedy='Add the comment "# standard DH" or "# modified DH" (in TOML convention = "modified"), or pass '
        'convention="standard" or convention="modified".',
    )


@dataclass(slots=True)
class _Builder:
    table: Table
    cells: Cells
    convention: Convention
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict)
    tip: str = "base"

    def add(self, row: int) -> None:
        """One row: a joint, its link and, in the standard convention, the fixed step to the link's frame."""
        at = self.table.at(row)
        label = self.table.label(row)
        kind, coordinate, theta, d = self._motion(row, label)
        prefix = (
            ("alpha_prev", "a_prev") if any(c.startswith("alpha_prev") for c in self.table.columns) else ("alpha", "a")
        )
        alpha, a = self.cells.angle(at, prefix[0]), self.cells.plain(at, prefix[1])
        joint_name = f"joint{label}" if label.isdigit() else label
        link_name = f"link{label}" if label.isdigit() else f"{label}_link"
        axis: Vector = (_0, _0, Fraction(coordinate.sign if coordinate else 1))
        modified = self.convention == "modified"
        before = (
            _moves(Turn(0, alpha), Translate((a, _0, d)), Turn(2, theta))
            if modified
            else _moves(Translate((_0, _0, d)), Turn(2, theta))
        )
        after = () if modified else _moves(Translate((a, _0, _0)), Turn(0, alpha))
        child = f"{link_name}_axis" if after else link_name
        leader = self.owners.setdefault(coordinate.name, joint_name) if coordinate else joint_name
        follows = leader != joint_name  # a coordinate that stands in two rows moves both joints
        names = (coordinate.name,) if coordinate and not follows else ()
        self.joints.append(
            Joint(
                joint_name,
                kind,
                self.tip,
                child,
                before,
                axis,
                names,
                limits=self._limits(at, kind),
                rotor=self._rotor(at),
                damping=self.cells.plain(at, "damping"),
                friction=self.cells.plain(at, "friction"),
                mimic=Mimic(leader) if follows else None,
                line=at.line,
            )
        )
        if after:
            self.links.append(Link(child, line=at.line))
            self.joints.append(Joint(f"{link_name}_frame", "fixed", child, link_name, after, line=at.line))
        self.links.append(Link(link_name, self._inertia(row), line=at.line))
        self.tip = link_name

    def _motion(self, row: int, label: str) -> tuple[str, Coordinate | None, Scalar, Scalar]:
        """Joint type, coordinate, and the constant parts of theta and d."""
        at = self.table.at(row)
        theta, d = self.cells.angle(at, "theta"), self.cells.plain(at, "d")
        wanted = at.text("type").strip().lower()[:1]
        known = self.cells.parameters
        turn = coordinate_of(theta, known, at.text("theta"))
        moving_d = turn is None or (isinstance(d, f.Formula) and any(n.startswith("q") for n in d.names() - set(known)))
        slide = coordinate_of(d, known, at.text("d")) if moving_d else None
        if turn and slide and not wanted:
            wanted = "p" if slide.name[:1] == "q" and turn.name[:1] != "q" else "r"
            if slide.name[:1] == "q" and turn.name[:1] == "q":
                raise FormatError(
                    f"Row {label!r} has a coordinate in theta ({turn.name}) and one in d ({slide.name}).",
                    file=self.table.file,
                    line=at.line,
                    name=label,
                    remedy="Split it into two rows, or add a column type with R or P.",
                )
        if wanted in ("p", "1") or (not wanted and slide and not turn):
            slide = slide or Coordinate(f"q{label}", 1, d)
            return "prismatic", slide, theta, f.add(slide.offset, self.cells.plain(at, "offset"))
        if wanted in ("r", "0") or turn:
            turn = turn or Coordinate(f"q{label}", 1, theta)
            return "revolute", turn, f.add(turn.offset, self.cells.angle(at, "offset")), d
        return "fixed", None, theta, d

    def _limits(self, at: Row, kind: str) -> Limits:
        read = self.cells.angle if kind == "revolute" else self.cells.plain
        known = {key: read(at, key) if at.has(key) else None for key in ("lower", "upper")}
        plain = {key: self.cells.plain(at, key) if at.has(key) else None for key in ("velocity", "effort")}
        values = {key: None if v is None else self.cells.number(at, key, v) for key, v in {**known, **plain}.items()}
        return Limits(values["lower"], values["upper"], values["velocity"], values["effort"])

    def _rotor(self, at: Row) -> Rotor | None:
        inertia = self.cells.plain(at, "rotor_inertia")
        if f.is_zero(inertia):
            return None
        has_ratio = at.has("gear_ratio")
        return Rotor(inertia, self.cells.plain(at, "gear_ratio") if has_ratio else Fraction(1))

    def _inertia(self, row: int) -> Inertia | None:
        at = self.table.at(row)
        keys = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
        if not any(at.has(key) for key in ("mass", *keys)):
            return None
        mass = self.cells.plain(at, "mass")
        x, y, z = (self.cells.plain(at, f"com_{k}") for k in "xyz")
        moments = [self.cells.plain(at, key) for key in keys]
        if self.table.inertia_about == "origin":
            moments = _about_centre(mass, (x, y, z), moments)
        xx, xy, xz, yy, yz, zz = moments
        return Inertia(mass, (x, y, z), (xx, xy, xz, yy, yz, zz), (), self.cells.resolution(at, keys), at.line)

    def finish(self) -> Mechanism:
        links, joints = [Link("base"), *self.links], self.joints
        mount = self._placement(self.table.mount)
        if mount:
            links = [Link("world"), *links]
            joints = [Joint("mounting", "fixed", "world", "base", mount), *joints]
        check_tree(links, joints, self.table.file)
        if self.table.gravity is None:
            self.notes.append(Note("defaulted", "gravity is not stated: 9.81 m/s^2 along -z of the base"))
            gravity: Vector = (_0, _0, Fraction(-981, 100))
        else:
            gravity = self.table.gravity
        self.notes.append(Note("defaulted", f"convention: {self.convention} DH"))
        parameters = tuple(Parameter(key, value) for key, value in self.cells.parameters.items())
        unknown = sorted(
            _names(joints, links) - set(self.cells.parameters) - {j.coordinates[0] for j in joints if j.coordinates}
        )
        tool = self._placement(self.table.tool)
        report = ImportReport(self.table.file or "", "dh", tuple(self.notes + self.cells.notes))
        return Mechanism(
            self.table.name,
            tuple(links),
            tuple(joints),
            (Frame("tool", self.tip, tool),) if tool else (),
            gravity,
            parameters + tuple(Parameter(key) for key in unknown),
            report=report,
        )

    def _placement(self, given: tuple[str, ...]) -> Placement:
        """Moves of x y z roll pitch yaw texts."""
        if not given:
            return ()
        try:
            x, y, z, roll, pitch, yaw = (f.exact(text) for text in given)
        except NumberError as error:
            raise NumberError(error.message, file=self.table.file, value=error.value, remedy=error.remedy) from None
        return _moves(Translate((x, y, z)), Turn(2, yaw), Turn(1, pitch), Turn(0, roll))


def _moves(*moves: Move) -> Placement:
    """The moves that do something."""
    return tuple(
        m
        for m in moves
        if not (
            (isinstance(m, Turn) and f.is_zero(m.angle))
            or (isinstance(m, Translate) and all(f.is_zero(x) for x in m.by))
        )
    )


def _names(joints: list[Joint], links: list[Link]) -> set[str]:
    scalars: list[Scalar] = []
    for joint in joints:
        for move in joint.placement:
            scalars += [move.angle] if isinstance(move, Turn) else list(move.by) if isinstance(move, Translate) else []
        scalars += [joint.damping, joint.friction]
    for link in links:
        if link.inertia is not None:
            scalars += [link.inertia.mass, *link.inertia.com, *link.inertia.moments]
    return set().union(*(s.names() for s in scalars if isinstance(s, f.Formula)))


def _about_centre(m: Scalar, c: Vector, moments: list[Scalar]) -> list[Scalar]:
    """Moments about the mass centre from those about the origin: I_c = I_o - m (c.c 1 - c c^T)."""
    square = [f.mul(x, x) for x in c]

    def less(value: Scalar, shift: Scalar) -> Scalar:
        return f.add(value, f.neg(f.mul(m, shift)))

    xx, xy, xz, yy, yz, zz = moments
    return [
        less(xx, f.add(square[1], square[2])),
        less(xy, f.neg(f.mul(c[0], c[1]))),
        less(xz, f.neg(f.mul(c[0], c[2]))),
        less(yy, f.add(square[0], square[2])),
        less(yz, f.neg(f.mul(c[1], c[2]))),
        less(zz, f.add(square[0], square[1])),
    ]
