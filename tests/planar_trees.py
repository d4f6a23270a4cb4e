"""Planar chains and trees of turning links, for tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from kane.mechanism.model import Inertia, Joint, Link, Mechanism, Rotor, Translate

ZERO = Fraction(0)


def planar_tree(
    parents: Sequence[int], seed: int = 0, general: bool = False, rotors: bool = False, gravity: bool = True
) -> Mechanism:
    """Links that turn about z; parents: of each link, 0 the ground.  general: mass centres off the links' lines."""
    r = random.Random(f"planar {seed}")

    def number(low: int, high: int) -> Fraction:
        return Fraction(r.randint(low, high), 1000)

    links, joints = [Link("link0")], []
    for k, parent in enumerate(parents, 1):
        arm = (number(200, 600), number(100, 200) if general else ZERO, ZERO)
        com = (number(100, 300), number(50, 100) if general else ZERO, ZERO)
        Izz = number(10, 100)
        links.append(Link(f"link{k}", Inertia(number(500, 3000), com, (Izz, ZERO, ZERO, Izz, ZERO, Izz))))
        placement = (Translate(arm),) if parent else ()
        rotor = Rotor(number(10, 50), Fraction(3)) if rotors else None
        joints.append(Joint(f"q{k}", "revolute", f"link{parent}", f"link{k}", placement, rotor=rotor))
    down = Fraction("-9.81") if gravity else ZERO
    return Mechanism("planar", tuple(links), tuple(joints), gravity=(ZERO, down, ZERO))
