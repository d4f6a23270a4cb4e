"""Kane's method worked out step by step: each step a value to inspect and a table to print (Buffinton section 6.3).

1 preliminaries; 2 coordinates and speeds; 3 velocities and angular velocities; 4 partial velocities; 5 accelerations;
6 generalized inertia forces; 7 generalized active forces; 8 Kane's equations; then the activity
of each load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kane.equations.activity import activities
from kane.equations.applied import Applied, Push
from kane.equations.conditions import Embedded
from kane.equations.held import Held, hold
from kane.equations.projection import Equations, check_equations, inertia_torque, project
from kane.equations.step_check import Comparison as Comparison
from kane.equations.step_check import check_steps as check_steps
from kane.equations.step_conditions import condition_rows, kane_step
from kane.equations.step_tables import RATE, Step, Steps, Value, sum_text, vector_text
from kane.equations.step_tables import expression as expression
from kane.equations.step_tables import terms_of as terms_of
from kane.equations.terms import Terms
from kane.graph.arena import Ref
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.points import Mixed, Points
from kane.kinematics.walk import PlacedBody
from kane.mechanism import formula as f
from kane.mechanism.loads import ForcePair
from kane.mechanism.model import Joint, Translate


def work_out(
    e: Equations | Embedded,
    frames: Sequence[str] | None = None,
    points: Sequence[str] | None = None,
    materials: Mapping[str, tuple[str, str]] | None = None,
    abbreviations: Mapping[str, str] | None = None,
) -> Steps:
    """All steps of Kane's method; `frames` and `points`: names to tabulate, by default all that are declared and move.

    materials: printed name -> (point, body) for material points of bodies at places given by points; by default those
    on which force pairs act.  abbreviations: name -> formula, printed by its name wherever it occurs as a whole.

    Constraints stand in step 2.  Step 8 is in the independent speeds where dependent ones follow everywhere,
    and for conditions.embed(equations, dependent) in place of equations; otherwise it has multipliers.  Raises
    InputError for constraints that contradict each other.
    """
    chosen, e = (e, e.equations) if isinstance(e, Embedded) else (None, e)
    check_equations(e)
    held = hold(e, chosen)
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
    table = tuple(
        (f"r = {r + 1} ({t.names.get(speed, speed)})", *(vector_text(p, t, partial[n][r]) for n in partial))
        for r, speed in enumerate(p.symbols.names_u)
    )
    headers = ("", *(f"{n}_r" for n in partial))
    body_forces = {b.link: project(p, inertial_push(e, b)) for b in p.bodies}
    parts = [*e.contributions.values(), *body_forces.values()]
    return Steps(
        e,
        _preliminaries(e, t),
        _speeds(e, held, t),
        Step(3, "Velocities and angular velocities", ("", ""), _vectors(p, t, motion), dict(motion)),
        Step(4, "Partial velocities and partial angular velocities", headers, table, dict(partial)),
        Step(5, "Accelerations and angular accelerations", ("", ""), _vectors(p, t, alpha | acc), dict(alpha | acc)),
        _forces(6, "Generalized inertia forces", "F*", e.inertia, body_forces, t),
        _forces(7, "Generalized active forces", "F", e.active, e.contributions, t),
        kane_step(e, held, parts, t),
        _activity(e, t),
        held,
        dict(abbreviations or {}),
    )


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


def _speeds(e: Equations, held: Held | None, t: Terms) -> Step:
    s, m = e.points.symbols, e.points.mechanism
    rows: list[tuple[str, ...]] = [(f"{d.name} = {f.scalar_text(d.definition)}",) for d in m.speeds]
    for name, text in {name: t.text(rate) for name, rate in s.rates.items()}.items():
        rows.append((f"{name}_dot = {text}" if text != f"{name}_dot" else f"{text}{RATE}{name}",))
    values: dict[str, Value] = {f"{name}_dot": rate for name, rate in s.rates.items()}
    if held is None:
        headers: tuple[str, ...] = ("definition and kinematic equations",)
        return Step(2, "Generalized coordinates and speeds", headers, tuple(rows), values)
    found, more = condition_rows(e, held, t)
    headers = ("", "definitions, kinematic equations, constraints")
    shown = (*(("", *row) for row in rows), *found)
    return Step(2, "Generalized coordinates and speeds, constraints", headers, shown, more | values)


def _forces(
    number: int, title: str, symbol: str, total: Sequence[Ref], parts: Mapping[str, Sequence[Ref]], t: Terms
) -> Step:
    values: dict[str, Value] = {f"{symbol}_{r + 1}": x for r, x in enumerate(total)}
    rows = [(f"{symbol}_{r + 1} =", "", sum_text(t, x, [p[r] for p in parts.values()])) for r, x in enumerate(total)]
    for n, forces in parts.items():
        for r, x in enumerate(forces):
            if x > 1 and len(parts) > 1:
                rows.append((f"  {symbol}_{r + 1}", f"from {n}:", t.text(x)))
                values[f"{symbol}_{r + 1} of {n}"] = x
    return Step(number, title, ("", "", ""), tuple(rows), values)


def _activity(e: Equations, t: Terms) -> Step:
    powers = activities(e)
    rows = tuple((name, t.text(x) if x > 1 else "0: does no work") for name, x in powers.items())
    return Step(
        9, "Activity of each load", ("load", "power"), rows, {f"activity of {n}": x for n, x in powers.items()}
    )
