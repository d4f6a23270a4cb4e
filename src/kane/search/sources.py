"""Which parameters of the description each number of a program is made of.

Numbers are folded while a task is derived: m3 d^2 + Izz4 is one rational.  So the task is built once more, from a twin
of the description whose numbers have names, in a graph that remembers of every number the names it came from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from kane.equations.derive import find_task
from kane.equations.inertial import node_bodies, regroup, rotor_terms, symbolic_bodies
from kane.equations.system import Parameters, System
from kane.errors import KaneError
from kane.explicit.model import explicit_model
from kane.explicit.program import program as explicit_program
from kane.graph.arena import NUMBER, Graph, Kind, Ref
from kane.graph.evaluate import rebuild
from kane.graph.program import NUMBER_OP, Program, needed
from kane.kinematics.motion import derive_kinematics
from kane.mechanism.formula import Formula, Scalar, name
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.model import Joint, Link, Mechanism, Parameter, Placement, Translate, Turn, amounts
from kane.search.formulation import Formulation, formulated
from kane.search.influence import behind
from kane.search.tasks import BUILDS

Names = frozenset[str]
NONE: Names = frozenset()
NAMED = "named"  # the op of a named number, which is no symbol to those who look for symbols
MARK = "#"  # in front of names that the twin invents: they can be no one else's
MOST = 400  # numbers of which all pairs are combined
INERTIAL = ("m", "cx", "cy", "cz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")  # as described: about the mass centre
AXES = "xyz"
GRAVITY = "gravity"


@dataclass(frozen=True, slots=True)
class Sources:
    """numbers: value (not negative) -> names of the parameters it is made of; `everything`: all names there are.

    bodies: name -> links whose inertia it describes.  silent: names of value 1, which leave no operation behind.
    """

    numbers: Mapping[Fraction, Names]
    everything: Names
    bodies: Mapping[str, tuple[str, ...]]
    silent: tuple[str, ...] = ()

    def of(self, value: Fraction) -> Names:
        """The names behind a number; all there are where nothing is known about it."""
        return self.numbers.get(abs(value), self.everything)


@dataclass
class _Twin:
    """Gives names to plain numbers."""

    values: dict[str, Fraction] = field(default_factory=dict)

    def named(self, scalar: Scalar, text: str) -> Scalar:
        if not isinstance(scalar, Fraction) or scalar == 0:
            return scalar
        label, number = f"{MARK}{text}", 1
        while label in self.values:
            number += 1
            label = f"{MARK}{text}_{number}"
        self.values[label] = scalar
        return name(label)

    def vector(self, v: Sequence[Scalar], texts: Sequence[str]) -> tuple[Scalar, Scalar, Scalar]:
        x, y, z = (self.named(s, text) for s, text in zip(v, texts, strict=True))
        return x, y, z

    def placement(self, moves: Placement, owner: str) -> Placement:
        made: list[object] = []
        for move in moves:
            if isinstance(move, Translate):
                made.append(Translate(self.vector(move.by, [f"{owner}.{c}" for c in AXES])))
            elif isinstance(move, Turn):
                made.append(Turn(move.axis, self.named(move.angle, f"{owner}.angle_{AXES[move.axis]}")))
            else:
                made.append(move)
        return tuple(made)  # type: ignore[arg-type]

    def link(self, link: Link) -> Link:
        if link.inertia is None:
            return link
        i = link.inertia
        labels = [f"{link.name}.{letter}" for letter in INERTIAL]
        m, *rest = (self.named(s, label) for s, label in zip((i.mass, *i.com, *i.moments), labels, strict=True))
        com, moments = (rest[0], rest[1], rest[2]), (rest[3], rest[4], rest[5], rest[6], rest[7], rest[8])
        return replace(link, inertia=replace(i, mass=m, com=com, moments=moments))

    def joint(self, joint: Joint) -> Joint:
        rotor = joint.rotor
        if rotor is not None:
            J = self.named(rotor.inertia, f"{joint.name}.rotor_inertia")
            rotor = replace(rotor, inertia=J, ratio=self.named(rotor.ratio, f"{joint.name}.ratio"))
        return replace(joint, rotor=rotor, placement=self.placement(joint.placement, joint.name))


def twin_of(mechanism: Mechanism) -> tuple[Mechanism, dict[str, Fraction]]:
    """The same description with names for its plain numbers, and their values."""
    twin = _Twin()
    links = tuple(twin.link(link) for link in mechanism.links)
    joints = tuple(twin.joint(joint) for joint in mechanism.joints)
    gravity = twin.vector(mechanism.gravity, [f"{GRAVITY}.{c}" for c in AXES])
    parameters = (*mechanism.parameters, *(Parameter(label, value) for label, value in twin.values.items()))
    made = replace(mechanism, links=links, joints=joints, gravity=gravity, parameters=parameters)
    return made, twin.values


class SourcedGraph(Graph):
    """A Graph in which named numbers stay symbols, so that equal ones are told apart, but vanish where numbers would.

    `values[node]`: the rational that a node made of them is; a result of value 0, 1 or -1 is that number.
    """

    def __init__(self, named: Mapping[str, Fraction]) -> None:
        self.named = named
        self.values: dict[int, Fraction] = {}
        super().__init__()

    def symbol(self, name: str, kind: Kind = "state") -> Ref:
        """The symbol of this name, or 1 or -1 where that is its value."""
        value = self.named.get(name) if kind == "parameter" else None
        if value is not None and abs(value) == 1:
            return self.number(value)
        ref = super().symbol(name, kind)
        if value is not None:
            self.values[ref >> 1] = value
            self.op[ref >> 1] = NAMED
        return ref

    def _rational(self, ref: Ref) -> Fraction | None:
        node = ref >> 1
        value = self.numbers.get(node) if self.level[node] == NUMBER else self.values.get(node)
        return -value if value is not None and ref & 1 else value

    def add(self, a: Ref, b: Ref) -> Ref:
        """a + b."""
        x, y = self._rational(a), self._rational(b)
        if x is None or y is None:
            return super().add(a, b)
        return self._settled(x + y, super().add(a, b))

    def mul(self, a: Ref, b: Ref) -> Ref:
        """a * b."""
        x, y = self._rational(a), self._rational(b)
        if x is None or y is None:
            return super().mul(a, b)
        return self._settled(x * y, super().mul(a, b))

    def div(self, a: Ref, b: Ref) -> Ref:
        """a / b."""
        x, y = self._rational(a), self._rational(b)
        if x is None or not y:
            return super().div(a, b)
        return self._settled(x / y, super().div(a, b))

    def _settled(self, value: Fraction, ref: Ref) -> Ref:
        if value in (0, 1, -1):
            return self.number(value)
        if self.level[ref >> 1] != NUMBER:
            self.values[ref >> 1] = -value if ref & 1 else value
        return ref

    def found(self, wanted: Collection[Fraction] | None = None) -> dict[Fraction, Names]:
        """Value (not negative) -> names behind all nodes of that value; `wanted`: only of these values."""
        rational = {n: abs(value) for n, value in (self.numbers | self.values).items()}
        chosen = [n for n, value in rational.items() if wanted is None or value in wanted]
        constants = sorted(needed(self, [2 * n for n in chosen]))
        place = {node: k for k, node in enumerate(constants)}
        args = [[2 * place[a >> 1] | (a & 1) for a in self.args[node]] for node in constants]
        names = {place[node]: symbol.name.removeprefix(MARK) for node, symbol in self.symbols.items() if node in place}
        leaves = {leaf: bit for bit, leaf in enumerate(names)}
        residues = [self.residue[node] for node in constants]
        made = behind([self.op[node] for node in constants], args, residues, leaves, self.field)
        together: dict[Fraction, int] = {}
        for node in chosen:
            together[rational[node]] = together.get(rational[node], 0) | made[place[node]]
        sets = {bits: frozenset(t for k, t in enumerate(names.values()) if bits >> k & 1) for bits in together.values()}
        return {value: sets[bits] for value, bits in together.items()}


def find_sources(
    mechanism: Described, task: str, program: Program, formulation: Formulation | None = None,
    parameters: Parameters = "numeric", external: Sequence[str] = (), frame: str | None = None,
) -> Sources:  # fmt: skip
    """The sources of the numbers in a program of a task, searched or not.

    formulation: the one that the program was searched in.  Numbers that later passes made of others are recognised as
    sums, products or quotients of two; what is still unknown counts as made of everything.
    """
    mechanism = mechanism_of(mechanism)
    twin, invented = twin_of(mechanism)
    free = program.parameter_names
    known = {p.name: p.value for p in mechanism.parameters if p.value is not None and p.name not in free} | invented
    graph = SourcedGraph(known)
    wanted = [*known, *free]
    _build(graph, twin, task, frame, wanted, external)
    if formulation is not None:
        system = formulated(_system(graph, twin, wanted), formulation, fresh=False)
        if system is not None:
            BUILDS[task](system, formulation, True)
    used = [abs(v.payload) for v in program.values if v.op == NUMBER_OP and isinstance(v.payload, Fraction)]
    numbers = graph.found(set(used))
    if len(numbers) < len(set(used)):
        numbers = _more(graph, twin if parameters == "numeric" else None, used, known.values())
    everything = frozenset(text.removeprefix(MARK) for text in wanted)
    silent = tuple(text.removeprefix(MARK) for text, value in known.items() if abs(value) == 1)
    return Sources(numbers, everything, _bodies(mechanism, everything), silent)


def _system(graph: Graph, twin: Mechanism, wanted: Sequence[str], external: Sequence[str] = ()) -> System:
    """As derive_system, without values: those of the twin's names are in the graph."""
    k = derive_kinematics(twin, [p.name for p in twin.parameters if p.name in wanted], graph)
    plain, _ = symbolic_bodies(k, node_bodies(k), wanted)
    return System(k, tuple(regroup(k, plain)), tuple(plain), tuple(rotor_terms(k)), {}, tuple(external))


