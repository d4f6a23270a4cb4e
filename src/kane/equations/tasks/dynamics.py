"""Tasks: inverse and forward dynamics, mass matrix, bias, gravity, Coriolis, energies."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from kane.equations.brackets import brackets
from kane.equations.composite import mass_matrix
from kane.equations.forward import articulated_bodies, elimination_order, factorise, serves_articulated, solve
from kane.equations.frames import external_wrenches, frame_states
from kane.equations.recursion import inverse_dynamics
from kane.equations.system import System
from kane.equations.tasks.task import Outputs, Task
from kane.errors import UnsupportedError
from kane.graph.arena import Ref
from kane.graph.derivative import forward, jacobian
from kane.kinematics import vectors as v

HALF = Fraction(1, 2)


def newton_euler(
    system: System, u: Sequence[Ref] | None = None, udot: Sequence[Ref] | None = None, weight: bool = True,
    external: bool = False,
) -> list[Ref]:
    """tau of the motion (q, u, udot); zeros where u or udot is None; without gravity when `weight` is False.
    """  # fmt: skip
    zeros = [system.g.zero] * system.nv
    wrenches = external_wrenches(system) if external else None
    gravity = system.gravity if weight else v.ZERO
    return inverse_dynamics(system.k, system.bodies, system.rotors, u or zeros, udot or zeros, gravity, wrenches)


def _inverse(system: System, frame: str | None) -> Outputs:
    s = system.k.symbols
    return [("tau", (system.nv,), newton_euler(system, s.u, s.udot, external=True))]


def _bias(system: System, frame: str | None) -> Outputs:
    return [("bias", (system.nv,), newton_euler(system, system.k.symbols.u, external=True))]


def _gravity(system: System, frame: str | None) -> Outputs:
    return [("gravity", (system.nv,), weight_forces(system))]


def weight_forces(system: System, external: bool = False) -> list[Ref]:
    """Forces that hold the weight (and external wrenches) at rest; what prescribed motions ask for is left out."""
    tau = newton_euler(system, external=external)
    if not system.uses_time:
        return tau
    moved = newton_euler(system, weight=False)
    return [system.g.sub(a, b) for a, b in zip(tau, moved, strict=True)]


def _mass(system: System, frame: str | None) -> Outputs:
    M = mass_matrix(system.k, system.bodies, system.rotors)
    return [("M", (system.nv, system.nv), [e for row in M for e in row])]


def accelerations(system: System, tau: Sequence[Ref]) -> list[Ref]:
    """udot by factorisation of M."""
    bias = newton_euler(system, system.k.symbols.u, external=True)
    M = mass_matrix(system.k, system.bodies, system.rotors)
    factor = factorise(system.g, M, elimination_order(system.k), system.k.coordinates.speeds)
    return solve(system.g, factor, [system.g.sub(t, b) for t, b in zip(tau, bias, strict=True)])


def _forward_factor(system: System, frame: str | None) -> Outputs:
    return [("qdd", (system.nv,), accelerations(system, system.vector("tau")))]


def _forward_articulated(system: System, frame: str | None) -> Outputs | None:
    if not serves_articulated(system.k, system.rotors) or system.external:
        return None
    udot = articulated_bodies(system.k, system.bodies, system.rotors, system.vector("tau"), system.gravity)
    return [("qdd", (system.nv,), udot)]


def require_no_time(system: System, task: str) -> None:
    """UnsupportedError where motion is prescribed: then velocity terms are not C(q, u) u."""
    if system.uses_time:
        raise UnsupportedError(
            f"{task} wants velocity terms that are quadratic in the speeds; a prescribed motion adds others.",
            name=task,
            remedy="Use bias_forces, which has all of them.",
        )


def coriolis(system: System) -> list[list[Ref]]:
    """C (nv, nv) with C u the velocity terms and Mdot - 2 C skew.

    C = (1/2) dc/du + (1/2) M ad_u: the Levi-Civita connection in the basis of the speeds; for u = qdot the
    Christoffel matrix.
    """
    require_no_time(system, "coriolis_matrix")
    g, u = system.g, system.k.symbols.u
    c = newton_euler(system, u, weight=False)
    half = g.number(HALF)
    C = [[g.mul(half, e) for e in row] for row in jacobian(g, c, u)]
    columns = brackets(system)
    if columns:
        M = mass_matrix(system.k, system.bodies, system.rotors)
        for j, column in columns.items():
            for i in range(system.nv):
                extra = g.sum(g.mul(M[i][l], value) for l, value in column.items())
                C[i][j] = g.add(C[i][j], g.mul(half, extra))
    return C


def _coriolis_matrix(system: System, frame: str | None) -> Outputs:
    return [("C", (system.nv, system.nv), [e for row in coriolis(system) for e in row])]


def _coriolis_times(system: System, frame: str | None) -> Outputs:
    """C(q, qd) v by one forward sweep where the speeds are rates."""
    require_no_time(system, "coriolis_times")
    g, vector = system.g, system.vector("v")
    if brackets(system):
        product = [g.dot(row, vector) for row in coriolis(system)]
    else:
        u = system.k.symbols.u
        c = newton_euler(system, u, weight=False)
        swept = forward(g, c, dict(zip(u, vector, strict=True)))
        product = [g.mul(g.number(HALF), x) for x in swept]
    return [("Cv", (system.nv,), product)]


def _kinetic(system: System, frame: str | None) -> Outputs:
    """T = sum over bodies of (1/2) m v^2 + m v . (w x c) + (1/2) w . I w, and (1/2) J r^2 qd^2 of each rotor."""
    g, half = system.g, system.g.number(HALF)
    terms = []
    for state, body in zip(frame_states(system.k), system.bodies, strict=True):
        wh = v.cross(g, state.w, body.first)
        inner = v.add(g, v.scale(g, body.mass, state.velocity), wh, wh)
        spin = v.dot(g, state.w, v.sym_apply(g, body.tensor, state.w))
        terms.append(g.add(v.dot(g, state.velocity, inner), spin))
    M = mass_matrix(system.k, [type(b)() for b in system.bodies], system.rotors)
    u = system.k.symbols.u
    terms += [g.mul(u[i], g.dot(M[i], u)) for i in range(system.nv)]
    return [("T", (), [g.mul(half, g.sum(terms))])]


def _potential(system: System, frame: str | None) -> Outputs:
    """V = -sum over bodies of g . (m p + R h), zero when all origins lie in N's origin."""
    g = system.g
    terms = []
    for state, body in zip(frame_states(system.k), system.plain, strict=True):
        moment = v.add(g, v.scale(g, body.mass, state.position), state.out(g, body.first))
        terms.append(v.dot(g, system.gravity, moment))
    return [("V", (), [g.neg(g.sum(terms))])]


