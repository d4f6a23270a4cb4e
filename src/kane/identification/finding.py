"""Findings about a log, and what several checks need to know of a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kane.identification.torque_model import TorqueModel

DEGREE = 180.0 / np.pi
RPM = 60.0 / (2.0 * np.pi)
MILLIMETRE = 1e3


@dataclass(frozen=True, slots=True)
class Finding:
    """kind: "nan", "time", "units", "swapped": refused; "saturated", "still", "range", "friction", "noise", "sign",
    "scale": told.  way: what to do about a refused one.
    """

    kind: str
    text: str
    joint: str = ""
    sample: int | None = None
    way: str = ""

    @property
    def refused(self) -> bool:
        return self.kind in ("nan", "time", "units", "swapped")


def column_of_speed(model: TorqueModel) -> list[int | None]:
    """For each speed the place of the coordinate whose rate it is."""
    return [model.coordinates.index(name) if name in model.coordinates else None for name in model.speeds]
