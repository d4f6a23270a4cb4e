"""The shared sine/cosine pair (rewrite/sincos.py) as LLVM IR for vectors of any length."""

from __future__ import annotations

from kane.native.text import Type
from kane.rewrite.sincos import DOUBLE, FLOAT, SineCosine


def sincos_function(t: Type) -> str:
    """IR of `@sincos_<lanes>(x, ptr s, ptr c)`: sines and cosines of all lanes, stored."""
    k = DOUBLE if t.scalar == "double" else FLOAT
    vector, lanes = t.name, t.lanes
    bits = f"i{lanes}"
    lines = [
        f"%size = call {vector} @llvm.fabs.{t.suffix}({vector} %x)",
        f"%far = fcmp ogt {vector} %size, {t.literal(k.limit)}",
        f"%mask = bitcast {t.bools} %far to {bits}",
        f"%any = icmp ne {bits} %mask, 0",
        "br i1 %any, label %slow, label %near, !prof !0",
        "slow:",
        f"tail call void @sincos_slow_{lanes}({vector} %x, ptr %s, ptr %c)",
        "ret void",
        "near:",
        *_straight(t, k),
        *_stored(t),
        "ret void",
    ]
    head = f"define internal void @sincos_{lanes}({vector} %x, ptr %s, ptr %c) noinline {{"
    return "\n".join([_slow_function(t), head, *("  " + line for line in lines), "}", ""])


def _slow_function(t: Type) -> str:
    """IR of `@sincos_slow_<lanes>`: the C library for the lanes that are out of range."""
    k = DOUBLE if t.scalar == "double" else FLOAT
    lines = [*_straight(t, k), *_stored(t)]
    for lane in range(t.lanes):
        take = f"extractelement {t.name} %x, i32 {lane}" if t.lanes > 1 else f"fadd {t.name} %x, {t.literal(-0.0)}"
        offset = lane * t.scalar_bytes
        lines += [
            f"%lane{lane} = {take}",
            f"%to_s{lane} = getelementptr i8, ptr %s, i64 {offset}",
            f"%to_c{lane} = getelementptr i8, ptr %c, i64 {offset}",
            f"call void @sincos_far({t.scalar} %lane{lane}, ptr %to_s{lane}, ptr %to_c{lane})",
        ]
    head = f"define internal void @sincos_slow_{t.lanes}({t.name} %x, ptr %s, ptr %c) noinline cold {{"
    return "\n".join([head, *("  " + line for line in lines), "  ret void", "}"])


def _stored(t: Type) -> list[str]:
    """Both results to where %s and %c point."""
    return [f"store {t.name} %{part}x, ptr %{part}, align {t.scalar_bytes}" for part in "sc"]


def far_function(t: Type) -> str:
    """IR of `@sincos_far(x, ptr s, ptr c)`: one element by the C library where it is beyond the limit."""
    k = DOUBLE if t.scalar == "double" else FLOAT
    n, f = t.scalar, "" if t.scalar == "double" else "f"
    return f"""define internal void @sincos_far({n} %x, ptr %s, ptr %c) noinline {{
  %size = call {n} @llvm.fabs.{t.scalar_suffix}({n} %x)
  %far = fcmp ogt {n} %size, {t.scalar_literal(k.limit)}
  br i1 %far, label %slow, label %done
slow:
  %sx = call {n} @kane_sin{f}({n} %x)
  %cx = call {n} @kane_cos{f}({n} %x)
  store {n} %sx, ptr %s, align {t.scalar_bytes}
  store {n} %cx, ptr %c, align {t.scalar_bytes}
  br label %done
done:
  ret void
}}
"""


def _straight(t: Type, k: SineCosine) -> list[str]:
    """Reduction, both polynomials, quadrant: from %x to %sx and %cx."""
    v, i = t.name, t.integers
    magic, one = t.literal(k.magic), t.integer(1)
    top = k.bits - 1

    def fma(name: str, a: str, b: str, c: str) -> str:
        return f"{name} = call {v} @llvm.fma.{t.suffix}({v} {a}, {v} {b}, {v} {c})"

    lines = [
        fma("%km", "%x", t.literal(k.two_over_pi), magic),
        f"%k = fsub {v} %km, {magic}",
        f"%m = fneg {v} %k",
        fma("%r0", "%m", t.literal(k.half_pi[0]), "%x"),
        fma("%r1", "%m", t.literal(k.half_pi[1]), "%r0"),
        fma("%r", "%m", t.literal(k.half_pi[2]), "%r1"),
        f"%z = fmul {v} %r, %r",
        f"%zz = fmul {v} %z, %z",
        *_polynomial(t, "%S", k.sine),
        *_polynomial(t, "%C", k.cosine),
        f"%rz = fmul {v} %r, %z",
        fma("%sr", "%rz", "%S", "%r"),
        fma("%half", "%z", t.literal(-0.5), t.literal(1.0)),
        fma("%cr", "%zz", "%C", "%half"),
        f"%q = bitcast {v} %km to {i}",
        f"%odd = shl {i} %q, {t.integer(top)}",
        f"%swap = icmp slt {i} %odd, {t.integer(0)}",
        f"%s1 = select {t.bools} %swap, {v} %cr, {v} %sr",
        f"%c1 = select {t.bools} %swap, {v} %sr, {v} %cr",
        f"%q1 = add {i} %q, {one}",
    ]
    for part, quadrant in (("s", "%q"), ("c", "%q1")):
        lines += [
            f"%{part}2 = shl {i} {quadrant}, {t.integer(top - 1)}",
            f"%{part}3 = and {i} %{part}2, {t.integer(-1 << top)}",
            f"%{part}4 = bitcast {v} %{part}1 to {i}",
            f"%{part}5 = xor {i} %{part}4, %{part}3",
            f"%{part}x = bitcast {i} %{part}5 to {v}",
        ]
    return lines


def _polynomial(t: Type, name: str, a: tuple[float, ...]) -> list[str]:
    """Coefficients a in %z, grouped in pairs; %zz = z z."""
    v = t.name

    def fma(result: str, x: str, y: str, z: str) -> str:
        return f"{result} = call {v} @llvm.fma.{t.suffix}({v} {x}, {v} {y}, {v} {z})"

    pairs = [a[n : n + 2] for n in range(0, len(a), 2)]
    lines, rest = [], ""
    for n, pair in reversed(list(enumerate(pairs))):
        here = name if n == 0 else f"{name}{n}"
        value = t.literal(pair[0])
        if len(pair) == 2:
            lower = f"{name}p{n}" if rest else here
            lines.append(fma(lower, "%z", t.literal(pair[1]), value))
            value = lower
        if rest:
            lines.append(fma(here, "%zz", rest, value))
            value = here
        rest = value
    return lines
