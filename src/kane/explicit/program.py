"""Programs of an explicit model, factored to few operations: inverse dynamics, mass matrix, gravity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kane.explicit.absolute import Absolute, Piece, absolute_form
from kane.explicit.angles import Angle
from kane.explicit.lumping import Constant, Expression
from kane.explicit.model import ExplicitModel
from kane.graph.arena import Graph, Ref
from kane.graph.program import Input, Program, build_program
from kane.kinematics.coordinates import symbol_name
from kane.rewrite.factor import factor

TASKS = ("inverse_dynamics", "mass_matrix", "gravity_forces")


@dataclass(frozen=True, slots=True)
class Names:
    """Symbol names of q, qd, qdd in the order of the coordinates."""

    q: tuple[str, ...]
    qd: tuple[str, ...]
    qdd: tuple[str, ...]


def names_of(coordinates: Sequence[str]) -> Names:
    q, qd, qdd = (tuple(symbol_name(p, c) for c in coordinates) for p in ("q", "qd", "qdd"))
    return Names(q, qd, qdd)


class ConstantRefs:
    """The constants of a model in a graph: numbers, formulas in run-time parameters, or symbols of their own names."""

    def __init__(self, model: ExplicitModel, graph: Graph, symbols: bool = False) -> None:
        self.model, self.graph, self.symbols = model, graph, symbols
        self._made: dict[str, Ref] = {}
        self._by_name = {c.name: c for c in model.constants}
        self._exact = {p.name: p.value for p in model.mechanism.parameters if p.value is not None}
        self._exact |= {a.name: a.exact for a in reversed(model.atoms.atoms) if a.exact is not None}

    def __call__(self, constant: Constant) -> Ref:
        known = self._made.get(constant.name)
        if known is None:
            known = self._made[constant.name] = self._make(constant)
        return known

    def _make(self, constant: Constant) -> Ref:
        g = self.graph
        if constant.parts and not self.symbols:
            return g.sum(g.mul(g.number(v), self(self._by_name[name])) for name, v in constant.parts)
        if self.symbols:
            return g.symbol(constant.name, "parameter")
        return self.model.atoms.build(g, constant.coefficient, self._name)

    def _name(self, text: str) -> Ref:
        if text in self.model.parameters:
            return self.graph.symbol(text, "parameter")
        value = self._exact.get(text)
        return self.graph.symbol(text, "parameter") if value is None else self.graph.number(value)

    def number(self, constant: Constant) -> Fraction | None:
        """The constant as an exact number, the nearest double if irrational; None when it has run-time parameters."""
        ref = self(constant)
        exact = self.graph.value_of(ref)
        if exact is not None:
            return exact
        return Fraction(constant.value) if constant.value is not None and not self.model.parameters else None


def program(model: ExplicitModel, task: str = "inverse_dynamics") -> Program:
    """A task of the model as a Program: inverse_dynamics(q, qd, qdd), mass_matrix(q) or gravity_forces(q).

    Run-time parameters, where the model has some, come last as input `p`.
    Raises ValueError for another task.
    """
    if task == "inverse_dynamics":
        return inverse_dynamics_program(model, absolute_form(model))
    if task not in TASKS:
        raise ValueError(f"{task!r} is no task of an explicit model; there are: {', '.join(TASKS)}")
    graph = Graph()
    names = names_of(model.coordinates)
    n = model.n
    if task == "mass_matrix":
        refs = _elements(model, graph, names, [model.A[i][j] for i in range(n) for j in range(i, n)])
        place = {(i, j): k for k, (i, j) in enumerate((i, j) for i in range(n) for j in range(i, n))}
        full = [refs[place[min(i, j), max(i, j)]] for i in range(n) for j in range(n)]
        outputs: list[tuple[str, tuple[int, ...], Sequence[Ref]]] = [("M", (n, n), full)]
    else:
        outputs = [("g", (n,), _elements(model, graph, names, model.g))]
    return build_program(graph, task, [Input("q", names.q), *_parameter_input(model)], outputs)


def graph_of(model: ExplicitModel) -> tuple[Graph, dict[str, list[Ref]]]:
    """The elements as expressions for printers: A, B, C by rows and g, in symbols of the constants' names and of q."""
    graph = Graph()
    variables = Variables(graph, names_of(model.coordinates))
    refs = ConstantRefs(model, graph, symbols=True)

    def value(expression: Expression) -> Ref:
        total = graph.zero
        for t in expression:
            product = graph.mul(graph.number(t.ratio), refs(model.constants[t.constant]))
            for place in variables.factors(t.factors):
                product = graph.mul(product, variables.refs[place])
            total = graph.add(total, product)
        return total

    rows = {"A": model.A, "B": model.B, "C": model.C}
    made = {name: [value(e) for row in matrix for e in row] for name, matrix in rows.items()}
    return graph, made | {"g": [value(e) for e in model.g]}


def _parameter_input(model: ExplicitModel) -> list[Input]:
    return [Input("p", tuple(model.parameters), "parameter")] if model.parameters else []


