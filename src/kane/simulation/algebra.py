"""Motion under constraints as machine code for the loops of driver.py.

`@constrained(ctx, t, y, ydot)` and `@project(ctx, t, y)`.  The method is that of constraints.py; the rank is found by
Gram-Schmidt with pivoting, each chosen row made orthogonal twice (Giraud, Langou, Rozloznik and van den Eshof 2005).
Rows are contiguous, so everything is dot products and sums of rows.
"""

from __future__ import annotations

from kane.native.functions import library_table
from kane.simulation.ir import DOUBLE as _D
from kane.simulation.ir import VECTOR as _V
from kane.simulation.ir import Code

NEAR = 0.3  # smallest relative pivot below which every stage is put on the constraints before its slope is taken
RANK = 1e-10  # relative size below which a row depends on the others
OUTPUTS = ("qdot", "M values", "force", "A values", "gamma", "rates", "rest", "powers", "inertia_power")
# slots of ctx (8 bytes each)
TERMS, INPUTS, POSITIONS, NQ, NU, M, HELD, WORKS, PIVOT, SCRATCH, GROUPS, STAGE, M_AT, A_AT, SLOPE_AT = range(15)
LOAD = "<8 x double> @llvm.masked.load.v8f64.p0"
BUFFERS = 16  # addresses of the outputs of `terms`, then phi, slope, and vectors
VECTORS = ("phi", "slope values", "slope", "M", "A", "x", "b", "norms", "along", "state", "v")


def _masked(name: str, arguments: str, body: list[str], start: list[str], result: list[str], phi: str = "") -> str:
    """A loop over vectors with the last one masked."""
    lanes = ", ".join(f"i64 {k}" for k in range(8))
    lines = [f"define internal {arguments} {{", "start:", *start,
             "%some = icmp sgt i64 %n, 0", "br i1 %some, label %loop, label %end",
             "loop:", "%i = phi i64 [0, %start], [%next, %loop]"]  # fmt: skip
    if phi:
        lines.append(phi)
    lines += [
        "%left0 = sub i64 %n, %i",
        "%l1 = insertelement <8 x i64> undef, i64 %left0, i32 0",
        "%left = shufflevector <8 x i64> %l1, <8 x i64> undef, <8 x i32> zeroinitializer",
        f"%mask = icmp sgt <8 x i64> %left, <{lanes}>",
        "%ap = getelementptr double, ptr %a, i64 %i",
        "%bp = getelementptr double, ptr %b, i64 %i",
        f"%x = call {LOAD}(ptr %ap, i32 8, <8 x i1> %mask, <8 x double> zeroinitializer)",
        f"%y = call {LOAD}(ptr %bp, i32 8, <8 x i1> %mask, <8 x double> zeroinitializer)",
        *body,
        "%next = add i64 %i, 8",
        "%more = icmp slt i64 %next, %n",
        "br i1 %more, label %loop, label %end",
        "end:",
        *result,
        "}",
        "",
    ]
    del name
    return "\n".join(lines)


def _vectors() -> str:
    v, fma = _V.name, f"call {_V.name} @llvm.fma.{_V.suffix}"
    head = "\n".join(
        [
            "declare <8 x double> @llvm.masked.load.v8f64.p0(ptr, i32, <8 x i1>, <8 x double>)",
            "declare void @llvm.masked.store.v8f64.p0(<8 x double>, ptr, i32, <8 x i1>)",
            f"declare {v} @llvm.fma.{_V.suffix}({v}, {v}, {v})",
            "declare double @llvm.fabs.f64(double)",
            "declare double @llvm.sqrt.f64(double)",
            f"declare double @llvm.vector.reduce.fadd.{_V.suffix}(double, {v})",
            "",
        ]
    )
    dot = _masked(
        "dot",
        "double @dot(ptr %a, ptr %b, i64 %n)",
        [f"%sum1 = {fma}({v} %x, {v} %y, {v} %sum)"],
        [],
        [
            f"%last = phi {v} [zeroinitializer, %start], [%sum1, %loop]",
            f"%total = call reassoc double @llvm.vector.reduce.fadd.{_V.suffix}(double -0.0, {v} %last)",
            "ret double %total",
        ],
        f"%sum = phi {v} [zeroinitializer, %start], [%sum1, %loop]",
    )
    add = _masked("add", "void @add(double %s, ptr %a, ptr %b, i64 %n)", [
        f"%z = {fma}({v} %sv, {v} %x, {v} %y)",
        "call void @llvm.masked.store.v8f64.p0(<8 x double> %z, ptr %bp, i32 8, <8 x i1> %mask)",
    ], [f"%s1 = insertelement {v} undef, double %s, i32 0",
        f"%sv = shufflevector {v} %s1, {v} undef, <8 x i32> zeroinitializer"], ["ret void"])  # fmt: skip
    return head + dot + add


