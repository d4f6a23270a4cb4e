"""Expressions as sums of terms: to print them as in a book, and to say which term of a hand derivation differs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from kane.graph.arena import Graph, Ref
from kane.graph.program import needed
from kane.mechanism.formula import scalar_text

Monomial = tuple[tuple[int, int], ...]  # (node of an atom, power), by rank
Polynomial = dict[Monomial, Fraction]
LIMIT = 80  # terms; beyond it an expression is printed by numbered intermediates


class TooLongError(Exception):
    """An expression with more terms than asked for."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Expands and prints expressions of a graph; `order`: names of symbols that come first, e.g. udot, u.

    abbreviations: node -> name printed for it, with the sign that the named reference has.  names: how symbols are
    printed that are called otherwise there.
    """

    graph: Graph
    order: tuple[str, ...] = ()
    abbreviations: dict[int, tuple[str, int]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    _known: dict[int, Polynomial | None] = field(default_factory=dict, compare=False, repr=False)
    _atoms: dict[int, str] = field(default_factory=dict, compare=False, repr=False)

    def expand(self, ref: Ref, limit: int = LIMIT) -> Polynomial:
        """The sum of monomials in symbols, functions and reciprocals that a reference is.

        Raises TooLongError when it or a part of it has more than `limit` terms.
        """
        g = self.graph
        for node in needed(g, [ref]):
            if node not in self._known:
                self._known[node] = self._expanded(node, limit)
        whole = self._known[ref >> 1]
        if whole is None or len(whole) > limit:
            raise TooLongError(f"more than {limit} terms")
        return self._abbreviated(self._reduced(_signed(whole, ref)))

    def _abbreviated(self, p: Polynomial) -> Polynomial:
        """Terms that make up abbreviations gathered, where that leaves fewer terms."""
        for node, (_, _) in self.abbreviations.items():
            meaning = Terms(self.graph, self.order, names=self.names).expand(2 * node)
            atom = next((m[0][0] for m, c in meaning.items() if len(m) == 1 and m[0][1] == 1 and abs(c) == 1), None)
            if atom is None or not any(dict(m).get(atom, 0) > 0 for m in p):
                continue
            sign = meaning[((atom, 1),)]
            rest = {m: -c * sign for m, c in meaning.items() if m != ((atom, 1),)}
            instead = _sum({((node, 1),): sign}, rest)  # atom = sign * name - the other terms
            gathered: Polynomial = {}
            for m, c in p.items():
                powers = dict(m)
                part: Polynomial = {tuple((x, k) for x, k in m if x != atom): c}
                for _ in range(max(powers.get(atom, 0), 0)):
                    part = self._product(part, instead)
                gathered = _sum(gathered, part if powers.get(atom, 0) > 0 else {m: c})
            p = gathered if len(gathered) < len(p) else p
        return p

    def _expanded(self, node: int, limit: int) -> Polynomial | None:
        """The terms of a node from those of its operands; None where there are too many."""
        g = self.graph
        op, args = g.op[node], g.args[node]
        if node in self.abbreviations:
            return {((node, 1),): Fraction(1)}
        if op == "num":
            return {(): g.numbers[node]} if g.numbers[node] else {}
        if op not in ("add", "mul", "div"):
            return {((node, 1),): Fraction(1)}
        left, right = (self._known[a >> 1] for a in args)
        if left is None or right is None:
            return None
        p, q = _signed(left, args[0]), _signed(right, args[1])
        if op == "add":
            result = _sum(p, q)
        elif op == "div":
            result = self._product(p, self._inverse(q, args[1]))
        elif len(p) * len(q) > 4 * limit:
            return None
        else:
            result = self._product(p, q)
        return result if len(result) <= limit else None

    def _inverse(self, p: Polynomial, ref: Ref) -> Polynomial:
        if len(p) == 1:
            ((monomial, c),) = p.items()
            return {tuple((node, -n) for node, n in monomial): 1 / c}
        sign = -1 if ref & 1 else 1
        return {((ref >> 1, -1),): Fraction(sign)}

    def _product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        result: Polynomial = {}
        for m, c in a.items():
            for n, d in b.items():
                powers = dict(m)
                for node, k in n:
                    powers[node] = powers.get(node, 0) + k
                key = tuple(sorted(((x, k) for x, k in powers.items() if k), key=self._rank))
                result[key] = result.get(key, Fraction(0)) + c * d
        return {m: c for m, c in result.items() if c}

    def _reduced(self, p: Polynomial) -> Polynomial:
        """sin^2 written as 1 - cos^2, in all powers, where that shortens the sum."""
        g = self.graph
        for node in sorted({x for m in p for x, k in m if k >= 2 and g.op[x] == "sin"}, key=lambda x: g.residue[x]):
            cosine = g.cos(g.args[node][0]) >> 1
            replaced: Polynomial = {}
            square: Polynomial = {(): Fraction(1), ((cosine, 2),): Fraction(-1)}
            for m, c in p.items():
                powers = dict(m)
                squares = max(powers.get(node, 0), 0) // 2
                powers[node] = powers.get(node, 0) - 2 * squares
                part = {tuple((x, k) for x, k in powers.items() if k): c}
                for _ in range(squares):
                    part = self._product(part, square)
                replaced = _sum(replaced, part)
            if len(replaced) < len(p):
                p = replaced
        return p

    def _rank(self, item: tuple[int, int]) -> tuple[int, int, str]:
        node = item[0]
        g = self.graph
        if g.op[node] == "sym":
            name = g.symbols[node].name
            if name in self.order:
                return (3, len(self.order) - self.order.index(name), name)
            return (1 if g.level[node] == 1 else 2, 0, name)
        return (2, 1, self.atom(node))

    # printing

    def text(self, ref: Ref) -> str:
        """A reference as a formula: a common factor, then a sum grouped by what comes first in `order`."""
        if ref < 2:
            return "0"
        try:
            return self.polynomial_text(self.expand(ref))
        except TooLongError:
            return self.nested_text(ref)

    @property
    def head(self) -> str:
        """What numbered intermediates are called: z; zz and so on where symbols have such names."""
        taken = [s.name for s in self.graph.symbols.values()] + [name for name, _ in self.abbreviations.values()]
        head = "z"
        while any(re.fullmatch(rf"{head}\d+", name) for name in (*taken, *self.names.values())):
            head += "z"
        return head

    def nested_text(self, ref: Ref, limit: int = 60) -> str:
        """A formula as it is built; longer ones with numbered intermediates, "where z1 = ..."."""
        g = self.graph
        order = needed(g, [ref])
        uses: dict[int, int] = {}
        for node in order:
            for a in g.args[node]:
                uses[a >> 1] = uses.get(a >> 1, 0) + 1
        shared = [
            n
            for n in order
            if len(order) > limit and uses.get(n, 0) > 1 and g.args[n] and g.op[n] not in ("sin", "cos")
        ]
        names = {n: f"{self.head}{k + 1}" for k, n in enumerate(shared)}
        lines = [f"{names[n]} = {self._nested(2 * n, 0, {x: y for x, y in names.items() if x != n})}" for n in shared]
        text = self._nested(ref, 0, names)
        return f"{text} where {'; '.join(lines)}" if lines else text

    def _nested(self, ref: Ref, rank: int, names: dict[int, str]) -> str:
        g, node = self.graph, ref >> 1
        if ref & 1:
            text = f"-{self._nested(ref ^ 1, 2, names)}"
            return f"({text})" if rank > 0 else text
        if node in names or node in self.abbreviations:
            return names.get(node) or self.atom(node)
        op, args = g.op[node], g.args[node]
        if op == "add":
            second = self._nested(args[1] & ~1, 1, names)
            text = f"{self._nested(args[0], 0, names)} {'-' if args[1] & 1 else '+'} {second}"
            return f"({text})" if rank > 0 else text
        if op in ("mul", "div"):
            sign = {"mul": "*", "div": "/"}[op]
            text = f"{self._nested(args[0], 2, names)}{sign}{self._nested(args[1], 3, names)}"
            return f"({text})" if rank > 2 else text
        return self.atom(node)

    def atom(self, node: int) -> str:
        """A symbol, a number or a function of an argument."""
        if node not in self._atoms:
            self._atoms[node] = self._atom(node)
        return self._atoms[node]

    def _atom(self, node: int) -> str:
        g = self.graph
        op, args = g.op[node], g.args[node]
        if node in self.abbreviations:
            name, sign = self.abbreviations[node]
            return f"(-{name})" if sign else name
        if op == "sym":
            return self.names.get(g.symbols[node].name, g.symbols[node].name)
        if op == "num":
            return scalar_text(g.numbers[node])
        if op == "pi":
            return "pi"
        if op in ("add", "mul", "div"):
            return f"({self.nested_text(2 * node)})"
        return f"{op}({', '.join(self.text(a) for a in args)})"

    def polynomial_text(self, p: Polynomial) -> str:
        """A sum of monomials: numbers, the common factor, then a bracket."""
        if not p:
            return "0"
        if len(p) == 1:
            ((m, c),) = p.items()
            return self._term(m, c)
        common = _common(p)
        content = _content(list(p.values()))
        lead = self._sorted(p)[0]
        if p[lead] < 0:
            content = -content
        inner = {_over(m, common): c / content for m, c in p.items()}
        body = self._sum_text(inner)
        if not common and content == 1:
            return body
        factor = self._term(common, content)
        return f"-({body})" if factor == "-1" else f"{factor}*({body})"

    def _sum_text(self, p: Polynomial) -> str:
        """Grouped by the first-ranked symbols (rates of speeds) where several terms share one."""
        parts: list[str] = []
        rest = dict(p)
        for name in self.order:
            node = self.graph._by_name.get(name, -2) >> 1
            group = {m: c for m, c in rest.items() if dict(m).get(node) == 1}
            if len(group) < 2 or (not name.endswith("'") and not name.startswith("qdd")):
                continue
            rest = {m: c for m, c in rest.items() if m not in group}
            inner = {_over(m, ((node, 1),)): c for m, c in group.items()}
            text = self.polynomial_text(inner)
            shown = self.names.get(name, name)
            parts.append(f"{text}*{shown}" if len(text_factors(text)) == 1 else f"({text})*{shown}")
        parts += [self._term(m, rest[m]) for m in self._sorted(rest)]
        return " + ".join(parts).replace("+ -", "- ")

    def _sorted(self, p: Polynomial) -> list[Monomial]:
        return sorted(
            p,
            key=lambda m: (
                [tuple(-x if isinstance(x, int) else x for x in self._rank(i)) for i in reversed(m)],
                len(m),
            ),
        )

    def _term(self, m: Monomial, c: Fraction) -> str:
        above = [self._power(node, k) for node, k in m if k > 0]
        below = [self._power(node, -k) for node, k in m if k < 0]
        sign = "-" if c < 0 else ""
        c = abs(c)
        if c.numerator != 1 or not above:
            above.insert(0, str(c.numerator))
        if c.denominator != 1:
            below.insert(0, str(c.denominator))
        text = sign + "*".join(above)
        if below:
            text += "/" + (below[0] if len(below) == 1 else f"({'*'.join(below)})")
        return text

    def _power(self, node: int, k: int) -> str:
        return self.atom(node) if k == 1 else f"{self.atom(node)}**{k}"


def text_factors(text: str) -> list[str]:
    """The summands of a text at depth 0."""
    depth, parts, start = 0, [], 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and text[i : i + 3] in (" + ", " - "):
            parts.append(text[start:i])
            start = i + 3
    return [*parts, text[start:]]


def _signed(p: Polynomial, ref: Ref) -> Polynomial:
    return {m: -c for m, c in p.items()} if ref & 1 else p


def _sum(a: Polynomial, b: Polynomial) -> Polynomial:
    total = dict(a)
    for m, c in b.items():
        total[m] = total.get(m, Fraction(0)) + c
    return {m: c for m, c in total.items() if c}


def _common(p: Polynomial) -> Monomial:
    """The largest monomial that divides all."""
    monomials = [dict(m) for m in p]
    first = next(iter(p))
    result = []
    for node, _ in first:
        low = min(m.get(node, 0) for m in monomials)
        if low > 0:
            result.append((node, low))
        high = max(m.get(node, 0) for m in monomials)
        if high < 0:
            result.append((node, high))
    return tuple(result)


def _content(values: Sequence[Fraction]) -> Fraction:
    from math import gcd, lcm

    return Fraction(gcd(*(c.numerator for c in values)), lcm(*(c.denominator for c in values)))


def _over(m: Monomial, divisor: Monomial) -> Monomial:
    powers = dict(m)
    for node, k in divisor:
        powers[node] -= k
    return tuple((node, powers[node]) for node, _ in m if powers[node])
