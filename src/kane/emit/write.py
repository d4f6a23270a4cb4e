"""Write generated files: all or nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kane.errors import InputError


def write_files(files: Mapping[str, str], folder: str | Path) -> tuple[Path, ...]:
    """The paths written.  Every text is complete in a temporary folder beside before the first is put in place.

    The folder is made when it is not there.  Raises InputError when it cannot be made or written, or a name leads out
    of it; no file is then half-written, and when writing failed none has changed.
    """
    target = Path(folder)
    for name in files:
        if Path(name).name != name or name in ("", ".", ".."):
            message = f"{name!r} is not a plain file name"
            raise InputError(message, name=name, remedy="Names of files must hold no folder.")
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".kane-", dir=target) as beside:
            for name, text in files.items():
                with open(Path(beside) / name, "w", encoding="utf-8", newline="\n") as handle:
                    handle.write(text)
                    handle.flush()
                    os.fsync(handle.fileno())
            for name in files:
                os.replace(Path(beside) / name, target / name)
    except OSError as error:
        raise InputError(
            f"cannot write to {target}: {error.strerror or error}", file=str(target), remedy="Choose another folder."
        ) from error
    return tuple(target / name for name in files)
