"""Where every operation of a program comes from: terms of the equations, bodies, parameters, joints, outputs.

By data flow, so that it serves any program, however it was rewritten.  Parameters are those that influence an
operation: run-time ones, and those that its numbers are made of.  Bodies are those whose inertia these parameters
describe; joints those whose coordinates, speeds or accelerations it depends on; outputs those that it feeds.  Terms
are the notes of origin that derivation left on an operation or, where it left none, on the nearest operations that
use it; where there is none at all, the task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kane.graph.arena import Graph
from kane.graph.evaluate import rebuild
from kane.graph.program import INPUT_OP, NUMBER_OP, Program
from kane.search.influence import behind
from kane.search.sources import Sources

SIGNS = {"add": "+", "mul": "*", "div": "/"}


@dataclass(frozen=True, slots=True)
class Traced:
    """One operation and its origin; `index`: its place in program.values; `text`: the operation as a line."""

    index: int
    section: str
    text: str
    terms: tuple[str, ...]
    bodies: tuple[str, ...]
    parameters: tuple[str, ...]
    joints: tuple[str, ...]
    outputs: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        return {
            "index": self.index, "section": self.section, "operation": self.text, "terms": list(self.terms),
            "bodies": list(self.bodies), "parameters": list(self.parameters), "joints": list(self.joints),
            "outputs": list(self.outputs),
        }  # fmt: skip


class _Sets:
    """Sets of names as bits of integers, names in the order of their first mention."""

    def __init__(self) -> None:
        self.place: dict[str, int] = {}
        self._known: dict[int, tuple[str, ...]] = {}

    def bit(self, name: str) -> int:
        return self.place.setdefault(name, len(self.place))

    def bits(self, names: Iterable[str]) -> int:
        total = 0
        for name in names:
            total |= 1 << self.bit(name)
        return total

    def names(self, bits: int) -> tuple[str, ...]:
        known = self._known.get(bits)
        if known is None:
            texts = tuple(self.place)
            known = self._known[bits] = tuple(texts[k] for k in _ones(bits))
        return known


def _ones(bits: int) -> Iterator[int]:
    """Places of the ones."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def trace(program: Program, sources: Sources, joint_of: Callable[[str], str] = str) -> tuple[Traced, ...]:
    """The origin of every operation of a program, constants first.

    sources: of its numbers (sources.py); joint_of: the joint behind the label of a state input ("qd_elbow" -> "elbow").
    """
    parameters, joints, terms, outputs = _Sets(), _Sets(), _Sets(), _Sets()
    parameters.bits(sorted(sources.everything))
    made, moved = _parameters(program, sources, parameters), _joints(program, joints, joint_of)
    fed, noted = _backward(program, terms, outputs)
    names = _names(program)
    result = []
    for index in range(program.first_constant, len(program.values)):
        own = parameters.names(made[index])
        bodies = dict.fromkeys(body for name in own for body in sources.bodies.get(name, ()))
        term = terms.names(noted[index]) or (program.name,)
        result.append(
            Traced(
                index, program.section(index), f"{names[index]} = {_formula(program, index, names)}",
                term, tuple(bodies), own, joints.names(moved[index]), outputs.names(fed[index]),
            )
        )  # fmt: skip
    return tuple(result)


def _parameters(program: Program, sources: Sources, parameters: _Sets) -> list[int]:
    """Parameters behind each value: run-time ones that influence it, and those that its numbers are made of."""
    graph = Graph()
    residues = [graph.residue_of(ref) for ref in rebuild(program, graph)]
    leaves = {}
    for index in range(sum(item.size for item in program.inputs)):
        array, element = program.values[index].payload  # type: ignore[misc]
        if program.inputs[array].kind == "parameter":
            leaves[index] = parameters.bit(program.inputs[array].labels[element])
    runtime = sum(1 << bit for bit in leaves.values())
    made = behind([v.op for v in program.values], [v.args for v in program.values], residues, leaves, graph.field)
    for index, (op, args, payload, _) in enumerate(program.values):
        if op == NUMBER_OP:
            made[index] |= parameters.bits(sorted(sources.of(payload)))  # type: ignore[arg-type]
        for a in args:
            made[index] |= made[a >> 1] & ~runtime
    return made


def _joints(program: Program, joints: _Sets, joint_of: Callable[[str], str]) -> list[int]:
    """Joints behind each value."""
    moved: list[int] = []
    for op, args, payload, _ in program.values:
        state = 0
        if op == INPUT_OP:
            array, element = payload  # type: ignore[misc]
            item = program.inputs[array]
            state = joints.bits([joint_of(item.labels[element])]) if item.kind == "state" else 0
        for a in args:
            state |= moved[a >> 1]
        moved.append(state)
    return moved


def _backward(program: Program, terms: _Sets, outputs: _Sets) -> tuple[list[int], list[int]]:
    """Outputs that each value feeds, and its terms."""
    fed = [0] * len(program.values)
    noted = [0] * len(program.values)
    for out in program.outputs:
        for k, ref in enumerate(out.refs):
            fed[ref >> 1] |= outputs.bits([_element(out.name, out.shape, k)])
    for index in reversed(range(len(program.values))):
        _, args, _, note = program.values[index]
        if note and index >= program.first_constant:
            noted[index] = terms.bits([note])
        for a in args:
            fed[a >> 1] |= fed[index]
            noted[a >> 1] |= noted[index]
    for index in range(program.first_constant, len(program.values)):  # nothing behind it is noted: what it is made of
        if not noted[index]:
            for a in program.values[index].args:
                noted[index] |= noted[a >> 1] if a >> 1 >= program.first_constant else 0
    return fed, noted


def _element(name: str, shape: Sequence[int], flat: int) -> str:
    """tau[2]; M[1, 3]."""
    at: list[str] = []
    for n in reversed(shape):
        flat, i = divmod(flat, n)
        at.append(str(i))
    return f"{name}[{', '.join(reversed(at))}]" if shape else name


def _names(program: Program) -> list[str]:
    """Inputs by their labels, numbers by value, constants c1, c2, ..., values t1, t2, ..."""
    names = []
    for index, (op, _, payload, _) in enumerate(program.values):
        if op == INPUT_OP:
            assert isinstance(payload, tuple)
            names.append(program.inputs[payload[0]].labels[payload[1]])
        elif op == NUMBER_OP:
            names.append(f"{float(payload):.6g}")  # type: ignore[arg-type]
        elif index < program.first_state:
            names.append(f"c{index - program.first_constant + 1}")
        else:
            names.append(f"t{index - program.first_state + 1}")
    return names


def _formula(program: Program, index: int, names: Sequence[str]) -> str:
    op, args, _, _ = program.values[index]
    shown = [f"-{names[a >> 1]}" if a & 1 else names[a >> 1] for a in args]
    if op == "add" and len(shown) == 2:
        first, second = (shown[1], shown[0]) if args[0] & 1 and not args[1] & 1 else shown
        return f"{first} - {second[1:]}" if second.startswith("-") else f"{first} + {second}"
    if op == "fma":
        return f"{shown[0]} * {shown[1]} + {shown[2]}"
    if op in SIGNS:
        return f" {SIGNS[op]} ".join(shown)
    return f"{op}({', '.join(shown)})" if args else op
