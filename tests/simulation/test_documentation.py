"""The snippets of docs/simulation.md and the example run."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_snippets(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    names = {}
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "simulation.md").read_text(), re.S)
    for text in snippets:
        exec(compile(text, "simulation.md", "exec"), names)
    assert len(snippets) == 3 and names["profile"].values.shape == (5, 6)
    assert "energy error" in capsys.readouterr().out


def test_example(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / "simulate_four_bar.py"), run_name="__main__")
    assert sorted(p.name for p in (tmp_path / "four_bar").iterdir()) == ["history.svg", "motion.html", "run.npz"]
    assert "constraints hold to" in capsys.readouterr().out
