"""Corners of the description: shared coordinates, own names, carried rotors, inner floating joints, no freedom."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.equations.derive import derive_task
from kane.equations.tasks import TASKS
from kane.graph.evaluate import evaluate
from kane.mechanism.model import Joint, Link, Mechanism, Rotor
from kane.native import compile_program
from kane.verification.exact import exact_checks
from kane.verification.laws import frames_agree, verify
from strategies import SIMPLE, axis_of, inertia, placement, random_mechanism, random_state
from task_values import value

TESTED = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces", "coriolis_matrix",
    "kinetic_energy", "potential_energy", "kinematic_equations",
)  # fmt: skip


def check(m: Mechanism, seed: int) -> None:
    programs = {task: derive_task(m, task).program for task in TESTED}
    tip = m.links[-1].name
    frames = {tip: {t: derive_task(m, t, tip).program for t in ("forward_kinematics", "jacobian", "jacobian_rate")}}
    checks = (*verify(m, programs, seed), *exact_checks(m, seed=seed), *frames_agree(m, frames, seed))
    assert len(checks) == 15
    assert all(c.ok for c in checks), [c for c in checks if not c.ok]


def chain(seed: int, *kinds: str, **options: dict) -> Mechanism:
    """A chain of joints of these types with random placements; options: joint name -> fields."""
    r = random.Random(f"chain {seed}")
    joints, links = [], [Link("base")]
    for k, kind in enumerate(kinds, 1):
        axis = axis_of(r, r.choice(("1 0 0", "0 -1 0", "0.6 0 0.8", "1 1 1")))
        made = Joint(f"j{k}", kind, links[-1].name, f"l{k}", placement(r), axis, pitch=Fraction(1, 10))
        joints.append(replace(made, **options.get(made.name, {})))
        links.append(Link(f"l{k}", inertia(r)))
    return Mechanism("chain", tuple(links), tuple(joints))


@settings(max_examples=4)
@given(seed=st.integers(0, 2**20))
def test_one_coordinate_drives_two_joints(seed: int) -> None:
    shared = {"coordinates": ("both",)}
    m = chain(seed, "revolute", "prismatic", "revolute", "screw", j1=shared, j3=shared, j4=shared)
    assert derive_task(m, "mass_matrix").program.outputs[0].shape == (2, 2)
    check(m, seed)


def test_own_names_of_coordinates_and_speeds() -> None:
    names = {"coordinates": ("a", "b", "c", "d"), "speeds": ("u1", "u2", "u3")}
    floating = {"coordinates": tuple("xyzABCD"), "speeds": ("p", "q", "r", "u", "v", "w")}
    check(chain(1, "floating", "spherical", "revolute", j1=floating, j2=names), 1)


@settings(max_examples=4)
@given(seed=st.integers(0, 2**20))
def test_floating_joint_inside_a_tree(seed: int) -> None:
    check(chain(seed, "revolute", "floating", "prismatic"), seed)
    check(chain(seed, "floating", "floating"), seed)


@settings(max_examples=5)
@given(seed=st.integers(0, 2**20))
def test_carried_rotors(seed: int) -> None:
    """Spinning rotors on links far from their joint, with axes of their own: geared wrists, belts."""
    r = random.Random(seed)
    axes = (None, (Fraction(1), Fraction(2), Fraction(-2)), (Fraction(0), Fraction(0), Fraction(-1)))
    rotors = {}
    for name in ("j1", "j3", "j4"):
        inertia_, ratio = Fraction(r.randint(1, 9), 10**4), Fraction(r.choice((-40, -2, 3, 20)), 10)
        rotors[name] = {"rotor": Rotor(inertia_, ratio, True, r.choice(("l1", "l2", "base")), r.choice(axes))}
    check(chain(seed, "revolute", "universal", "prismatic", "revolute", **rotors), seed)


def test_every_task_of_a_mechanism_without_freedom() -> None:
    top = Link("top", inertia(random.Random(1)))
    m = Mechanism("stone", (Link("base"), top), (Joint("f", "fixed", "base", "top"),))
    for name, task in TASKS.items():
        made = derive_task(m, name, "top" if task.per_frame else None)
        arrays = evaluate(made.program, {i.name: np.zeros(i.size) for i in made.program.inputs})
        for output in made.program.outputs:
            assert arrays[output.name].shape == output.shape
            assert 0 in output.shape or name in ("forward_kinematics", "kinetic_energy", "potential_energy")


def test_frames_of_the_root_do_not_move() -> None:
    m = random_mechanism(3, 2, SIMPLE)
    s = random_state(m, 3)
    assert (value(m, "forward_kinematics", s, frame="base") == np.eye(4)).all()
    assert not value(m, "jacobian", s, frame="base").any()
    loaded = value(m, "inverse_dynamics", s | {"w": np.ones(6)}, external=("base",))
    assert (loaded == value(m, "inverse_dynamics", s)).all()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_machine_code_computes_the_same(seed: int) -> None:
    """Compiled functions against evaluation, for a batch; laws on the compiled functions themselves."""
    m = random_mechanism(seed, 3, (*SIMPLE, "floating"))
    compiled = {task: compile_program(derive_task(m, task).program, cache=False) for task in TESTED}
    s = random_state(m, seed, batch=7)
    for function in compiled.values():
        arrays = [s[i.name] for i in function.program.inputs]
        expected = next(iter(evaluate(function.program, s).values()))
        np.testing.assert_allclose(function(*arrays), expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    assert all(c.ok for c in verify(m, compiled, seed))
