"""Asking for the next block of many columns while one is computed: more columns than a processor follows itself."""

from __future__ import annotations

STREAMS = 60  # columns from which fetching ahead by the processor does not suffice (measured: no gain at 56, 3 % at 64)
FAR = 8 << 20  # bytes of all columns beyond which they come from memory, not from a cache
LINE = 64  # bytes


def asks(name: str, size: int, elements: int) -> tuple[list[str], list[str]]:
    """Lines before the loop over the vectors of a block, and in it, for one input of a program with so many elements.

    Every vector asks for its share of the columns.  Only what is used in place and far away is asked for.
    """
    if elements < STREAMS or not size:
        return [], []
    before = [
        f"%{name}_remote = icmp sgt i64 %{name}_es, {FAR // elements}",
        f"%{name}_ask = and i1 %{name}_direct, %{name}_remote",
        f"%{name}_columns = select i1 %{name}_ask, i64 {size}, i64 0",
        f"%{name}_coming = getelementptr i8, ptr %{name}_here, i64 %length",
    ]
    arguments = f"ptr %{name}_coming, i64 %{name}_es, i64 %{name}_columns, i64 %g, i64 %groups, i64 %length"
    return before, [f"call void @ask_ahead({arguments})"]


def ask_function() -> str:
    """IR of `@ask_ahead`: columns first, first + stride, ... below count, `length` bytes, to the second-level cache."""
    return f"""declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
define internal void @ask_ahead(ptr %from, i64 %step, i64 %count, i64 %first, i64 %stride, i64 %length) noinline {{
start:
  %some = icmp slt i64 %first, %count
  br i1 %some, label %column, label %end
column:
  %k = phi i64 [%first, %start], [%k1, %next]
  %k_from = mul i64 %k, %step
  %from_k = getelementptr i8, ptr %from, i64 %k_from
  br label %line
line:
  %at = phi i64 [0, %column], [%at1, %line]
  %here = getelementptr i8, ptr %from_k, i64 %at
  call void @llvm.prefetch.p0(ptr %here, i32 0, i32 2, i32 1)
  %at1 = add i64 %at, {LINE}
  %more = icmp slt i64 %at1, %length
  br i1 %more, label %line, label %next
next:
  %k1 = add i64 %k, %stride
  %other = icmp slt i64 %k1, %count
  br i1 %other, label %column, label %end
end:
  ret void
}}"""
