"""The doors to the machine code as LLVM IR: the call from Python for plain arrays, the bound call, the C pointer.

`@call` is a function by the vectorcall protocol (and METH_FASTCALL | METH_KEYWORDS).  It serves arguments that are
exactly NumPy arrays of the right dtype, aligned, either all single states (n,) or all batches (N, n), with an optional
`out=` for single states; all else it hands to the general path in Python.  Addresses of the interpreter and of NumPy
come through a table that is filled after loading (SLOTS), so that object code can be kept on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from kane.graph.program import Program
from kane.native.text import Type

SLOTS = (
    "array_type", "descr", "array_new", "array_return", "vectorcall", "tuple_new", "tuple_get", "tuple_set", "incref",
    "bytes", "save_thread", "restore_thread", "out_name", "general", "batch", "defaults", "memo_constants",
    "memo_parameters", "memo_valid",
)  # fmt: skip
# offsets in a NumPy array object (the same in NumPy 1 and 2, with CPython's two-word object header)
TYPE, DATA, ND, DIMS, STRIDES, DESCR, FLAGS = 8, 16, 24, 32, 40, 56, 64
ALIGNED, WRITEABLE, WRITEABLE_CONTIGUOUS = 0x100, 0x400, 0x501
RELEASE_ABOVE = 20_000  # operations of a batch worth giving the interpreter's lock away


def entry_functions(program: Program, t: Type, constant_count: int) -> str:
    """IR of `@table`, `@call`, `@through`, `@bound`, `@pointer`."""
    slots = len(SLOTS)
    text = [
        f"@slots = internal global [{slots} x i64] zeroinitializer, align 64",
        "define ptr @table() {\n  ret ptr @slots\n}",
        _memo(program, t),
        _call(program, t),
        _through(program),
        _bound(program, t),
        _pointer(program, t, constant_count),
    ]
    return "\n".join(text) + "\n"


def states(program: Program) -> list[int]:
    return [i for i, array in enumerate(program.inputs) if array.kind == "state"]


def parameter(program: Program) -> int | None:
    return next((i for i, array in enumerate(program.inputs) if array.kind == "parameter"), None)


class _Code:
    """Lines of a function with fresh names."""

    def __init__(self) -> None:
        self.stack: list[str] = []
        self.lines: list[str] = []
        self.count = 0

    def room(self, kind: str, align: int = 8) -> str:
        """Stack space, taken once at the function's start."""
        self.count += 1
        self.stack.append(f"  %r{self.count} = alloca {kind}, align {align}")
        return f"%r{self.count}"

    def function(self, head: str) -> str:
        return "\n".join([head + " {\nstart:", *self.stack, *self.lines, "}"])

    def __call__(self, expression: str) -> str:
        self.count += 1
        self.lines.append(f"  %r{self.count} = {expression}")
        return f"%r{self.count}"

    def do(self, line: str) -> None:
        self.lines.append("  " + line)

    def label(self, name: str) -> None:
        self.lines.append(name + ":")

    def field(self, base: str, offset: int, kind: str = "ptr") -> str:
        return self(f"load {kind}, ptr {self.at(base, offset)}")

    def at(self, base: str, offset: int) -> str:
        return self(f"getelementptr i8, ptr {base}, i64 {offset}") if offset else base

    def slot(self, name: str, kind: str = "ptr") -> str:
        return self.field("@slots", 8 * SLOTS.index(name), kind)

    def demand(self, condition: str, otherwise: str) -> None:
        """Go on only where the condition holds."""
        self.count += 1
        self.do(f"br i1 {condition}, label %k{self.count}, label %{otherwise}")
        self.label(f"k{self.count}")

    def array(self, obj: str, otherwise: str) -> str:
        """Demand an aligned array of our dtype in `obj`; gives its flags."""
        self.demand(self(f"icmp eq ptr {self.field(obj, TYPE)}, {self.slot('array_type')}"), otherwise)
        self.demand(self(f"icmp eq ptr {self.field(obj, DESCR)}, {self.slot('descr')}"), otherwise)
        flags = self.field(obj, FLAGS, "i32")
        aligned = self(f"and i32 {flags}, {ALIGNED}")
        self.demand(self(f"icmp ne i32 {aligned}, 0"), otherwise)
        return flags

    def dimension(self, obj: str, axis: int, size: str, otherwise: str) -> None:
        here = self.field(self.field(obj, DIMS), 8 * axis, "i64")
        self.demand(self(f"icmp eq i64 {here}, {size}"), otherwise)

    def rank(self, obj: str, rank: int, otherwise: str) -> None:
        self.demand(self(f"icmp eq i32 {self.field(obj, ND, 'i32')}, {rank}"), otherwise)


