"""MJCF against MuJoCo: poses and mass matrices at random states for each of its ways to say things."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kane.errors import FormatError, InputError, MissingExtraError, NumberError, UnsupportedError
from kane.formats.mjcf import read_mjcf
from kane.mechanism import formula as f
from kane.mechanism.checks import judge, mass_matrix
from kane.mechanism.model import Mechanism, Turn
from kane.mechanism.numeric import SomeValues

sys.path.insert(0, str(Path(__file__).parent))
from mechanism_state import link_poses

mujoco = pytest.importorskip("mujoco")

I = '<inertial pos="0.02 0.01 0.1" mass="1.2" diaginertia="0.01 0.012 0.004"/>'
J = '<inertial pos="0.15 0.01 0" mass="0.6" diaginertia="0.001 0.005 0.0052" euler="0 0 25"/>'


def model(body: str, head: str = "", tail: str = "") -> str:
    return f"<mujoco model='m'>{head}<worldbody>{body}</worldbody>{tail}</mujoco>"


def arm(
    first: str, second: str = '<joint name="tilt" axis="0 1 0" pos="-0.02 0 0.01"/>', place: str = 'pos="0 0 0.4"'
) -> str:
    return f'<body name="yoke" {place}>{I}{first}<body name="beam" pos="0.1 0 0.2" euler="0 45 90">{J}{second}</body></body>'  # noqa: E501


PAN = '<joint name="pan" axis="0 0 1"/>'
MODELS = {
    "degrees, joint pos and ref": model(arm('<joint name="pan" axis="0 0 1" pos="0 0.03 0" ref="15"/>', place='euler="30 20 0"')),  # noqa: E501
    "radians": model(arm('<joint name="pan" axis="0 0 1" ref="0.3"/>', place='euler="0.5 0.2 0.1"'), '<compiler angle="radian"/>'),  # noqa: E501
    "lower-case eulerseq": model(arm(PAN, place='euler="30 20 50"'), '<compiler eulerseq="zyx"/>'),
    "upper-case eulerseq": model(arm(PAN, place='euler="30 20 50"'), '<compiler eulerseq="ZXZ"/>'),
    "mixed eulerseq": model(arm(PAN, place='euler="30 20 50"'), '<compiler eulerseq="XyZ"/>'),
    "quaternion": model(arm(PAN, place='quat="0.7 0.1 -0.4 0.2"')),
    "axis and angle": model(arm(PAN, place='axisangle="1 2 2 75"')),
    "two axes": model(arm(PAN, place='xyaxes="1 1 0 0 1 1"')),
    "z axis": model(arm(PAN, place='zaxis="1 -2 0.5"')),
    "z axis down": model(arm(PAN, place='zaxis="0 0 -1"')),
    "several joints": model(arm('<joint name="a" axis="1 1 0" pos="0.1 0 0"/><joint name="s" type="slide" axis="0 1 1" ref="0.2"/><joint name="b" axis="0 0 1" pos="0 0.2 0" ref="40"/>')),  # noqa: E501
    "classes": model(arm('<joint name="pan" class="k"/>', '<joint name="tilt"/>', place='childclass="c"'),
                     '<default><joint armature="0.1"/><default class="c"><joint axis="0 1 0" damping="2"/><default class="k"><joint axis="1 0 0" pos="0 0 0.3" ref="20"/></default></default></default>'),  # noqa: E501
    "full inertia": model('<body name="yoke"><inertial pos="0 0.1 0" mass="2" fullinertia="0.02 0.03 0.04 0.001 -0.002 0.003"/><joint name="pan" axis="1 0 0"/></body>'),  # noqa: E501
    "inertia from geoms": model('<body name="yoke" euler="0 30 0"><joint name="pan" axis="1 0 0"/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="0 0 30"/><geom type="capsule" fromto="0 0 0 0.3 0.1 0" size="0.05" mass="2"/><geom type="sphere" size="0.1" density="500" pos="0 0 0.4"/></body>'),  # noqa: E501
    "geoms instead of inertials": model(arm(PAN).replace(I, I + '<geom size="0.1" pos="0.1 0 0"/>').replace(J, J + '<geom size="0.2"/>'), '<compiler inertiafromgeom="true"/>'),  # noqa: E501
    "frames": model(f'<frame pos="0 0 1" euler="0 90 0"><frame euler="20 0 0"><body name="yoke" pos="1 0 0">{I}<frame pos="0.1 0 0" euler="0 0 45"><joint name="pan" axis="1 0 0" pos="0 0.1 0"/></frame></body></frame></frame>'),  # noqa: E501
    "fixed body": model(f'<body name="base" pos="0 1 0"><body name="yoke" pos="0 0 0.4">{I}{PAN}<body name="hand" pos="0.1 0 0" euler="0 0 30">{J}</body></body></body>'),  # noqa: E501
    "ball": model(f'<body name="yoke" euler="10 20 30">{I}<joint name="ball" type="ball" pos="0.1 0.2 0"/></body>'),
    "free": model(f'<body name="yoke" pos="0 0 1" euler="10 20 30">{I}<freejoint name="free"/><body name="beam" pos="0.1 0 0.2">{J}<joint name="tilt" axis="0 1 0"/></body></body>'),  # noqa: E501
    "balanced and bounded": model(arm(PAN), '<compiler balanceinertia="true" boundmass="0.7" boundinertia="0.002" settotalmass="5"/>'),  # noqa: E501
}  # fmt: skip


def values_of(m: Mechanism, native: mujoco.MjModel, qpos: np.ndarray) -> SomeValues:
    """Our coordinates at MuJoCo's qpos."""
    from kane.mechanism.joints import joint_type

    known = SomeValues()
    for j in m.joints:
        coordinates = joint_type(j).coordinates(j)
        if not coordinates:
            continue
        k = mujoco.mj_name2id(native, mujoco.mjtObj.mjOBJ_JOINT, j.name)
        at = native.jnt_qposadr[k]
        known.update(zip(coordinates, qpos[at : at + len(coordinates)], strict=True))
    return known


