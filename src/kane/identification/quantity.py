"""Measured numbers: a value and its standard error, propagated to first order with everything it shares with others.

Each reading is an independent source of error; a quantity remembers how much each source moves it, so what is computed
twice from one reading is correlated as it should be (GUM, JCGM 100:2008, section 5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kane.errors import NumberError


@dataclass(frozen=True, slots=True)
class Quantity:
    """value +- error; parts: change for one standard error of each source."""

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """Standard error."""
        return math.sqrt(sum(x * x for x in self.parts.values()))

    def __add__(self, other: Quantity | float) -> Quantity:
        b = quantity(other)
        return _combined(self.value + b.value, (self, 1.0), (b, 1.0))

    __radd__ = __add__

    def __neg__(self) -> Quantity:
        return _combined(-self.value, (self, -1.0))

    def __sub__(self, other: Quantity | float) -> Quantity:
        return self + (-quantity(other))

    def __rsub__(self, other: float) -> Quantity:
        return quantity(other) - self

    def __mul__(self, other: Quantity | float) -> Quantity:
        b = quantity(other)
        return _combined(self.value * b.value, (self, b.value), (b, self.value))

    __rmul__ = __mul__

    def __truediv__(self, other: Quantity | float) -> Quantity:
        b = quantity(other)
        result = self.value / b.value
        return _combined(result, (self, 1.0 / b.value), (b, -result / b.value))

    def __rtruediv__(self, other: float) -> Quantity:
        return quantity(other) / self

    def __pow__(self, n: int) -> Quantity:
        return _combined(self.value**n, (self, n * self.value ** (n - 1)))

    def __str__(self) -> str:
        if self.error == 0:
            return f"{self.value:.9g}"
        digits = max(0, 1 - math.floor(math.log10(self.error)))
        return f"{self.value:.{digits}f} +- {self.error:.{digits}f}"


def _combined(value: float, *terms: tuple[Quantity, float]) -> Quantity:
    parts: dict[str, float] = {}
    for q, slope in terms:
        for source, x in q.parts.items():
            parts[source] = parts.get(source, 0.0) + slope * x
    return Quantity(value, {source: x for source, x in parts.items() if x})


def quantity(value: Quantity | float) -> Quantity:
    """A number as an exact quantity."""
    return value if isinstance(value, Quantity) else Quantity(float(value))


def reading(value: object, source: str, graduation: float = 0.0) -> Quantity:
    """The quantity of one reading of the worksheet.

    value: a number (error: a uniform one of half a graduation, graduation / sqrt(12)); "17.40 +- 0.05"; or a list of
    repeated readings: their mean, with the standard error of the mean or of the graduation, whichever is larger.
    Raises NumberError naming the source.
    """
    least = graduation / math.sqrt(12.0)
    if isinstance(value, str):
        for sign in ("+-", "±", "+/-"):
            if sign in value:
                middle, _, given = value.partition(sign)
                return Quantity(_float(middle, source), {source: _positive(_float(given, source), source)})
        return Quantity(_float(value, source), {source: least} if least else {})
    if isinstance(value, Sequence):
        numbers = [_float(x, source) for x in value]
        if not numbers:
            raise NumberError(f"{source} has no readings.", name=source, remedy="Give one at least.")
        mean = sum(numbers) / len(numbers)
        spread = 0.0
        if len(numbers) > 1:
            spread = math.sqrt(sum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1) / len(numbers))
        error = max(spread, least)
        return Quantity(mean, {source: error} if error else {})
    return Quantity(_float(value, source), {source: least} if least else {})


def _float(value: object, source: str) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise NumberError(
            f"{source} is {value!r}: not a number.",
            name=source,
            value=value,
            remedy="Write 17.4, '17.4 +- 0.1' or a list.",
        )
    return number


def _positive(error: float, source: str) -> float:
    if error < 0:
        raise NumberError(f"The error of {source} is {error}.", name=source, value=error, remedy="Give a positive one.")
    return error


def covariance(a: Quantity, b: Quantity) -> float:
    """Covariance of two quantities: over the sources they share."""
    return sum(x * b.parts[source] for source, x in a.parts.items() if source in b.parts)
