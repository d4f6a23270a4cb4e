"""One check and its outcome."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """name: what was compared; value: the largest error found, relative; ok: value <= tolerance (NaN is not ok).

    note: what the comparison leaves out, or why it was not made (then value is 0 and ok True).
    """

    name: str
    value: float
    tolerance: float
    ok: bool
    note: str = ""

    def as_dict(self) -> dict[str, object]:
        """name, value, tolerance, ok, and note when there is one."""
        result: dict[str, object] = {
            "name": self.name, "value": self.value, "tolerance": self.tolerance, "ok": self.ok
        }  # fmt: skip
        return result | ({"note": self.note} if self.note else {})


def check(name: str, value: float, tolerance: float, note: str = "") -> Check:
    """A check from its largest error."""
    return Check(name, float(value), tolerance, bool(value <= tolerance), note)


def skipped(name: str, reason: str) -> Check:
    """A check that was not made."""
    return Check(name, 0.0, 0.0, True, f"not checked: {reason}")
