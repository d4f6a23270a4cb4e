"""The command that looks at a model's numbers: linearize."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.table import Table

from kane.api.summary import header
from kane.cli.common import DEFAULTS, Loading, app, finish, out_console, progress_line
from kane.cli.numbers import Listed, numbers
from kane.errors import InputError, ShapeError, UnsupportedError


@app.command
def linearize(robot: str, *, q: Listed = "", qd: Listed = "", tau: Listed = "", loading: Loading = DEFAULTS) -> int:
    """A, B and eigenvalues about a state ("0,0.5,...", zeros by default); torques hold it unless given.

    States are (q, qd), inputs the generalized forces; joint springs and friction are left out.
    """
    from kane.api.equations import derive

    with progress_line(loading.json) as progress:
        model = loading.load(robot)
        names, n = model.coordinate_names, len(model.coordinate_names)
        if names != model.speed_names:
            raise UnsupportedError(
                f"The speeds of {model.name} are not the rates of its coordinates.", name=model.name,
                remedy="Use kane.linearize, which has states in the tangent.",
            )  # fmt: skip
        progress("linearize")
        missing = [p.name for p in model.mechanism.parameters if p.value is None]
        if missing:
            raise InputError(
                f"Parameter {missing[0]!r} has no value, which numbers need.", name=missing[0],
                remedy=f"Pass --values {'=...,'.join(missing)}=...",
            )  # fmt: skip
        dynamics = derive(model).compile()
        at, rate = _vector("q", q, n), _vector("qd", qd, n)
        force = _vector("tau", tau, n) if tau else dynamics.bias_forces(at, rate)
        by_q, by_qd, inverse = dynamics.forward_dynamics_derivatives(at, rate, force)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [by_q, by_qd]])
    B = np.vstack([np.zeros((n, n)), inverse])
    values = np.sort_complex(np.linalg.eigvals(A)) if n else np.zeros(0, dtype=complex)
    states = [*names, *(f"d {name}" for name in names)]
    made = {
        **header(model, "linearize"),
        "states": states, "inputs": [f"tau {name}" for name in names], "A": A.tolist(), "B": B.tolist(),
        "tau": [float(x) for x in force], "eigenvalues": [[float(x.real), float(x.imag)] for x in values],
    }  # fmt: skip

    def show(result: dict[str, Any]) -> None:
        table = Table("rate of", *states, *result["inputs"])
        for name, row in zip(states, np.hstack([A, B]), strict=True):
            table.add_row(name, *(f"{x + 0.0:.6g}" for x in row))  # no -0
        out_console.print(table)
        tiny = 1e-13 * max(abs(values), default=0.0)  # rounding, shown as 0
        parts = [[x if abs(x) > tiny else 0.0 for x in (value.real, value.imag)] for value in values]
        shown = ", ".join(f"{real:.6g}{imag:+.6g}i" for real, imag in parts)
        out_console.print(f"eigenvalues: {shown}", highlight=False)

    return finish(made, loading, show)


def _vector(option: str, text: str, size: int) -> Any:
    values = numbers(option, text)
    if values is None:
        return np.zeros(size)
    if len(values) != size:
        raise ShapeError(f"--{option} has {len(values)} numbers, expected {size}.", name=option, value=text)
    return np.array(values)
