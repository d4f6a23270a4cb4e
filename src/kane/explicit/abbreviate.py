"""Step 5: abbreviated models, by the paper's rule of significance or with a certified torque error.

Rule "paper" (Armstrong, Khatib and Burdick 1986): a term of an element is dropped when it stays below 1 % of the
greatest term of that element, or below 0.1 % of the largest constant term of the same joint.  Rule "certified": the
cheapest model found whose torque error is proved to stay below the tolerance over the whole ranges of angles, speeds
and accelerations (bounds.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from kane.errors import InputError
from kane.explicit.absolute import Absolute, Piece, absolute_form, joint_parts
from kane.explicit.bounds import COARSE, FINE, Bound, Field, Motion, certify, make_field
from kane.explicit.evaluate import Array, constant_values
from kane.explicit.forms import Product
from kane.explicit.lumping import Expression, Term, term_order
from kane.explicit.model import ExplicitModel
from kane.explicit.program import inverse_dynamics_program
from kane.explicit.ranges import Ranges, default_ranges
from kane.explicit.rounding import parameter_bound, rounding_bound
from kane.explicit.select import kept_form, operations, select
from kane.explicit.significance import Matrix, Significance, elements, significance
from kane.explicit.structure import smallest_eigenvalue, structured_units
from kane.graph.program import OperationCounts, Program

Rule = Literal["certified", "paper"]
ELEMENT_SHARE, CONSTANT_SHARE = 0.01, 0.001  # the paper's rule
_EXPONENTS = (2.0, 1.0, 0.5, 0.25)  # starts of the search, by effort
TRIES, SHORT = 32, 200  # orders in which the final program is factored; pieces up to which all are tried
_EXPECTED = 1.15  # of a bound over the greatest error on a coarse grid
Proofs = dict[tuple[object, ...], Bound]  # bounds by the fields they hold for


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
class Options:
    """How a certified abbreviation is searched and what its certificate includes.

    effort: rounds of exchange and number of starts.  keep_structure: terms go from A and the potential, B, C and g
    follow.  tolerances: of parameters or constants by name, included in the bound.  dtype "float32": rounding included.
    """

    effort: int = 1
    keep_structure: bool = False
    tolerances: Mapping[str, float] = field(default_factory=dict)
    dtype: Literal["float64", "float32"] = "float64"


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
    smallest_eigenvalue: float | None = None

    @property
    def counts(self) -> OperationCounts:
        """Operations of inverse dynamics."""
        return self.program.counts


def abbreviate(
    model: ExplicitModel,
    tolerance: float = 0.01,
    rule: Rule = "certified",
    ranges: Ranges | None = None,
    options: Options | None = None,
) -> Abbreviated:
    """A shorter model.  "certified": |torque error| <= tolerance * reference for every joint over the ranges, proved.

    "paper": terms below tolerance of the greatest term of their element, or below a tenth of that of the joint's
    largest constant term.  ranges: default_ranges(model) where not given.  options: only for "certified".
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
    for name, reference in zip(model.coordinates, ranges.reference, strict=True):
        if reference <= 0:
            raise InputError(
                f"The reference torque of {name!r} is {reference}; the tolerance is a share of it.",
                name=name,
                value=reference,
                remedy="Give a positive reference.",
            )
    if rule == "paper":
        return _by_paper(model, tolerance, ranges)
    return _certified(model, tolerance, ranges, options or Options())


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


def error_fields(model: ExplicitModel, errors: Absolute, ranges: Ranges) -> list[Field]:
    """What the missing pieces add to every joint's torque."""
    constants = constant_values(model)
    parts: list[list[tuple[Motion, float, Product]]] = [[] for _ in range(model.n)]
    for piece in errors.pieces:
        for i, motion, w, factors in joint_parts(errors, piece, constants):
            parts[i].append((motion, w, factors))
    return [make_field(model.n, own, ranges.box) for own in parts]


def certificates(
    model: ExplicitModel,
    fields: Sequence[Field],
    ranges: Ranges,
    beyond: Array | None = None,
    proofs: Proofs | None = None,
) -> tuple[Certificate, ...]:
    """The bound of every joint's torque error; `beyond`: what parameters and rounding add.

    proofs: bounds of fields met before, which a search asks for again and again; added to.
    """
    result = []
    known: Proofs = {} if proofs is None else proofs
    extra = np.zeros(model.n) if beyond is None else beyond
    for i, name in enumerate(model.coordinates):
        bound = _proved(fields[i], ranges, FINE, known)
        method = f"grid of {bound.points} configurations with Riesz's factor" if bound.points else "no term dropped"
        if extra[i]:
            method += f"; {extra[i]:.3g} for parameters and rounding"
        upper = bound.upper * (1 + 1e-12) + float(extra[i])  # rounding of the sums themselves
        result.append(
            Certificate(
                name, upper, bound.lower, ranges.reference[i], upper / ranges.reference[i], ranges.describe(i), method
            )
        )
    return tuple(result)


