"""Steps across singular configurations of constraints, as LLVM IR."""

from __future__ import annotations

from kane.simulation.ir import DOUBLE, Emitter, bump
from kane.simulation.slots import CROSSING, NFEV, PIVOT, PIVOT_1, PIVOT_2, PIVOT_AT, RTOL, T_1, T_2


def plan_function() -> str:  # noqa: PLR0915 (straight code)
    """A step size that keeps the stages away from a singular configuration of the constraints.

    The smallest pivot falls to zero there; its zero, by the parabola through three steps and a look ahead, is put into
    a gap between the nodes of the stages (0 to 0.0526, 0.1183 to 0.25, 0.3333 to 0.6 or 0.6513 to 0.8571 of the step),
    and a step that would end near it is halved.  CROSSING is the error that a step may have, relative to the
    tolerances: near the singular configuration rounding is amplified.
    """
    high = DOUBLE.literal(0.754)
    e = Emitter()
    pivot, rtol = e.load("%control", PIVOT), e.load("%control", RTOL)
    noisy = e(f"fcmp olt double {pivot}, {DOUBLE.literal(0.2)}")
    some = e(f"fdiv double {DOUBLE.literal(1e-10)}, {rtol}")
    some = e(f"select i1 {e(f'fcmp ogt double {some}, 1.0')}, double {some}, double 1.0")
    some = e(f"select i1 {noisy}, double {some}, double 1.0")
    e.store(some, "%control", CROSSING)
    p, p1, p2, t1, t2 = (e.load("%control", k) for k in (PIVOT, PIVOT_1, PIVOT_2, T_1, T_2))
    has = e(f"icmp ne i64 {e.load('%control', PIVOT_AT, 'i64')}, 0")
    slope = e(f"fdiv double {e(f'fsub double {p}, {p1}')}, {e(f'fsub double %t, {t1}')}")
    earlier = e(f"fdiv double {e(f'fsub double {p1}, {p2}')}, {e(f'fsub double {t1}, {t2}')}")
    bend = e(f"fdiv double {e(f'fsub double {slope}, {earlier}')}, {e(f'fsub double %t, {t2}')}")
    bend = e(f"select i1 {e(f'fcmp uno double {bend}, {bend}')}, double 0.0, double {bend}")  # two steps only
    gap = e(f"fsub double %t, {t1}")
    rate = e(f"call double @llvm.fma.f64(double {bend}, double {gap}, double {slope})")  # of the parabola at t
    four = e(f"fmul double {e(f'fmul double {bend}, {p}')}, 4.0")
    under = e(f"fsub double {e(f'fmul double {rate}, {rate}')}, {four}")
    root = e(f"call double @llvm.sqrt.f64(double {under})")
    d = e(f"fdiv double {e(f'fmul double {p}, 2.0')}, {e(f'fsub double {root}, {rate}')}")
    falls = e(f"fcmp olt double {rate}, 0.0")
    close = e(f"fcmp olt double {p}, {DOUBLE.literal(0.4)}")
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
    bump(e, NFEV, 2)
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
    far = e(f"fcmp oge double {x}, {DOUBLE.literal(1.4)}")
    beyond = e(f"fcmp ogt double {x}, {high}")
    crossing = e(f"fdiv double {d}, {high}")
    for place in (0.4665, 0.184, 0.026):  # the earlier the place, the wider for its distance
        fits = e(f"fcmp ole double {x}, {DOUBLE.literal(place)}")
        crossing = e(f"select i1 {fits}, double {e(f'fdiv double {d}, {DOUBLE.literal(place)}')}, double {crossing}")
    near = e(f"select i1 {beyond}, double {e(f'fmul double {d}, 0.5')}, double {crossing}")
    chosen = e(f"select i1 {far}, double %h, double {near}")
    allowed = e(f"fdiv double {DOUBLE.literal(1e-8)}, {e.load('%control', RTOL)}")
    allowed = e(f"select i1 {e(f'fcmp ogt double {allowed}, 1.0')}, double {allowed}, double 1.0")
    e.store(e(f"select i1 {beyond}, double {some}, double {allowed}"), "%control", CROSSING)
    ok = e(f"fcmp ogt double {chosen}, {e(f'fmul double %h, {DOUBLE.literal(1e-3)}')}")
    e.do(f"ret double {e(f'select i1 {ok}, double {chosen}, double %h')}")
    head = (
        "define internal double @plan(ptr %control, double %t, double %h, ptr %f, ptr %ctx, ptr %y, ptr %k, ptr %x, "
        "i64 %np, ptr %time) {"
    )
    return "\n".join([head, "start:", *e.lines, "}", ""])
