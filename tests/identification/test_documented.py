"""The snippets of docs/identification.md run and print what they say."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "identification.md"


@pytest.mark.filterwarnings("ignore::kane.identification.identifier.IdentificationWarning")
def test_snippets_run(tmp_path, monkeypatch, capsys):
    pytest.importorskip("clarabel")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    source = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S))
    exec(compile(source, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == "40"
    assert "link2.hx + 0.4318*link3.m" in printed and "('link1.m', 'link1.hx', 'link1.hy', 'link1.hz')" in printed
    assert "link3.mass   4.8000 +- 0.0041" in printed
    assert (tmp_path / "motion.csv").read_text().startswith("t,q_joint1,")
    assert names["K"].shape == (40, 66)
    assert names["found"].condition < min(names["found"].random)
    assert names["known"].consistent_ is not None
