"""tidy: the same functions, numbers in one place, like terms once."""

from __future__ import annotations

import random

import numpy as np
import pytest

import kane
import random_expressions
from kane.graph.arena import NUMBER, Graph
from kane.graph.evaluate import evaluate
from kane.graph.program import Input, build_program, needed
from kane.rewrite.tidy import tidy


@pytest.mark.parametrize("seed", range(60))
def test_the_same_function(seed: int) -> None:
    """Values agree with Python's own, and no product holds two numbers."""
    r = random.Random(seed)
    g = Graph()
    built = [random_expressions.build(g, r, r.randint(1, 6)) for _ in range(3)]
    made, new = tidy(g, [ref for ref, _ in built])
    inputs = [Input("x", random_expressions.NAMES)]
    for name in random_expressions.NAMES:
        made.symbol(name)
    program = build_program(made, "tidied", inputs, [("y", (3,), new)])
    for _ in range(5):
        at = {name: r.uniform(-2, 2) for name in random_expressions.NAMES}
        found = evaluate(program, {"x": np.array(list(at.values()))})["y"]
        wanted = np.array([f(at) for _, f in built])
        assert np.allclose(found, wanted, rtol=1e-7, atol=1e-9)
    for node in needed(made, new):
        if made.op[node] == "mul":
            a, b = (x >> 1 for x in made.args[node])
            assert not (made.level[a] == NUMBER and made.op[b] == "mul" and number_in(made, b))


def number_in(g: Graph, node: int) -> bool:
    return any(g.level[a >> 1] == NUMBER for a in g.args[node])


def test_what_a_reader_expects() -> None:
    """The double pendulum's mass matrix, as every book has it."""
    text = """<robot name="two"><link name="base"/>
    <link name="a"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <link name="b"><inertial><origin xyz="0.15 0 0"/><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/></joint>
    <joint name="k" type="continuous">
      <origin xyz="0.4 0 0"/><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
    </robot>"""
    M = kane.derive(kane.load(text)).mass_matrix
    assert str(M[0, 0]) == "2.2625 + 0.12*cos(q_k)"
    assert str(M[1, 1]) == "1.0225"
