"""Read MJCF through MuJoCo's specification objects (extra: mujoco), which resolve defaults, classes and includes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from kane.errors import FormatError, MissingExtraError, NumberError, UnsupportedError, install
from kane.formats.mjcf_names import Names, idle_names, names_of
from kane.formats.mjcf_names import line_of as _line
from kane.formats.mjcf_screen import Screen
from kane.formats.mjcf_shapes import leave_inertia, shapes
from kane.formats.mjcf_values import angle, frames, heard, in_radians, placement, rational, through, turns, vector
from kane.formats.places import Places, places_of
from kane.formats.source import Source, content_of
from kane.formats.urdf_parts import flatten_mimics
from kane.formats.xml import parse_xml
from kane.mechanism import formula as f
from kane.mechanism.joints import about, along
from kane.mechanism.model import (
    ZERO,
    Frame,
    ImportReport,
    Inertia,
    Joint,
    Limits,
    Link,
    Mechanism,
    Mimic,
    Note,
    Placement,
    Rotor,
    Translate,
    Vector,
)
from kane.mechanism.topology import check_tree

_TYPES = {"HINGE": "revolute", "SLIDE": "prismatic", "BALL": "spherical", "FREE": "floating"}
_0 = Fraction(0)
_LINE = re.compile(r"line (\d+)")


def read_mjcf(
    source: Source,
    *,
    snap: float = 1e-11,
    constraints: Literal["refuse", "ignore"] = "refuse",
    folders: Iterable[str | os.PathLike[str]] = (),
) -> Mechanism:
    """The mechanism of an MJCF model.

    A body with several joints becomes a chain of massless links named body.joint; a joint's `pos` and `ref` are kept,
    so coordinates are MuJoCo's qpos (free and ball joints apart).  Equalities between two joints become followers;
    other equalities, active tendons and what else changes the equations of motion is refused, or noted and left out
    with constraints="ignore"; actuators have no effect, those that drive what is not there are noted.  folders: where
    included files and meshes may lie besides the model's own folder.
    Raises FormatError, NumberError, UnsupportedError, MissingExtraError.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingExtraError(
            "Reading MJCF needs the package mujoco.", name="mujoco", remedy=install("mujoco")
        ) from None
    data, file = content_of(source)
    places = places_of(file, folders)
    Screen(places).document(parse_xml(data, file), file)
    said: list[str] = []
    try:
        with heard(said):
            if file is not None and file.lower().endswith(".xml"):
                spec = mujoco.MjSpec.from_file(file)
            else:  # MuJoCo opens files by their suffix only
                spec = mujoco.MjSpec.from_string(data.decode("utf-8-sig") if isinstance(data, bytes) else data)
                spec.modelfiledir = os.path.dirname(file or "")
    except (ValueError, UnicodeDecodeError) as error:
        found = _LINE.search(str(error))
        raise FormatError(
            f"MuJoCo does not read the file: {' '.join(str(error).split())}.", file=file,
            line=int(found[1]) if found else None, remedy="Correct it there.",
        ) from None  # fmt: skip
    reader = _Reader(spec, file, snap, constraints == "ignore", places, said=said)
    reader.bodies()
    return reader.finish()


