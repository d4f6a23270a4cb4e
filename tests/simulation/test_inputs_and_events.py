"""Inputs of every kind, controllers, events, stops and backlash, and what happens when something is wrong."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from kane import robots
from kane.equations.derive import derive_task
from kane.errors import InputError, ShapeError, UnknownNameError, UnsupportedError
from kane.mechanism.builder import System
from kane.native.function import compile_program
from kane.robots.generated import chain
from kane.simulation.contacts import Contact, rigid_stop
from kane.simulation.controllers import (
    computed_torque,
    drive,
    gravity_compensation,
    operational_space,
    pd,
    prescribed_torques,
    spline,
)
from kane.simulation.events import Event
from kane.simulation.inputs import Controller, Profile
from kane.simulation.model import prepare
from kane.simulation.simulate import simulate
from simulation import simulated as sim
from strategies import random_mechanism


@pytest.fixture(scope="module")
def oscillator():
    return prepare(sim.oscillator())


@pytest.fixture(scope="module")
def puma():
    return prepare(robots.load("puma560"))


def forced(t, F=2.0):
    return F / 100 * (1 - np.cos(10 * t))


@pytest.mark.parametrize("inputs", [
    [2.0], {"F": 2.0}, {"F": lambda t: 2.0}, lambda t, q, u: [2.0], Controller(lambda t, q, u: [2.0]),
    Controller(lambda t, q, u: [2.0], 0.01), Profile(np.array([0.0, 0.3]), np.array([2.0, 2.0])),
    Profile(np.array([0.0, 0.3]), np.array([[2.0], [2.0]]), "hold"),
])  # fmt: skip
def test_one_force_given_in_many_ways(oscillator, inputs):
    r = simulate(oscillator, 1.0, [0.0], inputs=inputs)
    assert np.allclose(r["x"], forced(r.t), atol=1e-10)
    assert np.allclose(r["F"], 2.0) and r["work_of_actuators"][-1] == pytest.approx(2 * r["x"][-1], abs=1e-10)


def test_linear_profile(oscillator):
    """x'' + w^2 x = c t: x = c (t - sin(w t)/w) / w^2."""
    r = simulate(oscillator, 1.0, [0.0], inputs=Profile(np.array([0.0, 2.0]), np.array([0.0, 6.0])))
    assert np.allclose(r["x"], 3 * (r.t - np.sin(10 * r.t) / 10) / 100, atol=1e-9)


def test_held_profile_is_exact_over_its_jumps(oscillator):
    """A force for half a period lifts to 2 F/k, where it is dropped."""
    half = np.pi / 10
    r = simulate(oscillator, 1.0, [0.0], inputs=Profile(np.array([0.0, half]), np.array([2.0, 0.0]), "hold"))
    after = r.t > half
    assert np.allclose(r["x"][after], 0.04 * np.cos(10 * (r.t[after] - half)), atol=1e-10)


def test_a_controller_runs_at_its_own_rate(oscillator):
    """u = -k x sampled every T: the exact discrete map of an oscillator with held force."""
    T, calls = 0.05, []

    def law(t, q, u):
        calls.append(t)
        return [-30 * q[0]]

    r = simulate(oscillator, 1.0, [0.1], inputs=Controller(law, T), t_eval=np.linspace(0, 1, 21))
    x = np.array([0.1, 0.0])
    for k in range(20):
        assert np.allclose(r.y[:, k], x, atol=1e-10)
        rest = -30 * x[0] / 100
        c, s = np.cos(10 * T), np.sin(10 * T)
        x = np.array([rest + (x[0] - rest) * c + x[1] * s / 10, -10 * (x[0] - rest) * s + x[1] * c])
    assert np.allclose(calls, T * np.arange(20), atol=1e-12)


def test_wrong_inputs(oscillator):
    with pytest.raises(ShapeError, match=r"expected \(1,\): F"):
        simulate(oscillator, 1.0, [0.0], inputs=[1.0, 2.0])
    with pytest.raises(UnknownNameError, match="no input 'G'"):
        simulate(oscillator, 1.0, [0.0], inputs={"G": 1.0})
    with pytest.raises(ShapeError, match="rising times"):
        simulate(oscillator, 1.0, [0.0], inputs=Profile(np.array([1.0, 0.0]), np.array([0.0, 1.0])))
    with pytest.raises(InputError, match="profile of F is nan at t = 1"):
        simulate(oscillator, 1.0, [0.0], inputs=Profile(np.array([0.0, 1.0]), np.array([0.0, np.nan])))
    with pytest.raises(InputError, match="period"):
        simulate(oscillator, 1.0, [0.0], inputs=Controller(lambda t, q, u: [0], 0.0))


# controllers built from the model


def test_gravity_compensation_holds_still(puma):
    r = simulate(puma, 0.5, [0.3] * 6, inputs=gravity_compensation(puma))
    assert np.abs(r.q - 0.3).max() < 1e-12


def test_computed_torque_error_law(puma):
    """e'' + kd e' + kp e = 0, critically damped: e = e0 (1 + w t) exp(-w t)."""
    track = spline([0, 0.5, 1], [[0] * 6, [0.4, 0.3, -0.2, 0.1, 0.2, 0.3], [0.2] * 6])
    r = simulate(puma, 1.0, [0.05] * 6, inputs=computed_torque(puma, track, 64, 16), rtol=1e-9, atol=1e-11)
    wanted = np.array([track(t)[0] for t in r.t]).T
    assert np.allclose(r.q - wanted, 0.05 * (1 + 8 * r.t) * np.exp(-8 * r.t), atol=1e-7)


