"""fuse: same functions, same counts, only products with a single use go in."""

from __future__ import annotations

import random

import numpy as np
import pytest

from kane.graph.arena import Graph
from kane.graph.evaluate import equal, evaluate
from kane.graph.program import Input, Program, build_program
from kane.rewrite.fuse import fuse


def random_program(seed: int, size: int = 120) -> Program:
    rng = random.Random(seed)
    g = Graph()
    x = [g.symbol(f"x{i}") for i in range(4)]
    p = [g.symbol(f"p{i}", "parameter") for i in range(2)]
    pool = [*x, *p, g.number(3), g.sin(x[0]), g.cos(x[0])]
    for _ in range(size):
        a, b = rng.choice(pool[-30:]), rng.choice(pool[-30:])
        pool.append(g.mul(a, b) if rng.random() < 0.4 else g.add(a, b ^ rng.randrange(2)))
    return build_program(
        g, "random",
        [Input("x", tuple(f"x{i}" for i in range(4))), Input("p", ("p0", "p1"), "parameter")],
        [("y", (6,), pool[-6:]), ("z", (), [pool[-9] ^ 1])],
    )


@pytest.mark.parametrize("seed", range(8))
def test_value_and_counts_are_kept(seed: int) -> None:
    program = random_program(seed)
    fused = fuse(program)
    assert equal(program, fused)
    assert fused.counts == program.counts
    assert fused.constant_counts == program.constant_counts
    assert sum(v.op == "fma" for v in fused.values) == len(program.values) - len(fused.values) > 0
    arrays = {"x": np.linspace(-0.4, 0.5, 4), "p": np.array([0.3, -0.7])}
    before, after = evaluate(program, arrays), evaluate(fused, arrays)
    for name in before:
        np.testing.assert_allclose(after[name], before[name], rtol=1e-9, atol=1e-9)


def test_no_product_with_a_single_summing_use_is_left() -> None:
    fused = fuse(random_program(3))
    uses: dict[int, list[str]] = {}
    for value in fused.values[fused.first_state :]:
        for a in value.args:
            uses.setdefault(a >> 1, []).append(value.op)
    outputs = {r >> 1 for out in fused.outputs for r in out.refs}
    for index in fused.state:
        if fused.values[index].op == "mul" and uses.get(index) == ["add"]:
            assert index in outputs


def test_sign_goes_onto_the_operands() -> None:
    g = Graph()
    a, b, c = (g.symbol(n) for n in "abc")
    ref = g.sub(c, g.mul(a, b))
    fused = fuse(build_program(g, "f", [Input("x", ("a", "b", "c"))], [("y", (), [ref])]))
    assert [v.op for v in fused.values] == ["input"] * 3 + ["fma"]
    value = evaluate(fused, {"x": np.array([2.0, 5.0, 1.0])})["y"]
    assert value == -9.0


def test_product_that_is_an_output_or_used_twice_stays() -> None:
    g = Graph()
    a, b, c = (g.symbol(n) for n in "abc")
    product = g.mul(a, b)
    inputs = [Input("x", ("a", "b", "c"))]
    fused = fuse(build_program(g, "f", inputs, [("y", (2,), [g.add(product, c), product])]))
    assert not any(v.op == "fma" for v in fused.values)
    fused = fuse(build_program(g, "f", inputs, [("y", (2,), [g.add(product, c), g.sub(product, c)])]))
    assert not any(v.op == "fma" for v in fused.values)


def test_constants_stay_unfused() -> None:
    g = Graph()
    p, q, x = g.symbol("p", "parameter"), g.symbol("q", "parameter"), g.symbol("x")
    ref = g.mul(x, g.add(g.mul(p, q), p))
    inputs = [Input("x", ("x",)), Input("p", ("p", "q"), "parameter")]
    fused = fuse(build_program(g, "f", inputs, [("y", (), [ref])]))
    assert [fused.values[i].op for i in fused.constants] == ["mul", "add"]


def test_later_product_goes_in() -> None:
    g = Graph()
    a, b, c, d = (g.symbol(n) for n in "abcd")
    late = g.mul(g.add(a, b), g.add(c, d))
    fused = fuse(build_program(g, "f", [Input("x", tuple("abcd"))], [("y", (), [g.add(g.mul(a, d), late)])]))
    last = fused.values[-1]
    assert last.op == "fma"
    assert {fused.values[r >> 1].op for r in last.args[:2]} == {"add"}
