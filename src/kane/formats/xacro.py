"""Read xacro files: expanded by the package xacrodoc (extra: xacro), then read as URDF."""

from __future__ import annotations

from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO
from typing import Any

from kane.errors import FormatError, MissingExtraError
from kane.formats.source import Source, content_of
from kane.formats.urdf import from_element
from kane.formats.xml import parse_xml
from kane.mechanism.model import Mechanism, Note


def read_xacro(source: Source, *, arguments: dict[str, str] | None = None, **options: Any) -> Mechanism:
    """The mechanism of a xacro file; options as for read_urdf; line numbers refer to the expanded text.

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
            remedy="Install kane[xacro], or expand the file first (xacro file.xacro > file.urdf).",
        ) from None
    try:
        packages.walk_up_from(file)
        with redirect_stderr(StringIO()):
            text = xacro.process_file(file, mappings=arguments or {}).toxml()
    except Exception as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"The xacro file cannot be expanded: {reason}.", file=file, remedy="Correct it.") from None
    if not isinstance(text, str) or "<link" not in text:
        raise FormatError("The xacro file expands to a robot without links.", file=file, remedy="Check its arguments.")
    mechanism = from_element(parse_xml(text, file), file, **options)
    note = Note("repaired", "expanded from xacro; line numbers are those of the expanded text", mechanism.name)
    return replace(mechanism, report=replace(mechanism.report, notes=(note, *mechanism.report.notes)))
