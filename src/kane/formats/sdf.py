"""Read SDF models: poses relative to the model, links, joints and frames; one model in a file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from kane.errors import FormatError, NumberError, TopologyError, UnsupportedError
from kane.formats.reading import Reader, named, only
from kane.formats.source import Source, content_of
from kane.formats.values import Numbers, Triple, last_digit
from kane.formats.xml import Element, parse_xml
from kane.mechanism import exact
from kane.mechanism import formula as f
from kane.mechanism.model import (
    Frame,
    Geometry,
    ImportReport,
    Inertia,
    Joint,
    Limits,
    Link,
    MatrixTurn,
    Mechanism,
    Move,
    Note,
    Placement,
    QuaternionTurn,
    Translate,
    Turn,
    Vector,
)
from kane.mechanism.topology import check_tree

_0 = Fraction(0)
_TYPES = {"ball": "spherical", "revolute2": "universal"}
_KNOWN = ("revolute", "continuous", "prismatic", "fixed", "ball", "universal", "screw", "revolute2")
_SIZES = {
    "box": ("size",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"), "sphere": ("radius",),
    "mesh": ("scale",),
}  # fmt: skip
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def read_sdf(source: Source, *, base: str = "fixed", snap: float = 1e-11, strict: bool = False) -> Mechanism:
    """The mechanism of the one <model> in an SDF file.

    base: "floating" puts the root link on a floating joint; "fixed" holds it where its pose says, whatever the model's
    own <static>.  Raises FormatError, NumberError, TopologyError, UnsupportedError with file and line.
    """
    data, file = content_of(source)
    root = parse_xml(data, file)
    models = [e for holder in (root, *root.all("world")) for e in holder.all("model")] or (
        [root] if root.tag == "model" else []
    )
    if len(models) != 1:
        raise FormatError(
            f"The file holds {len(models)} models.",
            file=file,
            line=root.line,
            element=f"<{root.tag}>",
            remedy="Give a file with one.",
        )
    reader = _Sdf(Reader(Numbers(file, snap), strict), models[0], _version(root))
    mechanism = reader.read(base)
    gravity = next((e for w in root.all("world") for e in w.all("gravity")), None)
    if gravity is not None:
        mechanism = replace(mechanism, gravity=reader.numbers.vector(gravity.text, gravity))
    return mechanism


def _version(root: Element) -> tuple[int, ...]:
    """The format's version, which decides what axes are relative to."""
    parts = root.attributes.get("version", "").strip().split(".")
    return tuple(int(p) for p in parts) if all(p.isdecimal() and len(p) < 4 for p in parts) else (1, 7)


