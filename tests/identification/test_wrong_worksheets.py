"""Every entry of a worksheet, spoilt in every way: taken as a reading or refused by name; no entry is passed over."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kane.errors import FormatError, InputError, KaneError
from kane.identification.worksheet import measurements, read_worksheet
from kane.robots import load

SHEET = tomllib.loads(Path(__file__).with_name("puma560_worksheet.toml").read_text(encoding="utf-8"))
ROBOT = load("puma560")
SPOILT = [
    None, -1, 0, float("nan"), float("inf"), "x", "", [], [1], [0, 0, 0], {}, {"x": 1}, True, "1 +- x", "1e999",
    object(),
]  # fmt: skip


def places(table: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    entries = table.items() if isinstance(table, dict) else enumerate(table) if isinstance(table, list) else ()
    for key, value in entries:
        yield from places(value, (*place, key))


def spoilt(place: tuple[Any, ...], value: Any, key: Any = None) -> Any:
    sheet = table = copy.deepcopy(SHEET)
    for part in place[:-1]:
        table = table[part]
    if key is not None:
        table[key] = table.pop(place[-1])
    else:
        table[place[-1]] = value
    return sheet


@pytest.mark.parametrize("value", SPOILT, ids=lambda v: "object" if type(v) is object else str(v))
def test_spoilt_entries(value: Any) -> None:
    refused = 0
    for place in places(SHEET):
        try:
            measurements(spoilt(place, value), ROBOT).table()
        except KaneError:
            refused += 1
    assert refused > 20


@pytest.mark.parametrize("place", [p for p in places(SHEET) if isinstance(p[-1], str)], ids=str)
def test_misspelt_entries_are_not_passed_over(place: tuple[Any, ...]) -> None:
    with pytest.raises(KaneError, match="no shell" if place[-1] == "kind" else "misspelt"):
        measurements(spoilt(place, None, "misspelt"), ROBOT)


@pytest.mark.parametrize("source", ["", "\n", "gravity = 9.8\n", "[link]\n", "[[[\n", "a = " + "[" * 100_000 + "\n",
                                    "no/such.toml", ".", None, 5, b"x\n"], ids=lambda x: str(x)[:12])  # fmt: skip
def test_what_is_no_worksheet(source: Any) -> None:
    with pytest.raises(FormatError):
        read_worksheet(source, ROBOT)


def test_other_encodings(tmp_path: Path) -> None:
    (tmp_path / "sheet.toml").write_bytes("# Länge\n".encode("latin-1"))
    with pytest.raises(FormatError, match="not UTF-8") as caught:
        read_worksheet(tmp_path / "sheet.toml", ROBOT)
    assert caught.value.file == str(tmp_path / "sheet.toml")


@pytest.mark.parametrize("robot", [None, 5, "puma560"])
def test_no_robot(robot: Any) -> None:
    with pytest.raises(InputError, match="not a robot"):
        measurements(SHEET, robot)
