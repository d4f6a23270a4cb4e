"""Evaluate a Program: with floats or arrays (the plain reference for compiled code) and modulo random primes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kane.graph.arena import Graph
from kane.graph.field import Field
from kane.graph.functions import FUNCTIONS
from kane.graph.program import Program, build_program

Array = np.ndarray[Any, np.dtype[np.float64]]


def random_inputs(program: Program, n: int, span: float = 1.0, seed: int = 0) -> dict[str, Array]:
    """n random rows for each input, by name: states in +-span, parameters in span/4 .. span, quaternions unit."""
    rng = np.random.default_rng(seed)
    arrays: dict[str, Array] = {}
    for item in program.inputs:
        low = span / 4 if item.kind == "parameter" else -span
        array = rng.uniform(low, span, (n, item.size))
        for group in item.quaternions:
            at = [item.labels.index(name) for name in group]
            array[:, at] /= np.linalg.norm(array[:, at], axis=1, keepdims=True)
        arrays[item.name] = array
    return arrays


def evaluate(program: Program, arrays: Mapping[str, Any]) -> dict[str, Array]:
    """Output arrays by name; inputs (..., size) by name, broadcast against each other.

    Raises ValueError when an input array is missing or its last axis does not have the input's size.
    """
    given = []
    for item in program.inputs:
        if item.name not in arrays:
            raise ValueError(f"{program.name}: input {item.name!r} is missing")
        array = np.asarray(arrays[item.name], dtype=np.float64)
        if array.shape[-1:] != (item.size,):
            raise ValueError(f"{program.name}: {item.name} has shape {array.shape}, wanted (..., {item.size})")
        given.append(array)
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for op, args, payload, _ in program.values:
            operands = [-values[a >> 1] if a & 1 else values[a >> 1] for a in args]
            values.append(operation_value(op, operands, payload, given))
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in given)) if given else ()
    result = {}
    for out in program.outputs:
        flat = [np.broadcast_to(-values[r >> 1] if r & 1 else values[r >> 1], batch) for r in out.refs]
        stacked = np.stack(flat, axis=-1) if flat else np.zeros((*batch, 0))
        result[out.name] = stacked.reshape((*batch, *out.shape))
    return result


def operation_value(op: str, a: list[Any], payload: Any, given: list[Array]) -> Any:
    match op:
        case "input":
            return given[payload[0]][..., payload[1]]
        case "num":
            return float(payload)
        case "pi":
            return np.pi
        case "add":
            return a[0] + a[1]
        case "mul":
            return a[0] * a[1]
        case "fma":
            return a[0] * a[1] + a[2]
        case "div":
            return np.divide(a[0], a[1])
        case "sqrt":
            return np.sqrt(a[0])
        case "sin":
            return np.sin(a[0])
        case "cos":
            return np.cos(a[0])
        case _:
            return FUNCTIONS[op].value(*a)


def residues(program: Program, field: Field) -> dict[str, tuple[int, ...]]:
    """The outputs at the random point of another field: symbols by their labels, so two programs can be compared."""
    graph = Graph(field)
    refs = rebuild(program, graph)
    return {out.name: tuple(graph.residue_of(_follow(refs, r)) for r in out.refs) for out in program.outputs}


def equal(a: Program, b: Program, primes: int = 3) -> bool:
    """True when all outputs of equal name are equal functions, decided at that many random primes."""
    names = {out.name for out in a.outputs} & {out.name for out in b.outputs}
    if not names:
        raise ValueError(f"{a.name} and {b.name} have no output of the same name")
    for seed in range(1, primes + 1):
        field = Field.random(seed)
        first, second = residues(a, field), residues(b, field)
        if any(first[name] != second[name] for name in names):
            return False
    return True


def rebuild(program: Program, graph: Graph) -> list[int]:
    """The program's values as references of a graph (labels become symbols); index like program.values."""
    for group in (group for item in program.inputs for group in item.quaternions):
        graph.unit_quaternion(group)
    refs: list[int] = []
    for op, args, payload, note in program.values:
        a = [_follow(refs, r) for r in args]
        with graph.origin(note):
            match op:
                case "input":
                    assert isinstance(payload, tuple)
                    item = program.inputs[payload[0]]
                    refs.append(graph.symbol(item.labels[payload[1]], item.kind))
                case "num":
                    refs.append(graph.number(payload))  # type: ignore[arg-type]
                case "pi":
                    refs.append(graph.pi())
                case "fma":
                    refs.append(graph.add(graph.mul(a[0], a[1]), a[2]))
                case "add" | "mul" | "div" | "sqrt" | "sin" | "cos":
                    refs.append(getattr(graph, op)(*a))
                case _:
                    refs.append(graph.function(op, *a))
    return refs


def _follow(refs: list[int], ref: int) -> int:
    return refs[ref >> 1] ^ (ref & 1)


def round_trip(program: Program) -> Program:
    """The program built again in a fresh graph: equal values shared, dead code gone."""
    graph = Graph()
    refs = rebuild(program, graph)
    outputs = [(out.name, out.shape, [_follow(refs, r) for r in out.refs]) for out in program.outputs]
    return build_program(graph, program.name, program.inputs, outputs)
