"""MuJoCo as an oracle for its own MJCF files, at our states and in our speeds.

Taken out on MuJoCo's side: constraints and tendons, which are no part of the tree; armature of free and ball joints;
armature where the mechanism has no rotor.  Followers, which MuJoCo holds by soft equalities, are reduced by hand
(qvel = G u).  Springs, damping, friction and the surrounding medium are passive forces there and apart here too.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kane.formats.mjcf_shapes import leave_inertia
from kane.graph.program import Program
from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.mechanism.formula import number
from kane.mechanism.joints import joint_type
from kane.mechanism.model import Joint, Mechanism
from kane.verification.check import Check, check, skipped
from kane.verification.functions import Compiled, Functions, random_states
from kane.verification.laws import TOLERANCE
from kane.verification.oracles import Array, follow, task_errors


@dataclass(frozen=True, slots=True)
class Reference:
    """MuJoCo's model of a mechanism; joints: moving joints, in MuJoCo's order."""

    mujoco: Any
    model: Any
    data: Any
    mechanism: Mechanism
    coordinates: Coordinates
    joints: tuple[Joint, ...]

    def convert(self, q: Array, u: Array) -> tuple[Array, Array, Array]:
        """qpos, and G and drift with qvel = G u, qacc = G udot + drift."""
        values = dict(zip(self.coordinates.names, q.tolist(), strict=True))
        column = {name: k for k, name in enumerate(self.coordinates.speeds)}
        qpos, G, drift = np.zeros(self.model.nq), np.zeros((self.model.nv, len(u))), np.zeros(self.model.nv)
        for k, joint in enumerate(self.joints):
            a, v = self.model.jnt_qposadr[k], self.model.jnt_dofadr[k]
            kind = joint_type(joint)
            if joint.type == "floating":  # MuJoCo: linear velocity in world axes, then angular in body axes
                own, at = kind.coordinates(joint), [column[n] for n in kind.speeds(joint)]
                qpos[a : a + 7] = [values[n] for n in own]
                flat = np.zeros(9)
                self.mujoco.mju_quat2Mat(flat, qpos[a + 3 : a + 7])
                R = flat.reshape(3, 3)
                G[np.ix_(range(v, v + 3), at[3:])] = R
                G[range(v + 3, v + 6), at[:3]] = 1.0
                drift[v : v + 3] = R @ np.cross(u[at[:3]], u[at[3:]])
            elif joint.type == "spherical":
                qpos[a : a + 4] = [values[n] for n in kind.coordinates(joint)]
                G[range(v, v + 3), [column[n] for n in kind.speeds(joint)]] = 1.0
            else:
                master, ratio, offset = follow(self.mechanism, joint)
                qpos[a] = ratio * values[master] + offset
                G[v, column[master]] = ratio
        return qpos, G, drift


def load_mujoco(path: str | Path, mechanism: Mechanism) -> Reference:
    """MuJoCo's model of the MJCF file that `mechanism` was read from; without its meshes where some are missing.

    Raises ImportError without MuJoCo, ValueError when MuJoCo cannot read the file or has other joints.
    """
    import mujoco

    file = os.fspath(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = mujoco.MjModel.from_xml_path(file)
        except ValueError:
            spec = mujoco.MjSpec.from_file(file)
            leave_inertia(spec)
            model = spec.compile()
    joints = tuple(j for j in mechanism.joints if joint_type(j).coordinates(j))
    if [model.joint(k).name or j.name for k, j in enumerate(joints[: model.njnt])] != [j.name for j in joints]:
        raise ValueError("it has other joints")
    model.opt.gravity = [number(x) for x in mechanism.gravity]
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    model.tendon_armature[:] = 0.0
    for k, joint in enumerate(joints):
        if joint.rotor is None:
            start = model.jnt_dofadr[k]
            model.dof_armature[start : start + len(joint_type(joint).speeds(joint))] = 0.0
    return Reference(mujoco, model, mujoco.MjData(model), mechanism, find_coordinates(mechanism), joints)


def compare_mjcf(
    path: str | Path, mechanism: Mechanism, functions: Mapping[str, Program | Compiled], seed: int = 0, states: int = 4
) -> tuple[Check, ...]:
    """Inverse and forward dynamics, mass matrix, bias and gravity against MuJoCo at random states.

    functions: by task name, derived from the mechanism with its rotors.
    """
    try:
        r = load_mujoco(path, mechanism)
    except ImportError:
        return (skipped("MuJoCo", "not installed"),)
    except ValueError as error:
        return (skipped("MuJoCo", str(error).splitlines()[0]),)
    f = Functions(functions)
    s = random_states(r.coordinates, states, seed)
    rows = [_expected(r, q, u, udot) for q, u, udot in zip(s["q"], s["qd"], s["qdd"], strict=True)]
    e = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    return tuple(check(f"MuJoCo: {task}", error, TOLERANCE) for task, error in task_errors(f, s, e).items())


def _expected(r: Reference, q: Array, u: Array, udot: Array) -> dict[str, Array]:
    """MuJoCo's answers in our speeds: tau = G^T (M (G udot + drift) + bias)."""
    model, data = r.model, r.data
    data.qpos[:], G, drift = r.convert(q, u)
    full = np.zeros((model.nv, model.nv))

    def bias(rates: Array) -> Array:
        data.qvel[:] = rates
        r.mujoco.mj_forward(model, data)
        return np.array(data.qfrc_bias)

    gravity, forces = bias(np.zeros(model.nv)), bias(G @ u)
    r.mujoco.mj_fullM(model, data, full)
    return {
        "M": G.T @ full @ G,
        "tau": G.T @ (full @ (G @ udot + drift) + forces),
        "bias": G.T @ (full @ drift + forces),
        "gravity": G.T @ gravity,
    }
