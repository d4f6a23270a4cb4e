"""Between the caller's arrays and the scratch of a batch, as LLVM IR: transposes and copies of a vector of states.

The scratch holds element k of neighbouring states side by side, at k * step bytes.
"""

from __future__ import annotations

from kane.native.text import Type

PIECES = 8  # vectors of a column copied at once


def move_functions(t: Type, in_chunks: set[int], out_chunks: set[int]) -> str:
    """IR of `@packs_<chunk>`, `@unpacks_<chunk>` (any strides, several vectors of states) and `@copy_columns`."""
    parts = [pack_function(t, chunk) for chunk in sorted(in_chunks)]
    parts += [unpack_function(t, chunk) for chunk in sorted(out_chunks)]
    parts += [_over_groups(t, "pack", chunk) for chunk in sorted(in_chunks)]
    parts += [_over_groups(t, "unpack", chunk) for chunk in sorted(out_chunks)]
    return "\n".join([*parts, _copy_columns(t)])


def _over_groups(t: Type, what: str, chunk: int) -> str:
    """IR of a loop over vectors of states."""
    array, buffer = "ptr %array_g, ", "ptr %buffer_g, "
    steps = "i64 %bs, i64 %es, i64 %count, i64 %m, i64 %step"
    arguments = f"{array}{steps}, {buffer[:-2]}" if what == "pack" else f"{buffer}{array}{steps}"
    return f"""define internal void @{what}s_{chunk}(ptr %array, {steps}, ptr %buffer, i64 %groups) noinline {{
start:
  %jump = mul i64 %bs, {t.lanes}
  br label %loop
loop:
  %g = phi i64 [0, %start], [%next, %loop]
  %there = mul i64 %g, %jump
  %here = mul i64 %g, {t.bytes}
  %array_g = getelementptr i8, ptr %array, i64 %there
  %buffer_g = getelementptr i8, ptr %buffer, i64 %here
  call void @{what}_{chunk}({arguments})
  %next = add i64 %g, 1
  %more = icmp slt i64 %next, %groups
  br i1 %more, label %loop, label %end
end:
  ret void
}}"""


def _copy_columns(t: Type) -> str:
    """IR of `@copy_columns`: count columns of `length` bytes (whole vectors), one after the other, PIECES at a time."""
    body = []
    for i in range(PIECES):
        body += [
            f"  %from_{i} = getelementptr i8, ptr %from_long, i64 {i * t.bytes}",
            f"  %v{i} = load {t.name}, ptr %from_{i}, align {t.scalar_bytes}",
        ]
    for i in range(PIECES):
        body += [
            f"  %to_{i} = getelementptr i8, ptr %to_long, i64 {i * t.bytes}",
            f"  store {t.name} %v{i}, ptr %to_{i}, align {t.scalar_bytes}",
        ]
    many = "\n".join(body)
    return f"""define internal void @copy_columns(
  ptr noalias %from, i64 %from_step, ptr noalias %to, i64 %to_step, i64 %count, i64 %length) noinline {{
start:
  %last = sub i64 %length, {PIECES * t.bytes}
  br label %column
column:
  %k = phi i64 [0, %start], [%k1, %next]
  %k_from = mul i64 %k, %from_step
  %k_to = mul i64 %k, %to_step
  %from_k = getelementptr i8, ptr %from, i64 %k_from
  %to_k = getelementptr i8, ptr %to, i64 %k_to
  br label %long
long:
  %far = phi i64 [0, %column], [%far1, %pieces]
  %enough = icmp sle i64 %far, %last
  br i1 %enough, label %pieces, label %rest
pieces:
  %from_long = getelementptr i8, ptr %from_k, i64 %far
  %to_long = getelementptr i8, ptr %to_k, i64 %far
{many}
  %far1 = add i64 %far, {PIECES * t.bytes}
  br label %long
rest:
  %some = icmp slt i64 %far, %length
  br i1 %some, label %piece, label %next
piece:
  %at = phi i64 [%far, %rest], [%at1, %piece]
  %from_at = getelementptr i8, ptr %from_k, i64 %at
  %to_at = getelementptr i8, ptr %to_k, i64 %at
  %v = load {t.name}, ptr %from_at, align {t.scalar_bytes}
  store {t.name} %v, ptr %to_at, align {t.scalar_bytes}
  %at1 = add i64 %at, {t.bytes}
  %more = icmp slt i64 %at1, %length
  br i1 %more, label %piece, label %next
next:
  %k1 = add i64 %k, 1
  %other = icmp slt i64 %k1, %count
  br i1 %other, label %column, label %end
end:
  ret void
}}"""


def chunk_of(t: Type, size: int) -> int:
    """The largest power of two of elements that an array and a vector hold."""
    return min(t.lanes, 1 << max(size.bit_length() - 1, 0))


