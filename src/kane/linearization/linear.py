"""Linear state equations x' = A x + B f, y = C x + D f about an operating point, constraints included.

Peterson, Gede and Hubbard 2014 (Symbolic linearization of equations of motion of constrained multibody systems), with
the dependent variations solved at numbers.  Coordinates are tangent ones: a unit quaternion has three small angles
about the axes of its frame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.equations.constrained import Array, Evaluator, independent_rows, pivot_columns, solved
from kane.errors import InputError, UnknownNameError
from kane.graph.evaluate import evaluate
from kane.kinematics.coordinates import Coordinates
from kane.linearization.operating import Jacobians, OperatingPoint, Source, find_point, jacobians
from kane.linearization.poles import poles_and_errors
from kane.mechanism.wording import counted, listed

ComplexArray = np.ndarray[Any, np.dtype[np.complex128]]


@dataclass(frozen=True, slots=True)
class LinearSystem:
    """A (nx, nx), B (nx, nf), C (ny, nx), D (ny, nf); states are variations, first of coordinates, then of speeds.

    offset (nx): x' at the operating point, zero for an equilibrium of these states.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    offset: Array
    point: OperatingPoint

    def __repr__(self) -> str:
        sizes = counted(((len(self.states), "state"), (len(self.inputs), "input"), (len(self.outputs), "output")))
        return f"<LinearSystem: {sizes}; states {listed(self.states)}; see A, B, C, D, eigenvalues, modes, point>"

    @property
    def eigenvalues(self) -> ComplexArray:
        """Eigenvalues of A, the least stable first."""
        return poles_and_errors(self.A)[0]

    @property
    def modes(self) -> tuple[ComplexArray, ComplexArray]:
        """(eigenvalues (nx,), modes (nx, nx) as columns scaled to a largest component 1)."""
        values, vectors = np.linalg.eig(self.A)
        order = np.lexsort((values.imag, -np.round(values.real, 9)))
        columns = vectors[:, order].astype(complex)
        peak = columns[np.argmax(np.abs(columns), axis=0), np.arange(columns.shape[1])]
        return values[order].astype(complex), columns / peak


def linearize(  # noqa: PLR0913
    e: Source | Jacobians,
    q: Any,
    u: Any,
    f: Any = (),
    t: float = 0.0,
    *,
    independent: tuple[Sequence[str], Sequence[str]] | None = None,
    outputs: Mapping[str, str] | None = None,
    values: Mapping[str, float] | None = None,
    evaluator: Evaluator = evaluate,
) -> LinearSystem:
    """A, B, C, D about a state: an equilibrium, a steady motion or an instant of a trajectory.

    e: equations, taken as they are; or a robot, mechanism or System, with the springs and dampers of its joints and,
    where it declares no inputs, one input for every speed: its generalized force, N m or N, named tau1 for speed q1,
    tau_elbow for speed elbow.  Dry friction is left out: it has no slope at rest.  Or the `jacobians` of one of these,
    where many states are asked for.  q, u, f: by order or by name, what is not named is 0 (quaternions: no turn).
    independent: names of independent coordinates and speeds under constraints; by default those that pivoting leaves.
    outputs: name -> formula in states, rates, inputs and measures; by default the states. Raises InputError when the
    state contradicts the constraints or the named variables are not independent.
    """
    j = e if isinstance(e, Jacobians) else jacobians(e, outputs, values, evaluator)
    outputs = dict.fromkeys(j.output_names, "")
    point = find_point(j, q, u, f, t)
    d = j.at(point)
    c = j.equations.points.coordinates
    tangent, names = tangent_map(c, point.q)
    drift = tangent_map(c, d["qdot"])[0] - tangent_map(c, np.zeros(len(c.names)))[0]  # the map's rate of change
    by_xi = {
        key: d[f"{key}_q"] @ tangent for key in ("qdot", "residual", "configuration", "rates", "second", "outputs")
    }
    rates = c.rates
    chosen = independent or (None, None)
    z, free_q = _variations(by_xi["configuration"], names, chosen[0], "coordinate")
    rows, _ = independent_rows(d["rates_u"])
    zu, free_u = _variations(d["rates_u"][rows], rates, chosen[1], "speed")
    s = _particular(d["rates_u"][rows], by_xi["rates"][rows] @ z, free_u)
    xi = np.hstack([z, np.zeros((z.shape[0], len(free_u)))])
    speeds = np.hstack([s, zu])
    n, m, k = len(c.speeds), len(rows), d["residual_f"].shape[1]
    a = d["rates_u"][rows]
    kkt = np.block([[-d["residual_udot"], -a.T], [a, np.zeros((m, m))]])
    right = np.vstack(
        [
            by_xi["residual"] @ xi + d["residual_u"] @ speeds,
            -(by_xi["second"][rows] @ xi + d["second_u"][rows] @ speeds),
        ]
    )
    forced = np.vstack([d["residual_f"], -d["second_f"][rows]])
    answer = solved(kkt, np.hstack([right, forced]), c.speeds)
    nx = xi.shape[1]
    udot, udot_f = answer[:n, :nx], answer[:n, nx:]
    inverse = np.linalg.pinv(tangent)
    xidot = inverse @ ((d["qdot_q"] @ tangent - drift) @ xi + d["qdot_u"] @ speeds)
    whole_a, whole_b = (
        np.vstack([xidot[free_q], udot[free_u]]),
        np.vstack([np.zeros((len(free_q), k)), udot_f[free_u]]),
    )
    states = (*(names[i] for i in free_q), *(rates[i] for i in free_u))
    if outputs:
        cy = by_xi["outputs"] @ xi + d["outputs_u"] @ speeds + d["outputs_udot"] @ udot
        dy = d["outputs_f"] + d["outputs_udot"] @ udot_f
    else:
        cy, dy = np.eye(nx), np.zeros((nx, k))
    offset = np.concatenate([(inverse @ d["qdot"])[free_q], point.udot[free_u]])
    return LinearSystem(whole_a, whole_b, cy, dy, states, j.input_names, tuple(outputs or states), offset, point)


