"""Arrays in and out of compiled functions: layouts, broadcasting, types, `out=`, threads, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from kane.errors import ShapeError
from kane.graph.arena import Graph
from kane.graph.program import Input, Program, build_program
from kane.native import NativeFunction, compile_program
from native.arrays import assert_same_bits, states

P = np.array([1.5, 0.75, 1.0, 0.5, 9.81])


class TestArrays:
    @pytest.fixture
    def f(self, two_link: Program) -> NativeFunction:
        return compile_program(two_link, default_parameters=P)

    @pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 31, 64, 67, 256, 515, 1003])
    def test_batch_sizes_and_layouts(self, f: NativeFunction, n: int) -> None:
        q, qd, qdd = states(f.program, (n,))[:3]
        expected = np.array([f(*x) for x in zip(q, qd, qdd, strict=True)]).reshape(n, 2)
        assert_same_bits(f(q, qd, qdd), expected)
        columns = [np.asfortranarray(x) for x in (q, qd, qdd)]
        assert_same_bits(f(*columns), expected)
        if n > 1:
            assert f(*columns).strides[0] == 8
        wide = [np.zeros((n, 6))[:, ::3] for _ in range(3)]
        for w, x in zip(wide, (q, qd, qdd), strict=True):
            w[...] = x
        assert_same_bits(f(*wide), expected)
        backwards = [x[::-1].copy()[::-1] for x in (q, qd, qdd)]
        assert_same_bits(f(*backwards), expected)
        assert_same_bits(f(columns[0], qd, wide[2]), expected)
        out = np.full((2, n), np.nan).T
        assert f(q, qd, qdd, out=out) is out
        assert_same_bits(out, expected)

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_columns_anywhere_in_memory(self, two_link: Program, dtype: str) -> None:
        """Whatever few states go first so that vectors are aligned, and whether columns are aligned alike."""
        f = compile_program(two_link, dtype, default_parameters=P)
        rng = np.random.default_rng(7)
        for n, gap in [(256, 0), (257, 3), (300, 4), (511, 1), (512, 0), (512, 8), (1000, 24), (4096, 0)]:
            for _ in range(8):
                columns = []
                for values in (*states(f.program, (n,))[:3], np.full((n, 2), np.nan)):
                    raw = np.full(2 * (n + gap) + 16, np.nan, dtype)
                    start = rng.integers(16)
                    column = raw[start : start + 2 * (n + gap)].reshape(2, n + gap)[:, :n].T
                    column[...] = values
                    columns.append((column, raw))
                (q, _), (qd, _), (qdd, _), (out, raw) = columns
                before = np.isnan(raw).sum()
                f(q, qd, qdd, out=out)
                assert_same_bits(out, f(*(np.ascontiguousarray(x) for x in (q, qd, qdd))))
                assert np.isnan(raw).sum() == before - 2 * n  # nothing written beside it
                some = rng.integers(n, size=5)
                assert_same_bits(out[some], np.array([f(q[i], qd[i], qdd[i]) for i in some]))

    def test_broadcasting(self, f: NativeFunction) -> None:
        rng = np.random.default_rng(1)
        q, qd, qdd = rng.normal(size=(4, 1, 2)), rng.normal(size=(3, 2)), rng.normal(size=2)
        got = f(q, qd, qdd)
        assert got.shape == (4, 3, 2)
        for i in range(4):
            for j in range(3):
                assert_same_bits(got[i, j], f(q[i, 0], qd[j], qdd))

    def test_many_axes_with_a_long_one_in_front(self, f: NativeFunction) -> None:
        q = np.random.default_rng(2).normal(size=(3, 200, 2)).transpose(1, 0, 2)
        got = f(q, np.zeros(2), np.zeros(2))
        for j in range(3):
            assert_same_bits(got[:, j], f(np.ascontiguousarray(q[:, j]), np.zeros(2), np.zeros(2)))

    def test_short_axes_that_do_not_merge(self, f: NativeFunction) -> None:
        q = np.random.default_rng(3).normal(size=(3, 4, 5, 2)).transpose(1, 2, 0, 3)
        got = f(q, np.ones(2), np.zeros(2))
        assert_same_bits(got, f(np.ascontiguousarray(q), np.ones(2), np.zeros(2)))
        assert_same_bits(got[1, 2, 0], f(q[1, 2, 0], np.ones(2), np.zeros(2)))

    def test_other_types(self, f: NativeFunction) -> None:
        expected = f(np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.array([3.0, -1.0]))
        assert_same_bits(f([1, 2], (0, 1), np.array([3, -1], dtype=np.int8)), expected)
        swapped = np.array([1.0, 2.0], dtype=">f8")
        assert_same_bits(f(swapped, np.array([False, True]), np.array([3, -1], object)), expected)
        raw = np.zeros(17, dtype=np.uint8)[1:].view(np.float64)
        raw[...] = (1.0, 2.0)
        assert_same_bits(f(raw, [0, 1], [3, -1]), expected)

        class Sub(np.ndarray):
            pass

        assert_same_bits(f(np.array([1.0, 2.0]).view(Sub), [0, 1], [3, -1]), expected)

    def test_out(self, f: NativeFunction) -> None:
        q, qd, qdd = (np.array(x) for x in ([0.3, 0.4], [1.0, 2.0], [0.1, 0.2]))
        expected = f(q, qd, qdd)
        out = np.empty(2)
        assert f(q, qd, qdd, out=out) is out
        assert_same_bits(out, expected)
        small = np.empty(2, np.float32)
        assert f(q, qd, qdd, out=small) is small
        np.testing.assert_allclose(small, expected, rtol=1e-6)
        strided = np.zeros(4)[::2]
        f(q, qd, qdd, out=strided)
        assert_same_bits(strided, expected)

    def test_out_over_an_input(self, f: NativeFunction) -> None:
        q, qd, qdd = (np.array(x) for x in ([0.3, 0.4], [1.0, 2.0], [0.1, 0.2]))
        expected = f(q, qd, qdd)
        assert_same_bits(f(q, qd, qdd, out=q), expected)
        for layout in "CF":
            for n in (37, 301):
                q, qd, qdd = (np.array(x, order=layout) for x in states(f.program, (n,))[:3])
                expected = f(q, qd, qdd).copy()
                assert_same_bits(f(q, qd, qdd, out=q), expected)
        buffer = np.random.default_rng(0).normal(size=3)
        expected = f(buffer[:2].copy(), qd[0], qdd[0])
        assert_same_bits(f(buffer[:2], qd[0], qdd[0], out=buffer[1:]), expected)

    @pytest.mark.parametrize(
        ("shapes", "words"),
        [
            (((3,), (2,), (2,)), ("q", "(3,)", "(2,)")),
            (((5, 2), (5, 3), (2,)), ("qd", "(5, 3)", "(2,)")),
            (((2,), (2,), ()), ("qdd", "()", "(2,)")),
            (((4, 2), (5, 2), (2,)), ("(4, 2)", "(5, 2)", "(..., 2)")),
        ],
    )
    def test_wrong_shapes_state_both(self, f: NativeFunction, shapes: tuple, words: tuple) -> None:
        with pytest.raises(ShapeError) as caught:
            f(*(np.zeros(s) for s in shapes))
        for word in words:
            assert word in str(caught.value)

    def test_wrong_out(self, f: NativeFunction) -> None:
        z = np.zeros(2)
        with pytest.raises(ShapeError, match=r"\(3,\), expected \(2,\)"):
            f(z, z, z, out=np.zeros(3))
        with pytest.raises(ShapeError, match="int64"):
            f(z, z, z, out=np.zeros(2, np.int64))
        locked = np.zeros(2)
        locked.flags.writeable = False
        with pytest.raises(ShapeError, match="read-only"):
            f(z, z, z, out=locked)
        with pytest.raises(ShapeError, match="list"):
            f(z, z, z, out=[[1, 2]])

    def test_wrong_types_and_counts(self, f: NativeFunction) -> None:
        z = np.zeros(2)
        with pytest.raises(ShapeError, match="qd is not an array of real numbers"):
            f(z, z + 1j, z)
        with pytest.raises(ShapeError, match="q is not"):
            f(["a", "b"], z, z)
        with pytest.raises(ShapeError, match=r"q is not .*None"):
            f([None, 1.0], z, z)
        with pytest.raises(TypeError, match=r"takes 4 arrays \(q, qd, qdd, p\); 2 were given"):
            f(z, z)
        with pytest.raises(TypeError, match="takes the keywords out and threads and p, not where"):
            f(z, z, z, where=True)
        with pytest.raises(ShapeError, match="q is not an array of real numbers"):
            f([10**400, 0], z, z)

    def test_numbers_too_large_for_a_smaller_out(self, f: NativeFunction) -> None:
        """Infinite in single precision, without a warning (which would fail here)."""
        fast = np.array([0.0, 1e30])
        out = np.zeros(2, np.float32)
        assert np.isfinite(f(fast, fast, fast)).all()
        assert f(fast, fast, fast, out=out) is out
        assert out[0] == -np.inf and np.isfinite(out[1])


@pytest.mark.parametrize("n", [20_003, 1 << 14, 1 << 15])
def test_many_long_columns(n: int) -> None:
    """More columns than a processor fetches ahead, beyond the caches: used in place, at any distance of columns."""
    g = Graph()
    names = tuple(f"x{i}" for i in range(40))
    x = [g.symbol(name) for name in names]
    products = [g.mul(a, b) for a, b in zip(x, x[1:] + x[:1], strict=True)]
    f = compile_program(build_program(g, "products", [Input("x", names)], [("y", (40,), products)]))
    columns = np.random.default_rng(0).normal(size=(40, n)).T
    assert_same_bits(f(columns), columns * np.roll(columns, -1, axis=1))
