"""Base parameters: which combinations of inertial parameters the torques depend on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from kane.equations.base_parameters import BaseParameters


@dataclass(frozen=True, slots=True)
class Base:
    """Rows (name, formula, value), parameters without effect, and their number among all."""

    id: ClassVar[str] = "base"
    title: ClassVar[str] = "Base parameters"
    template: ClassVar[str] = "base.html"

    rows: tuple[tuple[str, str, str], ...]
    vanish: tuple[str, ...]
    total: int


def base(found: BaseParameters) -> Base:
    """The table of base parameters."""
    rows = tuple(zip(found.names, found.formulas, _values(found.values), strict=True))
    return Base(rows, found.vanish, len(found.full))


def _values(values: Sequence[float]) -> list[str]:
    return ["" if math.isnan(x) else f"{x:.9g}" for x in values]
