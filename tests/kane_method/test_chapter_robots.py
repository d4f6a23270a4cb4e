import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kane.equations.activity import activities, inertia_activity, kinetic_energy
from kane.equations.programs import motion_program
from kane.equations.projection import kane_equations
from kane.equations.steps import check_steps, work_out
from kane.graph.derivative import forward
from kane.graph.evaluate import evaluate
from kane.kinematics import points as pt

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["build"]


@pytest.fixture(scope="module")
def two_link():
    return work_out(kane_equations(example("two_link")().mechanism()))


@pytest.fixture(scope="module")
def rp():
    e = kane_equations(example("rp_robot")().mechanism())
    materials = {"Phat": ("P", "B"), "Pbar": ("P", "A")}
    return work_out(e, materials=materials, abbreviations={"xB": "LP + q2 - L/2", "xC": "LP + q2 + LC"})


def all_right(steps, entries):
    wrong = [str(c) for c in check_steps(steps, entries) if not c.equal]
    assert not wrong


def test_two_link_velocities_and_table_6_1(two_link):
    all_right(
        two_link,
        {
            "q1_dot": "u1", "q2_dot": "u2",  # 6.12, 6.13
            "w_A": "u1*a3", "w_B": "(u1 + u2)*b3",  # 6.14, 6.15
            "v_P1": "L*u1*a2", "v_P2": "L*u1*a2 + L*(u1 + u2)*b2",  # 6.16, 6.17
            "w_A_1": "a3", "w_B_1": "b3", "v_P1_1": "L*a2", "v_P2_1": "L*(a2 + b2)",  # table 6.1
            "w_A_2": "0", "w_B_2": "b3", "v_P1_2": "0", "v_P2_2": "L*b2",
            "a_P1": "-L*u1**2*a1 + L*u1'*a2",  # 6.18
            "a_P2": "-L*u1**2*a1 + L*u1'*a2 - L*(u1 + u2)**2*b1 + L*(u1' + u2')*b2",  # 6.19
        },
    )  # fmt: skip
    rows = [row[1:] for row in two_link.partial_velocities.rows]
    assert rows == [("a3", "b3", "L a2", "L (a2 + b2)"), ("0", "b3", "0", "L b2")]


def test_two_link_forces_and_equations(two_link):
    all_right(
        two_link,
        {
            "F*_1": "-m*L**2*((3 + 2*cos(q2))*u1' + (1 + cos(q2))*u2' + sin(q2)*(u1**2 - (u1 + u2)**2))",  # 6.21
            "F*_2": "-m*L**2*((1 + cos(q2))*u1' + u2' + sin(q2)*u1**2)",  # 6.22
            "F_1": "T_A + m*g*L*(2*sin(q1) + sin(q1 + q2))",  # 6.24
            "F_2": "T_AB + m*g*L*sin(q1 + q2)",  # 6.25
            "equation_2": "T_AB + m*g*L*sin(q1 + q2) - m*L**2*((1 + cos(q2))*u1' + u2' + sin(q2)*u1**2)",  # 6.26
        },
    )  # fmt: skip


def test_two_link_damping_and_tip_force():
    steps = work_out(kane_equations(example("two_link")(damping=True, tip_force=True).mechanism()))
    all_right(
        steps,
        {
            "F_1 of damper A": "-b1*u1",  # 6.28: wA_r . (-b1 u1 + b2 u2) a3 + wB_r . (-b2 u2) b3
            "F_2 of damper AB": "-b2*u2",
            "F_1 of tip": "-F_x*L*(sin(q1) + sin(q1 + q2)) + F_y*L*(cos(q1) + cos(q1 + q2))",  # 6.27
            "F_2 of tip": "-F_x*L*sin(q1 + q2) + F_y*L*cos(q1 + q2)",
        },
    )  # fmt: skip
    assert "F_1 of damper AB" not in steps.active_forces.values


