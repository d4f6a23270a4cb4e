"""Peers in batches: C of one state rewritten for vectors, libraries that take batches, and those that disagree."""

from __future__ import annotations

import importlib.util
import platform
import shutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from kane import robots
from kane.benchmark.loop import vector_function
from kane.benchmark.peers import Peer
from kane.benchmark.run import bench
from kane.equations.derive import derive_task

# in the form of CasADi's files: x of 3, y of 2 numbers; outputs of 2 and of 3 stored ones in a 2 x 2 matrix
TEXT = """
static const casadi_int casadi_s0[3] = {3, 1, 1};
static const casadi_int casadi_s1[3] = {2, 1, 1};
static const casadi_int casadi_s2[8] = {2, 2, 0, 2, 3, 0, 1, 1};

/* f:(x[3],y[2])->(z[2],m[2x2,3nz]) */
static int casadi_f0(const casadi_real** arg, casadi_real** res, casadi_int* iw, casadi_real* w, int mem) {
  casadi_real a0, a1, a2, a3;
  a0=arg[0]? arg[0][2] : 0;
  a1=arg[1]? arg[1][1] : 0;
  a2=sin(a0);
  a3=-2.5000000000000000e-01;
  a3=(a3*a1);
  a2=(a2+a3);
  if (res[0]!=0) res[0][0]=a2;
  a2=casadi_sq(a2);
  a3=1.;
  a2=(a2+a3);
  a2=sqrt(a2);
  a2=(1./a2);
  if (res[0]!=0) res[0][1]=a2;
  a3=cos(a1);
  a3=(-a3);
  if (res[1]!=0) res[1][0]=a3;
  a0=(2.*a0);
  a0=(a0-a1);
  if (res[1]!=0) res[1][2]=a0;
  a0=arg[0]? arg[0][0] : 0;
  if (res[1]!=0) res[1][1]=a0;
  return 0;
}
CASADI_SYMBOL_EXPORT const casadi_int* f_sparsity_in(casadi_int i) {
  switch (i) {
    case 0: return casadi_s0;
    case 1: return casadi_s1;
    default: return 0;
  }
}
CASADI_SYMBOL_EXPORT const casadi_int* f_sparsity_out(casadi_int i) {
  switch (i) {
    case 0: return casadi_s1;
    case 1: return casadi_s2;
    default: return 0;
  }
}
"""


@pytest.fixture
def vectors() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "peers" / "vectors.py"
    spec = importlib.util.spec_from_file_location("vectors", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def has_vector_sines() -> bool:
    return platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc" and shutil.which("gcc") is not None


@pytest.mark.skipif(not has_vector_sines(), reason="wants gcc and libmvec")
def test_vectors_of_states_by_hand(vectors: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(TEXT)
    vectors.build(tmp_path)
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-2, 2, (64, 3)), rng.uniform(-2, 2, (64, 2))
    f = vector_function(str(tmp_path / "f_vectors.so"), "f_vectors", [x, y], 5)
    f()
    got = f.results.transpose(0, 2, 1).reshape(64, 5)
    z = np.sin(x[:, 2]) - 0.25 * y[:, 1]
    expected = np.stack([z, 1 / np.sqrt(z * z + 1), -np.cos(y[:, 1]), x[:, 0], 2 * x[:, 2] - y[:, 1]], axis=1)
    np.testing.assert_allclose(got, expected, rtol=1e-14, atol=1e-14)


def test_a_peer_of_batches_is_timed_only_where_it_agrees() -> None:
    """A planar arm of two links; one peer has the right matrix, one another, one no such task."""
    program = derive_task(robots.load("two_link"), "mass_matrix").program
    from kane.native import compile_program

    right = compile_program(program)
    peers = (
        Peer("right", "1", {}, lambda task, arrays: lambda: right(*arrays)),
        Peer("wrong", "1", {}, lambda task, arrays: lambda: 1.001 * right(*arrays)),
        Peer("idle", "1", {}, lambda task, arrays: None),
    )
    result = bench({"mass_matrix": program}, peers)
    beside = [r for r in result["rows"] if r["peer"]]
    assert {(r["peer"], r["layout"]) for r in beside} == {("right", "rows"), ("right", "columns")}
    assert all(r["peer_ns"] > 0 and r["n"] == 4096 for r in beside)
    assert [text for text in result["compared"] if "other results" in text] == [
        "wrong gives other results for mass_matrix and is not timed"
    ]


def test_bundled_robots_are_written_for_the_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """A robot without a file has peers too, and it says what they leave out."""
    pytest.importorskip("pinocchio")
    from kane.api.robot import load
    from kane.api.work import bench_work
    from kane.benchmark import timing

    monkeypatch.setattr(timing, "SECONDS", 1e-3)
    for name, note in (("two_link", "as URDF"), ("puma560", "as URDF, without its rotors")):
        result = bench_work(load(name), None)
        assert "pinocchio" in {peer["name"] for peer in result["peers"]}
        assert result["compared"][-1].endswith(note)
        beside = {(r["task"], r["mode"]) for r in result["rows"] if r["peer"].startswith("pinocchio")}
        assert len(beside) == 10  # five tasks, single calls from Python and batches
