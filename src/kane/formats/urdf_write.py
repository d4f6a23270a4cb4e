"""Write URDF: a new file from a mechanism, with decimals that read back to the same numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from xml.sax.saxutils import quoteattr

import numpy as np

from kane.errors import UnsupportedError
from kane.formats.urdf_parts import NO_LIMIT
from kane.formats.values import last_digit
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.model import Geometry, Inertia, Joint, Link, Placement, Translate, Turn
from kane.mechanism.numeric import names_in, pose

_TYPES = ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")
_DIGITS = 17
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def write_urdf(mechanism: Described) -> str:
    """The mechanism as URDF text; read_urdf gives the same mechanism back, but for line numbers.

    Placements that are not translation, yaw, pitch, roll are written as such, to the precision of doubles.
    Raises UnsupportedError for what URDF cannot say: other joint types, spinning rotors, parameters without a value.
    """
    mechanism = mechanism_of(mechanism)
    values = mechanism.parameter_values
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<robot name={quoteattr(mechanism.name)}>"]
    for link in mechanism.links:
        lines += _link(link, values)
    for joint in mechanism.joints:
        lines += _joint(joint, values)
    for joint in mechanism.joints:
        lines += _transmission(joint, values)
    return "\n".join([*lines, "</robot>"]) + "\n"


def number_text(value: Scalar, values: dict[str, float] | None = None) -> str:
    """The shortest decimal that reads back: exactly for numbers of at most 17 digits, else to the same double."""
    if isinstance(value, Formula):
        missing = sorted(value.names() - set(values or {}))
        if missing:
            raise UnsupportedError(
                f"{value} has no value for {', '.join(missing)}.", name=missing[0], remedy="Give the parameter a value."
            )
        return repr(f.number(value, values))
    text = f.scalar_text(value)
    if "/" not in text and len(text.partition("e")[0].replace(".", "").lstrip("-0")) <= _DIGITS:
        return text
    return repr(float(value))


def moment_texts(inertia: Inertia, values: dict[str, float] | None = None) -> list[str]:
    """The six moments, with a zero added where that is needed to show to which digit they are known."""
    texts = [number_text(m, values) for m in inertia.moments]
    sizes = [abs(f.number(m, values)) for m in inertia.moments]
    largest = max(sizes, default=0.0)
    digits = [d for d in map(last_digit, texts) if d > 0]
    if not digits or not largest or inertia.resolution <= 0 or inertia.resolution >= 0.02:
        return texts
    wanted = inertia.resolution * largest
    if min(digits) > 2 * wanted:
        k = max(range(6), key=lambda i: last_digit(texts[i]))
        place = Decimal(10) ** int(np.floor(np.log10(wanted) + 0.5))
        texts[k] = f"{Decimal(texts[k]).quantize(place):f}"
    return texts


def origin_text(placement: Placement, values: dict[str, float], where: str) -> str:
    """The attributes xyz and rpy of a placement; empty for none."""
    missing = sorted(names_in(placement) - set(values))
    if missing:
        raise UnsupportedError(
            f"The placement of {where} has no value for {', '.join(missing)}.",
            name=missing[0],
            remedy="Give it a value.",
        )
    rest = list(placement)
    xyz: tuple[Scalar, ...] = (Fraction(0),) * 3
    rpy: list[Scalar] = [Fraction(0)] * 3
    if rest and isinstance(rest[0], Translate):
        xyz = rest.pop(0).by  # type: ignore[union-attr]
    for axis in (2, 1, 0):
        if rest and isinstance(rest[0], Turn) and rest[0].axis == axis:
            rpy[axis] = rest.pop(0).angle  # type: ignore[union-attr]
    if rest:
        xyz, rpy = _numeric(placement, values)
    texts = [" ".join(number_text(v, values) for v in part) for part in (xyz, rpy)]
    parts = [f'{key}="{text}"' for key, text in zip(("xyz", "rpy"), texts, strict=True) if text != "0 0 0"]
    return " ".join(parts)


def _numeric(placement: Placement, values: dict[str, float]) -> tuple[tuple[Scalar, ...], list[Scalar]]:
    """Position and roll, pitch, yaw in floats: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    R, p = pose(placement, values)
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) > 1e-9:
        roll, yaw = np.arctan2(R[2, 1], R[2, 2]), np.arctan2(R[1, 0], R[0, 0])
    else:  # straight up or down: roll and yaw turn about the same line
        roll, yaw = np.arctan2(-R[1, 2], R[1, 1]), 0.0
    return tuple(f.exact(float(v)) for v in p), [f.exact(float(v)) for v in (roll, pitch, yaw)]


def _link(link: Link, values: dict[str, float]) -> list[str]:
    name = quoteattr(link.name)
    if link.inertia is None and not link.geometry:
        return [f"  <link name={name}/>"]
    lines = [f"  <link name={name}>"]
    if link.inertia is not None:
        lines += inertial_lines(link.inertia, values, f"link {link.name!r}", "    ")
    for shape in link.geometry:
        lines += _shape(shape, values, f"link {link.name!r}")
    return [*lines, "  </link>"]


