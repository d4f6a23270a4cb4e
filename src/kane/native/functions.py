"""Functions beyond + - * / as LLVM IR: a few instructions, or the C library's function for each lane."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable
from functools import cache

from kane.errors import UnsupportedError
from kane.native.text import Type

LIBRARY = {
    "sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2, "exp": 1, "log": 1,
    "sinh": 1, "cosh": 1, "tanh": 1, "pow": 2,
}  # fmt: skip
THREADS = (
    "malloc", "free", "usleep", "pthread_create", "pthread_detach", "pthread_attr_init", "pthread_attr_setstacksize",
    "pthread_attr_destroy",
)  # fmt: skip
Emit = Callable[[Type, str, list[str]], list[str]]


def _sqrt(t: Type, r: str, a: list[str]) -> list[str]:
    return [f"{r} = call {t.name} @llvm.sqrt.{t.suffix}({t.name} {a[0]})"]


def _abs(t: Type, r: str, a: list[str]) -> list[str]:
    return [f"{r} = call {t.name} @llvm.fabs.{t.suffix}({t.name} {a[0]})"]


def _sign(t: Type, r: str, a: list[str]) -> list[str]:
    """1, -1, or the argument itself where it is 0 or NaN."""
    zero = t.literal(0.0)
    return [
        f"{r}_p = fcmp ogt {t.name} {a[0]}, {zero}",
        f"{r}_n = fcmp olt {t.name} {a[0]}, {zero}",
        f"{r}_1 = select {t.bools} {r}_n, {t.name} {t.literal(-1.0)}, {t.name} {a[0]}",
        f"{r} = select {t.bools} {r}_p, {t.name} {t.literal(1.0)}, {t.name} {r}_1",
    ]


def _select(t: Type, r: str, a: list[str]) -> list[str]:
    return [
        f"{r}_c = fcmp ogt {t.name} {a[0]}, {t.literal(0.0)}",
        f"{r} = select {t.bools} {r}_c, {t.name} {a[1]}, {t.name} {a[2]}",
    ]


def _extreme(compare: str) -> Emit:
    def emit(t: Type, r: str, a: list[str]) -> list[str]:
        """The first where it wins or is NaN, else the second (which may be NaN)."""
        return [
            f"{r}_c = fcmp {compare} {t.name} {a[0]}, {a[1]}",
            f"{r}_u = fcmp uno {t.name} {a[0]}, {a[0]}",
            f"{r}_t = or {t.bools} {r}_c, {r}_u",
            f"{r} = select {t.bools} {r}_t, {t.name} {a[0]}, {t.name} {a[1]}",
        ]

    return emit


INLINE: dict[str, Emit] = {
    "sqrt": _sqrt, "abs": _abs, "sign": _sign, "select": _select, "min": _extreme("ole"), "max": _extreme("oge"),
}  # fmt: skip


def emit(op: str, t: Type, result: str, args: list[str]) -> list[str]:
    """Instructions that set `result`."""
    if op in INLINE:
        return INLINE[op](t, result, args)
    if op not in LIBRARY:
        remedy = "Add it to native/functions.py."
        raise UnsupportedError(f"machine code knows no function {op!r}.", name=op, remedy=remedy)
    name = f"@kane_lanes_{op}_{t.lanes}" if t.lanes > 1 else f"@kane_{op}{_tail(t)}"
    return [f"{result} = call {t.name} {name}({', '.join(f'{t.name} {a}' for a in args)})"]


def lane_function(op: str, t: Type) -> str:
    """IR that applies the C library's function to each lane."""
    arity = LIBRARY[op]
    names = [f"%x{k}" for k in range(arity)]
    lines, before = [], "undef"
    for lane in range(t.lanes):
        picks = []
        for k, name in enumerate(names):
            lines.append(f"%p{lane}_{k} = extractelement {t.name} {name}, i32 {lane}")
            picks.append(f"{t.scalar} %p{lane}_{k}")
        lines.append(f"%y{lane} = call {t.scalar} @kane_{op}{_tail(t)}({', '.join(picks)})")
        lines.append(f"%v{lane} = insertelement {t.name} {before}, {t.scalar} %y{lane}, i32 {lane}")
        before = f"%v{lane}"
    arguments = ", ".join(f"{t.name} {n}" for n in names)
    head = f"define internal {t.name} @kane_lanes_{op}_{t.lanes}({arguments}) noinline {{"
    return "\n".join([head, *("  " + line for line in lines), f"  ret {t.name} {before}", "}", ""])


def library_names() -> list[str]:
    """The entries of `@library`: functions of numbers, then those of threads (native/crew.py)."""
    return [*(op + tail for tail in ("", "f") for op in LIBRARY), *THREADS]


def library_table(t: Type, used: Iterable[str]) -> str:
    """IR of a table of the C library's addresses, to be filled after loading, and of calls through it."""
    names = library_names()
    lines = [
        f"@library = internal global [{len(names)} x i64] zeroinitializer, align 64",
        "define ptr @library_table() {\n  ret ptr @library\n}",
    ]
    for op in sorted(used):
        name = op + _tail(t)
        arguments = ", ".join(f"{t.scalar} %x{k}" for k in range(LIBRARY[op]))
        lines += [
            f"define internal {t.scalar} @kane_{name}({arguments}) {{",
            f"  %place = getelementptr i8, ptr @library, i64 {8 * names.index(name)}",
            "  %f = load ptr, ptr %place, align 8",
            f"  %y = tail call {t.scalar} %f({arguments})",
            f"  ret {t.scalar} %y",
            "}",
        ]
    return "\n".join(lines)


def _tail(t: Type) -> str:
    return "" if t.scalar == "double" else "f"


@cache
def library_addresses() -> tuple[int, ...]:
    """Addresses of the C library's functions in the order of `library_table`."""
    libraries = [ctypes.CDLL(None)] if sys.platform != "win32" else [ctypes.CDLL("ucrtbase.dll")]
    if sys.platform.startswith("linux"):
        try:
            libraries.append(ctypes.CDLL("libm.so.6"))
        except OSError:  # another C library, which has them in the process already
            pass
    addresses = []
    for name in library_names():
        found = next((getattr(lib, name) for lib in libraries if hasattr(lib, name)), None)
        assert found is not None or name in THREADS, name
        addresses.append(ctypes.cast(found, ctypes.c_void_p).value or 0 if found is not None else 0)
    return tuple(addresses)