def _proved(own: Field, ranges: Ranges, budget: int, known: Proofs) -> Bound:
    """The bound of a field: `certify`, but once for equal fields."""
    key = (budget, own.k.tobytes(), own.amplitude.tobytes(), own.motions, own.loose)
    if key not in known:
        known[key] = certify(own, ranges.box, budget)
    return known[key]


def _certified(model: ExplicitModel, tolerance: float, ranges: Ranges, options: Options) -> Abbreviated:
    """Drop what costs most and errs least, prove the rest; where the proof misses, keep more."""
    form = absolute_form(model)
    units: list[tuple[Piece, ...]] = (
        structured_units(model, form) if options.keep_structure else [(p,) for p in form.pieces]
    )
    constants = constant_values(model)
    parts = [[part for piece in unit for part in joint_parts(form, piece, constants)] for unit in units]
    limit = np.array([tolerance * r for r in ranges.reference])
    other = parameter_bound(model, options.tolerances, ranges.box) if options.tolerances else np.zeros(model.n)
    best: tuple[int, frozenset[int], tuple[Certificate, ...]] | None = None
    for exponent in _EXPONENTS[: max(1, options.effort)]:
        made = _search(model, form, units, parts, ranges, (limit, other), (options, exponent))
        if best is None or made[0] < best[0]:
            best = made
    assert best is not None
    _, kept, proved = best
    short_form = kept_form(form, units, kept)
    short = _model_of(model, short_form)
    program = inverse_dynamics_program(short, short_form, _tries(short_form))
    least = smallest_eigenvalue(short, ranges.box) if options.keep_structure else None
    return Abbreviated(short, "certified", tolerance, ranges, proved, _dropped(model, short, ranges), program, least)


def _tries(form: Absolute) -> int:
    """Orders in which a form is factored: one takes time that grows as the square of the number of its pieces."""
    return TRIES if len(form.pieces) <= SHORT else max(1, TRIES * SHORT**2 // len(form.pieces) ** 2)


def _search(
    model: ExplicitModel,
    form: Absolute,
    units: Sequence[tuple[Piece, ...]],
    parts: Sequence[Sequence[tuple[int, Motion, float, Product]]],
    ranges: Ranges,
    limits: tuple[Array, Array],
    how: tuple[Options, float],
) -> tuple[int, frozenset[int], tuple[Certificate, ...]]:
    """Operations, kept units and certificates of one start; the budget shrinks until the proof holds.

    Operations are 0 where there is one start only.
    Raises InputError when parameters and rounding alone exceed the tolerance.
    """
    (limit, other), (options, exponent) = limits, how
    single = options.dtype == "float32"
    budget = limit - other
    proofs: Proofs = {}
    while True:
        if np.any(budget <= 1e-6 * limit):
            at = int(np.argmin(budget / limit))
            raise InputError(
                f"Parameter tolerances and rounding alone take the whole tolerance of {model.coordinates[at]!r}.",
                name=model.coordinates[at],
                remedy="Raise the tolerance or the reference, or leave them out of the certificate.",
            )
        kept = select(model, form, units, parts, ranges, budget, (options.effort, exponent))
        short = kept_form(form, units, kept)
        beyond = other
        if single:
            beyond = other + rounding_bound(inverse_dynamics_program(model, short, _tries(short)), ranges.box)
        gone = replace(form, pieces=tuple(p for k, unit in enumerate(units) if k not in kept for p in unit), rotors=())
        fields = error_fields(model, gone, ranges)
        room = np.maximum(limit - beyond, 1e-9 * limit)
        excess = np.array([_proved(f, ranges, COARSE, proofs).lower * _EXPECTED for f in fields]) / room
        if np.all(excess <= 1):
            proved = certificates(model, fields, ranges, beyond, proofs)
            excess = np.array([c.bound for c in proved]) / limit
            if np.all(excess <= 1):
                return operations(model, form, units, kept) if options.effort > 1 else 0, kept, proved
        budget = budget * 0.995 / np.maximum(excess, 0.995)


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
