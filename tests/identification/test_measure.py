"""Measured parameters: propagation of errors, the formulas of the instruments, the worksheet of the PUMA 560."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.equations.derive import derive_task
from kane.errors import FormatError, InputError, NumberError, UnknownNameError
from kane.graph.evaluate import evaluate
from kane.identification.measure import (
    MeasuredBody,
    along,
    bifilar_inertia,
    box_shell,
    cylinder_shell,
    first_and_second,
    frequency,
    joined,
    sphere_shell,
    spring_inertia,
    tensor_from_swings,
)
from kane.identification.pseudo import is_physical
from kane.identification.quantity import Quantity, covariance, reading
from kane.identification.worksheet import measurements, read_worksheet
from kane.mechanism.inertia import bodies
from kane.robots import load

SHEET = Path(__file__).with_name("puma560_worksheet.toml")
FULL = ("xx", "xy", "xz", "yy", "yz", "zz")


def source(name, value, error):
    return Quantity(value, {name: error})


@given(st.floats(0.5, 5), st.floats(0.5, 5), st.floats(0.01, 0.1), st.floats(0.01, 0.1))
def test_errors_are_those_of_many_repeated_readings(a, b, ea, eb):
    x, y = source("a", a, ea * a), source("b", b, eb * b)
    made = x**2 * y / (x + 3.0 * y) - 2.0 / y + (-x) + (1.0 - y)

    def f(x, y):
        return x**2 * y / (x + 3 * y) - 2 / y - x + 1 - y

    h = 1e-6
    slopes = [(f(a + h, b) - f(a - h, b)) / (2 * h) * ea * a, (f(a, b + h) - f(a, b - h)) / (2 * h) * eb * b]
    assert np.isclose(made.value, f(a, b)) and np.isclose(made.error, np.hypot(*slopes), rtol=1e-5, atol=1e-9)


def test_what_is_read_once_is_correlated():
    m = source("m", 2.0, 0.1)
    assert (m - m).error == 0 and np.isclose((m + m).error, 0.2) and np.isclose((m * m).error, 0.4)
    assert np.isclose(covariance(m * 3.0, m + source("n", 1.0, 0.5)), 0.03)


def test_readings():
    assert reading("17.40 +- 0.05", "m") == Quantity(17.4, {"m": 0.05})
    assert np.isclose(reading(3.2, "l", 0.001).error, 0.001 / np.sqrt(12))
    repeated = reading([1.0, 1.2, 1.4], "t", 0.001)
    assert np.isclose(repeated.value, 1.2) and np.isclose(repeated.error, 0.2 / np.sqrt(3))
    assert np.isclose(reading([1.0, 1.0], "t", 0.12).error, 0.12 / np.sqrt(12))
    assert str(Quantity(17.4, {"m": 0.046})) == "17.400 +- 0.046"
    for bad in ("17,40", float("nan"), []):
        with pytest.raises(NumberError, match=r"link\.l1\.mass"):
            reading(bad, "link.l1.mass")


def test_bifilar_is_the_period_of_the_torsion_pendulum():
    # twist theta tilts each of two wires, which carry M g / 2, by r theta / l: torque -M g r^2 theta / l
    mass, g, r, l, I = 3.0, 9.8, 0.2, 1.5, 0.07
    omega = np.sqrt(mass * g * r**2 / l / I)
    parts = [source(n, v, 0.01 * v) for n, v in zip("mgrl", (mass, g, r, l), strict=True)]
    periods = frequency(20.0, source("t", 20 * 2 * np.pi / omega, 0.002))
    found = bifilar_inertia(*parts, periods)
    assert np.isclose(found.value, I)
    relative = 0.002 * omega / (20 * 2 * np.pi)
    assert np.isclose(found.error / I, np.sqrt(1e-4 * (1 + 1 + 4 + 1) + (2 * relative) ** 2))


def test_spring_counts_the_gravity_gradient():
    k, dg, I = 40.0, -7.0, 1.3
    omega = np.sqrt((k + dg) / I)
    found = spring_inertia(source("k", k, 2.0), Quantity(dg), Quantity(omega))
    assert np.isclose(found.value, I) and np.isclose(found.error, 2.0 / omega**2)


def test_six_swings_give_the_tensor_and_three_the_diagonal():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3))
    I = A @ A.T + np.eye(3)
    axes = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 2, 2), (1, 0, 1)]
    units = [np.array(a) / np.linalg.norm(a) for a in axes]
    swings = [source(str(k), float(u @ I @ u), 0.01) for k, u in enumerate(units)]
    tensor = tensor_from_swings(axes, swings)
    assert np.allclose([t.value for t in tensor], I[np.triu_indices(3)])
    assert np.isclose(tensor[0].error, 0.01)
    # Ixy = I_d - (Ixx + Iyy) / 2 for the diagonal d of x and y
    assert np.isclose(tensor[1].error, 0.01 * np.sqrt(1 + 0.5))
    three = tensor_from_swings(axes[:3], swings[:3])
    assert [t.value for t in three] == pytest.approx([I[0, 0], 0, 0, I[1, 1], 0, I[2, 2]])
    with pytest.raises(InputError, match="5 swings"):
        tensor_from_swings(axes[:5], swings[:5])
    with pytest.raises(InputError, match="2 swings"):
        tensor_from_swings(axes[:2], swings[:2])


def integrated(points, weights):
    w = weights / weights.sum()
    p = points - w @ points
    return sum(a * (x @ x * np.eye(3) - np.outer(x, x)) for a, x in zip(w, p, strict=True))


def test_shells_are_the_integrals_over_their_sheets():
    n = 60
    u = (np.arange(n) + 0.5) / n - 0.5
    x, y, z = 0.3, 0.5, 0.8
    sizes, faces, areas = np.array([x, y, z]), [], []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for side in (-0.5, 0.5):
            grid = np.zeros((n * n, 3))
            grid[:, i], grid[:, j] = (g.ravel() for g in np.meshgrid(u * sizes[i], u * sizes[j]))
            grid[:, k] = side * sizes[k]
            faces.append(grid)
            areas.append(np.full(n * n, sizes[i] * sizes[j]))
    expected = integrated(np.concatenate(faces), np.concatenate(areas))
    found = box_shell(*map(Quantity, (2.0, x, y, z)))
    assert np.allclose([t.value for t in found], 2.0 * expected[np.triu_indices(3)], rtol=1e-3, atol=1e-12)

    r, l = 0.2, 0.7
    angle = 2 * np.pi * np.arange(n) / n
    tube = np.array([(r * np.cos(a), r * np.sin(a), l * h) for a in angle for h in u])
    radii = r * np.sqrt((np.arange(n) + 0.5) / n)
    lid = np.array([(s * np.cos(a), s * np.sin(a), 0) for a in angle for s in radii])
    for ends in (0, 1, 2):
        points, weights = [tube], [np.full(len(tube), 2 * np.pi * r * l / len(tube))]
        for side in (0.5, -0.5)[:ends]:
            points.append(lid + np.array([0, 0, side * l]))
            weights.append(np.full(len(lid), np.pi * r * r / len(lid)))
        expected = integrated(np.concatenate(points), np.concatenate(weights))
        found = cylinder_shell(*map(Quantity, (1.5, r, l)), ends=ends)
        assert np.allclose([t.value for t in found], 1.5 * expected[np.triu_indices(3)], rtol=1e-3, atol=1e-9)
    assert np.isclose(sphere_shell(Quantity(3.0), Quantity(0.5))[0].value, 0.5)
    turned = along(cylinder_shell(*map(Quantity, (1.5, r, l))), 0)
    assert turned[0].value == cylinder_shell(*map(Quantity, (1.5, r, l)))[5].value


def test_joined_bodies_are_one_with_their_pseudo_inertias_added():
    rng = np.random.default_rng(1)

    def some(k):
        A = rng.normal(size=(3, 3))
        T = 0.1 * (np.trace(A @ A.T) * np.eye(3) - A @ A.T)
        com = [source(f"c{k}{i}", c, 0.01) for i, c in enumerate(rng.normal(size=3))]
        return MeasuredBody(
            source(f"m{k}", rng.uniform(1, 2), 0.1),
            tuple(com),
            tuple(Quantity(T[i]) for i in zip(*np.triu_indices(3), strict=True)),
        )

    a, b = some(0), some(1)
    total = [p.value for p in first_and_second(joined([a, b]))]
    parts = np.array([[p.value for p in first_and_second(x)] for x in (a, b)])
    assert np.allclose(total, parts.sum(axis=0)) and is_physical(total)
    assert np.isclose(joined([a, b]).mass.error, np.hypot(0.1, 0.1))


TABLE = {  # Armstrong, Khatib and Burdick 1986: mass, mass centre, moments, drive inertia with half their last digit
    "link2.mass": (17.40, 0.005), "link2.com.x": (0.068, 5e-4), "link2.com.y": (0.006, 5e-4),
    "link2.com.z": (-0.016, 5e-4),
    "link2.Ixx": (0.130, 5e-4), "link2.Iyy": (0.524, 5e-4), "link2.Izz": (0.539, 5e-4),
    "link3.mass": (4.80, 0.005), "link3.com.x": (0.0, 5e-4), "link3.com.y": (-0.070, 5e-4),
    "link3.com.z": (0.014, 5e-4),
    "link3.Ixx": (0.066, 5e-4), "link3.Iyy": (0.0125, 5e-5), "link3.Izz": (0.086, 5e-4),
    "link4.mass": (0.82, 0.005), "link4.com.z": (-0.019, 5e-4), "link4.Ixx": (1.8e-3, 5e-5),
    "link4.Izz": (1.3e-3, 5e-5),
    "link5.mass": (0.34, 0.005), "link5.Ixx": (0.3e-3, 5e-5), "link5.Izz": (0.4e-3, 5e-5),
    "link6.mass": (0.09, 0.005), "link6.com.z": (0.032, 5e-4), "link6.Ixx": (0.15e-3, 5e-6),
    "link6.Izz": (0.04e-3, 5e-6),
    "joint1.Im": (1.14, 0.005), "joint2.Im": (4.71, 0.005), "joint3.Im": (0.827, 0.003), "joint4.Im": (0.200, 5e-4),
    "joint5.Im": (0.179, 5e-4), "joint6.Im": (0.193, 5e-4),
}  # fmt: skip
TOLERANCES = {
    "joint1.Im": 0.27,
    "joint2.Im": 0.54,
    "joint3.Im": 0.093,
    "joint4.Im": 0.016,
    "joint5.Im": 0.014,
    "joint6.Im": 0.016,
}


def test_worksheet_gives_the_published_table():
    found = read_worksheet(SHEET, load("puma560"))
    table = dict(found.table())
    for name, (value, half) in TABLE.items():
        assert abs(table[name].value - value) <= half, name
        assert table[name].error > 0 or value == 0, name
    for name, tolerance in TOLERANCES.items():
        assert np.isclose(table[name].error, tolerance, rtol=0.1), name
    text = found.report()
    assert "link2.mass   17.4000 +- 0.0041" in text.splitlines()


def test_measured_robot_has_the_measured_bodies_and_drives():
    given = load("puma560")
    found = read_worksheet(SHEET, given)
    made = found.applied(given)
    by_name = {b.link: b for b in bodies(made)}
    for link, body in found.bodies.items():
        assert np.isclose(by_name[link].mass, body.mass.value)
        assert np.allclose(by_name[link].com, [c.value for c in body.com], atol=1e-12)
    rotor = made.joint("joint2").rotor
    assert np.isclose(float(rotor.inertia) * float(rotor.ratio) ** 2, 4.71, atol=0.005)
    assert made.link("link1") == given.link("link1")
    covariance = found.covariance(["link2.m", "link2.hx", "link3.m"])
    assert (
        covariance[0, 1] > 0
        and covariance[0, 2] == 0
        and np.isclose(covariance[0, 0], found.bodies["link2"].mass.error ** 2)
    )


def test_a_motor_is_counted_where_it_is():
    sheet = {
        "link": {"link2": {"mass": 10.0, "com": [0, 0, 0], "inertia": [0.1, 0.1, 0.1],
                           "attached": [{"name": "motor3", "mass": 2.0, "com": [0.3, 0, 0]}]}}
    }  # fmt: skip
    body = measurements(sheet, load("puma560")).bodies["link2"]
    assert np.isclose(body.mass.value, 12.0) and np.isclose(body.com[0].value, 0.05)
    assert np.isclose(body.tensor[0].value, 0.1) and np.isclose(body.tensor[3].value, 0.1 + 10 * 2 / 12 * 0.09)


@pytest.mark.parametrize(
    "text,error,name",
    [
        ("[link.nowhere]\nmass = 1\n", UnknownNameError, "nowhere"),
        ("[link.link2]\ncom = [0, 0, 0]\n", FormatError, "link.link2 has no mass"),
        ("[link.link2]\nmass = 1\n", FormatError, "no mass centre"),
        ("[link.link2]\nmass = 'heavy'\ncom = [0, 0, 0]\n", NumberError, "link.link2.mass"),
        ("[link.link2]\nmass = 1\ncom = [0,0,0]\nshell = { kind = 'egg' }\n", UnknownNameError, "egg"),
        ("[link.link2\nmass = 1\n", FormatError, "Not TOML"),
        ("[drive.joint2]\nratio = 3\n", FormatError, "drive.joint2 has neither"),
        ("[link.link2]\nmass = { tare = 1 }\ncom = [0,0,0]\n", FormatError, "link.link2 lacks gross"),
        ("[link.link2]\nmass = 1\ncom = [0,0]\n", FormatError, "link.link2 is not of the form"),
        ("[link.link2]\nmass = 1\ncom = [0,0,0]\nshell = { kind = 'box' }\n", FormatError, "link.link2 lacks x"),
        ("[drive.joint2]\nspring = { stiffness = 3 }\n", FormatError, "drive.joint2 lacks periods"),
        ("[drive.joint2]\nspring = { stiffness = 3, periods = 0, time = 1 }\n", FormatError, "drive.joint2 is 0"),
    ],
)
def test_mistakes_in_a_worksheet_are_named(text, error, name):
    with pytest.raises(error, match=name.replace(".", r"\.")):
        read_worksheet(text, load("puma560"))


def readings(tensor, mass, com, error=None):
    """A worksheet entry of a body with this central tensor, as six swings and three balances would read."""
    rng = error or (lambda value, scale: value)
    axes = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1)]
    swings = []
    for axis in axes:
        unit = np.array(axis) / np.linalg.norm(axis)
        period = 2 * np.pi / np.sqrt(mass * 9.8 * 0.25**2 / (2.0 * (unit @ tensor @ unit)))
        swings.append({
            "axis": list(axis), "distance": rng(0.25, 0.001), "length": rng(2.0, 0.001), "periods": 50,
            "time": rng(50 * period, 0.1),
        })  # fmt: skip
    edge = {a: rng(c + 0.2, 0.001) for a, c in zip("xyz", com, strict=True)}
    weighed = {"gross": rng(mass + 0.5, 0.01), "tare": rng(0.5, 0.01)}
    return {"mass": weighed, "edge": edge, "datum": dict.fromkeys("xyz", 0.2), "swing": swings}


def test_six_swings_of_a_worksheet_give_the_body_and_the_spread_of_repeated_measurement():
    tensor = np.array([[0.13, 0.02, -0.01], [0.02, 0.52, 0.015], [-0.01, 0.015, 0.54]])
    mass, com = 17.4, np.array([0.068, 0.006, -0.016])
    graduation = {"mass": 0.01, "length": 0.001, "time": 0.1}
    robot = load("puma560")

    def measured(entry):
        sheet = {"gravity": 9.8, "graduation": graduation, "link": {"link2": entry}}
        return measurements(sheet, robot).bodies["link2"]

    body = measured(readings(tensor, mass, com))
    parts = [body.mass, *body.com, *body.tensor]
    expected = [mass, *com, *tensor[np.triu_indices(3)]]
    assert np.allclose([p.value for p in parts], expected, atol=1e-12)
    rng = np.random.default_rng(0)
    again = [measured(readings(tensor, mass, com, lambda v, s: v + s * rng.uniform(-0.5, 0.5))) for _ in range(400)]
    spread = np.std([[p.value for p in (b.mass, *b.com, *b.tensor)] for b in again], axis=0)
    assert np.allclose(spread, [p.error for p in parts], rtol=0.15)


def test_torque_spring_gives_the_drive_of_a_robot_through_its_gravity_gradient():
    robot = load("puma560")
    bare = replace(robot, joints=tuple(replace(j, rotor=None) for j in robot.joints))
    pose, k, drive, h = np.array([0.0, 0.3, -1.1, 0, 0, 0]), 400.0, 4.71, 1e-5
    torque = derive_task(bare, "inverse_dynamics").program

    def g(q, qdd=0.0):
        zero = np.zeros((1, 6))
        state = {"q": q[None], "qd": zero, "qdd": zero + qdd * np.eye(6)[1]}
        return float(evaluate(torque, state)["tau"][0, 1])

    step = h * np.eye(6)[1]
    gradient = (g(pose + step) - g(pose - step)) / (2 * h)
    assert abs(gradient) > 5.0  # it counts
    omega = np.sqrt((k + gradient) / (drive + g(pose, 1.0) - g(pose)))
    spring = {"stiffness": "400 +- 10", "periods": 20, "time": f"{20 * 2 * np.pi / omega} +- 0.01",
              "pose": {"joint2": 0.3, "joint3": -1.1}}  # fmt: skip
    found = measurements({"drive": {"joint2": {"ratio": 107.36, "spring": spring}}}, robot).drives["joint2"]
    assert np.isclose(found.value, drive, rtol=1e-6)
    # dI/dk = 1 / omega^2, dI/dt = 2 (k + dg/dq) / omega^2 / t
    by_time = 2 * (k + gradient) / omega**2 / (40 * np.pi / omega)
    assert np.isclose(found.error, np.hypot(10 / omega**2, 0.01 * by_time), rtol=1e-4)
