"""Observed orders, dense output, agreement of the integrators, real-time stepping, batches."""

import numpy as np
import pytest

from kane.errors import InputError, ShapeError, UnsupportedError
from kane.robots.generated import chain
from kane.simulation.batch import simulate_batch
from kane.simulation.fixed import Stepper
from kane.simulation.model import prepare
from kane.simulation.simulate import simulate
from simulation import simulated as sim


@pytest.fixture(scope="module")
def pendulum():
    return prepare(sim.double_pendulum())


@pytest.fixture(scope="module")
def exact(pendulum):
    return simulate(pendulum, 2.0, [0.6, -0.4], [0, 0], rtol=1e-13, atol=1e-14)


def orders(errors, ratio=2.0):
    return np.log(np.array(errors[:-1]) / errors[1:]) / np.log(ratio)


@pytest.mark.parametrize(
    ("method", "order", "steps"), [("RK4", 4, [0.004, 0.002, 0.001]), ("variational", 2, [0.02, 0.01, 0.005])]
)
def test_order_of_fixed_steps(pendulum, exact, method, order, steps):
    ends = [simulate(pendulum, 2.0, [0.6, -0.4], [0, 0], method=method, step=h).y[:, -1] for h in steps]
    seen = orders([np.abs(y - exact.y[:, -1]).max() for y in ends])
    assert np.allclose(seen, order, atol=0.25)


def test_order_of_the_adaptive_method():
    """Tolerances that accept every step of max_step: the error of an oscillator falls with its eighth power."""
    errors = []
    for h in (1 / 10, 1 / 15, 1 / 20, 1 / 30):
        r = simulate(sim.oscillator(), 2.0, [0.1], [0], rtol=1e3, atol=1e3, max_step=h)
        errors.append(np.abs(r["x"] - 0.1 * np.cos(10 * r.t)).max())
    assert np.allclose(orders(errors) * np.log(2) / np.log([1.5, 4 / 3, 1.5]), 8, atol=0.25)


def test_order_of_dense_output(pendulum):
    """Between steps the error is of the seventh power or better."""
    exact = simulate(pendulum, 2.0, [0.2, -0.1], [0, 0], rtol=1e-13, atol=1e-14)
    t, errors = np.linspace(0.05, 1.95, 377), []
    for h in (2 / 20, 2 / 30, 2 / 45):
        r = simulate(pendulum, 2.0, [0.2, -0.1], [0, 0], rtol=1e3, atol=1e3, max_step=h)
        errors.append(np.abs(r.sol(t)[:4] - exact.sol(t)[:4]).max())
    assert (orders(errors, 1.5) > 7).all()


def test_error_follows_the_tolerance(pendulum, exact):
    errors = []
    for rtol in (1e-5, 1e-7, 1e-9):
        r = simulate(pendulum, 2.0, [0.6, -0.4], [0, 0], rtol=rtol, atol=rtol)
        errors.append(np.abs(r.y[:, -1] - exact.y[:, -1]).max())
        assert errors[-1] < 30 * rtol
    assert errors[0] > errors[1] > errors[2]


def test_variational_energy_does_not_drift(pendulum):
    """The largest deviation of the first and of the last fifth of a run of 3000 steps is the same: it oscillates."""
    r = simulate(pendulum, 60.0, [0.6, -0.4], [0, 0], method="variational", step=0.02)
    off = np.abs(r.energy_residual)
    assert off[-600:].max() < 1.5 * off[:600].max()
    drift = np.polyfit(r.t, r.energy_residual, 1)[0]
    assert abs(drift) * 60 < 0.1 * off.max()
    assert not r.energy_ok and "energy error" in r.message  # and it says that the deviation exceeds the tolerance


def test_variational_forces():
    """A driven oscillator: x = (F/k)(1 - cos w t), work F x."""
    r = simulate(sim.oscillator(), 1.0, [0.0], [0.0], inputs=[2.0], method="variational", step=1e-3)
    assert np.allclose(r["x"], 0.02 * (1 - np.cos(10 * r.t)), atol=5e-6)
    assert r["work_of_actuators"][-1] == pytest.approx(2 * r["x"][-1], abs=1e-9)


@pytest.mark.parametrize("method", ["BDF"])
def test_stiff_runs(method):
    pytest.importorskip("sksundae")
    r = simulate(sim.oscillator(100), 1.0, [0.1], method=method, rtol=1e-8, atol=1e-10)
    assert r["x"][-1] == pytest.approx(0.1 * np.cos(10.0), abs=1e-5)
    from dataclasses import replace
    from fractions import Fraction

    m = chain(1, seed=4, skew=False)
    m = replace(m, joints=tuple(replace(j, damping=Fraction(10**6)) for j in m.joints))
    stiff = simulate(m, 10.0, [0.5], [1.0], method=method, rtol=1e-6, atol=1e-9)
    plain = simulate(m, 1e-3, [0.5], [1.0], rtol=1e-6, atol=1e-9)
    assert stiff.success and stiff.nfev < plain.nfev  # 10 s of it cost less than a millisecond of explicit steps