def test_computed_torque_takes_joint_forces_into_account():
    m = chain(3, seed=4)
    losses = dict(damping=Fraction(1, 5), friction=Fraction(1, 10), stiffness=Fraction(2))
    model = prepare(replace(m, joints=tuple(replace(j, **losses) for j in m.joints)))
    track = spline([0, 1], [[0] * 3, [0.5, -0.4, 0.3]])
    r = simulate(model, 1.0, [0] * 3, inputs=computed_torque(model, track, 100, 20), rtol=1e-8, atol=1e-10)
    assert np.allclose(r.q[:, -1], [0.5, -0.4, 0.3], atol=1e-6)


@pytest.mark.parametrize("times", [[0.0, 1.0], [-1.0, 0.2, 0.5], [2.0, 5.0, 5.5, 9.0]])
def test_a_spline_rests_beyond_its_ends(times):
    places = np.random.default_rng(len(times)).normal(size=(len(times), 3))
    track = spline(times, places)
    for t, k in ((times[0] - 1e-3, 0), (times[0] - 50, 0), (times[-1] + 1e-3, -1), (times[-1] + 50, -1)):
        q, qd, qdd = track(t)
        assert np.allclose(q, places[k], atol=1e-14) and not qd.any() and not qdd.any()
    for t, k in ((times[0], 0), (times[-1], -1)):
        q, qd, _ = track(t)
        assert np.allclose(q, places[k], atol=1e-14) and np.allclose(qd, 0, atol=1e-12)


def test_a_robot_stays_where_its_spline_ends(puma):
    track = spline([0, 0.3], [[0.1] * 6, [0.3] * 6])
    r = simulate(puma, 0.8, [0.1] * 6, inputs=computed_torque(puma, track, 400, 40), rtol=1e-8, atol=1e-10)
    assert np.allclose(r.q[:, -1], 0.3, atol=1e-5) and np.allclose(r.u[:, -1], 0, atol=1e-4)


def test_controllers_say_what_they_do_not_serve():
    model = prepare(random_mechanism(1, 2, ("floating",)))
    for law in (lambda: gravity_compensation(model), lambda: pd(model, [0] * 7, 1, 1)):
        with pytest.raises(UnsupportedError, match="the floating joint 'j1'"):
            law()


def test_prescribed_motion_and_its_torques(puma):
    """Torques of inverse dynamics along a motion, given back to the robot, reproduce the motion and its work."""
    track = spline([0, 0.4], [[0.1] * 6, [0.3] * 6])
    profile = prescribed_torques(puma, track, np.linspace(0, 0.4, 401))
    q, qd, qdd = track(0.2)
    assert np.allclose(profile.at(0.2), drive(puma)(q, qd, qdd), atol=1e-12)
    r = simulate(puma, 0.4, [0.1] * 6, inputs=profile, rtol=1e-9, atol=1e-11)
    assert np.allclose(r.q[:, -1], 0.3, atol=1e-5)
    assert r["work_of_actuators"][-1] == pytest.approx(r.energy[-1] - r.energy[0], abs=1e-8)


