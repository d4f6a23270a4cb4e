"""Models of declared systems: Kane's equations by projection, loads of every kind, constraints, prescribed motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kane.equations.activity import activities, gravity_energy, inertia_activity, kinetic_energy
from kane.equations.conditions import Conditions, find_conditions
from kane.equations.joint_loads import joint_motions, on_speeds
from kane.equations.projection import Equations, bias, kane_equations, mass_matrix
from kane.graph.arena import Graph, Ref
from kane.graph.derivative import forward, gradient
from kane.graph.program import Input, Program, build_program, needed
from kane.kinematics import points as pt
from kane.kinematics.coordinates import symbol_name
from kane.kinematics.linear import solve_symmetric
from kane.kinematics.motion import substitute
from kane.mechanism import loads as ld
from kane.mechanism.beams import Beam
from kane.mechanism.model import Mechanism
from kane.native.function import NativeFunction, compile_program
from kane.simulation.constraints import Constraints, Places
from kane.simulation.contacts import contact_forces
from kane.simulation.model import Extra, Layout, Model, smooth_sign

WORKS = ("work_of_actuators", "work_of_loads", "work_of_motions")


@dataclass(frozen=True, slots=True)
class _Parts:
    """Generalized forces and powers: force (n,) all but inertia; powers of actuators, loads, motions; energies."""

    force: tuple[Ref, ...]
    powers: tuple[Ref, Ref, Ref]
    kinetic: Ref
    potential: Ref


def declared_model(mechanism: Mechanism, extra: Extra, cache: bool) -> Model:
    """The model of a mechanism with loads, constraints or speeds of its own.

    Inputs are the declared ones; without any, one generalized force for every speed.
    """
    e = kane_equations(mechanism, parameters=())
    layout = declared_layout(e)
    parts = _parts(e, layout, extra)
    conditions = find_conditions(e)
    g, s = e.graph, e.points.symbols
    qdot = [s.rates[n] for n in layout.coordinates]
    M, rest = mass_matrix(e), bias(e)
    right = [g.sub(a, b) for a, b in zip(parts.force, rest, strict=True)]

    def compiled(
        name: str, outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Ref]]], rates: bool = False
    ) -> NativeFunction:
        return compile_program(_program(e, layout, name, outputs, rates), cache=cache)

    energy = compiled("energy", [("kinetic", (), [parts.kinetic]), ("potential", (), [parts.potential])])
    shown = None if any(isinstance(x, Beam) and x.truncated for x in mechanism.loads) else energy
    notes = () if shown else ("equations linearised in elastic coordinates have no energy of their own",)
    names, momenta = _momenta(e, layout, parts, extra)
    kept = compiled("momenta", [("p", (len(names),), momenta)]) if names and not conditions.names else None
    if not conditions.names:
        udot = [row[0] for row in solve_symmetric(g, M, [[x] for x in right])]
        powers = substitute(g, parts.powers, dict(zip(s.udot, udot, strict=True)))
        rate = compiled("state_rate", [("ydot", (layout.size,), [*qdot, *udot, *powers])])
        balance = compiled("balance", [("residual", (), [_balance(e, parts)])], True) if shown else None
        return Model(mechanism, layout, rate, shown, balance, kept, names, None, notes, "projection", extra)
    outputs, positions, places = _constrained(e, conditions, qdot, M, right, parts)
    constraints = Constraints(
        conditions.names,
        tuple(n for n, v in zip(conditions.names, conditions.values, strict=True) if v is not None),
        layout,
        compiled("constrained", outputs),
        compiled("positions", positions),
        tuple(layout.coordinates.index(group[0]) for group in layout.quaternions),
        places,
    )
    return Model(
        mechanism, layout, None, shown, None, None, (), constraints, notes, "projection with multipliers", extra
    )


def declared_layout(e: Equations) -> Layout:
    c, s, m = e.points.coordinates, e.points.symbols, e.points.mechanism
    inputs = tuple(load.name for load in m.loads if isinstance(load, ld.Input))
    symbols = inputs or tuple(symbol_name("tau", n) for n in c.speeds)
    groups = tuple(group for group, _ in c.quaternions)
    return Layout(c.names, c.speeds, inputs or tuple(c.speeds), (*s.names_q, *s.names_u), symbols, groups, WORKS)


def _program(
    e: Equations, layout: Layout, name: str, outputs: Sequence[tuple[str, tuple[int, ...], Sequence[Ref]]], rates: bool
) -> Program:
    arrays = layout.arrays()
    return build_program(
        e.graph, name, (*arrays, Input("udot", e.points.symbols.names_udot)) if rates else arrays, outputs
    )


def _parts(e: Equations, layout: Layout, extra: Extra) -> _Parts:
    g, s = e.graph, e.points.symbols
    springs, losses, stored = _joint_forces(e, extra)
    declared = any(isinstance(load, ld.Input) for load in e.points.mechanism.loads)
    tau = [g.zero] * len(s.u) if declared else [g.symbol(n) for n in layout.input_symbols]
    force = tuple(g.sum(x) for x in zip(e.active, springs, losses, tau, strict=True))
    driven, other = [g.dot(tau, s.u)], [g.dot(losses, s.u)]
    inputs = {g.symbol(n) >> 1 for n in layout.input_symbols}
    powers = activities(e)
    for name, power in powers.items():
        if name != "gravity":
            (driven if inputs & set(needed(g, [power])) else other).append(power)
    quadratic = _quadratic(e)
    at_rest = substitute(g, [kinetic_energy(e)], dict.fromkeys(s.u, g.zero))[0]
    fixed = at_rest < 2 and _gravity_is_still(e)
    kinetic = quadratic if fixed else kinetic_energy(e)
    motions = g.zero
    if not fixed:  # what keeps prescribed motions going: the power balance less the equations of motion
        whole = g.sub(g.dot(e.residual, s.u), g.add(g.sum(powers.values()), inertia_activity(e)))
        motions = whole if whole > 1 else g.zero
    moved = g.zero if fixed else forward(g, [gravity_energy(e)], {g.symbol("t"): g.one})[0]
    del moved
    return _Parts(force, (g.sum(driven), g.sum(other), motions), kinetic, g.add(gravity_energy(e), stored))


def _quadratic(e: Equations) -> Ref:
    """u . M u / 2: rotors and elastic bodies included."""
    g, u = e.graph, e.points.symbols.u
    M = mass_matrix(e)
    terms = []
    for i in range(len(u)):
        inner = [g.mul(M[i][j], u[j]) for j in range(i) if M[i][j] > 1]
        terms.append(g.mul(u[i], g.add(g.sum(inner), g.mul(g.mul(g.number(Fraction(1, 2)), M[i][i]), u[i]))))
    return g.sum(terms)


def _gravity_is_still(e: Equations) -> bool:
    g = e.graph
    return forward(g, [gravity_energy(e)], {g.symbol("t"): g.one})[0] < 2


def _joint_forces(e: Equations, extra: Extra) -> tuple[list[Ref], list[Ref], Ref]:
    """Springs, losses (generalized forces by speed) and the springs' energy, of joints with their own properties."""
    p, g, s = e.points, e.graph, e.points.symbols
    springs, losses, energy = [g.zero] * len(s.u), [g.zero] * len(s.u), g.zero
    for joint, q, rate in joint_motions(e):
        k, b, c = (e.measures.scalar(x) for x in (joint.stiffness, joint.damping, joint.friction))
        if max(k, b, c) < 2:
            continue
        stretch = g.sub(q, e.measures.scalar(joint.rest))
        energy = g.add(energy, g.mul(g.mul(g.number(Fraction(1, 2)), k), g.mul(stretch, stretch)))
        dry = g.mul(c, g.function("sign", rate))
        lost = g.add(g.mul(b, rate), smooth_sign(g, dry, extra.slip) if extra.slip > 0 and dry > 1 else dry)
        pull, drag = on_speeds(e, rate, g.neg(g.mul(k, stretch))), on_speeds(e, rate, g.neg(lost))
        springs = [g.add(a, x) for a, x in zip(springs, pull, strict=True)]
        losses = [g.add(a, x) for a, x in zip(losses, drag, strict=True)]
    rates = {n: pt.time_derivative(p, [s.by_name[n]])[0] for n in p.coordinates.names}
    made = contact_forces(g, s.by_name, rates, s.u, extra.contacts)
    springs = [g.add(a, x) for a, x in zip(springs, made.springs, strict=True)]
    losses = [g.add(a, x) for a, x in zip(losses, made.losses, strict=True)]
    return springs, losses, g.add(energy, made.energy)


