"""Regressors, Slotine-Li form, external wrenches, generalized forces, joint forces, parameters that stay symbols."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.equations.derive import derive_task
from kane.errors import MasslessJointError, UnknownNameError, UnsupportedError
from kane.mechanism import formula as f
from kane.mechanism.model import Frame, Joint, Link, Mechanism, Mimic, Parameter, Translate, Turn
from kane.verification.witness import bear_witness
from strategies import SIMPLE, random_mechanism, random_state
from task_values import value
from tolerances import ROUNDING

seeds = st.integers(0, 2**20)


def close(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.shape == expected.shape
    assert np.abs(actual - expected).max(initial=0.0) <= ROUNDING * max(1.0, np.abs(expected).max(initial=0.0))


@settings(max_examples=8)
@given(seed=seeds, joints=st.integers(2, 5))
def test_external_wrenches_do_the_work_of_their_jacobians(seed: int, joints: int) -> None:
    """tau(w) = tau(0) - sum J^T w, in inverse and forward dynamics, bias and active forces."""
    m = random_mechanism(seed, joints)
    tool = Frame("tool", m.links[-1].name, (Turn(1, Fraction(7, 10)), Translate((Fraction(1, 10),) * 3)))
    m = replace(m, frames=(tool,))
    s = random_state(m, seed)
    frames = ("tool", m.links[1].name)
    w = np.random.default_rng(seed).uniform(-3, 3, 12)
    extra = sum(value(m, "jacobian", s, frame=frame).T @ w[6 * i : 6 * i + 6] for i, frame in enumerate(frames))
    loaded = s | {"w": w}
    for task, sign in (("inverse_dynamics", -1), ("bias_forces", -1), ("generalized_active_forces", 1)):
        close(value(m, task, loaded, external=frames), value(m, task, s) + sign * extra)
    qdd = value(m, "forward_dynamics", loaded, external=frames)
    close(value(m, "inverse_dynamics", s | {"qdd": qdd}), s["tau"] + extra)


@settings(max_examples=8)
@given(seed=seeds, joints=st.integers(1, 4))
def test_slotine_li(seed: int, joints: int) -> None:
    """Y(q, qd, qd_r, qdd_r) pi = M qdd_r + C qd_r + g with the Christoffel matrix; C times v alike."""
    from kane.equations.system import derive_system
    from kane.equations.tasks.regressors import values_of
    from kane.graph.evaluate import evaluate
    from kane.graph.program import build_program

    m = random_mechanism(seed, joints, SIMPLE, rotors=0.0)
    s = random_state(m, seed)
    system = derive_system(m)
    pi = evaluate(build_program(system.g, "pi", (), [("pi", (len(values_of(system)),), values_of(system))]), {})["pi"]
    C = value(m, "coriolis_matrix", s)
    expected = value(m, "mass_matrix", s) @ s["qdd_r"] + C @ s["qd_r"] + value(m, "gravity_forces", s)
    close(value(m, "slotine_li_regressor", s) @ pi, expected)
    close(value(m, "regressor", s) @ pi, value(m, "inverse_dynamics", s))
    close(value(m, "coriolis_times", s), C @ s["v"])


def test_christoffel_matrix_is_that_of_the_mass_matrix() -> None:
    """C_ij = sum_k (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) qd_k / 2 where speeds are rates."""
    from kane.verification.functions import rate

    m = random_mechanism(4, 4, SIMPLE)
    s = random_state(m, 4)
    n = len(s["q"])
    d = [rate(lambda h, k=k: value(m, "mass_matrix", {"q": s["q"] + h * np.eye(n)[k]}), 1e-2) for k in range(n)]
    D = np.array(d)  # D[k, i, j] = dM_ij/dq_k
    C = 0.5 * np.einsum("kij,k->ij", D, s["qd"])
    C += 0.5 * (np.einsum("jik,k->ij", D, s["qd"]) - np.einsum("ijk,k->ij", D, s["qd"]))
    assert np.abs(value(m, "coriolis_matrix", s) - C).max() < 1e-7 * np.abs(C).max()


def test_slotine_li_refuses_speeds_that_are_no_rates() -> None:
    with pytest.raises(UnsupportedError, match="rates of the coordinates"):
        derive_task(random_mechanism(1, 2, ("spherical",)), "slotine_li_regressor")


@settings(max_examples=6)
@given(seed=seeds, joints=st.integers(1, 4))
def test_generalized_forces_add_up(seed: int, joints: int) -> None:
    """F_r + F_r* + tau_r = 0 (Kane and Levinson 1985, eq. 6.1.1)."""
    m = random_mechanism(seed, joints)
    s = random_state(m, seed)
    total = value(m, "generalized_active_forces", s) + value(m, "generalized_inertia_forces", s)
    close(total + value(m, "inverse_dynamics", s), np.zeros_like(total))


def test_partial_velocities_are_rows_of_the_jacobian() -> None:
    m = random_mechanism(3, 5)
    s = random_state(m, 3)
    frame = m.links[-1].name
    J = bear_witness(m, s["q"], s["qd"], s["qdd"]).jacobian(frame)
    close(value(m, "partial_angular_velocities", s, frame=frame), J[:3].T)
    close(value(m, "partial_velocities", s, frame=frame), J[3:].T)


def test_friction_and_springs() -> None:
    """Follower of ratio -2: power of its friction and spring force goes to the joint that it follows."""
    base = random_mechanism(2, 1, ("revolute",), rotors=0.0)
    one = replace(
        base.joints[0], damping=Fraction(3, 10), friction=Fraction(2), stiffness=Fraction(5), rest=Fraction(1, 10)
    )
    link = replace(base.links[1], name="l2")
    two = replace(
        one, name="j2", parent="l1", child="l2", mimic=Mimic("j1", Fraction(-2), Fraction(1, 2)), damping=Fraction(1)
    )
    m = replace(base, joints=(one, two), links=(*base.links, link))
    q, qd = np.array([0.4]), np.array([-0.7])
    friction = value(m, "friction_forces", {"qd": qd})
    close(friction, np.array([0.3 * -0.7 - 2 + -2 * (1 * 1.4 + 2)]))
    stretch, follower = 0.4 - 0.1, -2 * 0.4 + 0.5 - 0.1
    passive = value(m, "passive_forces", {"q": q, "qd": qd})
    close(passive, np.array([-5 * stretch - 0.3 * -0.7 + -2 * (-5 * follower - 1 * 1.4)]))


@settings(max_examples=5)
@given(seed=seeds, joints=st.integers(1, 4))
def test_parameters_that_stay_symbols(seed: int, joints: int) -> None:
    """The same numbers with every inertial parameter as run-time input."""
    m = random_mechanism(seed, joints)
    s = random_state(m, seed)
    for task in ("inverse_dynamics", "mass_matrix", "forward_dynamics", "kinetic_energy", "potential_energy"):
        close(value(m, task, s, parameters="symbolic"), value(m, task, s))
    close(value(m, "inverse_dynamics", s, parameters=(m.links[1].name,)), value(m, "inverse_dynamics", s))


def test_named_parameters_of_the_description() -> None:
    """A pendulum of length L and mass m: tau = m L^2 qdd + m g L sin(q), whatever m and L are at run time."""
    from kane.mechanism.model import Inertia, Link

    L = f.name("L")
    bob = Inertia(f.name("m"), (Fraction(0), -L, Fraction(0)))
    m = Mechanism(
        "pendulum",
        (Link("base"), Link("bob", bob)),
        (Joint("swing", "revolute", "base", "bob"),),
        gravity=(Fraction(0), -f.name("g"), Fraction(0)),
        parameters=(Parameter("L", Fraction(2)), Parameter("m", Fraction(3)), Parameter("g")),
    )
    made = derive_task(m, "inverse_dynamics", parameters=("L", "m"))
    assert set(made.parameters) == {"L", "m", "g"}
    assert made.parameters["g"] is None
    s = {"q": np.array([0.3]), "qd": np.array([2.0]), "qdd": np.array([0.7])}
    given_values = {"L": 0.5, "m": 1.5, "g": 9.81}
    s["p"] = np.array([given_values[n] for n in made.program.parameter_names])
    expected = 1.5 * 0.25 * 0.7 + 1.5 * 9.81 * 0.5 * np.sin(0.3)
    close(value(m, "inverse_dynamics", s, parameters=("L", "m")), np.array([expected]))
    with pytest.raises(UnknownNameError, match="'k' is no parameter"):
        derive_task(m, "inverse_dynamics", parameters=("k",))


def test_unknown_task_and_frame_list_what_there_is() -> None:
    m = random_mechanism(1, 1, ("revolute",))
    with pytest.raises(UnknownNameError, match=r"no task 'inverse'.*inverse_dynamics"):
        derive_task(m, "inverse")
    with pytest.raises(UnknownNameError, match=r"no link or frame named 'hand'.*l1"):
        derive_task(m, "jacobian", "hand")


def test_motion_without_inertia_is_named() -> None:
    """Two coaxial turns with nothing between them, and a turn of nothing: one message with the speed's name."""
    m = random_mechanism(1, 1, ("revolute",), rotors=0.0)
    first = replace(m.joints[0], axis=(Fraction(0), Fraction(0), Fraction(1)), placement=())
    second = replace(first, name="twin", parent="l1", child="l2")
    double = replace(m, links=(m.links[0], Link("l1"), Link("l2", m.links[1].inertia)), joints=(first, second))
    bare = replace(m, links=(m.links[0], Link("l1")))
    for singular, name in ((double, "j1"), (bare, "j1")):
        with pytest.raises(MasslessJointError, match=f"speed '{name}'"):
            derive_task(singular, "forward_dynamics")
