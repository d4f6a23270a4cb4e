"""Controllers built from the model, and torques along a prescribed motion.

All are Controllers: laws (t, q, u) -> inputs, continuous; `.every(period)` samples them.  Of trees without free or
spherical joints, loads and constraints: their inputs are the generalized forces, and place minus place is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kane.equations.derive import derive_task
from kane.equations.system import derive_system
from kane.equations.tasks.dynamics import newton_euler
from kane.errors import InputError, ShapeError, UnsupportedError
from kane.graph.program import Input, build_program
from kane.mechanism.given import checked_flag, checked_function, checked_name, real_array, shown
from kane.native.function import NativeFunction, compile_program
from kane.simulation.checks import checked_rising, shaped
from kane.simulation.inputs import Controller, Profile
from kane.simulation.model import Array, Model, checked_model, joint_forces, tree_layout

AXES = ("x", "y", "z")
Trajectory = Callable[[float], tuple[Any, Any, Any]]  # t -> q, qd, qdd


def _tree(model: Any, what: str) -> None:
    layout, m = checked_model(model).layout, model.mechanism
    has = [f"the {joint.type} joint {joint.name!r}" for joint in m.joints if joint.type in ("floating", "spherical")]
    has += [text for text, found in (("loads", m.loads), ("constraints", m.constraints)) if found]
    if has or layout.coordinates != layout.speeds:
        raise UnsupportedError(
            f"{what} wants a tree of joints whose speeds are the rates of its coordinates; {m.name} has "
            f"{has[0] if has else 'speeds of its own'}.", name=what,
            remedy="Write the law (t, q, u) -> inputs by hand.",
        )  # fmt: skip


def _gain(name: str, value: Any, count: int) -> Array:
    """A gain: one number, or one for each of so many."""
    gain = np.asarray(real_array(name, value))
    if gain.shape not in ((), (count,)) or not np.isfinite(gain).all():
        remedy = f"Give a finite number, or {count} of them."
        raise InputError(f"{name} is {shown(value)}.", name=name, value=shown(value), remedy=remedy)
    return gain


def _point(trajectory: Trajectory, t: float, names: tuple[str, ...]) -> tuple[Array, Array, Array]:
    """What a trajectory gives at a time: three arrays (n,).  Raises ShapeError for anything else."""
    made = trajectory(t)
    if not isinstance(made, (tuple, list, np.ndarray)) or len(made) != 3:
        raise ShapeError(
            f"The trajectory gave {shown(made)}.", name="trajectory", value=shown(made),
            remedy="It has to give place, rate and acceleration at t.",
        )  # fmt: skip
    first, second, third = (shaped(x, names, "trajectory", "gave") for x in made)
    return first, second, third


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
        q, qd, qdd = (shaped(x, layout.speeds, who) for x, who in ((q, "q"), (qd, "qd"), (qdd, "qdd")))
        return np.asarray(function(np.concatenate([q, qd, rest]), time, idle, qdd))

    return at


def gravity_compensation(model: Model) -> Controller:
    """tau = gravity forces at q."""
    _tree(model, "gravity_compensation")
    gravity = _task(model, "gravity_forces")
    return Controller(lambda t, q, u: gravity(np.ascontiguousarray(q)), name="gravity compensation")


def pd(model: Model, target: Any, kp: Any, kd: Any, gravity: bool = True) -> Controller:
    """tau = kp (target - q) - kd qd, and the gravity forces unless told otherwise.  target: q, or a function of t."""
    _tree(model, "pd")
    weight = _task(model, "gravity_forces") if checked_flag("gravity", gravity) else None
    names = model.layout.speeds
    kp, kd = _gain("kp", kp, len(names)), _gain("kd", kd, len(names))
    fixed = None if callable(target) else shaped(target, names, "target")

    def law(t: float, q: Array, u: Array) -> Array:
        goal = shaped(target(t), names, "target", "gave") if fixed is None else fixed
        tau = kp * (goal - q) - kd * u
        return np.asarray(tau if weight is None else tau + weight(np.ascontiguousarray(q)))

    return Controller(law, name="PD")


def computed_torque(model: Model, trajectory: Trajectory, kp: Any, kd: Any) -> Controller:
    """tau = M (qdd_r + kd e' + kp e) + bias and joint forces: the error obeys e'' + kd e' + kp e = 0."""
    at, names = drive(model), model.layout.speeds
    checked_function("trajectory", trajectory, "t that gives (q, qd, qdd)")
    kp, kd = _gain("kp", kp, len(names)), _gain("kd", kd, len(names))

    def law(t: float, q: Array, u: Array) -> Array:
        wanted, rate, acceleration = _point(trajectory, t, names)
        return at(q, u, acceleration + kd * (rate - u) + kp * (wanted - q))

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
    checked_name(frame, "A frame")
    kp, kd, damping = _gain("kp", kp, 3), _gain("kd", kd, 3), _gain("damping", damping, model.layout.nu)
    still_there = None if callable(target) else shaped(target, AXES, "target")
    pose, J6, rate = (_task(model, n, frame) for n in ("forward_kinematics", "jacobian", "jacobian_rate"))
    mass, at = _task(model, "mass_matrix"), drive(model)

    def goal(t: float) -> tuple[Array, Array, Array]:
        return _point(target, t, AXES) if still_there is None else (still_there, np.zeros(3), np.zeros(3))

    def law(t: float, q: Array, u: Array) -> Array:
        q, u = np.ascontiguousarray(q), np.ascontiguousarray(u)
        J, M = np.asarray(J6(q))[3:], np.asarray(mass(q))
        place = np.asarray(pose(q))[:3, 3]
        wanted, velocity, acceleration = goal(t)
        a = acceleration + kd * (velocity - J @ u) + kp * (wanted - place)
        MJ = np.linalg.solve(M, J.T)  # (n, 3)
        inverse = np.linalg.pinv(J @ MJ)
        still = -damping * u
        udot = MJ @ inverse @ (a - np.asarray(rate(q, u))[3:] @ u - J @ still) + still
        return at(q, u, udot)

    return Controller(law, name="operational space")


def spline(times: Any, q: Any) -> Trajectory:
    """A trajectory through q (k, n) at times (k,), at rest at its ends and beyond: cubic spline, t -> (q, qd, qdd)."""
    from scipy.interpolate import CubicSpline

    t, places = checked_rising(times), np.asarray(real_array("q", q))
    if places.ndim < 1 or len(places) != len(t) or not places.size or not np.isfinite(places).all():
        remedy = f"Give finite numbers ({len(t)}, n), a row for each time."
        raise ShapeError(f"q has shape {places.shape}.", name="q", value=shown(q), remedy=remedy)
    curve = CubicSpline(t, places, bc_type="clamped")
    first, last = float(t[0]), float(t[-1])

    def at(t: float) -> tuple[Array, Array, Array]:
        if first <= t <= last:
            return curve(t), curve(t, 1), curve(t, 2)
        still = np.zeros(places.shape[1:])
        return curve(first if t < first else last), still, still

    return at


def prescribed_torques(model: Model, trajectory: Trajectory, times: Any) -> Profile:
    """The inputs that a prescribed motion wants, at times (k,): inverse dynamics along the trajectory."""
    at, t = drive(model), checked_rising(times)
    checked_function("trajectory", trajectory, "t that gives (q, qd, qdd)")
    return Profile(t, np.array([at(*_point(trajectory, float(x), model.layout.speeds)) for x in t]))