def _transpose(t: Type, chunk: int, names: list[str], lines: list[str]) -> list[str]:
    """Exchange rows and lanes within blocks of chunk x chunk; its own inverse."""
    distance = 1
    while distance < chunk:
        low = [t.lanes + lane - distance if lane & distance else lane for lane in range(t.lanes)]
        high = [t.lanes + lane if lane & distance else lane + distance for lane in range(t.lanes)]
        made = list(names)
        for i in range(chunk):
            if not i & distance:
                j = i + distance
                for k, mask in ((i, low), (j, high)):
                    made[k] = f"%d{distance}_{k}"
                    pair = f"{t.name} {names[i]}, {t.name} {names[j]}"
                    lines.append(f"{made[k]} = shufflevector {pair}, {_mask(mask)}")
        names, distance = made, 2 * distance
    return names


def _mask(lanes: list[int]) -> str:
    return f"<{len(lanes)} x i32> <" + ", ".join(f"i32 {lane}" for lane in lanes) + ">"


def _chunks_loop(t: Type, chunk: int, body: list[str], exits: str) -> list[str]:
    """A loop over elements %c0 = 0, chunk, ...; the last chunk overlaps the one before where it has to."""
    return [
        f"%last_c = sub i64 %count, {chunk}",
        "br label %chunks",
        "chunks:",
        "%c0 = phi i64 [0, %fast], [%c2, %chunks]",
        f"%c_at = mul i64 %c0, {t.scalar_bytes}",
        *body,
        f"%c1 = add i64 %c0, {chunk}",
        "%over = icmp sgt i64 %c1, %last_c",
        "%c2 = select i1 %over, i64 %last_c, i64 %c1",
        "%more_c = icmp slt i64 %c0, %last_c",
        f"br i1 %more_c, label %chunks, label %{exits}",
    ]


def _fast(condition: str, otherwise: str, lines: list[str]) -> list[str]:
    """Take these lines where the condition holds (and there are any)."""
    if not lines:
        return [f"br label %{otherwise}", f"{otherwise}:"]
    return [f"br i1 %{condition}, label %fast, label %{otherwise}", "fast:", *lines, f"{otherwise}:"]


def _rows_in(t: Type, chunk: int) -> list[str]:
    row = t.widened(chunk)
    lines: list[str] = []
    for lane in range(t.lanes):
        lines += [
            f"%cp{lane} = getelementptr i8, ptr %lane{lane}, i64 %c_at",
            f"%row_{lane} = load {row.name}, ptr %cp{lane}, align {t.scalar_bytes}",
        ]
    wide = []
    for r in range(chunk):  # rows r, r + chunk, ... one behind the other
        parts, width, level = [f"%row_{lane}" for lane in range(r, t.lanes, chunk)], chunk, 0
        while len(parts) > 1:
            joined = []
            for k in range(0, len(parts), 2):
                name = f"%j{r}_{level}_{k}"
                half = t.widened(width).name
                lines.append(
                    f"{name} = shufflevector {half} {parts[k]}, {half} {parts[k + 1]}, {_mask(list(range(2 * width)))}"
                )
                joined.append(name)
            parts, width, level = joined, 2 * width, level + 1
        wide.append(parts[0])
    for k, name in enumerate(_transpose(t, chunk, wide, lines)):
        lines += [
            f"%e{k} = add i64 %c0, {k}",
            f"%eo{k} = mul i64 %e{k}, %step",
            f"%ep{k} = getelementptr i8, ptr %buffer, i64 %eo{k}",
            f"store {t.name} {name}, ptr %ep{k}, align {t.bytes}",
        ]
    return _chunks_loop(t, chunk, lines, "end")


def _rows_out(t: Type, chunk: int) -> list[str]:
    row = t.widened(chunk)
    lines: list[str] = []
    for k in range(chunk):
        lines += [
            f"%e{k} = add i64 %c0, {k}",
            f"%eo{k} = mul i64 %e{k}, %step",
            f"%ep{k} = getelementptr i8, ptr %buffer, i64 %eo{k}",
            f"%ev{k} = load {t.name}, ptr %ep{k}, align {t.bytes}",
        ]
    names = _transpose(t, chunk, [f"%ev{k}" for k in range(chunk)], lines)
    for lane in range(t.lanes):
        name = names[lane % chunk]
        if chunk < t.lanes:
            first = lane // chunk * chunk
            mask = _mask(list(range(first, first + chunk)))
            lines.append(f"%part{lane} = shufflevector {t.name} {name}, {t.name} {name}, {mask}")
            name = f"%part{lane}"
        lines += [
            f"%cp{lane} = getelementptr i8, ptr %lane{lane}, i64 %c_at",
            f"store {row.name} {name}, ptr %cp{lane}, align {t.scalar_bytes}",
        ]
    return _chunks_loop(t, chunk, lines, "end")


