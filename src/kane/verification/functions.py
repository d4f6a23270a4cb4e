"""The functions under test, by task name and arrays by input name; random states; derivatives along a motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kane.graph.evaluate import evaluate
from kane.graph.program import Program
from kane.kinematics.coordinates import Coordinates

Array = npt.NDArray[np.float64]
STEP = 1e-3  # of central differences of fourth order: truncation and rounding both about 1e-12 of the function
_STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))


class Compiled(Protocol):
    """A compiled program: native.function.NativeFunction and the like."""

    @property
    def program(self) -> Program: ...

    def __call__(self, *arrays: Any) -> Any: ...


@dataclass(frozen=True, slots=True)
class Functions:
    """Programs (evaluated in NumPy) or compiled functions, by task name; p: values of the run-time parameters."""

    table: Mapping[str, Program | Compiled]
    p: Sequence[float] = ()

    def __contains__(self, task: str) -> bool:
        return task in self.table

    def program(self, task: str) -> Program:
        item = self.table[task]
        return item if isinstance(item, Program) else item.program

    def __call__(self, task: str, **arrays: Array) -> Array:
        """The first output of a task, batch axes first."""
        return self.all(task, **arrays)[0]

    def all(self, task: str, **arrays: Array) -> tuple[Array, ...]:
        """All outputs of a task."""
        item = self.table[task]
        given = {"p": np.asarray(self.p, dtype=np.float64)} | arrays
        if isinstance(item, Program):
            return tuple(evaluate(item, given).values())
        result = item(*(given[i.name] for i in item.program.inputs))
        return tuple(np.asarray(x, dtype=np.float64) for x in (result if isinstance(result, tuple) else (result,)))


def random_states(c: Coordinates, count: int, seed: int) -> dict[str, Array]:
    """q (unit quaternions), qd, qdd, tau (count, n): everywhere within some radians, metres and seconds."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, (count, len(c.names)))
    for group, _ in c.quaternions:
        at = [c.names.index(n) for n in group]
        q[:, at] = rng.normal(size=(count, 4))
        q[:, at] /= np.linalg.norm(q[:, at], axis=-1, keepdims=True)
    return {"q": q} | {name: rng.uniform(-2, 2, (count, len(c.speeds))) for name in ("qd", "qdd", "tau")}


def rate(function: Callable[[float], Array], step: float = STEP) -> Array:
    """d function(h) / dh at h = 0, central difference of fourth order."""
    total = sum(weight * function(k * step) for k, weight in _STENCIL)
    result: Array = np.asarray(total) / step
    return result


def relative(error: Array, *terms: Array) -> float:
    """Largest error against the largest size of the terms, state by state (axis 0); NaN counts as infinite."""
    axes = tuple(range(1, np.ndim(error)))
    size = sum(np.abs(t).max(axis=tuple(range(1, np.ndim(t))), initial=0.0) for t in terms)
    worst = np.abs(error).max(axis=axes, initial=0.0) / np.where(size == 0, 1.0, size)
    return float("inf") if np.isnan(worst).any() else float(np.max(worst, initial=0.0))


def backward(error: Array, size: Array) -> float:
    """Largest error of a component against the size of the terms that it is the sum of (|M||udot| + |h| + |tau|).

    Components whose terms are below 1e-6 of the largest one's (a massless dummy's) are measured against that.
    """
    floor = 1e-6 * size.max(axis=-1, keepdims=True, initial=0.0)
    worst = np.abs(error) / np.where(size + floor == 0, 1.0, np.maximum(size, floor))
    return float("inf") if np.isnan(worst).any() else float(np.max(worst, initial=0.0))