def test_essence_virtual_power_and_lagrange(two_link):
    """Equations 6.1 to 6.11: the activities add to zero on a motion, and F_r* = -d/dt dK/dqd_r + dK/dq_r."""
    e = two_link.equations
    g, s = e.graph, e.points.symbols
    total = g.sum([*activities(e).values(), inertia_activity(e)])
    assert g.sub(total, g.dot(e.residual, s.u)) < 2  # 6.5, 6.8
    kinetic = kinetic_energy(e)
    for r in (0, 1):
        (by_speed,) = forward(g, [kinetic], {s.u[r]: g.one})
        (by_coordinate,) = forward(g, [kinetic], {s.q[r]: g.one})
        lagrange = g.sub(by_coordinate, pt.time_derivative(e.points, [by_speed])[0])
        assert g.sub(lagrange, e.inertia[r]) < 2  # 6.10


def test_rp_velocities_and_table_6_2(rp):
    all_right(
        rp,
        {
            "q1_dot": "u1", "q2_dot": "u2",  # 6.29, 6.30
            "w_A": "u1*a3", "w_B": "u1*a3", "w_C": "u1*a3",  # 6.31 to 6.33
            "v_A*": "-LA*u1*a1",  # 6.34
            "v_P": "-LA*u1*a1 + LP*u1*a2",  # 6.37
            "v_Pbar": "-LA*u1*a1 + LP*u1*a2",
            "v_Phat": "(u2 - LA*u1)*a1 + LP*u1*a2",  # 6.40
            "v_B*": "(u2 - LA*u1)*a1 + (LP + q2 - L/2)*u1*a2",  # 6.41
            "v_C*": "(u2 - LA*u1)*a1 + (LP + q2 + LC)*u1*a2",  # 6.42
            "w_A_1": "a3", "w_B_1": "a3", "w_C_1": "a3", "w_A_2": "0", "w_B_2": "0", "w_C_2": "0",  # table 6.2
            "v_A*_1": "-LA*a1", "v_P_1": "-LA*a1 + LP*a2", "v_Phat_1": "-LA*a1 + LP*a2",
            "v_B*_1": "-LA*a1 + (LP + q2 - L/2)*a2", "v_C*_1": "-LA*a1 + (LP + q2 + LC)*a2",
            "v_A*_2": "0", "v_P_2": "0", "v_Phat_2": "a1", "v_B*_2": "a1", "v_C*_2": "a1",
            "alpha_A": "u1'*a3", "alpha_B": "u1'*a3", "alpha_C": "u1'*a3",  # 6.43 to 6.45
            "a_A*": "-LA*u1'*a1 - LA*u1**2*a2",  # 6.47
            "a_B*": "(u2' - LA*u1' - (LP+q2-L/2)*u1**2)*a1 + ((LP+q2-L/2)*u1' - LA*u1**2 + 2*u1*u2)*a2",  # 6.48
            "a_C*": "(u2' - LA*u1' - (LP+q2+LC)*u1**2)*a1 + ((LP+q2+LC)*u1' - LA*u1**2 + 2*u1*u2)*a2",  # 6.49
        },
    )  # fmt: skip
    header, first = rp.partial_velocities.headers, rp.partial_velocities.rows[0]
    assert dict(zip(header, first, strict=True))["v_B*_r"] == "-LA a1 + xB a2"


def test_rp_forces_and_equations(rp):
    xB, xC = "(LP + q2 - L/2)", "(LP + q2 + LC)"
    m11 = f"(IA + IB + IC + mA*LA**2 + mB*(LA**2 + {xB}**2) + mC*(LA**2 + {xC}**2))"
    s = f"(mB*{xB} + mC*{xC})"
    all_right(
        rp,
        {
            "F*_1": f"-({m11}*u1' - (mB + mC)*LA*u2' + 2*{s}*u1*u2)",
            "F*_2": f"-(-(mB + mC)*LA*u1' + (mB + mC)*u2' - {s}*u1**2)",
            "F_1": "T_A", "F_2": "F_AB",
            "activity of drive AB": "F_AB*u2",
        },
    )  # fmt: skip


