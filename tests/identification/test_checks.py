"""Bad logs: each is refused or told, with joint and sample."""

from dataclasses import replace

import numpy as np
import pytest

from identification.arms import fourier, planar, rough, spatial
from kane.errors import InputError
from kane.identification.checks import check_log
from kane.identification.identifier import IdentificationWarning, Identifier
from kane.identification.torque_model import torque_model
from kane.mechanism.model import Limits


@pytest.fixture(scope="module")
def model():
    return torque_model(spatial())


@pytest.fixture
def log(model):
    t, q, qd, qdd = fourier(3, 400, 3, amplitude=0.15)
    noise = 0.01 * np.random.default_rng(0).normal(size=q.shape)
    return [q, qd, qdd, model.torque(q, qd, qdd, model.prior) + noise, t]


def kinds(model, log):
    return {(f.kind, f.joint) for f in check_log(model, *log)}


def test_a_good_log_has_no_findings(model, log):
    assert check_log(model, *log) == ()
    log[4] = None
    assert check_log(model, *log) == ()


@pytest.mark.parametrize("which,value", [(0, np.nan), (2, np.inf), (3, np.nan)])
def test_what_is_not_a_number_is_named(log, which, value):
    log[which][37, 1] = value
    name = ("q", "qd", "qdd", "tau")[which]
    with pytest.raises(InputError, match=rf"^{name} of joint 'pitch' is {value} at sample 37") as caught:
        Identifier(spatial()).fit(*log)
    assert caught.value.name == "pitch" and caught.value.value == 37


def test_time_that_goes_back_is_named(log):
    log[4][200] = log[4][199]
    with pytest.raises(InputError, match="at sample 200"):
        Identifier(spatial()).fit(*log)


def test_position_in_degrees_beside_speeds_in_radians(model, log):
    log[0][:, 0] *= 180 / np.pi
    with pytest.raises(InputError, match=r"q of joint 'yaw' is 57\.3 times.*degrees"):
        Identifier(spatial()).fit(*log)


def test_speed_in_revolutions_per_minute(model, log):
    log[1][:, 1] *= 60 / (2 * np.pi)
    assert ("units", "pitch") in kinds(model, log)
    texts = [f.text for f in check_log(model, *log) if f.joint == "pitch"]
    assert all("revolutions per minute" in text and text.startswith("qd") for text in texts)


@pytest.mark.parametrize("scale,unit", [(60 / (2 * np.pi), "revolutions per minute"), (180 / np.pi, "degrees")])
def test_speed_in_other_units_without_time_and_limits(scale, unit):
    free = replace(planar(), joints=tuple(replace(j, limits=Limits()) for j in planar().joints))
    model = torque_model(free)
    _, q, qd, qdd = fourier(2, 400, 3)
    tau = model.torque(q, qd, qdd, model.prior)
    qd[:, 1] *= scale
    (finding,) = check_log(model, q, qd, qdd, tau)
    assert finding.kind == "units" and unit in finding.text and finding.joint == "j2"
    assert finding.sample == np.argmax(np.abs(qd[:, 1]))


def test_everything_in_degrees_without_time(model, log):
    for a in log[:3]:
        a[:, :2] *= 180 / np.pi
    log[4] = None
    found = check_log(model, *log)
    assert found[0].kind == "units" and found[0].joint in ("yaw", "pitch") and "degrees" in found[0].text


def test_everything_in_degrees_with_time_and_no_limits(log):
    free = replace(planar(), joints=tuple(replace(j, limits=Limits()) for j in planar().joints))
    model = torque_model(free)
    t, q, qd, qdd = fourier(2, 400, 3)
    tau = model.torque(q, qd, qdd, model.prior)
    turned = [a * 180 / np.pi for a in (q, qd, qdd)]
    (finding,) = check_log(model, *turned, tau, t)
    assert finding.kind == "units" and "in degrees" in finding.text and finding.sample is not None
    worst = np.unravel_index(np.argmax(np.abs(turned[0])), q.shape)
    assert finding.joint == model.joints[worst[1]]


