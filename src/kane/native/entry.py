"""The call from Python as LLVM IR.

`@call` is a function by the vectorcall protocol.  It serves arguments that are exactly NumPy arrays of the right dtype,
aligned, either all single states (n,) or all batches (N, n), with an optional `out=`, and `threads=` behind it for
batches; all else it hands to the general path in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from kane.graph.program import Program
from kane.native.assembly import (
    DATA,
    DIMS,
    ND,
    STRIDES,
    TYPE,
    WRITEABLE,
    WRITEABLE_CONTIGUOUS,
    Assembly,
    parameter,
    run_state,
    states,
)  # fmt: skip
from kane.native.crew import least_chunk
from kane.native.text import Type

RELEASE_ABOVE = 20_000  # operations of a batch worth giving the interpreter's lock away


def call_function(program: Program, t: Type) -> str:
    """IR of `@call`."""
    code, general = Assembly(), "general"
    code.do(f"%nargs = and i64 %flagged, {(1 << 63) - 1}")
    code.do("%nokeys = icmp eq ptr %kwnames, null")
    inputs, p = states(program), parameter(program)
    count = len(inputs)
    given = code(f"icmp eq i64 %nargs, {count + 1}") if p is not None else None
    right = code(f"icmp eq i64 %nargs, {count}")
    code.demand(code(f"or i1 {right}, {given}") if given else right, general)
    objects = [code.field("%args", 8 * k) for k in range(count)]
    for obj in objects:
        code.array(obj, general)
    # parameters: the given ones through the memo, else the default ones
    if p is None:
        constants = "null"
    else:
        code.do(f"br i1 {given}, label %with, label %without")
        code.label("with")
        obj = code.field("%args", 8 * count)
        code.array(obj, general)
        code.rank(obj, 1, general)
        code.dimension(obj, 0, str(program.inputs[p].size), general)
        stride = code.field(code.field(obj, STRIDES), 0, "i64")
        code.demand(code(f"icmp eq i64 {stride}, {t.scalar_bytes}"), general)
        mine = code(f"call ptr @memo(ptr {code.field(obj, DATA)})")
        code.do("br label %joined")
        with_end = _last_label(code)
        code.label("without")
        default = code.slot("defaults")
        code.demand(code(f"icmp ne ptr {default}, null"), general)
        code.do("br label %joined")
        without_end = _last_label(code)
        code.label("joined")
        constants = code(f"phi ptr [{mine}, %{with_end}], [{default}, %{without_end}]")
    if not objects:
        code.do("br label %general")
    else:
        code.demand(code(f"icmp eq i32 {code.field(objects[0], ND, 'i32')}, 1"), "plural")
        _single(code, program, t, objects, constants)
        code.label("plural")
        _plural(code, program, t, objects, constants)
    code.label("general")
    general = code.slot("general")
    call, arguments = code.slot("vectorcall"), "ptr %args, i64 %nargs, ptr %kwnames"
    code.do(f"%answer = call ptr {call}(ptr {general}, {arguments})")
    code.do("ret ptr %answer")
    code.label("failed")
    code.do("ret ptr null")
    return code.function("define ptr @call(ptr %self, ptr %args, i64 %flagged, ptr %kwnames)")


def _last_label(code: Assembly) -> str:
    return next(line[:-1] for line in reversed(code.lines) if line.endswith(":"))


def _single(code: Assembly, program: Program, t: Type, objects: list[str], constants: str) -> None:
    inputs = states(program)
    data = []
    for i, obj in zip(inputs, objects, strict=True):
        code.rank(obj, 1, "general")
        code.dimension(obj, 0, str(program.inputs[i].size), "general")
        stride = code.field(code.field(obj, STRIDES), 0, "i64")
        code.demand(code(f"icmp eq i64 {stride}, {t.scalar_bytes}"), "general")
        data.append(code.field(obj, DATA))
    code.demand("%nokeys", "keys")
    results = [_new(code, t, out.shape) for out in program.outputs]
    run_state(code, data, [code.field(r, DATA) for r in results], constants)
    _answer(code, program, results)
    code.label("keys")
    answer, given = _given_outputs(code, program)
    taken = [
        (start, code.at(start, program.inputs[i].size * t.scalar_bytes)) for i, start in zip(inputs, data, strict=True)
    ]
    targets = []
    for out, obj in zip(program.outputs, given, strict=True):
        flags = code.array(obj, "general")
        plain = code(f"and i32 {flags}, {WRITEABLE_CONTIGUOUS}")
        code.demand(code(f"icmp eq i32 {plain}, {WRITEABLE_CONTIGUOUS}"), "general")
        code.rank(obj, len(out.shape), "general")
        for axis, size in enumerate(out.shape):
            code.dimension(obj, axis, str(size), "general")
        targets.append(code.field(obj, DATA))
        _demand_apart(code, (targets[-1], code.at(targets[-1], len(out.refs) * t.scalar_bytes)), taken)
    run_state(code, data, targets, constants)
    code.do(f"call void {code.slot('incref')}(ptr {answer})")
    code.do(f"ret ptr {answer}")


def _given_outputs(code: Assembly, program: Program, keywords: int = 1) -> tuple[str, list[str]]:
    """The value of the keyword `out`, the first of so many, and its arrays: of several outputs a tuple."""
    code.demand(code("icmp eq i64 " + code.field("%kwnames", 16, "i64") + f", {keywords}"), "general")
    key = code(f"call ptr {code.slot('tuple_get')}(ptr %kwnames, i64 0)")
    code.demand(code(f"icmp eq ptr {key}, {code.slot('out_name')}"), "general")
    answer = code(f"load ptr, ptr {code('getelementptr ptr, ptr %args, i64 %nargs')}")
    if len(program.outputs) == 1:
        return answer, [answer]
    code.demand(code(f"icmp eq ptr {code.field(answer, TYPE)}, {code.slot('tuple_type')}"), "general")
    code.demand(code(f"icmp eq i64 {code.field(answer, 16, 'i64')}, {len(program.outputs)}"), "general")
    get = code.slot("tuple_get")
    return answer, [code(f"call ptr {get}(ptr {answer}, i64 {k})") for k in range(len(program.outputs))]


def _demand_apart(code: Assembly, mine: tuple[str, str], taken: list[tuple[str, str]]) -> None:
    """A range of addresses without a common byte with those taken, then one of them; else the general path copies."""
    for other in taken:
        before, after = code(f"icmp ule ptr {mine[1]}, {other[0]}"), code(f"icmp uge ptr {mine[0]}, {other[1]}")
        code.demand(code(f"or i1 {before}, {after}"), "general")
    taken.append(mine)


def _plural(code: Assembly, program: Program, t: Type, objects: list[str], constants: str) -> None:
    """All inputs (N, n): one call of the batch loop."""
    batch = code.slot("batch")
    code.demand(code(f"icmp ne ptr {batch}, null"), "general")
    code.rank(objects[0], 2, "general")
    n = code.field(code.field(objects[0], DIMS), 0, "i64")
    code.demand(code(f"icmp sgt i64 {n}, 0"), "general")
    limit = max(1, RELEASE_ABOVE // max(1, len(program.state)))
    large = code(f"icmp ugt i64 {n}, {limit}")
    if parameter(program) is not None:  # the memo must not change under a batch that runs without the lock
        usual = code(f"icmp eq ptr {constants}, {code.slot('defaults')}")
        short = code(f"xor i1 {large}, true")
        code.demand(code(f"or i1 {usual}, {short}"), "general")
    table = _Table(code, len(objects) + len(program.outputs))
    columns = "true"
    ranges: list[tuple[str, str]] = []
    for i, obj in zip(states(program), objects, strict=True):
        code.rank(obj, 2, "general")
        code.dimension(obj, 0, n, "general")
        code.dimension(obj, 1, str(program.inputs[i].size), "general")
        strides = code.field(obj, STRIDES)
        first, second = code.field(strides, 0, "i64"), code.field(strides, 8, "i64")
        unit = code(f"icmp eq i64 {first}, {t.scalar_bytes}")
        columns = code(f"and i1 {columns}, {unit}")
        data = code.field(obj, DATA)
        ranges.append(_range(code, t, data, [(n, first), (str(program.inputs[i].size), second)]))
        table.add(data, first, second)
    code.do("br i1 %nokeys, label %make, label %keys2")
    # fresh arrays, columns for columns
    code.label("make")
    results = []
    mark = table.count
    for out in program.outputs:
        size = len(out.refs)
        row = code(f"select i1 {columns}, i64 {t.scalar_bytes}, i64 {size * t.scalar_bytes}")
        wide = code(f"mul i64 {n}, {t.scalar_bytes}")
        step = code(f"select i1 {columns}, i64 {wide}, i64 {t.scalar_bytes}")
        inner = [code(f"mul i64 {step}, {prod(out.shape[axis + 1 :])}") for axis in range(len(out.shape))]
        results.append(_new(code, t, out.shape, n, [row, *inner]))
        table.add(code.field(results[-1], DATA), row, step)
    _run_batch(code, table, n, constants, large, "1")
    _answer(code, program, results, batched=True)
    code.label("keys2")
    alone = code("icmp eq i64 " + code.field("%kwnames", 16, "i64") + ", 1")
    code.do(f"br i1 {alone}, label %one, label %two")
    code.label("one")
    answer = _given_batch(code, program, t, table, mark, ranges, n, 1)
    _run_batch(code, table, n, constants, large, "2")
    code.do(f"call void {code.slot('incref')}(ptr {answer})")
    code.do(f"ret ptr {answer}")
    code.label("two")
    answer = _given_batch(code, program, t, table, mark, ranges, n, 2)
    _run_together(code, program, table, n, constants)
    code.do(f"call void {code.slot('incref')}(ptr {answer})")
    code.do(f"ret ptr {answer}")


def _given_batch(  # noqa: PLR0913
    code: Assembly, program: Program, t: Type, table: _Table, mark: int, taken: list[tuple[str, str]], n: str,
    keywords: int,
) -> str:  # fmt: skip
    """Take the arrays of `out`, whose elements are evenly apart in each state, into the table; gives the answer."""
    ranges = list(taken)
    table.count = mark
    answer, given = _given_outputs(code, program, keywords)
    for out, obj in zip(program.outputs, given, strict=True):
        flags = code.array(obj, "general")
        code.demand(code(f"icmp ne i32 {code(f'and i32 {flags}, {WRITEABLE}')}, 0"), "general")
        code.rank(obj, 1 + len(out.shape), "general")
        strides = code.field(obj, STRIDES)
        steps = [code.field(strides, 8 * axis, "i64") for axis in range(1 + len(out.shape))]
        sizes = [n, *map(str, out.shape)]
        for axis, extent in enumerate(sizes):
            code.dimension(obj, axis, extent, "general")
        step = steps[-1] if out.shape else str(t.scalar_bytes)
        for axis in range(1, len(out.shape)):
            even = code(f"mul i64 {steps[axis + 1]}, {out.shape[axis]}")
            code.demand(code(f"icmp eq i64 {even}, {steps[axis]}"), "general")
        data = code.field(obj, DATA)
        _demand_apart(code, _range(code, t, data, list(zip(sizes, steps, strict=True))), ranges)
        table.add(data, steps[0], step)
    return answer


class _Table:
    """Pointers, batch strides and element strides of a batch call, on the stack."""

    def __init__(self, code: Assembly, size: int) -> None:
        self.code, self.count = code, 0
        self.columns = [code.room(f"[{size} x i64]") for _ in range(3)]

    def add(self, data: str, batch_stride: str, element_stride: str) -> None:
        pairs = zip(self.columns, (f"ptr {data}", f"i64 {batch_stride}", f"i64 {element_stride}"), strict=True)
        for column, value in pairs:
            self.code.do(f"store {value}, ptr {self.code.at(column, 8 * self.count)}")
        self.count += 1


def _range(code: Assembly, t: Type, data: str, axes: list[tuple[str, str]]) -> tuple[str, str]:
    """First and last address of an array (sizes at least 1, strides of any sign)."""
    low, high = "0", str(t.scalar_bytes)
    for size, stride in axes:
        reach = code(f"mul i64 {code(f'sub i64 {size}, 1')}, {stride}")
        negative = code(f"icmp slt i64 {reach}, 0")
        low = code(f"add i64 {low}, {code(f'select i1 {negative}, i64 {reach}, i64 0')}")
        high = code(f"add i64 {high}, {code(f'select i1 {negative}, i64 0, i64 {reach}')}")
    return code(f"getelementptr i8, ptr {data}, i64 {low}"), code(f"getelementptr i8, ptr {data}, i64 {high}")


def _run_batch(code: Assembly, table: _Table, n: str, constants: str, large: str, tag: str) -> None:
    """Call the loop; without the interpreter's lock when there is much to do (`large`)."""
    batch = code.slot("batch")
    arguments = ", ".join([f"i64 {n}", *(f"ptr {c}" for c in table.columns), f"ptr {constants}"])
    code.do(f"br i1 {large}, label %released{tag}, label %held{tag}")
    code.label(f"held{tag}")
    code.do(f"call void {batch}({arguments})")
    code.do(f"br label %ran{tag}")
    code.label(f"released{tag}")
    thread = code(f"call ptr {code.slot('save_thread')}()")
    code.do(f"call void {batch}({arguments})")
    code.do(f"call void {code.slot('restore_thread')}(ptr {thread})")
    code.do(f"br label %ran{tag}")
    code.label(f"ran{tag}")


