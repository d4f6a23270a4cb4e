"""A Program: the straight-line form of some outputs of a graph, and the only thing that printers and native code take.

`values` is one list of instructions; an operand is a signed reference `2 * index + sign` into that list.  Sections
follow each other: inputs, numbers, constants (depend on parameters only, computed once) and state.  Only what an
output needs is there.  `blocks` cuts the state section into pieces with live-in and live-out values
(rewrite/split.py).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple, TypeVar

from kane.graph.arena import CONSTANT, NUMBER, STATE, Graph, Kind, Ref

Section = Literal["input", "number", "constant", "state"]
INPUT_OP, NUMBER_OP = "input", "num"
Item = TypeVar("Item", bound=Hashable)


class Instruction(NamedTuple):
    """One value: op, signed operand references, and for inputs and numbers a payload.

    op is "input" (payload: index of the input array, element), "num" (payload: the rational), "pi", "add", "mul",
    "div", "sqrt", "sin", "cos", "fma" (a * b + c) or a name of functions.FUNCTIONS.  note: where it comes from.
    """

    op: str
    args: tuple[Ref, ...] = ()
    payload: Fraction | tuple[int, int] | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Input:
    """An input array of the function: one label (the user's name) an element; quaternions: groups of four unit ones."""

    name: str
    labels: tuple[str, ...]
    kind: Kind = "state"
    quaternions: tuple[tuple[str, ...], ...] = ()

    @property
    def size(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class Output:
    """An output array, row-major references; shape () is a scalar."""

    name: str
    shape: tuple[int, ...]
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """The instructions start..stop-1 of the state section, with the values that enter and leave."""

    start: int
    stop: int
    live_in: tuple[int, ...]
    live_out: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OperationCounts:
    """Operations that depend on the state; total = mul + add.  div, sqrt, trig and other functions stand apart."""

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    trig: int = 0
    trig_arguments: int = 0
    functions: int = 0

    @property
    def total(self) -> int:
        return self.mul + self.add

    def as_dict(self) -> dict[str, int]:
        names = ("mul", "add", "div", "sqrt", "trig", "trig_arguments", "total")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Program:
    """Straight-line code of one or several tasks."""

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    values: tuple[Instruction, ...]
    first_constant: int
    first_state: int
    blocks: tuple[Block, ...] = ()

    def __repr__(self) -> str:
        """In one line: the instructions of a robot fill a book."""
        c, names = self.counts, ", ".join(i.name for i in self.inputs)
        results = ", ".join(o.name for o in self.outputs)
        return f"<{self.name}({names}) -> {results}: {c.mul} mul, {c.add} add, {len(self.values)} instructions>"

    @property
    def constants(self) -> range:
        """Indices of the constants section."""
        return range(self.first_constant, self.first_state)

    @property
    def state(self) -> range:
        """Indices of the state section."""
        return range(self.first_state, len(self.values))

    def section(self, index: int) -> Section:
        if index >= self.first_state:
            return "state"
        if index >= self.first_constant:
            return "constant"
        return "input" if self.values[index].op == INPUT_OP else "number"

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Labels of the run-time parameters, in order."""
        return tuple(label for i in self.inputs if i.kind == "parameter" for label in i.labels)

    @property
    def counts(self) -> OperationCounts:
        """Operations of the state section by the counting rule.

        Free are constants and signs; fma is one mul and one add.
        """
        return count(self, self.state)

    @property
    def constant_counts(self) -> OperationCounts:
        """Operations of the constants section, computed once."""
        return count(self, self.constants)

    def nonzero(self, output: str) -> tuple[bool, ...]:
        """For each element of an output, row-major: False where it is zero identically.  KeyError for another name."""
        refs = {o.name: o.refs for o in self.outputs}[output]
        return tuple(self.values[r >> 1].op != NUMBER_OP or self.values[r >> 1].payload != 0 for r in refs)

    def renamed(self, name: str) -> Program:
        return replace(self, name=name)


def count(program: Program, indices: range) -> OperationCounts:
    """Operations among these values."""
    tally = dict.fromkeys(("mul", "add", "div", "sqrt", "trig", "functions"), 0)
    arguments = set()
    for index in indices:
        op, args = program.values[index].op, program.values[index].args
        if op == "fma":
            tally["mul"] += 1
            tally["add"] += 1
        elif op in ("sin", "cos"):
            tally["trig"] += 1
            arguments.add(args[0] >> 1)
        elif op in tally:
            tally[op] += 1
        elif op not in ("pi", NUMBER_OP, INPUT_OP):
            tally["functions"] += 1
    return OperationCounts(trig_arguments=len(arguments), **tally)


Outputs = Sequence[tuple[str, tuple[int, ...], Sequence[Ref]]]


def build_program(graph: Graph, name: str, inputs: Sequence[Input], outputs: Outputs) -> Program:
    """The program of these outputs (name, shape, references), dead code left out.

    State values are in depth-first order from the outputs.  Raises ValueError when an output depends on a symbol that
    no input carries.
    """
    order = needed(graph, [ref for _, _, refs in outputs for ref in refs])
    place = {graph_name: (i, k) for i, array in enumerate(inputs) for k, graph_name in enumerate(array.labels)}
    strange = {symbol.name for node in order if (symbol := graph.symbols.get(node)) and symbol.name not in place}
    if strange:
        graph, outputs = _freed(graph, name, strange, outputs)
        order = needed(graph, [ref for _, _, refs in outputs for ref in refs])
    values: list[Instruction] = []
    index: dict[int, int] = {}
    for i, array in enumerate(inputs):
        values += [Instruction(INPUT_OP, (), (i, k), label) for k, label in enumerate(array.labels)]
    first = {label: n for n, label in enumerate(label for array in inputs for label in array.labels)}
    for node in order:
        if graph.op[node] == "sym":
            index[node] = first[graph.symbols[node].name]
    starts = []
    for level in (NUMBER, CONSTANT, STATE):
        starts.append(len(values))
        for node in order:
            if graph.level[node] == level and graph.op[node] != "sym":
                index[node] = len(values)
                args = tuple(2 * index[a >> 1] + (a & 1) for a in graph.args[node])
                values.append(Instruction(graph.op[node], args, graph.numbers.get(node), graph.note[node]))
    made = tuple(  # zero has no sign
        Output(n, tuple(s), tuple(2 * index[r >> 1] + (r & 1 if r > 1 else 0) for r in refs)) for n, s, refs in outputs
    )
    return Program(name, tuple(inputs), made, tuple(values), starts[1], starts[2])


def _freed(graph: Graph, name: str, strange: set[str], outputs: Outputs) -> tuple[Graph, Outputs]:
    """The outputs without symbols that their structure mentions but their value does not depend on.

    Nodes are shared by value, so this happens; such a symbol set to zero changes nothing, which the residues confirm.
    Raises ValueError when the value does depend on one.
    """
    from kane.graph.transplant import transplant

    target = Graph(graph.field)
    for group in graph.quaternions:
        target.unit_quaternion(group)
    result = []
    for title, shape, refs in outputs:
        moved = transplant(graph, refs, target, dict.fromkeys(strange, target.zero))
        if any(target.residue_of(b) != graph.residue_of(a) for a, b in zip(refs, moved, strict=True)):
            raise ValueError(f"{name}: {title} depends on {', '.join(sorted(strange))}, which are no inputs")
        result.append((title, shape, moved))
    return target, result


def needed(graph: Graph, roots: Iterable[Ref]) -> list[int]:
    """The nodes that the roots need, operands before users, depth first."""
    args = graph.args
    seen: set[int] = set()
    order: list[int] = []
    for root in roots:
        stack = [root >> 1]  # no recursion: chains are deep
        while stack:
            node = stack.pop()
            if node < 0:  # ~node: its operands are done
                order.append(~node)
            elif node not in seen:
                seen.add(node)
                operands = args[node]
                if not operands:
                    order.append(node)
                    continue
                stack.append(~node)
                for a in reversed(operands):
                    if a >> 1 not in seen:
                        stack.append(a >> 1)
    return order


def has_symbols(graph: Graph, ref: Ref) -> bool:
    """Whether an expression is written with symbols."""
    return any(graph.op[n] == "sym" for n in needed(graph, [ref]))


def operands_first(roots: Iterable[Item], operands: Callable[[Item], Iterable[Item]]) -> list[Item]:
    """Roots and what they need, operands before users, depth first; the last operand given is visited first."""
    seen: set[Item] = set()
    order: list[Item] = []
    for root in roots:
        stack = [(root, False)]  # no recursion: chains are deep
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack += [(operand, False) for operand in operands(node) if operand not in seen]
    return order
