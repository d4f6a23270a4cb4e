"""Programs: sections, dead code, counts by the rule, evaluation, equality at random primes."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.graph.arena import Graph
from kane.graph.evaluate import equal, evaluate, residues, round_trip
from kane.graph.field import Field
from kane.graph.program import Input, Instruction, OperationCounts, Output, Program, build_program
from random_expressions import NAMES, build

S = Input("s", NAMES)


def test_counts_by_the_rule() -> None:
    """Counted: what depends on the state.  Free: signs, parameters.  sin and cos apart, with their arguments."""
    g = Graph()
    x, y, z = (g.symbol(n) for n in NAMES)
    m = g.symbol("m", "parameter")
    shared = g.mul(x, y)
    constant = g.mul(g.mul(m, m), g.number(Fraction(1, 3)))
    out = [
        g.neg(shared),  # 1 mul
        g.sub(g.mul(constant, shared), z),  # 1 mul, 1 add; 2 mul of constants
        g.add(g.sin(x), g.cos(x)),  # 1 add, 2 trig of 1 argument
        g.div(x, g.add(y, z)),  # 1 div, 1 add
        g.sqrt(g.cos(y)),  # 1 sqrt, 1 trig
        g.function("tanh", z),  # 1 function
        g.power(x, 4),  # 2 mul
    ]
    program = build_program(g, "f", [S, Input("p", ("m",), "parameter")], [("f", (7,), out)])
    assert program.counts == OperationCounts(mul=4, add=3, div=1, sqrt=1, trig=3, trig_arguments=2, functions=1)
    assert program.counts.total == 7
    assert program.constant_counts.mul == 2
    assert program.parameter_names == ("m",)
    assert [program.section(i) for i in (0, program.first_constant, len(program.values) - 1)] == [
        "input", "constant", "state"
    ]  # fmt: skip


def test_fused_operations_count_as_two() -> None:
    values = (*(Instruction("input", (), (0, k), n) for k, n in enumerate(NAMES)), Instruction("fma", (0, 2, 5)))
    program = Program("f", (S,), (Output("f", (), (6,)),), values, 3, 3)
    assert program.counts == OperationCounts(mul=1, add=1)
    assert evaluate(program, {"s": np.array([2.0, 3.0, 5.0])})["f"] == 1.0  # x y - z


def test_dead_code_is_left_out() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    g.mul(g.sin(x), y)
    kept = g.mul(x, y)
    program = build_program(g, "f", [S], [("f", (), [kept])])
    assert [v.op for v in program.values] == ["input"] * 3 + ["mul"]


def test_unknown_symbol_is_named() -> None:
    g = Graph()
    with pytest.raises(ValueError, match="f depends on other"):
        build_program(g, "f", [S], [("f", (), [g.symbol("other")])])


def test_evaluation_broadcasts_and_checks_shapes() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    program = build_program(
        g, "f", [Input("a", ("x",)), Input("b", ("y",))], [("f", (2, 1), [g.add(x, y), g.one]), ("none", (0,), [])]
    )
    made = evaluate(program, {"a": np.ones((4, 1, 1)), "b": np.ones((3, 1))})
    assert made["f"].shape == (4, 3, 2, 1)
    assert made["none"].shape == (4, 3, 0)
    with pytest.raises(ValueError, match="input 'b' is missing"):
        evaluate(program, {"a": np.ones(1)})
    with pytest.raises(ValueError, match=r"b has shape \(2,\), wanted \(..., 1\)"):
        evaluate(program, {"a": np.ones(1), "b": np.ones(2)})


def test_unneeded_input_does_not_make_nan() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    program = build_program(g, "f", [S], [("f", (2,), [g.mul(x, x), g.sqrt(y)])])
    made = evaluate(program, {"s": np.array([2.0, -1.0, np.nan])})["f"]
    assert made[0] == 4.0
    assert np.isnan(made[1])


@given(seed=st.integers(0, 2**30), depth=st.integers(1, 4))
def test_round_trip_and_equality(seed: int, depth: int) -> None:
    """The program built again is the same function at other primes, and no larger; another function is not equal."""
    g, r = Graph(), random.Random(seed)
    ref, other = build(g, r, depth)[0], g.add(build(g, r, depth)[0], g.symbol("x"))
    program = build_program(g, "f", [S], [("f", (), [ref])])
    again = round_trip(program)
    assert equal(program, again)
    assert len(again.values) <= len(program.values)
    different = build_program(g, "f", [S], [("f", (), [other])])
    assert equal(program, different) == (ref == other)


def test_equality_needs_a_common_output() -> None:
    g = Graph()
    first, second = (build_program(g, "f", [S], [(n, (), [g.symbol("x")])]) for n in ("a", "b"))
    with pytest.raises(ValueError, match="no output of the same name"):
        equal(first, second)


def test_quaternions_are_unit_at_every_prime() -> None:
    g = Graph()
    labels = ("w", "x", "y", "z")
    q = g.unit_quaternion(labels)
    square = g.sub(g.mul(q[0], q[0]), g.number(2))
    rest = g.sub(g.neg(g.sum(g.mul(a, a) for a in q[1:])), g.one)  # the same, since |q| = 1
    assert square == rest
    h = Graph()  # the other way to write it, kept apart by free symbols
    free = [h.symbol(n) for n in labels]
    other = h.sub(h.neg(h.sum(h.mul(a, a) for a in free[1:])), h.one)
    inputs = [Input("q", labels, quaternions=(labels,))]
    a = build_program(g, "f", inputs, [("f", (), [square])])
    b = build_program(h, "f", inputs, [("f", (), [other])])
    assert equal(a, b)
    loose = [Input("q", labels)]
    a, b = (build_program(x, "f", loose, [("f", (), [ref])]) for x, ref in ((g, square), (h, other)))
    assert not equal(a, b)


def test_residues_differ_from_prime_to_prime() -> None:
    g = Graph()
    program = build_program(g, "f", [S], [("f", (), [g.mul(g.symbol("x"), g.sin(g.symbol("y")))])])
    assert residues(program, Field.random(1)) != residues(program, Field.random(2))


def test_zero_has_no_sign() -> None:
    g = Graph()
    x = g.symbol("x")
    program = build_program(g, "f", [S], [("f", (2,), [g.neg(g.sub(x, x)), g.mul(g.neg(x), g.zero) ^ 1])])
    made = evaluate(program, {"s": np.array([1.0, 2.0, 3.0])})["f"]
    assert not np.signbit(made).any()
