"""Base parameters: the combinations that torques depend on, found exactly (Khalil and Bennis 1994).

tau = Y pi, with the parameters of all bodies (and rotors) in pi, has dependent columns.  Columns are taken parents
first, so what a joint cannot tell from its parent's goes there; which columns are independent, and how the others are
made of them, is decided at random states modulo random primes (modular.py).  Coefficients are rational numbers where
the geometry gives such, formulas where it has named parameters (the regrouping rules of a turn and of a slide, checked
by their residues), else floating-point numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from kane.equations.base_columns import Rotors, Spaces, column_names, passed_by_turn, rotor_columns, sampled, spaces
from kane.equations.base_text import Coefficient, formula_text, to_formula
from kane.equations.inertial import PARAMETERS, RotorTerm, carry_out, from_refs, head
from kane.equations.modular import fraction_of
from kane.equations.system import Parameters, System, derive_system
from kane.equations.tasks.regressors import parameter_columns, values_of
from kane.graph.arena import Graph, Ref
from kane.graph.evaluate import evaluate, rebuild
from kane.graph.field import Field
from kane.graph.program import Program, build_program
from kane.kinematics.tree import ROOT
from kane.mechanism.formula import Formula
from kane.mechanism.given import Described

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class BaseParameters:
    """beta = K pi with tau = Y pi = Y[:, columns] beta for all motions.

    full: names of pi, "link.m", "link.hx", ... (kg, kg m, kg m^2, about the link's origin) and "joint.Im" (reflected
    rotor inertia; "joint.J" for an exact rotor).  columns: the places in `full` of the base parameters, ascending;
    names: full[columns]; formulas: what each stands for.  vanish: parameters without effect.  regrouped: for each other
    one the base parameters it goes into, with coefficients. matrix: K (nb, n_full).  values: beta of the description
    (NaN where a value is unknown).  approximate: True when some coefficient is a floating-point number.
    """

    full: tuple[str, ...]
    columns: tuple[int, ...]
    formulas: tuple[str, ...]
    vanish: tuple[str, ...]
    regrouped: dict[str, tuple[tuple[str, Coefficient], ...]]
    matrix: tuple[tuple[Coefficient, ...], ...]
    full_values: tuple[float, ...]
    values: tuple[float, ...]
    approximate: bool
    weak: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<BaseParameters: {self.count} of {len(self.full)} parameters; see formulas, values, array()>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters: each after the parameter whose column is kept."""
        return tuple(self.full[c] for c in self.columns)

    @property
    def count(self) -> int:
        return len(self.columns)

    def array(self, parameters: dict[str, float] | None = None) -> Array:
        """K (nb, n_full) in floating point; `parameters`: values of the names in its formulas."""
        values = parameters or {}
        return np.array(
            [[c.evaluate(values) if isinstance(c, Formula) else float(c) for c in row] for row in self.matrix]
        ).reshape(self.count, len(self.full))


def base_parameters(
    robot: Described | System, rotors: Rotors = "given", parameters: Parameters = "numeric"
) -> BaseParameters:
    """The base parameters of a mechanism or system: tau = Y[:, columns] beta, beta = K pi.

    rotors: a column for the reflected inertia of each rotor of the description ("given"), of each joint of one degree
    of freedom ("all"), or none.  parameters: as in derive_system; named lengths that stay symbols appear in the
    coefficients.
    """
    system = robot if isinstance(robot, System) else derive_system(robot, parameters)
    terms = rotor_columns(system, rotors)
    space = spaces(system, terms)
    names = column_names(system, terms)
    table = _resolved(system, space, _coefficients(system, space, names))
    return _collected(names, space, table, full_values(system, terms), system.parameters)


