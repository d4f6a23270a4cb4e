"""Numbers from the text of an option."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from cyclopts import Parameter

from kane.errors import NumberError, ShapeError, UnknownNameError

Listed = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""Numbers between commas, of which the first may be negative."""


def _whole(_: Any, tokens: Sequence[Any]) -> int:
    """The whole number that is written: 2.5 is none."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise NumberError(f"{text!r} is not a whole number.", value=text, remedy="Write one such as 20.") from None


Whole = Annotated[int, Parameter(converter=_whole)]
"""A whole number; a fraction is refused, not cut off."""


def several(texts: Sequence[str]) -> tuple[str, ...]:
    """The names of an option that may be given again, each of which may be a list between commas."""
    return tuple(name for text in texts for part in text.split(",") if (name := part.strip()))


def poles(values: Iterable[complex]) -> str:
    """Eigenvalues as people write them, the most stable first: real ones as such."""
    return ", ".join(_complex(a, b) for a, b in sorted((x.real + 0.0, x.imag + 0.0) for x in values))


def _complex(real: float, imaginary: float) -> str:
    if not imaginary:
        return f"{real:.6g}"
    return f"{real:.6g}{imaginary:+.6g}i" if real else f"{imaginary:.6g}i"


def state(option: str, text: str, names: Sequence[str] = (), also: Sequence[str] = ()) -> Any:
    """None, a list ("0,0.5") or a dictionary ("q1=0.5,q2=1") from the text of a state.

    names: what there is a number of, in order; also: other names for some of it.  Raises ShapeError for a list of
    another length, UnknownNameError for other names.
    """
    if "=" not in text:
        found = numbers(option, text)
        if found is not None and names and len(found) != len(names):
            raise ShapeError(
                f"--{option} has {len(found)} numbers, expected {len(names)}.", name=option, value=text,
                remedy=f"Give one for each of {', '.join(names)}, or some by name: {names[0]}=0.5.",
            )  # fmt: skip
        return found
    pairs = {name: number(option, value) for name, _, value in _pairs(option, text, "q1=0.5,q2=1")}
    for name in pairs:
        if names and name not in (*names, *also):
            raise UnknownNameError(f"--{option} has no {name!r}; there are: {', '.join(names)}.", name=name)
    return pairs


def assignments(option: str, text: str) -> dict[str, str]:
    """Names and their numbers, as written and so exact, from "L1=0.4,m2=1.2"."""
    pairs = _pairs(option, text, "L1=0.4,m2=1.2")
    for _, _, value in pairs:
        number(option, value)
    return {name: value.strip() for name, _, value in pairs}


def _pairs(option: str, text: str, example: str) -> list[tuple[str, str, str]]:
    """Names, "=" and what is behind; NumberError for parts without a name, and for a name that comes twice."""
    pairs = [(name.strip(), equals, value) for name, equals, value in (x.partition("=") for x in text.split(","))]
    names = [name for name, _, _ in pairs]
    for name, equals, _ in pairs:
        if not name or not equals:
            raise NumberError(f"--{option}: {text!r}.", name=option, value=text, remedy=f"Write {example}.")
        if names.count(name) > 1:
            raise NumberError(f"--{option} has {name!r} twice.", name=option, value=text, remedy="Give one value each.")
    return pairs


def numbers(option: str, text: str) -> list[float] | None:
    """The numbers between commas; None for no text."""
    return [number(option, part) for part in text.split(",")] if text.strip() else None


def number(option: str, text: str) -> float:
    """One number, which may be inf; NumberError names the option."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if math.isnan(found):
        raise NumberError(
            f"--{option}: {text!r} is not a number.", name=option, value=text, remedy="Write numbers between commas."
        )
    return found
