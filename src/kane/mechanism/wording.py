"""Short texts for what has many parts: how many there are, and the first names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_FIRST = 6  # names that are written out


def counted(parts: Iterable[tuple[int, str]]) -> str:
    """ "2 links, 1 joint" from (2, "link"), (1, "joint"); what there is none of is left out."""
    return ", ".join(f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in parts if n) or "empty"


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - _FIRST
    return ", ".join(names[:_FIRST]) + (f" and {rest} more" if rest > 0 else "")