def test_pd_settles_on_its_target(puma):
    heavy = simulate(puma, 3.0, [0.3] * 6, inputs=pd(puma, [0.1] * 6, 80, 40).every(0.002), rtol=1e-8, atol=1e-10)
    assert np.abs(heavy.q[:, -1] - 0.1).max() < 0.02
    sagging = simulate(puma, 3.0, [0.3] * 6, inputs=pd(puma, [0.1] * 6, 80, 40, gravity=False), rtol=1e-8, atol=1e-10)
    assert np.abs(sagging.q[:, -1] - 0.1).max() > 0.1


def test_operational_space_error_law(puma):
    frame = puma.mechanism.links[-1].name
    place = compile_program(derive_task(puma.mechanism, "forward_kinematics", frame).program)
    start = np.array([0.3, 0.4, -0.5, 0.2, 0.6, 0.1])
    offset = np.array([0.04, -0.03, 0.05])
    goal = place(start)[:3, 3] + offset
    law = operational_space(puma, frame, goal, 64, 16, damping=2.0)
    r = simulate(puma, 0.8, start, inputs=law, rtol=1e-9, atol=1e-11)
    path = place(np.ascontiguousarray(r.q.T))[:, :3, 3]
    wanted = goal - offset * ((1 + 8 * r.t) * np.exp(-8 * r.t))[:, None]
    assert np.allclose(path, wanted, atol=1e-7)


def test_controllers_want_trees():
    with pytest.raises(UnsupportedError, match="gravity_compensation"):
        gravity_compensation(prepare(sim.oscillator()))


# events


def test_events_are_located_on_the_dense_output():
    model = prepare(sim.falling())
    marks = [Event(lambda t, q, u, h=h: q[0] - h, f"at {h}") for h in (1.0, 4.0)]
    floor = Event(lambda t, q, u: q[0], "floor", terminal=True, direction=-1)
    r = simulate(model, 10.0, [5.0], events=[*marks, floor])
    assert r.status == 1 and r.success and r.message.startswith("floor at t = 1")
    assert r.t_events["at 4.0"] == pytest.approx([np.sqrt(0.2)], abs=1e-12)
    assert r.t_events["at 1.0"] == pytest.approx([np.sqrt(0.8)], abs=1e-12)
    assert r.t[-1] == pytest.approx(1.0, abs=1e-12) and r.y_events["floor"][0] == pytest.approx([0, -10], abs=1e-10)
    assert [e.name for e in r.events] == ["at 4.0", "at 1.0", "floor"]


def test_directions_and_repeated_crossings(oscillator):
    up = Event(lambda t, q, u: q[0], "up", direction=1)
    down = Event(lambda t, q, u: q[0], "down", direction=-1)
    r = simulate(oscillator, 2.0, [0.1], events=[up, down])
    zeros = (np.arange(7) + 0.5) * np.pi / 10
    assert np.allclose(r.t_events["down"], zeros[0::2][: len(r.t_events["down"])], atol=1e-11)
    assert np.allclose(r.t_events["up"], zeros[1::2][: len(r.t_events["up"])], atol=1e-11)
    assert len(r.t_events["down"]) == 3 and len(r.t_events["up"]) == 3


def test_bouncing_on_a_rigid_stop():
    """Heights fall with e^2, and the impacts' losses are counted as work."""
    model = prepare(sim.falling())
    r = simulate(model, 3.0, [1.0], events=rigid_stop(model, "h", lower=0.0, restitution=0.8))
    times = np.sqrt(0.2) * np.cumsum([1, 2 * 0.8, 2 * 0.64, 2 * 0.512])
    found = r.t_events["h at its lower stop"]
    count = min(4, len(found))
    assert count >= 3 and np.allclose(found[:count], times[:count], atol=1e-10)
    assert r["h"].min() > -1e-10 and r.energy_error < 1e-12
    assert r["work_of_loads"][-1] == pytest.approx(-20 * (1 - 0.8 ** (2 * len(found))), rel=1e-9)


def test_a_stop_without_rebound_ends_the_run():
    model = prepare(sim.falling())
    r = simulate(model, 3.0, [1.0], events=rigid_stop(model, "h", lower=0.0))
    assert r.status == 1 and r.t[-1] == pytest.approx(np.sqrt(0.2), abs=1e-10)


