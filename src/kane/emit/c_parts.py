"""Long C functions in parts: compilers take more than linear time for one long function.

A part is a static function of about SIZE operations.  Values that later parts or the results need are kept in a local
array of the calling function; the results are written at the end, as in a function of one piece.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from kane.emit.code import Body, Syntax, Writer, live
from kane.emit.target import Package
from kane.graph.program import Block, Program
from kane.rewrite.split import split

LONG = 2500  # state operations of the longest function in one piece
SIZE = 1200
SPACE = "kane_w"


@dataclass(frozen=True, slots=True)
class Parts:
    """The bodies of the parts, and the size of the array of values kept."""

    bodies: tuple[Body, ...]
    size: int


def write_parts(
    package: Package, number: int, syntax: Syntax, place: Mapping[int, int], call: str
) -> tuple[Body, Parts]:
    """Task `number`: the body of the calling function, and its parts; `call` is the template of a call with {part}."""
    program, baked = package.programs[number], package.baked[number]
    cut = split(program, SIZE)
    results = [r >> 1 for out in program.outputs for r in out.refs]
    kept = sorted({i for block in cut.blocks for i in block.live_out} | {i for i in results if i in program.state})
    slots = {index: n for n, index in enumerate(kept)}
    known = {index: f"k[{n}]" for index, n in place.items()} | {index: f"{SPACE}[{n}]" for index, n in slots.items()}
    wanted = set(live(program, {**baked, **place}))
    bodies = [_part(Writer(cut, syntax, package, baked), block, known, slots, wanted) for block in cut.blocks]
    main = Writer(program, syntax, package, baked)
    main.text.update(known)
    for index in sorted(set(results)):
        if index not in main.text:
            main.write(index)
    main.lines += [call.format(part=n) for n in range(1, len(bodies) + 1)]
    body = main.body()
    functions = body.used_functions.union(*(b.used_functions for b in bodies))
    every = frozenset(range(len(program.inputs)))  # the calls pass them all on
    return Body(body.lines, body.results, every, functions), Parts(tuple(bodies), max(len(slots), 1))


def _part(
    writer: Writer, block: Block, known: Mapping[int, str], slots: Mapping[int, int], wanted: set[int]
) -> Body:
    """The statements of a block: its values, and those of them that are kept."""
    program = writer.program
    for index in range(block.start, block.stop):
        if index not in wanted:
            continue
        for operand in (a >> 1 for a in program.values[index].args):
            if operand not in writer.text:
                if operand in known and not block.start <= operand < block.stop:
                    writer.text[operand] = known[operand]
                else:
                    writer.write(operand)
        writer.write(index)
        if index in slots:
            writer.lines.append(f"{SPACE}[{slots[index]}] = {writer.text[index]};")
    return Body(tuple(writer.lines), (), frozenset(writer.inputs), frozenset(writer.functions))


def is_long(program: Program, baked: Mapping[int, Fraction]) -> bool:
    """Whether a function should be cut."""
    return sum(i >= program.first_state for i in live(program, baked)) > LONG

