"""Kane's equations of any mechanism by projection on partial velocities: F_r + F_r* = 0 (steps 6 to 8).

F_r* = -sum over bodies (v_r . m a + w_r . (I alpha + w x I w)), F_r = sum of v_r . force + w_r . torque (Buffinton eq.
6.7, 6.20, 6.23; Kane and Levinson 1985, sections 4.4 and 4.11).  The sums over bodies are gathered from the tips to
the root: what acts beyond a turn or a translation meets the partial velocity of that turn or translation only, so the
cost is linear in the number of bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kane.equations.applied import Applied, applied_loads
from kane.equations.elastic import beam_forces, beam_inertia, beam_motion
from kane.equations.rotors import find_spins, rotor_forces
from kane.errors import InputError, UnknownNameError
from kane.graph.arena import Graph, Ref
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.kinematics.coordinates import find_coordinates, make_symbols
from kane.kinematics.linear import affine
from kane.kinematics.measures import Measures, check_velocities
from kane.kinematics.points import Points, place_points, speed_symbols
from kane.kinematics.vectors import Vec
from kane.kinematics.walk import PlacedBody
from kane.mechanism import loads as ld
from kane.mechanism.beams import Beam
from kane.mechanism.given import PARAMETERS, Described, checked_names, mechanism_of, shown
from kane.mechanism.model import Mechanism
from kane.mechanism.wording import counted


@dataclass(frozen=True, slots=True)
class Accelerations:
    """Of every set of axes (alpha, own axes) and station (acc, components in its axes `held`)."""

    alpha: tuple[Vec, ...]
    acc: tuple[Vec, ...]


@dataclass(frozen=True, slots=True)
class Equations:
    """Kane's equations: `inertia` F_r*, `active` F_r, one entry a speed; `contributions` F_r of each load by name.

    q' = `rates` (by coordinate), and the residual F_r + F_r* is linear in udot.
    """

    points: Points
    measures: Measures
    accelerations: Accelerations
    inertia: tuple[Ref, ...]
    active: tuple[Ref, ...]
    contributions: dict[str, tuple[Ref, ...]]
    applied: dict[str, Applied]

    def __repr__(self) -> str:
        sizes = counted(((len(self.active), "equation"), (len(self.contributions), "load")))
        name = self.points.mechanism.name
        return f"<Kane's equations of {name}: {sizes}; all steps: kane.equations.steps.work_out(equations)>"

    @property
    def graph(self) -> Graph:
        return self.points.graph

    @property
    def residual(self) -> tuple[Ref, ...]:
        """F_r + F_r*, which vanishes (eq. 6.26)."""
        return tuple(self.graph.add(a, b) for a, b in zip(self.active, self.inertia, strict=True))


def kane_equations(
    mechanism: Described, parameters: Sequence[str] | None = None, graph: Graph | None = None, runs: bool = False
) -> Equations:
    """Kane's equations of a mechanism, with its loads and gravity but not its constraints.

    parameters: names that stay symbols, in this order; by default all that the mechanism declares, () for none; those
    without a value stay in any case, behind the others.  runs: fewer operations along parallel axes, less readable.
    Raises UnknownNameError for a name that is no parameter.
    """
    mechanism = mechanism_of(mechanism)
    graph = graph or Graph()
    free = _free(mechanism, parameters)
    coordinates = find_coordinates(mechanism)
    if mechanism.speeds:
        symbols = speed_symbols(graph, mechanism, coordinates, free)
    else:
        symbols = make_symbols(graph, coordinates)
    points = place_points(graph, mechanism, coordinates, symbols, free, runs)
    measures = Measures(points, symbols.natural)
    check_velocities(measures)
    acc = accelerations(points)
    inertia = inertia_forces(points, acc)
    applied = applied_loads(points, measures)
    gx, gy, gz = (measures.scalar(x) for x in mechanism.gravity)
    contributions = {"gravity": weight(points, (gx, gy, gz))} if max(gx, gy, gz) > 1 else {}
    contributions |= {name: project(points, loads) for name, loads in applied.items() if name not in contributions}
    for load in mechanism.loads:
        if isinstance(load, ld.GeneralizedForce):
            contributions[load.name] = _on_speed(points, measures, load)
    for spin in find_spins(points, measures):
        own, torque = rotor_forces(points, spin, acc.alpha[spin.axes])
        whole = gather_forces(points, {}, torque)
        inertia = tuple(graph.sum(parts) for parts in zip(inertia, own, whole, strict=True))
    for load in mechanism.loads:
        if isinstance(load, Beam):
            motion = beam_motion(points, measures, load, acc.acc[points.station(load.link)])
            own = beam_inertia(points, load, motion)
            inertia = tuple(graph.add(a, b) for a, b in zip(inertia, own, strict=True))
            contributions[load.name] = beam_forces(points, measures, load, motion)
    active = (
        tuple(graph.sum(parts) for parts in zip(*contributions.values(), strict=True))
        if contributions
        else (0,) * len(inertia)
    )
    return Equations(points, measures, acc, inertia, active, contributions, applied)


def check_equations(e: object) -> None:
    """InputError for what is no set of Kane's equations, with the way out."""
    if not isinstance(e, Equations):
        raise InputError(
            f"{shown(e)} is no set of Kane's equations.", value=shown(e),
            remedy="Give kane.kane_equations(robot), of a robot, a Mechanism or a kane.System.",
        )  # fmt: skip


