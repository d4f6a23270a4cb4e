"""Statements: a Program as straight-line code in any language, one operation a line.

A language is a Syntax: how a value is declared, how numbers and functions are written.  The targets c, numpy, jax,
casadi, julia, matlab and rust are a Syntax and a frame around its lines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

from kane.emit.expression import needed
from kane.emit.names import comment_text
from kane.emit.numbers import baked_constants, rounded, shortest
from kane.emit.target import Package, arguments, unsupported
from kane.emit.text import counts_text, formula_text
from kane.graph.arena import Ref
from kane.graph.program import Instruction, Output, Program


@dataclass(frozen=True, slots=True)
class Syntax:
    """How a language writes what programs consist of.

    `declare`: template with {name} and {value}; `remark`: a comment with {text}; `access`: an element with {array} and
    {index}; `first`: index of the first element; `literal`: text of a number from its shortest decimals; `functions`:
    templates by op, arguments {0}, {1}, {2}; `fma` likewise; `times`, `over`: the operators of products and quotients.
    """

    target: str
    declare: str
    remark: str
    access: str
    functions: Mapping[str, str]
    first: int = 0
    literal: Callable[[str], str] = str
    fma: str = ""
    times: str = "*"
    over: str = "/"


@dataclass(frozen=True, slots=True)
class Body:
    """The statements of one task, its results by output, and what they mention."""

    lines: tuple[str, ...]
    results: tuple[tuple[str, ...], ...]
    used_inputs: frozenset[int]
    used_functions: frozenset[str]


class Writer:
    """Writes the values of one program as statements; `text` holds the operand text of each value written so far."""

    def __init__(self, program: Program, syntax: Syntax, package: Package, baked: Mapping[int, Fraction]) -> None:
        self.program, self.syntax, self.package, self.baked = program, syntax, package, baked
        self.text: dict[int, str] = {}
        self.lines: list[str] = []
        self.functions: set[str] = set()
        self.inputs: set[int] = set()
        self.prefix = package.names.prefix(("t", "v", "w"))
        self.fixed = package.names.prefix(("c", "d", "e"))
        taken = [code for _, code in package.names.pairs]
        self.trig = not any(code.startswith(("sin_", "cos_")) for code in taken)
        self._note = ""
        self._counts = {"t": 0, "c": 0}

    def operand(self, ref: Ref) -> tuple[bool, str]:
        """Sign and text of a reference."""
        op, _, payload, _ = self.program.values[ref >> 1]
        sign = bool(ref & 1)
        if op == "num" and ref >> 1 not in self.text:
            assert isinstance(payload, Fraction)
            return sign != (payload < 0), self.number(abs(payload))
        return sign, self.text[ref >> 1]

    def signed(self, ref: Ref) -> str:
        negative, text = self.operand(ref)
        return f"-{text}" if negative else text

    def number(self, value: Fraction) -> str:
        precision = self.package.precision
        return self.syntax.literal(shortest(rounded(value, precision), precision))

    def remark(self, text: str) -> str:
        return self.syntax.remark.format(text=comment_text(text))

    def write(self, index: int) -> None:
        """The statement of a value; numbers have none."""
        if index in self.baked:
            self.bake(index)
        elif self.program.values[index].op == "input":
            self.load(index)
        elif self.program.values[index].op != "num":
            self.compute(index)

    def body(self) -> Body:
        """What was written, and the results."""
        results = tuple(tuple(self.signed(r) for r in out.refs) for out in self.program.outputs)
        return Body(tuple(self.lines), results, frozenset(self.inputs), frozenset(self.functions))

    def load(self, index: int) -> None:
        """Give an input element the user's name."""
        payload = self.program.values[index].payload
        assert isinstance(payload, tuple)
        array, k = payload
        item = self.program.inputs[array]
        self.inputs.add(array)
        self.text[index] = name = self.package.names.code[item.labels[k]]
        at = self.syntax.access.format(array=self.package.arrays.code[item.name], index=k + self.syntax.first)
        self.declare(name, at, "" if name == item.labels[k] else item.labels[k])

    def bake(self, index: int) -> None:
        """A constant that is known now."""
        self._counts["c"] += 1
        value = self.baked[index]
        self.text[index] = name = f"{self.fixed}{self._counts['c']}"
        literal = self.number(abs(value))
        self.declare(name, f"-{literal}" if value < 0 else literal, formula_text(self.program, index))

    def compute(self, index: int) -> None:
        """One operation."""
        op, args, _, note = self.program.values[index]
        if note and note != self._note:
            self._note = note
            self.lines.append(self.remark(note))
        value = self.operation(op, args)
        self.declare(self.name(index), value)

    def name(self, index: int) -> str:
        """The name given to a value now: sin_q2, or a number."""
        op, args, _, _ = self.program.values[index]
        if op in ("sin", "cos") and self.trig and not args[0] & 1 and self.program.values[args[0] >> 1].op == "input":
            self.text[index] = f"{op}_{self.text[args[0] >> 1]}"
        else:
            self._counts["t"] += 1
            self.text[index] = f"{self.prefix}{self._counts['t']}"
        return self.text[index]

    def declare(self, name: str, value: str, remark: str = "") -> None:
        line = self.syntax.declare.format(name=name, value=value)
        self.lines.append(f"{line}  {self.remark(remark)}" if remark else line)

    def operation(self, op: str, args: tuple[Ref, ...]) -> str:
        """The right-hand side; the association is the program's."""
        if op == "add":
            (na, a), (nb, b) = (self.operand(r) for r in args)
            if na and not nb:
                return f"{b} - {a}"
            return f"{'-' * na}{a} {'-' if nb else '+'} {b}"
        if op in ("mul", "div"):
            (na, a), (nb, b) = (self.operand(r) for r in args)
            return f"{'-' * (na != nb)}{a}{self.syntax.times if op == 'mul' else self.syntax.over}{b}"
        texts = [self.signed(r) for r in args]
        if op == "fma":
            self.functions.add("fma")
            if self.syntax.fma:
                return self.syntax.fma.format(*texts)
            (na, a), (nb, b), (nc, c) = (self.operand(r) for r in args)
            return f"{'-' * (na != nb)}{a}{self.syntax.times}{b} {'-' if nc else '+'} {c}"
        if op not in self.syntax.functions:
            raise unsupported(self.syntax.target, op, self.program.name)
        self.functions.add(op)
        return self.syntax.functions[op].format(*texts)


