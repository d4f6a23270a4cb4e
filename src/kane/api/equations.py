"""Equations: the expressions of every task of a robot, their programs and counts, and the way to compiled functions.

Each task is derived once per Equations object, at its first mention; Dynamics keeps what it has compiled.  These are
the facade's caches, and there are no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from kane.equations.derive import Derived, check_frame, derive_task, find_task
from kane.equations.system import Parameters, derive_system
from kane.equations.tasks import TASKS
from kane.errors import InputError, UnknownNameError
from kane.graph.arena import Graph, Ref
from kane.graph.program import OperationCounts, Program
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism.given import Described, checked_items, checked_names, chosen_parameters, mechanism_of
from kane.mechanism.model import Mechanism
from kane.search import Effort, Searched, Traced, check_effort, optimise

if TYPE_CHECKING:
    import numpy as np

    from kane.api.dynamics import Dynamics
    from kane.native.quickest import Mode

DEFAULT_TASKS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces")
Dtype = Literal["float64", "float32"]


@dataclass(frozen=True, slots=True)
class Expression:
    """An exact expression of the state and the parameters, in the user's names."""

    graph: Graph
    ref: Ref

    def __str__(self) -> str:
        """Readable text; beyond about 60 nodes with numbered intermediates."""
        from kane.emit.text import expression_text

        return expression_text(self.graph, self.ref)

    __repr__ = __str__

    def latex(self) -> str:
        """The expression in LaTeX."""
        from kane.emit.latex import expression_latex

        return expression_latex(self.graph, self.ref)

    def mathml(self) -> str:
        """The expression in MathML Core."""
        from kane.emit.mathml import expression_mathml

        return expression_mathml(self.graph, self.ref)

    def to_sympy(self) -> Any:
        """The expression in SymPy (extra: sympy)."""
        from kane.emit.sympy_ import to_sympy

        return to_sympy(self.graph, self.ref)

    def __eq__(self, other: object) -> bool:
        """Equality as functions, decided by residues, for expressions and for rational numbers."""
        if isinstance(other, Expression):
            if other.graph is self.graph:
                return self.ref == other.ref
            return self.graph.field == other.graph.field and self._residue() == other._residue()
        try:
            return self._residue() == self.graph.residue_of(self.graph.number(other))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._residue())

    def _residue(self) -> int:
        return self.graph.residue_of(self.ref)


@dataclass(frozen=True, slots=True)
class ExpressionArray:
    """An array of expressions; index like a NumPy array: M[0, 1], tau[2]; iterate over its elements."""

    graph: Graph
    shape: tuple[int, ...]
    refs: tuple[Ref, ...]

    def __getitem__(self, index: int | tuple[int, ...]) -> Expression:
        """The element at integer indices; IndexError names the shape."""
        at = index if isinstance(index, tuple) else (index,)
        if len(at) != len(self.shape):
            raise IndexError(f"{len(at)} indices for an array of shape {self.shape}")
        flat = 0
        for i, n in zip(at, self.shape, strict=True):
            if not -n <= i < n:
                raise IndexError(f"index {at} is outside the shape {self.shape}")
            flat = flat * n + i % n
        return Expression(self.graph, self.refs[flat])

    def __iter__(self) -> Iterator[Expression]:
        return (Expression(self.graph, ref) for ref in self.refs)

    def __len__(self) -> int:
        return prod(self.shape)

    def __str__(self) -> str:
        return "\n".join(f"[{self._index(k)}] {e}" for k, e in enumerate(self))

    __repr__ = __str__

    def _index(self, flat: int) -> str:
        at = []
        for n in reversed(self.shape):
            flat, i = divmod(flat, n)
            at.append(str(i))
        return ", ".join(reversed(at))


