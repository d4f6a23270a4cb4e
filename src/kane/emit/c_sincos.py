"""The shared sine/cosine pair (rewrite/sincos.py) as C99, operation by operation, so that C and machine code agree."""

from __future__ import annotations

from kane.rewrite.sincos import DOUBLE, FLOAT


def sincos_source(kind: str, fma: str = "fma") -> str:
    """Static C functions `kane_sincos`, `kane_sin`, `kane_cos` of `kind` ("double" or "float").

    They need <math.h>, <stdint.h> and <string.h>, and a compiler that contracts nothing by itself.  `fma` is the name
    of the fused multiply-add to use.
    """
    k, tail, word = (DOUBLE, "", "uint64_t") if kind == "double" else (FLOAT, "f", "uint32_t")

    def number(value: float) -> str:
        return value.hex() + tail

    def polynomial(a: tuple[float, ...]) -> str:
        text = ""
        for n in reversed(range(0, len(a), 2)):
            pair = number(a[n]) if n + 1 == len(a) else f"{fma}(z, {number(a[n + 1])}, {number(a[n])})"
            text = f"{fma}(w, {text}, {pair})" if text else pair
        return text

    p0, p1, p2 = (number(part) for part in k.half_pi)
    return f"""\
/* sine and cosine: at most 2 units in the last place up to |x| = 1e5, the C library's beyond */
static inline void kane_sincos({kind} x, {kind} *s, {kind} *c)
{{
    const {kind} m = {fma}(x, {number(k.two_over_pi)}, {number(k.magic)}), n = {number(k.magic)} - m;
    const {kind} r = {fma}(n, {p2}, {fma}(n, {p1}, {fma}(n, {p0}, x)));
    const {kind} z = r * r, w = z * z;
    const {kind} p = {polynomial(k.sine)};
    const {kind} q = {polynomial(k.cosine)};
    const {kind} a = {fma}(r * z, p, r), b = {fma}(w, q, {fma}(z, {number(-0.5)}, {number(1.0)}));
    {word} quadrant;
    if (!(fabs{tail}(x) <= {number(k.limit)})) {{
        *s = sin{tail}(x);
        *c = cos{tail}(x);
        return;
    }}
    memcpy(&quadrant, &m, sizeof m); /* its last bits hold the nearest integer to 2 x / pi */
    *s = quadrant & 1 ? b : a;
    *c = quadrant & 1 ? a : b;
    *s = quadrant & 2 ? -*s : *s;
    *c = (quadrant + 1) & 2 ? -*c : *c;
}}
static inline {kind} kane_sin({kind} x) {{ {kind} s, c; kane_sincos(x, &s, &c); (void)c; return s; }}
static inline {kind} kane_cos({kind} x) {{ {kind} s, c; kane_sincos(x, &s, &c); (void)s; return c; }}
"""
