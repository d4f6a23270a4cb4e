"""Closed loops and rolling: published runs, starts, projection, redundancy, singular configurations."""

import numpy as np
import pytest

from kane.errors import ConvergenceError, InputError
from kane.mechanism.builder import System
from kane.simulation.constrained_code import call, constrained_code
from kane.simulation.model import prepare
from kane.simulation.simulate import simulate
from simulation import simulated as sim


@pytest.fixture(scope="module")
def four_bar():
    return prepare(sim.four_bar())


def test_four_bar_start(four_bar):
    r = simulate(four_bar, 2.0, **sim.FOUR_BAR_START, inputs=[0.4])
    assert np.allclose(r.q[:, 0], [1.047197551197, 0.63059891954, 1.725276185423], atol=1e-11)
    assert np.allclose(r.u[:, 0], [2.0, -0.470530838369, 0.341467104572], atol=1e-11)
    assert np.allclose(r.rates()[3:6, 0], [-11.092381195004, 3.775524389711, -0.130370540369], rtol=1e-10)
    assert r.constraint_residual.max() < 1e-12 and r.speed_residual.max() < 1e-11
    assert r.energy_error < 1e-9
    assert r["work_of_actuators"][-1] == pytest.approx(0.4 * (r["t1"][-1] - r["t1"][0]), rel=1e-10)


def test_machine_code_equals_the_plain_method(four_bar):
    """The compiled solver against pivoted factorisations of LAPACK, at states on and off the constraints."""
    code, rng = constrained_code(four_bar.constraints), np.random.default_rng(2)
    for _ in range(20):
        y = np.concatenate([rng.uniform(-2, 2, 6), np.zeros(3)])
        f = rng.uniform(-1, 1, 1)
        code.inputs[:] = f
        code.control.view(np.int64)[11] = 0  # stages as they are
        got, wanted = call(code, 0.0, y, 9), four_bar.constraints.slope(0.0, y, f)
        assert np.allclose(got[:8], wanted[:8], rtol=1e-10, atol=1e-10 * np.abs(wanted).max())


def test_andrews_squeezer():
    r = simulate(sim.andrews(), 0.03, sim.ANDREWS_START, [0] * 7)
    assert np.allclose(r.rates()[[7, 8], 0], [14222.443919954114, -10666.832939965585], rtol=1e-10)
    assert np.abs(r.q[:, -1] - sim.ANDREWS_END).max() < 1e-7
    assert np.allclose(r.u[:, -1], sim.ANDREWS_SPEEDS, rtol=1e-6)
    last = {name: row[-1] for name, row in r.reactions().items()}
    assert sorted(np.abs(list(last.values()))) == pytest.approx(
        sorted([199.175333373191, 29.75531228015052, 23.06654118, 31.45271365, 22.64249232, 11.6174070]), rel=1e-5
    )


def phi(count, t):
    """[(N+1)/3 + N] L phi'' = -[(N+1)/2 + N] g cos(phi), phi(0) = pi/2, phi'(0) = -1: the chain stays parallel."""
    from scipy.integrate import solve_ivp

    k = 9.81 * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    run = solve_ivp(
        lambda t, y: [y[1], -k * np.cos(y[0])], (0, t), [np.pi / 2, -1], method="DOP853", rtol=1e-13, atol=1e-13
    )
    return run.y[:, -1]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_windows_through_singular_configurations(count):
    """All windows lie flat at phi = k pi, where each could fold the other way."""
    s, q, u = sim.n_four_bar(count)
    r = simulate(s, 10.0, q, u)
    assert r.success
    angle, rate = phi(count, 10.0)
    assert angle < -9 * np.pi  # ten passages
    assert np.abs(r.q[: count + 1, -1] - angle).max() < 1e-7
    assert np.abs(r.u[: count + 1, -1] - rate).max() < 1e-7
    assert np.abs(r.q[count + 1 :]).max() < 1e-7  # the bars stay level
    assert np.abs(r.energy - r.energy[0]).max() < 1e-8 * abs(r.energy[0])
    if count == 2:
        assert angle == pytest.approx(-30.17980086018903, abs=1e-9)
        assert np.allclose(
            [np.cos(r.q[0, -1]), np.sin(r.q[0, -1])], [0.3284581115387604, 0.9445185381793155], atol=1e-8
        )


