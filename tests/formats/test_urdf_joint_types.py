"""The joint types that a message, README and docs/robots.md name are those that the reader reads."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.errors import KaneError, UnsupportedError
from kane.formats import read_urdf

ROOT = Path(__file__).parent.parent.parent
PLAIN = {"revolute": 1, "continuous": 1, "prismatic": 1, "fixed": 0, "planar": 3, "floating": 6}
FOREIGN = {"spherical": 3, "universal": 2, "cylindrical": 2, "screw": 1}


def arm(kind: str) -> str:
    body = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    pitch = '<drake:screw_thread_pitch value="0.1"/>' if kind == "screw" else ""
    joint = f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>{pitch}</joint>'
    return f'<robot xmlns:drake="x" name="r"><link name="a"/><link name="b">{body}</link>{joint}</robot>'


def told() -> tuple[list[str], list[str]]:
    """The types that the message of an unknown one names: of URDF, and beyond it."""
    with pytest.raises(UnsupportedError, match="unknown type 'rotary'") as error:
        read_urdf(arm("rotary"))
    plain, _, foreign = str(error.value.remedy).partition("; ")
    return re.findall(r"\w+", plain.partition(": ")[2]), re.findall(r"\w+", foreign.partition(": ")[2])


def test_the_message_names_what_is_read() -> None:
    plain, foreign = told()
    assert plain == list(PLAIN) and foreign == list(FOREIGN)


@pytest.mark.parametrize(("kind", "speeds"), (PLAIN | FOREIGN).items())
def test_what_is_named_is_read(kind: str, speeds: int) -> None:
    robot = kane.load(arm(kind))
    assert len(robot.speed_names) == speeds
    assert bool(robot.report.of("repaired")) == (kind in FOREIGN)
    if kind in FOREIGN:
        with pytest.raises(KaneError, match="Use one of: revolute, continuous, prismatic, fixed, planar, floating"):
            kane.load(arm(kind), strict=True)
    if kind == "floating":
        mass = kane.derive(robot).compile().mass_matrix(np.array([0.0, 0, 0, 1, 0, 0, 0]))
        np.testing.assert_allclose(mass, np.diag([1.0, 1, 1, 2, 2, 2]))
    if kind == "planar":
        mass = kane.derive(robot).compile().mass_matrix(np.zeros(3))
        np.testing.assert_allclose(mass, np.diag([2.0, 2, 1]))


def test_the_documents_say_the_same() -> None:
    text = " ".join((ROOT / "docs/robots.md").read_text(encoding="utf-8").split())
    sentence = re.search(r"URDF joints are ([^;]*); ([^;]*?), which", text)
    assert sentence is not None
    names = [re.findall(r"\w+", part.replace(" and ", " ")) for part in sentence.groups()]
    assert names == [list(PLAIN), list(FOREIGN)]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = readme.partition("## What does not work yet")[2].partition("##")[0]
    assert missing and "planar" not in missing and "floating" not in missing
