"""Checks on the equations themselves: regrouped against plain parameters modulo random primes, regressors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from kane.equations.system import Parameters, System, derive_system
from kane.equations.tasks import TASKS, task_program
from kane.equations.tasks.dynamics import newton_euler
from kane.equations.tasks.regressors import values_of
from kane.graph.evaluate import equal, evaluate
from kane.graph.program import Program, build_program
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism.model import Mechanism
from kane.verification.check import Check, check, skipped
from kane.verification.functions import random_states, relative
from kane.verification.laws import TOLERANCE, without_rotors

PRIMES = 3


def exact_checks(mechanism: Mechanism, parameters: Parameters = "numeric", seed: int = 0) -> tuple[Check, ...]:
    """Regrouped and plain torques are the same function, tau = Y pi, and no tiny numbers where zeros belong."""
    return (regrouping(mechanism, parameters), regressor(mechanism, seed))


def torques(mechanism: Mechanism, parameters: Parameters = "numeric", plain: bool = False) -> Program:
    """Inverse dynamics with regrouped bodies, or with the bodies as described."""
    system: System = derive_system(mechanism, parameters)
    if plain:
        system = replace(system, bodies=system.plain)
    tau = newton_euler(system, system.k.symbols.u, system.k.symbols.udot)
    return task_program(TASKS["inverse_dynamics"], system, [("tau", (system.nv,), tau)])


def regrouping(mechanism: Mechanism, parameters: Parameters = "numeric") -> Check:
    """The torques of regrouped parameters equal the plain ones at random primes: exact, not a matter of rounding."""
    first, second = torques(mechanism, parameters), torques(mechanism, parameters, plain=True)
    same = equal(first, second, PRIMES)
    note = f"exact, at {PRIMES} random primes of 90 bits"
    return check("regrouped = plain torques", 0.0 if same else 1.0, 0.0, note)


def regressor(mechanism: Mechanism, seed: int = 0, states: int = 4) -> Check:
    """Y pi = tau, rotors left out; parameters without a value are 1."""
    name = "regressor times parameters = tau"
    bare = without_rotors(mechanism)
    system = derive_system(bare)
    if not any(node.links for node in system.k.tree.nodes):
        return skipped(name, "no moving body")
    outputs = [*TASKS["regressor"].build(system, None)]
    tau = newton_euler(system, system.k.symbols.u, system.k.symbols.udot)
    inputs = [system.input("p")] if system.parameters else []
    pi = build_program(system.g, "parameters", inputs, [("pi", (len(values_of(system)),), values_of(system))])
    program = task_program(TASKS["regressor"], system, [*outputs, ("tau", (system.nv,), tau)])
    p = np.array([1.0 if value is None else value for value in system.parameters.values()])
    s = random_states(find_coordinates(bare), states, seed) | {"p": p}
    made = evaluate(program, s)
    values = evaluate(pi, s)["pi"]
    product = made["Y"] @ values
    return check(name, relative(product - made["tau"], np.abs(made["Y"]) @ np.abs(values)), TOLERANCE)


def tiny(program: Program, below: float = 1e-12) -> Sequence[float]:
    """Numbers of a program closer to zero than `below`: what folding has left where a zero belongs."""
    found = [float(v.payload) for v in program.values if isinstance(v.payload, Fraction)]
    return [x for x in found if 0 < abs(x) < below]
