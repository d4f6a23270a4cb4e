"""A mechanism ready for its equations: kinematics, bodies, rotors and the parameters that stay symbols, in one graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kane.equations.inertial import (
    PARAMETERS,
    BodyInertia,
    RotorTerm,
    head,
    node_bodies,
    numeric_value,
    regroup,
    rotor_terms,
    symbolic_bodies,
)
from kane.errors import UnknownNameError
from kane.graph.arena import Graph, Ref
from kane.graph.program import Input
from kane.kinematics.coordinates import symbol_name
from kane.kinematics.motion import Kinematics, derive_kinematics
from kane.kinematics.vectors import Vec
from kane.mechanism.formula import Formula
from kane.mechanism.given import Described, chosen_parameters, mechanism_of
from kane.mechanism.model import amounts

Parameters = Literal["numeric", "symbolic"] | Sequence[str]


@dataclass(frozen=True, slots=True)
class System:
    """What every task starts from.

    bodies: regrouped to base parameters; plain: as described.  parameters: names that are run-time inputs, in order,
    with their values (None: unknown until run time).  external: frames that external wrenches act on.
    """

    k: Kinematics
    bodies: tuple[BodyInertia, ...]
    plain: tuple[BodyInertia, ...]
    rotors: tuple[RotorTerm, ...]
    parameters: dict[str, float | None]
    external: tuple[str, ...] = ()

    @property
    def g(self) -> Graph:
        return self.k.graph

    @property
    def nv(self) -> int:
        return len(self.k.symbols.u)

    @property
    def gravity(self) -> Vec:
        return self.k.gravity

    @property
    def uses_time(self) -> bool:
        """True when some motion is prescribed: a function of t."""
        m = self.k.mechanism
        moves = [move for joint in m.joints for move in (*joint.placement, *joint.moves)]
        moves += [move for frame in m.frames for move in frame.placement]
        scalars = [s for move in moves for s in amounts(move)] + [s.definition for s in m.speeds]
        return any(isinstance(s, Formula) and "t" in s.names() for s in scalars)

    def labels(self, prefix: str) -> tuple[str, ...]:
        """Symbol names of a vector over the speeds: tau1, ...; tau_elbow, ..."""
        return tuple(symbol_name(prefix, name) for name in self.k.coordinates.speeds)

    def vector(self, prefix: str) -> tuple[Ref, ...]:
        """Symbols of a vector over the speeds."""
        return tuple(self.g.symbol(label) for label in self.labels(prefix))

    def input(self, name: str) -> Input:
        """An input array by its name: q, qd, qdd, tau, w, t, p, or another vector over the speeds."""
        s = self.k.symbols
        if name == "t":
            return Input("t", ("t",))
        if name == "p":
            return Input("p", tuple(self.parameters), "parameter")
        if name == "w":
            return Input("w", wrench_labels(self.external))
        if name == "q":
            symbol = dict(zip(self.k.coordinates.names, s.names_q, strict=True))
            groups = tuple(tuple(symbol[n] for n in group) for group, _ in self.k.coordinates.quaternions)
            return Input("q", s.names_q, "state", groups)
        known = {"qd": s.names_u, "qdd": s.names_udot}
        return Input(name, known.get(name) or self.labels(name))


def wrench_labels(frames: Sequence[str]) -> tuple[str, ...]:
    """Labels of external wrenches, moment first, axes of N."""
    return tuple(f"w_{frame}.{c}" for frame in frames for c in ("nx", "ny", "nz", "fx", "fy", "fz"))


def derive_system(
    mechanism: Described, parameters: Parameters = "numeric", external: Sequence[str] = (), graph: Graph | None = None
) -> System:
    """The system of a mechanism.

    parameters: "numeric" bakes all values in; "symbolic" keeps the named parameters of the description, and those of
    the ten inertial parameters of every other moving body ("link.m", "link.hx", ...) that are not zero, as run-time
    inputs; or a list of such names, zero or not, or of links (all ten of each), which are the inputs in this order.
    Raises UnknownNameError for a name that is no parameter, listing those that are, InputError for one that comes twice
    or is a formula in parameters.
    """
    mechanism = mechanism_of(mechanism)
    parameters = chosen_parameters(mechanism, parameters)
    named = [p.name for p in mechanism.parameters]
    wanted = None if isinstance(parameters, str) else parameters
    if parameters == "numeric":
        free: list[str] = []
    else:
        free = named if wanted is None else [n for n in named if n in wanted]
    k = derive_kinematics(mechanism, free, graph)
    plain = node_bodies(k)
    values: dict[str, float | None] = {n: mechanism.parameter_values.get(n) for n in free}
    if parameters != "numeric":
        plain, made = symbolic_bodies(k, plain, wanted)
        for name, ref in made.items():
            value = numeric_value(k.graph, ref)
            values[name] = None if value is None else float(value)
        _check_names(wanted, named, k, made)
    for name in wanted or ():  # in the caller's order
        own = [name] if name in values else [f"{name}.{letter}" for letter in PARAMETERS]
        values |= {key: values.pop(key) for key in own if key in values}
    unknown = [p.name for p in mechanism.parameters if p.value is None and p.name not in values]
    values |= dict.fromkeys(unknown)
    return System(k, tuple(regroup(k, plain)), tuple(plain), tuple(rotor_terms(k)), values, tuple(external))


def _check_names(wanted: Sequence[str] | None, named: Sequence[str], k: Kinematics, made: dict[str, Ref]) -> None:
    heads = {item.link: head(k, node).link for node in k.tree.nodes for item in node.links}
    for name in wanted or ():
        link = name if name in heads else name.rpartition(".")[0]
        if name in named or name in made or heads.get(link) == link:
            continue
        if link in heads:
            raise UnknownNameError(
                f"{name!r} is no parameter of its own: {link!r} is fixed to {heads[link]!r}.", name=name,
                remedy=f"The parameters of {heads[link]!r} are those of all that is fixed to it.",
            )  # fmt: skip
        known = ", ".join([*named, *dict.fromkeys(heads.values())])
        raise UnknownNameError(f"{name!r} is no parameter and no moving link; there are: {known}.", name=name)
