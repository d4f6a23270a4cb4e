"""Edits: each gives a new mechanism, undoing gives the old one back, lumping changes nothing that moves."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kane.errors import NumberError, TopologyError, UnknownNameError, UnsupportedError
from kane.formats import read_urdf
from kane.mechanism import edit, exact
from kane.mechanism import formula as f
from kane.mechanism.checks import mass_matrix
from kane.mechanism.inertia import lumped_body, total_mass
from kane.mechanism.model import Frame, Mechanism, Mimic, QuaternionTurn, Translate, Turn
from kane.mechanism.numeric import SomeValues, pose, rotation
from kane.robots import load
from kane.robots.generated import ALL_TYPES, tree

sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))
from urdf_texts import joint, two_joints


def arm() -> Mechanism:
    return read_urdf(two_joints())


def test_a_payload_comes_and_goes_without_a_trace() -> None:
    bare = arm()
    once = edit.with_payload(bare, "b", "1.2", ("0.4", 0, "0.05"), "0.01")
    twice = edit.with_payload(once, "b", 2, (0, 0, 0), (1, 2, 3))
    assert total_mass(once) == pytest.approx(4.2)
    assert total_mass(twice) == pytest.approx(5.0)
    for loaded in (once, twice):
        assert edit.with_payload(loaded, "b", 0) == bare
        assert edit.without_payload(loaded, "b") == bare
    assert edit.with_payload(bare, "b", 0.0) is bare


def test_a_payload_moves_the_mass_centre() -> None:
    body = lumped_body(edit.with_payload(arm(), "b", 3, (1, 0, 0)), "b")
    np.testing.assert_allclose(body.com, [(1.5 * 0.1 + 3 * 1) / 4.5, 0, 0])
    assert body.mass == pytest.approx(4.5)


def test_a_symbolic_payload_declares_its_names_and_takes_them_along() -> None:
    bare = load("two_link")
    loaded = edit.with_payload(bare, "link2", "mp", ("r", 0, 0))
    assert [p.name for p in loaded.parameters if p.value is None] == ["mp", "r"]
    assert edit.without_payload(loaded, "link2") == bare


@pytest.mark.parametrize(
    "inertia", [0.25, [0.25, 0.25, 0.25], np.diag([0.25] * 3), np.float64(0.25), [0.25, 0, 0, 0.25, 0, 0.25]]
)
def test_payload_inertias_in_every_shape(inertia: object) -> None:
    loaded = edit.with_payload(arm(), "b", 1, (0, 0, 0), inertia)  # type: ignore[arg-type]
    assert loaded.link("b.payload").inertia.moments == (Fraction(1, 4), 0, 0, Fraction(1, 4), 0, Fraction(1, 4))  # type: ignore[union-attr]


def test_payload_mistakes() -> None:
    with pytest.raises(UnknownNameError):
        edit.with_payload(arm(), "x", 1)
    for bad in ((1, (0, 0)), (float("nan"),), (1, (0, 0, float("inf"))), (1, (0, 0, 0), [1, 2])):
        with pytest.raises(NumberError):
            edit.with_payload(arm(), "b", *bad)  # type: ignore[arg-type]


def test_rotors_add_inertia_times_ratio_squared_whatever_its_sign() -> None:
    values = SomeValues()
    bare = mass_matrix(arm(), values)[1]
    m = edit.with_rotors(arm(), {"j1": ("3e-5", 120), "j2": ("2e-5", -80)})
    np.testing.assert_allclose(mass_matrix(m, values)[1] - bare, np.diag([0.432, 0.128]), atol=1e-15)
    assert edit.with_rotors(m, {"j1": None, "j2": None}) == arm()
    with pytest.raises(UnknownNameError):
        edit.with_rotors(arm(), {"j3": (1, 1)})
    floating = read_urdf(two_joints(), base="floating")
    with pytest.raises(UnsupportedError):
        edit.with_rotors(floating, {"root": (1, 1)})


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "cylindrical", "universal", "planar", "screw"])
def test_a_locked_joint_stays_where_its_coordinates_put_it(kind: str) -> None:
    from kane.mechanism.joints import joint_type
    from kane.mechanism.numeric import joint_moves

    m = tree(1, types=(kind,), seed=5)
    names = joint_type(m.joints[0]).coordinates(m.joints[0])
    at = [Fraction(k + 1, 3) for k in range(len(names))]
    fixed = edit.with_joint_locked(m, "joint1", at)
    assert fixed.joints[0].type == "fixed"
    values = dict(zip(names, map(float, at), strict=True))
    for a, b in zip(pose(joint_moves(fixed.joints[0]), {}), pose(joint_moves(m.joints[0]), values), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-14)


def test_locking_takes_followers_along_and_refuses_to_lock_one() -> None:
    m = arm().replace_joint(replace(arm().joint("j2"), mimic=Mimic("j1", Fraction(2), Fraction(1))))
    locked = edit.with_joint_locked(m, "j1", Fraction(1, 2))
    assert [j.type for j in locked.joints] == ["fixed", "fixed"]
    assert locked.joint("j2").placement[-1] == Turn(1, Fraction(2))
    with pytest.raises(UnsupportedError):
        edit.with_joint_locked(m, "j2")


def test_a_locked_ball_is_turned_by_its_quaternion() -> None:
    m = tree(1, types=("spherical",), seed=1)
    fixed = edit.with_joint_locked(m, "joint1", (1, 1, 0, 0))
    assert fixed.joints[0].placement[-1] == QuaternionTurn((Fraction(1), Fraction(1), Fraction(0), Fraction(0)))


def test_renaming_reaches_every_place() -> None:
    m = arm().replace_joint(replace(arm().joint("j2"), mimic=Mimic("j1")))
    m = replace(m, frames=(Frame("tool", "b"),))
    new = edit.renamed(m, links={"b": "hand"}, joints={"j1": "shoulder"})
    assert new.joint("shoulder").child == "a"
    assert new.joint("j2").mimic == Mimic("shoulder")
    assert (new.joint("j2").child, new.frames[0].link) == ("hand", "hand")
    assert edit.renamed(new, links={"hand": "b"}, joints={"shoulder": "j1"}) == m
    with pytest.raises(UnknownNameError):
        edit.renamed(m, links={"x": "y"})
    with pytest.raises(TopologyError):
        edit.renamed(m, links={"a": "b"})


def test_subtrees_are_taken_off_and_put_on() -> None:
    m = arm()
    assert [link.name for link in edit.without_subtree(m, "j2").links] == ["base", "a"]
    assert [link.name for link in edit.without_subtree(m, "j1").links] == ["base"]
    both = edit.with_subtree(m, "b", m, (Translate((Fraction(1), Fraction(0), Fraction(0))),), prefix="second.")
    assert total_mass(both) == pytest.approx(2 * total_mass(m))
    assert edit.without_subtree(both, "second.base.mount") == m
    with pytest.raises(TopologyError):
        edit.with_subtree(m, "b", m)
    follower = m.replace_joint(replace(m.joint("j1"), mimic=Mimic("j2")))
    with pytest.raises(TopologyError):
        edit.without_subtree(follower, "j2")


def test_parameters_and_gravity() -> None:
    m = edit.with_parameters(load("two_link"), {"m1": "2.5", "r1": None})
    assert {p.name: p.value for p in m.parameters}["m1"] == Fraction(5, 2)
    assert {p.name: p.value for p in m.parameters}["r1"] is None
    with pytest.raises(UnknownNameError):
        edit.with_parameters(m, {"m9": 1})
    assert edit.with_gravity(m, (0, 0, "-1.62")).gravity == (0, 0, Fraction("-1.62"))
    with pytest.raises(NumberError):
        edit.with_gravity(m, (0, 0))


@pytest.mark.parametrize("seed", range(4))
def test_lumping_keeps_the_mass_matrix_and_every_frame(seed: int) -> None:
    m = tree(10, types=("revolute", "fixed", "prismatic", "fixed", "fixed"), seed=seed, branching=2)
    lumped = edit.lump(m)
    assert all(j.type != "fixed" for j in lumped.joints)
    assert {link.name for link in lumped.links} | {frame.name for frame in lumped.frames} == {
        link.name for link in m.links
    }
    keys, M, _ = mass_matrix(m, SomeValues())
    lumped_keys, L, _ = mass_matrix(lumped, SomeValues())
    assert keys == lumped_keys
    np.testing.assert_allclose(L, M, rtol=1e-12, atol=1e-14)
    assert edit.lump(lumped) == lumped


def test_lumping_is_rational_where_the_angles_allow_it() -> None:
    text = two_joints(
        j2=joint("j2", "a", "b", "fixed", origin='xyz="0.25 0 0.5" rpy="1.5707963267948966 0 3.141592653589793"')
    )
    inertia = edit.lump(read_urdf(text)).link("a").inertia
    assert inertia is not None
    assert all(isinstance(x, Fraction) for x in (inertia.mass, *inertia.com, *inertia.moments))
    body = lumped_body(read_urdf(text), "a")
    np.testing.assert_allclose([float(x) for x in inertia.com], body.com, atol=1e-15)  # type: ignore[arg-type]
    xx, xy, xz, yy, yz, zz = (float(x) for x in inertia.moments)  # type: ignore[arg-type]
    np.testing.assert_allclose([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], body.tensor, atol=1e-15)


@pytest.mark.parametrize(
    "text",
    ["0", "pi/2", "-pi/2", "pi", "3*pi/2", "pi/6", "5*pi/6", "-pi/3", "7*pi/6", "pi/4", "0.3", "2*pi", "pi/2 + pi"],
)
def test_exact_rotations_equal_floating_ones(text: str) -> None:
    for axis in (0, 1, 2):
        move = Turn(axis, f.parse(text))  # type: ignore[arg-type]
        mine = [[f.number(x) for x in row] for row in exact.rotation(move)]
        np.testing.assert_allclose(mine, rotation(move, {}), atol=1e-15)


def test_exact_quaternions() -> None:
    move = QuaternionTurn((Fraction(5), Fraction(-1), Fraction(2), Fraction(3)))
    np.testing.assert_allclose(
        [[float(x) for x in row] for row in exact.rotation(move)], rotation(move, {}), atol=1e-15
    )  # type: ignore[arg-type]


def test_edits_leave_generated_trees_valid() -> None:
    m = tree(len(ALL_TYPES), types=ALL_TYPES, seed=2)
    assert len(edit.lump(m).links) == len(m.links) - 1
