"""Options of kane.load that reach the readers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.errors import FormatError, InputError, MasslessJointError, UnsupportedError

sys.path.insert(0, str(Path(__file__).parent))
from urdf_texts import body, joint, robot, two_joints

DH = "joint,alpha,a,d,theta,mass\n1,0,0.3,0,q1,1\n"


def test_strict_and_convention_and_constraints() -> None:
    text = two_joints(a=body("a", inertia='<inertia ixx="1" iyy="1" izz="1"/>'))
    assert kane.load(text).report.of("repaired")
    with pytest.raises(FormatError):
        kane.load(text, strict=True)
    with pytest.raises(FormatError):
        kane.load(DH)
    assert kane.load(DH, convention="standard").coordinate_names == ("q1",)


def test_rotors_from_a_table_by_name_and_off(tmp_path: Path) -> None:
    motors = tmp_path / "motors.csv"
    motors.write_text("joint,rotor_inertia_kg_m2,gear_ratio\nj2,2e-5,-80\n")
    bare = robot('<link name="base"/>', body("a"), '<link name="b"/>', joint("j1", "base", "a"), joint("j2", "a", "b"))
    with pytest.raises(MasslessJointError):
        kane.load(bare)
    for rotors in (motors, str(motors), {"j2": ("2e-5", 80)}):
        loaded = kane.load(bare, rotors=rotors)
        M = kane.derive(loaded).compile(tasks=("mass_matrix",)).mass_matrix(np.zeros(2))
        assert M[1, 1] == pytest.approx(2e-5 * 80**2)
    with pytest.raises(UnsupportedError):
        kane.load(two_joints(), rotors=True)
    assert all(j.rotor is None for j in kane.load("puma560", rotors=False).mechanism.joints)


def test_options_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UnsupportedError):
        kane.load(two_joints(), variant="tables")
    with pytest.raises(InputError):
        kane.load("two_link", base="floating")  # a massless base on two parallel axes
    heavy = two_joints().replace('<link name="base"/>', body("base"))
    assert kane.load(heavy, base="floating").speed_names[0] == "root.wx"


def test_texts_of_every_kind_and_names_of_nothing() -> None:
    assert kane.load("# standard DH\njoint,alpha,a,d,theta,mass\n1,0,1,0,q1,1\n").coordinate_names == ("q1",)
    with pytest.raises(InputError) as caught:
        kane.load("puma650")
    assert "puma560" in str(caught.value)
    for name in ("x" * 5000, "none.urdf", "a/b", ""):
        with pytest.raises(InputError):
            kane.load(name)
