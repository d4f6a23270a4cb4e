"""A compiled task with external wrenches: w (..., k, 6), one wrench a named frame, moment first, axes of N."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.errors import ArgumentsError, ShapeError
from kane.graph.program import Program
from kane.mechanism.given import real_array
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
        states, p, w = self._sorted(arrays, p, w, others)
        return self.function(*states, self._flat(w), *p, out=out, threads=threads)

    def prepare(self, *arrays: Any, p: Any = None, w: Any = None, out: Any = None, **others: Any) -> Callable[[], Any]:
        """As NativeFunction.prepare, of (states ... [, p], w): w a contiguous array (..., k, 6)."""
        states, p, w = self._sorted(arrays, p, w, others)
        flat = self._flat(w)
        if not np.may_share_memory(flat, w):
            raise ShapeError(
                f"{self.program.name}: w cannot be bound; expected a contiguous array (..., {len(self.frames)}, 6).",
                name="w", remedy="Pass np.ascontiguousarray(w, dtype=...), and keep writing into it.",
            )  # fmt: skip
        return self.function.prepare(*states, flat, *p, out=out)

    def _sorted(
        self, arrays: Sequence[Any], p: Any, w: Any, others: Mapping[str, Any]
    ) -> tuple[Sequence[Any], list[Any], Any]:
        """States, parameters (none or one) and wrenches of a call."""
        items = self.program.inputs
        states = [item for item in items if item.kind == "state" and item.name != "w"]
        given, rest = arrays[: len(states)], list(arrays[len(states) :])
        has_parameters = any(item.kind == "parameter" for item in items)
        if w is None and rest:
            w = rest.pop()
        if p is None and has_parameters and rest:
            p = rest.pop()
        if len(given) < len(states) or rest or w is None or others or (p is not None and not has_parameters):
            names = ", ".join([item.name for item in states] + ["p"] * has_parameters + ["w"])
            wrong = f"not {', '.join(others)}" if others else f"{len(arrays)} arrays were given"
            raise ArgumentsError(
                f"{self.program.name} takes ({names}); {wrong}.", name=next(iter(others), self.program.name),
                remedy=f"w (..., {len(self.frames)}, 6) are the wrenches on {', '.join(self.frames)}; zeros for none.",
            )  # fmt: skip
        return given, [] if p is None else [p], w

    def _flat(self, w: Any) -> Any:
        """w (..., k, 6) as (..., 6 k)."""
        array = w if isinstance(w, np.ndarray) and w.dtype.kind == "f" else real_array("w", w)
        k = len(self.frames)
        if array.shape[-2:] != (k, 6):
            raise ShapeError(
                f"w has shape {array.shape}; expected (..., {k}, 6): moment, then force, for {', '.join(self.frames)}.",
                name="w", value=array.shape, remedy="It comes last, behind parameters.",
            )  # fmt: skip
        return array.reshape((*array.shape[:-2], 6 * k))
