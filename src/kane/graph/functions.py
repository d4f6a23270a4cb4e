"""The elementary and piecewise functions beyond + - * / sqrt sin cos: value, derivative and parity of each.

To add a function, add a row to FUNCTIONS; printers look the name up in their own tables and refuse loudly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from kane.graph.arena import Graph

Ref = int
Parity = Literal["odd", "even", "none"]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one or more arguments.

    `value` evaluates arrays; `partials(graph, args, result)` gives the partial derivative by each argument.
    """

    name: str
    arity: int
    value: Callable[..., Any]
    partials: Callable[[Graph, tuple[Ref, ...], Ref], tuple[Ref, ...]]
    parity: Parity = "none"


def _one_over(g: Graph, x: Ref) -> Ref:
    return g.div(g.one, x)


def _tan(g: Graph, a: tuple[Ref, ...], y: Ref) -> tuple[Ref, ...]:
    return (g.add(g.one, g.mul(y, y)),)


def _arc(sign: int) -> Callable[[Graph, tuple[Ref, ...], Ref], tuple[Ref, ...]]:
    def partials(g: Graph, a: tuple[Ref, ...], y: Ref) -> tuple[Ref, ...]:
        slope = _one_over(g, g.sqrt(g.sub(g.one, g.mul(a[0], a[0]))))
        return (slope if sign > 0 else g.neg(slope),)

    return partials


def _atan(g: Graph, a: tuple[Ref, ...], y: Ref) -> tuple[Ref, ...]:
    return (_one_over(g, g.add(g.one, g.mul(a[0], a[0]))),)


def _atan2(g: Graph, a: tuple[Ref, ...], y: Ref) -> tuple[Ref, ...]:
    scale = _one_over(g, g.add(g.mul(a[0], a[0]), g.mul(a[1], a[1])))
    return (g.mul(a[1], scale), g.neg(g.mul(a[0], scale)))


def _select(g: Graph, a: tuple[Ref, ...], y: Ref) -> tuple[Ref, ...]:
    return (g.zero, g.function("select", a[0], g.one, g.zero), g.function("select", a[0], g.zero, g.one))


def _extreme(name: str) -> Callable[[Graph, tuple[Ref, ...], Ref], tuple[Ref, ...]]:
    def partials(g: Graph, a: tuple[Ref, ...], y: Ref) -> tuple[Ref, ...]:
        gap = g.sub(a[0], a[1]) if name == "max" else g.sub(a[1], a[0])
        first = g.function("select", gap, g.one, g.zero)
        return (first, g.sub(g.one, first))

    return partials


def _power(g: Graph, a: tuple[Ref, ...], y: Ref) -> tuple[Ref, ...]:
    return (
        g.mul(a[1], g.function("pow", a[0], g.sub(a[1], g.one))),
        g.mul(y, g.function("log", a[0])),
    )


FUNCTIONS: dict[str, Function] = {
    f.name: f
    for f in (
        Function("tan", 1, np.tan, _tan, "odd"),
        Function("asin", 1, np.arcsin, _arc(1), "odd"),
        Function("acos", 1, np.arccos, _arc(-1)),
        Function("atan", 1, np.arctan, _atan, "odd"),
        Function("atan2", 2, np.arctan2, _atan2),
        Function("exp", 1, np.exp, lambda g, a, y: (y,)),
        Function("log", 1, np.log, lambda g, a, y: (_one_over(g, a[0]),)),
        Function("sinh", 1, np.sinh, lambda g, a, y: (g.function("cosh", a[0]),), "odd"),
        Function("cosh", 1, np.cosh, lambda g, a, y: (g.function("sinh", a[0]),), "even"),
        Function("tanh", 1, np.tanh, lambda g, a, y: (g.sub(g.one, g.mul(y, y)),), "odd"),
        Function("abs", 1, np.abs, lambda g, a, y: (g.function("sign", a[0]),), "even"),
        Function("sign", 1, np.sign, lambda g, a, y: (g.zero,), "odd"),
        Function("select", 3, lambda c, a, b: np.where(np.asarray(c) > 0, a, b), _select),  # a where c > 0, else b
        Function("min", 2, np.minimum, _extreme("min")),
        Function("max", 2, np.maximum, _extreme("max")),
        Function("pow", 2, np.power, _power),
    )
}
