"""What integrators see of a mechanism: one compiled rate of the state y = [q, u, work], energies, names.

The work states count what actuators (inputs) and other loads do, so that T + V - work is constant on every exact
motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from kane.equations.derive import cost
from kane.equations.forward import articulated_bodies, serves_articulated
from kane.equations.system import System, derive_system
from kane.equations.tasks import TASKS
from kane.equations.tasks.dynamics import accelerations, newton_euler
from kane.errors import InputError, NumberError, UnknownNameError
from kane.graph.arena import Graph, Ref
from kane.graph.derivative import forward
from kane.graph.program import Input, Program, build_program
from kane.kinematics.motion import substitute
from kane.mechanism.formula import ScalarLike, exact
from kane.mechanism.given import checked_flag, checked_mapping, checked_number, mechanism_of, shown
from kane.mechanism.model import Mechanism, Parameter
from kane.native.function import NativeFunction, compile_program
from kane.search.speeds import find_runs, forward_dynamics, worth_trying
from kane.simulation.contacts import Contact, checked_contacts, contact_forces
from kane.simulation.driver import Driver, load_driver
from kane.simulation.momenta import momenta_of

Array = np.ndarray[Any, np.dtype[np.float64]]
WORKS = ("work_of_actuators", "work_of_loads")
SUMS = "factorisation in rates summed over parallel axes"
SLIP = 1e-3  # rad/s or m/s: Coulomb friction is smooth within about this speed


@dataclass(frozen=True, slots=True)
class Layout:
    """Names of the state: coordinates, speeds, work; names of the inputs; symbols of the graph in the same order."""

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    inputs: tuple[str, ...]
    symbols: tuple[str, ...]
    input_symbols: tuple[str, ...]
    quaternions: tuple[tuple[str, ...], ...]
    works: tuple[str, ...] = WORKS

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the elements of y; a speed that is a coordinate's rate is its name with `_dot`."""
        return (*self.coordinates, *self.speed_names, *self.works)

    @property
    def speed_names(self) -> tuple[str, ...]:
        return tuple(f"{s}_dot" if s in self.coordinates else s for s in self.speeds)

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nu(self) -> int:
        return len(self.speeds)

    @property
    def size(self) -> int:
        return self.nq + self.nu + len(self.works)

    def index(self, name: str) -> int:
        """Place of a coordinate, speed or work in y; UnknownNameError lists the names."""
        names = self.names
        if name in names:
            return names.index(name)
        if name in self.speeds:
            return self.nq + self.speeds.index(name)
        raise UnknownNameError(f"There is no {name!r} in the state; there are: {', '.join(names)}.", name=name)

    def arrays(self) -> tuple[Input, ...]:
        """The input arrays y, t, f of every program."""
        at = {n: s for n, s in zip(self.coordinates, self.symbols, strict=False)}
        groups = tuple(tuple(at[n] for n in group) for group in self.quaternions)
        y = Input("y", (*self.symbols, *self.works), "state", groups)
        return y, Input("t", ("t",)), Input("f", self.input_symbols)


@dataclass(frozen=True, slots=True)
class Extra:
    """What a run adds to the description: the width of friction's jump, and contacts."""

    slip: float = SLIP
    contacts: tuple[Contact, ...] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """A mechanism ready to run.  rate: (y, t, f) -> ydot, without constraints; None when there are some.

    energy: (y, t, f) -> kinetic, potential.  balance: (y, t, f, udot) -> rate of the energy less the power of
    actuators and loads, zero on a motion.  momenta: (y, t, f) -> quantities that keep their value, `momentum_names`.
    """

    mechanism: Mechanism
    layout: Layout
    rate: NativeFunction | None
    energy: NativeFunction | None
    balance: NativeFunction | None
    momenta: NativeFunction | None
    momentum_names: tuple[str, ...] = ()
    constraints: Any = None
    notes: tuple[str, ...] = ()
    method: str = ""
    extra: Extra = Extra()
    driver: Driver = field(default_factory=load_driver, repr=False, compare=False)

    @property
    def quaternion_starts(self) -> tuple[int, ...]:
        names = self.layout.coordinates
        return tuple(names.index(group[0]) for group in self.layout.quaternions)


def prepare(
    source: Any,
    parameters: Mapping[str, ScalarLike] | None = None,
    slip: float = SLIP,
    contacts: Sequence[Contact] = (),
    cache: bool = True,
) -> Model:
    """The model of a mechanism (or of what has a `mechanism`: a robot, or a declared system).

    parameters: values that replace those of the description, or fill in missing ones.  slip: speed within which
    Coulomb friction is smooth, 0 for a jump.  contacts: compliant stops and backlash.  Raises InputError for a
    parameter without a value, UnknownNameError for a wrong name.
    """
    mechanism = with_values(mechanism_of(source), checked_mapping("parameters", parameters, "{'m1': 2.5}"))
    checked_flag("cache", cache)
    extra = Extra(checked_number("slip", slip, "Give a speed >= 0, rad/s or m/s.", low=0.0), checked_contacts(contacts))
    if mechanism.loads or mechanism.constraints or mechanism.speeds or _prescribed(mechanism):
        from kane.simulation.declared import declared_model

        return declared_model(mechanism, extra, cache)
    return tree_model(mechanism, extra, cache)


