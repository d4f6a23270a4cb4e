"""Compiled functions: values, equal bits from single and batch calls, array manners, errors, bound calls, pointers."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from kane.errors import ShapeError, UnsupportedError
from kane.graph.arena import Graph
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, Program, build_program
from kane.native import build, compile_program, function
from kane.native.host import Dtype, this_host
from kane.rewrite.fuse import fuse
from native.arrays import assert_same_bits, named, states

Make = Callable[..., Program]
P = np.array([1.5, 0.75, 1.0, 0.5, 9.81])


@pytest.mark.parametrize("block", [2000, 17])
@pytest.mark.parametrize("seed", range(4))
def test_values_and_bits(random_program: Make, seed: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "BLOCK", block)
    program = random_program(seed)
    f = compile_program(program)
    arrays = states(program, (13,), seed)
    together = f(*arrays)
    reference = evaluate(fuse(program), named(program, arrays))
    for out, got in zip(program.outputs, together, strict=True):
        scale = np.abs(reference[out.name]).max() + 1
        np.testing.assert_allclose(got, reference[out.name], rtol=1e-11, atol=1e-11 * scale)
    for n in range(13):
        one = f(*(a[n] if a.ndim > 1 else a for a in arrays))
        for got, row in zip(one, together, strict=True):
            assert_same_bits(got, row[n])


@pytest.mark.parametrize("seed", range(2))
def test_float32(random_program: Make, seed: int) -> None:
    program = random_program(seed, functions=False, size=60)
    f = compile_program(program, dtype="float32")
    arrays = states(program, (21,), seed)
    together = f(*arrays)
    reference = evaluate(program, named(program, arrays))
    for out, got in zip(program.outputs, together, strict=True):
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, reference[out.name], rtol=1e-4, atol=2e-4)
    small = [a.astype(np.float32) for a in arrays]
    for n in range(21):
        one = f(*(a[n] if a.ndim > 1 else a for a in small))
        for got, row in zip(one, together, strict=True):
            assert_same_bits(got, row[n])


def test_two_link_closed_form(two_link: Program) -> None:
    f = compile_program(two_link, default_parameters=P)
    m1, m2, l1, l2, g = P
    q, qd, qdd = states(two_link, (5,))[:3]
    c2, s2, c12 = np.cos(q[:, 1]), np.sin(q[:, 1]), np.cos(q.sum(1))
    m12 = m2 * l2**2 + m2 * l1 * l2 * c2
    tau1 = (
        ((m1 + m2) * l1**2 + m2 * l2**2 + 2 * m2 * l1 * l2 * c2) * qdd[:, 0] + m12 * qdd[:, 1]
        - m2 * l1 * l2 * s2 * (2 * qd[:, 0] * qd[:, 1] + qd[:, 1] ** 2)
        + (m1 + m2) * l1 * g * np.cos(q[:, 0]) + m2 * l2 * g * c12
    )
    tau2 = m12 * qdd[:, 0] + m2 * l2**2 * qdd[:, 1] + m2 * l1 * l2 * s2 * qd[:, 0] ** 2 + m2 * l2 * g * c12
    np.testing.assert_allclose(f(q, qd, qdd), np.stack([tau1, tau2], -1), rtol=1e-13, atol=1e-13)


def test_parameters(two_link: Program) -> None:
    f = compile_program(two_link, default_parameters=P)
    bare = compile_program(two_link)
    q, qd, qdd = states(two_link, (9,))[:3]
    other = P * 1.25
    assert_same_bits(f(q, qd, qdd), bare(q, qd, qdd, P))
    for _ in range(2):  # the constants of the last parameters are kept
        for p in (P, other):
            assert_same_bits(f(q, qd, qdd, p), bare(q, qd, qdd, p))
            assert_same_bits(f(q[0], qd[0], qdd[0], p), bare(q, qd, qdd, p)[0])
    changing = P.copy()
    first = bare(q[0], qd[0], qdd[0], changing)
    changing *= 1.25
    assert_same_bits(bare(q[0], qd[0], qdd[0], changing), f(q[0], qd[0], qdd[0], other))
    assert np.any(first != bare(q[0], qd[0], qdd[0], changing))
    with pytest.raises(TypeError, match="takes 4 arrays"):
        bare(q, qd, qdd)
    with pytest.raises(ShapeError, match=r"p has shape \(4,\), expected \(5,\)"):
        bare(q, qd, qdd, P[:4])


def test_parameters_with_batch_axes(random_program: Make) -> None:
    program = random_program(5)
    f = compile_program(program)
    q, v, _ = states(program, (11,))
    p = np.random.default_rng(4).uniform(0.5, 1.5, (11, 3))
    together = f(q, v, p)
    crossed = f(q, v, p[:2, None])
    for n in range(11):
        for row, both, one in zip(together, crossed, f(q[n], v[n], p[n]), strict=True):
            assert_same_bits(row[n], one)
            if n < 2:
                assert_same_bits(both[n, n], one)


def test_prepared_call(two_link: Program) -> None:
    f = compile_program(two_link, default_parameters=P)
    q, qd, qdd = states(two_link, ())[:3]
    out = np.empty(2)
    step = f.prepare(q, qd, qdd, out=out)
    assert step() is out
    assert_same_bits(out, f(q, qd, qdd))
    q += 0.25
    assert_same_bits(step(), f(q, qd, qdd))
    p = P.copy()
    step = f.prepare(q, qd, qdd, p)
    p *= 2
    assert_same_bits(step(), f(q, qd, qdd, p))
    batch = states(two_link, (20,))[:3]
    step = f.prepare(*batch)
    batch[1][...] = 0
    assert_same_bits(step(), f(*batch))
    with pytest.raises(ShapeError, match="cannot be bound"):
        f.prepare([1, 2], qd, qdd)
    with pytest.raises(ShapeError, match="q has shape"):
        f.prepare(np.zeros(3), qd, qdd)
    with pytest.raises(ShapeError, match="do not broadcast"):
        f.prepare(np.zeros((3, 2)), np.zeros((4, 2)), qdd)


def test_prepared_call_outlives_its_function(two_link: Program) -> None:
    q, qd, qdd = states(two_link, ())[:3]
    f = compile_program(two_link, default_parameters=P)
    expected, step = f(q, qd, qdd), f.prepare(q, qd, qdd)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None
    assert_same_bits(step(), expected)


def test_pointer(two_link: Program) -> None:
    f = compile_program(two_link, default_parameters=P)
    arrays = states(two_link, ())
    out = np.empty(2)
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)(f.address)
    call(*(a.ctypes.data for a in arrays), out.ctypes.data)
    assert_same_bits(out, f(*arrays))
    call(*(a.ctypes.data for a in arrays[:3]), None, out.ctypes.data)
    assert_same_bits(out, f(*arrays[:3]))


def test_batch_pointer(two_link: Program) -> None:
    f = compile_program(two_link, default_parameters=P)
    arrays = states(two_link, (10,))[:3]
    out = np.empty((10, 2))
    table = np.array([*(a.ctypes.data for a in [*arrays, out]), *[16] * 4, *[8] * 4])
    at = table.ctypes.data
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 4)
    kind(f.batch_address)(10, at, at + 32, at + 64, f.constants().ctypes.data)
    assert_same_bits(out, f(*arrays))


def test_special_values_reach_only_what_depends_on_them(random_program: Make) -> None:
    program = random_program(7)
    f = compile_program(program)
    q, v, p = states(program, (40,))
    calm = f(q, v, p)
    for n, bad in enumerate([np.nan, np.inf, -np.inf, 1e5, -3e7, 1e300, 5e-324, -0.0]):
        q[5 * n, n % 5] = bad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wild = f(q, v, p)
        reference = evaluate(fuse(program), named(program, [q, v, p]))
        for out, a, b in zip(program.outputs, calm, wild, strict=True):
            quiet = [n for n in range(40) if n % 5]
            assert_same_bits(a[quiet], b[quiet])
            np.testing.assert_array_equal(np.isnan(b), np.isnan(reference[out.name]))
        for n in range(40):
            for one, row in zip(f(q[n], v[n], p), wild, strict=True):
                np.testing.assert_array_equal(one, row[n])
        np.add(q[1], 1.0)


def test_nan_stays_on_its_path() -> None:
    g = Graph()
    a, b = g.symbol("a"), g.symbol("b")
    program = build_program(g, "f", [Input("x", ("a", "b"))], [("y", (2,), [g.sin(a), g.mul(g.cos(b), b)])])
    f = compile_program(program)
    got = f([np.nan, 0.5])
    assert np.isnan(got[0])
    assert got[1] == f([0.25, 0.5])[1]


def test_scalar_output_is_a_numpy_scalar(random_program: Make) -> None:
    f = compile_program(random_program(1))
    assert isinstance(f(*states(f.program, ()))[2], np.float64)
    assert f(*states(f.program, (3,)))[2].shape == (3,)


def test_calls_from_many_threads(two_link: Program) -> None:
    f = compile_program(two_link)
    q, qd, qdd = states(two_link, (200,))[:3]
    sets = [P * (1 + k) for k in range(4)]
    expected = [f(q, qd, qdd, p).copy() for p in sets]
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(30):
            if not np.array_equal(f(q, qd, qdd, sets[k]), expected[k]):
                wrong.append(k)
            if not np.array_equal(f(q[3], qd[3], qdd[3], sets[k]), expected[k][3]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_no_references_leak(two_link: Program) -> None:
    f = compile_program(two_link, default_parameters=P)
    q, qd, qdd = states(two_link, ())[:3]
    out = np.empty(2)
    step = f.prepare(q, qd, qdd, out=out)
    before = [sys.getrefcount(x) for x in (q, qd, qdd, out, f)]
    for _ in range(100):
        f(q, qd, qdd)
        f(q, qd, qdd, out=out)
        f(q[None], qd[None], qdd[None])
        step()
    assert [sys.getrefcount(x) for x in (q, qd, qdd, out, f)] == before


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_equal_bits_with_vectors_of_any_width(
    random_program: Make, bits: int, dtype: Dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processor's own width and others, which LLVM cuts or joins."""
    program = random_program(11, functions=dtype == "float64", size=80)
    own = compile_program(program, dtype)
    monkeypatch.setattr(function, "this_host", lambda: replace(this_host(), bits=bits))
    other = compile_program(program, dtype)
    arrays = [a.astype(dtype) for a in states(program, (45,))]
    for a, b in zip(own(*arrays), other(*arrays), strict=True):
        assert_same_bits(a, b)
    for a, b in zip(own(*(a[..., 3, :] if a.ndim > 1 else a for a in arrays)), other(*arrays), strict=True):
        assert_same_bits(a, b[3])


