from dataclasses import replace

import numpy as np
import pytest

from kane.equations.derive import derive_task
from kane.equations.programs import matrices_program, residual_program
from kane.equations.projection import kane_equations
from kane.graph.evaluate import evaluate
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism import formula as f
from kane.mechanism.model import SpeedDefinition
from strategies import general_mechanism, random_mechanism, random_state


def compare(mechanism, seed):
    state = random_state(mechanism, seed)
    e = kane_equations(mechanism, runs=bool(seed % 2))
    program = derive_task(mechanism, "inverse_dynamics").program
    tau = evaluate(program, {k: state[k] for k in ("q", "qd", "qdd")})["tau"]
    given = {"q": state["q"], "u": state["qd"], "udot": state["qdd"], "t": [0]}
    residual = evaluate(residual_program(e), given)["residual"]
    size = np.abs(tau).max() + 1
    assert np.abs(tau + residual).max() < 1e-12 * size
    m = evaluate(matrices_program(e), {k: given[k] for k in ("q", "u", "t")})["mass_matrix"]
    other = evaluate(derive_task(mechanism, "mass_matrix").program, {"q": state["q"]})["M"]
    assert np.allclose(m, other, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_random_trees(seed):
    compare(random_mechanism(seed, 5, rotors=0.5, exact=bool(seed % 2), mimic=0.3), seed)


@pytest.mark.parametrize("seed", range(3))
def test_joints_given_by_formulas(seed):
    compare(general_mechanism(seed), seed)


@pytest.mark.parametrize("seed", range(4))
def test_generalized_speeds_mixed_across_joints(seed):
    """Both engines with the same definitions of speeds."""
    base = random_mechanism(seed, 4, types=("revolute", "prismatic", "universal"), rotors=0)
    rates = [f.name(f"{n}_dot") for n in find_coordinates(base).names]
    places = [f.name(n) for n in find_coordinates(base).names]
    definitions = []
    for k, rate in enumerate(rates):
        other = (k + 1) % len(rates)
        mixed = rate * (k + 2) + rates[other] * f.function("sin", places[k]) / 9 if k else rate * 3 + rates[1] / 5
        definitions.append(SpeedDefinition(f"u{k + 1}", mixed))
    compare(replace(base, speeds=tuple(definitions)), seed)