def _call(program: Program, t: Type) -> str:
    code, general = _Code(), "general"
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


def _last_label(code: _Code) -> str:
    return next(line[:-1] for line in reversed(code.lines) if line.endswith(":"))


def _single(code: _Code, program: Program, t: Type, objects: list[str], constants: str) -> None:
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
    _run(code, data, [code.field(r, DATA) for r in results], constants)
    _answer(code, program, results)
    code.label("keys")
    obj = _given_output(code, program)
    flags = code.array(obj, "general")
    plain = code(f"and i32 {flags}, {WRITEABLE_CONTIGUOUS}")
    code.demand(code(f"icmp eq i32 {plain}, {WRITEABLE_CONTIGUOUS}"), "general")
    shape = program.outputs[0].shape
    code.rank(obj, len(shape), "general")
    for axis, size in enumerate(shape):
        code.dimension(obj, axis, str(size), "general")
    target = code.field(obj, DATA)
    end = code.at(target, len(program.outputs[0].refs) * t.scalar_bytes)
    for i, start in zip(inputs, data, strict=True):
        _demand_apart(code, (target, end), (start, code.at(start, program.inputs[i].size * t.scalar_bytes)))
    _run(code, data, [target], constants)
    code.do(f"call void {code.slot('incref')}(ptr {obj})")
    code.do(f"ret ptr {obj}")


def _given_output(code: _Code, program: Program) -> str:
    """The value of the keyword `out`, which has to be the only one, of a program with one output."""
    if len(program.outputs) != 1:
        code.demand("false", "general")
    code.demand(code("icmp eq i64 " + code.field("%kwnames", 16, "i64") + ", 1"), "general")
    key = code(f"call ptr {code.slot('tuple_get')}(ptr %kwnames, i64 0)")
    code.demand(code(f"icmp eq ptr {key}, {code.slot('out_name')}"), "general")
    return code(f"load ptr, ptr {code('getelementptr ptr, ptr %args, i64 %nargs')}")


def _demand_apart(code: _Code, a: tuple[str, str], b: tuple[str, str]) -> None:
    """Two ranges of addresses without a common byte; otherwise the general path copies."""
    before, after = code(f"icmp ule ptr {a[1]}, {b[0]}"), code(f"icmp uge ptr {a[0]}, {b[1]}")
    code.demand(code(f"or i1 {before}, {after}"), "general")


def _plural(code: _Code, program: Program, t: Type, objects: list[str], constants: str) -> None:
    """All inputs (N, n): one call of the batch loop."""
    batch = code.slot("batch")
    code.demand(code(f"icmp ne ptr {batch}, null"), "general")
    code.rank(objects[0], 2, "general")
    n = code.field(code.field(objects[0], DIMS), 0, "i64")
    code.demand(code(f"icmp sgt i64 {n}, 1"), "general")
    table = _Table(code, len(objects) + len(program.outputs))
    columns, ranges = "true", []
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
    _run_batch(code, program, table, n, constants, "1")
    _answer(code, program, results, batched=True)
    # a given array, whose elements are evenly apart in each state
    code.label("keys2")
    table.count = mark
    obj = _given_output(code, program)
    flags = code.array(obj, "general")
    code.demand(code(f"icmp ne i32 {code(f'and i32 {flags}, {WRITEABLE}')}, 0"), "general")
    shape = program.outputs[0].shape
    code.rank(obj, 1 + len(shape), "general")
    strides = code.field(obj, STRIDES)
    steps = [code.field(strides, 8 * axis, "i64") for axis in range(1 + len(shape))]
    sizes = [n, *map(str, shape)]
    for axis, extent in enumerate(sizes):
        code.dimension(obj, axis, extent, "general")
    step = steps[-1] if shape else str(t.scalar_bytes)
    for axis in range(1, len(shape)):
        even = code(f"mul i64 {steps[axis + 1]}, {shape[axis]}")
        code.demand(code(f"icmp eq i64 {even}, {steps[axis]}"), "general")
    data = code.field(obj, DATA)
    mine = _range(code, t, data, list(zip(sizes, steps, strict=True)))
    for other in ranges:
        _demand_apart(code, mine, other)
    table.add(data, steps[0], step)
    _run_batch(code, program, table, n, constants, "2")
    code.do(f"call void {code.slot('incref')}(ptr {obj})")
    code.do(f"ret ptr {obj}")


