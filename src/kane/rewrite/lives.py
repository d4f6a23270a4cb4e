"""An order of the state section for batches: values go to memory and back as seldom as found.

Where many states wait for the same operations, a processor never lacks independent ones; loads and stores of what the
registers do not hold are what is left to save.  Several orders are made, and the one with the fewest of them is taken.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from kane.graph.program import Program
from kane.rewrite.schedule import TRIG, demands, depth_first, reordered, trig_first

LARGE = 3000  # operations beyond which the first order is taken, uncompared
NEVER = 1 << 60


def schedule_lives(program: Program, registers: int) -> Program:
    """The program with its state section in the order that loads and stores least; blocks are dropped."""
    found = []
    for order in _orders(program):
        early = reordered(program, _early_last_uses(program, order))
        found.append(reordered(early, trig_first(early, list(early.state))))
    return found[0] if len(found) == 1 else min(found, key=lambda made: traffic(made, registers))


def traffic(program: Program, registers: int) -> int:
    """Loads and stores of the state section with so many registers, if always the value used last leaves (Belady 1966).

    Constants, inputs, sines and cosines are in memory; one operand of an operation may come from there directly.
    """
    values = program.values
    order = [i for i in program.state if values[i].op not in TRIG]
    uses: dict[int, list[int]] = {}
    for n, index in enumerate(order):
        for node in dict.fromkeys(a >> 1 for a in values[index].args):
            uses.setdefault(node, []).append(n)
    in_memory = set(range(program.first_state)) | {i for i in program.state if values[i].op in TRIG}
    held: set[int] = set()
    count = 0

    def next_use(node: int, now: int) -> int:
        later = uses.get(node, [])
        place = bisect_right(later, now)
        return later[place] if place < len(later) else NEVER

    def hold(node: int, keep: set[int], now: int) -> None:
        nonlocal count
        held.add(node)
        if len(held) > registers:
            last = max(held - keep, key=lambda other: (next_use(other, now), other))
            held.remove(last)
            if last not in in_memory:
                in_memory.add(last)
                count += 1

    for n, index in enumerate(order):
        operands = {a >> 1 for a in values[index].args}
        for node in sorted(operands - held):
            count += 1
            if next_use(node, n) < NEVER:
                hold(node, operands - {node}, n)
        held -= {node for node in operands if next_use(node, n) == NEVER}
        if index in uses:
            hold(index, set(), n)
    return count


def _orders(program: Program) -> Iterator[list[int]]:
    """Depth first from the outputs, forwards and backwards; first the operand that needs or keeps waiting most."""
    first = program.first_state
    roots = [ref >> 1 for out in program.outputs for ref in out.refs if ref >> 1 >= first]
    large = len(program.state) > LARGE
    for weights in (demands(program),) if large else (_sizes(program), demands(program)):
        for start in (roots,) if large else (roots, roots[::-1]):
            yield depth_first(program, start, weights)


def _sizes(program: Program) -> dict[int, int]:
    """The number of operations that each value needs."""
    needed: dict[int, int] = {}  # as sets of bits
    for index in program.state:
        needed[index] = 1 << (index - program.first_state)
        for a in program.values[index].args:
            needed[index] |= needed.get(a >> 1, 0)
    return {index: bits.bit_count() for index, bits in needed.items()}


def _early_last_uses(program: Program, order: Sequence[int]) -> list[int]:
    """The order, where an operation that can be done and is the last to use an operand does not wait for its turn."""
    first, values = program.first_state, program.values
    operands = {i: sorted({a >> 1 for a in values[i].args if a >> 1 >= first}) for i in program.state}
    users: dict[int, list[int]] = {i: [] for i in program.state}
    for index, nodes in operands.items():
        for node in nodes:
            users[node].append(index)
    missing = {i: len(nodes) for i, nodes in operands.items()}
    uses = {i: len(found) for i, found in users.items()}
    done: set[int] = set()
    result: list[int] = []
    for turn in order:
        stack = [turn]
        while stack:
            index = stack.pop()
            if index in done:
                continue
            done.add(index)
            result.append(index)
            for node in operands[index]:
                uses[node] -= 1
            for user in users[index]:
                missing[user] -= 1
            near = {user for node in (*operands[index], index) for user in users[node]} - done
            for user in sorted(near):
                last = any(uses[node] == 1 and values[node].op not in TRIG for node in operands[user])
                if last and not missing[user]:
                    stack.append(user)
    return result + [index for index in program.state if index not in done]
