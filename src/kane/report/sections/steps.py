"""Kane's eight steps, as tables that the page typesets when they are opened."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from kane.equations.step_tables import RATE, Step, Steps, printer
from kane.equations.terms import Terms
from kane.kinematics.points import Mixed, Points, position

EXPLAINED = {
    1: "Bodies with their masses, mass centres and inertias.",
    2: "The motion is described by generalized coordinates q; generalized speeds u are linear in their rates.",
    3: "Angular velocities of bodies and velocities of their mass centres in N.",
    4: "A partial velocity is the coefficient of a generalized speed in a velocity.",
    5: "Derivatives of the velocities in N.",
    6: "F*_r = Σ over bodies of v_r · (−m a) + ω_r · (−(I α + ω × I ω)).",
    7: "F_r = Σ of v_r · force + ω_r · torque, over all forces that do work.",
    8: "F_r + F*_r = 0.",
    9: "What each load does: its power.",
}
CONSTRAINED = " Constraints are written in coordinates and in speeds; dependent speeds follow from them."
ELIMINATED = (
    "F̃_r + F̃*_r = 0 of the independent speeds, F̃_r = F_r + Σ A_sr F_s: A_sr is the coefficient of u_r in the dependent "
    "speed u_s of step 2, and dependent speeds and their rates are put in."
)
MULTIPLIERS = (
    "F_r + F*_r + Σ λ_i A_ir = 0: A_ir is the coefficient of u_r in constraint i, λ_i the force or moment along it. "
    "They hold together with the constraints, whose rates follow. No speed is eliminated, since each would need a "
    "division that fails in some configuration."
)


@dataclass(frozen=True, slots=True)
class StepTable:
    """One step: number, title, what it says, and how many rows its table has."""

    number: int
    title: str
    explained: str
    rows: int


@dataclass(frozen=True, slots=True)
class KaneSteps:
    """The steps; `data` has their cells, `symbols` the names in them.  left_out: why there are none."""

    id: ClassVar[str] = "steps"
    title: ClassVar[str] = "Kane's method, step by step"
    template: ClassVar[str] = "steps.html"

    steps: tuple[StepTable, ...]
    data: dict[str, Any]
    left_out: str = ""


def kane_steps(steps: Steps | None, left_out: str = "") -> KaneSteps:
    """The tables of the steps.

    A cell is plain text, {"f": formula} or {"v": [[coefficient, frame, axis], ...]} (a vector).
    """
    if steps is None:
        return KaneSteps((), {}, left_out)
    p = steps.equations.points
    tables = [_table(step, p) for step in steps]
    shown = tuple(
        StepTable(step.number, step.title, _explained(steps, step.number), len(table["rows"]))
        for step, table in zip(steps, tables, strict=True)
    )
    symbols = sorted({s.name for s in p.graph.symbols.values()} | set(p.symbols.names_udot))
    return KaneSteps(shown, {"tables": tables, "symbols": symbols})


def _explained(steps: Steps, number: int) -> str:
    if steps.held is None or number not in (2, 8):
        return EXPLAINED[number]
    if number == 2:
        return EXPLAINED[2] + CONSTRAINED
    return MULTIPLIERS if steps.held.embedded is None else ELIMINATED


def _table(step: Step, p: Points) -> dict[str, Any]:
    t = printer(p)
    if step.number in (3, 5):
        pairs = [[{"n": name}, _vector(p, t, value)] for name, value in step.values.items()]
        return {"headers": ["", ""], "rows": pairs}
    if step.number == 4:
        names = list(step.values)
        columns = [step.values[name] for name in names]
        rows: list[list[Any]] = []
        for r, row in enumerate(step.rows):
            cells = [_vector(p, t, column[r]) for column in columns if isinstance(column, list)]
            rows.append([row[0], *cells])
        return {"headers": ["", *({"n": name} for name in names)], "rows": rows, "wide": True}
    if step.number == 1:
        bodies = [
            [row[0], {"f": row[1]}, _vector(p, t, position(p, b.station)), _moments(row[3])]
            for row, b in zip(step.rows, p.bodies, strict=True)
        ]
        return {"headers": list(step.headers), "rows": bodies}
    table = [[_cell(step, k, x, k == len(row) - 1) for k, x in enumerate(row)] for row in step.rows]
    return {"headers": list(step.headers), "rows": table}


def _moments(text: str) -> Any:
    return text if text == "particle" else {"l": text.split(", ")}


def _vector(p: Points, t: Terms, value: Any) -> dict[str, Any]:
    mixed: Mixed = value
    return {
        "v": [
            [t.text(c), p.axes[k].name, axis]
            for k, part in mixed.items()
            for axis, c in zip((0, 1, 2), part, strict=True)
            if c > 1
        ]
    }


_WITH_FORMULAS = (2, 6, 7, 8, 9)  # steps whose last column they are


def _cell(step: Step, column: int, text: str, last: bool) -> Any:
    """Formulas are typeset, names and words stay text."""
    if step.number in (6, 7) and column == 0:
        return {"n": text.strip().removesuffix(" =")}
    if step.number == 2 and (rate := re.fullmatch(r"(\D+)(\d*)_dot = (\1d\2)", text)):
        return f"{rate[3]}{RATE}{rate[1]}{rate[2]}"  # typeset, both sides would be the same
    words = text in ("", "particle", "0: does no work") or RATE in text
    if last and step.number in _WITH_FORMULAS and not words:
        return {"f": text}
    return text
