"""The table of `kane counts`: what a task costs by each method, and what each pass of the search saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kane.equations.derive import derive_task, find_task
from kane.equations.system import Parameters, derive_system
from kane.equations.tasks import task_program
from kane.errors import KaneError
from kane.explicit.model import explicit_model
from kane.explicit.program import TASKS as EXPLICIT_TASKS
from kane.explicit.program import program as explicit_program
from kane.graph.program import OperationCounts, Program
from kane.mechanism.model import Mechanism
from kane.search.local import Saved
from kane.search.optimise import Effort, Searched, check_effort, optimise

EXPLICIT_TERMS = 250  # terms of the mass matrix up to which explicit inverse dynamics are factored (seconds)


@dataclass(frozen=True, slots=True)
class Row:
    """A method's counts for a task; `constants`: operations that depend on parameters only, computed once."""

    task: str
    method: str
    counts: OperationCounts
    constants: OperationCounts
    best: bool = False

    def as_dict(self) -> dict[str, object]:
        return {
            "task": self.task, "method": self.method, "counts": self.counts.as_dict(),
            "constants": self.constants.as_dict(), "best": self.best,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class MethodTable:
    """Rows of one task, the trail of the search, and notes on methods that do not serve it."""

    task: str
    rows: tuple[Row, ...]
    trail: tuple[Saved, ...]
    notes: tuple[str, ...]
    searched: Searched

    def as_dict(self) -> dict[str, object]:
        """The parts of the JSON object of `kane counts`."""
        return {
            "tasks": [row.as_dict() for row in self.rows],
            "trail": [row.as_dict() for row in self.trail],
            "notes": list(self.notes),
        }


def method_table(
    mechanism: Mechanism, task: str, effort: Effort = "normal", frame: str | None = None,
    parameters: Parameters = "numeric", external: Sequence[str] = (),
) -> MethodTable:  # fmt: skip
    """What the task costs by each method.

    "raw expanded": outputs written out, nothing shared; "generic recursion": parameters of the links as they are;
    "customised recursion": base parameters; "explicit": trigonometric polynomials, factored; "searched": what optimise
    finds. Raises InputError for another effort and what derive_task raises.
    """
    check_effort(effort)
    searched = optimise(mechanism, task, frame, parameters, external, effort)
    programs = [("generic recursion", _generic(mechanism, task, frame, parameters, external))]
    programs.append(("customised recursion", searched.unsearched))
    notes = [searched.note] if searched.note else []
    if task in EXPLICIT_TASKS and not external and parameters == "numeric":
        explicit, note = _explicit(mechanism, task)
        notes += [note] if note else []
        programs += [("explicit", explicit)] if explicit is not None else []
    programs.append(("searched", searched.program))
    rows = [Row(task, "raw expanded", unshared(searched.unsearched), OperationCounts())]
    rows += [Row(task, method, program.counts, program.constant_counts) for method, program in programs]
    least = min(row.counts.total for row in rows)
    best = max(k for k, row in enumerate(rows) if row.counts.total == least)
    marked = tuple(replace(row, best=k == best) for k, row in enumerate(rows))
    return MethodTable(task, marked, searched.trail, tuple(notes), searched)


def _generic(
    mechanism: Mechanism, task: str, frame: str | None, parameters: Parameters, external: Sequence[str]
) -> Program:
    """The task's first method with the links' own parameters instead of base parameters."""
    if find_task(task).per_frame:
        return derive_task(mechanism, task, frame, parameters, external).program
    item, system = find_task(task), derive_system(mechanism, parameters, external)
    system = replace(system, bodies=system.plain)
    return task_program(item, system, item.build(system, frame), frame)


def _explicit(mechanism: Mechanism, task: str) -> tuple[Program | None, str]:
    """The explicit model's program, or why there is none."""
    try:
        model = explicit_model(mechanism)
    except (KaneError, ValueError) as error:
        return None, f"No explicit model: {error}"
    terms = sum(len(element) for row in model.A for element in row)
    if task == "inverse_dynamics" and terms > EXPLICIT_TERMS:
        return None, f"The explicit inverse dynamics is not factored: its mass matrix has {terms} terms."
    return explicit_program(model, task), ""


def unshared(program: Program) -> OperationCounts:
    """Operations of the outputs written out as formulas, each value computed again wherever it is used."""
    names = ("mul", "add", "div", "sqrt")
    written: list[tuple[int, ...]] = []
    for index, (op, args, _, _) in enumerate(program.values):
        if index < program.first_state or op in ("sin", "cos"):
            written.append((0,) * len(names))
            continue
        own = [int(op == name or (op == "fma" and name in ("mul", "add"))) for name in names]
        written.append(tuple(o + sum(written[a >> 1][i] for a in args) for i, o in enumerate(own)))
    totals = [sum(written[ref >> 1][i] for out in program.outputs for ref in out.refs) for i in range(len(names))]
    mul, add, div, sqrt = totals
    counts = program.counts
    return OperationCounts(mul, add, div, sqrt, counts.trig, counts.trig_arguments, counts.functions)
