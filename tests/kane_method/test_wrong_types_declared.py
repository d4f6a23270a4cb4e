"""Every argument of every declaration, given things of every other kind: refused by name, with nothing left behind."""

import numpy as np
import pytest

from kane.errors import InputError, KaneError
from kane.mechanism.beams import S
from kane.mechanism.builder import System, dot
from kane.mechanism.handles import Point, ReferenceFrame


class Arm:
    """Two links, a frame G to orient and a point G to locate."""

    def __init__(self):
        self.s = s = System()
        self.q1, self.q2, self.e = s.coordinates("q1 q2 e")
        self.quaternion = s.coordinates("a b c d")
        self.A = s.N.orient_new_axis("A", 3, self.q1)
        self.B = self.A.orient_new_axis("B", 3, self.q2)
        self.P = s.O.locate_new("P", self.A.x)
        self.Q = self.P.locate_new("Q", self.B.x)
        self.G, self.R = s.frame("G"), s.point("R")

    def state(self):
        s = self.s
        counts = [len(x) for x in (s._coordinates, s._speeds, s._parameters, s._loads, s._constraints, s.bodies)]
        frames = [(f.name, f.parent and f.parent.name, len(f.moves), f.origin is None) for f in s.frames.values()]
        points = [(p.name, p.parent and p.parent.name, str(p.vector)) for p in s.points.values()]
        return counts, frames, points, set(s._declared), dict(s._quaternions), str(s._gravity)


DECLARED = {
    "coordinates": lambda w: (w.s.coordinates, ["x y"]),
    "parameters": lambda w: (w.s.parameters, ["x y"]),
    "inputs": lambda w: (w.s.inputs, ["x y"]),
    "specified": lambda w: (w.s.specified, ["x y"]),
    "speeds": lambda w: (lambda a, b: w.s.speeds(u1=a, u2=b), [dot(w.q1), dot(w.q2)]),
    "values": lambda w: (lambda a, b: w.s.parameters("z", x=a, y=b), [1, 2]),
    "frame": lambda w: (w.s.frame, ["F"]),
    "point": lambda w: (w.s.point, ["F"]),
    "dot": lambda w: (w.s.dot, [w.A.x, w.B.x]),
    "velocity": lambda w: (w.s.velocity, [w.P, w.s.N, w.A.x]),
    "material_velocity": lambda w: (w.s.material_velocity, [w.P, w.A, w.A.x]),
    "angular_velocity": lambda w: (w.s.angular_velocity, [w.A, w.B, w.A.x]),
    "position": lambda w: (w.s.position, [w.P, w.Q, w.A.x]),
    "distance": lambda w: (w.s.distance, [w.P, w.Q]),
    "distance_dot": lambda w: (w.s.distance_dot, [w.P, w.Q]),
    "particle": lambda w: (w.s.particle, ["X", w.P, 1]),
    "body": lambda w: (w.s.body, ["X", w.A, w.P, 1, (1, 1, 1)]),
    "gravity": lambda w: (w.s.gravity, [w.s.N.y]),
    "force": lambda w: (w.s.force, ["F", w.P, w.A.x, w.B]),
    "torque": lambda w: (w.s.torque, ["F", w.A, w.A.z]),
    "force_pair": lambda w: (w.s.force_pair, ["F", w.P, w.A, w.B, w.A.x]),
    "torque_pair": lambda w: (w.s.torque_pair, ["F", w.A, w.B, w.A.z]),
    "actuator": lambda w: (w.s.actuator, ["F", w.P, w.s.O, 3]),
    "spring": lambda w: (w.s.spring, ["F", w.P, w.s.O, 3, 1]),
    "damper": lambda w: (w.s.damper, ["F", w.P, w.s.O, 3]),
    "beam": lambda w: (w.s.beam, ["b", w.A, w.P, [S**2], [w.e], 1, 1, 1]),
    "holonomic": lambda w: (w.s.holonomic, ["h", w.q1 - w.q2]),
    "nonholonomic": lambda w: (w.s.nonholonomic, ["h", dot(w.q1) - dot(w.q2)]),
    "coincide": lambda w: (w.s.coincide, ["c", w.P, w.Q, w.s.N, (1, 2)]),
    "roll": lambda w: (w.s.roll, ["c", w.A, w.P, w.s.N, w.s.N, (1, 2)]),
    "given_velocity": lambda w: (w.s.given_velocity, [w.P, w.s.N, w.A.y]),
    "orient_axis": lambda w: (w.G.orient_axis, [w.A, 3, w.q1]),
    "orient_body_fixed": lambda w: (w.G.orient_body_fixed, [w.A, (1, 2, w.q1), "123"]),
    "orient_space_fixed": lambda w: (w.G.orient_space_fixed, [w.A, (1, 2, w.q1), "123"]),
    "orient_quaternion": lambda w: (w.G.orient_quaternion, [w.A, w.quaternion, ("x", "y", "z")]),
    "orient_explicit": lambda w: (w.G.orient_explicit, [w.A, np.eye(3)]),
    "orient_new_axis": lambda w: (w.A.orient_new_axis, ["F", 3, w.q1]),
    "vector": lambda w: (w.A.vector, [1, 2, 3]),
    "set_pos": lambda w: (w.R.set_pos, [w.P, w.A.x]),
    "locate_new": lambda w: (w.P.locate_new, ["F", w.A.x]),
    "System": lambda w: (System, ["s", "N", "O"]),
}
OTHER = Arm()
WRONG = [
    None, 5, float("nan"), "", " ", "zz", "1/0", 'a"b\n', "(" * 3000, "9" * 6000, b"q", 1j, True, [1], {}, (7, 8),
    (None,) * 3, np.zeros(3), object(), OTHER.A, OTHER.P, OTHER.q1, System,
]  # fmt: skip


