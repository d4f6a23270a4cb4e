"""Quantities of a tree that keep their value: momenta of coordinates that nothing depends on, and of free bodies."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kane.equations.frames import frame_states
from kane.equations.system import System
from kane.graph.arena import Ref
from kane.graph.derivative import gradient
from kane.kinematics import vectors as v
from kane.kinematics.vectors import Vec


def momenta_of(system: System, energies: tuple[Ref, Ref], losses: Sequence[Ref]) -> tuple[tuple[str, ...], list[Ref]]:
    """Names and values of what is constant without inputs.

    dT/du of a coordinate that neither energy depends on and no loss acts on; of a tree on one floating joint the linear
    momentum less weight times t, and the angular momentum about the mass centre, axes of N.
    """
    g, c, s = system.g, system.k.coordinates, system.k.symbols
    names: list[str] = []
    refs: list[Ref] = []
    for q, name in zip(s.q, c.names, strict=True):
        free = name in c.speeds and losses[c.speeds.index(name)] < 2
        if free and all(gradient(g, e, [q])[0] < 2 for e in energies):
            names.append(name)
            refs += gradient(g, energies[0], [s.u[c.speeds.index(name)]])
    m = system.k.mechanism
    floating = [j for j in m.joints if j.parent == m.root]
    if len(floating) == 1 and floating[0].type == "floating" and not system.rotors:
        lossless = all(losses[c.speeds.index(n)] < 2 for _, speeds, _ in c.positions for n in speeds)
        if lossless:
            linear, angular = _free_momenta(system)
            names += [f"{kind}_{k}" for kind in ("momentum", "angular_momentum") for k in "xyz"]
            refs += [*linear, *angular]
    return tuple(names), refs


def _free_momenta(system: System) -> tuple[Vec, Vec]:
    """P - M g t and H - c x P: sums of R (m v + w x h) and of p x that + R (h x v + I w)."""
    g, t = system.g, system.g.symbol("t")
    linear, angular, first, mass = v.ZERO, v.ZERO, v.ZERO, g.zero
    for state, body in zip(frame_states(system.k), system.plain, strict=True):
        push = state.out(g, v.add(g, v.scale(g, body.mass, state.velocity), v.cross(g, state.w, body.first)))
        spin = v.add(g, v.cross(g, body.first, state.velocity), v.sym_apply(g, body.tensor, state.w))
        linear = v.add(g, linear, push)
        angular = v.add(g, angular, v.cross(g, state.position, push), state.out(g, spin))
        first = v.add(g, first, v.scale(g, body.mass, state.position), state.out(g, body.first))
        mass = g.add(mass, body.mass)
    inverse = g.div(g.number(Fraction(1)), mass)
    about = v.add(g, angular, v.neg(v.scale(g, inverse, v.cross(g, first, linear))))
    fall = v.scale(g, g.mul(mass, t), system.gravity)
    return v.add(g, linear, v.neg(fall)), about
