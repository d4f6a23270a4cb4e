"""Elastic beams by assumed modes: a flexible link on a hub, spin-up with geometric stiffening, a beam that slides."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kane.equations.constrained import constrained
from kane.equations.programs import matrices_program, motion_program, program_of
from kane.equations.projection import kane_equations
from kane.graph.evaluate import evaluate
from kane.linearization.linear import linearize
from kane.mechanism.beams import (
    S,
    axial_fixed_free,
    bending_stiffness,
    clamped_free,
    free_free,
    gram,
    pinned_pinned,
    shape_values,
)
from kane.mechanism.builder import System, cos, sin
from kane.mechanism.formula import function
from kane.native import compile_program


def test_shapes_meet_their_boundary_conditions():
    for order in (0, 1):
        assert np.abs(shape_values(clamped_free(5), [0.0], order)).max() < 1e-9 * 15**order
    for order in (2, 3):
        assert np.abs(shape_values(clamped_free(5), [1.0], order)).max() < 1e-9 * 15**order
        assert np.abs(shape_values(free_free(5), [0.0, 1.0], order)).max() < 1e-8 * 15**order
    assert np.allclose(shape_values(clamped_free(5), [1.0]), 1)


@pytest.mark.parametrize(("shapes", "roots"), [
    (clamped_free(3), [1.87510406871196, 4.69409113297418, 7.85475743823761]),
    (free_free(3, rigid=False), [4.73004074486271, 7.85320462409584, 10.9956078380017]),
    (pinned_pinned(3), [np.pi, 2 * np.pi, 3 * np.pi]),
])  # fmt: skip
def test_frequencies_of_plain_beams(shapes, roots):
    """omega^2 = (beta L)^4 EI / (rho L^4): stiffness = beta^4 mass, both diagonal."""
    k = bending_stiffness(shapes)
    x, w = np.polynomial.legendre.leggauss(80)
    values = shape_values(shapes, (x + 1) / 2)
    m = (values * w / 2) @ values.T
    assert np.allclose(k, np.diag(np.array(roots) ** 4 * np.diag(m)), atol=1e-8 * np.abs(k).max())


def hub(**options):
    s = System("hub")
    th, d = s.coordinates("th d")
    H = s.N.orient_new_axis("H", 3, th)
    s.body("hub", H, s.O, 1, (0, 0, "0.02"))
    s.beam("beam", H, s.O, clamped_free(1), [d], "0.9", "0.55", "3.2", **options)
    return kane_equations(s.mechanism(), parameters=())


@pytest.mark.parametrize("options", [{}, {"truncated": True}, {"stiffening": "none"}])
def test_one_flexible_link(options):
    """Expected: closed integrals of the clamped beam's mode, and quadrature of the same (twelve decimals agree)."""
    e = hub(**options)
    out = evaluate(matrices_program(e), {"q": [0.3, 0], "u": [0, 0], "t": [0]})
    assert np.allclose(out["mass_matrix"], [[0.15365, 0.126705934411], [0.126705934411, 0.12375]], atol=1e-11)
    linear = linearize(e, [0.3, 0], [0, 0])
    assert np.allclose(np.sort(np.abs(linear.eigenvalues)), [0, 0, 26.53796056344, 26.53796056344], atol=1e-6)
    force = evaluate(matrices_program(e), {"q": [0.3, 1.0], "u": [0, 0], "t": [0]})["active"][1]
    assert force == pytest.approx(-13.566379553719, rel=1e-11)
    assert np.sqrt(-force / out["mass_matrix"][1, 1]) == pytest.approx(10.470306085545, rel=1e-11)


LENGTH, DENSITY, EI, EA = 10, "1.2", 14000, 28000000


