"""What is refused before MuJoCo sees an MJCF file: numbers that it reads and we do not, paths out, bombs."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from kane.errors import FormatError, InputError, NumberError, UnsupportedError
from kane.formats.places import Places
from kane.formats.values import exact_decimal
from kane.formats.xml import Element, parse_xml

_PATHS = {"file", "meshdir", "texturedir", "assetdir", "content_type"}
_PARTS = ("include", "model", "flexcomp")  # files that are read at once, not when they are needed
_NAMES = {
    "name", "class", "childclass", "model", "file", "target", "material", "mesh", "texture", "objname", "refname",
    *(f"{kind}{k}" for kind in ("joint", "body", "geom", "site", "tendon") for k in ("", "1", "2")),
}  # fmt: skip
_NUMBER_OF_C = re.compile(r"[+-]?(nan(\(\w*\))?|inf(inity)?|0x.*)")
_DECIMAL = re.compile(r"[+-]?\d[\d.]*(e[+-]?\d+)?", re.ASCII)
_COPIES = 10_000


@dataclass(slots=True)
class Screen:
    """One description with its parts; seen: parts that were looked at."""

    places: Places
    seen: set[Path] = field(default_factory=set)

    def document(self, root: Element, file: str | None) -> None:
        """Refuse nan, inf and hexadecimal numbers, paths that lead out, and endless copies.

        Raises NumberError, FormatError, UnsupportedError with the line.
        """
        stack = [(root, 1)]
        while stack:
            element, copies = stack.pop()
            copies *= _copies(element)
            if copies > _COPIES:
                raise self._refusal(
                    UnsupportedError, f"{element} makes {copies:,} copies.", element, file, "count", str(copies),
                    f"Write at most {_COPIES:,}.",
                )  # fmt: skip
            stack += [(child, copies) for child in element.children]
            for key, text in element.attributes.items():
                self._attribute(element, key, text, file)

    def _attribute(self, element: Element, key: str, text: str, file: str | None) -> None:
        if key in _PATHS and (os.path.isabs(text) or text[:1] in "~\\" or text[1:2] == ":"):
            raise self._refusal(
                FormatError, f"{key}={text!r} in {element} leads out of the model's folder.", element, file, key, text,
                "Give paths relative to the file.",
            )  # fmt: skip
        if key == "file" and element.tag in _PARTS:
            self._part(element, text, file)
        elif key not in _NAMES:
            for token in text.lower().split():
                out_of_range = _DECIMAL.fullmatch(token) and exact_decimal(token) is None and token[-1] != "."
                if _NUMBER_OF_C.fullmatch(token) or out_of_range:
                    raise self._refusal(
                        NumberError, f"{key}={text!r} in {element}: {token!r} is not a finite decimal number.", element,
                        file, key, text, "Give finite decimal numbers.",
                    )  # fmt: skip

    def _part(self, element: Element, text: str, file: str | None) -> None:
        """A file that MuJoCo reads with this one: relative to the model's folder, or to that of the part itself."""
        if self.places.home is None:
            raise self._refusal(
                FormatError, f"file={text!r} in {element} has no folder to be found in.", element, file, "file", text,
                "Give the model as a file, not as a text.",
            )  # fmt: skip
        for folder in {self.places.home, Path(file or "").resolve().parent}:
            path = self.places.check(folder / text, f"{element}", element.line)
            if path not in self.seen and path.is_file() and element.tag != "flexcomp":
                self.seen.add(path)
                self.document(parse_xml(path.read_bytes(), str(path)), str(path))

    @staticmethod
    def _refusal(
        kind: type[InputError], message: str, element: Element, file: str | None, key: str, text: str, remedy: str
    ) -> InputError:
        return kind(
            message, file=file, line=element.line, element=f"<{element.tag}>", name=key, value=text, remedy=remedy
        )


def _copies(element: Element) -> int:
    """How many times the content of an element is made."""
    if element.tag not in ("replicate", "composite", "flexcomp"):
        return 1
    result = 1
    for part in element.attributes.get("count", "").split():
        if part.isascii() and part.lstrip("+").isdigit():
            result *= max(int(part[:12]), 1)
    return result
