"""Reading URDF: numbers, angles, encodings, joint types, mimic rules, what is reported."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import pytest

from kane.formats import read_urdf
from kane.mechanism import formula as f
from kane.mechanism.checks import mass_matrix
from kane.mechanism.model import Mimic, QuaternionTurn, Translate, Turn
from kane.mechanism.numeric import SomeValues, pose

sys.path.insert(0, str(Path(__file__).parent))
import numpy as np
from urdf_texts import body, joint, robot, two_joints


def test_numbers_are_exact_whatever_their_notation() -> None:
    inertia = '<inertia ixx="1E-2" ixy="-0" ixz="0" iyy=".01" iyz="0" izz="+0.005"/>'
    m = read_urdf(two_joints(a=body("a", mass=" 2.5e0\t", com="  0   0.0\t0.1\n ", inertia=inertia)))
    read = m.link("a").inertia
    assert read is not None
    assert read.mass == Fraction(5, 2)
    assert read.com == (0, 0, Fraction(1, 10))
    assert read.moments == (Fraction(1, 100), 0, 0, Fraction(1, 100), 0, Fraction(1, 200))


@pytest.mark.parametrize(
    "text",
    [
        "0.1",
        "1e22",
        "-2.5e-3",
        "123456789012345678901234567890.5",
        "1e-300",
        "5e-324",
        "1.7976931348623157e308",
        "00000.1",
    ],
)
def test_a_decimal_is_the_rational_it_writes(text: str) -> None:
    m = read_urdf(two_joints(a=body("a", mass=text)))
    assert m.link("a").inertia.mass == Fraction(text)  # type: ignore[union-attr]


def test_angles_near_multiples_of_a_twelfth_of_pi_become_them_and_are_reported() -> None:
    m = read_urdf(
        two_joints(j2=joint("j2", "a", "b", origin='rpy="1.5707963267948966 0.2617993877991494 -3.141592653589793"'))
    )
    assert m.joint("j2").placement == (Turn(2, f.parse("-pi")), Turn(1, f.parse("pi/12")), Turn(0, f.parse("pi/2")))
    assert len(m.report.of("snapped")) == 3


def test_coarse_angles_are_what_the_file_says() -> None:
    text = two_joints(j2=joint("j2", "a", "b", origin='rpy="1.5708 0 0"'))
    assert read_urdf(text).joint("j2").placement == (Turn(0, Fraction("1.5708")),)
    assert not read_urdf(text).report.of("snapped")
    assert read_urdf(text, snap=1e-5).joint("j2").placement == (Turn(0, f.parse("pi/2")),)


def test_roll_pitch_yaw_turn_about_fixed_axes() -> None:
    m = read_urdf(two_joints(j2=joint("j2", "a", "b", origin='xyz="1 2 3" rpy="0.3 -0.4 0.5"')))
    R, p = pose(m.joint("j2").placement, {})
    c, s = np.cos([0.3, -0.4, 0.5]), np.sin([0.3, -0.4, 0.5])
    x = np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
    y = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    z = np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]])
    np.testing.assert_allclose(R, z @ y @ x, atol=1e-15)
    np.testing.assert_allclose(p, [1, 2, 3])


def test_a_quaternion_origin_is_read() -> None:
    m = read_urdf(two_joints(j2=joint("j2", "a", "b", origin='xyz="1 0 0" quat_xyzw="0 0 0.6 0.8"')))
    half = (Fraction("0.8"), Fraction(0), Fraction(0), Fraction("0.6"))
    assert m.joint("j2").placement == (Translate((Fraction(1), Fraction(0), Fraction(0))), QuaternionTurn(half))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "iso-8859-1", "windows-1252", "utf-16", "shift_jis", "gb18030", "euc-kr", "utf-8-sig"]
)
def test_any_declared_encoding(encoding: str) -> None:
    name = {"shift_jis": "腕", "gb18030": "手臂", "euc-kr": "팔"}.get(encoding, "ärmel")
    declared = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{declared}"?>\n' + two_joints(
        a=body(name), j1=joint("j1", "base", name), j2=joint("j2", name, "b")
    )
    assert read_urdf(text.encode(encoding)).links[1].name == name


def test_a_file_and_its_text_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.urdf"
    path.write_text(two_joints())
    m = read_urdf(path)
    assert m == read_urdf(two_joints()) == read_urdf(two_joints().encode()) == read_urdf(str(path))
    assert m.report.file == str(path)
    assert (m.link("a").line, m.joint("j1").line) == (3, 5)


def test_joints_keep_the_order_of_the_file() -> None:
    text = robot(joint("z", "c", "d"), body("d"), joint("a", "base", "c"), body("c"), '<link name="base"/>')
    assert [j.name for j in read_urdf(text).joints] == ["z", "a"]


def test_the_axis_defaults_to_x_and_its_length_does_not_matter() -> None:
    m = read_urdf(
        two_joints(
            j1=joint("j1", "base", "a").replace('<axis xyz="0 0 1"/>', ""), j2=joint("j2", "a", "b", axis="0 -3 0")
        )
    )
    assert m.joint("j1").axis == (1, 0, 0)
    values = SomeValues(j1=0.3, j2=0.4)
    unit = read_urdf(two_joints(j1=joint("j1", "base", "a", axis="1 0 0"), j2=joint("j2", "a", "b", axis="0 -1 0")))
    np.testing.assert_allclose(mass_matrix(m, values)[1], mass_matrix(unit, values)[1], rtol=1e-14)
    assert len(m.report.of("repaired")) == 1


def test_tiny_components_of_an_axis_are_zero() -> None:
    m = read_urdf(two_joints(j2=joint("j2", "a", "b", axis="-3.55e-15 1 0")))
    assert m.joint("j2").axis == (0, 1, 0)
    assert m.report.of("snapped")


def test_a_zero_axis_does_not_matter_on_a_fixed_joint() -> None:
    assert read_urdf(two_joints(j2=joint("j2", "a", "b", "fixed", axis="0 0 0"))).joint("j2").type == "fixed"


@pytest.mark.parametrize("kind", ["continuous", "prismatic", "planar", "floating"])
def test_joint_types_of_urdf(kind: str) -> None:
    assert read_urdf(two_joints(j2=joint("j2", "a", "b", kind))).joint("j2").type == kind


@pytest.mark.parametrize(
    ("kind", "read"), [("spherical", "spherical"), ("ball", "spherical"), ("universal", "universal")]
)
def test_joint_types_beyond_urdf_are_noted(kind: str, read: str) -> None:
    m = read_urdf(two_joints(j2=joint("j2", "a", "b", kind)))
    assert m.joint("j2").type == read
    assert any("plain URDF" in note.text for note in m.report.of("repaired"))


def test_a_screw_has_its_pitch_in_metres_a_radian() -> None:
    m = read_urdf(two_joints(j2=joint("j2", "a", "b", "screw", extra='<drake:screw_thread_pitch value="0.02"/>')))
    assert f.number(m.joint("j2").pitch) == pytest.approx(0.02 / (2 * np.pi))


def test_limits_dynamics_and_springs() -> None:
    extra = '<dynamics damping="0.8" friction="0.5" spring_stiffness="12" spring_reference="0.25"/>'
    j = read_urdf(two_joints(j2=joint("j2", "a", "b", extra=extra))).joint("j2")
    assert (j.damping, j.friction, j.stiffness, j.rest) == (Fraction("0.8"), Fraction("0.5"), 12, Fraction(1, 4))
    assert (j.limits.lower, j.limits.upper, j.limits.effort, j.limits.velocity) == (-2.0, 2.0, 10.0, 3.0)


def test_chains_of_followers_are_stated_in_the_independent_joint() -> None:
    first = '<mimic joint="j1" multiplier="2" offset="0.1"/>'
    second = '<mimic joint="j2" multiplier="-0.5" offset="1"/>'
    m = read_urdf(
        robot('<link name="base"/>', body("a"), body("b"), body("c"), joint("j3", "b", "c", extra=second),
              joint("j2", "a", "b", extra=first), joint("j1", "base", "a"))
    )  # fmt: skip
    assert m.joint("j2").mimic == Mimic("j1", Fraction(2), Fraction("0.1"))
    assert m.joint("j3").mimic == Mimic("j1", Fraction(-1), Fraction("0.95"))


def test_a_mimic_rule_on_a_fixed_joint_is_only_noted() -> None:
    m = read_urdf(two_joints(j2=joint("j2", "a", "b", "fixed", extra='<mimic joint="j1"/>')))
    assert m.joint("j2").mimic is None
    assert any("mimic" in note.text for note in m.report.of("ignored"))


def test_transmissions_need_a_rotor_inertia() -> None:
    part = '<transmission name="t"><joint name="j1"/><actuator name="m"><mechanicalReduction>50</mechanicalReduction>{}</actuator></transmission>'  # noqa: E501
    bare = read_urdf(two_joints(more=part.format("")))
    assert bare.joint("j1").rotor is None
    assert any("ratio 50" in note.text for note in bare.report.of("ignored"))
    rotor = read_urdf(two_joints(more=part.format("<rotorInertia>3e-5</rotorInertia>"))).joint("j1").rotor
    assert rotor is not None
    assert (rotor.inertia, rotor.ratio) == (Fraction("3e-5"), 50)


def test_missing_inertia_is_zero_mass_and_said() -> None:
    m = read_urdf(two_joints())
    assert m.link("base").inertia is None
    assert [note.name for note in m.report.of("defaulted")] == ["base"]


def test_meshes_are_not_opened_and_shapes_are_kept() -> None:
    visual = (
        '<visual><origin xyz="0 0 1"/><geometry><mesh filename="package://none/x.stl" scale="2 2 2"/></geometry></visual>'  # noqa: E501
        '<visual><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>'
        '<visual><geometry><cylinder radius="0.1" length="x"/></geometry></visual>'
    )
    m = read_urdf(two_joints(a=body("a", extra=visual), more='<material name="red"><color rgba="1 0 0 1"/></material>'))
    mesh, box = m.link("a").geometry
    assert (mesh.kind, mesh.file, mesh.size) == ("mesh", "package://none/x.stl", (2.0, 2.0, 2.0))
    assert (box.kind, box.size, box.color) == ("box", (1.0, 2.0, 3.0), (1.0, 0.0, 0.0, 1.0))
    assert any("not drawn" in note.text for note in m.report.of("ignored"))


def test_vendor_elements_give_one_line_each() -> None:
    more = "<gazebo/><vendor_block><anything/></vendor_block><vendor_block/><sensor:contact/>"
    notes = read_urdf(two_joints(more=more)).report.of("ignored")
    assert [note.text for note in notes] == [
        "vendor element <vendor_block>, 2 times",
        "vendor element <sensor:contact>",
    ]


@pytest.mark.parametrize(
    ("part", "hint"),
    [
        ('<link name="x"><inertail><mass value="1"/></inertail></link>', "did you mean <inertial>?"),
        ('<link name="x"><mass value="1"/></link>', "belongs inside <inertial>"),
        ('<jiont name="x" type="fixed"/>', "did you mean <joint>?"),
        ('<link name="x"><inertial><origin xzy="1 0 0"/><mass value="1"/></inertial></link>', "did you mean 'xyz'?"),
        ('<link name="x"><inertial><mass vlaue="1"/></inertial></link>', "did you mean 'value'?"),
    ],
)
def test_misspelt_and_misplaced_core_tags_are_suggested(part: str, hint: str) -> None:
    text = two_joints(more=f"{part}\n{joint('jx', 'b', 'x', 'fixed')}" if "<link" in part else part)
    notes = read_urdf(text).report.of("ignored")
    assert any(hint in note.text and note.line == 7 for note in notes)


def test_a_floating_base_stands_in_front_of_the_root() -> None:
    m = read_urdf(two_joints(), base="floating")
    assert m.root == "world"
    first = m.joints[0]
    assert (first.name, first.type, first.parent, first.child) == ("root", "floating", "world", "base")


def test_a_file_with_its_own_floating_joint_keeps_it() -> None:
    text = two_joints(j1=joint("free", "base", "a", "floating"))
    m = read_urdf(text, base="floating")
    assert [j.name for j in m.joints] == ["free", "j2"]


def test_a_root_named_world_is_kept_under_a_new_one() -> None:
    text = two_joints().replace('"base"', '"world"')
    m = read_urdf(text, base="floating")
    assert (m.root, m.joints[0].child) == ("world_", "world")


def test_names_may_be_anything_and_links_and_joints_are_apart() -> None:
    m = read_urdf(two_joints(j1=joint("a", "base", "a"), j2=joint("x_{1} &amp; 'é'", "a", "b")))
    assert [j.name for j in m.joints] == ["a", "x_{1} & 'é'"]


def test_reading_is_the_same_every_time() -> None:
    one, two = read_urdf(two_joints()), read_urdf(two_joints())
    assert repr(one) == repr(two)
