"""Real bodies: pseudo-inertias, what plain least squares makes impossible, the nearest set to the prior."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from identification.arms import fourier, planar, rough, spatial
from kane.equations.derive import derive_task
from kane.graph.evaluate import evaluate
from kane.identification.consistent import consistent_fit, impossible_bodies, nearest_consistent
from kane.identification.identifier import IdentificationWarning, Identifier
from kane.identification.pseudo import is_physical, metric_factors, parameters_of, pseudo_inertia, smat, svec
from kane.identification.torque_model import torque_model
from kane.identification.write_back import with_parameters
from kane.mechanism.inertia import bodies, faults
from kane.mechanism.model import Inertia, Joint, Link, Translate

pytest.importorskip("clarabel")


@given(st.integers(0, 10_000))
def test_pseudo_inertia_of_points_is_their_second_moment(seed):
    rng = np.random.default_rng(seed)
    masses, points = rng.uniform(0.1, 1, 6), rng.uniform(-1, 1, (6, 3))
    ones = np.hstack([points, np.ones((6, 1))])
    J = (masses[:, None] * ones).T @ ones
    m, h = masses.sum(), masses @ points
    I = sum(w * (p @ p * np.eye(3) - np.outer(p, p)) for w, p in zip(masses, points, strict=True))
    ten = np.array([m, *h, I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]])
    assert np.allclose(pseudo_inertia(ten), J, atol=1e-13)
    assert np.allclose(parameters_of(J), ten, atol=1e-13) and is_physical(ten)
    assert np.allclose(smat(svec(J)), J) and np.isclose(svec(J) @ svec(J), (J * J).sum())
    ten[4] = ten[7] + ten[9] + 2 * m * ten[1:4] @ ten[1:4]  # breaks the triangle inequality
    assert not is_physical(ten)


def test_metric_of_a_real_prior_is_the_prior_and_of_another_is_lifted():
    good = np.array([2.0, 0.2, 0, 0.1, 0.3, 0, 0, 0.4, 0, 0.35])
    nothing = np.zeros(10)
    first, second = metric_factors(np.array([good, nothing]))
    assert np.allclose(first @ first.T, pseudo_inertia(good), atol=1e-12)
    assert np.linalg.eigvalsh(second @ second.T)[0] > 0


def noisy(model, sigma, seed=0, n=300):
    _, q, qd, qdd = fourier(model.nv, n, 4, amplitude=0.15)
    tau = model.torque(q, qd, qdd, model.prior) + sigma * np.random.default_rng(seed).normal(size=q.shape)
    return q, qd, qdd, tau


def test_a_good_estimate_is_possible_and_its_nearest_set_has_it_exactly():
    fit = Identifier(spatial()).fit(*noisy(torque_model(spatial()), 0.0))
    assert fit.impossible_ == {} and fit.consistent_ is None
    found = nearest_consistent(fit.model, fit.coef_)
    assert np.allclose(found.x, fit.coef_, atol=1e-7)
    for b in range(3):
        assert is_physical(found.full[10 * b : 10 * b + 10])
    assert np.allclose(found.full, fit.model.base.full_values, atol=1e-5)


def test_impossible_estimates_are_told_and_mended():
    model = torque_model(spatial())
    for seed in range(20):
        data = noisy(model, 1.5, seed, n=60)
        fit = Identifier(spatial(), accept=["swapped"])
        with pytest.warns(IdentificationWarning, match="no real body has") as caught:
            fit.fit(*data)
        if fit.impossible_:
            break
    assert set(fit.impossible_) <= {"l1", "l2", "l3", "pitch.Im"} and fit.impossible_
    assert any(name in str(w.message) for w in caught for name in fit.impossible_)
    assert nearest_consistent(fit.model, fit.coef_) is None
    found = fit.consistent_
    for b in range(3):
        assert is_physical(found.full[10 * b : 10 * b + 10])
    # bodies stay in reach of the data: the sum of squares in units of the noise grows little beyond the best
    q, qd, qdd, tau = data
    plain = ((tau - fit.model.torque(q, qd, qdd, fit.coef_)) / fit.sigma_) ** 2
    mended = ((tau - fit.model.torque(q, qd, qdd, found.x)) / fit.sigma_) ** 2
    assert plain.sum() <= mended.sum() < plain.sum() + 60
    assert Identifier(spatial(), consistent=True, accept=["swapped"]).get_params()["consistent"]


def test_consistent_fit_is_least_squares_where_nothing_binds():
    model = torque_model(spatial())
    q, qd, qdd, tau = noisy(model, 0.01, n=2000)
    fit = Identifier(spatial(), consistent=True).fit(q, qd, qdd, tau)
    assert np.abs((fit.x_ - fit.coef_) / fit.coef_std_).max() < 0.5
    from kane.identification.estimate import model_factors
    from kane.identification.identifier import weighted_factor

    factor = weighted_factor(model_factors(model, q, qd, qdd, tau), fit.sigma_)
    heavy = consistent_fit(model, factor, weight=1e12)
    assert np.allclose(heavy.x, model.prior, rtol=1e-4, atol=1e-5)


def test_negative_friction_is_impossible():
    arm = rough(planar(), [0.5, 0.5], [0.1, 0.1])
    model = torque_model(arm)
    x = model.prior.copy()
    x[model.names.index("j2.viscous")] = -0.2
    assert set(impossible_bodies(model, x)) == {"j2.viscous"}
    assert impossible_bodies(model, model.prior) == {}


def torques(mechanism, q, qd, qdd):
    program = derive_task(mechanism, "inverse_dynamics").program
    return evaluate(program, {"q": q, "qd": qd, "qdd": qdd})["tau"]


def test_written_back_mechanism_has_the_identified_torques_and_real_bodies():
    true = rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0])
    blank = replace(
        true,
        links=(true.links[0], *(replace(x, inertia=replace(x.inertia, mass=Fraction(1))) for x in true.links[1:])),
    )
    source = torque_model(true)
    q, qd, qdd, tau = noisy(source, 0.001, n=1500)
    fit = Identifier(blank, friction="all", consistent=True).fit(q, qd, qdd, tau)
    made = with_parameters(fit.model, fit.consistent_)
    assert blank.links[1].inertia.mass == 1  # the given one stays
    for found in bodies(made):
        assert faults(found) is None
    rigid = torques(made, q, qd, qdd)
    friction = fit.model.torque(q, qd, qdd, fit.x_) - torque_model(made, friction="none").torque(
        q, qd, qdd, torque_model(made, friction="none").prior
    )
    assert np.abs(rigid + friction - tau).max() < 0.01 * np.ptp(tau, axis=0).min()
    assert np.allclose([float(j.friction) for j in made.joints], [0.4, 0.5, 0.6], atol=0.01)
    assert np.allclose([float(j.damping) for j in made.joints], [1.0, 0.8, 2.0], atol=0.02)
    assert {n.name for n in made.report.of("identified")} >= {"l1", "l2", "l3", "yaw"}


def test_links_fixed_together_share_what_was_found():
    small, none = Fraction(1, 500), Fraction(0)
    tool = Inertia(Fraction(1, 2), (Fraction(1, 10), none, none), (small, none, none, small, none, small))
    arm = planar()
    place = (Translate((Fraction(3, 10), Fraction(0), Fraction(0))),)
    arm = replace(
        arm, links=(*arm.links, Link("tool", tool)), joints=(*arm.joints, Joint("weld", "fixed", "l2", "tool", place))
    )
    model = torque_model(arm)
    found = nearest_consistent(model, model.prior)
    made = with_parameters(model, found)
    assert made.link("tool") == arm.link("tool")
    rng = np.random.default_rng(0)
    state = rng.uniform(-2, 2, (3, 5, 2))
    assert np.allclose(torques(made, *state), torques(arm, *state), atol=1e-5)