def tangent_map(c: Coordinates, q: Array) -> tuple[Array, tuple[str, ...]]:
    """(nq, nxi) matrix taking tangent variations to variations of q, affine in q, and their names.

    For a unit quaternion: dq = (1/2) q o (0, theta), theta in the axes of its frame.
    """
    groups = {g[0]: (g, speeds) for g, speeds in c.quaternions}
    inside = {n for g, _ in c.quaternions for n in g}
    columns: list[Array] = []
    names: list[str] = []
    for i, name in enumerate(c.names):
        if name in groups:
            group, speeds = groups[name]
            at = [c.names.index(n) for n in group]
            w, x, y, z = (q[k] for k in at)
            block = 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
            full = np.zeros((len(c.names), 3))
            full[at] = block
            columns.append(full)
            names += [f"angle of {n}" for n in speeds]
        elif name not in inside:
            columns.append(np.eye(len(c.names))[:, [i]])
            names.append(name)
    return np.hstack(columns) if columns else np.zeros((0, 0)), tuple(names)


def _variations(a: Array, names: Sequence[str], chosen: Sequence[str] | None, what: str) -> tuple[Array, list[int]]:
    """All variations by the independent ones, a x = 0: (matrix, indices of the independent)."""
    n = len(names)
    keep, _ = independent_rows(a) if a.size else ([], [])
    a = a[keep].reshape(len(keep), n)
    if chosen is None:
        dependent = pivot_columns(a)
        free = [k for k in range(n) if k not in dependent]
    else:
        for name in chosen:
            if name not in names:
                raise UnknownNameError(f"There is no {what} {name!r}; there are {', '.join(names)}.", name=name)
        free = [list(names).index(name) for name in chosen]
        dependent = [k for k in range(n) if k not in free]
    if len(dependent) != len(keep) or (len(keep) and np.linalg.cond(a[:, dependent]) > 1e12):
        raise InputError(
            f"{', '.join(names[k] for k in free)} are not independent {what}s here: "
            f"{len(keep)} independent conditions leave {n - len(keep)}.",
            name=what,
            remedy="Leave the choice out, or choose others.",
        )
    z = np.zeros((n, len(free)))
    z[free] = np.eye(len(free))
    if dependent:
        z[dependent] = -np.linalg.solve(a[:, dependent], a[:, free])
    return z, free


def _particular(a: Array, right: Array, free: Sequence[int]) -> Array:
    """Variations of the dependent speeds that variations of the coordinates bring.

    a s + right = 0, independent ones 0.
    """
    dependent = [k for k in range(a.shape[1]) if k not in free]
    s = np.zeros((a.shape[1], right.shape[1]))
    if dependent:
        s[dependent] = -np.linalg.solve(a[:, dependent], right)
    return s
