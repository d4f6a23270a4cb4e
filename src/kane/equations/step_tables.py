"""What the steps of Kane's method are: tables, values by name, and how expressions in them are printed and read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kane.equations.held import Held
from kane.equations.projection import Equations
from kane.equations.terms import Terms, text_factors
from kane.errors import UnknownNameError
from kane.graph.arena import Ref
from kane.kinematics import vectors as v
from kane.kinematics.points import Mixed, Points
from kane.mechanism import formula as f
from kane.mechanism.basis import label
from kane.mechanism.model import Axis

Value = Ref | Mixed | list[Mixed]
AXES: tuple[Axis, Axis, Axis] = (0, 1, 2)
RATE = ", the rate of "  # x_dot, the rate of x: a generalized speed without a name of its own


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a table of texts under headers, and values by name.

    A value is a reference, a vector (components by axes), or a list of those.
    """

    number: int
    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    values: dict[str, Value]

    def __str__(self) -> str:
        widths = [max(len(row[k]) for row in (self.headers, *self.rows)) for k in range(len(self.headers))]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in (self.headers, *self.rows)
        ]
        return "\n".join([f"{self.number}. {self.title}", *(f"   {line}" for line in lines)])


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of Kane's method for one mechanism; str() prints all.

    held: how constraints enter step 8; abbreviations: name -> formula, as given.
    """

    equations: Equations
    preliminaries: Step
    speeds: Step
    velocities: Step
    partial_velocities: Step
    accelerations: Step
    inertia_forces: Step
    active_forces: Step
    kane: Step
    activity: Step
    held: Held | None = None
    abbreviations: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Step]:
        return iter((self.preliminaries, self.speeds, self.velocities, self.partial_velocities, self.accelerations,
                     self.inertia_forces, self.active_forces, self.kane, self.activity))  # fmt: skip

    def __str__(self) -> str:
        return "\n\n".join(str(step) for step in self)

    def latex(self) -> str:
        """All steps in order as a LaTeX fragment: a subsection each, equations in align* of amsmath."""
        from kane.equations.step_latex import steps_latex

        return steps_latex(self)

    def value(self, name: str) -> Value:
        """The value of an entry by its printed name: "v_P1", "w_B", "a_P2", "F*_1", "F_2", "equation_1"."""
        for step in self:
            if name in step.values:
                return step.values[name]
        known = ", ".join(key for step in self for key in step.values)
        raise UnknownNameError(f"There is no entry {name!r}; there are: {known}.", name=name)


def terms_of(e: Equations, abbreviations: Mapping[str, str] | None = None) -> Terms:
    """The printer of an equations' expressions: rates of speeds, then speeds, come first."""
    short = {name: expression(e, text) for name, text in (abbreviations or {}).items()}
    return printer(e.points, {ref >> 1: (name, ref & 1) for name, ref in short.items()})


def printer(p: Points, short: dict[int, tuple[str, int]] | None = None) -> Terms:
    """The printer of expressions of a mechanism; short: node -> name and sign of what is abbreviated."""
    s = p.symbols
    return Terms(p.graph, (*s.names_udot, *s.names_u), short or {}, declared_names(p))


def declared_names(p: Points) -> dict[str, str]:
    """Symbol -> the name that the user declared: theta for q_theta, theta_dot and theta_ddot for its rates.

    q1 keeps qd1, and so does what is called like a basis vector: a1 is then the first axis of A.
    """
    s, c = p.symbols, p.coordinates
    symbols = {symbol.name for symbol in p.graph.symbols.values()}
    taken = symbols | {label(n, axis) for n in p.place for axis in AXES}
    result: dict[str, str] = {}
    rates = dict(zip(c.speeds, zip(s.names_u, s.names_udot, strict=True), strict=True))
    for symbol, n in zip(s.names_q, c.names, strict=True):
        shown = {symbol: n} | dict(zip(rates.get(n, ()), (f"{n}_dot", f"{n}_ddot"), strict=False))
        if n in p.mechanism.coordinates and not taken & set(shown.values()):
            result |= shown
    return result


def vector_text(p: Points, t: Terms, vector: Mapping[int, v.Vec]) -> str:
    """A vector in named bases: L*u1 a2 + L*(u1 + u2) b2."""
    parts = []
    coefficients = {c for part in vector.values() for c in part if c > 1}
    names = [label(p.axes[k].name, a) for k, part in vector.items() for a in (0, 1, 2) if part[a] > 1]
    if len(names) > 1 and len(coefficients) == 1 and 2 not in coefficients:
        text = t.text(coefficients.pop())
        return f"{text} ({' + '.join(names)})" if len(text_factors(text)) == 1 else f"({text}) ({' + '.join(names)})"
    for k, components in vector.items():
        for axis, c in zip((0, 1, 2), components, strict=True):
            if c > 1:
                text = t.text(c)
                name = label(p.axes[k].name, axis)
                plain = len(text_factors(text)) == 1
                parts.append(
                    {"1": name, "-1": f"-{name}"}.get(text, f"{text} {name}" if plain else f"({text}) {name}")
                )
    return " + ".join(parts).replace("+ -", "- ") or "0"


def expression(e: Equations, text: str, bases: Mapping[str, Ref] | None = None) -> Ref:
    """The reference of a formula written as text.

    Names of the mechanism; u1' or u1_dot for rates of speeds (q1_ddot where q1_dot is the speed).
    """
    s, c = e.points.symbols, e.points.coordinates
    second = {n: f"{n}_ddot" if n in c.names else f"{n}_dot" for n in c.speeds}
    rates = {second[n]: a for n, a in zip(c.speeds, s.udot, strict=True)}
    printed = (*s.names_q, *s.names_u, *s.names_udot)
    rates |= dict(zip(printed, (*s.q, *s.u, *s.udot), strict=True))

    def name(n: str) -> Ref:
        if bases and n in bases:
            return bases[n]
        return rates[n] if n in rates else e.measures.scalar(f.name(n))

    return f.build(f.parse(re.sub(r"(\w)'", r"\1_dot", text)), e.graph, name)


def sum_text(t: Terms, total: Ref, parts: Sequence[Ref]) -> str:
    """A total as one formula, or as the sum of its parts' formulas where that is shorter."""
    whole = t.text(total)
    parts = [x for x in parts if x > 1]
    if len(parts) < 2 or t.graph.sub(t.graph.sum(parts), total) > 1:
        return whole
    apart = " + ".join(t.text(x) for x in parts).replace("+ -", "- ")
    return apart if len(apart) < len(whole) and " where " not in apart else whole


def equals(text: str, right: str) -> str:
    """An equation; what its left side is made of ("where z1 = ...") comes last."""
    main, where, rest = text.partition(" where ")
    return f"{main} = {right}{where}{rest}"
