"""Where the operations of a robot's programs come from, in the user's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kane.equations.system import Parameters
from kane.graph.program import Input, Program
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Mechanism
from kane.search import Searched, Sources, Traced, find_sources, trace

SHOWN = 8  # names of a kind in one line of text


def trace_searched(
    mechanism: Mechanism, searched: Searched, parameters: Parameters = "numeric", external: Sequence[str] = (),
    frame: str | None = None,
) -> tuple[tuple[Traced, ...], Sources]:  # fmt: skip
    """The origin of every operation of a program found by the search, and the sources of its numbers."""
    program = searched.program
    sources = find_sources(mechanism, searched.task, program, searched.formulation, parameters, external, frame)
    joints = joint_labels(mechanism, program)
    return trace(program, sources, lambda label: joints.get(label, label)), sources


def joint_labels(mechanism: Mechanism, program: Program) -> dict[str, str]:
    """Label of a state input -> the joint it belongs to; time, external wrenches and speeds of the user's keep theirs.
    """
    found = find_coordinates(mechanism)
    owner: dict[str, str] = {}
    for joint in mechanism.joints:
        kind = joint_type(joint)
        owner |= dict.fromkeys((*kind.coordinates(joint), *kind.speeds(joint)), joint.name)
    labels: dict[str, str] = {}
    for item in program.inputs:
        if item.kind == "state":
            labels |= _owners(item, found.names if item.name == "q" else found.speeds, owner)
    return labels


def _owners(item: Input, names: Sequence[str], owner: dict[str, str]) -> dict[str, str]:
    if len(names) != item.size or item.name in ("t", "w"):
        return {}
    return {label: owner.get(name, name) for label, name in zip(item.labels, names, strict=True)}


def line_of(row: Mapping[str, Any]) -> str:
    """An operation and its origin (Traced.as_dict) as one line of text, long lists cut."""
    made = [_few(row["parameters"], SHOWN), _few(row["bodies"], SHOWN)]
    origin = " of ".join(part for part in made if part) or "no parameters"
    return f"{row['operation']:36}  [{_few(row['terms'], 3, '; ')}]  {origin}  -> {_few(row['outputs'], 4)}"


def _few(names: Sequence[str], most: int, between: str = ", ") -> str:
    """The first names and how many more there are."""
    text = between.join(names[:most])
    return text if len(names) <= most else f"{text} +{len(names) - most}"
