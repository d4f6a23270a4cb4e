"""Exact numbers from the text of a file, refused where they are not finite decimal numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from math import pi
from sys import float_info

from kane.errors import NumberError
from kane.formats.xml import Element
from kane.mechanism import formula as f
from kane.mechanism.formula import Scalar
from kane.mechanism.model import Axis, Move, Placement, QuaternionTurn, Translate, Turn

Triple = tuple[Fraction, Fraction, Fraction]
_DECIMAL = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?")
_LARGEST = Fraction(float_info.max)
_LONGEST = 400
_DIGITS = 40


def exact_decimal(text: str) -> Fraction | None:
    """The rational a decimal number stands for, rounded to 40 digits.

    None for anything else (nan, inf, hex, commas, out of range).
    """
    found = _DECIMAL.fullmatch(text) if len(text) <= _LONGEST and text.isascii() else None
    if found is None:
        return None
    sign, whole, part, exponent = found.groups()
    digits = (whole or "") + (part or "")
    if not digits:
        return None
    number = int(digits)
    power = int(exponent or 0) - len(part or "")
    if not number:
        return Fraction(0)
    if not -_LONGEST < power + len(str(number)) <= 309:
        return None
    excess = len(str(number)) - _DIGITS
    if excess > 0:  # far below a double's rounding, and products of such numbers stay in its range
        number, power = (number + 10**excess // 2) // 10**excess, power + excess
    number = -number if sign == "-" else number
    value = Fraction(number * 10**power) if power >= 0 else Fraction(number, 10**-power)
    return value if abs(value) <= _LARGEST else None


def last_digit(text: str) -> float:
    """The size of the last printed digit of a decimal number; 0 for a number that prints as zero."""
    found = _DECIMAL.fullmatch(text)
    if found is None:
        return 0.0
    _, whole, part, exponent = found.groups()
    if not ((whole or "") + (part or "")).strip("0"):
        return 0.0
    return float(10.0 ** (int(exponent or 0) - len(part or "")))


@dataclass(slots=True)
class Numbers:
    """Reads numbers of one file: remembers what it has read, snaps angles, collects which were snapped."""

    file: str | None
    snap: float = 1e-11
    known: dict[str, Fraction] = field(default_factory=dict)
    vectors: dict[str, Triple] = field(default_factory=dict)
    snapped: list[tuple[str, str, int]] = field(default_factory=list)

    def one(self, text: str, element: Element, owner: str = "") -> Fraction:
        """The number in this text; NumberError names file, line, element, owner and text."""
        value = self.known.get(text)
        if value is None:
            value = exact_decimal(text.strip(" \t\r\n"))
            if value is None:
                raise self.error(text, element, owner)
            self.known[text] = value
        return value

    def vector(self, text: str, element: Element, owner: str = "") -> Triple:
        """Three numbers separated by XML white space."""
        value = self.vectors.get(text)
        if value is None:
            parts = text.split() if text.isascii() else [text]
            if len(parts) != 3:
                raise self.error(text, element, owner, f"holds {len(parts)} numbers where 3 are needed")
            x, y, z = (self.one(part, element, owner) for part in parts)
            self.vectors[text] = value = (x, y, z)
        return value

    def error(
        self, text: str, element: Element, owner: str, what: str = "is not a finite decimal number"
    ) -> NumberError:
        inside = f" in {owner}" if owner else ""
        return NumberError(
            f"{text.strip()!r} in <{element.tag}>{inside} {what}.",
            file=self.file,
            line=element.line,
            element=f"<{element.tag}>",
            name=owner or None,
            value=text.strip(),
            remedy="Write decimal numbers with a point, such as 0.25 or 2.5e-3, separated by blanks.",
        )

    def angle(self, value: Fraction, element: Element, owner: str = "") -> Scalar:
        """The angle, or the multiple of pi/12 within `snap` of it (then noted)."""
        if value == 0:
            return value
        radians = float(value)
        k = round(radians * 12 / pi)
        if abs(radians - k * (pi / 12)) > self.snap or abs(k) > 1000:
            return value
        exact = pi_multiple(k)
        self.snapped.append((f"{radians!r} rad read as {f.scalar_text(exact)}", owner, element.line))
        return exact

    def turns(self, rpy: Triple, element: Element, owner: str = "") -> tuple[Move, ...]:
        """Moves of roll, pitch, yaw about fixed axes: z by yaw, new y by pitch, new x by roll; zero turns left out."""
        moves: list[Move] = []
        for axis in (2, 1, 0):
            value = rpy[axis]
            if value:
                angle = self.angle(value, element, owner)
                if not f.is_zero(angle):
                    moves.append(Turn(_AXES[axis], angle))
        return tuple(moves)

    def placement(self, element: Element | None, owner: str = "") -> Placement:
        """The moves of an <origin xyz rpy>; none when it is absent or zero."""
        if element is None:
            return ()
        moves: tuple[Move, ...] = ()
        text = element.attributes.get("xyz")
        if text is not None:
            by = self.vector(text, element, owner)
            if any(by):
                moves = (Translate(by),)
        return moves + self.orientation(element, owner)

    def orientation(self, element: Element, owner: str = "") -> tuple[Move, ...]:
        """The turns of an <origin>: rpy, or else quat_xyzw; none when there is neither."""
        text = element.attributes.get("rpy")
        if text is not None:
            return self.turns(self.vector(text, element, owner), element, owner)
        text = element.attributes.get("quat_xyzw")
        if text is None:
            return ()
        parts = text.split()
        if len(parts) != 4:
            raise self.error(text, element, owner, f"holds {len(parts)} numbers where 4 are needed")
        x, y, z, w = (self.one(part, element, owner) for part in parts)
        if not (x or y or z or w):
            raise self.error(text, element, owner, "is not a rotation")
        return (QuaternionTurn((w, x, y, z)),) if x or y or z else ()


_AXES: tuple[Axis, Axis, Axis] = (0, 1, 2)


def pi_multiple(k: int) -> Scalar:
    """k pi / 12 in lowest terms."""
    q = Fraction(k, 12)
    if q == 0:
        return q
    top = "pi" if abs(q.numerator) == 1 else f"{abs(q.numerator)}*pi"
    text = top if q.denominator == 1 else f"{top}/{q.denominator}"
    return f.parse(f"-{text}" if q < 0 else text)
