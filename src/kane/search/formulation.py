"""A formulation of a tree's equations: where origins lie, which parameters are base ones, each moment's form."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, inf

from kane.equations.derive import DIVISION
from kane.equations.inertial import BodyInertia
from kane.equations.system import System
from kane.graph.arena import STATE, Graph, Ref
from kane.kinematics.accelerations import frame_motions
from kane.kinematics.motion import Kinematics
from kane.kinematics.tree import ROOT
from kane.kinematics.vectors import INDEX
from kane.rewrite.alternatives import copied, needed
from kane.search.placement import shift_size, slide_origins, slides
from kane.search.recursion import BEFORE, FORMS, Form, axial_shift
from kane.search.regroup import BALANCES, CLEARED, DEFAULT, OWN, STAY, Split, regroup_with, second_moment
from kane.search.spin import may_spin

# operations that a parameter of a body costs where nothing is zero: (mass, first moment, J_ii, J_ij)
WEIGHTS = (6, 10, 4, 7)
HEAT = 2.0  # operations that the wandering search may lose at first


@dataclass(frozen=True, slots=True)
class Formulation:
    """Choices, node by node: slides of origins, splits of masses, forms of moments.

    slides: (node, which of the amounts that placement.slides offers), in order; splits: (node, how its turn splits the
    mass on its axis).  second: nodes whose moment is written with second moments, others with the tensor of inertia.
    sums: forward dynamics in rates summed over runs of parallel axes (speeds.py).
    """

    slides: tuple[tuple[int, int], ...] = ()
    splits: tuple[tuple[int, Split], ...] = ()
    forms: tuple[tuple[int, Form], ...] = ()
    levers: tuple[int, ...] = ()
    spins: tuple[int, ...] = ()
    sums: bool = False

    def with_spin(self, node: int) -> Formulation:
        """The spin of this node turned over."""
        return replace(self, spins=tuple(sorted({*self.spins} ^ {node})))

    def with_lever(self, node: int) -> Formulation:
        """The lever of this node turned over."""
        return replace(self, levers=tuple(sorted({*self.levers} ^ {node})))

    def with_form(self, node: int, form: Form) -> Formulation:
        kept = tuple(item for item in self.forms if item[0] != node)
        return replace(self, forms=tuple(sorted((*kept, (node, form)))))

    def with_split(self, node: int, split: Split) -> Formulation:
        kept = tuple(item for item in self.splits if item[0] != node)
        return replace(self, splits=tuple(sorted((*kept, (node, split)), key=lambda item: item[0])))


Price = Callable[[Formulation], float]


def formulated(base: System, formulation: Formulation, fresh: bool = True) -> System | None:
    """The system in this formulation; None where its splits have no solution.

    base: as derived; `fresh`: in a copy of its graph, else in its graph.
    """
    return _regrouped(_slid(_copied(base) if fresh else base, formulation), formulation)


def pricing(base: System, build: Callable[[System, Formulation], Sequence[Ref]]) -> Price:
    """The operations of what `build` gives in a formulation; motions are derived once for each choice of origins."""
    placed: dict[tuple[tuple[int, int], ...], System] = {}

    def price(formulation: Formulation) -> float:
        known = placed.get(formulation.slides)
        if known is None:
            known = placed[formulation.slides] = _slid(_copied(base), formulation)
            symbols = known.k.symbols
            frame_motions(known.k, symbols.u, symbols.udot, known.gravity)
        trial = _regrouped(_copied(known), formulation)
        return inf if trial is None else operations(trial.g, build(trial, formulation))

    return price


def _slid(system: System, formulation: Formulation) -> System:
    """The system with its origins slid, in its graph."""
    system = slide_origins(system, {})
    for node, which in formulation.slides:
        amounts = slides(system.k, node)
        if which < len(amounts):
            system = slide_origins(system, {node: amounts[which]})
    return system


def _regrouped(system: System, formulation: Formulation) -> System | None:
    bodies = regroup_with(system.k, system.plain, dict(formulation.splits))
    return None if bodies is None else replace(system, bodies=tuple(bodies))


def _copied(system: System) -> System:
    """The system with a graph of its own: references stay what they are."""
    return replace(system, k=replace(system.k, graph=copied(system.g)))


def candidates() -> Iterator[Split]:
    """Splits to try at one turn: everything to the parent but for a balance, or one or two moments kept."""
    for stay, balance in itertools.product(STAY, BALANCES):
        yield Split(balance=balance, stay=stay)
    for balance, own, cleared in itertools.product(BALANCES, OWN, CLEARED):
        if own != "J":
            yield Split((own,), (cleared,), balance)
    for stay, cleared in itertools.product(STAY, CLEARED):
        yield Split(("J",), (cleared,), "none", stay)
    for two, others in itertools.product(itertools.combinations(OWN, 2), itertools.combinations(CLEARED, 2)):
        yield Split(two, others, "none")


def body_weight(k: Kinematics, index: int, body: BodyInertia) -> int:
    """About how many operations a body's parameters cost."""
    g, m = k.graph, k.motions[index]
    first = sum(x > 1 for x in body.first)
    cross = sum(body.tensor[INDEX[i][j]] > 1 for i, j in ((0, 1), (0, 2), (1, 2)))
    moments = sum(second_moment(g, body, i, i) > 1 for i in range(3))
    inertias = sum(body.tensor[INDEX[i][i]] > 1 for i in range(3))
    if m.axis is not None and len({body.tensor[INDEX[i][i]] for i in range(3) if i != m.axis}) == 1:
        inertias -= 1  # round about its axis
    return (
        WEIGHTS[0] * (body.mass > 1) + WEIGHTS[1] * first + WEIGHTS[2] * min(moments, inertias) + WEIGHTS[3] * cross
    )  # fmt: skip


