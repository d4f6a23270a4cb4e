"""Plots of motions: the torque along a trajectory split by cause, and runs of the simulation, with playback."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kane.equations.derive import Derived, derive_task
from kane.graph.evaluate import evaluate
from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.mechanism import formula as f
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Limits, Mechanism
from kane.mechanism.numeric import without_noise
from kane.simulation.result import SimulationResult

Array = np.ndarray[Any, np.dtype[np.float64]]
POINTS, SECONDS = 161, 4.0
MOST_POINTS = 400  # of a run that is shown
JOINTS = SPRINGS, FRICTION = "passive_forces", "friction_forces"
LARGEST = 12_000  # instructions that are evaluated point by point here


@dataclass(frozen=True, slots=True)
class Curves:
    """Curves over time in one frame: (name, values)."""

    label: str
    series: tuple[tuple[str, Array], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot with a choice of what it shows."""

    title: str
    unit: str
    choices: tuple[Curves, ...]


@dataclass(frozen=True, slots=True)
class Recording:
    """A motion: times (k,), coordinates (nq, k) by name for playback, plots."""

    title: str
    note: str
    t: Array
    names: tuple[str, ...]
    q: Array
    plots: tuple[Plot, ...]


@dataclass(frozen=True, slots=True)
class Motions:
    """Recordings, the first shown first.  left_out: why there is no torque along a trajectory."""

    id: ClassVar[str] = "motion"
    title: ClassVar[str] = "Motion and torque"
    template: ClassVar[str] = "motion.html"

    recordings: tuple[Recording, ...]
    data: dict[str, Any]
    left_out: str = ""


def motions(recordings: Sequence[Recording], left_out: str = "") -> Motions:
    """The section of these recordings."""
    data = {"recordings": [_json(r) for r in recordings]} if recordings else {}
    return Motions(tuple(recordings), data, left_out)


def _json(r: Recording) -> dict[str, Any]:
    return {
        "title": r.title, "t": _digits(r.t), "names": list(r.names), "q": [_digits(row) for row in r.q],
        "plots": [{"title": p.title, "unit": p.unit, "choices": _choices(p)} for p in r.plots],
    }  # fmt: skip


def _choices(p: Plot) -> list[dict[str, Any]]:
    """The curves, on which rounding of the largest value of the plot is 0."""
    sizes = [np.abs(v[np.isfinite(v)]).max(initial=0.0) for c in p.choices for _, v in c.series]
    top = max(sizes, default=0.0)
    return [
        {"label": c.label, "series": [[n, _digits(without_noise(v, top))] for n, v in c.series]} for c in p.choices
    ]


def _digits(values: Array) -> list[float | None]:
    return [float(f"{x:.5g}") if math.isfinite(x) else None for x in values.tolist()]


