"""What a fit warns of: parameters below zero by more than their deviations, and what was not checked; what is typed."""

from __future__ import annotations

import sys
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from identification.arms import planar
from kane.formats import read_urdf, write_urdf
from kane.formats.urdf_write import number_text
from kane.identification import IdentificationWarning, Identifier
from kane.identification.consistent import beyond_deviation, impossible_bodies, nearest_consistent
from kane.identification.torque_model import torque_model
from kane.identification.write_back import inertia_of, with_parameters
from kane.mechanism.formula import parse, scalar_text


def viscous(value: float, deviation: float) -> dict[str, float]:
    """What is told of a model whose second joint has this viscous friction, known to this deviation."""
    model = torque_model(planar(), friction="all")
    x, deviations = model.prior.copy(), np.full(len(model.names), 1e-9)
    place = model.names.index("j2.viscous")
    x[place], deviations[place] = value, deviation
    return beyond_deviation(model, x, deviations, impossible_bodies(model, x))


@pytest.mark.parametrize(
    ("value", "deviation", "told"),
    [(-0.1, 0.02, True), (-0.1, 0.05, False), (-0.1, np.inf, False), (-0.1, 0.0, True), (0.1, 0.0, False)],
)
def test_friction_below_zero_by_more_than_three_deviations(value: float, deviation: float, told: bool) -> None:
    assert set(viscous(value, deviation)) == ({"j2.viscous"} if told else set())


def fitted(viscous: float, noise: float, **options: Any) -> tuple[Identifier, list[str]]:
    """A fit of a log with this viscous friction and noise, and its warnings."""
    model = torque_model(planar(), friction="all")
    x = model.prior.copy()
    x[[model.names.index(f"{joint}.viscous") for joint in ("j1", "j2")]] = viscous
    rng = np.random.default_rng(4)
    q, qd, qdd = rng.uniform(-2, 2, (3, 400, 2))
    tau = model.torque(q, qd, qdd, x)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = Identifier(planar(), friction="all", **options)
        fit.fit(q, qd, qdd, tau + noise * rng.normal(size=tau.shape))
    return fit, [str(w.message) for w in caught if w.category is IdentificationWarning]


@pytest.mark.parametrize("viscous", [0.0, -0.001])
def test_no_warning_of_friction_within_its_deviation(viscous: float) -> None:
    fit, told = fitted(viscous, 0.1)
    values = dict(zip(fit.names_, fit.coef_, strict=True))
    assert min(values["j1.viscous"], values["j2.viscous"]) < 0  # there is something that could be told
    assert told == [] and fit.impossible_ == {}
    assert fit.to_mechanism().joint("j1").damping >= 0  # and real bodies come out all the same


@pytest.mark.parametrize("consistent", [True, False])
def test_a_warning_of_clearly_negative_friction_says_what_to_type(consistent: bool) -> None:
    fit, told = fitted(-0.5, 0.01, consistent=consistent)
    assert set(fit.impossible_ or ()) == {"j1.viscous", "j2.viscous"}
    (text,) = told
    assert "j1.viscous" in text and "j2.viscous" in text
    assert ("consistent=True" in text and "--consistent" in text) != consistent  # which is not advised to who did


@pytest.mark.parametrize("consistent", [True, False])
def test_without_clarabel_it_is_said_that_nothing_was_checked(
    monkeypatch: pytest.MonkeyPatch, consistent: bool
) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    if consistent:
        with pytest.raises(ImportError, match="clarabel"):
            fitted(-0.5, 0.01, consistent=True)
        return
    fit, told = fitted(-0.5, 0.01)
    assert fit.impossible_ is None and fit.as_dict()["impossible"] is None
    assert len(told) == 1 and "Not checked" in told[0] and 'pip install "kane[identify]"' in told[0]
    assert fit.warnings_ == told


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction("1.73472347598e-18"), "1.73472347598e-18"),
        (Fraction("-1.73472347598e-18"), "-1.73472347598e-18"),
        (Fraction("2e-30"), "2e-30"),
        (Fraction("0.123456789012"), "0.123456789012"),
        (Fraction("0.000001"), "0.000001"),
        (Fraction("12.5"), "12.5"),
        (Fraction(0), "0"),
        (Fraction("1.5e-7"), "0.00000015"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_people_write_them(value: Fraction, text: str) -> None:
    assert scalar_text(value) == text and number_text(value) == text
    assert parse(text) == value


@pytest.mark.parametrize("moments", [(0.02, 0.03, 0.04), (5.0, 5.0, 1e-6)])
def test_rounding_is_written_as_zero(moments: tuple[float, float, float]) -> None:
    """Moments about the origin whose products and centre are rounding of what was subtracted."""
    m, x = 2.0, 0.1
    ixx, iyy, izz = moments
    made = inertia_of(np.array([m, m * x, 1e-17, -3e-18, ixx, 2e-18, -1e-17, iyy + m * x * x, 1e-19, izz + m * x * x]))
    assert made.com == (Fraction("0.1"), 0, 0)
    assert [made.moments[k] for k in (1, 2, 4)] == [0, 0, 0]
    np.testing.assert_allclose([float(made.moments[k]) for k in (0, 3, 5)], moments, rtol=1e-9)


def test_small_bodies_keep_small_numbers() -> None:
    """Nothing is rounding that is of the body's own size: a grain of a microgram, its centre a micrometre off."""
    made = inertia_of(np.array([1e-9, 1e-15, 0, 0, 2e-20, 1e-22, 0, 2e-20, 0, 2e-20]))
    assert float(made.com[0]) == pytest.approx(1e-6) and made.moments[1] != 0


def test_the_corrected_file_has_plain_numbers() -> None:
    """No number of a written robot has more than DIGITS digits or an exponent that its digits make up for."""
    import re

    robot = read_urdf(write_urdf(planar()))
    model = torque_model(robot)
    found = nearest_consistent(model, model.prior * 1.01)
    assert found is not None
    for number in re.findall(r'"(-?[\d.e-]+)"', write_urdf(with_parameters(model, found))):
        mantissa, _, exponent = number.partition("e")
        digits = mantissa.replace(".", "").lstrip("-0")
        assert len(digits) <= 13 and (not exponent or len(mantissa.lstrip("-").partition(".")[0]) == 1), number
        assert float(number) == 0 or abs(float(number)) > 1e-13
