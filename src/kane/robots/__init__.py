"""Bundled robots: `names()` lists them, `load(name)` gives a Mechanism; generated ones are in generated.py.

Tables with their sources are in data/, published operation counts in literature.py.  Descriptions only, no equations.
"""

from __future__ import annotations

from kane.robots.bundled import load, names, variants

__all__ = ["load", "names", "variants"]
