"""Steps 2 and 8 of Kane's method for a mechanism with constraints: the conditions, and the equations that then hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kane.equations.conditions import Embedded
from kane.equations.held import Held, with_multipliers
from kane.equations.projection import Equations
from kane.equations.step_tables import Step, Value, equals, sum_text
from kane.equations.terms import Terms
from kane.graph.arena import Ref

Rows = list[tuple[str, ...]]


def condition_rows(e: Equations, held: Held, t: Terms) -> tuple[Rows, dict[str, Value]]:
    """Rows (what, equation) of step 2: configuration constraints, motion constraints, dependent speeds and their rates.

    Values: "configuration_i" and "constraint_i" by the condition's number, u_s and its rate by name.
    """
    c, x, s = held.conditions, held.embedded, e.points.symbols
    rows: Rows = []
    values: dict[str, Value] = {}
    for i, (name, value, rate) in enumerate(zip(c.names, c.values, c.rates, strict=True)):
        note = " (follows from the others)" if name in held.redundant else ""
        if value is not None:
            rows.append((f"{name}{note}", equals(t.text(value), "0")))
            values[f"configuration_{i + 1}"] = value
        rows.append((f"{name}, its rate" if value is not None else f"{name}{note}", equals(t.text(rate), "0")))
        values[f"constraint_{i + 1}"] = rate
    for names, refs in ((s.names_u, x.speeds), (s.names_udot, x.rates)) if x is not None else ():
        for k in x.dependent if x is not None else ():
            rows.append(("dependent", f"{names[k]} = {t.text(refs[k])}"))
            values[names[k]] = refs[k]
    return rows, values


def kane_step(e: Equations, held: Held | None, parts: Sequence[Sequence[Ref]], t: Terms) -> Step:
    """Step 8.  parts: of loads and bodies (n each), whose sum is F_r + F*_r."""
    if held is None:
        rows = tuple((_zero(t, x, [p[r] for p in parts]),) for r, x in enumerate(e.residual))
        return Step(8, "Kane's equations F_r + F*_r = 0", ("",), rows, _numbered(dict(enumerate(e.residual))))
    x = held.embedded
    return _with_multipliers(e, held, parts, t) if x is None else _eliminated(e, x, parts, t)


def _eliminated(e: Equations, x: Embedded, parts: Sequence[Sequence[Ref]], t: Terms) -> Step:
    shares = [x.combined(p) for p in parts]
    rows = tuple(
        (f"r = {r + 1}", _zero(t, whole, [p[k] for p in shares]))
        for k, (r, whole) in enumerate(zip(x.independent, x.residual, strict=True))
    )
    values = _numbered(dict(zip(x.independent, x.residual, strict=True)))
    for head, forces in (("F~", e.active), ("F~*", e.inertia)):
        combined = x.combined(forces)
        values |= {f"{head}_{r + 1}": own for r, own in zip(x.independent, combined, strict=True)}
    title = "Kane's equations F~_r + F~*_r = 0 of the independent speeds, with F~_r = F_r + sum of A_sr F_s"
    return Step(8, title, ("", ""), rows, values)


def _with_multipliers(e: Equations, held: Held, parts: Sequence[Sequence[Ref]], t: Terms) -> Step:
    g, names = e.graph, held.conditions.names
    shares = [[g.mul(m, held.conditions.jacobian[i][r]) for r in range(len(e.inertia))]
              for i, m in zip(held.kept, held.multipliers, strict=True)]  # fmt: skip
    whole = with_multipliers(e, held)
    rows = [(f"r = {r + 1}", _zero(t, y, [p[r] for p in (*parts, *shares)])) for r, y in enumerate(whole)]
    values = _numbered(dict(enumerate(whole)))
    for i, multiplier, slow in zip(held.kept, held.multiplier_names, held.slow, strict=True):
        rows.append((f"{names[i]} ({multiplier})", equals(t.text(slow), "0")))
        values[f"constraint_{i + 1}_dot"] = slow
    title = "Kane's equations F_r + F*_r + sum of lambda_i A_ir = 0, with the rates of the constraints"
    return Step(8, title, ("", ""), tuple(rows), values)


def _numbered(refs: Mapping[int, Ref]) -> dict[str, Value]:
    return {f"equation_{r + 1}": x for r, x in refs.items()}


def _zero(t: Terms, total: Ref, parts: Sequence[Ref]) -> str:
    return equals(sum_text(t, total, parts), "0")
