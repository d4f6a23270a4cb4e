"""Dynamics: the tasks of a robot as compiled functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kane.api.wrenches import WithWrenches
from kane.equations.tasks import TASKS
from kane.errors import ArgumentsError
from kane.mechanism.given import shown
from kane.native import NativeFunction, Running, compile_program, quickest
from kane.native.quickest import Mode

if TYPE_CHECKING:
    from kane.api.equations import Counts, Dtype, Equations
    from kane.graph.program import Program


class TaskFunction:
    """A task as an attribute: compiled at its first mention, then the compiled function itself."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Dynamics | None, owner: type) -> Any:
        if instance is None:
            return self
        made = instance.function(self.name)
        instance.__dict__[self.name] = made
        return made


class Dynamics:
    """Compiled functions of a robot.

    Arrays are (n,) or (..., n), joints in file order, SI units; `out=` takes the result; run-time parameters p follow
    the arguments shown where there are any (or `p=`; without them the description's values hold), then external
    wrenches w (..., k, 6) where frames were named.

    `counts`: operations of each task.  `running`: where forms were measured (Equations.compile, quickest_for), the one
    that runs by task, with its operations beside those counted.
    """

    inverse_dynamics = TaskFunction("tau (..., nv) of a motion: M qdd + bias; (q, qd, qdd).")
    forward_dynamics = TaskFunction("qdd (..., nv) of generalized forces; (q, qd, tau).")
    mass_matrix = TaskFunction("M (..., nv, nv), symmetric; (q).")
    bias_forces = TaskFunction("M qdd + bias = tau: Coriolis, centrifugal and gravity forces (..., nv); (q, qd).")
    gravity_forces = TaskFunction("tau that holds the robot still (..., nv); (q).")
    coriolis_matrix = TaskFunction("C (..., nv, nv) with C qd the velocity terms and Mdot - 2 C skew; (q, qd).")
    coriolis_times = TaskFunction("C(q, qd) v (..., nv); (q, qd, v).")
    kinetic_energy = TaskFunction("T (...,), J; (q, qd).")
    potential_energy = TaskFunction("V (...,), J, of weight; (q).")
    kinematic_equations = TaskFunction("qdot (..., nq) from speeds; (q, qd).")
    generalized_inertia_forces = TaskFunction("F_r* (..., nv), Kane's generalized inertia forces; (q, qd, qdd).")
    generalized_active_forces = TaskFunction("F_r (..., nv) of weight and external wrenches; (q).")
    friction_forces = TaskFunction("b qd + f sign(qd) (..., nv): torque that overcomes joint friction; (qd).")
    passive_forces = TaskFunction("-k (q - rest) - b qd (..., nv): forces of joint springs and dampers; (q, qd).")
    inverse_dynamics_derivatives = TaskFunction("(dtau/dq, dtau/dqd, M), each (..., nv, nv); (q, qd, qdd).")
    forward_dynamics_derivatives = TaskFunction("(dqdd/dq, dqdd/dqd, M^-1), each (..., nv, nv); (q, qd, tau).")
    inverse_dynamics_jvp = TaskFunction("dtau (..., nv) along a direction; (q, qd, qdd, dq, dqd, dqdd), dq a speed.")
    forward_dynamics_jvp = TaskFunction("dqdd (..., nv) along a direction; (q, qd, tau, dq, dqd, dtau), dq a speed.")
    inverse_dynamics_parameter_derivatives = TaskFunction("dtau/dp (..., nv, np); (q, qd, qdd, p).")
    forward_dynamics_parameter_derivatives = TaskFunction("dqdd/dp (..., nv, np); (q, qd, tau, p).")
    inverse_dynamics_second_derivatives = TaskFunction(
        "(d2tau/dqdq, d2tau/dqddq, d2tau/dqddqd, dM/dq), (..., nv, nv, nv): [i, r, s] by r, then s; (q, qd, qdd)."
    )
    regressor = TaskFunction("Y (..., nv, 10 bodies) with tau = Y pi; (q, qd, qdd).")
    slotine_li_regressor = TaskFunction("Y with M qdd_r + C qd_r + g = Y pi; (q, qd, qd_r, qdd_r).")

    def __init__(
        self, equations: Equations, dtype: Dtype = "float64", cache: bool = True, quickest_for: Mode | None = None
    ) -> None:
        self.equations = equations
        self.dtype: Dtype = dtype
        self.quickest_for: Mode | None = quickest_for
        self.running: dict[str, Running] = {}
        self._cache = cache
        self._frames: dict[tuple[str, str | None], Callable[..., Any]] = {}

    def __repr__(self) -> str:
        return f"<Dynamics of {self.equations.mechanism.name}, {self.dtype}>"

    def __getattr__(self, name: str) -> Any:
        """Only for names that are not there: AttributeError that lists the tasks."""
        raise AttributeError(f"Dynamics has no task {name!r}; there are: {', '.join(TASKS)}.")

    @property
    def counts(self) -> Counts:
        """OperationCounts by task name ("jacobian:tool" for a task of a frame)."""
        return self.equations.counts

    def function(self, task: str, frame: str | None = None) -> NativeFunction | WithWrenches:
        """A task as a compiled function; each call compiles (or loads from the disk cache).

        Where external frames were named, the function takes their wrenches w (..., k, 6) after its other arguments.
        """
        program = self._program(task, frame)
        values = self.equations.parameter_values if program.parameter_names else ()
        known = bool(values) and all(v is not None for v in values)
        defaults = np.array(values, dtype=np.float64) if known else None
        made = compile_program(program, self.dtype, self._cache, defaults)
        pushed = any(item.name == "w" for item in program.inputs)
        return WithWrenches(made, self.equations.external) if pushed else made

    def _program(self, task: str, frame: str | None) -> Program:
        """The program that is counted, or the form that runs quickest here."""
        if self.quickest_for is None:
            return self.equations.program(task, frame)
        forms = self.equations.forms(task, frame)
        found = quickest(forms, self.quickest_for, self.dtype, self._cache)
        self.running[f"{task}:{frame}" if frame else task] = found
        return found.program

    def forward_kinematics(self, q: Any = None, frame: str | None = None, *p: Any, **named: Any) -> Any:
        """Pose (..., 4, 4) of a frame or link in N: N coordinates of a point from its frame coordinates."""
        return self._of_frame("forward_kinematics", frame)(q, *p, **named)

    def jacobian(self, q: Any = None, frame: str | None = None, *p: Any, **named: Any) -> Any:
        """J (..., 6, nv) of a frame: angular rows first, axes of N, at the frame's origin."""
        return self._of_frame("jacobian", frame)(q, *p, **named)

    def jacobian_rate(self, q: Any = None, qd: Any = None, frame: str | None = None, *p: Any, **named: Any) -> Any:
        """dJ/dt (..., 6, nv)."""
        return self._of_frame("jacobian_rate", frame)(q, qd, *p, **named)

    def partial_velocities(self, q: Any = None, frame: str | None = None, *p: Any, **named: Any) -> Any:
        """v_r (..., nv, 3): partial velocities of a frame's origin, axes of N."""
        return self._of_frame("partial_velocities", frame)(q, *p, **named)

    def partial_angular_velocities(self, q: Any = None, frame: str | None = None, *p: Any, **named: Any) -> Any:
        """w_r (..., nv, 3): partial angular velocities of a frame, axes of N."""
        return self._of_frame("partial_angular_velocities", frame)(q, *p, **named)

    def _of_frame(self, task: str, frame: str | None) -> Callable[..., Any]:
        if frame is not None and not isinstance(frame, str):
            states = "q, qd" if task == "jacobian_rate" else "q"
            raise ArgumentsError(
                f"{task} wants the name of a frame or link behind {states}, not {shown(frame)}.", name="frame",
                value=shown(frame), remedy=f"For example {task}({states}, {self.equations.frames[-1]!r}).",
            )  # fmt: skip
        key = (task, frame)
        if key not in self._frames:
            self._frames[key] = self.function(task, frame)
        return self._frames[key]
