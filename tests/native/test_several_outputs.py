"""`out=` of programs with several outputs: a tuple of arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from kane.errors import ShapeError
from kane.graph.arena import Graph
from kane.graph.program import Input, Program, build_program
from kane.native import compile_program
from kane.native.call import General
from native.arrays import assert_same_bits, states

Make = Callable[..., Program]


@pytest.mark.parametrize("batch", [(), (9,)])
def test_out_of_several_outputs(random_program: Make, batch: tuple[int, ...]) -> None:
    """A tuple of arrays comes back itself; arrays that shares memory or have other strides are served as well."""
    program = random_program(3)
    f = compile_program(program)
    arrays = states(program, batch, 3)
    if f.default_parameters is None and program.parameter_names:
        f = compile_program(program, default_parameters=arrays[-1])
    expected = f(*arrays[:2])
    kinds = (
        lambda s: np.empty(s), lambda s: np.empty((*s[::-1],)).T, lambda s: np.empty((*s, 2))[..., 0],
    )  # fmt: skip
    for kind in kinds:
        out = tuple(kind((*batch, *o.shape)) for o in program.outputs)
        for _ in range(2):  # the second time the batch's code is there
            made = f(*arrays[:2], out=out)
            assert len(made) == len(out)
            for a, b, c in zip(made, out, expected, strict=True):
                assert a is b
                assert_same_bits(b, c)
    assert f(*arrays[:2], out=list(out))[0] is out[0]
    inside = arrays[0].copy()  # an output in the place of an input
    made = f(inside, arrays[1], out=(inside, *out[1:]))
    assert_same_bits(inside, expected[0])
    assert_same_bits(made[1], expected[1])
    for bad in (out[:-1], out[0], (*out[:-1], np.zeros(77)), (*out[:-1], None)):
        with pytest.raises(ShapeError):
            f(*arrays[:2], out=bad)


def test_outputs_in_one_place_are_refused() -> None:
    """Side by side in one array they are served, also interleaved, and once the batch's code is there too."""
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    outputs = [("a", (2,), [g.mul(x, y), g.add(x, y)]), ("b", (2,), [g.sin(x), g.sub(x, y)])]
    f = compile_program(build_program(g, "pair", (Input("s", ("x", "y")),), outputs))
    states = np.random.default_rng(0).normal(size=(9, 2))
    expected = f(states)
    for _ in range(2):
        for at in ((slice(0, 2), slice(2, 4)), (slice(0, 4, 2), slice(1, 4, 2))):
            whole = np.empty((9, 4))
            for got, wanted in zip(f(states, out=tuple(whole[:, k] for k in at)), expected, strict=True):
                assert_same_bits(got, wanted)
        for at in ((slice(0, 2), slice(0, 2)), (slice(0, 2), slice(1, 3))):
            whole = np.empty((9, 4))
            with pytest.raises(ShapeError, match="out for b shares memory"):
                f(states, out=tuple(whole[:, k] for k in at))


def test_a_given_tuple_of_outputs_is_served_by_machine_code(
    random_program: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the batch's code is there, the general path in Python is left alone."""
    program = random_program(4, parameters=False)
    f = compile_program(program)
    arrays = states(program, (3,), 4)
    out = f(*arrays)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("served in Python")

    monkeypatch.setattr(General, "__call__", refuse)
    assert all(a is b for a, b in zip(f(*arrays, out=out), out, strict=True))
    with pytest.raises(AssertionError, match="served in Python"):
        f(*(a.astype(np.float32) for a in arrays))