class Variables:
    """Literals of factored polynomials and their references.

    Sines and cosines, slides, speeds, accelerations, constants.
    """

    def __init__(self, graph: Graph, names: Names) -> None:
        self.graph, self.names = graph, names
        self.refs: list[Ref] = []
        self.constants: list[int] = []
        self._place: dict[object, int] = {}

    def place(self, key: object, make: Callable[[], Ref], constant: bool = False) -> int:
        known = self._place.get(key)
        if known is None:
            known = self._place[key] = len(self.refs)
            self.refs.append(make())
            if constant:
                self.constants.append(known)
        return known

    def angle(self, angle: Angle) -> Ref:
        g = self.graph
        total = g.zero
        for name, multiple in zip(self.names.q, angle, strict=True):
            if multiple:
                total = g.add(total, g.mul(g.number(multiple), g.symbol(name)))
        return total

    def factors(self, factors: Sequence[tuple[Angle, int, int]]) -> list[int]:
        g = self.graph
        result = []
        for angle, c, s in factors:
            if s < 0:
                result += [self.place(("slide", angle), lambda angle=angle: self.angle(angle))] * c  # type: ignore[misc]
            else:
                if c:
                    result += [self.place(("cos", angle), lambda angle=angle: g.cos(self.angle(angle)))] * c  # type: ignore[misc]
                if s:
                    result += [self.place(("sin", angle), lambda angle=angle: g.sin(self.angle(angle)))] * s  # type: ignore[misc]
        return result


class Collector:
    """Sums of products over literals, with constants as numbers where they are, else as free literals."""

    def __init__(self, refs: ConstantRefs, variables: Variables) -> None:
        self.refs, self.variables = refs, variables
        self.polynomials: dict[int, dict[tuple[int, ...], Fraction]] = {}

    def add(self, row: int, ratio: Fraction, constant: Constant, literals: Sequence[int]) -> None:
        number = self.refs.number(constant)
        literals = list(literals)
        if number is None:
            literals.append(self.variables.place(("constant", constant.name), lambda: self.refs(constant), True))
        key = tuple(sorted(literals))
        polynomial = self.polynomials.setdefault(row, {})
        polynomial[key] = polynomial.get(key, Fraction(0)) + ratio * (1 if number is None else number)

    def build(self, rows: int, tries: int = 1) -> list[Ref]:
        polynomials: list[Mapping[tuple[int, ...], Fraction]] = [self.polynomials.get(k, {}) for k in range(rows)]
        made = factor(polynomials, len(self.variables.refs), frozenset(self.variables.constants), tries)
        return made.build(self.variables.graph, self.variables.refs)


def _elements(model: ExplicitModel, graph: Graph, names: Names, expressions: Sequence[Expression]) -> list[Ref]:
    """Expressions of q, factored together."""
    variables = Variables(graph, names)
    collector = Collector(ConstantRefs(model, graph), variables)
    for row, expression in enumerate(expressions):
        for t in expression:
            collector.add(row, t.ratio, model.constants[t.constant], variables.factors(t.factors))
    return collector.build(len(expressions))


def inverse_dynamics_program(model: ExplicitModel, form: Absolute, tries: int = 1) -> Program:
    """tau(q, qd, qdd) from the pieces of an absolute form (all of them, or those that an abbreviation keeps)."""
    graph = Graph()
    names = names_of(model.coordinates)
    variables = Variables(graph, names)
    refs = ConstantRefs(model, graph)
    collector = Collector(refs, variables)
    rate, acceleration = (_absolute(graph, form, labels) for labels in (names.qd, names.qdd))
    for piece in form.pieces:
        collector.add(
            piece.row,
            piece.term.ratio,
            model.constants[piece.term.constant],
            _literals(variables, piece, rate, acceleration),
        )
    forces = collector.build(model.n, tries)
    torques = []
    for i in range(model.n):
        total = graph.zero
        for k in reversed(range(model.n)):
            sign = form.transform[k][i]
            if sign:
                total = graph.add(total, graph.mul(graph.number(sign), forces[k]))
        torques.append(total)
    for i, constant in form.rotors:
        torques[i] = graph.add(torques[i], graph.mul(refs(model.constants[constant]), graph.symbol(names.qdd[i])))
    inputs = [Input("q", names.q), Input("qd", names.qd), Input("qdd", names.qdd), *_parameter_input(model)]
    return build_program(graph, "inverse_dynamics", inputs, [("tau", (model.n,), torques)])


def _absolute(graph: Graph, form: Absolute, labels: Sequence[str]) -> list[Ref]:
    """u_k = sum_i S_ki x_i."""
    return [
        graph.sum(graph.mul(graph.number(s), graph.symbol(x)) for s, x in zip(row, labels, strict=True) if s)
        for row in form.transform
    ]


def _literals(variables: Variables, piece: Piece, rate: Sequence[Ref], acceleration: Sequence[Ref]) -> list[int]:
    result = variables.factors(piece.term.factors)
    if len(piece.motion) == 1:
        j = piece.motion[0]
        result.append(variables.place(("acceleration", j), lambda: acceleration[j]))
    for j in piece.motion if len(piece.motion) == 2 else ():
        result.append(variables.place(("rate", j), lambda j=j: rate[j]))  # type: ignore[misc]
    return result
