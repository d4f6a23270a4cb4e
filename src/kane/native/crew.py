"""A batch on several threads of the system: one small module of LLVM IR for the process, made at its first use.

Helpers are started for each call and take chunks of states from one counter, as the caller does, until none is left:
large ones first, which streams through memory best, then smaller ones, so that all end together.  A helper that starts
only when all is done is not waited for: it finds the gate closed, touches nothing of the call and ends (so two threads
are hardly slower than one on a machine that has no second core to give).  Where a thread cannot be started, the others
do its part.  There is nothing to keep across a fork and nothing to close.  Each state is computed alone, so that the
bits do not depend on who computes it.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache

from kane.native.functions import library_names, library_table
from kane.native.host import this_host
from kane.native.load import load
from kane.native.text import Type

UNIT = 64  # states in whole blocks of the batch loop: chunks are multiples
WORTH = 200_000  # operations that a thread takes at least, some ten microseconds
MOST = 256  # threads of a call
STACK = 8 << 20  # bytes, as the main thread usually has; some systems give others half a megabyte
ATTRIBUTES = 256  # bytes, more than a pthread_attr_t takes anywhere
CLOSED = 1 << 32  # added to the gate, which counts the helpers inside
SPINS, NAP = 4096, 50  # looks at the gate, some ten microseconds; then naps of microseconds
# bytes in a call's record; what several threads write has cache lines of its own
NEXT, GATE, REFERENCES, FIELDS = 0, 128, 256, 384
NAMES = ("batch", "n", "pointers", "bs", "es", "c", "arrays", "least", "threads")
INTEGERS = ("n", "arrays", "least", "threads")


@cache
def crew() -> int | None:
    """The address of `crew(batch, n, pointers, batch_strides, element_strides, c, arrays, least, threads)`.

    Runs the batch loop at address `batch` for n states; `arrays`: how many pointers there are; `least`: states of a
    chunk.  None on a system without POSIX threads, where one thread does all.
    """
    if sys.platform == "win32":
        return None
    loaded = load(_source(), this_host(), 1, cached=False)
    address = loaded.address("crew")
    loaded.engine.detach()  # never freed: a late helper may still run it when the interpreter ends
    return address


def together(address: int, *values: int) -> None:
    """Call `crew` without the interpreter's lock."""
    _CREW(address)(*values)


_CREW = ctypes.CFUNCTYPE(None, *(ctypes.c_int64 if name in INTEGERS else ctypes.c_void_p for name in NAMES))


