"""The equations of a task as rows for people: constants, numbered intermediates, results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from kane.emit.expression import Name, Node, Signed, listing, needed
from kane.emit.numbers import rounded, shortest
from kane.emit.target import Package
from kane.graph.arena import Ref
from kane.graph.program import Program

LIMIT = 24  # a task whose results are all shorter than this is written without intermediates

Left = Name | tuple[str, tuple[int, ...]]  # a name, or an element of an output (numbered from 1)
Row = tuple[Left, Signed, str]


@dataclass(frozen=True, slots=True)
class Equations:
    """Rows (left side, formula, and: the number of a constant; the origin of an intermediate; nothing for a result)."""

    program: Program
    constants: tuple[Row, ...]
    lines: tuple[Row, ...]
    results: tuple[Row, ...]


def equations(package: Package) -> tuple[Equations, ...]:
    """The equations of all tasks."""
    return tuple(_task(p, b, package) for p, b in zip(package.programs, package.baked, strict=True))


def _task(program: Program, baked: Mapping[int, Fraction], package: Package) -> Equations:
    refs = [r for out in program.outputs for r in out.refs]
    live = live_constants(program, refs)
    letter = free_prefix(program, "KQ")
    names: dict[int, Node] = {i: Name(f"{letter}{n}", "constant", n) for n, i in enumerate(live, 1)}
    formulas = listing(program, [2 * i for i in live], prefix=free_prefix(program, "LPU"))
    constants: list[Row] = [(name, formula, "") for name, formula, _ in formulas.lines]
    for index, formula in zip(live, formulas.results, strict=True):
        value = shortest(rounded(baked[index], package.precision), package.precision) if index in baked else ""
        name = names[index]
        assert isinstance(name, Name)
        constants.append((name, formula, value))
    found = listing(program, refs, prefix=free_prefix(program), names=names, limit=LIMIT)
    places = [(out.name, position(out.shape, k)) for out in program.outputs for k in range(len(out.refs))]
    results = tuple((place, formula, "") for place, formula in zip(places, found.results, strict=True))
    return Equations(program, tuple(constants), found.lines, results)


def position(shape: tuple[int, ...], flat: int) -> tuple[int, ...]:
    """Indices, from 1, of a row-major position."""
    where = []
    for size in reversed(shape):
        flat, k = divmod(flat, size)
        where.append(k + 1)
    return tuple(reversed(where))


def live_constants(program: Program, refs: list[Ref]) -> list[int]:
    """The constants that state values or outputs use directly."""
    state = [i for i in needed(program, refs) if i >= program.first_state]
    used = {a >> 1 for i in state for a in program.values[i].args} | {r >> 1 for r in refs}
    return sorted(i for i in used if i in program.constants)


def free_prefix(program: Program, letters: str = "vwt") -> str:
    """A letter that makes no user's name when a number follows."""
    labels = {label for item in program.inputs for label in item.labels}
    candidates = [*letters, *(c + "_" for c in letters), *(c * 4 + "_" for c in letters)]
    free: list[str] = [p for p in candidates if not any(_numbered(label, p) for label in labels)]
    return free[0]


def _numbered(label: str, prefix: str) -> bool:
    return label.startswith(prefix) and label[len(prefix) :].isdecimal()
