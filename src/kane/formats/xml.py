"""Elements with line numbers from XML bytes, on the standard library's expat; entities are refused."""

from __future__ import annotations

import codecs
import re
from xml.parsers import expat

from kane.errors import FormatError

_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._\-]+)["']""")
_BOMS = ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF8, "utf-8-sig"))
_NATIVE = {"utf-8", "utf-16", "utf-16-le", "utf-16-be", "iso8859-1", "ascii"}
_DEPTH = 200


class Element:
    """One element: tag, attributes, children, text directly inside, line of its start tag."""

    __slots__ = ("attributes", "children", "line", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag, self.attributes, self.line = tag, attributes, line
        self.children: list[Element] = []
        self.text = ""

    def all(self, tag: str) -> list[Element]:
        """The children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child with this tag."""
        for child in self.children:
            if child.tag == tag:
                return child
        return None

    def __str__(self) -> str:
        label = self.attributes.get("name")
        return f'<{self.tag} name="{label}">' if label else f"<{self.tag}>"


def parse_xml(data: bytes | str, file: str | None = None) -> Element:
    """The root element of a document, in any declared encoding.

    Raises FormatError with file and line: not well formed, unknown encoding, entity declarations, nesting deeper than
    200.
    """
    content, encoding = _decoded(data, file)
    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    root: list[Element] = []
    stack: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, parser.CurrentLineNumber)
        if stack:
            stack[-1].children.append(element)
            if len(stack) > _DEPTH:
                raise FormatError(
                    f"Elements are nested more than {_DEPTH} deep.",
                    file=file,
                    line=element.line,
                    element=f"<{tag}>",
                    remedy="Check the file for damage.",
                )
        else:
            root.append(element)
        stack.append(element)

    def end(tag: str) -> None:
        stack.pop()

    def characters(text: str) -> None:
        if not text.isspace():
            stack[-1].text += text

    def entity(name: str, *rest: object) -> None:
        raise FormatError(
            f"The document declares the entity {name!r}; entities are not expanded.",
            file=file,
            line=parser.CurrentLineNumber,
            element="<!ENTITY>",
            name=name,
            remedy="Write the text itself in place of the entity.",
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = entity
    parser.ExternalEntityRefHandler = lambda context, base, system, public: 0
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FormatError(
            f"The XML does not parse: {expat.ErrorString(error.code)} at column {error.offset + 1}.",
            file=file,
            line=error.lineno,
            remedy="Correct the XML there.",
        ) from None
    except FormatError:
        raise
    except (LookupError, ValueError) as error:  # an encoding that only looks like one
        raise FormatError(
            f"The encoding cannot be used: {error}.", file=file, line=1, element="<?xml?>",
            remedy="Declare the encoding the file is written in.",
        ) from None  # fmt: skip
    return root[0]


def _decoded(data: bytes | str, file: str | None) -> tuple[bytes, str | None]:
    """Content and encoding for expat; what expat does not know is decoded here."""
    if isinstance(data, str):
        return data.lstrip("\ufeff \t\r\n").encode("utf-8", "surrogatepass"), "utf-8"
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _transcoded(data, name, file), "utf-8"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data, None
    found = _DECLARED.match(data[:400])
    if found is None:
        return data.lstrip() if data[:1].isspace() else data, None
    name = found.group(1).decode("ascii")
    try:
        known = codecs.lookup(name).name
    except LookupError:
        known = ""
    if known in _NATIVE and known[:6] != "utf-16":
        return data.lstrip(), None
    if known[:6] == "utf-16":  # the declaration itself was read as single bytes, so it is wrong
        return data.lstrip(), "utf-8"
    return _transcoded(data, name, file), "utf-8"


def _transcoded(data: bytes, name: str, file: str | None) -> bytes:
    try:
        return data.decode(name).lstrip().encode("utf-8")
    except (LookupError, UnicodeError) as error:
        raise FormatError(
            f"The text cannot be read in the encoding {name!r} ({error}).",
            file=file,
            line=1,
            element="<?xml?>",
            value=name,
            remedy="Declare the encoding the file is written in.",
        ) from None
