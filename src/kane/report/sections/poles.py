"""The poles of a linearisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from kane.equations.joint_loads import driven, with_joint_loads
from kane.equations.projection import kane_equations
from kane.errors import ConvergenceError, InputError
from kane.kinematics.coordinates import find_coordinates
from kane.linearization.linear import LinearSystem, linearize
from kane.linearization.operating import assembled, find_state, jacobians
from kane.linearization.poles import poles_and_errors
from kane.linearization.trim import trim
from kane.mechanism import formula as f
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
    """Poles about rest in the starting pose, held there by constant generalized forces: kane.linearize without inputs.

    Springs and dampers of the joints, loads and constraints act; dry friction is left out.  Raises InputError for
    mechanisms with free joints, without or with many coordinates, with parameters that are given at run time, and where
    no pose near the starting one fulfils the constraints.
    """
    c = find_coordinates(mechanism)
    if c.quaternions or not 0 < len(c.names) <= LARGEST:
        raise InputError(f"Poles are shown of mechanisms of up to {LARGEST} coordinates without free joints.")
    if any(p.value is None for p in mechanism.parameters) or c.specified:
        raise InputError("The description leaves parameters or motions open, so there are no poles to show.")
    j = jacobians(with_joint_loads(kane_equations(driven(mechanism, beside=True))))
    start = [min(max(0.0, low), high) for low, high in coordinate_ranges(mechanism)]
    drives = j.input_names[-len(c.speeds) :]
    try:
        q, u = assembled(j, None, None) if mechanism.constraints else find_state(j, start, None)
        held = linearize(j, q, u, trim(j, q, u, free=drives).f)
    except ConvergenceError as error:
        raise InputError(f"There are no poles about rest: {error.message}", name=error.name) from None
    dry = [joint.name for joint in mechanism.joints if not f.is_zero(joint.friction)]
    left = f", without the dry friction of {', '.join(dry)}" if dry else ""
    return _shown(held.A, held.states, f"rest in the starting pose, held by constant torques{left}")


def _pole(x: complex, small: float) -> Pole:
    size = abs(x)
    verdict = "stable" if x.real < -small else "unstable" if x.real > small else "on the limit"
    frequency = f"{abs(x.imag) / (2 * math.pi):.4g}" if abs(x.imag) > small else ""
    damping = f"{0.0 if abs(x.real) <= small else -x.real / size:.3g}" if size > small else ""
    real, imaginary = (0.0 if abs(part) <= small else part for part in (x.real, x.imag))
    return Pole(f"{real:.6g}", f"{imaginary:.6g}", frequency, damping, verdict)
