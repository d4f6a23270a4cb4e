"""Which way to compute each value: a local search over the ways that an Alternatives graph knows.

Price of a selection: additions and multiplications of the values in use, divisions and roots weighted.  A move gives
one value in use another way; what the old way alone needed falls out of use, what the new one needs comes in.  Moves
that cost nothing are taken too: they walk along plateaus.  Selections stay acyclic.  Everything is deterministic for a
seed.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Container, Sequence
from math import exp

from kane.graph.arena import STATE
from kane.rewrite.alternatives import Alternatives, Way, needed

PRICE = {"add": 1.0, "mul": 1.0, "div": 8.0, "sqrt": 8.0, "sin": 0.25, "cos": 0.25}
FAR = 1e6
DRAWS = 1000  # before values in use are looked for one by one
REMEMBERED = 100  # accepted moves for which guessed costs are remembered
SLACK = 1.0  # operations by which a guess may be too high


class Selection:
    """A way for each value in use.  `way[n]`, `users[n]`, `price`."""

    def __init__(self, graph: Alternatives, outputs: Sequence[int], start: dict[int, Way]) -> None:
        self.graph = graph
        self.outputs = [r >> 1 for r in outputs]
        self.way: dict[int, Way] = {}
        self.users: dict[int, int] = {}
        self.rank: dict[int, float] = {}
        self.price = 0.0
        self._log: list[tuple[int, Way | None, int]] = []
        self._entries: dict[int, float] = {}
        self._kept = 0
        self.adopt(start)

    def adopt(self, ways: dict[int, Way]) -> None:
        """Start again from these ways; values without one are computed as they were first built."""
        graph, start = self.graph, dict(ways)
        self._entries.clear()
        self.way.clear()
        self.users.clear()
        self.price = 0.0
        for node in needed(graph, start, self.outputs):
            if graph.level[node] == STATE and graph.op[node] != "sym":
                self.way[node] = start.get(node) or Way(graph.op[node], graph.args[node], 0)
        for way in self.way.values():
            self.price += PRICE.get(way.op, 0.0)
            for a in way.args:
                self._count(a >> 1, 1)
        for node in self.outputs:
            self._count(node, 1)
        self.rerank()

    def _count(self, node: int, change: int) -> None:
        self.users[node] = self.users.get(node, 0) + change

    def rerank(self) -> None:
        """A topological number for every value in use."""
        self.rank = {node: i for i, node in enumerate(needed(self.graph, self.way, self.outputs))}

    def in_use(self) -> list[int]:
        """Values in use, operands first."""
        return [n for n in needed(self.graph, self.way, self.outputs) if n in self.way]

    # moves

    def attempt(self, node: int, way: Way) -> float | None:
        """Give the node another way; the change of price, or None (and nothing changed) when it would be circular.

        `undo` takes the move back.
        """
        self._log = []
        before = self.price
        old = self.way[node]
        self._set(node, way, self.users[node])
        banned = {node}
        if not all(self._take(a >> 1, banned, 0) for a in way.args) or self._reaches(way.args, node):
            self.undo()
            return None
        for a in old.args:
            self._drop(a >> 1)
        return self.price - before

    def undo(self) -> None:
        """Take the last move back."""
        log, self._log = self._log, []
        for node, way, users in reversed(log):
            self._set(node, way, users)

    def _set(self, node: int, way: Way | None, users: int) -> None:
        old = self.way.get(node)
        self._log.append((node, old, self.users.get(node, 0)))
        self.users[node] = users
        if way is not old:
            self.price += (PRICE.get(way.op, 0.0) if way else 0.0) - (PRICE.get(old.op, 0.0) if old else 0.0)
            if way is None:
                del self.way[node]
            else:
                self.way[node] = way

    def _take(self, node: int, banned: set[int], depth: int) -> bool:
        """One more user of the node; brings it into use when it is not."""
        if node in self.way:
            self._set(node, self.way[node], self.users[node] + 1)
            return True
        if self._free(node):
            return True
        if depth > 6 or node in banned:
            return False
        best, least = None, FAR
        for way in self.ways_of(node):
            guess = PRICE.get(way.op, 0.0)
            for a in way.args:
                guess += FAR if a >> 1 in banned else self._entry(a >> 1, 2)
                if guess >= least:
                    break
            else:
                best, least = way, guess
        if best is None:
            return False
        self._set(node, best, 1)
        banned.add(node)
        done = all(self._take(a >> 1, banned, depth + 1) for a in best.args)
        banned.discard(node)
        return done

    def ways_of(self, node: int) -> Sequence[Way]:
        return self.graph.ways.get(node) or (Way(self.graph.op[node], self.graph.args[node], 0),)

    def _free(self, node: int) -> bool:
        return self.graph.level[node] != STATE or self.graph.op[node] == "sym"

    def _entry(self, node: int, depth: int) -> float:
        """What bringing a value into use would cost, about: remembered for some accepted moves."""
        if node in self.way:
            return 0.0
        known = self._entries.get(node)
        if known is not None:
            return known
        if self._free(node):
            self._entries[node] = 0.0
            return 0.0
        if depth == 0:
            return 3.0
        least = FAR
        for way in self.ways_of(node):
            total = PRICE.get(way.op, 0.0)
            for a in way.args:
                total += self._entry(a >> 1, depth - 1)
                if total >= least:
                    break
            else:
                least = total
        if depth == 2:
            self._entries[node] = least
        return least

    def hopeless(self, node: int, way: Way, limit: float) -> bool:
        """Whether the move is sure enough to cost more than the limit: what comes in against what falls out of use."""
        entering = PRICE.get(way.op, 0.0)
        for a in way.args:
            entering += self._entry(a >> 1, 2)
        old = self.way[node]
        entering -= PRICE.get(old.op, 0.0) + limit
        if entering <= 0:
            return False
        stack, users = [a >> 1 for a in old.args], self.users
        while stack:
            n = stack.pop()
            known = self.way.get(n)
            if known is not None and users[n] == 1:
                entering -= PRICE.get(known.op, 0.0)
                if entering <= 0:
                    return False
                stack += [a >> 1 for a in known.args]
        return True

    def _drop(self, node: int) -> None:
        stack = [node]
        while stack:
            node = stack.pop()
            if node not in self.way:
                continue
            way, users = self.way[node], self.users[node] - 1
            self._set(node, way if users else None, users)
            if not users:
                stack += [a >> 1 for a in way.args]

    def _reaches(self, args: Sequence[int], target: int) -> bool:
        """Whether the target is needed by these operands."""
        rank, way = self.rank, self.way
        floor = rank[target]
        seen: set[int] = set()
        stack = [a >> 1 for a in args]
        while stack:
            node = stack.pop()
            if node == target:
                return True
            if node in seen or node not in way:
                continue
            seen.add(node)
            if rank.get(node, FAR) > floor:
                stack += [a >> 1 for a in way[node].args]
        return False

    def settle(self, moved: int) -> None:
        """Keep the last move: topological numbers of what came into use, halfway below the value that moved."""
        rank, way = self.rank, self.way
        self._kept += 1
        if self._kept % REMEMBERED == 0:
            self._entries.clear()
        for node, _, _ in self._log:
            if node not in way:
                rank.pop(node, None)
        top = rank[moved]
        if not all(self._number(a >> 1, top) for a in way[moved].args):
            self.rerank()

    def _number(self, node: int, top: float) -> bool:
        """Number a value and what it needs below `top`, lowering what stood higher; False when there is no room."""
        rank = self.rank
        if node not in self.way or rank.get(node, FAR) < top:
            return True
        args = self.way[node].args
        if not all(self._number(a >> 1, top) for a in args):
            return False
        below = max((rank[a >> 1] for a in args if a >> 1 in self.way), default=-1.0)
        rank[node] = (below + top) / 2
        return below < rank[node] < top


def _drawn(nodes: Sequence[int], used: Container[int], below: Callable[[int], int]) -> int | None:
    """A random one of the nodes that are in use; None when there is none."""
    for _ in range(DRAWS):
        node = nodes[below(len(nodes))]
        if node in used:
            return node
    left = [n for n in nodes if n in used]
    return left[below(len(left))] if left else None


def anneal(selection: Selection, seed: int, steps: int, heat: float = 0.0, deadline: float | None = None) -> None:
    """Random moves in place: all that do not cost more, and with `heat` > 0 some that do (cooling to 0).

    Ends at the lowest price seen.
    """
    chance = random.Random(seed)
    draw, below = chance.random, chance.randrange
    best, kept = selection.price, dict(selection.way)
    ways, used = selection.graph.ways, selection.way
    nodes = [n for n, known in ways.items() if len(known) > 1]
    for step in range(steps if nodes else 0):
        if deadline is not None and step % 64 == 0 and time.monotonic() > deadline:
            break
        node = _drawn(nodes, used, below)
        if node is None:
            break
        choice = ways[node]
        way = choice[below(len(choice))]
        if way == used[node]:
            continue
        warmth = heat * (1 - step / steps)
        if selection.hopeless(node, way, SLACK + 6 * warmth):
            continue
        change = selection.attempt(node, way)
        if change is None:
            continue
        if change > 0 and not (warmth > 0 and draw() < exp(-change / warmth)):
            selection.undo()
            continue
        selection.settle(node)
        if selection.price < best - 1e-9:
            best, kept = selection.price, dict(selection.way)
    if selection.price > best:
        selection.adopt(kept)
