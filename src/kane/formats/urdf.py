"""Read URDF: bytes in any encoding to a Mechanism with exact numbers, line numbers and an import report."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from kane.errors import FormatError, NumberError
from kane.formats.reading import Reader
from kane.formats.source import Source, content_of
from kane.formats.urdf_parts import flatten_mimics, read_joint, read_link
from kane.formats.urdf_shapes import read_materials
from kane.formats.urdf_tags import foreign
from kane.formats.values import Numbers
from kane.formats.xml import Element, parse_xml
from kane.mechanism.joints import JOINT_TYPES
from kane.mechanism.model import ImportReport, Joint, Link, Mechanism, Note, Rotor
from kane.mechanism.topology import check_tree

_MASSLESS_NOTE = "has no inertial: zero mass"


def read_urdf(
    source: Source,
    *,
    base: Literal["fixed", "floating"] = "fixed",
    snap: float = 1e-11,
    strict: bool = False,
) -> Mechanism:
    """The mechanism that a URDF describes, with its import report.

    source: path, or the document itself as text or bytes.  base: "floating" puts a joint "root" of type "floating" in
    front of the file's root link.  snap: roll, pitch and yaw closer than this (rad) to a multiple of pi/12 become that
    multiple.
    strict: what would be repaired, and unknown tags that resemble URDF's, are refused.
    Raises FormatError, NumberError, TopologyError, UnsupportedError with file, line, element, value and remedy.
    """
    data, file = content_of(source)
    return from_element(parse_xml(data, file), file, base=base, snap=snap, strict=strict)


def from_element(
    root: Element,
    file: str | None,
    *,
    base: Literal["fixed", "floating"] = "fixed",
    snap: float = 1e-11,
    strict: bool = False,
) -> Mechanism:
    """The mechanism of a parsed <robot>."""
    if root.tag != "robot":
        raise FormatError(
            f"The root element is <{root.tag}>, not <robot>.",
            file=file,
            line=root.line,
            element=f"<{root.tag}>",
            remedy="Give a URDF file; MJCF and SDF are read when the extension or the root element says so.",
        )
    _no_macros(root, file)
    reader = Reader(Numbers(file, snap), strict)
    notes, _ = foreign(root, file, strict)
    reader.notes += notes
    name = root.attributes.get("name", "").strip()
    if not name:
        reader.repaired("<robot> has no name; 'robot' is used.", root, "robot", 'Add name="...".')
        name = "robot"
    read_materials(reader, root)
    links = [read_link(reader, element) for element in root.children if element.tag == "link"]
    joints = [read_joint(reader, element) for element in root.children if element.tag == "joint"]
    check_tree(links, joints, file)
    joints = _with_rotors(reader, root, flatten_mimics(joints, file))
    _note_missing(reader, links)
    _note_snapped(reader)
    mechanism = Mechanism(name, tuple(links), tuple(joints))
    if base == "floating":
        mechanism, note = floating(mechanism)
        reader.notes.append(note)
    return replace(mechanism, report=ImportReport(file or "", "urdf", tuple(reader.notes)))


def floating(mechanism: Mechanism) -> tuple[Mechanism, Note]:
    """The mechanism with its root link on a floating joint, unless it already hangs on one, and what was done."""
    root = mechanism.root
    outgoing = [joint for joint in mechanism.joints if joint.parent == root]
    if mechanism.link(root).inertia is None and len(outgoing) == 1 and outgoing[0].type == "floating":
        return mechanism, Note(
            "defaulted", f"the base floats on joint {outgoing[0].name!r} of the file", outgoing[0].name
        )
    world = _free("world", {link.name for link in mechanism.links})
    label = _free("root", {joint.name for joint in mechanism.joints})
    joint = Joint(label, "floating", world, root)
    return (
        replace(mechanism, links=(Link(world), *mechanism.links), joints=(joint, *mechanism.joints)),
        Note("defaulted", f"floating base: joint {label!r} from {world!r} to {root!r}", label),
    )


def _free(wanted: str, taken: set[str]) -> str:
    name = wanted
    while name in taken:
        name += "_"
    return name


def _no_macros(root: Element, file: str | None) -> None:
    for element in root.children:
        for candidate in (element, *element.children):
            if candidate.tag.startswith("xacro:") and candidate.tag.split(":")[1] in _MACROS:
                raise FormatError(
                    f"<{candidate.tag}> is a xacro instruction: the file is not expanded.",
                    code="XacroError",
                    file=file,
                    line=candidate.line,
                    element=f"<{candidate.tag}>",
                    remedy="Read it under a name that ends in .xacro (extra kane[xacro]), or expand it first.",
                )


_MACROS = {"macro", "include", "property", "arg", "if", "unless", "insert_block", "element", "attribute", "call"}


def _note_missing(reader: Reader, links: list[Link]) -> None:
    for link in links:
        if link.inertia is None:
            reader.note("defaulted", f"link {link.name!r} {_MASSLESS_NOTE}", link.name, link.line)


def _note_snapped(reader: Reader) -> None:
    """One note for each value and owner; the exact texts of pi/2 and the like repeat often."""
    counted = Counter((text, owner) for text, owner, _ in reader.numbers.snapped)
    lines = {(text, owner): line for text, owner, line in reversed(reader.numbers.snapped)}
    for (text, owner), times in counted.items():
        more = f" ({times} times)" if times > 1 else ""
        reader.note("snapped", f"{text} in {owner}{more}", owner, lines[text, owner])


_ROTOR_TAGS = ("drake:rotor_inertia", "rotor_inertia", "rotorInertia", "motorInertia", "motor_inertia")
_RATIO_TAGS = ("mechanicalReduction", "drake:gear_ratio", "gear_ratio", "mechanical_reduction")


def _with_rotors(reader: Reader, root: Element, joints: list[Joint]) -> list[Joint]:
    """Rotor inertia and gear ratio from simple transmissions; a ratio without a rotor inertia is only reported."""
    table = {joint.name: k for k, joint in enumerate(joints)}
    for element in root.all("transmission"):
        label = element.attributes.get("name", "")
        ends, actuators = element.all("joint"), element.all("actuator")
        inertia = _value(reader, element, actuators, _ROTOR_TAGS)
        try:
            ratio = _value(reader, element, actuators, _RATIO_TAGS)
        except NumberError as error:
            if inertia is not None:
                raise
            what = f"{error.message} It has no effect without rotor inertia."
            reader.repaired(what, element, label, "Give a number.")
            ratio = None
        if len(ends) != 1 or len(actuators) > 1:
            if ends:
                reader.note(
                    "ignored",
                    f"transmission {label!r} couples {len(ends)} joints; it has no effect",
                    label,
                    element.line,
                )
            continue
        name = ends[0].attributes.get("name", "")
        if name not in table:
            reader.note(
                "ignored", f"transmission {label!r} names the joint {name!r}, which does not exist", label, element.line
            )
        elif inertia is None:
            if ratio is not None and ratio != 1:
                reader.note(
                    "ignored",
                    f"transmission {label!r}: ratio {float(ratio):g} of joint {name!r} without rotor inertia has "
                    "no effect; give rotors",
                    name,
                    element.line,
                )
        elif len(JOINT_TYPES[joints[table[name]].type].angles) == 1:
            joints[table[name]] = replace(
                joints[table[name]], rotor=Rotor(inertia, Fraction(1) if ratio is None else ratio)
            )
    return joints


def _value(reader: Reader, element: Element, actuators: list[Element], tags: tuple[str, ...]) -> Fraction | None:
    for holder in (*actuators, element):
        for child in holder.children:
            if child.tag in tags:
                owner = f"transmission {element.attributes.get('name', '')!r}"
                return reader.numbers.one(child.attributes.get("value", child.text), child, owner)
    return None
