"""Every operation names the parameters and bodies that change its value, and no others.

Of folded numbers it may name one that cancels between two of them: that is rare, and bounded here.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import kane
from kane.api.trace import trace_searched
from kane.graph.evaluate import operation_value, random_inputs
from kane.graph.program import Program
from kane.mechanism.model import Inertia, Link, Mechanism
from kane.robots.bundled import load as bundled
from kane.search import optimise
from strategies import random_mechanism

TYPES = ("revolute", "prismatic", "continuous")
PLACE = {"m": 0, "cx": 1, "cy": 2, "cz": 3, "Ixx": 4, "Ixy": 5, "Ixz": 6, "Iyy": 7, "Iyz": 8, "Izz": 9}


def values_of(program: Program, arrays: dict[str, np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """Every value of a program, not only its outputs."""
    given = [arrays[item.name] for item in program.inputs]
    values: list[Any] = []
    for op, args, payload, _ in program.values:
        operands = [-values[a >> 1] if a & 1 else values[a >> 1] for a in args]
        values.append(operation_value(op, operands, payload, given))
    return [np.broadcast_to(v, (given[0].shape[0],)) for v in values]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("task", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_an_operation_names_what_changes_it(task: str, seed: int) -> None:
    """Run-time parameters, searched programs: each one changed in turn."""
    mechanism = random_mechanism(seed, joints=3 if seed else 2, types=TYPES, rotors=0.0)
    found = optimise(mechanism, task, parameters="symbolic", effort="low" if seed else "normal")
    traced, _ = trace_searched(mechanism, found, "symbolic")
    assert [t.index for t in traced] == list(range(found.program.first_constant, len(found.program.values)))
    arrays = random_inputs(found.program, 4, 1.5)
    before = values_of(found.program, arrays)
    named = idle = 0
    for k, name in enumerate(found.program.parameter_names):
        changed = arrays["p"].copy()
        changed[:, k] *= 1.25
        after = values_of(found.program, arrays | {"p": changed})
        body = name.rpartition(".")[0]
        for t in traced:
            a, b = before[t.index], after[t.index]
            moved = bool((np.abs(a - b) > 1e-11 * (1 + np.abs(a))).any())
            named += name in t.parameters
            idle += name in t.parameters and not moved
            assert not moved or (name in t.parameters and body in t.bodies), (name, t)
    assert idle == 0


def fine(mechanism: Mechanism, seed: int) -> Mechanism:
    """Bodies whose numbers have many digits, so that no two results are equal by chance."""
    r = random.Random(seed)

    def link(link: Link) -> Link:
        if link.inertia is None:
            return link
        spread = [Fraction(r.randint(10**8, 2 * 10**8), 10**8) for _ in PLACE]
        return replace(link, inertia=_scaled(link.inertia, spread))

    return replace(mechanism, links=tuple(link(x) for x in mechanism.links))


def _scaled(inertia: Inertia, by: list[Fraction]) -> Inertia:
    given = (inertia.mass, *inertia.com, *inertia.moments)
    n = [x * s for x, s in zip(given, by, strict=True)]
    return replace(inertia, mass=n[0], com=(n[1], n[2], n[3]), moments=tuple(n[4:]))  # type: ignore[arg-type]


def changed(mechanism: Mechanism, body: str, letter: str) -> Mechanism:
    by = [Fraction(17, 13) if k == PLACE[letter] else Fraction(1) for k in range(10)]
    links = (replace(x, inertia=_scaled(x.inertia, by)) if x.name == body and x.inertia else x for x in mechanism.links)
    return replace(mechanism, links=tuple(links))


@pytest.mark.parametrize(("task", "seed"), [("inverse_dynamics", 1), ("inverse_dynamics", 3), ("mass_matrix", 2)])
def test_folded_numbers_name_what_they_are_made_of(task: str, seed: int) -> None:
    """Numbers of the description: the values that are gone after one of them is changed are those that name it."""
    mechanism = fine(random_mechanism(seed, joints=3, types=TYPES, rotors=0.0), seed)
    found = optimise(mechanism, task, effort="low")
    found = replace(found, program=found.unsearched, formulation=None)  # its structure does not depend on the numbers
    traced, _ = trace_searched(mechanism, found)
    arrays = random_inputs(found.program, 3, 1.5)
    before = values_of(found.program, arrays)
    inertial = [(link.name, letter) for link in mechanism.links for letter in PLACE]
    named = idle = 0
    for body, letter in inertial:
        other = optimise(changed(mechanism, body, letter), task, effort="low").unsearched
        after = np.array(values_of(other, arrays))
        for t in traced:
            kept = bool((np.abs(np.abs(after) - np.abs(before[t.index])).max(axis=1) < 1e-10).any())
            names = f"{body}.{letter}" in t.parameters
            assert kept or names, (body, letter, t)
            assert not names or body in t.bodies
            named += names
            idle += names and kept
    assert named and idle <= 0.01 * named


@pytest.mark.parametrize("task", ["inverse_dynamics", "mass_matrix", "forward_dynamics"])
def test_every_number_of_a_searched_robot_is_known(task: str) -> None:
    """None falls back to "made of everything"; lengths and weight name no body."""
    found = optimise(bundled("puma560"), task, effort="low")
    traced, sources = trace_searched(bundled("puma560"), found)
    for value in (v.payload for v in found.program.values if v.op == "num"):
        assert isinstance(value, Fraction) and abs(value) in sources.numbers
    assert sources.of(Fraction("0.4331")) == {"d4"}
    assert sources.of(Fraction("0.00288")) == {"m6", "rz6"}
    assert {body for t in traced for body in t.bodies} <= {f"link{k}" for k in range(1, 7)}
    assert all(t.terms for t in traced)
    if task == "forward_dynamics":
        assert {t.terms[0] for t in traced if "qdd[0]" in t.outputs} >= {"factorisation of M", "solution of M x = f"}
    drives = [t for t in traced if t.parameters == ("Im5",)]
    assert task != "inverse_dynamics" or (drives and all(t.terms == ("joint5: rotor",) for t in drives))


def test_numbers_that_the_local_search_made_are_known() -> None:
    found = optimise(bundled("scara"), "mass_matrix")
    _, sources = trace_searched(bundled("scara"), found)
    values = [v.payload for v in found.program.values if v.op == "num"]
    assert any(row.step.startswith(("all forms", "sums")) for row in found.trail)
    assert all(isinstance(value, Fraction) and abs(value) in sources.numbers for value in values)


def test_outputs_joints_and_terms() -> None:
    """Of a planar arm: only link 2's own inertia acts on the second torque."""
    traced = kane.derive(kane.load("two_link")).trace("inverse_dynamics")
    second = [t for t in traced if "tau[1]" in t.outputs]
    assert {body for t in second for body in t.bodies} == {"link2"}
    assert {body for t in traced for body in t.bodies} == {"link1", "link2"}
    assert {j for t in traced for j in t.joints} == {"joint1", "joint2"}
    assert all(t.terms for t in traced)


def test_values_that_leave_no_operation_are_said() -> None:
    _, sources = trace_searched(bundled("puma560"), optimise(bundled("puma560"), "mass_matrix", effort="low"))
    assert sources.silent == tuple(f"joint{k}.ratio" for k in range(1, 7))
