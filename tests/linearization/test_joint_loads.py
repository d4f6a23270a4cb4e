"""Linear models of robots: springs and dampers of joints act, every speed has its drive; four ways give one answer."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.cli import main
from kane.equations.derive import derive_task
from kane.equations.projection import kane_equations
from kane.formats import write_toml
from kane.graph.evaluate import evaluate
from kane.kinematics.coordinates import find_coordinates
from kane.mechanism.builder import System
from kane.mechanism.model import Joint, Link, Mechanism, Mimic, Translate
from kane.report.sections.motion import torque_split, trajectory
from kane.report.sections.poles import poles_at_rest
from strategies import SIMPLE, inertia, random_mechanism, random_state

STEP = 1e-6


def sprung(seed: int, **options: object) -> Mechanism:
    """A random tree with springs and dampers in its joints, followers too."""
    m = random_mechanism(seed, 4, SIMPLE, **options)  # type: ignore[arg-type]
    single = ("revolute", "continuous", "prismatic")

    def own(k: int) -> dict[str, Fraction]:
        return {"stiffness": Fraction(3 + k), "rest": Fraction(k, 5), "damping": Fraction(1 + k, 4)}

    return replace(m, joints=tuple(replace(j, **own(k)) if j.type in single else j for k, j in enumerate(m.joints)))


def rates(mechanism: Mechanism, x: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """x' from the recursive tasks: forward dynamics under tau and the passive forces."""
    n = len(x) // 2
    passive, forward = (derive_task(mechanism, task).program for task in ("passive_forces", "forward_dynamics"))
    given = {"q": x[:n], "qd": x[n:]}
    given["tau"] = tau + evaluate(passive, {i.name: given[i.name] for i in passive.inputs})["tau"]
    return np.concatenate([x[n:], evaluate(forward, {i.name: given[i.name] for i in forward.inputs})["qdd"]])


def differences(f: object, at: np.ndarray) -> np.ndarray:
    """Central differences, as columns."""
    steps = STEP * np.eye(len(at))
    return np.stack([(f(at + e) - f(at - e)) / (2 * STEP) for e in steps], axis=1)  # type: ignore[operator]


@pytest.mark.parametrize("seed", range(8))
def test_a_robot_is_linearised_with_its_springs_and_dampers(seed: int) -> None:
    m = sprung(seed, mimic=0.4)
    state = random_state(m, seed)
    q, u, tau = state["q"], state["qd"], state["tau"]
    linear = kane.linearize(m, q, u, tau)
    x = np.concatenate([q, u])
    n = len(u)
    A, B = differences(lambda y: rates(m, y, tau), x), differences(lambda f: rates(m, x, f), tau)
    np.testing.assert_allclose(linear.A, A, atol=1e-6 * np.abs(A).max())
    np.testing.assert_allclose(linear.B, B, atol=1e-6 * np.abs(B).max())
    np.testing.assert_allclose(linear.offset, rates(m, x, tau), rtol=1e-9)
    assert linear.A.shape == (2 * n, 2 * n) and len(linear.inputs) == n