def _balance(e: Equations, parts: _Parts) -> Ref:
    g, s = e.graph, e.points.symbols
    (rate,) = pt.time_derivative(e.points, [g.add(parts.kinetic, parts.potential)])
    del s
    return g.sub(rate, g.sum(parts.powers))


def _momenta(e: Equations, layout: Layout, parts: _Parts, extra: Extra) -> tuple[tuple[str, ...], list[Ref]]:
    """dT/du of coordinates that T, V and the other loads do not mention: constant without inputs."""
    g, s = e.graph, e.points.symbols
    _, losses, _ = _joint_forces(e, extra)
    names, refs = [], []
    for q, name in zip(s.q, layout.coordinates, strict=True):
        if name not in layout.speeds or any(gradient(g, x, [q])[0] > 1 for x in (parts.kinetic, parts.potential)):
            continue
        r = layout.speeds.index(name)
        loads = [f[r] for load, f in e.contributions.items() if load != "gravity"]
        if all(x < 2 for x in loads) and losses[r] < 2:
            names.append(name)
            refs += gradient(g, parts.kinetic, [s.u[r]])
    return tuple(names), refs


_Outputs = list[tuple[str, tuple[int, ...], Sequence[Ref]]]


def _constrained(
    e: Equations, c: Conditions, qdot: Sequence[Ref], M: Sequence[Sequence[Ref]], right: Sequence[Ref], parts: _Parts
) -> tuple[_Outputs, _Outputs, tuple[Places, Places, Places]]:
    """What constraints.py computes with: M udot = force + Aᵀ lambda, A udot + gamma = 0; phi and its slope by q."""
    g, s = e.graph, e.points.symbols
    n, m = len(s.u), len(c.names)
    held = [x for x in c.values if x is not None]
    at_rest = substitute(g, c.rates, dict.fromkeys(s.u, g.zero))
    powers = [x for k, x in enumerate(parts.powers) if k < 2] + [parts.powers[2]]
    by_q = [forward(g, held, {q: g.one}) for q in s.q]
    places = (  # of the elements that are not zero: M below its diagonal, A, the slope of phi
        tuple((i, j) for i in range(n) for j in range(i + 1) if M[i][j] > 1),
        tuple((i, j) for i, row in enumerate(c.jacobian) for j, x in enumerate(row) if x > 1),
        tuple((i, k) for i in range(len(held)) for k, column in enumerate(by_q) if column[i] > 1),
    )
    outputs: _Outputs = [
        ("qdot", (len(qdot),), qdot),
        ("M", (len(places[0]),), [M[i][j] for i, j in places[0]]),
        ("force", (n,), right),
        ("A", (len(places[1]),), [c.jacobian[i][j] for i, j in places[1]]),
        ("gamma", (m,), c.gamma),
        ("rates", (m,), c.rates),
        ("rest", (m,), at_rest),
        ("powers", (3,), substitute(g, powers, dict.fromkeys(s.udot, g.zero))),
        ("inertia_power", (n,), [forward(g, [parts.powers[2]], {a: g.one})[0] for a in s.udot]),
    ]
    slope = [by_q[k][i] for i, k in places[2]]
    return outputs, [("phi", (len(held),), held), ("slope", (len(slope),), slope)], places


def lagrangian_parts(
    mechanism: Mechanism, extra: Extra
) -> tuple[Graph, Sequence[Ref], Sequence[Ref], Ref, list[Ref], list[Ref]]:
    """Graph, q, u, T - V, generalized forces of everything but gravity and joint springs, powers of both."""
    e = kane_equations(mechanism, parameters=())
    layout = declared_layout(e)
    parts = _parts(e, layout, extra)
    g, s = e.graph, e.points.symbols
    springs, _, _ = _joint_forces(e, extra)
    weight = e.contributions.get("gravity", (g.zero,) * len(s.u))
    forces = [g.sub(a, g.add(b, c)) for a, b, c in zip(parts.force, weight, springs, strict=True)]
    return g, s.q, s.u, g.sub(parts.kinetic, parts.potential), forces, list(parts.powers[:2])
