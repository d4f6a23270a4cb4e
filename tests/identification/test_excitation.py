"""Designed motions: limits hold at all times, gradients are right, the regressor gets better."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from identification.arms import rough, spatial
from kane.errors import ConvergenceError, InputError
from kane.formats.urdf import read_urdf
from kane.identification.excitation import (
    Box,
    Search,
    _Design,
    exciting_motion,
    frame_positions,
    natural_harmonics,
    reverse_regressor,
)
from kane.identification.motion import FourierMotion, motion_limits, within
from kane.identification.torque_model import torque_model
from kane.identification.trial import falling_variables, trials
from kane.mechanism.model import Limits
from kane.robots import load
from kane.robots.generated import tree

PANDA = Path(pin.__file__).parents[4] / "share/example-robot-data/robots/panda_description/urdf/panda.urdf"


@pytest.fixture(scope="module")
def model():
    return torque_model(rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0]), friction="given")


def dense(motion, count=20_001):
    return motion(np.linspace(0, motion.period, count))


def test_rates_are_derivatives():
    rng = np.random.default_rng(0)
    motion = FourierMotion(("a", "b"), 7.0, rng.normal(size=2), *rng.normal(size=(2, 2, 4)))
    t, h = np.linspace(0, 7, 30), 1e-5
    q, qd, qdd = motion(t)
    assert np.allclose((motion(t + h)[0] - motion(t - h)[0]) / (2 * h), qd, atol=1e-7)
    assert np.allclose((motion(t + h)[1] - motion(t - h)[1]) / (2 * h), qdd, atol=1e-6)
    assert np.allclose(motion(t + 7.0)[0], q)


@given(st.integers(0, 10_000), st.integers(1, 7))
def test_bounds_hold_between_samples_and_are_tight(seed, harmonics):
    rng = np.random.default_rng(seed)
    motion = FourierMotion(("a", "b"), 3.0, rng.normal(size=2), *rng.normal(size=(2, 2, harmonics)))
    low, high, speed, acceleration = motion.bounds()
    q, qd, qdd = dense(motion)
    span = high - low
    assert (q >= low).all() and (q <= high).all() and (span < 1.01 * np.ptp(q, axis=0)).all()
    for bound, values in ((speed, qd), (acceleration, qdd)):
        assert (np.abs(values) <= bound).all() and (bound < 1.01 * np.abs(values).max(axis=0)).all()


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_filled_motions_keep_their_limits_and_reach_one(seed):
    model = torque_model_cached()
    limits = motion_limits(model)
    rng = np.random.default_rng(seed)
    motion = within(limits, 8.0, rng.normal(size=(3, 2, 5)), rng.uniform(size=3), np.ones(3), model.joints)
    q, qd, qdd = dense(motion)
    assert (q >= limits.lower).all() and (q <= limits.upper).all()
    assert (np.abs(qd) <= limits.velocity).all() and (np.abs(qdd) <= limits.acceleration).all()
    used = np.maximum.reduce(
        [np.ptp(q, axis=0) / (limits.upper - limits.lower), np.abs(qd).max(axis=0) / limits.velocity,
         np.abs(qdd).max(axis=0) / limits.acceleration]
    )  # fmt: skip
    assert (used > 0.99).all()


_CACHE = []


def torque_model_cached():
    if not _CACHE:
        _CACHE.append(torque_model(spatial()))
    return _CACHE[0]


@pytest.mark.parametrize("objective", ["condition", "information"])
@pytest.mark.parametrize("effort,boxes", [(1e9, ()), (15.0, ()), (1e9, (Box("l3", (-0.2, -0.2, 0), (0.3, 0.2, 0.5)),))])
def test_gradient_of_the_design_is_that_of_its_cost(objective, effort, boxes):
    model = torque_model_cached()
    positions = frame_positions(model, ["l3"]) if boxes else None
    trial = trials(model.joints, motion_limits(model, effort=effort), (10.0, 3), True, 80)
    design = _Design(model, trial, objective, boxes, positions, model.prior, reverse_regressor(model))
    p = falling_variables(3, 3, np.random.default_rng(2))
    slope = design.cost(p)[1]
    h = 1e-5
    expected = [(design.cost(p + h * e)[0] - design.cost(p - h * e)[0]) / (2 * h) for e in np.eye(len(p))]
    assert np.abs(slope - expected).max() < 1e-4 * max(1.0, np.abs(expected).max())


def test_designed_motion_is_better_than_random_ones_and_keeps_all_limits(model):
    box = Box("l3", (-0.6, -0.6, -0.5), (0.6, 0.6, 0.8))
    limits = motion_limits(model, effort=[40.0, 35.0, 35.0])
    found = exciting_motion(model, (10.0, 4), boxes=(box,), limits=limits, search=Search(starts=10, rounds=60))
    assert found.condition < 0.5 * np.median(found.random) and max(found.margins.values()) <= 1
    assert set(found.margins) == {"position", "velocity", "acceleration", "effort", "box"}
    q, qd, qdd = dense(found.motion)
    assert (q >= limits.lower).all() and (q <= limits.upper).all()
    assert (np.abs(qd) <= limits.velocity).all() and (np.abs(qdd) <= limits.acceleration).all()
    assert (np.abs(model.torque(q, qd, qdd, model.prior)) <= limits.effort).all()
    place = frame_positions(model, ["l3"])(q)[:, 0]
    assert (place >= box.lower).all() and (place <= box.upper).all()
    assert np.abs(qd[[0, -1]]).max() < 1e-9 and np.abs(qdd[[0, -1]]).max() < 1e-8  # starts and ends at rest
    W = model.regressor(*found.motion(np.arange(0.005, 10.0, 0.01)))
    assert np.isclose(np.linalg.cond(W.reshape(-1, W.shape[-1])), found.condition, rtol=1e-2)
    again = exciting_motion(model, (10.0, 4), boxes=(box,), limits=limits, search=Search(starts=10, rounds=60))
    assert np.array_equal(again.motion.sine, found.motion.sine)


def wheel(name):
    path = PANDA.parents[2] / name
    fixed = [replace(j, type="fixed", mimic=None) if j.type == "prismatic" else j for j in read_urdf(path).joints]
    return replace(read_urdf(path), joints=tuple(fixed))


ROBOTS = {
    "puma560": lambda: load("puma560"),
    "two_link": lambda: load("two_link"),
    "stanford": lambda: load("stanford"),
    "tree": lambda: tree(6, branching=2, seed=3),
    "ur5": lambda: wheel("ur_description/urdf/ur5_robot.urdf"),
    "panda": lambda: wheel("panda_description/urdf/panda.urdf"),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_condition_is_five_times_better_than_of_random_motions(name):
    model = torque_model(ROBOTS[name](), friction="none")
    limits = motion_limits(model)
    found = exciting_motion(model)
    assert 5.0 * found.condition < np.median(found.random)
    # motions made here, with fewer harmonics: coefficients even, one factor for all joints, up to the first limit
    rng = np.random.default_rng(1)
    random = []
    for _ in range(15):
        a, b = rng.uniform(-1, 1, (2, model.nv, 5)) * (0.5 * (limits.upper - limits.lower))[:, None]
        free = FourierMotion(model.joints, 10.0, np.zeros(model.nv), a, b)
        low, high, speed, acceleration = free.bounds()
        room = np.minimum(limits.upper - limits.lower, 1e9) / (high - low)
        size = min(room.min(), (limits.velocity / speed).min(), (limits.acceleration / acceleration).min())
        centre = 0.5 * (limits.upper + limits.lower) - 0.5 * size * (low + high)
        W = model.regressor(*FourierMotion(model.joints, 10.0, centre, size * a, size * b)(np.arange(0, 10, 0.02)))
        random.append(np.linalg.cond(W.reshape(-1, W.shape[-1])))
    q, qd, qdd = dense(found.motion)
    assert np.linalg.cond(model.regressor(q, qd, qdd).reshape(-1, len(model.names))) < 0.2 * np.median(random)
    assert (q >= limits.lower).all() and (q <= limits.upper).all()
    assert (np.abs(qd) <= limits.velocity).all() and (np.abs(qdd) <= limits.acceleration).all()
    assert (np.abs(model.torque(q, qd, qdd, model.prior)) <= limits.effort).all()


def test_design_does_not_depend_on_the_number_of_threads(model):
    from threadpoolctl import threadpool_limits

    search = Search(starts=3, rounds=10)
    made = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            made.append(exciting_motion(model, (10.0, 8), search=search))
    assert np.array_equal(made[0].motion.sine, made[1].motion.sine) and made[0].condition == made[1].condition


def test_more_harmonics_where_limits_leave_room_for_them(model):
    limits = motion_limits(model, velocity=1.0, acceleration=[1.0, 8.0, 2.0])
    assert natural_harmonics(20.0, limits) == 26  # 8 rad/s over 2 pi / 20 s = 25.5
    assert natural_harmonics(20.0, motion_limits(model, velocity=1.0, acceleration=1.0)) == 20
    assert natural_harmonics(20.0, motion_limits(model, velocity=1.0, acceleration=1e9)) == 32
    found = exciting_motion(model, limits=limits, search=Search(starts=1, rounds=0))
    assert found.motion.sine.shape == (3, 26)


def test_limits_that_files_write_for_none(model):
    robot = spatial()
    limits = Limits(-1e16, 1e10, 1e12, 1e10, 1e15)
    free = robot.replace_joint(replace(robot.joint("yaw"), limits=limits))
    bare = robot.replace_joint(replace(robot.joint("yaw"), limits=Limits()))
    made, plain = (motion_limits(torque_model(r, friction="none")) for r in (free, bare))
    for key in ("lower", "upper", "velocity", "acceleration", "effort"):
        assert np.array_equal(getattr(made, key), getattr(plain, key))


def test_information_is_what_is_maximised_when_asked(model):
    search = Search(starts=5, rounds=30)
    most = exciting_motion(model, (10.0, 3), "information", search=search)
    least = exciting_motion(model, (10.0, 3), "condition", search=search)
    assert most.information > least.information


def test_impossible_limits_are_told(model):
    with pytest.raises(ConvergenceError, match="effort"):
        exciting_motion(model, (10.0, 2), limits=motion_limits(model, effort=0.5), search=Search(2, 2))
    with pytest.raises(InputError, match="holds no motion"):
        exciting_motion(model, (10.0, 1))
    with pytest.raises(InputError, match="'yaw' has the lower limit 1"):
        motion_limits(model, lower=[1, 0, 0], upper=[0.5, 1, 1])
    with pytest.raises(InputError, match="jerk"):
        motion_limits(model, jerk=3.0)
    bare = replace(model.mechanism, joints=tuple(replace(j, limits=type(j.limits)()) for j in model.mechanism.joints))
    assert np.allclose(motion_limits(torque_model(bare)).upper, [np.pi, np.pi, 0.5])
    assert isinstance(model.mechanism.joints[1].rotor.ratio, Fraction)


def test_motion_is_written_as_csv_and_drawing():
    motion = FourierMotion(("a", "b<1>"), 2.0, np.zeros(2), np.ones((2, 1)), np.zeros((2, 1)))
    lines = motion.csv(rate=10).splitlines()
    assert lines[0] == "t,q_a,q_b<1>,qd_a,qd_b<1>,qdd_a,qdd_b<1>" and len(lines) == 22
    row = dict(zip(lines[0].split(","), map(float, lines[6].split(",")), strict=True))
    assert row["t"] == 0.5 and np.isclose(row["q_a"], 1.0) and np.isclose(row["qdd_a"], -(np.pi**2))
    from xml.etree import ElementTree

    drawing = ElementTree.fromstring(motion.svg())
    assert len([e for e in drawing.iter() if e.tag.endswith("polyline")]) == 6


@pytest.mark.parametrize("joints", [1, 6, 60])
def test_a_drawing_has_no_text_upon_text_and_nothing_cut_off(joints):
    rng = np.random.default_rng(joints)
    names = tuple(f"left_shoulder_joint{k}" for k in range(joints))
    motion = FourierMotion(names, 7.0, rng.normal(size=joints), *rng.normal(size=(2, joints, 3)))
    from xml.etree import ElementTree

    drawing = ElementTree.fromstring(motion.svg())
    width, height = float(drawing.get("width")), float(drawing.get("height"))
    boxes = []
    for text in (e for e in drawing.iter() if e.tag.endswith("text")):
        x, y, size = float(text.get("x")), float(text.get("y")), 6.5 * len(text.text)
        left = x - size * {"middle": 0.5, "end": 1.0}.get(text.get("text-anchor"), 0.0)
        boxes.append((left, left + size, y - 10, y + 2))
    assert all(0 <= a and b <= width and 0 <= c and d <= height for a, b, c, d in boxes)
    pairs = [(p, q) for k, p in enumerate(boxes) for q in boxes[:k]]
    assert not [1 for p, q in pairs if p[0] < q[1] and q[0] < p[1] and p[2] < q[3] and q[2] < p[3]]
    texts = {e.text for e in drawing.iter() if e.tag.endswith("text")}
    assert {"0", "7", "t, s", *names} <= texts
    for line in (e for e in drawing.iter() if e.tag.endswith("polyline")):
        places = np.array([p.split(",") for p in line.get("points").split()], float)
        assert (places >= 0).all() and (places <= [width, height]).all()
