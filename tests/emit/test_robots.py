"""From a robot file to compiled C: names that no language accepts, and a bundled robot, with their torques."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from kane.emit import emit, write_files
from kane.equations.derive import derive_task
from kane.formats.urdf import read_urdf
from kane.graph.evaluate import evaluate
from kane.robots.bundled import load

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on PATH")

AWKWARD = b"""<robot name="lambda">
  <link name="static"/>
  <link name="double"><inertial><origin xyz="0.1 0 0"/><mass value="1.0"/>
    <inertia ixx="0.002" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <link name="m_{pt}"><inertial><origin xyz="0.12 0 0.01"/><mass value="0.8"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.008" iyz="0" izz="0.008"/></inertial></link>
  <link name="3rd.link"><inertial><origin xyz="0 0 0.05"/><mass value="0.3"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.0005"/></inertial></link>
  <joint name="lambda" type="revolute"><parent link="static"/><child link="double"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
  <joint name="x_{1}" type="revolute"><parent link="double"/><child link="m_{pt}"/><origin xyz="0.25 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
  <joint name="wrist-roll" type="revolute"><parent link="m_{pt}"/><child link="3rd.link"/><origin xyz="0.2 0.03 0"/>
    <axis xyz="1 0 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
</robot>"""
TAU = (-4.909588729877, -1.453907141426, -0.10137119878)  # by an independent Newton-Euler recursion


def library(programs, name, folder):
    """The compiled library; the header must serve C++ too."""
    write_files(emit(programs, "c", name), folder)
    made = folder / "lib.so"
    command = ["gcc", *STRICT, "-shared", "-fPIC", "-o", str(made), str(folder / f"{name}.c"), "-lm"]
    subprocess.run(command, check=True)
    if shutil.which("g++"):
        subprocess.run(["g++", "-Wall", "-Werror", "-fsyntax-only", "-x", "c++", str(folder / f"{name}.h")], check=True)
    return ctypes.CDLL(str(made))


@needs_gcc
def test_awkward_names(tmp_path):
    programs = [derive_task(read_urdf(AWKWARD), task).program for task in ("inverse_dynamics", "mass_matrix")]
    lib = library(programs, "lambda", tmp_path)
    arrays = [np.array(x) for x in ((0.3, -0.5, 0.8), (0.7, 0.2, -1.1), (0.4, -0.3, 0.6))]
    tau = np.zeros(3)
    lib.lambda_inverse_dynamics(*(x.ctypes.data_as(ctypes.c_void_p) for x in (*arrays, tau)))
    np.testing.assert_allclose(tau, TAU, rtol=1e-11)
    head = (tmp_path / "lambda.h").read_text()
    assert "wrist-roll" in head and "q_wrist_roll" in head


@needs_gcc
def test_puma_in_c_is_the_graph_to_the_last_digits(tmp_path):
    """Backward error of the compiled torques against the plain evaluation of the program, at 50 states."""
    program = derive_task(load("puma560"), "inverse_dynamics").program
    lib = library([program], "puma560", tmp_path)
    rng = np.random.default_rng(1)
    for _ in range(50):
        given = {item.name: rng.uniform(-2, 2, item.size) for item in program.inputs}
        tau = np.zeros(6)
        lib.puma560_inverse_dynamics(*(x.ctypes.data_as(ctypes.c_void_p) for x in (*given.values(), tau)))
        want = evaluate(program, given)["tau"]
        assert np.abs(tau - want).max() <= 4e-15 * np.abs(want).max()
