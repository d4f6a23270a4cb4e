"""SymPy: expressions of the graph as SymPy expressions (extra `sympy`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from kane.emit.expression import program_of
from kane.emit.target import unsupported
from kane.errors import MissingExtraError, install
from kane.graph.arena import Graph, Ref
from kane.graph.program import Program


def to_sympy(graph: Graph, ref: Ref, symbols: Mapping[str, Any] | None = None) -> Any:
    """The expression in SymPy; `symbols` gives SymPy expressions for some names, the others become Symbol(name).

    Raises MissingExtraError without SymPy, UnsupportedError for a function that SymPy lacks.
    """
    return program_to_sympy(program_of(graph, [ref]), symbols)["value"][0]


def program_to_sympy(program: Program, symbols: Mapping[str, Any] | None = None) -> dict[str, list[Any]]:
    """The elements of each output, row-major."""
    try:
        import sympy
    except ImportError as error:
        raise MissingExtraError(
            "SymPy is not installed.", name="sympy", remedy=install("sympy")
        ) from error
    functions = _functions(sympy)
    given = symbols or {}
    values: list[Any] = []
    for op, args, payload, _ in program.values:
        if op == "input":
            assert isinstance(payload, tuple)
            label = program.inputs[payload[0]].labels[payload[1]]
            values.append(given[label] if label in given else sympy.Symbol(label))
        elif op == "num":
            assert isinstance(payload, Fraction)
            values.append(sympy.Rational(payload.numerator, payload.denominator))
        elif op in functions:
            values.append(functions[op](*_signed(values, args)))
        else:
            raise unsupported("sympy", op, program.name)
    return {out.name: _signed(values, out.refs) for out in program.outputs}


def _signed(values: Sequence[Any], refs: Sequence[Ref]) -> list[Any]:
    return [-values[r >> 1] if r & 1 else values[r >> 1] for r in refs]


def _functions(sympy: Any) -> dict[str, Callable[..., Any]]:
    names = "sqrt sin cos tan asin acos atan atan2 exp log sinh cosh tanh sign".split()
    return {name: getattr(sympy, name) for name in names} | {
        "pi": lambda: sympy.pi,
        "add": lambda a, b: a + b,
        "mul": lambda a, b: a * b,
        "fma": lambda a, b, c: a * b + c,
        "div": lambda a, b: a / b,
        "abs": sympy.Abs,
        "min": sympy.Min,
        "max": sympy.Max,
        "pow": lambda a, b: a**b,
        "select": lambda c, a, b: sympy.Piecewise((a, c > 0), (b, True)),
    }