@pytest.mark.parametrize("name", MODELS)
def test_poses_and_mass_matrices_are_mujocos(name: str) -> None:
    text = MODELS[name]
    m = read_mjcf(text)
    judge(m)
    native = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(native)
    rng = np.random.default_rng(0)
    for _ in range(3):
        data.qpos[:] = rng.normal(size=native.nq)
        mujoco.mj_normalizeQuat(native, data.qpos)
        mujoco.mj_forward(native, data)
        values = values_of(m, native, data.qpos)
        poses = link_poses(m, values)
        for k in range(1, native.nbody):
            R, p = poses[native.body(k).name]
            np.testing.assert_allclose(p, data.xpos[k], atol=1e-9)
            np.testing.assert_allclose(R, data.xmat[k].reshape(3, 3), atol=1e-9)
        M = np.zeros((native.nv, native.nv))
        mujoco.mj_fullM(native, data, M)
        keys, ours, _ = mass_matrix(m, values)
        if len(keys) == native.nv and not any(j.type in ("floating", "spherical") for j in m.joints):
            np.testing.assert_allclose(ours, M, atol=1e-9)
        else:  # other speeds: the mass matrices are congruent, so compare what the joints behind see
            single = [k for k, key in enumerate(keys) if key in {j.name for j in m.joints}]
            assert ours[np.ix_(single, single)] == pytest.approx(
                M[-len(single) :, -len(single) :] if single else ours[:0, :0], abs=1e-9
            )


def test_angles_stay_exact() -> None:
    m = read_mjcf(MODELS["degrees, joint pos and ref"])
    assert m.joint("pan").placement[0] == Turn(0, f.parse("pi/6"))
    assert m.link("yoke").inertia.com == (Fraction("0.02"), Fraction("0.01"), Fraction("0.1"))  # type: ignore[union-attr]


def test_springs_damping_friction_armature_and_limits() -> None:
    joint = '<joint name="pan" axis="0 0 1" stiffness="3" springref="30" damping="0.4" frictionloss="0.2" armature="0.05" range="-90 45" actuatorfrcrange="-7 7"/>'  # noqa: E501
    j = read_mjcf(model(arm(joint))).joint("pan")
    assert (j.stiffness, j.damping, j.friction) == (3, Fraction("0.4"), Fraction("0.2"))
    assert j.rest == f.parse("pi/6")
    assert j.rotor is not None and (j.rotor.inertia, j.rotor.ratio) == (Fraction("0.05"), 1)
    assert (j.limits.lower, j.limits.upper, j.limits.effort) == (
        pytest.approx(-np.pi / 2),
        pytest.approx(np.pi / 4),
        7.0,
    )


def test_gravity_sites_and_shapes() -> None:
    text = model(
        arm(
            PAN
            + '<site name="tip" pos="0 0 1" euler="0 90 0"/><geom type="capsule" fromto="0 0 0 0 0 0.4" size="0.02" rgba="1 0 0 1"/>'  # noqa: E501
        ),
        '<option gravity="0 0 -1.62"/>',
    )
    m = read_mjcf(text)
    assert m.gravity == (0, 0, Fraction("-1.62"))
    assert (m.frames[0].name, m.frames[0].link) == ("tip", "yoke")
    assert m.link("yoke").geometry[0].size == (0.02, 0.4)
    off = read_mjcf(model(arm(PAN), '<option><flag gravity="disable"/></option>'))
    assert off.gravity == (0, 0, 0)


