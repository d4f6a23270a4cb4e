"""Whole arms with friction, encoder steps, torque ripple and noise at 1 kHz: small errors, honest deviations."""

import importlib.util
import sys
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from identification.arms import rough
from kane.formats.urdf import read_urdf
from kane.identification.identifier import IdentificationWarning, Identifier
from kane.identification.pseudo import is_physical
from kane.identification.torque_model import torque_model
from kane.mechanism.model import Inertia
from kane.robots import load
from kane.robots.generated import tree

pytest.importorskip("clarabel")
PANDA = Path(pin.__file__).parents[4] / "share/example-robot-data/robots/panda_description/urdf/panda.urdf"
GEARS = [62.61, 107.36, 53.69, 76.01, 71.91, 76.73]


def puma():
    arm = rough(load("puma560"), [6.3, 5.5, 2.6, 1.3, 1.0, 1.2], [4.9, 8.2, 3.1, 0.6, 0.7, 0.5])
    return arm, np.array(GEARS)


def panda():
    """The seven joints of the arm; the hand is held."""
    robot = read_urdf(PANDA)
    joints = tuple(replace(j, type="fixed") if j.type == "prismatic" else j for j in robot.joints)
    joints = tuple(replace(j, mimic=None, rotor=None) for j in joints)
    robot = replace(robot, joints=joints)
    moving = [j.type == "revolute" for j in robot.joints]
    return rough(robot, np.where(moving, 0.4, 0.0), np.where(moving, 1.1, 0.0)), np.full(sum(moving), 100.0)


def two_branches():
    arm = tree(6, branching=2, seed=3)
    return rough(arm, [0.3] * 6, [0.5] * 6), np.full(6, 80.0)


def motion(n, seed, seconds=12.0, period=6.0):
    """A motion that repeats, so that ripple and steps repeat too."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, 1e-3)
    k = 2 * np.pi / period * np.arange(1, 5)
    a, b = 0.45 * rng.normal(size=(2, n, 4)) / np.sqrt(np.arange(1, 5))
    s, c = np.sin(np.outer(t, k)), np.cos(np.outer(t, k))
    return t, s @ a.T + c @ b.T, c @ (k * a).T - s @ (k * b).T, -s @ (k * k * a).T - c @ (k * k * b).T


@pytest.mark.filterwarnings("ignore::kane.identification.identifier.IdentificationWarning")
@pytest.mark.parametrize("make", [puma, panda, two_branches])
def test_parameters_are_within_their_deviations(make):
    arm, gears = make()
    fit = Identifier(arm, friction="all", method="wls", consistent=True)
    model = fit.model
    truth = model.prior
    t, q, qd, qdd = motion(model.nv, 1)
    clean = model.torque(q, qd, qdd, truth)
    span = np.ptp(clean, axis=0)
    counts = 2 * np.pi / (gears * 1000)
    _, *unseen = motion(model.nv, 55)
    expected = model.torque(*unseen, truth)
    scores = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        ripple = 0.005 * span * np.sin(6 * gears * q + rng.uniform(0, 6, model.nv))
        tau = clean + ripple + 0.02 * span * rng.normal(size=clean.shape)
        fit.fit_raw(t, np.floor(q / counts + rng.uniform(size=model.nv)) * counts, tau, cutoff=10.0)
        scores.append((fit.coef_ - truth) / fit.coef_std_)
        plain = model.torque(*unseen, fit.coef_) - expected
        assert (np.sqrt((plain**2).mean(axis=0)) < 0.01 * np.ptp(expected, axis=0)).all()
        rotors = sum(name.endswith(".Im") for name in model.base.full)
        bodies = fit.consistent_.full[: len(model.base.full) - rotors].reshape(-1, 10)
        assert all(is_physical(b) for b in bodies)
        mended = fit.predict(*unseen) - expected
        assert (np.sqrt((mended**2).mean(axis=0)) < 0.015 * np.ptp(expected, axis=0)).all()
    scores = np.abs(scores)
    assert (scores < 3).mean() > 0.95 and (scores < 1).mean() > 0.4
    assert not fit.unknown_


def blank(robot):
    """The robot with the same placeholder for every body, as a description with the right geometry only may have."""
    small, none = Fraction(1, 100), Fraction(0)
    same = Inertia(Fraction(1), (Fraction(1, 10), none, none), (small, none, none, small, none, small))
    return replace(robot, links=tuple(replace(x, inertia=same) if x.inertia else x for x in robot.links))


@pytest.mark.parametrize("make,seed", [(puma, 1), (panda, 3), (two_branches, 5)])
def test_short_noisy_logs_give_impossible_bodies_that_are_named_and_real_ones_instead(make, seed):
    arm, _ = make()
    model = torque_model(arm, friction="given")
    t, q, qd, qdd = (a[::60] for a in motion(model.nv, seed))
    clean = model.torque(q, qd, qdd, model.prior)
    noise = 0.1 * np.ptp(clean, axis=0) * np.random.default_rng(seed).normal(size=clean.shape)
    fit = Identifier(blank(arm), friction="given", method="wls", consistent=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit.fit(q, qd, qdd, clean + noise, t)
    told = next(str(w.message) for w in caught if "no real body has" in str(w.message))
    assert all(w.category is IdentificationWarning for w in caught)
    assert fit.impossible_ and all(name in told for name in fit.impossible_)
    bodies = [name for name in fit.model.base.full if not name.endswith((".Im", ".J"))]
    assert all(is_physical(b) for b in fit.consistent_.full[: len(bodies)].reshape(-1, 10))
    assert (fit.consistent_.full[len(bodies) :] >= 0).all() and (fit.consistent_.friction >= 0).all()
    _, *unseen = motion(model.nv, 77)
    expected = model.torque(*unseen, model.prior)
    plain, real = (
        np.sqrt(((fit.model.torque(*unseen, x) - expected) ** 2).sum(axis=0)) / np.ptp(expected, axis=0)
        for x in (fit.coef_, fit.x_)
    )
    assert np.linalg.norm(real) < np.linalg.norm(plain)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["puma560", "panda", "tree"])
@pytest.mark.filterwarnings("ignore::kane.identification.identifier.IdentificationWarning")
def test_three_deviations_hold_for_all_parameters_in_95_of_100_runs(name):
    path = Path(__file__).parents[2] / "benchmarks" / "identified.py"
    spec = importlib.util.spec_from_file_location("identified", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["identified"] = module
    spec.loader.exec_module(module)
    made = module.bench(name, "designed")
    scores, errors, real = zip(*(made.run(seed) for seed in range(200)), strict=True)
    inside = np.abs(scores) < 3
    assert inside.all(axis=1).mean() >= 0.95 and inside.mean(axis=0).min() >= 0.95
    assert (np.abs(scores) < 1).mean() < 0.9  # and they are not much too large
    assert np.max(errors) < 0.01 and all(real)
