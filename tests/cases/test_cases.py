"""Small robots in the kind of public bug reports, with right answers from plain vector Newton-Euler or closed forms.

Expected numbers: twelve decimals of an independent computation (M by columns, forces body by body in world axes),
confirmed by pinocchio or MuJoCo where those read the file rightly, and here by closed forms where there are some.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kane
from kane.errors import InertiaError, InputError, MasslessJointError, TopologyError
from kane.formats import read_rotors
from kane.graph.program import Program
from kane.mechanism.inertia import lumped_body
from kane.verification.witness import bear_witness
from task_values import value

CASES = Path(__file__).parents[1] / "data" / "cases"
CLOSE = {"rtol": 1e-8, "atol": 2e-12}  # the expected numbers have twelve decimals


def load(name: str, **options: object) -> kane.Robot:
    return kane.load(CASES / name, **options)  # type: ignore[arg-type]


def check(robot: kane.Robot, q: list, qd: list, qdd: list, M: list, gravity: list, tau: list) -> kane.Dynamics:
    """Compiled functions and the witness give the expected numbers."""
    dynamics = kane.derive(robot).compile(["mass_matrix", "gravity_forces", "inverse_dynamics", "forward_dynamics"])
    np.testing.assert_allclose(dynamics.mass_matrix(q), M, **CLOSE)
    np.testing.assert_allclose(dynamics.gravity_forces(q), gravity, **CLOSE)
    np.testing.assert_allclose(dynamics.inverse_dynamics(q, qd, qdd), tau, **CLOSE)
    np.testing.assert_allclose(dynamics.forward_dynamics(q, qd, tau), qdd, rtol=1e-6, atol=1e-9)
    seen = bear_witness(robot.mechanism, q, qd, qdd)
    np.testing.assert_allclose(seen.M, M, **CLOSE)
    np.testing.assert_allclose(seen.tau, tau, **CLOSE)
    return dynamics


def test_frames_without_inertia() -> None:
    """Links without <inertial> on fixed joints are frames (pinocchio#60, #62; urdfdom#138)."""
    robot = load("tool_frame.urdf")
    q = [0.3, -0.7]
    check(
        robot, q, [0.5, -1.2], [0.4, 0.9],
        [[0.531840981464, 0.116870490732], [0.116870490732, 0.0519]],
        [-11.347559928264, -1.975708969942],
        [-11.014623619226, -1.897892934893],
    )  # fmt: skip
    assert robot.joint_names == ("shoulder", "elbow")
    assert robot.total_mass == pytest.approx(3.5)
    camera = value(robot.mechanism, "forward_kinematics", {"q": np.array(q)}, frame="camera")
    # by hand: 0.4 of the upper arm, 0.3 + 0.02 of the fore arm and flange, 0.05 across
    a, b = q[0], q[0] + q[1]
    x, z = 0.4 * np.cos(a) + 0.32 * np.cos(b), 0.5 - 0.4 * np.sin(a) - 0.32 * np.sin(b)
    np.testing.assert_allclose(camera[:3, 3], [x, 0.05, z], rtol=1e-12)
    np.testing.assert_allclose(camera[:3, 3], [0.676874113731, 0.05, 0.506405786874], **CLOSE)


def test_moving_joint_without_inertia_is_refused() -> None:
    with pytest.raises(MasslessJointError) as caught:
        load("bare_leaf.urdf")
    assert "wrist" in str(caught.value)
    assert "flange" in str(caught.value)


def test_follower_is_reduced() -> None:
    """Mimic joints have no freedom of their own (pinocchio#2441, dart#1178)."""
    robot = load("gripper.urdf")
    assert robot.speed_names == ("tilt", "jaw_l")
    q = [0.6, 0.02]
    check(
        robot, q, [1.5, -0.2], [0.7, 0.3],
        [[0.016495, -0.01125], [-0.01125, 0.2625]],
        [-0.616330037001, 0.4154356998],
        [-0.615958537001, 0.4570606998],
    )  # fmt: skip
    jaw = value(robot.mechanism, "forward_kinematics", {"q": np.array(q)}, frame="finger_r")
    palm = value(robot.mechanism, "forward_kinematics", {"q": np.array(q)}, frame="palm")
    slid = np.linalg.solve(palm, jaw)[1, 3] + 0.02  # the jaw starts at -0.02 and moves along -y
    assert -slid == pytest.approx(0.5 * 0.02 + 0.01)
    assert 0.20 + 0.25 * 0.5**2 == pytest.approx(0.2625)  # M22 by hand


def test_rotated_tool_is_lumped() -> None:
    """Parallel axes and turned tensors of what is fixed together (pinocchio#1388, mujoco#1176)."""
    robot = load("lumped.urdf")
    check(
        robot, [0.4, -0.5], [0.8, 1.1], [-0.3, 0.6],
        [[0.047078112151, 0.002213777353], [0.002213777353, 0.041702293004]],
        [0.0, -1.296070582922],
        [0.029449849045, -1.288021507218],
    )  # fmt: skip
    body = lumped_body(robot.mechanism, "arm")
    assert body.mass == pytest.approx(1.1)
    np.testing.assert_allclose(body.com, [0.159521500264, -0.010360893492, 0.041480190285], **CLOSE)
    tensor = [
        [0.002361685052, 0.001130763806, -0.001352186209],
        [0.001130763806, 0.011817806248, 0.000438884969],
        [-0.001352186209, 0.000438884969, 0.010986914315],
    ]
    np.testing.assert_allclose(body.tensor, tensor, **CLOSE)


def test_inertia_of_the_fixed_root() -> None:
    """It loads no joint (kdl_parser#27, pinocchio#1286); total and moving mass are told apart."""
    robot = load("heavy_root.urdf")
    check(
        robot, [0.35, -0.4], [0.2, 1.4], [0.5, -0.8],
        [[4.25, -0.345397872751], [-0.345397872751, 0.1525]],
        [36.588610961614, -3.660371573017],
        [38.703706778218, -3.955070509392],
    )  # fmt: skip
    assert robot.total_mass == pytest.approx(41.75)
    assert robot.moving_mass == pytest.approx(4.25)


@pytest.mark.parametrize(
    ("name", "link", "numbers"),
    [
        ("tilted_bad.urdf", "shank", ("0.00395309", "0.00802133", "0.0135256")),
        ("negative_mass.urdf", "thigh", ("-0.6",)),
    ],
)
def test_impossible_inertia_is_refused(name: str, link: str, numbers: tuple[str, ...]) -> None:
    """Judged on principal moments, not on the diagonal (mujoco#375, drake#16058)."""
    with pytest.raises(InertiaError) as caught:
        load(name)
    for text in (link, *numbers, "nonphysical"):
        assert text in str(caught.value)
    assert load(name, nonphysical="accept").report.of("nonphysical")


def test_exact_rod_is_accepted() -> None:
    """A thin rod's moments are 0, a, a: possible, whatever the last digit does."""
    check(load("rod.urdf"), [0.5], [0.7], [0.2], [[0.147]], [-0.820243283672], [-0.790843283672])


@pytest.mark.parametrize("name", ["near.urdf", "far.urdf"])
def test_far_coordinates_lose_nothing(name: str) -> None:
    """The same arm at the origin and thousands of kilometres away (drake#19551, idyntree#494)."""
    check(
        load(name), [0.4, 0.9], [1.1, -0.6], [0.3, 0.8],
        [[0.16108821188, 6.2160997e-05], [6.2160997e-05, 0.04509]],
        [0.0, -1.166798814823],
        [0.121858224191, -1.063323787559],
    )  # fmt: skip


def test_far_and_near_are_the_same_program() -> None:
    near, far = (kane.derive(load(n)).program("inverse_dynamics") for n in ("near.urdf", "far.urdf"))
    assert near.counts == far.counts
    assert [v.payload for v in near.values] == [v.payload for v in far.values]


def test_odd_but_legal_text() -> None:
    """Long axes, tabs and line breaks in vectors, exponents, signs (compas#864, urdf-rs#105)."""
    check(
        load("odd_but_valid.urdf"), [0.15, 0.6], [0.3, -0.9], [0.5, 0.4],
        [[3.5, -0.112928494679], [-0.112928494679, 0.06]],
        [0.0, 1.619308476453],
        [1.571124232513, 1.586844229113],
    )  # fmt: skip


@pytest.mark.parametrize(("name", "said"), [("twin_joints.urdf", ("elbow",)), ("self_loop.urdf", ("cup", "to_itself"))])
def test_broken_trees_are_refused(name: str, said: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as caught:
        load(name)
    assert isinstance(caught.value, TopologyError)
    assert all(text in str(caught.value) for text in said)


def test_order_is_that_of_the_file() -> None:
    """Missing meshes and vendors' tags do not matter; names are addressable (pinocchio#379, yourdfpy#13)."""
    robot = load("two_arms.urdf")
    tau = [-3.293383705421, 3.730271256677, 0.098459519938, 0.108378487758]
    check(
        robot, [0.3, -0.2, 0.5, 0.7], [0.6, -0.4, 1.0, 0.8], [0.1, 0.2, -0.3, 0.4],
        [
            [0.100446901196, 0.0, -0.000671195754, 0.0],
            [0.0, 0.106348506777, 0.0, 0.0010307483],
            [-0.000671195754, 0.0, 0.011, 0.0],
            [0.0, 0.0010307483, 0.0, 0.012],
        ],
        [-3.287284376461, 3.696091288156, 0.097291610847, 0.100443645736],
        tau,
    )  # fmt: skip
    assert robot.joint_names == ("z_right_shoulder", "a_left_shoulder", "m_right_elbow", "b_left_elbow")
    assert robot.index("b_left_elbow") == 3


GEARED = {"q": [0.5, 0.3], "qd": [0.9, -0.7], "qdd": [1.2, -0.4]}


def test_rotors_friction_payload() -> None:
    """Gear ratio squared on the diagonal, friction apart, payload without a trace (pinocchio#671)."""
    plain = load("geared.urdf")
    gravity = [0.0, 4.123614421662]
    check(
        plain, *GEARED.values(), [[0.137120136895, 0.0], [0.0, 0.123]], gravity, [0.207231135262, 4.101856045869]
    )
    geared = plain.with_rotors(read_rotors(CASES / "motors.csv"))
    geared_tau = [0.725631135262, 4.050656045869]
    check(geared, *GEARED.values(), [[0.569120136895, 0.0], [0.0, 0.251]], gravity, geared_tau)
    assert 3.0e-5 * 120**2 == pytest.approx(0.569120136895 - 0.137120136895)
    s = {k: np.array(v) for k, v in GEARED.items()}
    friction = value(geared.mechanism, "friction_forces", s)
    np.testing.assert_allclose(friction, [1.22, -0.41], rtol=1e-12)  # 0.8 * 0.9 + 0.5, -0.3 * 0.7 - 0.2


def test_payload() -> None:
    plain = load("geared.urdf")
    loaded = plain.with_payload("arm", 1.2, (0.4, 0, 0.05))
    s = {k: np.array(v) for k, v in GEARED.items()}
    np.testing.assert_allclose(value(loaded.mechanism, "mass_matrix", s), [[0.299062933142, 0], [0, 0.318]], **CLOSE)
    np.testing.assert_allclose(value(loaded.mechanism, "gravity_forces", s), [0, 8.448159688016], **CLOSE)
    nothing = plain.with_payload("arm", 0, (0.4, 0, 0.05))
    for task in ("mass_matrix", "inverse_dynamics"):
        assert (value(nothing.mechanism, task, s) == value(plain.mechanism, task, s)).all()


def test_modified_dh_closed_form() -> None:
    """Two point masses; the second torque by hand (rtb#326: it came out as 0)."""
    robot = load("mdh_2r.csv", gravity=(0, "-9.81", 0))
    q, qd, qdd = [0.4, -0.9], [0.8, 1.5], [-0.6, 0.7]
    tau = kane.derive(robot).compile(["inverse_dynamics"]).inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(tau, [14.555397832026, 3.176501054934], **CLOSE)
    m2, L1, L2, g = 1.1, 0.45, 0.35, 9.81
    inner = L2 * (qdd[0] + qdd[1]) + L1 * (qdd[0] * np.cos(q[1]) + qd[0] ** 2 * np.sin(q[1])) + g * np.cos(q[0] + q[1])
    assert tau[1] == pytest.approx(m2 * L2 * inner, rel=1e-12)


def test_vertical_axis_has_no_gravity_torque_at_all() -> None:
    """cos(pi/2) is 0: no gravity, no tiny numbers (SymPyBotics#48)."""
    robot = load("vertical_axis.csv", gravity=(0, 0, "-9.81"))
    equations = kane.derive(robot)
    assert str(equations.gravity_forces[0]) == "0"
    for task in ("gravity_forces", "inverse_dynamics", "mass_matrix", "potential_energy"):
        program = equations.program(task)
        numbers = [float(v.payload) for v in program.values if v.op == "num"]
        assert all(x == 0 or abs(x) > 1e-12 for x in numbers), (task, numbers)
    assert equations.program("inverse_dynamics").counts.total == 1  # M qdd
    s = {"q": np.array([0.7]), "qd": np.array([1.0]), "qdd": np.array([1.0])}
    by_hand = 2.0 * ((0.3 - 0.1) ** 2 + 0.02**2) + 0.02  # the link's y is the joint's axis: alpha = pi/2
    assert value(robot.mechanism, "mass_matrix", s)[0, 0] == pytest.approx(by_hand) == pytest.approx(0.1008)
    assert value(robot.mechanism, "gravity_forces", s)[0] == 0.0


PLANAR = """<robot name="planar">
  <link name="base"/>
  <link name="one"><inertial><origin xyz="0.22 0 0"/><mass value="2.0"/>
    <inertia ixx="0.05" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>
  <link name="two"><inertial><origin xyz="0.18 0 0"/><mass value="1.4"/>
    <inertia ixx="0.03" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/></inertial></link>
  <joint name="q1" type="continuous"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/></joint>
  <joint name="q2" type="continuous"><parent link="one"/><child link="two"/>
    <origin xyz="0.5 0 0"/><axis xyz="0 0 1"/></joint>
</robot>"""


def test_coriolis_matrix_of_the_planar_arm() -> None:
    """Christoffel matrix by hand: h = m2 l1 r2 sin(q2) (drake#14315, idyntree#745)."""
    robot = kane.load(PLANAR, gravity=(0, "-9.81", 0))
    q, qd = np.array([0.7, -1.1]), np.array([1.3, -0.9])
    s = {"q": q, "qd": qd}
    m1, r1, J1, l1, m2, r2, J2, g = 2.0, 0.22, 0.05, 0.5, 1.4, 0.18, 0.03, 9.81
    h = m2 * l1 * r2 * np.sin(q[1])
    C = [[-h * qd[1], -h * (qd[0] + qd[1])], [h * qd[0], 0.0]]
    np.testing.assert_allclose(value(robot.mechanism, "coriolis_matrix", s), C, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(C, [[-0.101062914631, 0.044916850947], [-0.145979765578, 0.0]], **CLOSE)
    alpha, beta, c = J1 + m1 * r1**2 + m2 * l1**2, J2 + m2 * r2**2, m2 * l1 * r2 * np.cos(q[1])
    M = [[alpha + beta + 2 * c, beta + c], [beta + c, beta]]
    np.testing.assert_allclose(value(robot.mechanism, "mass_matrix", s), M, rtol=1e-12)
    np.testing.assert_allclose(M, [[0.686466222599, 0.1325131113], [0.1325131113, 0.07536]], **CLOSE)
    G2 = m2 * r2 * g * np.cos(q.sum())
    G = [(m1 * r1 + m2 * l1) * g * np.cos(q[0]) + G2, G2]
    np.testing.assert_allclose(value(robot.mechanism, "gravity_forces", s), G, rtol=1e-12)


def test_vertical_planar_arm_for_identification() -> None:
    """A quarter turn written in decimals is exact: gravity lies in the plane of motion (SymPyBotics#35)."""
    robot = load("planar.urdf")
    assert len(robot.report.of("snapped")) == 1
    assert robot.report.of("defaulted")[0].name == "base"
    q, qd, qdd = np.array([0.4, 0.050477]), np.array([0.88, 1.409223]), np.array([-2.116, 1.870123])
    m, r, J, l, g = 1.0, 0.1, 0.01, 0.4, 9.81
    c2, c12 = np.cos(q[1]), np.cos(q.sum())
    far, cross = J + m * r**2, m * l * r * c2
    M = [[2 * far + m * l**2 + 2 * cross, far + cross], [far + cross, far]]
    gravity = [g * ((m * r + m * l) * np.cos(q[0]) + m * r * c12), g * m * r * c12]
    h = m * l * r * np.sin(q[1])
    tau = np.array(M) @ qdd + [-h * qd[1] * (2 * qd[0] + qd[1]), h * qd[0] ** 2] + gravity
    check(robot, q.tolist(), qd.tolist(), qdd.tolist(), M, gravity, tau.tolist())
    assert all(x == 0 or abs(x) > 1e-12 for x in numbers_of(kane.derive(robot).program("inverse_dynamics")))


def numbers_of(program: Program) -> list[float]:
    return [float(v.payload) for v in program.values if v.op == "num"]


def test_awkward_names() -> None:
    """Names that are keywords, TeX or start with a digit (opty#139, sympy#7427)."""
    robot = load("awkward_names.urdf")
    assert robot.joint_names == ("lambda", "x_{1}", "wrist-roll")
    check(
        robot, [0.3, -0.5, 0.8], [0.7, 0.2, -1.1], [0.4, -0.3, 0.6],
        [
            [0.185485345551, 0.064721047925, 0.004512840258],
            [0.064721047925, 0.032706750299, 0.002152068273],
            [0.004512840258, 0.002152068273, 0.00175],
        ],
        [-4.978339570628, -1.463895461257, -0.103454797687],
        [-4.909588729877, -1.453907141426, -0.10137119878],
    )  # fmt: skip
