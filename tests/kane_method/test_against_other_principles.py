"""Kane's equations against Lagrange's and Gibbs-Appell's, exactly, on random mechanisms with random speeds.

Both start from poses only: positions and rotation matrices in N, differentiated; no velocity is shared.  Equality is
that of functions, decided in the graph by residues; accelerations are compared at numbers as well.
"""

import random
from fractions import Fraction

import numpy as np
import pytest

from kane.equations.conditions import find_conditions
from kane.equations.constrained import constrained
from kane.equations.programs import program_inputs
from kane.equations.projection import kane_equations
from kane.graph.derivative import forward
from kane.graph.evaluate import evaluate
from kane.graph.program import build_program
from kane.kinematics import points as pt
from kane.kinematics import vectors as v
from kane.mechanism.builder import System, cos, dot, sin

ZERO3 = (0, 0, 0)


def decimal(r, low, high):
    return Fraction(r.randint(round(low * 100), round(high * 100)), 100)


def moments(r):
    """A physical inertia: that of three weighted planes."""
    a, b, c = (decimal(r, 0.1, 1) for _ in range(3))
    return (b + c, a + c, a + b, decimal(r, -0.05, 0.05), decimal(r, -0.05, 0.05), decimal(r, -0.05, 0.05))


def random_system(seed, bodies=3):
    r = random.Random(f"kane {seed}")
    s = System(f"random{seed}")
    names = [f"q{k + 1}" for k in range(2 * bodies)]
    q = list(s.coordinates(" ".join(names)))
    frames, points = [s.N], [s.O]
    used = []
    for k in range(bodies):
        parent = r.randrange(len(frames))
        free = [x for x in q if x not in used]
        count = r.choice((1, 1, 2)) if len(free) > 1 else 1
        angles = free[:count]
        used += angles
        amounts = list(angles)
        if r.random() < 0.4:
            amounts[0] = amounts[0] + sin(s.t * decimal(r, 0.5, 2)) * decimal(r, 0.2, 1)
        order = "".join(r.sample("123", len(amounts)))
        frame = s.frame(f"B{k}").orient_body_fixed(frames[parent], amounts, order)
        arm = frames[parent].vector(*(decimal(r, -1, 1) for _ in range(3)))
        free = [x for x in q if x not in used]
        if free and r.random() < 0.5:
            arm = arm + frame.x * free[0]
            used.append(free[0])
        elif r.random() < 0.3:
            arm = arm + frames[parent].y * (cos(s.t) * decimal(r, 0.1, 0.5))
        point = points[parent].locate_new(f"P{k}", arm)
        centre = point.locate_new(f"C{k}", frame.vector(*(decimal(r, -1, 1) for _ in range(3))))
        if r.random() < 0.75:
            s.body(f"body{k}", frame, centre, decimal(r, 0.5, 3), moments(r))
        else:
            s.particle(f"body{k}", centre, decimal(r, 0.5, 3))
            s.body(f"small{k}", frame, point, decimal(r, 0.1, 1), moments(r))
        frames.append(frame)
        points.append(centre)
    for x in q:
        if x not in used:  # a body on its own slide
            lone = s.O.locate_new(f"L{x}", s.N.vector(x, x * x * decimal(r, 0.1, 1), 0))
            s.particle(f"lone{x}", lone, 1)
    s.gravity(s.N.vector(*(decimal(r, -10, 10) for _ in range(3))))
    s.force("push", points[-1], frames[1].x * cos(q[0]) + s.N.z * dot(q[1]))
    s.force_pair("rub", points[-1], frames[-1], frames[1], frames[-1].y * decimal(r, 1, 3))
    s.torque_pair("motor", frames[-1], frames[0], frames[-1].z * decimal(r, 1, 3) * q[0])
    s.spring(
        "spring", points[1], points[-1] if points[-1] is not points[1] else s.O, decimal(r, 1, 9), decimal(r, 0, 1)
    )
    if r.random() < 0.8:
        definitions = {}
        for k, x in enumerate(q):
            text = dot(x) * decimal(r, 0.5, 2)
            if k:
                text = text + dot(q[k - 1]) * (sin(q[k - 1]) + decimal(r, -1, 1))
            if r.random() < 0.4:
                text = text + cos(s.t) * q[0]
            definitions[f"u{k + 1}"] = text
        s.speeds(**definitions)
    return s