def live(program: Program, stop: Collection[int]) -> list[int]:
    """The indices that outputs need, in order, without what the values in `stop` are made of."""
    return needed(program, [r for out in program.outputs for r in out.refs], stop)


def write_task(package: Package, number: int, syntax: Syntax, place: Mapping[int, int] | None = None) -> Body:
    """The statements of task `number`; the values in `place` are read from the array k."""
    return _write(package, package.programs[number], package.baked[number], syntax, place or {})


def write_constants(package: Package, merged: Program, syntax: Syntax) -> Body:
    """The statements of the run-time constants; its one result is k."""
    return _write(package, merged, baked_constants(merged), syntax, {})


def _write(
    package: Package, program: Program, baked: Mapping[int, Fraction], syntax: Syntax, place: Mapping[int, int]
) -> Body:
    writer = Writer(program, syntax, package, baked)
    for index in live(program, {**baked, **place}):
        if index in place:
            writer.text[index] = syntax.access.format(array="k", index=place[index] + syntax.first)
        else:
            writer.write(index)
    return writer.body()


def merge_constants(package: Package) -> tuple[Program, tuple[dict[int, int], ...]]:
    """The program of all constants that depend on run-time parameters, each once, with the one output k.

    Also, for each task, the positions in k of its values: those that its state section or its outputs use.
    """
    rank = {"input": 0, "num": 1}
    where = {label: (a, k) for a, item in enumerate(package.parameters) for k, label in enumerate(item.labels)}
    merged: dict[Instruction, int] = {}
    slots: dict[int, int] = {}
    places = []
    for program, baked in zip(package.programs, package.baked, strict=True):
        kept: dict[int, int] = {}
        direct = direct_constants(program, baked)
        for index in needed(program, [2 * i for i in direct]):
            op, args, payload, _ = program.values[index]
            if op == "input":
                assert isinstance(payload, tuple)
                payload = where[program.inputs[payload[0]].labels[payload[1]]]
            value = Instruction(op, tuple(2 * kept[a >> 1] + (a & 1) for a in args), payload)
            kept[index] = merged.setdefault(value, len(merged))
        places.append({i: slots.setdefault(kept[i], len(slots)) for i in direct})
    made = list(merged)
    old = sorted(range(len(made)), key=lambda i: rank.get(made[i].op, 2))
    new = {i: n for n, i in enumerate(old)}
    values = tuple(made[i]._replace(args=tuple(2 * new[a >> 1] + (a & 1) for a in made[i].args)) for i in old)
    first = sum(v.op in rank for v in values)
    outputs = (Output("k", (len(slots),), tuple(2 * new[i] for i in slots)),)
    return Program("constants", package.parameters, outputs, values, first, len(values)), tuple(places)


