"""The sine/cosine pair that machine code and printed code share, so that they agree to the last bit.

Cody and Waite's reduction with fused multiply-add, then a polynomial each on |r| <= pi/4:

    k = nearest integer to x 2/pi        r = ((x - k P0) - k P1) - k P2
    z = r r                              s = r + (r z) S(z)      c = (1 - z/2) + (z z) C(z)
    sin x = (s, c, -s, -c)[k mod 4]      cos x = (c, -s, -c, s)[k mod 4]

Every product that meets a sum is one fma; polynomials are grouped in pairs, w = z z:
(a0 + a1 z) + w ((a2 + a3 z) + w (a4 + a5 z)).
k comes from adding a large number whose last bits hold it (`magic`), so NaN and infinities pass without a conversion.
Above |x| = `limit` callers take the C library's functions, per element.  At most 2 units in the last place below.

Coefficients: minimax in the relative error of sine and the absolute error of cosine (Remez's exchange with 60 digits),
errors 2^-58.0 and 2^-64.2 (double), 2^-27.9 and 2^-33.1 (float).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SineCosine:
    """Constants of one precision; `bits` is the width of the number."""

    bits: int
    limit: float
    two_over_pi: float
    magic: float
    half_pi: tuple[float, float, float]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


def _hex(*digits: str) -> tuple[float, ...]:
    return tuple(float.fromhex(d) for d in digits)


DOUBLE = SineCosine(
    bits=64,
    limit=1e5,
    two_over_pi=float.fromhex("0x1.45f306dc9c883p-1"),
    magic=1.5 * 2.0**52,
    half_pi=(
        float.fromhex("0x1.921fb54442d18p+0"),
        float.fromhex("0x1.1a62633145c07p-54"),
        float.fromhex("-0x1.f1976b7ed8fbcp-110"),
    ),
    sine=_hex(
        "-0x1.5555555555549p-3", "0x1.111111110f87ap-7", "-0x1.a01a019c119c6p-13",
        "0x1.71de3577b880bp-19", "-0x1.ae5e663b93be6p-26", "0x1.5d93012bb90d6p-33",
    ),
    cosine=_hex(
        "0x1.555555555554cp-5", "-0x1.6c16c16c1517ep-10", "0x1.a01a019cb1be8p-16",
        "-0x1.27e4f809f0cafp-22", "0x1.1ee9ebe913b28p-29", "-0x1.8fae9c54198fcp-37",
    ),
)

FLOAT = SineCosine(
    bits=32,
    limit=1e5,
    two_over_pi=float.fromhex("0x1.45f306p-1"),
    magic=1.5 * 2.0**23,
    half_pi=(float.fromhex("0x1.921fb6p+0"), float.fromhex("-0x1.777a5cp-25"), float.fromhex("-0x1.ee59dap-50")),
    sine=_hex("-0x1.5555440000000p-3", "0x1.1106fc0000000p-7", "-0x1.992c060000000p-13"),
    cosine=_hex("0x1.55554a0000000p-5", "-0x1.6c0c220000000p-10", "0x1.99e33a0000000p-16"),
)
