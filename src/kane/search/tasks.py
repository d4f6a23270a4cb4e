"""Tasks that the search can build in a formulation, with everything they may be computed from asked for besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kane.equations import analytic
from kane.equations.composite import mass_matrix
from kane.equations.forward import elimination_order, factorise, solve
from kane.equations.system import System
from kane.equations.tasks.derivatives import forward_by_composites, inverse_by_composites
from kane.equations.tasks.task import Outputs
from kane.graph.arena import Ref
from kane.kinematics import vectors as v
from kane.kinematics.vectors import Vec
from kane.search.formulation import Formulation
from kane.search.recursion import ask_for_all, inverse_dynamics
from kane.search.speeds import find_runs
from kane.search.speeds import forward_dynamics as in_sums

Build = Callable[[System, Formulation, bool], Outputs]


def _forces(
    system: System, u: Sequence[Ref], udot: Sequence[Ref], gravity: Vec, chosen: Formulation, every: bool
) -> list[Ref]:
    tau = inverse_dynamics(system, u, udot, gravity, dict(chosen.forms), chosen.levers, chosen.spins)
    if every:
        ask_for_all(system, u, udot, gravity, chosen.spins)
    return tau


def _inverse(system: System, chosen: Formulation, every: bool) -> Outputs:
    s = system.k.symbols
    return [("tau", (system.nv,), _forces(system, s.u, s.udot, system.gravity, chosen, every))]


def _inertia_forces(system: System, chosen: Formulation, every: bool) -> Outputs:
    s = system.k.symbols
    tau = _forces(system, s.u, s.udot, v.ZERO, chosen, every)
    return [("F_star", (system.nv,), [system.g.neg(x) if x > 1 else 0 for x in tau])]


def _bias(system: System, chosen: Formulation, every: bool) -> Outputs:
    return [("bias", (system.nv,), _bias_forces(system, chosen, every))]


def _bias_forces(system: System, chosen: Formulation, every: bool) -> list[Ref]:
    return _forces(system, system.k.symbols.u, _zeros(system), system.gravity, chosen, every)


def _gravity(system: System, chosen: Formulation, every: bool) -> Outputs:
    zeros = _zeros(system)
    return [("gravity", (system.nv,), _forces(system, zeros, zeros, system.gravity, chosen, every))]


def _zeros(system: System) -> list[Ref]:
    return [system.g.zero] * system.nv


def _mass_matrix(system: System, chosen: Formulation, every: bool) -> list[list[Ref]]:
    """M by composite bodies; `every`: its columns also as the forces of unit accelerations."""
    M = mass_matrix(system.k, system.bodies, system.rotors)
    for column in range(system.nv if every else 0):
        unit = [system.g.one if r == column else system.g.zero for r in range(system.nv)]
        _forces(system, _zeros(system), unit, v.ZERO, chosen, every)
    return M


def _mass(system: System, chosen: Formulation, every: bool) -> Outputs:
    return [("M", (system.nv, system.nv), [e for row in _mass_matrix(system, chosen, every) for e in row])]


def _forward(system: System, chosen: Formulation, every: bool) -> Outputs:
    """udot by L^T D L of the mass matrix, of the joints' rates or of their sums."""
    g = system.g
    if chosen.sums:
        made = in_sums(
            system, find_runs(system.k), lambda u: _forces(system, u, _zeros(system), system.gravity, chosen, every)
        )
        return [("qdd", (system.nv,), made)]
    bias = _bias_forces(system, chosen, every)
    M = _mass_matrix(system, chosen, every)
    factor = factorise(g, M, elimination_order(system.k), system.k.coordinates.speeds)
    right = [g.sub(t, b) for t, b in zip(system.vector("tau"), bias, strict=True)]
    return [("qdd", (system.nv,), solve(g, factor, right))]


def _inverse_derivatives(system: System, chosen: Formulation, every: bool) -> Outputs:
    return inverse_by_composites(system, None) or ()


def _forward_derivatives(system: System, chosen: Formulation, every: bool) -> Outputs:
    return forward_by_composites(system, None) or ()


BUILDS: dict[str, Build] = {
    "inverse_dynamics": _inverse,
    "generalized_inertia_forces": _inertia_forces,
    "bias_forces": _bias,
    "gravity_forces": _gravity,
    "mass_matrix": _mass,
    "forward_dynamics": _forward,
    "inverse_dynamics_derivatives": _inverse_derivatives,
    "forward_dynamics_derivatives": _forward_derivatives,
}
DERIVATIVES = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")  # by composite bodies


def serves(system: System, task: str, external: Sequence[str]) -> bool:
    """True when the task may be built in other formulations: an unloaded tree, motions not prescribed."""
    k = system.k
    exact = all(rotor.carrier is None for rotor in system.rotors)
    mechanism = k.mechanism
    plain = not mechanism.constraints and not mechanism.loads and not mechanism.speeds
    if task in DERIVATIVES and not analytic.serves(system):
        return False
    return task in BUILDS and not external and exact and plain and not system.uses_time
