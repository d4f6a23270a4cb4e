"""Forward dynamics in rates summed over runs of parallel axes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from kane.equations.composite import mass_matrix
from kane.equations.derive import derive_task, find_task
from kane.equations.system import System, derive_system
from kane.equations.tasks import task_program
from kane.equations.tasks.dynamics import newton_euler
from kane.graph.arena import CONSTANT
from kane.graph.evaluate import equal
from kane.graph.program import Program
from kane.mechanism.model import Mechanism
from kane.robots.bundled import load as bundled
from kane.search import optimise
from kane.search.speeds import find_runs, forward_dynamics, is_planar, mass_matrix_of_sums, worth_trying
from planar_trees import planar_tree

CHAIN, TREE = (0, 1, 2), (0, 1, 2, 2, 1, 0, 6)
ROBOTS = {
    "chain": planar_tree(CHAIN),
    "tree": planar_tree(TREE, general=True),
    "rotors": planar_tree(TREE, general=True, rotors=True),
    "weightless": planar_tree(CHAIN, gravity=False),
    **{name: bundled(name) for name in ("puma560", "ur_like", "scara", "elbow3")},
}


def in_sums(mechanism: Mechanism, plain: bool = False) -> tuple[Program, System]:
    system = derive_system(mechanism)
    system = replace(system, bodies=system.plain) if plain else system
    made = forward_dynamics(system, find_runs(system.k), lambda u: newton_euler(system, u))
    return task_program(find_task("forward_dynamics"), system, [("qdd", (system.nv,), made)]), system


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("name", ROBOTS)
def test_the_accelerations_are_the_same(name: str, plain: bool) -> None:
    assert equal(in_sums(ROBOTS[name], plain)[0], derive_task(ROBOTS[name], "forward_dynamics").program)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_matrix_is_that_of_the_sums(name: str) -> None:
    """Z^T M Z with qd = Z w; element by element, as functions."""
    system = derive_system(ROBOTS[name])
    g, runs, n = system.g, find_runs(system.k), system.nv
    assert runs.before and all(runs.before[r] == s for s, later in runs.after.items() for r in later)
    made = mass_matrix_of_sums(system, runs)
    M = mass_matrix(system.k, system.bodies, system.rotors)
    Z = [[0] * n for _ in range(n)]
    for r in range(n):
        Z[r][r] = 1
        if r in runs.before:
            Z[r][runs.before[r]] = -1
    for r, s in product(range(n), range(n)):
        terms = [
            M[a][b] ^ (Z[a][r] * Z[b][s] < 0)
            for a, b in product(range(n), range(n)) if Z[a][r] * Z[b][s] and M[a][b] > 1
        ]  # fmt: skip
        assert g.residue_of(made[r][s]) == g.residue_of(g.sum(terms))


def test_what_a_planar_matrix_costs() -> None:
    """Its diagonal is constant, two branches do not meet, and an element is one product: m l cos(angle between)."""
    program, system = in_sums(ROBOTS["chain"])
    M = mass_matrix_of_sums(system, find_runs(system.k))
    assert is_planar(system.k, find_runs(system.k))
    assert all(system.g.level_of(M[r][r]) <= CONSTANT for r in range(3))
    kinds = {system.g.op[M[r][s] >> 1] for r, s in ((0, 1), (0, 2), (1, 2))}
    assert kinds == {"mul"}
    branched = derive_system(ROBOTS["tree"])
    M = mass_matrix_of_sums(branched, find_runs(branched.k))
    assert M[2][3] == M[0][5] == M[4][2] == 0 != M[1][3]
    assert program.counts.total < derive_task(ROBOTS["chain"], "forward_dynamics").program.counts.total


def test_runs_of_robots() -> None:
    """Of the PUMA 560 joints 2 and 3 are parallel; the arm is not planar."""
    system = derive_system(bundled("puma560"))
    assert dict(find_runs(system.k).before) == {2: 1} and not is_planar(system.k, find_runs(system.k))
    assert dict(find_runs(derive_system(bundled("ur_like")).k).before) == {2: 1, 3: 2}


def test_long_chains_are_left_alone() -> None:
    """By articulated bodies a long chain costs less, in proportion to its length."""
    short, long = (derive_system(planar_tree(tuple(range(n)))) for n in (3, 30))
    assert worth_trying(short.k) and not worth_trying(long.k)
    assert not worth_trying(derive_system(bundled("stanford")).k)


def test_the_search_finds_them() -> None:
    """Three links in a plane: 59 operations and 3 sums of angles, as counted by hand.

    Matrix: 3 products.  Bias: 3 sines times constants, 3 squares, 6 products, 3 of weight, 6 sums.  Right side: 5
    differences.  L^T D L with a constant D_3: 7 products, 4 sums; solution: 9 products, 6 sums.  Sums of rates and
    differences of their accelerations: 4.  In the joints' own rates the search needs 66.
    """
    found = optimise(ROBOTS["chain"], "forward_dynamics")
    assert found.program.counts.total <= 62 and found.program.counts.div == 2
    assert any(row.step.startswith("speeds") for row in found.trail)
    assert found.formulation is not None and found.formulation.sums
    assert equal(found.program, found.unsearched)


@pytest.mark.parametrize("name", ["puma560", "ur_like", "scara"])
def test_low_effort_finds_them_too(name: str) -> None:
    found = optimise(ROBOTS[name], "forward_dynamics", effort="low")
    steps = [row.step for row in found.trail]
    assert any(step.startswith("speeds") for step in steps) or (steps == ["explicit form"] and name == "scara")
    assert found.program.counts.total <= in_sums(ROBOTS[name])[0].counts.total
    assert equal(found.program, found.unsearched)
