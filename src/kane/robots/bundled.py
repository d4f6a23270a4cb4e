"""The bundled robots and their variants, read from the tables in data/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fractions import Fraction
from importlib.resources import files

from kane.errors import UnknownNameError, UnsupportedError
from kane.formats.dh import read_dh
from kane.mechanism.checks import judge
from kane.mechanism.model import Mechanism, Note
from kane.robots.planar_rp import planar_rp


@dataclass(frozen=True, slots=True)
class _Bundled:
    """A robot of data/: its table, variants (values of parameters, or another table), rotors on by default, remarks."""

    table: str = ""
    variants: Mapping[str, Mapping[str, str] | str] = field(default_factory=dict)
    rotors: bool = True
    remarks: tuple[str, ...] = ()


_PUMA_REMARKS = (
    "gravity 9.81 m/s^2; the paper's gravitational constants were computed with 9.8",
    "rotor inertia is Im of the paper, gear ratios 62.61, 107.36, 53.69, 76.01, 71.91, 76.73 included",
    "link 1 has no mass and only the moment Izz1; the published inertias are kept as they are",
)
_ROBOTS: dict[str, _Bundled] = {
    "elbow3": _Bundled("elbow3"),
    "planar_rp": _Bundled(),
    "puma560": _Bundled(
        "puma560",
        # I1 and I3 as printed in the paper follow from these two moments, not from the printed tables
        {"tables": {}, "as printed": {"Ixx2": "0.352", "Izz1": "0.005"}},
        remarks=_PUMA_REMARKS,
    ),
    "puma560_corke": _Bundled("puma560_corke", remarks=("Coulomb friction is the mean of both directions",)),
    "rx90": _Bundled("rx90"),
    "scara": _Bundled("scara"),
    "stanford": _Bundled("stanford", remarks=("rotor inertia is that of the source, with gear ratio 1",)),
    "two_link": _Bundled("two_link", {"rods": {}, "particles": "two_link_particles"}),
    "ur_like": _Bundled("ur_like"),
}


def names() -> tuple[str, ...]:
    """Names of the bundled robots."""
    return tuple(_ROBOTS)


def variants(name: str) -> tuple[str, ...]:
    """Variants of a bundled robot, the default first; empty when it has none."""
    return tuple(_entry(name).variants)


def load(name: str, variant: str | None = None, rotors: bool | None = None) -> Mechanism:
    """A bundled robot as published.

    variant: one of `variants(name)`.  rotors: False leaves the motor rotors out; None is the robot's default, True
    refuses a robot that has none.  Inertias that no body can have are noted in its report, not altered.
    Raises UnknownNameError listing the names, UnsupportedError.
    """
    entry = _entry(name)
    chosen = _variant(name, entry, variant)
    mechanism = _read(chosen if isinstance(chosen, str) else entry.table) if entry.table else planar_rp()
    if not isinstance(chosen, str):
        values = {key: Fraction(text) for key, text in chosen.items()}
        mechanism = replace(
            mechanism,
            parameters=tuple(replace(p, value=values.get(p.name, p.value)) for p in mechanism.parameters),
        )
    has_rotors = any(joint.rotor for joint in mechanism.joints)
    if rotors and not has_rotors:
        raise UnsupportedError(f"The robot {name!r} has no rotor data.", name=name, remedy="Give rotors by joint name.")
    if not (entry.rotors if rotors is None else rotors) and has_rotors:
        mechanism = _without_rotors(mechanism)
    notes = tuple(Note("defaulted", text, name) for text in entry.remarks)
    report = replace(mechanism.report, file="", format="bundled", notes=notes + mechanism.report.of("nonphysical"))
    return judge(replace(mechanism, name=name, report=report), "accept")


def _read(table: str) -> Mechanism:
    data = (files("kane.robots") / "data" / f"{table}.csv").read_bytes()
    return read_dh(data)


def _without_rotors(mechanism: Mechanism) -> Mechanism:
    used = {str(j.rotor.inertia) for j in mechanism.joints if j.rotor}
    return replace(
        mechanism,
        joints=tuple(replace(joint, rotor=None) for joint in mechanism.joints),
        parameters=tuple(p for p in mechanism.parameters if p.name not in used),
    )


def _entry(name: str) -> _Bundled:
    if name in _ROBOTS:
        return _ROBOTS[name]
    close = get_close_matches(name, _ROBOTS, 1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise UnknownNameError(
        f"There is no bundled robot named {name!r}.{hint}", name=name, remedy=f"There are: {', '.join(_ROBOTS)}."
    )


def _variant(name: str, entry: _Bundled, variant: str | None) -> Mapping[str, str] | str:
    if variant is None:
        return next(iter(entry.variants.values()), {})
    wanted = variant.replace("-", " ").replace("_", " ")
    if wanted not in entry.variants:
        known = ", ".join(repr(v) for v in entry.variants) or "none"
        raise UnknownNameError(
            f"The robot {name!r} has no variant {variant!r}.", name=variant, remedy=f"Its variants: {known}."
        )
    return entry.variants[wanted]
