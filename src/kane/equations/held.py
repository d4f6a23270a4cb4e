"""How conditions enter Kane's equations as they are written: by eliminating dependent speeds, or with multipliers.

Where each dependent speed follows from the others in every configuration, u_s = sum A_sr u_r + B_s (Buffinton section
6.5.2), the equations are F~_r + F~*_r = 0 with F~_r = F_r + sum A_sr F_s, r independent (Kane and Levinson 1985,
section 4.4 and 6.1).  Otherwise a division would fail somewhere, and they are F_r + F*_r + sum lambda_i A_ir = 0
together with the conditions, A udot + gamma = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from kane.equations.conditions import Conditions, Embedded, augmented, check_left, embed, find_conditions
from kane.equations.projection import Equations
from kane.graph.arena import CONSTANT, Ref
from kane.kinematics.linear import reduce_rows
from kane.mechanism.loads import Input


@dataclass(frozen=True, slots=True)
class Held:
    """The conditions of a mechanism in its equations.

    embedded: dependent speeds eliminated, None where multipliers stand.  kept: conditions but redundant ones, by
    index; multipliers, multiplier_names: theirs.  slow: their rates' derivatives by time, which vanish.
    """

    conditions: Conditions
    embedded: Embedded | None
    kept: tuple[int, ...]
    multipliers: tuple[Ref, ...]
    multiplier_names: tuple[str, ...]
    slow: tuple[Ref, ...]

    @property
    def redundant(self) -> tuple[str, ...]:
        """Names of conditions that follow from the others."""
        if self.embedded is not None:
            return self.embedded.redundant
        return tuple(n for i, n in enumerate(self.conditions.names) if i not in self.kept)


def hold(e: Equations, embedded: Embedded | None = None) -> Held | None:
    """How the conditions of a mechanism enter its equations; None where there are none.

    embedded: an elimination of the user's choice, which may divide by what vanishes somewhere.  Raises InputError for
    conditions that contradict each other.
    """
    c = find_conditions(e)
    if not c.names:
        return None
    if embedded is None:
        embedded = _everywhere(e, c)
    if embedded is not None:
        return Held(c, embedded, (), (), (), ())
    kept, g = _independent(e, c), e.graph
    names = _free_names(e, len(kept))
    slow = tuple(g.add(g.dot(c.jacobian[i], e.points.symbols.udot), c.gamma[i]) for i in kept)
    return Held(c, None, kept, tuple(g.symbol(n) for n in names), names, slow)


def with_multipliers(e: Equations, held: Held) -> tuple[Ref, ...]:
    """F_r + F*_r + sum lambda_i A_ir (n)."""
    g = e.graph
    return tuple(
        g.add(x, g.dot(held.multipliers, [held.conditions.jacobian[i][r] for i in held.kept]))
        for r, x in enumerate(e.residual)
    )


def _everywhere(e: Equations, c: Conditions) -> Embedded | None:
    """The elimination that divides by numbers and parameters only, later speeds first; None where there is none.

    None too where the conditions leave no speed free: with multipliers the equations say what drives the motion.
    """
    if not all(c.linear):
        return None
    n = len(e.inertia)
    rows, pivots, left = reduce_rows(e.graph, augmented(e, c), range(n)[::-1], CONSTANT)
    if len(pivots) == n or any(x > 1 for i in left for x in rows[i][:n]):
        return None
    names = e.points.coordinates.speeds
    return embed(e, [names[j] for j in sorted((j for _, j in pivots), reverse=True)])


def _independent(e: Equations, c: Conditions) -> tuple[int, ...]:
    """The conditions that do not follow from others in every configuration."""
    if not all(c.linear):
        return tuple(range(len(c.names)))
    rows, pivots, left = reduce_rows(e.graph, augmented(e, c), range(len(e.inertia)))
    check_left(c, rows, left)
    return tuple(sorted(i for i, _ in pivots))


def _free_names(e: Equations, count: int) -> tuple[str, ...]:
    """lambda1, lambda2, ...; with a mark where the mechanism has such names."""
    p = e.points  # its graph may have ours already
    taken = {*p.symbols.by_name, *p.coordinates.names, *p.coordinates.speeds}
    taken |= {x.name for x in p.mechanism.parameters} | {x.name for x in p.mechanism.loads if isinstance(x, Input)}
    head = "lambda"
    while any(f"{head}{k + 1}" in taken for k in range(count)):
        head += "_c"
    return tuple(f"{head}{k + 1}" for k in range(count))