def _run_together(code: Assembly, program: Program, table: _Table, n: str, constants: str) -> None:
    """Call the loop on `threads`, the second keyword, where there is enough to do for two."""
    least = least_chunk(len(program.state))
    key = code(f"call ptr {code.slot('tuple_get')}(ptr %kwnames, i64 1)")
    code.demand(code(f"icmp eq ptr {key}, {code.slot('threads_name')}"), "general")
    behind = code("add i64 %nargs, 1")
    value = code(f"load ptr, ptr {code(f'getelementptr ptr, ptr %args, i64 {behind}')}")
    code.demand(code(f"icmp eq ptr {code.field(value, TYPE)}, {code.slot('int_type')}"), "general")
    over = code.room("i32", 4)
    asked = code(f"call i64 {code.slot('int_value')}(ptr {value}, ptr {over})")
    code.demand(code(f"icmp sgt i64 {asked}, 1"), "general")
    code.demand(code(f"icmp sgt i64 {n}, {least}"), "general")
    together = code.slot("crew")
    code.demand(code(f"icmp ne ptr {together}, null"), "general")
    worth = code(f"udiv i64 {code(f'add i64 {n}, {least - 1}')}, {least}")
    fewer = code(f"icmp slt i64 {asked}, {worth}")
    threads = code(f"select i1 {fewer}, i64 {asked}, i64 {worth}")
    thread = code(f"call ptr {code.slot('save_thread')}()")
    columns = ", ".join(f"ptr {c}" for c in table.columns)
    code.do(
        f"call void {together}(ptr {code.slot('batch')}, i64 {n}, {columns}, ptr {constants}, i64 {table.count}, "
        f"i64 {least}, i64 {threads})"
    )
    code.do(f"call void {code.slot('restore_thread')}(ptr {thread})")


