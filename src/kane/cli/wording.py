"""Messages of the library in the words of a command: `snap=1e-5` is `--snap 1e-5` there.

Errors, findings and notes name the arguments of functions.  Where the command has an option for an argument its remedy
names the option, with the value that it would take.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable
from functools import cache

from kane.cli.common import app
from kane.errors import KaneError

# what is said for Python beside the option, or has an option of another form
_PHRASES: tuple[tuple[str, str], ...] = (
    (r"robot\.with_parameters\(.*?\), or (--values)", r"\1"),
    (r" in `parameters`, or (--values)", r" by \1"),
    (r"Identifier\(.*?\), or (--consistent)", r"\1"),
    (r"(--values \S+) in a command", r"\1"),
    (r"(--[a-z]+ \S+) \([a-z]+=[^()]*\)", r"\1"),  # --snap 1e-5 (snap=1e-5)
    (r"[a-z]+=[^\s()]+ \((--[a-z]+ [^()]+)\)", r"\1"),  # nonphysical="accept" (--nonphysical accept)
    (r"(?<=\]) \(--[a-z]+\)", ""),  # folders=['x'] (--folder)
    (r'q = \[(.*?)\], u = \[(.*?)\]; start="correct" takes it', r"--q=[\1] --qd=[\2]"),
    (r"Resample with signals\.resampled", "Resample it evenly"),
    (r" \(one with rest=False\)", ""),
    (r'Derive with (parameters="symbolic") or with a list of names', r"In Python: kane.derive(robot, \1)"),
)
_SINGULAR = {"folders": "folder"}
_LIST = re.compile(r"--(q|qd)=\[([^\]]*)\]")
_NUMBERS = ("snap", "step")  # arguments whose numbers are given; q=0.5 may be a coordinate
_ARGUMENT = re.compile(r"(?<![\w\"'-])([a-z_]+)=(\[[^\]]*\]|\"[^\"]*\"|'[^']*'|-?[\w.+-]*\w|(?=[\s,]))(?![\w=(])")
_FRAME = re.compile(r"frame=('[^']*'|\"[^\"]*\")")


@cache
def options_of(command: str) -> frozenset[str]:
    """The names of a command's options, without hyphens; none for what is no command."""
    if command.startswith("-") or command not in set(app):
        return frozenset()
    names = (name for item in app[command].assemble_argument_collection() for name in item.names)
    return frozenset(name.removeprefix("--") for name in names)


def typed(text: str, command: str, task: str = "") -> str:
    """The text with options of the command for arguments of functions; task: what a frame is asked for by."""
    for pattern, replacement in _PHRASES:
        text = re.sub(pattern, replacement, text)
    text = _LIST.sub(lambda found: f"--{found[1]}={found[2].replace(' ', '')}", text)
    options = options_of(command)
    if "task" in options and task:
        text = _FRAME.sub(lambda found: f"--task {shlex.quote(f'{task}:{ast.literal_eval(found[1])}')}", text)
    return _ARGUMENT.sub(_option(options), text)


def _option(options: frozenset[str]) -> Callable[[re.Match[str]], str]:
    def option(found: re.Match[str]) -> str:
        name = _SINGULAR.get(found[1], found[1])
        if name not in options:
            return found[0] if found[2] else found[1]
        if found[2] in ("", "True"):
            return f"--{name}"
        try:
            value = ast.literal_eval(found[2])
        except (ValueError, SyntaxError):
            value = found[2]
        if isinstance(value, (int, float)):
            return f"--{name} {found[2]}" if name in _NUMBERS else found[0]
        values = value if isinstance(value, list) else [value]
        return " ".join(f"--{name} {shlex.quote(str(one))}" for one in values)

    return option


def in_words_of(error: KaneError, command: str) -> KaneError:
    """The error, with a remedy that can be typed behind the command."""
    if error.remedy:
        error.remedy = typed(error.remedy, command, error.name or "")
    return error
