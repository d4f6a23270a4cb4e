"""The models behind the published operation counts, rebuilt from their descriptions (modified DH).

Every length is a parameter.  RX-90: twists 0, 90, 0, -90, 90, -90 degrees, lengths d3 and r4 only.  Stanford: RRPRRR
with a shoulder offset; "diagonal": mass centres on the z axes and no products of inertia.  General 6R: all twists and
lengths free.  PUMA 560 with full inertia: the geometry of Armstrong, Khatib and Burdick 1986 with ten free parameters a
link.  Numbers only make every parameter differ from zero.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from kane.mechanism import formula as f
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.model import Inertia, Joint, Link, Mechanism, Parameter, Translate, Turn

ZERO = Fraction(0)


def name(text: str) -> Formula:
    return Formula("name", (), text)


def degrees(*values: int) -> list[Scalar]:
    return [f.PI * Fraction(value, 180) if value else ZERO for value in values]


def arm(
    title: str, joints: str, alpha: list[Scalar], a: list[Scalar], d: list[Scalar], diagonal: bool = False
) -> Mechanism:
    """Joints "R" and "P" along z; the names among the lengths become parameters."""
    links, made = [Link("base")], []
    for i, kind in enumerate(joints):
        links.append(Link(f"link{i + 1}", body(i, diagonal)))
        moves = [Turn(0, alpha[i])] if alpha[i] else []
        moves += [Translate((a[i], ZERO, ZERO))] if a[i] else []
        moves += [Translate((ZERO, ZERO, d[i]))] if d[i] else []
        type_ = "revolute" if kind == "R" else "prismatic"
        made.append(Joint(f"q{i + 1}", type_, links[i].name, links[i + 1].name, tuple(moves)))
    named = [x for x in (*alpha, *a, *d) if isinstance(x, Formula) and x.op == "name"]
    parameters = tuple(Parameter(str(x.value), Fraction(k + 3, 10)) for k, x in enumerate(named))
    return Mechanism(title, tuple(links), tuple(made), parameters=parameters)


def body(i: int, diagonal: bool) -> Inertia:
    com = tuple(Fraction(n, 10 + i) for n in (3, 5, 7))
    moments = tuple(Fraction(n, 3 + i) for n in (19, 11, 13, 23, 17, 29))
    if diagonal:
        com, moments = (ZERO, ZERO, com[2]), (moments[0], ZERO, ZERO, moments[3], ZERO, moments[5])
    return Inertia(Fraction(2 + i), com, moments)  # type: ignore[arg-type]


def rx90() -> Mechanism:
    zeros: list[Scalar] = [ZERO] * 3
    a: list[Scalar] = [ZERO, ZERO, name("d3"), *zeros]
    return arm("rx90", "RRRRRR", degrees(0, 90, 0, -90, 90, -90), a, [*zeros, name("r4"), ZERO, ZERO])


def puma_full() -> Mechanism:
    a: list[Scalar] = [ZERO, ZERO, name("a2"), name("a3"), ZERO, ZERO]
    d: list[Scalar] = [ZERO, name("d2"), name("d3"), name("d4"), ZERO, ZERO]
    return arm("puma_full", "RRRRRR", degrees(0, -90, 0, 90, -90, 90), a, d)


def stanford(diagonal: bool = False) -> Mechanism:
    d: list[Scalar] = [ZERO, name("d2"), ZERO, ZERO, ZERO, ZERO]
    return arm("stanford", "RRPRRR", degrees(0, -90, 90, 0, -90, 90), [ZERO] * 6, d, diagonal)


def general(n: int = 6) -> Mechanism:
    columns = [[ZERO, *(name(f"{letter}{i + 2}") for i in range(n - 1))] for letter in ("alpha", "a", "d")]
    return arm(f"general{n}r", "R" * n, *columns)  # type: ignore[arg-type]


def locked(mechanism: Mechanism, *parts: str) -> Mechanism:
    """Without rotors, and with the joints fixed whose names contain one of the parts."""
    joints = []
    for joint in mechanism.joints:
        fixed = any(part in joint.name for part in parts)
        joints.append(replace(joint, rotor=None, type="fixed", mimic=None) if fixed else replace(joint, rotor=None))
    return replace(mechanism, joints=tuple(joints))
