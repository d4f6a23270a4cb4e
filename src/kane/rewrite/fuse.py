"""Fused multiply-add: where a product feeds one sum only, both become one instruction `fma` (a * b + c, rounded once).

Every target prints exactly these and lets its compiler contract nothing else, so that they agree to the last bit.
"""

from __future__ import annotations

from dataclasses import replace

from kane.graph.arena import Ref
from kane.graph.program import Instruction, Output, Program


def fuse(program: Program) -> Program:
    """The program with `fma` for each state sum of a product that nothing else uses.

    Of two such products the one that is ready later goes in (the first on a tie).  Signs move onto the operands:
    c - a b = fma(-a, b, c).  Counts stay what they were: an fma is one mul and one add.  The constants section is left
    as it is; blocks are dropped, since the values are renumbered.
    """
    uses = _uses(program)
    depth = _depths(program)
    fused: dict[int, Instruction] = {}  # in old numbering
    gone: set[int] = set()
    for index in program.state:
        op, args, _, note = program.values[index]
        if op != "add":
            continue
        products = [
            k for k, a in enumerate(args)
            if a >> 1 >= program.first_state and uses[a >> 1] == 1 and program.values[a >> 1].op == "mul"
        ]
        if products:
            k = max(products, key=lambda k: (depth[args[k] >> 1], -k))
            product, addend = args[k], args[1 - k]
            left, right = program.values[product >> 1].args
            fused[index] = Instruction("fma", (left ^ (product & 1), right, addend), None, note)
            gone.add(product >> 1)
    return _renumbered(program, fused, gone)


def _uses(program: Program) -> list[int]:
    """How often each value is an operand or an output element."""
    uses = [0] * len(program.values)
    for value in program.values:
        for a in value.args:
            uses[a >> 1] += 1
    for out in program.outputs:
        for ref in out.refs:
            uses[ref >> 1] += 1
    return uses


def _depths(program: Program) -> list[int]:
    """Length of the longest chain of state operations that ends in each value."""
    depth = [0] * len(program.values)
    for index in program.state:
        depth[index] = 1 + max((depth[a >> 1] for a in program.values[index].args), default=0)
    return depth


def _renumbered(program: Program, fused: dict[int, Instruction], gone: set[int]) -> Program:
    place: list[int] = []
    values: list[Instruction] = []
    for index, value in enumerate(program.values):
        place.append(len(values))
        if index not in gone:
            value = fused.get(index, value)
            values.append(value._replace(args=tuple(_moved(place, a) for a in value.args)))
    outputs = tuple(Output(o.name, o.shape, tuple(_moved(place, r) for r in o.refs)) for o in program.outputs)
    return replace(program, outputs=outputs, values=tuple(values), blocks=())


def _moved(place: list[int], ref: Ref) -> Ref:
    return 2 * place[ref >> 1] | (ref & 1)
