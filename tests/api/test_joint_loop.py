"""A loop closed on a robot: the four-bar of a three-joint chain keeps its closure and its energy."""

from __future__ import annotations

import numpy as np
import pytest

import kane

LINK = """<link name="{0}"><inertial><origin xyz="{1} 0 0"/><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="{3} 0 0"/>
<axis xyz="0 0 1"/><limit lower="-6" upper="6" effort="9" velocity="9"/></joint>"""
CHAIN = (
    '<robot name="chain"><link name="ground"/>'
    + "".join(LINK.format(n, x) for n, x in (("crank", 0.5), ("coupler", 1.0), ("rocker", 0.5)))
    + JOINT.format("a", "ground", "crank", 0)
    + JOINT.format("b", "crank", "coupler", 1)
    + JOINT.format("c", "coupler", "rocker", 2)
    + "</robot>"
)


def test_a_parallelogram_stays_closed_and_keeps_its_energy() -> None:
    """Crank 1, coupler 2, rocker 1, ground 2: the crank's angle q gives b = -q and c = q + pi."""
    robot = kane.load(CHAIN, gravity=(0, "-9.81", 0))
    closed = robot.with_joint_loop("pin", "rocker", "ground", at=(1, 0, 0), other_at=(2, 0, 0), axes=(0, 1))
    assert not robot.mechanism.constraints  # the old robot stays as it was
    q = 1.0
    run = kane.simulate(closed, 0.4, {"a": q, "b": -q, "c": q + np.pi}, {"a": 0.5, "b": -0.5, "c": 0.5})
    assert run.success and run.energy_error < 1e-8
    assert np.abs(run.constraint_residual).max() < 1e-9
    np.testing.assert_allclose(run["b"], -run["a"], atol=1e-8)


def test_names_and_points_are_checked() -> None:
    robot = kane.load(CHAIN)
    with pytest.raises(kane.UnknownNameError, match="crank"):
        robot.with_joint_loop("pin", "nobody", "ground")
    with pytest.raises(kane.NumberError, match="2 components"):
        robot.with_joint_loop("pin", "rocker", "ground", at=(1, 0))
