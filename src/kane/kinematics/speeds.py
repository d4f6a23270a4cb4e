"""Generalized speeds defined by the user, u = Y(q, t) v + z(q, t), inverted for the kinematic equations.

v: the joints' own speeds.  Step 2 of Kane's method.  v are coordinate rates, or angular velocity and velocity
components where a joint type has those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kane.errors import InputError
from kane.graph.arena import Graph, Ref
from kane.kinematics.coordinates import Coordinates, Symbols, make_symbols, symbol_name, with_specified
from kane.kinematics.linear import NotLinearError, SingularError, affine, solve_regular
from kane.kinematics.motion import substitute
from kane.kinematics.plain_speeds import rate_places
from kane.mechanism.formula import Scalar
from kane.mechanism.model import Mechanism

Resolver = Callable[[Symbols, Scalar], Ref]


def define_speeds(graph: Graph, mechanism: Mechanism, coordinates: Coordinates, resolver: Resolver) -> Symbols:
    """Symbols whose speeds are those of `mechanism.speeds`.

    resolver: (symbols, scalar) -> the reference of a definition.  Raises InputError when the definitions are not linear
    in the rates, are too few or too many, or cannot be inverted.
    """
    plain = rate_places(mechanism, coordinates)
    if plain is not None:
        return _plain_symbols(graph, coordinates, plain, coordinates.natural)
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
    try:
        rest, slopes = affine(graph, definitions, natural.u)
    except NotLinearError as error:
        name = names[error.index]
        raise InputError(
            f"Generalized speed {name!r} is not linear in the rates of the coordinates.", name=name,
            remedy="A generalized speed is a linear combination of rates with coefficients in q and t.",
        ) from None  # fmt: skip
    y = [[row.get(k, 0) for k in range(len(natural.u))] for row in slopes]
    u = tuple(graph.symbol(n) for n in names)
    udot = tuple(graph.symbol(f"{n}'") for n in names)
    try:
        v = [row[0] for row in solve_regular(graph, y, [[graph.sub(a, b)] for a, b in zip(u, rest, strict=True)])]
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


def _plain_symbols(graph: Graph, c: Coordinates, order: tuple[int, ...], natural: tuple[str, ...]) -> Symbols:
    """The symbols where each speed is one of the rates, under the user's name."""
    q_names = tuple(symbol_name("q", n) for n in c.names)
    by_name = {n: graph.symbol(text) for n, text in zip(c.names, q_names, strict=True)}
    u = tuple(graph.symbol(n) for n in c.speeds)
    udot_names = tuple(f"{n}'" for n in c.speeds)
    own = {natural[k]: u[r] for r, k in enumerate(order)}
    rates = {n: own[n] for n in c.names}
    by_name, rates = with_specified(graph, c, by_name, rates)
    udot = tuple(graph.symbol(n) for n in udot_names)
    return Symbols(tuple(by_name[n] for n in c.names), u, udot, by_name, rates, q_names, c.speeds, udot_names, own)
