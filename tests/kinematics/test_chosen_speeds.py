"""Rates from generalized speeds of one's own choice: right at every state where the definitions can be inverted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kane
from kane.equations.programs import motion_program
from kane.graph.evaluate import evaluate
from kane.mechanism.builder import System, cos, sin

ORDERS = ["".join(o) for o in itertools.product("123", repeat=3) if o[0] != o[1] != o[2]]
TURNS = {"1": np.array([1.0, 0, 0]), "2": np.array([0, 1.0, 0]), "3": np.array([0, 0, 1.0])}


def body(order: str, frame: str) -> System:
    s = System("body")
    q = s.coordinates("q1 q2 q3")
    B = s.frame("B")
    B.orient_body_fixed(s.N, q, order)
    axes = B if frame == "B" else s.N
    s.speeds(**{f"w{i}": s.angular_velocity(B, s.N, a) for i, a in zip("123", (axes.x, axes.y, axes.z), strict=True)})
    s.body("b", B, s.O, 1, (1, 2, 2.5))
    return s


def turn(axis: str, angle: float) -> np.ndarray:
    k, K = TURNS[axis], np.cross(TURNS[axis], np.eye(3)).T
    return np.cos(angle) * np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * np.outer(k, k)


def jacobian(order: str, frame: str, q: np.ndarray) -> np.ndarray:
    """w = J qdot, by the axes of the turns."""
    R, columns = np.eye(3), []
    for axis, angle in zip(order, q, strict=True):
        columns.append(R @ TURNS[axis])
        R = R @ turn(axis, angle)
    J = np.stack(columns, axis=1)
    return R.T @ J if frame == "B" else J


@pytest.mark.parametrize("frame", ["B", "N"])
@pytest.mark.parametrize("order", ORDERS)
def test_euler_rates_are_regular_wherever_the_angles_are(order: str, frame: str) -> None:
    """At all angles 0, pi/2, pi and general ones: every pivot vanishes somewhere."""
    program = motion_program(kane.kane_equations(body(order, frame)))
    w = np.array([0.3, -0.4, 0.5])
    seen = 0
    for q in itertools.product((0.0, np.pi / 2, np.pi, 0.4, -1e-9), repeat=3):
        J = jacobian(order, frame, np.array(q))
        if abs(np.linalg.det(J)) < 1e-3:
            continue
        seen += 1
        found = evaluate(program, {"q": list(q), "u": w, "t": [0.0]})
        np.testing.assert_allclose(found["qdot"], np.linalg.solve(J, w), atol=1e-12)
        assert np.isfinite(found["udot"]).all()
    assert seen > 40


def test_cartesian_speeds_of_spherical_coordinates() -> None:
    s = System("point")
    r, th, ph = s.coordinates("r th ph")
    s.parameters(m=1.0)
    place = r * sin(th) * cos(ph) * s.N.x + r * sin(th) * sin(ph) * s.N.y + r * cos(th) * s.N.z
    P = s.O.locate_new("P", place)
    s.speeds(**{f"v{k}": s.velocity(P, s.N, a) for k, a in zip("123", (s.N.x, s.N.y, s.N.z), strict=True)})
    s.particle("P", P, 2)
    program = motion_program(kane.kane_equations(s, parameters=()))
    for q in ([1, np.pi / 2, 0], [1, np.pi / 2, np.pi / 2], [2, 0.3, 0], [2, 0.3, 1.1]):
        a, b, c = q
        J = np.array(
            [
                [np.sin(b) * np.cos(c), a * np.cos(b) * np.cos(c), -a * np.sin(b) * np.sin(c)],
                [np.sin(b) * np.sin(c), a * np.cos(b) * np.sin(c), a * np.sin(b) * np.cos(c)],
                [np.cos(b), -a * np.sin(b), 0],
            ]
        )
        v = np.array([0.3, -0.4, 0.5])
        found = evaluate(program, {"q": q, "u": v, "t": [0.0]})
        np.testing.assert_allclose(found["qdot"], np.linalg.solve(J, v), atol=1e-12)
        np.testing.assert_allclose(found["udot"], 0, atol=1e-12)  # no force, straight motion


def test_a_tip_velocity_as_speeds() -> None:
    """Two links: a pivot vanishes where sin(a) + sin(a + b) does, the determinant where sin(b) does."""
    s = System("arm")
    a, b = s.coordinates("a b")
    A = s.N.orient_new_axis("A", 3, a)
    B = A.orient_new_axis("B", 3, b)
    P = s.O.locate_new("P", A.x)
    T = P.locate_new("T", B.x)
    s.speeds(v1=s.velocity(T, s.N, s.N.x), v2=s.velocity(T, s.N, s.N.y))
    s.particle("P", P, 1)
    s.particle("T", T, 1)
    program = motion_program(kane.kane_equations(s))
    for q in ([0.2, -0.4], [0.0, 1.0], [np.pi, 0.5]):
        x, y = q
        J = [[-np.sin(x) - np.sin(x + y), -np.sin(x + y)], [np.cos(x) + np.cos(x + y), np.cos(x + y)]]
        found = evaluate(program, {"q": q, "u": [0.3, -0.5], "t": [0.0]})
        np.testing.assert_allclose(found["qdot"], np.linalg.solve(J, [0.3, -0.5]), atol=1e-12)
        assert np.isfinite(found["udot"]).all()