class Counts(Mapping[str, OperationCounts]):
    """Operation counts by task name, derived when asked for."""

    def __init__(self, equations: Equations) -> None:
        self._equations = equations

    def __getitem__(self, task: str) -> OperationCounts:
        name, _, frame = str(task).partition(":")
        return self._equations.program(name, frame or None).counts

    def __iter__(self) -> Iterator[str]:
        """Tasks of no frame; those by parameters where there are any."""
        free = self._equations.parameters != "numeric"
        return (name for name, task in TASKS.items() if not task.per_frame and (free or not task.by_parameters))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Equations:
    """The equations of motion of a robot.

    A task by its name gives its expressions (`eq.mass_matrix[0, 1]`); `program(task)` its straight-line form,
    `counts[task]` its operations, `compile()` functions.  Tasks of a frame: `eq.expressions("jacobian",
    frame="tool")`.
    """

    def __init__(
        self,
        mechanism: Described,
        parameters: Parameters = "numeric",
        external: Sequence[str] = (),
        effort: Effort = "low",
    ) -> None:
        """As kane.derive; no task is derived yet."""
        check_effort(effort)
        self.mechanism: Mechanism = mechanism_of(mechanism)
        self.parameters: Parameters = chosen_parameters(self.mechanism, parameters)
        self.external = checked_names((external,) if isinstance(external, str) else external, "external frames")
        for frame in self.external:
            if frame not in self.frames:
                known = ", ".join(self.frames)
                raise UnknownNameError(f"There is no link or frame {frame!r}; there are: {known}.", name=frame)
        if not isinstance(self.parameters, str):
            derive_system(self.mechanism, self.parameters)  # refuses names that are none now, not at the first task
        self.effort: Effort = effort
        self.counts = Counts(self)
        self._derived: dict[tuple[str, str | None], Derived] = {}
        self._searched: dict[tuple[str, str | None], Searched] = {}

    def __repr__(self) -> str:
        text = f"Equations of {self.mechanism.name}: parameters {self.parameters!r}, effort {self.effort!r}"
        left = ", ".join(self.left_out)
        return f"<{text}; without {left} (kane.kane_equations has them)>" if left else f"<{text}>"

    @property
    def left_out(self) -> tuple[str, ...]:
        """Loads and constraints of the mechanism, by name: the tasks of its tree do not have them."""
        m = self.mechanism
        return tuple(str(getattr(item, "name", type(item).__name__)) for item in (*m.loads, *m.constraints))

    def derived(self, task: str, frame: str | None = None) -> Derived:
        """The task as derived, with the graph it came from and before any search; derived once.

        Raises UnknownNameError for an unknown task, and for a task of a frame without one.
        """
        key = self._key(task, frame)
        if key not in self._derived:
            self._derived[key] = derive_task(self.mechanism, task, frame, self.parameters, self.external)
        return self._derived[key]

    def searched(self, task: str, frame: str | None = None) -> Searched:
        """The cheapest program found at this effort, with the trail of what each pass saved; searched once."""
        key = self._key(task, frame)
        if key not in self._searched:
            self._searched[key] = optimise(
                self.mechanism, task, frame, self.parameters, self.external, self.effort
            )
        return self._searched[key]

    def _key(self, task: str, frame: str | None) -> tuple[str, str | None]:
        check_frame(self.mechanism, task, frame)
        return task, frame

    def program(self, task: str, frame: str | None = None) -> Program:
        """The straight-line program of a task: what is counted, compiled and printed."""
        return self.searched(task, frame).program

    def forms(self, task: str, frame: str | None = None) -> dict[str, Program]:
        """Programs of a task with different operations and the same results, by name; "searched" is the one counted."""
        found = self.searched(task, frame)
        made = {"searched": found.program, "as derived": found.unsearched}
        if self.effort != "low":
            brief = optimise(self.mechanism, task, frame, self.parameters, self.external, "low")
            made["searched briefly"] = brief.program
        return made

    def trace(self, task: str, frame: str | None = None) -> tuple[Traced, ...]:
        """The origin of every operation of the program of a task: terms, bodies, parameters, joints, outputs.

        Parameters are those whose change would change the operation's value: names of run-time parameters, and of the
        numbers of the description ("link.m", "link.Ixx", "joint.x", "gravity.z").  A parameter of value 0 or 1 leaves
        no operation behind.
        """
        from kane.api.trace import trace_searched

        found = self.searched(task, frame)
        return trace_searched(self.mechanism, found, self.parameters, self.external, frame)[0]

    def sparsity(self, task: str, frame: str | None = None) -> dict[str, np.ndarray[Any, np.dtype[np.bool_]]]:
        """For each output of a task, by name, an array of its shape: False where an element is zero identically."""
        import numpy as np

        program = self.program(task, frame)
        return {o.name: np.array(program.nonzero(o.name), dtype=bool).reshape(o.shape) for o in program.outputs}

    def expressions(self, task: str, frame: str | None = None) -> dict[str, ExpressionArray]:
        """All outputs of a task as expressions, by name."""
        made = self.derived(task, frame)
        return {name: ExpressionArray(made.graph, shape, refs) for name, shape, refs in made.outputs}

    def __getattr__(self, name: str) -> ExpressionArray:
        if name.startswith("_") or name not in TASKS:
            raise AttributeError(f"Equations has no attribute {name!r}; tasks are: {', '.join(TASKS)}")
        outputs = self.expressions(name)
        if len(outputs) > 1:
            raise AttributeError(f"{name} has several outputs ({', '.join(outputs)}); use expressions({name!r})")
        return next(iter(outputs.values()))

    @property
    def frames(self) -> tuple[str, ...]:
        """Links and frames that poses and Jacobians can be asked of."""
        return (*(link.name for link in self.mechanism.links), *(frame.name for frame in self.mechanism.frames))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the run-time parameters, in the order of the vector p."""
        return tuple(self.derived("inverse_dynamics").parameters)

    @property
    def parameter_values(self) -> tuple[float | None, ...]:
        """Their values in the description; None where it has none."""
        return tuple(self.derived("inverse_dynamics").parameters.values())

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the elements of q."""
        return find_coordinates(self.mechanism).names

    @property
    def speed_names(self) -> tuple[str, ...]:
        """Names of the elements of qd, qdd and tau."""
        return find_coordinates(self.mechanism).speeds

    def compile(
        self, tasks: Sequence[str] | None = None, dtype: Dtype = "float64", cache: bool = True,
        quickest_for: Mode | None = None,
    ) -> Dynamics:  # fmt: skip
        """Compiled functions of the tasks; those named here are compiled now, others at their first mention.

        A function takes arrays (n,) or (..., n) in the order of its inputs, then p (parameters) and w (external
        wrenches) where there are any.  quickest_for: "single" or "batch" measures forms of each task in such calls
        and runs the quickest, which may have more operations than the one counted (`running` tells both); results then
        differ in their last bits from machine to machine.  Raises InputError for another dtype or mode.
        """
        from kane.api.dynamics import Dynamics

        if dtype not in ("float64", "float32"):
            raise InputError(f"dtype is {dtype!r}.", name="dtype", value=dtype, remedy="Use float64 or float32.")
        if quickest_for not in (None, "single", "batch"):
            raise InputError(
                f"quickest_for is {quickest_for!r}.", name="quickest_for", value=quickest_for,
                remedy="Use single, batch or None.",
            )  # fmt: skip
        dynamics = Dynamics(self, dtype, cache, quickest_for)
        for task in _names(tasks):
            if not find_task(task).per_frame:
                getattr(dynamics, task)
        return dynamics


def _names(tasks: Sequence[str] | None) -> tuple[str, ...]:
    return (tasks,) if isinstance(tasks, str) else checked_items(tasks or (), "tasks")


def derive(
    robot: Described,
    parameters: Parameters = "numeric",
    tasks: Sequence[str] | None = None,
    external: Sequence[str] = (),
    effort: Effort = "low",
) -> Equations:
    """The equations of motion of a robot; the tasks named are derived now, others when they are first used.

    parameters: "numeric", "symbolic" (the named parameters of the description; of bodies without any those inertial
    parameters that are not zero; "normal" and "high" effort may divide by them) or the names that become run-time
    inputs, in this order: parameters, links (all ten inertial parameters) or single ones such as "link2.m".  external:
    names of k links or frames that external wrenches w (..., k, 6) act on: moment, then force, axes of N, at the
    frame's origin.  effort: how long to search for fewer operations: "low" (milliseconds), "normal" (seconds) or
    "high".  Raises UnknownNameError for a parameter, frame or task that is not there, InputError for one that comes
    twice and for another effort.
    """
    equations = Equations(robot, parameters, external, effort)
    for task in _names(tasks):
        equations.program(task)
    return equations
