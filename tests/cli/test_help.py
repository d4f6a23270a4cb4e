"""Help texts name every option and every choice; tables show every number whole."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import kane
from kane.cli import analysis, main
from kane.cli.common import app
from kane.emit import TARGETS
from kane.robots import names

COMMANDS = [name for name in app if not name.startswith("-")]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_is_explained(command: str) -> None:
    arguments = app[command].assemble_argument_collection(parse_docstring=True)
    shown = [item for item in arguments if item.show]
    assert {"--json", "--values"} <= {name for item in shown for name in item.names}
    assert [item.name for item in shown if not item.parameter.help] == []


def test_choices_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    for command, told in (("derive", ("low", "normal", "high", *names())), ("code", tuple(TARGETS))):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        text = " ".join(capsys.readouterr().out.replace("\u2502", " ").split())
        assert [word for word in told if word not in text] == []


@pytest.mark.parametrize("width", [40, 80, 150])
def test_a_wide_matrix_is_printed_whole(width: int) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 9)) * 10.0 ** rng.integers(-9, 9, size=(3, 9))
    rows, columns = ("q1", "q2", "q3"), [f"column {k}" for k in range(9)]
    console = Console(width=width, file=StringIO())
    for table in analysis.tables(rows, columns, values, width):
        console.print(table)
    text = console.file.getvalue()
    assert max(map(len, text.splitlines())) <= width
    assert [x for x in values.flat if f" {x:.6g} " not in text] == []
    assert [name for name in columns if f" {name} " not in text] == []


def test_a_plot_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as end:
        main(["simulate", "two_link", "--out", str(tmp_path / "a.npz"), "--plot", str(tmp_path / "a.pdf")])
    assert end.value.code == 2 and list(tmp_path.iterdir()) == []


def test_what_dynamics_shows_of_itself_is_short() -> None:
    """Programs of a robot have a thousand instructions; their representation, and what holds one, is a line."""
    equations = kane.derive(kane.load("two_link"))
    dynamics = equations.compile(quickest_for="single")
    assert dynamics.mass_matrix(np.zeros(2)).shape == (2, 2)
    program, c = equations.program("mass_matrix"), equations.counts["mass_matrix"]
    assert repr(program) == f"<mass_matrix(q) -> M: {c.mul} mul, {c.add} add, {len(program.values)} instructions>"
    assert len(repr(dynamics.running["mass_matrix"])) < 500
