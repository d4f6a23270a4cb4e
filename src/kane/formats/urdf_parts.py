"""The parts of a URDF: inertia, shapes, joints with their axis, limits, dynamics and mimic rule."""

from __future__ import annotations

import math
from dataclasses import replace
from difflib import get_close_matches
from fractions import Fraction

from kane.errors import NumberError, TopologyError, UnsupportedError
from kane.formats.reading import Reader, named, only
from kane.formats.urdf_shapes import read_shapes
from kane.formats.values import last_digit
from kane.formats.xml import Element
from kane.mechanism import formula as f
from kane.mechanism.formula import Scalar
from kane.mechanism.joints import JOINT_TYPES
from kane.mechanism.model import Inertia, Joint, Limits, Link, Mimic, Placement, Vector

_FINE, _LONGEST = 10**20, 10**25
NO_LIMIT = 1e9  # rad, m, N m and so on: what files say that have to give a limit where there is none, and more
_Z: Vector = (Fraction(0), Fraction(0), Fraction(1))  # where an axis has no meaning
_X: Vector = (Fraction(1), Fraction(0), Fraction(0))
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
_OTHER_NAMES = {"ball": "spherical", "freeflyer": "floating", "floating_joint": "floating"}
_FOREIGN_TYPES = ("spherical", "universal", "cylindrical", "screw")
URDF_TYPES = ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")
_COARSEST = 0.02  # more than two printed digits are wanted before rounding excuses a tensor


def read_link(reader: Reader, element: Element) -> Link:
    """A link: its inertia and the shapes of its visuals."""
    name = named(reader, element)
    owner = f"link {name!r}"
    inertial = only(reader, element, "inertial", owner)
    inertia = None if inertial is None else read_inertia(reader, inertial, owner)
    shapes = tuple(s for visual in element.all("visual") for s in read_shapes(reader, visual, owner))
    return Link(name, inertia, shapes, element.line)


def read_inertia(reader: Reader, element: Element, owner: str) -> Inertia:
    """Mass, mass centre and tensor of an <inertial>."""
    numbers = reader.numbers
    mass_element, tensor = only(reader, element, "mass", owner), only(reader, element, "inertia", owner)
    origin = only(reader, element, "origin", owner)
    if mass_element is None or "value" not in mass_element.attributes:
        reader.repaired(
            f"{owner} has an <inertial> without mass; 0 kg is used{', its moments are kept' if tensor else ''}.",
            mass_element or element, owner, "Add <mass value>.",
        )  # fmt: skip
        mass = Fraction(0)
    else:
        mass = numbers.one(mass_element.attributes["value"], mass_element, owner)
    moments, resolution = [Fraction(0)] * 6, 0.0
    if tensor is None:
        reader.repaired(
            f"{owner} has an <inertial> without inertia; 0 is used.", element, owner, "Add <inertia ixx ...>."
        )
    else:
        texts = [tensor.attributes.get(key) for key in _MOMENTS]
        missing = [key for key, text in zip(_MOMENTS, texts, strict=True) if text is None]
        if missing:
            reader.repaired(f"{owner}: <inertia> lacks {', '.join(missing)}; 0 is used.", tensor, owner, "Add them.")
        moments = [Fraction(0) if text is None else numbers.one(text, tensor, owner) for text in texts]
        resolution = _resolution([text.strip() for text in texts if text is not None], moments)
    com: Vector = (Fraction(0), Fraction(0), Fraction(0))
    axes: Placement = ()
    if origin is not None:
        if "xyz" in origin.attributes:
            com = numbers.vector(origin.attributes["xyz"], origin, owner)
        axes = numbers.orientation(origin, owner)
    a, b, c, d, e, g = moments
    return Inertia(mass, com, (a, b, c, d, e, g), axes, resolution, element.line)


def _resolution(texts: list[str], moments: list[Fraction]) -> float:
    largest = max((abs(float(m)) for m in moments), default=0.0)
    digits = [d for d in map(last_digit, texts) if d > 0]
    return min(min(digits) / largest, _COARSEST) if largest > 0 and digits else 0.0


