"""An explicit model to read: its elements as text, a page of equations, and the JSON form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from math import gcd, lcm
from typing import Any

from kane.explicit.abbreviate import Abbreviated
from kane.explicit.angles import Angle
from kane.explicit.bodies import MOMENTS
from kane.explicit.forms import Product
from kane.explicit.lumping import Constant, Expression, Term
from kane.explicit.model import ExplicitModel
from kane.graph.program import OperationCounts
from kane.kinematics.coordinates import find_coordinates
from kane.kinematics.tree import build_tree


def element_text(model: ExplicitModel, expression: Expression, short: bool = False) -> str:
    """An element in the constants, terms of one constant together: I4*sin(q2) + I8*cos(q2+q3).

    short: I4*s2 + I8*c23.
    """
    parts: list[str] = []
    for _, group in groupby(expression, key=lambda t: t.constant):
        parts.append(_constant_part(model, list(group), short))
    return _joined(parts) or "0"


def _joined(parts: Sequence[str]) -> str:
    text = ""
    for part in parts:
        sign, body = ("-", part[1:]) if part.startswith("-") else ("+", part)
        text += (f" {sign} {body}" if text else part) if body else ""
    return text


def _constant_part(model: ExplicitModel, terms: list[Term], short: bool) -> str:
    """ratio * constant * common * (sum)."""
    name = model.constants[terms[0].constant].name
    scale = _content([t.ratio for t in terms])
    common = _common([t.factors for t in terms])
    outside = [*([] if abs(scale) == 1 else [_number(abs(scale))]), name, *_product(model, common, short)]
    head = ("-" if scale < 0 else "") + "*".join(outside)
    if len(terms) == 1:
        return head
    inner = []
    for t in terms:
        rest = _product(model, _without(t.factors, common), short)
        ratio = t.ratio / scale
        body = "*".join([*([] if abs(ratio) == 1 and rest else [_number(abs(ratio))]), *rest])
        inner.append(("-" if ratio < 0 else "") + body)
    inner.sort(key=lambda part: part.startswith("-"))
    return f"{head}*({_joined(inner)})"


def _content(ratios: Sequence[Fraction]) -> Fraction:
    """The greatest number all ratios are whole multiples of; negative when all are."""
    denominator = lcm(*(r.denominator for r in ratios))
    numerator = gcd(*(r.numerator * (denominator // r.denominator) for r in ratios))
    return Fraction(numerator, denominator) * (-1 if all(r < 0 for r in ratios) else 1)


def _common(products: Sequence[Product]) -> Product:
    result = []
    for angle, _, s in products[0]:
        powers = [next(((x, y) for a, x, y in p if a == angle), (0, 0)) for p in products]
        least_c, least_s = min(x for x, _ in powers), min(y for _, y in powers)
        if least_c or least_s > 0:
            result.append((angle, least_c, s if s < 0 else least_s))
    return tuple(result)


def _without(factors: Product, common: Product) -> Product:
    table = {angle: (c, s) for angle, c, s in common}
    rest = []
    for angle, c, s in factors:
        less_c, less_s = table.get(angle, (0, 0))
        power = (angle, c - less_c, s if s < 0 else s - less_s)
        if power[1] or power[2] > 0:
            rest.append(power)
    return tuple(rest)


def _product(model: ExplicitModel, factors: Product, short: bool) -> list[str]:
    result = []
    for angle, c, s in sorted(factors, key=lambda f: f[0], reverse=True):
        if s < 0:
            result.append(_power(_angle(model, angle), c))
            continue
        for letter, function, power in (("c", "cos", c), ("s", "sin", s)):
            if power:
                digits = _digits(model, angle) if short else None
                result.append(_power(f"{letter}{digits}" if digits else f"{function}({_angle(model, angle)})", power))
    return result


def _digits(model: ExplicitModel, angle: Angle) -> str | None:
    """23 for q2+q3, where coordinates are q1, q2, ..., q9."""
    names = [name for name, value in zip(model.symbol_names, angle, strict=True) if value]
    if any(value not in (0, 1) for value in angle) or any(len(n) != 2 or not n[1].isdigit() for n in names):
        return None
    return "".join(n[1] for n in names)


def _angle(model: ExplicitModel, angle: Angle) -> str:
    text = ""
    for name, value in zip(model.symbol_names, angle, strict=True):
        if value:
            size = "" if abs(value) == 1 else f"{abs(value)}*"
            text += f"{'-' if value < 0 else '+' if text else ''}{size}{name}"
    return text


def _power(text: str, power: int) -> str:
    return text if power == 1 else f"{text}**{power}"


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def columns_text(model: ExplicitModel) -> list[str]:
    """The columns of B: "qd1*qd2", ..."""
    rates = ["qd" + name.removeprefix("q") for name in model.symbol_names]
    return [f"{rates[j]}*{rates[k]}" for j, k in model.b_columns]


def _over_g(model: ExplicitModel, constant: Constant) -> float | None:
    """A gravity constant without the acceleration of gravity: kg m."""
    gravity = next((a.value for a in model.atoms.atoms if a.name == "g"), None)
    if constant.kind != "gravity" or constant.value is None or not gravity:
        return None
    return constant.value / gravity


def as_dict(model: ExplicitModel, counts: Mapping[str, OperationCounts] | None = None) -> dict[str, Any]:
    """The JSON form: constants, A, B, C, g as strings, the count of Christoffel symbols, dependences, notes."""

    def text(e: Expression) -> str:
        return element_text(model, e)

    return {
        "constants": [
            {
                "name": c.name,
                "kind": "gravity" if c.kind == "gravity" else "inertia",
                "formula": c.formula,
                "value": c.value,
                "value_over_g": _over_g(model, c),
                "combined": bool(c.parts),
                "rotor": c.kind == "rotor",
            }
            for c in model.constants
        ],
        "A": [[text(e) for e in row] for row in model.A],
        "B": [[text(e) for e in row] for row in model.B],
        "B_columns": columns_text(model),
        "C": [[text(e) for e in row] for row in model.C],
        "g": [text(e) for e in model.g],
        "christoffel": model.christoffel.as_dict(),
        "dependences": [str(d) for d in model.dependences],
        "rank": model.rank,
        "counts": {task: c.as_dict() for task, c in (counts or {}).items()},
        "notes": list(model.notes),
    }


def abbreviated_dict(short: Abbreviated) -> dict[str, Any]:
    """The JSON form of an abbreviated model: that of its model, with certificate and dropped terms."""
    model = short.model
    result = as_dict(model, {"inverse_dynamics": short.counts})
    result["rule"], result["tolerance"] = short.rule, short.tolerance
    result["certificate"] = [
        {name: getattr(c, name) for name in ("joint", "bound", "found", "reference", "share", "ranges", "method")}
        for c in short.certificates
    ]
    result["dropped"] = [
        {
            "element": element_name(model, s.matrix, s.row, s.column),
            "term": element_text(model, (s.term,)),
            "greatest": s.greatest,
            "share": s.share,
            "constant_share": s.constant_share if s.constant_share != float("inf") else None,
        }
        for s in short.dropped
    ]
    return result


def element_name(model: ExplicitModel, matrix: str, row: int, column: int) -> str:
    """A[1,2], B[1,23], C[3,1], g[2]: brackets, since c12 is cos(q1 + q2) and g2 a constant."""
    if matrix == "g":
        return f"g[{row + 1}]"
    if matrix == "B":
        j, k = model.b_columns[column]
        return f"B[{row + 1},{j + 1}{k + 1}]"
    return f"{matrix}[{row + 1},{column + 1}]"


def legend(model: ExplicitModel) -> list[str]:
    """Which joint each row is, and which links the numbers that this model named are of; no line for what is plain."""
    plain = all(name == f"q{k + 1}" for k, name in enumerate(model.symbol_names))
    rows = ", ".join(f"{k + 1} {name}" for k, name in enumerate(model.coordinates))
    own = {p.name for p in model.mechanism.parameters}
    named: dict[str, list[str]] = {"r": [], "h": []}
    used = {atom.name for atom in model.atoms.atoms} - own
    for k, node in enumerate(build_tree(model.mechanism, find_coordinates(model.mechanism)).nodes):
        links = "+".join(at.link for at in node.links if model.mechanism.link(at.link).inertia is not None)
        for kind, (first, moments) in {"r": ("r", "I"), "h": ("h", "J")}.items():
            wanted = {f"{first}{x}{k + 1}" for x in "xyz"} | {f"{moments}{m}{k + 1}" for m in MOMENTS}
            if wanted & used:
                named[kind].append(f"{k + 1} {links}")
    lines = [] if plain else [f"rows: {rows}"]
    if named["r"]:
        lines.append(f"links: {', '.join(named['r'])}: m mass, r mass centre, I moments about it, axes of the link")
    if named["h"]:
        lines.append(
            f"bodies: {', '.join(named['h'])}: m mass, h first moment, J moments about the origin, axes of the joint"
        )
    return lines


def page(model: ExplicitModel, short: bool = True) -> str:
    """A page of readable equations: the constants with formulas and values, then the elements that are not zero."""
    lines = [
        f"{model.name}: tau = A(q) qdd + B(q) [qd qd] + C(q) [qd^2] + g(q)",
        f"{len(model.inertia_constants)} inertial constants (rank {model.rank}), "
        f"{len(model.gravity_constants)} gravitational",
        "elements by row and column; c2 = cos(q2), s23 = sin(q2 + q3); B[i,jk] multiplies qd_j qd_k",
        *legend(model),
        "",
    ]
    for c in model.constants:
        value = "" if c.value is None else f" = {c.value:.6g}"
        lines.append(f"{c.name}{value}  [{c.formula}]")
    lines += model.shown_dependences
    lines.append("")
    for i in range(model.n):
        for j in range(i, model.n):
            lines += _line(model, "A", i, j, model.A[i][j], short)
    for i in range(model.n):
        for k in range(len(model.b_columns)):
            lines += _line(model, "B", i, k, model.B[i][k], short)
        for j in range(model.n):
            lines += _line(model, "C", i, j, model.C[i][j], short)
    for i in range(model.n):
        lines += _line(model, "g", i, 0, model.g[i], short)
    report = model.christoffel
    lines.append("")
    lines.append(
        f"Christoffel symbols: {report.total}, of these {report.zero} are zero; {report.unique} unique up to sign"
    )
    lines += [f"  {count} removed by {name}" for name, count in report.removed.items()]
    lines += [f"Note: {note}" for note in model.notes]
    return "\n".join(lines) + "\n"


def _line(model: ExplicitModel, matrix: str, i: int, j: int, e: Expression, short: bool) -> list[str]:
    return [f"{element_name(model, matrix, i, j)} = {element_text(model, e, short)}"] if e else []