def test_a_wrong_entry_is_located(two_link):
    (wrong,) = check_steps(two_link, {"a_P2": "-L*u1**2*a1 + L*u1'*a2 - L*(u1 + u2)**2*b1 + L*(u1' - u2')*b2"})
    assert not wrong.equal
    assert wrong.missing == ("L*u2' b2",)
    assert wrong.extra == ("-L*u2' b2",)
    (sign,) = check_steps(two_link, {"F_2": "T_AB - m*g*L*sin(q1 + q2)"})
    assert sign.extra == ("-L*g*m*sin(q1 + q2)",)


TWO_LINK_RUN = {  # recomputed from equations 6.21 to 6.26 with m = L = 1, g = 9.81
    "free": ((0, 0, 0, 0), [
        [2.8397456871315225, 0.06011442515716406, 1.780353969503331, -3.2303570137839377],
        [3.2599597638197833, -0.5788488366042105, 1.2188547190146406, -1.0626194657812709],
        [3.1902934310717423, 0.4805583656141443, -0.5457407641080861, 2.6234910712305712],
        [3.248423306942129, -0.3101936084800567, -1.8704490814065196, 2.5653138764849377]]),
    "driven": ((5.0, -2.0, 0.4, 0.2), [
        [3.0274314267919746, -0.3428949954104924, 2.812316167139273, -5.325164647672279],
        [3.63142660598987, -1.2384117272027897, 1.9959042257384698, -1.7902534981756262],
        [3.98222540077251, -0.6892441363882157, -0.9031621285026005, 3.5451213000892765],
        [3.4822103244572844, -0.9308235516006462, -1.303218431593103, 0.27921844714268473]]),
}  # fmt: skip
RP_RUN = {
    "free": ([0, 0.5, 1.0, 0.2], (0, 0), [
        [0.24326436243880012, 0.5640222123465852, 0.9390479857296907, 0.3107101216979717],
        [0.4664753321474792, 0.6544055762531091, 0.8418040449001888, 0.4100578452098055],
        [0.8287843933524116, 0.8999662002600558, 0.6062634539351053, 0.5609777217935362],
        [1.2480046743652422, 1.5445725783791688, 0.2757155210167436, 0.7017558122029497]]),
    "driven": ([0, 0.5, 0, 0], (4.0, -3.0), [
        [0.01705339485666014, 0.49408284424187254, 0.13717780191207168, -0.04680830214007483],
        [0.06932919958442417, 0.4771292892585339, 0.2832086965716882, -0.0872045321219175],
        [0.2941359206623104, 0.42155625701076044, 0.6305328603820125, -0.12171022510729532],
        [1.346423345373499, 0.39741299810457753, 1.4484468312339214, 0.1750671032454151]]),
}  # fmt: skip
TIMES = [0.25, 0.5, 1.0, 2.0]


def run(program, y0, **constants):
    def right(t, y):
        out = evaluate(program, {"q": y[:2], "u": y[2:], "t": [t], **constants})
        return np.concatenate([out["qdot"], out["udot"]])

    return solve_ivp(right, (0, 2), y0, t_eval=TIMES, rtol=1e-9, atol=1e-10, method="DOP853").y.T


@pytest.mark.parametrize("case", TWO_LINK_RUN)
def test_two_link_runs(case):
    (torque_a, torque_ab, b1, b2), wanted = TWO_LINK_RUN[case]
    e = kane_equations(example("two_link")(damping=True).mechanism())
    p = [dict(m=1, L=1, g=9.81, b1=b1, b2=b2)[name] for name in e.points.free]
    got = run(motion_program(e), [2.6, 0.5, 0, 0], f=[torque_a, torque_ab], p=p)
    assert np.abs(got - wanted).max() < 1e-7


@pytest.mark.parametrize("case", RP_RUN)
def test_rp_runs(case):
    y0, f, wanted = RP_RUN[case]
    e = kane_equations(example("rp_robot")().mechanism())
    values = dict(mA=10, mB=4, mC=6, IA=2, IB=0.35, IC=0.1, LA=0.2, LP=0.1, L=1, LC=0.15)
    got = run(motion_program(e), y0, f=f, p=[values[name] for name in e.points.free])
    assert np.abs(got - wanted).max() < 1e-7