def read_joint(reader: Reader, element: Element) -> Joint:
    """A joint: place, axis, limits, damping, friction, spring, mimic rule."""
    name = named(reader, element)
    owner = f"joint {name!r}"
    kind = _joint_type(reader, element, name)
    ends = []
    for tag in ("parent", "child"):
        end = only(reader, element, tag, owner)
        if end is None:
            raise reader.refuse(f"{owner} has no <{tag}>.", element, name, f'Add <{tag} link="..."/>.')
        ends.append(named(reader, end, "link"))
    placement = reader.numbers.placement(only(reader, element, "origin", owner), owner)
    axis = _axis(reader, element, kind, owner)
    damping, friction, stiffness, rest = _dynamics(reader, element, owner)
    return Joint(
        name,
        kind,
        ends[0],
        ends[1],
        placement,
        axis,
        limits=_limits(reader, element, kind, owner),
        damping=damping,
        friction=friction,
        stiffness=stiffness,
        rest=rest,
        pitch=_pitch(reader, element, owner) if kind == "screw" else Fraction(0),
        mimic=_mimic(reader, element, kind, owner),
        line=element.line,
    )


def _joint_type(reader: Reader, element: Element, name: str) -> str:
    text = element.attributes.get("type", "").strip()
    kind = _OTHER_NAMES.get(text, text)
    if kind in URDF_TYPES:
        return kind
    if kind in _FOREIGN_TYPES:
        reader.repaired(
            f"joint {name!r} is {text!r}, which plain URDF does not have.", element, name,
            f"Use one of: {', '.join(URDF_TYPES)}.",
        )
        return kind
    close = get_close_matches(text.lower(), (*URDF_TYPES, *_FOREIGN_TYPES), 1, 0.6)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise UnsupportedError(
        f"joint {name!r} has the unknown type {text!r}.{hint}" if text else f"joint {name!r} has no type.",
        file=reader.file,
        line=element.line,
        element=f"<{element.tag}>",
        name=name,
        value=text,
        remedy=f"Use one of: {', '.join(URDF_TYPES)}; read too, beyond URDF: {', '.join(_FOREIGN_TYPES)}.",
    )


def _axis(reader: Reader, element: Element, kind: str, owner: str) -> Vector:
    """The axis as written (its length is immaterial), components smaller than `snap` of the largest set to zero."""
    found = only(reader, element, "axis", owner)
    free = kind in ("fixed", "floating", "spherical")
    if found is None or "xyz" not in found.attributes:
        if not free:
            reader.note("defaulted", f"{owner} has no axis: 1 0 0, as URDF has it", owner, element.line)
        return _Z if free else _X
    axis = reader.numbers.vector(found.attributes["xyz"], found, owner)
    if free:
        return _Z
    if not any(axis):
        raise reader.refuse(
            f"{owner} has the axis 0 0 0.", found, owner, "Give the direction of its axis.", NumberError
        )
    largest = max(abs(v) for v in axis)
    bound = largest * Fraction(reader.numbers.snap)
    kept = tuple(Fraction(0) if abs(v) <= bound else v for v in axis)
    if kept != axis:
        reader.note(
            "snapped",
            f"axis {found.attributes['xyz'].strip()} of {owner}: tiny components read as 0",
            owner,
            found.line,
        )
    length = math.hypot(*(float(v) for v in kept))
    if abs(length - 1.0) > 1e-3:
        reader.note(
            "repaired", f"axis of {owner} has length {length:.6g}; only its direction is used", owner, found.line
        )
    if not 1e-3 < largest < 1e3:  # squares of its components must neither vanish nor overflow
        kept = tuple(v / largest for v in kept)
    if any(v.denominator > _LONGEST for v in kept):  # exact lengths of such axes outgrow every double
        kept = tuple(Fraction(round(v * _FINE), _FINE) for v in kept)
        reader.note("snapped", f"axis of {owner}: read to 20 decimals", owner, found.line)
    return kept[0], kept[1], kept[2]


def _limits(reader: Reader, element: Element, kind: str, owner: str) -> Limits:
    found = only(reader, element, "limit", owner)
    if found is None:
        if kind in ("revolute", "prismatic"):
            reader.note("defaulted", f"{owner} has no limits", owner, element.line)
        return Limits()

    def value(key: str) -> float | None:
        text = found.attributes.get(key)
        if text is None:
            return None
        if text.strip().lower().lstrip("+-") in ("inf", "infinity", ".inf"):
            reader.repaired(f"{owner}: the limit {key}={text!r} is read as none.", found, owner, f"Leave {key} out.")
            return None
        number = float(reader.numbers.one(text, found, owner))
        return number if abs(number) < NO_LIMIT else None

    lower, upper = (None, None) if kind == "continuous" else (value("lower"), value("upper"))
    if lower is None and upper is not None and "lower" not in found.attributes:
        lower = 0.0
    if upper is None and lower is not None and "upper" not in found.attributes:
        upper = 0.0
    if lower is not None and upper is not None and lower > upper:
        reader.repaired(f"{owner}: the limits {lower:g} to {upper:g} are exchanged.", found, owner, "Order them.")
        lower, upper = upper, lower
    return Limits(lower, upper, value("velocity"), value("effort"), value("acceleration"))