@dataclass(slots=True)
class _Reader:
    spec: Any
    file: str | None
    snap: float
    ignore: bool
    places: Places
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    tool_frames: list[Frame] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    compiled: Any = None
    said: list[str] = field(default_factory=list)

    def note(self, kind: str, text: str, name: str = "", line: int | None = None) -> None:
        self.notes.append(Note(kind, text, name, line))

    def outside(self, text: str, name: str, line: int | None = None) -> None:
        """Something that changes the equations of motion and is not read."""
        if not self.ignore:
            raise UnsupportedError(
                text, file=self.file, line=line, name=name,
                remedy='Take it out, or read the tree without it: constraints="ignore".',
            )  # fmt: skip
        self.note("ignored", text, name, line)

    def _lost(self, names: Names) -> None:
        """Equalities of what is not there: refused, or noted and taken out, without which nothing compiles."""
        for item in list(self.spec.equalities):
            for missing in list(names.missing(item, "equality"))[:1]:
                if item.active and not self.ignore:
                    raise FormatError(
                        f"{missing.text}; {names.listed(missing.kind)}.", file=self.file, line=missing.line,
                        element="<equality>", name=missing.name, value=missing.wanted,
                        remedy='Correct the name, or read the tree without it: constraints="ignore".',
                    )  # fmt: skip
                self.note("ignored", missing.text, missing.name, missing.line)
                self.spec.delete(item)

    def bodies(self) -> None:
        """Every body, parents first."""
        self._whole_model()
        world = self.spec.worldbody
        self.names[world.id if world.id >= 0 else 0] = "world"
        self.links.append(Link("world", geometry=shapes(world, self.snap)))
        self._sites(world, "world")
        stack = [(body, "world") for body in reversed(list(world.bodies))]
        count = 0
        while stack:
            body, parent = stack.pop()
            count += 1
            name = body.name or f"body{count}"
            self._body(body, name, parent)
            stack += [(child, name) for child in reversed(list(body.bodies))]

    def _body(self, body: Any, name: str, parent: str) -> None:
        line = _line(body)
        if body.gravcomp:
            self.outside(f"body {name!r} has gravity compensation {body.gravcomp:g}.", name, line)
        at = parent
        place = placement(body, self.snap)
        moving = list(body.joints)
        for k, joint in enumerate(moving):
            kind = _TYPES[joint.type.name.rpartition("_")[2]]
            label = joint.name or (f"{name}.joint" if len(moving) == 1 else f"{name}.joint{k + 1}")
            inner = frames(joint, self.snap)
            point, axis = through(inner, vector(joint.pos), vector(joint.axis))
            if kind == "floating":
                place, point = (), ZERO  # a free joint's position is that in the world
            back = tuple(_minus(v) for v in point)
            away = any(not f.is_zero(v) for v in point)
            last = k == len(moving) - 1
            before = (*place, Translate(point)) if away else place
            child = name if last and not away else f"{name}.{label}"
            self.joints.append(self._joint(joint, label, kind, (at, child), before, axis))
            place = (Translate((back[0], back[1], back[2])),) if away else ()
            at = child
            if child != name:
                self.links.append(Link(child, line=line))
        if at != name:
            self.joints.append(
                Joint(f"{name}.frame" if moving else f"{name}.fixed", "fixed", at, name, place, line=line)
            )
        self.links.append(Link(name, self._inertia(body, name), shapes(body, self.snap), line))
        self._sites(body, name)

    def _joint(self, joint: Any, label: str, kind: str, ends: tuple[str, str], place: Placement, axis: Vector) -> Joint:
        line = _line(joint)
        degrees = bool(joint.compiler.degree) and kind == "revolute"
        if kind in ("revolute", "prismatic") and not any(not f.is_zero(v) for v in axis):
            raise NumberError(
                f"joint {label!r} has the axis 0 0 0.", file=self.file, line=line, name=label, remedy="Give it."
            )
        if joint.ref and kind == "revolute":
            place = place + about(axis, _minus(angle(joint.ref, degrees, self.snap)))
        elif joint.ref and kind == "prismatic":
            place = place + along(axis, _minus(rational(joint.ref)))
        single = kind in ("revolute", "prismatic")
        stiffness, damping = self._linear(joint, "stiffness", label), self._linear(joint, "damping", label)
        if not single and (stiffness or damping or joint.armature or joint.frictionloss):
            self.outside(f"joint {label!r} of type {kind} has stiffness, damping, friction or armature.", label, line)
            stiffness = damping = _0
        if any(joint.springdamper):
            self.outside(f"joint {label!r} has springdamper.", label, line)
        rest = angle(joint.springref, degrees, self.snap) if kind == "revolute" else rational(joint.springref)
        return Joint(
            label,
            kind,
            *ends,
            place,
            axis if single else (_0, _0, Fraction(1)),
            limits=self._limits(joint, degrees) if single else Limits(),
            damping=damping,
            friction=rational(joint.frictionloss) if single else _0,
            stiffness=stiffness,
            rest=rest if single else _0,
            rotor=Rotor(rational(joint.armature)) if single and joint.armature else None,
            line=line,
        )

    def _linear(self, joint: Any, key: str, label: str) -> Fraction:
        values = np.atleast_1d(getattr(joint, key))
        if values[1:].any():
            self.outside(f"joint {label!r} has {key} that is not linear.", label, _line(joint))
        return rational(values[0])

    def _limits(self, joint: Any, degrees: bool) -> Limits:
        limited = int(joint.limited)
        on = limited == 1 or (limited == 2 and joint.compiler.autolimits and joint.range[0] < joint.range[1])
        lower, upper = (in_radians(v, degrees) for v in joint.range) if on else (None, None)
        force = joint.actfrcrange
        return Limits(lower, upper, None, float(max(abs(force))) if any(force) else None)

    def _inertia(self, body: Any, name: str) -> Inertia | None:
        """Mass properties as written, or from geoms as MuJoCo computes them."""
        line = _line(body)
        rule = int(body.compiler.inertiafromgeom)
        adjusted = self._adjusted(body)
        if not adjusted and body.explicitinertial and rule != 1:
            full = body.fullinertia
            if not np.isnan(full[0]):
                xx, yy, zz, xy, xz, yz = (rational(v) for v in full)
                return Inertia(rational(body.mass), vector(body.ipos), (xx, xy, xz, yy, yz, zz), (), 0.0, line)
            a, b, c = (rational(v) for v in body.inertia)
            axes = turns(body.iquat, body.ialt, body.compiler, self.snap)
            return Inertia(rational(body.mass), vector(body.ipos), (a, _0, _0, b, _0, c), axes, 0.0, line)
        if not adjusted and (rule == 0 or not list(body.geoms)):
            if not body.explicitinertial:
                self.note("defaulted", f"link {name!r} has no inertial: zero mass", name, line)
                return None
        model = self._model()
        k = body.id
        if model.body_mass[k] == 0 and not model.body_inertia[k].any():
            return None
        if not adjusted:
            self.note("defaulted", f"inertia of link {name!r} from its geoms", name, line)
        a, b, c = (rational(v) for v in model.body_inertia[k])
        w, x, y, z = model.body_iquat[k]
        axes = turns((w, x, y, z), _Plain, body.compiler, self.snap)
        return Inertia(
            rational(model.body_mass[k]), vector(model.body_ipos[k]), (a, _0, _0, b, _0, c), axes, 1e-9, line
        )

    def _adjusted(self, body: Any) -> bool:
        c = body.compiler
        return bool(c.balanceinertia or c.boundmass or c.boundinertia or self.spec.compiler.settotalmass > 0)

    def _model(self) -> Any:
        if self.compiled is None:
            self.spec.compiler.fusestatic = False
            leave_inertia(self.spec)
            for mesh in self.spec.meshes:
                if mesh.file:
                    folder = os.path.join(self.spec.modelfiledir, mesh.compiler.meshdir)
                    self.places.check(os.path.join(folder, mesh.file), f"mesh {mesh.name!r}", _line(mesh))
            try:
                with heard(self.said):
                    self.compiled = self.spec.compile()
            except ValueError as error:
                found = _LINE.search(str(error))
                raise FormatError(
                    f"MuJoCo does not compile the model, from which the inertia of geoms comes: "
                    f"{' '.join(str(error).split())}.", file=self.file, line=int(found[1]) if found else None,
                    remedy="Correct it there or give the missing file, or give all bodies inertials.",
                ) from None  # fmt: skip
        return self.compiled

    def _sites(self, body: Any, name: str) -> None:
        self.tool_frames += [Frame(s.name, name, placement(s, self.snap)) for s in body.sites if s.name]

    def _whole_model(self) -> None:
        """What holds for the whole model beyond the tree."""
        spec, names = self.spec, names_of(self.spec)
        self._lost(names)
        if list(spec.flexes):
            self.outside("the model has flexible bodies.", "flex")
        for tendon in spec.tendons:
            if np.any(tendon.stiffness) or np.any(tendon.damping) or tendon.frictionloss or tendon.armature:
                self.outside(
                    f"tendon {tendon.name!r} has stiffness, damping, friction or armature.", tendon.name, _line(tendon)
                )
        if self._adjusted(spec.worldbody):
            self.note(
                "repaired", "compiler settings (balanceinertia, bounds, total mass) change the inertias of the file"
            )
        if spec.option.density or spec.option.viscosity:
            self.note("ignored", "forces of the surrounding medium (density, viscosity)", "option")
        for what, items in (("actuator", spec.actuators), ("tendon", spec.tendons), ("contact pair", spec.pairs)):
            if n := len(list(items)):
                self.note("ignored", f"{n} {what}{'s' if n > 1 else ''}", what)
        for missing in idle_names(spec, names):
            self.note("ignored", missing.text, missing.name, missing.line)

    def _equalities(self) -> None:
        table = {joint.name: k for k, joint in enumerate(self.joints)}
        refs = {joint.name: joint for joint in self.spec.joints}
        for item in self.spec.equalities:
            kind = item.type.name.rpartition("_")[2].lower()
            one, two = item.name1, item.name2
            data = [rational(v) for v in item.data[:5]]
            if not item.active:
                self.note("ignored", f"inactive equality {item.name!r} ({kind})", item.name)
            elif kind == "joint" and one in table and (two in table or not two) and not any(data[2:]):
                follower, leader = refs[one], refs.get(two)
                base = _reference(follower, self.snap)
                if leader is None:
                    self.outside(f"equality {item.name!r} holds joint {one!r} in place.", item.name, _line(item))
                    continue
                offset = f.add(f.add(data[0], base), _minus(f.mul(data[1], _reference(leader, self.snap))))
                k = table[one]
                self.joints[k] = replace(self.joints[k], mimic=Mimic(two, data[1], offset))
                self.note(
                    "repaired", f"equality: joint {one!r} follows {two!r} exactly (MuJoCo: softly)", one, _line(item)
                )
            else:
                self.outside(
                    f"equality {item.name!r} ({kind} of {one!r} and {two!r}) closes a loop.", item.name, _line(item)
                )

    def finish(self) -> Mechanism:
        self._equalities()
        for text in dict.fromkeys(self.said):
            self.note("ignored", f"MuJoCo warns: {' '.join(text.split())}")
        check_tree(self.links, self.joints, self.file)
        joints = flatten_mimics(self.joints, self.file)
        self.note("defaulted", "coordinates are MuJoCo's qpos in radians; ref is the value in the drawn pose")
        report = ImportReport(self.file or "", "mjcf", tuple(self.notes))
        gravity = vector(self.spec.option.gravity)
        if int(self.spec.option.disableflags) & (1 << _GRAVITY_BIT):
            gravity = ZERO
        name = self.spec.modelname or "robot"
        return Mechanism(name, tuple(self.links), tuple(joints), tuple(self.tool_frames), gravity, report=report)


_GRAVITY_BIT = 7


class _Plain:
    """Stands for an orientation that is only a quaternion."""

    class type:
        name = "mjORIENTATION_QUAT"


def _reference(joint: Any, snap: float) -> f.Scalar:
    hinge = joint.type.name.endswith("HINGE")
    return angle(joint.ref, bool(joint.compiler.degree) and hinge, snap) if hinge else rational(joint.ref)


def _minus(value: f.Scalar) -> f.Scalar:
    return value if f.is_zero(value) else f.neg(value)
