"""One way in for every format: told apart by the file's suffix, then by its content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from kane.errors import FormatError
from kane.formats.hints import with_hints
from kane.formats.source import Source, content_of
from kane.formats.urdf import floating, read_urdf
from kane.formats.xml import parse_xml
from kane.mechanism.model import Mechanism

SUFFIXES = (".urdf", ".xml", ".mjcf", ".xacro", ".sdf", ".world", ".csv", ".toml", ".json")
Base = Literal["fixed", "floating"]
_BY_ROOT = {"robot": "urdf", "mujoco": "mjcf", "mujocoinclude": "mjcf", "sdf": "sdf", "model": "sdf"}


def read(
    source: Source,
    *,
    base: Base = "fixed",
    snap: float = 1e-11,
    strict: bool = False,
    convention: Literal["standard", "modified"] | None = None,
    constraints: Literal["refuse", "ignore"] = "refuse",
    folders: Iterable[str | os.PathLike[str]] = (),
) -> Mechanism:
    """The mechanism of a file or of a text: URDF, xacro, MJCF, SDF, a DH table (CSV, TOML, JSON) or kane's own TOML.

    base: "floating" lets the root link float.  snap: angles closer than this (rad) to a multiple of pi/12 become it.
    strict: nothing is repaired (URDF, SDF).  convention: of a DH table that does not say.  constraints: "ignore" leaves
    out equalities and tendons of MJCF.  folders: where included files, macros and meshes may lie besides the folder
    and the ROS package of the file.  Raises InputError with file, line, element, value and remedy.
    """
    kind = kind_of(source)  # readers are imported where they are used: starting up is part of the time to an answer
    if kind in ("urdf", "xacro", "sdf"):
        mechanism = _read_xml(kind, source, folders, base=base, snap=snap, strict=strict)
    elif kind == "mjcf":
        from kane.formats.mjcf import read_mjcf

        mechanism = read_mjcf(source, snap=snap, constraints=constraints, folders=folders)
    elif kind == "toml":
        from kane.formats.toml import read_toml

        mechanism = read_toml(source)
    else:
        from kane.formats.dh import read_dh

        mechanism = read_dh(source, convention=convention, snap=snap)
    if base == "floating" and kind in ("mjcf", "toml", "dh"):
        mechanism, note = floating(mechanism)
        mechanism = replace(mechanism, report=replace(mechanism.report, notes=(*mechanism.report.notes, note)))
    return with_hints(mechanism) if kind == "toml" else with_hints(mechanism, snap)


def _read_xml(kind: str, source: Source, folders: Iterable[str | os.PathLike[str]], **options: Any) -> Mechanism:
    if kind == "urdf":
        return read_urdf(source, **options)
    if kind == "xacro":
        from kane.formats.xacro import read_xacro

        return read_xacro(source, folders=folders, **options)
    from kane.formats.sdf import read_sdf

    return read_sdf(source, **options)


def _is_mechanism(text: str) -> bool:
    """True when a TOML text is kane's own form rather than a DH table."""
    return any(line.replace(" ", "").startswith('format="kanemechanism') for line in text.splitlines()[:20])


def kind_of(source: Source) -> str:
    """urdf, xacro, mjcf, sdf, toml (kane's own) or dh.

    Raises FormatError for a file that cannot be read or is none of these.
    """
    data, file = content_of(source)
    suffix = Path(file).suffix.lower() if file else ""
    if suffix in (".urdf", ".xacro", ".sdf"):
        return suffix[1:]
    head = data[:4000] if isinstance(data, str) else data[:4000].decode("latin-1").lstrip("\xef\xbb\xbf\xff\xfe")
    if suffix == ".csv":
        return "dh"
    if suffix in (".toml", ".json"):
        return "toml" if _is_mechanism(head) else "dh"
    if head.lstrip().startswith("<") or "\x00" in head:
        root = parse_xml(data, file)
        kind = _BY_ROOT.get(root.tag)
        if kind is None:
            raise FormatError(
                f"The root element <{root.tag}> is of no known format.", file=file, line=root.line,
                element=f"<{root.tag}>", remedy=f"Known: {', '.join(f'<{tag}>' for tag in _BY_ROOT)}.",
            )  # fmt: skip
        return kind
    if _is_mechanism(head):
        return "toml"
    if re.search(r"\btheta(_deg|_rad)?\b", head):
        return "dh"
    raise FormatError(
        "The content is of no known format.", file=file, value=head.strip()[:40],
        remedy=f"Give URDF, MJCF, SDF, a DH table or kane's TOML; suffixes: {', '.join(SUFFIXES)}.",
    )  # fmt: skip
