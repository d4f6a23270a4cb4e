"""Estimates against closed forms, honest deviations, factors in any cut."""

import json
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from identification.arms import fourier, planar, rough, spatial
from kane.errors import InputError, UnsupportedError
from kane.identification.estimate import chunks_of
from kane.identification.factors import chunk_factors, merged, solve, triangle
from kane.identification.identifier import IdentificationWarning, Identifier


def stacked(model, q, qd, qdd):
    return model.regressor(q, qd, qdd).reshape(-1, len(model.names))


@given(st.integers(1, 700), st.integers(1, 9), st.integers(0, 50))
def test_triangle_has_the_gram_matrix_of_its_rows(n, m, seed):
    rows = np.random.default_rng(seed).normal(size=(n, m))
    R = triangle(rows)
    assert R.shape == (m, m) and np.array_equal(R, np.triu(R))
    assert np.allclose(R.T @ R, rows.T @ rows, rtol=0, atol=1e-12 * n)


@pytest.mark.parametrize("sizes", [(300,), (100, 100, 100), (1, 199, 100), (7,) * 42 + (6,)])
def test_factors_do_not_depend_on_the_cut(sizes):
    rng = np.random.default_rng(0)
    W, tau = rng.normal(size=(300, 3, 5)), rng.normal(size=(300, 3))
    W[:, 2, :2] = 0  # a tip joint sees few parameters
    cuts = np.cumsum((0, *sizes))
    parts = merged(chunk_factors(W[a:b], tau[a:b]) for a, b in pairwise(cuts))
    assert parts.total == 300 and len(parts.samples) <= 64
    x = np.linalg.lstsq(W.reshape(-1, 5), tau.reshape(-1), rcond=None)[0]
    assert np.allclose(solve(parts, np.zeros(5)).x, x, rtol=0, atol=1e-12)


def test_memory_is_bounded_for_any_number_of_chunks():
    rng = np.random.default_rng(0)
    W, tau = rng.normal(size=(4000, 1, 3)), rng.normal(size=(4000, 1))
    parts = merged(chunk_factors(W[i : i + 4], tau[i : i + 4]) for i in range(0, 4000, 4))
    assert len(parts.samples) < 2 * 64 and parts.total == 4000
    x = np.linalg.lstsq(W.reshape(-1, 3), tau.reshape(-1), rcond=None)[0]
    assert np.allclose(solve(parts, np.zeros(3)).x, x, rtol=0, atol=1e-13)


def test_ordinary_least_squares_is_the_textbooks():
    fit = Identifier(planar())
    t, q, qd, qdd = fourier(2, 200, 1)
    tau = fit.model.torque(q, qd, qdd, fit.model.prior) + 0.05 * np.random.default_rng(2).normal(size=q.shape)
    fit.fit(q, qd, qdd, tau, t)
    W = stacked(fit.model, q, qd, qdd)
    x = np.linalg.lstsq(W, tau.reshape(-1), rcond=None)[0]
    assert np.allclose(fit.coef_, x, rtol=0, atol=1e-12)
    assert fit.names_ == ("l1.hx", "l1.hy", "l1.Izz", "l2.hx", "l2.hy", "l2.Izz")
    assert np.isclose(fit.condition_, np.linalg.cond(W), rtol=1e-9)
    assert np.allclose(fit.predict(q, qd, qdd).reshape(-1), W @ x)
    # one noise for both joints would give sigma^2 (W^T W)^-1; here each joint has its own, nearly the same
    noise = np.sqrt(((tau.reshape(-1) - W @ x) ** 2).sum() / (len(W) - 6))
    plain = noise * np.sqrt(np.diag(np.linalg.inv(W.T @ W)))
    assert np.allclose(fit.coef_std_, plain, rtol=0.15)
    assert fit.score(q, qd, qdd, tau) > 0.99
    told = json.loads(json.dumps(fit.as_dict()))
    assert told["parameters"][0]["name"] == "l1.hx" and told["samples"] == 200 and told["sigma"].keys() == {"j1", "j2"}
    error = fit.prediction_error(q, qd, qdd, tau)["j2"]
    assert np.isclose(error[0], np.sqrt(np.mean((tau[:, 1] - (W @ x)[1::2]) ** 2))) and error[1] < 0.05


def test_weighted_least_squares_is_best_for_unequal_joints():
    fit = Identifier(planar(), method="wls")
    t, q, qd, qdd = fourier(2, 400, 1)
    noise = np.array([0.5, 0.01])
    rng = np.random.default_rng(5)
    tau = fit.model.torque(q, qd, qdd, fit.model.prior) + noise * rng.normal(size=q.shape)
    fit.fit(q, qd, qdd, tau, t)
    assert np.allclose(fit.sigma_, noise, rtol=0.1)
    rows = stacked(fit.model, q, qd, qdd) / np.tile(fit.sigma_, len(q))[:, None]
    x = np.linalg.lstsq(rows, (tau / fit.sigma_).reshape(-1), rcond=None)[0]
    assert np.allclose(fit.coef_, x, rtol=0, atol=1e-9)
    plain = Identifier(planar()).fit(q, qd, qdd, tau, t)
    assert fit.coef_std_[3] < 0.2 * plain.coef_std_[3]


