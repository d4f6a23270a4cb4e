"""Identified values back into a mechanism: every body, rotor and joint friction; fixed links are kept if possible."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from kane.equations.inertial import PARAMETERS, head
from kane.equations.system import derive_system
from kane.errors import InputError, UnsupportedError
from kane.formats.toml import write_toml
from kane.formats.urdf import read_urdf
from kane.formats.urdf_patch import patch_urdf
from kane.identification.consistent import Consistent
from kane.identification.pseudo import is_physical
from kane.identification.torque_model import TorqueModel
from kane.mechanism.formula import Scalar, number
from kane.mechanism.inertia import lumped_body
from kane.mechanism.model import ImportReport, Inertia, Link, Mechanism, Note, Rotor
from kane.mechanism.numeric import values_of, without_noise

Array = np.ndarray[Any, np.dtype[Any]]
DIGITS = 12  # of a written number
_NO_PLACE = "has no place in a mechanism"
ROUNDING = 10.0 ** -(DIGITS + 1)  # of the largest: what is less is written as 0


def with_parameters(model: TorqueModel, found: Consistent) -> Mechanism:
    """The mechanism with bodies, rotors and friction of a consistent set; every change is a note of its report.

    Friction is damping and Coulomb friction.  A body that is several links fixed together keeps the other links and
    changes the one that its joint moves, unless that would be no real body: then the whole inertia goes to that link
    and the others lose theirs.
    """
    mechanism = model.mechanism
    notes: list[Note] = []
    full = dict(zip(model.base.full, found.full, strict=True))
    system = derive_system(mechanism)
    for node in system.k.tree.nodes:
        if node.links:
            name = head(system.k, node).link
            ten = np.array([full[f"{name}.{p}"] for p in PARAMETERS])
            mechanism = _with_body(mechanism, name, [a.link for a in node.links], ten, notes)
    for joint in mechanism.joints:
        if f"{joint.name}.Im" in full or f"{joint.name}.J" in full:
            mechanism = mechanism.replace_joint(replace(joint, rotor=_rotor(mechanism, joint.name, full)))
            notes.append(Note("identified", f"rotor inertia of joint {joint.name!r}", joint.name))
    values: dict[tuple[str, str], float] = {}
    for column, value in zip(model.friction, without_noise(found.friction, share=ROUNDING), strict=True):
        values[column.joint, column.kind] = float(value)
    for name in dict.fromkeys(column.joint for column in model.friction):
        joint = mechanism.joint(name)
        damping, friction = values.get((name, "viscous")), values.get((name, "coulomb"))
        joint = joint if damping is None else replace(joint, damping=decimal(damping))
        joint = joint if friction is None else replace(joint, friction=decimal(friction))
        mechanism = mechanism.replace_joint(joint)
        notes.append(Note("identified", f"friction of joint {name!r}", name))
        if values.get((name, "offset")):
            notes.append(
                Note(
                    "ignored",
                    f"offset {values[name, 'offset']:.6g} of joint {name!r} {_NO_PLACE}",
                    name,
                )
            )
    report = mechanism.report
    return replace(mechanism, report=ImportReport(report.file, report.format, (*report.notes, *notes)))



def decimal(value: float) -> Fraction:
    """The value to DIGITS significant digits, exactly a decimal."""
    return Fraction(f"{value:.{DIGITS}g}")


def inertia_of(ten: Array, resolution: float = 10.0**-DIGITS) -> Inertia:
    """Mass, mass centre and central moments of ten parameters about the link's origin."""
    m, h = float(ten[0]), ten[1:4]
    xx, xy, xz, yy, yz, zz = (float(x) for x in ten[4:])
    if m <= 0:
        c = np.zeros(3)
    else:
        c = h / m
    shift = m * (float(c @ c) * np.eye(3) - np.outer(c, c))
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - shift
    I = without_noise(I, share=ROUNDING)
    size = np.sqrt(max(float(np.trace(I)), 0.0) / m) if m > 0 else 0.0  # of the body, where its centre is none
    c = without_noise(c, max(size, float(np.abs(c).max())), ROUNDING)
    moments = tuple(decimal(float(I[i, j])) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
    x, y, z = (decimal(float(v)) for v in c)
    a, b, d, e, f, g = moments
    return Inertia(decimal(m), (x, y, z), (a, b, d, e, f, g), resolution=resolution)


def _with_body(mechanism: Mechanism, name: str, links: list[str], ten: Array, notes: list[Note]) -> Mechanism:
    others = [link for link in links if link != name and mechanism.link(link).inertia is not None]
    own = ten - sum((_ten_in(mechanism, link, name) for link in others), np.zeros(10))
    if others and not is_physical(own):
        for other in others:
            mechanism = mechanism.replace_link(replace(mechanism.link(other), inertia=None))
            notes.append(Note("identified", f"the inertia of link {other!r} is now part of link {name!r}", other))
        own = ten
    link = mechanism.link(name)
    old = link.inertia
    inertia = inertia_of(own)
    notes.append(Note("identified", f"inertia of link {name!r}", name))
    return mechanism.replace_link(replace(link, inertia=replace(inertia, line=old.line if old else None)))


def _ten_in(mechanism: Mechanism, link: str, frame: str) -> Array:
    """The ten parameters of one link about the origin of another link fixed to it, in its axes."""
    alone = replace(mechanism, links=tuple(x if x.name == link else Link(x.name, None) for x in mechanism.links))
    body = lumped_body(alone, frame)
    return ten_of(body.mass, body.com, body.tensor)


def ten_of(mass: float, com: Array, central: Array) -> Array:
    """(m, hx, ..., Izz) about the origin of mass, mass centre (3,) and central tensor (3, 3)."""
    I = central + mass * (float(com @ com) * np.eye(3) - np.outer(com, com))
    return np.array([mass, *(mass * com), I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]])