@pytest.mark.parametrize("seed", range(4))
def test_command_page_and_call_agree(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At rest, held: by trim and linearize, by the command, on the page, and by MuJoCo-free differences."""
    m = sprung(100 + seed, mimic=0.3)
    held = kane.trim(m, None, None, free=kane.linearize(m, None, None).inputs)
    linear = kane.linearize(m, held.q, held.u, held.f)
    assert np.abs(linear.offset).max() < 1e-12
    powers = [np.poly(linear.eigenvalues), np.poly([complex(*x) for x in poles_at_rest(m).data["poles"]])]
    file = tmp_path / "robot.toml"
    file.write_text(write_toml(m), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["linearize", str(file), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert not ended.value.code and found["states"] == list(linear.states) and found["inputs"] == list(linear.inputs)
    for key in ("A", "B"):
        np.testing.assert_allclose(found[key], getattr(linear, key), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found["tau"], held.f, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(powers[0], powers[1], rtol=1e-9, atol=1e-9 * np.abs(powers[0]).max())


def joint_text(r: np.random.Generator, k: int) -> str:
    kind, axis = r.choice(["hinge", "slide"]), r.normal(size=3)
    numbers = {"stiffness": 5 * r.random(), "springref": r.normal() / 3, "damping": r.random(), "armature": 0.02}
    text = " ".join(f'{name}="{value:.6f}"' for name, value in numbers.items())
    return f'<joint name="j{k}" type="{kind}" axis="{axis[0]:.4f} {axis[1]:.4f} {axis[2]:.4f}" {text}/>'


def mjcf(seed: int, links: int = 4) -> str:
    r = np.random.default_rng(seed)
    inner = ""
    for k in range(links, 0, -1):
        p, c = r.normal(size=3) / 4, r.normal(size=3) / 10
        centre = f"{c[0]:.4f} {c[1]:.4f} {c[2]:.4f}"
        body = f'<inertial mass="{1 + r.random():.4f}" pos="{centre}" diaginertia=".02 .03 .04"/>'
        place = f'pos="{p[0]:.4f} {p[1]:.4f} {p[2]:.4f}" euler="{p[1]:.3f} {c[0]:.3f} 0.2"'
        inner = f'<body name="b{k}" {place}>{joint_text(r, k)}{body}{inner}</body>'
    return f'<mujoco><compiler angle="radian"/><worldbody>{inner}</worldbody></mujoco>'


@pytest.mark.parametrize("seed", range(5))
def test_poles_of_sprung_chains_are_those_of_mujoco(seed: int, tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "chain.xml"
    file.write_text(mjcf(seed))
    model = mujoco.MjModel.from_xml_path(str(file))
    data, n = mujoco.MjData(model), model.nv
    mujoco.mj_inverse(model, data)
    tau = data.qfrc_inverse.copy()

    def rate(x: np.ndarray) -> np.ndarray:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = x[:n], x[n:], tau
        mujoco.mj_forward(model, data)
        return np.concatenate([x[n:], data.qacc])

    A = differences(rate, np.zeros(2 * n))
    found = poles_at_rest(kane.load(file).mechanism).data["poles"]
    np.testing.assert_allclose(np.poly([complex(*x) for x in found]), np.poly(A), rtol=1e-5, atol=1e-5)


def slides(r: Fraction, b: Fraction, k: Fraction) -> Mechanism:
    """Two masses of 2 and 3 kg on slides without gravity; the second follows the first r times, and has the spring."""
    along = {"axis": (Fraction(1), Fraction(0), Fraction(0))}
    zero = Fraction(0)
    links = (Link("base"), *(Link(n, replace(body(m), com=(zero,) * 3)) for n, m in (("a", 2), ("b", 3))))
    first = Joint("x", "prismatic", "base", "a", damping=b, **along)
    own = {"mimic": Mimic("x", r), "damping": b, "stiffness": k, "friction": Fraction(1, 4)}
    second = Joint("y", "prismatic", "base", "b", (Translate((zero, Fraction(1), zero)),), **along, **own)
    return Mechanism("slides", links, (first, second), gravity=(zero,) * 3)


def body(mass: int):
    import random

    return replace(inertia(random.Random(mass)), mass=Fraction(mass))


@pytest.mark.parametrize("ratio", [Fraction(-3, 2), Fraction(1, 2), Fraction(2)])
def test_followers_count_with_the_square_of_their_ratio(ratio: Fraction) -> None:
    """(2 + 3 r^2) x'' + b (1 + r^2) x' + k r^2 x = f."""
    b, k = Fraction(3, 10), Fraction(7)
    m = slides(ratio, b, k)
    r = float(ratio)
    mass, damping, stiffness = 2 + 3 * r * r, 0.3 * (1 + r * r), 7 * r * r
    wanted = [[0, 1], [-stiffness / mass, -damping / mass]]
    np.testing.assert_allclose(kane.linearize(m, [0], [0]).A, wanted, atol=1e-14)
    found = np.poly([complex(*x) for x in poles_at_rest(m).data["poles"]])
    np.testing.assert_allclose(found, [1, damping / mass, stiffness / mass], rtol=1e-12)
    t, q, qd, qdd = (x.ravel() for x in trajectory(m))
    torque, energy = (dict(p.choices[0].series) for p in torque_split(m, {}).plots)
    np.testing.assert_allclose(torque["springs"], stiffness * q, atol=1e-12)
    np.testing.assert_allclose(torque["friction"], damping * qd + abs(r) / 4 * np.sign(qd), atol=1e-12)
    np.testing.assert_allclose(torque["inertia"], mass * qdd, atol=1e-12)
    np.testing.assert_allclose(energy["potential"], stiffness * q * q / 2, atol=1e-12)
    np.testing.assert_allclose(energy["kinetic"], mass * qd * qd / 2, atol=1e-12)
    assert len(t) == len(q)


def test_equations_are_taken_as_they_are() -> None:
    m = slides(Fraction(1), Fraction(1), Fraction(1))
    linear = kane.linearize(kane_equations(m), [0], [0])
    assert linear.inputs == () and not linear.A[1].any()


def test_declared_inputs_are_the_inputs() -> None:
    s = System("mass")
    x, f = s.coordinates("x"), s.inputs("F")
    point = s.O.locate_new("P", x * s.N.x)
    s.particle("P", point, 2)
    s.force("push", point, f * s.N.x)
    linear = kane.linearize(s, {"x": 1}, {"x_dot": 2}, {"F": 3})
    assert linear.inputs == ("F",) and linear.B.tolist() == [[0.0], [0.5]]
    np.testing.assert_allclose(linear.offset, [2, 1.5])


def test_states_by_name_and_the_rest_by_default() -> None:
    robot = kane.load("two_link")
    by_name = kane.linearize(robot, {"q2": 0.5}, {"q1_dot": 2}, {"tau1": 3})
    for q, u, f in (([0, 0.5], [2, 0], [3, 0]), ({"q2": 0.5}, {"q1": 2}, {"q1": 3})):
        other = kane.linearize(robot, q, u, f)
        assert np.array_equal(by_name.A, other.A) and np.array_equal(by_name.offset, other.offset)
    floating = random_mechanism(5, 3, ("floating", "revolute"))
    quaternion, _ = find_coordinates(floating).quaternions[0]
    start = dict(zip(find_coordinates(floating).names, kane.linearize(floating, None, None).point.q, strict=True))
    assert [start[name] for name in quaternion] == [1, 0, 0, 0] and sum(start.values()) == 1
    for wrong in ({"q9": 1}, {"q1": np.nan}, [1, 2, 3], {"q1": [1, 2]}):
        with pytest.raises(kane.KaneError, match=r"q|q1"):
            kane.linearize(robot, wrong, [0, 0])
