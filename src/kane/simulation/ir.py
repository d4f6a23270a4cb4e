"""Writing LLVM IR as text: straight lines over vectors, and code with loops and branches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kane.native.text import Type

LANES = 8
VECTOR = Type("double", LANES)
DOUBLE = Type("double", 1)


class Emitter:
    """Lines of IR with fresh names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def __call__(self, text: str) -> str:
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(text)

    def label(self) -> str:
        self.count += 1
        return f"l{self.count}"

    def place(self, base: str, index: str | int) -> str:
        return self(f"getelementptr double, ptr {base}, i64 {index}")

    def load(self, base: str, index: str | int, kind: str = "double") -> str:
        return self(f"load {kind}, ptr {self.place(base, index)}, align 8")

    def store(self, value: str, base: str, index: str | int, kind: str = "double") -> None:
        self.do(f"store {kind} {value}, ptr {self.place(base, index)}, align 8")

    def splat(self, value: str) -> str:
        one = self(f"insertelement {VECTOR.name} undef, double {value}, i32 0")
        return self(f"shufflevector {VECTOR.name} {one}, {VECTOR.name} undef, <{LANES} x i32> zeroinitializer")

    def fma(self, a: str, b: str, c: str) -> str:
        return self(
            f"call {VECTOR.name} @llvm.fma.{VECTOR.suffix}({VECTOR.name} {a}, {VECTOR.name} {b}, {VECTOR.name} {c})"
        )

    def weighted(self, weights: Sequence[float], rows: Sequence[str], offset: str) -> str:
        """sum of weight times row at an offset; zero weights are left out."""
        total = ""
        for weight, row in zip(weights, rows, strict=True):
            if weight:
                value = self.load(row, offset, VECTOR.name)
                c = VECTOR.literal(float(weight))
                total = self.fma(value, c, total) if total else self(f"fmul {VECTOR.name} {value}, {c}")
        return total


class Code:
    """Lines of IR, with loops and branches."""

    def __init__(self, head: str) -> None:
        self.lines = [head + " {", "start:"]
        self.count = 0

    def __call__(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def do(self, text: str) -> None:
        self.lines.append(text)

    def name(self) -> str:
        self.count += 1
        return f"b{self.count}"

    def variable(self, kind: str, value: str) -> str:
        place = self(f"alloca {kind}, align 8")
        self.do(f"store {kind} {value}, ptr {place}, align 8")
        return place

    def get(self, place: str, kind: str = "double") -> str:
        return self(f"load {kind}, ptr {place}, align 8")

    def put(self, value: str, place: str, kind: str = "double") -> None:
        self.do(f"store {kind} {value}, ptr {place}, align 8")

    def at(self, base: str, index: str | int) -> str:
        return self(f"getelementptr double, ptr {base}, i64 {index}")

    def load(self, base: str, index: str | int, kind: str = "double") -> str:
        return self.get(self.at(base, index), kind)

    def row(self, base: str, index: str, width: str) -> str:
        return self.at(base, self(f"mul i64 {index}, {width}"))

    @contextmanager
    def loop(self, stop: str | int, first: str | int = 0) -> Iterator[str]:
        """i from `first` below `stop`."""
        before, head, body, latch, end = (self.name() for _ in range(5))
        self.do(f"br label %{before}")
        self.do(f"{before}:")
        self.do(f"br label %{head}")
        self.do(f"{head}:")
        i = f"%i_{head}"
        self.do(f"{i} = phi i64 [{first}, %{before}], [{i}_next, %{latch}]")
        more = self(f"icmp slt i64 {i}, {stop}")
        self.do(f"br i1 {more}, label %{body}, label %{end}")
        self.do(f"{body}:")
        yield i
        self.do(f"br label %{latch}")
        self.do(f"{latch}:")
        self.do(f"{i}_next = add i64 {i}, 1")
        self.do(f"br label %{head}")
        self.do(f"{end}:")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        yes, end = self.name(), self.name()
        self.do(f"br i1 {condition}, label %{yes}, label %{end}")
        self.do(f"{yes}:")
        yield
        self.do(f"br label %{end}")
        self.do(f"{end}:")

    def leave(self, condition: str, value: str = "void") -> None:
        """Return when the condition holds."""
        out, on = self.name(), self.name()
        self.do(f"br i1 {condition}, label %{out}, label %{on}")
        self.do(f"{out}:")
        self.do(f"ret {value}")
        self.do(f"{on}:")

    def dot(self, a: str, b: str, n: str) -> str:
        return self(f"call double @dot(ptr {a}, ptr {b}, i64 {n})")

    def add(self, factor: str, x: str, y: str, n: str) -> None:
        """y += factor x."""
        self.do(f"call void @add(double {factor}, ptr {x}, ptr {y}, i64 {n})")

    def fabs(self, x: str) -> str:
        return self(f"call double @llvm.fabs.f64(double {x})")

    def text(self, end: str = "ret void") -> str:
        return "\n".join([*self.lines, end, "}", ""])


def bump(e: Emitter, slot: int, by: int | str) -> None:
    e.store(e(f"add i64 {e.load('%control', slot, 'i64')}, {by}"), "%control", slot, "i64")
