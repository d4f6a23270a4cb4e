"""The page on Kane's method and the examples run as they stand."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_runs(capsys):
    text = (ROOT / "docs" / "kane-method.md").read_text()
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, names)
    printed = capsys.readouterr().out
    assert "a_P2: missing L*u2' b2; wrong -L*u2' b2." in printed
    assert "L (a2 + b2)" in printed
    assert names["right"].equal and len(names["rolling"].kane.rows) == len(names["other"].kane.rows) == 3
    assert r"\boldsymbol{\alpha}" in names["fragment"] and r"\end{document}" in names["document"]
    *_, printed_rates, shapes = printed.splitlines()
    last = np.array(printed_rates.strip("[] ").split(), float)
    assert shapes.startswith("(12, 12) (12, 6) ('tau1',") and np.abs(names["linear"].offset).max() < 1e-12
    assert np.allclose(names["motion"].udot, last, rtol=1e-6)


@pytest.mark.parametrize("name", ["two_link", "rp_robot"])
def test_examples_print_their_steps(name, capsys):
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "8. Kane's equations" in printed
