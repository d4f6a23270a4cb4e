"""Linearised equations: Buffinton section 6.5.1, a cart and pole held at an angle, constraints, quaternions, trim."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from kane.equations.constrained import constrained
from kane.equations.projection import kane_equations
from kane.equations.steps import expression
from kane.errors import ConvergenceError, InputError
from kane.linearization.linear import linearize
from kane.linearization.symbolic import linear_equations
from kane.linearization.trim import trim
from kane.mechanism.builder import System, dot

EXAMPLES = Path(__file__).parents[2] / "examples"


def two_link():
    return kane_equations(runpy.run_path(str(EXAMPLES / "two_link.py"))["build"]().mechanism())


def test_two_link_about_upright_symbolically():
    """m L^2 (5 u1' + 2 u2') = T_A + m g L (3 q1 + q2), m L^2 (2 u1' + u2') = T_AB + m g L (q1 + q2)."""
    e = two_link()
    linear = linear_equations(e, {})

    def same(got, wanted):
        return all(
            e.graph.sub(x, expression(e, t)) < 2
            for a, b in zip(got, wanted, strict=True)
            for x, t in zip(a, b, strict=True)
        )

    assert same(linear.M, [["5*m*L**2", "2*m*L**2"], ["2*m*L**2", "m*L**2"]])
    assert same(linear.K, [["-3*m*g*L", "-m*g*L"], ["-m*g*L", "-m*g*L"]])
    assert same(linear.G, [["0", "0"], ["0", "0"]])
    assert same(linear.H, [["1", "0"], ["0", "1"]])
    assert all(x < 2 for x in linear.residual)


@pytest.mark.parametrize(("angle", "sign"), [(0.0, 1), (np.pi, -1)])
def test_two_link_eigenvalues(angle, sign):
    """lambda^2 = (2 +- sqrt 2) g / L upright, minus that hanging."""
    linear = linearize(two_link(), [angle, 0], [0, 0], values={"m": 1.3, "L": 0.7, "g": 9.81})
    wanted = np.sort(np.repeat(sign * (2 + np.sqrt(2) * np.array([1, -1])) * 9.81 / 0.7, 2))
    assert np.allclose(np.sort((linear.eigenvalues**2).real), wanted, rtol=1e-10)
    assert np.abs(linear.offset).max() < 1e-13


def cart_pole():
    s = System("cart_pole")
    x, th = s.coordinates("x th")
    mc, mp, l, J, c, g = s.parameters(mc=1.0, mp=0.3, l=0.4, J=0.016, c=0.05, g=9.81)
    F, T = s.inputs("F T")
    cart = s.frame("cart").orient_axis(s.N, 3, 0)
    pole = cart.orient_new_axis("pole", 3, -th)
    pivot = s.O.locate_new("pivot", x * s.N.x)
    centre = pivot.locate_new("pole*", l * pole.y)
    s.particle("cart mass", pivot, mc)
    s.body("pole mass", pole, centre, mp, (0, 0, J))
    s.gravity(-g * s.N.y)
    s.force("F", pivot, F * s.N.x)
    s.torque_pair("T", pole, cart, (c * dot(th) - T) * s.N.z)
    return kane_equations(s.mechanism(), parameters=())


def test_cart_pole_held_away_from_upright():
    e = cart_pole()
    point = trim(e, [0, np.radians(20)], [0, 0], free=("F", "T"))
    assert np.allclose(point.f, [0.0, -0.402626112723], atol=1e-12)
    linear = linearize(e, point.q, point.u, point.f)
    assert linear.states == ("x", "th", "x_dot", "th_dot")
    a = [[0, 0, 1, 0], [0, 0, 0, 1], [0, -1.769740673259, 0, 0.079991449521], [0, 20.402619114892, 0, -0.922188827827]]
    b = [[0, 0], [0, 0], [0.908001307399, -1.599828990425], [-1.599828990425, 18.443776556541]]
    assert np.allclose(linear.A, a, atol=1e-11)
    assert np.allclose(linear.B, b, atol=1e-11)
    wanted = [-5.001493864781, 0, 0, 4.079305036954]
    assert np.allclose(np.sort(linear.eigenvalues.real), wanted, atol=1e-7)
    assert np.abs(linear.offset).max() < 1e-12


def test_no_equilibrium_is_said():
    with pytest.raises(ConvergenceError, match="equation of th"):
        trim(cart_pole(), [0, 0.3], [0, 0], free=("F",))


def test_outputs_and_offset_away_from_equilibrium():
    e = cart_pole()
    tip = {"tip": "x + 0.8*sin(th)", "push": "2*F"}
    linear = linearize(e, [0.1, 0.2], [0.3, 0], outputs=tip)
    assert np.allclose(linear.C, [[1, 0.8 * np.cos(0.2), 0, 0], [0, 0, 0, 0]])
    assert np.allclose(linear.D, [[0, 0], [2, 0]])
    assert linear.offset[0] == 0.3
    assert abs(linear.offset[3]) > 1


def pendulum(minimal):
    """A particle on a rod of length L: by its angle, or by x and y with the length as a constraint."""
    s = System("pendulum")
    if minimal:
        th = s.coordinates("th")
        A = s.N.orient_new_axis("A", 3, th)
        P = s.O.locate_new("P", A.x * 0.7)
    else:
        x, y = s.coordinates("x y")
        P = s.O.locate_new("P", x * s.N.x + y * s.N.y)
        s.holonomic("rod", x**2 + y**2 - 0.49)
    s.particle("P", P, 2)
    s.gravity(s.N.x * 9.81)
    return kane_equations(s.mechanism())


def test_constrained_linearisation_equals_the_minimal_one():
    minimal = linearize(pendulum(True), [0], [0])
    redundant = linearize(pendulum(False), [0.7, 0], [0, 0])
    assert redundant.states == ("y", "y_dot")
    assert np.allclose(np.sort_complex(minimal.eigenvalues), np.sort_complex(redundant.eigenvalues), atol=1e-9)
    assert np.allclose(redundant.A, [[0, 1], [-9.81 / 0.7, 0]], atol=1e-12)
    with pytest.raises(InputError, match="not independent"):
        linearize(pendulum(False), [0.7, 0], [0, 0], independent=(("x",), ("x_dot",)))


def test_trim_on_a_constraint():
    point = trim(pendulum(False), [0.6, 0.3], [0, 0], free=("x", "y"))
    assert np.allclose(point.q, [0.7, 0], atol=1e-10)
    assert constrained(pendulum(False)).accelerations(point.q, [0, 0]).reaction("rod") == pytest.approx(
        -2 * 9.81 / 1.4
    )


def free_body(quaternion):
    s = System("body")
    if quaternion:
        q = s.coordinates("qw qx qy qz")
        B = s.frame("B").orient_quaternion(s.N, q)
    else:
        q = s.coordinates("b a c")
        B = s.frame("B").orient_body_fixed(s.N, q, "213")
    s.body("B", B, s.O, 1, (2, 3, 5))
    return kane_equations(s.mechanism(), parameters=())


def test_quaternion_tangent_space_matches_angles():
    """A body spinning about its middle axis: growth sqrt((3 - 2)(5 - 3) / (2 5)) w in both descriptions."""
    w = 1.5
    growth = w * np.sqrt((3 - 2) * (5 - 3) / (2 * 5))
    quaternion = linearize(free_body(True), [1, 0, 0, 0], [0, w, 0])
    angles = linearize(free_body(False), [0.3, 0, 0], [w, 0, 0])
    assert quaternion.A.shape == (6, 6)
    for linear in (quaternion, angles):
        assert np.max(linear.eigenvalues.real) == pytest.approx(growth, rel=1e-7)
    wanted = np.sort_complex(np.round(quaternion.eigenvalues, 6))
    assert np.allclose(np.sort_complex(np.round(angles.eigenvalues, 6)), wanted, atol=1e-5)