def pack_function(t: Type, chunk: int) -> str:
    """IR of `@pack_<chunk>`: element k of m states (lanes beyond repeat the last) side by side, for each k.

    Rows of neighbouring elements are read `chunk` elements at a time and transposed in registers.
    """
    word, size = t.scalar, t.scalar_bytes
    lines = ["%some = icmp sgt i64 %count, 0", "%last = sub i64 %m, 1"]
    for lane in range(t.lanes):
        lines += [
            f"%in{lane} = icmp slt i64 {lane}, %m",
            f"%row{lane} = select i1 %in{lane}, i64 {lane}, i64 %last",
            f"%offset{lane} = mul i64 %row{lane}, %bs",
            f"%lane{lane} = getelementptr i8, ptr %from, i64 %offset{lane}",
        ]
    lines += [
        f"%rows = icmp eq i64 %es, {size}",
        *_fast("rows", "slow", _rows_in(t, chunk) if chunk > 1 else []),
        "br i1 %some, label %loop, label %end",
        "loop:",
        "%k = phi i64 [0, %slow], [%k1, %loop]",
        "%at = phi i64 [0, %slow], [%at1, %loop]",
    ]
    before = "undef"
    for lane in range(t.lanes):
        lines += [
            f"%p{lane} = getelementptr i8, ptr %lane{lane}, i64 %at",
            f"%x{lane} = load {word}, ptr %p{lane}, align {size}",
            f"%v{lane} = insertelement {t.name} {before}, {word} %x{lane}, i32 {lane}",
        ]
        before = f"%v{lane}"
    lines += [
        "%to_offset = mul i64 %k, %step",
        "%to = getelementptr i8, ptr %buffer, i64 %to_offset",
        f"store {t.name} {before}, ptr %to, align {t.bytes}",
        "%k1 = add i64 %k, 1",
        "%at1 = add i64 %at, %es",
        "%more = icmp slt i64 %k1, %count",
        "br i1 %more, label %loop, label %end",
        "end:",
        "ret void",
    ]
    steps = "i64 %bs, i64 %es, i64 %count, i64 %m, i64 %step"
    head = f"define internal void @pack_{chunk}(ptr noalias %from, {steps}, ptr noalias %buffer) noinline {{"
    return "\n".join([head, "start:", *("  " + line for line in lines), "}"])


def unpack_function(t: Type, chunk: int) -> str:
    """IR of `@unpack_<chunk>`: the reverse, only the first m lanes."""
    word, size = t.scalar, t.scalar_bytes
    lines = ["%some = icmp sgt i64 %count, 0"]
    for lane in range(t.lanes):
        lines += [f"%offset{lane} = mul i64 {lane}, %bs", f"%lane{lane} = getelementptr i8, ptr %to, i64 %offset{lane}"]
    lines += [
        f"%full = icmp eq i64 %m, {t.lanes}",
        "br i1 %some, label %sort, label %end",
        "sort:",
        f"%rows = icmp eq i64 %es, {size}",
        "%whole = and i1 %rows, %full",
        *_fast("whole", "which", _rows_out(t, chunk) if chunk > 1 else []),
        "br i1 %full, label %loop, label %each",
        "loop:",
        "%k = phi i64 [0, %which], [%k1, %loop]",
        "%at = phi i64 [0, %which], [%at1, %loop]",
        "%from_offset = mul i64 %k, %step",
        "%from_k = getelementptr i8, ptr %buffer, i64 %from_offset",
        f"%v = load {t.name}, ptr %from_k, align {t.bytes}",
    ]
    for lane in range(t.lanes):
        lines += [
            f"%x{lane} = extractelement {t.name} %v, i32 {lane}",
            f"%p{lane} = getelementptr i8, ptr %lane{lane}, i64 %at",
            f"store {word} %x{lane}, ptr %p{lane}, align {size}",
        ]
    lines += [
        "%k1 = add i64 %k, 1",
        "%at1 = add i64 %at, %es",
        "%more = icmp slt i64 %k1, %count",
        "br i1 %more, label %loop, label %end",
        "each:",
        "%l = phi i64 [0, %which], [%l1, %each_latch]",
        "%row = mul i64 %l, %bs",
        "%to_l = getelementptr i8, ptr %to, i64 %row",
        f"%from_l = getelementptr {word}, ptr %buffer, i64 %l",
        "br label %each_k",
        "each_k:",
        "%j = phi i64 [0, %each], [%j1, %each_k]",
        "%source = mul i64 %j, %step",
        "%from_lk = getelementptr i8, ptr %from_l, i64 %source",
        "%target = mul i64 %j, %es",
        "%to_lk = getelementptr i8, ptr %to_l, i64 %target",
        f"%y = load {word}, ptr %from_lk, align {size}",
        f"store {word} %y, ptr %to_lk, align {size}",
        "%j1 = add i64 %j, 1",
        "%more_k = icmp slt i64 %j1, %count",
        "br i1 %more_k, label %each_k, label %each_latch",
        "each_latch:",
        "%l1 = add i64 %l, 1",
        "%more_l = icmp slt i64 %l1, %m",
        "br i1 %more_l, label %each, label %end",
        "end:",
        "ret void",
    ]
    steps = "i64 %bs, i64 %es, i64 %count, i64 %m, i64 %step"
    head = f"define internal void @unpack_{chunk}(ptr noalias %buffer, ptr noalias %to, {steps}) noinline {{"
    return "\n".join([head, "start:", *("  " + line for line in lines), "}"])
