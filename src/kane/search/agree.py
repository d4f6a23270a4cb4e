"""Whether two programs that are equal as functions are also close in floating point.

A formulation may be exact and still lose digits: a length of 1e-17 in a file, taken as a divisor, gives constants of
1e16.  Equality at random primes does not see that; a few states in double precision do.
"""

from __future__ import annotations

import numpy as np

from kane.graph.evaluate import evaluate
from kane.graph.program import Program

STATES = 6
CLOSE = 1e-12  # of the largest output: some ten roundings of a sum with hundreds of terms
DIVIDED = 1e-9  # where a matrix is factorised, its condition multiplies the roundings


def agree(first: Program, second: Program) -> bool:
    """True when all outputs agree at random states, relative to the largest of each output."""
    arrays = states(first)
    a, b = evaluate(first, arrays), evaluate(second, arrays)
    limit = DIVIDED if first.counts.div else CLOSE
    for name in a.keys() & b.keys():
        size = float(np.abs(a[name]).max(initial=0.0))
        error = float(np.abs(a[name] - b[name]).max(initial=0.0))
        if not error <= limit * size + 1e-300:
            return False
    return True


def states(program: Program) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """Random rows for each input: parameters positive, quaternions unit."""
    rng = np.random.default_rng(0)
    arrays = {}
    for item in program.inputs:
        low = 0.5 if item.kind == "parameter" else -2.0
        array = rng.uniform(low, 2.0, (STATES, item.size))
        for group in item.quaternions:
            at = [item.labels.index(name) for name in group]
            array[:, at] /= np.linalg.norm(array[:, at], axis=1, keepdims=True)
        arrays[item.name] = array
    return arrays