def test_impact_acts_through_the_mass_matrix():
    """An impact on the first joint of a chain leaves every impulse but its own zero: M (u+ - u-) = p e_1."""
    model = prepare(chain(3, seed=2))
    (event,) = rigid_stop(model, model.layout.coordinates[0], upper=0.4, restitution=0.5)
    q, u = np.array([0.4, 0.2, -0.3]), np.array([1.0, -0.5, 0.7])
    _, after = event.action(0.0, q, u)
    M = compile_program(derive_task(model.mechanism, "mass_matrix").program)(q)
    impulse = M @ (after - u)
    assert after[0] == pytest.approx(-0.5) and np.abs(impulse[1:]).max() < 1e-12 and abs(impulse[0]) > 1e-3


def test_compliant_stop_against_its_closed_form():
    """A mass that runs at v into a spring: half a period in contact, back at -v."""
    s = System("mass")
    x = s.coordinates("x")
    s.particle("P", s.O.locate_new("P", s.N.x * x), 2)
    model = prepare(s, contacts=[Contact("x", upper=1, stiffness=800, name="wall")])
    r = simulate(model, 1.2, [0.0], [2.0])
    w = np.sqrt(800 / 2)
    assert np.allclose(r.t_events["wall upper"], [0.5, 0.5 + np.pi / w], atol=1e-11)
    assert r["x"].max() <= 1 + 2 / w + 1e-9 and r["x_dot"][-1] == pytest.approx(-2.0, abs=1e-10)
    assert r.energy_error < 1e-11
    damped = simulate(prepare(s, contacts=[Contact("x", upper=1, stiffness=800, damping="0.3")]), 1.2, [0.0], [2.0])
    lost = damped["work_of_loads"][-1]
    assert lost < -0.1 and lost == pytest.approx(damped["x_dot"][-1] ** 2 - 4.0, rel=1e-9)  # m / 2 = 1
    assert damped.energy_error < 1e-10


def test_backlash_between_two_masses():
    """Two masses that meet over a gap of 2 x 0.1: the relative motion is free, then a spring's; momentum is kept."""
    s = System("two")
    a, b = s.coordinates("a b")
    s.particle("A", s.O.locate_new("A", s.N.x * a), 1)
    s.particle("B", s.O.locate_new("B", s.N.x * b), 3)
    model = prepare(s, contacts=[Contact({"a": 1, "b": -1}, "-0.1", "0.1", stiffness=3000, name="gear")])
    r = simulate(model, 1.0, [0.0, 0.0], [1.0, 0.0])
    w = np.sqrt(3000 / 0.75)
    first = r.t_events["gear upper"]
    assert np.allclose(first[:2], [0.1, 0.1 + np.pi / w], atol=1e-10)
    assert np.allclose(r["a_dot"] + 3 * r["b_dot"], 1.0, atol=1e-11)
    assert r.energy_error < 1e-10 and len(r.t_events["gear lower"]) == 4
    with pytest.raises(UnknownNameError, match="no coordinate 'c'"):
        prepare(s, contacts=[Contact("c", upper=1)])


# what is wrong


def test_a_controller_that_raises_keeps_the_part_before(oscillator):
    def law(t, q, u):
        if t > 0.5:
            raise RuntimeError("valve is shut")
        return [2.0]

    for inputs, end in ((law, 0.5), (Controller(law, 0.01), 0.51)):
        r = simulate(oscillator, 1.0, [0.0], inputs=inputs)
        assert not r.success and r.status == -1 and "valve is shut" in r.message and "t = 0." in r.message
        assert 0.3 < r.t[-1] <= end + 1e-9 and np.allclose(r["x"], forced(r.t), atol=1e-10)
        assert isinstance(r.error, RuntimeError)
    r = simulate(oscillator, 1.0, [0.0], inputs=Controller(law, 0.01), method="RK4", step=0.001)
    assert r.status == -1 and "valve is shut" in r.message and 0.5 <= r.t[-1] < 0.52


def test_a_controller_that_gives_nan(oscillator):
    law = Controller(lambda t, q, u: [np.nan if t > 0.2 else 0.0], 0.01, name="servo")
    r = simulate(oscillator, 1.0, [0.1], inputs=law)
    assert r.status == -1 and "servo gave F = nan" in r.message and r.t[-1] == pytest.approx(0.21)
    r = simulate(oscillator, 1.0, [0.1], inputs=lambda t, q, u: [np.inf if t > 0.2 else 0.0])
    assert r.status == -1 and "F = inf" in r.message and r.t[-1] <= 0.2
    r = simulate(oscillator, 1.0, [0.1], inputs=lambda t, q, u: [0.0, 1.0])
    assert r.status == -1 and "expected (1,): F" in r.message and len(r.t) == 1


