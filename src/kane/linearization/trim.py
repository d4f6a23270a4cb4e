"""Equilibria and steady motions: states, inputs and multipliers at which the speeds do not change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kane.equations.constrained import Evaluator, known, tangents, unit_quaternions
from kane.errors import ConvergenceError
from kane.graph.evaluate import evaluate
from kane.linearization.operating import Jacobians, OperatingPoint, Source, find_inputs, find_state, jacobians
from kane.mechanism.given import checked_number


def trim(  # noqa: PLR0913
    e: Source | Jacobians,
    q: Any,
    u: Any,
    f: Any = (),
    *,
    free: Sequence[str],
    steady: Sequence[str] | None = None,
    t: float = 0.0,
    values: Mapping[str, float] | None = None,
    evaluator: Evaluator = evaluate,
    tolerance: float = 1e-12,
) -> OperatingPoint:
    """The operating point with udot = 0 near a guess.

    e: equations, a robot, mechanism or System, or the `jacobians` of one, as for linearize.  Only the coordinates,
    speeds and inputs named in `free` change.  Rates of coordinates that are speeds are named `q1_dot`, the input of
    speed q1 of a robot tau1, that of elbow tau_elbow.  steady: the speeds whose rates are to vanish, by default all; in
    a steady turn the velocity components along fixed axes are left out.  Solves F + F* + Aᵀ lambda = 0, phi = 0, c = 0
    and dc/dt = 0 by Newton's method (least changes).  Raises ConvergenceError with the speed whose equation stays
    unbalanced.
    """
    j = e if isinstance(e, Jacobians) else jacobians(e, None, values, evaluator)
    c = j.equations.points.coordinates
    rates = c.rates
    groups: dict[str, tuple[str, ...]] = {"q": c.names, "u": rates, "f": j.input_names}
    free = (free,) if isinstance(free, str) else free
    t = checked_number("t", t, "Give a time, s.")
    known(free, [n for names in groups.values() for n in names], "name to adjust")
    known(steady or (), rates, "speed")
    state = dict(zip("qu", find_state(j, q, u), strict=True)) | {"f": find_inputs(j, f)}
    multipliers = np.zeros(len(j.conditions.names))
    state["udot"] = np.zeros(len(rates))
    picked = {key: [k for k, n in enumerate(names) if n in free] for key, names in groups.items()}
    picked["udot"] = [k for k, n in enumerate(rates) if steady is not None and n not in steady]
    blocks = ("residual", "configuration", "rates", "second")
    for _ in range(80):
        d = j.at(OperatingPoint(state["q"], state["u"], state["udot"], state["f"], multipliers, t))
        gap = np.concatenate([d[key] for key in blocks])
        ways = {by: np.eye(len(state[by]))[:, at] for by, at in picked.items()}
        ways["q"] = tangents(c, state["q"], picked["q"])
        columns = [np.vstack([d[f"{key}_{by}"] for key in blocks]) @ way for by, way in ways.items()]
        columns.append(np.vstack([d["residual_lambda"], np.zeros((len(gap) - len(c.speeds), len(multipliers)))]))
        step = np.linalg.lstsq(np.hstack(columns), -gap, rcond=1e-12)[0]
        size = np.abs(step).max(initial=0.0)
        for key, way in ways.items():
            state[key] = state[key] + way @ step[: way.shape[1]]
            step = step[way.shape[1] :]
        multipliers = multipliers + step
        state["q"] = unit_quaternions(c, state["q"])
        if size < tolerance * (1 + np.abs(state["q"]).max(initial=0.0)):
            break
    d = j.at(OperatingPoint(state["q"], state["u"], state["udot"], state["f"], multipliers, t))
    gap = np.concatenate([d[key] for key in blocks])
    if np.abs(gap).max(initial=0.0) > 1e-8 * (1 + np.abs(d["residual_f"]).max(initial=0.0)):
        k = int(np.argmax(np.abs(gap)))
        held = [n for n, v in zip(j.conditions.names, j.conditions.values, strict=True) if v is not None]
        label = [*(f"equation of {n}" for n in c.speeds), *held, *j.conditions.names, *j.conditions.names][k]
        raise ConvergenceError(
            f"No equilibrium found by changing {', '.join(free)}: {label} stays unbalanced by {gap[k]:.3g}.",
            name=label,
            value=float(gap[k]), remedy="Free more coordinates or inputs, or start nearer.",
        )  # fmt: skip
    return OperatingPoint(state["q"], state["u"], state["udot"], state["f"], multipliers, t)
