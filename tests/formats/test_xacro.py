"""xacro: expanded when the extra is installed, refused with its name when it is not."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kane.errors import FormatError, TopologyError
from kane.formats import read

HEAD = '<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro">'
PART = f'{HEAD}<xacro:macro name="arm" params="n"><link name="l${{n}}"><inertial><mass value="${{m*n}}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></xacro:macro></robot>'  # noqa: E501
MAIN = f'{HEAD}<xacro:include filename="parts/arm.xacro"/><xacro:property name="m" value="0.5"/><link name="base"/><xacro:arm n="3"/><joint name="j" type="revolute"><parent link="base"/><child link="l3"/><axis xyz="0 0 1"/></joint></robot>'  # noqa: E501


def written(folder: Path, text: str = MAIN) -> Path:
    (folder / "parts").mkdir()
    (folder / "parts" / "arm.xacro").write_text(PART)
    path = folder / "robot.urdf.xacro"
    path.write_text(text)
    return path


def test_macros_and_includes_are_expanded(tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    m = read(written(tmp_path))
    assert m.link("l3").inertia.mass == Fraction(3, 2)  # type: ignore[union-attr]
    assert any("expanded" in note.text for note in m.report.of("repaired"))


def test_mistakes_name_the_file(tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    with pytest.raises(FormatError) as caught:
        read(written(tmp_path, MAIN.replace('value="0.5"', 'value="${nothing}"')))
    assert caught.value.file == str(tmp_path / "robot.urdf.xacro")
    (tmp_path / "two").mkdir()
    with pytest.raises(TopologyError) as wrong:
        read(written(tmp_path / "two", MAIN.replace('child link="l3"', 'child link="l4"')))
    assert wrong.value.file is not None


def test_a_xacro_text_has_no_folder() -> None:
    from kane.formats.xacro import read_xacro

    with pytest.raises(FormatError):
        read_xacro(MAIN)
