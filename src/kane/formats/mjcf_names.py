"""Names in an MJCF model that name nothing: what actuators drive, equalities hold and tendons run over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_LINE = re.compile(r"line (\d+)")
_MOST = 30  # names that a text lists
_DRIVEN = {
    "JOINT": "joint", "JOINTINPARENT": "joint", "TENDON": "tendon", "SITE": "site", "BODY": "body",
    "SLIDERCRANK": "site",
}  # fmt: skip


def line_of(element: Any) -> int | None:
    """The line of an element of a specification in its file."""
    found = _LINE.search(element.info or "")
    return int(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class Missing:
    """What is told of an element that names something which is not there, of this kind."""

    tag: str
    kind: str
    name: str
    wanted: str
    text: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a model by kind: joint, tendon, site, body."""

    known: dict[str, tuple[str, ...]] = field(repr=False)

    def listed(self, kind: str) -> str:
        """Those that there are."""
        names = [name for name in self.known[kind] if name]
        if not names:
            return f"the model has no named {kind}"
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        return f"the model has {', '.join(names[:_MOST])}{more}"

    def missing(self, item: Any, tag: str) -> Iterator[Missing]:
        """What an actuator, equality or tendon names that is not there."""
        what = f"{tag} {item.name!r}" if item.name else f"{tag} without a name"
        for kind, wanted, verb in _NAMED[tag](item):
            if wanted is None:
                text = f"{what} {verb} a {kind} that does not exist"
            elif wanted and wanted not in self.known[kind]:
                text = f"{what} {verb} the {kind} {wanted!r}, which does not exist"
            else:
                continue
            yield Missing(tag, kind, item.name, wanted or "", text, line_of(item))


def names_of(spec: Any) -> Names:
    """The names that a specification has."""
    kinds = {"joint": spec.joints, "tendon": spec.tendons, "site": spec.sites, "body": spec.bodies}
    return Names({kind: tuple(item.name for item in items) for kind, items in kinds.items()})


def idle_names(spec: Any, names: Names) -> Iterator[Missing]:
    """Of what has no effect here: actuators, and tendons, that name nothing; the first of each kind tells of all."""
    told: dict[tuple[str, str], list[Missing]] = {}
    for tag, items in (("actuator", spec.actuators), ("tendon", spec.tendons)):
        for item in items:
            for missing in list(names.missing(item, tag))[:1]:
                told.setdefault((tag, missing.kind), []).append(missing)
    for (tag, kind), (first, *others) in told.items():
        more = f"; so do {len(others)} more" if others else ""
        place = f" (line {first.line})" if first.line else ""
        text = f"{first.text}{place}{more}; {names.listed(kind)}"
        yield Missing(tag, kind, first.name, first.wanted, text, first.line)


def _driven(item: Any) -> Iterator[tuple[str, str | None, str]]:
    kind = _DRIVEN.get(item.trntype.name.removeprefix("mjTRN_"))
    if kind is not None:
        yield kind, item.target, "drives"


def _held(item: Any) -> Iterator[tuple[str, str | None, str]]:
    kind = item.type.name.removeprefix("mjEQ_").lower()
    if kind in ("connect", "weld"):
        kind = item.objtype.name.removeprefix("mjOBJ_").lower()
    if kind in ("joint", "tendon", "body", "site"):
        yield from ((kind, name, "holds") for name in (item.name1, item.name2))


def _passed(item: Any) -> Iterator[tuple[str, str | None, str]]:
    for point in item.path:
        kind = point.type.name.removeprefix("mjWRAP_").lower()
        if kind in ("joint", "site") and point.target is None:
            yield kind, None, "runs over"


_NAMED = {"actuator": _driven, "equality": _held, "tendon": _passed}
