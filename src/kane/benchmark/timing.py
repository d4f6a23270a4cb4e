"""Times that can be compared on a shared machine: thread CPU time, medians over repeats, ours and a peer's in turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

REPEATS = 11
SECONDS = 0.01  # of one repeat


@dataclass(frozen=True, slots=True)
class Timed:
    """ns for one state: median and spread (largest over smallest) of the repeats."""

    ns: float
    spread: float


def timed(work: Callable[[], object], states: int) -> Timed:
    """The time of one call of `work`, which handles this many states, per state."""
    (result,) = in_turn([work], states)
    return result


def in_turn(
    works: list[Callable[[], object]], states: int, clock: Callable[[], float] = time.thread_time
) -> list[Timed]:
    """Several pieces of work timed in turn, so that a drifting clock meets all of them alike.

    clock: time.process_time where a library computes in threads of its own.
    """
    repeats = [_calls(work, clock) for work in works]
    times: list[list[float]] = [[] for _ in works]
    for _ in range(REPEATS):
        for k, work in enumerate(works):
            times[k].append(_time(work, repeats[k], clock))
    return [Timed(1e9 * median(t) / states, max(t) / min(t)) for t in times]


def _calls(work: Callable[[], object], clock: Callable[[], float]) -> int:
    """How many calls fill a repeat."""
    work()
    once = _time(work, 1, clock)
    return max(1, int(SECONDS / max(once, 1e-7)))


def _time(work: Callable[[], object], calls: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(calls):
        work()
    return (clock() - start) / calls