def torque_split(mechanism: Mechanism, derived: Mapping[str, Derived]) -> Recording | str:
    """Torques along a smooth motion within the limits, by cause; or why not.

    The causes: inertia, Coriolis, centrifugal, gravity, springs of joints, their friction (viscous and dry).

    With h = bias - gravity, quadratic in the speeds: centrifugal is the sum of h of one speed at a time, Coriolis the
    rest.
    """
    c = find_coordinates(mechanism)
    if coordinates_of_speeds(c) is None or mechanism.constraints:
        return "The torque along a trajectory is shown for trees whose speeds are the rates of their coordinates."
    tasks = {}
    for task in ("mass_matrix", "bias_forces", "gravity_forces", "kinetic_energy", "potential_energy", *JOINTS):
        if task in JOINTS:
            tasks[task] = derive_task(undamped(mechanism) if task == SPRINGS else mechanism, task)
        else:
            tasks[task] = derived[task] if task in derived else derive_task(mechanism, task)
        if len(tasks[task].program.values) > LARGEST:
            return f"{len(tasks[task].program.values)} instructions are too many to follow a trajectory here."
        if any(value is None for value in tasks[task].parameters.values()):
            return "The description leaves parameters open, so there are no torques to show."
        if not {item.name for item in tasks[task].program.inputs} <= {"q", "qd", "p"}:
            return "The equations depend on time, so the torque of a motion at rest in time is not shown."
    t, q, qd, qdd = trajectory(mechanism)

    def value(task: str, q: Array, qd: Array) -> Array:
        made = tasks[task]
        p = np.array([0.0 if x is None else x for x in made.parameters.values()])
        given = {"q": q, "qd": qd, "p": p}
        found = evaluate(made.program, {item.name: given[item.name] for item in made.program.inputs})
        return next(iter(found.values()))

    gravity = value("gravity_forces", q, qd)
    speed = value("bias_forces", q, qd) - gravity
    centrifugal = np.zeros_like(speed)
    for j in range(qd.shape[1]):
        alone = np.zeros_like(qd)
        alone[:, j] = qd[:, j]
        centrifugal += value("bias_forces", q, alone) - gravity
    parts = {
        "inertia": np.einsum("kij,kj->ki", value("mass_matrix", q, qd), qdd),
        "Coriolis": speed - centrifugal,
        "centrifugal": centrifugal,
        "gravity": gravity,
        "springs": -value(SPRINGS, q, qd),
        "friction": value(FRICTION, q, qd),
    }
    total = sum(parts.values())
    top = max(np.abs(part).max(initial=0.0) for part in parts.values())
    shown = {name: part for name, part in parts.items() if without_noise(part, top).any()}
    joints = tuple(
        Curves(name, (*((part, values[:, i]) for part, values in shown.items()), ("total", np.asarray(total)[:, i])))
        for i, name in enumerate(c.speeds)
    )
    kinetic = value("kinetic_energy", q, qd)
    potential = value("potential_energy", q, qd) + spring_energy(mechanism, q)
    energies = Curves("energy", (("kinetic", kinetic), ("potential", potential), ("total", kinetic + potential)))
    plots = (Plot("Torque by cause", "N m or N", joints), Plot("Energy", "J", (energies,)))
    note = "A smooth motion within the limits of the joints, all moving at once."
    if c.quaternions:
        note += "  Free and spherical joints are held."
    return Recording("Torque along a trajectory", note, t, c.names, q.T, plots)


def trajectory(mechanism: Mechanism) -> tuple[Array, Array, Array, Array]:
    """t (k,), q (k, nq), qd, qdd (k, n): each coordinate swings about the middle of its range within its limits.

    Free and spherical joints are held.
    q = middle + a sin(w t + phase), with different w, and a so small that |q| and |qd| stay within half the limits.
    """
    c, limits = find_coordinates(mechanism), _limits(mechanism)
    t = np.linspace(0.0, SECONDS, POINTS)
    rows = []
    ranges = coordinate_ranges(mechanism)
    for k, (name, angle, (lower, upper)) in enumerate(zip(c.names, c.angles, ranges, strict=True)):
        fixed = held(c, name)
        if fixed is not None:
            still = np.zeros(POINTS)
            rows.append((still + fixed, still, still))
            continue
        own = limits.get(name, Limits())
        w = 2 * math.pi / SECONDS * (1 + k % 3)
        size = min((upper - lower) / 4, 1.0 if angle else 0.25)
        if own.velocity is not None and math.isfinite(own.velocity):
            size = min(size, own.velocity / 2 / w)
        phase = w * t + 0.7 * k
        middle = (lower + upper) / 2
        rows.append((middle + size * np.sin(phase), size * w * np.cos(phase), -size * w * w * np.sin(phase)))
    q, rate, second = (np.stack(x, axis=-1) for x in zip(*rows, strict=True)) if rows else [np.zeros((POINTS, 0))] * 3
    qd, qdd = np.zeros((2, POINTS, len(c.speeds)))
    for r, place in enumerate(coordinates_of_speeds(c) or ()):
        if place is not None:
            qd[:, r], qdd[:, r] = rate[:, place], second[:, place]
    return t, q, qd, qdd


