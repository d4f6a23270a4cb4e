"""What is printed of large values is short: what it is, its sizes, where there is more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kane
from kane.equations.constrained import constrained
from kane.equations.projection import kane_equations
from kane.identification import FourierMotion, Identifier, torque_model
from kane.mechanism.formula import parse
from kane.mechanism.wording import counted, listed


def declared() -> kane.Mechanism:
    s = kane.System("swing")
    q = s.coordinates("q")
    m, g = s.parameters(m=2), s.parameters("g")
    A = s.N.orient_new_axis("A", 3, q)
    s.particle("P", s.O.locate_new("P", A.x), m)
    s.gravity(-g * s.N.y)
    return s.mechanism()


SHOWN: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "declared": (declared, ("Mechanism swing", "2 joints", "2 parameters", "write_toml")),
    "read": (lambda: kane.load("puma560").mechanism, ("Mechanism puma560", "7 links", "6 joints")),
    "robot": (lambda: kane.load("puma560"), ("Robot puma560",)),
    "equations": (lambda: kane_equations(declared()), ("Kane's equations of swing", "1 equation,", "work_out")),
    "constrained": (lambda: constrained(kane_equations(declared()), {"g": 9.8}), ("swing", "1 speed", "accelerations")),
    "linear": (
        lambda: kane.linearize(kane.load("two_link"), [0, 0], [0, 0]), ("4 states", "q1, q2", "eigenvalues"),
    ),
    "base": (lambda: kane.load("puma560").base_parameters(), ("40 of 66",)),
    "torques": (lambda: torque_model(kane.load("two_link").mechanism), ("TorqueModel of two_link", "2 torques")),
    "motion": (
        lambda: FourierMotion(("a", "b"), 10.0, np.zeros(2), np.ones((2, 3)), np.ones((2, 3))),
        ("2 joints", "3 harmonics", "10 s"),
    ),
    "abbreviated": (
        lambda: kane.explicit(kane.load("puma560")).abbreviate(0.01), ("Abbreviated model of puma560", "dropped"),
    ),
    "run": (
        lambda: kane.simulate(kane.load("two_link"), 0.1), ("Simulation of two_link", "0 to 0.1 s", "q1", "summary()"),
    ),
    "identifier": (lambda: Identifier(kane.load("puma560")), ("Identifier",)),
}  # fmt: skip


@pytest.mark.parametrize("kind", SHOWN)
def test_one_line_that_says_what_it_is(kind: str) -> None:
    make, parts = SHOWN[kind]
    text = repr(make())
    assert len(text) < 160 and "\n" not in text
    for part in parts:
        assert part in text


def test_the_way_to_more_is_there() -> None:
    from kane.formats import read, write_toml

    m = declared()
    assert read(write_toml(m)) == m
    assert kane.simulate(kane.load("two_link"), 0.1).summary().startswith("two_link")


@pytest.mark.parametrize("text", ["-g", "L1*cos(q1) + 2", "pi / 2"])
def test_a_formula_reads_back(text: str) -> None:
    formula = parse(text)
    assert eval(repr(formula), {"parse": parse}) == formula


def test_words() -> None:
    assert counted(((2, "link"), (1, "joint"), (0, "load"))) == "2 links, 1 joint" and counted(()) == "empty"
    assert listed("abcdef") == "a, b, c, d, e, f" and listed("abcdefgh") == "a, b, c, d, e, f and 2 more"
