"""Fixed moves one after the other as one shift and one rotation, where a matrix costs less than their turns."""

from __future__ import annotations

from collections.abc import Sequence

from kane.graph.arena import Graph
from kane.kinematics import vectors as v
from kane.kinematics.motion import Shift, Step
from kane.kinematics.vectors import Mat, MatrixRotation, SimpleRotation, Vec

TURNS = 2  # by angles that are no quarter turns: a third makes 12 multiplications a vector, where a matrix takes 9


def composed(g: Graph, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The same move by at most two steps, if there are more than TURNS turns that cost something."""
    if sum(map(_turns, steps)) <= TURNS:
        return steps
    by: Vec = v.ZERO
    rows: Mat = (v.unit(0), v.unit(1), v.unit(2))
    for step in steps:
        if isinstance(step, Shift):
            by = v.add(g, by, v.apply(g, rows, step.by))
        else:
            rows = v.product(g, rows, step.matrix(g))
    return (*((Shift(by),) if by != v.ZERO else ()), *_rotation(g, rows))


def _turns(step: Step) -> int:
    if isinstance(step, SimpleRotation):
        return int(step.cos > 1 and step.sin > 1)
    return 2 * isinstance(step, MatrixRotation)


def _rotation(g: Graph, rows: Mat) -> Sequence[Step]:
    """No step, a turn about an axis, or the matrix."""
    if rows == (v.unit(0), v.unit(1), v.unit(2)):
        return ()
    for k in (0, 1, 2):
        if rows[k][k] == g.one:
            i, j = (k + 1) % 3, (k + 2) % 3
            return (SimpleRotation((0, 1, 2)[k], rows[i][i], rows[j][i]),)
    return (MatrixRotation(rows),)
