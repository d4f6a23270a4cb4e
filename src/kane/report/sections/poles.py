"""The poles of a linearisation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from kane.linearization.linear import LinearSystem


@dataclass(frozen=True, slots=True)
class Pole:
    """real, imaginary (rad/s), and for a reader: frequency (Hz), damping ratio, time constant (s), verdict."""

    real: str
    imaginary: str
    frequency: str
    damping: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Poles:
    """Eigenvalues of A, the least stable first; `data` has them as numbers."""

    id: ClassVar[str] = "poles"
    title: ClassVar[str] = "Poles of the linearisation"
    template: ClassVar[str] = "poles.html"

    rows: tuple[Pole, ...]
    states: tuple[str, ...]
    data: dict[str, Any]


def poles(system: LinearSystem) -> Poles:
    """The poles of a linear system."""
    values = [complex(x) for x in system.eigenvalues]
    scale = max((abs(x) for x in values), default=1.0) or 1.0
    data = {"poles": [[x.real, x.imag] for x in values]}
    return Poles(tuple(_pole(x, 1e-9 * scale) for x in values), system.states, data)


def _pole(x: complex, small: float) -> Pole:
    size = abs(x)
    verdict = "stable" if x.real < -small else "unstable" if x.real > small else "on the limit"
    frequency = f"{abs(x.imag) / (2 * math.pi):.4g}" if abs(x.imag) > small else ""
    damping = f"{0.0 if abs(x.real) <= small else -x.real / size:.3g}" if size > small else ""
    real, imaginary = (0.0 if abs(part) <= small else part for part in (x.real, x.imag))
    return Pole(f"{real:.6g}", f"{imaginary:.6g}", frequency, damping, verdict)
