"""What a target is, and what is handed to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from kane.emit.names import Names, make_names, safe_name
from kane.emit.numbers import Precision, baked_constants
from kane.errors import InputError, UnsupportedError
from kane.graph.functions import FUNCTIONS
from kane.graph.program import Input, Program

# what the frames of the targets call their own
LOCAL = ("k", "i", "n", "bad", "batch", "out", "differs", "state", "number_type", "kind", "angles", "sines", "cosines")


class Target(Protocol):
    """A language or notation.  A module of kane.emit that defines TARGET is a target; nothing else has to be changed.

    1. `name` is what the caller passes as `target`; it is stable.
    2. `fused` says whether programs come with `fma` instructions (a * b + c, rounded once) or without.
    3. `render` is a pure function of the package: no clock, no environment, no order of sets; same input, same bytes.
    4. It returns file name -> text; every text ends with a newline; nothing is written to disk.
    5. Numbers are printed with numbers.rounded and numbers.shortest, never with a fixed number of digits.
    6. Names come from `package.names` (quantities), `package.arrays` (arguments) and `package.tasks` (functions);
       the table of names that differ from the user's is part of the output, as are counts, notes and argument order.
    7. A function that the language does not have is refused with UnsupportedError that names it and the target.
    8. Operands keep the association of the program, so that the operations counted are the operations emitted.
    """

    @property
    def name(self) -> str: ...

    @property
    def fused(self) -> bool: ...

    def render(self, package: Package) -> dict[str, str]: ...


@dataclass(frozen=True, slots=True)
class Package:
    """Programs with everything that a target needs to print them.

    `baked[k]` holds the values of the constants of program k that no run-time parameter enters, to 60 digits.
    """

    name: str
    title: str
    programs: tuple[Program, ...]
    precision: Precision
    notes: tuple[str, ...]
    names: Names
    arrays: Names
    tasks: Names
    baked: tuple[dict[int, Fraction], ...]

    def function(self, program: Program) -> str:
        """The name of a task's function."""
        return f"{self.name}_{self.tasks.code[program.name]}"

    def output(self, program: Program, name: str) -> str:
        """The name of an output argument (another than that of an input of the same name)."""
        code = self.arrays.code[name]
        return _out(code) if any(i.name == name for i in program.inputs) else code

    @property
    def parameters(self) -> tuple[Input, ...]:
        """The arrays of run-time parameters, each once."""
        return tuple({i.name: i for p in self.programs for i in p.inputs if i.kind == "parameter"}.values())


def _out(code: str) -> str:
    return f"{code.rstrip('_')}_out"


def arguments(program: Program) -> tuple[tuple[int, Input], ...]:
    """The input arrays with their positions in the program, state first, parameters last."""
    numbered = tuple(enumerate(program.inputs))
    return tuple(x for x in numbered if x[1].kind == "state") + tuple(x for x in numbered if x[1].kind == "parameter")


ARITHMETIC = frozenset(("input", "num", "pi", "add", "mul", "fma", "div", "sqrt", "sin", "cos"))


def refuse_unknown(package: Package, target: str) -> None:
    """UnsupportedError for an operation that is neither arithmetic nor in the table of functions."""
    for program in package.programs:
        for value in program.values:
            if value.op not in ARITHMETIC and value.op not in FUNCTIONS:
                raise unsupported(target, value.op, program.name)


def unsupported(target: str, op: str, task: str) -> UnsupportedError:
    """The error of a function that a target cannot print."""
    return UnsupportedError(
        f"target {target!r} has no function {op!r} (needed by {task})",
        name=op,
        element=task,
        remedy=f"Leave the term out, choose another target, or add {op!r} to the target's table.",
    )


def make_package(programs: Sequence[Program], name: str, precision: Precision, notes: Sequence[str]) -> Package:
    """Names, constants and notes of these programs.

    Raises InputError when two tasks have one name, or an input array has other elements in another task.
    """
    seen: dict[str, Input] = {}
    tasks: set[str] = set()
    for program in programs:
        if program.name in tasks:
            message = f"two tasks are called {program.name!r}"
            raise InputError(message, name=program.name, remedy="Rename one (Program.renamed).")
        tasks.add(program.name)
        for item in program.inputs:
            if seen.setdefault(item.name, item) != item:
                raise InputError(
                    f"input {item.name!r} of {program.name!r} has other elements or another kind in another task",
                    name=item.name,
                    value=item.labels,
                    remedy="Give the arrays different names.",
                )
    arrays = make_names([*seen, *(out.name for p in programs for out in p.outputs)], reserved=LOCAL)
    labels = [label for item in seen.values() for label in item.labels]
    codes = set(arrays.code.values())
    names = make_names(labels, reserved=codes | {_out(c) for c in codes} | set(LOCAL))
    return Package(
        name=safe_name(name).rstrip("_"),  # always followed by _task or .suffix, so a keyword is no harm
        title=name,
        programs=tuple(programs),
        precision=precision,
        notes=tuple(notes),
        names=names,
        arrays=arrays,
        tasks=make_names(sorted(tasks), reserved=("constants", "selftest", "example")),
        baked=tuple(baked_constants(p) for p in programs),
    )
