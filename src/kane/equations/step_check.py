"""A hand derivation compared with the steps of Kane's method, entry by entry and term by term."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kane.equations.projection import Equations
from kane.equations.step_tables import AXES, Steps, expression, terms_of
from kane.equations.terms import Terms, TooLongError
from kane.errors import UnknownNameError
from kane.graph.arena import Ref
from kane.graph.derivative import forward
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.points import Mixed
from kane.mechanism.basis import FrameVector, label
from kane.mechanism.model import Axis


@dataclass(frozen=True, slots=True)
class Comparison:
    """A hand-derived entry against ours: `missing` terms are ours only, `extra` theirs only; both empty when equal."""

    name: str
    equal: bool
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.equal:
            return f"{self.name}: right."
        parts = [f"missing {', '.join(self.missing)}"] if self.missing else []
        parts += [f"wrong {', '.join(self.extra)}"] if self.extra else []
        return f"{self.name}: {'; '.join(parts) or 'different'}."


def check_steps(steps: Steps, entries: Mapping[str, str | FrameVector]) -> tuple[Comparison, ...]:
    """Compare hand-derived entries with ours, term by term.

    entries: name of an entry ("v_P2", "v_P2_1" for a partial velocity, "F*_1", "equation_2") -> text such as "L*u1*a2
    + L*(u1 + u2)*b2" or "-m*L**2*(...)"; rates of speeds are written u1' or u1_dot, multipliers lambda1.  Equations in
    the independent speeds may contain the dependent ones.
    """
    return tuple(_compare(steps, name, text) for name, text in entries.items())


def _compare(steps: Steps, name: str, text: str | FrameVector) -> Comparison:
    e = steps.equations
    p, t = e.points, terms_of(e)
    ours = _entry(steps, name)
    if not isinstance(ours, dict):
        theirs = expression(e, str(text), multipliers(steps))
        if steps.held is not None and steps.held.embedded is not None and _in_independent(name):
            (theirs,) = steps.held.embedded.embedded([theirs])  # speeds that depend may be written by their names
        return _difference(name, t, {"": ours}, {"": theirs})
    if isinstance(text, FrameVector):
        vector = e.measures.vector(text)
    else:
        vector = _vector(e, text)
    ours_in = {label(p.axes[k].name, a): part[a] for k, part in ours.items() for a in (0, 1, 2)}
    theirs_in = {label(p.axes[k].name, a): part[a] for k, part in vector.items() for a in (0, 1, 2)}
    same = all(x < 2 for x in pt.gather(p, pt.mixed_add(p, ours, pt.mixed_neg(vector)), 0))
    result = _difference(name, t, ours_in, theirs_in)
    return Comparison(name, True) if same else result if not result.equal else Comparison(name, False)


def multipliers(steps: Steps) -> dict[str, Ref]:
    """The multipliers of constraints by their printed names."""
    h = steps.held
    return dict(zip(h.multiplier_names, h.multipliers, strict=True)) if h is not None else {}


def _in_independent(name: str) -> bool:
    return name.startswith(("equation_", "F~"))


def _entry(steps: Steps, name: str) -> Ref | Mixed:
    partials = steps.partial_velocities.values
    known = {key: value for step in steps if step is not steps.partial_velocities for key, value in step.values.items()}
    known = steps.velocities.values | known  # a point P_1 has the velocity v_P_1, a point P only a partial one
    for key, table in partials.items():
        assert isinstance(table, list)
        for k, value in enumerate(table):
            known.setdefault(f"{key}_{k + 1}", value)
    if name not in known:
        raise UnknownNameError(f"There is no entry {name!r}; there are: {', '.join(known)}.", name=name)
    found = known[name]
    assert not isinstance(found, list)
    return found


def _difference(name: str, t: Terms, ours: Mapping[str, Ref], theirs: Mapping[str, Ref]) -> Comparison:
    g = t.graph
    missing: list[str] = []
    extra: list[str] = []
    for axis in dict.fromkeys([*ours, *theirs]):
        a, b = ours.get(axis, 0), theirs.get(axis, 0)
        if g.sub(a, b) < 2:
            continue
        suffix = f" {axis}" if axis else ""
        try:
            left, right = t.expand(a), t.expand(b)
        except TooLongError:
            missing.append(t.text(g.sub(a, b)) + suffix)
            continue
        missing += [t._term(m, c) + suffix for m, c in left.items() if right.get(m) != c]
        extra += [t._term(m, c) + suffix for m, c in right.items() if left.get(m) != c]
    return Comparison(name, not missing and not extra, tuple(missing), tuple(extra))


def _vector(e: Equations, text: str) -> Mixed:
    """A vector written as a formula linear in basis vectors."""
    p, g = e.points, e.graph
    bases: dict[str, Ref] = {}
    where: dict[str, tuple[int, Axis]] = {}
    scalars = {*p.symbols.by_name, *p.coordinates.speeds, *(q.name for q in p.mechanism.parameters)}
    for n in p.place:
        for axis in AXES:
            key = label(n, axis)
            if key in scalars:
                continue
            if re.search(rf"\b{re.escape(key)}\b", text) and key not in bases:
                bases[key] = g.symbol(f"basis vector {key}")
                where[key] = (p.axes_of(n), axis)
    ref = expression(e, text, bases)
    total: Mixed = {}
    for key, symbol in bases.items():
        (c,) = forward(g, [ref], {symbol: g.one})
        k, axis = where[key]
        total = pt.mixed_add(p, total, {k: v.scale(g, c, v.unit(axis))})
    return total
