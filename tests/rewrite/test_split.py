"""split: blocks cover the state section, their live values are right, cuts avoid runs of sines and cosines."""

from __future__ import annotations

import random

import pytest

from kane.graph.arena import Graph
from kane.graph.program import Input, Program, build_program
from kane.rewrite.schedule import schedule
from kane.rewrite.split import split


def chain(size: int, seed: int = 0) -> Program:
    rng = random.Random(seed)
    g = Graph()
    x = [g.symbol(f"x{i}") for i in range(6)]
    pool = [part(a) for a in x for part in (g.sin, g.cos)]
    for _ in range(size):
        a, b = rng.choice(pool[-20:]), rng.choice(pool[-20:])
        pool.append(g.add(g.mul(a, b), rng.choice(pool)))
    return build_program(g, "chain", [Input("x", tuple(f"x{i}" for i in range(6)))], [("y", (3,), pool[-3:])])


@pytest.mark.parametrize("size", [1, 7, 40, 100, 5000])
@pytest.mark.parametrize("ordered", [True, False])
def test_blocks(size: int, ordered: bool) -> None:
    program = chain(300)
    if ordered:
        program = schedule(program)
    cut = split(program, size)
    assert cut.values == program.values
    assert cut.blocks[0].start == program.first_state
    assert cut.blocks[-1].stop == len(program.values)
    for before, after in zip(cut.blocks, cut.blocks[1:], strict=False):
        assert before.stop == after.start
    for block in cut.blocks:
        assert 0 < block.stop - block.start <= max(1, size * 5 // 4)
        used = {a >> 1 for v in cut.values[block.start : block.stop] for a in v.args}
        assert set(block.live_in) == {i for i in used if program.first_state <= i < block.start}
        later = {a >> 1 for v in cut.values[block.stop :] for a in v.args}
        assert set(block.live_out) == later & set(range(block.start, block.stop))
        assert list(block.live_in) == sorted(block.live_in)


def test_cut_where_few_values_live() -> None:
    """Two clusters joined by one value are cut there."""
    g = Graph()
    x = [g.symbol(f"x{i}") for i in range(9)]
    first = g.sum(g.mul(x[i], x[j]) for i in range(8) for j in range(i))
    second = g.mul(first, x[8])
    for i in range(8):
        second = g.add(g.mul(second, x[i]), g.mul(first if i == 0 else second, x[8]))
    program = build_program(g, "two", [Input("x", tuple(f"x{i}" for i in range(9)))], [("y", (), [second])])
    cut = split(program, 50)
    assert len(cut.blocks) == 2
    assert len(cut.blocks[1].live_in) == 1


def test_no_cut_inside_a_run_of_sines() -> None:
    program = schedule(chain(60))
    run = [i for i in program.state if program.values[i].op in ("sin", "cos")]
    cut = split(program, 10)
    assert len(run) == 9
    assert not any(run[0] < block.start <= run[-1] for block in cut.blocks)


def test_empty_state_and_bad_size() -> None:
    g = Graph()
    program = build_program(g, "none", [Input("x", ("x",))], [("y", (), [g.number(2)])])
    assert len(split(program).blocks) == 1
    with pytest.raises(ValueError, match="size is at least 1"):
        split(program, 0)