def _free(mechanism: Mechanism, parameters: Sequence[str] | None) -> tuple[str, ...]:
    """The parameters that stay symbols."""
    named = [p.name for p in mechanism.parameters]
    if parameters is None:
        return tuple(named)
    free = checked_names(parameters, PARAMETERS)
    for name in free:
        if name not in named:
            raise UnknownNameError(
                f"{name!r} is no parameter that is declared; there are: {', '.join(named) or 'none'}.", name=name,
                remedy="kane.derive has the inertial parameters of links, too.",
            )  # fmt: skip
    return (*free, *(p.name for p in mechanism.parameters if p.value is None and p.name not in free))


def accelerations(p: Points) -> Accelerations:
    """alpha' = Rᵀ alpha + rate' + w x rate; a' = a + r'' + 2 w x r' + alpha x r + w x (w x r)."""
    g = p.graph
    alpha: list[Vec] = []
    for a in p.axes:
        if a.step is None:
            alpha.append(v.ZERO)
            continue
        x, y, z = pt.time_derivative(p, a.rate)
        whole = v.add(g, a.step.into(g, alpha[a.base]), (x, y, z)) if max(alpha[a.base]) > 1 else (x, y, z)
        alpha.append(v.add(g, whole, v.cross(g, a.w, a.rate)) if a.w != a.rate else whole)
    acc: list[Vec] = []
    for s in p.stations:
        if s.parent < 0:
            acc.append(v.ZERO)
        elif s.shift is None:
            acc.append(pt.express(p, acc[s.parent], p.stations[s.parent].held, s.held))
        else:
            w = p.axes[s.axes].w
            inner = v.cross(g, w, v.cross(g, w, s.shift))
            own = v.add(g, v.cross(g, alpha[s.axes], s.shift), inner)
            if max(s.rate) > 1:
                x, y, z = pt.time_derivative(p, s.rate)
                coriolis = v.cross(g, w, s.rate)
                own = v.add(g, (x, y, z), coriolis, coriolis, own)
            acc.append(v.add(g, acc[s.parent], pt.express(p, own, s.axes, s.held)))
    return Accelerations(tuple(alpha), tuple(acc))


def inertia_forces(p: Points, acc: Accelerations) -> tuple[Ref, ...]:
    """F_r* (eq. 6.20 with rotation: -v_r . m a - w_r . (I alpha + w x I w))."""
    g = p.graph
    forces: dict[int, Vec] = {}
    torques: dict[int, Vec] = {}
    for body in p.bodies:
        with g.origin(f"{body.link} F*"):
            force = v.scale(g, body.mass ^ 1, acc.acc[body.station])
            _into(g, forces, body.station, force)
            if max(body.moments) > 1:
                _into(g, torques, body.axes, v.neg(inertia_torque(p, acc, body)))
    return gather_forces(p, forces, torques)


def inertia_torque(p: Points, acc: Accelerations, body: PlacedBody) -> Vec:
    """I alpha + w x I w, axes of the moments."""
    g, w = p.graph, p.axes[body.axes].w
    spin = v.sym_apply(g, body.moments, w)
    return v.add(g, v.sym_apply(g, body.moments, acc.alpha[body.axes]), v.cross(g, w, spin))


def _into(g: Graph, sums: dict[int, Vec], key: int, value: Vec) -> None:
    sums[key] = v.add(g, sums[key], value) if key in sums else value