def _largest() -> str:
    """The largest absolute value of n numbers; NaN counts as the largest."""
    c = Code("define internal double @largest(ptr %a, i64 %n)")
    best = c.variable("double", "0.0")
    with c.loop("%n") as i:
        x, old = c.fabs(c.load("%a", i)), c.get(best)
        c.put(c(f"select i1 {c(f'fcmp ole double {x}, {old}')}, double {old}, double {x}"), best)
    return c.text(f"%r = load double, ptr {best}, align 8\nret double %r")


def _cholesky() -> str:
    """M = L Lᵀ in place, row by row; 1 when it is not positive definite."""
    c = Code("define internal i64 @cholesky(ptr %m, i64 %n)")
    with c.loop("%n") as i:
        own = c.row("%m", i, "%n")
        with c.loop(i) as j:
            other = c.row("%m", j, "%n")
            rest = c(f"fsub double {c.load(own, j)}, {c.dot(own, other, j)}")
            c.put(c(f"fdiv double {rest}, {c.load(other, j)}"), c.at(own, j))
        rest = c(f"fsub double {c.load(own, i)}, {c.dot(own, own, i)}")
        bad = c(f"fcmp ule double {rest}, 0.0")
        c.leave(bad, "i64 1")
        c.put(c(f"call double @llvm.sqrt.f64(double {rest})"), c.at(own, i))
    return c.text("ret i64 0")


def _forward() -> str:
    """L^-1 x in place."""
    c = Code("define internal void @forward(ptr %l, ptr %x, i64 %n)")
    with c.loop("%n") as i:
        own = c.row("%l", i, "%n")
        rest = c(f"fsub double {c.load('%x', i)}, {c.dot(own, '%x', i)}")
        c.put(c(f"fdiv double {rest}, {c.load(own, i)}"), c.at("%x", i))
    return c.text()


def _backward() -> str:
    """L^-T x in place."""
    c = Code("define internal void @backward(ptr %l, ptr %x, i64 %n)")
    with c.loop("%n") as k:
        i = c(f"sub i64 {c('sub i64 %n, 1')}, {k}")
        own = c.row("%l", i, "%n")
        value = c(f"fdiv double {c.load('%x', i)}, {c.load(own, i)}")
        c.put(value, c.at("%x", i))
        c.add(c(f"fneg double {value}"), own, "%x", i)
    return c.text()


def _span() -> str:
    """Move x the least so that rows . x = -rhs; returns the smallest relative pivot.

    rows (m, n) become orthonormal.
    """
    c = Code("define internal double @span(ptr %rows, ptr %rhs, ptr %norms, ptr %along, ptr %x, i64 %m, i64 %n)")
    pivot, first = c.variable("double", "1.0"), c.variable("double", "0.0")
    with c.loop("%m") as j:
        own = c.row("%rows", j, "%n")
        c.put(c.dot(own, own, "%n"), c.at("%norms", j))
    with c.loop("%m") as k:
        best, place = c.variable("double", "-1.0"), c.variable("i64", "0")
        with c.loop("%m", k) as j:
            size = c.load("%norms", j)
            with c.when(c(f"fcmp ogt double {size}, {c.get(best)}")):
                c.put(size, best)
                c.put(j, place, "i64")
        p = c.get(place, "i64")
        own, chosen = c.row("%rows", k, "%n"), c.row("%rows", p, "%n")
        with c.when(c(f"icmp ne i64 {p}, {k}")):
            with c.loop("%n") as i:
                a, b = c.load(own, i), c.load(chosen, i)
                c.put(a, c.at(chosen, i))
                c.put(b, c.at(own, i))
            for base in ("%rhs", "%norms"):
                a, b = c.load(base, k), c.load(base, p)
                c.put(a, c.at(base, p))
                c.put(b, c.at(base, k))
        with c.loop(k) as i:  # once more
            before = c.row("%rows", i, "%n")
            r = c.dot(before, own, "%n")
            c.add(c(f"fneg double {r}"), before, own, "%n")
            shift = c(f"fmul double {r}, {c.load('%along', i)}")
            c.put(c(f"fadd double {c.load('%rhs', k)}, {shift}"), c.at("%rhs", k))
        size = c(f"call double @llvm.sqrt.f64(double {c.dot(own, own, '%n')})")
        with c.when(c(f"icmp eq i64 {k}, 0")):
            c.put(size, first)
        relative = c(f"fdiv double {size}, {c.get(first)}")
        dependent = c(f"fcmp ule double {relative}, {_D.literal(RANK)}")
        out, on = c.name(), c.name()
        c.do(f"br i1 {dependent}, label %{out}, label %{on}")
        c.do(f"{out}:")
        c.do(f"ret double {c.get(pivot)}")
        c.do(f"{on}:")
        c.put(relative, pivot)
        inverse = c(f"fdiv double 1.0, {size}")
        with c.loop("%n") as i:
            c.put(c(f"fmul double {c.load(own, i)}, {inverse}"), c.at(own, i))
        target = c(f"fneg double {c.load('%rhs', k)}")
        along = c(f"fmul double {target}, {inverse}")
        c.put(along, c.at("%along", k))
        push = c(f"fsub double {along}, {c.dot(own, '%x', '%n')}")
        c.add(push, own, "%x", "%n")
        with c.loop("%m", c(f"add i64 {k}, 1")) as j:
            other = c.row("%rows", j, "%n")
            r = c.dot(own, other, "%n")
            c.add(c(f"fneg double {r}"), own, other, "%n")
            c.put(c.dot(other, other, "%n"), c.at("%norms", j))
            shift = c(f"fmul double {r}, {along}")
            c.put(c(f"fadd double {c.load('%rhs', j)}, {shift}"), c.at("%rhs", j))
    return c.text(f"%r = load double, ptr {pivot}, align 8\nret double %r")


