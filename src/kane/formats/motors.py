"""Read a table of motors: joint, rotor inertia, gear ratio."""

from __future__ import annotations

import csv
from fractions import Fraction

from kane.errors import FormatError, NumberError
from kane.formats.dh_cells import factor, split_unit
from kane.formats.source import Source, text_of
from kane.formats.values import exact_decimal

_COLUMNS = ("joint", "rotor_inertia", "gear_ratio")


def read_rotors(source: Source) -> dict[str, tuple[Fraction, Fraction]]:
    """Rotor inertia (kg m^2, at the motor) and gear ratio by joint name, from CSV with these three columns.

    Raises FormatError, NumberError with file and line.
    """
    text, file = text_of(source)
    rows = [
        (line, [cell.strip() for cell in next(csv.reader([raw]))])
        for line, raw in enumerate(text.splitlines(), 1)
        if raw.strip() and not raw.lstrip().startswith("#")
    ]
    columns = [split_unit(column) for column in rows[0][1]] if rows else []
    header = [name for name, _ in columns]
    scale = factor(dict(columns).get("rotor_inertia", ""))
    missing = [column for column in _COLUMNS if column not in header]
    if missing:
        raise FormatError(
            f"The motor table has no column {missing[0]!r}.",
            file=file, line=rows[0][0] if rows else None, name=missing[0],
            remedy=f"Its header is {','.join(_COLUMNS)}.",
        )  # fmt: skip
    result: dict[str, tuple[Fraction, Fraction]] = {}
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            raise FormatError(
                f"The row has {len(cells)} entries.", file=file, line=line, remedy=f"Write {len(header)}."
            )
        row = dict(zip(header, cells, strict=True))
        if row["joint"] in result:
            raise FormatError(
                f"Joint {row['joint']!r} stands twice.", file=file, line=line, name=row["joint"], remedy="Keep one row."
            )
        numbers = []
        for column in _COLUMNS[1:]:
            value = exact_decimal(row[column])
            if value is None:
                raise NumberError(
                    f"{row[column]!r} in column {column!r} is not a finite decimal number.", file=file, line=line,
                    element=column, name=row["joint"], value=row[column], remedy="Write a number such as 3.0e-5.",
                )  # fmt: skip
            numbers.append(value)
        result[row["joint"]] = (numbers[0] * scale, numbers[1])
    return result