@pytest.mark.parametrize("rtol", [1e-12, 1e-10, 1e-9, 1e-8, 1e-7])
def test_passages_at_other_tolerances(rtol):
    s, q, u = sim.n_four_bar(2)
    r = simulate(s, 5.0, q, u, rtol=rtol, atol=rtol / 100)
    assert r.success and np.abs(r.q[3:]).max() < 1e-6
    assert abs(r.q[0, -1] - phi(2, 5.0)[0]) < 1e4 * rtol + 1e-9


@pytest.mark.parametrize("start", [0.03, -0.03, -0.01, -0.001])
def test_starts_near_a_singular_configuration(start):
    s, _, _ = sim.n_four_bar(2)
    r = simulate(s, 3.0, [start] * 3 + [0] * 2, [-5.0] * 3 + [0] * 2)
    assert r.success and np.ptp(r.q[:3, -1]) < 1e-9 and np.abs(r.q[3:]).max() < 1e-8 and r.energy_error < 1e-9


@pytest.mark.sweep
def test_forty_windows():
    s, q, u = sim.n_four_bar(40)
    r = simulate(s, 10.0, q, u)
    assert np.abs(r.q[:41, -1] + 30.026637417189242).max() < 1e-7
    assert np.abs(r.energy - r.energy[0]).max() < 1e-8 * abs(r.energy[0])


def test_rolling_disc():
    q, u = {"q1": 0.4, "q2": 0.35, "q3": 0.2, "x": 0.0, "y": 0.0}, {"q1": 1.1, "q2": -0.4, "q3": 6.0}
    r = simulate(sim.rolling_disc(), 60.0, q, u)
    assert np.allclose(r.rates()[5:8, 0], [5.109792880241, 18.593831558172, -1.063263452431], rtol=1e-11)
    assert r.t[-1] == 60.0 and r.speed_residual.max() < 1e-9
    assert np.abs(r.energy - r.energy[0]).max() < 1e-8 * r.energy[0]


def test_stability_of_an_upright_disc():
    """A thin disc rolling upright falls below v^2 = g r / 3 and not above it."""
    critical = np.sqrt(9.81 / (3 * 0.25))
    leans = []
    for factor in (0.9, 1.1):
        start = {"q1": 0.0, "q2": 1e-3, "q3": 0.0, "x": 0.0, "y": 0.0}
        r = simulate(
            sim.rolling_disc(), 6.0, start, {"q1": 0.0, "q2": 0.0, "q3": factor * critical}, rtol=1e-9, atol=1e-12
        )
        leans.append(np.abs(r["q2"]).max())
    assert leans[0] > 0.3 and leans[1] < 0.02


def test_a_start_off_the_constraints_is_refused_with_a_better_one(four_bar):
    with pytest.raises(InputError, match=r"off constraint 'B\.[xy]'.*configuration residual") as found:
        simulate(four_bar, 1.0, [1.0, 0.6, 1.7], [0, 0, 0])
    q, u = found.value.value
    r = simulate(four_bar, 0.1, q, u)
    again = simulate(four_bar, 0.1, [1.0, 0.6, 1.7], [0, 0, 0], start="correct")
    assert np.allclose(again.q[:, 0], r.q[:, 0], atol=1e-14) and r.constraint_residual[0] < 1e-12
    q = r.q[:, 0]
    with pytest.raises(InputError, match="speed residual"):
        simulate(four_bar, 1.0, q, [1.0, 0, 0])
    with pytest.raises(ConvergenceError, match="fulfils constraint"):
        simulate(four_bar, 1.0, {"t1": 3.0, "t3": 0.1}, guess={"t2": 0.6})


