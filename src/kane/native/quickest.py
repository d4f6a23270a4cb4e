"""Which of several programs of one task runs quickest here: fewer operations are not always less time.

A processor waits for long chains, and sines come in vectors: a form with more operations may be done sooner.  The
choice is by measurement in this process, and kept out of counts: both numbers are reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kane.graph.evaluate import random_inputs
from kane.graph.program import OperationCounts, Program
from kane.native.build import prepared
from kane.native.function import NativeFunction, compile_program
from kane.native.host import Dtype

Mode = Literal["single", "batch"]
STATES = {"single": 1, "batch": 1024}
REPEATS, SECONDS = 15, 0.002  # of each program, in turn
MARGIN = 0.97  # of the time of the form with the fewest operations: what another must stay below


@dataclass(frozen=True, slots=True)
class Running:
    """The form that runs, beside the one that is counted.

    form: its name.  counted, executed: operations by the counting rule of the form with the fewest and of the one that
    runs. instructions: of its arithmetic, a multiply-add as one.  ns: time of a state by the name of each form.
    """

    form: str
    program: Program
    counted: OperationCounts
    ns: Mapping[str, float]

    @property
    def executed(self) -> OperationCounts:
        return self.program.counts

    @property
    def instructions(self) -> int:
        return instructions(self.program)

    def as_dict(self) -> dict[str, Any]:
        return {
            "form": self.form, "counted": self.counted.as_dict(), "executed": self.executed.as_dict(),
            "instructions": self.instructions, "ns": dict(self.ns),
        }  # fmt: skip


def instructions(program: Program) -> int:
    """Arithmetic instructions of the state section as compiled: fused, sines and cosines left out."""
    made = prepared(program)
    return sum(made.values[i].op not in ("sin", "cos") for i in made.state)


def quickest(
    forms: Mapping[str, Program], mode: Mode = "single", dtype: Dtype = "float64", cache: bool = True
) -> Running:
    """The form of a task that takes the least time of a state; equal programs are measured once.

    forms: programs of the same inputs and outputs, by name.  The one with the fewest operations is kept unless another
    is quicker by more than the noise.
    """
    different: dict[str, Program] = {}
    for name, program in sorted(forms.items(), key=lambda item: item[1].counts.total):
        if program not in different.values():
            different[name] = program
    counted = next(iter(different))
    if len(different) == 1:
        return Running(counted, different[counted], different[counted].counts, {})
    works = {name: _work(compile_program(p, dtype, cache), mode) for name, p in different.items()}
    ns = {name: 1e9 * t / STATES[mode] for name, t in _in_turn(works).items()}
    best = min(ns, key=lambda name: (ns[name], name))
    form = best if ns[best] < MARGIN * ns[counted] else counted
    return Running(form, different[form], different[counted].counts, ns)


def _work(f: NativeFunction, mode: Mode) -> Callable[[], object]:
    n = STATES[mode]
    arrays = [a.astype(f.dtype) for a in random_inputs(f.program, n).values()]
    if mode == "single":
        return f.prepare(*(np.ascontiguousarray(a[0]) for a in arrays))
    out = f(*arrays)
    return lambda: f(*arrays, out=out)


def _in_turn(works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The least time of a call of each, repeats in turn, so that a drifting clock meets all alike."""
    calls: dict[str, int] = {}
    for name, work in works.items():
        work()
        calls[name] = max(1, int(SECONDS / max(_time(work, 1), 1e-7)))
    least = dict.fromkeys(works, float("inf"))
    for _ in range(REPEATS):
        for name, work in works.items():
            least[name] = min(least[name], _time(work, calls[name]))
    return least


def _time(work: Callable[[], object], calls: int) -> float:
    start = time.thread_time()
    for _ in range(calls):
        work()
    return (time.thread_time() - start) / calls
