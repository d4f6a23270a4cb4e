"""The tree as the explicit model sees it: one elementary turn or slide a step, exact bodies, and what it cannot serve.

A step belongs to a coordinate with an integer ratio (followers: q = ratio * coordinate), so that every element stays a
polynomial in sines, cosines and slides of the coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from kane.errors import UnsupportedError
from kane.explicit.algebra import Atoms, Coefficient, add, linear_form
from kane.explicit.bodies import Body, free_name, node_body, symmetric
from kane.explicit.moves import Fixed, fixed_moves
from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.kinematics.plain_speeds import speeds_as_rates
from kane.kinematics.tree import ROOT, Node, build_tree
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula, Scalar, scalar_text
from kane.mechanism.model import Joint, Mechanism, Placement, Translate, Turn

_REMEDY = "Use 'kane derive' (kane.derive): its recursive equations serve every joint type."
_CONSTRAINED = (
    "Kane's steps (kane.equations.steps.work_out) have the constraints and 'kane simulate' moves with them; "
    "'kane derive' is of the tree without them."
)


@dataclass(frozen=True, slots=True)
class Step:
    """One elementary motion: fixed moves from the parent step's frame, then a turn or slide of ratio * coordinate."""

    parent: int
    fixed: tuple[Fixed, ...]
    kind: Literal["turn", "slide"]
    axis: int
    coordinate: int
    ratio: Fraction
    body: Body | None


@dataclass(frozen=True, slots=True)
class Arm:
    """The steps of a tree, its coordinates, gravity in axes of N, rotor inertia by coordinate, notes for the reader."""

    steps: tuple[Step, ...]
    names: tuple[str, ...]
    turns: tuple[bool, ...]
    gravity: tuple[Coefficient, Coefficient, Coefficient]
    rotors: dict[int, Coefficient]
    notes: tuple[str, ...]


def read_arm(mechanism: Mechanism, atoms: Atoms, free: Sequence[str]) -> Arm:
    """The steps of a mechanism; `free`: parameters given at run time.

    Raises UnsupportedError naming the joint for floating and spherical joints, screws, closed loops, prescribed
    motion and followers whose ratio breaks the period.
    """
    notes = [f"{s.name} is written as {scalar_text(s.definition)}" for s in mechanism.speeds]
    mechanism = speeds_as_rates(mechanism)
    _refuse_beyond_trees(mechanism)
    coordinates = find_coordinates(mechanism)
    tree = build_tree(mechanism, coordinates)
    steps: list[Step] = []
    last: dict[int, int] = {ROOT: ROOT}  # node -> its last step
    for index, node in enumerate(tree.nodes):
        moves = _elementary(mechanism, node, coordinates)
        body = node_body(mechanism, node, index, atoms)
        body = symmetric(mechanism, tree.children(index), node, body, atoms, free, notes)
        parent, fixed = last[node.parent], list(fixed_moves(atoms, node.fixed))
        for k, (before, kind, axis, coordinate, ratio) in enumerate(moves):
            own = body if k == len(moves) - 1 else None
            steps.append(Step(parent, (*fixed, *fixed_moves(atoms, before)), kind, axis, coordinate, ratio, own))
            parent, fixed = len(steps) - 1, []
        last[index] = parent
    turns = _kinds(mechanism, steps, coordinates)
    rotors = _rotors(mechanism, tree.nodes, coordinates, atoms, notes)
    return Arm(tuple(steps), coordinates.names, turns, _gravity(mechanism, atoms), rotors, tuple(notes))


def _refuse_beyond_trees(mechanism: Mechanism) -> None:
    if mechanism.constraints:
        first = mechanism.constraints[0]
        name = getattr(first, "name", type(first).__name__)
        raise UnsupportedError(
            f"{mechanism.name} has a constraint ({name}): the explicit model is of a tree without constraints.",
            name=str(name), remedy=_CONSTRAINED,
        )  # fmt: skip
    if mechanism.speeds:
        raise UnsupportedError(
            f"{mechanism.name} defines the generalized speed {mechanism.speeds[0].name!r}: the explicit model is "
            "written in the rates.",
            name=mechanism.speeds[0].name, remedy=_REMEDY,
        )  # fmt: skip
    for joint in mechanism.joints:
        if joint.type in ("floating", "spherical", "screw"):
            raise _refusal(mechanism, joint.name, f"is {joint.type}: its motion is no turn or slide by one coordinate")


def _refusal(mechanism: Mechanism, name: str, why: str) -> UnsupportedError:
    joint: Joint | None = next((j for j in mechanism.joints if j.name == name), None)
    line = joint.line if joint else None
    return UnsupportedError(f"Joint {name!r} {why}.", name=name, line=line, remedy=_REMEDY)


Elementary = tuple[Placement, Literal["turn", "slide"], int, int, Fraction]


