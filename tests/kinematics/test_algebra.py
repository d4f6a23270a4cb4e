"""Rotations, tensors and linear systems over the graph: exact identities, and NumPy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.graph.arena import Graph
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program
from kane.kinematics import vectors as v
from kane.kinematics.compose import composed
from kane.kinematics.linear import SingularError, reduce_rows, solve, solve_symmetric
from kane.kinematics.motion import Shift, Step, substitute


def vector(g: Graph, name: str) -> v.Vec:
    return g.symbol(f"{name}1"), g.symbol(f"{name}2"), g.symbol(f"{name}3")


def rotations(g: Graph) -> list[v.Rotation]:
    turns = [v.SimpleRotation(axis, g.cos(g.symbol("q")), g.sin(g.symbol("q"))) for axis in (0, 1, 2)]  # type: ignore[arg-type]
    constant = v.MatrixRotation(fixed_turn(g, 0.3).matrix(g))
    tilted = v.MatrixRotation(v.product(g, fixed_turn(g, 0.3).matrix(g), fixed_turn(g, 0.7, axis=1).matrix(g)))
    return [*turns, constant, tilted, v.quaternion_rotation(g, *g.unit_quaternion(("w", "x", "y", "z")))]


def fixed_turn(g: Graph, angle: float, axis: int = 0) -> v.SimpleRotation:
    a = g.number(Fraction(str(angle)))
    return v.SimpleRotation(axis, g.cos(a), g.sin(a))  # type: ignore[arg-type]


def test_vector_identities() -> None:
    g = Graph()
    a, b, c = (vector(g, n) for n in "abc")
    assert v.cross(g, a, a) == v.ZERO
    assert v.dot(g, a, v.cross(g, a, b)) == g.zero
    assert v.dot(g, a, v.cross(g, b, c)) == v.dot(g, b, v.cross(g, c, a))
    assert v.sub(g, v.add(g, a, b), b) == a
    lagrange = v.sub(g, v.scale(g, v.dot(g, a, c), b), v.scale(g, v.dot(g, a, b), c))
    assert v.cross(g, a, v.cross(g, b, c)) == lagrange


def test_parallel_axes_and_shell() -> None:
    """(a.a) 1 - a a is -[a x][a x]; the mixed term is -[a x][b x] - [b x][a x]: applied to any vector."""
    g = Graph()
    a, b, w = (vector(g, n) for n in "abw")
    assert v.sym_apply(g, v.shell(g, a), w) == v.neg(v.cross(g, a, v.cross(g, a, w)))
    mixed = v.add(g, v.cross(g, a, v.cross(g, b, w)), v.cross(g, b, v.cross(g, a, w)))
    assert v.sym_apply(g, v.parallel(g, a, b), w) == v.neg(mixed)


def test_rotations_are_rotations() -> None:
    """Back and forth is nothing, lengths stay, cross products turn along, R^T R = 1, tensors turn as R T R^T."""
    g = Graph()
    for rotation in rotations(g):
        a, b = vector(g, "a"), vector(g, "b")
        assert rotation.out(g, rotation.into(g, a)) == a
        assert v.dot(g, rotation.out(g, a), rotation.out(g, b)) == v.dot(g, a, b)
        assert v.cross(g, rotation.out(g, a), rotation.out(g, b)) == rotation.out(g, v.cross(g, a, b))
        R = rotation.matrix(g)
        assert v.apply(g, R, a) == rotation.out(g, a)
        assert v.product(g, v.transpose(R), R) == ((2, 0, 0), (0, 2, 0), (0, 0, 2))
        t = tuple(g.symbol(f"t{k}") for k in range(6))
        turned = v.sym_apply(g, rotation.sym_out(g, t), a)  # type: ignore[arg-type]
        assert turned == rotation.out(g, v.sym_apply(g, t, rotation.into(g, a)))  # type: ignore[arg-type]


def test_simple_rotation_direction() -> None:
    """A positive turn about z takes x towards y."""
    g = Graph()
    half = g.mul(g.pi(), g.number(Fraction(1, 2)))
    turn = v.SimpleRotation(2, g.cos(half), g.sin(half))
    assert turn.out(g, v.unit(0)) == v.unit(1)
    assert turn.into(g, v.unit(0)) == v.neg(v.unit(1))


@settings(max_examples=40)
@given(seed=st.integers(0, 2**20), count=st.integers(0, 9))
def test_steps_composed_are_the_same_move(seed: int, count: int) -> None:
    """A point and a direction of the last frame, in the first one; two steps at most beyond two general turns."""
    g, r = Graph(), random.Random(seed)
    quarter = g.mul(g.pi(), g.number(Fraction(1, 2)))
    steps: list[Step] = []
    for _ in range(count):
        general = g.number(Fraction(r.randint(1, 9), 10)), g.symbol("a", "parameter")
        angle = r.choice([quarter, g.neg(quarter), g.pi(), *general])
        by = tuple(g.number(Fraction(r.randint(-2, 2), 3)) for _ in range(3))
        turn = v.SimpleRotation(r.choice((0, 1, 2)), g.cos(angle), g.sin(angle))
        steps.append(r.choice([turn, turn, v.MatrixRotation(turn.matrix(g)), Shift(by)]))  # type: ignore[arg-type]
    made = composed(g, tuple(steps))
    assert len(made) <= len(steps)

    def outside(steps: Sequence[Step], x: v.Vec, point: bool) -> v.Vec:
        for step in reversed(steps):
            x = (v.add(g, x, step.by) if point else x) if isinstance(step, Shift) else step.out(g, x)
        return x

    a = vector(g, "a")
    for point in (False, True):
        assert outside(made, a, point) == outside(steps, a, point)


def test_turns_that_undo_each_other_leave_nothing() -> None:
    g = Graph()
    turns = [fixed_turn(g, x, axis) for x, axis in ((0.3, 0), (0.4, 1), (0.5, 2))]
    back = [v.SimpleRotation(t.axis, t.cos, g.neg(t.sin)) for t in reversed(turns)]
    assert composed(g, (*turns, *back)) == ()
    assert composed(g, (*turns, fixed_turn(g, 0.2), *back)) != ()
    middle = composed(g, (*turns[:2], *back[1:], fixed_turn(g, 0.6, 1)))
    assert [type(step) for step in middle] == [v.SimpleRotation]


def filled(g: Graph, r: random.Random, n: int, m: int) -> list[list[int]]:
    pool = [g.symbol("x"), g.symbol("y"), g.sin(g.symbol("z")), g.number(0), g.number(Fraction(3, 7)), g.number(-2)]
    return [[r.choice(pool) for _ in range(m)] for _ in range(n)]


@settings(max_examples=20)
@given(seed=st.integers(0, 2**20), n=st.integers(1, 4))
def test_solutions_solve(seed: int, n: int) -> None:
    """A X = B exactly, as functions; a system without unique solution names dependent rows."""
    g, r = Graph(), random.Random(seed)
    A, B = filled(g, r, n, n), filled(g, r, n, 2)
    try:
        X = solve(g, A, B)
    except SingularError as error:
        assert error.rows
        point = {"s": np.array([0.3, 0.7, 1.1])}
        p = build_program(g, "A", [Input("s", ("x", "y", "z"))], [("A", (n, n), [e for row in A for e in row])])
        assert np.linalg.matrix_rank(evaluate(p, point)["A"], tol=1e-12) < n
        return
    assert [[g.dot(row, [x[c] for x in X]) for c in range(2)] for row in A] == B


def test_symmetric_solution() -> None:
    """M = A^T A with a tree's zeros: L D L^T solves it."""
    g = Graph()
    x, y, z = (g.symbol(n) for n in "xyz")
    top = g.add(g.mul(x, x), g.number(3))
    M = [[top, y, 0, z], [y, g.number(5), 0, 0], [0, 0, g.number(2), x], [z, 0, x, g.number(7)]]
    B = [[g.number(1), x], [y, 0], [z, g.number(2)], [0, y]]
    X = solve_symmetric(g, M, B)
    assert [[g.dot(row, [r[c] for r in X]) for c in range(2)] for row in M] == B


def test_row_reduction_prefers_numbers() -> None:
    """No division by the state where a number can be the pivot."""
    g = Graph()
    x = g.symbol("x")
    rows, pivots, left = reduce_rows(g, [[x, g.number(2)], [g.mul(x, x), g.mul(g.number(2), x)]], range(2))
    assert pivots == [(0, 1)]
    assert left == [1]
    assert rows[0] == [g.mul(g.number(Fraction(1, 2)), x), g.one]
    assert rows[1] == [0, 0]


def test_substitution() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    f = g.add(g.mul(g.sin(x), y), g.function("tanh", g.div(x, y)))
    (swapped,) = substitute(g, [f], {x: y, y: x})
    assert swapped == g.add(g.mul(g.sin(y), x), g.function("tanh", g.div(y, x)))
    assert substitute(g, [f, g.neg(f)], {x: g.zero}) == [g.zero, g.zero]


def test_singular_message() -> None:
    g = Graph()
    x = g.symbol("x")
    with pytest.raises(SingularError, match="no unique solution"):
        solve(g, [[x, g.one], [g.mul(x, x), x]], [[g.one], [g.one]])