def spinning(modes, phase, **options):
    """A beam on a shaft whose angle is a prescribed function of time (Kane, Ryan and Banerjee 1987)."""
    s = System("spinning")
    names = " ".join(f"q{k + 1}" for k in range(modes))
    q = s.coordinates(names)
    q = q if isinstance(q, tuple) else (q,)
    t = s.t
    if phase == "up":
        w = 2 * t * s_pi() / 15
        rise = "6/15" * (t**2 / 2 + (cos(w) - 1) * (15 / (2 * s_pi())) ** 2)
        angle = function("select", 15 - t, rise, 6 * t - 45)  # 6 rad/s after 15 s
    else:
        angle = 6 * t
    H = s.N.orient_new_axis("H", 3, angle)
    s.beam("beam", H, s.O, clamped_free(modes), q, LENGTH, DENSITY, EI, **options)
    return kane_equations(s.mechanism(), parameters=())


def s_pi():
    from kane.mechanism.formula import PI

    return PI


def test_frequencies_at_speed():
    five = [4.513055577701452, 27.63611654819683, 71.03440603563402, 135.32951732270473, 220.81285867701718]
    for modes, wanted in ((1, [4.6241611921455466]), (5, five)):
        e = spinning(modes, "steady", truncated=True)
        linear = linearize(e, np.zeros(modes), np.zeros(modes))
        got = np.sort(np.abs(linear.eigenvalues.imag))[::2]
        assert np.allclose(got, wanted, rtol=1e-9)
    assert (
        np.abs(linearize(spinning(1, "steady", stiffening="none"), [0], [0]).eigenvalues.real).max() > 4
    )  # divergence


def spin_up(modes, until, times, **options):
    run = compile_program(motion_program(spinning(modes, "up", **options)))

    def right(t, y):
        return np.concatenate(run(y[:modes], y[modes:], np.array([t])))

    found = solve_ivp(right, (0, until), np.zeros(2 * modes), t_eval=times, rtol=1e-8, atol=1e-10, method="DOP853")
    return found.y[:modes].sum(axis=0)


def test_spin_up_lag():
    times = [5, 6.76, 7.5, 10, 12.5, 15]
    wanted = [-0.4711145132658924, -0.5782594219218212, -0.5632122144944492]
    wanted += [-0.36101131094349553, -0.11073726241081479, -0.0005744625226998757]
    got = spin_up(1, 15, times, truncated=True)
    assert np.allclose(got, wanted, atol=2e-6)
    full = spin_up(1, 15, times)
    assert np.allclose(full, wanted, atol=0.006)  # the second-order terms of the deflection are small


def test_spin_up_with_three_shapes():
    """Largest lag 0.5744 m (Kane, Ryan and Banerjee 1987; Simo and Vu-Quoc 1987), next to nothing after 15 s."""
    times = [5, 6.76, 7.5, 10, 12.5, 15, 20]
    wanted = [-0.46880631704359504, -0.5744424959938499, -0.5595985738675647, -0.3627881003444177]
    wanted += [-0.11258591101294158, 0.0012223064492489484, 0.0008861605614316123]
    assert np.allclose(spin_up(3, 20, times, truncated=True), wanted, atol=2e-5)


def test_conventional_model_diverges():
    got = spin_up(1, 10, [5, 7, 10], stiffening="none")
    assert np.allclose(got, [-0.5236781830647604, -1.1120725518942849, -72.00888108552739], rtol=1e-5)


def test_steady_extension_of_a_spinning_rod():
    """rho w^2 L^3 / (3 EA) at the tip, to first order in w^2 / (EA / rho L^2)."""
    s = System("rod")
    a, b = s.coordinates("a b")
    H = s.N.orient_new_axis("H", 3, 6 * s.t)
    s.beam(
        "rod",
        H,
        s.O,
        (),
        (),
        LENGTH,
        DENSITY,
        EI,
        axial_coordinates=("a", "b"),
        axial_shapes=(1 * S, S**3),
        axial_rigidity=EA,
    )
    out = evaluate(
        matrices_program(kane_equations(s.mechanism(), parameters=())), {"q": [0, 0], "u": [0, 0], "t": [0]}
    )
    e = kane_equations(s.mechanism(), parameters=())
    linear = linearize(e, [0, 0], [0, 0])
    at_rest = np.linalg.solve(linear.A[2:, :2], -linear.offset[2:])
    assert at_rest.sum() == pytest.approx(5.142857142857142e-4, rel=1e-4)
    assert out["mass_matrix"].shape == (2, 2)
    assert axial_fixed_free(1)[0].evaluate({"s": 1.0}) == pytest.approx(1)
    assert a is not b


