"""The facade of the search: efforts, trail, what it refuses and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from kane.equations.derive import derive_task
from kane.equations.system import Parameters
from kane.errors import InputError, UnknownNameError
from kane.graph.arena import Graph
from kane.graph.evaluate import equal, evaluate, random_inputs
from kane.graph.program import Input, build_program
from kane.mechanism.constraints import Holonomic
from kane.mechanism.formula import Formula
from kane.robots.bundled import load as bundled
from kane.robots.generated import chain
from kane.search import method_table, optimise, unshared
from kane.search.small import FEW_TERMS, explicit_task


def test_low_effort_saves_and_proves() -> None:
    found = optimise(bundled("puma560"), "inverse_dynamics", effort="low")
    assert found.program.counts.total < found.unsearched.counts.total
    assert equal(found.program, found.unsearched)


def test_the_trail_adds_up() -> None:
    found = optimise(bundled("elbow3"), "inverse_dynamics")
    before, after = found.unsearched.counts, found.program.counts
    assert before.mul - after.mul == sum(row.saved_mul for row in found.trail)
    assert before.add - after.add == sum(row.saved_add for row in found.trail)
    assert after.total < before.total and found.method == "searched"
    assert {row.task for row in found.trail} == {"inverse_dynamics"}


def test_same_seed_same_program() -> None:
    first, second = (optimise(bundled("elbow3"), "bias_forces", seed=3).program for _ in range(2))
    assert first == second


@pytest.mark.parametrize("task", ["coriolis_times", "kinetic_energy", "forward_dynamics", "gravity_forces"])
def test_other_tasks_stay_what_they_are(task: str) -> None:
    found = optimise(bundled("elbow3"), task)
    assert equal(found.program, found.unsearched, primes=4)
    assert found.program.counts.total <= found.unsearched.counts.total


def test_frames_and_external_wrenches() -> None:
    robot = bundled("elbow3")
    tip = robot.links[-1].name
    pose = optimise(robot, "jacobian", tip)
    pushed = optimise(robot, "inverse_dynamics", external=(tip,))
    assert equal(pose.program, pose.unsearched) and equal(pushed.program, pushed.unsearched)
    assert [i.name for i in pushed.program.inputs] == [i.name for i in pushed.unsearched.inputs]


def test_bad_effort_is_named() -> None:
    with pytest.raises(InputError, match=r"extreme.*low, normal or high"):
        optimise(bundled("elbow3"), "mass_matrix", effort="extreme")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="extreme"):
        method_table(bundled("elbow3"), "mass_matrix", effort="extreme")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="inverse_dynamics"):
        optimise(bundled("elbow3"), "inverse_dynamic")


def test_constraints_are_left_as_derived() -> None:
    robot = bundled("elbow3")
    q = robot.joints[0].name
    tied = replace(robot, constraints=(Holonomic("tie", Formula("name", (), q) - Fraction(1, 2)),))
    found = optimise(tied, "mass_matrix")
    assert found.program is found.unsearched
    assert "constraints" in found.note and not found.trail


def test_table_of_methods() -> None:
    table = method_table(bundled("puma560"), "mass_matrix", "low")
    counts = {row.method: row.counts.total for row in table.rows}
    assert list(counts) == ["raw expanded", "generic recursion", "customised recursion", "explicit", "searched"]
    assert counts["raw expanded"] > counts["generic recursion"] > counts["customised recursion"] > counts["searched"]
    (best,) = (row for row in table.rows if row.best)
    assert best.counts.total == min(counts.values())
    shown = table.as_dict()
    assert set(shown) == {"tasks", "trail", "notes"}
    assert set(shown["tasks"][0]) >= {"task", "method", "counts", "best"}  # type: ignore[index]


@pytest.mark.parametrize("parameters", ["numeric", "symbolic"])
@pytest.mark.parametrize("name", ["two_link", "planar_rp"])
def test_small_robots_cost_no_more_than_their_explicit_form(name: str, parameters: Parameters) -> None:
    robot = bundled(name)
    for task in ("inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives"):
        found = optimise(robot, task, parameters=parameters)
        at_hand = explicit_task(robot, task, parameters)
        assert found.program.inputs == found.unsearched.inputs
        made, wanted = found.program.outputs, found.unsearched.outputs
        assert [(o.name, o.shape) for o in made] == [(o.name, o.shape) for o in wanted]
        assert at_hand is not None and equal(at_hand, found.unsearched)
        assert found.program.counts.total <= at_hand.counts.total
        assert equal(found.program, found.unsearched)


@pytest.mark.parametrize("parameters", ["numeric", "symbolic", ["m2"]])
@pytest.mark.parametrize("name", ["elbow3", "scara", "ur_like"])
def test_tasks_from_explicit_torques_are_the_tasks(name: str, parameters: Parameters) -> None:
    robot = bundled(name)
    made = {task: explicit_task(robot, task, parameters) for task in FEW_TERMS}
    if name != "ur_like":  # whose torques have too many terms, with symbols also its derivatives
        assert None not in made.values()
    for task, one in made.items():
        assert one is None or equal(one, derive_task(robot, task, None, parameters).program)


@pytest.mark.parametrize("seed", [0, 1])
def test_robots_whose_explicit_constants_are_rounded_are_searched_all_the_same(seed: int) -> None:
    robot = chain(2, skew=True, seed=seed)  # axes with irrational components where the seed is 1
    explicit = explicit_task(robot, "inverse_dynamics", "numeric")
    found = optimise(robot, "inverse_dynamics")
    assert explicit is not None and equal(explicit, found.unsearched) == (seed == 0)
    assert found.method == "searched" and equal(found.program, found.unsearched)
    assert found.program.counts.total < found.unsearched.counts.total


def test_unshared_counts_a_formula_as_often_as_it_is_used() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    s = g.add(x, y)  # used three times: 3 additions
    program = build_program(g, "t", [Input("v", ("x", "y"))], [("o", (2,), [g.mul(s, s), g.mul(s, x)])])
    assert (program.counts.mul, program.counts.add) == (2, 1)
    assert (unshared(program).mul, unshared(program).add) == (2, 3)


def test_the_same_under_any_hash_seed() -> None:
    script = (
        "from kane.search import optimise\nfrom kane.robots.bundled import load\n"
        "print(repr(optimise(load('elbow3'), 'inverse_dynamics').program))"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", script], env=os.environ | {"PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(shown) == 1


def test_parameters_named_one_by_one_may_be_zero() -> None:
    """No program searched divides by them: an empty hand, a massless link."""
    names = [f"link{k}.{x}" for k in (2, 3) for x in ("m", "Ixx", "Iyy", "Izz", "hx", "hz")]
    m = bundled("elbow3")
    for task in ("inverse_dynamics", "mass_matrix"):
        found = optimise(m, task, parameters=names)
        rng = np.random.default_rng(0)
        given = {i.name: rng.normal(size=(20, i.size)) for i in found.program.inputs}
        width = len(found.program.parameter_names)
        for zeros in ([0], [3, 4], range(width)):
            given["p"] = rng.uniform(1, 2, (20, width))
            given["p"][:, list(zeros)] = 0.0
            (a,), (b,) = (evaluate(p, given).values() for p in (found.program, found.unsearched))
            assert np.isfinite(a).all() and np.allclose(a, b, rtol=1e-11, atol=1e-11)


TASKS = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "forward_dynamics_derivatives"]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["puma560", "stanford"])
def test_a_turn_that_nothing_depends_on_is_not_computed(name: str, task: str) -> None:
    """The last links are round about their axis: no number for q6 leaves every output as it is."""
    found = optimise(bundled(name), task, effort="low").program
    given = random_inputs(found, 3)
    wanted = evaluate(found, given)
    given["q"][:, 5] = np.nan
    for key, value in evaluate(found, given).items():
        assert np.array_equal(value, wanted[key])


def test_a_turn_that_matters_is_kept() -> None:
    found = optimise(bundled("rx90"), "inverse_dynamics", effort="low").program
    given = random_inputs(found, 1)
    before = evaluate(found, given)["tau"]
    given["q"][:, 5] += 0.5
    assert np.abs(evaluate(found, given)["tau"] - before).max() > 1e-6
