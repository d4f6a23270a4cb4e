"""Numbers that look like degrees where a format has radians: read as radians, with a note of what to write."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from kane.formats import read, write_toml
from kane.mechanism.model import Mechanism
from kane.mechanism.numeric import pose

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from urdf_texts import body, joint, robot, two_joints

from robot_files import robot_files

HEAD = "# standard DH\njoint,alpha{0},a,d,theta{0},mass,lower{1},upper{1}\n"
TABLE = HEAD + "1,{2},0,0.3,q1{3},1,{4},{5}\n2,0,0.3,0,-q2,1,-1,1\n"


def said(m: Mechanism) -> list[str]:
    return [note.text for note in m.report.of("defaulted") if "like degrees" in note.text]


def limited(lower: object, upper: object) -> str:
    return two_joints(j1=joint("j1", "base", "a").replace('lower="-2" upper="2"', f'lower="{lower}" upper="{upper}"'))


def turned(angle: object) -> str:
    return two_joints(j2=joint("j2", "a", "b", origin=f'xyz="0.4 0 0" rpy="0 {angle} 0"'))


def table(
    alpha: object = 0, theta: str = "", ends: tuple[object, object] = (-2, 2), units: tuple[str, str] = ("", "")
) -> str:
    return TABLE.format(*units, alpha, theta, *ends)


def mjcf(euler: object, ends: str, head: str = '<compiler angle="radian"/>') -> str:
    inertial = '<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>'
    inside = f'<joint name="j" axis="0 0 1" range="{ends}"/>{inertial}'
    return f'<mujoco>{head}<worldbody><body name="b" euler="{euler} 0 0">{inside}</body></worldbody></mujoco>'


@pytest.mark.parametrize("angle", [90, -90, 45, 30, 15, 180, 270, 360, 10, -120, 355, 37.5, 22.5])
def test_a_placement_beyond_a_turn(angle: float) -> None:
    m = read(turned(angle))
    (text,) = said(m)
    assert f"({angle:g} in joint 'j2'): write radians, {angle * math.pi / 180:.16g}" in text
    assert m.joint("j2").placement[1].angle == read(turned(angle)).joint("j2").placement[1].angle != 0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "angle", [1.5708, 6.28, 6.283185307179586, -6.2832, 3.14159, 9.42478, 12.566, 0, 5, 1e16, 7.854]
)
def test_radians_are_none(angle: float) -> None:
    assert said(read(turned(angle))) == []


@pytest.mark.parametrize(("lower", "upper"), [(-160, 160), (0, 90), (-185, 185), (-155, 35), (-360, 360), (-170.5, 40)])
def test_limits_beyond_five_turns(lower: float, upper: float) -> None:
    (text,) = said(read(limited(lower, upper)))
    assert f"The limits of 1 joint look like degrees, taken as radians ({lower:g} to {upper:g} of joint 'j1')" in text


@pytest.mark.parametrize(
    "end", [3.14, 6.28, 6.2832, 9.42, 10, 12.57, 20, 31.4159, 62.83, 100, 1000, 1e16, 9999, 3.4e38]
)
def test_wide_limits_in_radians_are_none(end: float) -> None:
    assert said(read(limited(-end, end))) == []


def test_limits_of_slides_are_lengths() -> None:
    assert said(read(limited(-160, 160).replace('type="revolute"', 'type="prismatic"'))) == []


def test_axes_of_inertia_count_too() -> None:
    assert "2 angles look" in said(read(two_joints(a=body("a").replace("<origin ", '<origin rpy="90 0 45" '))))[0]


@pytest.mark.parametrize("alpha", ["90", "alpha1=90", "-90"])
def test_a_column_of_a_table(alpha: str) -> None:
    (text,) = said(read(table(alpha)))
    assert "alpha_deg" in text and "90deg" in text
    assert said(read(table(alpha, units=("_deg", "")))) == []
    assert said(read(table("90deg"))) == said(read(table("pi/2"))) == []


@pytest.mark.parametrize(
    ("degrees", "radians"),
    [("+90", "+pi/2"), ("-90", "-pi/2"), ("+33.5", "+33.5*pi/180"), ("", ""), (" + 2*45", " + pi/2")],
)
def test_columns_of_degrees_may_hold_coordinates(degrees: str, radians: str) -> None:
    """Constants are degrees, the coordinate is what it is, as in the same table in radians."""
    found, same = read(table("90", degrees, units=("_deg", ""))), read(table("pi/2", radians))
    assert said(found) == [] and [j.coordinates for j in found.joints] == [j.coordinates for j in same.joints]
    for a, b in zip(found.joints, same.joints, strict=True):
        np.testing.assert_allclose(pose(a.placement, {})[0], pose(b.placement, {})[0], atol=1e-15)
        assert a.axis == b.axis


def test_an_offset_and_the_limits_of_a_table() -> None:
    assert said(read(table(theta="+90")))[0].startswith("1 angle looks like degrees")
    (text,) = said(read(table(ends=(-160, 160))))
    assert "lower_deg" in text
    assert said(read(table(ends=(-160, 160), units=("", "_deg")))) == []
    assert said(read(table(alpha="q0"))) == []  # a parameter without a value


def test_mjcf_in_radians() -> None:
    pytest.importorskip("mujoco")
    first, second = said(read(mjcf(90, "-160 160")))
    assert 'angle="radian"' in first and 'angle="radian"' in second
    for text in (mjcf(90, "-160 160", ""), mjcf(400.5, "-720 720", ""), mjcf(1.5, "-1 1")):
        assert said(read(text)) == []


def test_sdf() -> None:
    inertial = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    text = (
        f'<sdf version="1.9"><model name="m"><link name="a">{inertial}</link><link name="b">'
        f"<pose{{}}>0 0 1 90 0 0</pose>{inertial}</link>"
        '<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>'
        "</model></sdf>"
    )
    assert 'degrees="true"' in said(read(text.format("")))[0]
    assert said(read(text.format(' degrees="true"'))) == []


def test_our_own_form() -> None:
    m = read(turned(90))
    assert len(said(read(write_toml(m)))) == 1 and read(write_toml(m)) == m


@pytest.mark.parametrize("name", sorted(robot_files()))
def test_no_robot_of_the_wheels(name: str) -> None:
    from kane.errors import KaneError

    try:
        m = read(robot_files()[name])
    except KaneError:
        return
    assert said(m) == []


MOVING = ("revolute", "continuous", "prismatic", "planar")


@pytest.mark.parametrize("kind", [*MOVING, "cylindrical", "universal", "fixed", "floating", "spherical"])
@pytest.mark.parametrize("element", ["", "<axis/>"])
def test_a_missing_axis_is_listed_where_it_counts(kind: str, element: str) -> None:
    text = robot(
        '<link name="base"/>', body("a"), joint("j1", "base", "a", kind).replace('<axis xyz="0 0 1"/>', element)
    )
    notes = [n for n in read(text).report.of("defaulted") if "no axis" in n.text]
    if kind in ("fixed", "floating", "spherical"):
        assert notes == []
    else:
        assert [(n.text, n.line) for n in notes] == [("joint 'j1' has no axis: 1 0 0, as URDF has it", 4)]
        assert read(text).joint("j1").axis == (1, 0, 0)
