"""What the explicit model refuses, in one message that names the joint and the command that serves it."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import pytest

from kane import robots
from kane.errors import InputError, UnknownNameError, UnsupportedError
from kane.explicit.abbreviate import abbreviate
from kane.explicit.model import explicit_model
from kane.explicit.ranges import default_ranges
from kane.mechanism.constraints import Coincident
from kane.mechanism.model import Joint, Mechanism, Mimic
from kane.robots.generated import chain


def with_joint(change: dict[str, object]) -> Mechanism:
    arm = robots.load("two_link")
    return arm.replace_joint(replace(arm.joints[1], **change))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["floating", "spherical", "screw"])
def test_joint_types(kind: str) -> None:
    mechanism = with_joint({"type": kind, "coordinates": (), "pitch": Fraction(1, 100)})
    with pytest.raises(UnsupportedError) as caught:
        explicit_model(mechanism)
    text = str(caught.value)
    assert mechanism.joints[1].name in text and kind in text and "kane derive" in text


@pytest.mark.parametrize("ratio", [Fraction(1, 2), Fraction(-3, 2)])
def test_a_follower_that_breaks_the_period(ratio: Fraction) -> None:
    arm = robots.load("two_link")
    mechanism = arm.replace_joint(replace(arm.joints[1], mimic=Mimic(arm.joints[0].name, ratio)))
    with pytest.raises(UnsupportedError, match="kane derive") as caught:
        explicit_model(mechanism)
    assert caught.value.name == arm.joints[1].name and str(ratio) in str(caught.value)


def test_a_slide_may_follow_with_any_ratio() -> None:
    arm = robots.load("two_link")
    second: Joint = replace(arm.joints[1], type="prismatic", axis=(Fraction(1), Fraction(0), Fraction(0)))
    slide = replace(arm.joints[0], type="prismatic", axis=(Fraction(1), Fraction(0), Fraction(0)))
    mechanism = arm.replace_joint(slide).replace_joint(replace(second, mimic=Mimic(slide.name, Fraction(1, 2))))
    assert explicit_model(mechanism).n == 1


def test_closed_loop() -> None:
    arm = robots.load("two_link")
    loop = Coincident(*_coincident(arm))
    with pytest.raises(UnsupportedError, match=r"has a constraint .*: the explicit model is of a tree"):
        explicit_model(replace(arm, constraints=(loop,)))


def _coincident(arm: Mechanism) -> tuple[str, ...]:
    import dataclasses

    needed = [f for f in dataclasses.fields(Coincident) if f.default is dataclasses.MISSING]
    return tuple(arm.links[-1].name for _ in needed)


def test_too_large_says_so_within_a_second() -> None:
    start = time.process_time()
    with pytest.raises(UnsupportedError) as caught:
        explicit_model(chain(7, seed=1, skew=False))
    assert time.process_time() - start < 1.0
    assert caught.value.value > 3_000 and str(caught.value.value) in str(caught.value)


def test_unknown_parameter() -> None:
    with pytest.raises(UnknownNameError, match="m2"):
        explicit_model(robots.load("puma560"), ["mass"])


def test_limits_that_are_missing() -> None:
    model = explicit_model(robots.load("two_link"))
    with pytest.raises(InputError, match="speed"):
        default_ranges(model)
    ranges = default_ranges(model, speed=(1.0, 1.0), reference=(10.0, 5.0))
    assert ranges.acceleration[1] == pytest.approx(5.0 / 0.07536)


def test_abbreviation_needs_numbers() -> None:
    with pytest.raises(InputError, match="run time"):
        abbreviate(explicit_model(robots.load("puma560"), ["m2"]))
    with pytest.raises(InputError, match="tolerance"):
        abbreviate(explicit_model(robots.load("puma560")), 2.0)
    model = explicit_model(robots.load("two_link"))
    with pytest.raises(InputError, match="reference"):
        abbreviate(model, ranges=default_ranges(model, speed=(1, 1), acceleration=(1, 1), reference=(0, 1)))
