"""Units: values divided by constants so that fewer multiplications by constants are left.

A value may be computed divided by a constant: where all values of a chain of sums are, the constant moves to where the
chain begins and ends, and vanishes where it meets its inverse (masses in units of one of the masses, lengths in units
of one of the lengths, found part by part instead of chosen for the whole).
Every state value n that is a sum or a product has a scale s(n) and is computed as n / s(n); a use of n may want it
times some factor, and each different factor other than 1 / s(n) costs one multiplication.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from kane.graph.arena import STATE, Graph, Ref
from kane.graph.evaluate import rebuild
from kane.graph.program import Program, build_program, has_symbols, needed
from kane.graph.transplant import copy_node

WISHES = 4  # units tried in each region
HIGHEST = 4  # power of a unit
Use = tuple[int, Ref]  # a value and the factor that it is wanted with, sign left out


class Term(NamedTuple):
    """factor * value; value 0: the factor is a constant summand."""

    factor: Ref
    value: int


class Scaled:
    """A program's values with their scales; `cost` multiplications by constants."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = Graph()
        self._products: dict[tuple[Ref, Ref], Ref] = {}
        self._quotients: dict[tuple[Ref, Ref], Ref] = {}
        refs = rebuild(program, self.graph)
        self.outputs = [[self._term(refs[r >> 1] ^ (r & 1)) for r in out.refs] for out in program.outputs]
        self.order = [n for n in needed(self.graph, [2 * t.value for out in self.outputs for t in out]) if self._is(n)]
        self.terms: dict[int, tuple[Term, ...]] = {}
        self.users: dict[int, list[int]] = {n: [] for n in self.order}
        self.scale: dict[int, Ref] = dict.fromkeys(self.order, Graph.one)
        self.second: set[int] = set()  # products whose constant meets the second factor
        self.wanted: dict[int, Counter[Ref]] = {n: Counter() for n in self.order}
        for n in self.order:
            self.terms[n] = tuple(self._term(a) for a in self.graph.args[n])
            for value in {t.value for t in self.terms[n] if t.value}:
                self.users[value].append(n)
            if self.graph.op[n] == "mul" and self.terms[n][0].factor >> 1 == 1:
                self.second.add(n)
        for n in self.order:
            self._demand(n, 1)
        for term in (t for out in self.outputs for t in out if t.value):
            self.wanted[term.value][self._plain(term.factor)] += 1
        self.cost = sum(self._cost(n) for n in self.order)

    def times(self, a: Ref, b: Ref) -> Ref:
        """The product of two constants, sign left out."""
        known = self._products.get((a, b))
        if known is None:
            known = self._products[a, b] = self.graph.mul(a, b) & ~1
        return known

    def over(self, a: Ref, b: Ref) -> Ref:
        """The quotient of two constants, sign left out."""
        known = self._quotients.get((a, b))
        if known is None:
            known = self._quotients[a, b] = self.graph.div(a, b) & ~1
        return known

    def _is(self, node: int) -> bool:
        return self.graph.level[node] == STATE and not self._constant_factor(node)

    def _constant_factor(self, node: int) -> bool:
        g, args = self.graph, self.graph.args[node]
        if g.op[node] == "add":
            return args[0] == args[1]
        return g.op[node] == "mul" and any(g.level[a >> 1] != STATE for a in args)

    def _term(self, ref: Ref) -> Term:
        """A reference as constant times value."""
        g, factor = self.graph, Graph.one
        while g.level[ref >> 1] == STATE and self._constant_factor(ref >> 1):
            a, b = g.args[ref >> 1]
            if g.op[ref >> 1] == "add":  # x + x
                factor, ref = g.mul(factor, g.number(2)) ^ (ref & 1), a
                continue
            constant, rest = (a, b) if g.level[a >> 1] != STATE else (b, a)
            factor, ref = g.mul(factor, constant) ^ (ref & 1), rest
        if g.level[ref >> 1] != STATE:
            return Term(g.mul(factor, ref), 0)
        return Term(factor ^ (ref & 1), ref >> 1)

    def free(self, node: int) -> bool:
        """Whether the value may have a scale."""
        return self.graph.op[node] in ("add", "mul")

    @staticmethod
    def _plain(ref: Ref) -> Ref:
        return ref & ~1

    def _cost(self, node: int) -> int:
        s = self.scale[node]
        return sum(self.times(f, s) != Graph.one for f, uses in self.wanted[node].items() if uses)

    def uses(self, node: int) -> Iterator[Use]:
        """What the value wants of its operands."""
        s, terms, op = self.scale[node], self.terms[node], self.graph.op[node]
        if op == "mul":
            (p, a), (q, b) = terms
            x, y = self.scale[a], self.scale[b]
            factor = self.over(self.times(p, q), s)
            if node in self.second:
                yield a, self.over(Graph.one, x)
                yield b, self.times(factor, x)
            else:
                yield a, self.times(factor, y)
                yield b, self.over(Graph.one, y)
        else:
            for factor, value in terms:
                if value:
                    yield value, self.over(factor, s if op == "add" else Graph.one)

    def _demand(self, node: int, change: int) -> None:
        for value, factor in self.uses(node):
            self.wanted[value][factor] += change

    def put(self, node: int, scale: Ref, second: bool) -> int:
        """Give a value another scale and side; the change of the cost."""
        around = {node} | {u for u in self.users[node] if self.graph.op[u] == "mul"}
        touched = {node} | {t.value for u in around for t in self.terms[u] if t.value}
        before = sum(self._cost(n) for n in touched)
        for u in around:
            self._demand(u, -1)
        self.scale[node] = scale
        (self.second.add if second else self.second.discard)(node)
        for u in around:
            self._demand(u, 1)
        change = sum(self._cost(n) for n in touched) - before
        self.cost += change
        return change

    def needs(self, node: int, powers: Mapping[int, int]) -> Iterator[Ref]:
        """Units, with the powers that the values have in them, in which a constant at this value would vanish."""
        terms, s, own = self.terms[node], self.scale[node], powers.get(node, 0)
        if self.graph.op[node] == "mul":
            (p, a), (q, b) = terms
            factor = self.times(self.times(p, q), self.times(self.scale[a], self.scale[b]))
            ends = [(self.over(factor, s), own - powers.get(a, 0) - powers.get(b, 0))]
        else:
            ends = [
                (self.over(self.times(f, self.scale[v]), s), own - powers.get(v, 0)) for f, v in terms if v
            ]
        for factor, power in ends:
            if factor != Graph.one and power in (1, -1):
                yield factor if power == 1 else self.over(Graph.one, factor)

    def power(self, unit: Ref, n: int) -> Ref:
        result = Graph.one
        for _ in range(abs(n)):
            result = self.times(result, unit) if n > 0 else self.over(result, unit)
        return result

    def written(self) -> Program:
        """The program with these scales."""
        old, fresh, made, values = self.graph, Graph(), dict[int, Ref](), dict[int, Ref]()

        def constant(ref: Ref) -> Ref:
            for n in needed(old, [ref]):
                if n not in made:
                    made[n] = copy_node(old, n, [made[a >> 1] ^ (a & 1) for a in old.args[n]], fresh, {})
            return made[ref >> 1] ^ (ref & 1)

        def take(value: int, factor: Ref) -> Ref:
            return fresh.mul(constant(old.mul(factor, self.scale[value])), values[value])

        for n in self.order:
            terms, s = self.terms[n], self.scale[n]
            with fresh.origin(old.note[n]):
                if old.op[n] == "mul":
                    (p, _), (q, _) = terms
                    (a, f), (b, h) = self.uses(n)
                    values[n] = fresh.mul(take(a, f), take(b, h)) ^ ((p ^ q) & 1)
                elif old.op[n] == "add":
                    parts = [take(v, old.div(f, s)) if v else constant(old.div(f, s)) for f, v in terms]
                    values[n] = fresh.add(*parts)
                else:
                    args = [take(v, f) if v else constant(f) for f, v in terms]
                    values[n] = copy_node(old, n, args, fresh, {})
        arrays = [
            (out.name, out.shape, [take(t.value, t.factor) if t.value else constant(t.factor) for t in terms])
            for out, terms in zip(self.program.outputs, self.outputs, strict=True)
        ]
        return build_program(fresh, self.program.name, self.program.inputs, arrays)


