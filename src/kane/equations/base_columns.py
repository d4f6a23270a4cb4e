"""Which columns of the regressor are independent: decided at random states modulo random primes, parents first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from kane.equations.inertial import PARAMETERS, BodyInertia, RotorTerm
from kane.equations.modular import Echelon, row_space
from kane.equations.recursion import inverse_dynamics
from kane.equations.system import System
from kane.equations.tasks.regressors import parameter_columns, regressor_rows
from kane.errors import InputError
from kane.graph.arena import Ref
from kane.graph.evaluate import evaluate
from kane.graph.field import Field
from kane.graph.program import Input, Program, build_program
from kane.kinematics import vectors as v
from kane.kinematics.coordinates import symbol_name
from kane.mechanism.joints import joint_type

Rotors = Literal["given", "all", "none"]
Array = np.ndarray[Any, np.dtype[np.float64]]
WEAK = 1e-6  # of a column's length: what it may have in common with no column before it and still be taken last
SEEDS = (101, 102)  # of the two random primes


def rotor_columns(system: System, rotors: Rotors = "given") -> list[RotorTerm]:
    """A rotor of unit inertia for each extra column; reflected ones with ratio 1: the parameter is J ratio^2."""
    if rotors not in ("given", "all", "none"):
        raise InputError(
            f"rotors is {rotors!r}.", name="rotors", value=repr(rotors), remedy="Use 'given', 'all' or 'none'."
        )
    if rotors == "none":
        return []
    g, mechanism = system.g, system.k.mechanism
    terms = {r.joint: r if r.carrier is not None else replace(r, ratio=g.one) for r in system.rotors}
    if rotors == "all":
        for index, node in enumerate(system.k.tree.nodes):
            joint = mechanism.joint(node.joint)
            simple = len(joint_type(joint).coordinates(joint)) == 1 and joint.mimic is None
            if simple and node.links and joint.rotor is None:
                terms[joint.name] = RotorTerm(joint.name, index, g.one, g.one)
    order = {joint.name: i for i, joint in enumerate(mechanism.joints)}
    return [replace(terms[name], inertia=g.one) for name in sorted(terms, key=order.__getitem__)]


def column_names(system: System, terms: Sequence[RotorTerm]) -> tuple[str, ...]:
    """Names of all columns: ten a body, then the rotors."""
    bodies = [name for _, name in parameter_columns(system)]
    return (*bodies, *(f"{r.joint}.{'Im' if r.carrier is None else 'J'}" for r in terms))


def full_rows(system: System, terms: Sequence[RotorTerm]) -> list[list[Ref]]:
    """Y (nv, n_full): the regressor with the rotors' columns."""
    k, s = system.k, system.k.symbols
    rows = [list(row) for row in regressor_rows(system, s.u, s.udot)] or [[] for _ in s.u]
    nothing = [BodyInertia() for _ in k.tree.nodes]
    for term in terms:
        column = inverse_dynamics(k, nothing, [term], s.u, s.udot, v.ZERO)
        for row, ref in zip(rows, column, strict=True):
            row.append(ref)
    return rows


def _program(system: System, rows: Sequence[Sequence[Ref]]) -> Program:
    inputs = [system.input(name) for name in ("q", "qd", "qdd")] + [Input("t", ("t",))]
    if system.parameters:
        inputs.append(system.input("p"))
    shape = (len(rows), len(rows[0]) if rows else 0)
    return build_program(system.g, "regressor", inputs, [("Y", shape, [e for row in rows for e in row])])


def preference(system: System, rotors: int) -> list[int]:
    """Columns in the order they are taken: parents first, rotors last; in a body last what its joint passes on."""
    order: list[int] = []
    for start, (index, _) in enumerate(parameter_columns(system)[:: len(PARAMETERS)]):
        m = system.k.motions[index]
        own = list(range(len(PARAMETERS)))
        if m.kind == "turn" and m.axis is not None:
            passed = [PARAMETERS.index(n) for n in passed_by_turn(m.axis)]
            own = [c for c in own if c not in passed] + passed
        order += [10 * start + c for c in own]
    return [*order, *range(len(order), len(order) + rotors)]


