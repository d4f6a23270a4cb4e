"""Lumped bodies and which inertias a body can have."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kane.errors import InertiaError
from kane.formats import read_urdf
from kane.mechanism.checks import judge
from kane.mechanism.edit import lump
from kane.mechanism.inertia import bodies, lumped_body, moving_mass, total_mass

sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))
from urdf_texts import body, joint, robot, two_joints


def tensor(*moments: str) -> str:
    return (
        "<inertia "
        + " ".join(f'{k}="{v}"' for k, v in zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), moments, strict=True))
        + "/>"
    )


def one(moments: str, mass: str = "1.1") -> str:
    return robot(
        '<link name="world"/>',
        body("shank", mass=mass, com="0 0 -0.1", inertia=tensor(*moments.split())),
        joint("hinge", "world", "shank", axis="0 1 0"),
    )


def test_a_tool_on_a_fixed_joint_is_lumped_about_the_common_mass_centre() -> None:
    # Two point-like bodies: the tensor about the common centre is m1 m2 / (m1 + m2) (d.d 1 - d d^T).
    zero = tensor(*"0 0 0 0 0 0".split())
    text = robot('<link name="base"/>', body("arm", "2", "0.1 0 0", zero), body("tool", "3", "0 0.2 0", zero),
                 joint("j", "base", "arm"), joint("mount", "arm", "tool", "fixed", origin='xyz="0.3 0 0.1" rpy="0 0 1.5707963267948966"'))  # fmt: skip  # noqa: E501
    found = lumped_body(read_urdf(text), "arm")
    a, b = np.array([0.1, 0, 0]), np.array([0.3 - 0.2, 0, 0.1])
    d = b - a
    assert found.mass == pytest.approx(5)
    np.testing.assert_allclose(found.com, (2 * a + 3 * b) / 5, atol=1e-15)
    np.testing.assert_allclose(found.tensor, 6 / 5 * (d @ d * np.eye(3) - np.outer(d, d)), atol=1e-15)
    assert found.links == ("arm", "tool")


def test_the_lumped_body_is_the_same_from_either_frame() -> None:
    text = two_joints(j2=joint("j2", "a", "b", "fixed", origin='xyz="0.25 -0.03 0.02" rpy="0.7 -0.2 1.1"'))
    m = read_urdf(text)
    from_a, from_b = lumped_body(m, "a"), lumped_body(m, "b")
    np.testing.assert_allclose(from_a.principal_moments, from_b.principal_moments, rtol=1e-12)
    assert from_a.mass == from_b.mass


def test_far_coordinates_lose_nothing() -> None:
    near = lumped_body(read_urdf(two_joints(j2=joint("j2", "a", "b", "fixed", origin='xyz="0.2 0 0"'))), "a")
    far = read_urdf(two_joints(a=body("a", com="1200000.1 0 0"), b=body("b", com="0.1 0 0"),
                               j2=joint("j2", "a", "b", "fixed", origin='xyz="1200000.2 0 0"')))  # fmt: skip
    np.testing.assert_allclose(lumped_body(far, "a").tensor, near.tensor, rtol=1e-8)


def test_total_and_moving_mass() -> None:
    text = two_joints().replace('<link name="base"/>', body("base", mass="37.5"))
    m = read_urdf(text)
    assert total_mass(m) == pytest.approx(40.5)
    assert moving_mass(m) == pytest.approx(3.0)
    assert moving_mass(read_urdf(text, base="floating")) == pytest.approx(40.5)


def test_a_tensor_that_only_its_principal_axes_betray() -> None:
    text = one("0.0088 -0.0021 0.0043 0.0082 -0.0003 0.0085")
    principal = np.linalg.eigvalsh(np.array([[88, -21, 43], [-21, 82, -3], [43, -3, 85]]) * 1e-4)
    with pytest.raises(InertiaError) as caught:
        judge(read_urdf(text))
    error = caught.value
    assert (error.name, error.line) == ("shank", 3)
    np.testing.assert_allclose(error.value, principal, rtol=1e-12)
    assert "nonphysical" in (error.remedy or "")
    accepted = judge(read_urdf(text), "accept")
    assert [note.name for note in accepted.report.of("nonphysical")] == ["shank"]
    assert accepted == read_urdf(text)
    assert judge(accepted, "accept").report == accepted.report


@pytest.mark.parametrize(
    "moments",
    [
        "0.021 0 0 0.021 0 0",  # thin rod
        "0.0104 0 0 0.0208 0 0.0313",  # plate, the last digit off by one
        "0.010666666 0 0 0.021333333 0 0.032",
        "0.0052 0.0052 0 0.0052 0 0.0104",  # plate turned by 45 degrees
        "1 0 0 1 0 1",
        "0 0 0 0 0 0",
        "2.7e-20 -1.7e-21 1.4e-20 5.4e-20 3.4e-21 1.4e-20",  # dust of another program: a point
    ],
)  # fmt: skip
def test_rods_plates_points_and_rounded_digits_are_bodies(moments: str) -> None:
    judge(read_urdf(one(moments)))


@pytest.mark.parametrize(
    "moments",
    [
        "0.01 0 0 0.02 0 0.0304",
        "0.01 0 0 0.01 0 0.03",
        "0.066 0 0 0.0125 0 0.086",
        "0.02 0 0 0.02 0 -0.001",
        "1 1.1 0 1 0 2",
    ],
)
def test_inertias_that_no_body_has(moments: str) -> None:
    with pytest.raises(InertiaError):
        judge(read_urdf(one(moments)))


def test_negative_mass() -> None:
    with pytest.raises(InertiaError) as caught:
        judge(read_urdf(one("0.01 0 0 0.01 0 0.004", mass="-0.6")))
    assert (caught.value.name, caught.value.value) == ("shank", -0.6)


def test_it_is_the_moving_body_that_is_judged() -> None:
    bad = tensor(*"0.01 0 0 0.01 0 0.03".split())
    ok = tensor(*"0.2 0 0 0.2 0 0.2".split())
    fixed = two_joints(a=body("a", inertia=ok), b=body("b", inertia=bad), j2=joint("j2", "a", "b", "fixed"))
    judge(read_urdf(fixed))
    root = two_joints().replace('<link name="base"/>', body("base", inertia=bad))
    judge(read_urdf(root))
    with pytest.raises(InertiaError):
        judge(read_urdf(root, base="floating"))


def test_all_offenders_are_named() -> None:
    bad = tensor(*"0.01 0 0 0.01 0 0.03".split())
    with pytest.raises(InertiaError) as caught:
        judge(read_urdf(two_joints(a=body("a", inertia=bad), b=body("b", inertia=bad))))
    assert "'a'" in caught.value.message and "'b'" in caught.value.message


def test_the_digits_of_the_file_are_kept() -> None:
    m = read_urdf(one("0.0104 0 0 0.0208 0 0.0313"))
    assert m.link("shank").inertia.resolution == pytest.approx(1e-4 / 0.0313)  # type: ignore[union-attr]
    assert [b.moving for b in bodies(m)] == [False, True]
    assert Fraction("0.0313") in m.link("shank").inertia.moments  # type: ignore[union-attr]


def test_lumped_links_are_reported_once() -> None:
    m = judge(read_urdf(two_joints(j2=joint("j2", "a", "b", "fixed"))))
    assert [note.text for note in m.report.of("lumped")] == ["'b' into 'a'"]
    assert judge(m).report == m.report
    assert lump(m).report.of("lumped") == m.report.of("lumped")
