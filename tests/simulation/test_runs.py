"""Runs against closed forms and published values: pendulums, chapter robots, spinning beams, free bodies."""

import runpy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

from kane import robots
from kane.mechanism import formula as f
from kane.mechanism.beams import clamped_free
from kane.mechanism.builder import System, cos
from kane.mechanism.formula import PI
from kane.mechanism.inertia import moving_mass
from kane.mechanism.model import Inertia, Joint, Link, Mechanism
from kane.robots.generated import chain, tree
from kane.simulation.controllers import gravity_compensation
from kane.simulation.model import prepare
from kane.simulation.simulate import simulate
from simulation import simulated as sim

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def pendulum():
    return prepare(sim.double_pendulum())


def test_double_pendulum_state_and_drift(pendulum):
    """The state at 3 s is that of SciPy's DOP853 and Radau at 1e-12, from equations written down by hand."""
    r = simulate(pendulum, 30.0, [0.6, -0.4], [0, 0])
    assert r.success and r.status == 0 and r.message == "reached the end"
    assert r.energy[0] == pytest.approx(-18.824062726503, abs=1e-11)
    assert np.abs(r.energy - r.energy[0]).max() < 1e-8 * abs(r.energy[0])
    assert np.allclose(r.sol(3.0)[:4], [0.2869999, -0.546703693, -1.636190095, 1.148813621], atol=2e-9)


def test_pendulum_against_elliptic_functions():
    """sin(theta/2) = k sn(K - w t, k) for a release from rest."""
    s = System("pendulum")
    th = s.coordinates("th")
    s.particle("P", s.O.locate_new("P", s.N.orient_new_axis("A", 3, th).x * 2), 3)
    s.gravity(s.N.x * 9.81)
    r = simulate(s, 12.0, [2.5], t_eval=np.linspace(0, 12, 25))
    k = np.sin(1.25)
    sn = ellipj(ellipk(k**2) - np.sqrt(9.81 / 2) * r.t, k**2)[0]
    assert np.allclose(r["th"], 2 * np.arcsin(k * sn), atol=1e-9)


