"""What users hand over where a mechanism is wanted, and how they name its parameters."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal, cast

from kane.errors import InputError, ShapeError, UnknownNameError
from kane.mechanism.model import Mechanism

INERTIAL = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")  # of a link, about its origin

PARAMETERS = "run-time parameters"  # what errors call a choice of them

Described = Mechanism | Any  # a Mechanism, or what has one: a Robot or a System, which lie above


def mechanism_of(source: Any) -> Mechanism:
    """The mechanism of a Mechanism, a Robot or a declared System; InputError for anything else, with the way out."""
    found = source if isinstance(source, Mechanism) else getattr(source, "mechanism", None)
    found = found() if callable(found) else found
    if isinstance(found, Mechanism):
        return found
    if isinstance(source, (str, os.PathLike)):
        text = os.fspath(source)
        raise InputError(f"{text!r} is a name, not a robot.", value=text, remedy=f"Read it first: kane.load({text!r}).")
    raise InputError(
        f"{source!r} is not a robot.", value=repr(source),
        remedy="Give a robot of kane.load, a Mechanism, or a kane.System.",
    )  # fmt: skip


def checked_name(name: object, what: str) -> str:
    """The name of what is called so; InputError for what is no text, is empty, or does not fit on a line."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise InputError(
            f"{what} has the name {str(name)[:80]!r}.", name=what, value=repr(name)[:80],
            remedy="Give a text on one line, not empty.",
        )  # fmt: skip
    return name


def names_in(names: Any) -> list[str]:
    """Names separated by blanks or commas; InputError for what is no text."""
    if not isinstance(names, str):
        raise InputError(
            f"Names are given as {str(names)[:80]!r}.", value=repr(names)[:80], remedy='Give one text: "q1 q2".'
        )
    return names.replace(",", " ").split()


def checked_items(values: Any, what: str) -> tuple[Any, ...]:
    """The elements of a sequence that is no text; InputError names what is wanted."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise InputError(
            f"{what} are given as {str(values)[:80]!r}.", name=what, value=repr(values)[:80],
            remedy="Give them in a list or tuple.",
        )  # fmt: skip
    return tuple(values)


def shown(value: object) -> str:
    """A value as an error shows it: its repr, cut; its type where it has none."""
    try:
        return repr(value)[:80]
    except Exception:  # of a class of the user's, or of a whole number that is too long to print
        return f"an object of type {type(value).__name__}"


def checked_number(
    name: str, value: object, remedy: str, low: float = -math.inf, high: float = math.inf, above: float = -math.inf
) -> float:
    """A finite real number, low <= value <= high, value > above; InputError names it, with the way out."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and low <= number <= high and number > above):
        raise InputError(f"{name} is {shown(value)}.", name=name, value=shown(value), remedy=remedy)
    return number