class _Table:
    """Pointers, batch strides and element strides of a batch call, on the stack."""

    def __init__(self, code: _Code, size: int) -> None:
        self.code, self.count = code, 0
        self.columns = [code.room(f"[{size} x i64]") for _ in range(3)]

    def add(self, data: str, batch_stride: str, element_stride: str) -> None:
        pairs = zip(self.columns, (f"ptr {data}", f"i64 {batch_stride}", f"i64 {element_stride}"), strict=True)
        for column, value in pairs:
            self.code.do(f"store {value}, ptr {self.code.at(column, 8 * self.count)}")
        self.count += 1


def _range(code: _Code, t: Type, data: str, axes: list[tuple[str, str]]) -> tuple[str, str]:
    """First and last address of an array (sizes at least 1, strides of any sign)."""
    low, high = "0", str(t.scalar_bytes)
    for size, stride in axes:
        reach = code(f"mul i64 {code(f'sub i64 {size}, 1')}, {stride}")
        negative = code(f"icmp slt i64 {reach}, 0")
        low = code(f"add i64 {low}, {code(f'select i1 {negative}, i64 {reach}, i64 0')}")
        high = code(f"add i64 {high}, {code(f'select i1 {negative}, i64 0, i64 {reach}')}")
    return code(f"getelementptr i8, ptr {data}, i64 {low}"), code(f"getelementptr i8, ptr {data}, i64 {high}")


