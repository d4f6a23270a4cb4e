"""Conditions on the motion in the graph: phi(q, t) = 0, A u + b = 0, A udot + gamma = 0 (Buffinton section 6.5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kane.equations.projection import Equations, check_equations
from kane.errors import InputError
from kane.graph.arena import Ref
from kane.kinematics import points as pt
from kane.kinematics.linear import reduce_rows, sparse_jacobian
from kane.kinematics.motion import speeds_in, substitute
from kane.mechanism import constraints as c


@dataclass(frozen=True, slots=True)
class Conditions:
    """All scalar conditions of a mechanism.

    names (m).  values: the holonomic ones' expressions, None for motion constraints.  rates (m): their velocity form,
    linear in u where `linear`; jacobian (m, n) = d rates / d u; gamma (m): rates' time derivative at udot = 0.
    """

    names: tuple[str, ...]
    values: tuple[Ref | None, ...]
    rates: tuple[Ref, ...]
    jacobian: tuple[tuple[Ref, ...], ...]
    gamma: tuple[Ref, ...]
    linear: tuple[bool, ...]


def find_conditions(e: Equations) -> Conditions:
    """The scalar conditions of the mechanism's constraints, with unit quaternions left out (they hold identically).

    Raises InputError for two conditions of one name, and for one that contradicts itself (a nonzero constant).
    """
    p, g, s = e.points, e.graph, e.points.symbols
    scalars = [x for item in p.mechanism.constraints if _is_condition(item) for x in c.scalar_conditions(item)]  # type: ignore[arg-type]
    names = [x.name for x in scalars]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"Two constraints are named {name!r}.", name=name, remedy="Rename one of them.")
    values: list[Ref | None] = []
    rates: list[Ref] = []
    for x in scalars:
        ref = e.measures.scalar(x.expression)
        if isinstance(x, c.Holonomic) and speeds_in(g, s, ref):
            raise InputError(
                f"Configuration constraint {x.name!r} contains rates.",
                name=x.name,
                remedy="Declare it as nonholonomic.",
            )
        values.append(ref if isinstance(x, c.Holonomic) else None)
        rates.append(pt.time_derivative(p, [ref])[0] if isinstance(x, c.Holonomic) else ref)
    rows = sparse_jacobian(g, rates, s.u)
    jacobian = tuple(tuple(row.get(k, 0) for k in range(len(s.u))) for row in rows)
    for name, row, rate in zip(names, jacobian, rates, strict=True):
        if all(x < 2 for x in row) and rate > 1:
            raise InputError(
                f"Constraint {name!r} does not restrain any speed: it contradicts the prescribed motions or itself.",
                name=name,
            )
    at_rest = pt.time_derivative(p, rates)
    gamma = substitute(g, at_rest, dict.fromkeys(s.udot, g.zero)) if at_rest else []
    linear = tuple(not any(speeds_in(g, s, x) for x in row) for row in jacobian)
    return Conditions(tuple(names), tuple(values), tuple(rates), jacobian, tuple(gamma), linear)


def _is_condition(item: object) -> bool:
    return isinstance(item, (c.Holonomic, c.MotionConstraint, c.Coincident, c.Rolling))


@dataclass(frozen=True, slots=True)
class Embedded:
    """Speeds u_s = sum A_sr u_r + B_s put into Kane's equations.

    independent, dependent: indices of speeds.  speeds, rates: all u and udot as expressions in the independent ones.
    residual (p): F_r + F_r* + sum A_sr (F_s + F_s*), r independent (Kane and Levinson 1985, section 2.13 and 6.1).
    """

    equations: Equations
    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    matrix: tuple[tuple[Ref, ...], ...]
    speeds: tuple[Ref, ...]
    rates: tuple[Ref, ...]
    residual: tuple[Ref, ...]
    redundant: tuple[str, ...]

    def embedded(self, refs: Sequence[Ref]) -> list[Ref]:
        """Expressions in all speeds and their rates, in the independent ones."""
        s = self.equations.points.symbols
        whole = {**dict(zip(s.u, self.speeds, strict=True)), **dict(zip(s.udot, self.rates, strict=True))}
        return substitute(self.equations.graph, refs, {a: b for a, b in whole.items() if a != b})

    def combined(self, forces: Sequence[Ref]) -> tuple[Ref, ...]:
        """F~_r = F_r + sum A_sr F_s of the independent speeds (p), of forces (n) on all speeds."""
        g, p = self.equations.graph, len(self.independent)
        total = self.embedded(forces)
        kept = self.embedded([x for row in self.matrix for x in row])
        return tuple(
            g.add(total[r], g.sum(g.mul(kept[i * p + k], total[d]) for i, d in enumerate(self.dependent)))
            for k, r in enumerate(self.independent)
        )


def embed(e: Equations, dependent: Sequence[str] = ()) -> Embedded:
    """Eliminate dependent speeds: those named, or those that the elimination finds simplest.

    Redundant conditions are left out and named.  Raises InputError for a condition that is not linear in the speeds,
    for conditions that contradict each other and for named speeds that do not follow from the conditions.
    """
    check_equations(e)
    g, s, names = e.graph, e.points.symbols, e.points.coordinates.speeds
    conditions = find_conditions(e)
    for name, linear in zip(conditions.names, conditions.linear, strict=True):
        if not linear:
            raise InputError(
                f"Constraint {name!r} is not linear in the speeds, so none can be expressed by the others.", name=name,
                remedy="Use the equations with multipliers, which treat it at acceleration level.",
            )  # fmt: skip
    n = len(names)
    unknown = [d for d in dependent if d not in names]
    if unknown:
        raise InputError(f"There is no speed {unknown[0]!r}; there are {', '.join(names)}.", name=unknown[0])
    first = [names.index(d) for d in dependent]
    candidates = first if dependent else list(range(n))
    rows, pivots, left = reduce_rows(g, augmented(e, conditions), candidates)
    check_left(conditions, rows, left)
    if dependent and len(pivots) < len(first):
        lost = next(names[k] for k in first if k not in {j for _, j in pivots})
        raise InputError(f"Speed {lost!r} cannot be dependent: the constraints do not determine it.", name=lost)
    column = {j: i for i, j in pivots}
    independent = tuple(k for k in range(n) if k not in column)
    chosen = tuple(sorted(column))
    matrix = tuple(tuple(g.neg(rows[column[k]][r]) for r in independent) for k in chosen)
    u = {
        s.u[k]: g.sub(g.dot(m, (s.u[r] for r in independent)), rows[column[k]][n])
        for k, m in zip(chosen, matrix, strict=True)
    }
    speeds = tuple(u.get(x, x) for x in s.u)
    free_rates = {s.udot[k]: pt.time_derivative(e.points, [u[s.u[k]]])[0] for k in chosen}
    rates = substitute(g, [free_rates.get(a, a) for a in s.udot], u)
    redundant = tuple(conditions.names[i] for i in left)
    made = Embedded(e, independent, chosen, matrix, speeds, tuple(rates), (), redundant)
    return replace(made, residual=made.combined(e.residual))


def augmented(e: Equations, conditions: Conditions) -> list[list[Ref]]:
    """Rows (A_i, b_i) of conditions A u + b = 0 that are linear in the speeds."""
    g = e.graph
    rest = substitute(g, conditions.rates, dict.fromkeys(e.points.symbols.u, g.zero))
    return [[*row, b] for row, b in zip(conditions.jacobian, rest, strict=True)]


def check_left(conditions: Conditions, rows: list[list[Ref]], left: list[int]) -> None:
    """InputError for an augmented row, left without a pivot, that is not zero."""
    for i in left:
        if any(x > 1 for x in rows[i][:-1]):
            raise InputError(
                f"Constraint {conditions.names[i]!r} is left when the named dependent speeds are eliminated.",
                name=conditions.names[i],
                remedy="Name one dependent speed for each independent constraint.",
            )
        if rows[i][-1] > 1:
            raise InputError(
                f"Constraint {conditions.names[i]!r} contradicts the other ones.", name=conditions.names[i]
            )
