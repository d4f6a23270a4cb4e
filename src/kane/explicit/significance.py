"""Step 5, significance: how large each term of each element can become, as a share of its element and of its joint."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kane.explicit.bounds import Factor
from kane.explicit.evaluate import Array, constant_values
from kane.explicit.lumping import Expression, Term
from kane.explicit.model import ExplicitModel
from kane.explicit.ranges import Positions, Ranges, positions

Matrix = Literal["A", "B", "C", "g"]


@dataclass(frozen=True, slots=True)
class Significance:
    """One term of one element: its greatest share of the element's greatest term, over the joint ranges.

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


def significance(
    model: ExplicitModel, ranges: Ranges | Positions | None = None, lower: bool = False
) -> tuple[Significance, ...]:
    """The largest share of each term of each element over the joint ranges.

    Default: the whole turn; of slides the limits of the description.  A term with a slide that has no range becomes
    infinite, and next to it those that do not are nothing.
    """
    ranges = ranges or positions(model, whole_turns=True)
    constants = constant_values(model)
    largest = _largest_constants(model, constants)
    result = []
    for matrix, row, column, expression in elements(model, lower):
        weights = [abs(float(t.ratio) * float(constants[t.constant])) for t in expression]
        sizes = [w and w * greatest(t.factors, ranges) for w, t in zip(weights, expression, strict=True)]
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
    return float(size == whole) if whole == float("inf") else size / whole if whole else 0.0


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


def greatest(factors: Sequence[Factor], ranges: Ranges | Positions) -> float:
    """The greatest absolute value of a product over the ranges, each angle at its own maximum; of 0 and infinity 0."""
    found = []
    for angle, c, s in factors:
        if s < 0:
            place = angle.index(1)
            found.append(max(abs(ranges.lower[place]), abs(ranges.upper[place])) ** c)
        else:
            low, high = _angle_range(angle, ranges)
            inside = [np.arctan2(np.sqrt(s), np.sqrt(c)) + k * np.pi for k in range(-20, 21)]
            inside += [-x for x in inside]
            points = [low, high, *(x for x in inside if low < x < high)]
            found.append(max(abs(np.cos(x)) ** c * abs(np.sin(x)) ** s for x in points))
    return float(math.prod(found)) if all(found) else 0.0


def _angle_range(angle: Sequence[int], ranges: Ranges | Positions) -> tuple[float, float]:
    ends = [sorted((k * a, k * b)) for k, a, b in zip(angle, ranges.lower, ranges.upper, strict=True) if k]
    low, high = sum(a for a, _ in ends), sum(b for _, b in ends)
    return (-np.pi, np.pi) if high - low >= 2 * np.pi else (low, high)