def _build(
    graph: Graph, twin: Mechanism, task: str, frame: str | None, wanted: Sequence[str], external: Sequence[str]
) -> None:
    """The task in all its ways."""
    item = find_task(task)
    for build in (item.build, *(build for _, build in item.alternatives)):
        system = _system(graph, twin, wanted, external)
        for bodies in (system.bodies, system.plain):
            build(replace(system, bodies=bodies), frame)


def _explicit(graph: Graph, twin: Mechanism) -> None:
    """Numbers of the explicit model, which searched programs borrow from: in its numeric structure, by name."""
    try:
        model = explicit_model(twin)
    except (KaneError, ValueError):
        return
    model = replace(model, parameters={p.name: None for p in twin.parameters})
    for each in ("mass_matrix", "gravity_forces"):
        rebuild(explicit_program(model, each), graph)


def _more(
    graph: SourcedGraph, twin: Mechanism | None, used: Sequence[Fraction], named: Iterable[Fraction]
) -> dict[Fraction, Names]:
    """Sources of numbers of which some were made after derivation; twin: of a robot that an explicit model serves."""
    before = graph.found()
    if twin is not None:
        _explicit(graph, twin)
    numbers = graph.found()
    parts = [*(abs(value) for value in named), *(value for value in numbers if value not in before)]
    _complete(numbers, [*used, *dict.fromkeys(parts)])
    return numbers


