"""xacro: expanded when the extra is installed, refused with its name when it is not."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kane.errors import FormatError, NumberError, TopologyError, UnsupportedError
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


@pytest.mark.parametrize("how", ["${xacro.load_yaml('../secret.yaml')['m']}", "include", "glob"])
def test_parts_of_other_folders_must_be_allowed(how: str, tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    (tmp_path / "secret.yaml").write_text("m: 0.5\n")
    (tmp_path / "secret.xacro").write_text(f'{HEAD}<xacro:property name="m" value="0.5"/></robot>')
    old = '<xacro:property name="m" value="0.5"/>'
    if how == "glob":
        text = MAIN.replace(old, '<xacro:include filename="../*.xacro"/>')
    elif how == "include":
        text = MAIN.replace(old, '<xacro:include filename="parts/../../secret.xacro"/>')
    else:
        text = MAIN.replace('value="0.5"', f'value="{how}"')
    home = tmp_path / "home"
    home.mkdir()
    path = written(home, text)
    with pytest.raises(FormatError, match="leads out of the model's folder"):
        read(path)
    assert read(path, folders=[tmp_path]).link("l3").inertia.mass == Fraction(3, 2)  # type: ignore[union-attr]
    (tmp_path / "package.xml").write_text("<package><name>p</name></package>")  # the file's own package
    assert read(path).link("l3")


def test_entities_in_parts_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    path = written(tmp_path)
    bomb = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    (tmp_path / "parts" / "arm.xacro").write_text(bomb + PART)
    with pytest.raises(FormatError, match="entit"):
        read(path)


def test_endless_macros_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    loop = '<xacro:macro name="again" params=""><xacro:again/></xacro:macro><xacro:again/>'
    with pytest.raises(FormatError):
        read(written(tmp_path, MAIN.replace('<link name="base"/>', f'<link name="base"/>{loop}')))


@pytest.mark.parametrize("number", ["1_000", "１", "nan", "inf", "1e400", "0x10", "-1e-500"])
def test_odd_numbers_that_python_reads(number: str, tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    with pytest.raises(NumberError) as caught:
        read(written(tmp_path, MAIN.replace('value="0.5"', f'value="{number}"')))
    assert caught.value.value == number and caught.value.line == 1


@pytest.mark.parametrize(
    "expression", ["9**9**9", "10**99999999", "m**n", "1 &lt;&lt; 99999999", "9 ** 10", "factorial(999999)"]
)
def test_expressions_that_may_never_end(expression: str, tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    with pytest.raises(UnsupportedError, match="for ever"):
        read(written(tmp_path, MAIN.replace('value="0.5"', f'value="${{{expression}}}"')))


def test_plain_powers_are_worked_out(tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    m = read(written(tmp_path, MAIN.replace('value="0.5"', 'value="${0.5**2 + 2 ** -1 - sqrt(4)**0.5*0}"')))
    assert m.link("l3").inertia.mass == Fraction(9, 4)  # type: ignore[union-attr]