def rule_relations(system: System) -> dict[int, dict[int, Ref]]:
    """Columns that a turn or a slide passes on, by columns that stay (Khalil and Kleinfinger 1987).

    Turn about axis k: m, h_k, and I_jj = (I_ii = I_jj = 1) - I_ii, go to the parent; slide: the whole tensor.  Bodies
    whose frame is turned away from their node's, or whose parent node carries no link, are left out.
    """
    g, k = system.g, system.k
    start = {index: 10 * n for n, (index, _) in enumerate(parameter_columns(system)[::10])}
    relations: dict[int, dict[int, Ref]] = {}
    for index in start:
        m, node = k.motions[index], k.tree.nodes[index]
        steps = k.steps(head(k, node).placement)
        if m.kind == "ball" or m.own_axes or steps or not (node.parent == ROOT or node.parent in start):
            continue
        if node.parent != ROOT and k.steps(head(k, k.tree.nodes[node.parent]).placement):
            continue
        passed = passed_by_turn(m.axis) if m.kind == "turn" and m.axis is not None else PARAMETERS[4:]
        for name in passed:
            c = PARAMETERS.index(name)
            unit = [g.one if i == c else g.zero for i in range(10)]
            relation: dict[int, Ref] = {}
            if m.kind == "turn" and m.axis is not None and name[0] == "I":
                twin = PARAMETERS.index("I" + 2 * "xyz"[(m.axis + 1) % 3])
                unit[twin] = g.one
                relation[start[index] + twin] = g.one ^ 1
            if node.parent != ROOT:
                placed = carry_out(g, m.fixed, from_refs(unit))
                _accumulate(g, relation, start[node.parent], placed.refs(), relations)
            relations[start[index] + c] = relation
    return relations


def _accumulate(
    g: Graph, relation: dict[int, Ref], offset: int, refs: Sequence[Ref], known: dict[int, dict[int, Ref]]
) -> None:
    """Add the columns offset, offset + 1, ... with these factors; what is passed on, by what it is made of."""
    for i, ref in enumerate(refs):
        if ref < 2:
            continue
        for column, factor in known.get(offset + i, {offset + i: g.one}).items():
            relation[column] = g.add(relation.get(column, g.zero), g.mul(ref, factor))


@dataclass(frozen=True, slots=True)
class Exact:
    """Coefficients by column and base column: rational ones, expressions; the rest is left to floating point."""

    rational: dict[tuple[int, int], Fraction]
    expression: dict[tuple[int, int], Ref]


def _coefficients(system: System, space: Spaces, names: Sequence[str]) -> Exact:
    """Rational reconstruction first, the rules' expressions next, these checked by their residues."""
    g, base = system.g, set(space.base)
    primes = [field.prime for field in space.fields]
    relations = {c: space.relation(c) for c in range(len(names)) if c not in base}
    rational: dict[tuple[int, int], Fraction] = {}
    for c, relation in relations.items():
        for b, residues in relation.items():
            value = fraction_of(residues, primes)
            if value is not None:
                rational[c, b] = value
    rules = rule_relations(system)
    wanted: dict[tuple[int, int], Ref] = {}
    for c, relation in relations.items():
        if c not in rules or all((c, b) in rational for b in relation):
            continue
        total: dict[int, Ref] | None = {}
        for slot, factor in rules[c].items():
            parts = {slot: Fraction(1)} if slot in base else {b: rational.get((slot, b)) for b in relations[slot]}
            for b, part in parts.items():
                if part is None or total is None:
                    total = None
                    break
                total[b] = g.add(total.get(b, g.zero), g.mul(g.number(part), factor))
        wanted |= {(c, b): total[b] for b in relation if total is not None and b in total and (c, b) not in rational}
    checked = _residues(system, list(wanted.values()), space.fields)
    agreed = {
        (c, b): ref for ((c, b), ref), found in zip(wanted.items(), checked, strict=True) if found == relations[c][b]
    }
    return Exact(rational, agreed)


def _constants(system: System, refs: Sequence[Ref]) -> Program:
    inputs = [system.input("p")] if system.parameters else []
    return build_program(system.g, "constants", inputs, [("x", (len(refs),), refs)])


def _residues(system: System, refs: Sequence[Ref], fields: Sequence[Field]) -> list[list[int]]:
    """Residues of constant expressions in each field."""
    program = _constants(system, refs)
    found: list[list[int]] = [[] for _ in refs]
    for field in fields:
        graph = Graph(field)
        made = rebuild(program, graph)
        for values, r in zip(found, program.outputs[0].refs, strict=True):
            values.append(graph.residue_of(made[r >> 1] ^ (r & 1)))
    return found


