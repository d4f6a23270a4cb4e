"""All benchmarks in a minute or two: python -m benchmarks; tables here, plots in results/benchmarks.html

Beside other libraries: kane bench ROBOT; peers in C: benchmarks/peers/build.py.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import growth, page, start

from kane import load
from kane.api.equations import derive
from kane.benchmark.limit import measured_limit
from kane.benchmark.run import bench
from kane.native.host import this_host

OUT = Path("results/benchmarks.html")
TASKS = (
    "inverse_dynamics", "mass_matrix", "forward_dynamics",
    "inverse_dynamics_derivatives", "forward_dynamics_derivatives",
)  # fmt: skip


def main() -> None:
    limits = [measured_limit(dtype) for dtype in ("float64", "float32")]  # type: ignore[arg-type]
    rates = " and ".join(f"{2 * limit.fma_per_ns:.1f}" for limit in limits)
    notes = [
        f"{platform.processor() or platform.machine()}, {this_host().isa}; measured {rates} flops/ns in double and "
        f"single precision, {limits[0].sincos_ns:.2f} ns a sine with cosine in a batch; processor time of one core."
    ]
    print(notes[0])
    for what, seconds, limit in start.lines():
        notes.append(f"{what}: {seconds:.3f} s (at most {limit:g} s)")
        print(notes[-1])
    equations = derive(load("puma560"))
    rows = bench({task: equations.program(task) for task in TASKS}, ())["rows"]
    table = [["PUMA 560", "mode", "states", "layout", "ns a state", "of the limit"]]
    for r in rows:
        share = "" if r["share"] is None else f"{r['share']:.0%}"
        table.append([r["task"], r["mode"], str(r["n"]), r["layout"], f"{r['ours_ns']:.1f}", share])
    print("\n".join("  ".join(f"{c:>14s}" if k else f"{c:30s}" for k, c in enumerate(row)) for row in table))
    counts, times, compiled = growth.by_links()
    batch = growth.by_batch()
    notes.append(f"Two threads against one, 65,536 states: {growth.two_threads():.2f} times as fast.")
    notes.append(f"float32 against float64, 4,096 states: {growth.single_precision():.2f} times as fast.")
    print("\n".join(notes[-2:]))
    for task, points in times.items():
        print(f"{task:30s}", "  ".join(f"{n:.0f} links: {ns:.0f} ns" for n, ns in points))
    plots = {
        "One state, chains of links": page.plot(times, "links", "ns"),
        "Operations, chains of links": page.plot(counts, "links", "operations"),
        "Compile time, chains of links": page.plot(compiled, "links", "s"),
        "PUMA 560, inverse dynamics in batches": page.plot(batch, "states a call", "ns a state"),
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(page.page("kane: benchmarks", notes, plots, table), encoding="utf-8")
    print(f"plots: {OUT}")


if __name__ == "__main__":
    main()
