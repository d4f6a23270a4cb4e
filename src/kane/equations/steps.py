"""Kane's method worked out step by step: each step a value to inspect and a table to print (Buffinton section 6.3).

1 preliminaries; 2 coordinates and speeds; 3 velocities and angular velocities; 4 partial velocities; 5 accelerations;
6 generalized inertia forces; 7 generalized active forces; 8 Kane's equations; then the activity
of each load.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kane.equations.activity import activities
from kane.equations.applied import Applied, Push
from kane.equations.projection import Equations, inertia_torque, project
from kane.equations.terms import Terms, TooLongError, text_factors
from kane.errors import UnknownNameError
from kane.graph.arena import Ref
from kane.graph.derivative import forward
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.points import Mixed, Points
from kane.kinematics.walk import PlacedBody
from kane.mechanism import formula as f
from kane.mechanism.basis import FrameVector, label
from kane.mechanism.loads import ForcePair
from kane.mechanism.model import Axis, Joint, Translate

AXES: tuple[Axis, Axis, Axis] = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a table of texts under headers, and values by name.

    A value is a reference, a vector (components by axes), or a list of those.
    """

    number: int
    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    values: dict[str, Ref | Mixed | list[Mixed]]

    def __str__(self) -> str:
        widths = [max(len(row[k]) for row in (self.headers, *self.rows)) for k in range(len(self.headers))]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in (self.headers, *self.rows)
        ]
        return "\n".join([f"{self.number}. {self.title}", *(f"   {line}" for line in lines)])


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of Kane's method for one mechanism; str() prints all tables."""

    equations: Equations
    preliminaries: Step
    speeds: Step
    velocities: Step
    partial_velocities: Step
    accelerations: Step
    inertia_forces: Step
    active_forces: Step
    kane: Step
    activity: Step

    def __iter__(self) -> Iterator[Step]:
        return iter((self.preliminaries, self.speeds, self.velocities, self.partial_velocities, self.accelerations,
                     self.inertia_forces, self.active_forces, self.kane, self.activity))  # fmt: skip

    def __str__(self) -> str:
        return "\n\n".join(str(step) for step in self)

    def value(self, name: str) -> Ref | Mixed | list[Mixed]:
        """The value of an entry by its printed name: "v_P1", "w_B", "a_P2", "F*_1", "F_2", "equation_1"."""
        for step in self:
            if name in step.values:
                return step.values[name]
        known = ", ".join(key for step in self for key in step.values)
        raise UnknownNameError(f"There is no entry {name!r}; there are: {known}.", name=name)


def work_out(
    e: Equations,
    frames: Sequence[str] | None = None,
    points: Sequence[str] | None = None,
    materials: Mapping[str, tuple[str, str]] | None = None,
    abbreviations: Mapping[str, str] | None = None,
) -> Steps:
    """All steps of Kane's method; `frames` and `points`: names to tabulate, by default all that are declared and move.

    materials: printed name -> (point, body) for material points of bodies at places given by points; by default those
    on which force pairs act.  abbreviations: name -> formula, printed by its name wherever it occurs as a whole.
    """
    p = e.points
    frames = _frames(p) if frames is None else tuple(frames)
    places = _points(p) if points is None else {n: p.station(n) for n in points}
    t = terms_of(e, abbreviations or {})
    w = {f"w_{n}": _one(p, p.axes_of(n), p.axes[p.axes_of(n)].w) for n in frames}
    vel = {f"v_{n}": pt.velocity(p, k) for n, k in places.items()}
    pairs = _pairs(e) if materials is None else materials
    matter = {f"v_{n}": pt.material_velocity(p, p.station(b), p.station(a)) for n, (a, b) in pairs.items()}
    motion = w | vel | matter
    alpha = {f"alpha_{n}": _one(p, p.axes_of(n), e.accelerations.alpha[p.axes_of(n)]) for n in frames}
    acc = {f"a_{n}": pt.derivative_in_n(p, vel[f"v_{n}"]) for n in places}
    partial = {name: pt.partials(p, value) for name, value in motion.items()}
    speeds = p.coordinates.speeds
    table = tuple(
        (f"r = {r + 1} ({speed})", *(vector_text(p, t, partial[n][r]) for n in partial))
        for r, speed in enumerate(speeds)
    )
    headers = ("", *(f"{n}_r" for n in partial))
    body_forces = {b.link: project(p, inertial_push(e, b)) for b in p.bodies}
    return Steps(
        e,
        _preliminaries(e, t),
        _speeds(e, t),
        Step(3, "Velocities and angular velocities", ("", ""), _vectors(p, t, motion), dict(motion)),
        Step(4, "Partial velocities and partial angular velocities", headers, table, dict(partial)),
        Step(5, "Accelerations and angular accelerations", ("", ""), _vectors(p, t, alpha | acc), dict(alpha | acc)),
        _forces(6, "Generalized inertia forces", "F*", e.inertia, body_forces, t),
        _forces(7, "Generalized active forces", "F", e.active, e.contributions, t),
        _kane(e, t),
        _activity(e, t),
    )


