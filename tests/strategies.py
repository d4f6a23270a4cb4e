"""Random mechanisms and states for tests: trees of every joint type, exact decimal data, physical inertia."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from kane.kinematics.coordinates import Coordinates, find_coordinates
from kane.mechanism.formula import PI, name
from kane.mechanism.model import (
    Inertia,
    Joint,
    Link,
    Mechanism,
    Mimic,
    Placement,
    QuaternionTurn,
    Rotor,
    Translate,
    Turn,
)
from kane.verification.witness import bear_witness

SIMPLE = ("revolute", "continuous", "prismatic", "screw", "cylindrical", "universal", "planar")
TYPES = (*SIMPLE, "spherical", "floating", "fixed")
AXES = ("1 0 0", "0 1 0", "0 0 1", "0 -1 0", "0 0 -1", "0.6 0 0.8", "0.3 -0.5 0.8", "1 1 1", "0 0.2 -0.7", "2 -1 2")


def decimal(r: random.Random, low: float, high: float, digits: int = 3) -> Fraction:
    """A decimal number between the limits."""
    return Fraction(r.randint(round(low * 10**digits), round(high * 10**digits)), 10**digits)


def inertia(r: random.Random) -> Inertia:
    """The inertia of five random point masses: physical by construction."""
    masses = [decimal(r, 0.1, 1.0) for _ in range(5)]
    points = [[decimal(r, -0.3, 0.3) for _ in range(3)] for _ in range(5)]
    total = sum(masses)
    com = [sum(m * p[i] for m, p in zip(masses, points, strict=True)) / total for i in range(3)]
    arms = [[x - c for x, c in zip(p, com, strict=True)] for p in points]

    def element(i: int, j: int) -> Fraction:
        terms = ((sum(x * x for x in d) if i == j else 0) - d[i] * d[j] for d in arms)
        return sum((m * t for m, t in zip(masses, terms, strict=True)), Fraction(0))

    t = (element(0, 0), element(0, 1), element(0, 2), element(1, 1), element(1, 2), element(2, 2))
    axes: Placement = ()
    if r.random() < 0.3:  # given in turned axes
        axes = (Turn(r.choice((0, 1, 2)), decimal(r, -1, 1)),)
    return Inertia(total, (com[0], com[1], com[2]), t, axes)


def placement(r: random.Random) -> Placement:
    """Some fixed moves: decimal angles, multiples of pi/2, plain quaternions, or none."""
    moves: list[Translate | Turn | QuaternionTurn] = []
    if r.random() < 0.8:
        x, y, z = (decimal(r, -0.5, 0.5) if r.random() < 0.7 else Fraction(0) for _ in range(3))
        moves.append(Translate((x, y, z)))
    for axis in (2, 1, 0):
        kind = r.random()
        if kind < 0.3:
            moves.append(Turn(axis, decimal(r, -2, 2)))
        elif kind < 0.5:
            moves.append(Turn(axis, PI * Fraction(r.choice((-1, 1, 2)), 2)))
    if r.random() < 0.2:
        w, x, y, z = (Fraction(r.randint(1, 5)), *(Fraction(r.randint(-4, 4)) for _ in range(3)))
        moves.append(QuaternionTurn((w, x, y, z)))
    return tuple(moves)


def axis_of(r: random.Random, text: str) -> tuple[Fraction, Fraction, Fraction]:
    x, y, z = (Fraction(s) for s in text.split())
    return x, y, z


def random_mechanism(
    seed: int,
    joints: int = 4,
    types: Sequence[str] = TYPES,
    mimic: float = 0.0,
    rotors: float = 0.3,
    exact: bool = False,
    empty: float = 0.15,
) -> Mechanism:
    """A tree of `joints` joints of these types.

    mimic: chance that a one-degree joint follows an earlier one; rotors: chance of a rotor; exact: rotors that spin;
    empty: chance that an inner link has no body of its own.
    """
    r = random.Random(f"mechanism {seed}")
    links = [Link("base", inertia(r))]
    made: list[Joint] = []
    for k in range(joints):
        kind = types[r.randrange(len(types))]
        if kind == "floating" and k:
            kind = "spherical" if "spherical" in types else "revolute"
        back = 0 if r.random() < 0.65 else r.randrange(4)
        parent = links[0].name if kind == "floating" else links[max(0, len(links) - 1 - back)].name
        extra: dict[str, object] = {"axis": axis_of(r, r.choice(AXES))}
        single = kind in ("revolute", "continuous", "prismatic")
        masters = [j for j in made if j.type in ("revolute", "continuous", "prismatic", "screw")]
        if kind == "screw":
            extra["pitch"] = decimal(r, -0.2, 0.2)
        if single and masters and r.random() < mimic:
            extra["mimic"] = Mimic(r.choice(masters).name, decimal(r, -2, 2, 1) or Fraction(1), decimal(r, -1, 1))
        if single and r.random() < rotors:
            # a spinning rotor is part of its carrier, so it has to be small
            size = decimal(r, 0.0001, 0.001, 4) if exact else decimal(r, 0.01, 0.3)
            extra["rotor"] = Rotor(size, Fraction(r.choice((-3, 1, 2))), exact)
        extra["damping"] = decimal(r, 0, 1) if single else Fraction(0)
        made.append(Joint(f"j{k + 1}", kind, parent, f"l{k + 1}", placement(r), **extra))  # type: ignore[arg-type]
        bare = k < joints - 1 and r.random() < empty
        links.append(Link(f"l{k + 1}", None if bare else inertia(r)))
    links = [_with_body(link, made, r) for link in links]
    gx, gy, gz = (decimal(r, -10, 10) for _ in range(3))
    mechanism = Mechanism(f"random{seed}", tuple(links), tuple(made), gravity=(gx, gy, gz))
    if any(link.inertia is None for link in links) and _singular(mechanism):
        full = tuple(link if link.inertia else Link(link.name, inertia(r)) for link in links)
        return replace(mechanism, links=full)
    return mechanism


def _singular(mechanism: Mechanism) -> bool:
    """Whether joints with nothing between them can cancel each other's motion."""
    s = random_state(mechanism, 0)
    M = bear_witness(mechanism, s["q"], s["qd"], s["qdd"]).M
    root = np.sqrt(np.diag(M))
    return bool(np.linalg.eigvalsh(M / np.outer(root, root)).min(initial=1.0) < 1e-6)