def _complete(numbers: dict[Fraction, Names], used: Sequence[Fraction]) -> None:
    """Numbers of the program that later passes made of two, three or four known ones."""
    numbers.setdefault(Fraction(2), NONE)
    first: Mapping[Fraction, Names] = numbers
    second: Mapping[Fraction, Names] = numbers
    for _ in range(3):
        missing = [value for value in used if value not in numbers]
        for value in (*missing, *missing):  # some are made of others
            found = next(_splits(value, first, second), None)
            if found is not None:
                numbers[value] = found
        if all(value in numbers for value in missing):
            return
        if len(used) > MOST:
            return
        first, second = second, _combined([value for value in used if value in numbers], numbers)


def _splits(value: Fraction, first: Mapping[Fraction, Names], second: Mapping[Fraction, Names]) -> Iterator[Names]:
    """Names behind a number that is a sum, a difference, a product or a quotient of one of each."""
    for a, names in first.items():
        for b in (abs(value - a), value + a, *((value / a, value * a, a / value) if a else ())):
            if b in second:
                yield names | second[b]


def _combined(values: Sequence[Fraction], numbers: Mapping[Fraction, Names]) -> dict[Fraction, Names]:
    """Sums, differences, products and quotients of two numbers."""
    made: dict[Fraction, Names] = {}
    for k, a in enumerate(values):
        for b in values[k:]:
            for c in (a * b, a + b, abs(a - b), *((a / b, b / a) if a and b else ())):
                made.setdefault(c, numbers[a] | numbers[b])
    return made


def _bodies(mechanism: Mechanism, names: Names) -> dict[str, tuple[str, ...]]:
    """The links whose inertia mentions each name."""
    found: dict[str, list[str]] = {text: [] for text in sorted(names)}
    for link in mechanism.links:
        if link.inertia is None:
            continue
        i = link.inertia
        mentioned = {f"{link.name}.{letter}" for letter in (*INERTIAL, "hx", "hy", "hz")}
        for scalar in (i.mass, *i.com, *i.moments, *(s for move in i.axes for s in amounts(move))):
            mentioned |= scalar.names() if isinstance(scalar, Formula) else frozenset()
        for text in sorted(mentioned):
            found.setdefault(text, []).append(link.name)
    return {text: tuple(links) for text, links in found.items()}

