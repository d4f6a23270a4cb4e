"""State symbols without effect: what a program mentions of them cancels, and at 0 it is not computed at all.

The last turn of an arm with a round hand is one.  Without it there are fewer operations, and a value of it that is no
number reaches no output, since none depends on it.
"""

from __future__ import annotations

import numpy as np

from kane.graph.arena import Graph, Ref
from kane.graph.evaluate import evaluate, random_inputs, rebuild
from kane.graph.program import Program, build_program
from kane.graph.transplant import transplant

_ROUNDING = 1e-9  # of an output: a difference that rounding may make


def without_idle(program: Program) -> Program:
    """The program with 0 for each state symbol that no output depends on; the same one where there is none.

    Changes of doubles show the candidates; residues prove them: with the symbols at 0 every output is what it is at
    random values of all.
    """
    names = _candidates(program)
    if not names:
        return program
    source = Graph()
    refs = rebuild(program, source)
    outputs = [refs[r >> 1] ^ (r & 1) for out in program.outputs for r in out.refs]
    target = Graph(source.field)
    try:
        made = transplant(source, outputs, target, dict.fromkeys(names, target.zero))
    except ZeroDivisionError:
        return program
    if [target.residue_of(r) for r in made] != [source.residue_of(r) for r in outputs]:
        return program
    rest = iter(made)
    arrays: list[tuple[str, tuple[int, ...], list[Ref]]] = [
        (out.name, out.shape, [next(rest) for _ in out.refs]) for out in program.outputs
    ]
    return build_program(target, program.name, program.inputs, arrays)


def _candidates(program: Program) -> list[str]:
    """Symbols that an operation or output takes and whose change leaves all outputs at one random state as they are."""
    used = {r >> 1 for value in program.values for r in value.args}
    used |= {r >> 1 for out in program.outputs for r in out.refs}
    mentioned = {program.values[index].payload for index in used if program.values[index].op == "input"}
    places = [
        (item.name, place, label)
        for k, item in enumerate(program.inputs)
        if item.kind == "state"
        for place, label in enumerate(item.labels)
        if (k, place) in mentioned and not any(label in group for group in item.quaternions)
    ]
    arrays = {name: np.repeat(a, 1 + len(places), axis=0) for name, a in random_inputs(program, 1).items()}
    for row, (name, place, _) in enumerate(places, 1):
        arrays[name][row, place] += 0.7
    still = np.ones(len(places), dtype=bool)
    for value in evaluate(program, arrays).values():
        flat = value.reshape(len(places) + 1, -1)
        limit = _ROUNDING * np.abs(flat).max(initial=0.0)
        still &= (np.abs(flat[1:] - flat[0]) <= limit).all(axis=1)
    return [label for (_, _, label), same in zip(places, still, strict=True) if same]
