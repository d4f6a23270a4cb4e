"""Published operation counts of the bundled robots, to stand next to ours.

Sources: Armstrong, Khatib and Burdick 1986 (abstract and Table 1); OpenSYMORO 2015, run on the same model (base
parameters, customised Newton-Euler, composite bodies, articulated bodies).  Counted by the same rule: multiplications
and additions that depend on the state.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """A published count; mul and add are None where only the total is known."""

    robot: str
    task: str
    method: str
    total: int
    mul: int | None = None
    add: int | None = None
    source: str = ""


_AKB = "Armstrong, Khatib, Burdick 1986"
_SYMORO = "OpenSYMORO 2015"
PUBLISHED = (
    Published("puma560", "inverse_dynamics", "explicit model, exact", 1165, 739, 426, f"{_AKB}, as usually quoted"),
    Published("puma560", "inverse_dynamics", "explicit model, 1 % significance", 305, None, None, _AKB),
    Published("puma560", "inverse_dynamics", "recursive Newton-Euler", 1560, None, None, f"{_AKB}, as usually quoted"),
    Published("puma560", "inverse_dynamics", "customised Newton-Euler with rotors", 349, 200, 149, _SYMORO),
    Published("puma560", "mass_matrix", "composite bodies", 248, 155, 93, _SYMORO),
    Published("puma560", "forward_dynamics", "articulated bodies (+ 4 divisions)", 988, 577, 411, _SYMORO),
)


def published(robot: str, task: str | None = None) -> tuple[Published, ...]:
    """The published counts of a bundled robot, of one task or all."""
    return tuple(p for p in PUBLISHED if p.robot == robot and task in (None, p.task))
