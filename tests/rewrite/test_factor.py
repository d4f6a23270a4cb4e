"""factor: the same polynomials, fewer operations, whatever the order of hashing."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.graph.arena import Graph, Ref
from kane.graph.program import Input, build_program
from kane.rewrite.factor import Polynomial, factor

SIZE = 5
monomials = st.lists(st.integers(0, SIZE - 1), max_size=4).map(lambda v: tuple(sorted(v)))
polynomials = st.lists(
    st.dictionaries(monomials, st.integers(-4, 4).map(Fraction), max_size=14), min_size=1, max_size=4
)


def expanded(graph: Graph, polynomial: Polynomial, variables: list[Ref]) -> Ref:
    total = graph.zero
    for literals, value in polynomial.items():
        product = graph.number(value)
        for v in literals:
            product = graph.mul(product, variables[v])
        total = graph.add(total, product)
    return total


def symbols(graph: Graph, constants: frozenset[int]) -> list[Ref]:
    return [graph.symbol(f"x{k}", "parameter" if k in constants else "state") for k in range(SIZE)]


@settings(max_examples=60, deadline=None)
@given(polynomials, st.sets(st.integers(0, SIZE - 1), max_size=2).map(frozenset), st.integers(1, 3))
def test_same_functions(some: list[Polynomial], constants: frozenset[int], tries: int) -> None:
    graph = Graph()
    variables = symbols(graph, constants)
    made = factor(some, SIZE, constants, tries).build(graph, variables)
    for ref, polynomial in zip(made, some, strict=True):
        assert graph.residue_of(ref) == graph.residue_of(expanded(graph, polynomial, variables))


def count(some: list[Polynomial], factored: bool) -> int:
    graph = Graph()
    variables = symbols(graph, frozenset())
    refs = factor(some, SIZE).build(graph, variables) if factored else [expanded(graph, p, variables) for p in some]
    inputs = [Input("x", tuple(f"x{k}" for k in range(SIZE)))]
    return build_program(graph, "f", inputs, [("y", (len(refs),), refs)]).counts.total


@pytest.mark.parametrize(
    ("polynomial", "operations"),
    [
        ({(0, 1): 1, (0, 2): 1}, 2),  # x (y + z)
        ({(0, 0, 0, 0): 1}, 2),  # squared twice
        ({(0, 2): 1, (0, 3): 1, (1, 2): 1, (1, 3): 1}, 3),  # (a + b) (c + d)
        ({(0, 1): 3, (0, 2): 6}, 3),  # 3 x (y + 2 z) with 2 z = z + z or a product
    ],
)
def test_known_optimum(polynomial: dict[tuple[int, ...], int], operations: int) -> None:
    exact = {key: Fraction(value) for key, value in polynomial.items()}
    assert count([exact], True) <= operations + (3 in polynomial.values())
    assert count([exact], True) <= count([exact], False)


def test_shared_between_polynomials() -> None:
    first = {(0, 1): Fraction(1), (0, 2): Fraction(1)}
    second = {(1, 3): Fraction(1), (2, 3): Fraction(1)}
    assert count([first, second], True) == 3  # y + z once, two products


def test_independent_of_the_hash_seed() -> None:
    code = (
        "import random\nfrom fractions import Fraction\nfrom kane.rewrite.factor import factor\n"
        "r = random.Random(5)\n"
        "key = lambda: tuple(sorted(r.choices(range(6), k=3)))\n"
        "p = [{key(): Fraction(r.randint(1, 9), 7) for _ in range(30)} for _ in range(3)]\n"
        "print(factor(p, 6))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
