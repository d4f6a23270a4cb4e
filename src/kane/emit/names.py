"""Safe code names: a user's name is kept for display and gets one identifier that every target language accepts.

One table serves all targets, so the same quantity has the same name in C, Python, MATLAB, Julia and Rust.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_LENGTH = 48  # MATLAB reads 63 characters, C99 guarantees 63; room for prefixes and suffixes

# keywords, and the functions and constants that generated code calls or that headers declare
_RESERVED = """
sines cosines moveaxis
jac hess null
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main assert errno
bool complex imaginary alignas alignof and and_eq asm bitand bitor catch class compl concept consteval constexpr
constinit const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export friend mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires static_assert
static_cast template this thread_local throw true false try typeid typename using virtual wchar_t char8_t char16_t
char32_t xor xor_eq std False None True as async await def del elif except finally from global import in is lambda
nonlocal pass raise with yield match type print len range abs all any bytes dict dir format hash hex id input iter
list map max min next object oct ord pow repr round self set slice sorted str sum super tuple vars zip np numpy jnp
jax lax casadi ca math array asarray stack shape where zeros ones dtype function end elseif otherwise parfor
persistent spmd arguments classdef events methods properties i j pi eps inf nan Inf NaN ans nargin nargout varargin
varargout size numel eye single reshape cat horzcat vertcat endfunction endif endwhile endfor end_try_catch
unwind_protect until error warning disp fprintf isnan Infinity NA baremodule begin ccall let local macro module quote
abstract primitive outer im muladd Float64 Float32 Int Vector Matrix Array eltype length nothing missing push ifelse
crate dyn fn impl loop mod move mut pub ref Self trait unsafe use become box final override priv typeof unsized gen
f32 f64 usize isize i8 i16 i32 i64 u8 u16 u32 u64 vec String Vec Option Some Ok Err acos asin atan atan2 cos sin tan
acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p log2 logb modf scalbn scalbln cbrt
fabs hypot sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint lround llround trunc fmod remainder
remquo copysign nextafter nexttoward fdim fmax fmin fma fpclassify isfinite isinf isnormal signbit isgreater
isgreaterequal isless islessequal islessgreater isunordered j0 j1 jn y0 y1 yn gamma signgam scalb significand drem
finite power rem sign select arctan2 arcsin arccos arctan minimum maximum mul_add double_t float_t float32 float64
HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN FP_FAST_FMA math_errhandling M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2
M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 linux unix I NULL EOF stdin stdout stderr printf exit abort labs div
ldiv time clock rand srand near far interface small huge
"""
_MATH = """
acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 log1p
log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint
round lround llround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma
"""  # each has a variant for float and for long double
RESERVED = frozenset(_RESERVED.split()) | {name + v for name in _MATH.split() for v in "fl"}


@dataclass(frozen=True, slots=True)
class Names:
    """The table between users' names and code names: `code[user]` and back by `user_of`; `reserved` is avoided."""

    pairs: tuple[tuple[str, str], ...]
    reserved: frozenset[str]

    @property
    def code(self) -> dict[str, str]:
        return dict(self.pairs)

    def user_of(self, code: str) -> str:
        """The user's name behind a code name; KeyError when there is none."""
        return {c: u for u, c in self.pairs}[code]

    @property
    def changed(self) -> tuple[tuple[str, str], ...]:
        """The pairs whose code name differs from the user's."""
        return tuple((u, c) for u, c in self.pairs if u != c)

    def prefix(self, candidates: Sequence[str] = ("t", "v", "w", "z")) -> str:
        """A prefix such that prefix + number is nobody's name."""
        taken = [c for _, c in self.pairs] + sorted(self.reserved)
        free = (p for p in (*candidates, *(c + "_" for c in candidates), *(c * 3 + "_" for c in candidates)))
        return next(p for p in free if not any(re.fullmatch(re.escape(p) + r"\d+", name) for name in taken))


def make_names(users: Iterable[str], reserved: Iterable[str] = ()) -> Names:
    """One distinct code name for each user's name; names that are already safe keep themselves.

    The result depends on the names and their order only.
    """
    avoid = frozenset(reserved)
    order = tuple(dict.fromkeys(users))
    taken = {user for user in order if safe_name(user) == user and user not in avoid}
    code: dict[str, str] = {user: user for user in taken}
    for user in order:
        if user not in code:
            stem, n = safe_name(user), 1
            name = stem if stem not in avoid else stem + "_"
            while name in taken or name in avoid:
                n += 1
                name = f"{stem}_{n}"
            taken.add(name)
            code[user] = name
    return Names(tuple((user, code[user]) for user in order), avoid)


def safe_name(user: str) -> str:
    """An identifier for this name: ASCII letters, digits and single underscores, starting with a letter, no keyword."""
    text = "".join(_ascii(ch) for ch in user)
    text = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", text))
    if text != user or not text or not text[0].isalpha():
        text = text.strip("_")
    if not text or not text[0].isalpha():
        text = f"n{text}"
    text = text[:MAX_LENGTH]
    return f"{text.rstrip('_')}_" if text in RESERVED else text


def _ascii(ch: str) -> str:
    """Letters without accents, Greek letters spelled out, other letters by their code point."""
    if ch.isascii():
        return ch
    name = unicodedata.name(ch, "")
    greek = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)", name)
    if greek:
        return greek[2].lower() if greek[1] == "SMALL" else greek[2].capitalize()
    plain = "".join(c for c in unicodedata.normalize("NFKD", ch) if c.isascii() and c.isalnum())
    return plain or (f"u{ord(ch):x}" if ch.isalnum() else "_")


def comment_text(text: str) -> str:
    """Text on one line that no target's comment trips over: what a comment cannot hold is shown as <code point>."""
    text = re.sub(r"[\r\n\t\v\f]", " ", text)
    out = "".join(_shown(ch) if unicodedata.category(ch)[0] == "C" else ch for ch in text)
    for mark in ("*/", "/*", "??", '""', "#=", "=#"):
        while mark in out:
            out = out.replace(mark, mark[0] + _shown(mark[1]))
    return out[:-1] + _shown("\\") if out.endswith("\\") else out


def _shown(ch: str) -> str:
    return f"<{ord(ch):x}>"
