"""One task of a mechanism as a Program: the cheapest of the ways there are to build it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kane.equations.system import Parameters, System, derive_system
from kane.equations.tasks import TASKS, Task, task_program
from kane.errors import UnknownNameError, UnsupportedError
from kane.graph.arena import Graph, Ref
from kane.graph.program import Program
from kane.mechanism.beams import Beam
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.loads import SpinningRotor
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
    mechanism: Described, task: str, frame: str | None = None, parameters: Parameters = "numeric",
    external: Sequence[str] = (),
) -> Derived:
    """The program of one task of the tree of joints, each way in a graph of its own; deterministic.

    Loads and constraints are no part of these tasks (projection.kane_equations and simulation have them).
    Raises UnknownNameError for a task of a frame without one, UnsupportedError for elements that carry inertia of their
    own: beams and spinning rotors among the loads.
    """  # fmt: skip
    mechanism = mechanism_of(mechanism)
    item = find_task(task)
    check_frame(mechanism, task, frame)
    _refuse_inertia_elsewhere(mechanism, task)
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


def check_frame(mechanism: Mechanism, task: str, frame: str | None) -> None:
    """UnknownNameError for a task of a frame that is asked for without one."""
    if frame is None and find_task(task).per_frame:
        frames = [link.name for link in mechanism.links] + [frame.name for frame in mechanism.frames]
        raise UnknownNameError(
            f"{task} wants the name of a frame or link.", name=task, remedy=f"For example frame={frames[-1]!r}."
        )


def _refuse_inertia_elsewhere(mechanism: Mechanism, task: str) -> None:
    """Tasks of the tree would leave this inertia out without a word."""
    for load in mechanism.loads:
        if isinstance(load, (Beam, SpinningRotor)):
            raise UnsupportedError(
                f"{task} serves trees of rigid bodies; {load.name!r} has inertia of its own.", name=load.name,
                remedy="Use kane.equations.projection.kane_equations, or kane simulate.",
            )  # fmt: skip


def cost(program: Program) -> int:
    """Operations with divisions and roots weighted."""
    counts = program.counts
    return counts.total + DIVISION * (counts.div + counts.sqrt)