def _elementary(mechanism: Mechanism, node: Node, c: Coordinates) -> list[Elementary]:
    """The turns and slides of a node's moving move: (fixed moves before, kind, axis, coordinate, ratio)."""
    match node.motion:
        case Turn(axis, angle):
            constant, parts = _split(mechanism, node, angle, c)
            if len(parts) != 1:
                raise _refusal(mechanism, node.joint, f"turns by {f.scalar_text(angle)}, not by one coordinate")
            coordinate, ratio = parts[0]
            if ratio.denominator != 1:
                raise _refusal(
                    mechanism, node.joint,
                    f"follows {c.names[coordinate]!r} with the ratio {ratio}, which is no integer: the model would not "
                    "repeat after a turn",
                )  # fmt: skip
            before: Placement = (Turn(axis, constant),) if not f.is_zero(constant) else ()
            return [(before, "turn", axis, coordinate, ratio)]
        case Translate(by):
            split = [_split(mechanism, node, amount, c) for amount in by]
            constants: tuple[Scalar, Scalar, Scalar] = (split[0][0], split[1][0], split[2][0])
            shift: Placement = () if all(f.is_zero(x) for x in constants) else (Translate(constants),)
            slides: list[Elementary] = [
                (shift, "slide", axis, coordinate, ratio) for axis in range(3) for coordinate, ratio in split[axis][1]
            ]
            return [slides[0], *(((), *slide[1:]) for slide in slides[1:])]
        case _:
            raise _refusal(mechanism, node.joint, "turns by a quaternion or direction cosines")


def _split(
    mechanism: Mechanism, node: Node, amount: Scalar, c: Coordinates
) -> tuple[Scalar, list[tuple[int, Fraction]]]:
    """A motion's amount as a constant and (coordinate, ratio) pairs."""
    names = amount.names() if isinstance(amount, Formula) else frozenset()
    if "t" in names and "t" not in c.names:
        raise _refusal(mechanism, node.joint, "is moved by the time")
    if names.isdisjoint(c.names):
        return amount, []
    form = linear_form(amount)
    if form is None:
        raise _refusal(
            mechanism, node.joint, f"moves by {f.scalar_text(amount)}, which is not a rational multiple of a coordinate"
        )
    parts = [(c.names.index(n), ratio) for n, ratio in form.items() if n in c.names]
    constant: Scalar = Fraction(0)
    for name, value in sorted(form.items()):
        if name not in c.names:
            unit: Scalar = Fraction(1) if name == "" else f.PI if name == "pi" else f.name(name)
            constant = f.add(constant, f.mul(value, unit))
    return constant, sorted(parts)


def _kinds(mechanism: Mechanism, steps: Sequence[Step], c: Coordinates) -> tuple[bool, ...]:
    """True for coordinates that turn; one that does both is refused."""
    kinds: list[set[str]] = [set() for _ in c.names]
    for step in steps:
        kinds[step.coordinate].add(step.kind)
    for name, kind in zip(c.names, kinds, strict=True):
        if len(kind) > 1:
            raise UnsupportedError(f"Coordinate {name!r} is an angle and a length at once.", name=name, remedy=_REMEDY)
    return tuple("turn" in kind for kind in kinds)


def _gravity(mechanism: Mechanism, atoms: Atoms) -> tuple[Coefficient, Coefficient, Coefficient]:
    """Gravity in N; one number along an axis gets the name g."""
    x, y, z = (atoms.scalar(s) for s in mechanism.gravity)
    present = [k for k, part in enumerate((x, y, z)) if part]
    if len(present) == 1 and list((x, y, z)[present[0]]) == [0] and not atoms.taken("g"):
        value = Fraction((x, y, z)[present[0]][0])
        part: Coefficient = {atoms.atom("g", exact=abs(value)): 1 if value > 0 else -1}
        vector: list[Coefficient] = [{}, {}, {}]
        vector[present[0]] = part
        x, y, z = vector
    return x, y, z


def _rotors(
    mechanism: Mechanism, nodes: Sequence[Node], c: Coordinates, atoms: Atoms, notes: list[str]
) -> dict[int, Coefficient]:
    """Reflected rotor inertia, inertia * ratio^2, by coordinate.

    Kept apart from the arm's, as Armstrong, Khatib and Burdick do.
    """
    result: dict[int, Coefficient] = {}
    for joint in mechanism.joints:
        node = next((n for n in nodes if n.joint == joint.name), None)
        if joint.rotor is None or node is None:
            continue
        if joint.rotor.exact:
            raise _refusal(
                mechanism, joint.name, "has an exact spinning rotor; the explicit model takes reflected ones"
            )
        ((_, _, _, coordinate, ratio), *_) = _elementary(mechanism, node, c)
        value = f.mul(joint.rotor.inertia, f.mul(joint.rotor.ratio, joint.rotor.ratio))
        if isinstance(value, Fraction) and value:
            part: Coefficient = {atoms.atom(free_name(atoms, f"Im{coordinate + 1}"), exact=value): 1}
        else:
            part = atoms.scalar(value)
        result[coordinate] = add(result.get(coordinate, {}), part, ratio * ratio)
    if result:
        notes.append("Rotor inertia is reflected on the diagonal; gyroscopic terms of the armatures are neglected.")
    return {k: v for k, v in result.items() if v}
