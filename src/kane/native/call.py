"""The general path of a call: everything that NumPy's generalized functions accept, at a few microseconds a call."""

from __future__ import annotations

import ctypes
import itertools
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.errors import ArgumentsError, NumberError, ShapeError
from kane.graph.program import Input, Program
from kane.native.assembly import parameter
from kane.native.build import Code
from kane.native.crew import least_chunk, together
from kane.native.entry import RELEASE_ABOVE

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
_POINTERS = [ctypes.c_void_p] * 4
_BATCH = ctypes.PYFUNCTYPE(None, ctypes.c_int64, *_POINTERS)  # keeps the interpreter's lock
_BATCH_UNLOCKED = ctypes.CFUNCTYPE(None, ctypes.c_int64, *_POINTERS)
_THROUGH = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
SHORT = 64  # an inner axis below this is not worth a loop of its own: copy instead


@dataclass(frozen=True, slots=True)
class General:
    """Callable with any arrays."""

    code: Code

    def __call__(self, *arrays: Any, out: Any = None, threads: int = 1, **named: Any) -> Any:
        code = self.code
        if named:
            arrays = in_place(code, arrays, named)
        if not isinstance(threads, numbers.Integral) or threads < 1:
            raise NumberError(
                f"{code.program.name}: threads is {threads!r}.",
                name="threads",
                value=repr(threads),
                remedy="Give a number of threads, 1 or more.",
            )
        given = _inputs(code, arrays)
        batch = batch_shape(code, given)
        p = parameter(code.program)
        constants = code.defaults
        if p is not None and len(given) > p:
            if given[p].ndim > 1:
                return General(code.with_parameters())(*given, out=out, threads=threads)
            constants = code.constants_of(np.ascontiguousarray(given.pop(p)))
        made, answer = _outputs(code, given, batch, out)
        _run(code, given, made, batch, 0 if constants is None else constants.ctypes.data, threads)
        results = []
        for target, temporary in zip(answer, made, strict=True):
            if target is not temporary:
                with np.errstate(all="ignore"):  # what is too large for a smaller type is infinite there
                    np.copyto(target, temporary, casting="same_kind")
            results.append(target if target.ndim or out is not None else target[()])
        return results[0] if len(results) == 1 else tuple(results)


def checked(name: str, item: Input, value: Any, dtype: np.dtype[Any]) -> Array:
    """The array of an input: numbers of our dtype, (..., size).  Raises ShapeError."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            if array.dtype.kind != "O":
                raise TypeError(f"dtype {array.dtype}")
            if any(x is None for x in array.flat):
                raise TypeError("None in it")  # NumPy would make it NaN
            array = array.astype(np.float64)
        if array.dtype != dtype:
            with np.errstate(all="ignore"):
                array = array.astype(dtype)
    except (TypeError, ValueError, OverflowError) as problem:
        raise ShapeError(
            f"{name}: {item.name} is not an array of real numbers ({problem}).",
            name=item.name,
            value=repr(value)[:200],
            remedy=f"Pass numbers of shape (..., {item.size}).",
        ) from None
    if array.shape[-1:] != (item.size,):
        raise ShapeError(
            f"{name}: {item.name} has shape {array.shape}, expected {_expected(item)}.",
            name=item.name,
            value=array.shape,
            remedy=f"The last axis holds {', '.join(item.labels[:8]) or 'nothing'}{', ...' * (item.size > 8)}.",
        )
    return array if array.flags.aligned else array.copy()


def _address(array: Array) -> int:
    return int(array.ctypes.data)


def _expected(item: Input) -> str:
    return f"({item.size},) or (..., {item.size})"


def _inputs(code: Code, arrays: Sequence[Any]) -> list[Array]:
    program = code.program
    check_number(code, len(arrays))
    return [checked(program.name, i, a, code.array_dtype) for i, a in zip(program.inputs, arrays, strict=False)]


def check_number(code: Code, given: int) -> None:
    """ArgumentsError for a call with another number of arrays; default parameters may be left out."""
    need, optional = len(code.program.inputs), parameter(code.program) is not None and code.defaults is not None
    if not need - optional <= given <= need:
        raise _wrong_number(code.program, given, optional)


def in_place(code: Code, arrays: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arrays with the parameters that are given by name behind.  ArgumentsError for other keywords."""
    program, p = code.program, parameter(code.program)
    own = [] if p is None else [program.inputs[p].name]
    if list(named) != own:
        words, wrong = " and ".join(["out", "threads", *own]), [name for name in named if name not in own]
        raise ArgumentsError(
            f"{program.name} takes the keywords {words}, not {', '.join(wrong)}.", name=wrong[0],
            remedy=f"Give arrays by their place: {', '.join(i.name for i in program.inputs)}.",
        )  # fmt: skip
    if len(arrays) != p:
        raise _wrong_number(program, len(arrays) + 1, False)
    (given,) = named.values()
    return arrays if given is None else (*arrays, given)