def test_a_start_that_is_not_finite(oscillator):
    with pytest.raises(InputError, match="The start has x = nan"):
        simulate(oscillator, 1.0, [np.nan])
    with pytest.raises(ShapeError, match=r"expected \(1,\): x"):
        simulate(oscillator, 1.0, [0.0, 1.0])
    with pytest.raises(UnknownNameError, match="no 'y'"):
        simulate(oscillator, 1.0, {"y": 1.0})
    for span in (0.0, -1.0, np.nan, (2.0, 1.0)):
        with pytest.raises(InputError, match="no span"):
            simulate(oscillator, span, [0.0])
    with pytest.raises(UnsupportedError, match="no method 'Euler'"):
        simulate(oscillator, 1.0, [0.0], method="Euler")


def blowing_up():
    """x'' = 6 x^2 with x = 1/(1 - t)^2: infinite at t = 1."""
    s = System("escape")
    x = s.coordinates("x")
    P = s.O.locate_new("P", s.N.x * x)
    s.particle("P", P, 1)
    s.force("push", P, s.N.x * (6 * x**2))
    return s


def test_a_step_that_underflows_is_reported_with_names_and_values():
    r = simulate(blowing_up(), 2.0, [1.0], [2.0])
    assert r.status == -1 and not r.success
    assert "step size underflows" in r.message or "not finite" in r.message
    assert "x" in r.message and r.t[-1] == pytest.approx(1.0, abs=1e-6)
    early = r.t < 0.9
    assert np.allclose(r["x"][early], 1 / (1 - r.t[early]) ** 2, rtol=1e-8)


def test_a_rate_that_becomes_nan_is_named():
    """sqrt of a coordinate that falls below zero."""
    from kane.mechanism.formula import function

    s = System("root")
    x = s.coordinates("x")
    P = s.O.locate_new("P", s.N.x * x)
    s.particle("P", P, 1)
    s.force("push", P, s.N.x * (function("sqrt", x) * 1))
    r = simulate(s, 2.0, [0.01], [-1.0])
    assert r.status == -1 and "t = 0.01" in r.message and "x_dot" in r.message
    assert len(r.t) > 1 and np.isfinite(r.y).all()


def test_a_run_without_progress_is_stopped():
    """A damper of 1e13 N s/m on 1 kg: explicit steps of 1e-12 s."""
    s = System("stuck")
    x = s.coordinates("x")
    P = s.O.locate_new("P", s.N.x * x)
    s.particle("P", P, 1)
    from kane.mechanism.builder import dot

    s.force("damper", P, s.N.x * (-(10**13) * dot(x) - x))
    r = simulate(s, 1.0, [1.0], [1.0], rtol=1e-6, atol=1e-6)
    assert r.status == -1 and "no progress" in r.message and "BDF" in r.message and "x_dot = " in r.message


def test_events_that_raise_keep_the_part_before(oscillator):
    def late(t, q, u):
        if t > 0.5:
            raise ValueError("no signal")
        return 1.0

    def action(t, q, u):
        raise ValueError("no valve")

    for events, text in (
        ([Event(late, "probe")], "event 'probe' raised ValueError: no signal"),
        ([Event(lambda t, q, u: np.nan if t > 0.5 else 1.0, "probe")], "event 'probe' gave nan"),
        (
            [Event(lambda t, q, u: q[0], "shut", action=action)],
            "the action of event 'shut' raised ValueError: no valve",
        ),
    ):
        r = simulate(oscillator, 1.0, [0.1], events=events)
        assert r.status == -1 and text in r.message and len(r.t) > 1
        assert np.allclose(r["x"], 0.1 * np.cos(10 * r.t), atol=1e-10)


def test_profiles_from_before_zero(oscillator):
    profile = Profile(np.array([-0.5, -0.5 + np.pi / 10]), np.array([2.0, 0.0]), "hold")
    r = simulate(oscillator, (-0.5, 0.5), [0.0], inputs=profile)
    after = r.t > -0.5 + np.pi / 10
    assert r.t[-1] == 0.5 and np.allclose(
        r["x"][after], 0.04 * np.cos(10 * (r.t[after] + 0.5 - np.pi / 10)), atol=1e-10
    )
