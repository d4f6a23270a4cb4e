"""SDF: poses relative to the model and to other frames, axes, joint frames, other joint types, refusals."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kane.errors import FormatError, InputError, NumberError, TopologyError, UnsupportedError
from kane.formats import read
from kane.formats.sdf import inverse, read_sdf
from kane.mechanism.checks import judge, mass_matrix
from kane.mechanism.inertia import total_mass
from kane.mechanism.model import QuaternionTurn, Translate, Turn
from kane.mechanism.numeric import SomeValues, pose

sys.path.insert(0, str(Path(__file__).parent))
from mechanism_state import link_poses


def link(name: str, place: str, mass: str = "2") -> str:
    inertia = "<inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz></inertia>"
    return f'<link name="{name}">{place}<inertial><pose>0.1 0 0 0 0 0.3</pose><mass>{mass}</mass>{inertia}</inertial></link>'  # noqa: E501


def sdf(*parts: str) -> str:
    return "\n".join(['<sdf version="1.9">', '<model name="m">', *parts, "</model></sdf>"])


A = link("a", "<pose>0 0 1 0.1 0.2 0.3</pose>")
B = link("b", "<pose>1 0.5 0.2 -0.4 0.3 0</pose>")


def hinge(extra: str = "", axis: str = "<axis><xyz>0 0 1</xyz></axis>", kind: str = "revolute") -> str:
    return f'<joint name="j" type="{kind}"><parent>a</parent><child>b</child>{extra}{axis}</joint>'


def test_links_stand_where_their_model_poses_say() -> None:
    m = read_sdf(sdf(A, B, hinge("<pose>0.1 0.2 0.3 0.5 0 0.7</pose>")))
    places = link_poses(m, {"j": 0.0})
    for name, text in (("a", (0, 0, 1, 0.1, 0.2, 0.3)), ("b", (1, 0.5, 0.2, -0.4, 0.3, 0))):
        x, y, z, roll, pitch, yaw = (Fraction(str(v)) for v in text)
        R, p = pose((Translate((x, y, z)), Turn(2, yaw), Turn(1, pitch), Turn(0, roll)), {})
        np.testing.assert_allclose(places[name][0], R, atol=1e-14)
        np.testing.assert_allclose(places[name][1], p, atol=1e-14)
    judge(m)


def test_the_child_turns_about_the_axis_of_the_joint_frame() -> None:
    m = read_sdf(sdf(A, B, hinge("<pose>0.1 0.2 0.3 0.5 0 0.7</pose>")))
    R0, p0 = link_poses(m, {"j": 0.0})["b"]
    R1, p1 = link_poses(m, {"j": 0.6})["b"]
    turn = pose((Turn(2, Fraction("0.7")), Turn(0, Fraction("0.5"))), {})[0]
    axis = R0 @ turn @ [0, 0, 1]
    np.testing.assert_allclose(R1 @ R0.T @ axis, axis, atol=1e-14)
    anchor = R0 @ [0.1, 0.2, 0.3] + p0
    np.testing.assert_allclose(R1 @ [0.1, 0.2, 0.3] + p1, anchor, atol=1e-14)
    assert np.trace(R1 @ R0.T) == pytest.approx(1 + 2 * np.cos(0.6))


def test_an_axis_expressed_in_the_model_frame() -> None:
    m = read_sdf(sdf(A, B, hinge(axis='<axis><xyz expressed_in="__model__">0 1 0</xyz></axis>')))
    R0, R1 = (link_poses(m, {"j": q})["b"][0] for q in (0.0, 0.6))
    np.testing.assert_allclose(R1 @ R0.T @ [0, 1, 0], [0, 1, 0], atol=1e-14)


@pytest.mark.parametrize(
    ("version", "more", "model"),
    [("1.4", "", True), ("1.5", "", False), ("1.6", "<use_parent_model_frame>1</use_parent_model_frame>", True),
     ("1.6", "<use_parent_model_frame>false</use_parent_model_frame>", False), ("1.9", "", False), ("x", "", False)],
)  # fmt: skip
def test_axes_of_older_versions_are_in_the_models_frame(version: str, more: str, model: bool) -> None:
    m = read_sdf(sdf(A, B, hinge(axis=f"<axis><xyz>0 1 0</xyz>{more}</axis>")).replace("1.9", version))
    R0, R1 = (link_poses(m, {"j": q})["b"][0] for q in (0.0, 0.6))
    axis = [0, 1, 0] if model else R0 @ [0, 1, 0]
    np.testing.assert_allclose(R1 @ R0.T @ axis, axis, atol=1e-14)


def test_the_older_name_of_what_a_pose_is_relative_to() -> None:
    places = [
        link_poses(read_sdf(sdf(A, link("b", f'<pose {name}="a">1 0 1 0 0 0</pose>'), hinge())), {"j": 0.0})["b"]
        for name in ("frame", "relative_to")
    ]
    np.testing.assert_array_equal(places[0][1], places[1][1])


def test_poses_relative_to_other_frames() -> None:
    text = sdf(
        A,
        link("b", '<pose relative_to="f">0 0 1 0 0 0</pose>'),
        '<frame name="f" attached_to="a"><pose>1 0 0 0 0 0</pose></frame>',
        hinge(),
    )
    m = read_sdf(text)
    places = link_poses(m, {"j": 0.0})
    np.testing.assert_allclose(places["b"][1], places["a"][0] @ [1, 0, 1] + places["a"][1], atol=1e-14)
    assert (m.frames[0].name, m.frames[0].link) == ("f", "a")


def test_bases() -> None:
    assert read_sdf(sdf(A, B, hinge())).joints[0].type == "fixed"
    floating = read(sdf(A, B, hinge()), base="floating")
    assert (floating.joints[0].type, floating.root) == ("floating", "world")
    held = read_sdf(sdf(A, B, hinge(), '<joint name="w" type="fixed"><parent>world</parent><child>a</child></joint>'))
    assert [j.name for j in held.joints if j.parent == "world"] == ["w"]


def test_a_link_may_be_called_world() -> None:
    m = read_sdf(sdf(link("world", "<pose>0 0 1 0 0 0</pose>"), B, hinge().replace(">a<", ">world<")))
    assert (m.root, m.joints[0].child) == ("world_", "world")
    np.testing.assert_allclose(link_poses(m, {"j": 0.0})["b"][1], [1, 0.5, 0.2], atol=1e-14)


def test_two_axes_become_two_joints() -> None:
    m = read_sdf(sdf(A, B, hinge("", "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>", "universal")))
    assert [j.name for j in m.joints if j.type == "revolute"] == ["j.1", "j.2"]
    judge(m)


@pytest.mark.parametrize(
    ("kind", "read_as"),
    [("prismatic", "prismatic"), ("continuous", "continuous"), ("ball", "spherical"), ("fixed", "fixed")],
)
def test_joint_types(kind: str, read_as: str) -> None:
    assert read_sdf(sdf(A, B, hinge(kind=kind))).joint("j").type == read_as


def test_screws_limits_and_dynamics() -> None:
    axis = "<axis><xyz>0 0 1</xyz><limit><lower>-1</lower><upper>inf</upper><effort>-1</effort><velocity>2</velocity></limit><dynamics><damping>0.3</damping><spring_stiffness>4</spring_stiffness></dynamics></axis>"  # noqa: E501
    j = read_sdf(sdf(A, B, hinge("<screw_thread_pitch>0.5</screw_thread_pitch>", axis, "screw"))).joint("j")
    assert (j.damping, j.stiffness) == (Fraction("0.3"), 4)
    assert (j.limits.lower, j.limits.upper, j.limits.effort, j.limits.velocity) == (-1.0, None, None, 2.0)
    from kane.mechanism import formula as f

    assert f.number(j.pitch) == pytest.approx(0.5 / (2 * np.pi))


def test_gravity_of_the_world_and_a_missing_inertial() -> None:
    text = (
        sdf(A, '<link name="b"/>', hinge())
        .replace("<model", "<world name='w'><gravity>0 0 -1.62</gravity><model")
        .replace("</model>", "</model></world>")
    )
    m = read_sdf(text)
    assert m.gravity == (0, 0, Fraction("-1.62"))
    assert total_mass(m) == pytest.approx(3.0)


def test_shapes_are_kept_and_damaged_ones_said() -> None:
    visual = "<visual><pose>0 0 1 0 0 0</pose><geometry>{}</geometry></visual>"
    parts = ("<box><size>1 2 3</size></box>", "<cylinder><radius>0.1</radius><length>x</length></cylinder>",
             "<mesh><uri>a.dae</uri><scale>2 2 2</scale></mesh>", "<plane/>")  # fmt: skip
    m = read_sdf(sdf(A.replace("<inertial>", "".join(map(visual.format, parts)) + "<inertial>"), B, hinge()))
    assert [(g.kind, g.size, g.file) for g in m.link("a").geometry] == [
        ("box", (1.0, 2.0, 3.0), ""),
        ("mesh", (2.0, 2.0, 2.0), "a.dae"),
    ]
    assert any("not drawn" in note.text for note in m.report.of("ignored"))


def test_the_inverse_of_moves_undoes_them() -> None:
    q = tuple(Fraction(v) for v in (5, 1, -2, 3))
    moves = (
        Translate((Fraction(1), Fraction(2), Fraction(3))),
        Turn(2, Fraction(1, 3)),
        QuaternionTurn(q),
        Turn(0, Fraction(2)),
    )  # type: ignore[arg-type]
    R, p = pose(moves + inverse(moves), {})
    np.testing.assert_allclose(R, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(p, 0, atol=1e-14)


def test_quaternions_and_degrees() -> None:
    one = link("b", '<pose rotation_format="quat_xyzw">1 0 0 0.5 0.5 0.5 0.5</pose>')
    two = link("b", '<pose degrees="true">1 0 0 90 0 90</pose>')
    values = SomeValues(j=0.4)
    np.testing.assert_allclose(
        mass_matrix(read_sdf(sdf(A, one, hinge())), values)[1],
        mass_matrix(read_sdf(sdf(A, two, hinge())), values)[1],
        rtol=1e-13,
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('<sdf version="1.9"><model name="a"/><model name="b"/></sdf>', FormatError),
        (sdf(A, B, hinge(kind="gearbox")), UnsupportedError),
        (sdf(A, B, hinge(axis="<axis><xyz>0 0 0</xyz></axis>")), NumberError),
        (sdf(A, B, hinge("<pose>1 2 3</pose>")), NumberError),
        (sdf(A, B, hinge("<pose>1 2 x 0 0 0</pose>")), NumberError),
        (sdf(A, link("b", "", "nan"), hinge()), NumberError),
        (sdf(A, B), TopologyError),
        (sdf(A, link("b", '<pose relative_to="z"/>'), hinge()), InputError),
        (
            sdf(
                A,
                link("b", '<pose relative_to="c">0 0 0 0 0 0</pose>'),
                link("c", '<pose relative_to="b">0 0 0 0 0 0</pose>'),
                hinge(),
            ),
            TopologyError,
        ),
        (sdf(A, B, '<joint name="j" type="revolute"><parent>a</parent></joint>'), FormatError),
        (sdf("<include><uri>model://x</uri></include>"), UnsupportedError),
    ],
)
def test_refusals(text: str, error: type[InputError]) -> None:
    with pytest.raises(error) as caught:
        judge(read_sdf(text))
    assert caught.value.remedy
