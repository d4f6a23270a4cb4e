"""Explicit: the model A(q) qdd + B(q) [qd qd] + C(q) [qd^2] + g(q) of a robot in lumped constants, for its users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kane.api.equations import ExpressionArray
from kane.explicit import abbreviate as ab
from kane.explicit.forms import Style
from kane.explicit.lumping import Constant
from kane.explicit.model import Dependence, ExplicitModel, explicit_model
from kane.explicit.program import graph_of, program
from kane.explicit.ranges import Ranges, default_ranges
from kane.explicit.significance import Significance, significance
from kane.explicit.text import abbreviated_dict, as_dict, page
from kane.graph.program import OperationCounts, Program
from kane.mechanism.given import PARAMETERS, Described, checked_names, chosen_parameters, mechanism_of

if TYPE_CHECKING:
    from kane.native import NativeFunction

TASKS = ("inverse_dynamics", "mass_matrix", "gravity_forces")


@dataclass(frozen=True, slots=True)
class Explicit:
    """The explicit model of a robot; `model` holds its terms, `print(ex)` the readable page.

    A (n, n), B (n, n(n-1)/2) with columns `B_columns`, C (n, n), g (n): expressions in the constants and sin, cos.
    """

    model: ExplicitModel

    @property
    def A(self) -> ExpressionArray:
        """Kinetic energy matrix."""
        return self._array("A", (self.model.n, self.model.n))

    @property
    def B(self) -> ExpressionArray:
        """Coefficients of the products qd_j qd_k, j < k."""
        return self._array("B", (self.model.n, len(self.model.b_columns)))

    @property
    def C(self) -> ExpressionArray:
        """Coefficients of the squares qd_j^2."""
        return self._array("C", (self.model.n, self.model.n))

    @property
    def g(self) -> ExpressionArray:
        """Gravity torques."""
        return self._array("g", (self.model.n,))

    @property
    def B_columns(self) -> tuple[tuple[int, int], ...]:
        """The pair (j, k) of coordinate indices of each column of B."""
        return tuple(self.model.b_columns)

    @property
    def constants(self) -> tuple[Constant, ...]:
        """Lumped constants: name, kind, formula, value."""
        return tuple(self.model.constants)

    @property
    def dependences(self) -> tuple[Dependence, ...]:
        """Combinations of the constants that vanish identically."""
        return tuple(self.model.dependences)

    def significance(self, ranges: Ranges | None = None) -> tuple[Significance, ...]:
        """For each term of each element its greatest share over the ranges."""
        return significance(self.model, ranges)

    def ranges(self, **limits: Any) -> Ranges:
        """Ranges of position, speed and acceleration and reference torques: as given, else the robot's own limits."""
        return default_ranges(self.model, **limits)

    def abbreviate(
        self,
        tolerance: float = 0.01,
        rule: Literal["certified", "paper"] = "certified",
        ranges: Ranges | None = None,
        **options: Any,
    ) -> Abbreviated:
        """A shorter model.

        "certified": the cheapest found whose torque error is proved below tolerance * reference for every joint over
        the ranges; "paper": the significance rule of Armstrong, Khatib and Burdick.  options: effort, keep_structure,
        tolerances, dtype.  Raises InputError when the tolerance is no share or a limit is missing.
        """
        return Abbreviated(ab.abbreviate(self.model, tolerance, rule, ranges, ab.Options(**options)))

    def program(self, task: str = "inverse_dynamics") -> Program:
        """inverse_dynamics, mass_matrix or gravity_forces as straight-line code in the constants."""
        return program(self.model, task)

    @property
    def counts(self) -> dict[str, OperationCounts]:
        """Operations of each task in explicit form."""
        return {task: self.program(task).counts for task in TASKS}

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return as_dict(self.model, self.counts)

    def __str__(self) -> str:
        return page(self.model)

    def __repr__(self) -> str:
        return f"<Explicit model of {self.model.name}: {len(self.constants)} constants>"

    def _array(self, name: str, shape: tuple[int, ...]) -> ExpressionArray:
        graph, refs = graph_of(self.model)
        return ExpressionArray(graph, shape, tuple(refs[name]))


@dataclass(frozen=True, slots=True)
class Abbreviated:
    """An abbreviated model with its certificate: per joint a proved bound of the torque error over stated ranges."""

    result: ab.Abbreviated

    def __repr__(self) -> str:
        worst = max((c.share for c in self.certificate), default=0.0)
        sizes = f"{len(self.dropped)} terms dropped, torque errors of at most {worst:.2%} of their references"
        return f"<Abbreviated model of {self.result.model.mechanism.name}: {sizes}; see certificate, dropped>"

    @property
    def model(self) -> Explicit:
        """The terms that are kept."""
        return Explicit(self.result.model)

    @property
    def certificate(self) -> tuple[ab.Certificate, ...]:
        """Per joint, the proved bound of the torque error and the ranges it holds over."""
        return self.result.certificates

    @property
    def dropped(self) -> tuple[Significance, ...]:
        """The terms that were dropped, with their greatest size and share."""
        return self.result.dropped

    @property
    def program(self) -> Program:
        """Abbreviated inverse dynamics (q, qd, qdd)."""
        return self.result.program

    @property
    def counts(self) -> OperationCounts:
        """Operations of the abbreviated inverse dynamics."""
        return self.result.counts

    def compile(self) -> NativeFunction:
        """Abbreviated inverse dynamics as a compiled function (q, qd, qdd)."""
        from kane.native import compile_program

        return compile_program(self.program)

    def as_dict(self) -> dict[str, Any]:
        """The JSON form, with certificate and dropped terms."""
        return abbreviated_dict(self.result)

    def __str__(self) -> str:
        lines = [str(self.model), f"{self.counts.total} operations ({self.counts.mul} mul, {self.counts.add} add)"]
        for c in self.certificate:
            share_ = f"{100 * c.share:.2f} % of {c.reference:g}"
            lines.append(f"|error of {c.joint}| <= {c.bound:.4g} ({share_}); {c.ranges}")
        return "\n".join(lines)


def explicit(
    robot: Described,
    parameters: Literal["numeric", "symbolic"] | Sequence[str] = "numeric",
    style: Style = "shortest",
) -> Explicit:
    """The explicit model of a robot of turns and slides.

    parameters: "numeric", "symbolic" or names that stay symbols.  style: form of the trigonometric terms.  Raises
    UnsupportedError, naming the joint and the command that serves it, for floating and spherical joints, loops, and
    followers whose ratio breaks the period; and when the model would be too large to read.
    """
    mechanism = mechanism_of(robot)
    if isinstance(parameters, str):
        parameters = chosen_parameters(mechanism, parameters)
    else:  # of the model, which has names of its own
        parameters = checked_names(parameters, PARAMETERS)
    return Explicit(explicit_model(mechanism, parameters, style))


def share(text: str) -> float:
    """A tolerance from text: "1%" or "0.01"."""
    from kane.errors import NumberError

    try:
        return float(text.rstrip("% ")) / 100 if text.strip().endswith("%") else float(text)
    except ValueError:
        raise NumberError(f"{text!r} is no tolerance.", value=text, remedy="Write 1% or 0.01.") from None

