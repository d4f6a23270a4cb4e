"""Steps of the rules of arithmetic: the same values, and the way that each rule is there for."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from kane.graph.evaluate import equal
from kane.graph.program import Input, build_program
from kane.rewrite.alternatives import Alternatives, written
from kane.rewrite.rules import ask_by_rules
from kane.rewrite.select import Selection, anneal

sys.path.insert(0, str(Path(__file__).parent.parent))
from random_expressions import NAMES, build
from written_expressions import from_text


def ways_of(g: Alternatives, ref: int) -> set[tuple[str, frozenset[int]]]:
    return {(way.op, frozenset(a >> 1 for a in way.args)) for way in g.ways[ref >> 1]}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("x * (y + z)", ("add", "x * y", "x * z")),
        ("x * y + x * z", ("mul", "x", "y + z")),
        ("x * y - z * x", ("mul", "x", "y - z")),
        ("x * (y * z)", ("mul", "x * y", "z")),
        ("x + (y - z)", ("add", "x - z", "y")),
    ],
)
def test_each_rule(text: str, other: tuple[str, str, str]) -> None:
    g = Alternatives()
    value = from_text(g, text, NAMES)
    selection = Selection(g, [value], {})
    assert ask_by_rules(g, selection.way) > 0
    op, *parts = other
    wanted = frozenset(from_text(g, part, NAMES) >> 1 for part in parts)
    assert (op, wanted) in ways_of(g, value)


@pytest.mark.parametrize("seed", range(15))
def test_values_stay(seed: int) -> None:
    g, r = Alternatives(), random.Random(seed)
    outputs = [build(g, r, 5)[0] for _ in range(2)]
    program = build_program(g, "t", [Input("v", NAMES)], [("o", (2,), outputs)])
    selection = Selection(g, outputs, {})
    for k in range(2):
        ask_by_rules(g, selection.way)
        anneal(selection, k, 500, 0.5)
    found = written(g, program, [outputs], selection.way)
    assert equal(program, found) and found.counts.total <= program.counts.total
