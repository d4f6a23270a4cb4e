"""From a mechanism to the sections of its report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kane.equations.base_parameters import base_parameters
from kane.equations.derive import Derived, derive_task
from kane.equations.projection import kane_equations
from kane.equations.steps import work_out
from kane.errors import InputError, KaneError
from kane.explicit.abbreviate import Abbreviated, abbreviate
from kane.explicit.model import ExplicitModel, explicit_model
from kane.explicit.ranges import Ranges, default_ranges
from kane.kinematics.coordinates import find_coordinates
from kane.linearization.linear import LinearSystem
from kane.mechanism.model import Mechanism
from kane.report.page import Live, Page, Section
from kane.report.sections.base import Base, base
from kane.report.sections.equations import Code, TaskPages, code, task_pages
from kane.report.sections.explicit import Explicit, explicit, no_explicit
from kane.report.sections.left_out import LeftOut
from kane.report.sections.maps import Maps, maps
from kane.report.sections.meshes import find_meshes
from kane.report.sections.motion import Motions, motions, recording, torque_split
from kane.report.sections.numbers import Counts, counts, verification
from kane.report.sections.overview import overview
from kane.report.sections.poles import poles
from kane.report.sections.scene import scene
from kane.report.sections.steps import KaneSteps, kane_steps
from kane.simulation.result import SimulationResult

TASKS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces")
TARGETS = ("c", "numpy", "jax", "casadi", "julia", "matlab", "rust", "latex")
LARGEST_STEPS = 7  # speeds; beyond it the worked-out steps are too long to read
LARGEST_EXPLICIT = 12  # coordinates; the explicit model of more is never short enough to read

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What a report holds.

    tasks: those with equations, counts and code.  tolerances, rule: abbreviated levels of the explicit model.  targets:
    languages.  steps, base, explicit, count_explicit: whether Kane's steps, base parameters, the explicit model and its
    operations are worked out.  start: coordinates shown first.
    folder: where mesh files are looked for (default: beside the file read).
    """

    tasks: tuple[str, ...] = TASKS
    tolerances: tuple[float, ...] = (0.001, 0.01, 0.05)
    rule: str = "certified"
    targets: tuple[str, ...] = TARGETS
    steps: bool = True
    base: bool = True
    explicit: bool = True
    count_explicit: bool = True
    start: tuple[float, ...] = ()
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """Results that the caller has already, so that they are not worked out again.

    derived: tasks by name; checks, methods: rows as `kane check --json` and `kane counts --json` print them.
    notes: for the headers of code.  levels: of the explicit model.  runs, linear: shown as plots.
    """

    derived: Mapping[str, Derived] = field(default_factory=dict)
    checks: Sequence[Mapping[str, Any]] = ()
    methods: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    levels: Sequence[Abbreviated] = ()
    runs: Sequence[SimulationResult] = ()
    linear: LinearSystem | None = None


def build_report(
    mechanism: Mechanism,
    options: Options | None = None,
    given: Given | None = None,
    live: Live | None = None,
    progress: Progress = lambda text: None,
) -> Page:
    """The report of a mechanism: robot, 3-D, Kane's steps, equations, explicit model, numbers, code.

    What the mechanism has no answer for (an explicit model of a closed loop, say) is left out, with the reason.
    """
    o, g = options or Options(), given or Given()
    derived, why = _derived(mechanism, o, g, progress)
    progress("draw")
    meshes = find_meshes(mechanism, _folder(mechanism, o))
    sections: list[Section] = [overview(mechanism), scene(mechanism, meshes, o.start)]
    model = _explicit(mechanism, o, g, progress)
    explicit_counts = model.counts if model is not None else ()
    sections.append(counts(mechanism, derived, g.methods, explicit_counts) if derived else _left(Counts, why))
    if g.checks:
        sections.append(verification(g.checks))
    if o.steps:
        progress("Kane's steps")
        sections.append(_or_why(KaneSteps, lambda: _steps(mechanism)))
    if model is not None:
        sections.append(model)
    sections.append(task_pages(derived) if derived else _left(TaskPages, why))
    progress("torque along a trajectory")
    sections.append(_motions(mechanism, derived, g))
    progress("maps over the workspace")
    sections.append(_or_why(Maps, lambda: maps(mechanism, derived)))
    if g.linear is not None:
        sections.append(poles(g.linear))
    if o.base:
        progress("base parameters")
        sections.append(_or_why(Base, lambda: base(base_parameters(mechanism))))
    progress("code")
    sections.append(code(mechanism.name, derived, o.targets, g.notes) if derived else _left(Code, why))
    c = find_coordinates(mechanism)
    lead = f"{len(c.names)} coordinates, {len(c.speeds)} speeds, {len(mechanism.links)} links"
    return Page(mechanism.name, lead, tuple(sections), live)


