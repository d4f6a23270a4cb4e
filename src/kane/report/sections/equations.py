"""The equations of every task as MathML, and the code of every task in other languages."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kane.emit import emit
from kane.emit.equations import Row
from kane.emit.equations import equations as rows_of
from kane.emit.mathml import equation_mathml
from kane.emit.target import make_package
from kane.emit.text import format_text
from kane.equations.derive import Derived
from kane.errors import UnsupportedError

LARGEST = 1_200  # instructions that are written out as formulas at once
LARGEST_TEXT = 12_000  # instructions that are kept as text, typeset some at a time when they are opened
LARGEST_CODE, SHORTEST_LINE = 250_000, 15  # characters of code of one language, of one instruction at least
LANGUAGES = {
    "c": "C", "numpy": "Python (NumPy)", "jax": "JAX", "casadi": "CasADi", "julia": "Julia", "matlab": "MATLAB",
    "rust": "Rust", "latex": "LaTeX", "text": "Text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TaskEquations:
    """One task: groups of (heading, MathML equations), or `late`: of (heading, [[left, right], ...]) as text.

    left_out: why there are none.
    """

    name: str
    method: str
    total: int
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    left_out: str = ""
    late: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class TaskPages:
    """The equations task by task; `data`: the long ones as text, and the names in them."""

    id: ClassVar[str] = "equations"
    title: ClassVar[str] = "Equations"
    template: ClassVar[str] = "equations.html"

    tasks: tuple[TaskEquations, ...]
    data: dict[str, Any]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """One language: files (name, text), and what is not among them, or why there are none."""

    target: str
    language: str
    files: tuple[tuple[str, str], ...]
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """Code of the tasks, one tab a language."""

    id: ClassVar[str] = "code"
    title: ClassVar[str] = "Code"
    template: ClassVar[str] = "code.html"

    tabs: tuple[Tab, ...]


def task_pages(derived: Mapping[str, Derived], note: str = "") -> TaskPages:
    """The equations as derived: constants with their numbers, numbered intermediates, results.

    note: what they leave out.
    """
    tasks = tuple(_task(name, made) for name, made in derived.items())
    late = {task.name: task.late for task in tasks if task.late}
    labels = {label for made in derived.values() for item in made.program.inputs for label in item.labels}
    return TaskPages(tasks, {"tasks": late, "symbols": sorted(labels)} if late else {}, note)


def _task(name: str, made: Derived) -> TaskEquations:
    program = made.program
    total = program.counts.total
    if len(program.state) > LARGEST_TEXT:
        why = f"{len(program.state)} instructions are too many to read as formulas; the code has them."
        return TaskEquations(name, made.method, total, (), why)
    package = make_package([program], program.name, "double", ())
    (table,) = rows_of(package)
    parts = (
        ("Constants", table.constants, True),
        ("Intermediates", table.lines, False),
        ("Results", table.results, False),
    )
    if len(program.state) > LARGEST:
        late = tuple((head, tuple(_as_text(row, valued) for row in rows)) for head, rows, valued in parts if rows)
        return TaskEquations(name, made.method, total, (), late=late)
    groups = tuple((head, tuple(equation_mathml(row, valued) for row in rows)) for head, rows, valued in parts if rows)
    return TaskEquations(name, made.method, total, groups)


def _as_text(row: Row, valued: bool) -> tuple[str, str]:
    """Left and right side; a constant with its number."""
    left, formula, value = row
    if isinstance(left, tuple):
        place = ",".join(map(str, left[1]))
        name = f"{left[0]}_{{{place}}}" if place else left[0]
    else:
        name = left.text
    text = format_text(formula)
    return name, f"{text} = {value}" if valued and value and value != text else text


def code(name: str, derived: Mapping[str, Derived], targets: Sequence[str], notes: Sequence[str]) -> Code:
    """Files of the tasks in each target language."""
    return Code(tuple(_tab(name, derived, target, notes) for target in targets))


def _tab(name: str, derived: Mapping[str, Derived], target: str, notes: Sequence[str]) -> Tab:
    language = LANGUAGES.get(target, target)
    programs = sorted((made.program for made in derived.values()), key=lambda p: len(p.values))
    sizes = itertools.accumulate(len(p.values) for p in programs)
    shown = max(1, sum(size * SHORTEST_LINE <= LARGEST_CODE for size in sizes))
    while shown:  # the longest tasks are left out until the rest is short enough
        chosen = {p.name for p in programs[:shown]}
        own = [made.program for made in derived.values() if made.program.name in chosen]
        try:
            files = emit(own, target=target, name=name, notes=notes)
        except UnsupportedError as error:
            return Tab(target, language, (), str(error))
        if sum(map(len, files.values())) <= LARGEST_CODE:
            break
        shown -= 1
    if shown == len(programs):
        return Tab(target, language, tuple(files.items()))
    absent = ", ".join(p.name for p in programs[shown:])
    why = f"Too long for this page: {absent}; written to files by: kane code ROBOT --target {target}"
    return Tab(target, language, tuple(files.items()) if shown else (), why)
