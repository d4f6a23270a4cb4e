"""The loop over a batch as LLVM IR: a vector of states at a time, any strides, the remainder included.

`@batch(n, pointers, batch_strides, element_strides, c)`: one entry an array, inputs before outputs, strides in bytes.
States go through in blocks.  Where neighbouring states are neighbours in memory (columns) the kernel reads and writes
in place, unless columns are a multiple of 2 KiB apart, whose lines push each other out of the cache; otherwise a block
is transposed or copied through a scratch.  It stays in the first-level cache, where columns are written in the second:
long pieces of them are worth more.  Lanes beyond the last state repeat it.  In long batches a few states go first, so
that vectors of most columns are aligned from there on.  The next block of many columns is asked for ahead (ahead.py).
"""

from __future__ import annotations

from kane.graph.program import Program
from kane.native.ahead import FAR, ask_function, asks
from kane.native.text import Type
from kane.native.transpose import chunk_of, move_functions

SCRATCH, SCRATCH_COLUMNS = 24 * 1024, 96 * 1024  # bytes of a block, and of one whose results go to columns
LONGEST = 64  # states of a block at most
PIECE, SCRATCH_PIECES = 32, 384 * 1024  # states of columns worth more bytes: shorter pieces cost a quarter more
FEW, SHARE = 8, 3  # columns of inputs that cost less in place than their copies: so many, or one of so many of all
ALIGNED = 256  # states from which it pays to align columns first
CONFLICT = 2048  # bytes; columns at multiples of it share few sets of a cache