def _numbers(system: System, refs: Sequence[Ref]) -> Array:
    """Floating-point values of constant expressions, NaN where a parameter has no value."""
    p = [np.nan if x is None else x for x in system.parameters.values()]
    return evaluate(_constants(system, refs), {"p": np.array(p)})["x"] if refs else np.zeros(0)


def full_values(system: System, terms: Sequence[RotorTerm]) -> Array:
    """pi of the description."""
    g, given = system.g, {r.joint: r for r in system.rotors}
    refs = values_of(system)
    for term in terms:
        rotor = given.get(term.joint)
        if rotor is None:
            refs.append(g.zero)
        else:
            square = g.mul(rotor.inertia, g.mul(rotor.ratio, rotor.ratio))
            refs.append(square if rotor.carrier is None else rotor.inertia)
    return _numbers(system, refs)


def _resolved(system: System, space: Spaces, exact: Exact) -> dict[tuple[int, int], Coefficient]:
    """All coefficients (column, base column) in the form that the user gets."""
    g, base = system.g, space.base
    table: dict[tuple[int, int], Coefficient] = dict(exact.rational)
    numbers = _numbers(system, list(exact.expression.values()))
    for (key, ref), value in zip(exact.expression.items(), numbers, strict=True):
        formula = to_formula(g, ref)
        table[key] = formula if formula.names() else float(value)
    columns = len(space.order)
    missing = {
        c: [b for b in relation if (c, b) not in table]
        for c in range(columns)
        if c not in base and (relation := space.relation(c))
    }
    missing = {c: bs for c, bs in missing.items() if bs}
    if missing:
        Y = sampled(system, space.program)
        for c, bs in missing.items():
            known = [(b, table[c, b]) for b in space.relation(c) if (c, b) in table]
            rest = Y[:, c] - sum((Y[:, b] * _float(system, x) for b, x in known), np.zeros(len(Y)))
            fit = np.linalg.lstsq(Y[:, bs], rest, rcond=None)[0] if np.isfinite(Y).all() else np.full(len(bs), np.nan)
            table |= {(c, b): float(x) for b, x in zip(bs, fit, strict=True)}
    return table


def _float(system: System, value: Coefficient) -> float:
    known = {n: x for n, x in system.parameters.items() if x is not None}
    if isinstance(value, Formula):
        return value.evaluate(known) if value.names() <= known.keys() else float("nan")
    return float(value)


def _collected(
    names: tuple[str, ...], space: Spaces, table: dict[tuple[int, int], Coefficient], pi: Array,
    parameters: dict[str, float | None],
) -> BaseParameters:  # fmt: skip
    base = space.base
    zero: Coefficient = Fraction(0)
    rows = []
    for b in base:
        rows.append([table.get((c, b), zero) for c in range(len(names))])
        rows[-1][b] = Fraction(1)
    relations = {c: [b for b in base if (c, b) in table] for c in range(len(names)) if c not in base}
    known = {n: x for n, x in parameters.items() if x is not None}
    values = []
    for row in rows:
        total = 0.0
        for x, value in zip(row, pi, strict=True):
            if x != 0:
                ok = not isinstance(x, Formula) or x.names() <= known.keys()
                factor = (x.evaluate(known) if isinstance(x, Formula) else float(x)) if ok else np.nan
                total += factor * float(value)
        values.append(total)
    return BaseParameters(
        full=names,
        columns=base,
        formulas=tuple(formula_text(names, b, row) for b, row in zip(base, rows, strict=True)),
        vanish=tuple(names[c] for c, bs in relations.items() if not bs),
        regrouped={names[c]: tuple((names[b], table[c, b]) for b in bs) for c, bs in relations.items() if bs},
        matrix=tuple(tuple(row) for row in rows),
        full_values=tuple(float(x) for x in pi),
        values=tuple(values),
        approximate=any(isinstance(x, float) for x in table.values()),
        weak=tuple(names[b] for b in base if b in space.weak),
    )