def direct_constants(program: Program, baked: Mapping[int, Fraction]) -> list[int]:
    """The parameters and run-time constants that state values or outputs use."""
    order = live(program, baked)
    used = {a >> 1 for i in order if i >= program.first_state for a in program.values[i].args}
    used |= {r >> 1 for out in program.outputs for r in out.refs}
    return sorted(i for i in used if i not in baked and _depends_on_parameters(program, i))


def _depends_on_parameters(program: Program, index: int) -> bool:
    op, _, payload, _ = program.values[index]
    if op == "input":
        assert isinstance(payload, tuple)
        return program.inputs[payload[0]].kind == "parameter"
    return index in program.constants


def header(package: Package, flat: bool = True) -> list[str]:
    """The lines of the comment that opens a file: counts, notes, names; `flat`: matrices are written as arrays."""
    lines = [f"{package.title}: equations of motion, generated by kane", ""]
    lines += [f"{p.name}: {counts_text(p.counts)}" for p in package.programs]
    if package.notes:
        lines += ["", *package.notes]
    changed = [*package.names.changed, *package.arrays.changed, *package.tasks.changed]
    if changed:
        lines += ["", "names in this code and where they come from:"]
        lines += [f"  {code} = {user}" for user, code in changed]
    lines += ["", "arguments, element by element:"]
    for item in {i.name: i for p in package.programs for i in p.inputs}.values():
        code = package.arrays.code[item.name]
        kind = " (parameters)" if item.kind == "parameter" else ""
        lines.append(f"  {code}[{item.size}]{kind}: {', '.join(item.labels)}")
    lines.append("results:")
    for name, shape in {o.name: o.shape for p in package.programs for o in p.outputs}.items():
        size = " x ".join(str(n) for n in shape) or "scalar"
        lines.append(f"  {package.arrays.code[name]}: {size}{', row-major' if flat and len(shape) > 1 else ''}")
    return [comment_text(line) for line in lines]



def describe(package: Package, program: Program, lead: str = "..., ") -> list[str]:
    """The lines of a function's documentation: what it returns, counts, arguments with their elements in order."""
    outputs = [package.output(program, out.name) for out in program.outputs]
    taken = ", ".join(package.arrays.code[item.name] for _, item in arguments(program))
    lines = [f"{', '.join(outputs)} = {package.tasks.code[program.name]}({taken})", "", counts_text(program.counts), ""]
    for _, item in arguments(program):
        kind = "parameters " if item.kind == "parameter" else ""
        lines.append(f"{package.arrays.code[item.name]} ({lead}{item.size}): {kind}{', '.join(item.labels)}")
    for out, name in zip(program.outputs, outputs, strict=True):
        shape = ", ".join(str(n) for n in out.shape)
        lines.append(f"returns {name} ({(lead + shape).rstrip(', ') or 'one number'})")
    return [comment_text(line).rstrip() for line in lines]
