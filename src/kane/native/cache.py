"""Object code on disk, named by a hash of its source and the machine; nothing there is trusted without a check.

A file holds a magic word, the key, the SHA-256 of the object code, and the code.  A file that does not verify, is a
link, or that somebody else owns or may write to, is ignored and replaced.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from pathlib import Path

MAGIC = b"kane-object-1\n"


def directory() -> Path | None:
    """KANE_CACHE, else kane in the user's cache directory; None when there is none or it is switched off (empty)."""
    chosen = os.environ.get("KANE_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "kane" / "cache"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "kane"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "kane"


def key(*parts: str) -> str:
    """A hash over texts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def load(name: str) -> bytes | None:
    """The object code of this key, or None."""
    folder = directory()
    if folder is None:
        return None
    try:
        if not _ours(os.lstat(folder)):
            return None
        path = folder / f"{name}.o"
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not _ours(os.fstat(file.fileno())):
                return None
            data = file.read()
    except OSError:
        return None
    head = MAGIC + name.encode()
    body = data[len(head) + 32 :]
    return body if data[: len(head) + 32] == head + hashlib.sha256(body).digest() and body else None


def store(name: str, code: bytes) -> None:
    """Keep object code; quietly does nothing where the folder cannot be written."""
    import tempfile  # late: takes long to import

    folder = directory()
    if folder is None:
        return
    temporary = None
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(prefix=name[:16], suffix=".part", dir=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(MAGIC + name.encode() + hashlib.sha256(code).digest() + code)
        os.replace(temporary, folder / f"{name}.o")
    except OSError:
        if temporary is not None:
            try:
                os.unlink(temporary)
            except OSError:
                pass


def _ours(info: os.stat_result) -> bool:
    """Owned by this user, and no one else may write."""
    if sys.platform == "win32":
        return True
    return info.st_uid == os.getuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
