"""Integration loops as machine code: an adaptive Runge-Kutta pair of order 8 and a fixed-step one of order 4.

The loops call the right-hand side through a pointer `void f(ctx, const double *t, const double *y, double *ydot)`,
which is a thunk around a compiled Program (one state, or a batch in columns) or a function of Python.  Arrays are
padded to whole vectors.

Order 8: Dormand and Prince's pair with estimates of order 5 and 3 and dense output of order 7 (Hairer, Norsett and
Wanner 1993, section II.5, II.6 and II.10); the step control is that of section II.4.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kane.native.functions import library_table
from kane.native.host import this_host
from kane.native.load import Loaded, load
from kane.simulation import tableau as rk
from kane.simulation.crossing import plan_function
from kane.simulation.ir import DOUBLE, Emitter, bump
from kane.simulation.slots import (
    CAPACITY,
    CHUNKS,
    COLUMNS,
    COUNT,
    CROSSING,
    DONE,
    EVERY,
    FRESH,
    FULL,
    H_SMALL,
    LINES,
    MAX_STEP,
    NFEV,
    PADDED,
    PIVOT,
    PIVOT_1,
    PIVOT_2,
    PIVOT_AT,
    PROJECTION,
    REJECTED,
    ROWS,
    RTOL,
    SAFETY,
    SHRINK,
    SIZE,
    STAGES,
    STRIDE,
    T_1,
    T_2,
    T_END,
    UNDERFLOW,
    WANT_DENSE,
    H,
    T,
)
from kane.simulation.stages import COMMON, combination, copy_function, dense_function, error_function


def _work(e: Emitter, names: Sequence[str]) -> dict[str, str]:
    """Pointers to consecutive arrays of np numbers in %work."""
    return {name: e.place("%work", e(f"mul i64 %np, {j}")) for j, name in enumerate(names)}


def _slots(e: Emitter, doubles: Sequence[int], integers: Sequence[int]) -> dict[int, str]:
    values = {s: e.load("%control", s) for s in doubles}
    return values | {s: e.load("%control", s, "i64") for s in integers}


def _adaptive() -> str:  # noqa: PLR0915 (one loop, read from top to bottom)
    e = Emitter()
    e.do(f"%npp = getelementptr i64, ptr %control, i64 {PADDED}")
    e.do("%np = load i64, ptr %npp, align 8")
    s = _slots(e, (T_END, RTOL, MAX_STEP, SIZE), (CHUNKS, LINES, COLUMNS, STRIDE, CAPACITY, WANT_DENSE, FRESH))
    w = _work(e, ("y", "z", "x", "atol", "k"))
    k = [e.place(w["k"], e(f"mul i64 %np, {j}")) for j in range(ROWS)]
    one = e(f"icmp eq i64 {s[COLUMNS]}, 1")
    time = e("alloca double, align 8")
    e.do(f"br i1 {e(f'icmp ne i64 {s[FRESH]}, 0')}, label %first, label %step")
    e.do("first:")
    call = f"call void %f(ptr %ctx, ptr {time}, ptr {{}}, ptr {{}})"
    begin = e.load("%control", T)
    e.store(begin, time, 0)
    e.do(call.format(w["y"], k[0]))
    bump(e, NFEV, 1)
    seen = e(f"icmp ne i64 {e.load('%control', PIVOT_AT, 'i64')}, 0")
    e.do(f"br i1 {seen}, label %pivots, label %step")
    e.do("pivots:")
    now = e.load(e.load("%control", PIVOT_AT, "ptr"), 0)
    e.store(now, "%control", PIVOT)
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
    planned = e(
        f"call double @plan(ptr %control, double {t}, double %h0, ptr %f, ptr %ctx, ptr {w['y']}, ptr {w['k']}, "
        f"ptr {w['x']}, i64 %np, ptr {time})"
    )
    e.do(f"%h1 = select i1 {e(f'fcmp olt double {planned}, {s[MAX_STEP]}')}, double {planned}, double {s[MAX_STEP]}")
    left = e(f"fsub double {s[T_END]}, {t}")
    e.do(f"%cut = fcmp oge double {e(f'fmul double %h1, {DOUBLE.literal(1 + 1e-8)}')}, {left}")
    e.do(f"%h = select i1 %cut, double {left}, double %h1")
    small = e(f"fmul double {e(f'call double @llvm.fabs.f64(double {t})')}, {DOUBLE.literal(2.0**-50)}")
    small = e(f"fadd double {small}, {DOUBLE.literal(1e-300)}")
    e.do(f"%tiny = fcmp ole double %h1, {small}")
    e.do("br i1 %tiny, label %underflow, label %stages")
    e.do("stages:")
    for j in range(1, STAGES):
        e.do(f"call void @stage{j}(ptr {w['y']}, ptr {w['k']}, ptr {w['x']}, i64 %np, double %h)")
        e.store(e(f"call double @llvm.fma.f64(double %h, double {DOUBLE.literal(rk.C[j])}, double {t})"), time, 0)
        e.do(call.format(w["x"], k[j]))
    bump(e, NFEV, STAGES - 1)
    e.do(f"call void @final(ptr {w['y']}, ptr {w['k']}, ptr {w['z']}, i64 %np, double %h)")
    e.do(
        f"%err = call double @error(ptr {w['y']}, ptr {w['z']}, ptr {w['atol']}, ptr {w['k']}, i64 %np, "
        f"i64 {s[LINES]}, i64 {s[CHUNKS]}, i1 {one}, double {s[RTOL]}, double %h, double {s[SIZE]})"
    )
    e.do(f"%good = fcmp olt double %err, {e.load('%control', CROSSING)}")
    e.do(f"%power = call double @kane_pow(double %err, double {DOUBLE.literal(-0.125)})")
    e.do(f"%raw = fmul double %power, {DOUBLE.literal(SAFETY)}")
    e.do("br i1 %good, label %accept, label %reject")
    e.do("reject:")
    e.do(f"%lost = fcmp ogt double %raw, {DOUBLE.literal(SHRINK)}")  # false for NaN
    e.do(f"%factor_r = select i1 %lost, double %raw, double {DOUBLE.literal(SHRINK)}")
    e.do("%h_less = fmul double %h, %factor_r")
    bump(e, REJECTED, 1)
    e.do("br label %try")
    e.do("accept:")
    e.do("%is_small = fcmp olt double %raw, %limit")
    e.do("%factor_a = select i1 %is_small, double %raw, double %limit")
    e.do(f"%factor_b = select i1 {e(f'fcmp ogt double %factor_a, {DOUBLE.literal(SHRINK)}')}, double %factor_a, "
         f"double {DOUBLE.literal(SHRINK)}")  # fmt: skip
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
    bump(e, NFEV, 1)
    watched = e(f"icmp ne i64 {e.load('%control', PIVOT_AT, 'i64')}, 0")
    e.do(f"br i1 {watched}, label %pivot, label %record")
    e.do("pivot:")
    e.store(e.load("%control", PIVOT_1), "%control", PIVOT_2)
    e.store(e.load("%control", T_1), "%control", T_2)
    e.store(e.load("%control", PIVOT), "%control", PIVOT_1)
    e.store(t, "%control", T_1)
    e.store(e.load(e.load("%control", PIVOT_AT, "ptr"), 0), "%control", PIVOT)
    e.do("br label %record")
    e.do("record:")
    record = e.place("%out", e(f"mul i64 {count}, {s[STRIDE]}"))
    e.store("%t_new", record, 0)
    e.store("%h", record, 1)
    e.do(f"call void @copy(ptr {w['z']}, ptr {e.place(record, 2)}, i64 %np)")
    e.do(f"br i1 {e(f'icmp ne i64 {s[WANT_DENSE]}, 0')}, label %extra, label %moved")
    e.do("extra:")
    for j in range(len(rk.EXTRA_A)):
        e.do(f"call void @extra{j}(ptr {w['y']}, ptr {w['k']}, ptr {w['x']}, i64 %np, double %h)")
        e.store(e(f"call double @llvm.fma.f64(double %h, double {DOUBLE.literal(rk.EXTRA_C[j])}, double {t})"), time, 0)
        e.do(call.format(w["x"], k[STAGES + 1 + j]))
    bump(e, NFEV, len(rk.EXTRA_A))
    coefficients = e.place(record, e("add i64 %np, 2"))
    e.do(f"call void @dense(ptr {w['y']}, ptr {w['z']}, ptr {w['k']}, ptr {coefficients}, i64 %np, double %h)")
    e.do("br label %moved")
    e.do("moved:")
    e.do(f"call void @copy(ptr {w['z']}, ptr {w['y']}, i64 %np)")
    e.do(f"call void @copy(ptr {k[STAGES]}, ptr {k[0]}, i64 %np)")
    e.store("%t_new", "%control", T)
    bump(e, COUNT, 1)
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
    e = Emitter()
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
    bump(e, COUNT, 1)
    e.do("br label %latch")
    e.do("latch:")
    e.do("%r2 = phi i64 [%r1, %kept], [0, %write]")
    e.do(f"%more = icmp slt i64 %i1, {s[CAPACITY]}")
    e.do("br i1 %more, label %step, label %end")
    e.do("end:")
    e.do("ret i64 0")
    head = "define i64 @fixed(ptr %f, ptr %ctx, ptr %control, ptr %work, ptr %out, ptr %project) {"
    return "\n".join([head, "start:", *e.lines, "}", ""])


def driver_source() -> str:
    """IR of the loops."""
    parts = [library_table(DOUBLE, ("pow",)), "declare double @llvm.fabs.f64(double)", COMMON, copy_function()]
    parts += [combination(f"stage{j}", rk.dense_row(rk.A[j], j)) for j in range(1, STAGES)]
    parts += [combination("final", rk.dense_row(rk.B, STAGES))]
    parts += [combination(f"extra{j}", rk.dense_row(row, STAGES + 1 + j)) for j, row in enumerate(rk.EXTRA_A)]
    parts += [dense_function([rk.dense_row(row, ROWS) for row in rk.DENSE])]
    parts += [error_function(rk.dense_row(rk.ERROR_5, STAGES), rk.dense_row(rk.ERROR_3, STAGES))]
    parts += [combination("euler", [1.0]), combination("heun", [0.5, 0.5]), plan_function(), _adaptive()]
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
