"""States and forces in other libraries' conventions: the same motion and the same power there, and back unchanged."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from kane.equations.derive import derive_task
from kane.errors import ShapeError, UnknownNameError, UnsupportedError
from kane.formats import read
from kane.graph.evaluate import evaluate
from kane.kinematics.coordinates import find_coordinates
from kane.verification.functions import random_states
from kane.verification.interchange import interchange

sys.path.insert(0, str(Path(__file__).parent))
from test_joint_types import CHAINS, urdf
from test_mjcf_files import OWN


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", CHAINS)
def test_pinocchio_moves_and_pushes_alike(name: str, base: str, tmp_path: Path) -> None:
    """Kinetic energy and the power of the torques, with velocities and forces handed over."""
    pin = pytest.importorskip("pinocchio")
    path = tmp_path / "chain.urdf"
    path.write_text(urdf(*CHAINS[name]))
    m = read(path, base=base)  # type: ignore[arg-type]
    flies = any(j.name == "root" for j in m.joints)
    model = pin.buildModelFromUrdf(str(path), *((pin.JointModelFreeFlyer(),) if flies else ()))
    data = model.createData()
    order = ["root" if n == "root_joint" else n for n in list(model.names)[1:]]
    way = interchange(m, "pinocchio", order)
    s = random_states(find_coordinates(m), 4, 1)
    energy = evaluate(derive_task(m, "kinetic_energy").program, {"q": s["q"], "qd": s["qd"], "p": np.zeros(0)})
    q, v = way.positions(s["q"]), way.velocities(s["q"], s["qd"])
    forces = way.forces(s["q"], s["tau"])
    for k in range(4):
        assert pin.computeKineticEnergy(model, data, q[k], v[k]) == pytest.approx(float(next(iter(energy.values()))[k]))
        assert forces[k] @ v[k] == pytest.approx(s["tau"][k] @ s["qd"][k])
    np.testing.assert_allclose(way.own_velocities(q, v), s["qd"], atol=1e-13)
    np.testing.assert_allclose(way.own_forces(q, forces), s["tau"], atol=1e-13)
    back = way.own_positions(q)
    np.testing.assert_allclose(way.positions(back), q, atol=1e-13)


def test_mujoco_moves_and_pushes_alike(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "own.xml"
    path.write_text(OWN)
    m, model = read(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    way = interchange(m, "mujoco")
    s = random_states(find_coordinates(m), 4, 2)
    qpos, qvel = way.positions(s["q"]), way.velocities(s["q"], s["qd"])
    forces = way.forces(s["q"], s["tau"])
    energy = evaluate(derive_task(m, "kinetic_energy").program, {"q": s["q"], "qd": s["qd"], "p": np.zeros(0)})
    for k in range(4):
        data.qpos[:], data.qvel[:] = qpos[k], qvel[k]
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        assert qvel[k] @ M @ qvel[k] / 2 == pytest.approx(float(next(iter(energy.values()))[k]))
        assert forces[k] @ qvel[k] == pytest.approx(s["tau"][k] @ s["qd"][k])
    np.testing.assert_allclose(way.own_positions(qpos), s["q"], atol=1e-15)
    np.testing.assert_allclose(way.own_velocities(qpos, qvel), s["qd"], atol=1e-13)
    np.testing.assert_allclose(way.own_forces(qpos, forces), s["tau"], atol=1e-13)


def test_drake_by_its_definition() -> None:
    """Quaternion first; velocities in world axes: the root's R is that of its quaternion (the sweep asks Drake)."""
    m = read(urdf(*CHAINS["followers"]), base="floating")
    way = interchange(m, "drake")
    s = random_states(find_coordinates(m), 3, 3)
    q, v = way.positions(s["q"]), way.velocities(s["q"], s["qd"])
    np.testing.assert_array_equal(q[:, :7], s["q"][:, [3, 4, 5, 6, 0, 1, 2]])
    for k in range(3):
        w, e = s["q"][k, 3], s["q"][k, 4:7]
        for a in (0, 3):
            x = s["qd"][k, a : a + 3]
            np.testing.assert_allclose(v[k, a : a + 3], x + 2 * np.cross(e, np.cross(e, x) + w * x), atol=1e-13)
    np.testing.assert_allclose(way.own_velocities(q, v), s["qd"], atol=1e-13)


def test_refusals() -> None:
    m = read(urdf(*CHAINS["floating"]))
    with pytest.raises(UnknownNameError, match="j9"):
        interchange(m, "mujoco", ["j1", "j2", "j9"])
    with pytest.raises(ShapeError):
        interchange(m, "mujoco").positions(np.zeros(3))
    with pytest.raises(UnsupportedError, match="ball"):
        interchange(read(urdf(("spherical", "0 0 1", "")).replace('name="j1"', 'name="ball"')), "drake")
