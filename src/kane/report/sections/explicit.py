"""The explicit model A, B, C, g in lumped constants, with the significance of its terms and abbreviated levels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from kane.explicit.abbreviate import Abbreviated
from kane.explicit.lumping import Expression
from kane.explicit.model import ExplicitModel
from kane.explicit.program import program
from kane.explicit.ranges import Positions, Ranges, positions
from kane.explicit.significance import significance
from kane.graph.program import OperationCounts
from kane.kinematics.coordinates import find_coordinates
from kane.kinematics.tree import build_tree
from kane.mechanism.formula import Formula
from kane.mechanism.model import Inertia, Mechanism

Json = Any
STEMS = ("m", *(a + b for a in "rh" for b in "xyz"), *(a + b + c for a in "IJ" for b in "xyz" for c in "xyz"))


@dataclass(frozen=True, slots=True)
class Explicit:
    """`data` is what explicit.js shows; summary, reduction: facts (name, value).

    left_out: why there is no explicit model; no_levels: why it is not abbreviated.
    """

    id: ClassVar[str] = "explicit"
    title: ClassVar[str] = "Explicit model"
    template: ClassVar[str] = "explicit.html"

    data: dict[str, Json]
    summary: tuple[tuple[str, str], ...]
    reduction: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    levels: int
    left_out: str = ""
    no_levels: str = ""
    counts: tuple[tuple[str, OperationCounts], ...] = ()


def no_explicit(why: str) -> Explicit:
    """The section of a mechanism that has no explicit model to be read."""
    return Explicit({}, (), (), (), 0, why)


def explicit(
    model: ExplicitModel,
    levels: Sequence[Abbreviated] = (),
    ranges: Ranges | Positions | None = None,
    no_levels: str = "",
    counted: bool = True,
) -> Explicit:
    """The model, exact and abbreviated; counted False leaves operations and significance out (they cost a second).

    An expression is a list of terms [numerator, denominator, constant, [[angle, power of cos, power of sin], ...]];
    power of sin -1 says that the angle is a slide, raised to the first power given.

    ranges: by default the limits of the description.
    """
    table = _Angles()
    ranges = ranges or positions(model)
    links = constant_links(model)
    exact = program(model).counts if counted else None
    data = {
        "coordinates": list(model.coordinates), "symbols": list(model.symbol_names), "turns": list(model.turns),
        "columns": [list(pair) for pair in model.b_columns],
        "constants": [
            {
                "name": c.name, "kind": c.kind, "formula": c.formula, "value": _finite(c.value),
                "parts": [[name, *_ratio(v)] for name, v in c.parts], "links": links[c.name],
            }
            for c in model.constants
        ],
        "names": sorted({a.name for a in model.atoms.atoms if a.formula.op == "name"}),
        "levels": [_exact(model, table, exact), *(_level(level, table) for level in levels)],
        "significance": _shares(model, ranges) if counted else {},
        "ranges": _limits(ranges),
    }  # fmt: skip
    data["angles"] = [list(angle) for angle in table.angles]
    report = model.christoffel
    summary = (
        ("Constants", f"{len(model.inertia_constants)} of inertia, {model.rank} of them independent; "
                      f"{len(model.gravity_constants)} of gravity"),
        ("Velocity coefficients", f"{report.total} Christoffel symbols, {report.zero} of them zero; "
                                  f"{report.unique} unique"),
        *(("Dependence", text) for text in model.shown_dependences),
    )  # fmt: skip
    reduction = tuple((name, f"{n} fewer") for name, n in report.removed.items())
    rules = {"certified": "certified", "paper": "by the paper's rule"}
    short = [(f"explicit model, {100 * x.tolerance:g} % {rules[x.rule]}", x.counts) for x in levels]
    counts = (*([("explicit model", exact)] if exact else []), *short)
    return Explicit(data, summary, reduction, model.notes, len(levels), "", no_levels, counts)


class _Angles:
    """Places of angles in one table."""

    def __init__(self) -> None:
        self.angles: list[tuple[int, ...]] = []
        self._place: dict[tuple[int, ...], int] = {}

    def __call__(self, angle: tuple[int, ...]) -> int:
        if angle not in self._place:
            self._place[angle] = len(self.angles)
            self.angles.append(angle)
        return self._place[angle]

    def terms(self, expression: Expression) -> Json:
        return [[*_ratio(t.ratio), t.constant, [[self(a), c, s] for a, c, s in t.factors]] for t in expression]


def _exact(model: ExplicitModel, table: _Angles, found: OperationCounts | None) -> Json:
    elements, counts = _elements(model, table), found.as_dict() if found else None
    return {"rule": "exact", "tolerance": 0.0, "counts": counts, "certificates": [], "elements": elements}


def _level(level: Abbreviated, table: _Angles) -> Json:
    return {
        "rule": level.rule, "tolerance": level.tolerance, "counts": level.counts.as_dict(),
        "dropped": len(level.dropped),
        "certificates": [
            {"joint": c.joint, "bound": c.bound, "reference": c.reference, "share": c.share, "ranges": c.ranges,
             "method": c.method}
            for c in level.certificates
        ],
        "elements": _elements(level.model, table),
    }  # fmt: skip


def _elements(model: ExplicitModel, table: _Angles) -> Json:
    """Elements that are not zero as [matrix, row, column, terms]; of a symmetric A the upper triangle."""
    n = model.n
    symmetric = all(model.A[i][j] == model.A[j][i] for i in range(n) for j in range(i))
    cells: Iterable[tuple[str, int, int, Expression]] = (
        *(("A", i, j, model.A[i][j]) for i in range(n) for j in range(i if symmetric else 0, n)),
        *(("B", i, k, e) for i, row in enumerate(model.B) for k, e in enumerate(row)),
        *(("C", i, j, e) for i, row in enumerate(model.C) for j, e in enumerate(row)),
        *(("g", i, 0, e) for i, e in enumerate(model.g)),
    )
    return [[m, i, j, table.terms(e)] for m, i, j, e in cells if e]


def _shares(model: ExplicitModel, ranges: Ranges | Positions) -> Json:
    """By element "A,i,j": for each term its greatest value, as a share of the greatest of the element and as it is."""
    result: dict[str, list[list[float | None]]] = {}
    if model.parameters:
        return result
    for s in significance(model, ranges):
        row = [_rounded(s.share), _rounded(s.greatest)]
        result.setdefault(f"{s.matrix},{s.row},{s.column}", []).append(row)
    return result


def _limits(ranges: Ranges | Positions) -> Json:
    """Ends of the maps; a slide without a range is drawn within 1 m to each side."""
    ends = {"lower": (ranges.lower, -1.0), "upper": (ranges.upper, 1.0)}
    return {name: [x if math.isfinite(x) else drawn for x in values] for name, (values, drawn) in ends.items()}


def _rounded(x: float) -> float | None:
    return float(f"{x:.3g}") if math.isfinite(x) else None


def _finite(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None


def _ratio(x: Fraction) -> list[int]:
    return [x.numerator, x.denominator]


def constant_links(model: ExplicitModel) -> dict[str, list[str]]:
    """For each constant the links whose mass or inertia is in it."""
    owner = _owners(model.mechanism)
    result: dict[str, list[str]] = {}
    for c in model.constants:
        if c.parts:
            found = [link for name, _ in c.parts for link in result.get(name, [])]
        else:
            found = [owner[name] for name in re.findall(r"[^\W\d]\w*", c.formula) if name in owner]
        result[c.name] = [link for link in dict.fromkeys(found)]
    return result


def _owners(mechanism: Mechanism) -> dict[str, str]:
    """Inertial parameter -> link: by the description's own names, else m2, rx2, Ixx2 by place in the tree."""
    result: dict[str, str] = {}
    tree = build_tree(mechanism, find_coordinates(mechanism))
    for k, node in enumerate(tree.nodes, 1):
        label = " + ".join(at.link for at in node.links)
        result |= {f"{stem}{k}": label for stem in STEMS}
    for link in mechanism.links:
        if link.inertia is not None:
            result |= {name: link.name for name in _names(link.inertia)}
    for joint in mechanism.joints:
        if joint.rotor is not None and isinstance(joint.rotor.inertia, Formula):
            result |= {name: f"motor of {joint.name}" for name in joint.rotor.inertia.names()}
    return result


def _names(inertia: Inertia) -> set[str]:
    scalars = (inertia.mass, *inertia.com, *inertia.moments)
    return {name for s in scalars if isinstance(s, Formula) for name in s.names()}