def test_an_equality_of_two_joints_is_a_follower() -> None:
    tail = '<equality><joint joint1="tilt" joint2="pan" polycoef="0.1 -0.5 0 0 0"/></equality>'
    m = read_mjcf(
        model(arm('<joint name="pan" axis="0 0 1" ref="30"/>', '<joint name="tilt" axis="0 1 0" ref="10"/>'), tail=tail)
    )
    rule = m.joint("tilt").mimic
    assert rule is not None and (rule.joint, rule.ratio) == ("pan", Fraction(-1, 2))
    assert f.number(rule.offset) == pytest.approx(0.1 + np.deg2rad(10) + 0.5 * np.deg2rad(30))


@pytest.mark.parametrize(
    "text",
    [
        model(arm(PAN), tail='<equality><connect body1="beam" body2="world" anchor="0 0 0"/></equality>'),
        model(arm(PAN), tail='<equality><joint joint1="tilt" joint2="pan" polycoef="0 1 2 0 0"/></equality>'),
        model(arm(PAN), tail='<equality><joint joint1="tilt"/></equality>'),
        model(arm(PAN), tail='<tendon><fixed name="t" stiffness="2"><joint joint="pan" coef="1"/></fixed></tendon>'),
        model(arm(PAN, place='gravcomp="1"')),
        model(arm('<joint name="b" type="ball" damping="1"/>')),
        model(arm('<joint name="pan" axis="0 0 1" springdamper="0.1 1"/>')),
    ],
)
def test_what_changes_the_equations_is_refused_or_left_out_on_request(text: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        read_mjcf(text)
    assert "ignore" in (caught.value.remedy or "")
    assert read_mjcf(text, constraints="ignore").report.of("ignored")


def test_what_does_not_change_them_is_noted() -> None:
    tail = (
        '<tendon><fixed name="t"><joint joint="pan" coef="1"/></fixed></tendon><actuator><motor joint="pan"/></actuator>'  # noqa: E501
        '<equality><weld body1="beam" active="false"/></equality>'
    )
    notes = read_mjcf(model(arm(PAN), tail=tail)).report.of("ignored")
    assert {note.text for note in notes} == {"1 tendon", "1 actuator", "inactive equality '' (weld)"}


def refused(text: str, error: type[InputError]) -> InputError:
    with pytest.raises(error) as caught:
        read_mjcf(text)
    assert caught.value.remedy
    return caught.value


def test_damaged_files() -> None:
    assert refused("<mujoco>\n<worldbody>\n<bdy/></worldbody></mujoco>", FormatError).line == 3
    assert refused(model(arm('<joint name="pan" axis="0 x 1"/>')), FormatError)
    assert refused("<mujoco>\n<worldbody>\n<body pos='nan 0 0'/></worldbody></mujoco>", NumberError).line == 3
    assert refused(model(arm('<joint name="pan" axis="0 0 0"/>')), InputError)
    assert refused("<mujoco><worldbody>", FormatError)
    assert refused('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', FormatError)
    missing = model(
        f'<body name="yoke">{PAN}<geom type="mesh" mesh="x"/></body>', '<asset><mesh name="x" file="none.stl"/></asset>'
    )
    assert "none.stl" in str(refused(missing, FormatError))


@pytest.mark.parametrize("sequence", ["xyw", "ab]"])
def test_a_damaged_euler_sequence(sequence: str) -> None:
    error = refused(model(arm(PAN, place='euler="1 2 3"'), f'<compiler eulerseq="{sequence}"/>'), NumberError)
    assert error.value == sequence


def test_paths_do_not_leave_the_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_text("<mujocoinclude><option gravity='0 0 -1'/></mujocoinclude>")
    include = f'<include file="{secret}"/>'
    assert "folder" in refused(model(arm(PAN), include), FormatError).message
    assert "folder" in refused(model(arm(PAN), '<include file="secret.xml"/>'), FormatError).message
    assert "folder" in refused(model(arm(PAN), f'<compiler meshdir="{tmp_path}"/>'), FormatError).message
    path = tmp_path / "robot.xml"
    path.write_text(model(arm(PAN), '<include file="secret.xml"/>'))
    assert read_mjcf(path).gravity == (0, 0, -1)


WEIGHTY = '<body name="yoke"><joint name="pan"/><geom type="mesh" mesh="x"/></body>'
OUTSIDE = {
    "include": model(arm(PAN), '<include file="../../secret.xml"/>'),
    "include through a folder": model(arm(PAN), '<include file="parts/../../secret.xml"/>'),
    "include of an include": model(arm(PAN), '<include file="parts/more.xml"/>'),
    "model": model(arm(PAN), '<asset><model name="s" file="../secret.xml"/></asset>'),
    "mesh": model(WEIGHTY, '<asset><mesh name="x" file="../../cube.obj"/></asset>'),
    "meshdir": model(WEIGHTY, '<compiler meshdir="../.."/><asset><mesh name="x" file="cube.obj"/></asset>'),
}


@pytest.mark.parametrize("what", OUTSIDE)
def test_parts_of_other_folders_must_be_allowed(what: str, tmp_path: Path) -> None:
    home = tmp_path / "there" / "robot"
    (home / "parts").mkdir(parents=True)
    (home / "parts" / "more.xml").write_text("<mujocoinclude><include file='../../../secret.xml'/></mujocoinclude>")
    for folder in (tmp_path, home.parent):
        part = "<mujocoinclude><option/></mujocoinclude>"
        (folder / "secret.xml").write_text(model("<body name='b'/>") if what == "model" else part)
    corners = [f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = ["1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4"]
    (tmp_path / "cube.obj").write_text("\n".join([*corners, *(f"f {face}" for face in faces)]) + "\n")
    path = home / "robot.xml"
    path.write_text(OUTSIDE[what])
    with pytest.raises(FormatError, match="leads out of the model's folder") as caught:
        read_mjcf(path)
    assert "folders=" in (caught.value.remedy or "")
    if what != "include of an include":  # MuJoCo looks for that one elsewhere
        assert read_mjcf(path, folders=[tmp_path]).link("yoke").inertia is not None


def test_the_parts_are_screened_too(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text("<mujocoinclude>\n<option gravity='0 0 0x10'/></mujocoinclude>")
    path = tmp_path / "robot.xml"
    path.write_text(model(arm(PAN), '<include file="part.xml"/>'))
    with pytest.raises(NumberError) as caught:
        read_mjcf(path)
    assert (caught.value.file, caught.value.line) == (str(tmp_path / "part.xml"), 2)


@pytest.mark.parametrize("number", ["0x10", "-0X1p3", "nan(1)", "+inf", "1,5", "1e", "1_0", "１", "1.2.3", "1e400"])
def test_what_is_no_number(number: str) -> None:
    assert refused(model(arm(PAN).replace('mass="0.6"', f'mass="{number}"')), InputError)


@pytest.mark.parametrize(
    "body",
    [
        '<replicate count="100000000" offset="0 0 1"><body/></replicate>',
        '<replicate count="1000"><replicate count="1000"><geom size="1"/></replicate></replicate>',
        '<composite type="cable" count="9999999 1 1" size="1"><geom size="0.1"/></composite>',
    ],
)
def test_endless_copies_are_refused(body: str) -> None:
    assert "copies" in refused(model(body), UnsupportedError).message


def test_a_joint_may_be_called_inf() -> None:
    text = model(arm('<joint name="inf" axis="0 0 1"/>'), tail='<actuator><motor joint="inf"/></actuator>')
    assert read_mjcf(text).joint("inf")


def test_a_missing_mesh_does_not_matter_beside_an_inertial() -> None:
    text = model(
        f'<body name="yoke">{I}{PAN}<geom type="mesh" mesh="x"/></body>',
        '<asset><mesh name="x" file="none.stl"/></asset>',
    )
    assert read_mjcf(text).link("yoke").geometry[0].kind == "mesh"


def test_missing_pictures_and_meshes_without_mass_do_not_matter() -> None:
    """The inertia comes from a geom; what is only drawn, sensed or collided with may be lost."""
    text = model(
        f'<body name="yoke">{PAN}<geom name="g" size="0.1" mass="2" pos="0.1 0 0" material="paint"/>'
        '<geom name="v" type="mesh" mesh="x" mass="0" material="paint"/>'
        '<body name="beam">'
        f'{J}<joint name="tilt" axis="0 1 0"/><geom name="w" type="mesh" mesh="x"/></body></body>',
        '<asset><mesh name="x" file="none.stl"/><texture name="t" type="2d" file="none.png"/>'
        '<material name="paint" texture="t"/></asset>',
        '<contact><pair geom1="v" geom2="w"/></contact><sensor><distance geom1="v" geom2="w"/></sensor>',
    )
    inertia = read_mjcf(text).link("yoke").inertia
    assert inertia is not None and inertia.mass == 2
    assert inertia.com == (Fraction("0.1"), 0, 0)
    assert f.number(inertia.moments[0]) == pytest.approx(0.4 * 2 * 0.1**2)  # a ball


def test_nothing_is_printed_or_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    refused("<mujoco><worldbody><body pos='nan 0 0'/></worldbody></mujoco>", NumberError)
    read_mjcf(MODELS["inertia from geoms"])
    old = read_mjcf(model(arm(PAN), '<compiler settotalmass="3"/>'))  # MuJoCo warns that this is going
    assert any("settotalmass" in note.text for note in old.report.of("ignored"))
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())


def test_the_extra_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError) as caught:
        read_mjcf(MODELS["radians"])
    assert "kane[mujoco]" in str(caught.value)


WEIGHTS = {"inertials": arm(PAN), "geoms": arm(PAN).replace(I, '<geom size="0.1" pos="0.1 0 0"/>')}
IDLE = {
    "joint": '<motor name="m1" joint="pan"/>\n<motor name="m2" joint="nope"/>',
    "joint of its parent": '<motor name="m2" jointinparent="nope"/>',
    "site": '<position name="m2" site="nope"/>',
    "body": '<adhesion name="m2" body="nope" ctrlrange="0 1"/>',
    "tendon": '<motor name="m2" tendon="nope"/>',
}


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("what", IDLE)
def test_an_actuator_that_drives_what_is_not_there_is_told_with_what_there_is(weight: str, what: str) -> None:
    m = read_mjcf(model(WEIGHTS[weight], tail=f"\n<actuator>\n{IDLE[what]}</actuator>"))
    (note,) = [n for n in m.report.of("ignored") if "nope" in n.text]
    kind = what.partition(" ")[0]
    assert f"actuator 'm2' drives the {kind} 'nope', which does not exist (line {note.line})" in note.text
    assert note.line == 3 + IDLE[what].count("\n")
    there = {"joint": "pan, tilt", "body": "world, yoke, beam"}.get(kind, f"no named {kind}")
    assert note.text.endswith(f"the model has {there}")
    assert m == read_mjcf(model(WEIGHTS[weight]))  # the equations do not know of it


def test_many_actuators_of_nothing_are_one_note() -> None:
    tail = "<actuator>" + "".join(f'<motor joint="nope{k}"/>' for k in range(20)) + "</actuator>"
    notes = [n.text for n in read_mjcf(model(arm(PAN), tail=tail)).report.of("ignored")]
    assert len(notes) == 2 and "'nope0'" in notes[1] and "so do 19 more" in notes[1]


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize(
    ("item", "kind"),
    [
        ('<joint name="e" joint1="nope" joint2="pan"/>', "joint"),
        ('<joint name="e" joint1="pan" joint2="nope"/>', "joint"),
        ('<weld name="e" body1="yoke" body2="nope"/>', "body"),
        ('<connect name="e" body1="nope" anchor="0 0 0"/>', "body"),
        ('<connect name="e" site1="nope" site2="nope"/>', "site"),
        ('<tendon name="e" tendon1="nope"/>', "tendon"),
    ],
)
def test_an_equality_of_what_is_not_there_is_refused_with_the_name(weight: str, item: str, kind: str) -> None:
    text = model(WEIGHTS[weight], tail=f"\n<equality>\n{item}</equality>")
    error = refused(text, FormatError)
    assert f"equality 'e' holds the {kind} 'nope', which does not exist; the model has" in error.message
    assert (error.line, error.name, error.value) == (3, "e", "nope") and "ignore" in str(error.remedy)
    m = read_mjcf(text, constraints="ignore")
    assert any("'nope'" in note.text for note in m.report.of("ignored")) and m == read_mjcf(model(WEIGHTS[weight]))


@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_tendon_over_nothing_is_told(weight: str) -> None:
    tail = '<tendon><fixed name="t"><joint joint="nope" coef="1"/></fixed></tendon>'
    notes = [n.text for n in read_mjcf(model(WEIGHTS[weight], tail=tail)).report.of("ignored")]
    assert any("tendon 't' runs over a joint that does not exist" in note for note in notes)


def test_what_mujoco_does_not_compile_is_told_with_its_line() -> None:
    text = model(f'<body name="yoke">{PAN}\n<geom type="mesh" mesh="x"/></body>')
    error = refused(text, FormatError)
    assert "inertia of geoms" in error.message and error.line == 2
