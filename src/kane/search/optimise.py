"""The program of a task with the fewest operations that the search finds.

Stages, each kept only when it saves: origins of the links on their axes and base parameters (formulation.py); all
forms of the
recursion side by side, each value computed by the cheapest (recursion.py, rewrite/select.py); values that are sums,
products or
multiples of others (rewrite/pairs.py).  What comes out is proved equal to the unsearched program at random primes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from kane.equations.derive import DIVISION, cost, derive_task, find_task
from kane.equations.system import Parameters, System, derive_system
from kane.equations.tasks import task_program
from kane.errors import InputError, KaneError
from kane.graph.evaluate import equal
from kane.graph.program import Program
from kane.mechanism.model import Mechanism
from kane.rewrite.alternatives import Alternatives, load, written
from kane.rewrite.pairs import saturate
from kane.rewrite.select import Selection, anneal
from kane.search.formulation import Formulation, descend, formulated, operations, wander
from kane.search.tasks import BUILDS, serves

Effort = Literal["low", "normal", "high"]


@dataclass(frozen=True, slots=True)
class Saved:
    """One row of the trail: what a pass saved."""

    task: str
    step: str
    saved_mul: int
    saved_add: int

    def as_dict(self) -> dict[str, str | int]:
        return {"task": self.task, "pass": self.step, "saved_mul": self.saved_mul, "saved_add": self.saved_add}


@dataclass(frozen=True, slots=True)
class Searched:
    """The cheapest program found, the unsearched one, what each pass saved, and a message where nothing was tried."""

    task: str
    program: Program
    unsearched: Program
    method: str
    trail: tuple[Saved, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Budget:
    """shortlist: splits tried a turn; sweeps over the turns; wander: steps of annealing over formulations; steps of local search a value in use; rounds of it;
    heat; seeds;
    largest: operations up to which pairs of all values are compared."""

    shortlist: int
    sweeps: int
    wander: int
    steps: int
    rounds: int
    heat: float
    seeds: int
    largest: int = 900


BUDGETS = {"normal": Budget(2, 1, 400, 45, 2, 0.3, 1), "high": Budget(6, 2, 4000, 150, 5, 0.35, 3, 2500)}


def check_effort(effort: str) -> None:
    """InputError for an effort that does not exist."""
    if effort not in get_args(Effort):
        raise InputError(
            f"There is no effort {effort!r}.", name="effort", value=effort, remedy="Use low, normal or high."
        )


def optimise(
    mechanism: Mechanism, task: str, frame: str | None = None, parameters: Parameters = "numeric",
    external: Sequence[str] = (), effort: Effort = "normal", seed: int = 0,
) -> Searched:  # fmt: skip
    """The task's program with the fewest operations found; deterministic for a seed.

    effort: "low" tries the places of the links' origins only; "normal" all passes; "high" more of each.
    Raises InputError for another effort and what derive_task raises.  What cannot be searched comes back as derived,
    with a note.
    """
    check_effort(effort)
    derived = derive_task(mechanism, task, frame, parameters, external)
    unsearched = Searched(task, derived.program, derived.program, derived.method)
    if mechanism.constraints:
        return replace(unsearched, note=f"{mechanism.name} has constraints: {task} is shown as derived, not searched.")
    try:
        return _searched(unsearched, mechanism, parameters, external, effort, seed)
    except (KaneError, ZeroDivisionError) as error:
        return replace(unsearched, note=f"{task} is shown as derived: the search stopped at {error}")


def _searched(
    start: Searched, mechanism: Mechanism, parameters: Parameters, external: Sequence[str], effort: Effort, seed: int
) -> Searched:
    task, best = start.task, start.program
    trail: list[Saved] = []
    system = derive_system(mechanism, parameters, external)
    formulation: Formulation | None = None
    served = serves(system, task, external)
    small = start.program.counts.total <= BUDGETS["high"].largest
    if served and (effort == "low" or small):
        formulation = _formulation(system, task, effort, seed)
        plain = _plain(system, task, formulation)
        if plain is not None and cost(plain) < cost(best):
            best = _kept(trail, task, "origins and base parameters", best, plain)
        else:
            formulation = Formulation() if formulation != Formulation() else formulation
    if effort != "low":
        best = _local(best, mechanism, parameters, task, formulation, BUDGETS[effort], seed, trail)
    if best is start.program or not equal(best, start.program):
        return start
    return replace(start, program=best, method="searched", trail=tuple(trail))


def _kept(trail: list[Saved], task: str, step: str, old: Program, new: Program) -> Program:
    a, b = old.counts, new.counts
    trail.append(Saved(task, step, a.mul - b.mul, a.add - b.add))
    return new


def _plain(base: System, task: str, formulation: Formulation) -> Program | None:
    """The task's program in a formulation, nothing searched in it."""
    system = formulated(base, formulation)
    if system is None:
        return None
    outputs = BUILDS[task](system, dict(formulation.forms), False)
    return task_program(find_task(task), system, outputs)


def _formulation(system: System, task: str, effort: Effort, seed: int) -> Formulation:
    """The formulation whose plain program is cheapest."""

    def price(formulation: Formulation) -> float:
        trial = formulated(system, formulation)
        if trial is None:
            return float("inf")
        return operations(trial.g, [r for _, _, refs in BUILDS[task](trial, dict(formulation.forms), False) for r in refs])

    if effort == "low":
        return descend(system, price, shortlist_size=0, sweeps=0)
    budget = BUDGETS[effort]
    found = descend(system, price, budget.shortlist, budget.sweeps)
    return wander(system, price, found, budget.wander, seed)


def _local(
    best: Program, mechanism: Mechanism, parameters: Parameters, task: str, formulation: Formulation | None,
    budget: Budget, seed: int, trail: list[Saved],
) -> Program:  # fmt: skip
    """Local search over the ways to compute each value."""
    graph = Alternatives()
    outputs = None
    if formulation is not None:
        system = formulated(derive_system(mechanism, parameters, (), graph), formulation, fresh=False)
        assert system is not None
        made = BUILDS[task](system, dict(formulation.forms), True)
        first = task_program(find_task(task), system, made)
        if cost(first) <= cost(best):
            outputs = [list(refs) for _, _, refs in made]
    if outputs is None:
        outputs = load(best, graph)
    flat = [ref for refs in outputs for ref in refs]
    selection = Selection(graph, flat, {})
    steps = budget.steps * len(selection.way)
    if formulation is not None:
        anneal(selection, seed, steps, budget.heat)
        best = _better(trail, task, "forms side by side", best, graph, outputs, selection)
    for number in range(budget.rounds):
        saturate(graph, selection.in_use(), budget.largest)
        kept = dict(selection.way)
        price = selection.price
        for attempt in range(budget.seeds):
            selection.adopt(kept)
            anneal(selection, 1000 * seed + 10 * number + attempt, steps, budget.heat)
            if selection.price < price:
                kept, price = dict(selection.way), selection.price
        selection.adopt(kept)
        best = _better(trail, task, f"sums and products of other values, round {number + 1}", best, graph, outputs, selection)
    return best


def _better(
    trail: list[Saved], task: str, step: str, best: Program, graph: Alternatives, outputs: list[list[int]],
    selection: Selection,
) -> Program:  # fmt: skip
    program = written(graph, best, outputs, selection.way)
    if cost(program) < cost(best):
        return _kept(trail, task, step, best, program)
    return best


__all__ = ["DIVISION", "Budget", "Effort", "Saved", "Searched", "check_effort", "optimise"]
