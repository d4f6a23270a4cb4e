"""The order of the state section: sines and cosines together in front, then the rest for short lives or short waits.

The order changes no value, only how well a processor overlaps the operations and how many values live at a time.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from kane.graph.program import Instruction, Output, Program

Order = Literal["depth", "critical"]
TRIG = ("sin", "cos")
LATENCY = {"add": 4, "mul": 4, "fma": 4, "div": 14, "sqrt": 18}  # cycles on current processors
OTHER_LATENCY = 20


def schedule(program: Program, order: Order = "depth", window: int = 64) -> Program:
    """The program with its state section in another order; blocks are dropped.

    Sines and cosines come in groups (first those whose argument needs no other one), each directly behind what their
    arguments need, so that a group can be computed as one vector.  `depth` keeps the given order otherwise: an
    operation comes right before its first use.  `critical` takes next, among the `window` earliest operations that are
    ready, the one with the longest chain of waiting operations behind it.
    """
    state = list(program.state)
    if order == "critical":
        state = _critical(program, window)
    return reordered(program, _trig_first(program, state))


def reordered(program: Program, order: Sequence[int]) -> Program:
    """The program with its state values in this order (operands before users); blocks are dropped."""
    place = list(range(program.first_state)) + [0] * len(program.state)
    for new, old in enumerate(order, program.first_state):
        place[old] = new
    values: list[Instruction] = list(program.values[: program.first_state])
    for old in order:
        value = program.values[old]
        values.append(value._replace(args=tuple(2 * place[a >> 1] | (a & 1) for a in value.args)))
    outputs = tuple(
        Output(o.name, o.shape, tuple(2 * place[r >> 1] | (r & 1) for r in o.refs)) for o in program.outputs
    )
    return replace(program, values=tuple(values), outputs=outputs, blocks=())


def _trig_first(program: Program, order: Sequence[int]) -> list[int]:
    """Order with the groups of sines and cosines as early as their arguments allow."""
    values = program.values
    level: dict[int, int] = {}
    groups: dict[int, list[int]] = {}
    for index in order:
        below = max((level.get(a >> 1, 0) for a in values[index].args), default=0)
        level[index] = below + (values[index].op in TRIG)
        if values[index].op in TRIG:
            groups.setdefault(level[index], []).append(index)
    placed: set[int] = set()
    result: list[int] = []
    position = {index: n for n, index in enumerate(order)}
    for _, group in sorted(groups.items()):
        needed = _ancestors(program, group, placed) - set(group)
        # one argument's sine and cosine side by side, in the order of their arguments
        group.sort(key=lambda i: (position.get(values[i].args[0] >> 1, -1), values[i].args[0] >> 1, values[i].op))
        fresh = sorted(needed, key=position.__getitem__) + group
        placed.update(fresh)
        result += fresh
    return result + [index for index in order if index not in placed]


def _ancestors(program: Program, roots: Sequence[int], stop: set[int]) -> set[int]:
    """The state values that the roots need, those in `stop` and behind it left out."""
    seen = {root for root in roots if root not in stop}
    stack = list(seen)
    while stack:
        for a in program.values[stack.pop()].args:
            node = a >> 1
            if node >= program.first_state and node not in seen and node not in stop:
                seen.add(node)
                stack.append(node)
    return seen


def _critical(program: Program, window: int) -> list[int]:
    """List scheduling by the longest remaining chain, kept within a window of the given order."""
    first, values = program.first_state, program.values
    height = dict.fromkeys(program.state, 0)
    users: dict[int, list[int]] = {index: [] for index in program.state}
    missing = dict.fromkeys(program.state, 0)
    for index in reversed(program.state):
        height[index] += LATENCY.get(values[index].op, OTHER_LATENCY)
        for node in {a >> 1 for a in values[index].args if a >> 1 >= first}:
            height[node] = max(height[node], height[index])
            users[node].append(index)
            missing[index] += 1
    ready = [(-height[index], index) for index in program.state if not missing[index]]
    heapq.heapify(ready)
    late: list[tuple[int, int]] = []
    result: list[int] = []
    done: set[int] = set()
    oldest = first
    while ready or late:
        while oldest in done:
            oldest += 1
        if not ready:
            ready, late = late, []
            heapq.heapify(ready)
        _, index = heapq.heappop(ready)
        if index > oldest + window and not missing[oldest]:
            late.append((-height[index], index))
            if ready:
                continue
            index = oldest
            late = [item for item in late if item[1] != index]
        if index in done:
            continue
        done.add(index)
        result.append(index)
        for user in users[index]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, (-height[user], user))
        if late:
            ready += late
            late = []
            heapq.heapify(ready)
    return result
