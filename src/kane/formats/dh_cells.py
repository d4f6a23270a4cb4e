"""Entries of a DH table: numbers with units, formulas, declarations `name=value`, and the coordinate in a formula."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from kane.errors import NumberError
from kane.formats.values import Numbers, exact_decimal, last_digit, pi_multiple
from kane.formats.xml import Element
from kane.mechanism import formula as f
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.model import Note

_MASSES = {"kg": Fraction(1), "g": Fraction(1, 10**3)}
_LENGTHS = {"m": Fraction(1), "cm": Fraction(1, 10**2), "mm": Fraction(1, 10**3)}
_INERTIAS = {f"{m}_{x}2": _MASSES[m] * _LENGTHS[x] ** 2 for m in _MASSES for x in _LENGTHS}
UNITS: dict[str, Mapping[str, Fraction]] = {
    "mass": _MASSES,
    "inertia": {**_INERTIAS, **{key.replace("_", ""): value for key, value in _INERTIAS.items()}},
    "length": _LENGTHS,
    "angle": {"rad": Fraction(1), "deg": Fraction(1)},
}
_UNIT = re.compile(rf"(?P<base>.+?)_(?P<unit>{'|'.join(u for units in UNITS.values() for u in units)})")
_DECLARES = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.+)", re.DOTALL)
_SIGNS = re.compile(r"[+-]\s*[+-]")
_COORDINATES = ("q", "theta", "th")  # how the names of coordinates begin
_DEGREES = re.compile(r"(?<![\w.])((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?:deg|°)(?!\w)")


@dataclass(frozen=True, slots=True)
class Row:
    """The texts of one row by column, with the units that the header states, and its line."""

    texts: Mapping[str, str]
    units: Mapping[str, str]
    line: int | None

    def has(self, column: str) -> bool:
        return self.texts.get(column, "").strip() != ""

    def text(self, column: str) -> str:
        return self.texts.get(column, "")


def split_unit(column: str) -> tuple[str, str]:
    """Column name and unit ("" when none is stated)."""
    found = _UNIT.fullmatch(column.strip())
    return (found["base"], found["unit"]) if found else (column.strip(), "")


def factor(unit: str) -> Fraction:
    """What a number in this unit is multiplied by; angles are converted where they are read."""
    return next((units[unit] for units in UNITS.values() if unit in units), Fraction(1))


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A coordinate in an entry sign * name + offset."""

    name: str
    sign: int
    offset: Scalar