def least_chunk(operations: int) -> int:
    """States of a chunk that are worth a thread's while."""
    return UNIT * max(1, WORTH // (UNIT * max(operations, 1)))


def _fields(names: tuple[str, ...] = NAMES) -> str:
    """Load fields of the record %task."""
    lines = []
    for name in names:
        lines.append(f"%at_{name} = getelementptr i8, ptr %task, i64 {FIELDS + 8 * NAMES.index(name)}")
        lines.append(f"%{name} = load {'i64' if name in INTEGERS else 'ptr'}, ptr %at_{name}")
    return "\n  ".join(lines)


def _functions(*names: str) -> str:
    """Load addresses of the C library."""
    lines = []
    for name in names:
        lines.append(f"%at_{name} = getelementptr i8, ptr @library, i64 {8 * library_names().index(name)}")
        lines.append(f"%{name} = load ptr, ptr %at_{name}")
    return "\n  ".join(lines)


def _source() -> str:
    """IR: `@work` takes chunks, `@helper` is a thread, `@crew` starts them, works along and waits."""
    kinds = {name: "i64" if name in INTEGERS else "ptr" for name in NAMES}
    stores = "\n  ".join(
        f"%at_{name} = getelementptr i8, ptr %task, i64 {FIELDS + 8 * k}\n  store {kinds[name]} %{name}, ptr %at_{name}"
        for k, name in enumerate(NAMES)
    )
    return f"""{library_table(Type("double", 1), ())}
define internal void @work(ptr %task) noinline {{
start:
  {_fields()}
  %mine = alloca i64, i64 %arrays, align 64
  %parts = mul i64 %threads, 2
  %first_i = load atomic i64, ptr %task monotonic, align 8
  br label %next
next:
  %i = phi i64 [%first_i, %start], [%other, %take], [%now, %run]
  %left = sub i64 %n, %i
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %take, label %end
take:  ; a part of what is left for each thread, in whole blocks
  %part = udiv i64 %left, %parts
  %whole = and i64 %part, -{UNIT}
  %small = icmp slt i64 %whole, %least
  %chunk = select i1 %small, i64 %least, i64 %whole
  %short = icmp slt i64 %left, %chunk
  %count = select i1 %short, i64 %left, i64 %chunk
  %i1 = add i64 %i, %count
  %pair = cmpxchg ptr %task, i64 %i, i64 %i1 monotonic monotonic
  %other = extractvalue {{i64, i1}} %pair, 0
  %taken = extractvalue {{i64, i1}} %pair, 1
  br i1 %taken, label %shift, label %next
shift:
  %k = phi i64 [0, %take], [%k1, %shift]
  %p = getelementptr i64, ptr %pointers, i64 %k
  %b = getelementptr i64, ptr %bs, i64 %k
  %m = getelementptr i64, ptr %mine, i64 %k
  %first = load i64, ptr %p
  %stride = load i64, ptr %b
  %ahead = mul i64 %stride, %i
  %there = add i64 %first, %ahead
  store i64 %there, ptr %m
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %arrays
  br i1 %more, label %shift, label %run
run:
  call void %batch(i64 %count, ptr %mine, ptr %bs, ptr %es, ptr %c)
  %now = load atomic i64, ptr %task monotonic, align 8
  br label %next
end:
  ret void
}}
define internal void @leave(ptr %task, i64 %shares) noinline {{
  %references = getelementptr i8, ptr %task, i64 {REFERENCES}
  %before = atomicrmw sub ptr %references, i64 %shares acq_rel
  %last = icmp eq i64 %before, %shares
  br i1 %last, label %release, label %end
release:
  {_functions("free")}
  call void %free(ptr %task)
  br label %end
end:
  ret void
}}
define internal ptr @helper(ptr %task) noinline {{
  %gate = getelementptr i8, ptr %task, i64 {GATE}
  %before = atomicrmw add ptr %gate, i64 1 acq_rel
  %open = icmp slt i64 %before, {CLOSED}
  br i1 %open, label %enter, label %away
enter:
  call void @work(ptr %task)
  br label %away
away:
  %then = atomicrmw sub ptr %gate, i64 1 acq_rel
  call void @leave(ptr %task, i64 1)
  ret ptr null
}}
define void @crew({", ".join(f"{kinds[name]} %{name}" for name in NAMES)}) noinline {{
start:
  %attributes = alloca [{ATTRIBUTES} x i8], align 64
  %who = alloca i64, align 8
  {_functions("malloc", "usleep", *(name for name in library_names() if name.startswith("pthread")))}
  %task = call ptr %malloc(i64 {FIELDS + 8 * len(NAMES)})
  %none = icmp eq ptr %task, null
  br i1 %none, label %alone, label %prepare
alone:
  call void %batch(i64 %n, ptr %pointers, ptr %bs, ptr %es, ptr %c)
  ret void
prepare:
  {stores}
  %gate = getelementptr i8, ptr %task, i64 {GATE}
  %references = getelementptr i8, ptr %task, i64 {REFERENCES}
  %few = icmp slt i64 %threads, {MOST}
  %most = select i1 %few, i64 %threads, i64 {MOST}
  store i64 0, ptr %task
  store i64 0, ptr %gate
  store i64 %most, ptr %references
  %r0 = call i32 %pthread_attr_init(ptr %attributes)
  %r1 = call i32 %pthread_attr_setstacksize(ptr %attributes, i64 {STACK})
  br label %more
more:
  %k = phi i64 [1, %prepare], [%k1, %started]
  %missing = icmp slt i64 %k, %most
  br i1 %missing, label %hire, label %ready
hire:
  %failed = call i32 %pthread_create(ptr %who, ptr %attributes, ptr @helper, ptr %task)
  %good = icmp eq i32 %failed, 0
  br i1 %good, label %started, label %ready
started:
  %thread = load i64, ptr %who
  %r2 = call i32 %pthread_detach(i64 %thread)
  %k1 = add i64 %k, 1
  br label %more
ready:
  %r3 = call i32 %pthread_attr_destroy(ptr %attributes)
  call void @work(ptr %task)
  %inside = atomicrmw add ptr %gate, i64 {CLOSED} acq_rel
  br label %look
look:
  %s = phi i64 [0, %ready], [%s1, %again], [%s1, %nap]
  %s1 = add i64 %s, 1
  %now = load atomic i64, ptr %gate acquire, align 8
  %all = icmp eq i64 %now, {CLOSED}
  br i1 %all, label %end, label %again
again:
  %long = icmp sgt i64 %s1, {SPINS}
  br i1 %long, label %nap, label %look
nap:
  %r4 = call i32 %usleep(i32 {NAP})
  br label %look
end:
  %lacking = sub i64 %most, %k
  %shares = add i64 %lacking, 1
  call void @leave(ptr %task, i64 %shares)
  ret void
}}
"""
