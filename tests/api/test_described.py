"""What wants a mechanism takes a Robot and a System as well, with the same result; anything else is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import kane
from kane.equations.base_parameters import base_parameters
from kane.equations.conditions import embed
from kane.equations.constrained import constrained
from kane.equations.constrained_programs import constrained_motion_program
from kane.equations.derive import derive_task
from kane.equations.operational import task_equations, task_program
from kane.equations.programs import matrices_program, motion_program, residual_program
from kane.equations.projection import kane_equations
from kane.equations.reaction_forces import reaction
from kane.equations.steps import work_out
from kane.explicit.model import explicit_model
from kane.formats import patch_urdf, write_toml, write_urdf
from kane.mechanism import edit
from kane.mechanism.builder import System
from kane.mechanism.elements.place import on_joint
from kane.mechanism.model import Joint, Link
from kane.search import find_sources, method_table, optimise
from kane.verification.interchange import interchange
from kane.verification.witness import bear_witness

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
    "kane.Equations": lambda m: (kane.Equations(m).frames, str(kane.Equations(m).gravity_forces)),
    "kane.Robot": lambda m: kane.Robot(m).mechanism,
    "on_joint": lambda m: on_joint(m, "j2"),
    "bear_witness": lambda m: bear_witness(m, [0.1, 0.2], [1, 2], [0, 0]).M.tolist(),
    "method_table": lambda m: str(method_table(m, "gravity_forces", "low")),
    "find_sources": lambda m: find_sources(m, "gravity_forces", derive_task(m, "gravity_forces").program).everything,
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


OF_EQUATIONS: dict[str, Callable[[Any], Any]] = {
    "work_out": work_out,
    "constrained": constrained,
    "embed": embed,
    "reaction": lambda e: reaction(e, "b"),
    "residual_program": residual_program,
    "matrices_program": matrices_program,
    "motion_program": motion_program,
    "constrained_motion_program": constrained_motion_program,
    "task_equations": lambda e: task_equations(e, {"w1": "j1_dot", "w2": "j2_dot"}),
    "task_program": lambda e: task_program(e, "b"),
}


@pytest.mark.parametrize("use", OF_EQUATIONS)
def test_what_wants_equations_says_so(use: str) -> None:
    """A robot alone would leave open whether springs and dampers of its joints belong to them."""
    OF_EQUATIONS[use](kane_equations(kane.load(ARM)))
    for wrong in (kane.load(ARM), kane.load(ARM).mechanism, kane.derive(kane.load(ARM)), None):
        with pytest.raises(kane.InputError, match=r"Kane's equations.*kane\.kane_equations"):
            OF_EQUATIONS[use](wrong)


@pytest.mark.parametrize("wrong", [5, None, kane.load("two_link"), kane.load("two_link").mechanism])
def test_load_takes_names_and_files(wrong: Any) -> None:
    with pytest.raises(kane.InputError, match=r"no name and no file.*kane\.Robot"):
        kane.load(wrong)
