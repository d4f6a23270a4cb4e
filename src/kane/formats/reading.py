"""What one reading of an XML description carries along, and the elements it asks for."""

from __future__ import annotations

from dataclasses import dataclass, field

from kane.errors import FormatError, InputError
from kane.formats.values import Numbers
from kane.formats.xml import Element
from kane.mechanism.model import Note

Color = tuple[float, float, float, float]


@dataclass(slots=True)
class Reader:
    """What one reading carries along: numbers, notes, whether repairs are allowed, materials by name."""

    numbers: Numbers
    strict: bool
    notes: list[Note] = field(default_factory=list)
    materials: dict[str, Color] = field(default_factory=dict)

    @property
    def file(self) -> str | None:
        return self.numbers.file

    def note(self, kind: str, text: str, name: str, line: int | None) -> None:
        self.notes.append(Note(kind, text, name, line))

    def refuse(
        self, message: str, element: Element, name: str, remedy: str, kind: type[InputError] = FormatError
    ) -> InputError:
        return kind(message, file=self.file, line=element.line, element=f"<{element.tag}>", name=name, remedy=remedy)

    def repaired(self, message: str, element: Element, name: str, remedy: str) -> None:
        """A repair: noted, or refused when strict."""
        if self.strict:
            raise self.refuse(message, element, name, remedy)
        self.note("repaired", message, name, element.line)


def named(reader: Reader, element: Element, attribute: str = "name") -> str:
    """The name an element must have."""
    value = element.attributes.get(attribute, "").strip()
    if not value:
        raise reader.refuse(f"<{element.tag}> has no {attribute}.", element, element.tag, f'Add {attribute}="...".')
    return value


def only(reader: Reader, element: Element, tag: str, owner: str) -> Element | None:
    """The child with this tag; a second one is a repair."""
    found = [child for child in element.children if child.tag == tag]
    if len(found) > 1:
        reader.repaired(f"{owner} has {len(found)} <{tag}>; the first is used.", found[1], owner, "Keep one.")
    return found[0] if found else None
