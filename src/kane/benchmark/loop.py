"""A loop over states in machine code, so that one call of a C function is timed without Python.

Serves kane's functions `void f(const double *in0, ..., double *out0, ...)` and functions in CasADi's form
`int f(const double **arg, double **res, long long *iw, double *w, int mem)`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.native.host import this_host
from kane.native.load import load

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop bound to a function and arrays; call it to run over all states once."""

    run: Callable[[], None]
    keep: tuple[Any, ...]

    def __call__(self) -> None:
        self.run()


def kane_loop(address: int, inputs: Sequence[Array], outputs: Sequence[Array]) -> Loop:
    """Calls f for each row of the inputs (n, size), one row of outputs reused."""
    arrays = [*inputs, *outputs]
    steps = [8 * a.shape[1] for a in inputs] + [0] * len(outputs)
    body = "\n".join(_row(i, step) for i, step in enumerate(steps))
    call = f"  call void %f({', '.join(f'ptr %p{i}' for i in range(len(arrays)))})"
    return _loop(address, arrays, body + "\n" + call, len(inputs[0]))


def casadi_loop(function: CasadiFunction, inputs: Sequence[Array]) -> Loop:
    """Calls a CasADi function for each row of the inputs."""
    steps = [8 * a.shape[1] for a in inputs]
    lines = []
    for i, step in enumerate(steps):
        lines += [
            _row(i, step),
            f"  %s{i} = getelementptr ptr, ptr %a{len(steps)}, i64 {i}",
            f"  store ptr %p{i}, ptr %s{i}",
        ]
    m = len(steps)
    lines.append(f"  %ignored = call i32 %f(ptr %a{m}, ptr %a{m + 1}, ptr %a{m + 2}, ptr %a{m + 3}, i32 0)")
    arrays = [*inputs, *function.work]
    return _loop(function.address, arrays, "\n".join(lines), len(inputs[0]))


def _row(i: int, step: int) -> str:
    """The address of row k of array i."""
    return f"  %o{i} = mul i64 %k, {step}\n  %p{i} = getelementptr i8, ptr %a{i}, i64 %o{i}"


def _loop(address: int, arrays: Sequence[Any], body: str, n: int) -> Loop:
    pointers = "\n".join(
        f"  %t{i} = getelementptr ptr, ptr %table, i64 {i}\n  %a{i} = load ptr, ptr %t{i}" for i in range(len(arrays))
    )
    text = f"""
define i64 @library_table() {{
  ret i64 ptrtoint (ptr @unused to i64)
}}
@unused = global [64 x i64] zeroinitializer
define void @loop(ptr %f, i64 %n, ptr %table) {{
entry:
{pointers}
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %next]
{body}
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %n
  br i1 %more, label %next, label %done
done:
  ret void
}}
"""
    loaded = load(text, this_host(), 2, cached=False)
    table = np.array([a.ctypes.data for a in arrays], dtype=np.int64)
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)(loaded.address("loop"))
    return Loop(lambda: entry(address, n, table.ctypes.data), (loaded, table, tuple(arrays)))


@dataclass(frozen=True, slots=True)
class CasadiFunction:
    """A function of a shared library in CasADi's form with its work arrays."""

    address: int
    work: tuple[np.ndarray[Any, Any], ...]
    outputs: tuple[Array, ...]
    keep: Any

    def __call__(self, *row: Array) -> tuple[Array, ...]:
        """The nonzeros of each output at one state."""
        arg = self.work[0]
        arg[: len(row)] = [a.ctypes.data for a in row]
        kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4, ctypes.c_int)
        kind(self.address)(*(w.ctypes.data for w in self.work), 0)
        return tuple(out.copy() for out in self.outputs)


@dataclass(frozen=True, slots=True)
class VectorFunction:
    """A function `void f(long long groups, const double *in, double *out)` (benchmarks/peers/vectors.py) and its data.

    Groups of `width` states; in each the elements of all inputs, or outputs, every one `width` values side by side.
    """

    run: Callable[[], None]
    given: Array
    results: Array
    keep: Any

    def __call__(self) -> None:
        self.run()


def vector_function(path: str, name: str, inputs: Sequence[Array], outputs: int) -> VectorFunction:
    """The function for all rows of the inputs, whose number is a multiple of its width."""
    library = ctypes.CDLL(path)
    width = int(getattr(library, f"{name}_width")())
    groups = len(inputs[0]) // width
    rows = np.concatenate([a[: groups * width] for a in inputs], axis=1)
    given = aligned((groups, rows.shape[1], width))
    given[...] = rows.reshape(groups, width, -1).transpose(0, 2, 1)
    results = aligned((groups, outputs, width))
    address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
    call = ctypes.PYFUNCTYPE(None, ctypes.c_longlong, ctypes.c_void_p, ctypes.c_void_p)(address)
    given_at, results_at = given.ctypes.data, results.ctypes.data
    return VectorFunction(lambda: call(groups, given_at, results_at), given, results, library)


def aligned(shape: tuple[int, ...]) -> Array:
    """Zeros from a multiple of 64 bytes on."""
    size = int(np.prod(shape))
    room = np.zeros(size + 8)
    start = -room.ctypes.data % 64 // 8
    return room[start : start + size].reshape(shape)


def casadi_function(path: str, name: str) -> CasadiFunction:
    """The function `name` of a shared library; OSError or AttributeError when it is not there."""
    library = ctypes.CDLL(path)
    function = getattr(library, name)
    sizes = [ctypes.c_longlong() for _ in range(4)]
    getattr(library, f"{name}_work")(*(ctypes.byref(s) for s in sizes))
    count = getattr(library, f"{name}_n_out")
    count.restype = ctypes.c_longlong
    sparsity = getattr(library, f"{name}_sparsity_out")
    sparsity.restype = ctypes.POINTER(ctypes.c_longlong)
    outputs = []
    for k in range(count()):
        s = sparsity(ctypes.c_longlong(k))
        outputs.append(np.zeros(max(1, s[0] * s[1] if s[2] == 1 else s[2 + s[1]])))
    arg = np.zeros(sizes[0].value + 8, dtype=np.int64)
    res = np.zeros(sizes[1].value + 8, dtype=np.int64)
    res[: len(outputs)] = [out.ctypes.data for out in outputs]
    iw, w = np.zeros(sizes[2].value + 8, dtype=np.int64), np.zeros(sizes[3].value + 8)
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return CasadiFunction(address, (arg, res, iw, w), tuple(outputs), library)
