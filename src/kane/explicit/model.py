"""The explicit model A(q) qdd + B(q) [qd qd] + C(q) [qd^2] + g(q) of a tree of turns and slides.

Its coefficients are lumped constants.  The procedure of Armstrong, Khatib and Burdick 1986 ("The Explicit Dynamic Model
and Inertial Parameters of the PUMA 560 Arm"), steps 1-4, for any tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from kane.errors import UnknownNameError
from kane.explicit.algebra import Atoms
from kane.explicit.angles import Group, parallel_groups
from kane.explicit.arm import Arm, read_arm
from kane.explicit.christoffel import (
    ChristoffelReport,
    ConstantSpace,
    b_columns,
    christoffel,
    parallel_pairs,
    report,
    symbols,
    write_symbols,
)
from kane.explicit.energy import Element, energy
from kane.explicit.forms import Former, Frame, Style
from kane.explicit.lumping import Constant, Expression, Lumped, Lumper, Term, dependences
from kane.explicit.size import refuse_too_large
from kane.kinematics.coordinates import symbol_name
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.model import Mechanism

Parameters = Literal["numeric", "symbolic"] | Sequence[str]
Matrix = tuple[tuple[Expression, ...], ...]
_READABLE = 10**6  # factors of a dependence that is shown


@dataclass(frozen=True, slots=True)
class Dependence:
    """A combination of constants that vanishes identically: (name, factor) pairs."""

    parts: tuple[tuple[str, Fraction], ...]

    @property
    def readable(self) -> bool:
        """Whether all factors are short: those of sines and cosines of general angles are not."""
        return all(max(abs(factor.numerator), factor.denominator) < _READABLE for _, factor in self.parts)

    def __str__(self) -> str:
        text = ""
        for name, factor in self.parts:
            size = "" if abs(factor) == 1 else f"{abs(factor)}*" if self.readable else f"{float(abs(factor)):.12g}*"
            text += (
                f" {'-' if factor < 0 else '+'} {size}{name}" if text else f"{'-' if factor < 0 else ''}{size}{name}"
            )
        return f"{text} = 0"


@dataclass(frozen=True, slots=True)
class ExplicitModel:
    """A, B, C and g as expressions in lumped constants.

    constants: I1, ... of A (`inertia_constants`), combinations of them in B and C, g1, ..., and rotor inertias.  A
    and C are n x n, B is n x n(n-1)/2 with columns `b_columns` (pairs of coordinate indices), g has n.
    dependences: among the constants of A.  parameters: names given at run time, with their values.  notes: what the
    reader should know.
    """

    name: str
    coordinates: tuple[str, ...]
    turns: tuple[bool, ...]
    constants: tuple[Constant, ...]
    A: Matrix
    B: Matrix
    C: Matrix
    g: tuple[Expression, ...]
    b_columns: tuple[tuple[int, int], ...]
    christoffel: ChristoffelReport
    dependences: tuple[Dependence, ...]
    notes: tuple[str, ...]
    parameters: dict[str, float | None]
    mechanism: Mechanism
    arm: Arm
    atoms: Atoms
    groups: tuple[Group, ...]
    style: Style = "shortest"

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.coordinates)

    @property
    def inertia_constants(self) -> tuple[Constant, ...]:
        """The constants of A (rotors apart)."""
        return tuple(c for c in self.constants if c.kind == "inertia" and not c.parts)

    @property
    def gravity_constants(self) -> tuple[Constant, ...]:
        """The constants of g."""
        return tuple(c for c in self.constants if c.kind == "gravity")

    @property
    def rank(self) -> int:
        """How many of the constants of A are linearly independent."""
        return len(self.inertia_constants) - len(self.dependences)

    @property
    def shown_dependences(self) -> tuple[str, ...]:
        """The dependences that can be read, and how many others there are."""
        shown = [str(d) for d in self.dependences if d.readable]
        more = len(self.dependences) - len(shown)
        return (*shown, f"{more} more, whose factors are no short numbers") if more else tuple(shown)

    @property
    def symbol_names(self) -> tuple[str, ...]:
        """The coordinates as they are written: q1, q2; q_elbow."""
        return tuple(symbol_name("q", name) for name in self.coordinates)


def explicit_model(
    mechanism: Described, parameters: Parameters = "numeric", style: Style = "shortest"
) -> ExplicitModel:
    """The explicit model of a mechanism: tau = A(q) qdd + B(q) [qd_j qd_k] + C(q) [qd_j^2] + g(q).

    parameters: "numeric" gives the constants by number; "symbolic" keeps all atoms of their formulas as run-time
    inputs; or a list of atom names.  style: "shortest" chooses the trigonometric form of each element, "powers"
    avoids harmonics, "harmonics" uses only them.  Raises UnsupportedError for joints, loops and followers it does
    not serve, and for a model too large to be read; UnknownNameError for a parameter that is not there.
    """
    mechanism = mechanism_of(mechanism)
    values = {p.name: p.value for p in mechanism.parameters}
    atoms = Atoms(values)
    free = tuple(values) if parameters == "symbolic" else () if isinstance(parameters, str) else tuple(parameters)
    arm = read_arm(mechanism, atoms, free)
    refuse_too_large(arm, mechanism.name, atoms.rounding > 0)
    groups = parallel_groups(arm, atoms)
    former = Former(Frame(len(arm.names), arm.turns, groups), style)
    a, g = energy(arm, atoms)
    lumped, gravity = _lump(arm, atoms, groups, former, a, g)
    relations = dependences(lumped.constants)
    space = ConstantSpace(lumped.constants, relations, len(arm.names), atoms)
    elements = unpack(space, lumped.elements, len(arm.names))
    values_of = christoffel(space, elements, arm.turns)
    classes, written = _write_unique(space, former, values_of)
    zero = sum(not value for value in values_of.values())
    counted = report(arm, groups, len(written.elements) - (zero > 0), zero, elements)
    rotor_constants = _rotors(arm, atoms, len(written.constants) + len(gravity.constants))
    constants = (*written.constants, *gravity.constants, *(c for _, c, _ in rotor_constants.values()))
    n = len(arm.names)
    matrix = _symmetric(lumped.elements, n, rotor_constants)
    symbol = {s: _scaled(written.elements[k], ratio) for s, (k, ratio) in classes.items()}
    columns = b_columns(n)
    offset = len(written.constants)
    return ExplicitModel(
        mechanism.name, arm.names, arm.turns, constants, matrix,
        tuple(tuple(_scaled(symbol[i, j, k], Fraction(2)) for j, k in columns) for i in range(n)),
        tuple(tuple(symbol[i, j, j] for j in range(n)) for i in range(n)),
        tuple(tuple(Term(t.ratio, t.constant + offset, t.factors) for t in e) for e in gravity.elements),
        tuple(columns), counted,
        tuple(Dependence(tuple((lumped.constants[k].name, v) for k, v in r)) for r in relations),
        (*arm.notes, *_rounded(atoms)), _parameters(parameters, atoms), mechanism, arm, atoms, groups, style,
    )  # fmt: skip


def _rounded(atoms: Atoms) -> list[str]:
    """What the reader should know of fixed angles that are no multiples of pi/12."""
    said = "fixed angles that are no multiples of pi/12 are rounded, each by less than"
    return [f"{said} {atoms.rounding:.2g} rad; the model is exact for the rounded ones"] if atoms.rounding else []


def _lump(
    arm: Arm, atoms: Atoms, groups: Sequence[Group], former: Former, a: list[list[Element]], g: list[Element]
) -> tuple[Lumped, Lumped]:
    """Step 2: forms and constants of the upper triangle of A (by rows) and of g."""
    n = len(arm.names)
    formed = {(i, j): former(a[i][j]) for i in range(n) for j in range(i, n)}
    lumper = Lumper(atoms, "inertia", "I")
    for outer, inner in sorted(parallel_pairs(arm, groups), reverse=True):
        lumper.split(formed[outer, outer], formed[inner, inner])
    return lumper(list(formed.values())), Lumper(atoms, "gravity", "g")([former(e) for e in g])


def unpack(space: ConstantSpace, upper: Sequence[Expression], n: int) -> list[list[Element]]:
    """The full matrix over the constants from the expressions of its upper triangle."""
    elements: list[list[Element]] = [[{} for _ in range(n)] for _ in range(n)]
    place = 0
    for i in range(n):
        for j in range(i, n):
            elements[i][j] = elements[j][i] = space.element(upper[place])
            place += 1
    return elements


def _write_unique(
    space: ConstantSpace, former: Former, values: dict[tuple[int, int, int], Element]
) -> tuple[dict[tuple[int, int, int], tuple[int, Fraction]], Lumped]:
    """Each symbol as (index, sign) of the written ones: equal up to sign are written once."""
    known: dict[object, int] = {}
    unique: list[Element] = []
    classes = {}
    for s, value in values.items():
        items = space.fingerprint(value)
        opposite = space.opposite(items)
        if items in known:
            classes[s] = (known[items], Fraction(1))
        elif opposite in known:
            classes[s] = (known[opposite], Fraction(-1))
        else:
            known[items] = len(unique)
            classes[s] = (len(unique), Fraction(1))
            unique.append(value)
    return classes, write_symbols(space, former, unique)


def _scaled(expression: Expression, ratio: Fraction) -> Expression:
    return expression if ratio == 1 else tuple(Term(t.ratio * ratio, t.constant, t.factors) for t in expression)


def _rotors(arm: Arm, atoms: Atoms, start: int) -> dict[int, tuple[int, Constant, Fraction]]:
    """By coordinate: index, constant and ratio of the rotor inertia on the diagonal."""
    result = {}
    for k, (coordinate, value) in enumerate(sorted(arm.rotors.items())):
        constant = Constant(
            f"Im{coordinate + 1}", "rotor", tuple(sorted(value.items())), atoms.text(value), atoms.value(value)
        )
        result[coordinate] = (start + k, constant, Fraction(1))
    return result


def _symmetric(upper: Sequence[Expression], n: int, rotors: dict[int, tuple[int, Constant, Fraction]]) -> Matrix:
    rows: list[list[Expression]] = [[() for _ in range(n)] for _ in range(n)]
    place = 0
    for i in range(n):
        for j in range(i, n):
            rows[i][j] = rows[j][i] = upper[place]
            place += 1
        if i in rotors:
            index, _, ratio = rotors[i]
            rows[i][i] = (*rows[i][i], Term(ratio, index, ()))
    return tuple(tuple(row) for row in rows)


def _parameters(parameters: Parameters, atoms: Atoms) -> dict[str, float | None]:
    """Names that are run-time inputs, with their values."""
    plain = {a.name: a for a in atoms.atoms if a.formula.op == "name"}
    missing = [name for name, atom in plain.items() if atom.value is None]
    if parameters == "numeric":
        chosen = missing
    elif parameters == "symbolic":
        chosen = list(plain)
    else:
        for name in parameters:
            if name not in plain:
                raise UnknownNameError(
                    f"{name!r} is no parameter of the model; there are: {', '.join(plain)}.", name=name
                )
        chosen = [*parameters, *(name for name in missing if name not in parameters)]
    return {name: plain[name].value for name in chosen}


__all__ = ["Dependence", "ExplicitModel", "Parameters", "explicit_model", "symbols", "unpack"]
