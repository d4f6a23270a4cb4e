"""Searched programs keep their digits on descriptions with lengths and angles that are almost zero."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Literal

import pytest

from kane.graph.evaluate import equal
from kane.mechanism.model import Inertia, Joint, Link, Mechanism, Translate, Turn
from kane.search import optimise
from kane.search.agree import agree


def arm(seed: int) -> Mechanism:
    """Four joints; each offset is a length, zero, or a rest of rounding such as CAD exports write."""
    source = random.Random(seed)

    def length() -> Fraction:
        return source.choice([Fraction(0), Fraction(source.randint(1, 400), 1000), Fraction(555112, 10**22)])

    links, joints = [Link("base")], []
    for k in range(4):
        com = (length(), length(), length())
        moments = tuple(Fraction(n, 1000) for n in (30, 1, 0, 40, 2, 50))
        links.append(Link(f"l{k}", Inertia(Fraction(k + 1, 3), com, moments)))
        turn = Turn(0, source.choice([Fraction(3, 2), Fraction(0), Fraction(1, 10**15)]))
        placement = (Translate((length(), length(), length())), turn)
        joints.append(Joint(f"q{k + 1}", "revolute", links[k].name, f"l{k}", placement))
    return Mechanism("almost", tuple(links), tuple(joints))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("task", ["inverse_dynamics", "mass_matrix"])
def test_tiny_lengths_do_not_cost_digits(seed: int, task: str) -> None:
    effort: Literal["low", "normal"] = "normal" if seed == 0 else "low"
    found = optimise(arm(seed), task, effort=effort)
    assert agree(found.unsearched, found.program)
    assert equal(found.unsearched, found.program, 1)
