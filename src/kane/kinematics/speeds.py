"""Generalized speeds defined by the user: u = Y(q, t) v + z(q, t), v the joints' own speeds; inverted for the
kinematic equations.

Step 2 of Kane's method.  v are coordinate rates, or angular velocity and velocity components where a joint type has
those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from kane.errors import InputError
from kane.graph.arena import Graph, Ref
from kane.graph.derivative import forward
from kane.kinematics.coordinates import Coordinates, Symbols, make_symbols
from kane.kinematics.linear import SingularError, solve
from kane.kinematics.motion import substitute
from kane.mechanism.formula import Scalar
from kane.mechanism.model import Mechanism

Resolver = Callable[[Symbols, Scalar], Ref]


def define_speeds(graph: Graph, mechanism: Mechanism, coordinates: Coordinates, resolver: Resolver) -> Symbols:
    """Symbols whose speeds are those of `mechanism.speeds`; `resolver(symbols, scalar)` gives the reference of a
    definition.

    Raises InputError when the definitions are not linear in the rates, are too few or too many, or cannot be inverted.
    """
    own = replace(coordinates, speeds=coordinates.natural)
    natural = make_symbols(graph, own)  # symbols of v, to be replaced
    names = coordinates.speeds
    if len(names) != len(own.speeds):
        raise InputError(
            f"{len(names)} generalized speeds ({', '.join(names)}) are defined for {len(own.speeds)} rates "
            f"({', '.join(own.speeds)}).",
            name=names[0],
            value=len(names),
            remedy="Define as many speeds as there are rates; motion constraints are declared apart.",
        )
    definitions = [resolver(natural, s.definition) for s in mechanism.speeds]
    y = _linear(graph, definitions, natural.u, names)
    u = tuple(graph.symbol(n) for n in names)
    udot = tuple(graph.symbol(f"{n}'") for n in names)
    rest = substitute(graph, definitions, dict.fromkeys(natural.u, graph.zero))
    try:
        v = [row[0] for row in solve(graph, y, [[graph.sub(a, b)] for a, b in zip(u, rest, strict=True)])]
    except SingularError as error:
        bad = ", ".join(names[k] for k in error.rows)
        raise InputError(
            f"The generalized speeds cannot be inverted: {bad} depends linearly on the other ones.",
            name=names[error.rows[0]],
            remedy="Define speeds from which all rates of the coordinates follow.",
        ) from None
    replacement = dict(zip(natural.u, v, strict=True))
    rates = dict(zip(natural.rates, substitute(graph, list(natural.rates.values()), replacement), strict=True))
    return Symbols(
        natural.q,
        u,
        udot,
        natural.by_name,
        rates,
        natural.names_q,
        names,
        tuple(f"{n}'" for n in names),
        dict(zip(own.speeds, v, strict=True)),
    )


def _linear(g: Graph, refs: Sequence[Ref], v: Sequence[Ref], names: Sequence[str]) -> list[list[Ref]]:
    """d refs / d v, checked to be free of v."""
    columns = [forward(g, refs, {x: g.one}) for x in v]
    rows = [list(row) for row in zip(*columns, strict=True)]
    for name, row in zip(names, rows, strict=True):
        if any(x > 1 for y in v for x in forward(g, row, {y: g.one})):
            raise InputError(
                f"Generalized speed {name!r} is not linear in the rates of the coordinates.", name=name,
                remedy="A generalized speed is a linear combination of rates with coefficients in q and t.",
            )  # fmt: skip
    return rows