def _new(
    code: Assembly, t: Type, shape: tuple[int, ...], n: str | None = None, strides: Sequence[str] | None = None
) -> str:
    """A fresh array of the shape (with n in front)."""
    sizes = [*([n] if n is not None else []), *map(str, shape)]
    dims = code.room(f"[{max(len(sizes), 1)} x i64]")
    for axis, size in enumerate(sizes):
        code.do(f"store i64 {size}, ptr {code.at(dims, 8 * axis)}")
    steps = "null"
    if strides is not None:
        steps = code.room(f"[{len(strides)} x i64]")
        for axis, stride in enumerate(strides):
            code.do(f"store i64 {stride}, ptr {code.at(steps, 8 * axis)}")
    number = 12 if t.scalar == "double" else 11
    made = code(
        f"call ptr {code.slot('array_new')}(ptr {code.slot('array_type')}, i32 {len(sizes)}, ptr {dims}, i32 {number}, "
        f"ptr {steps}, ptr null, i32 0, i32 0, ptr null)"
    )
    code.demand(code(f"icmp ne ptr {made}, null"), "failed")
    return made


def _answer(code: Assembly, program: Program, results: list[str], batched: bool = False) -> None:
    """Return the array, or a tuple of them; a single number as a NumPy scalar."""
    shown = [
        r if batched or out.shape else code(f"call ptr {code.slot('array_return')}(ptr {r})")
        for r, out in zip(results, program.outputs, strict=True)
    ]
    if len(shown) == 1:
        code.do(f"ret ptr {shown[0]}")
        return
    pair = code(f"call ptr {code.slot('tuple_new')}(i64 {len(shown)})")
    code.demand(code(f"icmp ne ptr {pair}, null"), "failed")
    for k, r in enumerate(shown):
        code(f"call i32 {code.slot('tuple_set')}(ptr {pair}, i64 {k}, ptr {r})")
    code.do(f"ret ptr {pair}")
