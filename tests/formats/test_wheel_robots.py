"""Every URDF of the development wheels: read as pinocchio reads it, or refused for a stated reason."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from kane.errors import InertiaError, InputError, MasslessJointError, TopologyError
from kane.formats import patch_urdf, read_urdf, write_urdf
from kane.mechanism.checks import judge, mass_matrix
from kane.mechanism.inertia import moving_mass, total_mass
from kane.mechanism.model import Mechanism
from kane.mechanism.numeric import SomeValues

sys.path.insert(0, str(Path(__file__).parent))
from mechanism_state import link_poses, without_lines

pin = pytest.importorskip("pinocchio")


def _files() -> list[Path]:
    prefix = Path(sysconfig.get_path("purelib"))
    folders = [prefix / "cmeel.prefix/share/example-robot-data/robots", Path(sys.prefix) / "share"]
    return sorted(path for folder in folders if folder.is_dir() for path in folder.rglob("*.urdf"))


FILES = _files()
IDS = [f"{path.parent.name}/{path.name}" for path in FILES]
# refused, and why
REFUSED = {
    "alex_psyonic_hands.urdf": (TopologyError, "mimics a joint that does not exist"),
    "ur3.urdf": (TopologyError, "has no links: unexpanded xacro"),
}
MASSLESS = {"romeo.urdf": "RHand", "romeo_laas_small.urdf": "r_gripper_joint"}
NONPHYSICAL = {"romeo_laas_small.urdf", "romeo_small.urdf", "iCubNancy01/model.urdf"}


def test_there_are_robots() -> None:
    assert len(FILES) > 80


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_every_file_is_read_or_refused_for_a_reason(path: Path) -> None:
    if path.name in REFUSED:
        with pytest.raises(REFUSED[path.name][0]):
            read_urdf(path)
        return
    m = read_urdf(path)
    try:
        judge(m, "accept")
    except MasslessJointError as error:
        assert error.name == MASSLESS[path.name]
    try:
        judge(m)
    except InertiaError:
        assert path.name in NONPHYSICAL or f"{path.parent.name}/{path.name}" in NONPHYSICAL
    except MasslessJointError as error:
        assert error.name == MASSLESS[path.name]
    text = write_urdf(m)
    assert without_lines(read_urdf(text)) == without_lines(m)
    assert patch_urdf(path, m) == path.read_bytes()


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.name not in REFUSED],
    ids=[i for i, p in zip(IDS, FILES, strict=True) if p.name not in REFUSED],
)
def test_joints_masses_poses_and_mass_matrix_are_pinocchios(path: Path) -> None:
    m = read_urdf(path)
    moving = [j for j in m.joints if j.type != "fixed"]
    if not moving:
        pytest.skip("nothing moves")
    native = pin.buildModelFromUrdf(str(path))
    data = native.createData()
    assert sorted(native.names[1:]) == sorted(j.name for j in moving)
    assert moving_mass(m) == pytest.approx(sum(i.mass for i in native.inertias[1:]), rel=1e-12)
    assert total_mass(m) == pytest.approx(sum(i.mass for i in native.inertias), rel=1e-12)
    if any(j.type in ("floating", "planar", "spherical") for j in moving):
        return  # other coordinates: compared with the equations
    from dataclasses import replace

    free = replace(m, joints=tuple(replace(j, mimic=None) for j in m.joints))  # pinocchio leaves followers free
    rng = np.random.default_rng(1)
    q = {j.name: rng.uniform(-1.5, 1.5) for j in moving}
    compare(free, native, data, q)


def compare(m: Mechanism, native: pin.Model, data: pin.Data, q: dict[str, float]) -> None:
    vector = pin.neutral(native)
    for name, value in q.items():
        joint = native.joints[native.getJointId(name)]
        if joint.nq == 2:  # cosine and sine
            vector[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        else:
            vector[joint.idx_q] = value
    pin.framesForwardKinematics(native, data, vector)
    poses = link_poses(m, q)
    for frame, place in zip(native.frames, data.oMf, strict=True):
        if frame.type == pin.FrameType.BODY and frame.name in poses:
            R, p = poses[frame.name]
            np.testing.assert_allclose(p, place.translation, atol=1e-9)
            np.testing.assert_allclose(R, place.rotation, atol=1e-9)
    pin.crba(native, data, vector)
    M = np.triu(data.M) + np.triu(data.M, 1).T
    keys, ours, _ = mass_matrix(m, SomeValues(q))
    order = [native.joints[native.getJointId(key)].idx_v for key in keys]
    np.testing.assert_allclose(ours, M[np.ix_(order, order)], atol=1e-9 * max(1.0, np.abs(M).max()))


@pytest.mark.parametrize("name", ["baxter.urdf", "panda.urdf", "pr2.urdf", "tiago_pro.urdf"])
def test_followers_are_reduced_as_pinocchio_does_on_request(name: str) -> None:
    path = next(p for p in FILES if p.name == name)
    m = read_urdf(path)
    assert any(j.mimic is not None for j in m.joints)
    native = pin.buildModelFromUrdf(str(path), mimic=True)
    q = {
        j.name: 0.3 * np.sin(k)
        for k, j in enumerate(m.joints)
        if j.type not in ("fixed", "floating") and j.mimic is None
    }
    compare(m, native, native.createData(), q)


@pytest.mark.parametrize("path", FILES[::6], ids=IDS[::6])
def test_strict_reading_gives_the_same_or_refuses(path: Path) -> None:
    try:
        m = read_urdf(path, strict=True)
    except InputError as error:
        assert error.line is not None or path.name in REFUSED
        return
    assert m == read_urdf(path)
