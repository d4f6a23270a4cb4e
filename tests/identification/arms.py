"""Small arms and motions for the tests of identification."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from kane.mechanism.formula import parse
from kane.mechanism.model import Inertia, Joint, Limits, Link, Mechanism, Rotor, Translate, Turn

ZERO = Fraction(0)


def body(mass, com, moments):
    return Inertia(Fraction(mass), tuple(Fraction(c) for c in com), tuple(Fraction(m) for m in moments))


def planar(**joint):
    """Two links in a vertical plane: the textbook's six parameters."""
    limits = Limits(-3.0, 3.0, 9.0, 50.0)
    first = body("2.3", ("0.21", "0.03", "0"), ("0.01", 0, 0, "0.05", 0, "0.041"))
    second = body("1.35", ("0.17", "-0.02", "0"), ("0.01", 0, 0, "0.03", 0, "0.022"))
    joints = (
        Joint("j1", "revolute", "base", "l1", (Turn(0, parse("pi/2")),), limits=limits, **joint),
        Joint("j2", "revolute", "l1", "l2", (Translate((Fraction(2, 5), ZERO, ZERO)),), limits=limits, **joint),
    )
    return Mechanism("planar", (Link("base"), Link("l1", first), Link("l2", second)), joints)


def spatial():
    """Three joints about different axes, the last a slide; physical bodies."""
    quarter = parse("pi/2")
    parts = [
        body("3.1", ("0.02", "0.05", "-0.1"), ("0.06", "0.002", "-0.003", "0.05", "0.004", "0.03")),
        body("2.2", ("0.15", "-0.02", "0.03"), ("0.01", "0.001", "0.002", "0.05", "-0.001", "0.045")),
        body("0.9", ("0.01", "0.04", "0.08"), ("0.006", "0.0005", "-0.0004", "0.007", "0.0003", "0.003")),
    ]
    joints = (
        Joint("yaw", "revolute", "base", "l1", limits=Limits(-2.0, 2.0, 3.0, 80.0, 12.0)),
        Joint(
            "pitch", "revolute", "l1", "l2", (Translate((ZERO, ZERO, Fraction(3, 10))), Turn(0, quarter)),
            limits=Limits(-1.5, 2.5, 3.0, 60.0, 12.0), rotor=Rotor(Fraction(1, 1000), Fraction(10)),
        ),
        Joint(
            "slide", "prismatic", "l2", "l3", (Translate((Fraction(2, 5), ZERO, ZERO)), Turn(1, quarter)),
            limits=Limits(-0.3, 0.3, 1.0, 40.0, 6.0),
        ),
    )  # fmt: skip
    links = (Link("base"), *(Link(f"l{k + 1}", p) for k, p in enumerate(parts)))
    return Mechanism("spatial", links, joints)


def rough(mechanism, friction, damping):
    """The mechanism with Coulomb friction and damping joint by joint."""
    joints = tuple(
        replace(j, friction=Fraction(str(c)), damping=Fraction(str(d)))
        for j, c, d in zip(mechanism.joints, friction, damping, strict=True)
    )
    return replace(mechanism, joints=joints)


def fourier(n, count, seed, period=10.0, harmonics=4, amplitude=0.5):
    """t, q, qd, qdd of a random periodic motion, `count` samples over one period."""
    rng = np.random.default_rng(seed)
    k = 2 * np.pi / period * np.arange(1, harmonics + 1)
    a, b = amplitude * rng.normal(size=(2, n, harmonics)) / np.sqrt(np.arange(1, harmonics + 1))
    t = np.arange(count) * period / count
    s, c = np.sin(np.outer(t, k)), np.cos(np.outer(t, k))
    return t, s @ a.T + c @ b.T, c @ (k * a).T - s @ (k * b).T, -s @ (k * k * a).T - c @ (k * k * b).T
