"""Tasks: joint friction, and joint springs with damping; kept out of the rigid-body tasks."""

from __future__ import annotations

from kane.equations.system import System
from kane.equations.tasks.task import Outputs, Task
from kane.graph.arena import Ref
from kane.graph.derivative import gradient
from kane.kinematics.motion import rates_of
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Joint


def _motions(system: System, joint: Joint) -> list[tuple[Ref, Ref]]:
    """(coordinate, rate) of a joint's simple coordinates, components of quaternions left out.

    A follower's are those of its formula; under speeds of the user's own choice rates are expressions in them.
    """
    k, s = system.k, system.k.symbols
    in_quaternions = {name for group, _ in k.coordinates.quaternions for name in group}
    names = [name for name in joint_type(joint).coordinates(joint) if name not in in_quaternions]
    values = [k.scalar(k.coordinates.values[name]) for name in names]
    return list(zip(values, rates_of(system.g, s, values), strict=True))


def _project(system: System, tau: list[Ref], rate: Ref, force: Ref) -> None:
    """Add force times the partial of the joint's rate by each speed."""
    for r, slope in enumerate(gradient(system.g, rate, system.k.symbols.u)):
        if slope > 1:
            tau[r] = system.g.add(tau[r], system.g.mul(slope, force))


def _friction(system: System, frame: str | None) -> Outputs:
    """Torque that overcomes viscous damping and Coulomb friction: b qd + f sign(qd)."""
    g = system.g
    tau = [g.zero] * system.nv
    for joint in system.k.mechanism.joints:
        damping, friction = system.k.scalar(joint.damping), system.k.scalar(joint.friction)
        if damping < 2 and friction < 2:
            continue
        for _, rate in _motions(system, joint):
            force = g.add(g.mul(damping, rate), g.mul(friction, g.function("sign", rate)))
            _project(system, tau, rate, force)
    return [("tau", (system.nv,), tau)]


def _passive(system: System, frame: str | None) -> Outputs:
    """Generalized forces that springs and dampers exert: -k (q - rest) - b qd."""
    g = system.g
    tau = [g.zero] * system.nv
    for joint in system.k.mechanism.joints:
        stiffness, damping = system.k.scalar(joint.stiffness), system.k.scalar(joint.damping)
        if stiffness < 2 and damping < 2:
            continue
        for q, rate in _motions(system, joint):
            stretch = g.sub(q, system.k.scalar(joint.rest))
            force = g.neg(g.add(g.mul(stiffness, stretch), g.mul(damping, rate)))
            _project(system, tau, rate, force)
    return [("tau", (system.nv,), tau)]


TASKS = (
    Task("friction_forces", ("qd",), _friction),
    Task("passive_forces", ("q", "qd"), _passive),
)
