"""Local search over the ways to compute each value of a task in one formulation.

All forms of the recursion side by side (recursion.py), each value computed by the cheapest way (rewrite/select.py);
then, round by round, values that are sums or products of others (rewrite/pairs.py, sums.py), steps of the rules of
arithmetic (rules.py), and units in which constants are 1 (scale.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kane.equations.derive import cost, find_task
from kane.equations.system import Parameters, derive_system
from kane.equations.tasks import task_program
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
from kane.search.formulation import Formulation, formulated
from kane.search.small import explicit_programs, explicit_task, is_plain
from kane.search.tasks import BUILDS

EXPLICIT = ("mass_matrix", "gravity_forces", "forward_dynamics")  # tasks that may borrow from the explicit model
UNITS = "units in which constants are 1"
OTHERS = "sums and products of other values"
SMALL, MIDDLE = 300, 700  # operations up to which several formulations are searched, and two compared closely
FINALISTS = 3
TWICE = 440  # operations up to which units are looked for again after a local search with the first
GLANCE = 6000  # steps of local search that show what a formulation is worth


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
class Budget:
    """What an effort may spend.

    shortlist: splits tried at a turn; sweeps: over the turns; chains: annealings over formulations, of `wander` steps,
    fewer where operations times steps would pass `work`; steps: of local search a value in use; rounds: of pairs and
    local search; heat and seeds of the latter; largest: values that are all compared with each other; recursion:
    operations up to which formulations are tried one by one; most: steps of local search altogether; units: times that
    units are looked for; patient: whether explicit forms are made that take longer than a second.
    """

    shortlist: int
    sweeps: int
    chains: int
    wander: int
    work: int
    steps: int
    rounds: int
    heat: float
    seeds: int
    largest: int
    recursion: int
    most: int
    units: int
    patient: bool = True


@dataclass(frozen=True, slots=True)
class Found:
    """A program and how it was come by."""

    program: Program
    trail: tuple[Saved, ...] = ()
    formulation: Formulation | None = None

    def better(self, task: str, step: str, program: Program) -> Found:
        """The new program with one more row in the trail where it costs less, else this."""
        if cost(program) >= cost(self.program) or not agree(self.program, program):
            return self
        a, b = self.program.counts, program.counts
        row = Saved(task, step, a.mul - b.mul, a.add - b.add)
        return Found(program, (*self.trail, row), self.formulation)


@dataclass(frozen=True, slots=True)
class LocalSearch:
    """What is searched, and what it may cost."""

    mechanism: Mechanism
    task: str
    parameters: Parameters
    budget: Budget
    seed: int

    def worth(self, formulation: Formulation, rounds: int = 0) -> float:
        """The price that a short local search reaches in a formulation."""
        graph = Alternatives()
        program, outputs = self.side_by_side(graph, formulation)
        selection = self._start(graph, [ref for refs in outputs for ref in refs])
        anneal(selection, self.seed, GLANCE, self.budget.heat)
        if rounds:
            self._rounds(Found(program), graph, outputs, selection, GLANCE, rounds)
        return selection.price

    def most_promising(self, trials: Sequence[Formulation], weight: int) -> list[Formulation]:
        """The formulations worth most after a glance: several of small programs, one of large ones."""
        ranked = sorted(trials, key=self.worth)
        if weight <= SMALL:
            return ranked[:FINALISTS]
        return [min(ranked[:2], key=lambda trial: self.worth(trial, 1))] if weight <= MIDDLE else ranked[:1]

    def side_by_side(self, graph: Alternatives, formulation: Formulation) -> tuple[Program, list[list[Ref]]]:
        """The task in a formulation, all other forms of its recursion beside it in the graph."""
        system = formulated(derive_system(self.mechanism, self.parameters, (), graph), formulation, fresh=False)
        assert system is not None
        outputs = BUILDS[self.task](system, formulation, True)
        return task_program(find_task(self.task), system, outputs), [list(refs) for _, _, refs in outputs]

    def run(self, found: Found, formulation: Formulation | None) -> Found:
        """Local search over the ways to compute each value."""
        graph = Alternatives()
        outputs: list[list[Ref]] | None = None
        if formulation is not None:
            program, outputs = self.side_by_side(graph, formulation)
            if cost(program) > cost(found.program):
                graph, outputs = Alternatives(), None
        outputs = outputs or load(found.program, graph)
        selection = self._start(graph, [ref for refs in outputs for ref in refs])
        steps = min(self.budget.steps * len(selection.way), self.budget.most)
        anneal(selection, self.seed, steps, self.budget.heat)
        found = found.better(self.task, "all forms side by side", written(graph, found.program, outputs, selection.way))
        fewer = (len(selection.way) > self.budget.largest // 2) + (len(selection.way) > self.budget.recursion)
        found = self._rounds(found, graph, outputs, selection, steps, self.budget.rounds - fewer)
        units = self.budget.units if len(selection.way) <= TWICE else 1
        for _ in range(units if len(selection.way) <= self.budget.recursion else 0):
            measured = found.better(self.task, UNITS, rescale(found.program, self._may_divide()))
            graph = Alternatives()
            outputs = load(measured.program, graph)
            selection = Selection(graph, [ref for refs in outputs for ref in refs], {})
            again = self._rounds(measured, graph, outputs, selection, steps, self.budget.rounds - 1)
            if again is found:
                break
            found = again
        return found

    def _may_divide(self) -> bool:
        """Whether parameters may be divided by: none of the user's choice, nor where the description has one of 0."""
        return isinstance(self.parameters, str) and 0 not in self.mechanism.parameter_values.values()

    def explicit(self, found: Found) -> Found | None:
        """The task of a small robot in the explicit form, where that costs less than what is found."""
        program = explicit_task(self.mechanism, self.task, self.parameters)
        if program is None or not equal(program, found.program, 1):  # irrational constants are rounded there
            return None
        made = found.better(self.task, "explicit form", program)
        return None if made is found else made

    def _rounds(
        self, found: Found, graph: Alternatives, outputs: list[list[Ref]], selection: Selection, steps: int,
        rounds: int,
    ) -> Found:  # fmt: skip
        """Other ways for the values in use, and local search over them."""
        doubles = Doubles(graph)
        for number in range(rounds):
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
        explicit = self.task in EXPLICIT and (self.budget.patient or is_plain(self.mechanism))
        for program in explicit_programs(self.mechanism, self.parameters) if explicit else ():
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