def test_without_fast_calls(two_link: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = compile_program(two_link, default_parameters=P)
    monkeypatch.setattr(function, "has_fast_calls", lambda: False)
    plain = compile_program(two_link, default_parameters=P)
    for batch in ((), (7,), (2, 3)):
        arrays = states(two_link, batch)[:3]
        assert_same_bits(plain(*arrays), fast(*arrays))
        out = np.empty((*batch, 2))
        step = plain.prepare(*arrays, out=out)
        assert step() is out
        assert_same_bits(out, fast(*arrays))


def test_out_of_a_batch_with_matrices(random_program: Make) -> None:
    g = Graph()
    x = [g.symbol(f"x{i}") for i in range(3)]
    refs = [g.mul(a, b) for a in x for b in x][:6]
    program = build_program(g, "outer", [Input("x", ("x0", "x1", "x2"))], [("y", (2, 3), refs)])
    f = compile_program(program)
    x_ = np.random.default_rng(0).normal(size=(10, 3))
    expected = (x_[:, :2, None] * x_[:, None, :]).copy()
    assert_same_bits(f(x_), expected)
    assert_same_bits(f(np.asfortranarray(x_)), expected)
    for out in (
        np.empty((10, 2, 3)), np.empty((2, 3, 10)).transpose(2, 0, 1), np.empty((3, 2, 10)).transpose(2, 1, 0),
        np.empty((20, 2, 3))[::-2], np.empty((10, 2, 6))[..., ::2], np.empty((10, 2, 3), np.float32),
    ):  # fmt: skip
        assert f(x_, out=out) is out
        np.testing.assert_allclose(out, expected, rtol=0 if out.dtype == np.float64 else 1e-6)
    with pytest.raises(ShapeError, match=r"\(10, 3, 2\), expected \(10, 2, 3\)"):
        f(x_, out=np.empty((10, 3, 2)))


@pytest.mark.parametrize("n", [255, 256, 257, 768, 6144, 6147])
def test_columns_that_share_cache_sets(random_program: Make, n: int) -> None:
    """Columns a multiple of 2 KiB apart go through the scratch, unless few, or far apart as in the last two."""
    program = random_program(2)
    f = compile_program(program)
    arrays = states(program, (n,))
    rows = f(*arrays)
    columns = f(*(np.asfortranarray(a) for a in arrays))
    for a, b in zip(rows, columns, strict=True):
        assert_same_bits(a, b)
        assert n < 2 or b.strides[0] == 8


def test_refusals(two_link: Program, random_program: Make) -> None:
    with pytest.raises(UnsupportedError, match="float16"):
        compile_program(two_link, dtype="float16")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"p has shape \(3,\), expected \(5,\)"):
        compile_program(two_link, default_parameters=P[:3])
    with pytest.raises(UnsupportedError, match="no parameters"):
        compile_program(random_program(0, parameters=False), default_parameters=P)


