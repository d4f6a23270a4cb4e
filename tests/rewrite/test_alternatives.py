"""Values with several ways to compute them, and the search for the cheapest selection."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from kane.graph.arena import Graph
from kane.graph.evaluate import equal
from kane.graph.program import Input, Program, build_program
from kane.rewrite.alternatives import Alternatives, copied, load, written
from kane.rewrite.pairs import Doubles, PairTable, saturate
from kane.rewrite.select import Selection, anneal
from kane.rewrite.sums import regroup_sums

sys.path.insert(0, str(Path(__file__).parent.parent))
from random_expressions import NAMES, build
from written_expressions import from_text


def program_of(g: Graph, names: tuple[str, ...], outputs: list[int]) -> Program:
    return build_program(g, "t", [Input("v", names)], [("o", (len(outputs),), outputs)])


def searched(program: Program, largest: int = 500, heat: float = 0.3) -> Program:
    g = Alternatives()
    outputs = load(program, g)
    selection = Selection(g, [r for refs in outputs for r in refs], {})
    for seed in range(2):
        saturate(g, selection.in_use(), largest)
        anneal(selection, seed, 2000, heat)
    return written(g, program, outputs, selection.way)


def test_both_structures_of_a_value_are_kept() -> None:
    g = Alternatives()
    a, b, x = (g.symbol(n) for n in "abx")
    first = g.add(g.mul(a, x), g.mul(b, x))
    assert g.mul(g.add(a, b), x) == first
    assert {way.op for way in g.ways[first >> 1]} == {"add", "mul"}
    selection = Selection(g, [first], {})
    assert selection.price == 3
    anneal(selection, 0, 100)
    assert selection.price == 2


def test_same_way_twice_is_kept_once() -> None:
    g = Alternatives()
    a, b = g.symbol("a"), g.symbol("b")
    total = g.add(a, b)
    assert g.add(b, a) == total and g.add(a ^ 1, b ^ 1) == total ^ 1
    product = g.mul(a, b)
    assert g.mul(b ^ 1, a) == product ^ 1
    assert len(g.ways[total >> 1]) == len(g.ways[product >> 1]) == 1


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("a*x + b*x + c*x", 3),
        ("x*x - y*y", 3),
        ("(a*x + b*y) + (a*x - b*y)", 2),
        ("a*b*c + a*b*d", 3),
        ("a*x*x + b*x", 3),
        ("(a + b) - (a + c)", 1),
    ],
)
def test_small_expressions_reach_their_least(text: str, least: int) -> None:
    g = Graph()
    names = tuple("abcdxy")
    program = program_of(g, names, [from_text(g, text, names)])
    found = searched(program)
    assert equal(found, program)
    assert found.counts.total <= least


def test_two_outputs_share_what_they_can() -> None:
    """(a+b)x and (a+b)y+c: the sum is made once although it was written out in products."""
    g = Graph()
    a, b, c, x, y = (g.symbol(n) for n in "abcxy")
    first = g.add(g.mul(a, x), g.mul(b, x))
    second = g.add(g.add(g.mul(a, y), c), g.mul(b, y))
    program = program_of(g, tuple("abcxy"), [first, second])
    found = searched(program)
    assert equal(found, program) and found.counts.total == 4


@pytest.mark.parametrize("largest", [500, 4])  # all pairs, and windows
@pytest.mark.parametrize("seed", range(8))
def test_random_programs_stay_equal_and_never_cost_more(seed: int, largest: int) -> None:
    r = random.Random(seed)
    g = Graph()
    program = program_of(g, NAMES, [build(g, r, 5)[0] for _ in range(3)])
    found = searched(program, largest)
    assert equal(found, program)
    old, new = program.counts, found.counts
    assert new.total + 8 * (new.div + new.sqrt) <= old.total + 8 * (old.div + old.sqrt) + (old.trig - new.trig) / 4
    assert found == searched(program, largest)


def test_undone_moves_leave_no_trace() -> None:
    g = Alternatives()
    r = random.Random(3)
    source = Graph()
    program = program_of(source, NAMES, [build(source, r, 6)[0] for _ in range(2)])
    outputs = load(program, g)
    selection = Selection(g, outputs[0], {})
    saturate(g, selection.in_use(), 500)
    for node, ways in list(g.ways.items()):
        for way in ways if node in selection.way else ():
            before = (dict(selection.way), {n: c for n, c in selection.users.items() if c}, selection.price)
            if selection.attempt(node, way) is not None:
                fresh = Selection(g, outputs[0], selection.way)
                assert fresh.price == pytest.approx(selection.price) and fresh.way == selection.way
                selection.undo()
            after = (dict(selection.way), {n: c for n, c in selection.users.items() if c}, selection.price)
            assert after[:2] == before[:2]
            assert after[2] == pytest.approx(before[2])


def test_a_copied_graph_is_built_on_alone() -> None:
    g = Graph()
    x = g.symbol("x")
    twin = copied(g)
    twin.mul(x, x)
    assert len(twin) == len(g) + 1
    assert g.number(3) == 2 * (len(g) - 1) and len(g) == len(twin)
    assert twin.op[-1] == "mul" and g.op[-1] == "num"


def test_terms_with_a_common_factor_meet_across_a_sum() -> None:
    """a x + c y + d + b x: four products and sums when a x and b x stand side by side."""
    g = Alternatives()
    a, b, c, d, x, y = (g.symbol(n) for n in "abcdxy")
    total = g.sum([g.mul(a, x), g.mul(c, y), d, g.mul(b, x)])
    selection = Selection(g, [total], {})
    assert selection.price == 6
    assert regroup_sums(g, selection.way, selection.users, PairTable(g, selection.in_use(), Doubles(g))) >= 1
    anneal(selection, 0, 2000, 0.3)
    assert selection.price == 5


def test_a_pair_of_terms_that_is_a_value_meets_across_a_sum() -> None:
    g = Alternatives()
    a, b, c, d = (g.symbol(n) for n in "abcd")
    needed_anyway = g.add(a, d)
    total = g.sum([a, b, c, d])
    selection = Selection(g, [needed_anyway, total], {})
    assert selection.price == 4
    regroup_sums(g, selection.way, selection.users, PairTable(g, selection.in_use(), Doubles(g)))
    anneal(selection, 0, 2000, 0.3)
    assert selection.price == 3
