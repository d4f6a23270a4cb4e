"""Step 5: abbreviated models, by the paper's rule of significance or with a certified torque error.

Rule "paper" (Armstrong, Khatib and Burdick 1986): a term of an element is dropped when it stays below 1 % of the
greatest term of that element, or below 0.1 % of the largest constant term of the same joint.  Rule "certified": the
cheapest model found whose torque error is proved to stay below the tolerance over the whole ranges of angles, speeds
and accelerations (bounds.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from kane.errors import InputError
from kane.explicit.absolute import Absolute, Piece, absolute_form
from kane.explicit.bounds import COARSE, Factor, Field, Motion, certify, make_field
from kane.explicit.evaluate import Array, constant_values
from kane.explicit.forms import Product
from kane.explicit.lumping import Expression, Term, term_order
from kane.explicit.model import ExplicitModel
from kane.explicit.program import inverse_dynamics_program
from kane.explicit.ranges import Ranges, default_ranges
from kane.explicit.select import operations, select
from kane.graph.program import OperationCounts, Program

Rule = Literal["certified", "paper"]
Matrix = Literal["A", "B", "C", "g"]
ELEMENT_SHARE, CONSTANT_SHARE = 0.01, 0.001  # the paper's rule
_EXPONENTS = (2.0, 1.0, 0.5, 0.25)  # starts of the search, by effort
TRIES = 32  # orders in which the final program is factored
_EXPECTED = 1.15  # of a bound over the greatest error on a coarse grid


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proved bound of one joint's torque error: |error| <= bound.

    found: the greatest error seen at a point while proving; share: bound / reference.
    """

    joint: str
    bound: float
    found: float
    reference: float
    share: float
    ranges: str
    method: str


@dataclass(frozen=True, slots=True)
class Significance:
    """One term of one element: its greatest value over the joint ranges,
    as a share of the greatest term of the element.

    constant_share: of the largest constant term of the same joint.  element: "a12", "b2,34", "c31", "g2" as
    (matrix, row, column).
    """

    matrix: Matrix
    row: int
    column: int
    term: Term
    greatest: float
    share: float
    constant_share: float


@dataclass(frozen=True, slots=True)
class Abbreviated:
    """A shorter model, its program and what is proved of it.

    model: A, B, C and g with the terms that are kept; A need not be symmetric, each joint has its own tolerance.
    dropped: the others.
    """

    model: ExplicitModel
    rule: Rule
    tolerance: float
    ranges: Ranges
    certificates: tuple[Certificate, ...]
    dropped: tuple[Significance, ...]
    program: Program

    @property
    def counts(self) -> OperationCounts:
        """Operations of inverse dynamics."""
        return self.program.counts


def significance(model: ExplicitModel, ranges: Ranges | None = None, lower: bool = False) -> tuple[Significance, ...]:
    """
    For each term of each element its largest share over the joint ranges (the whole turn where `ranges` is not
    given).
    """
    constants = constant_values(model)
    largest = _largest_constants(model, constants)
    result = []
    for matrix, row, column, expression in elements(model, lower):
        sizes = [abs(float(t.ratio) * constants[t.constant]) * greatest(t.factors, ranges) for t in expression]
        top = max(sizes, default=0.0)
        for t, size in zip(expression, sizes, strict=True):
            constant = largest[row] if matrix != "g" else 0.0
            result.append(
                Significance(
                    matrix,
                    row,
                    column,
                    t,
                    size,
                    _share(size, top),
                    _share(size, constant) if constant else float("inf"),
                )
            )
    return tuple(result)


def _share(size: float, whole: float) -> float:
    """size / whole; 1 where slides without a range make both infinite."""
    return 1.0 if whole == float("inf") else size / whole if whole else 0.0


