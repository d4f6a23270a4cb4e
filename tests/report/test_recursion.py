"""Kane's steps from body to body, worked out from their cells: the torques are those of inverse dynamics."""

from __future__ import annotations

import numpy as np
import pytest

from kane.api.robot import load
from kane.equations.derive import derive_task
from kane.errors import InputError
from kane.graph.evaluate import evaluate
from kane.kinematics.coordinates import find_coordinates, symbol_name
from kane.report import Options, build_report
from kane.report.sections.frames import moving_frames
from kane.report.sections.recursion import recursive_steps
from kane.robots.generated import tree
from robot_files import robot_files


class Hand:
    """What one does with the tables by hand: quantities by name, vectors in axes of N."""

    def __init__(self, axes, numbers):
        self.axes, self.numbers = axes, numbers
        self.known = {}

    def factor(self, x):
        if "q" in x:
            return self.known[x["q"]]
        if "s" in x:
            return self.known[x["s"]]
        if "f" in x:
            return self.formula(x["f"])
        return sum((self.formula(t) * self.axes[frame][:, axis] for t, frame, axis in x["v"]), np.zeros(3))

    def formula(self, text):
        if text in self.numbers:
            return self.numbers[text]
        if text[0] == "-" and text[1:] in self.numbers:
            return -self.numbers[text[1:]]
        number, _, name = text.partition("*")
        return float(number) * (self.numbers[name] if name else 1.0)

    def product(self, factors):
        if "(" in factors:
            at = factors.index("(")
            inner = self.product(factors[at + 1 : factors.index(")")])
            return self.apply(self.product(factors[: at - 1]), factors[at - 1], inner)
        value = self.factor(factors[0])
        rest = factors[1:]
        while rest:
            if isinstance(rest[0], str):
                value, rest = self.apply(value, rest[0], self.factor(rest[1])), rest[2:]
            else:
                value, rest = value * self.factor(rest[0]), rest[1:]
        return value

    @staticmethod
    def apply(a, sign, b):
        if sign == "x":
            return np.cross(a, b)
        return a @ b

    def equation(self, cell):
        zero = 0.0 if "s" in cell["l"] else np.zeros(3)
        value = sum((sign * self.product(factors) for sign, factors in cell["t"]), zero)
        self.known[next(iter(cell["l"].values()))] = value
        return value


def turning(kind, rate, q, shown):
    if kind in ("ball", "free"):
        w, x, y, z = q[shown]
        v = np.array([x, y, z])
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross
    ((r, axis),) = rate
    if kind == "slide":
        return np.eye(3)
    a = axis * q[r]
    K = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    size = np.linalg.norm(a)
    return np.eye(3) + np.sin(size) / size * K + (1 - np.cos(size)) / size**2 * K @ K


def by_hand(m, seed=0):
    c = find_coordinates(m)
    random = np.random.default_rng(seed)
    q = random.uniform(-1, 1, len(c.names))
    named = dict(zip(c.names, q, strict=True))
    for names, _ in c.quaternions:
        size = np.sqrt(sum(named[n] ** 2 for n in names))
        named |= {n: named[n] / size for n in names}
    q = np.array([named[n] for n in c.names])
    u, udot = random.uniform(-1, 1, (2, len(c.speeds)))
    numbers = {symbol_name("q", n): x for n, x in named.items()}
    numbers |= {symbol_name(p, n): x for p, v in (("qd", u), ("qdd", udot)) for n, x in zip(c.speeds, v, strict=True)}
    numbers |= {symbol_name("tau", n): 0.0 for n in c.speeds}
    frames = moving_frames(m, c)
    axes, R = {"N": np.eye(3)}, []
    by_speed = {r: named.get(n) for r, n in enumerate(c.speeds)}
    balls = iter(c.quaternions)
    for x in frames:
        quaternion = [named[n] for n in next(balls)[0]] if x.kind in ("ball", "free") else None
        own = turning(x.kind, x.rate, {**by_speed, "ball": quaternion}, "ball")
        R.append((R[x.parent] if x.parent >= 0 else np.eye(3)) @ x.turned @ own)
        axes[x.name] = R[-1]
    steps = recursive_steps(m)
    tables = steps.data["tables"]
    hand = Hand(axes, numbers)
    for row in tables[0]["rows"]:
        hand.equation(row[2])
        moments = {t.split(" = ")[0]: float(t.split(" = ")[1]) for t in row[3]["l"]}
        xx, xy, xz, yy, yz, zz = (moments.get(n, 0.0) for n in ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"))
        own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        axis = axes[row[0]["b"]]
        hand.known["I_" + row[0]["b"]] = axis @ own @ axis.T
    for row in tables[1]["rows"]:
        hand.equation(row[2])
    for k in (2, 4, 5, 6):
        for row in tables[k]["rows"]:
            hand.equation(row[0])
    tau = -np.array([sum(hand.product(f) * s for s, f in row[0]["t"]) for row in tables[7]["rows"]])
    return tau, {"q": q, "qd": u, "qdd": udot}


ROBOTS = {
    "talos floating": ("erd/talos_data/robots/talos_reduced.urdf", "floating"),
    "panda with fingers": ("erd/panda_description/urdf/panda.urdf", "fixed"),
    "tiago": ("erd/tiago_description/robots/tiago.urdf", "fixed"),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_files(name):
    file, base = ROBOTS[name]
    m = load(robot_files()[file], nonphysical="accept", base=base).mechanism
    tau, state = by_hand(m)
    expected = evaluate(derive_task(m, "inverse_dynamics").program, state)["tau"]
    assert np.abs(tau - expected).max() <= 3e-5 * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(3))
def test_trees_of_turns_and_slides(seed):
    m = tree(12, types=("revolute", "prismatic"), seed=seed)
    tau, state = by_hand(m, seed)
    expected = evaluate(derive_task(m, "inverse_dynamics").program, state)["tau"]
    assert np.abs(tau - expected).max() <= 3e-5 * np.abs(expected).max()


def test_partial_velocities_are_the_columns_of_jacobians():
    """The direction of each joint in N and what it moves."""
    m = tree(9, types=("revolute", "prismatic"), seed=4)
    c = find_coordinates(m)
    steps = recursive_steps(m)
    rows = steps.data["tables"][3]["rows"]
    assert [row[0] for row in rows] == [f"r = {k + 1} ({n})" for k, n in enumerate(c.speeds)]
    tip = m.links[-1].name
    q = np.zeros(9)
    J = evaluate(derive_task(m, "jacobian", tip).program, {"q": q})
    J = next(iter(J.values()))
    moving = [r for r in range(9) if tip in rows[r][3]["b"].split(", ")]
    assert moving == [r for r in range(9) if np.abs(J[:, r]).max() > 0]


def test_what_cannot_be_written_says_why():
    m = load("two_link").mechanism
    from dataclasses import replace

    open_ = replace(m, parameters=tuple(replace(p, value=None) for p in m.parameters))
    with pytest.raises(InputError, match="some parameters have none"):
        recursive_steps(open_)


def test_a_humanoid_has_its_steps():
    m = load(robot_files()[ROBOTS["talos floating"][0]], nonphysical="accept", base="floating").mechanism
    page = build_report(m, Options(only=frozenset({"steps"})))
    (steps,) = page.sections
    assert [s.number for s in steps.steps] == list(range(1, 9))
