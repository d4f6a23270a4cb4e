"""A compiled task with external wrenches: w (..., k, 6), one wrench a named frame, moment first, axes of N."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.errors import ShapeError
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

    def __call__(self, *arrays: Any, p: Any = None, w: Any = None, out: Any = None, threads: int = 1) -> Any:
        """The outputs; p (run-time parameters, where there are any) and w by place or by name.

        Raises ShapeError when w is not (..., k, 6), TypeError when an array is missing.
        """
        items = self.program.inputs
        states = [item for item in items if item.kind == "state" and item.name != "w"]
        given, rest = list(arrays[: len(states)]), list(arrays[len(states) :])
        has_parameters = any(item.kind == "parameter" for item in items)
        if w is None and rest:
            w = rest.pop()
        if p is None and has_parameters and rest:
            p = rest.pop()
        if len(given) < len(states) or rest or w is None:
            names = ", ".join([item.name for item in states] + ["p"] * has_parameters + ["w"])
            raise TypeError(f"{self.program.name} takes ({names}); {len(arrays)} arrays were given")
        wrenches = [self._flat(w), *([] if p is None else [p])]
        return self.function(*given, *wrenches, out=out, threads=threads)

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
