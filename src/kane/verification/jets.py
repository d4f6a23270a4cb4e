"""Formulas of a description with first and second derivatives, in floating point."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kane.errors import UnsupportedError
from kane.mechanism.formula import Formula, Scalar

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Jet:
    """value, gradient (n,) and Hessian (n, n) of a function of n variables."""

    value: float
    gradient: Array
    hessian: Array

    def of(self, f: float, f1: float, f2: float) -> Jet:
        """A function with these derivatives at `value`, applied."""
        outer = np.outer(self.gradient, self.gradient)
        return Jet(f, f1 * self.gradient, f1 * self.hessian + f2 * outer)

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian)

    def __neg__(self) -> Jet:
        return self.of(-self.value, -1.0, 0.0)

    def __mul__(self, other: Jet) -> Jet:
        cross = np.outer(self.gradient, other.gradient)
        return Jet(
            self.value * other.value,
            self.value * other.gradient + other.value * self.gradient,
            self.value * other.hessian + other.value * self.hessian + cross + cross.T,
        )

    def inverse(self) -> Jet:
        return self.of(1 / self.value, -1 / self.value**2, 2 / self.value**3)


# f, f', f'' at x
_FUNCTIONS: dict[str, Callable[[float], tuple[float, float, float]]] = {
    "sin": lambda x: (math.sin(x), math.cos(x), -math.sin(x)),
    "cos": lambda x: (math.cos(x), -math.sin(x), -math.cos(x)),
    "tan": lambda x: (math.tan(x), 1 / math.cos(x) ** 2, 2 * math.tan(x) / math.cos(x) ** 2),
    "sqrt": lambda x: (math.sqrt(x), 0.5 / math.sqrt(x), -0.25 / math.sqrt(x) ** 3) if x else (0.0, 0.0, 0.0),
    "exp": lambda x: (math.exp(x),) * 3,
    "log": lambda x: (math.log(x), 1 / x, -1 / x**2),
    "sinh": lambda x: (math.sinh(x), math.cosh(x), math.sinh(x)),
    "cosh": lambda x: (math.cosh(x), math.sinh(x), math.cosh(x)),
    "tanh": lambda x: (math.tanh(x), 1 / math.cosh(x) ** 2, -2 * math.tanh(x) / math.cosh(x) ** 2),
    "atan": lambda x: (math.atan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2),
    "asin": lambda x: (math.asin(x), (1 - x * x) ** -0.5, x * (1 - x * x) ** -1.5),
    "acos": lambda x: (math.acos(x), -((1 - x * x) ** -0.5), -x * (1 - x * x) ** -1.5),
}


def jet(scalar: Scalar, names: Mapping[str, int], values: Mapping[str, float]) -> Jet:
    """A scalar as a function of the variables `names` (name -> index); other names are constants of `values`.

    Raises UnsupportedError for a function that is not smooth.
    """
    n = len(names)
    if not isinstance(scalar, Formula):
        return _constant(float(scalar), n)
    if scalar.names().isdisjoint(names):
        return _constant(scalar.evaluate(values), n)
    if scalar.op == "name":
        at = names[str(scalar.value)]
        return Jet(values[str(scalar.value)], np.eye(n)[at], np.zeros((n, n)))
    a = [jet(argument, names, values) for argument in scalar.args]
    match scalar.op:
        case "add":
            return a[0] + a[1]
        case "sub":
            return a[0] + -a[1]
        case "mul":
            return a[0] * a[1]
        case "div":
            return a[0] * a[1].inverse()
        case "neg":
            return -a[0]
        case "pow" if not a[1].gradient.any():
            x, k = a[0].value, a[1].value
            return a[0].of(x**k, k * x ** (k - 1) if k else 0.0, k * (k - 1) * x ** (k - 2) if k * (k - 1) else 0.0)
        case op if op in _FUNCTIONS:
            return a[0].of(*_FUNCTIONS[op](a[0].value))
    raise UnsupportedError(
        f"The check by plain Newton-Euler does not know {scalar.op!r} of a coordinate.", name=scalar.op,
        remedy="Leave this check out.",
    )  # fmt: skip


def _constant(value: float, n: int) -> Jet:
    return Jet(value, np.zeros(n), np.zeros((n, n)))
