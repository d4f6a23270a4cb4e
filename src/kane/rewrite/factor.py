"""factor: sums of products into few operations, by greedy extraction of common factors, products and two-term sums.

Several polynomials are taken together.  In each step the extraction that saves most becomes a new variable: a product of two literals
(or of a constant and a literal) that occurs in several terms, or a sum of two terms without their common factor, with whatever
multiplies it (Rajski and Vasudevamurthy 1992, "The testability-preserving concurrent decomposition and factorization of Boolean
expressions", for polynomials; Hosangadi, Fallah and Kastner 2006).  Only counted operations are saved: products of constants are free.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

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
            for variable in p.literals:
                result = graph.mul(result, value(variable))
            result = graph.mul(constant, result) if p.literals else constant
            return result ^ (p.sign < 0)

        return [total(output) for output in self.outputs]


def factor(polynomials: Sequence[Polynomial], inputs: int, constants: frozenset[int] = frozenset()) -> Factored:
    """Common factors, products and sums of polynomials in variables 0 ... inputs - 1 taken out; `constants`: free variables.

    The same functions with fewer multiplications and additions; deterministic.
    """
    work = _Work(inputs)
    for polynomial in polynomials:
        terms = []
        for literals in sorted(polynomial):
            value = polynomial[literals]
            if value:
                free = tuple(v for v in literals if v in constants)
                terms.append(Product(1 if value > 0 else -1, (abs(value), free), tuple(v for v in literals if v not in constants)))
        work.add_sum(terms)
    outputs = len(polynomials)
    while work.step():
        pass
    sums = [tuple(work.terms[t] for t in sorted(work.sums[k])) for k in range(len(work.sums))]
    return Factored(inputs, tuple(sums[outputs:]), tuple(sums[:outputs]))


def cost(p: Product) -> int:
    """Multiplications of a product."""
    return max(0, len(p.literals) - 1 + (p.weight != _UNIT and bool(p.literals)))


Pair = tuple[int, int]  # two literals, or (-1 - place of a weight, literal)
Divisor = tuple[Product, Product]


class _Work:
    """Sums of products while they are rewritten; candidates are kept up to date term by term."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.terms: dict[int, Product] = {}
        self.owner: dict[int, int] = {}
        self.sums: list[dict[int, None]] = []
        self.outputs = 0
        self.pairs: dict[Pair, dict[int, None]] = {}
        self.divisors: dict[Divisor, dict[tuple[int, int], None]] = {}
        self.of_term: dict[int, list[tuple[Divisor, tuple[int, int]]]] = {}
        self.weights: dict[Weight, int] = {}
        self.weight_list: list[Weight] = []
        self.queue: list[tuple[int, int, tuple[object, ...], object]] = []
        self.next_term = 0

    # bookkeeping

    def add_sum(self, products: Sequence[Product], output: bool = True) -> int:
        self.sums.append({})
        self.outputs += output
        for p in products:
            self.add_term(len(self.sums) - 1, p)
        return len(self.sums) - 1

    def add_term(self, owner: int, p: Product) -> None:
        for other in self.sums[owner]:  # equal products merge
            q = self.terms[other]
            if q.literals == p.literals and q.weight[1] == p.weight[1]:
                total = q.sign * q.weight[0] + p.sign * p.weight[0]
                self.remove_term(other)
                if total:
                    self.add_term(owner, Product(1 if total > 0 else -1, (abs(total), p.weight[1]), p.literals))
                return
        index = self.next_term
        self.next_term += 1
        self.terms[index], self.owner[index] = p, owner
        self.of_term[index] = []
        for pair in self._pairs_of(p):
            self.pairs.setdefault(pair, {})[index] = None
            self._push_pair(pair)
        for other in self.sums[owner]:
            divisor = self._divisor(self.terms[other], p)
            if divisor is not None:
                place = (other, index)
                self.divisors.setdefault(divisor, {})[place] = None
                self.of_term[index].append((divisor, place))
                self.of_term[other].append((divisor, place))
                self._push_divisor(divisor)
        self.sums[owner][index] = None

    def remove_term(self, index: int) -> Product:
        p = self.terms.pop(index)
        del self.sums[self.owner.pop(index)][index]
        for pair in self._pairs_of(p):
            self.pairs[pair].pop(index, None)
        for divisor, place in self.of_term.pop(index):
            self.divisors[divisor].pop(place, None)
        return p

    def _pairs_of(self, p: Product) -> list[Pair]:
        found: dict[Pair, None] = {}
        for i, a in enumerate(p.literals):
            for b in p.literals[i + 1 :]:
                found[a, b] = None
        if p.weight != _UNIT:
            place = self._weight(p.weight)
            for a in p.literals:
                found[-1 - place, a] = None
        return list(found)

    def _weight(self, weight: Weight) -> int:
        if weight not in self.weights:
            self.weights[weight] = len(self.weight_list)
            self.weight_list.append(weight)
        return self.weights[weight]

    def _divisor(self, a: Product, b: Product) -> Divisor | None:
        """The two-term sum of a + b without their common factor, scaled so that its first term has weight 1 where weights allow."""
        common = _common(a.literals, b.literals)
        left, right = _without(a.literals, common), _without(b.literals, common)
        if (len(left), left) > (len(right), right):
            a, b, left, right = b, a, right, left
        sign = a.sign * b.sign
        if a.weight[1] == b.weight[1]:
            return Product(1, _UNIT, left), Product(sign, (b.weight[0] / a.weight[0], ()), right)
        return Product(1, a.weight, left), Product(sign, b.weight, right)

    # gains

    def _push_pair(self, pair: Pair) -> None:
        gain = self.pair_gain(pair)
        if gain > 0:
            heapq.heappush(self.queue, (-gain, 1, pair, pair))

    def _push_divisor(self, divisor: Divisor) -> None:
        gain = self.divisor_gain(divisor)
        if gain > 0:
            heapq.heappush(self.queue, (-gain, 0, _divisor_key(divisor), divisor))

    def pair_gain(self, pair: Pair) -> int:
        return len(self.pairs.get(pair, ())) - 1

    def divisor_gain(self, divisor: Divisor) -> int:
        places = self.places(divisor)
        if not places:
            return 0
        own = cost(divisor[0]) + cost(divisor[1]) + 1
        saved = 0
        for a, b in places:
            p, q = self.terms[a], self.terms[b]
            saved += cost(p) + cost(q) + 1 - cost(self._replaced(divisor, p, q, self.inputs + len(self.sums)))
        return saved - own

    def places(self, divisor: Divisor) -> list[tuple[int, int]]:
        """Occurrences that share no term, and not those that are a whole definition of the same sum."""
        used: set[int] = set()
        result = []
        for a, b in self.divisors.get(divisor, ()):
            if a not in used and b not in used:
                used |= {a, b}
                result.append((a, b))
        return result

    def _replaced(self, divisor: Divisor, p: Product, q: Product, variable: int) -> Product:
        """The product that stands for p + q when the divisor is a variable."""
        common = _common(p.literals, q.literals)
        left = _without(p.literals, common)
        first = p if left == divisor[0].literals else q
        literals = tuple(sorted((*common, variable)))
        if divisor[0].weight == _UNIT and p.weight[1] == q.weight[1]:
            return Product(first.sign, first.weight, literals)
        return Product(first.sign, _UNIT, literals)

    # one extraction

    def step(self) -> bool:
        """Take out the candidate that saves most; False when none saves anything."""
        while self.queue:
            gain, kind, _, candidate = heapq.heappop(self.queue)
            now = self.pair_gain(candidate) if kind else self.divisor_gain(candidate)  # type: ignore[arg-type]
            if now <= 0:
                continue
            if now != -gain:
                key = candidate if kind else _divisor_key(candidate)  # type: ignore[arg-type]
                heapq.heappush(self.queue, (-now, kind, key, candidate))  # type: ignore[arg-type]
                if now < -gain:
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
        if pair[0] < 0:
            weight = self.weight_list[-1 - pair[0]]
            self.add_sum([Product(1, weight, (pair[1],))], output=False)
        else:
            self.add_sum([Product(1, _UNIT, pair)], output=False)
        for owner, p in changed:
            rest = _without(p.literals, (pair[1],) if pair[0] < 0 else pair)
            literals = tuple(sorted((*rest, variable)))
            self.add_term(owner, Product(p.sign, _UNIT if pair[0] < 0 else p.weight, literals))

    def _extract_divisor(self, divisor: Divisor) -> None:
        variable = self.inputs + len(self.sums) - self.outputs
        changed = []
        for a, b in self.places(divisor):
            owner = self.owner[a]
            p, q = self.terms[a], self.terms[b]
            changed.append((owner, self._replaced(divisor, p, q, variable)))
            self.remove_term(a)
            self.remove_term(b)
        self.add_sum(divisor, output=False)
        for owner, p in changed:
            self.add_term(owner, p)


def _divisor_key(divisor: Divisor) -> tuple[object, ...]:
    a, b = divisor
    return (a.literals, b.literals, a.weight, b.sign, b.weight)


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
