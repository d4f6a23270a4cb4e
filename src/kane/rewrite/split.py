"""Blocks: the state section in pieces that a compiler digests, with the values that enter and leave each."""

from __future__ import annotations

from dataclasses import replace

from kane.graph.program import Block, Program

TRIG = ("sin", "cos")


def split(program: Program, size: int = 2000) -> Program:
    """The program with blocks of about `size` state instructions (never more than 5/4 of it).

    A cut is made where the fewest values live across it, in the last two fifths before the limit, and never inside a
    run of sines and cosines.  live_in lists the values of earlier blocks that a block uses, live_out its own values
    that later blocks use; inputs, numbers and constants are at hand everywhere, and output elements are stored by the
    block that computes them.
    """
    if size < 1:
        raise ValueError(f"blocks of {size} instructions; size is at least 1")
    last_use = _last_uses(program)
    starts = [program.first_state]
    limit = max(1, size * 5 // 4)
    while len(program.values) - starts[-1] > limit:
        starts.append(_best_cut(program, last_use, starts[-1], limit))
    blocks = []
    stops = [*starts[1:], len(program.values)]
    for start, stop in zip(starts, stops, strict=True):
        entering = {
            a >> 1 for i in range(start, stop) for a in program.values[i].args if program.first_state <= a >> 1 < start
        }
        leaving = tuple(i for i in range(start, stop) if last_use[i - program.first_state] >= stop)
        blocks.append(Block(start, stop, tuple(sorted(entering)), leaving))
    return replace(program, blocks=tuple(blocks))


def _last_uses(program: Program) -> list[int]:
    """The last instruction that uses each state value (0: none)."""
    last = [0] * len(program.state)
    for index in program.state:
        for a in program.values[index].args:
            if a >> 1 >= program.first_state:
                last[(a >> 1) - program.first_state] = index
    return last


def _best_cut(program: Program, last_use: list[int], start: int, limit: int) -> int:
    """The place after start, at most `limit` on, that the fewest values of this block cross."""
    ends: dict[int, int] = {}
    alive, best, cut = 0, -1, start + limit
    for index in range(start, start + limit):
        alive += 1
        end = max(last_use[index - program.first_state], index)
        ends[end] = ends.get(end, 0) + 1
        alive -= ends.pop(index, 0)
        here = index + 1
        inside_run = program.values[index].op in TRIG and here < len(program.values) and program.values[here].op in TRIG
        if here - start >= max(1, limit * 3 // 5) and not inside_run and (best < 0 or alive <= best):
            best, cut = alive, here
    return cut
