"""Motion under constraints, at numbers: accelerations, multipliers, consistent states, redundant conditions by name.

M udot - Aᵀ lambda = F - bias,  A udot + gamma = 0.  A multiplier is the force along its condition; where conditions
are redundant only some multipliers are determined (Udwadia and Kalaba 1992; Garcia de Jalon and Gutierrez-Lopez 2013
for the determined ones).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.equations.approach import approached
from kane.equations.conditions import Conditions, find_conditions
from kane.equations.programs import program_of
from kane.equations.projection import Equations, bias, check_equations, mass_matrix
from kane.errors import (
    ConvergenceError,
    InertiaError,
    InputError,
    MasslessJointError,
    NumberError,
    ShapeError,
    UnknownNameError,
)
from kane.graph.derivative import forward
from kane.graph.evaluate import evaluate
from kane.graph.program import Program
from kane.kinematics.coordinates import Coordinates
from kane.mechanism.given import real_array
from kane.mechanism.inertia import inertia_fault
from kane.mechanism.wording import counted

Array = np.ndarray[Any, np.dtype[np.float64]]
Evaluator = Callable[[Program, Mapping[str, Any]], Mapping[str, Array]]
RANK_TOLERANCE = 1e-9  # relative size below which a direction counts as absent
MASSLESS = 1e-15  # relative size below which an inertia is rounding


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

    def __repr__(self) -> str:
        sizes = counted(((len(self.equations.active), "speed"), (len(self.condition_names), "condition")))
        return f"<Constrained {self.equations.points.mechanism.name}: {sizes}; motion: accelerations(q, u, f)>"

    @property
    def condition_names(self) -> tuple[str, ...]:
        return self.conditions.names

    def arrays(self, q: Any, u: Any, f: Any = (), t: float = 0.0) -> dict[str, Any]:
        """Input arrays of the programs; `f` by order or by name."""
        s = self.equations.points.symbols
        arrays: dict[str, Any] = {"q": real_array("q", q), "u": real_array("u", u), "t": [t]}
        arrays["f"] = ordered(next((item.labels for item in self.program.inputs if item.name == "f"), ()), f)
        for item in self.program.inputs:
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
            return Motion(out["qdot"], solved(matrix, rest, self._speeds), (), np.zeros(0), (), ())
        keep, redundant = independent_rows(a)
        kkt = np.block([[matrix, -a[keep].T], [a[keep], np.zeros((len(keep), len(keep)))]])
        solution = solved(kkt, np.concatenate([rest, -out["gamma"][keep]]), self._speeds)
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

        Damped steps, then Newton's method with least changes, so the branch is that of the guess.  Raises
        ConvergenceError when there is none near.
        """
        c = self.equations.points.coordinates
        free = [k for k, n in enumerate(c.names) if n not in known(keep, c.names, "coordinate")]
        q = unit_quaternions(c, self.arrays(q, np.zeros(self._n), self._zero_inputs(), t)["q"])

        def conditions(q: Array) -> tuple[Array, Array]:
            out = self.evaluator(self.positions, self.arrays(q, np.zeros(self._n), self._zero_inputs(), t))
            return out["configuration"], out["jacobian"] @ tangents(c, q, free)

        q = approached(conditions, lambda q, step: unit_quaternions(c, q + tangents(c, q, free) @ step), q)
        for _ in range(60):
            phi, J = conditions(q)
            step = tangents(c, q, free) @ np.linalg.lstsq(J, -phi, rcond=1e-10)[0]
            q = unit_quaternions(c, q + step)
            if np.abs(step).max(initial=0.0) < tolerance * (1 + np.abs(q).max()):
                phi, _ = conditions(q)
                if np.abs(phi).max(initial=0.0) < 1e-9:
                    return np.asarray(q)
                break
        worst = int(np.argmax(np.abs(phi)))
        held = [n for n, v in zip(self.condition_names, self.conditions.values, strict=True) if v is not None]
        raise ConvergenceError(
            f"No configuration near the guess fulfils {held[worst]!r} (residual {phi[worst]:.3g}).",
            name=held[worst],
            remedy="Give a guess nearer to an assembled configuration, or keep fewer coordinates.",
        )

    def consistent_speeds(self, q: Any, u: Any, keep: Sequence[str] = (), t: float = 0.0) -> Array:
        """The nearest speeds that fulfil all conditions at q, with the speeds `keep` as they are."""
        free = [k for k, n in enumerate(self._speeds) if n not in known(keep, self._speeds, "speed")]
        u = self.arrays(q, u, self._zero_inputs(), t)["u"].copy()
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
    def _speeds(self) -> tuple[str, ...]:
        return self.equations.points.coordinates.speeds

    @property
    def _n(self) -> int:
        return len(self.equations.points.symbols.u)

    def _zero_inputs(self) -> Array:
        return np.zeros(next((item.size for item in self.program.inputs if item.name == "f"), 0))


