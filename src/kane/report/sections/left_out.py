"""A part that the page has not, with the reason."""

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
