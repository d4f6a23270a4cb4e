"""All benchmarks in some minutes: python -m benchmarks [ROBOT.urdf] [--libraries DIR]

Tables here, plots in results/benchmarks.html: the tasks of the robot (the PUMA 560 when none is named) beside the
libraries that are installed, and beside C code in DIR (benchmarks/peers/build.py); start times; growth with the number
of links, with the batch, with threads.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import growth, page, start

from kane import load
from kane.api.equations import derive
from kane.benchmark.limit import measured_limit
from kane.benchmark.peers import installed_peers
from kane.benchmark.run import bench
from kane.formats import write_urdf
from kane.native.host import this_host

OUT = Path("results/benchmarks.html")
TASKS = (
    "inverse_dynamics", "mass_matrix", "forward_dynamics",
    "inverse_dynamics_derivatives", "forward_dynamics_derivatives",
)  # fmt: skip


def tasks(path: Path | None, libraries: Path | None) -> tuple[str, dict[str, Any]]:
    """The robot's name and what `kane bench` measures."""
    robot = load("puma560", rotors=False) if path is None else load(path, nonphysical="accept")
    equations = derive(robot)
    with tempfile.TemporaryDirectory() as folder:
        file = path
        if file is None:
            file = Path(folder) / "puma560.urdf"
            file.write_text(write_urdf(robot.mechanism), encoding="utf-8")
        programs = {task: equations.program(task) for task in TASKS}
        return robot.name, bench(programs, installed_peers(file), libraries)


def cells(r: dict[str, Any]) -> list[str]:
    """A row of the table."""
    share = "" if r["share"] is None else f"{r['share']:.0%}"
    beside = ["", ""] if r["peer_ns"] is None else [f"{r['peer_ns']:.0f}", f"{r['ratio']:.3f}"]
    place = [r["task"], r["mode"], str(r["n"]), r["layout"]]
    return [*place, f"{r['ours_ns']:.1f}", share, r["peer"], *beside, f"{r['spread']:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot", nargs="?", type=Path)
    parser.add_argument("--libraries", type=Path)
    options = parser.parse_args()
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
    name, result = tasks(options.robot, options.libraries)
    table = [[name, "mode", "states", "layout", "kane, ns", "of the limit", "beside", "ns", "ratio", "spread"]]
    table += [cells(r) for r in result["rows"]]
    print("\n".join("  ".join(f"{c:>12s}" if k else f"{c:30s}" for k, c in enumerate(row)) for row in table))
    peers = [f"{p['name']} {p['version']}" for p in result["peers"]]
    notes += [f"Peers: {', '.join(peers) or 'none installed'}.", *(f"{text}." for text in result["compared"])]
    counts, times, compiled = growth.by_links()
    batch = growth.by_batch()
    notes.append(f"Two threads against one, 65,536 states: {growth.two_threads():.2f} times as fast.")
    notes.append(f"float32 against float64, 4,096 states: {growth.single_precision():.2f} times as fast.")
    print("\n".join(notes[-2:]))
    for task, points in times.items():
        print(f"{task:30s}", "  ".join(f"{n:.0f} links: {ns:.0f} ns" for n, ns in points))
    beside = [
        (f"{r['task'].replace('_', ' ')}, {r['mode']} {r['layout']}, {r['peer']}", 1 / r["ratio"])
        for r in result["rows"] if r["ratio"] is not None and (r["mode"] != "batch" or r["n"] > 64)
    ]  # fmt: skip
    plots = {
        "One state, chains of links": page.plot(times, "links", "ns"),
        "Operations, chains of links": page.plot(counts, "links", "operations"),
        "Compile time, chains of links": page.plot(compiled, "links", "s"),
        "PUMA 560, inverse dynamics in batches": page.plot(batch, "states a call", "ns a state"),
    }
    if beside:
        plots[f"{name}: times as fast as the peer"] = page.bars(beside)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(page.page("kane: benchmarks", notes, plots, table), encoding="utf-8")
    print(f"plots: {OUT}")


if __name__ == "__main__":
    main()