def test_a_missing_extra_is_named(monkeypatch):
    import sys

    from kane.errors import MissingExtraError

    monkeypatch.setitem(sys.modules, "sksundae.cvode", None)
    with pytest.raises(MissingExtraError, match=r"kane\[dae\]"):
        simulate(sim.oscillator(), 1.0, [0.1], method="BDF")


def test_stepper_in_real_time(pendulum):
    y0 = np.array([0.6, -0.4, 0, 0, *[0] * len(pendulum.layout.works)])
    s = Stepper(pendulum, 1e-3, y0)
    for _ in range(500):
        s.step()
    whole = simulate(pendulum, 0.5, [0.6, -0.4], [0, 0], method="RK4", step=1e-3)
    assert s.t == pytest.approx(0.5) and np.allclose(s.y[:4], whole.y[:, -1], atol=1e-12)
    s.step(np.array([1.0, 0.0]), count=10)  # inputs are held
    other = simulate(pendulum, 0.01, *np.split(whole.y[:, -1], 2), inputs=[1.0, 0.0])
    assert np.allclose(s.y[:4], other.y[:, -1], atol=1e-10)
    with pytest.raises(InputError):
        Stepper(pendulum, 0.0, y0)


def starts(count, nq, nu, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (count, nq)), rng.uniform(-1, 1, (count, nu))


@pytest.mark.parametrize(("method", "step"), [("DOP853", None), ("RK4", 1e-3)])
@pytest.mark.parametrize("threads", [1, 2])
def test_batches_equal_single_runs(pendulum, method, step, threads):
    q, u = starts(77, 2, 2)
    inputs = np.linspace(-1, 1, 154).reshape(77, 2)
    b = simulate_batch(pendulum, [0, 0.4, 1.0], q, u, inputs=inputs, method=method, step=step, threads=threads)
    assert b.ok.all() and b.y.shape == (3, 77, 4) and (b.energy_error < 1e-7).all()
    for k in (0, 40, 76):
        r = simulate(pendulum, 1.0, q[k], u[k], inputs=inputs[k], t_eval=[0, 0.4, 1.0])
        assert np.allclose(b.y[:, k], r.y.T, atol=1e-7)
        assert np.allclose(b.work[:, k], r.work.T, atol=1e-7)
    assert np.array_equal(b["a"], b.y[..., 0])


def test_batch_of_floating_bodies():
    model = prepare(chain(2, types=("floating", "revolute"), seed=5))
    q, u = starts(9, 8, 7)
    b = simulate_batch(model, [0, 1.0], q, u)
    assert np.abs(np.linalg.norm(b.y[1, :, 3:7], axis=-1) - 1).max() < 1e-14
    r = simulate(model, 1.0, q[4], u[4])
    assert np.allclose(b.y[1, 4], r.y[:, -1], atol=1e-6)


def test_bad_batches(pendulum):
    q, u = starts(4, 2, 2)
    with pytest.raises(ShapeError, match="states"):
        simulate_batch(pendulum, [0, 1], q, u[:, :1])
    q[2, 1] = np.nan
    with pytest.raises(InputError, match="Start 2 has b = nan"):
        simulate_batch(pendulum, [0, 1], q, u)
    with pytest.raises(UnsupportedError):
        simulate_batch(sim.four_bar(), [0, 1], np.zeros((1, 3)), np.zeros((1, 3)))


def test_coefficients_are_those_of_scipy():
    from scipy.integrate import DOP853

    from kane.simulation import tableau as rk

    def rows(table, shape):
        return np.array([rk.dense_row(row, shape[1]) for row in table])

    assert np.array_equal(rows(rk.A, (12, 12)), DOP853.A) and np.array_equal(rk.C, DOP853.C)
    assert np.array_equal(rk.dense_row(rk.B, 12), DOP853.B)
    assert np.array_equal(rk.dense_row(rk.ERROR_5, 13), DOP853.E5)
    assert np.array_equal(rk.dense_row(rk.ERROR_3, 13), DOP853.E3)
    assert np.array_equal(rows(rk.EXTRA_A, (3, 16)), DOP853.A_EXTRA) and np.array_equal(rk.EXTRA_C, DOP853.C_EXTRA)
    assert np.array_equal(rows(rk.DENSE, (4, 16)), DOP853.D)
