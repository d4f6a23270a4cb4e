"""The raw DH table of a CSV, TOML or JSON text: columns, rows, comments, convention, gravity, parameters."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Literal

from kane.errors import FormatError, NumberError
from kane.formats.dh_cells import UNITS, Row, split_unit
from kane.formats.source import Source, decimal_of, text_of
from kane.formats.values import exact_decimal
from kane.mechanism import formula as f
from kane.mechanism.model import Vector

_CONVENTIONS: dict[str, Literal["standard", "modified"]] = {
    "standard": "standard",
    "classic": "standard",
    "classical": "standard",
    "distal": "standard",
    "paul": "standard",
    "modified": "modified",
    "craig": "modified",
    "proximal": "modified",
    "mdh": "modified",
    "khalil": "modified",
}
_GRAVITY = re.compile(
    r"gravity[^;\n]*?along\s+(?P<sign>[+-]?)\s*(?P<axis>[xyz])\b(?:[^;\n]*?\bg\s*=\s*(?P<g>\S+))?", re.I
)
_VECTOR = re.compile(r"gravity\s*[=:]\s*[\[(]?([^\]);\n]*)", re.I)
_MOUNT = re.compile(r"mount\w*\s*[:=]?\s*(?:xyz\s*=\s*(?P<xyz>[^;]*?))?\s*(?:rpy\s*=\s*(?P<rpy>[^;]*))?(?:;|$)", re.I)
_SYNONYMS = {
    "m": "mass",
    "rx": "com_x",
    "ry": "com_y",
    "rz": "com_z",
    "cx": "com_x",
    "cy": "com_y",
    "cz": "com_z",
    "Jm": "rotor_inertia",
    "G": "gear_ratio",
    "sigma": "type",
    "joint_type": "type",
    "B": "damping",
    "Tc": "friction", "theta_offset": "offset",
}
_COLUMNS = (
    "joint",
    "type",
    "offset",
    "alpha_prev",
    "a_prev",
    "alpha",
    "a",
    "d",
    "theta",
    "mass",
    "com_x",
    "com_y",
    "com_z",
    "Ixx",
    "Ixy",
    "Ixz",
    "Iyy",
    "Iyz",
    "Izz",
    "rotor_inertia",
    "gear_ratio",
    "damping",
    "friction",
    "lower",
    "upper",
    "velocity",
    "effort",
)


_DIMENSIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("alpha", "alpha_prev", "theta"), ("angle",)),
    **dict.fromkeys(("a", "a_prev", "d", "com_x", "com_y", "com_z"), ("length",)),
    **dict.fromkeys(("lower", "upper", "offset"), ("angle", "length")),
    **dict.fromkeys(("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "rotor_inertia"), ("inertia",)),
    "mass": ("mass",),
}


@dataclass(slots=True)
class Table:
    """What the file says, entries still text."""

    file: str | None
    name: str
    columns: tuple[str, ...] = ()
    units: dict[str, str] = field(default_factory=dict)
    rows: list[tuple[dict[str, str], int | None]] = field(default_factory=list)
    header_line: int | None = None
    convention: Literal["standard", "modified"] | None = None
    gravity: Vector | None = None
    inertia_about: str = "centre"
    parameters: dict[str, Fraction | None] = field(default_factory=dict)
    mount: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()

    def at(self, row: int) -> Row:
        texts, line = self.rows[row]
        return Row(texts, self.units, line)

    def label(self, row: int) -> str:
        return self.rows[row][0].get("joint", "").strip() or str(row + 1)


def read_table(source: Source, name: str | None = None) -> Table:
    """The table of a file or text; its kind is told by the suffix or by its first characters."""
    text, file = text_of(source)
    table = Table(file, name or (Path(file).stem if file else "arm"))
    suffix = Path(file).suffix.lower() if file else ""
    if suffix == ".json" or (not suffix and text.lstrip().startswith("{")):
        read_json = partial(json.loads, text, parse_float=decimal_of, parse_constant=_no_constant)
        _from_mapping(table, _loaded(read_json, file))
    elif suffix == ".toml" or (not suffix and re.search(r"^\s*\[\[?\w+\]\]?\s*$", text, re.M)):
        _from_mapping(table, _loaded(lambda: tomllib.loads(text, parse_float=decimal_of), file))
    else:
        _from_csv(table, text)
    if not table.rows:
        raise FormatError("The DH table has no rows.", file=file, remedy="Give one row for each joint.")
    return table


def _from_csv(table: Table, text: str) -> None:
    comments = []
    header: list[str] = []
    for line, raw in enumerate(text.splitlines(), 1):
        if raw.lstrip().startswith("#"):
            comments.append(raw.lstrip()[1:].strip())
            continue
        if not raw.strip():
            continue
        cells = [cell.strip() for cell in next(csv.reader([raw], skipinitialspace=True))]
        if not header:
            header, table.header_line = cells, line
            _columns(table, header)
            continue
        if len(cells) != len(header):
            raise FormatError(
                f"The row has {len(cells)} entries, the header {len(header)} columns.",
                file=table.file,
                line=line,
                element=raw.strip()[:60],
                name=cells[0],
                value=len(cells),
                remedy="Write one entry for each column; decimals need a point.",
            )
        table.rows.append((dict(zip(table.columns, cells, strict=True)), line))
    try:
        _comments(table, "\n".join(comments))
    except FormatError as error:
        raise FormatError(
            error.message, file=table.file, name=error.name, value=error.value, remedy=error.remedy
        ) from None


def _columns(table: Table, header: list[str]) -> None:
    names = []
    for column in header:
        base, unit = split_unit(column)
        base = _SYNONYMS.get(base, base)
        base = base if base in _COLUMNS else {c.lower(): c for c in _COLUMNS}.get(base.lower(), base)
        if base not in _COLUMNS:
            raise FormatError(
                f"The column {column!r} is not known.",
                file=table.file,
                line=table.header_line,
                element="header",
                name=column,
                remedy=f"Use columns of: {', '.join(_COLUMNS)}; units as _rad, _deg, _m, _mm, _kg.",
            )
        if base in names:
            raise FormatError(
                f"The column {base!r} stands twice.",
                file=table.file,
                line=table.header_line,
                name=base,
                remedy="Keep one.",
            )
        names.append(base)
        if unit:
            if not any(unit in UNITS[kind] for kind in _DIMENSIONS.get(base, ())):
                raise FormatError(
                    f"The column {base!r} cannot be in {unit!r}.",
                    file=table.file,
                    line=table.header_line,
                    name=column,
                    value=unit,
                    remedy="Use _rad or _deg for angles, _m, _cm or _mm for lengths, _kg or _g, _kg_m2 and the like.",
                )
            table.units[base] = unit
    table.columns = tuple(names)
    for needed in ("theta", "d"):
        if needed not in names:
            raise FormatError(
                f"The column {needed!r} is missing.",
                file=table.file,
                line=table.header_line,
                name=needed,
                remedy="A DH table has alpha, a, d and theta.",
            )


def _comments(table: Table, text: str) -> None:
    low = text.lower()
    found = {value for key, value in _CONVENTIONS.items() if re.search(rf"\b{key}\b", low)}
    if len(found) > 1:
        raise FormatError(
            "The comments name both DH conventions.",
            file=table.file,
            value=", ".join(sorted(found)),
            remedy="Name one.",
        )
    table.convention = next(iter(found), None)
    table.gravity = _gravity(text)
    if re.search(r"(inertia|tensor|moment)[^\n]*about (the |its )?(link |frame )*origin", low):
        table.inertia_about = "origin"
    mount = _MOUNT.search(text)
    if mount and (mount["xyz"] or mount["rpy"]):
        table.mount = (*_three(mount["xyz"]), *_three(mount["rpy"]))
    for line in text.splitlines():
        if line.lower().startswith("parameters:"):
            for item in line.partition(":")[2].split(","):
                key, _, value = (part.strip() for part in item.partition("="))
                _parameter(table, key, value)
        elif line.lower().startswith("name:"):
            table.name = line.partition(":")[2].strip()


def _three(text: str | None) -> tuple[str, str, str]:
    parts = (text or "0 0 0").replace(",", " ").split()
    if len(parts) != 3:
        raise FormatError(
            f"{text!r} holds {len(parts)} entries where 3 are needed.",
            value=text,
            remedy="Write three, such as 0 pi/2 0.",
        )
    return parts[0], parts[1], parts[2]


def _gravity(text: str) -> Vector | None:
    """Gravity as the comments state it: along an axis with g, or a vector; None when they do not speak of it."""
    vector, along = _VECTOR.search(text), _GRAVITY.search(text)
    if vector:
        parts = vector[1].replace(", ", " ").replace(",\t", " ").split()
        numbers = [exact_decimal(part.rstrip(",")) for part in parts]
        if len(numbers) == 3 and None not in numbers:
            x, y, z = (Fraction(n) for n in numbers if n is not None)
            return x, y, z
    elif along:
        g = exact_decimal((along["g"] or "9.81").rstrip(".,;"))
        if g is not None:
            values = [Fraction(0)] * 3
            values["xyz".index(along["axis"].lower())] = -g if along["sign"] == "-" else g
            return values[0], values[1], values[2]
    elif "gravity" not in text.lower():
        return None
    line = next(line for line in text.splitlines() if "gravity" in line.lower())
    raise FormatError(
        f"Gravity is not understood: {line!r}.",
        name="gravity",
        value=line,
        remedy='Write "gravity acts along -z with g = 9.81" or "gravity = 0 0 -9.81".',
    )


def _loaded(load: Any, file: str | None) -> Mapping[str, Any]:
    try:
        data = load()
    except (ValueError, RecursionError) as error:
        if isinstance(error, NumberError):
            raise
        raise FormatError(
            f"The file does not parse: {error}.",
            file=file,
            line=getattr(error, "lineno", None),
            remedy="Correct it there.",
        ) from None
    if not isinstance(data, dict):
        raise FormatError(
            "The file is not a table of names.", file=file, remedy="Give name, convention and a list of joints."
        )
    return data


def _no_constant(text: str) -> None:
    raise NumberError(f"{text!r} is not a finite number.", value=text, remedy="Give a finite number.")


def _from_mapping(table: Table, data: Mapping[str, Any]) -> None:
    """TOML and JSON: name, convention, gravity, [parameters], [mount], [tool], [[joint]] with the columns as keys."""
    table.name = str(data.get("name", table.name))
    word = str(data.get("convention", "")).lower()
    if word and word not in _CONVENTIONS:
        raise FormatError(
            f"The convention {word!r} is not known.",
            file=table.file,
            name="convention",
            value=word,
            remedy='Write "standard" or "modified".',
        )
    table.convention = _CONVENTIONS.get(word)
    if "gravity" in data:
        table.gravity = _vector(table, "gravity", data["gravity"])
    for key, value in dict(data.get("parameters", {})).items():
        _parameter(table, str(key), str(value))
    table.inertia_about = str(data.get("inertia_about", "centre"))
    table.mount, table.tool = (_pose(data.get(key)) for key in ("mount", "tool"))
    rows = data.get("joint", data.get("joints", []))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FormatError(
            "The joints are not a list of tables.", file=table.file, name="joint", remedy="Write [[joint]] tables."
        )
    header: dict[str, None] = {}
    flat = [_flat(row) for row in rows]
    for row in flat:
        header.update(dict.fromkeys(row))
    if rows:
        _columns(table, list(header))
    names = dict(zip(header, table.columns, strict=True))
    table.rows = [({names[key]: value for key, value in row.items()}, None) for row in flat]


def _parameter(table: Table, key: str, value: str) -> None:
    number = exact_decimal(value)
    if number is None and value != "":
        raise NumberError(
            f"The parameter {key!r} has the value {value!r}.", file=table.file, name=key, value=value,
            remedy="Give a number.",
        )  # fmt: skip
    table.parameters[key] = number


def _flat(row: Mapping[str, Any]) -> dict[str, str]:
    """com = [x, y, z] and inertia = [Ixx, Ixy, Ixz, Iyy, Iyz, Izz] or three moments become columns; name is joint."""
    result: dict[str, str] = {}
    for key, value in row.items():
        if key == "com" and isinstance(value, list):
            result.update(_spread(key, ("com_x", "com_y", "com_z"), value))
        elif key == "inertia" and isinstance(value, list):
            keys = ("Ixx", "Iyy", "Izz") if len(value) == 3 else ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
            result.update(_spread(key, keys, value))
        else:
            result["joint" if key == "name" else key] = str(value)
    return result


def _spread(key: str, names: tuple[str, ...], values: list[Any]) -> dict[str, str]:
    if len(values) != len(names):
        raise NumberError(
            f"{key} = {values!r} holds {len(values)} numbers where {len(names)} are needed.", name=key,
            value=str(values), remedy=f"Give {', '.join(names)}; decimals need a point.",
        )  # fmt: skip
    return {name: str(value) for name, value in zip(names, values, strict=True)}


def _pose(given: Any) -> tuple[str, ...]:
    if not isinstance(given, dict):
        return ()
    parts = [given.get(key, (0, 0, 0)) for key in ("xyz", "rpy")]
    lists = [part.split() if isinstance(part, str) else part for part in parts]
    for key, part in zip(("xyz", "rpy"), lists, strict=True):
        if not isinstance(part, (list, tuple)) or len(part) != 3:
            message = f"{key} = {part!r} is not three numbers."
            raise NumberError(message, name=key, value=str(part), remedy="Give three.")
    return tuple(str(x) for part in lists for x in part)


def _vector(table: Table, key: str, value: Any) -> Vector:
    try:
        x, y, z = (f.exact(str(v)) for v in value)
    except (TypeError, ValueError) as error:
        raise NumberError(
            f"{key} = {value!r} is not three numbers ({error}).",
            file=table.file,
            name=key,
            value=str(value),
            remedy="Write three numbers, such as [0, 0, -9.81].",
        ) from None
    return x, y, z
