"""Whether two programs that are equal as functions are also close in floating point.

A formulation may be exact and still lose digits: a length of 1e-17 in a file, taken as a divisor, gives constants of
1e16.  Equality at random primes does not see that; a few states in double precision do.
"""

from __future__ import annotations

import numpy as np

from kane.graph.evaluate import evaluate, random_inputs
from kane.graph.program import Program

STATES, SPAN = 6, 2.0
CLOSE = 1e-12  # of the largest output: some ten roundings of a sum with hundreds of terms
DIVIDED = 1e-9  # where a matrix is factorised, its condition multiplies the roundings


def agree(first: Program, second: Program) -> bool:
    """True when all outputs agree at random states, relative to the largest of each output."""
    arrays = random_inputs(first, STATES, SPAN)
    a, b = evaluate(first, arrays), evaluate(second, arrays)
    limit = DIVIDED if first.counts.div else CLOSE
    for name in a.keys() & b.keys():
        size = float(np.abs(a[name]).max(initial=0.0))
        error = float(np.abs(a[name] - b[name]).max(initial=0.0))
        if not error <= limit * size + 1e-300:
            return False
    return True
