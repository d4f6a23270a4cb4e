"""schedule_lives: a permutation that keeps operands before users; traffic, counted by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kane.graph.arena import Graph
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, Program, build_program
from kane.rewrite import lives
from kane.rewrite.lives import schedule_lives, traffic


def program_of(g: Graph, count: int, outputs: list[int]) -> Program:
    inputs = [Input("x", tuple(f"x{i}" for i in range(count)))]
    return build_program(g, "f", inputs, [(f"y{k}", (), [ref]) for k, ref in enumerate(outputs)])


def tangled(seed: int) -> Program:
    """Sums, products, and sines, of values that are used again near and far; some are outputs and operands."""
    rng = random.Random(seed)
    g = Graph()
    x = [g.symbol(f"x{i}") for i in range(5)]
    pool = list(x)
    for n in range(120):
        pool.append(g.add(g.mul(rng.choice(pool[-9:]), rng.choice(pool)), rng.choice(x)))
        if n % 10 == 0:
            pool += [g.sin(pool[-1]), g.cos(pool[-1])]
    return program_of(g, 5, [pool[-1], pool[-3], pool[60], x[2]])


@pytest.mark.parametrize("large", [lives.LARGE, 0])
@pytest.mark.parametrize("seed", range(4))
def test_order_is_sound(seed: int, large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each value once, after its operands, with the same bits; also of programs that are taken uncompared."""
    monkeypatch.setattr(lives, "LARGE", large)
    program = tangled(seed)
    ordered = schedule_lives(program, 4)
    assert sorted(v.op for v in ordered.values) == sorted(v.op for v in program.values)
    assert all(a >> 1 < i for i in ordered.state for a in ordered.values[i].args)
    x = {"x": np.random.default_rng(seed).uniform(-0.5, 0.5, (3, 5))}
    before, after = evaluate(program, x), evaluate(ordered, x)
    for name in before:
        np.testing.assert_array_equal(after[name], before[name])
    assert schedule_lives(program, 4) == ordered


def test_traffic_counts_loads_and_spills() -> None:
    """a, b, c of two inputs each, then a*c*b: six loads; with two registers b is stored and loaded again."""
    g = Graph()
    x = [g.symbol(f"x{i}") for i in range(6)]
    a, b, c = (g.add(x[2 * k], x[2 * k + 1]) for k in range(3))
    program = program_of(g, 6, [a, b, c, g.mul(g.mul(a, c), b)])
    assert [program.values[i].op for i in program.state] == ["add"] * 3 + ["mul"] * 2
    assert [traffic(program, registers) for registers in (3, 2)] == [6, 8]


def test_chains_are_computed_one_after_the_other() -> None:
    """Eight products of four inputs, given side by side: afterwards nothing leaves four registers."""
    g = Graph()
    x = [g.symbol(f"x{i}") for i in range(32)]
    chains = [x[4 * k] for k in range(8)]
    shared: list[int] = []
    for n in range(1, 4):
        chains = [g.mul(chain, x[4 * k + n]) for k, chain in enumerate(chains)]
        shared += chains
    program = program_of(g, 32, shared)
    assert traffic(program, 4) > 32
    assert traffic(schedule_lives(program, 4), 4) == 32