class Poses:
    """Positions and rotation matrices in N of all bodies, by multiplying out the turns."""

    def __init__(self, e):
        self.e, self.g, self.p = e, e.graph, e.points
        self.s = e.points.symbols
        self.matrices = [None] * len(self.p.axes)
        identity = tuple(v.unit(k) for k in (0, 1, 2))
        for k, axes in enumerate(self.p.axes):
            own = identity if axes.step is None else axes.step.matrix(self.g)
            self.matrices[k] = own if axes.base < 0 else v.product(self.g, self.matrices[axes.base], own)
        self.places = []
        for station in self.p.stations:
            if station.parent < 0:
                self.places.append(ZERO3)
            else:
                shift = v.apply(self.g, self.matrices[station.axes], station.shift or ZERO3)
                self.places.append(v.add(self.g, self.places[station.parent], shift))
        self.rates = [self.g.symbol(f"rate {n}") for n in self.p.coordinates.names]
        self.second = [self.g.symbol(f"second {n}") for n in self.p.coordinates.names]

    def time(self, refs):
        """d/dt with q -> rate, rate -> second."""
        direction = dict(zip(self.s.q, self.rates, strict=True)) | dict(zip(self.rates, self.second, strict=True))
        return forward(self.g, list(refs), direction | {self.g.symbol("t"): self.g.one})

    def spin(self, matrix):
        """Angular velocity in own axes: the skew part of Rᵀ R'."""
        rows = [self.time(row) for row in matrix]
        skew = v.product(self.g, v.transpose(matrix), tuple(tuple(row) for row in rows))
        return (skew[2][1], skew[0][2], skew[1][0])

    def in_speeds(self, refs):
        """Rates and second rates replaced by the kinematic equations."""
        from kane.kinematics.motion import substitute

        s = self.s
        rates = [s.rates[n] for n in self.p.coordinates.names]
        second = pt.time_derivative(self.p, rates)
        return substitute(
            self.g, list(refs), dict(zip(self.rates, rates, strict=True)) | dict(zip(self.second, second, strict=True))
        )

    def onto_speeds(self, forces):
        """sum over coordinates of d qdot / d u_r times a generalized force."""
        g, s = self.g, self.s
        rates = [s.rates[n] for n in self.p.coordinates.names]
        return [g.dot(forward(g, rates, {u: g.one}), forces) for u in s.u]


def lagrange(e):
    """dK/dq - d/dt dK/dqdot for every coordinate, projected on the speeds."""
    poses, g = Poses(e), e.graph
    kinetic = g.zero
    for b in e.points.bodies:
        speed = poses.time(poses.places[b.station])
        w = poses.spin(poses.matrices[b.axes])
        kinetic = g.add(kinetic, g.mul(b.mass, g.dot(speed, speed)))
        kinetic = g.add(kinetic, v.dot(g, w, v.sym_apply(g, b.moments, w)))
    kinetic = g.mul(g.number(Fraction(1, 2)), kinetic)
    forces = []
    for x, rate in zip(poses.s.q, poses.rates, strict=True):
        (by_rate,), (by_place,) = forward(g, [kinetic], {rate: g.one}), forward(g, [kinetic], {x: g.one})
        forces.append(g.sub(by_place, poses.time([by_rate])[0]))
    return poses.onto_speeds(poses.in_speeds(forces))


def virtual_work(e):
    """Work of all loads in virtual displacements of the poses, projected on the speeds."""
    poses, g, p = Poses(e), e.graph, e.points
    total = [g.zero] * len(poses.s.q)
    for applied in e.applied.values():
        for push in applied:
            force, torque = pt.gather(p, push.force, 0), pt.gather(p, push.torque, 0)
            matrix = poses.matrices[push.axes]
            for k, x in enumerate(poses.s.q):
                moved = forward(g, list(poses.places[push.station]), {x: g.one})
                rows = tuple(tuple(forward(g, list(row), {x: g.one})) for row in matrix)
                skew = v.product(g, rows, v.transpose(matrix))
                turned = (skew[2][1], skew[0][2], skew[1][0])
                total[k] = g.sum([total[k], g.dot(moved, force), g.dot(turned, torque)])
    return poses.onto_speeds(total)


