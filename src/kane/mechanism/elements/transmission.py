"""Transmissions: ratio, efficiency, rotor inertia, compliance, coupled gearing."""

from __future__ import annotations

from collections.abc import Sequence

from kane.errors import InputError
from kane.mechanism import formula as f
from kane.mechanism.basis import FrameVector
from kane.mechanism.elements.place import Place, amount, ratio_of
from kane.mechanism.formula import Formula, ScalarLike
from kane.mechanism.loads import Load, SpinningRotor


def drive(
    name: str, place: Place, ratio: ScalarLike, torque: ScalarLike, efficiency: ScalarLike = 1
) -> tuple[Load, ...]:
    """A motor torque at the output of a gear: ratio * torque, times the efficiency (over it when the load drives).

    motor rate = ratio * place.rate.  The loss is (1 - efficiency) of the power put in, on whichever side.
    """
    whole = ratio_of(name, ratio) * f.formula(torque)
    amount(name, "efficiency", efficiency, zero=False, most=1)
    if f.exact(efficiency) == 1:
        return (place.load(name, whole),)
    power = whole * place.rate
    loss = Formula("select", (power, f.formula(efficiency), f.formula(1) / efficiency))
    return (place.load(name, whole * loss),)


def rotor(
    name: str,
    carrier: str,
    axis: FrameVector,
    inertia: ScalarLike,
    place: Place,
    ratio: ScalarLike = 1,
    exact: bool = True,
) -> tuple[Load, ...]:
    """A rotor on `carrier` that turns ratio * place.rate relative to it."""
    amount(name, "inertia", inertia)
    return (SpinningRotor(name, carrier, axis, f.exact(inertia), f.formula(ratio) * place.rate, not exact),)


def compliance(
    name: str, place: Place, motor: Place, ratio: ScalarLike, stiffness: ScalarLike, damping: ScalarLike = 0
) -> tuple[Load, ...]:
    gear = ratio_of(name, ratio)
    twist = motor.displacement / gear - place.displacement
    rate = motor.rate / gear - place.rate
    effort = amount(name, "stiffness", stiffness) * twist + amount(name, "damping", damping) * rate
    return (place.load(f"{name} output", effort), motor.load(f"{name} input", -(effort / gear)))


def coupled(
    name: str, places: Sequence[Place], gearing: Sequence[Sequence[ScalarLike]], torques: Sequence[ScalarLike]
) -> tuple[Load, ...]:
    """Coupled gearing: motor rates = G joint rates, so joint efforts = Gᵀ motor torques."""
    if len(gearing) != len(torques) or any(len(row) != len(places) for row in gearing):
        raise InputError(
            f"Gearing {name!r} needs one row a motor and one column a joint.", name=name, value=len(gearing)
        )
    loads = []
    for j, place in enumerate(places):
        effort = f.formula(0)
        for row, torque in zip(gearing, torques, strict=True):
            effort = effort + f.formula(row[j]) * torque
        loads.append(place.load(f"{name} {j + 1}", effort))
    return tuple(loads)


def coupled_rotors(
    name: str,
    carriers: Sequence[str],
    axes: Sequence[FrameVector],
    inertias: Sequence[ScalarLike],
    places: Sequence[Place],
    gearing: Sequence[Sequence[ScalarLike]],
) -> tuple[Load, ...]:
    """The rotors of coupled gearing: rotor i turns sum of G_ij * joint rate j relative to its carrier."""
    if not len(carriers) == len(axes) == len(inertias) == len(gearing) or any(len(r) != len(places) for r in gearing):
        raise InputError(
            f"The rotors {name!r} need one carrier, axis, inertia and row of gearing each, and one column a joint.",
            name=name, value=len(gearing),
        )  # fmt: skip
    made = []
    for i, row in enumerate(gearing):
        rate = f.formula(0)
        for factor, place in zip(row, places, strict=True):
            rate = rate + f.formula(factor) * place.rate
        made.append(SpinningRotor(f"{name} {i + 1}", carriers[i], axes[i], amount(name, "inertia", inertias[i]), rate))
    return tuple(made)
