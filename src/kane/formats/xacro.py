"""Read xacro files: expanded by the package xacrodoc (extra: xacro), then read as URDF."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from kane.errors import FormatError, MissingExtraError
from kane.formats.source import Source, content_of
from kane.formats.urdf import read_urdf
from kane.mechanism.model import Mechanism, Note


def read_xacro(source: Source, *, arguments: dict[str, str] | None = None, **options: Any) -> Mechanism:
    """The mechanism of a xacro file; options as for read_urdf; lines refer to the expanded text.

    Raises MissingExtraError naming the extra, FormatError when the expansion fails.
    """
    data, file = content_of(source)
    if file is None:
        raise FormatError("A xacro text has no folder to find its parts in.", remedy="Give the path of the file.")
    try:
        from xacrodoc import XacroDoc
    except ImportError:
        raise MissingExtraError(
            f"{file} is a xacro file; expanding it needs the package xacrodoc.",
            file=file,
            name="xacro",
            remedy="Install kane[xacro], or expand the file first (xacro file.xacro > file.urdf).",
        ) from None
    try:
        text = XacroDoc.from_file(Path(file), subargs=arguments or {}, resolve_packages=False).to_urdf_string()
    except Exception as error:
        raise FormatError(f"The xacro file cannot be expanded: {error}", file=file, remedy="Correct it.") from error
    if not isinstance(text, str) or "<link" not in text:
        raise FormatError("The xacro file expands to a robot without links.", file=file, remedy="Check its arguments.")
    mechanism = read_urdf(text, **options)
    note = Note("repaired", "expanded from xacro; line numbers are those of the expanded text", mechanism.name)
    return replace(mechanism, report=replace(mechanism.report, file=file, notes=(note, *mechanism.report.notes)))
