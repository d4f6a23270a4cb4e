"""A compiled task with external wrenches: w (..., k, 6), one wrench a named frame, moment first, axes of N."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.errors import ArgumentsError, ShapeError
from kane.graph.program import Program
from kane.native import NativeFunction


@dataclass(frozen=True, slots=True)
class WithWrenches:
    """f(states ... [, p], w): the compiled function with its wrenches as (..., k, 6), in the order of `frames`."""

    function: NativeFunction
    frames: tuple[str, ...]

    @property
    def program(self) -> Program:
        return self.function.program

    def __call__(
        self, *arrays: Any, p: Any = None, w: Any = None, out: Any = None, threads: int = 1, **others: Any
    ) -> Any:
        """The outputs; p (run-time parameters, where there are any) and w by place or by name.

        Raises ShapeError when w is not (..., k, 6), ArgumentsError when an array is missing.
        """
        return self.function(*self._ordered(arrays, p, w, others), out=out, threads=threads)

    def prepare(self, *arrays: Any, out: Any = None) -> Callable[[], Any]:
        """As NativeFunction.prepare, of (states ... [, p], w): w a contiguous array (..., k, 6)."""
        return self.function.prepare(*self._ordered(arrays, None, None, {}), out=out)

    def _ordered(self, arrays: Sequence[Any], p: Any, w: Any, others: Mapping[str, Any]) -> list[Any]:
        """The arrays in the order of the program's inputs."""
        items = self.program.inputs
        states = [item for item in items if item.kind == "state" and item.name != "w"]
        given, rest = list(arrays[: len(states)]), list(arrays[len(states) :])
        has_parameters = any(item.kind == "parameter" for item in items)
        if w is None and rest:
            w = rest.pop()
        if p is None and has_parameters and rest:
            p = rest.pop()
        if len(given) < len(states) or rest or w is None or others:
            names = ", ".join([item.name for item in states] + ["p"] * has_parameters + ["w"])
            wrong = f"not {', '.join(others)}" if others else f"{len(arrays)} arrays were given"
            raise ArgumentsError(
                f"{self.program.name} takes ({names}); {wrong}.", name=next(iter(others), self.program.name),
                remedy=f"w (..., {len(self.frames)}, 6) are the wrenches on {', '.join(self.frames)}; zeros for none.",
            )  # fmt: skip
        return [*given, self._flat(w), *([] if p is None else [p])]

    def _flat(self, w: Any) -> Any:
        """w (..., k, 6) as (..., 6 k)."""
        array, k = np.asarray(w, dtype=np.float64), len(self.frames)
        if array.shape[-2:] != (k, 6):
            raise ShapeError(
                f"w has shape {array.shape}; expected (..., {k}, 6): moment, then force, for {', '.join(self.frames)}.",
                name="w",
                value=array.shape,
            )
        return array.reshape((*array.shape[:-2], 6 * k))
