"""One file of our own for each kind of trouble that people have with robot files, and what is made of it.

In the order of: missing inertia, massless links, impossible inertia, numbers, mimic, continuous joints, order, merged
links, heavy roots, floating and planar joints, axes, names, loops, meshes, xacro, encodings, tags, MJCF, digits.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kane.errors import FormatError, InertiaError, InputError, MasslessJointError, NumberError, TopologyError
from kane.formats import read, read_urdf, write_urdf
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism import formula as f
from kane.mechanism.checks import judge, mass_matrix
from kane.mechanism.inertia import lumped_body, moving_mass, total_mass
from kane.mechanism.model import Mechanism, Mimic, Turn
from kane.mechanism.numeric import SomeValues

FILES = Path(__file__).parents[1] / "data" / "troubles"
I = np.array([[0.02, 0.001, 0], [0.001, 0.03, 0], [0, 0, 0.025]])  # of the bodies, about (0.1, 0, 0.05), 1.5 kg


def load(name: str, **options: object) -> Mechanism:
    return judge(read(FILES / name, **options))  # type: ignore[arg-type]


def refused(name: str, error: type[InputError], *words: str, strict: bool = False) -> InputError:
    """The refusal of a file, which names these things and its line."""
    with pytest.raises(error) as caught:
        load(name, strict=strict)
    assert all(word in str(caught.value) for word in words), caught.value
    assert caught.value.file == str(FILES / name) and caught.value.remedy
    return caught.value


def matrix(m: Mechanism, **q: float) -> np.ndarray:
    return np.asarray(mass_matrix(m, SomeValues(q))[1])


def notes(m: Mechanism, kind: str) -> str:
    return " | ".join(note.text for note in m.report.of(kind))


def test_no_inertial_is_no_mass() -> None:
    m = load("no_inertial.urdf")
    assert "link 'tip' has no inertial: zero mass" in notes(m, "defaulted")
    assert total_mass(m) == 1.5
    np.testing.assert_allclose(matrix(m, j=0.3), [[0.025 + 1.5 * 0.1**2]], rtol=1e-14)


def test_an_inertial_without_mass_keeps_its_moments_and_is_listed() -> None:
    m = load("inertial_without_mass.urdf")
    assert notes(m, "repaired") == "link 'arm' has an <inertial> without mass; 0 kg is used, its moments are kept."
    np.testing.assert_allclose(matrix(m, j=0.3), [[0.025 + 0.025 + 1.5 * 0.1**2]], rtol=1e-14)
    assert refused("inertial_without_mass.urdf", FormatError, "without mass", strict=True).line == 4


def test_a_massless_link_in_the_middle_is_fine() -> None:
    M = matrix(load("massless_middle.urdf"), pan=0.1, tilt=0.0)
    np.testing.assert_allclose(np.diag(M), [0.025 + 1.5 * 0.1**2, 0.03 + 1.5 * (0.1**2 + 0.05**2)], rtol=1e-14)


def test_a_massless_link_at_the_end_is_named() -> None:
    refused("massless_leaf.urdf", MasslessJointError, "'spin'", "'wheel'")


def test_a_plate_off_by_its_last_digit_is_a_plate() -> None:
    assert not load("plate.urdf").report.of("nonphysical")


def test_a_plate_off_by_more_is_none() -> None:
    refused("impossible.urdf", InertiaError, "'sheet'", "0.0333", "0.0667", "0.1101")


def test_a_decimal_comma_is_refused() -> None:
    assert refused("decimal_comma.urdf", NumberError, "'0,1'", "link 'arm'").line == 4


def test_line_breaks_between_numbers_are_blanks() -> None:
    assert load("line_breaks.urdf").link("arm").inertia.com == (  # type: ignore[union-attr]
        Fraction(1, 10), Fraction(0), Fraction(1, 20),
    )  # fmt: skip


def test_followers_of_followers_are_reduced() -> None:
    m = load("mimic_chain.urdf")
    assert find_coordinates(m).names == ("first",)
    assert m.joint("third").mimic == Mimic("first", Fraction(-1), Fraction("-0.3"))


def test_followers_in_a_circle_are_named() -> None:
    refused("mimic_circle.urdf", TopologyError, "first", "second")


def test_a_continuous_joint_is_one_angle_without_limits() -> None:
    m = load("continuous.urdf")
    limits = m.joint("spin").limits
    assert find_coordinates(m).names == ("spin",)
    assert (limits.lower, limits.upper, limits.effort, limits.velocity) == (None, None, 3.0, 4.0)


def test_joints_keep_the_order_of_the_file() -> None:
    assert find_coordinates(load("joint_order.urdf")).names == ("zeta", "alpha")


def test_merged_links_keep_their_frames_and_are_listed() -> None:
    m = load("merged.urdf")
    assert "'camera', 'lens' into 'arm'" in notes(m, "lumped")
    assert lumped_body(m, "arm").mass == pytest.approx(1.7)
    assert {"camera", "lens"} <= {link.name for link in m.links}


def test_the_mass_of_the_root_is_told_apart() -> None:
    m = load("heavy_root.urdf")
    assert (total_mass(m), moving_mass(m)) == (42, 2)
    floating = load("heavy_root.urdf", base="floating")
    assert moving_mass(floating) == 42


def test_floating_and_planar_joints_stand_where_the_file_says() -> None:
    m = load("floating_planar.urdf")
    assert find_coordinates(m).speeds[-3:] == ("deck.x", "deck.y", "deck.theta")
    assert [j.type for j in m.joints] == ["floating", "planar"]
    assert all(len(j.placement) >= 2 for j in m.joints)


def test_axes_are_directions_and_default_to_x() -> None:
    m = load("long_axis.urdf")
    assert "has length 5" in notes(m, "repaired")
    assert m.joint("default").axis == (1, 0, 0)
    c, e = np.array([0.1, 0, 0.05]), np.array([0, -0.6, 0.8])
    first = matrix(read_urdf(write_urdf(m)), j=0.2, default=0.0)
    alone = e @ (I + 1.5 * (c @ c * np.eye(3) - np.outer(c, c))) @ e
    behind = np.array([0.1, 0, 0.35])
    both = alone + e @ (I + 1.5 * (behind @ behind * np.eye(3) - np.outer(behind, behind))) @ e
    np.testing.assert_allclose(first[0, 0], both, rtol=1e-14)


def test_a_zero_axis_is_refused() -> None:
    assert refused("zero_axis.urdf", NumberError, "joint 'j'", "0 0 0").line == 7


def test_links_and_joints_may_share_names() -> None:
    assert find_coordinates(load("same_names.urdf")).names == ("arm", "hand")


def test_two_joints_of_one_name_are_refused() -> None:
    refused("two_joints_one_name.urdf", TopologyError, "'j'")


def test_two_parents_two_roots_and_loops_name_all_culprits() -> None:
    refused("two_parents.urdf", TopologyError, "bar", "lb", "rb", "left", "right")
    refused("two_roots.urdf", TopologyError, "base", "lost")
    refused("loop.urdf", TopologyError, "a", "b", "ab", "ba")


def test_meshes_are_never_needed() -> None:
    assert load("missing_mesh.urdf").link("arm").geometry[0].file == "package://nowhere/arm.stl"


def test_unexpanded_xacro_is_never_empty() -> None:
    refused("unexpanded.urdf", FormatError, "xacro:property", ".xacro")


def test_xacro_is_expanded() -> None:
    pytest.importorskip("xacrodoc")
    assert load("part.xacro").link("arm").inertia.mass == Fraction(3, 2)  # type: ignore[union-attr]


def test_names_in_any_encoding() -> None:
    m = load("latin.urdf")
    assert (m.name, m.links[1].name, m.joints[0].name) == ("größe", "ärmel", "gelenk_é")


def test_misplaced_and_misspelt_tags_are_suggested_and_vendors_passed_over() -> None:
    assert refused("misplaced_mass.urdf", FormatError, "belongs inside <inertial>", strict=True).line == 4
    refused("misplaced_mass.urdf", MasslessJointError, "'arm'")  # its mass is lost
    m = read(FILES / "misplaced_mass.urdf")
    said = notes(m, "ignored")
    assert "belongs inside <inertial>" in said and "did you mean <inertial>?" in said
    assert "vendor element <my_tool>" in said and "gazebo" not in said


def test_defaults_of_mjcf_reach_every_joint() -> None:
    pytest.importorskip("mujoco")
    m = load("defaults.xml")
    pan, tilt = m.joint("pan"), m.joint("tilt")
    assert (pan.axis, tilt.axis) == ((0, 1, 0), (1, 0, 0))
    assert pan.damping == tilt.damping == Fraction(1, 2)
    assert pan.rotor is not None and tilt.rotor is not None and pan.rotor.inertia == Fraction(1, 100)
    angles = [f.number(move.angle) for move in pan.placement if isinstance(move, Turn)]
    assert any(angle == pytest.approx(-np.pi / 6) for angle in angles)  # ref
    inertia = m.link("arm").inertia
    assert inertia is not None
    assert f.number(inertia.mass) == pytest.approx(500 * 0.2 * 0.4 * 0.6)


def test_no_digit_is_lost() -> None:
    m = load("digits.urdf")
    again = read_urdf(write_urdf(m))
    assert again.link("arm").inertia.mass == Fraction("1.2345678901234567")  # type: ignore[union-attr]
    assert again.link("arm").inertia.com == m.link("arm").inertia.com  # type: ignore[union-attr]
    assert again.joint("j").placement == m.joint("j").placement


def test_every_file_here_has_a_test() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{path.name}"' in text for path in FILES.iterdir())
