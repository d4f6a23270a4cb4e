"""The witness: Kane's equations in plain NumPy, world axes, vectors; it shares no code with the expression graph.

Every partial velocity in N is formed for every link, and F_r, F_r* are summed over all bodies (Kane and Levinson
1985, eqs. 4.6.1 and 4.11.2): slow, short and independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.mechanism.formula import Formula, Scalar
from kane.mechanism.given import Described, mechanism_of
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Joint, Mechanism, Placement
from kane.verification.own_speeds import speed_map, speed_map_rate
from kane.verification.relative import Relative, State, relative, skew, still, through, unit_axis

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Testimony:
    """What the witness found at one state.

    tau, bias, gravity (nv,); M (nv, nv); scale (nv,): sum of the sizes of the terms of tau; T, V energies; frames:
    link or frame name -> its motion in N (p, R, A, B and rates; the last column belongs to time).
    """

    tau: Array
    M: Array
    bias: Array
    gravity: Array
    T: float
    V: float
    frames: dict[str, Relative]
    state: State
    qdot: Array

    def jacobian(self, frame: str) -> Array:
        """J (6, nv) of a frame: angular rows first, axes of N, at its origin."""
        motion = self.frames[frame]
        result: Array = np.vstack([motion.A, motion.B])[:, :-1]
        return result

    def jacobian_rate(self, frame: str) -> Array:
        """dJ/dt (6, nv)."""
        motion = self.frames[frame]
        result: Array = np.vstack([motion.Adot, motion.Bdot])[:, :-1]
        return result

    def pose(self, frame: str) -> Array:
        """Homogeneous transform (4, 4) of a frame in N."""
        result = np.eye(4)
        result[:3, :3], result[:3, 3] = self.frames[frame].R, self.frames[frame].p
        return result


def bear_witness(
    mechanism: Described, q: Sequence[float] | Array, u: Sequence[float] | Array, udot: Sequence[float] | Array,
    parameters: Mapping[str, float] | None = None, time: float = 0.0,
) -> Testimony:
    """Forces, mass matrix, energies and motions of one state.

    parameters: values of named parameters, over those of the description.
    Raises UnsupportedError for what it does not know, such as generalized speeds defined by measures of motion.
    """  # fmt: skip
    mechanism = mechanism_of(mechanism)
    c = find_coordinates(mechanism)
    state = make_state(mechanism, c, np.asarray(q, dtype=float), np.asarray(u, dtype=float), parameters or {}, time)
    frames = _frames(mechanism, state)
    value = _Values(state.values)
    g = value.vector(mechanism.gravity)
    n = state.size
    M, h, gravity = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    V, grounded = 0.0, _grounded(mechanism)
    for link in mechanism.links:
        if link.inertia is None:
            continue
        m, I = value(link.inertia.mass), value.tensor(link.inertia.moments)
        turn = through(link.inertia.axes, state).R
        body = frames[link.name]
        C = _at(body, value.vector(link.inertia.com), state.rates)
        R = body.R @ turn
        I_N = R @ I @ R.T
        w = C.A @ state.rates
        M += m * C.B.T @ C.B + C.A.T @ I_N @ C.A
        h += m * C.B.T @ (C.Bdot @ state.rates) + C.A.T @ (I_N @ (C.Adot @ state.rates) + np.cross(w, I_N @ w))
        gravity -= m * C.B.T @ g
        if link.name not in grounded:
            V -= m * float(g @ C.p)
    for joint in mechanism.joints:
        if joint.rotor is not None:
            _add_rotor(joint, mechanism, state, frames, M, h)
    bias = (h + gravity)[:-1]
    full = M[:-1, :-1]
    T = 0.5 * float(state.rates @ M @ state.rates)
    tau = full @ np.asarray(udot, dtype=float) + bias
    return Testimony(tau, full, bias, gravity[:-1], T, V, frames, state, state.Q[:-1] @ state.rates)


class _Values:
    def __init__(self, values: Mapping[str, float]) -> None:
        self.values = values

    def __call__(self, scalar: Scalar) -> float:
        return scalar.evaluate(self.values) if isinstance(scalar, Formula) else float(scalar)

    def vector(self, scalars: Sequence[Scalar]) -> Array:
        return np.array([self(s) for s in scalars])

    def tensor(self, moments: Sequence[Scalar]) -> Array:
        xx, xy, xz, yy, yz, zz = (self(s) for s in moments)
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def make_state(
    mechanism: Mechanism, c: Coordinates, q: Array, u: Array, parameters: Mapping[str, float], time: float
) -> State:
    """Values by name, and the rows of qdot = Q [u, 1]; quaternion: qdot = (1/2) E(q) w; position: xdot = R v."""
    values = mechanism.parameter_values | dict(parameters) | dict(zip(c.names, q.tolist(), strict=True)) | {"t": time}
    index = {name: k for k, name in enumerate((*c.names, "t"))}
    rates = np.append(u, 1.0)
    S, jets = speed_map(mechanism, c, values, u)
    columns = dict(zip(c.natural, S, strict=True))
    Q = _coordinate_rows(c, index, values, columns)
    still = {name: np.zeros(len(rates)) for name in columns}
    start = State(values, index, Q, np.zeros_like(Q), rates, columns, still, {})
    _add_positions(mechanism, start)
    columns_rate = dict(zip(c.natural, speed_map_rate(S, jets, Q @ rates), strict=True))
    Qdot = _coordinate_rows(c, index, values, columns_rate)
    for names, speeds in c.quaternions:
        rows = [index[n] for n in names]
        Qdot[rows] += quaternion_rows(Q[rows] @ rates) @ np.array([columns[n] for n in speeds])
    state = State(values, index, Q, Qdot, rates, columns, columns_rate, _followed(mechanism, values))
    _add_positions(mechanism, state)
    return state


def _coordinate_rows(
    c: Coordinates, index: Mapping[str, int], values: Mapping[str, float], columns: Mapping[str, Array]
) -> Array:
    """Rows over [u, 1] of the rates of coordinates (t last), from the rows of the joints' own speeds; no positions."""
    size = len(next(iter(columns.values()))) if columns else 1
    Q = np.zeros((len(index), size))
    for name in c.names:
        if name in columns:
            Q[index[name]] = columns[name]
    for names, speeds in c.quaternions:
        quaternion = np.array([values[n] for n in names])
        Q[[index[n] for n in names]] = quaternion_rows(quaternion) @ np.array([columns[n] for n in speeds])
    return Q