def _run_batch(code: _Code, program: Program, table: _Table, n: str, constants: str, tag: str) -> None:
    """Call the loop; without the interpreter's lock when there is much to do."""
    batch = code.slot("batch")
    arguments = ", ".join([f"i64 {n}", *(f"ptr {c}" for c in table.columns), f"ptr {constants}"])
    limit = max(1, RELEASE_ABOVE // max(1, len(program.state)))
    large = code(f"icmp ugt i64 {n}, {limit}")
    if parameter(program) is not None:  # the memo must not change under a batch that runs without the lock
        large = code(f"and i1 {large}, {code(f'icmp eq ptr {constants}, ' + code.slot('defaults'))}")
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


def _new(
    code: _Code, t: Type, shape: tuple[int, ...], n: str | None = None, strides: Sequence[str] | None = None
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


def _run(code: _Code, inputs: list[str], outputs: list[str], constants: str) -> None:
    code.do(f"call void @state({', '.join(f'ptr {a}' for a in [constants, *inputs, *outputs])})")


def _answer(code: _Code, program: Program, results: list[str], batched: bool = False) -> None:
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


def _through(program: Program) -> str:
    """One state by a table of pointers: inputs, outputs, constants."""
    code = _Code()
    inputs = len(states(program))
    count = inputs + len(program.outputs)
    pointers = [code.field("%table", 8 * k) for k in range(count + 1)]
    _run(code, pointers[:inputs], pointers[inputs:-1], pointers[-1])
    code.do("ret void")
    return code.function("define void @through(ptr %table)")


def _bound(program: Program, t: Type) -> str:
    """METH_NOARGS on a tuple (bytes of pointers, answer, what must stay alive)."""
    code = _Code()
    inputs, p = len(states(program)), parameter(program)
    first = code(f"call ptr {code.slot('tuple_get')}(ptr %self, i64 0)")
    answer = code(f"call ptr {code.slot('tuple_get')}(ptr %self, i64 1)")
    table = code(f"call ptr {code.slot('bytes')}(ptr {first})")
    count = inputs + len(program.outputs)
    pointers = [code.field(table, 8 * k) for k in range(count)]
    constants = "null"
    if p is not None:
        given = code.field(table, 8 * count)
        code.do(f"br i1 {code(f'icmp eq ptr {given}, null')}, label %default, label %mine")
        code.label("mine")
        memo = code(f"call ptr @memo(ptr {given})")
        code.do("br label %joined")
        code.label("default")
        default = code.slot("defaults")
        code.do("br label %joined")
        code.label("joined")
        constants = code(f"phi ptr [{memo}, %mine], [{default}, %default]")
    _run(code, pointers[:inputs], pointers[inputs:], constants)
    code.do(f"call void {code.slot('incref')}(ptr {answer})")
    code.do(f"ret ptr {answer}")
    return code.function("define ptr @bound(ptr %self, ptr %nothing)")


def _pointer(program: Program, t: Type, constant_count: int) -> str:
    """void f(const double *in0, ..., double *out0, ...): parameters null for the default ones."""
    code = _Code()
    inputs, p = states(program), parameter(program)
    names = [f"%in{i}" for i in range(len(program.inputs))]
    outputs = [f"%out{i}" for i in range(len(program.outputs))]
    constants = "null"
    if p is not None:
        room = code.room(f"[{max(constant_count, 1)} x {t.scalar}]", 64)
        code.do(f"br i1 {code(f'icmp eq ptr %in{p}, null')}, label %default, label %mine")
        code.label("mine")
        code.do(f"call void @constants(ptr {room}, ptr %in{p})")
        code.do("br label %joined")
        code.label("default")
        default = code.slot("defaults")
        code.do("br label %joined")
        code.label("joined")
        constants = code(f"phi ptr [{room}, %mine], [{default}, %default]")
    _run(code, [names[i] for i in inputs], outputs, constants)
    code.do("ret void")
    arguments = ", ".join(f"ptr {name}" for name in names + outputs)
    return code.function(f"define void @pointer({arguments})")


def _memo(program: Program, t: Type) -> str:
    """IR of `@memo(p)`: the constants of these parameters, computed again only when p has changed."""
    p = parameter(program)
    if p is None:
        return ""
    word, size = f"i{8 * t.scalar_bytes}", program.inputs[p].size
    code = _Code()
    constants, mine = code.slot("memo_constants"), code.slot("memo_parameters")
    valid = code.slot("memo_valid", "i64")
    code.do(f"br i1 {code(f'icmp eq i64 {valid}, 1')}, label %compare, label %make")
    code.label("compare")
    code.do("%k = phi i64 [0, %start], [%k1, %same]")
    code.do(f"%done = icmp eq i64 %k, {size}")
    code.do("br i1 %done, label %end, label %look")
    code.label("look")
    code.do(f"%a = getelementptr {word}, ptr %p, i64 %k")
    code.do(f"%b = getelementptr {word}, ptr {mine}, i64 %k")
    code.do(f"%x = load {word}, ptr %a")
    code.do(f"%y = load {word}, ptr %b")
    code.do("%k1 = add i64 %k, 1")
    code.do(f"br i1 {code(f'icmp eq {word} %x, %y')}, label %same, label %make")
    code.label("same")
    code.do("br label %compare")
    code.label("make")
    code.do("br label %copy")
    code.label("copy")
    code.do("%j = phi i64 [0, %make], [%j1, %move]")
    code.do(f"%copied = icmp eq i64 %j, {size}")
    code.do("br i1 %copied, label %compute, label %move")
    code.label("move")
    code.do(f"%from = getelementptr {word}, ptr %p, i64 %j")
    code.do(f"%to = getelementptr {word}, ptr {mine}, i64 %j")
    code.do(f"%v = load {word}, ptr %from")
    code.do(f"store {word} %v, ptr %to")
    code.do("%j1 = add i64 %j, 1")
    code.do("br label %copy")
    code.label("compute")
    code.do(f"call void @constants(ptr {constants}, ptr {mine})")
    code.do(f"store i64 1, ptr {code.at('@slots', 8 * SLOTS.index('memo_valid'))}")
    code.do("br label %end")
    code.label("end")
    code.do(f"ret ptr {constants}")
    return code.function("define internal ptr @memo(ptr %p)")
