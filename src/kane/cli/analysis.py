"""The command that looks at a model's numbers: linearize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Column, Table

from kane.api.summary import header
from kane.cli.common import DEFAULTS, Loading, RobotName, app, finish, out_console, progress_line
from kane.cli.numbers import Listed, poles, state
from kane.errors import ConvergenceError
from kane.kinematics.plain_speeds import speeds_as_rates
from kane.linearization.linear import LinearSystem
from kane.linearization.operating import Jacobians, assembled, find_point, jacobians
from kane.linearization.poles import poles_and_errors, without_rounding
from kane.linearization.trim import trim
from kane.mechanism import formula as f
from kane.mechanism.model import Mechanism
from kane.mechanism.numeric import without_noise


@app.command
def linearize(
    robot: RobotName, *, q: Listed = "", qd: Listed = "", tau: Listed = "", loading: Loading = DEFAULTS
) -> int:  # fmt: skip
    """A, B and eigenvalues about a state, as kane.linearize gives them.

    Inputs are the generalized forces, or those that the description declares; springs and dampers of joints act, dry
    friction is left out.  Constraints are kept: what is not named in q and qd then follows from them.

    Args:
        q: Coordinates, "0,0.5,..." or "q1=0.5,q2=1"; those not named are 0.
        qd: Speeds, likewise.
        tau: Inputs, likewise by name (tau1=2); those that hold the speeds if none is given.
    """
    from kane.linearization.linear import linearize as linear_system

    with progress_line(loading.json) as progress:
        model = loading.numeric(robot, "a linear model")
        progress("linearize")
        j = jacobians(speeds_as_rates(model.mechanism))
        c = j.equations.points.coordinates
        at, rate = assembled(j, state("q", q, c.names), state("qd", qd, c.speeds, c.rates))
        force = state("tau", tau, j.input_names, c.speeds)
        system = linear_system(j, at, rate, holding(j, at, rate) if force is None else force)
    values, errors = poles_and_errors(system.A)
    made = {
        **header(model, "linearize", tree=False),
        "states": list(system.states), "inputs": list(system.inputs), "A": system.A.tolist(), "B": system.B.tolist(),
        "q": system.point.q.tolist(), "qd": system.point.u.tolist(), "tau": system.point.f.tolist(),
        "offset": system.offset.tolist(),
        "eigenvalues": [[float(x.real), float(x.imag)] for x in np.sort_complex(values)],
    }  # fmt: skip
    made["notes"] += left_out(model.mechanism)

    def show(result: dict[str, Any]) -> None:
        for note in result["notes"]:
            out_console.print(note, highlight=False, markup=False, soft_wrap=True)
        for table in tables(system.states, [*system.states, *system.inputs], matrix(system), out_console.width):
            out_console.print(table)
        out_console.print(f"eigenvalues: {poles(without_rounding(values, errors))}", highlight=False)

    return finish(made, loading, show)


def holding(j: Jacobians, q: Any, u: Any) -> Any:
    """The inputs with which the speeds do not change.  Raises ConvergenceError, with the way out, where none do."""
    find_point(j, q, u)  # a state that contradicts the constraints is refused as that
    try:
        return trim(j, q, u, free=j.input_names).f
    except ConvergenceError as error:
        raise ConvergenceError(
            f"No inputs hold this state: {error.message}", name=error.name, value=error.value,
            remedy="Give the inputs: --tau 0,... or by name; the model then holds about the motion at that instant.",
        ) from None  # fmt: skip


def left_out(mechanism: Mechanism) -> list[str]:
    """What a linear model does not have."""
    dry = [joint.name for joint in mechanism.joints if not f.is_zero(joint.friction)]
    return [f"Dry friction is left out, as it has no slope at rest: {', '.join(dry)}."] if dry else []


def matrix(system: LinearSystem) -> Any:
    """[A B] without rounding: by groups of columns whose numbers have one unit."""
    nq = sum(not name.endswith("_dot") for name in system.states)
    return np.hstack([without_noise(x) for x in (system.A[:, :nq], system.A[:, nq:], system.B) if x.size])


def tables(rows: Sequence[str], columns: Sequence[str], values: Any, width: int) -> list[Table]:
    """A matrix whose rows are rates, as one table or as several beside which each number is whole."""
    texts = [[f"{x + 0.0:.6g}" for x in row] for row in values]  # no -0
    sizes = [max(map(len, (name, *cells))) + 3 for name, *cells in zip(columns, *texts, strict=True)]
    first = max(map(len, ("rate of", *rows))) + 4
    groups: list[list[int]] = []
    left = 0
    for k, size in enumerate(sizes):
        if not groups or size > left:
            groups.append([])
            left = width - first
        groups[-1].append(k)
        left -= size
    made = []
    for group in groups:
        table = Table("rate of", *(Column(columns[k], no_wrap=True, justify="right") for k in group))
        for name, cells in zip(rows, texts, strict=True):
            table.add_row(name, *(cells[k] for k in group))
        made.append(table)
    return made