def _add_positions(mechanism: Mechanism, state: State) -> None:
    """Rows of the positions of floating joints, whose speeds are in child axes; and of time, whose rate is 1."""
    state.Q[-1, -1] = 1.0
    state.Qdot[-1] = 0.0
    for joint in mechanism.joints:
        if joint.type == "floating":
            motion = relative_floating(joint, state)
            rows = [state.index[n] for n in joint_type(joint).coordinates(joint)[:3]]
            state.Q[rows], state.Qdot[rows] = motion.B, motion.Bdot


def relative_floating(joint: Joint, state: State) -> Relative:
    """The motion of a floating joint in its joint frame."""
    from dataclasses import replace

    return relative(replace(joint, placement=()), state)


def quaternion_rows(q: Array) -> Array:
    """(4, 3) with qdot = rows @ w, angular velocity w in turned axes."""
    w, x, y, z = q
    return 0.5 * np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])


def _followed(mechanism: Mechanism, values: Mapping[str, float]) -> dict[str, tuple[str, float, float]]:
    """For each follower the coordinate at the end of its chain, ratio and offset."""
    value = _Values(values)
    result = {}
    for joint in mechanism.joints:
        ratio, offset, at = 1.0, 0.0, joint
        while at.mimic is not None:
            offset += ratio * value(at.mimic.offset)
            ratio *= value(at.mimic.ratio)
            at = mechanism.joint(at.mimic.joint)
        if joint.mimic is not None:
            result[joint.name] = (joint_type(at).coordinates(at)[0], ratio, offset)
    return result


def _grounded(mechanism: Mechanism) -> set[str]:
    """Links fixed to the root link: their potential energy is left out."""
    fixed, loose = {mechanism.root}, set()
    above = {joint.child: joint for joint in mechanism.joints}
    for link in mechanism.links:
        path, at = [], link.name
        while at not in fixed and at not in loose:
            path.append(at)
            if joint_type(above[at]).coordinates(above[at]) or above[at].moves:
                loose.add(at)
            else:
                at = above[at].parent
        (fixed if at in fixed else loose).update(path)
    return fixed


def _frames(mechanism: Mechanism, state: State) -> dict[str, Relative]:
    """Motion in N of every link and frame."""
    above = {joint.child: joint for joint in mechanism.joints}
    frames = {mechanism.root: still(state.size)}
    for link in mechanism.links:
        path, at = [], link.name
        while at not in frames:
            path.append(at)
            at = above[at].parent
        for name in reversed(path):
            joint = above[name]
            frames[name] = frames[joint.parent].then(relative(joint, state), state.rates)
    for frame in mechanism.frames:
        frames.setdefault(frame.name, frames[frame.link].then(_placed(frame.placement, state), state.rates))
    return frames


def _placed(placement: Placement, state: State) -> Relative:
    return through(placement, state)


def _at(body: Relative, arm: Array, rates: Array) -> Relative:
    """The motion of a point fixed in a body, given by its position in body axes."""
    step = still(len(rates))
    return body.then(Relative(step.R, arm, step.A, step.B, step.Adot, step.Bdot), rates)


def _add_rotor(
    joint: Joint, mechanism: Mechanism, state: State, frames: Mapping[str, Relative], M: Array, h: Array
) -> None:
    """The energy J (ratio xdot)^2 / 2 of a reflected rotor.

    A spinning rotor adds its momentum J ratio xdot along s on the carrier.
    """
    rotor = joint.rotor
    assert rotor is not None
    value = _Values(state.values)
    J, ratio = value(rotor.inertia), value(rotor.ratio)
    _, partial, partial_rate = state.coordinate(joint)
    M += J * ratio**2 * np.outer(partial, partial)
    h += J * ratio**2 * partial * (partial_rate @ state.rates)
    if not rotor.exact:
        return
    carrier = frames[rotor.carrier or joint.parent]
    if rotor.axis is not None:
        s = value.vector(rotor.axis)
    elif rotor.carrier is not None:
        s = value.vector(joint.axis)
    else:
        s = through(joint.placement, state).R @ unit_axis(joint, state.values)
    s = carrier.R @ (s / np.linalg.norm(s))
    w, along = carrier.A @ state.rates, s @ carrier.A
    spin = J * ratio
    M += spin * (np.outer(along, partial) + np.outer(partial, along))
    rate = float(partial @ state.rates)
    h += spin * (partial * float(s @ (carrier.Adot @ state.rates)) + along * (partial_rate @ state.rates))
    h += spin * rate * carrier.A.T @ np.cross(w, s)


__all__ = ["Testimony", "bear_witness", "skew"]
