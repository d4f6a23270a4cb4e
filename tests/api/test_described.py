"""What wants a mechanism takes a Robot and a System as well, with the same result; anything else is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import kane
from kane.equations.base_parameters import base_parameters
from kane.equations.derive import derive_task
from kane.equations.projection import kane_equations
from kane.explicit.model import explicit_model
from kane.formats import patch_urdf, write_toml, write_urdf
from kane.mechanism import edit
from kane.mechanism.builder import System
from kane.mechanism.model import Joint, Link
from kane.search import optimise
from kane.verification.interchange import interchange

ARM = Path(__file__).parents[2] / "examples" / "arm.urdf"

USES: dict[str, Callable[[Any], Any]] = {
    "with_payload": lambda m: edit.with_payload(m, "b", 1, (0, 0, 1)),
    "without_payload": lambda m: edit.without_payload(m, "b"),
    "with_rotors": lambda m: edit.with_rotors(m, {"j1": (Fraction(1, 1000), 50)}),
    "with_joint_locked": lambda m: edit.with_joint_locked(m, "j2", 0),
    "with_joint_loop": lambda m: edit.with_joint_loop(m, "loop", "b", "base"),
    "renamed": lambda m: edit.renamed(m, links={"b": "hand"}),
    "without_subtree": lambda m: edit.without_subtree(m, "j2"),
    "with_subtree": lambda m: edit.with_subtree(m, "b", m, prefix="second_"),
    "with_link": lambda m: edit.with_link(m, Link("c"), Joint("wrist", "fixed", "b", "c")),
    "with_parameters": lambda m: edit.with_parameters(m, {}),
    "lump": edit.lump,
    "with_gravity": lambda m: edit.with_gravity(m, (0, 0, -1)),
    "write_urdf": write_urdf,
    "write_toml": write_toml,
    "patch_urdf": lambda m: patch_urdf(ARM, m),
    "interchange": lambda m: interchange(m, "pinocchio").joints,
    "kane_equations": lambda m: len(kane_equations(m).residual),
    "kane.kane_equations": lambda m: len(kane.kane_equations(m).residual),
    "base_parameters": lambda m: [str(x) for x in base_parameters(m).names],
    "derive_task": lambda m: derive_task(m, "mass_matrix").program.counts,
    "explicit_model": lambda m: len(explicit_model(m).constants),
    "optimise": lambda m: optimise(m, "gravity_forces", effort="low").program.counts,
    "linearize": lambda m: kane.linearize(m, None, None).A.tolist(),
    "simulate": lambda m: kane.simulate(m, 0.01).y[:, -1].tolist(),
}


@pytest.mark.parametrize("use", USES)
def test_a_robot_is_as_good_as_its_mechanism(use: str) -> None:
    robot = kane.load(ARM)
    assert USES[use](robot) == USES[use](robot.mechanism)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("wrong", [str(ARM), None, 5])
def test_anything_else_is_refused_with_the_way_out(use: str, wrong: object) -> None:
    with pytest.raises(kane.InputError, match=r"kane\.load"):
        USES[use](wrong)


def test_a_system_is_as_good_as_its_mechanism() -> None:
    s = System("pendulum")
    q = s.coordinates("q")
    rod = s.N.orient_new_axis("rod", 3, q)
    s.particle("bob", s.O.locate_new("bob", rod.x), 2)
    assert write_toml(s) == write_toml(s.mechanism())
    assert edit.with_gravity(s, (0, -9, 0)) == edit.with_gravity(s.mechanism(), (0, -9, 0))
    assert str(kane_equations(s)) == str(kane_equations(s.mechanism()))
