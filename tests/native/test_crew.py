"""Batches on several threads: equal bits, late helpers, forks, no threads or memory left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from kane.errors import NumberError
from kane.graph.program import Program
from kane.native import NativeFunction, compile_program
from native.arrays import assert_same_bits, states

P = np.array([1.5, 0.75, 1.0, 0.5, 9.81])
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no POSIX threads")


@pytest.fixture
def f(two_link: Program) -> NativeFunction:
    return compile_program(two_link, default_parameters=P)


def system_threads() -> int:
    return len(os.listdir("/proc/self/task"))


@pytest.mark.parametrize("n", [1, 63, 64, 128, 129, 5003, 40_000])
@pytest.mark.parametrize("threads", [2, 3, 7, 1000])
def test_bits_do_not_depend_on_threads(f: NativeFunction, n: int, threads: int) -> None:
    rows = states(f.program, (n,))[:3]
    expected = f(*rows)
    assert_same_bits(f(*rows, threads=threads), expected)
    columns = [np.asfortranarray(a) for a in rows]
    out = np.full((2, n), np.nan).T
    assert f(*columns, out=out, threads=threads) is out
    assert_same_bits(out, expected)
    backwards = [a[::-1].copy()[::-1] for a in rows]
    assert_same_bits(f(*backwards, threads=threads), expected)


def test_every_way_to_say_it(f: NativeFunction) -> None:
    """Keywords in either order, integers of other kinds, too many, and outputs that overlap inputs."""
    n = 30_000
    arrays = states(f.program, (n,))[:3]
    expected = f(*arrays)
    for threads in (1, True, np.int64(2), 2, 2**40, 2**70):
        for _ in range(2):  # the first call makes what the second uses
            out = np.full((n, 2), np.nan)
            assert f(*arrays, out=out, threads=threads) is out
            assert_same_bits(out, expected)
            out[...] = np.nan
            assert f(*arrays, threads=threads, out=out) is out
            assert_same_bits(out, expected)
            assert_same_bits(f(*arrays, threads=threads), expected)
    q = arrays[0].copy()
    assert f(q, *arrays[1:], out=q, threads=2) is q
    assert_same_bits(q, expected)
    for wrong in (0, -3, 1.5):
        with pytest.raises(NumberError, match="threads is"):
            f(*arrays, out=out, threads=wrong)
    with pytest.raises(TypeError):
        f(*arrays, out=out, thread=2)


@pytest.mark.parametrize("threads", [0, -1, 2.0, "2", None])
def test_wrong_numbers_of_threads(f: NativeFunction, threads: object) -> None:
    with pytest.raises(NumberError, match="threads is"):
        f(*states(f.program, (200,))[:3], threads=threads)


def test_calls_with_helpers_from_several_threads(f: NativeFunction) -> None:
    """Calls at the same time do not share chunks."""
    many = [states(f.program, (3001,), seed=k)[:3] for k in range(4)]
    expected = [f(*a) for a in many]
    got: list[list[np.ndarray]] = [[] for _ in many]

    def work(k: int) -> None:
        for _ in range(30):
            got[k].append(f(*many[k], threads=3))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(len(many))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for k, results in enumerate(got):
        assert len(results) == 30
        for result in results:
            assert_same_bits(result, expected[k])


@POSIX
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")
def test_no_threads_are_left(f: NativeFunction) -> None:
    arrays = states(f.program, (20_000,))[:3]
    before = system_threads()
    for _ in range(200):
        f(*arrays, threads=4)
    deadline = time.monotonic() + 20
    while system_threads() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert system_threads() <= before


SCRIPT = """
import os, sys
import numpy as np
from kane.graph.arena import Graph
from kane.graph.program import Input, build_program
from kane.native import compile_program

g = Graph()
x = g.symbol("x")
f = compile_program(build_program(g, "f", [Input("x", ("x",))], [("y", (1,), [g.sin(g.mul(x, x))])]))
a = np.random.default_rng(0).normal(size=(20000, 1))
expected = f(a)
assert (f(a, threads=3) == expected).all()
{rest}
"""
FORK = """
import warnings
warnings.simplefilter("ignore")  # later Pythons warn of any fork while the system has more than one thread
for _ in range(20):
    f(a, threads=4)
    child = os.fork()
    if not child:
        os._exit(0 if (f(a, threads=4) == expected).all() else 3)
    assert os.waitpid(child, 0)[1] == 0
assert (f(a, threads=3) == expected).all()
"""
# helpers that have not begun when the function, its code and the interpreter go away
LATE = """
for _ in range(50):
    f(a, threads=200)
del f
"""
LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_NPROC, (1, resource.getrlimit(resource.RLIMIT_NPROC)[1]))
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
assert (f(a, threads=250) == expected).all()
"""


@POSIX
@pytest.mark.parametrize("rest", [FORK, LATE, LIMITED], ids=["fork", "late", "no more threads"])
def test_processes(rest: str) -> None:
    """A fork after threads, an end while helpers are late, and a system that gives no threads."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(rest=rest)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
