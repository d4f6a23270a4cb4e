"""Random expressions for tests of the graph."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

from kane.graph.arena import Graph

NAMES = ("x", "y", "z")


def build(g: Graph, r: random.Random, depth: int) -> tuple[int, Callable[[dict[str, float]], float]]:
    """A random expression and the same as a Python function."""
    if depth == 0:
        if r.random() < 0.3:
            value = Fraction(r.randint(-9, 9), r.randint(1, 9))
            return g.number(value), lambda p: float(value)
        name = r.choice(NAMES)
        return g.symbol(name), lambda p: p[name]
    a, fa = build(g, r, depth - 1)
    kind = r.choice(("add", "sub", "mul", "mul", "add", "sin", "cos", "sqrt", "tanh", "div"))
    if kind == "sqrt":
        return g.sqrt(g.add(g.one, g.mul(a, a))), lambda p: math.sqrt(1 + fa(p) ** 2)
    if kind == "tanh":
        return g.function("tanh", a), lambda p: math.tanh(fa(p))
    if kind in ("sin", "cos"):
        ref: int = getattr(g, kind)(a)
        return ref, lambda p: getattr(math, kind)(fa(p))
    b, fb = build(g, r, depth - 1)
    if kind == "div":
        return g.div(a, g.add(g.one, g.mul(b, b))), lambda p: fa(p) / (1 + fb(p) ** 2)
    python = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y}[kind]
    made: int = getattr(g, kind)(a, b)
    return made, lambda p: python(fa(p), fb(p))
