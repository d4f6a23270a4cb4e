"""What a task is: a named function of the state, built from a System."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kane.equations.system import System
from kane.graph.arena import Ref
from kane.graph.program import Program, build_program

Outputs = Sequence[tuple[str, tuple[int, ...], Sequence[Ref]]]


@dataclass(frozen=True, slots=True)
class Task:
    """The obligations of a task.

    1. `name`, unique.  2. `inputs`: names of its input arrays (q, qd, qdd, tau; other names are vectors over the
    speeds).  3. `build(system, frame)` gives outputs (name, shape, references), the same for every call.  4.
    `per_frame`: whether it wants a frame.  5. `external`: whether external wrenches are added to its inputs.  6.
    `alternatives`: other ways to build the same outputs; the cheapest is taken.  7. `by_parameters`: whether it wants
    parameters that are run-time inputs.
    """

    name: str
    inputs: tuple[str, ...]
    build: Callable[[System, str | None], Outputs]
    per_frame: bool = False
    external: bool = False
    alternatives: tuple[tuple[str, Callable[[System, str | None], Outputs | None]], ...] = ()
    method: str = "recursive"
    by_parameters: bool = False


def task_program(task: Task, system: System, outputs: Outputs, frame: str | None = None) -> Program:
    """The program of a task's outputs; time, where some motion is prescribed, and parameters come last."""
    names = list(task.inputs)
    if task.external and system.external:
        names.append("w")
    if system.uses_time:
        names.append("t")
    inputs = [system.input(name) for name in names]
    if system.parameters:
        inputs.append(system.input("p"))
    title = f"{task.name}_{frame}" if frame else task.name
    return build_program(system.g, title, inputs, outputs)
