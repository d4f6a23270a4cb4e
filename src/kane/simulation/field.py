"""Right-hand sides for the loops of driver.py: compiled, behind a thunk, or in Python, behind a callback."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from kane.native.function import NativeFunction
from kane.simulation.constrained_code import ConstrainedCode
from kane.simulation.driver import Driver

Array = np.ndarray[Any, np.dtype[np.float64]]
_SLOPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class Field:
    """A right-hand side as the loops see it: addresses `f`, `ctx` and `project` (0: none), `error` from Python code.

    inputs: the array that held inputs are read from.  pivot: address of the constraints' smallest pivot, or 0.
    """

    def __init__(self, f: int, ctx: int, project: int, inputs: Array, keep: tuple[Any, ...]) -> None:
        self.f, self.ctx, self.project, self.inputs = f, ctx, project, inputs
        self.error: BaseException | None = None
        self.pivot = 0
        self._keep = keep


def native_field(driver: Driver, rate: NativeFunction, inputs: int) -> Field:
    """The compiled rate (y, t, f) -> ydot of one state."""
    held = np.zeros(max(inputs, 1))
    ctx = np.array([rate.address, held.ctypes.data], dtype=np.int64)
    return Field(driver.one_state, ctx.ctypes.data, 0, held, (driver, rate, ctx))


def batch_field(driver: Driver, rate: NativeFunction, inputs: int, columns: int) -> Field:
    """The compiled rate of a batch whose states are columns; inputs (inputs, columns)."""
    held = np.zeros((max(inputs, 1), columns))
    ctx = np.zeros(15, dtype=np.int64)
    ctx[0], ctx[1], ctx[4] = rate.batch_address, columns, held.ctypes.data
    ctx[7:11] = 8, 0, 8, 8
    ctx[11:15] = 8 * columns, 8, 8 * columns, 8 * columns
    return Field(driver.many_states, ctx.ctypes.data, 0, held, (driver, rate, ctx))


def constrained_field(code: ConstrainedCode) -> Field:
    """The compiled rate of a system with constraints, and the projection onto them."""
    field = Field(code.slope, code.context, code.project, code.inputs, (code,))
    field.pivot = code.pivot
    return field


def python_field(
    slope: Callable[[float, Array, Array], Array], size: int, held: Array, code: ConstrainedCode | None = None
) -> Field:
    """A function slope(t, y, held inputs) -> ydot.  What it raises ends the step; it is kept in `error`."""
    vector, number = ctypes.c_double * size, ctypes.c_double
    field: Field

    def call(_: int, t: int, y: int, out: int) -> None:
        result = np.ctypeslib.as_array(vector.from_address(out))
        if field.error is not None:
            result[:] = np.nan
            return
        try:
            state = np.ctypeslib.as_array(vector.from_address(y)).copy()
            result[:] = slope(number.from_address(t).value, state, field.inputs)
        except BaseException as error:  # an exception cannot pass through machine code
            field.error = error
            result[:] = np.nan

    callback = _SLOPE(call)
    f = ctypes.cast(callback, ctypes.c_void_p).value or 0
    field = Field(f, code.context if code else 0, code.project if code else 0, held, (callback, slope))
    field.pivot = code.pivot if code else 0
    return field
