"""What the search cannot serve: one clear message, and the unsearched result still comes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.api.work import counts_work
from kane.cli import main
from kane.errors import InputError, KaneError
from kane.formats.toml import write_toml
from kane.robots.bundled import load as bundled
from kane.search import optimise

EFFORTS = ("low", "normal", "high")


def closed() -> kane.Robot:
    """An arm whose last link is tied to the ground."""
    robot = kane.load("elbow3")
    last, ground = robot.mechanism.links[-1].name, robot.mechanism.links[0].name
    return robot.with_joint_loop("tie", last, ground, (0, 0, 0), (0.3, 0.1, 0.2))


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    streams = capsys.readouterr()
    return int(end.value.code or 0), streams.out, streams.err


@pytest.mark.parametrize("effort", ["extreme", "", "LOW", "3"])
def test_an_effort_that_does_not_exist(effort: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    message = f"There is no effort {effort!r}. Use low, normal or high."
    wrong: Any = effort
    for ask in (
        lambda: kane.derive(kane.load("two_link"), effort=wrong),
        lambda: counts_work(kane.load("two_link"), effort=wrong),
        lambda: optimise(bundled("two_link"), "mass_matrix", effort=wrong),
    ):
        with pytest.raises(InputError, match="low, normal or high"):
            ask()
    page = str(tmp_path / "page.html")
    for arguments in (("counts", "two_link"), ("derive", "two_link"), ("report", "two_link", "--out", page)):
        status, out, err = command(capsys, *arguments, "--effort", effort)
        assert (status, out, " ".join(err.split())) == (2, "", f"kane: {message}")
    status, out, _ = command(capsys, "counts", "two_link", "--effort", effort, "--json")
    error = json.loads(out)["error"]
    assert status == 2 and (error["name"], error["value"]) == ("effort", effort)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("effort", EFFORTS)
def test_loops_are_shown_as_derived(effort: Any) -> None:
    robot = closed()
    found = kane.derive(robot, effort=effort).searched("inverse_dynamics")
    assert found.program is found.unsearched and not found.trail
    assert found.note == "elbow3 has constraints: inverse_dynamics is shown as derived, not searched."
    tree = optimise(bundled("elbow3"), "inverse_dynamics", effort="low").unsearched
    assert found.program.counts == tree.counts


def test_loops_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "closed.toml"
    file.write_text(write_toml(closed().mechanism))
    asked = ("counts", str(file), "--task", "mass_matrix", "--trace")
    status, out, err = command(capsys, *asked)
    assert (status, err) == (0, "") and "is shown as derived, not searched" in out
    status, out, _ = command(capsys, *asked, "--json")
    result = json.loads(out)
    totals = {row["method"]: row["counts"]["total"] for row in result["tasks"]}
    assert totals["searched"] == totals["customised recursion"] > 0 and not result["trail"]
    assert sum("not searched" in note for note in result["notes"]) == 1 and result["trace"]


@pytest.mark.parametrize("error", [KaneError("no way through"), ZeroDivisionError("0 / 0")])
def test_a_search_that_stops(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise error

    monkeypatch.setattr(sys.modules["kane.search.optimise"]._Search, "run", stop)  # the name is the function's
    found = optimise(bundled("two_link"), "inverse_dynamics")
    assert found.program is found.unsearched and str(error) in found.note
    eq = kane.derive(kane.load("two_link"), effort="normal")
    assert eq.compile().inverse_dynamics(np.zeros(2), np.zeros(2), np.zeros(2)).shape == (2,)
