"""The order of the state section: sines and cosines together in front, then the rest for short lives or short waits.

The order changes no value, only how well a processor overlaps the operations and how many values live at a time.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from kane.graph.arena import Ref
from kane.graph.program import Instruction, Output, Program, operands_first

Order = Literal["depth", "critical"]
TRIG = ("sin", "cos")
LATENCY = {"add": 4, "mul": 4, "fma": 4, "div": 14, "sqrt": 18}  # cycles on current processors
OTHER_LATENCY = 20


def schedule(program: Program, order: Order = "critical", window: int = 16) -> Program:
    """The program with its state section in another order; blocks are dropped.

    Sines and cosines come in groups (first those whose argument needs no other one), each directly behind what their
    arguments need, so that a group can be computed as one vector.  `depth`: an operation right before its first use, of
    several operands first the one that keeps more values waiting (Sethi and Ullman 1970), so that few values live at a
    time.  `critical`: among the next `window` operations of that order, first the one with the longest chain of waiting
    operations behind it.  Processors look ahead some hundred operations themselves, so the window need not be wide:
    wider ones measured slower on large programs, by the values that they keep alive.
    """
    by_depth = reordered(program, _depth_first(program))
    state = _critical(by_depth, window) if order == "critical" else list(by_depth.state)
    return reordered(by_depth, trig_first(by_depth, state))


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


def trig_first(program: Program, order: Sequence[int]) -> list[int]:
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


def _by_columns(out: Output) -> list[Ref]:
    """The elements of an output column by column: what a column of derivatives needs is done with it."""
    columns = out.shape[-1] if len(out.shape) > 1 else 1
    return [ref for c in range(columns) for ref in out.refs[c::columns]]


def demands(program: Program) -> dict[int, int]:
    """The values alive while each state value is computed, were nothing shared (Sethi and Ullman 1970)."""
    demand: dict[int, int] = {}
    for index in program.state:
        nodes = [a >> 1 for a in program.values[index].args if a >> 1 >= program.first_state]
        below = sorted((demand[node] for node in nodes), reverse=True)
        demand[index] = max([1, *(n + k for k, n in enumerate(below))])
    return demand


def depth_first(program: Program, roots: Sequence[int], weights: Mapping[int, int]) -> list[int]:
    """Roots and the state values that they need, operands before users; first the operand of the largest weight."""
    first, values = program.first_state, program.values
    return operands_first(
        roots, lambda node: sorted((a >> 1 for a in values[node].args if a >> 1 >= first), key=weights.__getitem__)
    )


def _depth_first(program: Program) -> list[int]:
    """Depth first from the outputs, the more demanding operand first."""
    roots = [r >> 1 for out in program.outputs for r in _by_columns(out) if r >> 1 >= program.first_state]
    order = depth_first(program, roots, demands(program))
    seen = set(order)
    return order + [index for index in program.state if index not in seen]


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
    later = [index for index in program.state if not missing[index]]  # ready, perhaps beyond the window
    ready: list[tuple[int, int]] = []
    order: list[int] = []
    done: set[int] = set()
    oldest = first
    while len(order) < len(program.state):
        while oldest in done:
            oldest += 1
        while later and later[0] <= oldest + window:
            index = heapq.heappop(later)
            heapq.heappush(ready, (-height[index], index))
        _, index = heapq.heappop(ready)  # never empty: the oldest operation that is left is ready
        done.add(index)
        order.append(index)
        for user in users[index]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(later, user)
    return order
