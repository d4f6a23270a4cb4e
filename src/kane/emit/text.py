"""Plain text: formulas with the user's names, minimal parentheses, numbered intermediates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from kane.emit.expression import (
    LIMIT,
    Call,
    Name,
    Node,
    Number,
    Product,
    Signed,
    Sum,
    listing,
    needed,
    number_text,
    program_of,
    spread,
    tree_sizes,
    whole,
)
from kane.emit.numbers import rounded, shortest
from kane.emit.target import Package, arguments, refuse_unknown
from kane.graph.arena import Graph, Ref
from kane.graph.program import OperationCounts, Program

_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


def expression_text(graph: Graph, ref: Ref) -> str:
    """The expression in the user's names; above about 60 nodes its numbered intermediates, then the result."""
    program = program_of(graph, [ref])
    found = listing(program, program.outputs[0].refs, prefix=free_prefix(program))
    lines = [f"{name.text} = {format_text(formula)}" for name, formula, _ in found.lines]
    return "\n".join([*lines, format_text(found.results[0])])


def format_text(formula: Signed, level: int = 0) -> str:
    """A formula; `level` is the binding strength of its surroundings."""
    formula = spread(formula)
    text, own = _render(formula.node)
    if formula.negative:
        text, own = f"-{text}", _SUM
    return f"({text})" if own < level else text


def _factor(node: Node, exponent: int) -> str:
    text, own = _render(node)
    if exponent == 1:
        return text if own > _PRODUCT else f"({text})"
    return f"{text if own == _ATOM else f'({text})'}^{exponent}"


def _render(node: Node) -> tuple[str, int]:
    match node:
        case Number(value):
            text = number_text(value)
            return text, _PRODUCT if "/" in text else _ATOM
        case Name(text):
            return shown(text), _ATOM
        case Call("pi"):
            return "pi", _ATOM
        case Call(op, args):
            return f"{op}({', '.join(format_text(a) for a in args)})", _ATOM
        case Sum(terms):
            text = format_text(terms[0])
            for term in terms[1:]:
                text += (" - " if term.negative else " + ") + format_text(Signed(False, term.node), _PRODUCT)
            return text, _SUM
        case Product(above, below):
            text = "*".join(_factor(*f) for f in above) or "1"
            under = "*".join(_factor(*f) for f in below)
            if not under:
                return text, _PRODUCT if len(above) > 1 or (above and above[0][1] > 1) else _POWER
            return f"{text}/{under if len(below) == 1 else f'({under})'}", _PRODUCT


def shown(name: str) -> str:
    """A user's name inside a formula: in backquotes when it could be read as a formula itself."""
    return name if re.fullmatch(r"[^\W\d][\w.{}',\[\]]*", name) else f"`{name}`"


def counts_text(counts: OperationCounts) -> str:
    """Operation counts in one line."""
    parts = [f"{counts.total} operations ({counts.mul} mul, {counts.add} add)"]
    parts += [f"{counts.div} div"] * bool(counts.div) + [f"{counts.sqrt} sqrt"] * bool(counts.sqrt)
    parts.append(f"{counts.trig} sin/cos of {counts.trig_arguments} argument{'s' * (counts.trig_arguments != 1)}")
    return ", ".join(parts + [f"{counts.functions} other functions"] * bool(counts.functions))


def formula_text(program: Program, index: int) -> str:
    """The formula of a constant in the user's names, for a comment; empty when it is long."""
    order = needed(program, [2 * index])
    if tree_sizes(program, order)[index] > LIMIT:
        return ""
    formula = format_text(whole(program, [2 * index])[0])
    return formula if len(formula) <= 160 else ""


def element(name: str, shape: tuple[int, ...], flat: int, first: int = 1) -> str:
    """name[i,j] of a flat row-major position; name alone for a scalar."""
    where = []
    for size in reversed(shape):
        flat, k = divmod(flat, size)
        where.append(k + first)
    return f"{name}[{','.join(str(k) for k in reversed(where))}]" if where else name


@dataclass(frozen=True, slots=True)
class Text:
    """The text target: one file for all tasks."""

    name: str = "text"
    fused: bool = False

    def render(self, package: Package) -> dict[str, str]:
        refuse_unknown(package, self.name)
        lines = [f"Equations of {package.title} (elements are numbered from 1)", ""]
        lines += [f"- {note}" for note in package.notes] + [""] * bool(package.notes)
        for program, baked in zip(package.programs, package.baked, strict=True):
            lines += _task(program, baked, package)
        return {f"{package.name}.txt": "\n".join(lines).rstrip("\n") + "\n"}


def _task(program: Program, baked: dict[int, Fraction], package: Package) -> list[str]:
    inputs = ", ".join(item.name for _, item in arguments(program))
    outputs = ", ".join(out.name for out in program.outputs)
    lines = [f"== {program.name}({inputs}) -> {outputs}", counts_text(program.counts)]
    lines += [f"{item.name} = [{', '.join(item.labels)}]" for _, item in arguments(program) if item.size]
    lines.append("")
    refs = [r for out in program.outputs for r in out.refs]
    live = live_constants(program, refs)
    names: dict[int, Node] = {i: Name(f"{free_prefix(program, 'KQ')}{n}", "constant", n) for n, i in enumerate(live, 1)}
    if live:
        lines.append("Constants")
        formulas = listing(program, [2 * i for i in live], prefix=free_prefix(program, "LPU"))
        lines += [f"{name.text} = {format_text(formula)}" for name, formula, _ in formulas.lines]
        for index, formula in zip(live, formulas.results, strict=True):
            lines.append(f"{format_text(Signed(False, names[index]))} = {format_text(formula)}")
            if index in baked:
                lines[-1] += f" = {shortest(rounded(baked[index], package.precision), package.precision)}"
        lines.append("")
    found = listing(program, refs, prefix=free_prefix(program), names=names, limit=LINE_LIMIT)
    note = ""
    for name, formula, origin in found.lines:
        if origin and origin != note:
            note = origin
            lines.append(f"  ({note})")
        lines.append(f"{name.text} = {format_text(formula)}")
    lines += [""] * bool(found.lines)
    results = iter(found.results)
    for out in program.outputs:
        lines += [f"{element(out.name, out.shape, k)} = {format_text(next(results))}" for k in range(len(out.refs))]
    return [*lines, ""]


LINE_LIMIT = 24  # a task whose outputs are all shorter than this is printed without intermediates


def free_prefix(program: Program, letters: str = "vwt") -> str:
    """A letter that makes no user's name when a number follows."""
    labels = {label for item in program.inputs for label in item.labels}
    candidates = [*letters, *(c + "_" for c in letters), *(c * 4 + "_" for c in letters)]
    free: list[str] = [p for p in candidates if not any(_numbered(label, p) for label in labels)]
    return free[0]


def _numbered(label: str, prefix: str) -> bool:
    return label.startswith(prefix) and label[len(prefix) :].isdecimal()


def live_constants(program: Program, refs: list[Ref]) -> list[int]:
    """The constants that state values or outputs use directly."""
    state = [i for i in needed(program, refs) if i >= program.first_state]
    used = {a >> 1 for i in state for a in program.values[i].args} | {r >> 1 for r in refs}
    return sorted(i for i in used if i in program.constants)


TARGET = Text()
