"""Numbers to compare: operation counts against the literature and other methods, and the checks that were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kane.equations.derive import Derived
from kane.graph.program import OperationCounts
from kane.mechanism.model import Mechanism
from kane.robots.literature import published

LARGEST_EXACT = 10_000_000  # operations that are written out digit by digit
WHOLE = 12  # times the least count that a bar shows whole: written-out formulas may take thousands of times more
_Row = tuple[str, str, int | None, int | None, int, int | None, int | None, bool]


@dataclass(frozen=True, slots=True)
class Count:
    """One row: who counts, by which method, operations (empty where unknown).

    share: of the largest total of the task that bars show whole, at most 1; beyond: larger than that.
    """

    by: str
    method: str
    mul: str
    add: str
    total: str
    div: str
    trig: str
    ours: bool
    share: float
    beyond: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of counts by task."""

    id: ClassVar[str] = "counts"
    title: ClassVar[str] = "Operation counts"
    template: ClassVar[str] = "counts.html"

    tasks: tuple[tuple[str, tuple[Count, ...]], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """One check: outcome "ok", "failed" or "not checked"."""

    name: str
    value: str
    tolerance: str
    outcome: str
    note: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The checks, and how many passed."""

    id: ClassVar[str] = "verification"
    title: ClassVar[str] = "Verification"
    template: ClassVar[str] = "verification.html"

    rows: tuple[Checked, ...]
    passed: int
    failed: int


def counts(
    mechanism: Mechanism,
    derived: Mapping[str, Derived],
    methods: Sequence[Mapping[str, Any]] = (),
    explicit: Sequence[tuple[str, OperationCounts]] = (),
) -> Counts:
    """Ours, other methods of ours (rows as in `kane counts --json`), and what was published for this robot.

    explicit: of inverse dynamics by the explicit model, exact and abbreviated.
    """
    tasks = []
    for task, made in derived.items():
        c = made.program.counts
        rows: list[_Row] = [("kane", made.method, c.mul, c.add, c.total, c.div, c.trig, True)]
        for row in methods:
            if row["task"] == task and row["method"] != made.method:
                o = row["counts"]
                rows.append(("kane", row["method"], o["mul"], o["add"], o["total"], o["div"], o["trig"], True))
        named = {row[1] for row in rows}
        for method, c in explicit if task == "inverse_dynamics" else ():
            if method not in named and not (method == "explicit model" and "explicit" in named):
                rows.append(("kane", method, c.mul, c.add, c.total, c.div, c.trig, True))
        known = published(mechanism.name, task)
        rows += [(p.source, p.method, p.mul, p.add, p.total, None, None, False) for p in known]
        least = min((row[4] for row in rows if row[4]), default=1)
        largest = max((row[4] for row in rows if row[4] <= WHOLE * least), default=1) or 1
        tasks.append((task, tuple(_count(row, largest) for row in rows)))
    return Counts(tuple(tasks), beyond_trees(mechanism))


def beyond_trees(mechanism: Mechanism) -> str:
    """What the tasks leave out; empty where that is nothing."""
    parts = (("loads", mechanism.loads), ("constraints", mechanism.constraints))
    beyond = [word for word, there in parts if there]
    said = f"These tasks are those of the tree of joints: {' and '.join(beyond)} are no part of them."
    return said if beyond else ""


def _count(row: _Row, largest: int) -> Count:
    by, method, mul, add, total, div, trig, ours = row
    texts = (_digits(mul), _digits(add), _digits(total), _digits(div), _digits(trig))
    return Count(by, method, *texts, ours, min(1.0, total / largest), total > largest)


def _digits(n: int | None) -> str:
    """A count; those of more digits than one reads as 1.23·10²⁸."""
    if n is None:
        return ""
    if n < LARGEST_EXACT:
        return str(n)
    size = len(str(n)) - 1
    power = str(size).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{n // 10 ** (size - 2) / 100:.2f}·10{power}"


def verification(checks: Sequence[Mapping[str, Any]]) -> Verification:
    """Rows of checks in the shape of `kane check --json`."""
    rows = []
    for c in checks:
        note = str(c.get("note", ""))
        if note.startswith("not checked"):
            rows.append(Checked(c["name"], "", "", "not checked", note.removeprefix("not checked: ")))
            continue
        outcome = "ok" if c["ok"] else "failed"
        tolerance = f"{c['tolerance']:.0e}" if c["tolerance"] else "exact"
        rows.append(Checked(c["name"], f"{c['value']:.2g}", tolerance, outcome, note))
    outcomes = [row.outcome for row in rows]
    return Verification(tuple(rows), outcomes.count("ok"), outcomes.count("failed"))