CASES = {
    ("two_link", "free"): (
        [2.6, 0.5],
        [0, 0],
        [0, 0],
        dict(m=1, L=1, g=9.81, b1=0, b2=0),
        [
            [2.8397456871315225, 0.06011442515716406, 1.780353969503331, -3.2303570137839377],
            [3.2599597638197833, -0.5788488366042105, 1.2188547190146406, -1.0626194657812709],
            [3.1902934310717423, 0.4805583656141443, -0.5457407641080861, 2.6234910712305712],
            [3.248423306942129, -0.3101936084800567, -1.8704490814065196, 2.5653138764849377],
        ],
    ),
    ("two_link", "driven"): (
        [2.6, 0.5],
        [0, 0],
        [5, -2],
        dict(m=1, L=1, g=9.81, b1="0.4", b2="0.2"),
        [
            [3.0274314267919746, -0.3428949954104924, 2.812316167139273, -5.325164647672279],
            [3.63142660598987, -1.2384117272027897, 1.9959042257384698, -1.7902534981756262],
            [3.98222540077251, -0.6892441363882157, -0.9031621285026005, 3.5451213000892765],
            [3.4822103244572844, -0.9308235516006462, -1.303218431593103, 0.27921844714268473],
        ],
    ),
    ("rp_robot", "free"): (
        [0, 0.5],
        [1.0, 0.2],
        [0, 0],
        dict(mA=10, mB=4, mC=6, IA=2, IB="0.35", IC="0.1", LA="0.2", LP="0.1", L=1, LC="0.15"),
        [
            [0.24326436243880012, 0.5640222123465852, 0.9390479857296907, 0.3107101216979717],
            [0.4664753321474792, 0.6544055762531091, 0.8418040449001888, 0.4100578452098055],
            [0.8287843933524116, 0.8999662002600558, 0.6062634539351053, 0.5609777217935362],
            [1.2480046743652422, 1.5445725783791688, 0.2757155210167436, 0.7017558122029497],
        ],
    ),
    ("rp_robot", "driven"): (
        [0, 0.5],
        [0, 0],
        [4, -3],
        dict(mA=10, mB=4, mC=6, IA=2, IB="0.35", IC="0.1", LA="0.2", LP="0.1", L=1, LC="0.15"),
        [
            [0.01705339485666014, 0.49408284424187254, 0.13717780191207168, -0.04680830214007483],
            [0.06932919958442417, 0.4771292892585339, 0.2832086965716882, -0.0872045321219175],
            [0.2941359206623104, 0.42155625701076044, 0.6305328603820125, -0.12171022510729532],
            [1.346423345373499, 0.39741299810457753, 1.4484468312339214, 0.1750671032454151],
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_robots_of_the_chapter(case):
    """Equations 6.21 to 6.26 and 6.49 of Buffinton integrated independently."""
    q, u, inputs, values, wanted = CASES[case]
    build = runpy.run_path(str(EXAMPLES / f"{case[0]}.py"))["build"]
    s = build(damping=True) if case[0] == "two_link" else build()
    r = simulate(s, 2.0, q, u, inputs=inputs, parameters=values, t_eval=[0.25, 0.5, 1, 2])
    assert np.allclose(r.y.T, wanted, atol=1e-9)
    assert r.energy_error < 1e-10


def beam(modes, **options):
    """A beam on a shaft that spins up to 6 rad/s in 15 s (Kane, Ryan and Banerjee 1987)."""
    s = System("spinning")
    names = s.coordinates(" ".join(f"q{k + 1}" for k in range(modes)))
    q = names if isinstance(names, tuple) else (names,)
    t = s.t
    angle = "6/15" * (t**2 / 2 + (cos(2 * t * PI / 15) - 1) * (15 / (2 * PI)) ** 2)
    H = s.N.orient_new_axis("H", 3, angle)
    s.beam("beam", H, s.O, clamped_free(modes), q, 10, "1.2", 14000, **options)
    return s


@pytest.mark.parametrize(("modes", "largest", "at_10"), [
    (1, -0.5782594219218212, -0.36101131094349553), (2, -0.5735486689246747, -0.35978596806417945),
    (3, -0.5744424959938499, -0.3627881003444177),
])  # fmt: skip
def test_largest_lag_of_the_spinning_beam(modes, largest, at_10):
    t = np.linspace(0, 15, 15001)
    r = simulate(beam(modes, truncated=True), 15.0, t_eval=t, rtol=1e-9, atol=1e-11)
    tip = r.q.sum(axis=0)
    assert tip.min() == pytest.approx(largest, abs=2e-6)
    assert t[tip.argmin()] == pytest.approx(6.76, abs=0.01)
    assert tip[10000] == pytest.approx(at_10, abs=2e-6)


def test_work_of_a_prescribed_motion():
    """A bead on a rod turned at a steady rate w: r = r0 cosh(w t), and the torque's work is m w^2 (r^2 - r0^2)."""
    s = System("bead")
    x = s.coordinates("x")
    P = s.O.locate_new("P", s.N.orient_new_axis("R", 3, 3 * s.t).x * x)
    s.particle("P", P, "0.5")
    r = simulate(s, 1.2, [0.1])
    assert r["x"][-1] == pytest.approx(0.1 * np.cosh(3.6), rel=1e-10)
    assert r["work_of_motions"][-1] == pytest.approx(0.5 * 9 * (r["x"][-1] ** 2 - 0.01), rel=1e-9)
    assert r.energy_error < 1e-10 and np.abs(r.power_residual).max() < 1e-10


def test_free_body_keeps_momentum_and_unit_quaternion():
    """Without gravity the angular momentum about the mass centre is constant in N; the mass centre moves straight."""
    zero, centre, moments = Fraction(0), (0.2, -0.1, 0.3), (0.4, 0.05, -0.02, 0.6, 0.03, 0.5)
    inertia = Inertia(Fraction(2), tuple(map(f.exact, centre)), tuple(map(f.exact, moments)))
    joint = Joint("free", "floating", "world", "body")
    m = Mechanism("body", (Link("world"), Link("body", inertia)), (joint,), gravity=(zero,) * 3)
    r = simulate(m, 20.0, None, [1.5, -2.0, 0.7, 0.3, -0.2, 0.5])
    assert np.abs(np.linalg.norm(r.q[3:7], axis=0) - 1).max() < 1e-14
    assert r.energy_error < 1e-10
    a, b, c, d, e, g = moments
    tensor = np.array([[a, b, c], [b, d, e], [c, e, g]])
    momenta, centres = [], []
    for t in np.linspace(0, 20, 9):
        y = r.sol(t)
        w, i, j, k = y[3:7] / np.linalg.norm(y[3:7])
        R = np.array([[1 - 2 * (j * j + k * k), 2 * (i * j - w * k), 2 * (i * k + w * j)],
                      [2 * (i * j + w * k), 1 - 2 * (i * i + k * k), 2 * (j * k - w * i)],
                      [2 * (i * k - w * j), 2 * (j * k + w * i), 1 - 2 * (i * i + j * j)]])  # fmt: skip
        momenta.append(R @ tensor @ y[7:10])
        centres.append(y[:3] + R @ centre)
    assert np.allclose(momenta, momenta[0], atol=1e-9 * np.linalg.norm(momenta[0]))
    steps = np.diff(centres, axis=0)
    assert np.allclose(steps, steps[0], atol=1e-8) and np.abs(steps[0]).max() > 0.1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_trees_of_every_joint_type_keep_their_energy(seed):
    m = tree(5, types=("revolute", "prismatic", "spherical", "screw", "universal"), seed=seed)
    rng = np.random.default_rng(seed)
    model = prepare(m)
    n = model.layout.nu
    q = rng.uniform(-0.5, 0.5, model.layout.nq)
    r = simulate(model, 1.0, q, rng.uniform(-0.5, 0.5, n), inputs=rng.uniform(-1, 1, n))
    assert r.success and r.energy_error < 1e-9
    assert np.abs(r.power_residual).max() < 1e-9 * (1 + np.abs(r.rates()).max() * r.kinetic.max())
    assert abs(r["work_of_actuators"][-1]) > 1e-3


def test_puma_against_a_general_integrator():
    """The compiled loop and scipy's solve_ivp over the same compiled slopes, and the momenta of free coordinates."""
    from scipy.integrate import solve_ivp

    model = prepare(robots.load("puma560"))
    r = simulate(model, 2.0, [0.3] * 6)
    idle = np.zeros(6)
    other = solve_ivp(lambda t, y: model.rate(y, np.array([t]), idle), (0, 2), [*[0.3] * 6, *[0] * 8], method="DOP853",
                      rtol=1e-12, atol=1e-13)  # fmt: skip
    assert np.abs(other.y[:12, -1] - r.y[:, -1]).max() < 1e-9
    assert np.abs(r.momentum_residual["q1"]).max() < 1e-10
    assert r.nfev < 1.5 * other.nfev


def joint_robot(**properties):
    m = chain(2, seed=4, skew=False)
    return replace(m, joints=tuple(replace(j, **properties) for j in m.joints))


def test_losses_and_springs_of_joints_are_counted():
    m = joint_robot(damping=Fraction(1, 5), friction=Fraction(1, 10), stiffness=Fraction(3), rest=Fraction(1, 10))
    r = simulate(m, 4.0, [0.8, -0.5], rtol=1e-9, atol=1e-11)
    assert r.success and r.energy_error < 1e-7
    lost = r["work_of_loads"]
    assert lost[-1] < -0.1 and (np.diff(lost) < 1e-12).all()


def test_momenta_of_a_free_tree():
    """A falling tree with damped joints: P - M g t and the angular momentum about its mass centre are constant."""
    m = chain(3, types=("floating", "revolute", "prismatic"), seed=6)
    joints = tuple(j if j.type == "floating" else replace(j, damping=Fraction(1, 2)) for j in m.joints)
    u = np.random.default_rng(1).uniform(-1, 1, 8)
    r = simulate(replace(m, joints=joints), 2.0, None, u)
    momenta = r.momentum_residual
    assert {"momentum_z", "angular_momentum_x"} <= set(momenta) and r["work_of_loads"][-1] < -1e-3
    assert all(np.abs(row).max() < 1e-9 for row in momenta.values())
    assert np.abs(r.model.momenta(*r.states())[:, -6:]).max() > 0.1
    driven = simulate(replace(m, joints=joints), 0.1, None, u, inputs=[1.0] * 8)
    assert driven.momentum_residual == {}


def test_reactions_at_joints():
    """A robot held still rests its weight on its base, a driven one the torque of its first motor; a swinging bob."""
    m = robots.load("puma560", rotors=False)
    model = prepare(m)
    still = simulate(model, 0.1, [0.3] * 6, inputs=gravity_compensation(model))
    weight = 9.81 * moving_mass(m)
    assert np.allclose(still.joint_reaction("link1")[:, :3], [0, 0, weight], atol=1e-9 * weight)
    driven = simulate(model, 0.3, [0.3] * 6, inputs=[5.0, 1, 1, 0.1, 0.1, 0.1])
    assert np.allclose(driven.joint_reaction("link1")[:, 5], 5.0, atol=1e-9)
    s = System("pendulum")
    th = s.coordinates("th")
    A = s.N.orient_new_axis("A", 3, th)
    s.body("bob", A, s.O.locate_new("P", A.x * 2), 3, (0, 0, 0))
    s.gravity(s.N.x * 9.81)
    swing = simulate(s, 2.0, [1.2])
    force = swing.joint_reaction("A")
    tension = 3 * (9.81 * np.cos(swing["th"]) + 2 * swing["th_dot"] ** 2)
    assert np.allclose(force[:, 0], -tension * np.cos(swing["th"]), atol=1e-8)
    assert np.allclose(force[:, 1], -tension * np.sin(swing["th"]), atol=1e-8)


def test_reaction_in_a_loop():
    """The rocker's support carries what the loop's pin and the rod's own motion ask: force balance of the rod."""
    r = simulate(prepare(sim.four_bar()), 0.5, **sim.FOUR_BAR_START)
    support = r.joint_reaction("C")
    pin = np.stack([r.reactions()["B.x"], r.reactions()["B.y"]], axis=1)  # on the coupler; its opposite on the rocker
    a, w, dw = r["t3"], r["t3_dot"], r.rates()[5]
    centre = 0.4 * np.stack([-np.sin(a) * dw - np.cos(a) * w**2, np.cos(a) * dw - np.sin(a) * w**2], axis=1)
    wanted = 0.9 * (centre + np.array([0, 9.81])) + pin
    assert np.allclose(support[:, :2], wanted, atol=1e-7)


def test_puma_against_another_library():
    """Pinocchio's accelerations in scipy's integrator."""
    pin = pytest.importorskip("pinocchio")
    from scipy.integrate import solve_ivp

    from kane.formats.urdf_write import write_urdf

    m = robots.load("puma560", rotors=False)
    other = pin.buildModelFromXML(write_urdf(m))
    data, tau = other.createData(), np.array([3.0, -2.0, 1.0, 0.1, -0.1, 0.05])

    def slope(t, y):
        return np.concatenate([y[6:], pin.aba(other, data, y[:6], y[6:], tau)])

    run = solve_ivp(slope, (0, 1), [*[0.3] * 6, *[0] * 6], method="DOP853", rtol=1e-10, atol=1e-12)
    r = simulate(m, 1.0, [0.3] * 6, inputs=tau)
    assert np.allclose(r.y[:, -1], run.y[:, -1], rtol=1e-7, atol=1e-7)
