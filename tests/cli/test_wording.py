"""Remedies name options where a command has them: what is typed in Python is of no use on the command line."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import kane
from kane.cli import main
from kane.cli.common import app
from kane.cli.wording import options_of, typed

SOURCE = Path(kane.__file__).parent
COMMANDS = [name for name in app if not name.startswith("-")]
KEYWORD = re.compile(r"(?<![\w\"'-])([a-z_]+)=(?=[\"'\[]|True|False|$|[\d.])")
# arguments that no command has an option for, and no refusal of a command names
PYTHON_ONLY = {
    "dtype", "phase",  # NumPy's, a plot's
    "frame", "rest", "start", "parameters",  # said in other words
    "folders",  # --folder
    "accept",  # completed below
}  # fmt: skip


def remedies() -> Iterator[tuple[str, str]]:
    """File and constant text of every remedy in the source."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            values = [k.value for k in node.keywords if k.arg == "remedy"] if isinstance(node, ast.Call) else []
            for value in values:
                parts = [n.value for n in ast.walk(value) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
                yield str(path.relative_to(SOURCE)), "".join(parts)


def test_every_argument_in_a_remedy_is_an_option_or_known_to_have_none() -> None:
    options = set().union(*(options_of(command) for command in COMMANDS))
    found = {(file, name) for file, text in remedies() for name in KEYWORD.findall(text)}
    assert len(found) > 10
    assert {pair for pair in found if pair[1] not in options | PYTHON_ONLY} == set()


@pytest.mark.parametrize(
    ("command", "text", "said"),
    [
        ("identify", "If it is right, pass accept=['units'].", "If it is right, pass --accept units."),
        ("identify", "Give another name, or overwrite=True.", "Give another name, or --overwrite."),
        ("identify", "Look at the residuals; try method='wls'.", "Look at the residuals; try --method wls."),
        ("identify", "friction? Pass friction='all'.", "friction? Pass --friction all."),
        ("identify", "Fit: Identifier(..., consistent=True), or --consistent.", "Fit: --consistent."),
        ("check", 'Take it with nonphysical="accept" (--nonphysical accept).', "Take it with --nonphysical accept."),
        ("check", "With folders=['/a b', '/c'] (--folder), or copy.", "With --folder '/a b' --folder /c, or copy."),
        ("derive", 'Without it: constraints="ignore".', "Without it: --constraints ignore."),
        ("check", "Read the file without strict=True.", "Read the file without --strict."),
        ("check", "--snap 1e-5 (snap=1e-5) makes them exact", "--snap 1e-5 makes them exact"),
        ("simulate", "Pass step=1e-3, for example.", "Pass --step 1e-3, for example."),
        ("simulate", 'Use method="DOP853".', "Use --method DOP853."),
        ("simulate", "Give robot.with_parameters({'a': 2.5}), or --values a=2.5 in a command.", "Give --values a=2.5."),
        ("explicit", "Give it in `parameters`, or --values a=2.5 in a command.", "Give it by --values a=2.5."),
        ("explicit", "Give it with lower= and upper=, or add it.", "Give it with --lower and --upper, or add it."),
        ("excite", "Give lower= and upper= within 1e+06.", "Give lower and upper within 1e+06."),
        ("simulate", 'It is q = [1, -2], u = [0, 3]; start="correct" takes it.', "It is --q=1,-2 --qd=0,3."),
    ],
)  # fmt: skip
def test_arguments_become_options(command: str, text: str, said: str) -> None:
    assert typed(text, command) == said


@pytest.mark.parametrize(
    "text",
    [
        "Give one for each of q, u, or some by name: q=0.5.", "Write L1=0.4,m2=1.2.", "Pass --values a=...,b=...",
        "Give another name, or --overwrite.", 'Add the comment "# standard DH".', "Declare parameters by name=value.",
        'Write two axes of x, y, z; convention = "modified" in TOML.', "Use one of: 'fixed', 'floating'.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", [*COMMANDS, "", "puma560"])
def test_other_words_stay(command: str, text: str) -> None:
    assert typed(text, command) == text


def test_no_option_is_made_up() -> None:
    """A command that lacks an option is not told of it."""
    text = "Use method=\"DOP853\", overwrite=True, accept=['units'] or friction='all'."
    assert typed(text, "check") == text


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[str, dict[str, object]]:
    """What is printed, and the error object."""
    texts = []
    for more in ((), ("--json",)):
        with pytest.raises(SystemExit) as end:
            main([*map(str, arguments), *more])
        assert end.value.code == 2
        out, err = capsys.readouterr()
        texts.append(out if more else err)
    error = json.loads(texts[1])["error"]
    assert texts[0].strip().endswith(str(error["remedy"]))
    return texts[0], error


def test_refusals_of_commands(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "arm.csv"
    table.write_text("joint,alpha,a,d,theta,mass\n1,0,1,0,q1,1\n")
    text, _ = refusal(capsys, "check", table)
    assert "--convention standard or --convention modified" in text and 'convention="' not in text
    for command in ("counts", "code"):
        text, _ = refusal(capsys, command, "puma560", "--task", "jacobian")
        assert "For example --task jacobian:link6." in text
    heavy = tmp_path / "heavy.urdf"
    moments = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    inertial = f'<inertial><mass value="1"/>{moments}</inertial>'
    heavy.write_text(f'<robot name="r"><link name="a"/><link name="b">{inertial}</link>{joint}</robot>')
    text, _ = refusal(capsys, "check", heavy)
    assert "--nonphysical accept" in text and "nonphysical=" not in text


def test_loops_of_mjcf(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    path = tmp_path / "loop.xml"
    body = '<body name="b"><joint name="j"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
    loop = '<equality><weld body1="b"/></equality>'
    path.write_text(f"<mujoco><worldbody>{body}</worldbody>{loop}</mujoco>")
    text, _ = refusal(capsys, "check", path)
    assert text.strip().endswith("--constraints ignore.")