def terms_of(e: Equations, abbreviations: Mapping[str, str] | None = None) -> Terms:
    """The printer of an equations' expressions: rates of speeds, then speeds, come first."""
    s = e.points.symbols
    short = {name: expression(e, text) for name, text in (abbreviations or {}).items()}
    return Terms(e.graph, (*s.names_udot, *s.names_u), {ref >> 1: (name, ref & 1) for name, ref in short.items()})


def vector_text(p: Points, t: Terms, vector: Mapping[int, v.Vec]) -> str:
    """A vector in named bases: L*u1 a2 + L*(u1 + u2) b2."""
    parts = []
    coefficients = {c for part in vector.values() for c in part if c > 1}
    names = [label(p.axes[k].name, a) for k, part in vector.items() for a in (0, 1, 2) if part[a] > 1]
    if len(names) > 1 and len(coefficients) == 1 and 2 not in coefficients:
        text = t.text(coefficients.pop())
        return f"{text} ({' + '.join(names)})" if len(text_factors(text)) == 1 else f"({text}) ({' + '.join(names)})"
    for k, components in vector.items():
        for axis, c in zip((0, 1, 2), components, strict=True):
            if c > 1:
                text = t.text(c)
                name = label(p.axes[k].name, axis)
                plain = len(text_factors(text)) == 1
                parts.append(
                    {"1": name, "-1": f"-{name}"}.get(text, f"{text} {name}" if plain else f"({text}) {name}")
                )
    return " + ".join(parts).replace("+ -", "- ") or "0"


def _one(p: Points, axes: int, components: v.Vec) -> Mixed:
    return pt.mixed_add(p, {axes: components})


def _frames(p: Points) -> tuple[str, ...]:
    """Links that are frames: placed without a translation, or with axes named after them."""
    joints = {joint.child: joint for joint in p.mechanism.joints}
    names = [n for n in joints if p.axes[p.axes_of(n)].name == n or _only_turned(joints[n])]
    return tuple(n for n in names if p.axes_of(n))


def _pairs(e: Equations) -> dict[str, tuple[str, str]]:
    """Material points on which force pairs act and that do not move as the point that names their place does."""
    p = e.points
    result = {}
    for load in p.mechanism.loads:
        if isinstance(load, ForcePair):
            for body in (load.body, load.reaction):
                k = p.station(load.point)
                slip = pt.mixed_add(p, pt.velocity(p, k), pt.mixed_neg(pt.material_velocity(p, p.station(body), k)))
                if any(x > 1 for x in pt.gather(p, slip, 0)):
                    result[f"{load.point}^{body}"] = (load.point, body)
    return result


def _only_turned(joint: Joint) -> bool:
    return joint.type == "general" and not any(isinstance(move, Translate) for move in joint.moves)


def _points(p: Points) -> dict[str, int]:
    """Links that are points, and the mass centres B* of bodies that have no link of their own there."""
    joints = {joint.child: joint for joint in p.mechanism.joints}
    frames = set(_frames(p))
    result = {n: p.station(n) for n in joints if n not in frames and not _only_turned(joints[n])}
    taken = set(result.values())
    result |= {f"{b.link}*": b.station for b in p.bodies if b.station not in taken}
    velocities = pt.velocities(p)
    return {n: k for n, k in result.items() if max(velocities[k]) > 1}


def _vectors(p: Points, t: Terms, values: Mapping[str, Mixed]) -> tuple[tuple[str, ...], ...]:
    return tuple((f"{name} =", vector_text(p, t, value)) for name, value in values.items())


def inertial_push(e: Equations, body: PlacedBody) -> Applied:
    g, p = e.graph, e.points
    axes = p.stations[body.station].held
    force = v.scale(g, g.neg(body.mass), e.accelerations.acc[body.station])
    torque = v.neg(inertia_torque(p, e.accelerations, body))
    return [Push(body.link, body.station, {axes: force}, body.axes, {body.axes: torque})]


def _preliminaries(e: Equations, t: Terms) -> Step:
    p = e.points
    rows = []
    for b in p.bodies:
        moments = ", ".join(
            f"{n} = {t.text(x)}"
            for n, x in zip(("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"), b.moments, strict=True)
            if x > 1
        )
        place = vector_text(p, t, pt.position(p, b.station))
        rows.append((b.link, t.text(b.mass), place, moments or "particle"))
    return Step(
        1, "Preliminaries", ("body", "mass", "mass centre from the origin", "inertia about it"), tuple(rows), {}
    )


