"""Names of coordinates, speeds, parameters and inputs: one means one thing, in formulas as text too."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kane.errors import InputError

_NAME = re.compile(r"[^\W\d][\w.]*\Z")


def with_names(declared: frozenset[str], names: Iterable[str]) -> frozenset[str]:
    """The declared names and these.  Raises InputError for one that cannot be, another has, or is a rate of another."""
    for name in names:
        _check(declared, name)
        declared |= {name}
    return declared


def _check(declared: frozenset[str], name: str) -> None:
    if name in declared or name in ("t", "pi"):
        raise InputError(f"{name!r} is declared twice.", name=name, remedy="Choose another name.")
    if not _NAME.match(name):
        raise InputError(
            f"{name!r} cannot be a name.", name=name, remedy="Use letters, digits, _ and points, a letter first."
        )
    base = name.removesuffix("_dot").removesuffix("_ddot")
    rate = base != name and base in declared
    if rate or any(f"{name}{suffix}" in declared for suffix in ("_dot", "_ddot")):
        raise InputError(
            f"{name!r} is declared beside {base if base != name else name + '_dot'!r}: a name with _dot is the rate of "
            "the name without.", name=name, remedy="Choose another name.",
        )  # fmt: skip
