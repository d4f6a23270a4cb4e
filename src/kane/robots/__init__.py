"""Bundled robots: `names()` lists them, `load(name)` gives a Mechanism; generated ones are in generated.py."""

from __future__ import annotations

from kane.robots.bundled import load, names, variants

__all__ = ["load", "names", "variants"]