def _speeds(e: Equations, t: Terms) -> Step:
    s, m = e.points.symbols, e.points.mechanism
    rows = [(f"{d.name} = {f.scalar_text(d.definition)}",) for d in m.speeds]
    rows += [(f"{name}_dot = {t.text(rate)}",) for name, rate in s.rates.items()]
    values: dict[str, Ref | Mixed | list[Mixed]] = {f"{name}_dot": rate for name, rate in s.rates.items()}
    return Step(2, "Generalized coordinates and speeds", ("definition and kinematic equations",), tuple(rows), values)


def _forces(
    number: int, title: str, symbol: str, total: Sequence[Ref], parts: Mapping[str, Sequence[Ref]], t: Terms
) -> Step:
    values: dict[str, Ref | Mixed | list[Mixed]] = {f"{symbol}_{r + 1}": x for r, x in enumerate(total)}
    rows = [(f"{symbol}_{r + 1} =", "", _sum_text(t, x, [p[r] for p in parts.values()])) for r, x in enumerate(total)]
    for n, forces in parts.items():
        for r, x in enumerate(forces):
            if x > 1 and len(parts) > 1:
                rows.append((f"  {symbol}_{r + 1}", f"from {n}:", t.text(x)))
                values[f"{symbol}_{r + 1} of {n}"] = x
    return Step(number, title, ("", "", ""), tuple(rows), values)


def _sum_text(t: Terms, total: Ref, parts: Sequence[Ref]) -> str:
    """A total as one formula, or as the sum of its parts' formulas where that is shorter."""
    whole = t.text(total)
    parts = [x for x in parts if x > 1]
    if len(parts) < 2 or t.graph.sub(t.graph.sum(parts), total) > 1:
        return whole
    apart = " + ".join(t.text(x) for x in parts).replace("+ -", "- ")
    return apart if len(apart) < len(whole) else whole


def _kane(e: Equations, t: Terms) -> Step:
    inertia = [project(e.points, inertial_push(e, b)) for b in e.points.bodies]
    parts = [*e.contributions.values(), *inertia]
    rows = tuple((f"{_sum_text(t, x, [p[r] for p in parts])} = 0",) for r, x in enumerate(e.residual))
    return Step(
        8, "Kane's equations F_r + F*_r = 0", ("",), rows, {f"equation_{r + 1}": x for r, x in enumerate(e.residual)}
    )


def _activity(e: Equations, t: Terms) -> Step:
    powers = activities(e)
    rows = tuple((name, t.text(x) if x > 1 else "0: does no work") for name, x in powers.items())
    return Step(
        9, "Activity of each load", ("load", "power"), rows, {f"activity of {n}": x for n, x in powers.items()}
    )


# comparing with a hand derivation


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
    + L*(u1 + u2)*b2" or "-m*L**2*(...)"; rates of speeds are written u1' or u1_dot.
    """
    return tuple(_compare(steps, name, text) for name, text in entries.items())


def _compare(steps: Steps, name: str, text: str | FrameVector) -> Comparison:
    e = steps.equations
    g, p, t = e.graph, e.points, terms_of(e)
    ours = _entry(steps, name)
    if not isinstance(ours, dict):
        theirs = expression(e, str(text))
        return _difference(name, t, {"": ours}, {"": theirs})
    if isinstance(text, FrameVector):
        vector = e.measures.vector(text)
    else:
        vector = _vector(e, text)
    ours_in = {label(p.axes[k].name, a): part[a] for k, part in ours.items() for a in (0, 1, 2)}
    theirs_in = {label(p.axes[k].name, a): part[a] for k, part in vector.items() for a in (0, 1, 2)}
    same = all(x < 2 for x in pt.gather(p, pt.mixed_add(p, ours, pt.mixed_neg(vector)), 0))
    result = _difference(name, t, ours_in, theirs_in)
    return Comparison(name, True) if same else result if not result.equal else Comparison(name, g.zero == 1)


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


def expression(e: Equations, text: str, bases: Mapping[str, Ref] | None = None) -> Ref:
    """The reference of a formula written as text.

    Names of the mechanism; u1' or u1_dot for rates of speeds (q1_ddot where q1_dot is the speed).
    """
    s, c = e.points.symbols, e.points.coordinates
    second = {n: f"{n}_ddot" if n in c.names else f"{n}_dot" for n in c.speeds}
    rates = {second[n]: a for n, a in zip(c.speeds, s.udot, strict=True)}
    rates |= dict(zip((*s.names_u, *s.names_udot), (*s.u, *s.udot), strict=True))  # as they are printed

    def name(n: str) -> Ref:
        if bases and n in bases:
            return bases[n]
        return rates[n] if n in rates else e.measures.scalar(f.name(n))

    return f.build(f.parse(re.sub(r"(\w)'", r"\1_dot", text)), e.graph, name)


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
