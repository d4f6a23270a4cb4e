"""Generalized speeds for the witness: v = S [u, 1] for the joints' own speeds v, and dS/dt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from kane.errors import UnsupportedError
from kane.kinematics.coordinates import Coordinates
from kane.mechanism.formula import Formula
from kane.mechanism.model import Mechanism
from kane.verification.jets import Jet, jet

Array = npt.NDArray[np.float64]


def speed_map(mechanism: Mechanism, c: Coordinates, values: Mapping[str, float], u: Array) -> tuple[Array, list[Jet]]:
    """S (nv, nv + 1), and the definitions u_r = Y_r(q, t) v + z_r(q, t) as jets over (coordinates, t, v) at v = 0.

    Without definitions S is the identity.  Raises UnsupportedError for definitions by measures of motion.
    """
    n = len(u)
    if not mechanism.speeds:
        return np.eye(n, n + 1), []
    variables = {name: k for k, name in enumerate((*c.names, "t"))}
    first = len(variables)
    zero = dict.fromkeys(c.natural, 0.0)
    for k, name in enumerate(c.natural):  # by its own name, or as the rate of its coordinate
        variables[f"{name}_dot" if name in c.names else name] = first + k
        zero[f"{name}_dot"] = 0.0
    point = zero | dict(values)
    jets = []
    for speed in mechanism.speeds:
        definition = speed.definition
        unknown = set(definition.names()) - set(point) if isinstance(definition, Formula) else set()
        if unknown:
            raise UnsupportedError(
                f"The check by plain Newton-Euler cannot follow speed {speed.name!r} by {sorted(unknown)[0]!r}.",
                name=speed.name,
            )
        jets.append(jet(definition, variables, point))
    Y, z = (np.array(part) for part in ([x.gradient[first:] for x in jets], [x.value for x in jets]))
    return np.linalg.solve(Y, np.column_stack([np.eye(n), -z])), jets


def speed_map_rate(S: Array, jets: Sequence[Jet], qdot: Array) -> Array:
    """dS/dt = -Y^-1 (dY/dt S + [0, dz/dt]), with the rates of (coordinates, t)."""
    if not jets:
        return np.zeros_like(S)
    first, n = len(qdot), len(jets)
    Y = np.array([x.gradient[first:] for x in jets])
    Ydot = np.array([x.hessian[first:, :first] @ qdot for x in jets])
    zdot = np.array([x.gradient[:first] @ qdot for x in jets])
    return -np.linalg.solve(Y, Ydot @ S + np.column_stack([np.zeros((n, n)), zdot]))