def _rotor(mechanism: Mechanism, name: str, full: dict[str, float]) -> Rotor:
    """The rotor with its reflected inertia Im = J ratio^2, ratio kept; J itself for an exact one."""
    old = mechanism.joint(name).rotor
    if old is None:
        return Rotor(decimal(full[f"{name}.Im"]))
    if old.exact:
        return replace(old, inertia=decimal(full[f"{name}.J"]))
    ratio = _value(mechanism, old.ratio)
    return replace(old, inertia=decimal(full[f"{name}.Im"] / ratio**2))


def _value(mechanism: Mechanism, scalar: Scalar) -> float:
    return number(scalar, values_of(mechanism))




def save_into(source: str | Path, mechanism: Mechanism, out: str | Path, overwrite: bool = False) -> list[str]:
    """Write an identified mechanism in the form of the user's own file; returns what that form has no place for.

    URDF: only numbers that changed are touched; rotors are named in the result.  TOML, also of a bundled robot: written
    anew.  Raises InputError when `out` exists and `overwrite` is False, UnsupportedError for other formats.  Nothing is
    written before everything is known to be right.
    """
    source, out, mechanism = Path(source), Path(out), getattr(mechanism, "mechanism", mechanism)
    lost = [note.text for note in mechanism.report.of("ignored") if _NO_PLACE in note.text]
    if source.suffix.lower() == ".urdf":
        given = read_urdf(source)
        plain = mechanism
        for joint in given.joints:
            made = plain.joint(joint.name)
            if made.rotor != joint.rotor:
                lost.append(f"rotor inertia of joint {joint.name!r}: {_told(made.rotor)}")
                plain = plain.replace_joint(replace(made, rotor=joint.rotor))
        content = patch_urdf(source, plain)
    elif source.suffix.lower() == ".toml" or (out.suffix.lower() == ".toml" and not source.exists()):
        content = write_toml(mechanism).encode()
    elif not source.exists():
        raise UnsupportedError(
            f"{source} is no file, so it has no form in which {out.name} could be written.",
            name=str(source),
            value=out.suffix,
            remedy="Give a name that ends in .toml.",
        )
    else:
        raise UnsupportedError(
            f"Identified values are written into URDF and TOML files, not {source.suffix!r}.",
            file=str(source),
            value=source.suffix,
            remedy="Give the robot as such a file, or write the mechanism with write_toml or write_urdf in Python.",
        )
    if out.exists() and not overwrite:
        raise InputError(
            f"{out} exists; it is not written over.",
            file=str(out),
            name=str(out),
            remedy="Give another name, or overwrite=True.",
        )
    temporary = out.with_name(out.name + ".part")
    temporary.write_bytes(content)
    temporary.replace(out)
    return lost


def _told(rotor: Rotor | None) -> str:
    return "none" if rotor is None else f"{number(rotor.inertia):.6g} kg m^2 at ratio {number(rotor.ratio):.6g}"
