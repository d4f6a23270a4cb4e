"""Filters without delay, rates, raw logs, motion files."""

import numpy as np
import pytest

from identification.arms import fourier, rough, spatial
from kane.errors import InputError
from kane.identification.identifier import IdentificationWarning, Identifier
from kane.identification.signals import (
    differentiated,
    encoder_noise,
    low_pass,
    parallel_filter,
    rate,
    resampled,
    sample_time,
)

STEP = 1e-3


def test_low_pass_keeps_slow_waves_in_place_and_halves_the_cutoff():
    t = np.arange(0, 8, STEP)
    slow, edge, fast = (np.sin(2 * np.pi * f * t) for f in (0.5, 10.0, 60.0))
    middle = slice(2000, 6000)
    assert np.abs(low_pass(slow, STEP, 10.0) - slow)[middle].max() < 1e-4
    assert np.isclose(np.abs(low_pass(edge, STEP, 10.0))[middle].max(), 0.5, atol=1e-3)
    assert np.abs(low_pass(fast, STEP, 10.0))[middle].max() < 1e-5
    with pytest.raises(InputError, match="below 500"):
        low_pass(slow, STEP, 600.0)


def test_rate_is_exact_for_parabolas():
    t = np.arange(50) * 0.1
    assert np.allclose(rate(3 * t**2 - t, 0.1), 6 * t - 1, atol=1e-12)


def test_missing_samples_are_named():
    t = np.delete(np.arange(0, 1, STEP), 300)
    with pytest.raises(InputError, match="sample 299"):
        sample_time(t)
    even, values = resampled(t, np.stack([t, 2 * t], axis=1))
    assert np.isclose(sample_time(even), STEP) and np.allclose(values[:, 1], 2 * even, atol=1e-12)


def test_differentiated_encoder_has_the_rates_of_the_motion():
    t, q, qd, qdd = fourier(2, 10_000, 2)
    counts = np.round(q / 1e-5) * 1e-5
    motion = differentiated(t, counts, np.zeros_like(q), 10.0)
    keep = slice(motion.trimmed, len(t) - motion.trimmed)
    assert np.array_equal(motion.t, t[keep])
    assert np.abs(motion.qd - qd[keep]).max() < 1e-3 * np.abs(qd).max()
    assert np.abs(motion.qdd - qdd[keep]).max() < 1e-2 * np.abs(qdd).max()
    with pytest.raises(InputError, match="several degrees"):
        differentiated(t, q, np.zeros((len(t), 3)), 10.0)


def test_encoder_steps_leave_the_noise_that_is_said():
    rng = np.random.default_rng(0)
    t = np.arange(0, 40, STEP)
    smooth = np.sin(2 * t)[:, None] + 0.7 * np.sin(3.3 * t + 1)[:, None]
    counts = 1e-3
    q = np.floor(smooth / counts + rng.uniform()) * counts
    error = differentiated(t, q, q, 20.0).qdd - differentiated(t, smooth, q, 20.0).qdd
    assert np.isclose(error.std(), encoder_noise(q, STEP, 20.0)[0], rtol=0.3)
    assert encoder_noise(smooth, STEP, 20.0) == 0


def test_coarse_encoders_with_a_high_cutoff_are_told():
    fit = Identifier(spatial())
    t, q, qd, qdd = fourier(3, 10_000, 7, amplitude=0.25)
    tau = fit.model.torque(q, qd, qdd, fit.model.prior)
    coarse = np.round(q / 1e-3) * 1e-3
    with pytest.warns(IdentificationWarning) as caught:
        fit.fit_raw(t, coarse, tau, cutoff=40.0)
    assert any("Encoder steps make" in str(w.message) and "lower the cutoff" in str(w.message) for w in caught)
    fit.fit_raw(t, q, tau, cutoff=40.0)
    assert not [f for f in fit.findings_ if f.kind == "noise"]


def test_parallel_filter_keeps_the_relation_exactly():
    rng = np.random.default_rng(0)
    W, x = rng.normal(size=(4000, 2, 3)), np.array([1.0, -2.0, 0.5])
    F, tau = parallel_filter(W, W @ x, STEP, 20.0)
    assert np.allclose(F @ x, tau, atol=1e-12) and 100 < len(F) < 200


def test_raw_log_with_quantised_encoders_gives_parameters_within_their_deviations():
    arm = rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0])
    fit = Identifier(arm, friction="all", method="wls")
    t, q, qd, qdd = fourier(3, 10_000, 7, amplitude=0.25)
    rng = np.random.default_rng(1)
    tau = fit.model.torque(q, qd, qdd, fit.model.prior)
    tau += 0.02 * np.ptp(tau, axis=0) * rng.normal(size=tau.shape)
    fit.fit_raw(t, np.round(q / 2e-5) * 2e-5, tau, cutoff=10.0)
    score = (fit.coef_ - fit.model.prior) / fit.coef_std_
    assert np.abs(score).max() < 4 and np.mean(np.abs(score) < 2) > 0.8
    _, q, qd, qdd = fourier(3, 500, 99, amplitude=0.25)
    unseen = fit.model.torque(q, qd, qdd, fit.model.prior)
    assert all(share < 0.01 for _, share in fit.prediction_error(q, qd, qdd, unseen).values())
    broken = q.copy()
    broken[11, 2] = np.nan
    with pytest.raises(InputError, match="'slide' is nan at sample 11"):
        fit.fit_raw(np.arange(500) * STEP, broken, unseen, cutoff=10.0)


@pytest.mark.filterwarnings("ignore::kane.identification.identifier.IdentificationWarning")
def test_raw_logs_with_outliers_are_fitted_robustly():
    arm = rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0])
    rng = np.random.default_rng(1)
    fit, robust = (Identifier(arm, friction="all", method=method) for method in ("wls", "irls"))
    t, q, qd, qdd = fourier(3, 10_000, 7, amplitude=0.25)
    tau = fit.model.torque(q, qd, qdd, fit.model.prior)
    tau += 0.01 * np.ptp(tau, axis=0) * rng.normal(size=tau.shape)
    tau[4000:4003] += 30 * np.ptp(tau, axis=0)  # three samples that are wrong by far
    plain = np.abs(fit.fit_raw(t, q, tau, cutoff=10.0).coef_ - fit.model.prior).max()
    assert np.abs(robust.fit_raw(t, q, tau, cutoff=10.0).coef_ - fit.model.prior).max() < 0.5 * plain
