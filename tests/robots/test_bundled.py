"""Bundled robots: published numbers, variants, rotors, notes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kane import robots
from kane.errors import UnknownNameError, UnsupportedError
from kane.mechanism import formula as f
from kane.mechanism.checks import judge, mass_matrix
from kane.mechanism.inertia import total_mass
from kane.mechanism.numeric import SomeValues, joint_moves, pose


@pytest.mark.parametrize("name", robots.names())
def test_every_robot_and_variant_loads_and_has_values_for_all_names(name: str) -> None:
    for variant in robots.variants(name) or (None,):
        m = robots.load(name, variant)
        assert m.name == name
        assert all(p.value is not None for p in m.parameters)
        judge(m, "accept")
        assert robots.load(name, variant) == m
        unused = {p.name for p in m.parameters} - _used(m)
        assert not unused


def _used(m: object) -> set[str]:
    from kane.mechanism.exact import names_used

    return names_used(m)  # type: ignore[arg-type]


# Armstrong, Khatib and Burdick 1986, elements of the mass matrix by their constants; motor inertia on the diagonal.
IM = [1.14, 4.71, 0.827, 0.200, 0.179, 0.193]


def test_puma_elements_by_the_papers_constants() -> None:
    values = SomeValues(q1=0.3, q2=-0.7, q3=0.9, q4=0.2, q5=-0.4, q6=1.1, **robots.load("puma560").parameter_values)
    p = values
    _, M, _ = mass_matrix(robots.load("puma560"), values)
    wrist = p["m4"] + p["m5"] + p["m6"]
    i2 = p["Izz2"] + p["m2"] * (p["rx2"] ** 2 + p["ry2"] ** 2) + (p["m3"] + wrist) * p["a2"] ** 2
    i5 = -p["m3"] * p["a2"] * p["ry3"] + wrist * p["a2"] * p["d4"] + p["m4"] * p["a2"] * p["rz4"]
    i6 = (
        p["Izz3"] + p["m3"] * p["ry3"] ** 2 + p["m4"] * p["a3"] ** 2 + p["m4"] * (p["d4"] + p["rz4"]) ** 2 + p["Iyy4"]
        + p["m5"] * (p["a3"] ** 2 + p["d4"] ** 2) + p["Izz5"] + p["m6"] * (p["a3"] ** 2 + p["d4"] ** 2 + p["rz6"] ** 2) + p["Ixx6"]  # noqa: E501
    )  # fmt: skip
    assert [round(v, 3) for v in (i2, i5, i6)] == [1.748, 0.372, 0.334]  # published 1.75, 0.372, 0.333
    i14, i15, i16, i17, i20, i23 = 0.00164, 0.4331 * 0.09 * 0.032, 0.4318 * 0.09 * 0.032, 0.00064216, -0.00020216, 4e-5
    s3, c3, s4, s5, c5, c4 = np.sin(0.9), np.cos(0.9), np.sin(0.2), np.sin(-0.4), np.cos(-0.4), np.cos(0.2)
    i12, i21, i22 = wrist * p["a2"] * p["a3"], -0.0001, p["m6"] * p["a3"] * p["rz6"]
    common = i6 + i20 * s4**2 * s5**2 + i21 * s4**2 + 2 * (i15 * c5 + i22 * s5 * c4)
    assert M[2, 2] == pytest.approx(IM[2] + common, abs=1e-6)
    a22 = IM[1] + i2 + common + 2 * (i5 * s3 + i12 * c3 + i16 * (s3 * c5 + c3 * c4 * s5))
    assert M[1, 1] == pytest.approx(a22, abs=1e-6)
    assert M[3, 3] == pytest.approx(IM[3] + i14 - i20 * s5**2, abs=1e-6)
    assert M[4, 4] == pytest.approx(IM[4] + i17, abs=1e-9)
    assert M[5, 5] == pytest.approx(IM[5] + i23, abs=1e-12)
    assert M[3, 4] == pytest.approx(0, abs=1e-15)
    assert M[4, 5] == pytest.approx(0, abs=1e-15)


def test_puma_as_printed_gives_the_printed_constants() -> None:
    # I1 = 1.43 +- 0.05 and I3 = 1.38 +- 0.05 in the paper; its own tables give 1.553 and 1.602.
    def constants(variant: str) -> tuple[float, float]:
        p = robots.load("puma560", variant).parameter_values
        rest = p["m3"] + p["m4"] + p["m5"] + p["m6"]
        i1 = (
            p["Izz1"] + p["m2"] * p["ry2"] ** 2 + p["m2"] * (p["d2"] + p["rz2"]) ** 2 + (rest - p["m3"]) * p["a3"] ** 2
            + rest * (p["d2"] + p["d3"]) ** 2 + p["m3"] * p["rz3"] ** 2 + 2 * p["m3"] * (p["d2"] + p["d3"]) * p["rz3"]
            + p["Ixx2"] + p["Iyy3"] + p["Izz4"] + p["Iyy5"] + p["Izz6"]
        )  # fmt: skip
        return i1, -p["Ixx2"] + p["Iyy2"] + rest * p["a2"] ** 2 + p["m2"] * (p["rx2"] ** 2 - p["ry2"] ** 2)

    assert constants("tables") == pytest.approx((1.5533, 1.6019), abs=5e-5)
    assert constants("as printed") == pytest.approx((1.43, 1.38), abs=5e-3)
    assert constants("as-printed") == constants("as printed")


def test_puma_notes_and_limits() -> None:
    m = robots.load("puma560")
    assert [note.name for note in m.report.of("nonphysical")] == ["link1", "link3"]
    assert m.joint("joint2").limits.velocity == pytest.approx(163 / 107.36)
    assert [j.limits.effort for j in m.joints] == [97.6, 186.4, 89.4, 24.2, 20.1, 21.3]
    assert m.gravity == (0, 0, Fraction("-9.81"))
    assert total_mass(m) == pytest.approx(23.45)


def test_rotors_on_and_off() -> None:
    on, off = robots.load("puma560", rotors=True), robots.load("puma560", rotors=False)
    assert on == robots.load("puma560")
    values = SomeValues(**on.parameter_values)
    difference = mass_matrix(on, values)[1] - mass_matrix(off, values)[1]
    np.testing.assert_allclose(difference, np.diag(IM), atol=1e-14)
    assert all(not p.name.startswith("Im") for p in off.parameters)
    with pytest.raises(UnsupportedError):
        robots.load("scara", rotors=True)


def test_both_pumas_are_one_arm() -> None:
    """Paul's signs: q = q' + (pi, pi, pi, 0, 0, pi); lengths differ a little between the sources, so geometry is equated."""  # noqa: E501
    ours, other = robots.load("puma560"), robots.load("puma560_corke")
    q = dict(zip(("q1", "q2", "q3", "q4", "q5", "q6"), (0.3, -0.7, 0.9, 0.2, -0.4, 1.1), strict=True))
    shift = dict(zip(q, (np.pi, np.pi, np.pi, 0, 0, np.pi), strict=True))
    here = {**ours.parameter_values, **{k: q[k] + shift[k] for k in q}}
    there = {**other.parameter_values, **q, "d3": 0.2435 - 0.0934, "d4": 0.4331}
    a, b = _tip(ours, here), _tip(other, there)
    np.testing.assert_allclose(np.linalg.norm(a), np.linalg.norm(b), atol=1e-12)
    assert other.joint("joint2").rotor.ratio == Fraction("107.815")  # type: ignore[union-attr]


def _tip(m: object, values: dict[str, float]) -> np.ndarray:
    R, p = np.eye(3), np.zeros(3)
    for j in m.joints:  # type: ignore[attr-defined]
        turn, step = pose(joint_moves(j), values)
        R, p = R @ turn, p + R @ step
    return p


def test_stanford_slides_at_joint_three() -> None:
    m = robots.load("stanford")
    assert [j.type for j in m.joints if j.type != "fixed"] == ["revolute"] * 2 + ["prismatic"] + ["revolute"] * 3
    assert m.joint("joint3").coordinates == ("q3",)


def test_planar_rp_mass_matrix() -> None:
    # Buffinton, section 6.4: M11 = IA + IB + IC + mA LA^2 + mB (LA^2 + xB^2) + mC (LA^2 + xC^2), M12 = -(mB + mC) LA.
    m = robots.load("planar_rp")
    p = SomeValues(q1=0.4, q2=0.7, **m.parameter_values)
    xb, xc = p["LP"] + 0.7 - p["L"] / 2, p["LP"] + 0.7 + p["LC"]
    first = (
        p["IA"]
        + p["IB"]
        + p["IC"]
        + p["mA"] * p["LA"] ** 2
        + p["mB"] * (p["LA"] ** 2 + xb**2)
        + p["mC"] * (p["LA"] ** 2 + xc**2)
    )
    cross = -(p["mB"] + p["mC"]) * p["LA"]
    np.testing.assert_allclose(mass_matrix(m, p)[1], [[first, cross], [cross, p["mB"] + p["mC"]]], rtol=1e-13)


def test_two_link_mass_matrix() -> None:
    p = SomeValues(q1=0.7, q2=-1.1, **robots.load("two_link").parameter_values)
    _, M, _ = mass_matrix(robots.load("two_link"), p)
    h = p["m2"] * p["l1"] * p["r2"] * np.cos(-1.1)
    second = p["J2"] + p["m2"] * p["r2"] ** 2
    first = p["J1"] + p["m1"] * p["r1"] ** 2 + p["m2"] * p["l1"] ** 2
    np.testing.assert_allclose(M, [[first + second + 2 * h, second + h], [second + h, second]], rtol=1e-13)


def test_two_particles_mass_matrix() -> None:
    # Buffinton (6.21), (6.22): m L^2 [[3 + 2 c2, 1 + c2], [1 + c2, 1]].
    m = robots.load("two_link", "particles")
    c = np.cos(0.5)
    np.testing.assert_allclose(
        mass_matrix(m, SomeValues(q1=2.6, q2=0.5, m=1.0, L=1.0))[1], [[3 + 2 * c, 1 + c], [1 + c, 1]], rtol=1e-13
    )
    assert m.gravity == (Fraction("-9.81"), 0, 0)


def test_unknown_names_are_helped() -> None:
    with pytest.raises(UnknownNameError) as caught:
        robots.load("puma56")
    assert "puma560" in str(caught.value)
    with pytest.raises(UnknownNameError):
        robots.load("puma560", "printed")
    with pytest.raises(UnknownNameError):
        robots.load("scara", "x")


def test_inertial_data_are_named_parameters() -> None:
    inertia = robots.load("puma560").link("link2").inertia
    assert inertia is not None
    assert [f.scalar_text(x) for x in (inertia.mass, *inertia.com)] == ["m2", "rx2", "ry2", "rz2"]