@pytest.mark.parametrize("speeds", [[0.0] * 3, dict.fromkeys(("t1", "t2", "t3"), 0.0), {"t1_dot": 0.0}, None])
def test_a_start_wholly_by_name_is_one_in_order(four_bar, speeds):
    """To six digits, as people write it: refused with a better one, or corrected, however it is given."""
    in_order = [1.047198, 0.630599, 1.725276]
    by_name = dict(zip(("t1", "t2", "t3"), in_order, strict=True))
    wanted = simulate(four_bar, 0.01, in_order, [0, 0, 0], start="correct")
    for q in (in_order, by_name):
        with pytest.raises(InputError, match="off constraint"):
            simulate(four_bar, 0.01, q, speeds)
        run = simulate(four_bar, 0.01, q, speeds, start="correct")
        assert np.array_equal(run.y[:, 0], wanted.y[:, 0]) and np.allclose(run.q[:, 0], in_order, atol=1e-5)


def test_redundant_conditions_are_named_and_harmless(four_bar):
    model = prepare(sim.four_bar(axes=(1, 2, 3)))
    plain = simulate(four_bar, 2.0, **sim.FOUR_BAR_START)
    r = simulate(model, 2.0, **sim.FOUR_BAR_START)
    assert np.allclose(r.y[:, -1], plain.y[:, -1], atol=1e-8)
    state = np.concatenate([r.y[:, 0], np.zeros(3)])
    assert model.constraints.redundant(0.0, state) == ("B.z",)
    assert r.redundant == ("B.z",) and "redundant, and left out: B.z" in r.summary()
    assert plain.redundant == () and "redundant" not in plain.summary()


def test_doubled_conditions_share_their_load():
    """A pendulum held by the same condition twice: the motion is that of one, the multipliers are not determined."""
    runs = []
    for copies in (1, 2):
        s = System("held")
        x, y = s.coordinates("x y")
        P = s.O.locate_new("P", s.N.x * x + s.N.y * y)
        s.particle("P", P, 2)
        s.gravity(s.N.y * -9.81)
        for k in range(copies):
            s.holonomic(f"rod{k}", x**2 + y**2 - 1)
        runs.append(simulate(s, 3.0, [1.0, 0.0], [0.0, 0.0]))
    assert np.allclose(runs[0].y[:, -1], runs[1].y[:, -1], atol=1e-9)
    assert runs[0].constraint_residual.max() < 1e-12
    forces = runs[0].reactions()["rod0"]
    tension = 2 * (3 * 9.81 * -runs[0]["y"])  # m (v^2 + g cos) = 3 m g cos, and the gradient has length 2
    assert np.allclose(-2 * forces, tension, atol=1e-7)
    assert all(np.isnan(row).all() for row in runs[1].reactions().values())


def test_prescribed_constraint_work():
    """A bead whose abscissa is driven: x = sin(2 t); on a line of slope 1 its energy comes from the drive."""
    s = System("driven")
    x, y = s.coordinates("x y")
    from kane.mechanism.builder import sin

    P = s.O.locate_new("P", s.N.x * x + s.N.y * y)
    s.particle("P", P, 1)
    s.gravity(s.N.y * -9.81)
    s.holonomic("drive", x - sin(2 * s.t))
    s.holonomic("line", y - x)
    r = simulate(s, 1.0, [0.0, 0.0], [2.0, 2.0])
    assert np.allclose(r["x"], np.sin(2 * r.t), atol=1e-11)
    assert r["work_of_motions"][-1] == pytest.approx(r.energy[-1] - r.energy[0], abs=1e-9)
    assert r.energy_error < 1e-9


def test_dae_of_sundials(four_bar):
    pytest.importorskip("sksundae")
    a = simulate(four_bar, 1.0, **sim.FOUR_BAR_START, inputs=[0.4])
    b = simulate(four_bar, 1.0, **sim.FOUR_BAR_START, inputs=[0.4], method="IDA", rtol=1e-8, atol=1e-10)
    assert b.success and np.allclose(a.y[:, -1], b.y[:, -1], atol=3e-5)
    assert b.constraint_residual.max() < 1e-12
    assert b["work_of_actuators"][-1] == pytest.approx(a["work_of_actuators"][-1], abs=1e-4)
    redundant = simulate(sim.four_bar(axes=(1, 2, 3)), 0.5, **sim.FOUR_BAR_START, method="IDA", rtol=1e-7, atol=1e-9)
    assert redundant.success and redundant.constraint_residual.max() < 1e-12


