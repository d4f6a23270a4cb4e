"""Which folders a description may have files of: its own, that of its ROS package, and those that are given."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kane.errors import FormatError

_PACKAGE = "package.xml"


@dataclass(frozen=True, slots=True)
class Places:
    """The folders that the parts of one file may lie in, links resolved; file: the description, None for a text."""

    file: str | None
    folders: tuple[Path, ...]

    @property
    def home(self) -> Path | None:
        """The folder of the description."""
        return None if self.file is None else Path(self.file).resolve().parent

    def check(self, path: str | os.PathLike[str], what: str, line: int | None = None) -> Path:
        """The path resolved; FormatError when it leads out of the folders."""
        full = Path(path).resolve()
        if any(full.is_relative_to(folder) for folder in self.folders):
            return full
        raise FormatError(
            f"{what} leads out of the model's folder, to {str(full)!r}.", file=self.file, line=line, name="folders",
            value=str(path), remedy=f"Allow it with folders={[str(full.parent)]!r} (--folder), or copy the file.",
        )  # fmt: skip


def places_of(file: str | None, folders: Iterable[str | os.PathLike[str]] = ()) -> Places:
    """The folders of a file: its own, the nearest one above that is a ROS package, and the given ones."""
    found = [Path(folder).resolve() for folder in folders]
    if file is not None:
        home = Path(file).resolve().parent
        found.append(home)
        found += next(([folder] for folder in (home, *home.parents) if (folder / _PACKAGE).is_file()), [])
    return Places(file, tuple(found))
