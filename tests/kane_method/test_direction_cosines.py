"""Frames given by direction cosines that are functions of coordinates, parameters and time."""

import numpy as np
import pytest

from kane.equations.derive import derive_task
from kane.equations.programs import motion_program
from kane.equations.projection import kane_equations
from kane.equations.steps import work_out
from kane.errors import InputError, UnsupportedError
from kane.explicit.model import explicit_model
from kane.formats.toml import read_toml, write_toml
from kane.graph.arena import Graph
from kane.graph.evaluate import evaluate
from kane.mechanism import numeric
from kane.mechanism.builder import System, cos, dot, sin
from kane.verification.exact import exact_checks
from kane.verification.laws import frames_agree, verify

TESTED = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces", "coriolis_matrix",
    "kinetic_energy", "potential_energy", "kinematic_equations",
)  # fmt: skip


def simple(axis, x):
    c, s = cos(x), sin(x)
    return {
        1: [[1, 0, 0], [0, c, -s], [0, s, c]], 2: [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        3: [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }[axis]  # fmt: skip


def product(a, b):
    return [[sum((a[i][k] * b[k][j] for k in range(1, 3)), a[i][0] * b[0][j]) for j in range(3)] for i in range(3)]


def carried(by_cosines, speeds=True):
    """A top on an arm: the arm by one angle and the time, the top by two angles; points back along the arm."""
    s = System("top")
    q1, q2, q3 = s.coordinates("q1 q2 q3")
    e = s.parameters("e")
    turn = q1 + 2 * s.t
    if by_cosines:
        A = s.frame("A").orient_explicit(s.N, simple(3, turn))
        B = s.frame("B").orient_explicit(A, product(simple(1, q2 + e), simple(2, q3)))
    else:
        A = s.N.orient_new_axis("A", 3, turn)
        B = s.frame("B").orient_body_fixed(A, (q2 + e, q3), "12")
    if speeds:
        s.speeds(u1=dot(q1), u2=dot(q2) + dot(q1) * sin(q2), u3=dot(q3))
    P = s.O.locate_new("P", A.vector(1, "0.2", 0))
    C = P.locate_new("C", B.vector("0.1", "0.2", "0.3"))
    s.body("top", B, C, 2, ("0.3", "0.4", "0.5", "0.01", "0.02", "0.03"))
    s.particle("bob", C.locate_new("D", A.x * "0.4"), 1)  # leaves B again
    s.gravity(s.N.z * -9.81)
    s.torque("motor", B, B.y * 3 * q1)
    return s.mechanism()


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.parametrize("speeds", [False, True])
def test_the_equations_are_those_of_the_angles(speeds, runs):
    g = Graph()
    a, b = (kane_equations(carried(how, speeds), graph=g, runs=runs) for how in (True, False))
    assert a.inertia == b.inertia
    assert a.active == b.active
    assert all(x > 1 for x in a.inertia)


def test_the_angular_velocity_reads_as_that_of_the_turn():
    s = System("turn")
    q = s.coordinates("q")
    s.speeds(u=dot(q))
    B = s.frame("B").orient_explicit(s.N, simple(2, q))
    s.particle("P", s.O.locate_new("P", B.x), 1)
    assert "w_B = u b2" in " ".join(str(work_out(kane_equations(s.mechanism())).velocities).split())


def test_half_a_turn_is_no_singularity():
    a, b = (motion_program(kane_equations(carried(how))) for how in (True, False))
    state = {"q": [0.3, np.pi / 2, np.pi], "u": [0.5, -0.4, 0.7], "t": [0.2], "p": [0.0]}
    got, wanted = (evaluate(p, {i.name: state[i.name] for i in p.inputs})["udot"] for p in (a, b))
    assert np.allclose(got, wanted, rtol=1e-12)


def still():
    s = System("still")
    q1, q2 = s.coordinates("q1 q2")
    A = s.frame("A").orient_explicit(s.N, simple(1, q1))
    B = s.frame("B").orient_explicit(A, product(simple(3, q2 + "0.3"), simple(2, 2 * q1)))
    s.body("arm", A, s.O.locate_new("C", A.vector(0, 1, "0.2")), 2, (1, 2, "2.5"))
    s.body("top", B, s.O.locate_new("P", A.y * 2).locate_new("D", B.vector("0.3", "0.1", 1)), 1, (1, 1, "0.5"))
    s.gravity(s.N.z * -9.81)
    return s.mechanism()


def test_all_tasks_obey_the_laws_and_agree_with_plain_newton_euler():
    m = still()
    programs = {task: derive_task(m, task).program for task in TESTED}
    frames = {"B": {t: derive_task(m, t, "B").program for t in ("forward_kinematics", "jacobian", "jacobian_rate")}}
    checks = (*verify(m, programs), *exact_checks(m), *frames_agree(m, frames))
    assert len(checks) == 15
    assert all(c.ok for c in checks), [c for c in checks if not c.ok]


def test_poses_and_twists_at_numbers():
    """The columns of the angles of the same turns."""
    s = System("a")
    q = s.coordinates("x y")
    B = s.frame("B").orient_explicit(s.N, product(simple(1, q[0]), simple(2, q[1] * q[0])))
    C = s.frame("C").orient_body_fixed(s.N, (q[0], q[1] * q[0]), "12")
    values, wanted = {"x": 0.4, "y": -1.3}, frozenset("xy")
    R, _, one = numeric.columns(B.moves, values, wanted)
    Q, _, two = numeric.columns(C.moves, values, wanted)
    assert np.allclose(R, Q, atol=1e-15)
    assert one.keys() == two.keys() == wanted
    assert all(np.allclose(one[k], two[k], atol=1e-15) for k in wanted)


def test_files_keep_the_cosines():
    m = still()
    back = read_toml(write_toml(m))
    assert back.joints == m.joints


def test_the_explicit_model_refuses_them():
    with pytest.raises(UnsupportedError, match="direction cosines"):
        explicit_model(still())


@pytest.mark.parametrize(("dcm", "said"), [
    ([["cos(q)", "-sin(q)", 0], ["sin(q)", "cos(q)", 0], [0, 0, -1]], "left-handed"),
    ([["cos(q)", "sin(q)", 0], ["sin(q)", "cos(q)", 0], [0, 0, 1]], "rows 1 and 2 are not perpendicular"),
    ([["cos(q)", "-sin(q)", 0], ["sin(q)", "cos(q)", 0], [0, 0, "1 + q"]], "rows 3 and 3 have not the length one"),
    ([["cos(q)", "-sin(q)"], ["sin(q)", "cos(q)"]], "three rows of three"),
    ([[1, 0, 0], [0, 1, 0], [0, 0, -1]], "right-handed"),
])  # fmt: skip
def test_what_is_no_rotation_is_refused(dcm, said):
    s = System("bad")
    s.coordinates("q")
    with pytest.raises(InputError, match=said):
        s.frame("B").orient_explicit(s.N, dcm)


def test_names_in_cosines_must_be_declared():
    s = System("bad")
    B = s.frame("B").orient_explicit(s.N, [["cos(q)", "-sin(q)", 0], ["sin(q)", "cos(q)", 0], [0, 0, 1]])
    s.particle("P", s.O.locate_new("P", B.x), 1)
    with pytest.raises(InputError, match="'q' in the place of"):
        s.mechanism()
