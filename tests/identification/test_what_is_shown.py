"""Table, JSON, predictions, residuals and written robot are of one set of parameters: of real bodies when asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from identification.arms import fourier, rough, spatial
from identification.test_command import KINDS, commanded, csv
from kane.cli import main
from kane.formats import read_urdf
from kane.formats.urdf_write import write_urdf
from kane.identification import Identifier
from kane.identification.torque_model import torque_model
from kane.mechanism.model import Mechanism

pytest.importorskip("clarabel")
pytestmark = pytest.mark.filterwarnings("ignore::kane.identification.identifier.IdentificationWarning")


def arm() -> Mechanism:
    from dataclasses import replace

    given = rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0])
    return replace(given, joints=tuple(replace(j, rotor=None) for j in given.joints))


def recorded(noise: float, count: int = 60, outliers: int = 0) -> dict[str, np.ndarray]:
    """A log whose noise makes plain least squares give bodies that cannot be."""
    model = torque_model(arm())
    t, q, qd, qdd = fourier(3, count, 5, amplitude=0.15)
    rng = np.random.default_rng(1)
    tau = model.torque(q, qd, qdd, model.prior)
    span = np.ptp(tau, axis=0)
    tau += noise * span * rng.normal(size=tau.shape)
    tau[rng.choice(count, outliers, replace=False)] += 20 * span
    return {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau}


def fitted(log: dict[str, np.ndarray], **options: Any) -> Identifier:
    return Identifier(arm(), accept=["swapped"], **options).fit(*(log[k] for k in KINDS))


@pytest.mark.parametrize("method", ["ols", "wls", "irls"])
@pytest.mark.parametrize("consistent", [True, False])
def test_one_set_of_parameters(method: str, consistent: bool) -> None:
    log = recorded(0.3)
    fit = fitted(log, method=method, consistent=consistent)
    assert fit.impossible_ and fit.consistent_ is not None
    x = fit.consistent_.x if consistent else fit.coef_
    assert not np.allclose(fit.consistent_.x, fit.coef_, rtol=0.1)  # there are two sets
    q, qd, qdd, tau = (log[k] for k in KINDS)
    assert [row[1] for row in fit.table()] == x.tolist() and fit.x_ is x
    data = fit.as_dict()
    assert [p["value"] for p in data["parameters"]] == x.tolist() and data["consistent"] is consistent
    assert [p["least_squares"] for p in data["parameters"]] == fit.coef_.tolist()
    predicted = fit.model.torque(q, qd, qdd, x)
    np.testing.assert_array_equal(fit.predict(q, qd, qdd), predicted)
    rms = np.sqrt(((tau - predicted) ** 2).mean(axis=0))
    np.testing.assert_allclose([e for e, _ in fit.prediction_error(q, qd, qdd, tau).values()], rms, rtol=1e-12)
    if method != "irls":  # whose samples have weights
        freedom = len(q) - len(x) / 3
        np.testing.assert_allclose(fit.residual_, rms * np.sqrt(len(q) / freedom), rtol=1e-6)
    np.testing.assert_array_equal(list(data["residual"].values()), fit.residual_)
    if consistent:
        made = torque_model(fit.to_mechanism(), friction=("viscous", "coulomb"))
        written = dict(zip(made.names, made.prior, strict=True))
        shown = {row[0]: row[1] for row in fit.table() if row[0] in written}
        assert len(shown) == len(fit.names_)
        np.testing.assert_allclose([written[n] for n in shown], list(shown.values()), rtol=1e-6, atol=1e-6)


def test_least_squares_of_real_bodies_is_shown_as_it_is() -> None:
    fit = fitted(recorded(0.001, 2000), consistent=True)
    assert fit.impossible_ == {}
    assert np.abs((fit.x_ - fit.coef_) / fit.coef_std_).max() < 2.0


def test_outliers_have_little_say_in_real_bodies_either() -> None:
    log = recorded(0.01, 2000, outliers=40)
    unseen = recorded(0.0, 500)
    errors = {
        method: [share for _, share in fitted(log, method=method, consistent=True).prediction_error(
            *(unseen[k] for k in KINDS)).values()]
        for method in ("wls", "irls")
    }  # fmt: skip
    assert max(errors["irls"]) < 0.01 < 0.1 * max(errors["wls"])


def test_the_command_shows_writes_and_predicts_one_set(capsys: Any, tmp_path: Path) -> None:
    robot, out = tmp_path / "arm.urdf", tmp_path / "out.urdf"
    robot.write_text(write_urdf(arm()))
    log, test = csv(tmp_path / "log.csv", recorded(0.3)), csv(tmp_path / "test.csv", recorded(0.0, 500))
    asked = ("identify", robot, log, "--test", test, "--accept", "swapped")
    _, plain = commanded(capsys, *asked)
    _, real = commanded(capsys, *asked, "--consistent")
    _, written = commanded(capsys, *asked, "--out", out)
    assert plain["consistent"] is False and real["consistent"] is written["consistent"] is True
    assert written["parameters"] == real["parameters"] != plain["parameters"]
    values = {p["name"]: p["value"] for p in real["parameters"]}
    assert [p["least_squares"] for p in real["parameters"]] == [p["value"] for p in plain["parameters"]]
    model = torque_model(read_urdf(out))
    prior = dict(zip(model.names, model.prior, strict=True))
    np.testing.assert_allclose([prior[n] for n in values], list(values.values()), rtol=1e-5, atol=1e-6)
    t = recorded(0.0, 500)
    off = t["tau"] - model.torque(t["q"], t["qd"], t["qdd"], model.prior)
    told = [p["rms"] for p in real["prediction"].values()]
    np.testing.assert_allclose(told, np.sqrt((off**2).mean(axis=0)), rtol=1e-4)
    assert told != [p["rms"] for p in plain["prediction"].values()]
    with pytest.raises(SystemExit):
        main([*map(str, asked), "--consistent"])
    text = capsys.readouterr().out
    assert "real bodies" in text and "least squares" in text and "its deviation" in text
    assert "Real bodies are fitted instead; the values are theirs." in text
    first = real["parameters"][0]
    row = next(line for line in text.splitlines() if f" {first['name']} " in line)
    assert f"{first['value']:.6g}" in row and f"{first['least_squares']:.6g}" in row
    left = text.partition("left of the torques: ")[2].splitlines()[0]
    assert left == ", ".join(f"{joint} {x:.3g}" for joint, x in real["residual"].items())


def test_offsets_that_no_file_holds_are_told(capsys: Any, tmp_path: Path) -> None:
    robot = tmp_path / "arm.urdf"
    robot.write_text(write_urdf(arm()))
    log = csv(tmp_path / "log.csv", recorded(0.01, 800))
    with pytest.raises(SystemExit):
        main(["identify", str(robot), str(log), "--friction", "all", "--out", str(tmp_path / "out.urdf")])
    text = capsys.readouterr().out
    assert all(f"of joint '{joint}' has no place in a mechanism" in text for joint in ("yaw", "pitch", "slide"))
