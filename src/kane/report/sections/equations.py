"""The equations of every task as MathML, and the code of every task in other languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kane.emit import emit
from kane.emit.equations import equations as rows_of
from kane.emit.mathml import equation_mathml
from kane.emit.target import make_package
from kane.equations.derive import Derived
from kane.errors import UnsupportedError

LARGEST = 1_200  # instructions that are still written out as formulas
LARGEST_CODE = 150_000  # characters of code of one language
LANGUAGES = {
    "c": "C", "numpy": "Python (NumPy)", "jax": "JAX", "casadi": "CasADi", "julia": "Julia", "matlab": "MATLAB",
    "rust": "Rust", "latex": "LaTeX", "text": "Text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TaskEquations:
    """One task: groups of (heading, MathML equations); `left_out` says why there are none."""

    name: str
    method: str
    total: int
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class TaskPages:
    """The equations task by task."""

    id: ClassVar[str] = "equations"
    title: ClassVar[str] = "Equations"
    template: ClassVar[str] = "equations.html"

    tasks: tuple[TaskEquations, ...]


@dataclass(frozen=True, slots=True)
class Tab:
    """One language: files (name, text), or why there are none."""

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


def task_pages(derived: Mapping[str, Derived]) -> TaskPages:
    """The equations as derived: constants with their numbers, numbered intermediates, results."""
    return TaskPages(tuple(_task(name, made) for name, made in derived.items()))


def _task(name: str, made: Derived) -> TaskEquations:
    program = made.program
    total = program.counts.total
    if len(program.state) > LARGEST:
        why = f"{len(program.state)} instructions are too many to read as formulas; the code has them."
        return TaskEquations(name, made.method, total, (), why)
    package = make_package([program], program.name, "double", ())
    (table,) = rows_of(package)
    parts = (
        ("Constants", table.constants, True),
        ("Intermediates", table.lines, False),
        ("Results", table.results, False),
    )
    groups = tuple((head, tuple(equation_mathml(row, valued) for row in rows)) for head, rows, valued in parts if rows)
    return TaskEquations(name, made.method, total, groups)


def code(name: str, derived: Mapping[str, Derived], targets: Sequence[str], notes: Sequence[str]) -> Code:
    """Files of the tasks in each target language."""
    return Code(tuple(_tab(name, derived, target, notes) for target in targets))


def _tab(name: str, derived: Mapping[str, Derived], target: str, notes: Sequence[str]) -> Tab:
    language = LANGUAGES.get(target, target)
    try:
        files = emit([made.program for made in derived.values()], target=target, name=name, notes=notes)
    except UnsupportedError as error:
        return Tab(target, language, (), str(error))
    size = sum(map(len, files.values()))
    if size > LARGEST_CODE:
        return Tab(target, language, (), f"{size // 1000} kB; written to files by: kane code ROBOT --target {target}")
    return Tab(target, language, tuple(files.items()))
