"""Controllers built from the model, and torques along a prescribed motion.

All are Controllers: laws (t, q, u) -> inputs, continuous; `.every(period)` samples them.  Trees only, whose inputs are
the generalized forces.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kane.equations.derive import derive_task
from kane.equations.system import derive_system
from kane.equations.tasks.dynamics import newton_euler
from kane.errors import ShapeError, UnsupportedError
from kane.graph.program import Input, build_program
from kane.native.function import NativeFunction, compile_program
from kane.simulation.inputs import Controller, Profile
from kane.simulation.model import Array, Model, joint_forces, tree_layout

Trajectory = Callable[[float], tuple[Any, Any, Any]]  # t -> q, qd, qdd


def _tree(model: Model, what: str) -> None:
    layout = model.layout
    if model.mechanism.loads or model.mechanism.constraints or layout.coordinates != layout.speeds:
        raise UnsupportedError(
            f"{what} wants a tree of joints whose speeds are the rates of its coordinates.", name=what,
            remedy="Write the law (t, q, u) -> inputs by hand.",
        )  # fmt: skip


def _task(model: Model, name: str, frame: str | None = None) -> NativeFunction:
    return compile_program(derive_task(model.mechanism, name, frame).program)


def drive(model: Model) -> Callable[[Any, Any, Any], Array]:
    """The inputs (n,) that give the accelerations qdd at q, qd.

    Inverse dynamics with the joints' springs, damping and friction.
    """
    _tree(model, "drive")
    system = derive_system(model.mechanism)
    g, s, layout = system.g, system.k.symbols, tree_layout(system)
    own = joint_forces(system, model.extra)
    whole = newton_euler(system, s.u, s.udot)
    tau = [g.sub(a, g.add(b, c)) for a, b, c in zip(whole, own.springs, own.losses, strict=True)]
    arrays = (*layout.arrays(), Input("udot", s.names_udot))
    function = compile_program(build_program(g, "drive", arrays, [("tau", (layout.nu,), tau)]))
    rest, time, idle = np.zeros(len(layout.works)), np.zeros(1), np.zeros(layout.nu)

    def at(q: Any, qd: Any, qdd: Any) -> Array:
        return np.asarray(function(np.concatenate([q, qd, rest]), time, idle, np.asarray(qdd, dtype=np.float64)))

    return at


def gravity_compensation(model: Model) -> Controller:
    """tau = gravity forces at q."""
    _tree(model, "gravity_compensation")
    gravity = _task(model, "gravity_forces")
    return Controller(lambda t, q, u: gravity(np.ascontiguousarray(q)), name="gravity compensation")


def pd(model: Model, target: Any, kp: Any, kd: Any, gravity: bool = True) -> Controller:
    """tau = kp (target - q) - kd qd, and the gravity forces unless told otherwise.  target: q, or a function of t."""
    _tree(model, "pd")
    weight = _task(model, "gravity_forces") if gravity else None
    goal = target if callable(target) else lambda t: target

    def law(t: float, q: Array, u: Array) -> Array:
        tau = np.asarray(kp) * (np.asarray(goal(t)) - q) - np.asarray(kd) * u
        return tau if weight is None else tau + weight(np.ascontiguousarray(q))

    return Controller(law, name="PD")


def computed_torque(model: Model, trajectory: Trajectory, kp: Any, kd: Any) -> Controller:
    """tau = M (qdd_r + kd e' + kp e) + bias and joint forces: the error obeys e'' + kd e' + kp e = 0."""
    at = drive(model)

    def law(t: float, q: Array, u: Array) -> Array:
        wanted, rate, acceleration = (np.asarray(x, dtype=np.float64) for x in trajectory(t))
        return at(q, u, acceleration + np.asarray(kd) * (rate - u) + np.asarray(kp) * (wanted - q))

    return Controller(law, name="computed torque")


def operational_space(
    model: Model,
    frame: str,
    target: Callable[[float], tuple[Any, Any, Any]] | Any,
    kp: Any,
    kd: Any,
    damping: Any = 0.0,
) -> Controller:
    """tau that gives the origin of a frame the acceleration a_r + kd e' + kp e (Khatib 1987).

    In the motions that are left, joints are damped.  tau = Jᵀ L (a - Jdot u) + bias - (1 - Jᵀ L J M^-1) M damping u, L
    = (J M^-1 Jᵀ)^-1, J (3, n) of the origin's velocity. target: a point (3,), or t -> (position, velocity,
    acceleration).
    """
    _tree(model, "operational_space")
    pose, J6, rate = (_task(model, n, frame) for n in ("forward_kinematics", "jacobian", "jacobian_rate"))
    mass, at = _task(model, "mass_matrix"), drive(model)

    def goal(t: float) -> tuple[Any, Any, Any]:
        given: tuple[Any, Any, Any] = target(t) if callable(target) else (target, np.zeros(3), np.zeros(3))
        return given

    def law(t: float, q: Array, u: Array) -> Array:
        q, u = np.ascontiguousarray(q), np.ascontiguousarray(u)
        J, M = np.asarray(J6(q))[3:], np.asarray(mass(q))
        place = np.asarray(pose(q))[:3, 3]
        wanted, velocity, acceleration = (np.asarray(x, dtype=np.float64) for x in goal(t))
        a = acceleration + np.asarray(kd) * (velocity - J @ u) + np.asarray(kp) * (wanted - place)
        MJ = np.linalg.solve(M, J.T)  # (n, 3)
        inverse = np.linalg.pinv(J @ MJ)
        still = -np.asarray(damping) * u
        udot = MJ @ inverse @ (a - np.asarray(rate(q, u))[3:] @ u - J @ still) + still
        return at(q, u, udot)

    return Controller(law, name="operational space")


def spline(times: Any, q: Any) -> Trajectory:
    """A trajectory through q (k, n) at times (k,), at rest at its ends: cubic spline, t -> (q, qd, qdd)."""
    from scipy.interpolate import CubicSpline

    curve = CubicSpline(np.asarray(times, dtype=float), np.asarray(q, dtype=float), bc_type="clamped")
    return lambda t: (curve(t), curve(t, 1), curve(t, 2))


def prescribed_torques(model: Model, trajectory: Trajectory, times: Any) -> Profile:
    """The inputs that a prescribed motion wants, at times (k,): inverse dynamics along the trajectory."""
    at, t = drive(model), np.asarray(times, dtype=np.float64)
    values = []
    for x in t:
        q, qd, qdd = (np.asarray(part, dtype=np.float64) for part in trajectory(float(x)))
        if q.shape != (model.layout.nq,):
            raise ShapeError(
                f"The trajectory gave q of shape {q.shape}; expected ({model.layout.nq},).", name="trajectory"
            )
        values.append(at(q, qd, qdd))
    return Profile(t, np.array(values))
