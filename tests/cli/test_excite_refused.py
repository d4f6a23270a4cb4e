"""kane excite with options that cannot be meant: refused before the search, and no file is written, not even one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kane.identification.excitation as excitation
from kane.cli import main


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*_: Any) -> None:
        raise AssertionError("it was searched")

    monkeypatch.setattr(excitation, "_searched", search)


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    "options",
    [
        ["--harmonics", "2.5"], ["--harmonics", "x"], ["--harmonics=-3"], ["--harmonics", "0"],
        ["--harmonics", "1000"], ["--rounds", "2.7"], ["--rounds=-1"], ["--period", "nan"], ["--period", "inf"],
        ["--period=-1"], ["--rate", "0"], ["--rate", "nan"], ["--rate", "1e12"], ["--velocity", "0"],
        ["--velocity", "nan"], ["--velocity", "1,2,3"], ["--acceleration=-1"], ["--box", "link2:1,1,1,0,0,0"],
        ["--box", "link2:nan,0,0,1,1,1"], ["--box", "nowhere:0,0,0,1,1,1"], ["--out", "{}"], ["--plot", "{}/no/p.svg"],
    ],
    ids=str,
)  # fmt: skip
def test_refused_before_the_search(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str]
) -> None:
    options = [text.format(tmp_path) for text in options]
    more = [] if "--out" in options else ["--out", str(tmp_path / "motion.csv")]
    with pytest.raises(SystemExit) as end:
        main(["excite", "two_link", *options, *more, "--overwrite", "--json"])
    error = json.loads(capsys.readouterr().out)["error"]
    assert end.value.code == 2 and error["code"] != "InternalError" and error["message"]
    assert not list(tmp_path.iterdir())