def checked_whole(name: str, value: object, low: int, high: int = 2**31) -> int:
    """A whole number, low <= value <= high; InputError names it."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not low <= int(value) <= high:
        remedy = f"Give a whole number from {low} to {high}."
        raise InputError(f"{name} is {shown(value)}.", name=name, value=shown(value), remedy=remedy)
    return int(value)


def checked_flag(name: str, value: object) -> bool:
    """True or False (also numpy's); InputError names what is neither."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise InputError(f"{name} is {shown(value)}.", name=name, value=shown(value), remedy="Give True or False.")
    return bool(value)


def checked_choice(name: str, value: object, choices: Sequence[str]) -> str:
    """One of some words; InputError lists them."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(map(repr, choices))
        raise InputError(f"{name} is {shown(value)}.", name=name, value=shown(value), remedy=f"Use one of {known}.")
    return value


def checked_kind(name: str, value: object, kind: type, remedy: str) -> None:
    """InputError for an item of `name` that is of another class."""
    if not isinstance(value, kind):
        text = f"{name} has {shown(value)}, which is no {kind.__name__}."
        raise InputError(text, name=name, value=shown(value), remedy=remedy)


def checked_function(name: str, value: object, arguments: str) -> Any:
    """What can be called; InputError says with which arguments it will be."""
    if not callable(value):
        raise InputError(
            f"{name} is {shown(value)}, not a function.", name=name, value=shown(value),
            remedy=f"Give a function of {arguments}.",
        )  # fmt: skip
    return value


def checked_mapping(name: str, value: object, example: str) -> Mapping[Any, Any]:
    """Values by name, none for None; InputError for anything else."""
    if value is not None and not isinstance(value, Mapping):
        raise InputError(
            f"{name} is {shown(value)}, not values by name.", name=name, value=shown(value), remedy=f"Give {example}."
        )
    return {} if value is None else value


def real_array(name: str, values: Any) -> Any:
    """The values as a float64 array.  Raises ShapeError for what is left out or is no array of real numbers."""
    import numpy as np  # late: names are checked without it

    try:
        array = np.asarray(values)
        if values is None or array.dtype.kind not in "biufO":
            raise TypeError(f"{type(values).__name__} of {array.dtype}")
        if array.dtype.kind == "O" and any(x is None for x in array.flat):
            raise TypeError("None in it")  # NumPy would make it NaN
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        raise ShapeError(
            f"{name} is not an array of real numbers ({problem}).", name=name, value=shown(values),
            remedy="Give an array of numbers.",
        ) from None


def chosen_parameters(mechanism: Mechanism, parameters: Any) -> Literal["numeric", "symbolic"] | tuple[str, ...]:
    """The choice of run-time parameters: "numeric", "symbolic", or names in the caller's order.

    Names: of parameters, of links (their ten inertial parameters) and of single ones ("link.m").  Raises
    UnknownNameError for one that names nothing of the mechanism, InputError for one that comes twice and for sets,
    which have no order.
    """
    if isinstance(parameters, str):
        if parameters in ("numeric", "symbolic"):
            return cast(Literal["numeric", "symbolic"], parameters)
        raise UnknownNameError(
            f"parameters is {parameters!r}.", name="parameters", value=parameters,
            remedy='Use "numeric", "symbolic" or a list of names.',
        )  # fmt: skip
    given = checked_names(parameters, PARAMETERS)
    named, links = {p.name: None for p in mechanism.parameters}, {link.name: None for link in mechanism.links}
    whole = {name for name in given if name in links and name not in named}
    for name in given:
        link, _, own = name.rpartition(".")
        if name in named or name in links:
            continue
        if link not in links:
            known = ", ".join([*named, *links])
            raise UnknownNameError(f"{name!r} is no parameter and no link; there are: {known}.", name=name)
        if own not in INERTIAL:
            raise UnknownNameError(
                f"{name!r} is no inertial parameter of link {link!r}; there are: {', '.join(INERTIAL)}.", name=name,
                remedy="Masses times places of mass centres are hx, hy, hz; moments are about the link's origin.",
            )  # fmt: skip
        if link in whole:
            raise twice(name, PARAMETERS, "A link's name stands for its ten inertial parameters.")
    return given


def checked_names(names: Any, what: str) -> tuple[str, ...]:
    """Names in their order, each once.  Raises InputError for sets, for what is no text, and for one that comes twice.
    """
    if isinstance(names, (set, frozenset)):
        raise InputError(
            f"{what} are given as a set, which has no order.", name=what, value=shown(names), remedy="Give a list."
        )
    given = checked_items(names, what)
    seen: set[str] = set()
    for name in given:
        if not isinstance(name, str):
            text = f"{shown(name)} is no name, but one of the {what}."
            raise InputError(text, name=what, value=shown(name), remedy="Give their names.")
        if name in seen:
            raise twice(name, what)
        seen.add(name)
    return tuple(map(str, given))  # NumPy's texts become Python's


def twice(name: str, what: str, why: str = "") -> InputError:
    """The error of a name that comes twice."""
    return InputError(
        f"{name!r} comes twice in the {what}.", name=name, value=name, remedy=f"{why} Name each once.".strip()
    )
