"""The rotating and sliding robot of Buffinton, "Kane's Method in Robotics" (Robotics and Automation Handbook), 6.4."""

from __future__ import annotations

from fractions import Fraction

from kane.mechanism.formula import Scalar, name, parse
from kane.mechanism.model import Inertia, Joint, Link, Mechanism, Parameter, Translate

_0 = Fraction(0)
# values of ours; the chapter gives symbols only
_VALUES = {
    "mA": "10", "mB": "4", "mC": "6", "IA": "2", "IB": "0.35", "IC": "0.1",
    "LA": "0.2", "LP": "0.1", "L": "1", "LC": "0.15",
}  # fmt: skip


def planar_rp() -> Mechanism:
    """Arm A turns about the vertical (q1), beam B with tip body C slides along A's first axis (q2), horizontally.

    A* lies at LA a2, B* at (LP + q2 - L/2) a1 + LA a2, C* at (LP + q2 + LC) a1 + LA a2 from the axis.
    """
    links = (
        Link("base"),
        Link("A", _body("mA", "IA", (_0, name("LA"), _0))),
        Link("B", _rod("mB", "IB")),
        Link("C", _body("mC", "IC", (_0, _0, _0))),
    )
    joints = (
        Joint("turn", "revolute", "base", "A", coordinates=("q1",)),
        Joint(
            "slide", "prismatic", "A", "B", (Translate((parse("LP - L/2"), name("LA"), _0)),),
            (Fraction(1), _0, _0), ("q2",),
        ),
        Joint("tip", "fixed", "B", "C", (Translate((parse("L/2 + LC"), _0, _0)),)),
    )  # fmt: skip
    parameters = tuple(Parameter(key, Fraction(value)) for key, value in _VALUES.items())
    return Mechanism("planar_rp", links, joints, parameters=parameters)


def _body(mass: str, moment: str, com: tuple[Scalar, Scalar, Scalar]) -> Inertia:
    i = name(moment)
    return Inertia(name(mass), com, (i, _0, _0, i, _0, i))


def _rod(mass: str, moment: str) -> Inertia:
    i = name(moment)
    return Inertia(name(mass), moments=(_0, _0, _0, i, _0, i))