def shortlist(
    system: System, formulation: Formulation, node: int, size: int, splits: Sequence[Split] = ()
) -> list[Split]:
    """The splits at one node that leave the lightest parameters on it and its parent, lightest first.

    Chosen from all candidates by default.
    """
    k, parent = system.k, system.k.tree.nodes[node].parent
    chosen = dict(formulation.splits)
    found: list[tuple[int, int, Split]] = []
    seen: set[tuple[Ref, ...]] = set()
    for number, split in enumerate(splits or candidates()):
        bodies = regroup_with(k, system.plain, chosen | {node: split}, stop=node)
        if bodies is None:
            continue
        pair = [node] if parent == ROOT else [node, parent]
        key = tuple(r for index in pair for r in bodies[index].refs())
        if key in seen:
            continue
        seen.add(key)
        found.append((sum(body_weight(k, index, bodies[index]) for index in pair), number, split))
    return [split for _, _, split in sorted(found, key=lambda item: item[:2])[:size]]


def descend(system: System, price: Price, shortlist_size: int, sweeps: int = 1) -> Formulation:
    """A cheap formulation by coordinate descent: origins, then splits and forms from the tips to the root.

    system: as derived; shortlist_size: splits tried at each turn; sweeps: 0 leaves the usual base parameters.  The
    descent starts once with all inertia forces in tensors, once in second moments.
    """
    nodes = range(len(system.k.motions))
    placed = Formulation()
    least = price(placed)
    for node in (*nodes, *nodes) if sweeps else nodes:
        for which in range(_choices(system, placed, node)):
            trial = replace(placed, slides=(*placed.slides, (node, which)))
            if (cost := price(trial)) < least:
                placed, least = trial, cost
                break
    found = [(least, placed)]
    for form in FORMS[:2] if sweeps else ():
        start = replace(placed, forms=tuple((node, form) for node in nodes))
        found.append(_improved(system, price, start, shortlist_size, sweeps))
    return min(found, key=lambda item: item[0])[1]


def quick(system: System) -> Formulation:
    """A formulation chosen by weights alone, in time linear in the number of programs that would have to be built.

    Origins where shifts have the fewest components; masses kept on a child where that clears a first moment of its
    parent; links that carry none written in the axes before their turn.
    """
    k = system.k
    found = Formulation()
    size = shift_size(k)
    for node in range(len(k.motions)):
        for which in range(_choices(system, found, node)):
            trial = replace(found, slides=(*found.slides, (node, which)))
            if (smaller := shift_size(_placed(system, trial).k)) < size:
                found, size = trial, smaller
                break
    tips = [n for n, m in enumerate(k.motions) if m.kind == "turn" and not k.tree.children(n)]
    found = replace(found, forms=tuple((node, BEFORE[0]) for node in tips))
    placed = _placed(system, found)
    few = [DEFAULT, *(Split(("m",), (cleared,), DEFAULT.balance) for cleared in CLEARED[:2])]
    for node in reversed(range(len(k.motions))):
        if k.motions[node].kind == "turn" and k.tree.nodes[node].parent != ROOT:
            best = shortlist(placed, found, node, 1, few)
            found = found.with_split(node, best[0]) if best and best[0] != DEFAULT else found
    return found


