"""`kane bench`: correctness first, then our times beside the installed peers', one row a task, mode and layout."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kane.benchmark.limit import measured_limit
from kane.benchmark.loop import casadi_function, casadi_loop, kane_loop, vector_function
from kane.benchmark.peers import Peer
from kane.benchmark.timing import in_turn, timed
from kane.graph.evaluate import random_inputs
from kane.graph.program import Program
from kane.native import NativeFunction, compile_program
from kane.native.host import this_host

STATES = 1024
BATCHES = (64, 4096)
TASKS = (
    "inverse_dynamics",
    "mass_matrix",
    "forward_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Row:
    """ns a state, ours and a peer's, of one task; mode: single (a loop in machine code), batch, python (one call)."""

    task: str
    mode: str
    n: int
    layout: str
    peer: str
    ours_ns: float
    peer_ns: float | None
    spread: float
    floor_ns: float | None = None  # of batches: what the machine's limit allows

    def as_dict(self) -> dict[str, Any]:
        ratio = None if self.peer_ns is None else self.ours_ns / self.peer_ns
        names = ("task", "mode", "n", "layout", "peer", "ours_ns", "peer_ns")
        share = None if self.floor_ns is None else self.floor_ns / self.ours_ns
        values = {name: getattr(self, name) for name in names}
        return {**values, "ratio": ratio, "spread": self.spread, "floor_ns": self.floor_ns, "share": share}


def bench(
    programs: Mapping[str, Program], peers: tuple[Peer, ...], libraries: Path | None = None,
    progress: Progress = lambda text: None,
) -> dict[str, Any]:  # fmt: skip
    """Rows of all tasks in the shape of `kane bench --json`.

    programs: by task name.  peers: libraries called from Python.  libraries: a folder with functions in CasADi's form,
    `TASK.so` (the function of the same name), which are timed in the same machine-code loop as ours.
    """
    compared = [
        "single: a loop in machine code over random states, one call a state"
        + (f", beside the functions in {libraries}" if libraries is not None else ", no peer in C given (--libraries)"),
        "python: one call from Python with fresh arrays, beside one call of each installed library",
        "batch: states a call into arrays made before, beside one library call a state from Python, beside libraries "
        "that take batches (processor time of all their threads), and beside the C code rewritten for vectors",
        "of limit: share of the machine's limit, max(mul, add) at the measured vector rate and the measured sines",
    ]
    rows: list[Row] = []
    progress("limit of the machine")
    limit = measured_limit()
    for task, program in programs.items():
        progress(f"{task}: compile")
        f = compile_program(program)
        progress(f"{task}: time")
        rows += _single(task, f, libraries, compared)
        rows += _python(task, f, peers)
        rows += _batch(task, f, peers, limit.floor(program))
        rows += _vectors(task, f, libraries, limit.floor(program), compared)
        rows += _batch_peers(task, f, peers, limit.floor(program), compared)
    named = [{"name": p.name, "version": p.version} for p in peers]
    if libraries is not None:
        named.append({"name": "CasADi library", "version": str(libraries)})
    return {
        "isa": this_host().isa, "limit": limit.as_dict(), "compared": compared, "peers": named,
        "rows": [row.as_dict() for row in rows],
    }  # fmt: skip


def states(program: Program, n: int, seed: int = 0) -> list[np.ndarray[Any, Any]]:
    """Random rows for each input, in the order of the inputs; quaternions are unit."""
    return list(random_inputs(program, n, seed=seed).values())


def _same(name: str, task: str, theirs: Sequence[Any], ours: Any, compared: list[str]) -> bool:
    """Whether a peer gives our results; one that does not is named and not timed."""
    mine = ours if isinstance(ours, tuple) else (ours,)
    pairs = [(np.ravel(a), np.ravel(b)) for a, b in zip(theirs, mine, strict=True)]
    if all(a.shape == b.shape and np.allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max()) for a, b in pairs):
        return True
    compared.append(f"{name} gives other results for {task} and is not timed")
    return False