def elements(model: ExplicitModel, lower: bool = False) -> list[tuple[Matrix, int, int, Expression]]:
    """All elements: A (upper triangle; `lower`: all of it), B, C and g."""
    n = model.n
    result: list[tuple[Matrix, int, int, Expression]] = []
    result += [("A", i, j, model.A[i][j]) for i in range(n) for j in range(0 if lower else i, n)]
    result += [("B", i, k, model.B[i][k]) for i in range(n) for k in range(len(model.b_columns))]
    result += [("C", i, j, model.C[i][j]) for i in range(n) for j in range(n)]
    result += [("g", i, 0, model.g[i]) for i in range(n)]
    return result


def _largest_constants(model: ExplicitModel, constants: Array) -> list[float]:
    """Per joint the largest term of its row of A that no coordinate changes (rotor inertia included)."""
    result = []
    for row in model.A:
        sums = [sum(float(t.ratio) * constants[t.constant] for t in e if not t.factors) for e in row]
        result.append(max(abs(s) for s in sums))
    return result


def greatest(factors: Sequence[Factor], ranges: Ranges | None) -> float:
    """The greatest absolute value of a product over the ranges, each angle at its own maximum."""
    result = 1.0
    for angle, c, s in factors:
        if s < 0:
            if ranges is None:
                return float("inf")
            place = angle.index(1)
            result *= max(abs(ranges.lower[place]), abs(ranges.upper[place])) ** c
        else:
            low, high = _angle_range(angle, ranges)
            inside = [np.arctan2(np.sqrt(s), np.sqrt(c)) + k * np.pi for k in range(-20, 21)]
            inside += [-x for x in inside]
            points = [low, high, *(x for x in inside if low < x < high)]
            result *= max(abs(np.cos(x)) ** c * abs(np.sin(x)) ** s for x in points)
    return float(result)


def _angle_range(angle: Sequence[int], ranges: Ranges | None) -> tuple[float, float]:
    if ranges is None:
        return -np.pi, np.pi
    ends = [sorted((k * a, k * b)) for k, a, b in zip(angle, ranges.lower, ranges.upper, strict=True)]
    low, high = sum(a for a, _ in ends), sum(b for _, b in ends)
    return (-np.pi, np.pi) if high - low >= 2 * np.pi else (low, high)


def abbreviate(
    model: ExplicitModel,
    tolerance: float = 0.01,
    rule: Rule = "certified",
    ranges: Ranges | None = None,
    effort: int = 1,
) -> Abbreviated:
    """A shorter model.  "certified": |torque error| <= tolerance * reference for every joint over the ranges, proved.

    "paper": terms below tolerance of the greatest term of their element, or below a tenth of that of the joint's
    largest constant term.  effort: how many rounds of exchange the search for the cheapest certified model makes.
    Raises InputError when the model has run-time parameters, the tolerance is no share, or limits are missing.
    """
    if model.parameters:
        raise InputError(
            f"Parameter {next(iter(model.parameters))!r} is given at run time; what is small depends on its value.",
            name=next(iter(model.parameters)), remedy="Abbreviate the model with numeric parameters.",
        )  # fmt: skip
    if not 0 < tolerance < 1:
        raise InputError(
            f"The tolerance {tolerance} is not between 0 and 1.", value=tolerance, remedy="Give 0.01 for 1 %."
        )
    if ranges is None:
        ranges = default_ranges(model)
    return _by_paper(model, tolerance, ranges) if rule == "paper" else _certified(model, tolerance, ranges, effort)


