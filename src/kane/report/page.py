"""The page: its sections in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Section(Protocol):
    """A part of the page: an id (anchor), a title, the template that writes it.

    A field `data` goes to the scripts.
    """

    @property
    def id(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def template(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Live:
    """What a served page is told: robots to choose from, parameters with their values, the robot shown.

    first, later: ids of the parts that it asks for at once after a change, and of those that it asks for then.
    """

    robots: tuple[str, ...]
    parameters: tuple[tuple[str, float | None], ...]
    robot: str
    first: tuple[str, ...] = ()
    later: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A report: title, a line below it, sections, and what serves it (None: a file)."""

    name: str
    lead: str
    sections: tuple[Section, ...]
    live: Live | None = None