def _single(task: str, f: NativeFunction, libraries: Path | None, compared: list[str]) -> list[Row]:
    """One state a call, in a loop of machine code."""
    inputs = states(f.program, STATES)
    outputs = [np.zeros((1, int(np.prod(out.shape)))) for out in f.program.outputs]
    ours = kane_loop(f.address, inputs, outputs)
    path = None if libraries is None else libraries / f"{task}.so"
    function = casadi_function(str(path), task) if path is not None and path.exists() else None
    row = [np.ascontiguousarray(a[-1]) for a in inputs]
    if function is None or not _same("CasADi library", task, function(*row), f(*row), compared):
        t = timed(ours, STATES)
        return [Row(task, "single", STATES, "rows", "", t.ns, None, t.spread)]
    peer = casadi_loop(function, inputs)
    a, b = in_turn([ours, peer], STATES)
    return [Row(task, "single", STATES, "rows", "CasADi library", a.ns, b.ns, max(a.spread, b.spread))]


def _python(task: str, f: NativeFunction, peers: tuple[Peer, ...]) -> list[Row]:
    """One call from Python with fresh arrays; ours also with bound buffers."""
    row = [np.ascontiguousarray(a[0]) for a in states(f.program, 1)]
    bound = f.prepare(*row)
    rows = []
    for peer in peers:
        call = peer.call(task)
        if call is not None:
            a, b = in_turn([lambda: f(*row), call], 1)
            rows.append(Row(task, "python", 1, "fresh", peer.name, a.ns, b.ns, max(a.spread, b.spread)))
    t = timed(bound, 1)
    return [*rows, Row(task, "python", 1, "bound", "", t.ns, None, t.spread)]


def _batch(task: str, f: NativeFunction, peers: tuple[Peer, ...], floor: float) -> list[Row]:
    """Many states a call, rows (N, n) and columns (n, N), into arrays made before."""
    rows = []
    for n in BATCHES:
        for layout in ("rows", "columns"):
            inputs = states(f.program, n)
            if layout == "columns":
                inputs = [np.ascontiguousarray(a.T).T for a in inputs]
            made = f(*inputs)
            work: Callable[[], object] = lambda inputs=inputs, made=made: f(*inputs, out=made)  # type: ignore[misc]
            loops = [(p, call) for p in peers if (call := p.call(task)) is not None]
            if not loops:
                t = timed(work, n)
                rows.append(Row(task, "batch", n, layout, "", t.ns, None, t.spread, floor))
            for peer, call in loops:
                a = timed(work, n)
                b = timed(call, 1)
                rows.append(Row(task, "batch", n, layout, f"{peer.name}, call by call", a.ns, b.ns, a.spread, floor))
    return rows


def _vectors(task: str, f: NativeFunction, libraries: Path | None, floor: float, compared: list[str]) -> list[Row]:
    """Ours in columns beside the library's graph of one state rewritten for vectors of states, its data as it likes."""
    path = None if libraries is None else libraries / f"{task}_vectors.so"
    if path is None or not path.exists():
        return []
    n, name = BATCHES[-1], "CasADi library in vectors"
    inputs = states(f.program, n)
    peer = vector_function(str(path), f"{task}_vectors", inputs, sum(len(out.refs) for out in f.program.outputs))
    columns = [np.ascontiguousarray(a.T).T for a in inputs]
    made = f(*columns)
    peer()
    mine = np.concatenate([np.reshape(m, (n, -1)) for m in (made if isinstance(made, tuple) else (made,))], axis=1)
    if not _same(name, task, [peer.results.transpose(0, 2, 1)], mine, compared):
        return []
    a, b = in_turn([lambda: f(*columns, out=made), peer], n)
    return [Row(task, "batch", n, "columns", name, a.ns, b.ns, max(a.spread, b.spread), floor)]


def _batch_peers(
    task: str, f: NativeFunction, peers: tuple[Peer, ...], floor: float, compared: list[str]
) -> list[Row]:
    """Ours beside libraries that take batches."""
    rows = []
    inputs = states(f.program, BATCHES[-1])
    columns = [np.ascontiguousarray(a.T).T for a in inputs]
    for peer in peers:
        call = peer.batch(task, inputs) if peer.batch is not None else None
        if call is None or not _same(peer.name, task, [np.asarray(call())], f(*inputs), compared):
            continue
        for layout, arrays in (("rows", inputs), ("columns", columns)):
            out = f(*arrays)
            work: Callable[[], object] = lambda arrays=arrays, out=out: f(*arrays, out=out)  # type: ignore[misc]
            a, b = in_turn([work, call], len(inputs[0]), time.process_time)
            rows.append(Row(task, "batch", BATCHES[-1], layout, peer.name, a.ns, b.ns, max(a.spread, b.spread), floor))
    return rows
