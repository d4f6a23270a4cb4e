"""Stored values for self-tests: outputs at a few states, each with a bound on the rounding error of any evaluation.

First-order running error analysis (Higham 2002, section 3.3): every operation adds u |result| and carries the errors
of its operands by its partial derivatives; functions are counted with 4 u.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kane.emit.numbers import Precision
from kane.graph.evaluate import evaluate, operation_value
from kane.graph.program import Input, Instruction, Program

STATES = 5
ATTEMPTS = 200
UNIT = {"double": 2.0**-53, "float": 2.0**-24}
SAFETY = 8.0


@dataclass(frozen=True, slots=True)
class Sample:
    """Inputs and outputs at one state; `tolerances` bound the absolute error of each output array."""

    inputs: dict[str, tuple[float, ...]]
    outputs: dict[str, tuple[float, ...]]
    tolerances: dict[str, float]


def samples(program: Program, precision: Precision, count: int = STATES) -> tuple[Sample, ...]:
    """Pseudo-random states at which all outputs are finite (fewer than `count` when they are hard to find)."""
    source = random.Random(f"self-test of {program.name}")
    found: list[Sample] = []
    for attempt in range(ATTEMPTS):
        interval = (-1.5, 1.5) if attempt % 4 < 3 else (0.05, 0.95)  # the second for arguments of roots and arcs
        given = {item.name: _draw(source, item, precision, interval) for item in program.inputs}
        outputs = evaluate(program, given)
        if all(np.isfinite(x).all() for x in outputs.values()):
            bounds = error_bounds(program, given, UNIT[precision])
            flat = {name: tuple(float(x) for x in value.ravel()) for name, value in outputs.items()}
            limits = {name: SAFETY * max(bounds[name], default=0.0) for name in flat}
            if all(np.isfinite(x) for x in limits.values()):
                found.append(Sample({n: tuple(float(x) for x in v) for n, v in given.items()}, flat, limits))
        if len(found) == count:
            break
    return tuple(found)


def _draw(source: random.Random, item: Input, precision: Precision, interval: tuple[float, float]) -> Any:
    low, high = (0.5, 1.5) if item.kind == "parameter" else interval
    values = np.array([round(source.uniform(low, high), 6) for _ in item.labels])
    return values.astype(np.float32).astype(np.float64) if precision == "float" else values


def error_bounds(program: Program, arrays: Mapping[str, Any], unit: float) -> dict[str, list[float]]:
    """A bound on the rounding error of each output element when every operation is rounded to `unit`."""
    values: list[float] = []
    errors: list[float] = []
    given = [np.asarray(arrays[item.name], dtype=float) for item in program.inputs]
    for value in program.values:
        refs = value.args
        a = [-values[r >> 1] if r & 1 else values[r >> 1] for r in refs]
        e = [errors[r >> 1] for r in refs]
        result = _apply(value, a, given)
        values.append(result)
        errors.append(0.0 if value.op == "input" else unit * abs(result) + _carried(value.op, a, e, result, unit))
    return {out.name: [errors[r >> 1] for r in out.refs] for out in program.outputs}


def _apply(value: Instruction, a: list[float], given: list[Any]) -> float:
    with np.errstate(all="ignore"):
        return float(operation_value(value.op, a, value.payload, given))


def _carried(op: str, a: list[float], e: list[float], result: float, unit: float) -> float:
    """The errors of the operands in the result."""
    match op:
        case "num" | "pi":
            return 0.0
        case "add":
            return e[0] + e[1]
        case "mul":
            return abs(a[0]) * e[1] + abs(a[1]) * e[0]
        case "fma":
            return abs(a[0]) * e[1] + abs(a[1]) * e[0] + e[2] + unit * abs(a[0] * a[1])
        case "div":
            return (e[0] + abs(result) * e[1]) / abs(a[1])
        case "sin" | "cos":
            return e[0] + 3 * unit * abs(result)
        case _:
            return 3 * unit * abs(result) + sum(_slope(op, a, k) * e[k] for k in range(len(a)))


def _slope(op: str, a: list[float], k: int) -> float:
    """The partial derivative by argument k, by central difference."""
    step = 1e-6 * max(1.0, abs(a[k]))
    ends = [[*a[:k], a[k] + s, *a[k + 1 :]] for s in (step, -step)]
    high, low = (_apply(Instruction(op), point, []) for point in ends)
    return abs(high - low) / (2 * step)
