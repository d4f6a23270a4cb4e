"""A short run of the fuzzer of every reader; `make fuzz` runs it for ten minutes and lets atheris go on."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import fuzz

KINDS = (".urdf", ".mjcf", ".sdf", ".csv", ".toml", ".json", ".xacro", ".motors")
NEEDS = {".mjcf": "mujoco", ".xacro": "xacrodoc"}


@pytest.mark.parametrize("kind", KINDS)
def test_no_law_is_broken(kind: str) -> None:
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
    counts, found = fuzz.campaign(seed=5, rounds=250, kinds=[kind])
    assert not found, found
    assert counts[kind] == 250


@pytest.mark.parametrize("kind", KINDS)
def test_many_numbers_are_damaged(kind: str) -> None:
    """Damage is done in many places, and nowhere where there is no number."""
    texts = fuzz.corpus()[kind]
    r = random.Random(0)
    places = {fuzz.damaged_number(kind, text, r) for text in texts for _ in range(200)} - {None}
    assert len(places) > 50
    assert fuzz.damaged_number(kind, "<a/>", r) is None


def test_a_broken_law_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that takes commas for points is caught at once."""
    from fractions import Fraction

    import kane.formats.values as values

    sound = values.exact_decimal
    monkeypatch.setattr(values, "exact_decimal", lambda text: sound(text) or (Fraction(1) if text else None))
    _, found = fuzz.campaign(seed=5, rounds=60, kinds=[".urdf"])
    assert any("without a word" in law for _, _, law in found)
