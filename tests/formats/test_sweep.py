"""All URDF and MJCF files of the large robot wheels against pinocchio and MuJoCo, for what of them is installed.

Run with `pytest -m sweep`; wheels: pybullet, robosuite, dm_control, gymnasium, gymnasium-robotics.  What is refused is
refused for one of the reasons listed here; docs/robots.md has the numbers.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kane.api.equations import derive
from kane.errors import FormatError, InputError, NumberError, TopologyError, UnsupportedError
from kane.formats import read
from kane.mechanism.checks import check_massless, judge, mass_matrix
from kane.mechanism.model import Mechanism
from kane.mechanism.numeric import SomeValues

sys.path.insert(0, str(Path(__file__).parent))

PACKAGES = ("pybullet_data", "robosuite", "dm_control", "gymnasium", "gymnasium_robotics")
# parts of a message of a refusal: the file itself is damaged, or it is no robot
REASONS = (
    "is not a finite decimal number",
    "numbers where 3 are needed",
    "does not parse",
    "There is no link",
    "which is not a link",  # a xacro's part left out
    "MuJoCo does not read the file",  # fragments for inclusion, old dialects
    "MuJoCo cannot compute the inertia of geoms",  # missing meshes and materials
)


def folders() -> list[Path]:
    found = []
    for name in PACKAGES:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            found.append(Path(next(iter(spec.submodule_search_locations))))
    return found


def files(suffix: str, holds: bytes) -> list[Path]:
    paths = [path for folder in folders() for path in sorted(folder.rglob(f"*{suffix}"))]
    return [path for path in paths if holds in path.read_bytes()[:100_000]]


@pytest.mark.sweep
def test_urdf_files_are_pinocchios_or_refused() -> None:
    pin = pytest.importorskip("pinocchio")
    paths = files(".urdf", b"<robot")
    if not paths:
        pytest.skip("none of the wheels is installed")
    result: Counter[str] = Counter()
    for path in paths:
        try:
            m = read(path)
            judge(m, "accept")
        except (FormatError, NumberError, TopologyError, UnsupportedError) as error:
            assert any(reason in str(error) for reason in REASONS), error
            result[type(error).__name__] += 1
            continue
        moving = [j for j in m.joints if j.type != "fixed"]
        if not moving or any(j.type in ("floating", "planar", "spherical") for j in moving):
            result["not compared"] += 1
            continue
        native = pin.buildModelFromUrdf(str(path))
        q = dict(zip((j.name for j in moving), np.random.default_rng(1).uniform(-1.5, 1.5, len(moving)), strict=True))
        vector = pin.neutral(native)
        for name, value in q.items():
            joint = native.joints[native.getJointId(name)]
            vector[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
        M = pin.crba(native, native.createData(), vector)
        M = np.triu(M) + np.triu(M, 1).T
        free = replace(m, joints=tuple(replace(j, mimic=None) for j in m.joints))
        keys, ours, _ = mass_matrix(free, SomeValues(q))
        order = [native.joints[native.getJointId(key)].idx_v for key in keys]
        np.testing.assert_allclose(
            ours, M[np.ix_(order, order)], rtol=0, atol=1e-9 * np.abs(M).max(), err_msg=str(path)
        )
        result["agree"] += 1
    print(dict(result))
    assert result["agree"] > 0


@pytest.mark.sweep
def test_mjcf_files_are_mujocos_or_refused() -> None:
    mujoco = pytest.importorskip("mujoco")
    paths = files(".xml", b"<mujoco")
    if not paths:
        pytest.skip("none of the wheels is installed")
    result: Counter[str] = Counter()
    for path in paths:
        try:
            m = read(path, constraints="ignore")
        except InputError as error:
            assert any(reason in str(error) for reason in REASONS), error
            result["refused"] += 1
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                native = mujoco.MjModel.from_xml_path(str(path))
        except ValueError:
            result["MuJoCo refuses"] += 1
            continue
        if native.nv == 0 or native.nv > 80:
            result["not compared"] += 1
            continue
        check_massless(m)
        compare(replace(m, joints=tuple(replace(j, mimic=None) for j in m.joints)), native, path)
        result["agree"] += 1
    print(dict(result))
    assert result["agree"] > 0


def compare(m: Mechanism, native: Any, path: Path) -> None:
    """Inverse dynamics at random states: M qacc + bias of MuJoCo, in our speeds."""
    import mujoco

    dynamics = derive(m, tasks=("inverse_dynamics",)).compile(tasks=("inverse_dynamics",))
    data = mujoco.MjData(native)
    rng = np.random.default_rng(3)
    joints = [j for j in m.joints if j.type != "fixed"]
    for _ in range(5):
        data.qpos[:] = rng.normal(size=native.nq)
        mujoco.mj_normalizeQuat(native, data.qpos)
        q, u, udot = [], [], []
        T = np.zeros((native.nv, native.nv))  # qvel = T u
        drift = np.zeros(native.nv)
        left_out = np.zeros(native.nv)  # armature of free and ball joints
        column = 0
        for k, joint in enumerate(joints):
            found = mujoco.mj_name2id(native, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
            at = found if found >= 0 else k
            a, v = native.jnt_qposadr[at], native.jnt_dofadr[at]
            size = {"floating": 7, "spherical": 4}.get(joint.type, 1)
            q += list(data.qpos[a : a + size])
            n = {"floating": 6, "spherical": 3}.get(joint.type, 1)
            rates = rng.normal(size=n)
            u += list(rates)
            udot += list(rng.normal(size=n))
            if (
                joint.type == "floating"
            ):  # ours: angular, then linear in body axes; MuJoCo: linear in world axes, angular
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, data.qpos[a + 3 : a + 7])
                R = R.reshape(3, 3)
                T[v : v + 3, column + 3 : column + 6] = R
                T[v + 3 : v + 6, column : column + 3] = np.eye(3)
                drift[v : v + 3] = R @ np.cross(rates[:3], rates[3:])
            else:
                T[v : v + n, column : column + n] = np.eye(n)
            if n > 1:
                left_out[v : v + n] = native.dof_armature[v : v + n]
            column += n
        data.qvel[:] = T @ u
        mujoco.mj_forward(native, data)
        M = np.zeros((native.nv, native.nv))
        mujoco.mj_fullM(native, data, M)
        M -= np.diag(left_out)
        acceleration = T @ udot + drift
        expected = T.T @ (M @ acceleration + data.qfrc_bias)
        scale = T.T @ (np.abs(M) @ np.abs(acceleration) + np.abs(data.qfrc_bias))
        tau = dynamics.inverse_dynamics(np.array(q), np.array(u), np.array(udot))
        np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-9 * np.abs(scale).max(), err_msg=str(path))
