"""Odd and hostile input: one message or one JSON object, status 2, nothing outside the folder asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import kane
from kane.cli import main, models
from kane.errors import InputError, TopologyError

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def arm(joint: str = "j", axis: str = "0 1 1", robot: str = "r", kind: str = "continuous") -> str:
    links = "".join(f'<link name="{n}">{BODY}</link>' for n in "ab")
    motion = f'<joint name="{joint}" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="{axis}"/></joint>'
    return f'<robot name="{robot}">{links}{motion}</robot>'


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    with pytest.raises(SystemExit) as end:
        main([*arguments, "--json"])
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    result: dict[str, Any] = json.loads(out, parse_constant=lambda text: pytest.fail(text))
    return int(end.value.code or 0), result


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["derive"], "UsageError"),
        (["derive", "two_link", "--bogus"], "UsageError"),
        (["nonsense"], "UsageError"),
        (["derive", "two_link", "--base", "sideways"], "UsageError"),
        (["derive", "two_link", "--gravity", "x", "0", "0"], "NumberError"),
        (["derive", "two_link", "--gravity", "nan", "0", "0"], "NumberError"),
        (["derive", "two_link", "--snap", "nan"], "NumberError"),
        (["derive", "two_link", "--snap", "-1"], "NumberError"),
        (["derive", "/dev/zero"], "FileError"),
        (["derive", "no/\udcff.urdf"], "FileError"),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], arguments: list[str], code: str) -> None:
    status, result = run(capsys, *arguments)
    assert status == 2 and result["error"]["code"] == code


def test_a_pipe_without_a_writer_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "arm.urdf")
    status, result = run(capsys, "derive", str(tmp_path / "arm.urdf"))
    assert status == 2 and "pipe" in result["error"]["message"]


def test_what_nobody_foresaw_is_one_message(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise IndexError("deep inside")

    monkeypatch.setattr(models.work, "derive_work", fail)
    status, result = run(capsys, "derive", "two_link")
    assert status == 2 and result["error"]["code"] == "InternalError" and "deep inside" in result["error"]["message"]


@pytest.mark.parametrize("name", ["t", "q"])
def test_a_joint_called_as_time_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    (tmp_path / "arm.urdf").write_text(arm(name))
    status, result = run(capsys, "derive", str(tmp_path / "arm.urdf"))
    assert status == (2 if name == "t" else 0)
    assert status == 0 or result["error"]["name"] == "t"


@pytest.mark.parametrize(("first", "second"), [("q1", "q_1"), ("q_1", "q1"), ("q_a", "a")])
def test_two_names_of_one_symbol_are_refused(first: str, second: str) -> None:
    joint = f'<joint name="{second}" type="continuous"><parent link="b"/><child link="c"/></joint></robot>'
    text = f'{arm(first)[: -len("</robot>")]}<link name="c">{BODY}</link>{joint}'
    if {first, second} == {"q_a", "a"}:  # q_q_a and q_a: two symbols
        assert kane.derive(kane.load(text)).compile().mass_matrix([0.1, 0.2]).shape == (2, 2)
        return
    with pytest.raises(TopologyError, match="one symbol"):
        kane.load(text)


@pytest.mark.parametrize("option", ["base", "nonphysical", "constraints", "convention"])
def test_choices_that_do_not_exist_are_refused(option: str) -> None:
    choice: Any = {option: "sideways"}
    with pytest.raises(InputError, match=f"{option} is 'sideways'"):
        kane.load("two_link", **choice)


def test_types_that_do_not_exist_are_refused() -> None:
    wrong: Any = "f2"
    with pytest.raises(InputError, match="float32"):
        kane.derive(kane.load("two_link")).compile(dtype=wrong)


def test_inertia_that_depends_on_a_coordinate_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "arm.csv").write_text("# standard DH\njoint,alpha,a,d,theta,mass,Ixx,Iyy,Izz\n1,0,1,0,q1,q1,1,1,1\n")
    status, result = run(capsys, "derive", str(tmp_path / "arm.csv"))
    assert status == 2 and result["error"]["code"] == "NumberError" and result["error"]["line"] == 3


@pytest.mark.parametrize("scale", ["e-320", "e-200", "e-8", "e200", "e300"])
def test_the_length_of_an_axis_is_immaterial(capsys: pytest.CaptureFixture[str], tmp_path: Path, scale: str) -> None:
    (tmp_path / "arm.urdf").write_text(arm(axis=f"0 1{scale} 2{scale}"))
    status, result = run(capsys, "derive", str(tmp_path / "arm.urdf"))
    assert status == 0 and all(c["ok"] for c in result["verification"])


@pytest.mark.parametrize("command", ["derive", "check", "code", "explicit"])
def test_nothing_moves(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str) -> None:
    (tmp_path / "arm.urdf").write_text(arm(kind="fixed"))
    more = ["--out", str(tmp_path)] if command == "code" else []
    status, result = run(capsys, command, str(tmp_path / "arm.urdf"), *more)
    assert status == 0 and result["robot"]["coordinates"] == []


@pytest.mark.parametrize("command", ["derive", "code", "explicit"])
@pytest.mark.parametrize("name", ["../../up", "/abs", ".", "x" * 400])
def test_files_stay_in_their_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, name: str
) -> None:
    (tmp_path / "arm.urdf").write_text(arm(robot=name))
    status, result = run(capsys, command, str(tmp_path / "arm.urdf"), "--out", str(tmp_path / "a" / "b"))
    assert status == 0 and result["files"]
    assert all(Path(f).resolve().parent == tmp_path / "a" / "b" and Path(f).is_file() for f in result["files"])


@pytest.mark.parametrize("digits", [17, 40, 380])
def test_long_decimals(capsys: pytest.CaptureFixture[str], tmp_path: Path, digits: int) -> None:
    x = "0." + ("1234567890" * 40)[:digits]
    y = "0." + ("9876543210" * 40)[:digits]
    text = arm(axis=f"{x} {y} {x}")
    for k, child in enumerate("cdef"):
        text = text.replace(
            "</robot>",
            f'<link name="{child}">{BODY}</link><joint name="j{child}" type="continuous"><parent link="{"bcde"[k]}"/>'
            f'<child link="{child}"/><origin xyz="{x} {y} {x}" rpy="{y} {x} {x}"/>'
            f'<axis xyz="{y} {x} {y}"/></joint></robot>',
        )
    (tmp_path / "arm.urdf").write_text(text)
    status, result = run(capsys, "derive", str(tmp_path / "arm.urdf"))
    assert status == 0 and all(c["ok"] for c in result["verification"])


def test_one_link_alone_is_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "one.urdf").write_text(f'<robot name="r"><link name="a">{BODY}</link></robot>')
    status, result = run(capsys, "check", str(tmp_path / "one.urdf"))
    assert status == 0 and result["robot"]["coordinates"] == []
