"""A Program's sections as LLVM IR: straight-line functions for one state or for a vector of states.

Both come from the same text with another type, so that they agree to the last bit.  Arguments of a state function:

    c                       values of the constants section (scalars)
    in0, in1, ...           input arrays; in vector form each with the distance of its elements in bytes
    out0, out1, ...         output arrays, likewise

Numbers are literals; vector functions for processors that broadcast nothing inside an operation read them from a table
of whole vectors, which is an operand of the operation where a broadcast is an instruction more.

Values that one block hands to another, and the results of sines and cosines, are in a frame on the stack.  Vector
functions of few columns load them and the inputs again after a while: registers would be stored a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kane.graph.program import Program
from kane.native import functions
from kane.native.ahead import STREAMS
from kane.native.sincos import far_function, sincos_function
from kane.native.text import Type

TRIG = ("sin", "cos")
AGAIN = 60  # operations after which what is in memory is loaded again
TABLE = 32  # bytes of the longest vectors without broadcasts inside operations (AVX2; AVX-512 has them)


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants section: what is a number already, and the place of what parameters decide."""

    folded: Mapping[int, float]
    place: Mapping[int, int]

    @property
    def size(self) -> int:
        return len(self.place)


@dataclass(slots=True)
class _Frame:
    """Stack slots of T-sized values, given out and taken back."""

    unit: int
    size: int = 0
    free: list[int] = field(default_factory=list)
    at: dict[int, int] = field(default_factory=dict)

    def give(self, index: int) -> None:
        if self.free:
            self.at[index] = self.free.pop()
        else:
            self.at[index] = self.size
            self.size += self.unit

    def give_run(self, indices: Sequence[int | None], length: int, unit: int) -> int:
        """Neighbouring slots, the first at a multiple of the vector's length."""
        start = -(-self.size // length) * length
        self.size = start + length * (-(-len(indices) * unit // length))
        for n, index in enumerate(indices):
            if index is not None:
                self.at[index] = start + n * unit
        return start


@dataclass(frozen=True, slots=True)
class _Numbers:
    """A table of vectors, each of one number in all lanes."""

    t: Type
    places: dict[str, int] = field(default_factory=dict)

    def place(self, value: float) -> int:
        """The offset (bytes) of a number's vector."""
        return self.places.setdefault(self.t.literal(value), len(self.places)) * self.t.bytes

    def text(self) -> str:
        rows = ", ".join(f"{self.t.name} {literal}" for literal in self.places)
        return f"@numbers = internal constant [{len(self.places)} x {self.t.name}] [{rows}], align 64\n!1 = !{{}}\n"


def state_functions(program: Program, constants: Constants, t: Type, trig: Type, name: str) -> str:
    """IR of `@name`: the state section for scalars (t.lanes = 1) or vectors; trig: the type of its sine passes."""
    crossing = _Frame(t.bytes)
    blocks = [(b.start, b.stop) for b in program.blocks] or [(program.first_state, len(program.values))]
    texts, calls = [], []
    signature = _signature(program, t)
    last = _last_blocks(program)
    table = _Numbers(t) if 1 < t.lanes and t.bytes <= TABLE else None
    for number, (start, stop) in enumerate(blocks):
        writer = _Writer(program, constants, t, trig, crossing, _stores(program, start, stop, number == 0), table)
        body = writer.block(start, stop, {i for b in program.blocks for i in b.live_out if start <= i < stop})
        for index in [i for i, block in last.items() if block == number and i in crossing.at]:
            crossing.free.append(crossing.at[index])
        block_name = f"{name}_{number}" if len(blocks) > 1 else ""
        if block_name:
            calls.append(f"  call void @{block_name}(ptr %frame, {signature.replace(' noalias', '')})")
            head = f"define internal void @{block_name}(ptr noalias %frame, {signature}) noinline {{"
            texts.append("\n".join([head, *body, "  ret void", "}", ""]))
        else:
            calls = body
    head = f"define void @{name}({signature}) noinline {{"
    frame = [f"  %frame = alloca i8, i64 {max(crossing.size, 1)}, align 64"]
    texts += [table.text()] if table is not None else []
    return "\n".join([*texts, head, *frame, *calls, "  ret void", "}", ""])


def constants_function(program: Program, constants: Constants, t: Type, trig: Type, name: str) -> str:
    """IR of `@name(c, p0, ...)`: what the parameters decide, computed into c."""
    parameters = [i for i, array in enumerate(program.inputs) if array.kind == "parameter"]
    stores: dict[int, list[tuple[str, int, int]]] = {}
    for index, place in constants.place.items():
        stores.setdefault(index, []).append(("%c", place, 0))
    frame = _Frame(t.bytes)
    writer = _Writer(program, Constants(constants.folded, {}), t, trig, frame, outputs=stores)
    body = writer.block(program.first_constant, program.first_state, set())
    arguments = ", ".join(["ptr noalias %c", *(f"ptr noalias %in{i}" for i in parameters)])
    head = f"define void @{name}({arguments}) noinline {{"
    return "\n".join([head, f"  %frame = alloca i8, i64 {max(frame.size, 1)}, align 64", *body, "  ret void", "}", ""])


def support(program: Program, t: Type, trig: Type) -> str:
    """IR of the helpers that functions of type t with sine passes of type trig call, and the declarations."""
    passes = [trig, trig.widened(2 * trig.lanes)]
    used = {value.op for value in program.values}
    scalar = Type(t.scalar, 1)
    lines = [functions.library_table(scalar, (used | set(TRIG)) & set(functions.LIBRARY))]
    for each in dict.fromkeys([scalar, t, *passes]):
        for op, arity in {"fma": 3, "sqrt": 1, "fabs": 1}.items():
            lines.append(f"declare {each.name} @llvm.{op}.{each.suffix}({', '.join([each.name] * arity)})")
    lines.append(far_function(scalar))
    lines += [sincos_function(each) for each in passes]
    if t.lanes > 1:
        lines += [functions.lane_function(op, t) for op in functions.LIBRARY if op in used and op not in TRIG]
    lines.append('!0 = !{!"branch_weights", i32 1, i32 100000}')
    return "\n".join(lines) + "\n"


def _signature(program: Program, t: Type) -> str:
    parts = ["ptr noalias %c"]
    for kind, count in (("in", len(program.inputs)), ("out", len(program.outputs))):
        for i in range(count):
            if kind == "in" and program.inputs[i].kind == "parameter":
                continue
            parts.append(f"ptr noalias %{kind}{i}")
            if t.lanes > 1:
                parts.append(f"i64 %{kind}{i}_step")
    return ", ".join(parts)


def _last_blocks(program: Program) -> dict[int, int]:
    last: dict[int, int] = {}
    for number, block in enumerate(program.blocks):
        for index in block.live_in:
            last[index] = number
    return last


def _stores(program: Program, start: int, stop: int, first: bool) -> dict[int, list[tuple[str, int, int]]]:
    """Output elements by the value they show: array, element, sign; the first block also has what needs no state."""
    stores: dict[int, list[tuple[str, int, int]]] = {}
    for n, out in enumerate(program.outputs):
        for k, ref in enumerate(out.refs):
            if start <= ref >> 1 < stop or (first and ref >> 1 < program.first_state):
                stores.setdefault(ref >> 1, []).append((f"%out{n}", k, ref & 1))
    return stores


class _Writer:
    """Writes one block.  Computed values are %v<index>; loads and negatives come at their first use."""

    def __init__(
        self, program: Program, constants: Constants, t: Type, trig: Type, frame: _Frame,
        outputs: dict[int, list[tuple[str, int, int]]], table: _Numbers | None = None,
    ) -> None:  # fmt: skip
        self.program, self.constants, self.t, self.trig = program, constants, t, trig
        self.frame, self.outputs, self.table = frame, outputs, table
        columns = sum(i.size for i in program.inputs if i.kind == "state") + sum(len(o.refs) for o in program.outputs)
        self.again = t.lanes > 1 and columns < STREAMS  # of many columns loads from afar should begin early
        self.lines: list[str] = []
        self.known: dict[int, str] = {}  # by signed reference
        self.counter = 0

    def block(self, start: int, stop: int, leaving: set[int]) -> list[str]:
        """Lines of the instructions start..stop-1."""
        for index in sorted(i for i in self.outputs if not start <= i < stop):
            self.store_outputs(index)
        index = loaded = start
        while index < stop:
            if self.again and index - loaded > AGAIN:
                loaded = index
                self.forget()
            op, args, _, _ = self.program.values[index]
            if op in TRIG:
                end = self.trig_run(index, stop)
                self.sines(range(index, end))
                for i in range(index, end):
                    self.store_outputs(i)
                index = end
                continue
            if index not in self.constants.folded:  # numbers come at their first use
                self.instruction(index, op, args)
            self.store_outputs(index)
            if index in leaving:
                self.frame.give(index)
                pointer = self.address("%frame", self.frame.at[index])
                self.emit(f"store {self.t.name} {self.operand(2 * index)}, ptr {pointer}, align {self.t.bytes}")
            index += 1
        return self.lines

    def emit(self, line: str) -> None:
        self.lines.append("  " + line)

    def fresh(self) -> str:
        self.counter += 1
        return f"%t{self.counter}"

    # operands

    def forget(self) -> None:
        """From here on, what is in memory is loaded again; the barrier keeps the compiler from joining the loads."""
        self.emit('call void asm sideeffect "", "~{memory}"()')
        self.known = {ref: name for ref, name in self.known.items() if not self.in_memory(ref >> 1)}

    def in_memory(self, index: int) -> bool:
        """Whether a value is an input, a constant by parameters, or on the frame."""
        found = self.program.section(index) == "input" or index in self.constants.place
        return found or index in self.frame.at

    def operand(self, ref: int) -> str:
        """The IR name of a signed reference."""
        name = self.known.get(ref)
        if name is None:
            if ref & 1 and ref >> 1 in self.constants.folded:
                name = self.number(-self.constants.folded[ref >> 1])
            elif ref & 1:
                positive = self.operand(ref ^ 1)
                name = self.fresh()
                self.emit(f"{name} = fneg {self.t.name} {positive}")
            else:
                name = self.leaf(ref >> 1)
            self.known[ref] = name
        return name

    def leaf(self, index: int) -> str:
        """A value that this block does not compute."""
        program, t = self.program, self.t
        section = program.section(index)
        if index in self.constants.folded:
            return self.number(self.constants.folded[index])
        if index in self.constants.place:
            return self.load_constant(self.fresh(), self.constants.place[index])
        if section == "input":
            array, element = program.values[index].payload  # type: ignore[misc]
            return self.load_element(self.fresh(), f"%in{array}", element)
        name, pointer = self.fresh(), self.address("%frame", self.frame.at[index])
        align = t.bytes if t.lanes > 1 else t.scalar_bytes
        self.emit(f"{name} = load {t.name}, ptr {pointer}, align {align}")
        return name

    def number(self, value: float) -> str:
        """A number in every lane."""
        if self.table is None:
            return self.t.literal(value)
        name, pointer = self.fresh(), self.address("@numbers", self.table.place(value))
        self.emit(f"{name} = load {self.t.name}, ptr {pointer}, align {self.t.bytes}, !invariant.load !1")
        return name

    def address(self, base: str, offset: int) -> str:
        if offset == 0:
            return base
        name = self.fresh()
        self.emit(f"{name} = getelementptr i8, ptr {base}, i64 {offset}")
        return name

    def element(self, array: str, k: int) -> str:
        """The address of element k of an input or output array."""
        if self.t.lanes == 1:
            return self.address(array, k * self.t.scalar_bytes)
        if k == 0:
            return array
        offset, name = self.fresh(), self.fresh()
        self.emit(f"{offset} = mul i64 {array}_step, {k}")
        self.emit(f"{name} = getelementptr i8, ptr {array}, i64 {offset}")
        return name

    def load_element(self, name: str, array: str, k: int) -> str:
        pointer = self.element(array, k)
        self.emit(f"{name} = load {self.t.name}, ptr {pointer}, align {self.t.scalar_bytes}")
        return name

    def load_constant(self, name: str, place: int) -> str:
        t = self.t
        pointer = self.address("%c", place * t.scalar_bytes)
        if t.lanes == 1:
            self.emit(f"{name} = load {t.name}, ptr {pointer}, align {t.scalar_bytes}")
            return name
        one, row = self.fresh(), self.fresh()
        self.emit(f"{one} = load {t.scalar}, ptr {pointer}, align {t.scalar_bytes}")
        self.emit(f"{row} = insertelement {t.name} undef, {t.scalar} {one}, i32 0")
        self.emit(f"{name} = shufflevector {t.name} {row}, {t.name} undef, <{t.lanes} x i32> zeroinitializer")
        return name

    def store_outputs(self, index: int) -> None:
        for array, k, sign in self.outputs.get(index, ()):
            value = self.operand(2 * index + sign)
            pointer = self.element(array, k)
            self.emit(f"store {self.t.name} {value}, ptr {pointer}, align {self.t.scalar_bytes}")

    # instructions

    def instruction(self, index: int, op: str, args: tuple[int, ...]) -> None:
        t, name = self.t, f"%v{index}"
        self.known[2 * index] = name
        if op == "add":
            a, b = args if not args[0] & 1 else (args[1], args[0])
            minus = b & 1 and not a & 1
            left, right = self.operand(a), self.operand(b ^ 1 if minus else b)
            self.emit(f"{name} = {'fsub' if minus else 'fadd'} {t.name} {left}, {right}")
            return
        a_ = [self.operand(a) for a in args]
        if op in ("mul", "div"):
            self.emit(f"{name} = f{op} {t.name} {a_[0]}, {a_[1]}")
        elif op == "fma":
            joined = ", ".join(f"{t.name} {a}" for a in a_)
            self.emit(f"{name} = call {t.name} @llvm.fma.{t.suffix}({joined})")
        else:
            for line in functions.emit(op, t, name, a_):
                self.emit(line)

    # sines and cosines

    def trig_run(self, start: int, stop: int) -> int:
        """The end of the run of sines and cosines that do not need each other."""
        end = start
        while end < stop and self.program.values[end].op in TRIG:
            if start <= self.program.values[end].args[0] >> 1 < end:
                break
            end += 1
        return end

    def sines(self, run: range) -> None:
        """One pass for the run: results go to the frame."""
        wanted: dict[int, dict[str, int]] = {}
        for index in run:
            op, args, _, _ = self.program.values[index]
            wanted.setdefault(args[0], {})[op] = index
        for group, trig in self.passes(list(wanted)):
            operands = [self.operand(a) for a in group]
            places = {}
            for part in TRIG:
                indices = [wanted[a].get(part) for a in group]
                places[part] = self.frame.give_run(indices, trig.bytes, self.t.bytes)
            vector = self.packed(operands, trig) if self.t.lanes == 1 else self.joined(operands)
            s, c = (self.address("%frame", places[part]) for part in TRIG)
            self.emit(f"call void @sincos_{trig.lanes}({trig.name} {vector}, ptr {s}, ptr {c})")

    def passes(self, arguments: list[int]) -> Iterator[tuple[list[int], Type]]:
        """Arguments in groups that fill a vector, or two at once while there are enough."""
        start = 0
        while start < len(arguments):
            wide = len(arguments) - start > self.trig.lanes // self.t.lanes
            trig = self.trig.widened(self.trig.lanes * (1 + wide))
            count = trig.lanes // self.t.lanes
            yield arguments[start : start + count], trig
            start += count

    def packed(self, operands: Sequence[str], trig: Type) -> str:
        """Scalars in the lanes of one vector."""
        before = trig.literal(0.0)
        if trig.lanes == 1:
            return operands[0]
        for lane, operand in enumerate(operands):
            name = self.fresh()
            self.emit(f"{name} = insertelement {trig.name} {before}, {trig.scalar} {operand}, i32 {lane}")
            before = name
        return before

    def joined(self, operands: Sequence[str]) -> str:
        """One vector, or two behind each other."""
        if len(operands) == 1:
            return operands[0]
        name, t = self.fresh(), self.t
        lanes = ", ".join(f"i32 {lane}" for lane in range(2 * t.lanes))
        pair = f"{t.name} {operands[0]}, {t.name} {operands[1]}"
        self.emit(f"{name} = shufflevector {pair}, <{2 * t.lanes} x i32> <{lanes}>")
        return name
