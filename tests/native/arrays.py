"""Random states for a program, and equality to the last bit."""

from __future__ import annotations

import numpy as np

from kane.graph.program import Program


def states(program: Program, batch: tuple[int, ...], seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1.5, 1.5, (*(batch if i.kind == "state" else ()), i.size)) for i in program.inputs]


def named(program: Program, arrays: list[np.ndarray]) -> dict[str, np.ndarray]:
    return dict(zip((i.name for i in program.inputs), arrays, strict=True))


def assert_same_bits(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_array_equal(np.ascontiguousarray(a).view(np.uint8), np.ascontiguousarray(b).view(np.uint8))
