"""Files that describe robots: `read` tells them apart; writers give them back.  A format is loaded when it is used.

A reader turns bytes or text into a Mechanism with exact numbers and an import report, or refuses with file, line,
element, value and remedy.  Formats know descriptions and nothing of equations; each is a module, named in dispatch.py.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kane.formats.dispatch import read
    from kane.formats.motors import read_rotors
    from kane.formats.toml import read_toml, write_toml
    from kane.formats.urdf import read_urdf
    from kane.formats.urdf_patch import patch_urdf
    from kane.formats.urdf_write import write_urdf

_HOMES = {
    "patch_urdf": "urdf_patch",
    "read": "dispatch",
    "read_rotors": "motors",
    "read_toml": "toml",
    "read_urdf": "urdf",
    "write_toml": "toml",
    "write_urdf": "urdf_write",
}

__all__ = ["patch_urdf", "read", "read_rotors", "read_toml", "read_urdf", "write_toml", "write_urdf"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"kane.formats.{_HOMES[name]}"), name)