def _wrong_number(program: Program, given: int, optional: bool) -> ArgumentsError:
    items = program.inputs
    names, many = ", ".join(i.name for i in items), "array" if len(items) == 1 else "arrays"
    verb = "was" if given == 1 else "were"
    sizes = ", ".join(f"{i.name} (..., {i.size})" for i in items)
    left_out = f"; {items[-1].name} may be left out" if optional else ""
    return ArgumentsError(
        f"{program.name} takes {len(items)} {many} ({names}); {given} {verb} given.", name=program.name, value=given,
        remedy=f"Pass {sizes}, in this order{left_out}.",
    )  # fmt: skip


def batch_shape(code: Code, given: Sequence[Array]) -> tuple[int, ...]:
    """The common axes in front of the inputs' last ones.  Raises ShapeError."""
    batch = given[0].shape[:-1] if given else ()
    if all(a.shape[:-1] == batch for a in given):
        return batch
    try:
        return np.broadcast_shapes(*(a.shape[:-1] for a in given))
    except ValueError:
        program = code.program
        shapes = ", ".join(f"{i.name} {a.shape}" for i, a in zip(program.inputs, given, strict=False))
        wanted = ", ".join(f"{i.name} (..., {i.size})" for i in program.inputs[: len(given)])
        raise ShapeError(
            f"{program.name}: batch axes do not broadcast: {shapes}; expected {wanted} with equal axes in front.",
            name=program.name,
            value=[a.shape for a in given],
        ) from None


def _outputs(code: Code, given: Sequence[Array], batch: tuple[int, ...], out: Any) -> tuple[list[Array], list[Array]]:
    """Arrays that the code may write, and those that the caller gets (the same, or copies go there)."""
    program, dtype = code.program, code.array_dtype
    shapes = [(*batch, *o.shape) for o in program.outputs]
    if out is None:
        columns = len(batch) == 1 and batch[0] > 1 and all(
            a.ndim == 1 or (a.shape[1] > 1 and a.strides[0] == dtype.itemsize) for a in given
        ) and any(a.ndim > 1 for a in given)
        made = [_columns(s, dtype) if columns else np.empty(s, dtype) for s in shapes]
        return made, made
    answer = list(out) if isinstance(out, (tuple, list)) else [out]
    if len(answer) != len(shapes):
        raise ShapeError(
            f"{program.name}: out has {len(answer)} arrays, expected {len(shapes)}: "
            f"{', '.join(o.name for o in program.outputs)}.",
            name="out",
            value=len(answer),
        )
    made = []
    for o, shape, target in zip(program.outputs, shapes, answer, strict=True):
        where = f"{program.name}: out for {o.name}"
        if not isinstance(target, np.ndarray):
            kind = type(target).__name__
            raise ShapeError(f"{where} is a {kind}, expected an array {shape}.", name="out", value=kind)
        if target.shape != shape:
            raise ShapeError(f"{where} has shape {target.shape}, expected {shape}.", name="out", value=target.shape)
        if not target.flags.writeable:
            raise ShapeError(f"{where} is read-only.", name="out", remedy="Pass a writeable array.")
        if not np.can_cast(dtype, target.dtype, "same_kind"):
            kind = str(target.dtype)
            raise ShapeError(f"{where} has dtype {kind}, expected {dtype}.", name="out", value=kind)
        if any(_same_memory(target, other) for other in answer[: len(made)]):
            raise ShapeError(
                f"{where} shares memory with another array of out.", name="out", value=target.strides,
                remedy="Pass arrays of their own for all outputs.",
            )  # fmt: skip
        direct = (
            target.dtype == dtype
            and target.flags.aligned
            and _element_stride(target, len(batch)) is not None
            and not any(np.may_share_memory(target, a) for a in given)
            and not any(np.may_share_memory(target, other) for other in made)
        )
        made.append(target if direct else np.empty(shape, dtype))
    return made, answer