@pytest.mark.parametrize("name", DECLARED)
def test_nothing_but_our_own_errors_and_nothing_left_behind(name):
    for place in range(len(DECLARED[name](Arm())[1])):
        refused = 0
        for wrong in WRONG:
            w = Arm()
            call, arguments = DECLARED[name](w)
            arguments[place] = wrong
            before = w.state()
            try:
                call(*arguments)
            except KaneError:
                refused += 1
                assert w.state() == before, (place, wrong)
        assert refused >= len(WRONG) - 9, place  # taken: numbers, formulas, texts, where these are meant


@pytest.mark.parametrize("name", DECLARED)
def test_right_ones_are_taken_after_wrong_ones(name):
    w = Arm()
    call, arguments = DECLARED[name](w)
    for place in range(len(arguments)):
        with pytest.raises(KaneError):
            call(*arguments[:place], object(), *arguments[place + 1 :])
    call(*arguments)


@pytest.mark.parametrize("kind", [Point, ReferenceFrame])
def test_handles_of_another_system(kind):
    """All that takes a point or a frame, with one of another system that is called alike."""
    for name in DECLARED:
        for place, right in enumerate(DECLARED[name](Arm())[1]):
            if isinstance(right, kind):
                w = Arm()
                call, arguments = DECLARED[name](w)
                known = OTHER.s.points if kind is Point else OTHER.s.frames
                arguments[place] = known[right.name]
                with pytest.raises(InputError, match=f"{right.name}"):
                    call(*arguments)


def test_names_are_taken_together_or_not_at_all():
    w = Arm()
    for call in (w.s.coordinates, w.s.parameters, w.s.inputs, w.s.specified):
        before = w.state()
        with pytest.raises(InputError, match="'q1' is declared twice"):
            call("x y q1")
        with pytest.raises(InputError, match="'x' is declared twice"):
            call("x x")
        assert w.state() == before
    w.s.coordinates("x y")


@pytest.mark.parametrize("axes", [(), (1, 1), ("x", 1), (4,), (True,)])
def test_axes_of_constraints(axes):
    w = Arm()
    with pytest.raises(InputError, match=r"axes|axis"):
        w.s.coincide("c", w.P, w.Q, w.s.N, axes)
    with pytest.raises(InputError, match=r"axes|axis"):
        w.s.roll("c", w.A, w.P, w.s.N, w.s.N, axes)


def test_coordinates_of_a_beam_are_declared():
    w = Arm()
    with pytest.raises(InputError, match="'b' has the coordinate 'e9'"):
        w.s.beam("b", w.A, w.P, [S**2], ["e9"], 1, 1, 1)


def test_speeds_of_a_quaternion_are_names():
    w = Arm()
    for speeds in (("x", "x", "y"), ("1/0", "y", "z"), ("q1", "y", "z")):
        with pytest.raises(InputError, match=r"speeds x|'1/0'|'q1'"):
            w.G.orient_quaternion(w.A, w.quaternion, speeds)
