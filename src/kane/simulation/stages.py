"""Parts of the Runge-Kutta loops as LLVM IR: sums of stages, the error, dense output, thunks, unit quaternions."""

from __future__ import annotations

from collections.abc import Sequence

from kane.native.text import Type
from kane.simulation.ir import DOUBLE, LANES, VECTOR, Emitter
from kane.simulation.slots import COLUMNS, DENSE, QUATERNIONS, ROWS, STAGES


def _over_chunks(name: str, arguments: str, before: Emitter, body: Emitter) -> str:
    """A function that does `body` at offsets %o = 0, 8, ... below %np."""
    lines = ["start:", *before.lines, "br label %loop", "loop:", "%o = phi i64 [0, %start], [%o1, %loop]", *body.lines,
             f"%o1 = add i64 %o, {LANES}", "%more = icmp slt i64 %o1, %np",
             "br i1 %more, label %loop, label %end", "end:", "ret void"]  # fmt: skip
    return "\n".join([f"define internal void @{name}({arguments}) {{", *lines, "}", ""])


def _rows(e: Emitter, count: int) -> list[str]:
    rows = []
    for j in range(count):
        shift = e(f"mul i64 %np, {j}")
        rows.append(e.place("%k", shift))
    return rows


def combination(name: str, weights: Sequence[float]) -> str:
    """out = y + h sum of weights[j] k_j."""
    before, body = Emitter(), Emitter()
    body.count = 10_000
    h = before.splat("%h")
    rows = _rows(before, len(weights))
    total = body.weighted(weights, rows, "%o")
    y = body.load("%y", "%o", VECTOR.name)
    body.store(body.fma(h, total, y), "%out", "%o", VECTOR.name)
    return _over_chunks(name, "ptr %y, ptr %k, ptr %out, i64 %np, double %h", before, body)


def dense_function(d: Sequence[Sequence[float]]) -> str:
    """The coefficients F (7, np) of the interpolant; %k has 16 rows."""
    before, body = Emitter(), Emitter()
    body.count = 10_000
    h = before.splat("%h")
    rows = _rows(before, ROWS)
    outs = [before.place("%out", before(f"mul i64 %np, {j}")) for j in range(DENSE)]
    v = VECTOR.name
    dy = body(f"fsub {v} {body.load('%z', '%o', v)}, {body.load('%y', '%o', v)}")
    first, last = body.load(rows[0], "%o", v), body.load(rows[STAGES], "%o", v)
    slope = body(f"fmul {v} {h}, {first}")
    both = body(f"fmul {v} {h}, {body(f'fadd {v} {last}, {first}')}")
    values = [dy, body(f"fsub {v} {slope}, {dy}"), body(f"fsub {v} {body(f'fadd {v} {dy}, {dy}')}, {both}")]
    values += [body(f"fmul {v} {h}, {body.weighted(row, rows, '%o')}") for row in d]
    for place, value in zip(outs, values, strict=True):
        body.store(value, place, "%o", v)
    return _over_chunks("dense", "ptr %y, ptr %z, ptr %k, ptr %out, i64 %np, double %h", before, body)


def error_function(e5: Sequence[float], e3: Sequence[float]) -> str:
    """The largest error of a column (one column: of all), relative to the tolerances; eq. II.10.17 of the book."""
    v = VECTOR.name
    e = Emitter()
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
        size.append(e(f"call {v} @llvm.fabs.{VECTOR.suffix}({v} {e.load(base, offset, v)})"))
    larger = e(f"select {VECTOR.bools} {e(f'fcmp ogt {v} {size[0]}, {size[1]}')}, {v} {size[0]}, {v} {size[1]}")
    scale = e.fma(larger, rtol, e.load("%atol", offset, v))
    for name, weights in (("s5", e5), ("s3", e3)):
        part = e(f"fdiv {v} {e(f'fmul {v} {h}, {e.weighted(weights, rows, offset)}')}, {scale}")
        e.do(f"%{name}n = call {v} @llvm.fma.{VECTOR.suffix}({v} {part}, {v} {part}, {v} %{name})")
    e.do("%l1 = add i64 %l, 1")
    e.do("%again = icmp slt i64 %l1, %lines")
    e.do("br i1 %again, label %inner, label %reduce")
    e.do("reduce:")
    e.do("br i1 %one, label %together, label %apart")
    sums = {}
    e.do("together:")
    for name in ("s5", "s3"):
        sums[name] = e(f"call double @llvm.vector.reduce.fadd.{VECTOR.suffix}(double 0.0, {v} %{name}n)")
    only = _ratio(e, DOUBLE, sums["s5"], sums["s3"], "%size")
    e.do("br label %done")
    e.do("apart:")
    each = _ratio(e, VECTOR, "%s5n", "%s3n", e.splat("%size"))
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
    head = (
        "define internal double @error(ptr %y, ptr %z, ptr %atol, ptr %k, i64 %np, i64 %lines, i64 %chunks, i1 %one, "
        "double %rtol, double %h, double %size) {"
    )
    return "\n".join([head, "start:", *e.lines, "}", ""])


def _ratio(e: Emitter, t: Type, s5: str, s3: str, size: str) -> str:
    """s5 / sqrt((s5 + 0.01 s3) size), 0 where both vanish."""
    n = t.name
    both = e(f"call {n} @llvm.fma.{t.suffix}({n} {s3}, {n} {t.literal(0.01)}, {n} {s5})")
    root = e(f"call {n} @llvm.sqrt.{t.suffix}({n} {e(f'fmul {n} {both}, {size}')})")
    ratio = e(f"fdiv {n} {s5}, {root}")
    none = e(f"fcmp oeq {n} {both}, {t.literal(0.0)}")
    return e(f"select {t.bools} {none}, {n} {t.literal(0.0)}, {n} {ratio}")


def _largest(e: Emitter, vector: str) -> str:
    """The largest lane, NaN when there is one."""
    best = e(f"extractelement {VECTOR.name} {vector}, i32 0")
    for lane in range(1, LANES):
        x = e(f"extractelement {VECTOR.name} {vector}, i32 {lane}")
        up = e(f"or i1 {e(f'fcmp ogt double {x}, {best}')}, {e(f'fcmp uno double {x}, {x}')}")
        best = e(f"select i1 {up}, double {x}, double {best}")
    return best


def copy_function() -> str:
    before, body = Emitter(), Emitter()
    body.store(body.load("%a", "%o", VECTOR.name), "%b", "%o", VECTOR.name)
    return _over_chunks("copy", "ptr %a, ptr %b, i64 %np", before, body)


COMMON = f"""
declare double @llvm.sqrt.f64(double)
declare double @llvm.fma.f64(double, double, double)
declare {VECTOR.name} @llvm.fma.{VECTOR.suffix}({VECTOR.name}, {VECTOR.name}, {VECTOR.name})
declare {VECTOR.name} @llvm.fabs.{VECTOR.suffix}({VECTOR.name})
declare {VECTOR.name} @llvm.sqrt.{VECTOR.suffix}({VECTOR.name})
declare double @llvm.vector.reduce.fadd.{VECTOR.suffix}(double, {VECTOR.name})
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
