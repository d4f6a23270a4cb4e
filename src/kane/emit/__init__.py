"""Programs in another language: `emit` gives file names and texts, `write_files` puts them on disk.

A target is a module of this package that defines TARGET (target.py lists its obligations): add a file, nothing else.
Programs are the only input; nothing here knows mechanics, measures, or keeps anything between calls.

- names.py, numbers.py, target.py: safe names, rounded numbers, the package that a target prints.
- code.py: statements in any language; c, numpy_, jax_, casadi_, julia, matlab, rust frame them.
- expression.py, render.py, equations.py, display.py: formulas for people; text, latex, mathml write them; sympy_.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules

from kane.emit.numbers import Precision
from kane.emit.target import Package, Target, make_package
from kane.emit.write import write_files
from kane.errors import UnknownNameError
from kane.graph.program import Program
from kane.rewrite.fuse import fuse


def _targets() -> dict[str, Target]:
    """The TARGET of every module of this package that has one."""
    modules = (import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__))
    found = [module.TARGET for module in modules if hasattr(module, "TARGET")]
    return {target.name: target for target in sorted(found, key=lambda t: str(t.name))}


TARGETS: dict[str, Target] = _targets()


def emit(
    programs: Program | Sequence[Program],
    target: str = "c",
    name: str = "model",
    precision: Precision = "double",
    notes: Sequence[str] = (),
) -> dict[str, str]:
    """File names and texts of a program, or of several (one a task), in a target language; nothing is written to disk.

    `name` begins the names of files and functions; `notes` (units, conventions, approximations) go into the header.
    Raises UnknownNameError for a target that is not there, UnsupportedError for a function that the target lacks,
    InputError for tasks that contradict each other.
    """
    if target not in TARGETS:
        raise UnknownNameError(
            f"There is no target {target!r}.", name=target, value=target, remedy=f"There are: {', '.join(TARGETS)}."
        )
    if precision not in ("double", "float"):
        remedy = "There are: double, float."
        raise UnknownNameError(f"There is no precision {precision!r}.", name=precision, remedy=remedy)
    chosen = TARGETS[target]
    programs = [programs] if isinstance(programs, Program) else programs
    ready = [fuse(p) for p in programs] if chosen.fused else list(programs)
    return chosen.render(make_package(ready, name, precision, notes))


__all__ = ["TARGETS", "Package", "Target", "emit", "write_files"]
