"""The worksheet of a robot taken apart: readings in TOML, bodies and drives with standard errors, their robot.

    gravity = 9.80
    [graduation]                       # of the instruments, used where a reading is a bare number
    mass = 0.01
    length = 0.001
    time = 0.1

    [link.link2]
    mass = { gross = 18.0, tare = 0.6 }           # or mass = "17.40 +- 0.01"
    edge = { x = 0.268, y = 0.206, z = 0.084 }    # knife edge, from a datum mark
    datum = { x = 0.2, y = 0.2, z = 0.1 }         # where the link's origin is from that mark
    [[link.link2.swing]]
    axis = [1, 0, 0]
    distance = 0.30
    length = 2.1
    periods = 20
    time = 31.6
    [[link.link2.attached]]                       # a motor that this link carries
    name = "motor3"
    mass = 2.3
    com = [0.1, 0.0, 0.2]

    [link.link4]
    mass = 0.82
    com = [0, 0, -0.019]
    shell = { kind = "cylinder", axis = "z", radius = 0.05, length = 0.2 }

    [drive.joint2]
    ratio = 107.36
    rotor = "409e-6 +- 40e-6"                     # or a torque spring:
    spring = { stiffness = 250, periods = 10, time = 9.0, pose = { joint1 = 0.0 } }
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from kane.equations.base_parameters import full_values
from kane.equations.derive import derive_task
from kane.equations.inertial import PARAMETERS
from kane.equations.system import System, derive_system
from kane.equations.tasks.regressors import parameter_columns
from kane.errors import FormatError, KaneError, UnknownNameError
from kane.graph.evaluate import evaluate
from kane.identification.measure import (
    SHELLS,
    MeasuredBody,
    Tensor,
    along,
    bifilar_inertia,
    first_and_second,
    frequency,
    joined,
    point,
    reflected_inertia,
    spring_inertia,
    tensor_from_swings,
)
from kane.identification.quantity import Quantity, covariance, reading
from kane.identification.write_back import decimal
from kane.mechanism.given import mechanism_of
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Inertia, Mechanism, Rotor

Table = Mapping[str, Any]
AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True, slots=True)
class Measurements:
    """What a worksheet gives: bodies by link, drive inertia at the joint (Im, kg m^2) by joint, gear ratios as read."""

    bodies: dict[str, MeasuredBody]
    drives: dict[str, Quantity]
    ratios: dict[str, Quantity]

    def table(self) -> tuple[tuple[str, Quantity], ...]:
        """(name, quantity) in the manner of the paper's tables: mass, mass centre, central tensor, drive inertia."""
        rows: list[tuple[str, Quantity]] = []
        for link, body in self.bodies.items():
            rows.append((f"{link}.mass", body.mass))
            rows += [(f"{link}.com.{axis}", c) for axis, c in zip("xyz", body.com, strict=True)]
            rows += [
                (f"{link}.{e}", t) for e, t in zip(("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"), body.tensor, strict=True)
            ]
        return (*rows, *((f"{joint}.Im", drive) for joint, drive in self.drives.items()))

    def parameters(self) -> dict[str, Quantity]:
        """The linear parameters "link.m", "link.hx", ... "joint.Im" with their errors: tolerances for certificates."""
        found = {
            f"{link}.{n}": q
            for link, body in self.bodies.items()
            for n, q in zip(PARAMETERS, first_and_second(body), strict=True)
        }
        return found | {f"{joint}.Im": drive for joint, drive in self.drives.items()}

    def covariance(self, names: Sequence[str]) -> np.ndarray[Any, np.dtype[Any]]:
        """Covariance matrix of some of `parameters`."""
        table = self.parameters()
        return np.array([[covariance(table[a], table[b]) for b in names] for a in names])

    def applied(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism with the measured bodies and drives; links that were not measured keep theirs.

        Raises UnknownNameError for a link or joint that the mechanism does not have.
        """
        mechanism = getattr(mechanism, "mechanism", mechanism)
        for link, body in self.bodies.items():
            xx, xy, xz, yy, yz, zz = (decimal(t.value) for t in body.tensor)
            x, y, z = (decimal(c.value) for c in body.com)
            largest = max(abs(t.value) for t in body.tensor)
            blur = max((t.error for t in body.tensor), default=0.0)
            inertia = Inertia(
                decimal(body.mass.value),
                (x, y, z),
                (xx, xy, xz, yy, yz, zz),
                resolution=blur / largest if largest else 0.0,
            )
            mechanism = mechanism.replace_link(replace(mechanism.link(link), inertia=inertia))
        for name, drive in self.drives.items():
            joint = mechanism.joint(name)
            ratio = self.ratios.get(name, Quantity(1.0)).value
            rotor = joint.rotor or Rotor(Fraction(0))
            rotor = replace(rotor, inertia=decimal(drive.value / ratio**2), ratio=decimal(ratio))
            mechanism = mechanism.replace_joint(replace(joint, rotor=rotor))
        return mechanism

    def report(self) -> str:
        """The table as text, one quantity a line."""
        rows = self.table()
        width = max((len(name) for name, _ in rows), default=0)
        return "".join(f"{name.ljust(width)}  {q}\n" for name, q in rows if q.value or q.error)


def read_worksheet(source: str | Path, mechanism: Mechanism) -> Measurements:
    """The measurements of a worksheet (path, or its text) for a mechanism of this geometry.

    Raises FormatError, NumberError, UnknownNameError with the entry's name.
    """
    if not isinstance(source, (str, Path)):
        raise FormatError(f"{source!r} is no worksheet.", value=repr(source)[:80], remedy="Give a path or its text.")
    is_text = isinstance(source, str) and "\n" in source
    file = None if is_text else str(source)
    try:
        text = str(source) if is_text else Path(source).read_text(encoding="utf-8-sig")
        sheet = tomllib.loads(text)
    except OSError as error:
        text = f"The worksheet cannot be read: {error.strerror or error}."
        raise FormatError(text, code="FileError", file=file, name=file, remedy="Check the path.") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"The text is not UTF-8 ({error}).", file=file, remedy="Save it as UTF-8.") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FormatError(f"Not TOML: {error}.", file=file, remedy="Repair the line.") from None
    return measurements(sheet, mechanism)


def measurements(sheet: Table, mechanism: Mechanism) -> Measurements:
    """The measurements of a worksheet given as nested tables."""
    mechanism = mechanism_of(mechanism)
    _table("worksheet", sheet, ("gravity", "graduation", "link", "drive"))
    if not sheet.get("link") and not sheet.get("drive"):
        raise FormatError(
            "The worksheet has no readings of a link or drive.", element="worksheet",
            remedy="Write them in [link.NAME] and [drive.NAME].",
        )  # fmt: skip
    given = _table("graduation", sheet.get("graduation", {}), ("mass", "length", "time"))
    graduation = {name: reading(value, f"graduation.{name}").value for name, value in given.items()}
    gravity = reading(sheet.get("gravity", 9.80665), "gravity")
    bodies = {}
    for link, entry in _table("link", sheet.get("link", {})).items():
        mechanism.link(link)
        with _named(f"link.{link}"):
            bodies[link] = _body(f"link.{link}", entry, graduation, gravity)
    drives: dict[str, Quantity] = {}
    ratios: dict[str, Quantity] = {}
    measured = Measurements(bodies, {}, {}).applied(mechanism)
    for name, entry in _table("drive", sheet.get("drive", {})).items():
        mechanism.joint(name)
        place = f"drive.{name}"
        _table(place, entry, ("ratio", "rotor", "spring"))
        with _named(place):
            if "ratio" in entry:
                ratios[name] = reading(entry["ratio"], f"{place}.ratio")
            if "rotor" in entry:
                rotor = reading(entry["rotor"], f"{place}.rotor")
                drives[name] = reflected_inertia(rotor, ratios.get(name, Quantity(1.0)))
            elif "spring" in entry:
                drives[name] = _spring(place, entry["spring"], name, measured, Measurements(bodies, {}, {}), graduation)
            else:
                raise FormatError(f"{place} has neither rotor nor spring.", element=place, remedy="Give one of them.")
    return Measurements(bodies, drives, ratios)


def _table(place: str, entry: Any, names: Sequence[str] = ()) -> Table:
    """The table, with entries of these names only (any, when none are given).  Raises FormatError."""
    if not isinstance(entry, Mapping):
        raise FormatError(f"{place} is {entry!r}, not a table.", element=place, remedy="See docs/identification.md.")
    for name in entry:
        if names and name not in names:
            raise FormatError(
                f"{place} has the entry {name!r}, which means nothing.", element=place, name=name,
                remedy=f"There are {', '.join(names)}.",
            )  # fmt: skip
    return entry


@contextmanager
def _named(place: str) -> Iterator[None]:
    """What a wrong entry leads to as a FormatError that says where."""
    try:
        yield
    except KaneError:
        raise
    except KeyError as error:
        raise FormatError(f"{place} lacks {error.args[0]}.", element=place, remedy="Add it.") from None
    except ZeroDivisionError:
        raise FormatError(f"A reading of {place} is 0.", element=place, remedy="Repair it.") from None
    except (TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        raise FormatError(
            f"{place} is not of the form of a worksheet: {error}.", element=place, remedy="See docs/identification.md."
        ) from None


def _body(place: str, entry: Table, graduation: dict[str, float], gravity: Quantity) -> MeasuredBody:
    """One link: weighed, balanced, swung; and what is attached to it."""
    _table(place, entry, ("name", "mass", "com", "edge", "datum", "swing", "shell", "inertia", "attached"))
    for name in ("edge", "datum"):
        _table(f"{place}.{name}", entry.get(name, {}), ("x", "y", "z"))
    mass = _mass(place, entry, graduation)
    com = _com(place, entry, graduation)
    tensor = _tensor(place, entry, mass, graduation, gravity)
    parts = [MeasuredBody(mass, com, tensor)]
    for k, extra in enumerate(entry.get("attached", ())):
        parts.append(_body(f"{place}.attached.{extra.get('name', k)}", extra, graduation, gravity))
    return joined(parts) if len(parts) > 1 else parts[0]


def _mass(place: str, entry: Table, graduation: dict[str, float]) -> Quantity:
    if "mass" not in entry:
        raise FormatError(f"{place} has no mass.", element=place, remedy="Weigh it: mass = ...")
    given, scale = entry["mass"], graduation.get("mass", 0.0)
    if isinstance(given, Mapping):
        _table(f"{place}.mass", given, ("gross", "tare"))
        gross = reading(given["gross"], f"{place}.mass.gross", scale)
        return gross - reading(given.get("tare", 0.0), f"{place}.mass.tare", scale)
    return reading(given, f"{place}.mass", scale)


def _com(place: str, entry: Table, graduation: dict[str, float]) -> tuple[Quantity, Quantity, Quantity]:
    """Mass centre from the link's origin: given, or from three balances on a knife edge less the datum."""
    scale = graduation.get("length", 0.0)
    if "com" in entry:
        x, y, z = (
            reading(c, f"{place}.com.{a}", scale if c else 0.0) for c, a in zip(entry["com"], "xyz", strict=True)
        )
        return x, y, z
    if "edge" not in entry:
        raise FormatError(f"{place} has no mass centre.", element=place, remedy="Give com or edge.")
    found = []
    for axis in "xyz":
        if axis not in entry["edge"]:
            found.append(Quantity(0.0))
            continue
        mark = reading(entry.get("datum", {}).get(axis, 0.0), f"{place}.datum.{axis}")
        found.append(reading(entry["edge"][axis], f"{place}.edge.{axis}", scale) - mark)
    return found[0], found[1], found[2]


def _tensor(place: str, entry: Table, mass: Quantity, graduation: dict[str, float], gravity: Quantity) -> Tensor:
    """From swings on two wires, from a thin shell, given, or none (a point)."""
    if "swing" in entry:
        axes, values = [], []
        for k, swing in enumerate(entry["swing"]):
            here = f"{place}.swing.{k + 1}"
            _table(here, swing, ("axis", "distance", "length", "periods", "time", "mass"))
            try:
                omega = _omega(here, swing, graduation)
                distance, length = (
                    reading(swing[n], f"{here}.{n}", graduation.get("length", 0.0)) for n in ("distance", "length")
                )
                axes.append([float(x) for x in swing["axis"]])
            except KeyError as error:
                raise FormatError(f"{here} has no {error.args[0]}.", element=here, remedy="Add it.") from None
            hung = reading(swing["mass"], f"{here}.mass", graduation.get("mass", 0.0)) if "mass" in swing else mass
            values.append(bifilar_inertia(hung, gravity, distance, length, omega))
        return tensor_from_swings(axes, values)
    if "shell" in entry:
        shell = entry["shell"]
        kind = shell.get("kind", "")
        if kind not in SHELLS:
            raise UnknownNameError(f"{place}: no shell {kind!r}; there are {', '.join(SHELLS)}.", name=kind)
        names, build = SHELLS[kind]
        _table(f"{place}.shell", shell, ("kind", "axis", "ends", *names))
        sizes = [reading(shell[n], f"{place}.shell.{n}", graduation.get("length", 0.0)) for n in names]
        options = {"ends": shell["ends"]} if "ends" in shell else {}
        if options and (kind != "cylinder" or options["ends"] not in (0, 1, 2)):
            text = f"{place}.shell.ends is {shell['ends']!r}."
            raise FormatError(text, element=place, remedy="A cylinder has 0, 1 or 2 ends.")
        return along(build(mass, *sizes, **options), AXES[shell.get("axis", "z")])
    if "inertia" in entry:
        six = [reading(x, f"{place}.inertia.{k}") for k, x in enumerate(entry["inertia"])]
        if len(six) == 3:
            zero = Quantity(0.0)
            six = [six[0], zero, zero, six[1], zero, six[2]]
        return (six[0], six[1], six[2], six[3], six[4], six[5])
    return point(mass)


def _omega(place: str, entry: Table, graduation: dict[str, float]) -> Quantity:
    """omega of `periods` swings in a `time`, rad/s."""
    periods = reading(entry["periods"], f"{place}.periods")
    return frequency(periods, reading(entry["time"], f"{place}.time", graduation.get("time", 0.0)))


def _spring(
    place: str, entry: Table, joint: str, mechanism: Mechanism, bodies: Measurements, graduation: dict[str, float]
) -> Quantity:
    """Im of a joint driven as a torsion spring: (k + dg/dq) / omega^2 less the arm's own inertia at the pose.

    Both are linear in the measured bodies, whose errors go in.
    """
    _table(f"{place}.spring", entry, ("periods", "time", "stiffness", "pose"))
    omega = _omega(f"{place}.spring", entry, graduation)
    stiffness = reading(entry["stiffness"], f"{place}.spring.stiffness")
    own, gradient = _arm(derive_system(mechanism), mechanism, joint, entry.get("pose", {}), bodies)
    return spring_inertia(stiffness, gradient, omega) - own


def _arm(
    system: System, mechanism: Mechanism, joint: str, pose: Table, bodies: Measurements
) -> tuple[Quantity, Quantity]:
    """Inertia M_jj and gravity gradient dg_j/dq_j of the arm without rotors at a pose (coordinates by name, else 0)."""
    names, speeds = list(system.k.coordinates.names), list(system.k.coordinates.speeds)
    driven = next(node for node in system.k.tree.nodes if node.joint == joint)
    coordinate = names[speeds.index(next(iter(_speeds(system, driven.joint))))]
    q = np.zeros(len(names))
    for name, value in pose.items():
        if name not in names and name not in {j.name for j in mechanism.joints}:
            raise UnknownNameError(f"There is no coordinate {name!r}; there are: {', '.join(names)}.", name=name)
        q[names.index(name if name in names else _speeds(system, name)[0])] = float(value)
    j = speeds.index(coordinate)
    program = derive_task(mechanism, "regressor").program
    zero, unit = np.zeros(len(speeds)), np.eye(len(speeds))[j]

    def row(q: Any, qdd: Any) -> Any:
        return evaluate(program, {"q": q, "qd": zero, "qdd": qdd})["Y"][j]

    step = np.eye(len(names))[names.index(coordinate)] * 1e-5
    inertia = row(q, unit) - row(q, zero)
    gradient = (row(q + step, zero) - row(q - step, zero)) / 2e-5
    given, values = bodies.parameters(), _values(system)
    columns = [name for _, name in parameter_columns(system)]
    totals = []
    for weights in (inertia, gradient):
        total = Quantity(0.0)
        for name, w in zip(columns, weights, strict=True):
            total = total + float(w) * given.get(name, Quantity(values[name]))
        totals.append(total)
    return totals[0], totals[1]


def _speeds(system: System, joint: str) -> tuple[str, ...]:
    found = system.k.mechanism.joint(joint)
    return joint_type(found).speeds(found)


def _values(system: System) -> dict[str, float]:
    names = [name for _, name in parameter_columns(system)]
    return dict(zip(names, map(float, full_values(system, [])), strict=True))
