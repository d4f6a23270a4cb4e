"""The residue field: primes, the circle group, angles, unit quaternions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sympy import isprime

from kane.graph.field import SMOOTH, Field, is_prime, random_prime

FIELDS = [Field.make(), Field.random(1), Field.random(2)]
rationals = st.fractions(-10, 10, max_denominator=10**6)


@pytest.mark.parametrize("field", FIELDS)
def test_prime_and_generator(field: Field) -> None:
    """The prime is one (by another library), 90 bits, and angles can be divided by the divisors of 5040 and by 48."""
    p = field.prime
    assert isprime(p)
    assert p.bit_length() == 90
    assert p % 4 == 3
    assert (p + 1) % (48 * SMOOTH) == 0
    c, s = field.generator
    assert (c * c + s * s) % p == 1


def test_primality_test_agrees() -> None:
    for n in [*range(200), 561, 41041, 825265, 2**61 - 1, 2**61 + 1, random_prime(5), random_prime(5) + 2]:
        assert is_prime(n) == isprime(n), n


def test_primes_are_reproducible_and_differ() -> None:
    assert random_prime(3) == random_prime(3) != random_prime(4)


@given(a=rationals, b=rationals)
def test_numbers_are_a_ring_homomorphism(a: Fraction, b: Fraction) -> None:
    for field in FIELDS:
        p = field.prime
        assert field.number(a + b) == (field.number(a) + field.number(b)) % p
        assert field.number(a * b) == field.number(a) * field.number(b) % p


@given(name=st.text(max_size=5), k=st.integers(-20, 20))
def test_angles_add(name: str, k: int) -> None:
    """cos and sin of a sum; a fraction of an angle times its denominator is the angle."""
    for field in FIELDS:
        p = field.prime
        a, b = field.angle_symbol(name), field.angle_symbol((name, 1))
        (ca, sa), (cb, sb) = field.circle(a), field.circle(b)
        assert (ca * ca + sa * sa) % p == 1
        assert field.circle(a + b) == ((ca * cb - sa * sb) % p, (sa * cb + ca * sb) % p)
        assert field.circle(k * a)[0] == field.circle(-k * a)[0]
        third = field.scaled_angle(a, Fraction(1, 3))
        assert third is not None
        assert 3 * third == a


def test_fractions_beyond_the_smooth_number_are_refused() -> None:
    field = FIELDS[0]
    assert field.scaled_angle(field.angle_symbol("x"), Fraction(1, 11)) is None


@pytest.mark.parametrize("field", FIELDS)
def test_turns(field: Field) -> None:
    """pi/2, pi, pi/6 and multiples; radians are free of pi."""
    p = field.prime
    assert field.circle(field.turn(Fraction(1, 2), Fraction(0))) == (0, 1)
    assert field.circle(field.turn(Fraction(1), Fraction(0))) == (p - 1, 0)
    assert field.circle(field.turn(Fraction(1, 6), Fraction(0)))[1] * 2 % p == 1
    one, two = (field.circle(field.turn(Fraction(0), Fraction(k, 10))) for k in (1, 2))
    assert two[0] == (2 * one[0] ** 2 - 1) % p


@pytest.mark.parametrize("field", FIELDS)
def test_unit_quaternion(field: Field) -> None:
    point = field.unit_quaternion(("a", "b"))
    assert sum(x * x for x in point) % field.prime == 1
    assert field.unit_quaternion(("a", "c")) != point


@pytest.mark.parametrize("name", ["q1", "it's", 'a "b"', "Größe", ""])
def test_symbols_and_angles_are_hashes(name: str) -> None:
    for field in FIELDS:
        assert field.symbol(name) == field.hash("symbol", name)
        assert field.angle_symbol(name) == field.hash("angle", name) // SMOOTH * SMOOTH
