"""schedule: a permutation that keeps operands before users, with sines and cosines in front."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kane.graph.arena import Graph
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, Program, build_program
from kane.rewrite.schedule import Order, schedule

TRIG = ("sin", "cos")


def nested(seed: int) -> Program:
    """Sines of sums, and a few of things that hold sines themselves."""
    rng = random.Random(seed)
    g = Graph()
    x = [g.symbol(f"x{i}") for i in range(5)]
    pool = list(x)
    for n in range(150):
        a, b = rng.choice(pool[-12:]), rng.choice(pool)
        pool.append(g.add(g.mul(a, b), rng.choice(x)))
        if n % 8 == 0:
            angle = g.add(rng.choice(x), rng.choice(x)) if n < 120 else g.mul(pool[-1], g.sin(x[0]))
            pool += [g.sin(angle), g.cos(angle)]
    return build_program(g, "nested", [Input("x", tuple(f"x{i}" for i in range(5)))], [("y", (4,), pool[-4:])])


@pytest.mark.parametrize("order", ["depth", "critical"])
@pytest.mark.parametrize("seed", range(5))
def test_order_is_sound(order: Order, seed: int) -> None:
    program = nested(seed)
    ordered = schedule(program, order)
    assert sorted(v.op for v in ordered.values) == sorted(v.op for v in program.values)
    for index in ordered.state:
        assert all(a >> 1 < index for a in ordered.values[index].args)
    assert ordered.counts == program.counts
    x = {"x": np.random.default_rng(seed).uniform(-0.5, 0.5, (3, 5))}
    np.testing.assert_array_equal(evaluate(ordered, x)["y"], evaluate(program, x)["y"])
    assert schedule(program, order) == ordered


@pytest.mark.parametrize("order", ["depth", "critical"])
def test_sines_stand_together(order: Order) -> None:
    ordered = schedule(nested(0), order)
    values = ordered.values
    level: dict[int, int] = {}
    for index in ordered.state:
        level[index] = max((level.get(a >> 1, 0) for a in values[index].args), default=0) + (values[index].op in TRIG)
    for depth in {level[i] for i in ordered.state if values[i].op in TRIG}:
        group = [i for i in ordered.state if values[i].op in TRIG and level[i] == depth]
        assert group == list(range(group[0], group[-1] + 1))
    first = min(i for i in ordered.state if values[i].op in TRIG)
    needed = {a >> 1 for i in ordered.state if values[i].op in TRIG and level[i] == 1 for a in values[i].args}
    for index in range(ordered.first_state, first):  # nothing but what the first arguments need
        users = {i for i in ordered.state if index in {a >> 1 for a in values[i].args}}
        assert index in needed or any(u < first for u in users)


def test_critical_takes_the_longest_chain_first() -> None:
    """A long product chain starts before independent short sums that are given first."""
    g = Graph()
    x = [g.symbol(f"x{i}") for i in range(8)]
    short = [g.add(x[i], x[i + 1]) for i in range(6)]
    long = x[0]
    for i in range(1, 8):
        long = g.mul(long, x[i])
    inputs = [Input("x", tuple(f"x{i}" for i in range(8)))]
    program = build_program(g, "f", inputs, [("s", (6,), short), ("p", (), [long])])
    assert [program.values[i].op for i in program.state][:6] == ["add"] * 6
    assert next(v.op for v in schedule(program, "critical").values[program.first_state :]) == "mul"