def test_fixed_steps_stay_on_the_constraints(four_bar):
    r = simulate(four_bar, 0.5, **sim.FOUR_BAR_START, method="RK4", step=1e-3)
    assert r.constraint_residual.max() < 1e-12
    assert np.allclose(r.y[:, -1], simulate(four_bar, 0.5, **sim.FOUR_BAR_START).y[:, -1], atol=1e-7)


def test_a_robot_whose_loop_is_closed():
    """A planar five-bar of revolute joints, driven by joint torques: loop holds, power balance holds."""
    from dataclasses import replace

    from kane.mechanism import constraints as c
    from kane.mechanism import formula as f
    from kane.mechanism.model import Frame, Inertia, Joint, Link, Mechanism, Translate

    rod = Inertia(
        f.exact(1), (f.exact("0.25"), f.exact(0), f.exact(0)), tuple(map(f.exact, ("1/500", 0, 0, "1/48", 0, "1/48")))
    )
    links = [Link("base"), *(Link(n, rod) for n in ("a", "b", "c", "d"))]
    shift = lambda x: (Translate((f.exact(x), f.exact(0), f.exact(0))),)
    joints = [
        Joint("ja", "revolute", "base", "a"), Joint("jb", "revolute", "a", "b", shift("0.5")),
        Joint("jc", "revolute", "base", "c", shift("0.6")), Joint("jd", "revolute", "c", "d", shift("0.5")),
    ]  # fmt: skip
    frames = (Frame("end_b", "b", shift("0.5")), Frame("end_d", "d", shift("0.5")))
    m = Mechanism("five_bar", tuple(links), tuple(joints), frames, gravity=(f.exact(0), f.exact("-9.81"), f.exact(0)))
    m = replace(m, constraints=(c.Coincident("loop", "end_b", "end_d", "base", (0, 1)),))
    model = prepare(m)
    assert model.layout.inputs == ("ja", "jb", "jc", "jd")
    r = simulate(
        model, 1.5, {"ja": 1.8, "jc": 1.2}, {"ja": 0.3}, guess={"jb": -1.5, "jd": 1.5}, inputs={"ja": 3.0, "jc": -1.0}
    )
    assert r.success and r.constraint_residual.max() < 1e-12 and r.energy_error < 1e-9
    work = 3.0 * (r["ja"][-1] - r["ja"][0]) - (r["jc"][-1] - r["jc"][0])
    assert r["work_of_actuators"][-1] == pytest.approx(work, abs=1e-9) and abs(work) > 0.1


@pytest.mark.parametrize("made", [sim.four_bar, lambda: sim.n_four_bar(3)[0], lambda: sim.n_four_bar(8)[0]])
def test_a_start_from_any_guess_is_assembled_without_turning_round(made):
    """Newton's method alone leaves one guess in four for places many turns away."""
    model = prepare(made())
    n, rng = model.layout.nq, np.random.default_rng(5)
    for _ in range(40):
        guess = rng.uniform(-np.pi, np.pi, n)
        q, u = model.constraints.start(0.0, guess, np.zeros(model.layout.nu), "correct")
        assert np.abs(model.constraints.configuration(0.0, np.concatenate([q, u, np.zeros(3)]))[0]).max() < 1e-9
        assert np.abs(q - guess).max() < 2.0 * np.pi


def test_what_the_guess_fixes_stays(four_bar):
    rng = np.random.default_rng(6)
    for _ in range(20):
        guess = np.array([rng.uniform(-np.pi, np.pi), *rng.uniform(-1.0, 2.0, 2)])
        fixed = np.array([True, False, False]), np.array([True, False, False])
        q, u = four_bar.constraints.start(0.0, guess, np.array([1.5, 0.0, 0.0]), "correct", fixed)
        assert q[0] == guess[0] and u[0] == 1.5
        assert four_bar.constraints._worst(0.0, q, u) is None
