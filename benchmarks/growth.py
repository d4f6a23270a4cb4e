"""How time grows with the number of joints (7 to 200 links), with the batch and with threads.

python benchmarks/growth.py
"""

from __future__ import annotations

import time

import numpy as np

from kane import robots
from kane.benchmark.limit import measured_limit
from kane.benchmark.loop import kane_loop
from kane.benchmark.run import states
from kane.benchmark.timing import in_turn, timed
from kane.equations.derive import derive_task
from kane.native import compile_program
from kane.robots.generated import chain

LINKS = (7, 12, 25, 50, 100, 200)
BATCHES = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
TASKS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
LARGEST = {"inverse_dynamics": 200, "mass_matrix": 50, "forward_dynamics": 100}  # links that are tried
Series = dict[str, list[tuple[float, float]]]


def by_links() -> tuple[Series, Series, Series]:
    """Chains with axes along the coordinate axes: operations, ns of one state, seconds to compile."""
    counts: Series = {}
    times: Series = {}
    compiled: Series = {}
    for task in TASKS:
        for n in LINKS:
            if n > LARGEST[task]:
                continue
            program = derive_task(chain(n, skew=False), task).program
            start = time.process_time()
            f = compile_program(program, cache=False)
            compiled.setdefault(task, []).append((n, time.process_time() - start))
            outputs = [np.zeros((1, int(np.prod(o.shape)))) for o in program.outputs]
            loop = kane_loop(f.address, states(program, 64), outputs)
            counts.setdefault(task, []).append((n, program.counts.total))
            times.setdefault(task, []).append((n, timed(loop, 64).ns))
    return counts, times, compiled


def by_batch() -> Series:
    """PUMA 560, ns a state in calls from Python into arrays made before, rows and columns, and the limit."""
    program = derive_task(robots.load("puma560"), "inverse_dynamics").program
    f = compile_program(program)
    floor = measured_limit().floor(program)
    series: Series = {"rows": [], "columns": [], "limit": [(n, floor) for n in BATCHES]}
    for n in BATCHES:
        rows = states(program, n)
        columns = [np.ascontiguousarray(a.T).T for a in rows]
        for name, arrays in (("rows", rows), ("columns", columns)):
            out = f(*arrays)
            series[name].append((n, timed(lambda a=arrays, o=out: f(*a, out=o), n).ns))  # type: ignore[misc]
    return series


def two_threads(n: int = 65536, repeats: int = 60) -> float:
    """How much faster two threads are than one: inverse dynamics of the PUMA 560 in columns, least wall times."""
    program = derive_task(robots.load("puma560"), "inverse_dynamics").program
    f = compile_program(program)
    arrays = [np.ascontiguousarray(a.T).T for a in states(program, n)]
    out = f(*arrays)
    best = {1: float("inf"), 2: float("inf")}
    for _ in range(repeats):
        for threads in best:
            start = time.perf_counter()
            f(*arrays, out=out, threads=threads)
            best[threads] = min(best[threads], time.perf_counter() - start)
    return best[1] / best[2]


def single_precision(n: int = 4096) -> float:
    """How much faster float32 is than float64 in a batch in columns."""
    program = derive_task(robots.load("puma560"), "inverse_dynamics").program
    works = []
    for dtype in ("float64", "float32"):
        f = compile_program(program, dtype)  # type: ignore[arg-type]
        arrays = [np.ascontiguousarray(a.astype(dtype).T).T for a in states(program, n)]
        out = f(*arrays)
        works.append(lambda f=f, a=arrays, o=out: f(*a, out=o))
    double, single = in_turn(works, n)  # type: ignore[arg-type]
    return double.ns / single.ns


def main() -> None:
    counts, times, compiled = by_links()
    print(f"{'task':20s} {'links':>6s} {'operations':>10s} {'ns a state':>10s} {'ns/link':>8s} {'compile, s':>10s}")
    for task in TASKS:
        for (n, ops), (_, ns), (_, seconds) in zip(counts[task], times[task], compiled[task], strict=True):
            print(f"{task:20s} {n:6.0f} {ops:10.0f} {ns:10.0f} {ns / n:8.1f} {seconds:10.2f}")
    batch = by_batch()
    print("PUMA 560, inverse dynamics, ns a state by batch:")
    for name, points in batch.items():
        print(f"  {name:8s}", "  ".join(f"{n:.0f}: {ns:.1f}" for n, ns in points))
    print(f"two threads against one, 65,536 states: {two_threads():.2f}")
    print(f"float32 against float64, 4,096 states: {single_precision():.2f}")


if __name__ == "__main__":
    main()