def coordinates_of_speeds(c: Coordinates) -> tuple[int | None, ...] | None:
    """For each speed the coordinate whose rate it is, None for free and spherical joints; None for other speeds."""
    free = {name for _, speeds in c.quaternions for name in speeds}
    free |= {name for _, speeds, _ in c.positions for name in speeds}
    if any(name not in c.names and name not in free for name in c.speeds):
        return None
    return tuple(None if name in free else c.names.index(name) for name in c.speeds)


def held(c: Coordinates, name: str) -> float | None:
    """The value at which a coordinate of a free or spherical joint is held; None for other coordinates."""
    for names, _ in c.quaternions:
        if name in names:
            return 1.0 if name == names[0] else 0.0
    return 0.0 if any(name in names for names, _, _ in c.positions) else None


def _limits(mechanism: Mechanism) -> dict[str, Limits]:
    """Limits by coordinate, of joints with one."""
    named = [(joint_type(joint).coordinates(joint), joint.limits) for joint in mechanism.joints]
    return {names[0]: limits for names, limits in named if len(names) == 1}


def coordinate_ranges(mechanism: Mechanism) -> list[tuple[float, float]]:
    """Limits of each coordinate; where there are none the whole turn, or half a metre to each side."""
    c, limits = find_coordinates(mechanism), _limits(mechanism)
    result = []
    for name, angle in zip(c.names, c.angles, strict=True):
        own, reach = limits.get(name, Limits()), math.pi if angle else 0.5
        lower = own.lower if own.lower is not None and math.isfinite(own.lower) else -reach
        upper = own.upper if own.upper is not None and math.isfinite(own.upper) else reach
        result.append((lower, upper))
    return result


def undamped(mechanism: Mechanism) -> Mechanism:
    """The mechanism whose joints have springs only, not dampers."""
    return replace(mechanism, joints=tuple(replace(joint, damping=f.ZERO) for joint in mechanism.joints))


def spring_energy(mechanism: Mechanism, q: Array) -> Array:
    """k (q - rest)^2 / 2 of the springs of all joints, followers too, at q (k, nq)."""
    c, values = find_coordinates(mechanism), mechanism.parameter_values
    inside = {name for group, _ in c.quaternions for name in group}
    stored = np.zeros(len(q))
    for joint in mechanism.joints:
        if f.is_zero(joint.stiffness):
            continue
        k, rest = f.number(joint.stiffness, values), f.number(joint.rest, values)
        for name in joint_type(joint).coordinates(joint):
            if name not in inside:
                at = [f.number(c.values[name], values | dict(zip(c.names, row, strict=True))) for row in q.tolist()]
                stored += k * (np.array(at) - rest) ** 2 / 2
    return stored


def recording(run: SimulationResult, title: str = "Simulation") -> Recording:
    """A run of the simulation: coordinates, speeds, energies and residuals."""
    step = max(1, -(-len(run.t) // MOST_POINTS))
    pick = np.unique(np.append(np.arange(0, len(run.t), step), len(run.t) - 1))
    layout = run.model.layout
    names = layout.names

    def take(rows: Array) -> Array:
        return np.asarray(rows[..., pick])

    states = take(run.y)
    q, u = states[: layout.nq], states[layout.nq :]
    plots = [
        Plot("Coordinates", "rad or m", (Curves("all", tuple(zip(names[: layout.nq], q, strict=True))),)),
        Plot("Speeds", "rad/s or m/s", (Curves("all", tuple(zip(names[layout.nq :][: len(u)], u, strict=True))),)),
    ]
    if run.model.energy is not None:
        energies = (("kinetic", take(run.kinetic)), ("potential", take(run.potential)), ("total", take(run.energy)))
        plots.append(Plot("Energy", "J", (Curves("energy", energies),)))
        balance = Curves("residual", (("T + V − work", take(run.energy_residual)),))
        plots.append(Plot("Energy residual", "J", (balance,)))
    if run.model.constraints is not None:
        residuals = (("configuration", take(run.constraint_residual)), ("speeds", take(run.speed_residual)))
        plots.append(Plot("Residuals of the constraints", "", (Curves("residual", residuals),)))
    return Recording(title, run.message, take(run.t), tuple(names[: layout.nq]), q, tuple(plots))