def _with_body(link: Link, joints: Sequence[Joint], r: random.Random) -> Link:
    """A link at the end of a branch needs a body."""
    if link.inertia is None and all(j.parent != link.name or j.type == "fixed" for j in joints):
        return Link(link.name, inertia(r))
    return link


def general_mechanism(seed: int) -> Mechanism:
    """Two general joints with moves by formulas, then a plain joint.

    The moves: a curve, and a cam that shares the curve's coordinate.
    """
    r = random.Random(f"general {seed}")
    x, y = name("x"), name("y")
    a, b = decimal(r, 0.1, 0.5), decimal(r, 0.1, 0.9)
    zero = Fraction(0)
    first = Joint(
        "curve", "general", "base", "rider", placement(r), coordinates=("x",),
        moves=(Translate((x * a, b * x * x, zero)), Turn(2, b * x), Translate((a, zero, zero))),
    )  # fmt: skip
    second = Joint(
        "cam", "general", "rider", "follower", placement(r), coordinates=("y",),
        moves=(Turn(0, y), Translate((zero, a * (y * b + x), b * x * y)), Turn(1, y * Fraction(1, 2) + x)),
    )  # fmt: skip
    third = Joint("last", "revolute", "follower", "tip", placement(r), axis=axis_of(r, r.choice(AXES)))
    links = (Link("base"), *(Link(n, inertia(r)) for n in ("rider", "follower", "tip")))
    return Mechanism(f"general{seed}", links, (first, second, third))


def random_state(mechanism: Mechanism, seed: int, batch: int | None = None) -> dict[str, np.ndarray]:
    """q, qd, qdd, tau by name; quaternions are unit."""
    c: Coordinates = find_coordinates(mechanism)
    rng = np.random.default_rng(seed)
    shape = () if batch is None else (batch,)
    q = rng.uniform(-1.5, 1.5, (*shape, len(c.names)))
    for group, _ in c.quaternions:
        at = [c.names.index(n) for n in group]
        q[..., at] = rng.normal(size=(*shape, 4))
        q[..., at] /= np.linalg.norm(q[..., at], axis=-1, keepdims=True)
    n = len(c.speeds)
    return {"q": q} | {name: rng.uniform(-2, 2, (*shape, n)) for name in ("qd", "qdd", "tau", "v", "qd_r", "qdd_r")}
