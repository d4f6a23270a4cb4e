"""`kane simulate` with wrong values: one message that names the value, status 2, before the run and without a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kane.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(["simulate", "two_link", *arguments])
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out + err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--time", "nan"], "nan"),
        (["--time", "-1"], "-1"),
        (["--time", "0"], "no span"),
        (["--time", "x"], "--time"),
        (["--method", "Euler"], "Euler"),
        (["--method", "RK4"], "wants a step"),
        (["--method", "IDA"], "IDA is for constraints"),
        (["--method", "RK4", "--step", "0"], "step is 0"),
        (["--method", "variational", "--step", "-1"], "step is -1"),
        (["--step", "nan"], "step is nan"),
        (["--q", "1"], "has 1 numbers, expected 2"),
        (["--q", "nan,0"], "--q: 'nan'"),
        (["--q", "inf,0"], "q1 = inf"),
        (["--q", "q9=1"], "'q9'"),
        (["--q", "q1="], "--q"),
        (["--q", "=1"], "--q"),
        (["--q", "q1=1,2"], "--q"),
        (["--q", "q1=1,q1=2"], "'q1' twice"),
        (["--qd", "1,,2"], "--qd"),
        (["--tau", "1"], "expected (2,): q1, q2"),
        (["--tau", "inf,0"], "q1 = inf"),
        (["--tau", "q3=1"], "'q3'"),
    ],
    ids=" ".join,
)
def test_wrong_values(capsys: pytest.CaptureFixture[str], arguments: list[str], named: str) -> None:
    status, text = run(capsys, *arguments)
    assert status == 2 and text.startswith("kane: ") and named in text and "Traceback" not in text
    status, text = run(capsys, *arguments, "--json")
    assert status == 2 and named in json.loads(text)["error"]["message"] + str(json.loads(text)["error"]["remedy"])


@pytest.mark.parametrize(("option", "name"), [("--out", "run.csv"), ("--out", "no/run.npz"), ("--plot", "run.pdf"),
                                              ("--plot", "no/run.svg"), ("--animate", "run.txt")])  # fmt: skip
def test_files_are_refused_before_the_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("kane.simulation.simulate", lambda *_, **__: pytest.fail("it ran"))
    status, text = run(capsys, option, str(tmp_path / name), "--time", "0.1")
    named = name if "/" in name else f"'{Path(name).suffix}'"
    assert status == 2 and named in text.replace("\n", "") and not list(tmp_path.iterdir())


def test_a_speed_beyond_all_measure(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = run(capsys, "--qd", "1e300,0", "--json")
    made = json.loads(text, parse_constant=lambda x: pytest.fail(x))
    assert status == 1 and made["status"] == -1 and "rate of q1_dot" in made["message"] and made["t_end"] == 0


def test_forces_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    by_name, by_order = (
        json.loads(run(capsys, "--time", "0.1", "--tau", x, "--json")[1])["state"] for x in ("q2=1.5", "0,1.5")
    )
    assert by_name == by_order
