"""The content behind a path, or a text given directly."""

from __future__ import annotations

import os
from decimal import Decimal, InvalidOperation
from pathlib import Path

from kane.errors import FormatError, NumberError

Source = str | bytes | os.PathLike[str]
_LARGEST = 100_000_000


def content_of(source: Source) -> tuple[bytes | str, str | None]:
    """The document and the name of its file; None for text, which has a line break or a "<" or starts with "{".

    Raises FormatError for a file that cannot be read or has more than 100 MB.
    """
    if isinstance(source, bytes) or (isinstance(source, str) and _is_text(source)):
        return source, None
    file = os.fspath(source)
    try:
        path = Path(source)
        if path.exists() and not path.is_file() and not path.is_dir():  # pipes and devices may never end
            raise OSError(22, "it is no ordinary file (a pipe or a device)")
        if path.is_file() and path.stat().st_size > _LARGEST:
            raise OSError(27, f"more than {_LARGEST // 1_000_000} MB")
        return path.read_bytes(), file
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(
            f"The file {file!r} cannot be read: {reason}.",
            code="FileError",
            file=file,
            name=file,
            remedy="Check the path.",
        ) from None


def _is_text(source: str) -> bool:
    return source[:1] == "{" or "<" in source or "\n" in source


def text_of(source: Source) -> tuple[str, str | None]:
    """The document as text, UTF-8."""
    data, file = content_of(source)
    if isinstance(data, str):
        return data, file
    try:
        return data.decode("utf-8-sig"), file
    except UnicodeDecodeError as error:
        raise FormatError(f"The text is not UTF-8 ({error}).", file=file, remedy="Save it as UTF-8.") from None


def decimal_of(text: str) -> Decimal:
    """A float of JSON or TOML as written; NumberError for an exponent beyond what Decimal holds."""
    try:
        return Decimal(text)
    except InvalidOperation:
        shown = text if len(text) < 40 else f"{text[:20]}...{text[-10:]}"
        raise NumberError(
            f"{shown!r} has too large an exponent.", value=shown, remedy="Give a number in SI units."
        ) from None