def checked_model(model: Any) -> Model:
    """InputError for what is no Model, with the way out."""
    if not isinstance(model, Model):
        raise InputError(
            f"{shown(model)} is not a Model.", name="model", value=shown(model),
            remedy="Give what kane.simulation.prepare makes of a robot.",
        )  # fmt: skip
    return model


def _prescribed(mechanism: Mechanism) -> bool:
    """Whether joints move in time by themselves: then there is kinetic energy at u = 0, or V changes at rest."""
    system = derive_system(mechanism)
    g = system.g
    energies = energy_refs(system, Extra())
    (rest,) = substitute(g, [energies[0]], dict.fromkeys(system.k.symbols.u, g.zero))
    return rest > 1 or forward(g, [energies[1]], {g.symbol("t"): g.one})[0] > 1


def with_values(mechanism: Mechanism, values: Mapping[str, ScalarLike]) -> Mechanism:
    """The mechanism with these values of its parameters; every parameter has one afterwards."""
    names = [p.name for p in mechanism.parameters]
    for name in values:
        if name not in names:
            known = f"there are: {', '.join(names)}." if names else "the mechanism has none."
            raise UnknownNameError(f"There is no parameter {name!r}; {known}", name=str(name))
    made = []
    for p in mechanism.parameters:
        try:
            value = exact(values[p.name]) if p.name in values else p.value
        except NumberError as error:
            remedy = f"Pass a finite number: parameters={{{p.name!r}: 2.5}}."
            what = f"Parameter {p.name!r}: {error.message}"
            raise NumberError(what, name=p.name, value=error.value, remedy=remedy) from None
        if not isinstance(value, Fraction):
            remedy = f"Pass a number: parameters={{{p.name!r}: 2.5}}."
            given = f"is {shown(values[p.name])}, a formula" if p.name in values else "has no value"
            raise InputError(f"Parameter {p.name!r} {given}; a simulation needs a value.", name=p.name, remedy=remedy)
        made.append(Parameter(p.name, value))
    return replace(mechanism, parameters=tuple(made))


# trees of joints without further loads: the recursive equations


@dataclass(frozen=True, slots=True)
class Forces:
    """Generalized forces beside the inputs: of springs (they have an energy), and those that take energy out."""

    springs: tuple[Ref, ...]
    losses: tuple[Ref, ...]
    energy: Ref


def joint_forces(system: System, extra: Extra) -> Forces:
    """Springs, dampers and Coulomb friction f tanh(qd / slip) of the joints."""
    zero = Fraction(0)
    springs = _forces(system, "passive_forces", damping=zero)
    dampers = _forces(system, "passive_forces", stiffness=zero)
    g, s = system.g, system.k.symbols
    friction = _forces(system, "friction_forces", damping=zero)
    if extra.slip > 0:
        friction = [smooth_sign(g, x, extra.slip) for x in friction]
    made = contact_forces(g, s.by_name, s.rates, s.u, extra.contacts)
    losses = tuple(g.add(g.sub(a, b), c) for a, b, c in zip(dampers, friction, made.losses, strict=True))
    pushes = tuple(g.add(a, b) for a, b in zip(springs, made.springs, strict=True))
    return Forces(pushes, losses, g.add(_spring_energy(system), made.energy))


def _forces(system: System, task: str, **changed: Fraction) -> list[Ref]:
    mechanism = system.k.mechanism
    joints = tuple(replace(j, **changed) for j in mechanism.joints)  # type: ignore[arg-type]
    part = replace(system, k=replace(system.k, mechanism=replace(mechanism, joints=joints)))
    ((_, _, refs),) = TASKS[task].build(part, None)
    return list(refs)


def smooth_sign(g: Graph, force: Ref, slip: float) -> Ref:
    """The expression with sign(x) replaced by tanh(x / slip)."""
    from kane.graph.program import needed

    width = g.number(exact(slip))  # type: ignore[arg-type]
    done: dict[int, Ref] = {}
    for node in needed(g, [force]):
        args = [done[a >> 1] ^ (a & 1) for a in g.args[node]]
        if g.op[node] == "sign":
            done[node] = g.function("tanh", g.div(args[0], width))
        elif args == list(g.args[node]):
            done[node] = 2 * node
        elif g.op[node] in ("add", "mul", "div", "sqrt"):
            done[node] = getattr(g, g.op[node])(*args)
        else:
            done[node] = g.function(g.op[node], *args)
    return done[force >> 1] ^ (force & 1)