def gibbs_appell(e):
    """-dS/dudot, S = sum of m a . a / 2 + alpha . I alpha / 2 + alpha . (w x I w)."""
    poses, g = Poses(e), e.graph
    half = g.number(Fraction(1, 2))
    total = g.zero
    for b in e.points.bodies:
        a = poses.in_speeds(poses.time(poses.time(poses.places[b.station])))
        w = poses.spin(poses.matrices[b.axes])
        alpha = poses.in_speeds(poses.time(w))
        w = tuple(poses.in_speeds(w))
        spin = v.cross(g, w, v.sym_apply(g, b.moments, w))
        total = g.add(total, g.mul(half, g.mul(b.mass, g.dot(a, a))))
        total = g.add(
            total, g.add(g.mul(half, g.dot(alpha, v.sym_apply(g, b.moments, tuple(alpha)))), g.dot(alpha, spin))
        )
    return [g.neg(forward(g, [total], {x: g.one})[0]) for x in poses.s.udot]


def same(g, a, b):
    return all(g.sub(x, y) < 2 for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("seed", range(12))
def test_random_mechanisms(seed):
    e = kane_equations(random_system(seed).mechanism(), parameters=(), runs=bool(seed % 2))
    assert same(e.graph, e.inertia, lagrange(e))
    assert same(e.graph, e.inertia, gibbs_appell(e))
    assert same(e.graph, e.active, virtual_work(e))
    assert all(x > 1 for x in e.inertia)


@pytest.mark.parametrize("seed", range(6))
def test_accelerations_agree_to_rounding(seed):
    """Backward error |M udot + h - F| against |M||udot| + |h| + |F| with Lagrange's own matrices, below 1e-12."""
    e = kane_equations(random_system(seed).mechanism(), parameters=(), runs=bool(seed % 2))
    g, n = e.graph, len(e.inertia)
    rng = np.random.default_rng(seed)
    state = {"q": rng.uniform(-1, 1, n), "u": rng.uniform(-1, 1, n), "t": [0.3]}
    motion = constrained(e).accelerations(state["q"], state["u"], t=0.3)
    other, work = lagrange(e), virtual_work(e)
    matrix = [forward(g, other, {x: g.one}) for x in e.points.symbols.udot]
    from kane.kinematics.motion import substitute

    rest = substitute(g, other, dict.fromkeys(e.points.symbols.udot, g.zero))
    outputs = [("m", (n, n), [matrix[c][k] for k in range(n) for c in range(n)]), ("h", (n,), rest), ("f", (n,), work)]
    out = evaluate(build_program(g, "lagrange", program_inputs(e), outputs), state)
    gap = out["m"] @ motion.udot + out["h"] + out["f"]
    scale = np.abs(out["m"]) @ np.abs(motion.udot) + np.abs(out["h"]) + np.abs(out["f"])
    assert np.max(np.abs(gap) / scale) < 1e-12


def rolling_system(seed):
    r = random.Random(f"rolling {seed}")
    s = System("rolling")
    yaw, lean, spin, x, y = s.coordinates("yaw lean spin x y")
    t = s.t
    S = s.frame("S").orient_body_fixed(s.N, (sin(t) * decimal(r, 0.1, 0.4), decimal(r, 0.1, 0.3) * cos(2 * t)), "12")
    So = s.O.locate_new("So", s.N.vector(sin(t) * decimal(r, 0.1, 1), 0, t * decimal(r, 0.1, 1)))
    Y = S.orient_new_axis("Y", 3, yaw)
    K = Y.orient_new_axis("K", 1, lean)
    D = K.orient_new_axis("D", 2, spin)
    contact = So.locate_new("C", S.vector(x, y, 0))
    centre = contact.locate_new("Dc", K.z * decimal(r, 0.2, 0.5))
    mass_centre = centre.locate_new("D*", D.vector(*(decimal(r, -0.1, 0.1) for _ in range(3))))
    s.body("D", D, mass_centre, 2, moments(r))
    R = D.orient_new_axis("R", r.choice((1, 3)), spin * decimal(r, -3, 3) + lean * decimal(r, -2, 2))  # coupled ratios
    s.body("R", R, centre, decimal(r, 0.1, 0.5), moments(r))
    s.gravity(s.N.z * decimal(r, -10, -9))
    if seed % 2:
        s.speeds(
            u1=s.angular_velocity(D, s.N, D.x), u2=s.angular_velocity(D, s.N, D.y), u3=s.angular_velocity(D, s.N, D.z),
            u4=s.velocity(centre, s.N, s.N.x), u5=s.velocity(centre, s.N, s.N.y),
        )  # fmt: skip
    s.roll("rolling", D, contact, S, S)
    return s


@pytest.mark.parametrize("seed", range(4))
def test_rolling_on_a_moving_platform(seed):
    e = kane_equations(rolling_system(seed).mechanism(), parameters=())
    g, p = e.graph, e.points
    assert same(g, e.inertia, lagrange(e))
    assert same(g, e.inertia, gibbs_appell(e))
    poses = Poses(e)
    conditions = find_conditions(e)

    def matter(frame):
        k, c = p.station(frame), p.station("C")
        matrix = poses.matrices[p.stations[k].axes]
        arm = v.apply(g, v.transpose(matrix), v.sub(g, poses.places[c], poses.places[k]))
        turning = tuple(tuple(poses.time(row)) for row in matrix)
        return v.add(g, tuple(poses.time(poses.places[k])), v.apply(g, turning, arm))

    slip = v.sub(g, matter("D"), matter("S"))
    along = [v.dot(g, poses.in_speeds(slip), column) for column in v.transpose(poses.matrices[p.axes_of("S")])][:2]
    assert same(g, conditions.rates, along)
    c = constrained(e)
    q = [0.3, 0.2, -0.4, 0.1, 0.2]
    u = c.consistent_speeds(q, [0.5, -0.3, 2.0, 0.1, 0.1], t=0.4)
    motion = c.accelerations(q, u, t=0.4)
    assert np.isfinite(motion.udot).all() and all(motion.determined)


def sliding_beam(stiffening):
    from kane.mechanism.beams import S

    s = System("slider")
    q1, q2, d = s.coordinates("q1 q2 d")
    A = s.N.orient_new_axis("A", 3, q1)
    root = s.O.locate_new("root", A.vector(q2, "0.2", 0))
    beam = s.beam("beam", A, root, (S**2 * 2 - S**3,), [d], 1, "0.5", 40, stiffening=stiffening)
    tip, T = s.beam_end("tip", beam)
    s.body("tip", T, tip, 2, ("0.1", "0.1", "0.2"))
    return s


def beam_energy(e, stiffening):
    """K of the beam from its points' positions, integrated exactly with 12 Gauss points; tip and rest by Lagrange."""
    poses, g, p = Poses(e), e.graph, e.points
    x, w = np.polynomial.legendre.leggauss(12)
    root = p.station("beam.root")
    matrix = poses.matrices[p.stations[root].axes]
    d = p.symbols.by_name["d"]
    total = g.zero
    for place, weight in zip((x + 1) / 2, w / 2, strict=True):
        shape = 2 * place**2 - place**3
        # int_0^s (4 s - 3 s^2)^2 ds = 16 s^3 / 3 - 6 s^4 + 9 s^5 / 5
        short = (16 * place**3 / 3 - 6 * place**4 + 9 * place**5 / 5) / 2 if stiffening == "geometric" else 0.0
        arm = (g.sub(number(g, place), g.mul(number(g, short), g.mul(d, d))), g.mul(number(g, shape), d), 0)
        speed = poses.time(v.add(g, poses.places[root], v.apply(g, matrix, arm)))
        total = g.add(total, g.mul(number(g, weight * 0.25), g.dot(speed, speed)))
    return total


def number(g, value):
    return g.number(Fraction(float(value)))


@pytest.mark.parametrize("stiffening", ["geometric", "none"])
def test_a_beam_that_slides_while_it_spins(stiffening):
    e = kane_equations(sliding_beam(stiffening).mechanism(), parameters=())
    poses, g = Poses(e), e.graph
    kinetic = beam_energy(e, stiffening)
    forces = []
    for q, rate in zip(poses.s.q, poses.rates, strict=True):
        (by_rate,), (by_place,) = forward(g, [kinetic], {rate: g.one}), forward(g, [kinetic], {q: g.one})
        forces.append(g.sub(by_place, poses.time([by_rate])[0]))
    whole = [g.add(a, b) for a, b in zip(poses.onto_speeds(poses.in_speeds(forces)), lagrange(e), strict=True)]
    outputs = [("kane", (3,), e.inertia), ("lagrange", (3,), whole)]
    program = build_program(g, "both", program_inputs(e, rates=True), outputs)
    out = evaluate(program, {"q": [0.3, 0.5, 0.05], "u": [3.0, -1.2, 0.4], "udot": [1.0, 2.0, -3.0], "t": [0]})
    assert np.allclose(out["kane"], out["lagrange"], rtol=1e-12)