def _improved(
    system: System, price: Price, best: Formulation, shortlist_size: int, sweeps: int
) -> tuple[float, Formulation]:
    least = price(best)
    placed = _placed(system, best)
    for _ in range(sweeps):
        before = least
        for node in reversed(range(len(system.k.motions))):
            for form in FORMS:
                trial = best.with_form(node, form)
                if trial != best and (cost := price(trial)) < least:
                    best, least = trial, cost
            for split in shortlist(placed, best, node, shortlist_size):
                trial = best.with_split(node, split)
                if trial != best and (cost := price(trial)) < least:
                    best, least = trial, cost
        if least == before:
            break
    return least, best


def _placed(system: System, formulation: Formulation) -> System:
    """The system with its origins slid, in a graph of its own."""
    return _slid(_copied(system), formulation)


def _choices(system: System, formulation: Formulation, node: int) -> int:
    return min(2, len(slides(_placed(system, formulation).k, node)))


def wander(
    system: System, price: Price, start: Formulation, steps: int, seed: int, splits: Sequence[Sequence[Split]] = ()
) -> list[Formulation]:
    """Simulated annealing over formulations: single changes of form, split and origin; all it saw, cheapest first.

    splits: for each node those to choose from (`options`).
    """
    chance = random.Random(seed)
    splits = splits or options(system, start)
    known = {start: price(start)}
    now = start
    for step in range(steps):
        trial = _changed(system, now, chance.randrange(len(splits)), splits, chance)
        if trial not in known:
            known[trial] = price(trial)
        heat = HEAT * (1 - step / steps)
        if known[trial] <= known[now] or chance.random() < exp((known[now] - known[trial]) / heat):
            now = trial
    return sorted(known, key=lambda formulation: known[formulation])


def options(system: System, formulation: Formulation) -> list[list[Split]]:
    """For each node the splits that have a solution, one for each different outcome."""
    placed = _placed(system, formulation)
    return [_options(placed, formulation, node) for node in range(len(system.k.motions))]


def _options(placed: System, formulation: Formulation, node: int) -> list[Split]:
    found: dict[tuple[Ref, ...], Split] = {}
    if placed.k.motions[node].kind == "turn":
        chosen = dict(formulation.splits)
        for split in candidates():
            bodies = regroup_with(placed.k, placed.plain, chosen | {node: split}, stop=node)
            if bodies is not None:
                parent = placed.k.tree.nodes[node].parent
                pair = [bodies[node]] if parent == ROOT else [bodies[node], bodies[parent]]
                found.setdefault(tuple(ref for body in pair for ref in body.refs()), split)
    return list(found.values())


def _changed(
    system: System, old: Formulation, node: int, splits: Sequence[Sequence[Split]], chance: random.Random
) -> Formulation:
    kind = chance.random()
    if kind > 0.95:
        return old.with_lever(node) if axial_shift(system.k, node) else old
    if kind > 0.9:
        return old.with_spin(node) if may_spin(system.k, node) else old
    if kind < 0.1:
        dropped = [item for item in old.slides if item[0] != node]
        if len(dropped) < len(old.slides):
            return replace(old, slides=tuple(dropped))
        choices = _choices(system, old, node)
        return replace(old, slides=(*old.slides, (node, chance.randrange(choices)))) if choices else old
    trial = old.with_form(node, FORMS[chance.randrange(len(FORMS))]) if kind < 0.55 else old
    known = splits[node]
    return trial.with_split(node, known[chance.randrange(len(known))]) if kind > 0.4 and known else trial


def operations(graph: Graph, refs: Sequence[Ref]) -> int:
    """Additions and multiplications that these references need, divisions weighted."""
    counted = [graph.op[n] for n in needed(graph, {}, (r >> 1 for r in refs)) if graph.level[n] == STATE]
    return sum(1 if op in ("add", "mul") else DIVISION * (op in ("div", "sqrt")) for op in counted)
