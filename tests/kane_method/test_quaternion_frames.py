"""Frames that are turned by quaternions, and left again along the axes of other frames."""

import numpy as np
import pytest

from kane.equations.constrained import constrained
from kane.equations.projection import kane_equations
from kane.mechanism.builder import System


def spinning(order):
    """A body at N.z / 10 + 0.3 C.x, and a particle 0.5 D.y from it; the three steps in any order are one place."""
    s = System()
    quaternion, angle = s.coordinates("a b c d"), s.coordinates("th")
    C = s.frame("C").orient_quaternion(s.N, quaternion, ("w1", "w2", "w3"))
    D = C.orient_new_axis("D", 2, angle)
    steps = {"N": s.N.z * 0.1, "C": C.x * 0.3, "D": D.y * 0.5}
    point = s.O
    for name in order:
        point = point.locate_new(f"to {name}", steps[name])
    s.particle("H", point, 1)
    s.body("C", C, s.O.locate_new("G", C.y * 0.2), 1, (1, 2, "2.5"))
    s.body("D", D, s.O, 1, (1, 1, 1))
    s.gravity(-9.81 * s.N.z)
    s.force("push", point, D.x * 2 + s.N.y)
    return s, C, D


@pytest.mark.parametrize("order", ["CDN", "CND", "DNC", "NDC", "DCN"])
def test_steps_in_any_order_lead_to_one_place(order):
    rng = np.random.default_rng(3)
    q, u = rng.normal(size=5), rng.normal(size=4)
    q[:4] /= np.linalg.norm(q[:4])
    wanted, got = (constrained(kane_equations(spinning(k)[0].mechanism())).accelerations(q, u) for k in ("NCD", order))
    np.testing.assert_allclose(got.udot, wanted.udot, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(got.qdot, wanted.qdot, rtol=1e-14)


def test_dot_products_across_a_quaternion():
    s, C, _ = spinning("NCD")
    for k, v in enumerate((C.x, C.y, C.z)):
        for l, n in enumerate((s.N.x, s.N.y, s.N.z)):
            formula = s.dot(v, n)
            values = dict(zip("abcd", (0.5, 0.5, -0.5, 0.5), strict=True))
            turned = np.array([[0, -1, 0], [0, 0, -1], [1, 0, 0]])
            assert formula.evaluate(values) == pytest.approx(turned[l, k])
            assert s.dot(n, v).evaluate(values) == pytest.approx(turned[l, k])
