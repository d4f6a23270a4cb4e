"""Read xacro files: expanded by the package xacrodoc (extra: xacro), then read as URDF."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from kane.errors import FormatError, MissingExtraError, NumberError, UnsupportedError, install
from kane.formats.places import Places, places_of
from kane.formats.source import Source, content_of
from kane.formats.urdf import from_element
from kane.formats.values import exact_decimal
from kane.formats.xml import Element, parse_xml
from kane.mechanism.model import Mechanism, Note

_HEXADECIMAL = re.compile(r"[+-]?0[xXbBoO]\w+")
_EXPRESSION = re.compile(r"\$\{([^}]*)\}")
_ENDLESS = re.compile(r"\*\*(?!\s*[+-]?\d(\.\d+)?(?![\w.]))|\*\*\s*[+-]?[\w.]+\s*\*\*|<<|\b(range|factorial)\b|\d{10}")


def _screen(root: Element, file: str) -> None:
    """Refuse what Python, which expands the file, takes for a number and we do not, and powers that never end."""
    stack = [root]
    while stack:
        element = stack.pop()
        stack += element.children
        for text in (*element.attributes.values(), element.text):
            for expression in _EXPRESSION.findall(text):
                if _ENDLESS.search(expression):  # Python works powers of whole numbers out, however long it takes
                    raise UnsupportedError(
                        f"The expression {expression!r} may take for ever.", file=file, line=element.line,
                        element=f"<{element.tag}>", value=expression,
                        remedy="Write powers with exponents of one digit, and the values of longer loops.",
                    )  # fmt: skip
        for key, text in element.attributes.items():
            value = text.strip()
            if key in ("name", "params") or exact_decimal(value) is not None:
                continue
            try:
                float(value)
            except ValueError:
                if not _HEXADECIMAL.fullmatch(value):
                    continue
            raise NumberError(
                f"{key}={text!r} in {element} is not a finite decimal number.", file=file, line=element.line,
                element=f"<{element.tag}>", name=key, value=text, remedy="Write a number such as 0.25.",
            )  # fmt: skip


@contextmanager
def _guarded(xacro: Any, places: Places) -> Iterator[None]:
    """xacro's own `open` replaced for a while: files of other folders and entity declarations are refused."""

    def opened(path: str, *rest: Any) -> Any:
        full = Path(path).resolve()
        if not any((folder / "package.xml").is_file() for folder in full.parents):
            places.check(full, f"{path!r}")
        if full.suffix not in (".yaml", ".yml") and full.is_file():
            _screen(parse_xml(full.read_bytes(), str(full)), str(full))
        return open(full, *rest)

    xacro.open = opened
    try:
        yield
    finally:
        del xacro.open


def read_xacro(
    source: Source,
    *,
    arguments: dict[str, str] | None = None,
    folders: Iterable[str | os.PathLike[str]] = (),
    **options: Any,
) -> Mechanism:
    """The mechanism of a xacro file; options as for read_urdf; line numbers refer to the expanded text.

    folders: where its parts may lie besides the file's own folder and ROS packages (folders with a package.xml).
    Raises MissingExtraError naming the extra, FormatError when the expansion fails.
    """
    _, file = content_of(source)
    if file is None:
        raise FormatError("A xacro text has no folder to find its parts in.", remedy="Give the path of the file.")
    try:
        import xacro
        from xacrodoc import packages  # finds $(find package) in the folders above the file
    except ImportError:
        raise MissingExtraError(
            f"{file} is a xacro file; expanding it needs the package xacrodoc.",
            file=file,
            name="xacro",
            remedy=f"{install('xacro')} Or expand the file first (xacro file.xacro > file.urdf).",
        ) from None
    try:
        packages.walk_up_from(file)
        with redirect_stderr(StringIO()), _guarded(xacro, places_of(file, folders)):
            text = xacro.process_file(file, mappings=arguments or {}).toxml()
    except (FormatError, NumberError, UnsupportedError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"The xacro file cannot be expanded: {reason}.", file=file, remedy="Correct it.") from None
    if not isinstance(text, str) or "<link" not in text:
        raise FormatError("The xacro file expands to a robot without links.", file=file, remedy="Check its arguments.")
    mechanism = from_element(parse_xml(text, file), file, **options)
    note = Note("repaired", "expanded from xacro; line numbers are those of the expanded text", mechanism.name)
    return replace(mechanism, report=replace(mechanism.report, notes=(note, *mechanism.report.notes)))
