"""Tasks: joint friction, and joint springs with damping; kept out of the rigid-body tasks."""

from __future__ import annotations

from kane.equations.system import System
from kane.equations.tasks.task import Outputs, Task
from kane.graph.arena import Ref
from kane.kinematics.coordinates import symbol_name
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Joint


def _motions(system: System, joint: Joint) -> list[tuple[Ref, Ref]]:
    """(coordinate, rate) references of a joint's simple coordinates; a follower's are those of its formula."""
    k, g, s = system.k, system.g, system.k.symbols
    pairs = []
    for name in joint_type(joint).coordinates(joint):
        value = k.scalar(k.coordinates.values[name])
        if name in s.rates and name not in k.coordinates.speeds:
            continue  # a quaternion's component
        rate = s.rates[name] if name in s.rates else _rate(system, value)
        pairs.append((value, rate))
    del g
    return pairs


def _rate(system: System, value: Ref) -> Ref:
    from kane.kinematics.motion import rates_of

    return rates_of(system.g, system.k.symbols, [value])[0]


def _projected(system: System, tau: list[Ref], rate: Ref, force: Ref) -> None:
    """Add force times the partial of the joint's rate by each speed."""
    from kane.graph.derivative import gradient

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
            _projected(system, tau, rate, force)
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
            _projected(system, tau, rate, force)
    return [("tau", (system.nv,), tau)]


def force_labels(system: System) -> tuple[str, ...]:
    """Names of the generalized forces."""
    return tuple(symbol_name("tau", name) for name in system.k.coordinates.speeds)


TASKS = (
    Task("friction_forces", ("qd",), _friction),
    Task("passive_forces", ("q", "qd"), _passive),
)
