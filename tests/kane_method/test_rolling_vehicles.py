"""The Carvallo-Whipple bicycle and the rolling disc: matrices, eigenvalues and thresholds from the literature."""

import runpy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kane.equations.projection import kane_equations
from kane.linearization.linear import linearize
from kane.linearization.operating import jacobians
from kane.linearization.trim import trim
from kane.mechanism.builder import System
from kane.mechanism.formula import formula

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "bicycle.py"))
G = 9.81
# Meijaard, Papadopoulos, Ruina and Schwab 2007: M qdd + v C1 qd + (g K0 + v^2 K2) q = f, q = (lean, steer)
M = np.array([[80.81722, 2.3194133220870907], [2.3194133220870907, 0.2978418819968554]])
C1 = np.array([[0.0, 33.86641391492494], [-0.8503564145697845, 1.6854039739755957]])
K0 = np.array([[-80.95, -2.599516852498716], [-2.599516852498716, -0.8032948845861767]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.6543152379460397]])


@pytest.fixture(scope="module")
def bicycle():
    return jacobians(kane_equations(EXAMPLE["build"]().mechanism(), parameters=()))


def lean_and_steer(bicycle, v):
    linear = EXAMPLE["at_speed"](bicycle, v)
    at = [linear.states.index(n) for n in ("lean", "steer", "lean_dot", "steer_dot")]
    return linear.A[np.ix_(at, at)], linear.B[at]


@pytest.mark.parametrize("v", [0, 1, 5, 10])
def test_bicycle_matrices(bicycle, v):
    a, b = lean_and_steer(bicycle, v)
    mass = np.linalg.inv(b[2:])
    stiffness, damping = -mass @ a[2:, :2], -mass @ a[2:, 2:]
    assert np.allclose(mass, M, rtol=1e-12, atol=1e-12)
    assert np.allclose(damping, v * C1, rtol=1e-12, atol=3e-11)
    assert np.allclose(stiffness, G * K0 + v**2 * K2, rtol=1e-12, atol=3e-10)
    assert np.array_equal(a[:2], [[0, 0, 1, 0], [0, 0, 0, 1]])


def test_bicycle_eigenvalues_and_speeds(bicycle):
    a, _ = lean_and_steer(bicycle, 5)
    wanted = [-14.078389692798238, -0.7753418821958427 - 4.464867713788228j, -0.7753418821958427 + 4.464867713788228j,
              -0.3228664290040887]  # fmt: skip
    assert np.allclose(np.sort_complex(np.linalg.eigvals(a)), np.sort_complex(wanted), rtol=1e-11)

    def growth(v, oscillating):
        values = np.linalg.eigvals(lean_and_steer(bicycle, v)[0])
        return max(x.real for x in values if (abs(x.imag) > 1e-6) == oscillating)

    weave, capsize = 4.292382536341104, 6.0242620153883735
    assert growth(weave - 1e-3, True) > 0 > growth(weave + 1e-3, True)
    assert growth(capsize - 1e-3, False) < 0 < growth(capsize + 1e-3, False)
    double = 0.684283078892462  # two real unstable eigenvalues meet
    counts = [
        np.sum(np.abs(np.linalg.eigvals(lean_and_steer(bicycle, double + d)[0]).imag) > 1e-8) for d in (-1e-4, 1e-4)
    ]
    assert counts == [0, 2]


def disc(axial, transverse):
    s = System("disc")
    q1, q2, q3, x, y = s.coordinates("q1 q2 q3 x y")
    m, r, g = s.parameters(m=2, r=0.25, g=G)
    Y = s.N.orient_new_axis("Y", 3, q1)
    K = Y.orient_new_axis("K", 1, q2)
    D = K.orient_new_axis("D", 2, q3)
    contact = s.O.locate_new("C", x * s.N.x + y * s.N.y)
    centre = contact.locate_new("D*", r * K.z)
    s.body("D", D, centre, m, (transverse * m * r**2, axial * m * r**2, transverse * m * r**2))
    s.gravity(-g * s.N.z)
    s.roll("rolling", D, contact, s.N, s.N)
    return kane_equations(s.mechanism(), parameters=())


def growth(e, yaw, spin):
    q = np.zeros(5)
    u = [yaw, 0, spin, 0.25 * spin, 0]
    values = linearize(e, q, u, independent=(("q1", "q2", "q3", "x", "y"), ("q1_dot", "q2_dot", "q3_dot"))).eigenvalues
    return values.real.max()


@pytest.mark.parametrize(("axial", "transverse", "rolling", "spinning"), [
    ("1/2", "1/4", G / (3 * 0.25), 4 * G / (5 * 0.25)),  # thin disc: v^2 > g r / 3, w^2 > 4 g / (5 r)
    ("1", "1/2", G / (4 * 0.25), 2 * G / (3 * 0.25)),  # hoop: v^2 > g r / 4, w^2 > 2 g / (3 r)
    ("2/5", "2/5", None, None),
])  # fmt: skip
def test_rolling_and_spinning_thresholds(axial, transverse, rolling, spinning):
    c, a = float(Fraction(axial)), float(Fraction(transverse))
    rolling = rolling or a * G / 0.25 / ((c + 1) * c)
    spinning = spinning or G / 0.25 / (a + 1)
    e = disc(formula(axial), formula(transverse))
    for factor, stable in ((0.99, False), (1.01, True)):
        assert (growth(e, 0, np.sqrt(factor * rolling)) < 1e-3) == stable
        assert (growth(e, np.sqrt(factor * spinning), 0) < 1e-3) == stable


def test_steady_turn_of_the_disc():
    """The steady turn of a disc at constant lean a, yaw rate w, spin n.

    (3/2) w cos a (n + w sin a) - (1/4) w^2 sin a cos a = -(g/r) sin a.  Angular momentum about the moving contact point
    (Kane and Levinson 1985, problem set on the rolling disc).
    """
    e = disc(formula("1/2"), formula("1/4"))
    turn = {"free": ("q3_dot", "x_dot", "y_dot"), "steady": ("q1_dot", "q2_dot", "q3_dot")}
    point = trim(e, [0, 0.4, 0, 0, 0], [1.5, 0, -3.0, 0, 0], **turn)
    lean, w, spin = point.q[1], point.u[0], point.u[2]
    assert (lean, w) == (0.4, 1.5)
    left = 1.5 * w * np.cos(lean) * (spin + w * np.sin(lean)) - 0.25 * w**2 * np.sin(lean) * np.cos(lean)
    assert left == pytest.approx(-G / 0.25 * np.sin(lean), rel=1e-9)
