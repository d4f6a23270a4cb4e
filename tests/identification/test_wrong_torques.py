"""Torques of the wrong sign or size are told by joint and not refused; good logs with rough descriptions are not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from identification.arms import fourier, planar, rough, spatial
from kane.identification import IdentificationWarning, Identifier
from kane.identification.checks import check_log
from kane.identification.torque_model import TorqueModel, torque_model
from kane.identification.torques import JointEvidence, evidence, factors_of
from kane.mechanism.model import Inertia, Mechanism, Rotor
from kane.robots.generated import tree


def branched(seed: int) -> Mechanism:
    return rough(tree(4, branching=1 + seed % 2, seed=seed), [0.2] * 4, [0.3] * 4)


ARMS = {
    "planar": rough(planar(), [0.5, 0.4], [0.6, 0.3]),
    "spatial": rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0]),
    "without friction": spatial(),
    **{f"tree {seed}": branched(seed) for seed in range(2)},
}
MODELS = {name: torque_model(arm) for name, arm in ARMS.items()}


@cache
def described(name: str, how: str = "as it is", friction: Any = "all") -> TorqueModel:
    """The model of a description of an arm."""
    return torque_model(DESCRIBED[how](ARMS[name]), friction=friction)


def recorded(name: str, noise: float = 0.01, seed: int = 3, count: int = 800) -> list[np.ndarray]:
    """q, qd, qdd, tau, t of an arm."""
    model = MODELS[name]
    t, q, qd, qdd = fourier(model.nv, count, seed, amplitude=0.3)
    tau = model.torque(q, qd, qdd, model.prior)
    tau += noise * np.ptp(tau, axis=0) * np.random.default_rng(seed).normal(size=tau.shape)
    return [q, qd, qdd, tau, t]


def told(model: TorqueModel, log: list[np.ndarray]) -> dict[str, set[str]]:
    """Joints by kind of finding; nothing may be refused."""
    found = check_log(model, *log)
    assert [f.text for f in found if f.refused] == []
    return {kind: {f.joint for f in found if f.kind == kind} for kind in ("sign", "scale")}


NOTHING: dict[str, set[str]] = {"sign": set(), "scale": set()}


def shifted(log: list[np.ndarray], seconds: float) -> list[np.ndarray]:
    t = log[4]
    return [*log[:3], np.stack([np.interp(t - seconds, t, column) for column in log[3].T], axis=1), t]


def bodies(arm: Mechanism, change: Any) -> Mechanism:
    return replace(arm, links=tuple(replace(x, inertia=x.inertia and change(x.inertia)) for x in arm.links))


def heavier(arm: Mechanism, seed: int = 1) -> Mechanism:
    """Bodies that are up to 80 % too light or too heavy."""
    rng = np.random.default_rng(seed)

    def change(i: Inertia) -> Inertia:
        k = Fraction(round(1 + 0.8 * rng.uniform(-1, 1), 3))
        return replace(i, mass=k * i.mass, moments=tuple(k * x for x in i.moments))

    return bodies(arm, change)


def placeholders(arm: Mechanism) -> Mechanism:
    small, none = Fraction(1, 100), Fraction(0)
    return bodies(
        arm, lambda i: Inertia(Fraction(1), (Fraction(1, 10), none, none), (small, none, none, small, none, small))
    )


DESCRIBED: dict[str, Any] = {
    "as it is": lambda arm: arm, "80 % off": heavier, "placeholders": placeholders,
    "nothing": lambda arm: bodies(arm, lambda i: None),
}  # fmt: skip


@pytest.mark.parametrize("name", ARMS)
def test_good_logs_are_good_whatever_the_description(name: str) -> None:
    for seed in (3, 8):
        log = recorded(name, seed=seed)
        for how in ("as it is", "80 % off", "placeholders"):
            assert told(described(name, how), log) == NOTHING
        for changed in (shifted(log, 0.02), shifted(log, -0.02), recorded(name, 0.1, seed)):
            assert told(described(name), changed) == NOTHING
        assert told(described(name, friction="none"), log) == NOTHING  # friction that the model lacks
        assert told(described(name), recorded(name, 0.1, seed, 120)) == NOTHING


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("friction", ["all", "none"])
def test_torques_that_are_all_wrong(name: str, friction: str) -> None:
    for scale in (-1.0, 1000.0, -1000.0, 0.001):
        log = recorded(name)
        log[3] *= scale
        joints = set(MODELS[name].joints)
        expected = {"sign": joints if scale < 0 else set(), "scale": joints if abs(scale) != 1.0 else set()}
        assert told(described(name, "as it is", friction), log) == expected
        assert told(described(name, "80 % off", friction), log) == expected


@pytest.mark.parametrize("name", ARMS)
def test_torques_of_one_joint(name: str) -> None:
    for j, joint in enumerate(MODELS[name].joints):
        for scale, kind in ((-1.0, "sign"), (1000.0, "scale")):
            log = recorded(name)
            log[3][:, j] *= scale
            assert told(described(name), log) == NOTHING | {kind: {joint}}


def test_a_reversed_encoder() -> None:
    """Nothing is refused, and the joint is told."""
    log = recorded("spatial")
    for a in log[:3]:
        a[:, 0] *= -1.0
    assert told(described("spatial"), log) == NOTHING | {"sign": {"yaw"}}


def test_the_sign_is_known_without_any_bodies_in_the_description() -> None:
    """Inertia is positive and friction takes power, whatever the bodies."""
    model = described("planar", "nothing")
    assert not model.prior[: model.base.count].any()
    log = recorded("planar")
    assert told(model, log) == NOTHING
    log[3] *= -1.0
    assert told(model, log)["sign"] == set(model.joints)


def test_the_evidence_is_physical() -> None:
    """Felt inertia and power of friction are those of the robot that moved, with deviations that hold."""
    model = torque_model(ARMS["planar"], friction="all")
    log = recorded("planar", noise=0.001)
    first, second = evidence(model, *log[:4])
    M22 = 0.022 + 1.35 * (0.17**2 + 0.02**2)
    assert second.inertia == pytest.approx(M22, rel=0.02) and second.inertia_sure > 50
    qd = log[1][:, 1]
    assert second.power == pytest.approx(0.3 * (qd**2).mean() + 0.4 * np.abs(qd).mean(), rel=0.02)
    assert first.slope == pytest.approx(1.0, abs=0.01) and first.correlation > 0.99
    assert factors_of([first, second]) == []


def test_contradicting_evidence_claims_nothing() -> None:
    sure = {"inertia_sure": -50.0, "power_sure": -50.0, "correlation": -1.0, "slope": -1.0, "slope_sure": -99.0}
    assert JointEvidence(**sure).turned and JointEvidence(**sure).factor == -1.0
    for key, value in {"inertia_sure": 5.0, "power_sure": 5.0}.items():  # a lag, a centre of mass on the other side
        assert not JointEvidence(**(sure | {key: value})).turned
    assert not JointEvidence(inertia_sure=-50.0, correlation=0.9, slope=1.0, slope_sure=50.0).turned
    assert not JointEvidence().turned and JointEvidence().factor == 1.0


def test_units_are_named() -> None:
    arm = ARMS["spatial"]
    geared = replace(arm, joints=tuple(replace(j, rotor=Rotor(Fraction(1, 10**5), Fraction(80))) for j in arm.joints))

    def texts(model: TorqueModel, scale: float) -> dict[str, str]:
        log = recorded("spatial")
        found = check_log(model, *log[:3], scale * log[3])
        return {f.joint: f.text for f in found if f.kind == "scale"}

    for scale, (turn, slide) in {1e3: ("N mm", "mN"), 100.0: ("N cm", "cN"), 1e-3: ("kN m", "kN")}.items():
        said = texts(MODELS["spatial"], scale)
        assert f"is it in {turn}?" in said["yaw"] and f"is it in {slide}?" in said["slide"]
        assert "Convert it, or correct the description" in said["pitch"]
    assert "before a gear of 80" in texts(torque_model(geared), 1 / 80)["yaw"]
    assert "another unit" in texts(MODELS["spatial"], 1 / 90)["yaw"]


@pytest.mark.filterwarnings("ignore::kane.identification.identifier.IdentificationWarning")
def test_chunks_and_raw_logs_are_looked_at_too() -> None:
    q, qd, qdd, tau, t = recorded("spatial", count=4000)
    joints = {"yaw", "pitch", "slide"}
    fits = [
        Identifier(ARMS["spatial"]).fit(q, qd, qdd, -tau, t),
        Identifier(ARMS["spatial"]).fit_raw(t, q, -tau, 20.0),
        Identifier(ARMS["spatial"]).fit_chunks(
            [(a[:2000], b[:2000], c[:2000], -d[:2000]) for a, b, c, d in [(q, qd, qdd, tau)]]
        ),
    ]
    for fit in fits:
        assert {f.joint for f in fit.findings_ if f.kind == "sign"} == joints
        assert sum("wrong sign" in text for text in fit.warnings_) == 3
    with pytest.warns(IdentificationWarning, match="'yaw' has the wrong sign: its inertia would be -"):
        Identifier(ARMS["spatial"]).fit(q, qd, qdd, -tau)
