"""Steps print coordinates by their declared names, and squares of sines without a trace of cos^2 + sin^2."""

from __future__ import annotations

import re

import pytest

from kane.equations.projection import kane_equations
from kane.equations.steps import check_steps, work_out
from kane.equations.terms import Terms
from kane.graph.arena import Graph
from kane.mechanism.builder import System, dot


def cart(named: bool) -> System:
    """A pendulum on a cart with a spring."""
    s = System("cart")
    x, theta = s.coordinates("x theta")
    M, m, L, g, k = s.parameters("M m L g k")
    if named:
        s.speeds(v=dot(x), w=dot(theta))
    cart = s.O.locate_new("C", x * s.N.x)
    s.particle("C", cart, M)
    frame = s.N.orient_new_axis("A", 3, theta)
    s.particle("P", cart.locate_new("P", -L * frame.y), m)
    s.gravity(-g * s.N.y)
    s.force("spring", cart, -k * x * s.N.x)
    return s


@pytest.mark.parametrize("named", [False, True])
def test_names_are_those_declared(named: bool) -> None:
    steps = work_out(kane_equations(cart(named).mechanism()))
    for text in (str(steps), steps.latex()):
        assert not re.search(r"\bqd?d?_", text)
    fast = ("v", "w", "v'", "w'") if named else ("x_dot", "theta_dot", "x_ddot", "theta_ddot")
    v, w, slow, turn = fast
    assert slow in str(steps) and "cos(theta)" in str(steps)
    right = {
        "v_P": f"{v}*n1 + L*{w}*a1",
        "F*_2": f"-L*m*(cos(theta)*{slow} + L*{turn})",
        "equation_1": f"-k*x - (M + m)*{slow} - m*L*cos(theta)*{turn} + m*L*sin(theta)*{w}**2",
    }
    assert all(found.equal for found in check_steps(steps, right))
    for line in steps.kane.rows:  # what is printed is read again
        text = line[-1].removesuffix(" = 0")
        (found,) = check_steps(steps, {f"equation_{steps.kane.rows.index(line) + 1}": text})
        assert found.equal, found


def test_rates_have_a_dot_each_in_latex() -> None:
    text = work_out(kane_equations(cart(False).mechanism())).latex()
    assert r"\ddot{\theta}" in text and r"{\dot{\theta}}^{2}" in text and r"\ddot{x}" in text


def test_a_coordinate_called_like_a_basis_vector_is_told_from_it() -> None:
    """a1 is a length here and the first axis of A: the length keeps the name of its symbol."""
    s = System("slide")
    a1, theta = s.coordinates("a1 theta")
    A = s.N.orient_new_axis("A", 3, theta)
    s.particle("P", s.O.locate_new("P", a1 * A.x), 2)
    text = str(work_out(kane_equations(s.mechanism())).velocities)
    assert "v_P =  qd_a1 a1 + q_a1*theta_dot a2" in text


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_powers_of_one(n: int) -> None:
    """(cos^2 + sin^2)^n u is u, and sin^(2 n) written out is no longer than it was."""
    g = Graph()
    q, u = g.symbol("q"), g.symbol("u")
    c, s = g.cos(q), g.sin(q)
    one = g.add(g.mul(c, c), g.mul(s, s))
    whole = u
    for _ in range(n):
        whole = g.add(g.mul(g.mul(c, c), whole), g.mul(g.mul(s, s), whole)) if n > 1 else g.mul(one, u)
    assert Terms(g).text(whole) == "u"
    power = u
    for _ in range(2 * n):
        power = g.mul(power, s)
    assert len(Terms(g).expand(power)) == 1
