"""The code in docs/loading.md runs, and what it asserts holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "loading.md"


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert len(blocks) >= 5
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert "puma560" in capsys.readouterr().out