def inertial_lines(inertia: Inertia, values: dict[str, float], where: str, indent: str) -> list[str]:
    """The <inertial> element."""
    place = (Translate(inertia.com), *inertia.axes)
    origin = origin_text(place, values, where)
    moments = " ".join(f'{k}="{t}"' for k, t in zip(_MOMENTS, moment_texts(inertia, values), strict=True))
    lines = [f"{indent}<inertial>"]
    lines += [f"{indent}  <origin {origin}/>"] if origin else []
    lines += [f'{indent}  <mass value="{number_text(inertia.mass, values)}"/>', f"{indent}  <inertia {moments}/>"]
    return [*lines, f"{indent}</inertial>"]


def _shape(shape: Geometry, values: dict[str, float], where: str) -> list[str]:
    origin = origin_text(shape.placement, values, where)
    sizes = [repr(v) for v in shape.size]
    if shape.kind == "mesh":
        scale = f' scale="{" ".join(sizes)}"' if sizes else ""
        body = f"<mesh filename={quoteattr(shape.file)}{scale}/>"
    elif shape.kind == "box":
        body = f'<box size="{" ".join(sizes)}"/>'
    else:
        keys = ("radius", "length")
        body = f"<{shape.kind} " + " ".join(f'{k}="{v}"' for k, v in zip(keys, sizes, strict=False)) + "/>"
    color = "" if shape.color is None else f'<color rgba="{" ".join(map(repr, shape.color))}"/>'
    lines = ["    <visual>", f"      <origin {origin}/>" if origin else "", f"      <geometry>{body}</geometry>"]
    lines.append(f'      <material name="">{color}</material>' if color else "")
    return [line for line in [*lines, "    </visual>"] if line]


def _joint(joint: Joint, values: dict[str, float]) -> list[str]:
    where = f"joint {joint.name!r}"
    if joint.type not in _TYPES:
        raise UnsupportedError(
            f"URDF has no joint of type {joint.type!r} ({joint.name!r}).", name=joint.name, value=joint.type,
            remedy="Write the TOML form instead.",
        )  # fmt: skip
    lines = [f'  <joint name={quoteattr(joint.name)} type="{joint.type}">']
    origin = origin_text(joint.placement, values, where)
    lines += [f"    <origin {origin}/>"] if origin else []
    lines += [f"    <parent link={quoteattr(joint.parent)}/>", f"    <child link={quoteattr(joint.child)}/>"]
    if joint.type not in ("fixed", "floating"):
        lines.append(f'    <axis xyz="{" ".join(number_text(v, values) for v in joint.axis)}"/>')
    lines += _limits(joint)
    dynamics = {"damping": joint.damping, "friction": joint.friction, "spring_stiffness": joint.stiffness}
    dynamics["spring_reference"] = joint.rest
    told = " ".join(f'{k}="{number_text(v, values)}"' for k, v in dynamics.items() if not f.is_zero(v))
    lines += [f"    <dynamics {told}/>"] if told else []
    if joint.mimic is not None:
        rule = joint.mimic
        numbers = f'multiplier="{number_text(rule.ratio, values)}" offset="{number_text(rule.offset, values)}"'
        lines.append(f"    <mimic joint={quoteattr(rule.joint)} {numbers}/>")
    return [*lines, "  </joint>"]


def _limits(joint: Joint) -> list[str]:
    """The <limit> element with all that readers demand of it; what has no limit is NO_LIMIT there."""
    given = {key: getattr(joint.limits, key) for key in ("lower", "upper", "effort", "velocity", "acceleration")}
    if joint.type in ("revolute", "prismatic"):
        demanded = {"lower": -NO_LIMIT, "upper": NO_LIMIT, "effort": NO_LIMIT, "velocity": NO_LIMIT}
    elif any(value is not None for value in given.values()):
        demanded = {"effort": NO_LIMIT, "velocity": NO_LIMIT}
    else:
        return []
    whole = {key: demanded.get(key) if value is None else value for key, value in given.items()}
    told = " ".join(f'{key}="{value!r}"' for key, value in whole.items() if value is not None)
    return [f"    <limit {told}/>"]


def _transmission(joint: Joint, values: dict[str, float]) -> list[str]:
    rotor = joint.rotor
    if rotor is None:
        return []
    if rotor.exact:
        raise UnsupportedError(
            f"URDF cannot say that the rotor of joint {joint.name!r} spins on its own.", name=joint.name,
            remedy="Write the TOML form instead.",
        )  # fmt: skip
    name = quoteattr(f"{joint.name}_transmission")
    return [
        f"  <transmission name={name}>",
        "    <type>transmission_interface/SimpleTransmission</type>",
        f"    <joint name={quoteattr(joint.name)}/>",
        f"    <actuator name={quoteattr(joint.name + '_motor')}>",
        f"      <mechanicalReduction>{number_text(rotor.ratio, values)}</mechanicalReduction>",
        f"      <rotorInertia>{number_text(rotor.inertia, values)}</rotorInertia>",
        "    </actuator>",
        "  </transmission>",
    ]
