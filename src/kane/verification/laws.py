"""Physical laws that derived equations have to obey, and the comparison with the witness.

Stated for generalized speeds that need not be the rates of the coordinates.  Errors are backward errors: against the
size of the terms that make up a result, not against the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kane.errors import UnsupportedError
from kane.graph.program import Program
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism.model import Mechanism
from kane.verification.check import Check, check, skipped
from kane.verification.functions import Compiled, Functions, backward, random_states, rate, relative
from kane.verification.witness import bear_witness

Array = npt.NDArray[np.float64]
States = Mapping[str, Array]
TOLERANCE = 1e-9  # backward error of double precision sums with some thousand terms and bad conditioning
DIFFERENCED = 1e-7  # laws with a numerical time derivative


def verify(
    mechanism: Mechanism, functions: Mapping[str, Program | Compiled], seed: int = 0, states: int = 4,
    parameters: Sequence[float] = (), physical: bool = True,
) -> tuple[Check, ...]:
    """All laws that these tasks can be asked about, at random states.

    Where speeds are not the rates of the coordinates, some laws want kinematic_equations too.

    functions: programs or compiled functions by task name.  parameters: values of their input p.  physical: False
    when the description has inertia that no body can have (then M need not be positive definite).
    """  # fmt: skip
    f = Functions(functions, parameters)
    c = find_coordinates(mechanism)
    s = random_states(c, states, seed)
    checks = [_witness(mechanism, f, s)]
    plain = c.names == c.speeds
    for needed, law in _LAWS:
        moves = law in (_skew, _gravity, _power)
        if all(task in f for task in needed) and (plain or not moves or "kinematic_equations" in f):
            checks.append(law(f, s))
    if "mass_matrix" in f:
        checks += _definite(f, s, physical)
    return tuple(checks)


def _witness(mechanism: Mechanism, f: Functions, s: States) -> Check:
    """|M udot + h - tau| against |M||udot| + |h| + |tau| with M and h of the witness; poses are in `frames_agree`."""
    name = "agreement with plain Newton-Euler"
    p = _named(f)
    worst = 0.0
    for q, u, udot, tau in zip(s["q"], s["qd"], s["qdd"], s["tau"], strict=True):
        try:
            seen = bear_witness(mechanism, q, u, udot, p)
        except UnsupportedError as error:
            return skipped(name, str(error))
        pairs: list[tuple[Array, Array]] = []
        if "inverse_dynamics" in f:
            pairs.append((udot, f("inverse_dynamics", q=q, qd=u, qdd=udot)))
        if "forward_dynamics" in f:
            pairs.append((f("forward_dynamics", q=q, qd=u, tau=tau), tau))
        for a, force in pairs:
            size = np.abs(seen.M) @ np.abs(a) + np.abs(seen.bias) + np.abs(force)
            worst = max(worst, backward(seen.M @ a + seen.bias - force, size))
        if "mass_matrix" in f:
            worst = _worse(worst, np.abs(f("mass_matrix", q=q) - seen.M), np.abs(seen.M))
        torques = np.abs(seen.M) @ np.abs(udot) + np.abs(seen.bias)  # what cancels in a bias near zero
        for task, value in (("gravity_forces", seen.gravity), ("bias_forces", seen.bias)):
            if task in f:
                made = f(task, q=q, qd=u) if task == "bias_forces" else f(task, q=q)
                worst = _worse(worst, np.abs(made - value), torques + np.abs(value))
    return check(name, worst, TOLERANCE)


def frames_agree(
    mechanism: Mechanism, frames: Mapping[str, Mapping[str, Program | Compiled]], seed: int = 0, states: int = 4,
    parameters: Sequence[float] = (),
) -> tuple[Check, ...]:
    """Poses, Jacobians and their rates of frames against the witness.

    frames: frame or link name -> functions of its tasks (forward_kinematics, jacobian, jacobian_rate).
    """  # fmt: skip
    s = random_states(find_coordinates(mechanism), states, seed)
    worst = {(frame, task): 0.0 for frame, table in frames.items() for task in table}
    for q, u, udot in zip(s["q"], s["qd"], s["qdd"], strict=True):
        for frame, table in frames.items():
            f = Functions(table, parameters)
            try:
                seen = bear_witness(mechanism, q, u, udot, _named(f))
            except UnsupportedError as error:
                return (skipped("frames", str(error)),)
            expected = {"forward_kinematics": seen.pose, "jacobian": seen.jacobian, "jacobian_rate": seen.jacobian_rate}
            for task in table:
                value = expected[task](frame)
                given = {"q": q, "qd": u} if task == "jacobian_rate" else {"q": q}
                size = np.maximum(1.0, np.abs(value).max(initial=0.0))
                worst[frame, task] = _worse(worst[frame, task], np.abs(f(task, **given) - value), size)
    return tuple(check(f"{task} of {frame}", error, TOLERANCE) for (frame, task), error in worst.items())


def _worse(worst: float, error: Array, size: Array) -> float:
    ratio = float(error.max(initial=0.0) / max(size.max(initial=0.0), 1e-300)) if error.any() else 0.0
    return float("inf") if np.isnan(error).any() else max(worst, ratio)


def _named(f: Functions) -> dict[str, float]:
    names = next((f.program(task).parameter_names for task in f.table), ())
    return dict(zip(names, f.p, strict=False))


def _product(M: Array, x: Array) -> Array:
    result: Array = np.einsum("...ij,...j->...i", M, x)
    return result


def _qdot(f: Functions, q: Array, u: Array) -> Array:
    return f("kinematic_equations", q=q, qd=u) if "kinematic_equations" in f else u


def _energy(f: Functions, s: States) -> Check:
    """T = (1/2) u . M u."""
    T, Mu = f("kinetic_energy", q=s["q"], qd=s["qd"]), _product(f("mass_matrix", q=s["q"]), s["qd"])
    return check("kinetic energy = u M u / 2", relative(T - 0.5 * (s["qd"] * Mu).sum(-1), T), TOLERANCE)


def _round_trip(f: Functions, s: States) -> Check:
    """ID(FD(tau)) = tau."""
    a = f("forward_dynamics", q=s["q"], qd=s["qd"], tau=s["tau"])
    back = f("inverse_dynamics", q=s["q"], qd=s["qd"], qdd=a)
    sizes = [s["tau"], _product(np.abs(f("mass_matrix", q=s["q"])), np.abs(a)) if "mass_matrix" in f else back]
    return check("inverse of forward dynamics", relative(back - s["tau"], *sizes), TOLERANCE)


def _assembled(f: Functions, s: States) -> Check:
    """tau = M udot + bias."""
    tau = f("inverse_dynamics", q=s["q"], qd=s["qd"], qdd=s["qdd"])
    M, h = f("mass_matrix", q=s["q"]), f("bias_forces", q=s["q"], qd=s["qd"])
    return check("tau = M udot + bias", relative(tau - _product(M, s["qdd"]) - h, tau, h), TOLERANCE)


def _coriolis(f: Functions, s: States) -> Check:
    """C u = bias - gravity."""
    h, g = f("bias_forces", q=s["q"], qd=s["qd"]), f("gravity_forces", q=s["q"])
    Cu = _product(f("coriolis_matrix", q=s["q"], qd=s["qd"]), s["qd"])
    return check("C u = bias - gravity", relative(Cu - h + g, h, g), TOLERANCE)


def _skew(f: Functions, s: States) -> Check:
    """dM/dt - 2 C is skew."""
    qdot, C = _qdot(f, s["q"], s["qd"]), f("coriolis_matrix", q=s["q"], qd=s["qd"])
    Mdot = rate(lambda h: f("mass_matrix", q=s["q"] + h * qdot))
    S = Mdot - 2 * C
    M = f("mass_matrix", q=s["q"])
    return check("dM/dt - 2C skew", relative(S + np.swapaxes(S, -1, -2), Mdot, C, M), DIFFERENCED)


def _gravity(f: Functions, s: States) -> Check:
    """Gravity forces are the derivatives of V along each speed."""
    g = f("gravity_forces", q=s["q"])
    columns = []
    for r in range(s["qd"].shape[-1]):
        along = _qdot(f, s["q"], np.broadcast_to(np.eye(s["qd"].shape[-1])[r], s["qd"].shape))
        columns.append(rate(lambda h, along=along: f("potential_energy", q=s["q"] + h * along)))  # type: ignore[misc]
    V = f("potential_energy", q=s["q"])
    return check("gravity = dV/dq", relative(g - np.array(columns).T.reshape(g.shape), g, V), DIFFERENCED)


def _power(f: Functions, s: States) -> Check:
    """u . tau = d(T + V)/dt."""
    tau = f("inverse_dynamics", q=s["q"], qd=s["qd"], qdd=s["qdd"])
    qdot = _qdot(f, s["q"], s["qd"])

    def total(h: float) -> Array:
        q, u = s["q"] + h * qdot, s["qd"] + h * s["qdd"]
        result: Array = f("kinetic_energy", q=q, qd=u) + f("potential_energy", q=q)
        return result

    power, T = (s["qd"] * tau).sum(-1), f("kinetic_energy", q=s["q"], qd=s["qd"])
    return check("power = d(T + V)/dt", relative(power - rate(total), (np.abs(s["qd"] * tau)).sum(-1), T), DIFFERENCED)


def _definite(f: Functions, s: States, physical: bool) -> list[Check]:
    """M symmetric; and positive definite: the smallest eigenvalue of M scaled to a unit diagonal is above rounding."""
    M = f("mass_matrix", q=s["q"])
    checks = [check("M symmetric", relative(M - np.swapaxes(M, -1, -2), M), TOLERANCE)]
    if not M.shape[-1]:
        return checks
    if not physical:
        return [*checks, skipped("M positive definite", "the description has non-physical inertia")]
    diagonal = np.sqrt(np.abs(np.einsum("...ii->...i", M)))
    if not diagonal.all():
        return [*checks, Check("M positive definite", 1.0, 0.0, False, "a speed moves no inertia")]
    scaled = M / (diagonal[..., :, None] * diagonal[..., None, :])
    low = float(np.linalg.eigvalsh(scaled).min()) if np.isfinite(scaled).all() else float("nan")
    note = f"smallest eigenvalue of M with unit diagonal: {low:.3g}"
    return [*checks, Check("M positive definite", max(0.0, -low), 0.0, bool(low > 0), note)]


_LAWS: tuple[tuple[tuple[str, ...], Callable[[Functions, States], Check]], ...] = (
    (("kinetic_energy", "mass_matrix"), _energy),
    (("forward_dynamics", "inverse_dynamics"), _round_trip),
    (("inverse_dynamics", "mass_matrix", "bias_forces"), _assembled),
    (("coriolis_matrix", "bias_forces", "gravity_forces"), _coriolis),
    (("coriolis_matrix", "mass_matrix"), _skew),
    (("gravity_forces", "potential_energy"), _gravity),
    (("inverse_dynamics", "kinetic_energy", "potential_energy"), _power),
)


def without_rotors(mechanism: Mechanism) -> Mechanism:
    """The mechanism with its rotors taken off."""
    return replace(mechanism, joints=tuple(replace(joint, rotor=None) for joint in mechanism.joints))
