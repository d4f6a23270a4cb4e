"""The machine's limit, measured in this run: fused multiply-adds of whole vectors, and sines with cosines."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.benchmark.timing import in_turn, timed
from kane.graph.arena import Graph
from kane.graph.program import Input, Program, build_program
from kane.native import compile_program
from kane.native.host import Dtype, this_host
from kane.native.load import load
from kane.native.text import scalar_type

CHAINS = 12  # independent accumulators: more than latency times units on current processors
PASSES = 20_000
ANGLES, STATES = 8, 1000  # columns that do not share sets of a cache


@dataclass(frozen=True, slots=True)
class Limit:
    """fma_per_ns: multiply-adds of single numbers a nanosecond in full vectors; sincos_ns: one sine with cosine."""

    fma_per_ns: float
    sincos_ns: float

    def floor(self, program: Program) -> float:
        """ns a state below which a batch cannot go: max(mul, add) at the full rate, and its sines."""
        counts = program.counts
        return max(counts.mul, counts.add) / self.fma_per_ns + counts.trig_arguments * self.sincos_ns

    def as_dict(self) -> dict[str, float]:
        return {"fma_per_ns": self.fma_per_ns, "flops_per_ns": 2 * self.fma_per_ns, "sincos_ns": self.sincos_ns}


def measured_limit(dtype: Dtype = "float64") -> Limit:
    """The limit of one core now, by two loops of a few hundredths of a second each."""
    lanes = this_host().lanes(dtype)
    per_pass = timed(_multiply_adds(dtype), PASSES).ns
    return Limit(CHAINS * lanes / per_pass, _sincos(dtype))


def _multiply_adds(dtype: Dtype) -> Any:
    """A loop of independent chains x = x a + b in vectors."""
    host = this_host()
    t = scalar_type(dtype).widened(host.lanes(dtype))
    phis = "\n".join(f"  %x{i} = phi {t.name} [%start, %entry], [%y{i}, %next]" for i in range(CHAINS))
    steps = "\n".join(
        f"  %y{i} = call {t.name} @llvm.fma.{t.suffix}({t.name} %x{i}, {t.name} %a, {t.name} %b)" for i in range(CHAINS)
    )
    total = ["%y0"]
    sums = []
    for i in range(1, CHAINS):
        sums.append(f"  %s{i} = fadd {t.name} {total[-1]}, %y{i}")
        total.append(f"%s{i}")
    text = f"""
declare {t.name} @llvm.fma.{t.suffix}({t.name}, {t.name}, {t.name})
@unused = global [64 x i64] zeroinitializer
define i64 @library_table() {{
  ret i64 ptrtoint (ptr @unused to i64)
}}
define void @loop(ptr %data, i64 %n) {{
entry:
  %start = load {t.name}, ptr %data, align 8
  %pa = getelementptr i8, ptr %data, i64 {t.bytes}
  %a = load {t.name}, ptr %pa, align 8
  %pb = getelementptr i8, ptr %data, i64 {2 * t.bytes}
  %b = load {t.name}, ptr %pb, align 8
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %next]
{phis}
{steps}
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %n
  br i1 %more, label %next, label %done
done:
{chr(10).join(sums)}
  store {t.name} {total[-1]}, ptr %data, align 8
  ret void
}}
"""
    loaded = load(text, host, 2, cached=False)
    data = np.repeat([1.0, 0.5, 0.5], t.lanes).astype(dtype)
    entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(loaded.address("loop"))

    def run(keep: Any = loaded) -> None:
        entry(data.ctypes.data, PASSES)

    return run


def _sincos(dtype: Dtype) -> float:
    """ns of one sine with cosine in a batch in columns: what 2 n angles take more than n, for each of the n.

    Loading and storing are counted once.
    """
    works: list[Callable[[], object]] = []
    for n in (ANGLES, 2 * ANGLES):
        g = Graph()
        names = tuple(f"x{i}" for i in range(n))
        refs = [g.symbol(name) for name in names]
        outputs = [("sum", (1,), [g.sum(g.mul(g.sin(x), g.cos(x)) for x in refs)])]
        f = compile_program(build_program(g, f"sines_{n}", [Input("x", names)], outputs), dtype)
        x = np.random.default_rng(0).uniform(-2, 2, (n, STATES)).astype(dtype).T
        out = f(x)
        works.append(lambda f=f, x=x, out=out: f(x, out=out))  # type: ignore[misc]
    less, more = in_turn(works, STATES)
    return max(more.ns - less.ns, 0.0) / ANGLES
