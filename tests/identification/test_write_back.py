"""Identified values in the user's own file."""

import numpy as np
import pytest

from identification.arms import fourier, rough, spatial
from kane.errors import InputError, UnsupportedError
from kane.formats.toml import read_toml, write_toml
from kane.formats.urdf import read_urdf
from kane.formats.urdf_write import write_urdf
from kane.identification.identifier import Identifier
from kane.identification.torque_model import torque_model
from kane.identification.write_back import decimal, inertia_of, save_into, ten_of

pytest.importorskip("clarabel")


@pytest.fixture(scope="module")
def identified():
    arm = rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0])
    fit = Identifier(arm)
    _, q, qd, qdd = fourier(3, 600, 4, amplitude=0.2)
    x = fit.model.prior * 1.02
    return arm, fit.fit(q, qd, qdd, fit.model.torque(q, qd, qdd, x)), (q, qd, qdd)


def test_inertia_and_ten_parameters_are_inverse():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3))
    ten = ten_of(2.0, np.array([0.1, -0.2, 0.3]), A @ A.T)
    inertia = inertia_of(ten)
    back = ten_of(
        float(inertia.mass),
        np.array([float(c) for c in inertia.com]),
        np.array([[float(inertia.moments[k]) for k in row] for row in ((0, 1, 2), (1, 3, 4), (2, 4, 5))]),
    )
    assert np.allclose(back, ten, rtol=1e-10)
    assert str(decimal(0.1)) == "1/10"


@pytest.mark.parametrize("kind", ["urdf", "toml"])
def test_the_users_file_gets_the_values_and_is_not_written_over_unasked(tmp_path, identified, kind):
    arm, fit, motion = identified
    path = tmp_path / f"arm.{kind}"
    path.write_text(write_urdf(arm) if kind == "urdf" else write_toml(arm))
    before = path.read_bytes()
    made = fit.to_mechanism()
    with pytest.raises(InputError, match="not written over"):
        save_into(path, made, path)
    lost = save_into(path, made, tmp_path / f"new.{kind}")
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 2
    read = (read_urdf if kind == "urdf" else read_toml)(tmp_path / f"new.{kind}")
    written = torque_model(read, rotors="none")
    expected = torque_model(made, rotors="none")
    assert np.allclose(written.torque(*motion, written.prior), expected.torque(*motion, expected.prior), atol=1e-6)
    assert np.allclose([float(j.damping) for j in read.joints], [1.02, 0.816, 2.04], rtol=1e-6)
    assert bool(lost) == (kind == "urdf" and made.joint("pitch").rotor != read.joint("pitch").rotor)
    save_into(path, made, path, overwrite=True)
    assert path.read_bytes() == (tmp_path / f"new.{kind}").read_bytes()
    with pytest.raises(UnsupportedError, match=r"\.xml"):
        save_into(tmp_path / "arm.xml", made, tmp_path / "b.xml")


def test_tolerances_are_the_deviations(identified):
    _, fit, _ = identified
    assert fit.tolerances_ == dict(zip(fit.names_, fit.coef_std_, strict=True))
    assert fit.table()[0][0] == fit.names_[0] and len(fit.table()) == len(fit.names_)