def constrained(
    e: Equations, values: Mapping[str, float] | None = None, evaluator: Evaluator = evaluate
) -> Constrained:
    """A mechanism under its constraints, to be evaluated; `values` for parameters without a value, by name."""
    check_equations(e)
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
    return Constrained(
        e, conditions, program_of(e, "constrained", outputs), program_of(e, "positions", positions),
        parameter_values(e, values or {}), evaluator,
    )  # fmt: skip


def parameter_values(e: Equations, given: Mapping[str, float]) -> dict[str, float]:
    """Values of all parameters: those of the description and those given.

    Raises UnknownNameError, NumberError, InputError for one that is missing or has another value in the description,
    InertiaError where a body cannot have them.
    """
    mechanism = e.points.mechanism
    known(given, [p.name for p in mechanism.parameters], "parameter")
    values = dict(mechanism.parameter_values)
    for name, value in given.items():
        number = float(value) if isinstance(value, numbers.Real) else np.nan
        if not np.isfinite(number):
            raise NumberError(
                f"Parameter {name!r} is given as {value!r}.", name=name, value=repr(value),
                remedy="Give a finite number.",
            )  # fmt: skip
        if name not in e.points.free and number != values.get(name, number):
            raise InputError(
                f"Parameter {name!r} is {values[name]:.9g} in the description, not {number:.9g}.", name=name,
                value=number, remedy="Declare it without a value, or derive again with the other value.",
            )  # fmt: skip
        values[name] = number
    missing = [name for name in e.points.free if name not in values]
    if missing:
        raise InputError(f"Parameter {missing[0]!r} has no value.", name=missing[0], remedy="Give it in `values`.")
    for link in mechanism.links:
        if link.inertia is not None and given and (fault := inertia_fault(link.inertia, values)):
            raise InertiaError(
                f"The body at {link.name!r} cannot be: {fault}.", name=link.name,
                remedy="Give values with which masses are not negative and moments are about the mass centre.",
            )  # fmt: skip
    return values


def known(given: Iterable[str], names: Sequence[str], what: str) -> Iterable[str]:
    """The names given, which have to be among `names`.  Raises UnknownNameError."""
    for name in given:
        if name not in names:
            raise UnknownNameError(f"There is no {what} {name!r}; there are {', '.join(names) or 'none'}.", name=name)
    return given


def ordered(names: Sequence[str], given: Any) -> Array:
    """Values in the order of names, from an array or by name (missing names are 0, and nothing is all 0)."""
    if isinstance(given, Mapping):
        known(given, names, "input")
        given = [given.get(n, 0.0) for n in names]
    array = np.zeros(0) if given is None else real_array("inputs", given)
    if array.size and array.shape != (len(names),):
        raise ShapeError(
            f"{array.size} values are given where there are {len(names)}: {', '.join(names) or 'none'}.",
            value=array.shape, remedy="Give one value each, or values by name.",
        )  # fmt: skip
    return array if array.size else np.zeros(len(names))


def solved(matrix: Array, right: Array, speeds: Sequence[str]) -> Array:
    """The solution; MasslessJointError names the speed that moves no inertia where the mass matrix is singular.

    matrix: the mass matrix, or with the Jacobian of constraints around it; its first rows belong to the speeds.
    """
    n = len(speeds)
    size = np.sqrt(np.abs(np.diagonal(matrix)[:n]))
    scale = np.concatenate([1 / np.where(size > 0, size, 1.0), np.ones(len(matrix) - n)])
    if np.isfinite(matrix).all() and len(matrix):
        _, sizes, rows = np.linalg.svd(matrix * np.outer(scale, scale))
        if sizes[-1] <= MASSLESS * sizes[0]:
            name = speeds[int(np.argmax(np.abs(rows[-1][:n])))] if n else ""
            raise MasslessJointError(
                f"The mass matrix is singular here: speed {name!r} can change without any inertia being moved.",
                name=name, remedy="Give what moves with it mass and inertia, or leave it out.",
            )  # fmt: skip
    return np.asarray(np.linalg.solve(matrix, right))


def tangents(c: Coordinates, q: Array, free: Sequence[int]) -> Array:
    """Directions as columns (nq, k) in which the coordinates `free` can change: across unit quaternions."""
    columns = np.eye(len(c.names))[:, list(free)]
    for group, _ in c.quaternions:
        at = [c.names.index(n) for n in group]
        columns[at] -= np.outer(q[at], q[at] @ columns[at])
    return columns


def unit_quaternions(c: Coordinates, q: Array) -> Array:
    """q with its quaternions scaled to length one."""
    q = np.array(q, float)
    for group, _ in c.quaternions:
        at = [c.names.index(n) for n in group]
        length = np.linalg.norm(q[at])
        if not length:
            raise InputError(
                f"The quaternion {', '.join(group)} is zero.", name=group[0], remedy="Start from a unit quaternion."
            )
        q[at] /= length
    return q


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
