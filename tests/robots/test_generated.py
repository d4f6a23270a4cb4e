"""Generated robots: the same everywhere, of every joint type, rational, physical."""

from __future__ import annotations

from fractions import Fraction

import pytest

from kane.mechanism.checks import judge
from kane.mechanism.model import Translate
from kane.robots.generated import ALL_TYPES, chain, symbolic_arm, tree


def test_the_same_arguments_give_the_same_robot() -> None:
    assert tree(20, types=ALL_TYPES, seed=4) == tree(20, types=ALL_TYPES, seed=4)
    assert tree(20, seed=4) != tree(20, seed=5)


def test_the_first_numbers_are_fixed_for_good() -> None:
    # A linear congruential generator by its definition, Knuth's multiplier and increment.
    state = 1
    drawn = []
    for _ in range(5):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        drawn.append(state >> 33)
    step = chain(1, seed=0).joints[0].placement[0]
    assert isinstance(step, Translate)
    assert step.by[0] == Fraction(5 + drawn[4] % 26, 100)


@pytest.mark.parametrize("branching", [1, 2, 3])
def test_branching(branching: int) -> None:
    m = tree(13, branching=branching)
    children = [sum(j.parent == link.name for j in m.joints) for link in m.links[1:]]
    assert max(children) == branching


def test_every_joint_type_and_physical_bodies() -> None:
    assert {"spherical", "floating", "screw", "fixed", "planar"} <= set(ALL_TYPES)
    m = tree(2 * len(ALL_TYPES), types=ALL_TYPES, seed=3, extras=True)
    assert {j.type for j in m.joints} == set(ALL_TYPES)
    assert not judge(m).report.of("nonphysical")
    assert sum(j.mimic is not None for j in m.joints) == 1


def test_taper_makes_links_smaller() -> None:
    m = chain(6, taper=Fraction(1, 2), seed=1)
    masses = [link.inertia.mass for link in m.links if link.inertia]
    assert masses[5] < masses[0] / 100


def test_coordinate_axes_without_skew() -> None:
    assert all(sum(v != 0 for v in j.axis) == 1 for j in tree(30, skew=False).joints)


def test_a_hundred_links_are_a_real_robot() -> None:
    judge(chain(100))


def test_symbolic_arms() -> None:
    m = symbolic_arm(("0", "pi/2", "0"))
    assert len(m.parameters) == 34
    assert all(p.value is None for p in m.parameters)
    assert len(symbolic_arm(("0", "pi/2"), products=False).parameters) == 16
    judge(m)
