"""Integration loops as machine code: an adaptive Runge-Kutta pair of order 8 and a fixed-step one of order 4.

The loops call the right-hand side through a pointer `void f(ctx, const double *t, const double *y, double *ydot)`, which is a thunk
around a compiled Program (one state, or a batch in columns) or a function of Python.  Arrays are padded to whole vectors.

Order 8: Dormand and Prince's pair with estimates of order 5 and 3 and dense output of order 7 (Hairer, Norsett and Wanner 1993,
section II.5, II.6 and II.10); the step control is that of section II.4.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kane.native.functions import library_table
from kane.native.host import this_host
from kane.native.load import Loaded, load
from kane.native.text import Type

LANES = 8
SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
DONE, FULL, UNDERFLOW, NOT_FINITE, PROJECTION = range(5)  # how a call of the loop ends
STAGES = 12
ROWS = 16  # stages, the slope at the end, and three more for dense output
DENSE = 7

# slots of the control block: doubles, then 64-bit integers
T, H, T_END, RTOL, MAX_STEP, SIZE, H_SMALL = range(7)
PADDED, CHUNKS, LINES, COLUMNS, STRIDE, CAPACITY, COUNT, NFEV, REJECTED, WANT_DENSE, QUATERNIONS, FRESH, EVERY = range(8, 21)
PIVOT_AT, PIVOT, PIVOT_1, PIVOT_2, T_1, T_2, CROSSING = range(21, 28)  # address of the smallest pivot of the constraints, or 0
CONTROL = 32

_V = Type("double", LANES)
_D = Type("double", 1)


class _Emitter:
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
        one = self(f"insertelement {_V.name} undef, double {value}, i32 0")
        return self(f"shufflevector {_V.name} {one}, {_V.name} undef, <{LANES} x i32> zeroinitializer")

    def fma(self, a: str, b: str, c: str) -> str:
        return self(f"call {_V.name} @llvm.fma.{_V.suffix}({_V.name} {a}, {_V.name} {b}, {_V.name} {c})")

    def weighted(self, weights: Sequence[float], rows: Sequence[str], offset: str) -> str:
        """sum of weight times row at an offset; zero weights are left out."""
        total = ""
        for weight, row in zip(weights, rows, strict=True):
            if weight:
                value = self.load(row, offset, _V.name)
                c = _V.literal(float(weight))
                total = self.fma(value, c, total) if total else self(f"fmul {_V.name} {value}, {c}")
        return total


def _over_chunks(name: str, arguments: str, before: _Emitter, body: _Emitter) -> str:
    """A function that does `body` at offsets %o = 0, 8, ... below %np."""
    lines = ["start:", *before.lines, "br label %loop", "loop:", "%o = phi i64 [0, %start], [%o1, %loop]", *body.lines,
             f"%o1 = add i64 %o, {LANES}", "%more = icmp slt i64 %o1, %np",
             "br i1 %more, label %loop, label %end", "end:", "ret void"]  # fmt: skip
    return "\n".join([f"define internal void @{name}({arguments}) {{", *lines, "}", ""])


def _rows(e: _Emitter, count: int) -> list[str]:
    rows = []
    for j in range(count):
        shift = e(f"mul i64 %np, {j}")
        rows.append(e.place("%k", shift))
    return rows


def combination(name: str, weights: Sequence[float]) -> str:
    """out = y + h sum of weights[j] k_j."""
    before, body = _Emitter(), _Emitter()
    body.count = 10_000
    h = before.splat("%h")
    rows = _rows(before, len(weights))
    total = body.weighted(weights, rows, "%o")
    y = body.load("%y", "%o", _V.name)
    body.store(body.fma(h, total, y), "%out", "%o", _V.name)
    return _over_chunks(name, "ptr %y, ptr %k, ptr %out, i64 %np, double %h", before, body)


def _dense(d: Sequence[Sequence[float]]) -> str:
    """The coefficients F (7, np) of the interpolant; %k has 16 rows."""
    before, body = _Emitter(), _Emitter()
    body.count = 10_000
    h = before.splat("%h")
    rows = _rows(before, ROWS)
    outs = [before.place("%out", before(f"mul i64 %np, {j}")) for j in range(DENSE)]
    v = _V.name
    dy = body(f"fsub {v} {body.load('%z', '%o', v)}, {body.load('%y', '%o', v)}")
    first, last = body.load(rows[0], "%o", v), body.load(rows[STAGES], "%o", v)
    slope = body(f"fmul {v} {h}, {first}")
    both = body(f"fmul {v} {h}, {body(f'fadd {v} {last}, {first}')}")
    values = [dy, body(f"fsub {v} {slope}, {dy}"), body(f"fsub {v} {body(f'fadd {v} {dy}, {dy}')}, {both}")]
    values += [body(f"fmul {v} {h}, {body.weighted(row, rows, '%o')}") for row in d]
    for place, value in zip(outs, values, strict=True):
        body.store(value, place, "%o", v)
    return _over_chunks("dense", "ptr %y, ptr %z, ptr %k, ptr %out, i64 %np, double %h", before, body)


def _error(e5: Sequence[float], e3: Sequence[float]) -> str:
    """The largest error of a column (one column: of all), relative to the tolerances; eq. II.10.17 of the book."""
    v = _V.name
    e = _Emitter()
    rows = _rows(e, len(e5))
    rtol, h = e.splat("%rtol"), e.splat("%h")
    e.do("br label %outer")
    e.do("outer:")
    e.do("%c = phi i64 [0, %start], [%c1, %done]")
    e.do("%worst = phi double [0.0, %start], [%worst1, %done]")
    e.do("%c8 = mul i64 %c, 8")
    e.do("br label %inner")
    e.do("inner:")
    e.do("%l = phi i64 [0, %outer], [%l1, %inner]")
    e.do(f"%s5 = phi {v} [zeroinitializer, %outer], [%s5n, %inner]")
    e.do(f"%s3 = phi {v} [zeroinitializer, %outer], [%s3n, %inner]")
    line = e("mul i64 %l, %chunks")
    offset = e(f"mul i64 {e(f'add i64 {line}, %c')}, 8")
    size = []
    for base in ("%y", "%z"):
        size.append(e(f"call {v} @llvm.fabs.{_V.suffix}({v} {e.load(base, offset, v)})"))
    larger = e(f"select {_V.bools} {e(f'fcmp ogt {v} {size[0]}, {size[1]}')}, {v} {size[0]}, {v} {size[1]}")
    scale = e.fma(larger, rtol, e.load("%atol", offset, v))
    for name, weights in (("s5", e5), ("s3", e3)):
        part = e(f"fdiv {v} {e(f'fmul {v} {h}, {e.weighted(weights, rows, offset)}')}, {scale}")
        e.do(f"%{name}n = call {v} @llvm.fma.{_V.suffix}({v} {part}, {v} {part}, {v} %{name})")
    e.do("%l1 = add i64 %l, 1")
    e.do("%again = icmp slt i64 %l1, %lines")
    e.do("br i1 %again, label %inner, label %reduce")
    e.do("reduce:")
    e.do("br i1 %one, label %together, label %apart")
    sums = {}
    e.do("together:")
    for name in ("s5", "s3"):
        sums[name] = e(f"call double @llvm.vector.reduce.fadd.{_V.suffix}(double 0.0, {v} %{name}n)")
    only = _ratio(e, _D, sums["s5"], sums["s3"], "%size")
    e.do("br label %done")
    e.do("apart:")
    each = _ratio(e, _V, "%s5n", "%s3n", e.splat("%size"))
    largest = _largest(e, each)
    e.do("br label %done")
    e.do("done:")
    e.do(f"%here = phi double [{only}, %together], [{largest}, %apart]")
    e.do("%up = fcmp ogt double %here, %worst")
    e.do("%nan = fcmp uno double %here, %here")
    e.do("%take = or i1 %up, %nan")
    e.do("%worst1 = select i1 %take, double %here, double %worst")
    e.do("%c1 = add i64 %c, 1")
    e.do("%rest = icmp slt i64 %c1, %chunks")
    e.do("%on = and i1 %rest, true")
    e.do("br i1 %on, label %outer, label %end")
    e.do("end:")
    e.do("ret double %worst1")
    head = ("define internal double @error(ptr %y, ptr %z, ptr %atol, ptr %k, i64 %np, i64 %lines, i64 %chunks, i1 %one, "
            "double %rtol, double %h, double %size) {")  # fmt: skip
    return "\n".join([head, "start:", *e.lines, "}", ""])


def _ratio(e: _Emitter, t: Type, s5: str, s3: str, size: str) -> str:
    """s5 / sqrt((s5 + 0.01 s3) size), 0 where both vanish."""
    n = t.name
    both = e(f"call {n} @llvm.fma.{t.suffix}({n} {s3}, {n} {t.literal(0.01)}, {n} {s5})")
    root = e(f"call {n} @llvm.sqrt.{t.suffix}({n} {e(f'fmul {n} {both}, {size}')})")
    ratio = e(f"fdiv {n} {s5}, {root}")
    none = e(f"fcmp oeq {n} {both}, {t.literal(0.0)}")
    return e(f"select {t.bools} {none}, {n} {t.literal(0.0)}, {n} {ratio}")


def _largest(e: _Emitter, vector: str) -> str:
    """The largest lane, NaN when there is one."""
    best = e(f"extractelement {_V.name} {vector}, i32 0")
    for lane in range(1, LANES):
        x = e(f"extractelement {_V.name} {vector}, i32 {lane}")
        up = e(f"or i1 {e(f'fcmp ogt double {x}, {best}')}, {e(f'fcmp uno double {x}, {x}')}")
        best = e(f"select i1 {up}, double {x}, double {best}")
    return best


_COMMON = f"""
declare double @llvm.sqrt.f64(double)
declare double @llvm.pow.f64(double, double)
declare double @llvm.fma.f64(double, double, double)
declare {_V.name} @llvm.fma.{_V.suffix}({_V.name}, {_V.name}, {_V.name})
declare {_V.name} @llvm.fabs.{_V.suffix}({_V.name})
declare {_V.name} @llvm.sqrt.{_V.suffix}({_V.name})
declare double @llvm.vector.reduce.fadd.{_V.suffix}(double, {_V.name})
define void @one_state(ptr %ctx, ptr %t, ptr %y, ptr %dy) {{
  %f = load ptr, ptr %ctx, align 8
  %w = getelementptr i8, ptr %ctx, i64 8
  %inputs = load ptr, ptr %w, align 8
  call void %f(ptr %y, ptr %t, ptr %inputs, ptr %dy)
  ret void
}}
define void @many_states(ptr %ctx, ptr %t, ptr %y, ptr %dy) {{
  %f = load ptr, ptr %ctx, align 8
  %a = getelementptr i8, ptr %ctx, i64 8
  %n = load i64, ptr %a, align 8
  %arrays = getelementptr i8, ptr %ctx, i64 16
  %b = getelementptr i8, ptr %ctx, i64 24
  %e = getelementptr i8, ptr %ctx, i64 40
  %g = getelementptr i8, ptr %ctx, i64 48
  %bs = getelementptr i8, ptr %ctx, i64 56
  %es = getelementptr i8, ptr %ctx, i64 88
  store ptr %y, ptr %arrays, align 8
  store ptr %t, ptr %b, align 8
  store ptr %dy, ptr %e, align 8
  %c = load ptr, ptr %g, align 8
  call void %f(i64 %n, ptr %arrays, ptr %bs, ptr %es, ptr %c)
  ret void
}}
define internal void @unit(ptr %y, ptr %control) {{
start:
  %p = getelementptr i64, ptr %control, i64 {QUATERNIONS}
  %table = load ptr, ptr %p, align 8
  %count = load i64, ptr %table, align 8
  %q = getelementptr i64, ptr %control, i64 {COLUMNS}
  %columns = load i64, ptr %q, align 8
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %group, label %end
group:
  %g = phi i64 [0, %start], [%g1, %next]
  %at = add i64 %g, 1
  %s = getelementptr i64, ptr %table, i64 %at
  %first = load i64, ptr %s, align 8
  %row = mul i64 %first, %columns
  br label %column
column:
  %c = phi i64 [0, %group], [%c1, %column]
  %i0 = add i64 %row, %c
  %i1 = add i64 %i0, %columns
  %i2 = add i64 %i1, %columns
  %i3 = add i64 %i2, %columns
  %p0 = getelementptr double, ptr %y, i64 %i0
  %p1 = getelementptr double, ptr %y, i64 %i1
  %p2 = getelementptr double, ptr %y, i64 %i2
  %p3 = getelementptr double, ptr %y, i64 %i3
  %a0 = load double, ptr %p0, align 8
  %a1 = load double, ptr %p1, align 8
  %a2 = load double, ptr %p2, align 8
  %a3 = load double, ptr %p3, align 8
  %m0 = fmul double %a0, %a0
  %m1 = call double @llvm.fma.f64(double %a1, double %a1, double %m0)
  %m2 = call double @llvm.fma.f64(double %a2, double %a2, double %m1)
  %m3 = call double @llvm.fma.f64(double %a3, double %a3, double %m2)
  %r = call double @llvm.sqrt.f64(double %m3)
  %b0 = fdiv double %a0, %r
  %b1 = fdiv double %a1, %r
  %b2 = fdiv double %a2, %r
  %b3 = fdiv double %a3, %r
  store double %b0, ptr %p0, align 8
  store double %b1, ptr %p1, align 8
  store double %b2, ptr %p2, align 8
  store double %b3, ptr %p3, align 8
  %c1 = add i64 %c, 1
  %more_c = icmp slt i64 %c1, %columns
  br i1 %more_c, label %column, label %next
next:
  %g1 = add i64 %g, 1
  %more = icmp slt i64 %g1, %count
  br i1 %more, label %group, label %end
end:
  ret void
}}
"""


def _plan() -> str:
    """A step size that keeps the stages away from a singular configuration of the constraints.

    The smallest pivot falls to zero there; its zero, by the parabola through three steps, is put into a gap between the nodes of the
    stages, 0.3333 to 0.6 or 0.6513 to 0.8571 of the step, and a step that would end near it is halved.  CROSSING is the error that
    a crossing step may have, relative to the tolerances: near the singular configuration rounding is amplified.
    """
    low, high = _D.literal(0.4665), _D.literal(0.754)
    e = _Emitter()
    e.store("1.0", "%control", CROSSING)
    p, p1, p2, t1, t2 = (e.load("%control", k) for k in (PIVOT, PIVOT_1, PIVOT_2, T_1, T_2))
    has = e(f"icmp ne i64 {e.load('%control', PIVOT_AT, 'i64')}, 0")
    slope = e(f"fdiv double {e(f'fsub double {p}, {p1}')}, {e(f'fsub double %t, {t1}')}")
    earlier = e(f"fdiv double {e(f'fsub double {p1}, {p2}')}, {e(f'fsub double {t1}, {t2}')}")
    bend = e(f"fdiv double {e(f'fsub double {slope}, {earlier}')}, {e(f'fsub double %t, {t2}')}")
    gap = e(f"fsub double %t, {t1}")
    rate = e(f"call double @llvm.fma.f64(double {bend}, double {gap}, double {slope})")  # of the parabola at t
    four = e(f"fmul double {e(f'fmul double {bend}, {p}')}, 4.0")
    under = e(f"fsub double {e(f'fmul double {rate}, {rate}')}, {four}")
    root = e(f"call double @llvm.sqrt.f64(double {under})")
    d = e(f"fdiv double {e(f'fmul double {p}, 2.0')}, {e(f'fsub double {root}, {rate}')}")
    falls = e(f"fcmp olt double {rate}, 0.0")
    close = e(f"fcmp olt double {p}, {_D.literal(0.4)}")
    real = e(f"fcmp ogt double {d}, 0.0")
    sure = e(f"and i1 {e(f'and i1 {falls}, {close}')}, {e(f'and i1 {real}, {has}')}")
    e.do(f"br i1 {sure}, label %look, label %keep")
    e.do("keep:")
    e.do("ret double %h")
    e.do("look:")
    rough = e(f"fdiv double {d}, %h")
    e.do(f"br i1 {e(f'fcmp oge double {rough}, 2.0')}, label %keep, label %ahead")
    e.do("ahead:")  # the pivot at a predicted state three quarters of the way
    s = e(f"fmul double {d}, 0.75")
    one, two = (e.place("%k", e(f"mul i64 %np, {j}")) for j in (1, 2))
    e.do(f"call void @euler(ptr %y, ptr %k, ptr %x, i64 %np, double {s})")
    e.store(e(f"fadd double %t, {s}"), "%time", 0)
    e.do(f"call void %f(ptr %ctx, ptr %time, ptr %x, ptr {one})")
    e.do(f"call void @heun(ptr %y, ptr %k, ptr %x, i64 %np, double {s})")
    e.do(f"call void %f(ptr %ctx, ptr %time, ptr %x, ptr {two})")
    _bump(e, NFEV, 2)
    there = e.load(e.load("%control", PIVOT_AT, "ptr"), 0)
    steeper = e(f"fdiv double {e(f'fsub double {there}, {p}')}, {s}")
    curve = e(f"fdiv double {e(f'fsub double {steeper}, {slope}')}, {e(f'fadd double {s}, {gap}')}")
    pace = e(f"call double @llvm.fma.f64(double {curve}, double {s}, double {steeper})")
    quad = e(f"fmul double {e(f'fmul double {curve}, {there}')}, 4.0")
    under2 = e(f"fsub double {e(f'fmul double {pace}, {pace}')}, {quad}")
    square = e(f"call double @llvm.sqrt.f64(double {under2})")
    rest = e(f"fdiv double {e(f'fmul double {there}, 2.0')}, {e(f'fsub double {square}, {pace}')}")
    fine = e(f"fadd double {s}, {rest}")
    usable = e(f"fcmp ogt double {rest}, 0.0")
    d = e(f"select i1 {usable}, double {fine}, double {d}")
    x = e(f"fdiv double {d}, %h")
    far = e(f"fcmp oge double {x}, {_D.literal(1.4)}")
    beyond = e(f"fcmp ogt double {x}, {high}")
    later = e(f"fcmp ogt double {x}, {low}")
    crossing = e(f"select i1 {later}, double {e(f'fdiv double {d}, {high}')}, double {e(f'fdiv double {d}, {low}')}")
    near = e(f"select i1 {beyond}, double {e(f'fmul double {d}, 0.5')}, double {crossing}")
    chosen = e(f"select i1 {far}, double %h, double {near}")
    allowed = e(f"fdiv double {_D.literal(1e-9)}, {e.load('%control', RTOL)}")
    allowed = e(f"select i1 {e(f'fcmp ogt double {allowed}, 1.0')}, double {allowed}, double 1.0")
    e.store(e(f"select i1 {beyond}, double 1.0, double {allowed}"), "%control", CROSSING)
    ok = e(f"fcmp ogt double {chosen}, {e(f'fmul double %h, {_D.literal(1e-3)}')}")
    e.do(f"ret double {e(f'select i1 {ok}, double {chosen}, double %h')}")
    head = ("define internal double @plan(ptr %control, double %t, double %h, ptr %f, ptr %ctx, ptr %y, ptr %k, ptr %x, i64 %np, "
            "ptr %time) {")  # fmt: skip
    return "\n".join([head, "start:", *e.lines, "}", ""])


def _work(e: _Emitter, names: Sequence[str]) -> dict[str, str]:
    """Pointers to consecutive arrays of np numbers in %work."""
    return {name: e.place("%work", e(f"mul i64 %np, {j}")) for j, name in enumerate(names)}


def _slots(e: _Emitter, doubles: Sequence[int], integers: Sequence[int]) -> dict[int, str]:
    values = {s: e.load("%control", s) for s in doubles}
    return values | {s: e.load("%control", s, "i64") for s in integers}


def _bump(e: _Emitter, slot: int, by: int | str) -> None:
    e.store(e(f"add i64 {e.load('%control', slot, 'i64')}, {by}"), "%control", slot, "i64")


def _adaptive(a: Any, b: Any, c: Any, a_extra: Any, c_extra: Any) -> str:
    e = _Emitter()
    e.do(f"%npp = getelementptr i64, ptr %control, i64 {PADDED}")
    e.do("%np = load i64, ptr %npp, align 8")
    s = _slots(e, (T_END, RTOL, MAX_STEP, SIZE), (CHUNKS, LINES, COLUMNS, STRIDE, CAPACITY, WANT_DENSE, FRESH))
    w = _work(e, ("y", "z", "x", "atol", "k"))
    k = [e.place(w["k"], e(f"mul i64 %np, {j}")) for j in range(ROWS)]
    one = e(f"icmp eq i64 {s[COLUMNS]}, 1")
    time = e("alloca double, align 8")
    e.do(f"br i1 {e(f'icmp ne i64 {s[FRESH]}, 0')}, label %first, label %step")
    e.do("first:")
    for slot in (PIVOT, PIVOT_1, PIVOT_2):
        e.store("1.0", "%control", slot)
    call = f"call void %f(ptr %ctx, ptr {time}, ptr {{}}, ptr {{}})"
    e.store(e.load("%control", T), time, 0)
    e.do(call.format(w["y"], k[0]))
    _bump(e, NFEV, 1)
    e.do("br label %step")
    # one accepted step
    e.do("step:")
    count = e.load("%control", COUNT, "i64")
    t = e.load("%control", T)
    e.do(f"%full = icmp sge i64 {count}, {s[CAPACITY]}")
    e.do(f"%arrived = fcmp oge double {t}, {s[T_END]}")
    e.do("br i1 %arrived, label %done, label %space")
    e.do("space:")
    wanted = e.load("%control", H)
    e.do("br i1 %full, label %is_full, label %try_first")
    e.do("try_first:")
    e.do("br label %try")
    e.do("try:")
    e.do(f"%h0 = phi double [{wanted}, %try_first], [%h_less, %reject]")
    e.do("%limit = phi double [8.0, %try_first], [1.0, %reject]")
    planned = e(f"call double @plan(ptr %control, double {t}, double %h0, ptr %f, ptr %ctx, ptr {w['y']}, ptr {w['k']}, "
                f"ptr {w['x']}, i64 %np, ptr {time})")
    e.do(f"%h1 = select i1 {e(f'fcmp olt double {planned}, {s[MAX_STEP]}')}, double {planned}, double {s[MAX_STEP]}")
    left = e(f"fsub double {s[T_END]}, {t}")
    e.do(f"%cut = fcmp oge double {e(f'fmul double %h1, {_D.literal(1 + 1e-8)}')}, {left}")
    e.do(f"%h = select i1 %cut, double {left}, double %h1")
    small = e(f"fmul double {e(f'call double @llvm.fabs.f64(double {t})')}, {_D.literal(2.0**-50)}")
    small = e(f"fadd double {small}, {_D.literal(1e-300)}")
    e.do(f"%tiny = fcmp ole double %h1, {small}")
    e.do("br i1 %tiny, label %underflow, label %stages")
    e.do("stages:")
    for j in range(1, STAGES):
        e.do(f"call void @stage{j}(ptr {w['y']}, ptr {w['k']}, ptr {w['x']}, i64 %np, double %h)")
        e.store(e(f"call double @llvm.fma.f64(double %h, double {_D.literal(float(c[j]))}, double {t})"), time, 0)
        e.do(call.format(w["x"], k[j]))
    _bump(e, NFEV, STAGES - 1)
    e.do(f"call void @final(ptr {w['y']}, ptr {w['k']}, ptr {w['z']}, i64 %np, double %h)")
    e.do(f"%err = call double @error(ptr {w['y']}, ptr {w['z']}, ptr {w['atol']}, ptr {w['k']}, i64 %np, i64 {s[LINES]}, "
         f"i64 {s[CHUNKS]}, i1 {one}, double {s[RTOL]}, double %h, double {s[SIZE]})")  # fmt: skip
    e.do(f"%good = fcmp olt double %err, {e.load('%control', CROSSING)}")
    e.do(f"%power = call double @llvm.pow.f64(double %err, double {_D.literal(-0.125)})")
    e.do(f"%raw = fmul double %power, {_D.literal(SAFETY)}")
    e.do("br i1 %good, label %accept, label %reject")
    e.do("reject:")
    e.do(f"%lost = fcmp ogt double %raw, {_D.literal(SHRINK)}")  # false for NaN
    e.do(f"%factor_r = select i1 %lost, double %raw, double {_D.literal(SHRINK)}")
    e.do("%h_less = fmul double %h, %factor_r")
    _bump(e, REJECTED, 1)
    e.do("br label %try")
    e.do("accept:")
    e.do("%is_small = fcmp olt double %raw, %limit")
    e.do("%factor_a = select i1 %is_small, double %raw, double %limit")
    e.do(f"%factor_b = select i1 {e(f'fcmp ogt double %factor_a, {_D.literal(SHRINK)}')}, double %factor_a, "
         f"double {_D.literal(SHRINK)}")  # fmt: skip
    e.do("%h_next = fmul double %h, %factor_b")
    e.do("%keep = fcmp ogt double %h0, %h_next")
    e.do(f"%planned = or i1 %cut, {e(f'fcmp one double {planned}, %h0')}")
    e.do("%keep1 = and i1 %planned, %keep")
    e.do("%h_store = select i1 %keep1, double %h0, double %h_next")
    e.store("%h_store", "%control", H)
    e.do(f"%t_sum = fadd double {t}, %h")
    e.do(f"%t_new = select i1 %cut, double {s[T_END]}, double %t_sum")
    e.do(f"call void @unit(ptr {w['z']}, ptr %control)")
    e.store("%t_new", time, 0)
    e.do("%has = icmp ne ptr %project, null")
    e.do("br i1 %has, label %correct, label %slope")
    e.do("correct:")
    bad = e(f"call i64 %project(ptr %ctx, ptr {time}, ptr {w['z']})")
    e.do(f"br i1 {e(f'icmp eq i64 {bad}, 0')}, label %slope, label %projection")
    e.do("slope:")
    e.do(call.format(w["z"], k[STAGES]))
    _bump(e, NFEV, 1)
    record = e.place("%out", e(f"mul i64 {count}, {s[STRIDE]}"))
    e.store("%t_new", record, 0)
    e.store("%h", record, 1)
    e.do(f"call void @copy(ptr {w['z']}, ptr {e.place(record, 2)}, i64 %np)")
    e.do(f"br i1 {e(f'icmp ne i64 {s[WANT_DENSE]}, 0')}, label %extra, label %moved")
    e.do("extra:")
    for j in range(len(a_extra)):
        e.do(f"call void @extra{j}(ptr {w['y']}, ptr {w['k']}, ptr {w['x']}, i64 %np, double %h)")
        e.store(e(f"call double @llvm.fma.f64(double %h, double {_D.literal(float(c_extra[j]))}, double {t})"), time, 0)
        e.do(call.format(w["x"], k[STAGES + 1 + j]))
    _bump(e, NFEV, len(a_extra))
    coefficients = e.place(record, e("add i64 %np, 2"))
    e.do(f"call void @dense(ptr {w['y']}, ptr {w['z']}, ptr {w['k']}, ptr {coefficients}, i64 %np, double %h)")
    e.do("br label %moved")
    e.do("moved:")
    e.do(f"call void @copy(ptr {w['z']}, ptr {w['y']}, i64 %np)")
    e.do(f"call void @copy(ptr {k[STAGES]}, ptr {k[0]}, i64 %np)")
    e.store("%t_new", "%control", T)
    _bump(e, COUNT, 1)
    watched = e(f"icmp ne i64 {e.load('%control', PIVOT_AT, 'i64')}, 0")
    e.do(f"br i1 {watched}, label %pivot, label %step")
    e.do("pivot:")
    e.store(e.load("%control", PIVOT_1), "%control", PIVOT_2)
    e.store(e.load("%control", T_1), "%control", T_2)
    e.store(e.load("%control", PIVOT), "%control", PIVOT_1)
    e.store(t, "%control", T_1)
    e.store(e.load(e.load("%control", PIVOT_AT, "ptr"), 0), "%control", PIVOT)
    e.do("br label %step")
    for name, status in (("done", DONE), ("is_full", FULL), ("underflow", UNDERFLOW), ("projection", PROJECTION)):
        e.do(f"{name}:")
        e.store("0", "%control", FRESH, "i64")
        if name == "underflow":
            e.store("%h1", "%control", H_SMALL)
        e.do(f"ret i64 {status}")
    head = "define i64 @adaptive(ptr %f, ptr %ctx, ptr %control, ptr %work, ptr %out, ptr %project) {"
    return "\n".join([head, "start:", *e.lines, "}", ""])


def _fixed() -> str:
    """Steps of the classical method of order 4: CAPACITY steps of H, every EVERY-th recorded as (t, h, y)."""
    e = _Emitter()
    e.do(f"%npp = getelementptr i64, ptr %control, i64 {PADDED}")
    e.do("%np = load i64, ptr %npp, align 8")
    s = _slots(e, (T, H), (STRIDE, CAPACITY, EVERY))
    w = _work(e, ("y", "z", "x", "atol", "k"))
    k = [e.place(w["k"], e(f"mul i64 %np, {j}")) for j in range(4)]
    time = e("alloca double, align 8")
    half = e(f"fmul double {s[H]}, 0.5")
    call = f"call void %f(ptr %ctx, ptr {time}, ptr {{}}, ptr {{}})"
    e.do("br label %step")
    e.do("step:")
    e.do("%i = phi i64 [0, %start], [%i1, %latch]")
    e.do("%r = phi i64 [0, %start], [%r2, %latch]")
    t = e(f"call double @llvm.fma.f64(double {e('sitofp i64 %i to double')}, double {s[H]}, double {s[T]})")
    e.do("%i1 = add i64 %i, 1")
    after = e(f"call double @llvm.fma.f64(double {e('sitofp i64 %i1 to double')}, double {s[H]}, double {s[T]})")
    e.store(t, time, 0)
    e.do(call.format(w["y"], k[0]))
    e.store(e(f"fadd double {t}, {half}"), time, 0)
    for j in (1, 2):
        e.do(f"call void @classic{j}(ptr {w['y']}, ptr {w['k']}, ptr {w['x']}, i64 %np, double {s[H]})")
        e.do(call.format(w["x"], k[j]))
    e.do(f"call void @classic3(ptr {w['y']}, ptr {w['k']}, ptr {w['x']}, i64 %np, double {s[H]})")
    e.store(after, time, 0)
    e.do(call.format(w["x"], k[3]))
    e.do(f"call void @classic(ptr {w['y']}, ptr {w['k']}, ptr {w['y']}, i64 %np, double {s[H]})")
    e.do(f"call void @unit(ptr {w['y']}, ptr %control)")
    e.do("%has = icmp ne ptr %project, null")
    e.do("br i1 %has, label %correct, label %kept")
    e.do("correct:")
    e(f"call i64 %project(ptr %ctx, ptr {time}, ptr {w['y']})")
    e.do("br label %kept")
    e.do("kept:")
    e.store(after, "%control", T)
    e.do("%r1 = add i64 %r, 1")
    e.do(f"%due = icmp eq i64 %r1, {s[EVERY]}")
    e.do("br i1 %due, label %write, label %latch")
    e.do("write:")
    count = e.load("%control", COUNT, "i64")
    record = e.place("%out", e(f"mul i64 {count}, {s[STRIDE]}"))
    e.store(after, record, 0)
    e.store(s[H], record, 1)
    e.do(f"call void @copy(ptr {w['y']}, ptr {e.place(record, 2)}, i64 %np)")
    _bump(e, COUNT, 1)
    e.do("br label %latch")
    e.do("latch:")
    e.do("%r2 = phi i64 [%r1, %kept], [0, %write]")
    e.do(f"%more = icmp slt i64 %i1, {s[CAPACITY]}")
    e.do("br i1 %more, label %step, label %end")
    e.do("end:")
    e.do("ret i64 0")
    head = "define i64 @fixed(ptr %f, ptr %ctx, ptr %control, ptr %work, ptr %out, ptr %project) {"
    return "\n".join([head, "start:", *e.lines, "}", ""])


def _copy() -> str:
    before, body = _Emitter(), _Emitter()
    body.store(body.load("%a", "%o", _V.name), "%b", "%o", _V.name)
    return _over_chunks("copy", "ptr %a, ptr %b, i64 %np", before, body)


def driver_source() -> str:
    """IR of the loops."""
    from scipy.integrate import DOP853 as R  # slow to import, and not needed before

    parts = [library_table(_D, ()), "declare double @llvm.fabs.f64(double)", _COMMON, _copy()]
    parts += [combination(f"stage{j}", [float(x) for x in R.A[j, :j]]) for j in range(1, STAGES)]
    parts += [combination("final", [float(x) for x in R.B])]
    parts += [combination(f"extra{j}", [float(x) for x in row[: STAGES + 1 + j]]) for j, row in enumerate(R.A_EXTRA)]
    parts += [_dense([[float(x) for x in row] for row in R.D])]
    parts += [_error([float(x) for x in R.E5[:STAGES]], [float(x) for x in R.E3[:STAGES]])]
    parts += [combination("euler", [1.0]), combination("heun", [0.5, 0.5])]
    parts += [_plan(), _adaptive(R.A, R.B, R.C, R.A_EXTRA, R.C_EXTRA)]
    parts += [combination("classic1", [0.5]), combination("classic2", [0, 0.5]), combination("classic3", [0, 0, 1.0])]
    parts += [combination("classic", [1 / 6, 1 / 3, 1 / 3, 1 / 6]), _fixed()]
    return "\n".join(parts)


@dataclass(frozen=True, slots=True)
class Driver:
    """The loaded loops: `adaptive` and `fixed` as ctypes functions, addresses of the thunks."""

    loaded: Loaded
    adaptive: Any
    fixed: Any
    one_state: int
    many_states: int


def load_driver(cached: bool = True) -> Driver:
    """Compile the loops, or take them from native's cache."""
    loaded = load(driver_source(), this_host(), 2, cached)
    p = ctypes.c_void_p
    adaptive = ctypes.CFUNCTYPE(ctypes.c_int64, p, p, p, p, p, p)(loaded.address("adaptive"))
    fixed = ctypes.CFUNCTYPE(ctypes.c_int64, p, p, p, p, p, p)(loaded.address("fixed"))
    return Driver(loaded, adaptive, fixed, loaded.address("one_state"), loaded.address("many_states"))


def call_slope(f: int, ctx: int, t: int, y: int, out: int) -> None:
    """Call a right-hand side once, by addresses."""
    p = ctypes.c_void_p
    ctypes.CFUNCTYPE(None, p, p, p, p)(f)(ctx, t, y, out)
