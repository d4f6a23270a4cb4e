"""The program of a task with the fewest operations that the search finds.

Passes, each kept only when it saves: origins of the links on their axes, base parameters and forms of the inertia
forces (formulation.py); all forms of the recursion side by side, each value computed by the cheapest (recursion.py,
rewrite/select.py); values that are sums or products of others (rewrite/pairs.py).  What comes out is proved equal to
the unsearched program at random primes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from kane.equations.derive import cost, derive_task, find_task
from kane.equations.system import Parameters, System, derive_system
from kane.equations.tasks import task_program
from kane.errors import InputError, KaneError
from kane.graph.arena import Ref
from kane.graph.evaluate import equal
from kane.graph.program import Program
from kane.mechanism.model import Mechanism
from kane.rewrite.alternatives import Alternatives, load, written
from kane.rewrite.pairs import Doubles, PairTable, saturate
from kane.rewrite.rules import ask_by_rules
from kane.rewrite.scale import rescale
from kane.rewrite.select import Selection, anneal
from kane.rewrite.sums import regroup_sums
from kane.search.agree import agree
from kane.search.formulation import Formulation, Price, descend, formulated, operations, quick, wander
from kane.search.speeds import find_runs
from kane.search.tasks import BUILDS, DERIVATIVES, explicit_programs, serves

Effort = Literal["low", "normal", "high"]
LONGEST = 20  # joints of a robot whose derivatives are also tried in the formulation of its mass matrix
EXPLICIT = ("mass_matrix", "gravity_forces", "forward_dynamics")  # tasks that may borrow from the explicit model


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
    formulation: Formulation | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """What an effort may spend.

    shortlist: splits tried at a turn; sweeps: over the turns; wander: steps of annealing over formulations; steps: of
    local search a value in use; rounds: of pairs and local search; heat and seeds of the latter; largest: values that
    are all compared with each other; recursion: operations up to which formulations are tried one by one; most: steps
    of local search altogether; units: times that units are looked for.
    """

    shortlist: int
    sweeps: int
    wander: int
    steps: int
    rounds: int
    heat: float
    seeds: int
    largest: int
    recursion: int
    most: int
    units: int


BUDGETS: dict[str, Budget] = {
    "low": Budget(0, 0, 0, 0, 0, 0.0, 0, 0, 600, 0, 0),
    "normal": Budget(2, 1, 2500, 50, 3, 0.3, 1, 900, 1500, 18_000, 2),
    "high": Budget(6, 2, 4000, 150, 5, 0.35, 3, 2500, 6000, 400_000, 4),
}


BRIEF = 40  # motions up to which low effort tries formulations
UNITS = "units in which constants are 1"
OTHERS = "sums and products of other values"
PLACES = "origins, base parameters, forms of inertia forces"  # steps of the trail
SUMS = "speeds: rates summed over parallel axes"
PROOFS = {"low": 1, "normal": 3, "high": 3}  # random primes; one leaves a chance of error below 1e-20


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

    effort: "low" tries the places of the links' origins only; "normal" all passes; "high" more of each. Raises
    InputError for another effort and what derive_task raises.  What cannot be searched comes back as derived, with a
    note.
    """
    check_effort(effort)
    derived = derive_task(mechanism, task, frame, parameters, external)
    start = Searched(task, derived.program, derived.program, derived.method)
    if mechanism.constraints:
        return replace(start, note=f"{mechanism.name} has constraints: {task} is shown as derived, not searched.")
    try:
        found = _Search(mechanism, task, parameters, BUDGETS[effort], seed).run(derived.program, external)
    except (KaneError, ZeroDivisionError) as error:
        return replace(start, note=f"{task} is shown as derived: the search stopped at: {error}")
    if not found.trail or not equal(found.program, derived.program, PROOFS[effort]):
        return start
    if not agree(derived.program, found.program):
        return replace(start, note=f"{task} is shown as derived: what the search found loses digits.")
    return replace(
        start, program=found.program, method="searched", trail=found.trail, formulation=found.formulation
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A program and how it was come by."""

    program: Program
    trail: tuple[Saved, ...] = ()
    formulation: Formulation | None = None

    def better(self, task: str, step: str, program: Program) -> _Found:
        """The new program with one more row in the trail where it costs less, else this."""
        if cost(program) >= cost(self.program) or not agree(self.program, program):
            return self
        a, b = self.program.counts, program.counts
        row = Saved(task, step, a.mul - b.mul, a.add - b.add)
        return _Found(program, (*self.trail, row), self.formulation)


@dataclass(frozen=True, slots=True)
class _Search:
    """What is searched, and what it may cost."""

    mechanism: Mechanism
    task: str
    parameters: Parameters
    budget: Budget
    seed: int

    def run(self, start: Program, external: Sequence[str]) -> _Found:
        found = _Found(start)
        system = derive_system(self.mechanism, self.parameters, external)
        formulation: Formulation | None = None
        brief = self.budget.rounds == 0 and len(system.k.motions) > BRIEF  # formulations cost the square of the length
        if not brief and serves(system, self.task, external):
            formulation = Formulation()
            for trial in self._formulations(system, start.counts.total <= self.budget.recursion):
                plain = formulated(system, trial)
                assert plain is not None
                outputs = BUILDS[self.task](plain, trial, False)
                program = task_program(find_task(self.task), plain, outputs)
                better = found.better(self.task, SUMS if trial.sums else PLACES, program)
                formulation, found = (formulation, found) if better is found else (trial, better)
        found = replace(found, formulation=formulation)
        return self._local(found, formulation) if self.budget.rounds else found

    def _formulations(self, system: System, small: bool) -> list[Formulation]:
        """What is tried: for small programs the one found by building many; of derivatives also that of M.

        Forward dynamics of robots with parallel axes also in sums of rates.
        """
        if small:
            found = descend(system, self._price(system, self.task), self.budget.shortlist, self.budget.sweeps)
            trials = [wander(system, self._price(system, self.task), found, self.budget.wander, self.seed)]
        else:
            trials = [quick(system)]
        if self.task == "forward_dynamics" and find_runs(system.k).before:
            trials.append(replace(trials[0], sums=True))
        if small:
            return trials
        if self.task in DERIVATIVES and len(system.k.motions) <= LONGEST:
            trials.append(descend(system, self._price(system, "mass_matrix"), 0, 0))
        return trials

    def _price(self, system: System, task: str) -> Price:
        """Operations of the task's plain program in a formulation."""

        def price(formulation: Formulation) -> float:
            trial = formulated(system, formulation)
            if trial is None:
                return float("inf")
            outputs = BUILDS[task](trial, formulation, False)
            return operations(trial.g, [r for _, _, refs in outputs for r in refs])

        return price

    def _side_by_side(self, graph: Alternatives, formulation: Formulation) -> tuple[Program, list[list[Ref]]]:
        """The task in a formulation, all other forms of its recursion beside it in the graph."""
        system = formulated(derive_system(self.mechanism, self.parameters, (), graph), formulation, fresh=False)
        assert system is not None
        outputs = BUILDS[self.task](system, formulation, True)
        return task_program(find_task(self.task), system, outputs), [list(refs) for _, _, refs in outputs]

    def _local(self, found: _Found, formulation: Formulation | None) -> _Found:
        """Local search over the ways to compute each value."""
        graph = Alternatives()
        outputs: list[list[Ref]] | None = None
        if formulation is not None:
            program, outputs = self._side_by_side(graph, formulation)
            if cost(program) > cost(found.program):
                graph, outputs = Alternatives(), None
        outputs = outputs or load(found.program, graph)
        selection = self._start(graph, [ref for refs in outputs for ref in refs])
        steps = min(self.budget.steps * len(selection.way), self.budget.most)
        anneal(selection, self.seed, steps, self.budget.heat)
        found = found.better(self.task, "all forms side by side", written(graph, found.program, outputs, selection.way))
        found = self._rounds(found, graph, outputs, selection, steps)
        for _ in range(self.budget.units if len(selection.way) <= self.budget.recursion else 0):
            measured = found.better(self.task, UNITS, rescale(found.program))
            graph = Alternatives()
            outputs = load(measured.program, graph)
            selection = Selection(graph, [ref for refs in outputs for ref in refs], {})
            again = self._rounds(measured, graph, outputs, selection, steps)
            if again is found:
                break
            found = again
        return found

    def _rounds(
        self, found: _Found, graph: Alternatives, outputs: list[list[Ref]], selection: Selection, steps: int
    ) -> _Found:
        """Other ways for the values in use, and local search over them."""
        fewer = (len(selection.way) > self.budget.largest // 2) + (len(selection.way) > self.budget.recursion)
        doubles = Doubles(graph)
        for number in range(self.budget.rounds - fewer):
            if len(selection.way) <= self.budget.largest:
                ask_by_rules(graph, selection.way)
            used = selection.in_use()
            saturate(graph, used, self.budget.largest, doubles)
            pairs = PairTable(graph, used, doubles) if len(used) <= self.budget.largest else None
            regroup_sums(graph, selection.way, selection.users, pairs)
            self._anneal(selection, steps, 1000 * self.seed + 10 * number)
            program = written(graph, found.program, outputs, selection.way)
            found = found.better(self.task, f"{OTHERS}, round {number + 1}", program)
        return found

    def _start(self, graph: Alternatives, outputs: list[Ref]) -> Selection:
        """The ways as first built, or with those of the explicit mass matrix and gravity where that is cheaper."""
        selection = Selection(graph, outputs, {})
        explicit = explicit_programs(self.mechanism, self.parameters) if self.task in EXPLICIT else None
        for program in (explicit.mass_matrix, explicit.gravity) if explicit else ():
            graph.trace = {}
            load(program, graph)
            other = Selection(graph, outputs, graph.trace)
            if other.price < selection.price:
                selection = other
        graph.trace = None
        return selection

    def _anneal(self, selection: Selection, steps: int, seed: int) -> None:
        """The best of several local searches from the same selection."""
        start = dict(selection.way)
        best, least = start, selection.price
        for attempt in range(self.budget.seeds):
            selection.adopt(start)
            anneal(selection, seed + attempt, steps, self.budget.heat)
            if selection.price < least:
                best, least = dict(selection.way), selection.price
        selection.adopt(best)