def test_arrays_of_size_zero() -> None:
    g = Graph()
    x = g.symbol("x")
    outputs = [("y", (0,), []), ("m", (0, 0), []), ("e", (), [x])]
    f = compile_program(build_program(g, "f", [Input("q", ()), Input("v", ("x",))], outputs))
    for batch in ((), (5,), (0,), (2, 3)):
        q, v = np.zeros((*batch, 0)), np.ones((*batch, 1))
        for order in "CF":
            got = f(np.array(q, order=order), np.array(v, order=order))
            assert [np.shape(a) for a in got] == [(*batch, 0), (*batch, 0, 0), batch]
            assert np.all(got[2] == 1)
        assert [a.shape for a in f.prepare(q, v)()] == [(*batch, 0), (*batch, 0, 0), batch]
    constant = build_program(g, "c", [], [("y", (2,), [g.number(2), g.pi()])])
    f = compile_program(constant)
    np.testing.assert_array_equal(f(), [2, np.pi])
    np.testing.assert_array_equal(f.prepare()(), [2, np.pi])


def test_repr_is_short(two_link: Program) -> None:
    f = compile_program(two_link)
    assert repr(f) == (
        "<NativeFunction inverse_dynamics: q (..., 2), qd (..., 2), qdd (..., 2), p (..., 5) -> tau (..., 2), float64>"
    )


