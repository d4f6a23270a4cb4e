"""Files that describe robots: `read` tells them apart; writers give them back."""

from __future__ import annotations

from kane.formats.motors import read_rotors
from kane.formats.read import read
from kane.formats.toml import read_toml, write_toml
from kane.formats.urdf import read_urdf
from kane.formats.urdf_patch import patch_urdf
from kane.formats.urdf_write import write_urdf

__all__ = ["patch_urdf", "read", "read_rotors", "read_toml", "read_urdf", "write_toml", "write_urdf"]