@dataclass(slots=True)
class Cells:
    """Reads entries; collects the parameters they declare."""

    file: str | None
    snap: float
    parameters: dict[str, Fraction | None]
    notes: list[Note] = field(default_factory=list)

    def values(self) -> dict[str, float]:
        return {key: float(value) for key, value in self.parameters.items() if value is not None}

    def declare(self, row: Row, columns: tuple[str, ...]) -> None:
        """Enter the parameters that the row declares."""
        for column in columns:
            if "=" in row.text(column):
                self._read(row, column)

    def check(self, row: Row, columns: tuple[str, ...]) -> None:
        """Read every entry, those that have no effect too: NumberError for what is no number."""
        for column in columns:
            if column not in ("joint", "type") and row.has(column):
                self._read(row, column)

    def plain(self, row: Row, column: str) -> Scalar:
        """A number or formula in SI units; 0 where the entry is empty."""
        value = self._read(row, column) if row.has(column) else Fraction(0)
        return f.mul(factor(row.units.get(column, "")), value)

    def angle(self, row: Row, column: str) -> Scalar:
        """An angle in radians; multiples of pi/12 (within `snap`) become exact.

        In a column of degrees the constants are degrees; a coordinate beside them is what it is.
        """
        value = self.plain(row, column)
        if row.units.get(column) == "deg":
            found = coordinate_of(value, self.parameters, row.text(column)) if column == "theta" else None
            if found is not None and found.name.startswith(_COORDINATES):
                turned = f.name(found.name)
                return f.add(turned if found.sign > 0 else f.neg(turned), _degrees(found.offset))
            return _degrees(value)
        if isinstance(value, Fraction):
            numbers = Numbers(self.file, self.snap)
            exact = numbers.angle(value, Element("row", {}, row.line or 0), column)
            self.notes += [
                Note("snapped", f"{text} in column {column}", column, line) for text, _, line in numbers.snapped
            ]
            return exact
        return value

    def number(self, row: Row, column: str, value: Scalar) -> float:
        """The value of an entry as a float; NumberError when a name in it has none."""
        try:
            return f.number(value, self.values())
        except (KeyError, ArithmeticError):
            raise NumberError(
                f"Column {column!r}: {row.text(column).strip()!r} has no value.",
                file=self.file,
                line=row.line,
                name=column,
                value=row.text(column).strip(),
                remedy="Give a number, or declare the names in it.",
            ) from None

    def resolution(self, row: Row, columns: tuple[str, ...]) -> float:
        """The last printed digit of the entries relative to the largest."""
        texts = [row.text(c).strip().rpartition("=")[2].strip() for c in columns]
        numbers = [(abs(float(v)), last_digit(t)) for t in texts if (v := exact_decimal(t)) is not None and v != 0]
        if not numbers:
            return 0.0
        return min(min(digit for _, digit in numbers) / max(size for size, _ in numbers), 0.02)

    def _read(self, row: Row, column: str) -> Scalar:
        text = row.text(column).strip()
        try:
            declared = _DECLARES.fullmatch(text)
            if declared is None:
                return self._scalar(text)
            key, value = declared[1], self._scalar(declared[2])
            if isinstance(value, Formula):
                raise NumberError(
                    f"{text!r} declares {key!r} by something that is not a plain number.",
                    value=text,
                    remedy="Give a number.",
                )
            if self.parameters.setdefault(key, value) not in (None, value):
                raise NumberError(
                    f"{key!r} is declared twice with different values: {text!r}.", value=text, remedy="Keep one."
                )
            self.parameters[key] = value
            return f.name(key)
        except NumberError as error:
            raise NumberError(
                f"Column {column!r}: {error.message}",
                file=self.file,
                line=row.line,
                element=column,
                name=column,
                value=text,
                remedy=error.remedy,
            ) from None

    def _scalar(self, text: str) -> Scalar:
        number = exact_decimal(text)
        if number is not None:
            return number
        plain = _DEGREES.sub(lambda m: f"({m[1]}*pi/180)", text)
        if plain != text:
            single = _DEGREES.fullmatch(text.lstrip("+-"))
            if single is not None and (value := exact_decimal(single[1])) is not None:
                return _degrees(-value if text.startswith("-") else value)
        if text.strip("+-").lower() in ("nan", "inf", "infinity"):
            raise NumberError(f"{text!r} is not a finite number.", value=text, remedy="Give a finite number.")
        if _SIGNS.search(plain):
            raise NumberError(f"{text!r} has two signs in a row.", value=text, remedy="Write one.")
        return f.parse(plain)


def _degrees(value: Scalar) -> Scalar:
    if isinstance(value, Fraction):
        k = value / 15
        return pi_multiple(int(k)) if k.denominator == 1 else f.formula(value) * f.PI / 180
    return value * f.PI / 180


def coordinate_of(value: Scalar, parameters: Mapping[str, Fraction | None], text: str) -> Coordinate | None:
    """The coordinate in an entry: its one name that is not a declared parameter; None when there is none.

    Raises NumberError when the entry is not +-name + constant.
    """
    free = sorted(value.names() - set(parameters)) if isinstance(value, Formula) else []
    if not free:
        return None
    wanted = [name for name in free if name.startswith(_COORDINATES)] or free
    if len(wanted) > 1:
        raise NumberError(
            f"{text!r} holds several undeclared names: {', '.join(wanted)}.",
            value=text,
            remedy="Declare the parameters by name=value.",
        )
    name = wanted[0]
    found = _linear(value, name)
    if found is None or found[0] not in (1, -1):
        raise NumberError(
            f"{text!r} is not the coordinate {name!r} plus a constant.",
            value=text,
            remedy=f"Write {name}, -{name} or {name} with an offset such as {name}+pi/2.",
        )
    return Coordinate(name, int(found[0]), found[1])


def _linear(value: Scalar, name: str) -> tuple[Fraction, Scalar] | None:
    """(c, b) of c * name + b; None for any other form."""
    if not isinstance(value, Formula) or name not in value.names():
        return Fraction(0), value
    if value.op == "name":
        return Fraction(1), Fraction(0)
    parts = [_linear(f.simplified(arg), name) for arg in value.args]
    if any(part is None for part in parts):
        return None
    pairs = [part for part in parts if part is not None]
    if value.op == "neg":
        return -pairs[0][0], f.neg(pairs[0][1])
    if value.op in ("add", "sub"):
        (c1, b1), (c2, b2) = pairs
        s = Fraction(1 if value.op == "add" else -1)
        return c1 + s * c2, f.add(b1, f.mul(s, b2) if s == 1 else _minus(b2))
    if value.op == "mul":
        for (c, b), (zero, k) in (pairs, pairs[::-1]):
            if zero == 0 and isinstance(k, Fraction):
                return c * k, f.mul(k, b)
    return None


def _minus(value: Scalar) -> Scalar:
    return Fraction(0) if f.is_zero(value) else f.neg(value)
