"""Tasks from the explicit model: values to borrow, and for small robots whole tasks.

With few joints, torques as polynomials in sines and cosines take fewer operations than any recursion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from kane.equations.derive import find_task
from kane.equations.forward import elimination_order, factorise, solve
from kane.equations.system import Parameters, System, derive_system
from kane.equations.tasks import task_program
from kane.equations.tasks.derivatives import blocks, implicit
from kane.equations.tasks.task import Outputs
from kane.errors import KaneError
from kane.explicit.algebra import Atoms
from kane.explicit.arm import read_arm
from kane.explicit.model import ExplicitModel, explicit_model
from kane.explicit.moves import About, Fixed, Turned
from kane.explicit.program import TASKS as EXPLICIT
from kane.explicit.program import program
from kane.graph.arena import Graph, Ref
from kane.graph.derivative import jacobian
from kane.graph.evaluate import rebuild
from kane.graph.program import Program
from kane.graph.transplant import transplant
from kane.mechanism.model import Mechanism

ZERO = Fraction(0)
BRIEF, PLAIN = 4, 7  # joints
FEW_TERMS = {  # of the mass matrix, up to which the explicit form may take fewer operations than a recursion
    "inverse_dynamics": 60, "bias_forces": 60, "generalized_inertia_forces": 60, "forward_dynamics": 60,
    "mass_matrix": 60, "gravity_forces": 60, "inverse_dynamics_derivatives": 150, "forward_dynamics_derivatives": 150,
}  # fmt: skip


def explicit_programs(mechanism: Mechanism, parameters: Parameters) -> list[Program]:
    """Mass matrix and gravity of the explicit model, bias forces of small robots, with the symbols of the recursion."""
    model = _model(mechanism, parameters)
    if model is None:
        return []
    bias = _task(mechanism, "bias_forces", parameters, model)
    return [program(model, "mass_matrix"), program(model, "gravity_forces"), *([bias] if bias else [])]


def explicit_task(mechanism: Mechanism, task: str, parameters: Parameters) -> Program | None:
    """The task of a robot with few terms from torques in explicit form; None for others, and for tasks without it.

    None too for declared speeds: the explicit model is written in the rates of the coordinates.
    """
    model = _model(mechanism, parameters) if task in FEW_TERMS else None
    return None if model is None else _task(mechanism, task, parameters, model)


def _task(mechanism: Mechanism, task: str, parameters: Parameters, model: ExplicitModel) -> Program | None:
    if mechanism.speeds or sum(len(element) for row in model.A for element in row) > FEW_TERMS[task]:
        return None
    if task == "generalized_inertia_forces":
        weightless = _model(replace(mechanism, gravity=(ZERO, ZERO, ZERO)), parameters)
        assert weightless is not None
        model = weightless
    whole = program(model, task if task in EXPLICIT else "inverse_dynamics")
    system = derive_system(mechanism, parameters)
    if not set(whole.parameter_names) <= set(system.parameters):
        return None
    return task_program(find_task(task), system, _Torques(whole, system).outputs(task))


def is_brief(mechanism: Mechanism) -> bool:
    """Whether the explicit form is made in a blink: up to two joints, or four where fixed turns are quarter turns."""
    return _joints_without_general_turns(mechanism, BRIEF, 2)


def is_plain(mechanism: Mechanism) -> bool:
    """Whether the explicit mass matrix is made within a second: as above, or up to seven joints with quarter turns."""
    return _joints_without_general_turns(mechanism, PLAIN, 2)


def _joints_without_general_turns(mechanism: Mechanism, most: int, most_general: int) -> bool:
    """Whether there are at most so many joints, and not more than most_general where a fixed turn is a general one."""
    if sum(joint.type != "fixed" for joint in mechanism.joints) > most:
        return False
    try:
        steps = read_arm(mechanism, Atoms({p.name: p.value for p in mechanism.parameters}), ()).steps
    except (KaneError, ValueError):
        return False
    general = any(_is_general(move) for step in steps for move in step.fixed)
    return len(steps) <= (most_general if general else most)


def _is_general(move: Fixed) -> bool:
    """Whether a fixed move is a turn, and not by quarters."""
    return isinstance(move, Turned) or (isinstance(move, About) and bool(move.cos) and bool(move.sin))


def _model(mechanism: Mechanism, parameters: Parameters) -> ExplicitModel | None:
    named = [p.name for p in mechanism.parameters] if parameters == "symbolic" else parameters  # gravity is a number
    try:
        return explicit_model(mechanism, named)
    except (KaneError, ValueError):
        return None


class _Torques:
    """Outputs of an explicit program, most often tau(q, u, udot), in a graph of their own.

    `to` copies to the system's graph, with values for udot.
    """

    def __init__(self, whole: Program, system: System) -> None:
        self.system, self.own, s = system, Graph(), system.k.symbols
        refs = rebuild(whole, self.own)
        self.tau = [refs[r >> 1] ^ (r & 1) for out in whole.outputs for r in out.refs]
        names = s.names_q, s.names_u, s.names_udot
        self.q, self.u, self.udot = ([self.own.symbol(name) for name in each] for each in names)

    def to(self, refs: Sequence[Ref], udot: Sequence[Ref] | None = None) -> list[Ref]:
        names = self.system.k.symbols.names_udot
        known: Mapping[str, Ref] = {} if udot is None else dict(zip(names, udot, strict=True))
        return transplant(self.own, refs, self.system.g, known)

    def by(self, symbols: Sequence[Ref], udot: Sequence[Ref] | None = None) -> list[list[Ref]]:
        """The derivatives of the torques, a row a torque."""
        n = self.system.nv
        flat = self.to([e for row in jacobian(self.own, self.tau, symbols) for e in row], udot)
        return [flat[i * n : (i + 1) * n] for i in range(n)]

    def outputs(self, task: str) -> Outputs:
        system, g, n = self.system, self.system.g, self.system.nv
        rest = [g.zero] * n
        match task:
            case "inverse_dynamics" | "mass_matrix" | "gravity_forces":
                names = {"inverse_dynamics": "tau", "mass_matrix": "M", "gravity_forces": "gravity"}
                return [(names[task], (n, n) if task == "mass_matrix" else (n,), self.to(self.tau))]
            case "bias_forces":
                return [("bias", (n,), self.to(self.tau, rest))]
            case "generalized_inertia_forces":
                return [("F_star", (n,), [g.neg(r) for r in self.to(self.tau)])]
            case "inverse_dynamics_derivatives":
                return blocks(system, self.by(self.q), self.by(self.u), self.by(self.udot))
        factor = factorise(g, self.by(self.udot), elimination_order(system.k), system.k.coordinates.speeds)
        bias = self.to(self.tau, rest)
        udot = solve(g, factor, [g.sub(t, b) for t, b in zip(system.vector("tau"), bias, strict=True)])
        if task == "forward_dynamics":
            return [("qdd", (n,), udot)]
        return implicit(system, factor, self.by(self.q, udot), self.by(self.u, udot))
