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
from kane.explicit.absolute import absolute_form
from kane.explicit.model import ExplicitModel, explicit_model
from kane.explicit.ranges import Ranges, assumed_ranges
from kane.kinematics.coordinates import find_coordinates
from kane.kinematics.plain_speeds import rate_places, speeds_as_rates
from kane.linearization.linear import LinearSystem
from kane.mechanism.model import Mechanism
from kane.report.page import Live, Page, Section
from kane.report.sections.base import Base, base
from kane.report.sections.equations import Code, TaskPages, code, task_pages
from kane.report.sections.explicit import Explicit, explicit, no_explicit
from kane.report.sections.left_out import LeftOut, Waiting
from kane.report.sections.maps import Maps, maps
from kane.report.sections.meshes import find_meshes
from kane.report.sections.motion import Motions, motions, recording, torque_split
from kane.report.sections.numbers import Counts, Verification, beyond_trees, counts, verification
from kane.report.sections.overview import overview
from kane.report.sections.poles import Poles, poles, poles_at_rest
from kane.report.sections.recursion import recursive_steps
from kane.report.sections.scene import scene
from kane.report.sections.steps import KaneSteps, kane_steps
from kane.simulation.result import SimulationResult

TASKS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces")
TARGETS = ("c", "numpy", "jax", "casadi", "julia", "matlab", "rust", "latex")
LARGEST_STEPS = 7  # speeds; with more the steps are written from body to body
LARGEST_WHOLE = 9  # speeds of a mechanism with loads or constraints, which have no such steps
LARGEST_EXPLICIT = 12  # coordinates; the explicit model of more is never short enough to read
LARGEST_LEVELS = 1000  # terms of an explicit model that are factored and abbreviated in seconds

_KINDS: tuple[type[Any], ...] = (Base, Code, Counts, Explicit, KaneSteps, Maps, Motions, Poles, TaskPages, Verification)
TITLES = {kind.id: kind.title for kind in _KINDS}

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What a report holds.

    tasks: those with equations, counts and code.  tolerances, rule: abbreviated levels of the explicit model.  targets:
    languages.  steps, base, explicit, count_explicit: whether Kane's steps, base parameters, the explicit model and its
    operations are worked out.  start: coordinates shown first.  folder: where mesh files are looked for (default:
    beside the file read).  only: ids of the parts to be made (default: all); waiting: of those that a served page asks
    for later.
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
    only: frozenset[str] | None = None
    waiting: frozenset[str] = frozenset()


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