def _same_memory(a: Array, b: Array) -> bool:
    """True where an element of one is also in the other; False where that is too hard to tell."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return False


def _columns(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array whose first axis has neighbours in memory."""
    return np.moveaxis(np.empty((*shape[1:], shape[0]), dtype), -1, 0)


def _element_stride(array: Array, batch_rank: int) -> int | None:
    """The distance of neighbouring elements behind the batch axes, None when it is not one number."""
    axes = [(n, s) for n, s in zip(array.shape[batch_rank:], array.strides[batch_rank:], strict=True) if n != 1]
    for (_, outer), (n, inner) in itertools.pairwise(axes):
        if outer != n * inner:
            return None
    return axes[-1][1] if axes else array.dtype.itemsize


def _run(code: Code, given: Sequence[Array], made: Sequence[Array], batch: Shape, c: int, threads: int) -> None:
    """Compute `made` from `given`; c: address of the constants."""
    if not batch:
        arrays = [np.ascontiguousarray(a) for a in given]
        targets = [m if m.flags.c_contiguous else np.empty(m.shape, m.dtype) for m in made]
        table = np.array([*map(_address, arrays), *map(_address, targets), c], dtype=np.int64)
        _THROUGH(code.single.address("through"))(_address(table))
        for m, target in zip(made, targets, strict=True):
            if m is not target:
                m[...] = target
        return
    if 0 in batch:
        return
    inputs = [a if a.shape[:-1] == batch else np.broadcast_to(a, (*batch, a.shape[-1])) for a in given]
    elements = [a.strides[-1] for a in inputs] + [_element_stride(m, len(batch)) or 0 for m in made]
    bases = [_address(a) for a in [*inputs, *made]]
    loop = _Loop(code, elements, c, threads)
    if len(batch) == 1:
        loop.run(batch[0], bases, [a.strides[0] for a in [*inputs, *made]])
        return
    axes = _merged_axes(batch, [a.strides[: len(batch)] for a in [*inputs, *made]])
    inner = max(range(len(axes)), key=lambda k: (axes[k][0], k), default=None) if axes else None
    if inner is not None and axes[inner][0] < SHORT and len(axes) > 1:
        inputs = [np.ascontiguousarray(a) for a in inputs]
        copies = [np.empty(m.shape, m.dtype) for m in made]
        _run(code, inputs, copies, batch, c, threads)
        for m, copy in zip(made, copies, strict=True):
            m[...] = copy
        return
    size, steps = axes.pop(inner) if inner is not None else (1, (0,) * len(bases))
    for place in itertools.product(*(range(n) for n, _ in axes)):
        shift = [sum(i * s[k] for i, (_, s) in zip(place, axes, strict=True)) for k in range(len(bases))]
        loop.run(size, [b + d for b, d in zip(bases, shift, strict=True)], steps)


def _merged_axes(shape: tuple[int, ...], strides: Sequence[tuple[int, ...]]) -> list[tuple[int, tuple[int, ...]]]:
    """Batch axes with their steps in every array; neighbours that all arrays run through evenly are one."""
    axes: list[tuple[int, tuple[int, ...]]] = []
    for k, n in enumerate(shape):
        if n == 1:
            continue
        steps = tuple(s[k] for s in strides)
        if axes and all(outer == n * inner for outer, inner in zip(axes[-1][1], steps, strict=True)):
            axes[-1] = (axes[-1][0] * n, steps)
        else:
            axes.append((n, steps))
    return axes


@dataclass(frozen=True, slots=True)
class _Loop:
    """Runs the batch code over one axis, on several threads when asked."""

    code: Code
    elements: Sequence[int]
    constants: int
    threads: int

    def run(self, size: int, bases: Sequence[int], steps: Sequence[int]) -> None:
        """States 0..size-1 from the addresses `bases` with these batch strides."""
        table = np.array([*bases, *steps, *self.elements], dtype=np.int64)
        width, start = 8 * len(bases), _address(table)
        arguments = (size, start, start + width, start + 2 * width, self.constants)
        batch = self.code.batch_address()
        operations = len(self.code.program.state)
        least = least_chunk(operations)
        threads = min(self.threads, -(-size // least))
        start_crew = self.code.crew_address() if threads > 1 else None
        if start_crew is not None:
            together(start_crew, batch, *arguments, len(bases), least, threads)
            return
        large = size * operations > RELEASE_ABOVE
        (_BATCH_UNLOCKED if large else _BATCH)(batch)(*arguments)