def test_tip_mass_stiffens():
    """A light cantilever with a tip mass m, spinning at w.

    The tension m w^2 L adds 6/5 w^2 m for the static tip shape, less w^2 m.
    """
    s = System("tip")
    d = s.coordinates("d")
    H = s.N.orient_new_axis("H", 3, 5 * s.t)
    shape = (S**2 * "3/2" - S**3 * "1/2",)
    beam = s.beam("beam", H, s.O, shape, [d], 2, 0, 30)
    tip, _ = s.beam_end("tip", beam)
    s.particle("mass", tip, 3)
    linear = linearize(kane_equations(s.mechanism(), parameters=()), [0], [0])
    stiffness = 3 * 30 / 2**3 + 3 * 5**2 * (6 / 5 - 1)
    assert -linear.A[1, 0] == pytest.approx(stiffness / 3, rel=1e-10)


def test_gram_matrix_of_rigid_functions():
    s = System()
    beam = s.beam("b", s.N, s.O, (), (), 1, 1, 1)
    assert np.allclose(gram(beam), [[1, 1 / 2], [1 / 2, 1 / 3]])


def test_energy_of_a_spinning_flexible_arm_is_kept():
    """Full second-order kinematics: kinetic plus elastic energy is constant for a free hub."""
    e = hub()
    m, k = matrices_program(e), 13.566379553719
    program = motion_program(e)

    def right(t, y):
        out = evaluate(program, {"q": y[:2], "u": y[2:], "t": [t]})
        return np.concatenate([out["qdot"], out["udot"]])

    run = solve_ivp(right, (0, 0.5), [0, 0.05, 6, 0], rtol=1e-10, atol=1e-12, method="DOP853", t_eval=[0, 0.2, 0.5])

    def energy(y):
        mass = evaluate(m, {"q": y[:2], "u": y[2:], "t": [0]})["mass_matrix"]
        return y[2:] @ mass @ y[2:] / 2 + k * y[1] ** 2 / 2

    values = [energy(y) for y in run.y.T]
    assert np.ptp(values) < 1e-7 * values[0]
    assert np.ptp(run.y[2]) > 1e-3
    assert program_of(e, "angle", [("s", (), (e.graph.sin(e.points.symbols.q[0]),))]).counts.trig == 1
    assert sin(0).evaluate({}) == 0


def test_a_free_beam_held_by_a_sliding_joint():
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "rp_elastic.py"))
    wanted = sorted((example["cantilever"](0.65), example["cantilever"](0.35)))
    coarse, fine = example["frequencies"](6, 0.65), example["frequencies"](10, 0.65)
    assert np.all(coarse > fine) and np.all(fine > wanted)
    assert np.allclose(fine, wanted, rtol=0.08)
    e = kane_equations(example["build"](4).mechanism())
    c = constrained(e)
    q = c.consistent_configuration([0.1, 0.6, 0.01, -0.02, 0.004, 0.002], keep=("q1", "q2", "d3", "d4"))
    u = c.consistent_speeds(q, [1, 0.4, 0, 0, 0.1, -0.05], keep=("q1", "q2", "d3", "d4"))
    values = shape_values(free_free(4), [1 - q[1]])[:, 0]
    slopes = shape_values(free_free(4), [1 - q[1]], 1)[:, 0]
    # sum phi_k u_k - w' u2 = 0 at the joint
    assert values @ u[2:] - (slopes @ q[2:]) * u[1] == pytest.approx(0, abs=1e-12)
    motion = c.accelerations(q, u, f=[4.0, -3.0])
    assert motion.redundant == () and all(motion.determined)
