"""Exact linear relations between expressions: residues at random states, elimination, rational reconstruction.

Parameters, angles of the geometry and all other constants keep one residue for all states of a field, so a relation
with coefficients that depend on them is a relation of residues.  A state that adds no new row proves, but for a chance
below 1e-20, that none will (Schwartz and Zippel 1979-80).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from kane.graph.arena import Graph
from kane.graph.evaluate import rebuild
from kane.graph.field import Field
from kane.graph.program import Program

MARGIN = 2**40  # a random residue passes for a small fraction with a chance of one in this


def residues_at(program: Program, field: Field, state: int, quaternions: Sequence[Sequence[str]] = ()) -> list[int]:
    """The first output of a program at a random state (numbered), row-major, modulo field.prime.

    quaternions: labels of state symbols that form unit quaternions.
    """

    def moved(label: str) -> str:
        return f"{label}@{state}"

    graph = Graph(field)
    for group in quaternions:
        graph.unit_quaternion([moved(label) for label in group])
    inputs = tuple(
        replace(i, labels=tuple(map(moved, i.labels))) if i.kind == "state" else i for i in program.inputs
    )
    refs = rebuild(replace(program, inputs=inputs), graph)
    return [graph.residue_of(refs[r >> 1] ^ (r & 1)) for r in program.outputs[0].refs]


class Echelon:
    """Rows over the integers modulo a prime in reduced echelon form, leftmost pivots."""

    def __init__(self, prime: int) -> None:
        self.prime = prime
        self.rows: dict[int, dict[int, int]] = {}  # pivot column -> the sparse row, 1 at its pivot, 0 at other pivots

    def add(self, values: Sequence[int]) -> bool:
        """Take in a row; True when it is independent of those before."""
        p = self.prime
        row = {j: x for j, x in enumerate(values) if x}
        for pivot in [j for j in row if j in self.rows]:
            _subtract(row, row[pivot], self.rows[pivot], p)
        if not row:
            return False
        pivot = min(row)
        inverse = pow(row[pivot], -1, p)
        row = {j: x * inverse % p for j, x in row.items()}
        for other in self.rows.values():
            if pivot in other:
                _subtract(other, other[pivot], row, p)
        self.rows[pivot] = row
        return True


def _subtract(row: dict[int, int], factor: int, other: dict[int, int], p: int) -> None:
    """row -= factor * other, in place; zeros are dropped."""
    for j, x in other.items():
        value = (row.get(j, 0) - factor * x) % p
        if value:
            row[j] = value
        else:
            row.pop(j, None)


def row_space(
    program: Program, columns: Sequence[int], field: Field, quaternions: Sequence[Sequence[str]] = ()
) -> Echelon:
    """The row space, over all states, of a program's output (rows, n) with its columns put in the order `columns`.

    Its pivots (positions in `columns`) are independent columns; row by row the others are their combinations.
    """
    echelon = Echelon(field.prime)
    rows, n = program.outputs[0].shape
    for state in _states(len(columns)):
        values = residues_at(program, field, state, quaternions)
        gained = [echelon.add([values[r * n + c] for c in columns]) for r in range(rows)]
        if not any(gained):
            break
    return echelon


def _states(columns: int) -> Iterator[int]:
    """State numbers; each but the last adds a row at least, so there are at most as many as columns and one."""
    return iter(range(columns + 1))


def fraction_of(residues: Sequence[int], primes: Sequence[int]) -> Fraction | None:
    """The fraction with these residues that is so small that chance cannot have made it, or None.

    Wang 1981; by the Chinese remainder theorem all primes are one modulus.
    """
    modulus, value = primes[0], residues[0]
    for prime, residue in zip(primes[1:], residues[1:], strict=True):
        value += modulus * ((residue - value) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    r0, r1, s0, s1 = modulus, value % modulus, 0, 1
    if r1 == 0:
        return Fraction(0)
    best, product = Fraction(0), modulus
    while r1:
        if abs(r1 * s1) < product:
            best, product = Fraction(r1, s1), abs(r1 * s1)
        quotient = r0 // r1
        r0, r1 = r1, r0 - quotient * r1
        s0, s1 = s1, s0 - quotient * s1
    return best if product * MARGIN < modulus else None
