"""The command that looks at a model's numbers: linearize."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from rich.table import Column, Table

from kane.api.summary import header
from kane.cli.common import DEFAULTS, Loading, RobotName, app, finish, out_console, progress_line
from kane.cli.numbers import Listed, poles, vector
from kane.errors import UnsupportedError
from kane.kinematics.plain_speeds import speeds_as_rates
from kane.linearization.poles import poles_and_errors, without_rounding
from kane.mechanism.numeric import without_noise


@app.command
def linearize(
    robot: RobotName, *, q: Listed = "", qd: Listed = "", tau: Listed = "", loading: Loading = DEFAULTS
) -> int:  # fmt: skip
    """A, B and eigenvalues about a state.

    States are (q, qd), inputs the generalized forces; joint springs and friction are left out.

    Args:
        q: Coordinates, "0,0.5,..." or "q1=0.5,q2=1"; those not named are 0.
        qd: Speeds, likewise.
        tau: Generalized forces, likewise; those that hold the state if none is given.
    """
    from kane.api.equations import derive

    with progress_line(loading.json) as progress:
        model = loading.numeric(robot, "a linear model")
        if model.mechanism.constraints:
            raise UnsupportedError(
                f"{model.name} has constraints, which this command leaves out.", name=model.name,
                remedy="Use kane.linearize, whose states fulfil them.",
            )  # fmt: skip
        model = replace(model, mechanism=speeds_as_rates(model.mechanism))
        names, n = model.coordinate_names, len(model.coordinate_names)
        if names != model.speed_names:
            raise UnsupportedError(
                f"The speeds of {model.name} are not the rates of its coordinates.", name=model.name,
                remedy="Use kane.linearize, which has states in the tangent.",
            )  # fmt: skip
        progress("linearize")
        dynamics = derive(model).compile()
        at, rate = vector("q", q, names), vector("qd", qd, names)
        force = vector("tau", tau, names) if tau else dynamics.bias_forces(at, rate)
        by_q, by_qd, inverse = dynamics.forward_dynamics_derivatives(at, rate, force)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [by_q, by_qd]])
    B = np.vstack([np.zeros((n, n)), inverse])
    values, errors = poles_and_errors(A)
    states = [*names, *(f"d {name}" for name in names)]
    made = {
        **header(model, "linearize"),
        "states": states, "inputs": [f"tau {name}" for name in names], "A": A.tolist(), "B": B.tolist(),
        "tau": [float(x) for x in force],
        "eigenvalues": [[float(x.real), float(x.imag)] for x in np.sort_complex(values)],
    }  # fmt: skip

    def show(result: dict[str, Any]) -> None:
        for note in result["notes"]:
            out_console.print(note, highlight=False, markup=False, soft_wrap=True)
        shown = np.hstack([without_noise(x) for x in (A[:, :n], A[:, n:], B)])
        for table in tables(states, [*states, *result["inputs"]], shown, out_console.width):
            out_console.print(table)
        out_console.print(f"eigenvalues: {poles(without_rounding(values, errors))}", highlight=False)

    return finish(made, loading, show)


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
