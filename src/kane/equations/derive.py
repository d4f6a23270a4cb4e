"""One task of a mechanism as a Program: the cheapest of the ways there are to build it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kane.equations.system import Parameters, System, derive_system
from kane.equations.tasks import TASKS, Task, task_program
from kane.errors import UnknownNameError
from kane.graph.arena import Graph, Ref
from kane.graph.program import Program
from kane.mechanism.model import Mechanism

DIVISION = 8  # what a division weighs against a multiplication when ways are compared


@dataclass(frozen=True, slots=True)
class Derived:
    """A task's program, the graph and outputs it was made from, and how."""

    task: str
    frame: str | None
    program: Program
    graph: Graph
    outputs: tuple[tuple[str, tuple[int, ...], tuple[Ref, ...]], ...]
    method: str
    parameters: dict[str, float | None]


def find_task(name: str) -> Task:
    """The task of this name; UnknownNameError lists the names."""
    if name not in TASKS:
        raise UnknownNameError(f"There is no task {name!r}; there are: {', '.join(TASKS)}.", name=name)
    return TASKS[name]


def derive_task(
    mechanism: Mechanism, task: str, frame: str | None = None, parameters: Parameters = "numeric",
    external: Sequence[str] = (),
) -> Derived:
    """The program of one task, each way in a graph of its own; deterministic."""  # fmt: skip
    item = find_task(task)
    ways = [(item.method, item.build), *item.alternatives]
    best: Derived | None = None
    for method, build in ways:
        system: System = derive_system(mechanism, parameters, external)
        outputs = build(system, frame)
        if outputs is None:
            continue
        program = task_program(item, system, outputs, frame)
        kept = tuple((name, tuple(shape), tuple(refs)) for name, shape, refs in outputs)
        made = Derived(task, frame, program, system.g, kept, method, system.parameters)
        if best is None or cost(program) < cost(best.program):
            best = made
    assert best is not None
    return best


def cost(program: Program) -> int:
    """Operations with divisions and roots weighted."""
    counts = program.counts
    return counts.total + DIVISION * (counts.div + counts.sqrt)
