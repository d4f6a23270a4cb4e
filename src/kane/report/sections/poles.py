"""The poles of a linearisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kane.equations.derive import derive_task
from kane.errors import InputError
from kane.graph.evaluate import evaluate
from kane.kinematics.coordinates import find_coordinates, symbol_name
from kane.linearization.linear import LinearSystem
from kane.linearization.poles import poles_and_errors
from kane.mechanism import formula as f
from kane.mechanism.joints import joint_type
from kane.mechanism.loads import Input, Specified
from kane.mechanism.model import Mechanism
from kane.report.sections.motion import coordinate_ranges

LARGEST = 12  # coordinates of a mechanism whose poles are worked out for the page


@dataclass(frozen=True, slots=True)
class Pole:
    """real, imaginary (rad/s), and for a reader: frequency (Hz), damping ratio, time constant (s), verdict."""

    real: str
    imaginary: str
    frequency: str
    damping: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Poles:
    """Eigenvalues of A, the least stable first; `data` has them as numbers, and which are unstable."""

    id: ClassVar[str] = "poles"
    title: ClassVar[str] = "Poles of the linearisation"
    template: ClassVar[str] = "poles.html"

    rows: tuple[Pole, ...]
    states: tuple[str, ...]
    data: dict[str, Any]
    about: str = "the operating point"


def poles(system: LinearSystem) -> Poles:
    """The poles of a linear system."""
    return _shown(system.A, system.states, "the operating point")


def _shown(A: Any, states: tuple[str, ...], about: str) -> Poles:
    values, errors = poles_and_errors(A)
    rows = tuple(_pole(x, float(e)) for x, e in zip(values.tolist(), errors, strict=True))
    places = [[x.real, x.imag] for x in values.tolist()]
    data = {"poles": places, "unstable": [row.verdict == "unstable" for row in rows]}
    return Poles(rows, states, data, about)


def poles_at_rest(mechanism: Mechanism) -> Poles:
    """Poles about rest in the starting pose, held there by constant torques: M x'' + d tau/dqd x' + d tau/dq x = 0.

    Damping of the joints included.  Raises InputError for mechanisms with free joints, loops, many coordinates, or
    parameters that are given at run time.
    """
    c = find_coordinates(mechanism)
    if c.speeds != c.names or mechanism.constraints or not 0 < len(c.names) <= LARGEST:
        raise InputError(f"Poles are shown of trees of up to {LARGEST} coordinates whose speeds are their rates.")
    made = [derive_task(mechanism, task).program for task in ("mass_matrix", "inverse_dynamics_derivatives")]
    if any(not {i.name for i in program.inputs} <= {"q", "qd", "qdd"} for program in made):
        raise InputError("The description leaves parameters open, so there are no poles to show.")
    n = len(c.names)
    q = np.array([min(max(0.0, low), high) for low, high in coordinate_ranges(mechanism)])
    state = {"q": q, "qd": np.zeros(n), "qdd": np.zeros(n)}
    found: dict[str, Any] = {}
    for program in made:
        found |= evaluate(program, {i.name: state[i.name] for i in program.inputs})
    M, by_q, by_qd = (np.asarray(found[name]) for name in ("M", "dtau_dq", "dtau_dqd"))
    values = mechanism.parameter_values
    for joint in mechanism.joints:
        names = joint_type(joint).coordinates(joint)
        if joint.mimic is None and len(names) == 1:
            by_qd = by_qd + np.diag([f.number(joint.damping, values) * (name == names[0]) for name in c.names])
    below = -np.linalg.solve(M, np.hstack([by_q, by_qd]))
    A = np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), below])
    rates = tuple(symbol_name("qd", name) for name in c.names)
    acting = [str(getattr(x, "name", "")) for x in mechanism.loads if not isinstance(x, (Input, Specified))]
    left = f", without the loads ({', '.join(acting)})" if acting else ""
    return _shown(A, (*c.names, *rates), f"rest in the starting pose, held by constant torques{left}")


def _pole(x: complex, small: float) -> Pole:
    size = abs(x)
    verdict = "stable" if x.real < -small else "unstable" if x.real > small else "on the limit"
    frequency = f"{abs(x.imag) / (2 * math.pi):.4g}" if abs(x.imag) > small else ""
    damping = f"{0.0 if abs(x.real) <= small else -x.real / size:.3g}" if size > small else ""
    real, imaginary = (0.0 if abs(part) <= small else part for part in (x.real, x.imag))
    return Pole(f"{real:.6g}", f"{imaginary:.6g}", frequency, damping, verdict)
