"""What a report suggests: angles that look like rounded multiples of pi/12, and numbers that look like degrees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, nan, pi

from kane.mechanism import formula as f
from kane.mechanism.model import Joint, Mechanism, Note, Placement, Turn

_ROUNDED = 1e-5  # 1.5708, 3.14159 and the like; any other angle is as near once in ten thousand times
_STEP = 5  # degrees, of which the angles of a drawing mostly are multiples
_MOST = 720.0  # degrees: no drawing has more, numbers that stand for "no limit" have
_TURN, _TURNS = 2 * pi, 10 * pi  # rad: more is no placement, and as a limit what hardly a joint has
_NO_LIMIT = 100.0  # on both sides, which is written for joints that may turn for ever
_RADIANS = "write radians, {radians:.16g} for {degrees:g} degrees"
_MJCF = 'angle="radian" stands in <compiler>; without it MuJoCo takes degrees'
_WAYS = {  # of placements, and of limits
    "dh": (
        "write {degrees:g}deg, or name the column with its unit, such as alpha_deg",
        "name the columns lower_deg and upper_deg",
    ),
    "mjcf": (_MJCF, _MJCF),
    "sdf": (f'{_RADIANS}, or degrees="true"', _RADIANS),
}
_Found = list[tuple[float, str, int | None]]  # number, where it stands, line


def with_hints(mechanism: Mechanism, snap: float = inf) -> Mechanism:
    """The mechanism, with notes on numbers that are taken as written and may not have been meant so.

    One where a coarser `snap` would make angles exact, and one each where placements and limits look like degrees.
    """
    added = (*_rounded(mechanism, snap), *_degrees(mechanism))
    if not added:
        return mechanism
    return replace(mechanism, report=replace(mechanism.report, notes=(*mechanism.report.notes, *added)))


def _placements(mechanism: Mechanism) -> Iterator[tuple[str, int | None, Placement]]:
    """What stands somewhere: owner, line, moves."""
    for joint in mechanism.joints:
        yield f"joint {joint.name!r}", joint.line, joint.placement
    for link in mechanism.links:
        if link.inertia is not None:
            yield f"link {link.name!r}", link.inertia.line, link.inertia.axes


def _rounded(mechanism: Mechanism, snap: float) -> Iterator[Note]:
    if snap >= _ROUNDED:
        return
    near = [
        (float(move.angle), owner)
        for owner, _, moves in _placements(mechanism)
        for move in moves
        if isinstance(move, Turn) and isinstance(move.angle, Fraction) and _near(float(move.angle), _ROUNDED)
    ]
    if near:
        value, owner = near[0]
        many = "1 angle is a rounded multiple" if len(near) == 1 else f"{len(near)} angles are rounded multiples"
        yield Note(
            "defaulted",
            f"{many} of pi/12, taken as written ({value!r} in {owner}): --snap 1e-5 (snap=1e-5) makes them exact, with "
            "fewer operations",
        )


def _near(angle: float, tolerance: float) -> bool:
    k = round(angle * 12 / pi)
    return k != 0 and abs(angle - k * pi / 12) < tolerance


# degrees


def _degrees(mechanism: Mechanism) -> Iterator[Note]:
    """What was taken as radians and is more than radians can mean there."""
    values = mechanism.parameter_values
    turns: _Found = [
        (angle, f"{angle:g} in {owner}", line)
        for owner, line, moves in _placements(mechanism)
        for move in moves
        if isinstance(move, Turn) and _turns_too_far(angle := _number(move.angle, values))
    ]
    limits: _Found = [
        (max(ends, key=abs), f"{' to '.join(f'{end:g}' for end in ends)} of joint {joint.name!r}", joint.line)
        for joint in mechanism.joints
        if joint.type == "revolute" and _reach_too_far(ends := _ends(joint))
    ]
    ways = _WAYS.get(mechanism.report.format, (_RADIANS, _RADIANS))
    yield from _note(turns, "1 angle looks", "{} angles look", ways[0])
    yield from _note(limits, "The limits of 1 joint look", "The limits of {} joints look", ways[1])


def _note(found: _Found, one: str, many: str, way: str) -> Iterator[Note]:
    if found:
        size, example, line = found[0]
        way = way.format(radians=size * pi / 180, degrees=size)
        begin = one if len(found) == 1 else many.format(len(found))
        yield Note("defaulted", f"{begin} like degrees, taken as radians ({example}): {way}", line=line)


def _number(angle: f.Scalar, values: dict[str, float]) -> float:
    """The angle in radians; nan for a formula without names, which says pi, and for one whose names have no values."""
    if isinstance(angle, f.Formula) and not 0 < len(angle.names()) == len(angle.names() & values.keys()):
        return nan
    try:
        return f.number(angle, values)
    except (ArithmeticError, ValueError):
        return nan


def _turns_too_far(angle: float) -> bool:
    """More than a turn, and a round number of degrees or no fraction of pi."""
    return _TURN < abs(angle) <= _MOST and (_round(angle) or not _near(angle, 1e-3))


def _ends(joint: Joint) -> list[float]:
    return [end for end in (joint.limits.lower, joint.limits.upper) if end is not None]


def _reach_too_far(ends: Sequence[float]) -> bool:
    """More than five turns from zero, and a round number of degrees."""
    endless = len(ends) == 2 and -ends[0] == ends[1] == _NO_LIMIT
    far = any(_round(end) and abs(end) > _TURNS for end in ends) and all(abs(end) <= _MOST for end in ends)
    return far and not endless


def _round(angle: float) -> bool:
    return angle % _STEP == 0
