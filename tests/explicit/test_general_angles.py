"""Explicit models of arms whose fixed angles are general: rounding is told and bounded, text stays readable."""

from __future__ import annotations

import random
import re
import time
from fractions import Fraction

import numpy as np
import pytest

import kane
from kane.errors import UnsupportedError
from kane.explicit.algebra import NEAR_ANGLE, Atoms
from kane.explicit.model import explicit_model
from kane.explicit.text import page
from kane.graph.arena import Graph
from kane.mechanism.formula import PI
from kane.mechanism.model import Inertia, Joint, Link, Mechanism, Translate, Turn
from kane.native import compile_program
from kane.rewrite import factor

mp = pytest.importorskip("mpmath")
ZERO = Fraction(0)


def arm(joints: int, seed: int) -> Mechanism:
    """A chain of turns at general angles to each other."""
    r = random.Random(seed)

    def d(low: float, high: float) -> Fraction:
        return Fraction(r.randint(round(100 * low), round(100 * high)), 100)

    links, made = [Link("base")], []
    for k in range(joints):
        moments = (d(0.03, 0.04), ZERO, ZERO, d(0.03, 0.04), ZERO, d(0.02, 0.03))
        links.append(Link(f"l{k}", Inertia(d(1, 4), (d(-0.1, 0.1), ZERO, d(0.05, 0.2)), moments)))
        place = (Translate((d(-0.3, 0.3), ZERO, d(0, 0.3))), Turn(2, d(-1, 1)), Turn(0, d(-1.5, 1.5)))
        made.append(Joint(f"j{k}", "revolute", links[-2].name, f"l{k}", place))
    return Mechanism(f"general{joints}", tuple(links), tuple(made))


def test_rounded_angles_are_within_what_is_said() -> None:
    """Against fifty digits: decimals of many turns, rational parts of pi, roots."""
    r = random.Random(0)
    angles = [Fraction(r.randint(-(10**9), 10**9), 10 ** r.randint(1, 9)) for _ in range(300)]
    angles += [PI * Fraction(r.randint(-50, 50), 7) for _ in range(30)]
    with mp.workdps(50):
        for angle in angles:
            atoms = Atoms({})
            c, s = (Fraction(x.get(0, 0)) for x in atoms.cos_sin(angle))
            assert c * c + s * s == 1
            if not atoms.rounding:
                continue
            if isinstance(angle, Fraction):
                exact = mp.mpf(angle.numerator) / angle.denominator
            else:
                exact = mp.pi * mp.nint(7 * angle.evaluate({}) / mp.pi) / 7
            x, y = (mp.mpf(v.numerator) / v.denominator for v in (c, s))
            off = mp.atan2(y * mp.cos(exact) - x * mp.sin(exact), x * mp.cos(exact) + y * mp.sin(exact))
            assert abs(off) < NEAR_ANGLE == atoms.rounding, angle


@pytest.mark.parametrize("seed", range(3))
def test_text_is_readable_and_says_what_is_rounded(seed: int) -> None:
    model = explicit_model(arm(3, seed))
    text = page(model)
    assert "rounded, each by less than 1e-15 rad" in text and not re.search(r"\d{17,}", text)
    assert "more, whose factors are no short numbers" in text and len(text) < 40_000
    values = {c.name: c.value for c in model.constants}
    for d in model.dependences:
        parts = [float(factor) * values[name] for name, factor in d.parts]
        assert abs(sum(parts)) <= 1e-12 * max(map(abs, parts))


def test_round_angles_are_exact_and_say_nothing() -> None:
    for name in ("puma560", "ur_like", "scara"):
        model = explicit_model(kane.load(name))
        assert not any("rounded" in note for note in model.notes)
        assert all(d.readable for d in model.dependences) and len(model.shown_dependences) == len(model.dependences)


@pytest.mark.parametrize("seed", [7, 8, 9])
def test_torques_are_those_of_the_recursion(seed: int) -> None:
    m, joints = arm(3, seed), 3
    made = compile_program(kane.explicit(m).program("inverse_dynamics"))
    other = kane.derive(m).compile()
    r = np.random.default_rng(0)
    q, qd, qdd = r.uniform(-2, 2, (3, 50, joints))
    tau = other.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(made(q, qd, qdd), tau, atol=1e-12 * np.abs(tau).max())


def test_what_cannot_be_read_is_refused_soon() -> None:
    start = time.process_time()
    with pytest.raises(UnsupportedError, match="terms in the kinetic energy matrix"):
        kane.explicit(arm(6, 1))
    assert time.process_time() - start < 20


@pytest.mark.parametrize("piece", [5, 20, 60])
def test_large_sums_are_factored_in_pieces(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the size from which sums are split: the polynomials are the same, in half their operations."""
    monkeypatch.setattr(factor, "LARGE", 100)
    monkeypatch.setattr(factor, "PIECE", piece)
    r = random.Random(piece)
    keys = {tuple(sorted(r.choices(range(12), k=r.randint(2, 5)))) for _ in range(150)}
    polynomials = [{key: Fraction(r.randint(-9, 9) or 1) for key in keys if r.random() < 0.8} for _ in range(3)]
    assert sum(map(len, polynomials)) > factor.LARGE
    made = factor.factor(polynomials, 12)
    g = Graph()
    x = [g.symbol(f"x{k}") for k in range(12)]
    for ref, polynomial in zip(made.build(g, x), polynomials, strict=True):
        total = g.zero
        for key, value in polynomial.items():
            term = g.number(value)
            for v in key:
                term = g.mul(term, x[v])
            total = g.add(total, term)
        assert g.sub(ref, total) == g.zero
    plain = sum(len(p) + sum(len(key) for key in p) for p in polynomials)
    assert made.operations < plain / 2
