"""What a report suggests: angles that look like rounded multiples of pi/12."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import pi

from kane.mechanism.model import Mechanism, Note, Turn

_ROUNDED = 1e-5  # 1.5708, 3.14159 and the like; any other angle is as near once in ten thousand times


def with_hints(mechanism: Mechanism, snap: float) -> Mechanism:
    """The mechanism, with one note where angles were left as written that a coarser `snap` would make exact."""
    if snap >= _ROUNDED:
        return mechanism
    near = [
        (float(move.angle), owner)
        for owner, moves in (
            *((f"joint {joint.name!r}", joint.placement) for joint in mechanism.joints),
            *((f"link {link.name!r}", link.inertia.axes) for link in mechanism.links if link.inertia is not None),
        )
        for move in moves
        if isinstance(move, Turn) and isinstance(move.angle, Fraction) and _near(float(move.angle))
    ]
    if not near:
        return mechanism
    value, owner = near[0]
    many = "1 angle is a rounded multiple" if len(near) == 1 else f"{len(near)} angles are rounded multiples"
    note = Note(
        "defaulted",
        f"{many} of pi/12, taken as written ({value!r} in {owner}): --snap 1e-5 (snap=1e-5) makes them exact, with "
        "fewer operations",
    )
    return replace(mechanism, report=replace(mechanism.report, notes=(*mechanism.report.notes, note)))


def _near(angle: float) -> bool:
    k = round(angle * 12 / pi)
    return k != 0 and abs(angle - k * pi / 12) < _ROUNDED