def _dynamics(reader: Reader, element: Element, owner: str) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    found = only(reader, element, "dynamics", owner)
    if found is None:
        return Fraction(0), Fraction(0), Fraction(0), Fraction(0)
    keys = ("damping", "friction", "spring_stiffness", "spring_reference")
    d, c, k, r = (
        reader.numbers.one(found.attributes[key], found, owner) if key in found.attributes else Fraction(0)
        for key in keys
    )
    for key, number in zip(keys[:2], (d, c), strict=True):
        if number < 0:
            reader.note("nonphysical", f"{owner} has negative {key} {float(number):g}", owner, found.line)
    return d, c, k, r


def _pitch(reader: Reader, element: Element, owner: str) -> Scalar:
    """Metres per radian from metres per revolution (drake:screw_thread_pitch or thread_pitch)."""
    for child in element.children:
        if child.tag in ("drake:screw_thread_pitch", "screw_thread_pitch", "thread_pitch"):
            turn = reader.numbers.one(child.attributes.get("value", child.text), child, owner)
            return f.formula(turn) / (2 * f.PI)
    raise reader.refuse(
        f"{owner} is a screw without a pitch.", element, owner, "Add <drake:screw_thread_pitch value> (m a turn)."
    )


def _mimic(reader: Reader, element: Element, kind: str, owner: str) -> Mimic | None:
    found = only(reader, element, "mimic", owner)
    if found is None:
        return None
    leader = named(reader, found, "joint")
    get = found.attributes.get
    ratio, offset = (
        reader.numbers.one(get("multiplier", "1"), found, owner),
        reader.numbers.one(get("offset", "0"), found, owner),
    )
    if kind == "fixed":
        reader.note("ignored", f"{owner} is fixed; its mimic rule has no effect", owner, found.line)
        return None
    if len(JOINT_TYPES[kind].angles) != 1:
        raise reader.refuse(
            f"{owner} of type {kind!r} has several coordinates and cannot follow another joint.",
            found,
            owner,
            "Only joints of one coordinate can mimic.",
            UnsupportedError,
        )
    return Mimic(leader, ratio, offset)


def flatten_mimics(joints: list[Joint], file: str | None) -> list[Joint]:
    """The joints with every mimic rule stated in terms of an independent joint.

    q = r1 (r2 q0 + o2) + o1 along a chain of followers.  Raises TopologyError for an unknown or unsuitable leader and
    for cycles, naming all.
    """
    table = {joint.name: joint for joint in joints}
    return [joint if joint.mimic is None else _flattened(joint, table, file) for joint in joints]


def _flattened(joint: Joint, table: dict[str, Joint], file: str | None) -> Joint:
    rule = joint.mimic
    assert rule is not None
    chain = [joint.name]
    ratio, offset = rule.ratio, rule.offset
    while True:
        leader = table.get(rule.joint)
        if leader is None:
            raise TopologyError(
                f"joint {chain[-1]!r} mimics {rule.joint!r}, which does not exist.",
                file=file,
                line=table[chain[-1]].line,
                element="<mimic>",
                name=chain[-1],
                value=rule.joint,
                remedy=f"Name an existing joint{_similar(rule.joint, table)}.",
            )
        if leader.name in chain:
            ring = chain[chain.index(leader.name) :]
            raise TopologyError(
                f"joints mimic each other in a circle: {' -> '.join([*ring, leader.name])}.",
                file=file,
                line=joint.line,
                element="<mimic>",
                name=", ".join(ring),
                remedy="Let one of them be independent.",
            )
        if leader.mimic is None:
            break
        chain.append(leader.name)
        rule = leader.mimic
        offset = f.add(f.mul(ratio, rule.offset), offset)
        ratio = f.mul(ratio, rule.ratio)
    if len(JOINT_TYPES[leader.type].angles) != 1:
        raise TopologyError(
            f"joint {chain[-1]!r} mimics {leader.name!r}, which is of type {leader.type!r}.",
            file=file,
            line=joint.line,
            element="<mimic>",
            name=joint.name,
            value=leader.name,
            remedy="Follow a joint of one coordinate.",
        )
    return replace(joint, mimic=Mimic(leader.name, ratio, offset))


def _similar(name: str, table: dict[str, Joint]) -> str:
    close = get_close_matches(name, table, 3, 0.5)
    return f", such as {', '.join(repr(c) for c in close)}" if close else ""