def passed_by_turn(axis: int) -> tuple[str, str, str]:
    j = (axis + 2) % 3
    return ("I" + 2 * "xyz"[j], "h" + "xyz"[axis], "m")


@dataclass(frozen=True, slots=True)
class Spaces:
    """The row spaces at each prime, in columns by preference; base: independent columns, ascending.

    weak: columns that are combinations of those before them to a millionth.
    """

    program: Program
    order: tuple[int, ...]
    weak: frozenset[int]
    fields: tuple[Field, ...]
    echelons: tuple[Echelon, ...]

    @property
    def base(self) -> tuple[int, ...]:
        return tuple(sorted(self.order[pivot] for pivot in self.echelons[0].rows))

    def relation(self, column: int) -> dict[int, list[int]]:
        """The column as a combination of base columns: column -> residue at each prime."""
        place = self.order.index(column)
        found: dict[int, list[int]] = {}
        for pivot in sorted(self.echelons[0].rows):
            residues = [e.rows[pivot].get(place, 0) for e in self.echelons]
            if any(residues):
                found[self.order[pivot]] = residues
        return found


def spaces(system: System, terms: Sequence[RotorTerm], primes: int = len(SEEDS)) -> Spaces:
    """The row space of the regressor at random primes, which agree on the independent columns."""
    program = _program(system, full_rows(system, terms))
    order = preference(system, len(terms))
    weak = weak_columns(sampled(system, program), order)
    order = [c for c in order if c not in weak] + [c for c in order if c in weak]
    groups = [[symbol_name("q", n) for n in names] for names, _ in system.k.coordinates.quaternions]
    fields = [Field.random(seed) for seed in SEEDS[:primes]]
    echelons = [row_space(program, order, field, groups) for field in fields]
    while len({frozenset(e.rows) for e in echelons}) > 1:  # by chance something vanishes at one: it has the lower rank
        worst = min(range(primes), key=lambda i: len(echelons[i].rows))
        fields[worst] = Field.random(fields[worst].seed + 1000)
        echelons[worst] = row_space(program, order, fields[worst], groups)
    return Spaces(program, tuple(order), weak, tuple(fields), tuple(echelons))


def sampled(system: System, program: Program) -> Array:
    """The regressor at random states, rows stacked: floating point."""
    rng = np.random.default_rng(1)
    c = system.k.coordinates
    n = 20 + program.outputs[0].shape[1] // 4
    q = rng.uniform(-1, 1, (n, len(c.angles))) * np.array([np.pi if angle else 1.0 for angle in c.angles])
    for names, _ in c.quaternions:
        at = [c.names.index(name) for name in names]
        q[:, at] /= np.linalg.norm(q[:, at], axis=1, keepdims=True)
    arrays = {"q": q, "t": rng.uniform(0, 1, (n, 1))}
    arrays |= {name: rng.uniform(-1, 1, (n, system.nv)) for name in ("qd", "qdd")}
    arrays["p"] = np.array([np.nan if x is None else x for x in system.parameters.values()])
    Y = evaluate(program, arrays)["Y"]
    return Y.reshape(n * system.nv, Y.shape[-1])


def weak_columns(Y: Array, order: Sequence[int]) -> frozenset[int]:
    """Columns that those before them make to WEAK of their length, dependent ones included (modified Gram-Schmidt)."""
    if not np.isfinite(Y).all() or not Y.size:
        return frozenset()
    lengths = np.linalg.norm(Y, axis=0)
    zero = lengths <= 1e-9 * lengths.max()
    rest: Any = np.linalg.qr(Y / np.where(zero, 1.0, lengths), mode="r")
    weak = set(np.flatnonzero(zero).tolist())
    for place, c in enumerate(order):
        if c in weak:
            continue
        length = np.linalg.norm(rest[:, c])
        if length < WEAK:
            weak.add(c)
            continue
        direction = rest[:, c] / length
        later = list(order[place + 1 :])
        rest[:, later] -= np.outer(direction, direction @ rest[:, later])
    return frozenset(weak)


def base_columns(system: System, terms: Sequence[RotorTerm]) -> tuple[int, ...]:
    """The independent columns of the regressor, ascending (one random prime)."""
    return spaces(system, terms, 1).base
