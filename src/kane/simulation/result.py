"""SimulationResult: a run, shaped like the result of scipy's solve_ivp, with names, energies and residuals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kane.errors import InputError, UnknownNameError
from kane.mechanism.given import checked_name, shown
from kane.mechanism.wording import listed
from kane.simulation.constrained_code import call, constrained_code
from kane.simulation.dense import DenseOutput
from kane.simulation.events import Happened
from kane.simulation.model import Model

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class SimulationResult:
    """A run.

    t (k,), y (n, k): times and states [q, u]; sol: dense output or None; events: what happened, in order; nfev:
    evaluations of the right-hand side; status: 0 reached the end, 1 ended by an event, -1 stopped; message says why;
    success: status >= 0. work (2 or 3, k): of actuators, of other loads, of what keeps prescribed motions going;
    inputs (m, k).  energy_tolerance: of energy_error.
    """

    model: Model
    t: Array
    y: Array
    sol: DenseOutput | None
    events: tuple[Happened, ...]
    nfev: int
    status: int
    message: str
    work: Array
    inputs: Array
    energy_tolerance: float
    idle: bool = False
    method: str = ""
    rejected: int = 0
    error: BaseException | None = None
    law: Callable[[float, Array, Array], Array] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        span = f"{self.t[0]:g} to {self.t[-1]:g} s in {len(self.t)} points" if len(self.t) else "no points"
        rows = f"rows {listed(self.names)}"
        return f"<Simulation of {self.model.mechanism.name}: {span}, {rows}; {self.message}; see summary()>"

    @property
    def success(self) -> bool:
        return self.status >= 0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rows of y."""
        return self.model.layout.names[: len(self.y)]

    @property
    def q(self) -> Array:
        """Coordinates (nq, k)."""
        return self.y[: self.model.layout.nq]

    @property
    def u(self) -> Array:
        """Speeds (nu, k)."""
        return self.y[self.model.layout.nq :]

    def __getitem__(self, name: str) -> Array:
        """A row by name: a coordinate, speed, work, input, "t", "kinetic", "potential", "energy", "energy_residual".

        The input of a name that is a state too, as tau of a robot's joint q1, is "input q1".
        """
        layout = self.model.layout
        known = ("t", "kinetic", "potential", "energy", "energy_residual", "power_residual")
        if not isinstance(name, str):
            remedy = 'Rows have names: run["q1"].'
            raise UnknownNameError(f"{shown(name)} is no name.", value=shown(name), remedy=remedy)
        if name in known:
            return np.asarray(getattr(self, name))
        if name in layout.works:
            return np.asarray(self.work[layout.works.index(name)])
        if name in layout.inputs and name not in layout.names and name not in layout.speeds:
            return np.asarray(self.inputs[layout.inputs.index(name)])
        if name[:6] == "input " and name[6:] in layout.inputs and name not in layout.names:
            return np.asarray(self.inputs[layout.inputs.index(name[6:])])
        try:
            return np.asarray(self.y[layout.index(name)])
        except UnknownNameError:
            states = (*layout.names, *layout.speeds)
            inputs = [f"input {n}" if n in states else n for n in layout.inputs]
            names = ", ".join([*layout.names, *inputs, *sorted(known)])
            raise UnknownNameError(f"The run has no {name!r}; there are: {names}.", name=name) from None

    @property
    def t_events(self) -> dict[str, Array]:
        """Times of the events by name."""
        names = dict.fromkeys(e.name for e in self.events)
        return {n: np.array([e.t for e in self.events if e.name == n]) for n in names}

    @property
    def y_events(self) -> dict[str, Array]:
        """States (events, n) before the events by name."""
        names = dict.fromkeys(e.name for e in self.events)
        return {n: np.array([e.y for e in self.events if e.name == n]) for n in names}

    # energy

    def states(self) -> tuple[Array, Array, Array]:
        """What compiled functions of the model take: y (k, n) with the works, t (k, 1), inputs (k, m)."""
        k = len(self.t)
        whole = np.concatenate([self.y, self.work]).T.copy()
        return whole, np.asarray(self.t).reshape(k, 1), np.ascontiguousarray(self.inputs.T)

    def _energies(self) -> tuple[Array, Array]:
        if self.model.energy is None:
            nothing = np.full(len(self.t), np.nan)
            return nothing, nothing
        kinetic, potential = self.model.energy(*self.states())
        return kinetic, potential

    @property
    def kinetic(self) -> Array:
        """Kinetic energy (k,), J."""
        return self._energies()[0]

    @property
    def potential(self) -> Array:
        """Potential energy (k,) of gravity and joint springs, J."""
        return self._energies()[1]

    @property
    def energy(self) -> Array:
        """Kinetic and potential energy (k,), J."""
        kinetic, potential = self._energies()
        with np.errstate(all="ignore"):  # of a run that stopped for its size
            return np.asarray(kinetic + potential)

    @property
    def energy_residual(self) -> Array:
        """T + V less the work done since the start, less its first value (k,), J: zero on an exact run."""
        with np.errstate(all="ignore"):
            balance = self.energy - self.work.sum(axis=0)
            return np.asarray(balance - balance[:1])

    @property
    def energy_error(self) -> float:
        """The largest energy residual relative to the energies of the run; NaN without an energy or a point."""
        if not len(self.t):
            return float("nan")
        kinetic, potential = self._energies()
        with np.errstate(all="ignore"):
            moved = np.abs(kinetic) + np.abs(potential - potential[0]) + np.abs(self.work).sum(axis=0)
            size = max(float(np.max(moved)), abs(float(kinetic[0] + potential[0])))
        return float(np.max(np.abs(self.energy_residual))) / size if size > 0 else 0.0

    @property
    def energy_ok(self) -> bool:
        """Whether the energy error is within its tolerance (or there is no energy to compare)."""
        return self.model.energy is None or not len(self.t) or self.energy_error <= self.energy_tolerance

    @property
    def power_residual(self) -> Array:
        """d(T + V)/dt along the equations of motion less the power of inputs and loads (k,), W: zero."""
        if self.model.balance is None:
            return np.full(len(self.t), np.nan)
        layout = self.model.layout
        rates = self.rates()
        return np.asarray(self.model.balance(*self.states(), rates[layout.nq : layout.nq + layout.nu].T.copy()))

    def rates(self) -> Array:
        """ydot (n, k) at the points of the run: qdot, udot, powers."""
        states, t, f = self.states()
        if self.model.rate is not None:
            return np.asarray(self.model.rate(states, t, f)).T
        code, made = constrained_code(self.model.constraints), []
        for state, time, inputs in zip(states, t, f, strict=True):
            code.inputs[: len(inputs)] = inputs
            made.append(call(code, float(time[0]), state, len(state)))
        return np.array(made).reshape(states.shape).T

    # constraints and momenta

    @property
    def constraint_residual(self) -> Array:
        """Largest residual (k,) of the configuration constraints; zeros without any."""
        if self.model.constraints is None:
            return np.zeros(len(self.t))
        return self._residuals(0)

    @property
    def speed_residual(self) -> Array:
        """Largest residual (k,) of the constraints' velocity form; zeros without any."""
        if self.model.constraints is None:
            return np.zeros(len(self.t))
        return self._residuals(1)

    def _residuals(self, kind: int) -> Array:
        states, t, f = self.states()
        return np.asarray(np.abs(self.model.constraints.residuals(t, states, f)[kind]).max(axis=-1, initial=0.0))

    @property
    def momentum_residual(self) -> dict[str, Array]:
        """Change (k,) of each momentum that no force acts on, by coordinate; empty when inputs act."""
        if self.model.momenta is None or not self.idle:
            return {}
        p = np.asarray(self.model.momenta(*self.states())).T
        return {name: row - row[:1] for name, row in zip(self.model.momentum_names, p, strict=True)}

    @property
    def redundant(self) -> tuple[str, ...]:
        """Names of conditions that depend on the others at the start.

        They are fulfilled, but carry no load of their own.
        """
        if self.model.constraints is None or not len(self.t):
            return ()
        states, t, _ = self.states()
        try:
            names: tuple[str, ...] = self.model.constraints.redundant(float(t[0, 0]), states[0])
        except InputError:  # no mass there: the run has stopped for it
            return ()
        return names

    def reactions(self) -> dict[str, Array]:
        """Multipliers (k,) of the constraints by name: the force or moment along each condition.

        NaN where redundant conditions leave one undetermined.  Raises InputError without constraints.
        """
        constraints = self.model.constraints
        if constraints is None:
            remedy = "Forces at the joints of a tree: joint_reaction(link)."
            raise InputError("The model has no constraints, so no multipliers.", name="reactions", remedy=remedy)
        states, t, f = self.states()
        made = [constraints.multipliers(float(a[0]), y, x) for y, a, x in zip(states, t, f, strict=True)]
        return dict(zip(constraints.names, np.array(made).reshape(-1, len(constraints.names)).T, strict=True))

    def joint_reaction(self, link: str) -> Array:
        """Force and moment (k, 6) at the joint that carries a link, on it, about its origin, axes of N; N and N m."""
        from kane.simulation.reactions import joint_reaction

        checked_name(link, "A link")
        return joint_reaction(self, link)

    # text and files

    def need_points(self, what: str) -> None:
        """InputError where a run has no point to show: its times of output come after its end."""
        if not len(self.t):
            remedy = "Ask for times (t_eval) that it reaches, or for none."
            raise InputError(f"The run has no point for {what}: {self.message}.", name=what, remedy=remedy)

    def summary(self) -> str:
        """The run in some lines: end, steps, energy, residuals."""
        span = f"{self.t[0]:g} to {self.t[-1]:g} s" if len(self.t) else "nothing"
        lines = [
            f"{self.model.mechanism.name}: {span}, {len(self.t)} points, {self.nfev} evaluations, "
            f"{self.rejected} rejected steps",
            f"  {self.message}",
        ]
        if self.model.energy is not None and len(self.t):
            verdict = "" if self.energy_ok else f"  EXCEEDS {self.energy_tolerance:g}"
            lines.append(f"  energy error {self.energy_error:.2e} relative{verdict}")
            works = zip(self.model.layout.works, self.work[:, -1], strict=True)
            lines.append("  " + ", ".join(f"{name.replace('_', ' ')} {value:.6g} J" for name, value in works))
        if self.model.constraints is not None and len(self.t):
            worst = self.constraint_residual.max(initial=0.0), self.speed_residual.max(initial=0.0)
            lines.append(f"  constraints hold to {worst[0]:.2e} (configuration), {worst[1]:.2e} (speeds)")
            if self.redundant:
                lines.append(f"  redundant, and left out: {', '.join(self.redundant)}")
        lines += [f"  t = {e.t:.9g}: {e.name}" for e in self.events[:20]]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The run as plain data for JSON: how it went, the last state by name, work, energy, residuals, events."""
        from kane.simulation.files import facts

        last = {n: float(row[-1]) for n, row in zip(self.names, self.y, strict=True)} if len(self.t) else {}
        work = {n: float(row[-1]) for n, row in zip(self.model.layout.works, self.work, strict=True)} if last else {}
        error = self.energy_error if last else float("nan")
        return {
            **facts(self), "t": [float(self.t[0]), float(self.t[-1])] if last else [], "points": len(self.t),
            "rejected": self.rejected, "state": last, "work": work, "energy_error": None if np.isnan(error) else error,
            "energy_ok": self.energy_ok if last else True, "redundant": list(self.redundant),
            "constraint_residual": float(self.constraint_residual.max(initial=0.0)) if last else 0.0,
            "speed_residual": float(self.speed_residual.max(initial=0.0)) if last else 0.0,
            "notes": list(self.model.notes),
        }  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write .npz (all arrays) or .parquet (one column a name; extra: logs).

        A file there is replaced only when the new one is whole.
        """
        from kane.simulation.files import save

        return save(self, path)

    def plot(self, path: str | Path | None = None, names: Any = None, phase: bool = False) -> Any:
        """Time histories (or phase plots) as a matplotlib figure (extra: plot).

        path: .svg or .png to write it to.
        """
        from kane.simulation.plots import plot

        return plot(self, path, names, phase)

    def animate(self, path: str | Path | None = None, fps: int = 30) -> str:
        """The moving mechanism as one HTML page that needs nothing else; written to path when given."""
        from kane.simulation.animation import animate

        return animate(self, path, fps)
