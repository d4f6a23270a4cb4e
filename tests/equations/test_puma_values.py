"""PUMA 560 values to their printed digits: link tables of Armstrong, Khatib and Burdick 1986, numbers of pinocchio."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kane import robots
from task_values import value

CASES = json.loads((Path(__file__).parents[1] / "data" / "puma560_values.json").read_text())["cases"]
TWELVE_DIGITS = {"rtol": 6e-12, "atol": 2e-14}
IM = [1.14, 4.71, 0.827, 0.2, 0.179, 0.193]  # rotor inertia at the joints, kg m^2: table 6 of the paper


@pytest.mark.parametrize("number", range(len(CASES)))
def test_values(number: int) -> None:
    case = {k: np.array(v) for k, v in CASES[number].items()}
    m = robots.load("puma560", rotors=False)
    for task, key in (("inverse_dynamics", "tau"), ("mass_matrix", "M"), ("gravity_forces", "gravity")):
        np.testing.assert_allclose(value(m, task, case), case[key], **TWELVE_DIGITS)
    np.testing.assert_allclose(
        value(m, "bias_forces", case), case["gravity"] + case["velocity_terms"], rtol=2e-11, atol=1e-13
    )
    error = value(m, "forward_dynamics", case) - case["qdd"]
    assert np.abs(case["M"] @ error).max() < 1e-10 * np.abs(case["tau"]).max()


def test_rotors_on_the_diagonal() -> None:
    case = {k: np.array(v) for k, v in CASES[1].items()}
    m = robots.load("puma560", rotors=True)
    np.testing.assert_allclose(value(m, "mass_matrix", case), case["M"] + np.diag(IM), **TWELVE_DIGITS)
    np.testing.assert_allclose(value(m, "inverse_dynamics", case), case["tau"] + IM * case["qdd"], **TWELVE_DIGITS)