@dataclass(slots=True)
class _Work:
    """A report being made: tasks and the explicit model are made once, by the first part that needs them."""

    mechanism: Mechanism
    o: Options
    g: Given
    progress: Progress
    found: dict[str, Derived] | None = None
    why: str = ""
    model: Explicit | None = None

    def in_rates(self) -> tuple[Mechanism, Mapping[str, Derived]]:
        """The mechanism in the rates of its coordinates, where its speeds are these, with the tasks there are of it."""
        m = self.mechanism
        places = rate_places(m, find_coordinates(m))
        in_order = places is None or places == tuple(range(len(places)))
        return speeds_as_rates(m), self.derived() if in_order else {}

    def derived(self) -> dict[str, Derived]:
        """The tasks that there are; `why` says why another one is not."""
        if self.found is None:
            self.found = {}
            for task in self.o.tasks:
                self.progress(f"derive {task}")
                try:
                    own = self.g.derived[task] if task in self.g.derived else derive_task(self.mechanism, task)
                    self.found[task] = own
                except InputError as error:
                    self.why = str(error)
        return self.found

    def explicit(self) -> Explicit | None:
        if self.model is None and self.o.explicit:
            self.model = _explicit(self.mechanism, self.o, self.g, self.progress)
        return self.model

    def counts(self) -> Section:
        derived, model = self.derived(), self.explicit()
        if not derived:
            return _left(Counts, self.why)
        return counts(self.mechanism, derived, self.g.methods, model.counts if model is not None else ())

    def task_pages(self) -> Section:
        if not (derived := self.derived()):
            return _left(TaskPages, self.why)
        return task_pages(derived, beyond_trees(self.mechanism))

    def code(self) -> Section:
        derived = self.derived()
        self.progress("code")
        if not derived:
            return _left(Code, self.why)
        said = beyond_trees(self.mechanism)
        return code(self.mechanism.name, derived, self.o.targets, (*self.g.notes, said) if said else self.g.notes)

    def scene(self) -> Section:
        self.progress("draw")
        return scene(self.mechanism, find_meshes(self.mechanism, _folder(self.mechanism, self.o)), self.o.start)

    def steps(self) -> Section:
        self.progress("Kane's steps")
        return _or_why(KaneSteps, lambda: _steps(self.mechanism))

    def motion(self) -> Section:
        mechanism, derived = self.in_rates()
        self.progress("torque along a trajectory")
        return _motions(mechanism, derived, self.g)

    def maps(self) -> Section:
        mechanism, derived = self.in_rates()
        self.progress("maps over the workspace")
        return _or_why(Maps, lambda: maps(mechanism, derived))

    def poles(self) -> Section:
        if self.g.linear is not None:
            return poles(self.g.linear)
        self.progress("poles")
        return _or_why(Poles, lambda: poles_at_rest(speeds_as_rates(self.mechanism)))

    def base(self) -> Section:
        self.progress("base parameters")
        return _or_why(Base, lambda: base(base_parameters(self.mechanism)))

    def parts(self) -> dict[str, Callable[[], Section | None]]:
        """How each part is made, in the order of the page; None: there is none."""
        g = self.g
        return {
            "robot": lambda: overview(self.mechanism),
            "scene": self.scene,
            "counts": self.counts,
            "verification": lambda: verification(g.checks) if g.checks else None,
            "steps": lambda: self.steps() if self.o.steps else None,
            "explicit": self.explicit,
            "equations": self.task_pages,
            "motion": self.motion,
            "maps": self.maps,
            "poles": self.poles,
            "base": lambda: self.base() if self.o.base else None,
            "code": self.code,
        }


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
    work = _Work(mechanism, options or Options(), given or Given(), progress)
    sections: list[Section] = []
    for name, make in work.parts().items():
        if name in work.o.waiting:
            sections.append(Waiting(name, TITLES[name]))
        elif work.o.only is None or name in work.o.only:
            section = make()
            if section is not None:
                sections.append(section)
    c = find_coordinates(mechanism)
    lead = f"{len(c.names)} coordinates, {len(c.speeds)} speeds, {len(mechanism.links)} links"
    return Page(mechanism.name, lead, tuple(sections), live)


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
    if n > (LARGEST_WHOLE if mechanism.loads or mechanism.constraints else LARGEST_STEPS):
        return recursive_steps(speeds_as_rates(mechanism))
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
    terms = len(absolute_form(model).pieces)
    if terms > LARGEST_LEVELS and not g.levels:
        why = f"{terms} terms take minutes to count and to abbreviate; kane explicit ROBOT --tolerance does it."
        return explicit(model, (), None, why, counted=False)
    levels, ranges, why = _levels(model, o, g, progress)
    if o.count_explicit:
        progress("count the explicit model")
    return explicit(model, levels, ranges, why, o.count_explicit)


def _levels(
    model: ExplicitModel, o: Options, g: Given, progress: Progress
) -> tuple[Sequence[Abbreviated], Ranges | None, str]:
    """Abbreviated levels, the ranges they hold for, and what is made up in them, or why there are none."""
    if g.levels:
        return g.levels, g.levels[0].ranges, ""
    if not o.tolerances:
        return (), None, ""
    try:
        ranges, made_up = assumed_ranges(model)
        levels = []
        for tolerance in o.tolerances:
            progress(f"abbreviate to {tolerance:g}")
            levels.append(abbreviate(model, tolerance, o.rule, ranges))  # type: ignore[arg-type]
    except KaneError as error:
        return (), None, str(error)
    return levels, ranges, made_up