def batch_function(program: Program, t: Type) -> str:
    """IR of `@batch`, calling `@state_v`."""
    inputs = [(f"in{i}", a.size) for i, a in enumerate(program.inputs) if a.kind == "state"]
    outputs = [(f"out{i}", len(o.refs)) for i, o in enumerate(program.outputs)]
    arrays = inputs + outputs
    elements = max(1, sum(size for _, size in arrays))
    short, long, pieces = (_block(t, elements, room) for room in (SCRATCH, SCRATCH_COLUMNS, SCRATCH_PIECES))
    long = max(long, min(pieces, PIECE))
    lines: list[str] = []
    anyhow, written = _in_place(inputs, max(FEW, elements // SHARE)), {name for name, _ in outputs}
    for n, (name, size) in enumerate(arrays):
        far = FAR // elements if name not in written else None
        lines += _argument(t, n, name, size * long * t.scalar_bytes, name in anyhow, far)
    columns = "true"
    for name, _ in outputs:
        lines.append(f"%{name}_all = and i1 {columns}, %{name}_unit")
        columns = f"%{name}_all"
    lines += _lead(t, arrays, anyhow)
    lines += [
        f"%block = select i1 {columns}, i64 {long}, i64 {short}",
        f"%step = mul i64 %block, {t.scalar_bytes}",
        "%some = icmp sgt i64 %n, 0",
        "br i1 %some, label %loop, label %end",
        "loop:",
        "%i = phi i64 [0, %aligned], [%next, %latch]",
        "%ahead = sub i64 %n, %i",
        "%leading = icmp slt i64 %i, %lead",
        "%left = select i1 %leading, i64 %lead, i64 %ahead",
        f"%whole = icmp sge i64 %left, {t.lanes}",  # else the last states, fewer than a vector
        "%long = icmp sge i64 %left, %block",
        "%most = select i1 %long, i64 %block, i64 %left",
        f"%even = and i64 %most, {-t.lanes}",
        "%count = select i1 %whole, i64 %even, i64 %left",
        f"%vectors = sdiv i64 %even, {t.lanes}",
        "%groups = select i1 %whole, i64 %vectors, i64 1",
        f"%m = select i1 %whole, i64 {t.lanes}, i64 %left",
        f"%length = mul i64 %groups, {t.bytes}",
    ]
    for name, _ in arrays:
        lines += _place(name)
    for name, size in inputs:
        lines += _move(t, name, size, "pack")
    before = f"{inputs[-1][0]}_ready" if inputs else "loop"
    asked = [asks(name, size, elements) for name, size in inputs]
    lines += [line for prepare, _ in asked for line in prepare]
    lines += ["br label %kernel", "kernel:", f"%g = phi i64 [0, %{before}], [%g1, %kernel]"]
    lines.append(f"%g_at = mul i64 %g, {t.bytes}")
    lines += [f"%{name}_g = getelementptr i8, ptr %{name}_at, i64 %g_at" for name, _ in arrays]
    lines += [
        f"call void @state_v(ptr %c, {', '.join(f'ptr %{name}_g, i64 %{name}_step' for name, _ in arrays)})",
        *(line for _, ask in asked for line in ask),
        "%g1 = add i64 %g, 1",
        "%more_g = icmp slt i64 %g1, %groups",
        "br i1 %more_g, label %kernel, label %given",
        "given:",
    ]
    for name, size in outputs:
        lines += _move(t, name, size, "unpack")
    lines += [
        "br label %latch",
        "latch:",
        "%next = add i64 %i, %count",
        "%more = icmp slt i64 %next, %n",
        "br i1 %more, label %loop, label %end",
        "end:",
        "ret void",
    ]
    moves = move_functions(t, {chunk_of(t, size) for _, size in inputs}, {chunk_of(t, size) for _, size in outputs})
    head = "define void @batch(i64 %n, ptr %pointers, ptr %batch_strides, ptr %element_strides, ptr %c) {"
    parts = [moves, ask_function()] if any(ask for _, ask in asked) else [moves]
    return "\n".join([*parts, head, "start:", *("  " + line for line in lines), "}", ""])


def _lead(t: Type, arrays: list[tuple[str, int]], anyhow: set[str]) -> list[str]:
    """%lead: the states before those whose vectors are aligned in most columns; arrays used in place count twice."""
    lines = [f"%many = icmp sge i64 %n, {ALIGNED}", "br i1 %many, label %align, label %aligned", "align:"]
    for name, _ in arrays:
        lines += [
            f"%{name}_int = ptrtoint ptr %{name}_base to i64",
            f"%{name}_to = sub i64 0, %{name}_int",
            f"%{name}_bytes = and i64 %{name}_to, {t.bytes - 1}",
            f"%{name}_lead = udiv i64 %{name}_bytes, {t.scalar_bytes}",
            f"%{name}_off = and i64 %{name}_es, {t.bytes - 1}",
            f"%{name}_all_alike = icmp eq i64 %{name}_off, 0",
            f"%{name}_counts = and i1 %{name}_unit, %{name}_all_alike",
        ]
    best, votes = "0", "0"
    for name, _ in arrays:
        total = "0"
        for other, size in arrays:
            pair = f"{name}_{other}"
            lines += [
                f"%{pair}_same = icmp eq i64 %{name}_lead, %{other}_lead",
                f"%{pair}_both = and i1 %{pair}_same, %{other}_counts",
                f"%{pair}_vote = select i1 %{pair}_both, i64 {size * (1 + (other in anyhow))}, i64 0",
                f"%{pair}_sum = add i64 {total}, %{pair}_vote",
            ]
            total = f"%{pair}_sum"
        lines += [
            f"%{name}_more = icmp sgt i64 {total}, {votes}",
            f"%{name}_best = select i1 %{name}_more, i64 %{name}_lead, i64 {best}",
            f"%{name}_votes = select i1 %{name}_more, i64 {total}, i64 {votes}",
        ]
        best, votes = f"%{name}_best", f"%{name}_votes"
    return [*lines, "br label %aligned", "aligned:", f"%lead = phi i64 [0, %start], [{best}, %align]"]


def _block(t: Type, elements: int, room: int) -> int:
    """States of a block: a power of two whose scratch fits."""
    fitting = room // (max(elements, 1) * t.scalar_bytes)
    return max(t.lanes, min(LONGEST, 1 << max(fitting, 1).bit_length() - 1))


def _in_place(inputs: list[tuple[str, int]], few: int) -> set[str]:
    """Inputs whose columns, at most so few, are used in place at any distance, in their order.

    No output is: a processor takes a load for one of a store at the same place of another page, and waits for it.
    """
    chosen, columns = set(), 0
    for name, size in inputs:
        if columns + size <= few:
            chosen.add(name)
            columns += size
    return chosen


def _argument(t: Type, n: int, name: str, room: int, anyhow: bool, far: int | None) -> list[str]:
    """Scratch, address and strides of array n, and whether it can be used in place.

    anyhow: at any distance of its columns; far: at distances of more bytes than this, from where copies cost more.
    """
    return [
        f"%{name}_buffer = alloca i8, i64 {max(room, 1)}, align 64",
        f"%{name}_p = getelementptr i8, ptr %pointers, i64 {8 * n}",
        f"%{name}_b = getelementptr i8, ptr %batch_strides, i64 {8 * n}",
        f"%{name}_e = getelementptr i8, ptr %element_strides, i64 {8 * n}",
        f"%{name}_base = load ptr, ptr %{name}_p, align 8",
        f"%{name}_bs = load i64, ptr %{name}_b, align 8",
        f"%{name}_es = load i64, ptr %{name}_e, align 8",
        f"%{name}_unit = icmp eq i64 %{name}_bs, {t.scalar_bytes}",
        f"%{name}_low = and i64 %{name}_es, {CONFLICT - 1}",
        f"%{name}_apart = icmp ne i64 %{name}_low, {-1 if anyhow else 0}",
        f"%{name}_far = icmp sgt i64 %{name}_es, {far if far is not None else (1 << 63) - 1}",
        f"%{name}_either = or i1 %{name}_apart, %{name}_far",
        f"%{name}_good = and i1 %{name}_unit, %{name}_either",
    ]


def _place(name: str) -> list[str]:
    """Where the kernel finds the block's first state: in place or in the scratch."""
    return [
        f"%{name}_offset = mul i64 %i, %{name}_bs",
        f"%{name}_here = getelementptr i8, ptr %{name}_base, i64 %{name}_offset",
        f"%{name}_direct = and i1 %whole, %{name}_good",
        f"%{name}_column = and i1 %whole, %{name}_unit",
        f"%{name}_at = select i1 %{name}_direct, ptr %{name}_here, ptr %{name}_buffer",
        f"%{name}_step = select i1 %{name}_direct, i64 %{name}_es, i64 %step",
    ]


def _move(t: Type, name: str, size: int, what: str) -> list[str]:
    """Fill the scratch of an input, or empty that of an output, where it is not used in place."""
    if not size:
        return [f"br label %{name}_ready", f"{name}_ready:"]
    array, buffer = f"ptr %{name}_here, i64 %{name}_es", f"ptr %{name}_buffer, i64 %step"
    first, second = (array, buffer) if what == "pack" else (buffer, array)
    steps = f"i64 %{name}_bs, i64 %{name}_es, i64 {size}, i64 %m, i64 %step"
    return [
        f"br i1 %{name}_direct, label %{name}_ready, label %{name}_move",
        f"{name}_move:",
        f"br i1 %{name}_column, label %{name}_copy, label %{name}_{what}",
        f"{name}_copy:",
        f"call void @copy_columns({first}, {second}, i64 {size}, i64 %length)",
        f"br label %{name}_ready",
        f"{name}_{what}:",
        f"call void @{what}s_{chunk_of(t, size)}(ptr %{name}_here, {steps}, ptr %{name}_buffer, i64 %groups)",
        f"br label %{name}_ready",
        f"{name}_ready:",
    ]