def gather_forces(p: Points, forces: Mapping[int, Vec], torques: Mapping[int, Vec]) -> tuple[Ref, ...]:
    """sum of v_r . force (by station) + w_r . torque (by axes), r over the speeds; tips first."""
    g, s = p.graph, p.symbols
    force, torque = dict(forces), dict(torques)
    total: list[Ref] = [0] * len(s.u)
    for k in reversed(range(1, len(p.stations))):
        effort = force.get(k)
        if effort is None:
            continue
        station = p.stations[k]
        if station.parent:
            parent = p.stations[station.parent]
            _into(g, force, station.parent, pt.express(p, effort, station.held, parent.held))
        if station.shift is not None:
            own = pt.express(p, effort, station.held, station.axes)
            for r, partial in station.partials:
                total[r] = g.add(total[r], g.dot(partial, own))
            if station.axes:
                _into(g, torque, station.axes, v.cross(g, station.shift, own))
    for k in reversed(range(1, len(p.axes))):
        effort = torque.get(k)
        axes = p.axes[k]
        if effort is None or axes.step is None:
            continue
        for r, partial in axes.partials:
            total[r] = g.add(total[r], g.dot(partial, effort))
        if axes.base:
            _into(g, torque, axes.base, axes.step.out(g, effort))
    return tuple(total)


def project(p: Points, applied: Applied) -> tuple[Ref, ...]:
    """sum of v_r . force + w_r . torque over what a load applies."""
    g = p.graph
    forces: dict[int, Vec] = {}
    torques: dict[int, Vec] = {}
    for push in applied:
        if push.force:
            _into(g, forces, push.station, pt.gather(p, push.force, p.stations[push.station].held))
        if push.torque:
            _into(g, torques, push.axes, pt.gather(p, push.torque, push.axes))
    return gather_forces(p, forces, torques)


def weight(p: Points, gravity: Vec) -> tuple[Ref, ...]:
    """What project gives for gravity on all bodies; beyond one turn the acceleration is turned, once for all bodies."""
    g = p.graph
    falls: dict[int, Vec] = {0: gravity}
    forces: dict[int, Vec] = {}
    for body in p.bodies:
        held = p.stations[body.station].held
        if p.axes[held].base <= 0:
            _into(g, forces, body.station, pt.express(p, v.scale(g, body.mass, gravity), 0, held))
            continue
        path = [held]
        while path[-1] not in falls:
            path.append(p.axes[path[-1]].base)
        for k in reversed(path[:-1]):
            axes = p.axes[k]
            assert axes.step is not None
            falls[k] = axes.step.into(g, falls[axes.base])
        _into(g, forces, body.station, v.scale(g, body.mass, falls[held]))
    return gather_forces(p, forces, {})


def _on_speed(p: Points, m: Measures, load: ld.GeneralizedForce) -> tuple[Ref, ...]:
    names = p.coordinates.speeds
    if load.speed not in names:
        raise InputError(
            f"Load {load.name!r} acts on the unknown speed {load.speed!r}.", name=load.speed,
            remedy=f"The speeds are {', '.join(names)}.",
        )  # fmt: skip
    return tuple(m.scalar(load.value) if n == load.speed else 0 for n in names)


# what is linear in udot


def mass_matrix(e: Equations) -> list[list[Ref]]:
    """M of M udot + bias = F (rows r): minus the coefficients of udot in F_r*."""
    return mass_and_bias(e)[0]


def bias(e: Equations) -> list[Ref]:
    """The rest of -F_r* at udot = 0: velocity terms and prescribed motions."""
    return mass_and_bias(e)[1]


def mass_and_bias(e: Equations) -> tuple[list[list[Ref]], list[Ref]]:
    """M (n, n) and bias (n) of M udot + bias = F.

    M is symmetric, so that only its lower half is worked out; but for beams whose terms of second order are left out.
    """
    g, n, udot = e.graph, len(e.inertia), e.points.symbols.udot
    order = speeds_outward(e.points)
    symmetric = not any(isinstance(load, Beam) and load.truncated for load in e.points.mechanism.loads)
    constant, slopes = affine(g, [e.inertia[r] for r in order], [udot[r] for r in order], triangle=symmetric)
    matrix: list[list[Ref]] = [[0] * n for _ in range(n)]
    rest: list[Ref] = [0] * n
    for i, r in enumerate(order):
        rest[r], row = g.neg(constant[i]), matrix[r]
        for j, c in slopes[i].items():
            if not symmetric:
                row[order[j]] = g.neg(c)
            elif j <= i:
                row[order[j]] = matrix[order[j]][r] = g.neg(c)
    return matrix, rest


def speeds_outward(p: Points) -> list[int]:
    """The speeds in the order in which they are met from the root to the tips: those of turns, then those of slides.

    A slide's row is a component of a force that the turns' rows need anyway; its column would be work for all of them.
    """
    found: dict[int, None] = {}
    for partials in (*(a.partials for a in p.axes), *(s.partials for s in p.stations)):
        found.update((r, None) for r, _ in partials)
    found.update(dict.fromkeys(range(len(p.symbols.u))))
    return list(found)