def test_lock_is_released_in_large_batches(two_link: Program) -> None:
    """Another thread counts on while a large batch runs."""
    f = compile_program(two_link, default_parameters=P)
    arrays = states(two_link, (400_000,))[:3]
    out = np.empty((400_000, 2))
    f(*(a[:9] for a in arrays))
    count, stop = 0, threading.Event()

    def tick() -> None:
        nonlocal count
        while not stop.is_set():
            time.sleep(2e-4)
            count += 1

    interval = sys.getswitchinterval()
    sys.setswitchinterval(30.0)  # the lock goes over only where it is given away
    try:
        for extra in ([], [P * 2]):
            stop.clear()
            worker = threading.Thread(target=tick)
            worker.start()
            time.sleep(5e-3)
            seen = count
            for _ in range(3):
                f(*arrays, *extra, out=out)
            assert count > seen
            stop.set()
            worker.join()
    finally:
        stop.set()
        sys.setswitchinterval(interval)


def test_choices_tell_what_was_done(two_link: Program) -> None:
    f = compile_program(two_link, default_parameters=P, cache=False)
    assert [c.from_cache for c in f.choices] == [False]
    f(*states(two_link, (9,))[:3])
    assert len(f.choices) == 2
    assert f.choices[0].blocks == 1
    assert f.choices[0].opt == 2
