"""factor: sums of products into few operations, by greedy extraction of common factors, products and two-term sums.

Several polynomials are taken together.  In each step the extraction that saves most becomes a new variable: a product
of two literals (or of a constant and a literal) that occurs in several terms, or a sum of two terms without their
common factor, with whatever multiplies it (Rajski and Vasudevamurthy 1992, "The testability-preserving concurrent
decomposition and factorization of Boolean expressions", for polynomials; Hosangadi, Fallah and Kastner 2006).  Only
counted operations are saved: products of constants are free.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from kane.graph.arena import Graph, Ref

Literals = tuple[int, ...]  # variables, sorted, repeated for powers
Weight = tuple[Fraction, Literals]  # a positive number times constant variables
Polynomial = Mapping[Literals, Fraction]
_UNIT: Weight = (Fraction(1), ())


@dataclass(frozen=True, slots=True)
class Product:
    """sign * weight * product of literals."""

    sign: int
    weight: Weight
    literals: Literals


@dataclass(frozen=True, slots=True)
class Factored:
    """Definitions of new variables (in the order of their making) and the polynomials, as sums of products.

    Variables below `inputs` are the caller's; definition k is variable inputs + k.  A definition may use later ones.
    """

    inputs: int
    definitions: tuple[tuple[Product, ...], ...]
    outputs: tuple[tuple[Product, ...], ...]

    @property
    def operations(self) -> int:
        """Multiplications and additions, as written."""
        total = 0
        for products in (*self.definitions, *self.outputs):
            total += max(0, len(products) - 1)
            total += sum(max(0, len(p.literals) - 1 + (p.weight != _UNIT)) for p in products if p.literals)
        return total

    def renamed(self, names: Mapping[int, int]) -> Factored:
        """The same with other numbers for the caller's variables."""

        def change(p: Product) -> Product:
            free, literals = (tuple(sorted(names.get(v, v) for v in part)) for part in (p.weight[1], p.literals))
            return Product(p.sign, (p.weight[0], free), literals)

        definitions, outputs = (
            tuple(tuple(change(p) for p in products) for products in part) for part in (self.definitions, self.outputs)
        )
        return Factored(self.inputs, definitions, outputs)

    def build(self, graph: Graph, variables: Sequence[Ref]) -> list[Ref]:
        """The polynomials in a graph, given the references of the caller's variables."""
        made: dict[int, Ref] = dict(enumerate(variables))

        def value(variable: int) -> Ref:
            if variable not in made:
                made[variable] = total(self.definitions[variable - self.inputs])
            return made[variable]

        def total(products: Sequence[Product]) -> Ref:
            return graph.sum(product(p) for p in products)

        def product(p: Product) -> Ref:
            constant = graph.number(p.weight[0])
            for variable in p.weight[1]:
                constant = graph.mul(constant, value(variable))
            result = graph.one
            for variable, power in Counter(p.literals).items():
                result = graph.mul(result, graph.power(value(variable), power))
            result = graph.mul(constant, result) if p.literals else constant
            return result ^ (p.sign < 0)

        return [total(output) for output in self.outputs]


LARGE = 1000  # terms beyond which large sums are split before pairs of their terms are compared
PIECE = 150  # terms of a sum then: with 60 a third more operations are left, with 400 it takes twice as long


def factor(
    polynomials: Sequence[Polynomial], inputs: int, constants: frozenset[int] = frozenset(), tries: int = 1
) -> Factored:
    """Common factors, products and sums of polynomials in variables 0 ... inputs - 1 taken out.

    constants: variables that cost nothing.  The same functions with fewer multiplications and additions; deterministic.
    tries: candidates that save the same are taken in another order each time, and the shortest result is kept.
    """
    best = _factor(polynomials, inputs, constants)
    for seed in range(1, tries):
        order = list(range(inputs))
        random.Random(seed).shuffle(order)
        renamed = [{tuple(sorted(order[v] for v in key)): value for key, value in p.items()} for p in polynomials]
        other = _factor(renamed, inputs, frozenset(order[v] for v in constants))
        if other.operations < best.operations:
            back = {new: old for old, new in enumerate(order)}
            best = other.renamed(back)
    return best


def _factor(polynomials: Sequence[Polynomial], inputs: int, constants: frozenset[int]) -> Factored:
    work = _Work(inputs)
    given: list[list[_Term]] = []
    for polynomial in polynomials:
        terms = []
        for literals in sorted(polynomial):
            value = polynomial[literals]
            if value:
                free = tuple(v for v in literals if v in constants)
                state = tuple(v for v in literals if v not in constants)
                terms.append(_Term(1 if value > 0 else -1, work.weight((abs(value), free)), state))
        given.append(terms)
    for terms in _split(given, inputs) if sum(map(len, given)) > LARGE else given:
        work.add_sum(terms)
    work.outputs = len(polynomials)
    while work.step():
        pass
    sums = [
        tuple(Product(t.sign, work.weights[t.weight], t.literals) for _, t in sorted((k, work.terms[k]) for k in terms))
        for terms in work.sums
    ]
    return Factored(inputs, tuple(sums[work.outputs :]), tuple(sums[: work.outputs]))


