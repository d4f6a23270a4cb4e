"""Programs to compile: random ones with every operation, a two-link arm, and a private cache folder."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from kane.graph.arena import Graph
from kane.graph.program import Input, Program, build_program

UNARY = ("tan", "atan", "exp", "tanh", "abs", "sign", "sinh", "cosh")


@pytest.fixture(autouse=True, scope="session")
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kane-cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KANE_CACHE", str(folder))
        yield folder


def make_random(seed: int, size: int = 150, functions: bool = True, parameters: bool = True) -> Program:
    """Sums and products with trigonometry, functions, a matrix output, a scalar one, and one that is only a number."""
    rng = random.Random(seed)
    g = Graph()
    q = [g.symbol(f"q{i}") for i in range(5)]
    v = [g.symbol(f"v{i}") for i in range(3)]
    p = [g.symbol(f"p{i}", "parameter") for i in range(3)] if parameters else [g.number(k) for k in (2, 5, 9)]
    angles = [*q, g.add(q[0], q[1]), g.sub(q[2], q[3])]
    trig = [part(a) for a in angles for part in (g.sin, g.cos)]
    constants = [g.mul(p[0], p[1]), g.add(g.sqrt(g.number(2)), p[2]), g.sqrt(g.number(3)), g.pi(), g.cos(p[0])]
    pool = [*v, *trig, *constants, g.number(2)]
    for n in range(size):
        a, b = rng.choice(pool[-40:]), rng.choice(pool)
        kind = rng.random()
        if kind < 0.45:
            new = g.mul(g.sin(g.mul(a, g.number(3))) if n % 50 == 49 else a, b)
        elif kind < 0.9 or not functions:
            new = g.add(a, b ^ rng.randrange(2))
        else:
            new = [
                g.function(rng.choice(UNARY), a),
                g.function(rng.choice(("min", "max", "atan2")), a, b ^ 1),
                g.function("select", a, b, b ^ 1),
                g.div(a, g.add(g.number(3), g.mul(b, b))),
                g.sqrt(g.add(g.one, g.mul(a, a))),
            ][rng.randrange(5)]
        pool.append(new if g.level[new >> 1] != 2 or n % 5 else g.function("tanh", new))  # keeps values near one
    inputs = [Input("q", tuple(f"q{i}" for i in range(5))), Input("v", tuple(f"v{i}" for i in range(3)))]
    if parameters:
        inputs.append(Input("p", ("p0", "p1", "p2"), "parameter"))
    outputs = [
        ("tau", (5,), pool[-5:]),
        ("m", (2, 3), [*pool[-12:-8], pool[-3] ^ 1, g.zero]),
        ("e", (), [pool[-7] ^ 1]),
        ("c", (3,), [g.number(7), constants[0] ^ 1, q[2]]),
    ]
    return build_program(g, f"random_{seed}", inputs, outputs)


def make_two_link() -> Program:
    """Inverse dynamics of a planar arm of two links, with point masses at their ends (closed form)."""
    g = Graph()
    q, qd, qdd = ([g.symbol(f"{name}{i}") for i in (1, 2)] for name in ("q", "qd", "qdd"))
    m1, m2, l1, l2, gravity = (g.symbol(n, "parameter") for n in ("m1", "m2", "l1", "l2", "g"))
    a = g.mul(g.add(m1, m2), g.mul(l1, l1))
    b = g.mul(m2, g.mul(l1, l2))
    d = g.mul(m2, g.mul(l2, l2))
    c2, s2 = g.cos(q[1]), g.sin(q[1])
    m12 = g.add(d, g.mul(b, c2))
    m11 = g.sum([a, d, g.mul(g.mul(b, c2), g.number(2))])
    h = g.mul(b, s2)
    w12 = g.mul(g.mul(m2, l2), g.mul(gravity, g.cos(g.add(q[0], q[1]))))
    w1 = g.mul(g.mul(g.add(m1, m2), l1), g.mul(gravity, g.cos(q[0])))
    rate = g.mul(qd[1], g.add(g.add(qd[0], qd[0]), qd[1]))
    tau1 = g.sum([g.mul(m11, qdd[0]), g.mul(m12, qdd[1]), g.neg(g.mul(h, rate)), w1, w12])
    tau2 = g.sum([g.mul(m12, qdd[0]), g.mul(d, qdd[1]), g.mul(h, g.mul(qd[0], qd[0])), w12])
    inputs = [Input(n, (f"{n}1", f"{n}2")) for n in ("q", "qd", "qdd")]
    inputs.append(Input("p", ("m1", "m2", "l1", "l2", "g"), "parameter"))
    return build_program(g, "inverse_dynamics", inputs, [("tau", (2,), [tau1, tau2])])


@pytest.fixture
def random_program() -> Callable[..., Program]:
    return make_random


@pytest.fixture
def two_link() -> Program:
    return make_two_link()