def _derived(mechanism: Mechanism, o: Options, g: Given, progress: Progress) -> tuple[dict[str, Derived], str]:
    """The tasks that there are, and why another one is not."""
    derived, why = {}, ""
    for task in o.tasks:
        progress(f"derive {task}")
        try:
            derived[task] = g.derived[task] if task in g.derived else derive_task(mechanism, task)
        except InputError as error:
            why = str(error)
    return derived, why


def _left(part: type[Any], why: str) -> LeftOut:
    return LeftOut(part.id, part.title, why)


def _or_why(part: type[Any], make: Callable[[], Section]) -> Section:
    """A part, or the reason why there is none."""
    try:
        return make()
    except InputError as error:
        return _left(part, str(error))


def _folder(mechanism: Mechanism, o: Options) -> Path | None:
    if o.folder is not None:
        return o.folder
    return Path(mechanism.report.file).parent if mechanism.report.file else None


def _motions(mechanism: Mechanism, derived: Mapping[str, Derived], g: Given) -> Motions:
    runs = [recording(run, f"Simulation {k}" if len(g.runs) > 1 else "Simulation") for k, run in enumerate(g.runs, 1)]
    try:
        split = torque_split(mechanism, derived)
    except InputError as error:
        split = str(error)
    return motions(runs, split) if isinstance(split, str) else motions([*runs, split])


def _steps(mechanism: Mechanism) -> KaneSteps:
    n = len(find_coordinates(mechanism).speeds)
    if n > LARGEST_STEPS:
        return kane_steps(None, f"With {n} speeds the worked-out steps are too long to read.")
    return kane_steps(work_out(kane_equations(mechanism)))


def _explicit(mechanism: Mechanism, o: Options, g: Given, progress: Progress) -> Explicit | None:
    if not o.explicit:
        return None
    progress("explicit model")
    n = len(find_coordinates(mechanism).names)
    if n > LARGEST_EXPLICIT:
        return no_explicit(f"The explicit form of {n} coordinates is too long to read; the equations are recursive.")
    try:
        model = explicit_model(mechanism)
    except KaneError as error:
        return no_explicit(str(error))
    levels, ranges, why = _levels(model, o, g, progress)
    return explicit(model, levels, ranges, why, o.count_explicit)


def _levels(
    model: ExplicitModel, o: Options, g: Given, progress: Progress
) -> tuple[Sequence[Abbreviated], Ranges | None, str]:
    """Abbreviated levels, the ranges they hold for, and why there are none."""
    if g.levels:
        return g.levels, g.levels[0].ranges, ""
    if not o.tolerances:
        return (), None, ""
    try:
        ranges = default_ranges(model)
        levels = []
        for tolerance in o.tolerances:
            progress(f"abbreviate to {tolerance:g}")
            levels.append(abbreviate(model, tolerance, o.rule, ranges))  # type: ignore[arg-type]
    except KaneError as error:
        return (), None, str(error)
    return levels, ranges, ""