def _split(sums: Sequence[list[_Term]], inputs: int) -> list[list[_Term]]:
    """The sums, from which the factor of most terms is taken out until no sum has more than PIECE terms.

    The quotients are sums of their own behind the given ones: variables inputs, inputs + 1, ...
    """
    made = [list(terms) for terms in sums]
    place = 0
    while place < len(made):
        left = list(made[place])
        taken: list[_Term] = []
        while len(left) > PIECE:
            uses = Counter(v for t in left for v in set(t.literals) if v < inputs)
            variable, often = max(uses.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
            if often < 2 or (often == len(left) == len(made[place]) and len(uses) < 2):
                break
            quotient = [t._replace(literals=_without(t.literals, (variable,))) for t in left if variable in t.literals]
            taken.append(_Term(1, 0, (variable, inputs + len(made) - len(sums))))
            made.append(quotient)
            left = [t for t in left if variable not in t.literals]
        made[place] = [*taken, *left]
        place += 1
    return made


class _Term(NamedTuple):
    """sign * weight * product of literals, the weight by its place in a table (0: one)."""

    sign: int
    weight: int
    literals: Literals

    @property
    def cost(self) -> int:
        """Multiplications."""
        size = len(self.literals)
        return size - 1 + (self.weight > 0) if size else 0


Pair = tuple[int, int]  # two literals, or (-weight, literal)
Sum = tuple[int, int, Literals, int, Literals]  # weight a, weight b, literals a, relative sign, literals b


class _Work:
    """Sums of products while they are rewritten; candidates are kept up to date term by term."""

    def __init__(self, inputs: int) -> None:
        self.inputs, self.outputs = inputs, 0
        self.terms: dict[int, _Term] = {}
        self.owner: dict[int, int] = {}
        self.sums: list[dict[int, None]] = []
        self.weights: list[Weight] = [_UNIT]
        self._weight_place: dict[Weight, int] = {_UNIT: 0}
        self._ratios: dict[tuple[int, int], int] = {}
        self.pairs: dict[Pair, dict[int, None]] = {}
        self.divisors: dict[Sum, dict[tuple[int, int], int]] = {}  # places (two terms) -> what they save
        self.saved: dict[Sum, int] = {}
        self.of_term: dict[int, list[tuple[Sum, tuple[int, int]]]] = {}
        self.queue: list[tuple[int, int, tuple[object, ...]]] = []
        self.next_term = 0

    def weight(self, weight: Weight) -> int:
        place = self._weight_place.get(weight)
        if place is None:
            place = self._weight_place[weight] = len(self.weights)
            self.weights.append(weight)
        return place

    def _ratio(self, a: int, b: int) -> int | None:
        """The weight b / a; None when they hold different constant variables."""
        key = (a, b)
        known = self._ratios.get(key)
        if known is None:
            (x, free_a), (y, free_b) = self.weights[a], self.weights[b]
            known = self._ratios[key] = self.weight((y / x, ())) if free_a == free_b else -1
        return None if known < 0 else known

    # bookkeeping

    def add_sum(self, terms: Sequence[_Term]) -> None:
        self.sums.append({})
        for t in terms:
            self.add_term(len(self.sums) - 1, t)

    def add_term(self, owner: int, t: _Term) -> None:
        for other in self.sums[owner]:  # equal products merge
            u = self.terms[other]
            if u.literals == t.literals and self.weights[u.weight][1] == self.weights[t.weight][1]:
                free = self.weights[t.weight][1]
                total = u.sign * self.weights[u.weight][0] + t.sign * self.weights[t.weight][0]
                self.remove_term(other)
                if total:
                    self.add_term(owner, _Term(1 if total > 0 else -1, self.weight((abs(total), free)), t.literals))
                return
        index = self.next_term
        self.next_term += 1
        self.terms[index], self.owner[index] = t, owner
        own = self.of_term[index] = []
        for pair in _pairs_of(t):
            places = self.pairs.setdefault(pair, {})
            places[index] = None
            if len(places) > 1:
                heapq.heappush(self.queue, (1 - len(places), 1, pair))
        for other in self.sums[owner]:
            divisor, saved = self._divisor(self.terms[other], t)
            if saved <= 0:
                continue
            place = (other, index)
            self.divisors.setdefault(divisor, {})[place] = saved
            total_saved = self.saved[divisor] = self.saved.get(divisor, 0) + saved
            own.append((divisor, place))
            self.of_term[other].append((divisor, place))
            gain = total_saved - _own_cost(divisor)
            if gain > 0:
                heapq.heappush(self.queue, (-gain, 0, divisor))
        self.sums[owner][index] = None

    def remove_term(self, index: int) -> _Term:
        t = self.terms.pop(index)
        del self.sums[self.owner.pop(index)][index]
        for pair in _pairs_of(t):
            self.pairs[pair].pop(index, None)
        for divisor, place in self.of_term.pop(index):
            self.saved[divisor] -= self.divisors[divisor].pop(place, 0)
        return t

    def _divisor(self, a: _Term, b: _Term) -> tuple[Sum, int]:
        """The sum a + b without its common factor, first weight 1 where weights allow, and the operations it takes."""
        common = _common(a.literals, b.literals)
        left, right = _without(a.literals, common), _without(b.literals, common)
        if (len(left), left) > (len(right), right):
            a, b, left, right = b, a, right, left
        ratio = self._ratio(a.weight, b.weight)
        outside = len(common) + (a.weight > 0) if ratio is not None else len(common)
        divisor = (
            (a.weight, b.weight, left, a.sign * b.sign, right)
            if ratio is None
            else (0, ratio, left, a.sign * b.sign, right)
        )
        return divisor, a.cost + b.cost + 1 - outside

    # one extraction

    def _gain(self, divisor: Sum) -> int:
        return sum(self.divisors[divisor][place] for place in self._places(divisor)) - _own_cost(divisor)

    def _places(self, divisor: Sum) -> list[tuple[int, int]]:
        """Occurrences that share no term."""
        used: set[int] = set()
        result = []
        for a, b in self.divisors.get(divisor, ()):
            if a not in used and b not in used:
                used |= {a, b}
                result.append((a, b))
        return result

    def step(self) -> bool:
        """Take out the candidate that saves most; False when none saves anything."""
        while self.queue:
            gain, kind, candidate = heapq.heappop(self.queue)
            now = len(self.pairs[candidate]) - 1 if kind else self._gain(candidate)  # type: ignore[index,arg-type]
            if now <= 0:
                continue
            if now < -gain:
                heapq.heappush(self.queue, (-now, kind, candidate))
                continue
            if kind:
                self._extract_pair(candidate)  # type: ignore[arg-type]
            else:
                self._extract_divisor(candidate)  # type: ignore[arg-type]
            return True
        return False

    def _extract_pair(self, pair: Pair) -> None:
        variable = self.inputs + len(self.sums) - self.outputs
        changed = [(self.owner[t], self.remove_term(t)) for t in list(self.pairs[pair])]
        weighted = pair[0] < 0
        self.add_sum([_Term(1, -pair[0], (pair[1],)) if weighted else _Term(1, 0, pair)])
        for owner, t in changed:
            rest = _without(t.literals, (pair[1],) if weighted else pair)
            self.add_term(owner, _Term(t.sign, 0 if weighted else t.weight, tuple(sorted((*rest, variable)))))

    def _extract_divisor(self, divisor: Sum) -> None:
        variable = self.inputs + len(self.sums) - self.outputs
        changed = []
        weight_a, weight_b, left, sign, right = divisor
        for a, b in self._places(divisor):
            owner = self.owner[a]
            t, u = self.remove_term(a), self.remove_term(b)
            common = _common(t.literals, u.literals)
            first = t if _without(t.literals, common) == left else u
            literals = tuple(sorted((*common, variable)))
            changed.append((owner, _Term(first.sign, first.weight if weight_a == 0 else 0, literals)))
        self.add_sum([_Term(1, weight_a, left), _Term(sign, weight_b, right)])
        for owner, t in changed:
            self.add_term(owner, t)


def _pairs_of(t: _Term) -> list[Pair]:
    literals = t.literals
    found = dict.fromkeys((a, b) for i, a in enumerate(literals) for b in literals[i + 1 :])
    if t.weight:
        found |= dict.fromkeys((-t.weight, a) for a in literals)
    return list(found)


def _own_cost(divisor: Sum) -> int:
    weight_a, weight_b, left, _, right = divisor
    return _Term(1, weight_a, left).cost + _Term(1, weight_b, right).cost + 1


def _common(a: Literals, b: Literals) -> Literals:
    result, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            result.append(a[i])
            i, j = i + 1, j + 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return tuple(result)


def _without(a: Literals, b: Literals) -> Literals:
    rest = list(a)
    for x in b:
        rest.remove(x)
    return tuple(rest)