def _kinematic(system: System, frame: str | None) -> Outputs:
    s = system.k.symbols
    return [("qdot", (len(s.q),), [s.rates[n] for n in system.k.coordinates.names])]


def _negated(build: object) -> object:
    def negated(system: System, frame: str | None) -> Outputs:
        assert callable(build)
        return [(name, shape, [r ^ 1 if r > 1 else 0 for r in refs]) for name, shape, refs in build(system, frame)]

    return negated


def _inertia_forces(system: System, frame: str | None) -> Outputs:
    s = system.k.symbols
    return [("F_star", (system.nv,), [system.g.neg(x) for x in newton_euler(system, s.u, s.udot, weight=False)])]


def _active_forces(system: System, frame: str | None) -> Outputs:
    return [("F", (system.nv,), [system.g.neg(x) for x in weight_forces(system, external=True)])]


TASKS = (
    Task("inverse_dynamics", ("q", "qd", "qdd"), _inverse, external=True),
    Task(
        "forward_dynamics", ("q", "qd", "tau"), _forward_factor, external=True, method="factorisation",
        alternatives=(("articulated bodies", _forward_articulated),),
    ),
    Task("mass_matrix", ("q",), _mass, method="composite bodies"),
    Task("bias_forces", ("q", "qd"), _bias, external=True),
    Task("gravity_forces", ("q",), _gravity),
    Task("coriolis_matrix", ("q", "qd"), _coriolis_matrix),
    Task("coriolis_times", ("q", "qd", "v"), _coriolis_times),
    Task("kinetic_energy", ("q", "qd"), _kinetic),
    Task("potential_energy", ("q",), _potential),
    Task("kinematic_equations", ("q", "qd"), _kinematic),
    Task("generalized_inertia_forces", ("q", "qd", "qdd"), _inertia_forces),
    Task("generalized_active_forces", ("q",), _active_forces, external=True),
)  # fmt: skip
