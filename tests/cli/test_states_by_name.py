"""States, ranges and limits by name or in order; several tasks; poles and matrices without noise."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from kane.cli import main
from kane.cli.models import unused
from kane.cli.numbers import poles, several, state
from kane.errors import NumberError, ShapeError, UnknownNameError
from kane.mechanism.numeric import without_noise


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out + err


@pytest.mark.parametrize(
    ("command", "by_name", "in_order"),
    [
        ("linearize two_link", "--q q2=0.5", "--q 0,0.5"),
        ("linearize two_link", "--q q2=0.5,q1=-1 --qd q1=2", "--q=-1,0.5 --qd 2,0"),
        ("linearize two_link", "--tau q1=3", "--tau 3,0"),
        ("simulate two_link --time 0.1", "--q q2=0.5 --tau q1=3", "--q 0,0.5 --tau 3,0"),
        (
            "explicit two_link --tolerance 1% --reference 9,9 --acceleration 1,1",
            "--speed q2=1,q1=2 --lower q1=0,q2=0 --upper q1=1,q2=1", "--speed 2,1 --lower 0,0 --upper 1,1",
        ),
        ("excite two_link --rounds 1 --period 4 --harmonics 3", "--velocity joint2=1,joint1=2", "--velocity 2,1"),
    ],
)  # fmt: skip
def test_by_name_and_in_order(capsys: pytest.CaptureFixture[str], command: str, by_name: str, in_order: str) -> None:
    found = [run(capsys, *command.split(), *given.split(), "--json") for given in (by_name, in_order)]
    assert found[0][0] == found[1][0] == 0, found
    assert json.loads(found[0][1]) == json.loads(found[1][1])


@pytest.mark.parametrize(
    ("text", "error", "named"),
    [
        ("q9=1", UnknownNameError, "q1, q2"),
        ("1", ShapeError, "expected 2"),
        ("1,2,3", ShapeError, "q1=0.5"),
        ("q1=x", NumberError, "'x'"),
        ("q1=nan", NumberError, "--q: 'nan'"),
        ("0,NaN", NumberError, "--q: 'NaN'"),
        ("q1=1,q1=2", NumberError, "twice"),
        ("q1=1,2", NumberError, "q1=0.5,q2=1"),
    ],
)  # fmt: skip
def test_wrong_states(text: str, error: type[Exception], named: str) -> None:
    with pytest.raises(error, match=re.escape(named)):
        state("q", text, ("q1", "q2"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", None), ("q2=0.5", {"q2": 0.5}), ("1,-2", [1, -2]), ("q2=1, a=2", {"q2": 1, "a": 2}), ("inf,1", [np.inf, 1])],
)
def test_states(text: str, expected: object) -> None:
    assert state("q", text, ("q1", "q2"), ("a",)) == expected


@pytest.mark.parametrize("given", ["--task mass_matrix,gravity_forces", "--task mass_matrix --task gravity_forces"])
@pytest.mark.parametrize("command", ["code two_link --target text", "counts two_link --effort low"])
def test_several_tasks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    status, text = run(capsys, *command.split(), *given.split())
    made = text + "".join(p.read_text(encoding="utf-8") for p in tmp_path.iterdir())
    assert status == 0 and "mass_matrix" in made and "gravity_forces" in made and "forward_dynamics" not in made


def test_several() -> None:
    assert several(("a,b", "c")) == several(("a", " b ,c,")) == ("a", "b", "c")


@pytest.mark.parametrize(
    "arguments", ["code two_link --task mass_matrix gravity_forces", "counts two_link --task mass_matrix bias x"]
)
def test_words_that_belong_to_no_option(capsys: pytest.CaptureFixture[str], arguments: str) -> None:
    status, text = run(capsys, *arguments.split())
    words = " ".join(arguments.split()[4:])
    assert status == 2 and f"{words!r} belongs to no option" in text and "a,b,c" in text and "Unused" not in text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([], ""),
        ([2.0, 0.0, -1.5], "-1.5, 0, 2"),
        ([1j, -1j], "-1i, 1i"),
        ([-0.5 - 2j, -0.5 + 2j], "-0.5-2i, -0.5+2i"),
        ([3j, -3j, 0j], "-3i, 0, 3i"),
        ([0.0, -0.0], "0, 0"),
        ([-1e-8, 1e-8], "-1e-08, 1e-08"),
    ],
)  # fmt: skip
def test_poles(values: list[complex], text: str) -> None:
    assert poles(values) == text


@pytest.mark.parametrize("robot", ["puma560", "scara", "two_link", "stanford"])
def test_printed_matrices_and_poles_have_no_noise(capsys: pytest.CaptureFixture[str], robot: str) -> None:
    status, text = run(capsys, "linearize", robot)
    assert status == 0 and "+0i" not in text and not re.search(r"\de-1[2-9]|\de-[2-9]\d|[^\d.]-0[ ,\n]", text)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, -1.25e-18, 3.49e-16], [1.0, 0.0, 0.0]),
        ([3.49e-16, -1.25e-18], [3.49e-16, -1.25e-18]),  # the largest is what they are noise of
        ([np.nan, np.inf, 1.0, 1e-15], [np.nan, np.inf, 1.0, 0.0]),
        ([-0.0, 0.0], [0.0, 0.0]),
        ([], []),
    ],
)  # fmt: skip
def test_noise(values: list[float], expected: list[float]) -> None:
    np.testing.assert_array_equal(without_noise(values), expected)
    assert not np.signbit(without_noise([-0.0, -1e-20, 1.0])).any()


def test_noise_of_a_page_is_that_of_its_largest_curve() -> None:
    from kane.report.sections.motion import Curves, Plot, Recording, motions

    t = np.array([0.0, 1.0])
    curves = (Curves("q1", (("total", np.array([5.0, -3.0])),)), Curves("q2", (("total", np.array([-1e-18, 3e-16])),)))
    residual = Curves("residual", (("T + V", np.array([0.0, 3e-16])),))
    plots = (Plot("Torque", "N m", curves), Plot("Residual", "J", (residual,)))
    made = motions([Recording("run", "", t, ("q1",), t[None], plots)]).data["recordings"][0]["plots"]
    assert made[0]["choices"][1]["series"] == [["total", [0.0, 0.0]]]
    assert made[1]["choices"][0]["series"] == [["T + V", [0.0, 3e-16]]]  # a plot of its own keeps its size


@pytest.mark.parametrize(
    ("best", "effort", "told"),
    [
        ("searched", "low", None),
        ("explicit", "low", "run the searched programs, which are not the shortest here of mass_matrix (explicit)"),
        ("explicit", "high", "(explicit)."),
    ],
)
def test_counts_say_what_the_other_commands_run(best: str, effort: str, told: str | None) -> None:
    rows = [{"task": "mass_matrix", "method": m, "best": m == best} for m in ("explicit", "searched")]
    found = unused(rows, effort)
    assert (told is None and found == []) or (told in found[0] and ("--effort" in found[0]) == (effort != "high"))
