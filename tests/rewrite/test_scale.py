"""Units: the same functions with no more operations; known cases reach their least."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from kane.graph.arena import Graph
from kane.graph.evaluate import equal
from kane.graph.program import Input, Program, build_program
from kane.rewrite.scale import Scaled, rescale, units

sys.path.insert(0, str(Path(__file__).parent.parent))
from random_expressions import NAMES, build
from written_expressions import from_text

PARAMETERS = ("c", "d", "m")
STATE = ("q", "s", "u", "x", "y", "z")


def program_of(text: list[str]) -> Program:
    """Outputs from Python expressions in PARAMETERS and STATE."""
    g = Graph()
    outputs = [from_text(g, line, STATE, PARAMETERS) for line in text]
    inputs = [Input("v", STATE), Input("p", PARAMETERS, "parameter")]
    return build_program(g, "t", inputs, [("o", (len(outputs),), outputs)])


def test_a_length_becomes_the_unit() -> None:
    """Three products with d become one quotient: x, y, z and s in units of d, and m d in the place of m."""
    program = program_of(["m*((d*(u*u) + d*(x*y)) + (d*(z*z) + q)*s)"])
    found = rescale(program)
    assert equal(program, found)
    assert program.counts.mul - found.counts.mul == 2
    assert program.counts.add == found.counts.add


def test_a_force_in_units_of_a_mass() -> None:
    """m x + c y in two components that only meet constants afterwards."""
    program = program_of(["d*(m*x + c*y) + c*(m*z + c*u)"])
    found = rescale(program)
    assert equal(program, found) and program.counts.mul - found.counts.mul >= 2


def test_nothing_to_gain_is_the_same_program() -> None:
    program = program_of(["x*y + c*z", "s*x"])
    assert rescale(program) is program


def test_units_keep_sums_of_equal_units() -> None:
    """Every way of measuring gives both terms of a sum without constants the same power, and products their sum."""
    work = Scaled(program_of(["(x*y + z)*u + q", "c*(x + s)"]))
    ways = list(units(work))
    assert ways
    for powers in ways:
        for node in work.order:
            plain = [t.value for t in work.terms[node] if t.value and t.factor >> 1 == 1]
            of = [powers.get(v, 0) for v in plain]
            if work.graph.op[node] == "add":
                assert all(p == powers.get(node, 0) for p in of)
            elif work.graph.op[node] == "mul" and len(plain) == 2:
                assert powers.get(node, 0) == sum(of)


@pytest.mark.parametrize("seed", range(30))
def test_any_program_keeps_its_values(seed: int) -> None:
    g, r = Graph(), random.Random(seed)
    built = [build(g, r, r.randint(2, 6))[0] for _ in range(2)]
    m = g.symbol("m", "parameter")
    outputs = [g.add(g.mul(m, built[0]), built[1]), g.mul(g.add(m, g.one), g.add(built[0], g.mul(m, built[1])))]
    inputs = [Input("v", NAMES), Input("p", ("m",), "parameter")]
    program = build_program(g, "t", inputs, [("o", (2,), outputs)])
    found = rescale(program)
    assert equal(program, found) and found.counts.total <= program.counts.total
