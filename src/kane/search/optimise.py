"""The program of a task with the fewest operations that the search finds.

Passes, each kept only when it saves: origins of the links on their axes, base parameters and forms of the inertia
forces (formulation.py); all forms of the recursion side by side, each value computed by the cheapest (recursion.py,
rewrite/select.py), with ways found step by step and in other units (local.py).  What comes out is proved equal to
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
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.model import Mechanism
from kane.rewrite.idle import without_idle
from kane.search.agree import agree
from kane.search.formulation import Formulation, Price, descend, formulated, options, pricing, quick, wander
from kane.search.local import SMALL, Budget, Found, LocalSearch, Saved
from kane.search.small import is_brief
from kane.search.speeds import worth_trying
from kane.search.tasks import BUILDS, DERIVATIVES, serves

Effort = Literal["low", "normal", "high"]
LONGEST = 20  # joints of a robot whose derivatives are also tried in the formulation of its mass matrix


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


BUDGETS: dict[str, Budget] = {
    "low": Budget(0, 0, 0, 0, 0, 0, 0, 0.0, 0, 0, 600, 0, 0),
    "normal": Budget(2, 0, 2, 1600, 300_000, 50, 3, 0.3, 1, 900, 1500, 18_000, 2),
    "high": Budget(6, 2, 8, 4000, 3_000_000, 150, 5, 0.35, 3, 2500, 6000, 400_000, 4),
}
BLINK = replace(BUDGETS["normal"], steps=20, rounds=2, seeds=1, units=1, patient=False)  # what low effort takes for
TINY = 70  # operations, and
GLIMPSE = replace(BLINK, steps=10, rounds=1, units=0)  # for these tasks, up to so many: they run faster for it too
SPARED = {"mass_matrix": 600, "gravity_forces": 600}
BRIEF = 40  # motions up to which low effort tries formulations
PLACES = "origins, base parameters, forms of inertia forces"  # steps of the trail
IDLE = "coordinates without effect"
SUMS = "speeds: rates summed over parallel axes"
FAR = 0.8  # explicit forms of larger programs below this share of the recursion's cost are searched alone
LONG = 500  # weight from which, up to twice that, one annealing more pays
KEPT, SPACED = 3, 5  # formulations taken of each annealing, and how far apart in its list
PROOFS = {"low": 1, "normal": 3, "high": 3}  # random primes; one leaves a chance of error below 1e-20


def check_effort(effort: str) -> None:
    """InputError for an effort that does not exist."""
    if effort not in get_args(Effort):
        raise InputError(
            f"There is no effort {effort!r}.", name="effort", value=effort, remedy="Use low, normal or high."
        )


def optimise(
    mechanism: Described, task: str, frame: str | None = None, parameters: Parameters = "numeric",
    external: Sequence[str] = (), effort: Effort = "normal", seed: int = 0,
) -> Searched:  # fmt: skip
    """The task's program with the fewest operations found; deterministic for a seed.

    effort: "low" tries the places of the links' origins and the explicit form of the smallest robots, then a short
    local search of what is small and of mass matrices and gravity; "normal" all passes; "high" more of each.  Raises
    InputError for another effort and what derive_task raises.  What cannot be searched comes back as derived, with a
    note.  Parameters that are named one by one may be zero at run time;
    with "symbolic" a program of "normal" and "high" may divide by parameters, as published counts do, which then must
    not be zero; where the description has one of value 0 it divides by none.
    """
    mechanism = mechanism_of(mechanism)
    check_effort(effort)
    derived = derive_task(mechanism, task, frame, parameters, external)
    start = Searched(task, derived.program, derived.program, derived.method)
    if mechanism.constraints:
        return replace(start, note=f"{mechanism.name} has constraints: {task} is shown as derived, not searched.")
    try:
        found = _Search(mechanism, task, parameters, BUDGETS[effort], seed).run(derived.program, external)
        found = found.better(task, IDLE, without_idle(found.program))
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
class _Search:
    """What is searched, and what it may cost."""

    mechanism: Mechanism
    task: str
    parameters: Parameters
    budget: Budget
    seed: int

    def run(self, start: Program, external: Sequence[str]) -> Found:
        found = Found(start)
        system = derive_system(self.mechanism, self.parameters, external)
        local = LocalSearch(self.mechanism, self.task, self.parameters, self.budget, self.seed)
        starts: list[tuple[Found, Formulation | None]] = [(found, None)]
        brief = self.budget.rounds == 0 and len(system.k.motions) > BRIEF  # formulations cost the square of the length
        if not brief and serves(system, self.task, external):
            trials = self._formulations(system, start.counts.total)
            if self.budget.rounds and len(trials) > 1 and start.counts.total <= self.budget.recursion:
                trials = local.most_promising(trials, self._weight(start.counts.total))
                starts = [self._placed(found, system, [trial]) for trial in trials]
            else:
                starts = [self._placed(found, system, trials)]
            explicit = local.explicit(found) if self.budget.rounds or is_brief(self.mechanism) else None
            if explicit is not None:
                least = min(cost(one.program) for one, _ in starts)
                alone = start.counts.total > SMALL and cost(explicit.program) < FAR * least
                starts = [*([] if alone else starts), (explicit, None)]
        if not self.budget.rounds:
            return self._briefly(starts)
        return min((local.run(*one) for one in starts), key=lambda one: cost(one.program))

    def _briefly(self, starts: Sequence[tuple[Found, Formulation | None]]) -> Found:
        """Low effort's local search, of small programs and of tasks where it saves much."""
        best = min(starts, key=lambda one: cost(one[0].program))
        size = best[0].program.counts.total
        if size > max(TINY, SPARED.get(self.task, 0)):
            return best[0]
        budget = BLINK if size <= TINY else GLIMPSE
        if self.parameters == "symbolic":
            budget = replace(budget, units=0)  # which may divide by parameters
        local = LocalSearch(self.mechanism, self.task, self.parameters, budget, self.seed)
        return min((local.run(*one) for one in (starts if size <= TINY else [best])), key=lambda one: cost(one.program))

    def _placed(
        self, found: Found, system: System, trials: Sequence[Formulation]
    ) -> tuple[Found, Formulation | None]:  # fmt: skip
        """The cheapest of the plain programs in these formulations."""
        formulation: Formulation | None = Formulation()
        for trial in trials:
            plain = formulated(system, trial)
            assert plain is not None
            outputs = BUILDS[self.task](plain, trial, False)
            program = task_program(find_task(self.task), plain, outputs)
            better = found.better(self.task, SUMS if trial.sums else PLACES, program)
            formulation, found = (formulation, found) if better is found else (trial, better)
        return replace(found, formulation=formulation), formulation

    def _formulations(self, system: System, operations: int) -> list[Formulation]:
        """What is tried: for small programs the cheapest of several searches; of derivatives also that of M.

        Forward dynamics of robots with parallel axes also in sums of rates.
        """
        if operations <= self.budget.recursion:
            trials = self._wandered(system, operations)
        else:
            trials = [quick(system)]
            if self.task in DERIVATIVES and len(system.k.motions) <= LONGEST:
                trials.append(descend(system, self._price(system, "mass_matrix"), 0, 0))
        if self.task == "forward_dynamics" and worth_trying(system.k):
            trials += [replace(trial, sums=True) for trial in trials[:2]]
        return trials

    def _wandered(self, system: System, operations: int) -> list[Formulation]:
        """The cheapest formulations of several annealings from the best of a descent."""
        price = self._price(system, self.task)
        best = descend(system, price, self.budget.shortlist, self.budget.sweeps)
        weight = self._weight(operations)
        steps = min(self.budget.wander, self.budget.work // weight)
        chains = self.budget.chains + (LONG < weight <= 2 * LONG)
        found: dict[Formulation, None] = {}
        splits = options(system, best) if steps else ()
        for chain in range(chains if steps else 0):
            seen = wander(system, price, best, steps, 100 * self.seed + chain, splits)
            found |= dict.fromkeys(seen[: KEPT * SPACED : SPACED])
        return list(found) or [best]

    def _weight(self, operations: int) -> int:
        """How long a program of so many operations takes to build, about: inverse dynamics are built fastest."""
        return max(1, operations * (1 if self.task == "inverse_dynamics" else 2))

    def _price(self, system: System, task: str) -> Price:
        """Operations of the task's plain program in a formulation."""

        def build(trial: System, formulation: Formulation) -> list[Ref]:
            return [r for _, _, refs in BUILDS[task](trial, formulation, False) for r in refs]

        return pricing(system, build)
