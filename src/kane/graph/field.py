"""Residues: where every value of the graph is evaluated exactly, at one random point modulo a prime.

Two expressions are equal as functions when their residues agree (Schwartz and Zippel 1979-80: a false match has
probability below degree / prime, here under 1e-24 a pair).  Angles are carried as exponents of a generator of the
circle group {c + s i : c^2 + s^2 = 1}, cyclic of order p + 1 for p = 3 mod 4.  So c^2 + s^2 = 1, sums of angles and
multiples of pi hold exactly among the residues; functions that are not polynomial are uninterpreted: the residue of
f(x) is a hash of the residue of x.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from fractions import Fraction
from hashlib import blake2b

SMOOTH = 5040  # angles may be divided by its divisors and stay exact
_DEFAULT_PRIME = 1104098321633239358243516159  # 90 bits, p + 1 divisible by 48 * SMOOTH; see tests/graph/test_field.py
_RADIAN_UNIT = 10**18
_BLANK = blake2b(digest_size=24)


def is_prime(n: int, rounds: int = 24) -> bool:
    """Miller and Rabin's test with fixed pseudo-random bases."""
    if n < 4 or n % 2 == 0:
        return n in (2, 3)
    d, r = n - 1, 0
    while d % 2 == 0:
        d, r = d // 2, r + 1
    bases = random.Random(n)
    for _ in range(rounds):
        x = pow(bases.randrange(2, n - 1), d, n)
        if x in (1, n - 1):
            continue
        for _ in range(r - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def random_prime(seed: int, bits: int = 90) -> int:
    """A prime p of the given size with p + 1 divisible by 48 * SMOOTH, from the seed."""
    source = random.Random(f"kane prime {seed}")
    step = 48 * SMOOTH
    while True:
        candidate = step * source.randrange(2 ** (bits - 1) // step, 2**bits // step) - 1
        if is_prime(candidate):
            return candidate


@dataclass(frozen=True, slots=True)
class Field:
    """Integers modulo `prime` with one random point, chosen by `seed`, for all symbols.

    powers: generator ** (d * 64 ** k) at [k][d], so that a power costs one product for six bits of its exponent.
    """

    prime: int
    seed: int
    generator: tuple[int, int]
    powers: tuple[tuple[tuple[int, int], ...], ...] = dataclass_field(default=(), compare=False, repr=False)

    @staticmethod
    def make(prime: int = _DEFAULT_PRIME, seed: int = 0) -> Field:
        """A field whose circle generator has an order divisible by 48 * SMOOTH (tested on its prime factors)."""
        trial = Field(prime, seed, (1, 0))
        for k in range(1000):
            t = trial.hash("generator", k)
            g = trial._circle_from(t)
            order = prime + 1
            if all(trial._power(g, order // f) != (1, 0) for f in (2, 3, 5, 7)):
                positive = trial._power(g, order // 4) == (0, 1)  # sin(pi/2) = +1
                g = g if positive else (g[0], -g[1] % prime)
                return Field(prime, seed, g, _power_table(g, prime))
        raise AssertionError("no generator of the circle group found")

    @staticmethod
    def random(seed: int) -> Field:
        """A field with another prime and another point, for proofs independent of the default one."""
        return Field.make(random_prime(seed), seed)

    def hash(self, *parts: object) -> int:
        """A residue that depends on the parts and the seed only (not on Python's hash seed)."""
        return self._hash(repr((self.seed, parts)))

    def symbol(self, name: str) -> int:
        """hash("symbol", name), sooner."""
        digest = _BLANK.copy()
        digest.update(f"({self.seed}, ('symbol', {name!r}))".encode())
        return int.from_bytes(digest.digest(), "little") % self.prime

    def _hash(self, text: str) -> int:
        digest = _BLANK.copy()
        digest.update(text.encode())
        return int.from_bytes(digest.digest(), "little") % self.prime

    def number(self, value: Fraction) -> int:
        """The residue of a rational number."""
        if value.denominator == 1:
            return value.numerator % self.prime
        return value.numerator * pow(value.denominator, -1, self.prime) % self.prime

    def inverse(self, value: int) -> int:
        return pow(value, -1, self.prime)

    # angles as exponents modulo p + 1

    def angle_symbol(self, name: object) -> int:
        """The exponent of a free angle, divisible by SMOOTH so that simple fractions of it stay exact."""
        return self._hash(f"({self.seed}, ('angle', {name!r}))") // SMOOTH * SMOOTH

    def scaled_angle(self, exponent: int, factor: Fraction) -> int | None:
        """The exponent of factor * angle, or None when the fraction is outside SMOOTH."""
        scaled, rest = divmod(exponent * factor.numerator, factor.denominator)
        if rest or SMOOTH % factor.denominator:
            return None
        return scaled

    def turn(self, halves: Fraction, radians: Fraction) -> int:
        """The exponent of the fixed angle halves * pi + radians."""
        half = Fraction((self.prime + 1) // 2) * halves
        exponent = half.numerator if half.denominator == 1 else self.hash("pi", halves)
        if radians:
            units = radians * _RADIAN_UNIT
            unit = self.hash("radian")
            exponent += units.numerator * unit if units.denominator == 1 else self.hash("radians", radians)
        return exponent

    def circle(self, exponent: int) -> tuple[int, int]:
        """(cos, sin) of the angle with this exponent."""
        p, n = self.prime, exponent % (self.prime + 1)
        c, s = 1, 0
        for row in self.powers:
            x, y = row[n & 63]
            c, s = (c * x - s * y) % p, (c * y + s * x) % p
            n >>= 6
            if not n:
                break
        return c, s

    def unit_quaternion(self, name: object) -> tuple[int, int, int, int]:
        """A random point of the unit sphere of quaternions, by stereographic projection."""
        p = self.prime
        a, b, c = (self.hash("quaternion", name, k) for k in range(3))
        square = (a * a + b * b + c * c) % p
        scale = self.inverse(square + 1)
        return ((1 - square) * scale % p, 2 * a * scale % p, 2 * b * scale % p, 2 * c * scale % p)

    def _circle_from(self, t: int) -> tuple[int, int]:
        p = self.prime
        scale = pow(1 + t * t, -1, p)
        return (1 - t * t) * scale % p, 2 * t * scale % p

    def _power(self, z: tuple[int, int], n: int) -> tuple[int, int]:
        p = self.prime
        c, s, x, y = 1, 0, z[0], z[1]
        while n:
            if n & 1:
                c, s = (c * x - s * y) % p, (c * y + s * x) % p
            x, y = (x * x - y * y) % p, 2 * x * y % p
            n >>= 1
        return c, s


def _power_table(g: tuple[int, int], p: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    rows = []
    for _ in range((p.bit_length() + 6) // 6):
        row = [(1, 0)]
        for _ in range(64):
            c, s = row[-1]
            row.append(((c * g[0] - s * g[1]) % p, (c * g[1] + s * g[0]) % p))
        rows.append(tuple(row[:64]))
        g = row[64]
    return tuple(rows)


DEFAULT_FIELD = Field.make()
