"""Times in milliseconds and slides in millimetres are recognised in every form of log, and the way out works."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from identification.arms import fourier, rough, spatial
from identification.test_command import commanded, csv
from kane.errors import InputError
from kane.formats.urdf_write import write_urdf
from kane.identification import Identifier, read_log
from kane.identification.checks import check_log
from kane.identification.signals import differentiated
from kane.identification.torque_model import torque_model
from kane.mechanism.model import Limits, Mechanism

UNITS = {"ms": ("milliseconds", 1e3), "us": ("microseconds", 1e6), "ns": ("nanoseconds", 1e9)}
RAW = ("q", "tau")


def arm(limits: bool = True) -> Mechanism:
    given = rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0])
    joints = tuple(replace(j, rotor=None, limits=j.limits if limits else Limits()) for j in given.joints)
    return replace(given, joints=joints)


def recorded(count: int = 4000) -> dict[str, np.ndarray]:
    model = torque_model(arm())
    t, q, qd, qdd = fourier(3, count, 5, amplitude=0.15)
    tau = model.torque(q, qd, qdd, model.prior)
    return {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau + 0.01 * np.random.default_rng(0).normal(size=q.shape)}


@pytest.fixture(scope="module")
def urdf(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("robot") / "arm.urdf"
    path.write_text(write_urdf(arm()))
    return path


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("more", [(), ("--cutoff", "8")])
def test_times_in_a_smaller_unit(capsys: Any, tmp_path: Any, urdf: Any, unit: str, more: tuple[str, ...]) -> None:
    """Recognised with and without a cutoff; named in the column they are read."""
    name, size = UNITS[unit]
    log = recorded()
    path = csv(tmp_path / "log.csv", log | {"t": size * log["t"]}, RAW if more else ("q", "qd", "qdd", "tau"))
    status, result = commanded(capsys, "identify", urdf, path, *more)
    error = result["error"]
    assert status == 2 and error["code"] == "LogUnitsError" and f"is t in {name}?" in error["message"]
    assert f"Divide t by {size:,.0f}, or name its column t_{unit}." in error["remedy"]
    path.write_text(path.read_text().replace("t,", f"t_{unit},", 1))
    status, result = commanded(capsys, "identify", urdf, path, *more)
    assert status == 0 and result["samples"] > 100


@pytest.mark.parametrize(
    ("head", "size"),
    [
        ("t", 1),
        ("Time [ms]", 1e3),
        ("time (us)", 1e6),
        ("timestamp_ns", 1e9),
        ("stamp.msec", 1e3),
        ("t_s", 1),
        ("TIME", 1),
    ],
)
def test_units_in_the_name_of_the_times(tmp_path: Any, head: str, size: float) -> None:
    log = recorded(50)
    path = csv(tmp_path / "log.csv", log | {"t": size * log["t"]}, RAW)
    path.write_text(path.read_text().replace("t,", f"{head},", 1))
    np.testing.assert_allclose(read_log(path, ("yaw", "pitch", "slide")).t, log["t"], rtol=1e-14)


def test_a_test_log_in_milliseconds(capsys: Any, tmp_path: Any, urdf: Any) -> None:
    log = recorded()
    good, bad = csv(tmp_path / "a.csv", log, RAW), csv(tmp_path / "b.csv", log | {"t": 1e3 * log["t"]}, RAW)
    status, result = commanded(capsys, "identify", urdf, good, "--test", bad, "--cutoff", "8")
    assert status == 2 and "is t in milliseconds?" in result["error"]["message"]


def test_a_cutoff_that_suits_milliseconds_read_as_seconds() -> None:
    """Then the fit tells: speeds are a thousand times too small."""
    log = recorded()
    with pytest.raises(InputError, match=r"fits when t is taken in milliseconds.*Divide t by 1,000"):
        Identifier(arm(), friction="all").fit_raw(1e3 * log["t"], log["q"], log["tau"], 0.05)


@pytest.mark.parametrize(("step", "cutoff", "count"), [(0.5, 10.0, 60), (0.02, 60.0, 400), (0.001, 1e-4, 400)])
def test_cutoffs_that_no_unit_of_time_explains(step: float, cutoff: float, count: int) -> None:
    """A slow log, too short to be one in milliseconds, or a cutoff below one period of the log."""
    t = np.arange(count) * step
    q = np.sin(t)[:, None]
    with pytest.raises(InputError, match="A cutoff of") as caught:
        differentiated(t, q, q, cutoff)
    assert "Choose one from" in str(caught.value.remedy)


KINDS = {"q": ("q",), "qd": ("qd",), "qdd": ("qdd",), "motion": ("q", "qd", "qdd")}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize("times", [True, False])
def test_a_slide_in_millimetres(kind: str, limits: bool, times: bool) -> None:
    log = recorded(800)
    for name in KINDS[kind]:
        log[name][:, 2] *= 1e3
    samples = [log[name] for name in ("q", "qd", "qdd", "tau")]
    findings = [f for f in check_log(torque_model(arm(limits)), *samples, log["t"] if times else None) if f.refused]
    assert findings and all(f.kind == "units" and f.joint == "slide" for f in findings)
    assert all("millimetres" in f.text and "degree" not in f.text for f in findings)


@pytest.mark.parametrize("limits", [True, False])
def test_a_raw_slide_in_millimetres(limits: bool) -> None:
    log = recorded()
    log["q"][:, 2] *= 1e3
    with pytest.raises(InputError, match=r"'slide'.*millimetres|millimetres.*'slide'") as caught:
        Identifier(arm(limits), friction="all").fit_raw(log["t"], log["q"], log["tau"], 10.0)
    assert "degree" not in str(caught.value)


def test_a_slide_beyond_its_limits_is_not_in_another_unit() -> None:
    log = recorded(800)
    samples = [log[name] for name in ("q", "qd", "qdd", "tau")]
    samples[0][:, 2] += 3.0
    assert not [f for f in check_log(torque_model(arm()), *samples) if f.kind == "units"]
