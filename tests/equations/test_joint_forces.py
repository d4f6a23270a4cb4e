"""Friction and spring forces: closed forms, power under any choice of speeds, followers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

import kane
from kane.equations.derive import derive_task
from kane.graph.evaluate import evaluate
from kane.mechanism import formula as f
from kane.mechanism.model import Mechanism, SpeedDefinition


def robot() -> Mechanism:
    """Two links with damping, Coulomb friction and a spring in each joint."""
    mechanism = kane.load("two_link").mechanism
    for k, joint in enumerate(mechanism.joints):
        mechanism = mechanism.replace_joint(
            replace(joint, damping=Fraction(k + 1, 10), friction=Fraction(1, 5), stiffness=Fraction(3 + k))
        )
    return mechanism


def forces(mechanism: Mechanism, task: str, q: list[float], u: list[float]) -> np.ndarray:
    program = derive_task(mechanism, task).program
    given = {"q": q, "qd": u}
    return evaluate(program, {i.name: given[i.name] for i in program.inputs})["tau"]


def test_closed_form() -> None:
    q, qd = [0.3, -0.7], [1.2, -0.4]
    friction = forces(robot(), "friction_forces", q, qd)
    np.testing.assert_allclose(friction, [0.1 * 1.2 + 0.2, -0.2 * 0.4 - 0.2], rtol=1e-15)
    passive = forces(robot(), "passive_forces", q, qd)
    np.testing.assert_allclose(passive, [-3 * 0.3 - 0.12, 4 * 0.7 + 0.08], rtol=1e-14)


def test_power_does_not_depend_on_the_choice_of_speeds() -> None:
    """u1 = q1', u2 = q1' + q2': the same motion loses the same power to friction."""
    plain = robot()
    first, second = plain.joints[0].coordinates or ("q1",), plain.joints[1].coordinates or ("q2",)
    rates = [f.name(f"{name}_dot") for name in (first[0], second[0])]
    own = replace(plain, speeds=(SpeedDefinition("u1", rates[0]), SpeedDefinition("u2", rates[0] + rates[1])))
    qd = np.array([1.2, -0.4])
    u = np.array([qd[0], qd.sum()])
    for task in ("friction_forces", "passive_forces"):
        q = [0.3, -0.7]
        power = forces(plain, task, q, list(qd)) @ qd
        np.testing.assert_allclose(forces(own, task, q, list(u)) @ u, power, rtol=1e-13)
        assert abs(power) > 0.1