def test_reweighting_is_not_led_astray_by_outliers():
    robust = Identifier(planar(), method="irls")
    _, q, qd, qdd = fourier(2, 500, 1)
    rng = np.random.default_rng(5)
    tau = robust.model.torque(q, qd, qdd, robust.model.prior) + 0.02 * rng.normal(size=q.shape)
    tau[rng.integers(0, 500, 20), rng.integers(0, 2, 20)] += 8.0
    robust.fit(q, qd, qdd, tau)
    plain = Identifier(planar(), accept=["units"]).fit(q, qd, qdd, tau)
    truth = robust.model.prior
    assert np.abs(robust.coef_ - truth).max() < 0.2 * np.abs(plain.coef_ - truth).max()
    assert (np.abs(robust.coef_ - truth) < 4 * robust.coef_std_).all()


@pytest.mark.parametrize("correlated", [False, True])
def test_deviations_are_honest(correlated):
    fit = Identifier(planar(), correlated=correlated)
    _, q, qd, qdd = fourier(2, 1000, 1)
    clean = fit.model.torque(q, qd, qdd, fit.model.prior)
    rng = np.random.default_rng(11)
    scores = []
    for _ in range(60):
        noise = rng.normal(size=q.shape)
        if correlated:  # each sample like the last: white noise would be believed four times too well
            for i in range(1, len(noise)):
                noise[i] += 0.9 * noise[i - 1]
        fit.fit(q, qd, qdd, clean + 0.05 * noise)
        scores.append((fit.coef_ - fit.model.prior) / fit.coef_std_)
    spread = np.std(scores, axis=0)
    assert (np.abs(scores) < 3).mean() > 0.97
    assert (spread > 0.5).all() and (spread < 1.45).all()


def test_what_the_motion_does_not_show_is_named_and_stays_as_described():
    fit = Identifier(planar())
    t, q, qd, qdd = fourier(2, 300, 1)
    q[:, 0], qd[:, 0], qdd[:, 0] = 0.3, 0.0, 0.0
    with pytest.warns(IdentificationWarning) as caught:
        fit.fit(q, qd, qdd, fit.model.torque(q, qd, qdd, fit.model.prior), t)
    text = " ".join(str(w.message) for w in caught)
    assert "'j1' never moved" in text and "does not determine" in text
    unknown = {u.name: u.reason for u in fit.unknown_}
    assert set(unknown) == {"l1.hx", "l1.hy", "l1.Izz"}
    assert "no effect" in unknown["l1.Izz"] and "j1 did not move" in unknown["l1.Izz"]
    assert "l1.hy" in unknown["l1.hx"]
    assert np.isinf(fit.coef_std_[:3]).all() and np.isfinite(fit.coef_std_[3:]).all()
    assert np.allclose(fit.coef_, fit.model.prior, atol=1e-9)


def test_streaming_gives_the_same_estimate():
    arm = rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0])
    fit = Identifier(arm, friction="all", method="wls")
    _, q, qd, qdd = fourier(3, 5000, 1, amplitude=0.2)
    rng = np.random.default_rng(0)
    tau = fit.model.torque(q, qd, qdd, fit.model.prior) + 0.1 * rng.normal(size=q.shape)
    whole = fit.fit(q, qd, qdd, tau).coef_.copy()
    stream = Identifier(arm, friction="all", method="wls").fit_chunks(
        (q[i : i + 700], qd[i : i + 700], qdd[i : i + 700], tau[i : i + 700]) for i in range(0, 5000, 700)
    )
    assert np.allclose(stream.coef_, whole, rtol=1e-9, atol=1e-11) and stream.n_samples_ == 5000
    with pytest.raises(UnsupportedError, match="irls"):
        Identifier(arm, method="irls").fit_chunks([(q, qd, qdd, tau)])


def test_settings_are_scikit_learns():
    fit = Identifier(planar(), method="wls")
    assert fit.get_params()["method"] == "wls"
    assert fit.set_params(friction="all") is fit and fit.model.names[-1] == "j2.offset"
    assert type(fit)(**fit.get_params()).get_params() == fit.get_params()
    with pytest.raises(UnsupportedError, match="colour"):
        fit.set_params(colour="red")
    with pytest.raises(InputError, match="2 samples"):
        fit.fit(*np.random.default_rng(0).normal(size=(4, 2, 2)))


def test_chunks_cover_every_sample_once():
    a = np.arange(12345.0)
    with warnings.catch_warnings():
        pieces = [c[0] for c in chunks_of(a)]
    assert np.array_equal(np.concatenate(pieces), a) and max(map(len, pieces)) <= 2000 and len(pieces) >= 60