def _context(c: Code) -> dict[str, str]:
    """Fields of ctx by name."""
    made = {
        n: c.load("%ctx", k, "ptr")
        for n, k in (("terms", TERMS), ("f", INPUTS), ("positions", POSITIONS), ("groups", GROUPS))
    }
    sizes = (("nq", NQ), ("nu", NU), ("m", M), ("held", HELD), ("works", WORKS))
    made |= {n: c.load("%ctx", k, "i64") for n, k in sizes}
    return made | {n: c.load("%ctx", BUFFERS + k, "ptr") for k, n in enumerate((*OUTPUTS, *VECTORS))}


def _terms(c: Code, s: dict[str, str], y: str) -> None:
    outs = ", ".join(f"ptr {s[n]}" for n in OUTPUTS)
    n, m = s["nu"], s["m"]
    c.do(f"call void {s['terms']}(ptr {y}, ptr %t, ptr {s['f']}, {outs})")
    _spread(c, s, "M", M_AT, c(f"mul i64 {n}, {n}"))
    _spread(c, s, "A", A_AT, c(f"mul i64 {m}, {n}"))


def _spread(c: Code, s: dict[str, str], name: str, table: int, size: str) -> None:
    """Zero a matrix and put in the elements that are not zero."""
    place, values = s[name], s[f"{name} values"]
    blocks = c(f"lshr i64 {c(f'add i64 {size}, 7')}, 3")
    with c.loop(blocks) as k:
        c.do(f"store <8 x double> zeroinitializer, ptr {c.at(place, c(f'shl i64 {k}, 3'))}, align 8")
    at = c.load("%ctx", table, "ptr")
    first = c.at(at, 1)
    with c.loop(c.load(at, 0, "i64")) as k:
        c.put(c.load(values, k), c.at(place, c.load(first, k, "i64")))


def _constrained() -> str:
    c = Code("define void @constrained(ptr %ctx, ptr %t, ptr %y, ptr %dy)")
    s = _context(c)
    n, nq, m = s["nu"], s["nq"], s["m"]
    close = c(f"fcmp olt double {c.load('%ctx', PIVOT)}, {_D.literal(NEAR)}")
    wanted = c(f"icmp ne i64 {c.load('%ctx', STAGE, 'i64')}, 0")
    staged = c(f"and i1 {close}, {wanted}")
    place = c.variable("ptr", "%y")
    with c.when(staged):
        speeds_and_works = c(f"add i64 {n}, {s['works']}")
        with c.loop(c(f"add i64 {nq}, {speeds_and_works}")) as i:
            c.put(c.load("%y", i), c.at(s["state"], i))
        c(f"call i64 @project(ptr %ctx, ptr %t, ptr {s['state']})")
        c.put(s["state"], place, "ptr")
    y = c.get(place, "ptr")
    _terms(c, s, y)
    with c.loop(nq) as i:
        c.put(c.load(s["qdot"], i), c.at("%dy", i))
    u, udot, work = c.at(y, nq), c.at("%dy", nq), c.at("%dy", c(f"add i64 {nq}, {n}"))
    with c.loop(n) as i:
        c.put(c.load(s["force"], i), c.at(udot, i))
    failed = c(f"call i64 @cholesky(ptr {s['M']}, i64 {n})")
    with c.when(c(f"icmp ne i64 {failed}, 0")):
        c.put(_D.literal(float("nan")), udot)
    c.do(f"call void @forward(ptr {s['M']}, ptr {udot}, i64 {n})")
    with c.loop(m) as k:
        c.do(f"call void @forward(ptr {s['M']}, ptr {c.row(s['A'], k, n)}, i64 {n})")
    with c.loop(n) as i:  # -L^-1 F, to be taken from x for the constraints' power
        c.put(c(f"fneg double {c.load(udot, i)}"), c.at(s["x"], i))
    pivot = _call_span(c, s, (s["A"], s["gamma"], udot), (m, n))
    c.put(pivot, c.at("%ctx", PIVOT))
    c.add("1.0", udot, s["x"], n)
    with c.loop(n) as i:  # v = Lᵀ u
        c.put("0.0", c.at(s["v"], i))
    with c.loop(n) as i:
        c.add(c.load(u, i), c.row(s["M"], i, n), s["v"], c(f"add i64 {i}, 1"))
    power = c.dot(s["x"], s["v"], n)
    c.do(f"call void @backward(ptr {s['M']}, ptr {udot}, i64 {n})")
    with c.loop(s["works"]) as i:
        c.put(c.load(s["powers"], i), c.at(work, i))
    moved = c(f"fadd double {c.dot(s['inertia_power'], udot, n)}, {c.load(s['powers'], 2)}")
    c.put(c(f"fadd double {moved}, {power}"), c.at(work, 2))
    return c.text()


