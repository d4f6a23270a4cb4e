"""What exciting motions are asked for, refused before anything is searched where it cannot be meant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from kane.errors import InputError, NumberError, ShapeError
from kane.identification.torque_model import TorqueModel

PERIODS = (1e-6, 1e9)  # s
MOST = 200  # harmonics: memory and time grow with their square


@dataclass(frozen=True, slots=True)
class Box:
    """The origin of a frame or link stays within lower..upper (3,), m, axes of N."""

    frame: str
    lower: tuple[float, float, float]
    upper: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Search:
    """How hard to look: motions to begin with, rounds of improvement (L-BFGS) first with few harmonics, then as many
    with all, seed of all random motions."""

    starts: int = 40
    rounds: int = 800
    seed: int = 0


USUAL = Search()


def is_real(value: Any) -> bool:
    """A finite number that is not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def is_whole(value: Any) -> bool:
    """A whole number that is not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_model(model: Any) -> None:
    """InputError for what is no TorqueModel, and for one in which nothing moves."""
    if not isinstance(model, TorqueModel):
        raise InputError(
            f"{str(model)[:80]!r} is no torque model.", name="model", value=str(model)[:80],
            remedy="Give kane.identification.torque_model(robot).",
        )  # fmt: skip
    if not model.nv:
        name = model.mechanism.name
        raise InputError(f"No joint of {name} moves.", name=name, remedy="Give a robot with joints that move.")


def check_series(series: Any, rest: bool) -> tuple[float, int | None]:
    """Period, s, and number of harmonics or None.  Raises InputError."""
    remedy = f"Give a positive period (s) and a number of harmonics up to {MOST}, or None for it."
    if isinstance(series, str) or not isinstance(series, Sequence) or len(series) != 2:
        raise InputError(f"series is {series!r}.", name="series", value=repr(series), remedy=remedy)
    period, harmonics = series
    least = 2 if rest else 1
    known = harmonics is None or (is_whole(harmonics) and harmonics <= MOST)
    if not is_real(period) or not PERIODS[0] <= period <= PERIODS[1] or not known:
        raise InputError(
            f"series is a period of {period!r} s with {harmonics!r} harmonics.", name="series", value=repr(series),
            remedy=remedy,
        )  # fmt: skip
    if harmonics is not None and harmonics < least:
        raise InputError(
            f"A period of {period:.6g} s with {harmonics} harmonics holds no motion.", name="series", value=series,
            remedy="Give a positive period and two harmonics at least (one with rest=False).",
        )  # fmt: skip
    return float(period), None if harmonics is None else int(harmonics)


def check_search(objective: Any, search: Any) -> None:
    """InputError for an objective or an effort that does not exist."""
    if objective not in ("condition", "information"):
        raise InputError(
            f"objective is {objective!r}.", name="objective", value=repr(objective),
            remedy="Use 'condition' or 'information'.",
        )  # fmt: skip
    if not isinstance(search, Search):
        raise InputError(f"search is {search!r}.", name="search", value=repr(search), remedy="Give a Search.")
    for name, least in (("starts", 1), ("rounds", 0), ("seed", 0)):
        value = getattr(search, name)
        if not is_whole(value) or value < least:
            raise NumberError(
                f"{name} of the search is {value!r}.", name=name, value=repr(value),
                remedy=f"Give a whole number, {least} or more.",
            )  # fmt: skip


def check_boxes(boxes: Any) -> tuple[Box, ...]:
    """The boxes.  Raises InputError for what is none, and for sides that leave no room."""
    remedy = "Give [Box(link, (x0, y0, z0), (x1, y1, z1))], the lower corner first."
    if isinstance(boxes, (str, Box)) or not isinstance(boxes, Sequence):
        raise InputError(f"boxes is {boxes!r}.", name="boxes", value=repr(boxes), remedy=remedy)
    for box in boxes:
        if not isinstance(box, Box):
            raise InputError(f"{box!r} is no box.", name="boxes", value=repr(box), remedy=remedy)
        for side in (box.lower, box.upper):
            if isinstance(side, str) or not hasattr(side, "__len__") or len(side) != 3:
                raise ShapeError(f"A corner of {box!r} is not three numbers.", name=str(box.frame), remedy=remedy)
        if not all(is_real(a) and is_real(b) and a < b for a, b in zip(box.lower, box.upper, strict=True)):
            raise NumberError(
                f"The box of {box.frame!r} from {box.lower} to {box.upper} has no room.", name=str(box.frame),
                value=repr((box.lower, box.upper)), remedy=remedy,
            )  # fmt: skip
    return tuple(boxes)