def test_exchanged_columns_of_one_array(model, log):
    log[1] = log[1][:, [1, 0, 2]]
    assert {("swapped", "yaw"), ("swapped", "pitch")} <= kinds(model, log)
    with pytest.raises(InputError, match="exchanged"):
        Identifier(spatial()).fit(*log)


@pytest.mark.parametrize("arrays", [(3,), (0, 1, 2)])
def test_exchanged_joints_of_a_whole_log(model, log, arrays):
    for k in arrays:
        log[k] = log[k][:, [1, 0, 2]]
    finding = check_log(model, *log)[0]
    assert finding.kind == "swapped" and "'yaw' and 'pitch'" in finding.text


def test_what_is_accepted_is_not_refused(log):
    log[1] = log[1][:, [1, 0, 2]]
    Identifier(spatial(), accept=["swapped"], consistent=False, friction="none", prior_weight=1.0)
    with pytest.raises(InputError, match=r"accept=\['swapped'\]"):
        Identifier(spatial()).fit(*log)


def test_saturated_torque_is_told_with_its_first_sample(model, log):
    ceiling = np.quantile(log[3][:, 0], 0.9)
    log[3][:, 0] = np.minimum(log[3][:, 0], ceiling)
    finding = next(f for f in check_log(model, *log) if f.kind == "saturated")
    above = np.flatnonzero(log[3][:, 0] == ceiling)
    first = next(i for i in above if all(i + k in above for k in range(5)))
    assert finding.joint == "yaw" and finding.sample == first
    with pytest.warns(IdentificationWarning, match="'yaw' stays at"):
        Identifier(spatial()).fit(*log)


def test_coarse_torques_are_not_saturated(model, log):
    t, q, qd, qdd = fourier(3, 20_000, 3, amplitude=0.15)
    tau = model.torque(q, qd, qdd, model.prior)
    steps = np.ptp(tau, axis=0) / 200
    assert check_log(model, q, qd, qdd, np.round(tau / steps) * steps, t) == ()


def test_units_are_found_through_encoder_steps(model):
    t, q, qd, qdd = fourier(3, 20_000, 3, amplitude=0.15)
    tau = model.torque(q, qd, qdd, model.prior)
    q = np.round(q / 1e-3) * 1e-3
    assert check_log(model, q, qd, qdd, tau, t) == ()
    q[:, 1] *= 180 / np.pi
    finding = check_log(model, q, qd, qdd, tau, t)[0]
    assert finding.kind == "units" and finding.joint == "pitch" and "degrees" in finding.text


def test_a_torque_at_its_limit_is_told(model, log):
    log[3][55, 2] = 40.0
    finding = next(f for f in check_log(model, *log) if f.kind == "saturated")
    assert finding.joint == "slide" and finding.sample == 55


def test_a_joint_that_never_moved_is_told(model, log):
    log[0][:, 2], log[1][:, 2], log[2][:, 2] = 0.1, 0, 0
    assert ("still", "slide") in kinds(model, log)


def test_friction_that_the_model_lacks_is_told(log):
    arm = rough(spatial(), [4.0, 0, 0], [0, 0, 6.0])
    _, q, qd, qdd = fourier(3, 400, 3, amplitude=0.15)
    rich = torque_model(arm)
    tau = rich.torque(q, qd, qdd, rich.prior)
    found = kinds(torque_model(arm, friction="none"), [q, qd, qdd, tau, None])
    assert {("friction", "yaw"), ("friction", "slide")} <= found
    assert kinds(rich, [q, qd, qdd, tau, None]) == set()


def test_beyond_limits_is_told_not_refused(model, log):
    log[0][:, 0] += 2.5
    found = [f for f in check_log(model, *log) if f.kind == "range"]
    assert found and found[0].joint == "yaw" and not found[0].refused