def _by_paper(model: ExplicitModel, tolerance: float, ranges: Ranges) -> Abbreviated:
    constant_share = tolerance * CONSTANT_SHARE / ELEMENT_SHARE
    dropped = [s for s in significance(model, ranges) if s.share < tolerance or s.constant_share < constant_share]
    gone = {(s.matrix, s.row, s.column, s.term) for s in dropped}
    n = model.n

    def keep(m: Matrix, i: int, j: int, e: Expression) -> Expression:
        return tuple(t for t in e if (m, i, j, t) not in gone)

    a = [[keep("A", min(i, j), max(i, j), model.A[min(i, j)][max(i, j)]) for j in range(n)] for i in range(n)]
    short = replace(
        model,
        A=tuple(tuple(row) for row in a),
        B=tuple(tuple(keep("B", i, k, e) for k, e in enumerate(row)) for i, row in enumerate(model.B)),
        C=tuple(tuple(keep("C", i, j, e) for j, e in enumerate(row)) for i, row in enumerate(model.C)),
        g=tuple(keep("g", i, 0, e) for i, e in enumerate(model.g)),
    )
    errors = joint_form(replace(model, A=_difference(model.A, short.A), B=_difference(model.B, short.B),
                                C=_difference(model.C, short.C), g=_difference((model.g,), (short.g,))[0]))  # fmt: skip
    made = inverse_dynamics_program(short, joint_form(short), TRIES // 4)
    proved = certificates(model, error_fields(model, errors, ranges), ranges)
    return Abbreviated(short, "paper", tolerance, ranges, proved, tuple(dropped), made)


def _difference(
    full: Sequence[Sequence[Expression]], short: Sequence[Sequence[Expression]]
) -> tuple[tuple[Expression, ...], ...]:
    return tuple(
        tuple(tuple(t for t in e if t not in set(kept)) for e, kept in zip(row, rest, strict=True))
        for row, rest in zip(full, short, strict=True)
    )


def joint_form(model: ExplicitModel) -> Absolute:
    """The pieces of A, B, C and g as they are, in the joints' own coordinates."""
    n = model.n
    pieces = [Piece(i, t, (j,)) for i in range(n) for j in range(n) for t in model.A[i][j]]
    pieces += [Piece(i, t, model.b_columns[k]) for i in range(n) for k, e in enumerate(model.B[i]) for t in e]
    pieces += [Piece(i, t, (j, j)) for i in range(n) for j in range(n) for t in model.C[i][j]]
    pieces += [Piece(i, t, ()) for i in range(n) for t in model.g[i]]
    unit = tuple(tuple(int(i == j) for j in range(n)) for i in range(n))
    return Absolute(unit, tuple(pieces), ())


def joint_parts(form: Absolute, piece: Piece, constants: Array) -> list[tuple[int, Motion, float, Product]]:
    """What a piece adds to the joints' torques: (joint, motion in joint coordinates, coefficient, product)."""
    n = len(form.transform)
    size = float(piece.term.ratio) * float(constants[piece.term.constant])
    motions: dict[Motion, float] = {(): size}
    for j in piece.motion:
        motions = {
            (*m, k): w * form.transform[j][k] for m, w in motions.items() for k in range(n) if form.transform[j][k]
        }
    merged: dict[Motion, float] = {}
    for m, w in motions.items():
        key = tuple(sorted(m))
        merged[key] = merged.get(key, 0.0) + w
    return [
        (i, m, w * form.transform[piece.row][i], piece.term.factors)
        for i in range(n)
        if form.transform[piece.row][i]
        for m, w in merged.items()
        if w
    ]


def error_fields(model: ExplicitModel, errors: Absolute, ranges: Ranges) -> list[Field]:
    """What the missing pieces add to every joint's torque."""
    constants = constant_values(model)
    parts: list[list[tuple[Motion, float, Product]]] = [[] for _ in range(model.n)]
    for piece in errors.pieces:
        for i, motion, w, factors in joint_parts(errors, piece, constants):
            parts[i].append((motion, w, factors))
    return [make_field(model.n, own, ranges.box) for own in parts]


def certificates(model: ExplicitModel, fields: Sequence[Field], ranges: Ranges) -> tuple[Certificate, ...]:
    """The bound of every joint's torque error."""
    result = []
    for i, name in enumerate(model.coordinates):
        bound = certify(fields[i], ranges.box)
        method = f"grid of {bound.points} configurations with Riesz's factor" if bound.points else "no term dropped"
        upper = bound.upper * (1 + 1e-12)  # rounding of the sums themselves
        result.append(
            Certificate(
                name, upper, bound.lower, ranges.reference[i], upper / ranges.reference[i], ranges.describe(i), method
            )
        )
    return tuple(result)


def _certified(model: ExplicitModel, tolerance: float, ranges: Ranges, effort: int) -> Abbreviated:
    """Drop what costs most and errs least, prove the rest; where the proof misses, keep more."""
    form = absolute_form(model)
    constants = constant_values(model)
    parts = [joint_parts(form, piece, constants) for piece in form.pieces]
    limit = np.array([tolerance * r for r in ranges.reference])
    budget = limit.copy()
    best: tuple[int, frozenset[int], tuple[Certificate, ...]] | None = None
    for exponent in _EXPONENTS[: max(1, effort)]:
        budget = limit.copy()
        while True:
            kept = select(model, form, parts, ranges, budget, effort, exponent)
            errors = replace(form, pieces=tuple(p for k, p in enumerate(form.pieces) if k not in kept), rotors=())
            fields = error_fields(model, errors, ranges)
            excess = np.array([certify(f, ranges.box, COARSE).lower * _EXPECTED for f in fields]) / limit
            if np.all(excess <= 1):
                proved = certificates(model, fields, ranges)
                excess = np.array([c.bound for c in proved]) / limit
                if np.all(excess <= 1):
                    break
            budget = np.where(excess > 1, budget / excess * 0.995, budget)
        count = operations(model, form, kept)
        if best is None or count < best[0]:
            best = (count, kept, proved)
    assert best is not None
    _, kept, proved = best
    short_form = replace(form, pieces=tuple(p for k, p in enumerate(form.pieces) if k in kept))
    short = _model_of(model, short_form)
    gone = _dropped(model, short, ranges)
    return Abbreviated(
        short, "certified", tolerance, ranges, proved, gone, inverse_dynamics_program(short, short_form, TRIES)
    )


def _model_of(model: ExplicitModel, form: Absolute) -> ExplicitModel:
    """A, B, C and g of the pieces of a form, in joint coordinates: A = S' A' S and so on."""
    n = model.n
    table: dict[tuple[int, Motion], dict[tuple[int, Product], Fraction]] = {}
    for piece in form.pieces:
        for i, motion, w in _joint_terms(form, piece):
            cell = table.setdefault((i, motion), {})
            key = (piece.term.constant, piece.term.factors)
            cell[key] = cell.get(key, Fraction(0)) + w
    for i, constant in form.rotors:
        table.setdefault((i, (i,)), {})[constant, ()] = Fraction(1)

    def cell_of(i: int, motion: Motion) -> Expression:
        terms = (Term(w, c, f) for (c, f), w in table.get((i, motion), {}).items() if w)
        return tuple(sorted(terms, key=term_order))

    return replace(
        model,
        A=tuple(tuple(cell_of(i, (j,)) for j in range(n)) for i in range(n)),
        B=tuple(tuple(cell_of(i, pair) for pair in model.b_columns) for i in range(n)),
        C=tuple(tuple(cell_of(i, (j, j)) for j in range(n)) for i in range(n)),
        g=tuple(cell_of(i, ()) for i in range(n)),
    )


def _joint_terms(form: Absolute, piece: Piece) -> list[tuple[int, Motion, Fraction]]:
    unit = replace(piece, term=Term(Fraction(1), 0, piece.term.factors))
    return [(i, m, piece.term.ratio * Fraction(w)) for i, m, w, _ in joint_parts(form, unit, np.ones(1))]


def _dropped(model: ExplicitModel, short: ExplicitModel, ranges: Ranges) -> tuple[Significance, ...]:
    """Terms of the full model that the short one does not have with the same weight."""
    kept = {(m, i, j): {(t.constant, t.factors): t.ratio for t in e} for m, i, j, e in elements(short, True)}
    return tuple(
        s
        for s in significance(model, ranges, True)
        if kept[s.matrix, s.row, s.column].get((s.term.constant, s.term.factors)) != s.term.ratio
    )
