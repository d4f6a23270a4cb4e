"""Motion under constraints, at numbers: accelerations, multipliers, consistent states, redundant conditions by name.

M udot - Aᵀ lambda = F - bias,  A udot + gamma = 0.  A multiplier is the force along its condition; where conditions
are redundant only some multipliers are determined (Udwadia and Kalaba 1992; Garcia de Jalon and Gutierrez-Lopez 2013
for the determined ones).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.equations.conditions import Conditions, find_conditions
from kane.equations.programs import program_of
from kane.equations.projection import Equations, bias, mass_matrix
from kane.errors import ConvergenceError, InputError, ShapeError
from kane.graph.derivative import forward
from kane.graph.evaluate import evaluate
from kane.graph.program import Program

Array = np.ndarray[Any, np.dtype[np.float64]]
Evaluator = Callable[[Program, Mapping[str, Any]], Mapping[str, Array]]
RANK_TOLERANCE = 1e-9  # relative size below which a direction counts as absent


@dataclass(frozen=True, slots=True)
class Motion:
    """qdot (nq), udot (n), multipliers (m) with `determined` (m), and the names of redundant conditions."""

    qdot: Array
    udot: Array
    names: tuple[str, ...]
    multipliers: Array
    determined: tuple[bool, ...]
    redundant: tuple[str, ...]

    def reaction(self, name: str) -> float:
        """The multiplier of a condition.  Raises InputError when redundant conditions leave it undetermined."""
        if name not in self.names:
            raise InputError(f"There is no condition {name!r}; there are {', '.join(self.names)}.", name=name)
        k = self.names.index(name)
        if not self.determined[k]:
            sharing = [n for n, d in zip(self.names, self.determined, strict=True) if not d]
            raise InputError(
                f"The reaction {name!r} is not determined: {', '.join(sharing)} share a load rigidly.",
                name=name,
                remedy="Remove a redundant condition or make a part elastic.",
            )
        return float(self.multipliers[k])


@dataclass(frozen=True, slots=True)
class Constrained:
    """A mechanism under constraints, ready for numbers.  `values`: parameters that were left as symbols, by name."""

    equations: Equations
    conditions: Conditions
    program: Program
    positions: Program
    values: Mapping[str, float]
    evaluator: Evaluator

    @property
    def condition_names(self) -> tuple[str, ...]:
        return self.conditions.names

    def arrays(self, q: Any, u: Any, f: Any = (), t: float = 0.0) -> dict[str, Any]:
        """Input arrays of the programs; `f` by order or by name."""
        s = self.equations.points.symbols
        arrays: dict[str, Any] = {"q": np.asarray(q, float), "u": np.asarray(u, float), "t": [t]}
        for item in self.program.inputs:
            if item.name == "f":
                given = [f[n] for n in item.labels] if isinstance(f, Mapping) else np.asarray(f, float)
                arrays["f"] = given
            if item.name == "p":
                arrays["p"] = [self.values[n] for n in item.labels]
        if arrays["q"].shape != (len(s.q),) or arrays["u"].shape != (len(s.u),):
            raise ShapeError(
                f"q has shape {arrays['q'].shape} and u {arrays['u'].shape}; wanted ({len(s.q)},) and ({len(s.u)},)."
            )
        return arrays

    def accelerations(self, q: Any, u: Any, f: Any = (), t: float = 0.0, tolerance: float = 1e-6) -> Motion:
        """qdot, udot and multipliers at a state.

        Raises InputError naming the condition and its residual when the state contradicts a constraint by more than
        `tolerance`.
        """
        out = self.evaluator(self.program, self.arrays(q, u, f, t))
        self._check(out, tolerance)
        matrix, a = out["mass_matrix"], out["jacobian"]
        rest = out["active"] - out["bias"]
        n, m = matrix.shape[0], a.shape[0]
        if not m:
            return Motion(out["qdot"], np.asarray(np.linalg.solve(matrix, rest)), (), np.zeros(0), (), ())
        keep, redundant = independent_rows(a)
        kkt = np.block([[matrix, -a[keep].T], [a[keep], np.zeros((len(keep), len(keep)))]])
        solution = np.linalg.solve(kkt, np.concatenate([rest, -out["gamma"][keep]]))
        udot = solution[:n]
        gap = a @ udot + out["gamma"]
        bad = int(np.argmax(np.abs(gap)))
        if abs(gap[bad]) > 1e-6 * (1 + np.abs(a[bad]) @ np.abs(udot) + abs(out["gamma"][bad])):
            raise InputError(
                f"Constraint {self.condition_names[bad]!r} contradicts the other ones here.",
                name=self.condition_names[bad],
            )
        forces = np.linalg.pinv(a.T, rcond=RANK_TOLERANCE) @ (matrix @ udot - rest)
        null = null_space(a.T)
        determined = tuple(bool(np.abs(row).max(initial=0.0) < 1e-8) for row in null)
        return Motion(
            out["qdot"],
            udot,
            self.condition_names,
            forces,
            determined,
            tuple(self.condition_names[k] for k in redundant),
        )

    def _check(self, out: Mapping[str, Array], tolerance: float) -> None:
        for kind, label in (("configuration", "position"), ("rates", "speed")):
            gap = out[kind]
            if gap.size and np.abs(gap).max() > tolerance:
                k = int(np.argmax(np.abs(gap)))
                names = self.condition_names
                if kind == "configuration":
                    names = tuple(n for n, v in zip(names, self.conditions.values, strict=True) if v is not None)
                raise InputError(
                    f"The state contradicts constraint {names[k]!r}: its {label} residual is {gap[k]:.3g}.",
                    name=names[k],
                    value=float(gap[k]), remedy="Use consistent_configuration and consistent_speeds to find a state.",
                )  # fmt: skip

    def consistent_configuration(
        self, q: Any, keep: Sequence[str] = (), t: float = 0.0, tolerance: float = 1e-13
    ) -> Array:
        """The nearest configuration that fulfils the holonomic conditions, with the coordinates `keep` as they are.

        Newton's method with least changes, so the branch is that of the guess.  Raises ConvergenceError when there is
        none near.
        """
        names = self.equations.points.coordinates.names
        free = [k for k, n in enumerate(names) if n not in keep]
        q = np.array(q, float)
        for _ in range(60):
            out = self.evaluator(self.positions, {**self.arrays(q, np.zeros(self._n), self._zero_inputs(), t)})
            step = np.linalg.lstsq(out["jacobian"][:, free], -out["configuration"], rcond=1e-10)[0]
            q[free] += step
            if np.abs(step).max(initial=0.0) < tolerance * (1 + np.abs(q).max()):
                out = self.evaluator(self.positions, {**self.arrays(q, np.zeros(self._n), self._zero_inputs(), t)})
                if np.abs(out["configuration"]).max(initial=0.0) < 1e-9:
                    return np.asarray(q)
                break
        worst = int(np.argmax(np.abs(out["configuration"])))
        held = [n for n, v in zip(self.condition_names, self.conditions.values, strict=True) if v is not None]
        raise ConvergenceError(
            f"No configuration near the guess fulfils {held[worst]!r} (residual {out['configuration'][worst]:.3g}).",
            name=held[worst],
            remedy="Give a guess nearer to an assembled configuration, or keep fewer coordinates.",
        )

    def consistent_speeds(self, q: Any, u: Any, keep: Sequence[str] = (), t: float = 0.0) -> Array:
        """The nearest speeds that fulfil all conditions at q, with the speeds `keep` as they are."""
        names = self.equations.points.coordinates.speeds
        free = [k for k, n in enumerate(names) if n not in keep]
        u = np.array(u, float)
        for _ in range(20):
            out = self.evaluator(self.program, self.arrays(q, u, self._zero_inputs(), t))
            step = np.linalg.lstsq(out["jacobian"][:, free], -out["rates"], rcond=1e-10)[0]
            u[free] += step
            if np.abs(step).max(initial=0.0) < 1e-14 * (1 + np.abs(u).max()):
                break
        gap = self.evaluator(self.program, self.arrays(q, u, self._zero_inputs(), t))["rates"]
        if np.abs(gap).max(initial=0.0) > 1e-9:
            k = int(np.argmax(np.abs(gap)))
            raise ConvergenceError(
                f"No speeds with {', '.join(keep)} as given fulfil {self.condition_names[k]!r}.",
                name=self.condition_names[k],
            )
        return np.asarray(u)

    def dependent_speeds(self, q: Any, t: float = 0.0) -> tuple[str, ...]:
        """A choice of dependent speeds at a configuration, by pivoting on the largest columns.

        They are far from singular there.
        """
        out = self.evaluator(self.program, self.arrays(q, np.zeros(self._n), self._zero_inputs(), t))
        columns = pivot_columns(out["jacobian"])
        return tuple(self.equations.points.coordinates.speeds[k] for k in sorted(columns))

    @property
    def _n(self) -> int:
        return len(self.equations.points.symbols.u)

    def _zero_inputs(self) -> Array:
        return np.zeros(next((item.size for item in self.program.inputs if item.name == "f"), 0))


def constrained(
    e: Equations, values: Mapping[str, float] | None = None, evaluator: Evaluator = evaluate
) -> Constrained:
    """A mechanism under its constraints, to be evaluated; `values` for parameters without a value, by name."""
    g, s, n = e.graph, e.points.symbols, len(e.inertia)
    conditions = find_conditions(e)
    held = [x for x in conditions.values if x is not None]
    flat = [x for row in mass_matrix(e) for x in row]
    m = len(conditions.names)
    qdot = [s.rates[name] for name in e.points.coordinates.names]
    by_q = [forward(g, held, {q: g.one}) for q in s.q]
    outputs = [
        ("qdot", (len(qdot),), qdot),
        ("mass_matrix", (n, n), flat),
        ("bias", (n,), bias(e)),
        ("active", (n,), e.active),
        ("jacobian", (m, n), [x for row in conditions.jacobian for x in row]),
        ("gamma", (m,), conditions.gamma),
        ("rates", (m,), conditions.rates),
        ("configuration", (len(held),), held),
    ]
    positions = [
        ("configuration", (len(held),), held),
        ("jacobian", (len(held), len(by_q)), [by_q[k][i] for i in range(len(held)) for k in range(len(by_q))]),
    ]
    known = {**e.points.mechanism.parameter_values, **(values or {})}
    missing = [name for name in e.points.free if name not in known]
    if missing:
        raise InputError(f"Parameter {missing[0]!r} has no value.", name=missing[0], remedy="Give it in `values`.")
    return Constrained(
        e, conditions, program_of(e, "constrained", outputs), program_of(e, "positions", positions), known, evaluator
    )


def pivot_columns(a: Array) -> list[int]:
    """Columns that span a's column space, the largest remaining one first (Gram-Schmidt with pivoting)."""
    rest = np.array(a, float)
    scale = np.abs(rest).max(initial=0.0)
    chosen: list[int] = []
    while len(chosen) < min(rest.shape):
        norms = np.linalg.norm(rest, axis=0)
        k = int(np.argmax(norms))
        if norms[k] <= RANK_TOLERANCE * scale:
            break
        chosen.append(k)
        direction = rest[:, k] / norms[k]
        rest -= np.outer(direction, direction @ rest)
    return chosen


def independent_rows(a: Array) -> tuple[list[int], list[int]]:
    """(rows that are independent, taken in order; rows that depend on earlier ones)."""
    keep: list[int] = []
    redundant: list[int] = []
    basis = np.zeros((0, a.shape[1]))
    for k, row in enumerate(a):
        size = np.linalg.norm(row)
        rest = row - basis.T @ (basis @ row)
        rest -= basis.T @ (basis @ rest)
        if size == 0 or np.linalg.norm(rest) <= RANK_TOLERANCE * size:
            redundant.append(k)
        else:
            keep.append(k)
            basis = np.vstack([basis, rest / np.linalg.norm(rest)])
    return keep, redundant


def null_space(a: Array) -> Array:
    """An orthonormal basis of {x : a x = 0}, as columns."""
    _, sizes, vt = np.linalg.svd(a)
    rank = int(np.sum(sizes > RANK_TOLERANCE * sizes.max(initial=0.0)))
    return np.asarray(vt[rank:].T)
