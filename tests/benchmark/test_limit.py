"""The benchmark itself: the machine's limit, rows, what was compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from kane import robots
from kane.benchmark.limit import Limit, measured_limit
from kane.benchmark.peers import Peer
from kane.benchmark.run import bench
from kane.equations.derive import derive_task
from kane.graph.arena import Graph
from kane.graph.program import Input, build_program


def test_floor_by_hand() -> None:
    """Three products, one sum, one angle."""
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    out = g.add(g.mul(g.mul(x, y), g.sin(x)), g.mul(x, g.cos(x)))
    program = build_program(g, "p", [Input("x", ("x", "y"))], [("z", (1,), [out])])
    assert program.counts.mul == 3 and program.counts.trig_arguments == 1
    assert Limit(2.0, 1.5).floor(program) == pytest.approx(3 / 2.0 + 1.5)


def test_measured_limit_is_that_of_a_processor() -> None:
    """Between one multiply-add in five cycles and four AVX-512 ones in each at 6 GHz; single precision no slower."""
    double, single = measured_limit("float64"), measured_limit("float32")
    assert 0.1 < double.fma_per_ns < 200
    assert single.fma_per_ns > 1.3 * double.fma_per_ns
    assert 0 <= double.sincos_ns < 100


def test_rows_say_what_was_compared(tmp_path: Path) -> None:
    """Every task in every mode, a peer beside each, and a note where no peer in C was given."""
    program = derive_task(robots.load("two_link"), "mass_matrix").program
    peer = Peer("counting", "1", {"mass_matrix": lambda: sum(range(10))})
    result = bench({"mass_matrix": program}, (peer,))
    rows = result["rows"]
    assert {(r["mode"], r["n"], r["layout"]) for r in rows} == {
        ("single", 1024, "rows"), ("python", 1, "fresh"), ("python", 1, "bound"),
        *(("batch", n, layout) for n in (64, 4096) for layout in ("rows", "columns")),
    }  # fmt: skip
    for r in rows:
        assert r["ours_ns"] > 0 and r["spread"] >= 1
        assert (r["ratio"] is None) == (r["peer_ns"] is None)
        assert (r["share"] is None) == (r["mode"] != "batch")
    assert any("no peer in C" in text for text in result["compared"])
    assert result["limit"]["flops_per_ns"] == 2 * result["limit"]["fma_per_ns"]
