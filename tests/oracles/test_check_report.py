"""`kane check`: what was done to the file, physical laws, conventions, the other libraries and why they differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kane.cli import main

BODY = '<inertial><origin xyz="0.1 0 0.2"/><mass value="{m}"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'  # noqa: E501
URDF = f"""<robot name="all">
<link name="base">{BODY.format(m=20)}</link><link name="arm">{BODY.format(m=2)}</link>
<link name="tool">{BODY.format(m=0.5)}</link><link name="frame"/><link name="jaw">{BODY.format(m=0.2)}</link>
<link name="finger"><inertial><mass value="0.1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="j1" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
  <origin rpy="1.5707963267948966 0 0"/><dynamics damping="0.1"/></joint>
<joint name="f1" type="fixed"><parent link="arm"/><child link="tool"/><origin rpy="1.5708 0 3.14159"/></joint>
<joint name="f2" type="fixed"><parent link="tool"/><child link="frame"/></joint>
<joint name="j2" type="revolute"><parent link="tool"/><child link="jaw"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="j3" type="revolute"><parent link="tool"/><child link="finger"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="j2" multiplier="-1"/></joint>
<transmission name="t"><joint name="j1"/><actuator name="m"><rotorInertia>1e-5</rotorInertia>
  <mechanicalReduction>100</mechanicalReduction></actuator></transmission>
<vendor/></robot>"""
MJCF = """<mujoco model="m"><worldbody><body name="b"><freejoint name="free"/>
<inertial pos="0 0 0.1" mass="2" diaginertia="0.1 0.1 0.1"/>
<body name="c"><joint name="j" axis="0 1 0" armature="0.2"/><inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/></body>
<body name="d"><joint name="k" axis="1 1 0"/><inertial pos="0 0 1" mass="1" diaginertia="1 1 1"/></body></body>
</worldbody><equality><joint joint1="k" joint2="j" polycoef="0 2 0 0 0"/></equality></mujoco>"""


def checked(capsys: pytest.CaptureFixture[str], path: Path, *more: str) -> tuple[dict[str, Any], str]:
    outputs = []
    for extra in (["--json"], []):
        with pytest.raises(SystemExit) as end:
            main(["check", str(path), *more, *extra])
        assert not end.value.code
        outputs.append(capsys.readouterr().out)
    return json.loads(outputs[0]), " ".join(outputs[1].split())


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_urdf(capsys: pytest.CaptureFixture[str], tmp_path: Path, base: str) -> None:
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    path = tmp_path / "all.urdf"
    path.write_text(URDF)
    result, shown = checked(capsys, path, "--base", base)
    robot, notes = result["robot"], result["import"]
    assert robot["mass_total"] == pytest.approx(22.8)
    assert robot["mass_moving"] == pytest.approx(2.8 if base == "fixed" else 22.8)
    assert any("'tool'" in text and "'arm'" in text for text in notes["lumped"])
    assert len(notes["snapped"]) == 1 and "pi / 2" in notes["snapped"][0]
    assert any("lacks ixy, ixz, iyz" in text for text in notes["repaired"])
    assert any("'frame' has no inertial" in text for text in notes["defaulted"])
    assert any("2 angles" in text and "--snap 1e-5" in text for text in notes["defaulted"])
    assert notes["ignored"] == ["vendor element <vendor>"]
    libraries = [c for c in result["verification"] if c["name"].startswith(("pinocchio: ", "MuJoCo: "))]
    notes_of = {c["name"].partition(":")[0]: c.get("note", "") for c in libraries}
    assert "it drops inertia that was repaired here" in notes_of["pinocchio"]  # a tensor that lacks three entries
    assert base == "floating" or "it refuses the file" in notes_of["MuJoCo"]
    assert len(libraries) == (11 if base == "fixed" else 9) and all(c["ok"] for c in libraries)
    assert {c["name"] for c in result["verification"]} >= {"power = d(T + V)/dt", "M positive definite"}
    said = " ".join(result["differences"])
    for word in ("mimic", "'j3'", "armature", "'j1'", "continuous", "friction"):
        assert word in said
    assert ("20 kg are fixed to the root" in said) == (base == "fixed")
    assert ("quaternion x, y, z, w" in said) == (base == "floating")
    assert any("quaternion w, x, y, z" in line for line in result["conventions"]) == (base == "floating")
    for line in (*result["conventions"], *result["differences"], *notes["repaired"], *notes["lumped"]):
        assert " ".join(line.split()) in shown


def test_a_file_of_which_pinocchio_drops_a_mass(capsys: pytest.CaptureFixture[str]) -> None:
    """Tabs and line breaks between numbers are legal; pinocchio reads no inertia where they stand."""
    pytest.importorskip("pinocchio")
    result, _ = checked(capsys, Path(__file__).parents[1] / "data" / "cases" / "odd_but_valid.urdf")
    rows = [c for c in result["verification"] if c["name"].startswith("pinocchio: ")]
    assert len(rows) == 9 and all(c["ok"] and "kg from the file" in c["note"] for c in rows)


def test_xacro(capsys: pytest.CaptureFixture[str]) -> None:
    for package in ("pinocchio", "mujoco", "xacrodoc"):
        pytest.importorskip(package)
    result, _ = checked(capsys, Path(__file__).parents[1] / "data" / "troubles" / "part.xacro")
    rows = [c for c in result["verification"] if c["name"].startswith(("pinocchio: ", "MuJoCo: "))]
    assert len(rows) == 11 and all(c["ok"] for c in rows)


def test_a_coarse_snap_is_not_suggested_twice(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "all.urdf"
    path.write_text(URDF)
    result, _ = checked(capsys, path, "--snap", "1e-5")
    assert len(result["import"]["snapped"]) == 3
    assert not any("--snap" in text for text in result["import"]["defaulted"])


def test_mjcf(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "m.xml"
    path.write_text(MJCF)
    result, _ = checked(capsys, path)
    libraries = [c for c in result["verification"] if c["name"].startswith("MuJoCo: ")]
    assert len(libraries) == 5 and all(c["ok"] for c in libraries)
    said = " ".join(result["differences"])
    assert "equalities" in said and "'k'" in said and "free joint" in said
