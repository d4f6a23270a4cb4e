"""Parts that the page has not: left out with the reason, or asked for later by a served page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class LeftOut:
    """id and title of the part, and why it is not there."""

    template: ClassVar[str] = "left_out.html"

    id: str
    title: str
    why: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """id and title of a part that a served page asks for once the rest is there."""

    template: ClassVar[str] = "waiting.html"

    id: str
    title: str
