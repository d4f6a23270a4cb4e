"""Task speeds w = J u of the 2R robot symbolically, and Khatib's operational space of a spatial arm."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from kane.equations.operational import determinant, rank, task_equations, task_program, task_space
from kane.equations.programs import matrices_program, motion_program
from kane.equations.projection import kane_equations
from kane.equations.steps import expression, work_out
from kane.errors import InputError
from kane.graph.evaluate import evaluate
from kane.mechanism.builder import System

BUILD = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "two_link.py"))["build"]
TIP = {"w1": "velocity(P2, N, n1)", "w2": "velocity(P2, N, n2)"}


def test_two_link_in_operational_space():
    """J = L [[-(s1 + s12), -s12], [c1 + c12, c12]], det J = L^2 s2; F' = J^-T F."""
    e = kane_equations(BUILD(tip_force=True).mechanism())
    g = e.graph
    task = task_equations(e, TIP)
    wanted = [["-L*(sin(q1) + sin(q1+q2))", "-L*sin(q1+q2)"], ["L*(cos(q1) + cos(q1+q2))", "L*cos(q1+q2)"]]
    assert all(
        g.sub(x, expression(e, t)) < 2
        for a, b in zip(task.jacobian, wanted, strict=True)
        for x, t in zip(a, b, strict=True)
    )
    assert g.sub(task.determinant, expression(e, "L**2*sin(q2)")) < 2
    # the tip force itself is the generalized force of the task speeds
    tip = e.contributions["tip"]
    others = [g.sub(a, b) for a, b in zip(e.active, tip, strict=True)]
    from kane.kinematics.linear import solve

    transposed = [list(column) for column in zip(*task.jacobian, strict=True)]
    rest = solve(g, transposed, [[x] for x in others])
    for value, (row,), name in zip(task.active, rest, ("F_x", "F_y"), strict=True):
        assert g.sub(g.sub(value, row), expression(e, name)) < 2


def test_task_speeds_as_generalized_speeds_agree():
    """Declaring w as the generalized speeds from the start gives the same equations as transforming afterwards."""
    s = BUILD()
    s._speeds.clear()
    s.speeds(**TIP)
    own = kane_equations(s.mechanism())
    joint = kane_equations(BUILD().mechanism())
    task = task_equations(joint, TIP)
    p = [dict(m=1.2, L=0.8, g=9.81)[n] for n in own.points.free]
    q, u, f = [0.3, 0.9], np.array([0.5, -0.7]), [2.0, -1.0]
    jac = np.array([[-np.sin(0.3) - np.sin(1.2), -np.sin(1.2)], [np.cos(0.3) + np.cos(1.2), np.cos(1.2)]]) * 0.8
    from kane.equations.programs import program_of

    program = program_of(
        joint,
        "task",
        [("m", (2, 2), [x for r in task.mass_matrix for x in r]), ("h", (2,), task.bias), ("f", (2,), task.active)],
    )
    a = evaluate(program, {"q": q, "u": u, "f": f, "t": [0], "p": p})
    b = evaluate(matrices_program(own), {"q": q, "u": jac @ u, "f": f, "t": [0], "p": p})
    assert np.allclose(a["m"], b["mass_matrix"], rtol=1e-12)
    assert np.allclose(a["h"], b["bias"], rtol=1e-11)
    assert np.allclose(a["f"], b["active"], rtol=1e-12)
    assert "w1" in str(work_out(own).partial_velocities)


def test_singular_task_speeds_are_refused():
    e = kane_equations(BUILD().mechanism())
    with pytest.raises(InputError, match="w2 depends"):
        task_equations(e, {"w1": "q1_dot", "w2": "2*q1_dot"})
    with pytest.raises(InputError, match="1 task speeds"):
        task_equations(e, {"w1": "q1_dot"})


def arm(n=7):
    """A spatial chain of n turning links, axes along z, y, z, ..."""
    s = System("arm")
    qs = s.coordinates(" ".join(f"q{k + 1}" for k in range(n)))
    frame, point = s.N, s.O
    for k, q in enumerate(qs):
        frame = frame.orient_new_axis(f"L{k}", (3, 2, 1)[k % 3], q)
        centre = point.locate_new(f"c{k}", frame.vector("0.1", "0.05", "0.2"))
        s.body(f"b{k}", frame, centre, 3 - k * 0.3, (0.1, 0.2, 0.15, 0.01, 0.02, -0.01))
        point = point.locate_new(f"p{k}", frame.vector(0, "0.1", "0.4"))
    s.gravity(s.N.z * -9.81)
    return kane_equations(s.mechanism())


def test_khatib_quantities_of_a_redundant_arm():
    e = arm()
    program = task_program(e, "p6")
    rng = np.random.default_rng(3)
    q, u, tau = rng.normal(size=7), rng.normal(size=7), rng.normal(size=7)
    state = {"q": q, "u": u, "t": [0]}
    t = task_space(program, state)
    m = evaluate(matrices_program(e), state)
    assert np.allclose(t.jacobian @ t.inverse, np.eye(6), atol=1e-9)
    assert np.allclose(
        t.jacobian @ np.linalg.solve(m["mass_matrix"], t.null.T), 0, atol=1e-9
    )  # no task acceleration from Nᵀ tau
    udot = np.linalg.solve(m["mass_matrix"], tau + m["active"] - m["bias"])
    acceleration = t.jacobian @ udot + t.drift
    force = t.inverse.T @ tau  # Khatib: Lambda a + mu + p = F
    assert np.allclose(t.inertia @ acceleration + t.bias + t.gravity, force, rtol=1e-9)
    h = 1e-6
    ahead = task_space(program, {"q": q + h * u, "u": u, "t": [0]}).jacobian
    back = task_space(program, {"q": q - h * u, "u": u, "t": [0]}).jacobian
    assert np.allclose((ahead - back) @ u / (2 * h), t.drift, atol=1e-6)
    assert np.allclose(
        evaluate(motion_program(e), state)["udot"],
        np.linalg.solve(m["mass_matrix"], m["active"] - m["bias"]),
        rtol=1e-9,
    )


def test_a_singular_configuration_is_named():
    e = kane_equations(BUILD().mechanism())
    program = task_program(e, "P2")
    with pytest.raises(InputError, match=r"cannot move along .*vx"):
        task_space(program, {"q": [0, 0], "u": [0, 0], "t": [0], "f": [0, 0], "p": [1, 1, 9.81]}, rows=(3, 4))


def test_determinant_and_rank():
    e = kane_equations(BUILD().mechanism())
    g = e.graph
    a = [[expression(e, t) for t in row.split()] for row in ("q1 1 2 0", "0 q2 1 3", "1 1 q1 1", "2 0 1 q2")]
    wanted = np.linalg.det([[0.7, 1, 2, 0], [0, -0.4, 1, 3], [1, 1, 0.7, 1], [2, 0, 1, -0.4]])
    from kane.equations.programs import program_of

    program = program_of(e, "det", [("d", (), [determinant(g, a)])])
    got = evaluate(program, {"q": [0.7, -0.4], "u": [0, 0], "t": [0], "f": [0, 0], "p": [0, 0, 0]})["d"]
    assert got == pytest.approx(wanted)
    assert rank(g, [a[0], a[1], [g.add(x, y) for x, y in zip(a[0], a[1], strict=True)]]) == 2
