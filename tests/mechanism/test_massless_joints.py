"""Joints that move no inertia, and the mass matrix by which they are found."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kane.errors import MasslessJointError
from kane.formats import read_urdf
from kane.mechanism.checks import check_massless, judge, mass_matrix
from kane.mechanism.model import Mechanism, Rotor
from kane.mechanism.numeric import SomeValues
from kane.robots.generated import ALL_TYPES, tree

sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))
from urdf_texts import body, joint, robot, two_joints

POINT = '<inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/>'


def refused(text: str) -> MasslessJointError:
    with pytest.raises(MasslessJointError) as caught:
        check_massless(read_urdf(text))
    assert caught.value.remedy
    return caught.value


def test_a_bare_leaf_names_joint_and_links() -> None:
    text = two_joints(
        b='<link name="flange"/><link name="camera"/>',
        j2=joint("wrist", "a", "flange"),
        more=joint("c", "flange", "camera", "fixed"),
    )
    error = refused(text)
    assert (error.name, error.line) == ("wrist", 6)
    assert "'flange'" in error.message and "'camera'" in error.message


def test_a_rotor_is_inertia_enough() -> None:
    m = read_urdf(two_joints(b='<link name="b"/>'))
    with pytest.raises(MasslessJointError):
        judge(m)
    judge(m.replace_joint(replace(m.joint("j2"), rotor=Rotor(Fraction("1e-5"), Fraction(100)))))


def test_a_massless_link_in_the_middle_is_fine() -> None:
    check_massless(read_urdf(two_joints(a='<link name="a"/>')))


def test_a_massless_link_between_parallel_axes_at_one_place_is_not() -> None:
    error = refused(two_joints(a='<link name="a"/>', j2=joint("j2", "a", "b")))
    assert error.name == "j1"
    check_massless(read_urdf(two_joints(a='<link name="a"/>', j2=joint("j2", "a", "b", origin='xyz="0.4 0 0"'))))


def test_a_point_on_the_axis_does_not_turn_but_slides() -> None:
    on_axis = body("b", com="0 0.3 0", inertia=POINT)
    assert refused(two_joints(b=on_axis)).name == "j2"
    check_massless(read_urdf(two_joints(b=on_axis, j2=joint("j2", "a", "b", "prismatic", axis="0 1 0"))))
    assert refused(two_joints(b=on_axis, j2=joint("j2", "a", "b", "spherical"))).name == "j2"


def test_a_rod_on_its_own_axis() -> None:
    rod = body("b", com="0 0.3 0", inertia=POINT.replace('ixx="0"', 'ixx="0.1"').replace('izz="0"', 'izz="0.1"'))
    assert refused(two_joints(b=rod, j2=joint("j2", "a", "b", axis="0 1 0", origin='rpy="0.3 0.4 0.5"'))).name == "j2"


def test_a_tiny_body_is_a_body() -> None:
    dust = body(
        "b", mass="1e-6", com="0 0 0", inertia='<inertia ixx="1e-9" ixy="0" ixz="0" iyy="1e-9" iyz="0" izz="1e-9"/>'
    )
    check_massless(read_urdf(two_joints(b=dust)))


def test_followers_count_for_their_leader() -> None:
    rule = '<mimic joint="j1" multiplier="0.5"/>'
    check_massless(read_urdf(two_joints(b='<link name="b"/>', j2=joint("j2", "a", "b", extra=rule))))
    text = robot(
        '<link name="base"/>',
        '<link name="a"/>',
        body("b"),
        joint("j1", "base", "a"),
        joint("j2", "base", "b", extra=rule),
    )
    check_massless(read_urdf(text))
    assert refused(text.replace('multiplier="0.5"', 'multiplier="0"')).name == "j1"


def test_a_body_far_away_hides_nothing() -> None:
    text = robot('<link name="base"/>', '<link name="m"/>', body("a"), '<link name="b"/>',
                 joint("place", "base", "m", "fixed", origin='xyz="1.2e6 -3.4e6 50"'), joint("j1", "m", "a"), joint("j2", "a", "b"))  # fmt: skip  # noqa: E501
    assert refused(text).name == "j2"
    check_massless(read_urdf(text.replace('<link name="b"/>', body("b"))))


def energy(m: Mechanism, values: SomeValues, rates: dict[str, float]) -> float:
    """Kinetic energy from differences of positions of three points of each link: independent of the recursion."""
    from kane.mechanism.numeric import joint_moves, pose, tensor

    def places(v: SomeValues) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        found = {m.root: (np.eye(3), np.zeros(3))}
        for j in m.joints:
            R, p = found[j.parent]
            turn, step = pose(joint_moves(j), v)
            found[j.child] = (R @ turn, p + R @ step)
        return found

    h = 1e-6
    ahead, behind = (
        places(SomeValues({**values, **{k: values[k] + s * h * r for k, r in rates.items()}})) for s in (1, -1)
    )
    total = 0.0
    for link in m.links:
        if link.inertia is None:
            continue
        mass, com, I = tensor(link.inertia, values)
        R0, _ = places(values)[link.name]
        dR = (ahead[link.name][0] - behind[link.name][0]) / (2 * h) @ R0.T
        w = np.array([dR[2, 1] - dR[1, 2], dR[0, 2] - dR[2, 0], dR[1, 0] - dR[0, 1]]) / 2
        v = sum(s * (q[link.name][0] @ com + q[link.name][1]) for s, q in ((1, ahead), (-1, behind))) / (2 * h)
        total += 0.5 * mass * v @ v + 0.5 * w @ R0 @ I @ R0.T @ w
    return float(total)


@pytest.mark.parametrize("seed", range(6))
def test_the_mass_matrix_gives_the_kinetic_energy(seed: int) -> None:
    types = [t for t in ALL_TYPES if t not in ("spherical", "floating")]
    m = tree(9, branching=1 + seed % 2, types=types, seed=seed)
    keys, M, _ = mass_matrix(m, SomeValues())
    rng = np.random.default_rng(seed)
    u = rng.normal(size=len(keys))
    expected = energy(m, SomeValues({k: SomeValues()[k] for k in keys}), dict(zip(keys, u, strict=True)))
    assert 0.5 * u @ M @ u == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose(M, M.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_generated_trees_of_every_joint_type_pass(seed: int) -> None:
    judge(tree(12, types=ALL_TYPES, seed=seed, extras=bool(seed % 2)))