def _spring_energy(system: System) -> Ref:
    """k stretch^2 / 2 of every joint spring."""
    from kane.mechanism.joints import joint_type

    g, k = system.g, system.k
    terms = []
    for joint in k.mechanism.joints:
        stiffness = k.scalar(joint.stiffness)
        if stiffness > 1:
            for name in joint_type(joint).coordinates(joint):
                if name in k.coordinates.values and not any(name in group for group, _ in k.coordinates.quaternions):
                    stretch = g.sub(k.scalar(k.coordinates.values[name]), k.scalar(joint.rest))
                    terms.append(g.mul(stiffness, g.mul(stretch, stretch)))
    return g.mul(g.number(Fraction(1, 2)), g.sum(terms))


def tree_layout(system: System) -> Layout:
    c, s = system.k.coordinates, system.k.symbols
    return Layout(
        c.names, c.speeds, tuple(c.speeds), (*s.names_q, *s.names_u), system.labels("tau"),
        tuple(group for group, _ in c.quaternions),
    )  # fmt: skip


def tree_model(mechanism: Mechanism, extra: Extra, cache: bool) -> Model:
    """The model of a tree whose inputs are the generalized forces tau, one a speed."""
    best: Program | None = None
    method = ""
    ways = (("factorisation", _by_factor), (SUMS, _by_sums), ("articulated bodies", _by_articulated))
    for way, solve in ways:
        system = derive_system(mechanism)
        made = _rate_program(system, extra, solve)
        if made is not None and (best is None or cost(made) < cost(best)):
            best, method = made, way
    assert best is not None
    system = derive_system(mechanism)
    layout, energies = tree_layout(system), energy_refs(system, extra)
    names, momenta = momenta_of(system, energies, joint_forces(system, extra).losses)

    def compiled(program: Program) -> NativeFunction:
        return compile_program(program, cache=cache)

    return Model(
        mechanism,
        layout,
        compiled(best),
        compiled(_energy_program(system.g, layout, energies)),
        compiled(_balance_program(system, layout, energies, extra)),
        compiled(build_program(system.g, "momenta", layout.arrays(), [("p", (len(names),), momenta)]))
        if names
        else None,
        names,
        method=method,
        extra=extra,
    )


def _by_factor(system: System, tau: Sequence[Ref]) -> list[Ref] | None:
    return accelerations(system, tau)


def _by_sums(system: System, tau: Sequence[Ref]) -> list[Ref] | None:
    """In rates summed over runs of parallel axes, where there are such."""
    if not worth_trying(system.k):
        return None
    return forward_dynamics(system, find_runs(system.k), lambda u: newton_euler(system, u, external=True), tau)


def _by_articulated(system: System, tau: Sequence[Ref]) -> list[Ref] | None:
    if not serves_articulated(system.k, system.rotors):
        return None
    return articulated_bodies(system.k, system.bodies, system.rotors, tau, system.gravity)


def _rate_program(system: System, extra: Extra, solve: Any) -> Program | None:
    g, s = system.g, system.k.symbols
    tau, own = system.vector("tau"), joint_forces(system, extra)
    udot = solve(system, [g.sum(parts) for parts in zip(tau, own.springs, own.losses, strict=True)])
    if udot is None:
        return None
    rates = [s.rates[n] for n in system.k.coordinates.names]
    powers = [g.dot(tau, s.u), g.dot(own.losses, s.u)]
    layout = tree_layout(system)
    return build_program(g, "state_rate", layout.arrays(), [("ydot", (layout.size,), [*rates, *udot, *powers])])


def energy_refs(system: System, extra: Extra) -> tuple[Ref, Ref]:
    ((_, _, (kinetic,)),) = TASKS["kinetic_energy"].build(system, None)
    ((_, _, (potential,)),) = TASKS["potential_energy"].build(system, None)
    return kinetic, system.g.add(potential, joint_forces(system, extra).energy)


def _energy_program(g: Graph, layout: Layout, energies: tuple[Ref, Ref]) -> Program:
    outputs = [("kinetic", (), [energies[0]]), ("potential", (), [energies[1]])]
    return build_program(g, "energy", layout.arrays(), outputs)


def _balance_program(system: System, layout: Layout, energies: tuple[Ref, Ref], extra: Extra) -> Program:
    """d(T + V)/dt along qdot, udot less the power of inputs and losses."""
    g, s = system.g, system.k.symbols
    tau, own = system.vector("tau"), joint_forces(system, extra)
    direction = {q: s.rates[n] for q, n in zip(s.q, system.k.coordinates.names, strict=True)}
    direction |= dict(zip(s.u, s.udot, strict=True))
    (rate,) = forward(g, [g.add(*energies)], direction)
    power = g.add(g.dot(tau, s.u), g.dot(own.losses, s.u))
    arrays = (*layout.arrays(), Input("udot", s.names_udot))
    return build_program(g, "balance", arrays, [("residual", (), [g.sub(rate, power)])])