def rescale(program: Program, by_parameters: bool = True) -> Program:
    """The program in better units, where there are any; the same functions.

    by_parameters: units may depend on run-time parameters, which then must not make them zero.
    """
    if any(item.quaternions for item in program.inputs):
        return program
    work = Scaled(program)
    start, improved = work.cost, True
    regions = list(units(work))
    while improved:
        improved = False
        for powers in regions:
            wishes = Counter(unit for node in work.order if work.free(node) for unit in work.needs(node, powers))
            fit = (u for u, _ in wishes.most_common() if by_parameters or not has_symbols(work.graph, u))
            for unit in islice(fit, WISHES):
                improved |= _measure(work, powers, unit)
    if work.cost == start:
        return program
    found = work.written()
    return found if found.counts.total < program.counts.total else program


def _measure(work: Scaled, powers: Mapping[int, int], unit: Ref) -> bool:
    """Measure in another unit; taken back when nothing is saved."""
    before = work.cost
    old: list[tuple[int, Ref, bool]] = []

    def put(node: int, scale: Ref, second: bool) -> None:
        old.append((node, work.scale[node], node in work.second))
        work.put(node, scale, second)

    inside = [node for node in powers if work.free(node)]
    for node in inside:
        put(node, work.times(work.scale[node], work.power(unit, powers[node])), node in work.second)
    around = {user for node in powers for user in work.users[node]} | set(inside)
    for node in sorted(around):
        if work.graph.op[node] == "mul":
            second = node in work.second
            if work.put(node, work.scale[node], not second) < 0:
                old.append((node, work.scale[node], second))
            else:
                work.put(node, work.scale[node], second)
    if work.cost < before:
        return True
    for item in reversed(old):
        work.put(*item)
    return False


