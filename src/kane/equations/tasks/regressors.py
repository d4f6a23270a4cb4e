"""Tasks: regressors, tau = Y pi with the inertial parameters of every moving body, and the Slotine-Li form."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kane.equations.inertial import (
    PARAMETERS,
    carry_out,
    from_refs,
    head,
    inverse_steps,
)
from kane.equations.recursion import Wrench, body_wrench, project, wrench_out
from kane.equations.system import System
from kane.equations.tasks.dynamics import require_no_time
from kane.equations.tasks.task import Outputs, Task
from kane.graph.arena import Ref
from kane.graph.derivative import forward
from kane.kinematics.accelerations import frame_motions
from kane.kinematics.tree import ROOT


def parameter_columns(system: System) -> list[tuple[int, str]]:
    """(node, name) of every column of the regressor: ten for each node that carries links, in the order of nodes.

    The parameters "link.m", "link.hx", ... are those of all that is fixed to the link that the joint moves, in that
    link's frame.
    """
    columns = []
    for index, node in enumerate(system.k.tree.nodes):
        if node.links:
            columns += [(index, f"{head(system.k, node).link}.{letter}") for letter in PARAMETERS]
    return columns


def regressor_rows(system: System, u: Sequence[Ref], udot: Sequence[Ref]) -> list[list[Ref]]:
    """Y (nv, 10 bodies): column by column the generalized forces that a unit parameter asks for."""
    g, k = system.g, system.k
    motions = frame_motions(k, u, udot, system.gravity)
    columns = []
    for index, _ in parameter_columns(system)[:: len(PARAMETERS)]:
        steps = k.steps(head(k, k.tree.nodes[index]).placement)
        for letter in range(len(PARAMETERS)):
            body = carry_out(g, steps, from_refs([2 * (i == letter) for i in range(len(PARAMETERS))]))
            columns.append(_carried(system, index, body_wrench(g, body, motions[index])))
    return [[column[r] for column in columns] for r in range(system.nv)]


def _carried(system: System, index: int, wrench: Wrench) -> list[Ref]:
    """Generalized forces of a wrench on one node."""
    g, k = system.g, system.k
    tau = [g.zero] * system.nv
    while index != ROOT:
        m = k.motions[index]
        project(g, m, wrench, tau)
        wrench = wrench_out(g, (*m.fixed, m.step), wrench)
        index = k.tree.nodes[index].parent
    return tau


def _regressor(system: System, frame: str | None) -> Outputs:
    s = system.k.symbols
    rows = regressor_rows(system, s.u, s.udot)
    return [("Y", (system.nv, len(parameter_columns(system))), [e for row in rows for e in row])]


def _base_regressor(system: System, frame: str | None) -> Outputs:
    """Y_b with tau = Y_b beta: the independent columns, rotors' included (Khalil and Bennis 1994)."""
    from kane.equations.base_columns import base_columns, full_rows, rotor_columns

    terms = rotor_columns(system)
    kept = base_columns(system, terms)
    return [("Y", (system.nv, len(kept)), [row[c] for row in full_rows(system, terms) for c in kept])]


def _slotine_li(system: System, frame: str | None) -> Outputs:
    """Y with M qdd_r + C(q, qd) qd_r + g = Y pi (Slotine and Li 1987), C the Christoffel matrix.

    The velocity terms are bilinear: C(q, a) b = (c(a + b) - c(a) - c(b)) / 2 for each column.
    """
    require_no_time(system, "slotine_li_regressor")
    g, s = system.g, system.k.symbols
    if tuple(s.rates.get(n) for n in system.k.coordinates.names) != s.u:
        from kane.errors import UnsupportedError

        raise UnsupportedError(
            "slotine_li_regressor wants generalized speeds that are the rates of the coordinates.",
            name="slotine_li_regressor", remedy="Use regressor(q, qd, qdd), or a fixed base.",
        )  # fmt: skip
    reference, acceleration = system.vector("qd_r"), system.vector("qdd_r")
    rows = regressor_rows(system, s.u, acceleration)
    still = regressor_rows(system, [g.zero] * system.nv, acceleration)
    half = g.number(Fraction(1, 2))
    result = []
    for row, rest in zip(rows, still, strict=True):
        swept = forward(g, row, dict(zip(s.u, reference, strict=True)))
        result += [g.add(r, g.mul(half, x)) for r, x in zip(rest, swept, strict=True)]
    return [("Y", (system.nv, len(parameter_columns(system))), result)]


def values_of(system: System) -> list[Ref]:
    """The parameters in the order of the columns."""
    k = system.k
    values: list[Ref] = []
    for index, _ in parameter_columns(system)[:: len(PARAMETERS)]:
        back = inverse_steps(k.steps(head(k, k.tree.nodes[index]).placement))
        values += carry_out(system.g, back, system.plain[index]).refs()
    return values


TASKS = (
    Task("regressor", ("q", "qd", "qdd"), _regressor),
    Task("base_regressor", ("q", "qd", "qdd"), _base_regressor),
    Task("slotine_li_regressor", ("q", "qd", "qd_r", "qdd_r"), _slotine_li),
)