@dataclass(slots=True)
class _Sdf:
    reader: Reader
    model: Element
    version: tuple[int, ...] = (1, 7)
    poses: dict[str, tuple[Element | None, str]] = field(default_factory=dict)
    solved: dict[str, Placement] = field(default_factory=dict)

    @property
    def numbers(self) -> Numbers:
        return self.reader.numbers

    def read(self, base: str) -> Mechanism:
        model, file = self.model, self.reader.file
        for tag in ("include", "model"):
            for element in model.all(tag):
                raise self.reader.refuse(
                    f"{element} inside a model is not read.", element, tag,
                    "Write its links and joints into the model.", UnsupportedError,
                )  # fmt: skip
        link_elements, joint_elements = model.all("link"), model.all("joint")
        self._place(link_elements, joint_elements, model.all("frame"))
        links = [self._link(e) for e in link_elements]
        joints: list[Joint] = []
        extra: list[Link] = []
        for element in joint_elements:
            self._joint(element, joints, extra)
        children = {joint.child for joint in joints}
        roots = [link.name for link in links if link.name not in children]
        outer = "world_" if any(link.name == "world" for link in links) else "world"  # a link may have that name
        if not any(joint.parent == outer for joint in joints) and len(roots) == 1:
            kind, label = ("floating", "root") if base == "floating" else ("fixed", f"{outer}.fixed")
            joints.insert(0, Joint(label, kind, outer, roots[0], self._pose(roots[0]) if kind == "fixed" else ()))
        links = [Link(outer), *links, *extra]
        check_tree(links, joints, file)
        tools = tuple(self._frame(e) for e in model.all("frame"))
        name = model.attributes.get("name", "").strip() or "robot"
        for what in ("plugin", "gripper", "sensor"):
            if found := model.all(what):
                self.reader.note("ignored", f"{len(found)} <{what}>", what, found[0].line)
        self.reader.note(
            "defaulted", "poses are relative to the model, joint frames to the child link", name, model.line
        )
        report = ImportReport(file or "", "sdf", tuple(self.reader.notes + self._snapped()))
        return Mechanism(name, tuple(links), tuple(joints), tools, report=report)

    def _snapped(self) -> list[Note]:
        return [Note("snapped", f"{text} in {owner}", owner, line) for text, owner, line in self.numbers.snapped]

    def _place(self, links: list[Element], joints: list[Element], frames: list[Element]) -> None:
        """Collect where each named frame stands: its pose and what that is relative to."""
        for element in links:
            pose = element.first("pose")
            self.poses[named(self.reader, element)] = (pose, self._relative(pose, ""))
        for element in joints:
            pose, child = element.first("pose"), element.first("child")
            self.poses.setdefault(
                named(self.reader, element), (pose, self._relative(pose, child.text.strip() if child else ""))
            )
        for element in frames:
            pose = element.first("pose")
            self.poses.setdefault(
                named(self.reader, element), (pose, self._relative(pose, element.attributes.get("attached_to", "")))
            )

    @staticmethod
    def _relative(pose: Element | None, default: str) -> str:
        if pose is None:
            return default
        return pose.attributes.get("relative_to") or pose.attributes.get("frame") or default  # frame: until 1.6

    def _pose(self, name: str, trail: tuple[str, ...] = ()) -> Placement:
        """The moves from the model frame to a named frame."""
        if name in ("", "__model__") or (name == "world" and name not in self.poses):
            return ()
        if name in trail:
            raise self._lost(f"The poses of {', '.join(trail)} are relative to each other.", name)
        if name not in self.solved:
            if name not in self.poses:
                raise self._lost(f"A pose is relative to {name!r}, which does not exist.", name)
            pose, relative = self.poses[name]
            self.solved[name] = self._pose(relative, (*trail, name)) + self._own(pose, name)
        return self.solved[name]

    def _lost(self, message: str, name: str) -> TopologyError:
        remedy = "Make poses relative to links, joints or frames that stand somewhere."
        return TopologyError(message, file=self.reader.file, name=name, remedy=remedy)

    def _own(self, pose: Element | None, owner: str) -> Placement:
        if pose is None:
            return ()
        parts = pose.text.split()
        quaternion = pose.attributes.get("rotation_format") == "quat_xyzw"
        wanted = 7 if quaternion else 6
        if len(parts) != wanted:
            raise self.numbers.error(pose.text, pose, owner, f"holds {len(parts)} numbers where {wanted} are needed")
        values = [self.numbers.one(part, pose, owner) for part in parts]
        x, y, z = values[:3]
        moves: tuple[Move, ...] = (Translate((x, y, z)),) if x or y or z else ()
        if quaternion:
            qx, qy, qz, qw = values[3:]
            return (*moves, QuaternionTurn((qw, qx, qy, qz))) if qx or qy or qz else moves
        rpy = (values[3], values[4], values[5])
        if pose.attributes.get("degrees") == "true":
            turns = zip((2, 1, 0), (rpy[2], rpy[1], rpy[0]), strict=True)
            return moves + tuple(Turn(axis, f.formula(v) * f.PI / 180) for axis, v in turns if v)  # type: ignore[arg-type]
        return moves + self.numbers.turns(rpy, pose, owner)

    def _link(self, element: Element) -> Link:
        name = named(self.reader, element)
        owner = f"link {name!r}"
        inertial = only(self.reader, element, "inertial", owner)
        if inertial is None:  # SDF's own defaults: 1 kg and unit moments
            self.reader.note(
                "defaulted", f"{owner} has no inertial: mass 1, moments 1 (SDF default)", name, element.line
            )
            one = Fraction(1)
            return Link(name, Inertia(one, moments=(one, _0, _0, one, _0, one)), self._shapes(element), element.line)
        mass_element = inertial.first("mass")
        mass = Fraction(1) if mass_element is None else self.numbers.one(mass_element.text, mass_element, owner)
        moments = [Fraction(1), _0, _0, Fraction(1), _0, Fraction(1)]
        digits: list[float] = []
        tensor = inertial.first("inertia")
        if tensor is not None:
            for k, key in enumerate(_MOMENTS):
                entry = tensor.first(key)
                if entry is not None:
                    moments[k] = self.numbers.one(entry.text, entry, owner)
                    digits.append(last_digit(entry.text.strip()))
        largest = max(abs(float(m)) for m in moments)
        printed = [d for d in digits if d > 0]
        resolution = min(min(printed) / largest, 0.02) if printed and largest else 0.0
        where = self._own(inertial.first("pose"), owner)
        com: Vector = next((m.by for m in where if isinstance(m, Translate)), (_0, _0, _0))
        axes = tuple(m for m in where if not isinstance(m, Translate))
        a, b, c, d, e, g = moments
        inertia = Inertia(mass, com, (a, b, c, d, e, g), axes, resolution, inertial.line)
        return Link(name, inertia, self._shapes(element), element.line)

    def _shapes(self, link: Element) -> tuple[Geometry, ...]:
        """The shapes of the visuals; damaged ones are dropped with a note."""
        shapes = []
        for visual in link.all("visual"):
            holder = visual.first("geometry")
            for shape in () if holder is None else holder.children:
                try:
                    sizes = [part for key in _SIZES.get(shape.tag, ()) for part in _inside(shape, key).split()]
                    numbers = tuple(float(self.numbers.one(part, shape, "visual")) for part in sizes)
                    place = self._own(visual.first("pose"), "visual")
                except NumberError as error:
                    self.reader.note("ignored", f"shape not drawn: {error.message}", "visual", error.line)
                    continue
                if shape.tag in _SIZES:
                    shapes.append(Geometry(shape.tag, numbers, place, _inside(shape, "uri")))
        return tuple(shapes)

    def _joint(self, element: Element, joints: list[Joint], extra: list[Link]) -> None:
        name = named(self.reader, element)
        owner = f"joint {name!r}"
        text = element.attributes.get("type", "")
        if text not in _KNOWN:
            raise self.reader.refuse(
                f"{owner} has the type {text!r}, which is not read.", element, name,
                f"Use one of: {', '.join(_KNOWN)}.", UnsupportedError,
            )  # fmt: skip
        ends = []
        for tag in ("parent", "child"):
            end = only(self.reader, element, tag, owner)
            if end is None or not end.text.strip():
                raise self.reader.refuse(f"{owner} has no <{tag}>.", element, name, f"Add <{tag}>.")
            ends.append(end.text.strip())
        parent, child = ends
        inside = self._from(child, name)
        place = inverse(self._pose(parent)) + self._pose(child) + inside
        axis = self._axis(element, "axis", name, owner)
        kind = _TYPES.get(text, text)
        behind = child if not inside else f"{child}.{name}"
        second = self._axis(element, "axis2", name, owner) if kind == "universal" else None
        if second is not None:
            extra.append(Link(f"{name}.cross", line=element.line))
            joints.append(Joint(f"{name}.1", "revolute", parent, f"{name}.cross", place, axis, line=element.line))
            joints.append(Joint(f"{name}.2", "revolute", f"{name}.cross", behind, (), second, line=element.line))
        else:
            numbers = self._numbers(element, owner)
            pitch = self._pitch(element, owner) if kind == "screw" else _0
            joints.append(
                Joint(
                    name, kind, parent, behind, place, axis, limits=self._limits(element, kind, owner),
                    damping=numbers[0], friction=numbers[1], stiffness=numbers[2], rest=numbers[3], pitch=pitch,
                    line=element.line,
                )
            )  # fmt: skip
        if inside:
            extra.append(Link(behind, line=element.line))
            joints.append(Joint(f"{name}.frame", "fixed", behind, child, inverse(inside), line=element.line))

    def _from(self, child: str, joint: str) -> Placement:
        """The moves from the child link's frame to the joint frame."""
        pose, relative = self.poses[joint]
        if relative == child:
            return self._own(pose, joint)
        return inverse(self._pose(child)) + self._pose(joint)

    def _axis(self, element: Element, tag: str, name: str, owner: str) -> Vector:
        found = only(self.reader, element, tag, owner)
        entry = None if found is None else found.first("xyz")
        if entry is None:
            return (_0, _0, Fraction(1))
        axis: Triple = self.numbers.vector(entry.text, entry, owner)
        if not any(axis):
            raise self.numbers.error(entry.text, entry, owner, "is not a direction")
        assert found is not None
        frame = entry.attributes.get("expressed_in", "")
        old = found.first("use_parent_model_frame")  # of 1.5 and 1.6; before, every axis was in the model's frame
        if not frame and (self.version < (1, 5) if old is None else old.text.strip() in ("1", "true")):
            frame = "__model__"
        if not frame:
            return axis
        R, _ = exact.pose(inverse(self._pose(name)) + self._pose(frame))
        return exact.apply(R, axis)

    def _numbers(self, element: Element, owner: str) -> list[Fraction]:
        axis = element.first("axis")
        dynamics = None if axis is None else axis.first("dynamics")
        result = []
        for key in ("damping", "friction", "spring_stiffness", "spring_reference"):
            entry = None if dynamics is None else dynamics.first(key)
            result.append(_0 if entry is None else self.numbers.one(entry.text, entry, owner))
        return result

    def _limits(self, element: Element, kind: str, owner: str) -> Limits:
        axis = element.first("axis")
        limit = None if axis is None else axis.first("limit")
        if limit is None or kind == "continuous":
            return Limits()
        values: dict[str, float | None] = {}
        for key in ("lower", "upper", "velocity", "effort"):
            entry = limit.first(key)
            text = "" if entry is None else entry.text.strip().lower().lstrip("+-")
            if entry is None or text in ("inf", "infinity"):
                values[key] = None
                continue
            number = float(self.numbers.one(entry.text, entry, owner))
            values[key] = None if abs(number) >= 1e16 or (number < 0 and key in ("velocity", "effort")) else number
        return Limits(values["lower"], values["upper"], values["velocity"], values["effort"])

    def _pitch(self, element: Element, owner: str) -> f.Scalar:
        """Metres per radian."""
        entry = element.first("screw_thread_pitch")
        if entry is not None:
            return f.formula(self.numbers.one(entry.text, entry, owner)) / (2 * f.PI)
        entry = element.first("thread_pitch")
        if entry is None:
            raise self.reader.refuse(
                f"{owner} is a screw without a pitch.", element, owner, "Add <screw_thread_pitch>."
            )
        return -1 / self.numbers.one(entry.text, entry, owner)  # radians per metre, left-handed, in old files

    def _frame(self, element: Element) -> Frame:
        name = named(self.reader, element)
        link = name
        links = {named(self.reader, e) for e in self.model.all("link")}
        while link not in links:
            holder = next((e for e in self.model.all("frame") if e.attributes.get("name") == link), None)
            link = "world" if holder is None else holder.attributes.get("attached_to", "world") or "world"
            if link in ("world", "__model__"):
                return Frame(name, "world", self._pose(name))
        return Frame(name, link, inverse(self._pose(link)) + self._pose(name))


def _inside(element: Element, tag: str) -> str:
    child = element.first(tag)
    return "" if child is None else child.text.strip()


def inverse(moves: Placement) -> Placement:
    """The moves back."""
    result: list[Move] = []
    for move in reversed(moves):
        if isinstance(move, Translate):
            x, y, z = (exact.minus(v) for v in move.by)
            result.append(Translate((x, y, z)))
        elif isinstance(move, Turn):
            result.append(Turn(move.axis, exact.minus(move.angle)))
        elif isinstance(move, MatrixTurn):
            result.append(move.transposed)
        else:
            w, x, y, z = (Fraction(q) for q in move.quaternion)
            result.append(QuaternionTurn((w, -x, -y, -z)))
    return tuple(result)