class _Powers:
    """Linear forms in free numbers, and equations between them solved for the number with the largest name."""

    def __init__(self) -> None:
        self._solved: dict[int, dict[int, Fraction]] = {}

    def reduced(self, form: Mapping[int, Fraction]) -> dict[int, Fraction]:
        result: dict[int, Fraction] = {}
        stack = list(form.items())
        while stack:
            name, factor = stack.pop()
            if name in self._solved:
                stack += [(other, factor * f) for other, f in self._solved[name].items()]
            else:
                result[name] = result.get(name, Fraction(0)) + factor
        return {name: f for name, f in result.items() if f}

    def equate(self, a: Mapping[int, Fraction], b: Mapping[int, Fraction]) -> None:
        rest = self.reduced(_sum(a, b, -1))
        if rest:
            name = max(rest)
            factor = rest.pop(name)
            self._solved[name] = {other: -f / factor for other, f in rest.items()}


def _sum(a: Mapping[int, Fraction], b: Mapping[int, Fraction], sign: int = 1) -> dict[int, Fraction]:
    result = dict(a)
    for name, f in b.items():
        result[name] = result.get(name, Fraction(0)) + sign * f
    return result


def units(work: Scaled) -> Iterator[dict[int, int]]:
    """Value -> power of a unit: the ways in which all sums stay sums of equal units, constants between free.

    Each value's power is a linear form in free numbers: one for each input and for each value that only constants
    connect to its operands; sums without constants are equations between them.  Outputs' powers are free numbers as
    far as possible (with negative names), so that most ways leave them alone.
    """
    forms: dict[int, dict[int, Fraction]] = {}
    powers = _Powers()
    for node in work.order:
        forms[node] = _form(work, node, forms, powers)
    for term in (t for out in work.outputs for t in out if t.value):
        powers.equate(forms[term.value], {-term.value: Fraction(1)})
    final = {node: powers.reduced(form) for node, form in forms.items()}
    for name in sorted({name for form in final.values() for name in form}):
        found = {node: form[name] for node, form in final.items() if name in form}
        if all(f.denominator == 1 and abs(f) <= HIGHEST for f in found.values()):
            yield {node: int(f) for node, f in found.items()}


def _form(work: Scaled, node: int, forms: Mapping[int, dict[int, Fraction]], powers: _Powers) -> dict[int, Fraction]:
    op, terms = work.graph.op[node], work.terms[node]
    plain = [t.value for t in terms if t.value and t.factor >> 1 == 1]
    if op == "mul" and len(plain) == 2:
        return _sum(forms[plain[0]], forms[plain[1]])
    if op == "add" and plain:
        for other in plain[1:]:
            powers.equate(forms[plain[0]], forms[other])
        return forms[plain[0]]
    if op in ("add", "mul") or op == "sym":
        return {node: Fraction(1)}
    for term in terms:
        if term.value:
            powers.equate(forms[term.value], {})
    return {}
