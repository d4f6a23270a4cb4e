"""Declared generalized speeds that are the rates of the coordinates under other names: u1 = q1_dot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula
from kane.mechanism.loads import GeneralizedForce
from kane.mechanism.model import Mechanism


def rate_places(mechanism: Mechanism, c: Coordinates) -> tuple[int, ...] | None:
    """For each declared speed the place of the coordinate whose rate it is; None where some speed is another one."""
    if not mechanism.speeds or c.natural != c.names:
        return None
    place = {f"{n}_dot": k for k, n in enumerate(c.names)}
    named = [s.definition for s in mechanism.speeds]
    found = [place.get(str(d.value), -1) if isinstance(d, Formula) and d.op == "name" else -1 for d in named]
    return tuple(found) if sorted(found) == list(range(len(c.names))) else None


def speeds_as_rates(mechanism: Mechanism) -> Mechanism:
    """The mechanism in the rates of its coordinates, in their order, where its speeds are these; otherwise itself.

    Loads and constraints say q1_dot where they said u1.
    """
    c = find_coordinates(mechanism)
    places = rate_places(mechanism, c)
    if places is None:
        return mechanism
    table = {s.name: c.names[k] for s, k in zip(mechanism.speeds, places, strict=True)}
    loads, constraints = (_in_rates(x, table) for x in (mechanism.loads, mechanism.constraints))
    return replace(mechanism, speeds=(), loads=loads, constraints=constraints)


def _in_rates(item: Any, table: Mapping[str, str]) -> Any:
    if isinstance(item, Formula):
        if item.op == "name":
            return f.name(f"{table[str(item.value)]}_dot") if item.value in table else item
        return replace(item, args=tuple(_in_rates(a, table) for a in item.args)) if item.args else item
    if isinstance(item, tuple):
        return tuple(_in_rates(part, table) for part in item)
    if not is_dataclass(item) or isinstance(item, type):
        return item
    changes = {entry.name: _in_rates(getattr(item, entry.name), table) for entry in fields(item)}
    if isinstance(item, GeneralizedForce):
        changes["speed"] = table.get(item.speed, item.speed)
    return replace(item, **changes)
