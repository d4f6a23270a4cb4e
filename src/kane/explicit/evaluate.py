"""Values of an explicit model at given states, with NumPy: the plain reference for its programs and certificates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kane.errors import UnknownNameError
from kane.explicit.angles import Angle
from kane.explicit.lumping import Constant, Expression
from kane.explicit.model import ExplicitModel

Array = np.ndarray[Any, np.dtype[np.float64]]


def constant_values(model: ExplicitModel, parameters: Mapping[str, float] | None = None) -> Array:
    """The constants as numbers, in the order of model.constants.

    Raises UnknownNameError when a parameter has no value.
    """
    values = dict(model.parameters) | dict(parameters or {})
    by_name: dict[str, float] = {}
    result = []
    for constant in model.constants:
        value = _value(model, constant, values, by_name, bool(parameters))
        by_name[constant.name] = value
        result.append(value)
    return np.array(result)


def _value(
    model: ExplicitModel,
    constant: Constant,
    values: Mapping[str, float | None],
    known: Mapping[str, float],
    changed: bool,
) -> float:
    if constant.parts:
        return sum(float(v) * known[name] for name, v in constant.parts)
    if constant.value is not None and not changed:
        return constant.value
    table = {k: float(v) for k, v in model.mechanism.parameter_values.items()}
    table |= {k: float(v) for k, v in values.items() if v is not None}
    total = 0.0
    for key, number in constant.polynomial:
        part = float(number)
        for place, power in model.atoms.exponents(key):
            atom = model.atoms.atoms[place]
            if atom.formula.op == "name" and atom.name not in table and atom.value is not None:
                part *= atom.value**power
                continue
            try:
                part *= atom.formula.evaluate(table) ** power
            except UnknownNameError as missing:
                raise UnknownNameError(
                    f"Parameter {missing.name!r} has no value.", name=missing.name,
                    remedy=f"Give it in `parameters`, or --values {missing.name}=2.5 in a command.",
                ) from None  # fmt: skip
        total += part
    return total


class Waves:
    """Sines and cosines of angles at given coordinates (..., n), each computed once."""

    def __init__(self, q: Array) -> None:
        self.q = q
        self._known: dict[Angle, tuple[Array, Array]] = {}

    def __call__(self, angle: Angle) -> tuple[Array, Array]:
        known = self._known.get(angle)
        if known is None:
            total = self.q @ np.array(angle, dtype=float)
            known = self._known[angle] = (np.cos(total), np.sin(total))
        return known

    def product(self, factors: Sequence[tuple[Angle, int, int]]) -> Array:
        """A product of sines, cosines and slides."""
        result = np.ones(self.q.shape[:-1])
        for angle, c, s in factors:
            if s < 0:
                result = result * (self.q @ np.array(angle, dtype=float)) ** c
            else:
                cos, sin = self(angle)
                result = result * cos**c * sin**s
        return result


def expression_value(expression: Expression, constants: Array, waves: Waves) -> Array:
    """An expression at the coordinates of `waves`."""
    total = np.zeros(waves.q.shape[:-1])
    for term in expression:
        total = total + float(term.ratio) * constants[term.constant] * waves.product(term.factors)
    return total


def mass_matrix(model: ExplicitModel, q: Any, parameters: Mapping[str, float] | None = None) -> Array:
    """A(q), (..., n, n)."""
    return _rows(model, model.A, q, parameters)


def gravity(model: ExplicitModel, q: Any, parameters: Mapping[str, float] | None = None) -> Array:
    """g(q), (..., n)."""
    waves, constants = Waves(np.asarray(q, dtype=float)), constant_values(model, parameters)
    return np.stack([expression_value(e, constants, waves) for e in model.g], -1)


def b_matrix(model: ExplicitModel, q: Any, parameters: Mapping[str, float] | None = None) -> Array:
    """B(q), (..., n, n(n-1)/2), columns model.b_columns."""
    return _rows(model, model.B, q, parameters)


def c_matrix(model: ExplicitModel, q: Any, parameters: Mapping[str, float] | None = None) -> Array:
    """C(q), (..., n, n)."""
    return _rows(model, model.C, q, parameters)


def _rows(
    model: ExplicitModel, rows: Sequence[Sequence[Expression]], q: Any, parameters: Mapping[str, float] | None
) -> Array:
    waves, constants = Waves(np.asarray(q, dtype=float)), constant_values(model, parameters)
    unique = {e: expression_value(e, constants, waves) for row in rows for e in row}
    made = [[unique[e] for e in row] for row in rows]
    shape = waves.q.shape[:-1]
    return np.stack([np.stack(row, -1) if row else np.zeros((*shape, 0)) for row in made], -2)


def inverse_dynamics(
    model: ExplicitModel, q: Any, qd: Any, qdd: Any, parameters: Mapping[str, float] | None = None
) -> Array:
    """tau = A qdd + B [qd_j qd_k] + C [qd_j^2] + g, (..., n)."""
    qd, qdd = np.asarray(qd, dtype=float), np.asarray(qdd, dtype=float)
    products = (
        np.stack([qd[..., j] * qd[..., k] for j, k in model.b_columns], -1)
        if model.b_columns
        else np.zeros((*qd.shape[:-1], 0))
    )
    total = np.einsum("...ij,...j->...i", mass_matrix(model, q, parameters), qdd)
    total = total + np.einsum("...ij,...j->...i", b_matrix(model, q, parameters), products)
    total = total + np.einsum("...ij,...j->...i", c_matrix(model, q, parameters), qd * qd)
    result: Array = total + gravity(model, q, parameters)
    return result
