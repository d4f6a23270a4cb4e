"""Abbreviation that keeps the structure: terms go from A and from the potential, B, C and g follow from what is left.

Then A stays symmetric, Mdot - 2 C skew and g a gradient; that A stays positive definite is certified on a grid.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from kane.errors import InputError
from kane.explicit.absolute import Absolute, Change, Piece
from kane.explicit.bounds import Box, Motion, grid_steps, grid_values, make_field
from kane.explicit.christoffel import christoffel
from kane.explicit.energy import Element, derivative, potential
from kane.explicit.evaluate import Array, constant_values
from kane.explicit.forms import Former, Frame, Product, primitive
from kane.explicit.lumping import Expression, Term
from kane.explicit.model import ExplicitModel

Unit = tuple[Piece, ...]


def structured_units(model: ExplicitModel, form: Absolute) -> list[Unit]:
    """Pieces that come from one term of A' or of the potential, in absolute coordinates; rotors stay as in the form."""
    change = Change(model)
    units: list[Unit] = []
    a = change.matrix()
    for i, j in combinations_with_replacement(range(model.n), 2):
        for term in change.write(a[i][j]):
            units.append(_inertia_unit(model, change, i, j, term))
    for term in _potential(model):
        element = change.element((term,))
        pieces = []
        for k in range(model.n):
            pieces += [Piece(k, t, ()) for t in change.write(derivative(element, k, model.turns[k]))]
        units.append(tuple(pieces))
    rotors = tuple(p for p in form.pieces if model.constants[p.term.constant].kind == "rotor")
    return [*(unit for unit in units if unit), *((p,) for p in rotors)]


def _inertia_unit(model: ExplicitModel, change: Change, i: int, j: int, term: Term) -> Unit:
    n = model.n
    matrix: list[list[Element]] = [[{} for _ in range(n)] for _ in range(n)]
    matrix[i][j] = matrix[j][i] = change.element((term,))
    pieces = [Piece(i, term, (j,))] + ([Piece(j, term, (i,))] if i != j else [])
    for (row, p, q), value in christoffel(change.space, matrix, model.turns).items():
        factor = 1 if p == q else 2
        pieces += [Piece(row, Term(t.ratio * factor, t.constant, t.factors), (p, q)) for t in change.write(value)]
    return tuple(pieces)


def _potential(model: ExplicitModel) -> list[Term]:
    """The potential in the gravity constants.  Raises InputError where its terms are no multiples of them."""
    former = Former(Frame(model.n, model.turns, model.groups), "powers")
    known = {}
    for k, c in enumerate(model.constants):
        if c.kind == "gravity":
            base, unit = primitive(c.coefficient)
            known[base] = (k, unit)
    terms = []
    for factors, coefficient in sorted(former(potential(model.arm, model.atoms)).items()):
        base, ratio = primitive(coefficient)
        if not factors:
            continue
        if base not in known:
            raise InputError(
                f"The potential of {model.name} cannot be written in its gravity constants.",
                name=model.name,
                remedy="Abbreviate without keeping the structure.",
            )
        index, unit = known[base]
        terms.append(Term(ratio / unit, index, factors))
    return terms


def smallest_eigenvalue(model: ExplicitModel, box: Box, budget: int = 60_000) -> float:
    """A certified lower bound over all q of the smallest eigenvalue of A scaled to a unit diagonal on average.

    For a fixed vector x, x' A x is a trigonometric polynomial that lies on the grid between the extreme eigenvalues;
    around their middle it is at most the grid's half width times Riesz's factor (bounds.py).  Slides are taken over
    their range by the triangle inequality.
    """
    constants = constant_values(model)
    n = model.n
    mean = [sum(float(t.ratio) * constants[t.constant] for t in model.A[i][i] if not t.factors) for i in range(n)]
    scale = 1 / np.sqrt(np.maximum(np.abs(mean), 1e-12))
    fields = {}
    degrees = [0] * n
    for i in range(n):
        for j in range(i, n):
            field = make_field(n, _parts(model.A[i][j], constants), box)
            fields[i, j] = field
            if not field.empty:
                degrees = [max(d, int(k)) for d, k in zip(degrees, np.abs(field.k).max(axis=0), strict=True)]
    steps = grid_steps(degrees, budget)
    factor = float(np.prod([1 / np.cos(np.pi * d / m) for d, m in zip(degrees, steps, strict=True) if d]))
    matrix = np.zeros((int(np.prod(steps)), n, n))
    loose = 0.0
    for (i, j), field in fields.items():
        if field.empty:
            continue
        values = grid_values(field, steps)
        for m, slide in enumerate(field.loose):
            if slide:
                loose += float(np.abs(field.amplitude[:, m]).sum()) * scale[i] * scale[j]
            else:
                matrix[:, i, j] += values[:, m] * scale[i] * scale[j]
        matrix[:, j, i] = matrix[:, i, j]
    eigenvalues = np.linalg.eigvalsh(matrix)
    low, high = float(eigenvalues.min()), float(eigenvalues.max())
    return (low + high) / 2 - factor * (high - low) / 2 - 2 * loose


def _parts(expression: Expression, constants: Array) -> list[tuple[Motion, float, Product]]:
    return [((), float(t.ratio) * float(constants[t.constant]), t.factors) for t in expression]