def _project() -> str:
    """Newton's method on the coordinates, then on the speeds, with least changes.

    Returns 0 always: the residual is judged outside.
    """
    c = Code("define i64 @project(ptr %ctx, ptr %t, ptr %y)")
    s = _context(c)
    n, nq, m, held = s["nu"], s["nq"], s["m"], s["held"]
    before = c.variable("double", "0x7FF0000000000000")
    done = c.variable("i1", c(f"icmp eq i64 {held}, 0"))
    with c.loop(8), c.when(c(f"xor i1 {c.get(done, 'i1')}, true")):
        c.do(f"call void {s['positions']}(ptr %y, ptr %t, ptr {s['f']}, ptr {s['phi']}, ptr {s['slope values']})")
        _spread(c, s, "slope", SLOPE_AT, c(f"mul i64 {held}, {nq}"))
        _newton(c, s, before, done, s["phi"], held, "%y", nq, s["slope"])
        count = c.load(s["groups"], 0, "i64")
        with c.loop(count) as k:
            start = c.load(s["groups"], c(f"add i64 {k}, 1"), "i64")
            group = c.at("%y", start)
            size = c(f"call double @llvm.sqrt.f64(double {c.dot(group, group, '4')})")
            with c.loop(4) as i:
                c.put(c(f"fdiv double {c.load(group, i)}, {size}"), c.at(group, i))
    u = c.at("%y", nq)
    c.put("0x7FF0000000000000", before)
    c.put("false", done, "i1")
    with c.loop(6), c.when(c(f"xor i1 {c.get(done, 'i1')}, true")):
        _terms(c, s, "%y")
        _newton(c, s, before, done, s["rates"], m, u, n, s["A"])
    return c.text("ret i64 0")


def _call_span(c: Code, s: dict[str, str], arrays: tuple[str, str, str], shape: tuple[str, str]) -> str:
    """Call span on rows, right sides and x."""
    rows, rhs, x = arrays
    places = f"ptr {rows}, ptr {rhs}, ptr {s['norms']}, ptr {s['along']}, ptr {x}"
    return c(f"call double @span({places}, i64 {shape[0]}, i64 {shape[1]})")


def _newton(  # noqa: PLR0913
    c: Code, s: dict[str, str], before: str, done: str, residual: str, m: str, x: str, n: str, slope: str
) -> None:
    """One step of x, unless the residual is at rounding level already."""
    size = c(f"call double @largest(ptr {residual}, i64 {m})")
    scale = c(f"fadd double 1.0, {c(f'call double @largest(ptr {x}, i64 {n})')}")
    tiny = c(f"fcmp ule double {size}, {c(f'fmul double {scale}, {_D.literal(1e-16)}')}")
    stalled = c(f"fcmp oge double {size}, {c(f'fmul double {c.get(before)}, 0.5')}")
    low = c(f"fcmp olt double {size}, {c(f'fmul double {scale}, {_D.literal(1e-12)}')}")
    c.put(c(f"or i1 {tiny}, {c(f'and i1 {stalled}, {low}')}"), done, "i1")
    c.put(size, before)
    with c.when(c(f"xor i1 {c.get(done, 'i1')}, true")):
        with c.loop(n) as i:
            c.put("0.0", c.at(s["b"], i))
        _call_span(c, s, (slope, residual, s["b"]), (m, n))
        c.add("1.0", s["b"], x, n)


def constrained_source() -> str:
    """IR of the module."""
    parts = [library_table(_D, ()), _vectors(), _largest(), _cholesky(), _forward(), _backward(), _span()]
    return "\n".join([*parts, _constrained(), _project()])
