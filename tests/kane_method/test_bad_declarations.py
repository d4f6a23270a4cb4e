"""What cannot be is refused in words of the mechanism: never by an error of Python, never taken silently."""

import inspect

import numpy as np
import pytest

import kane
from kane.equations.constrained import constrained
from kane.equations.operational import task_equations, task_program, task_space
from kane.equations.projection import kane_equations
from kane.equations.steps import check_steps, work_out
from kane.errors import InertiaError, InputError, MasslessJointError, NumberError, ShapeError, UnknownNameError
from kane.linearization.linear import linearize
from kane.linearization.trim import trim
from kane.mechanism.basis import basis
from kane.mechanism.beams import S, clamped_free
from kane.mechanism.builder import System, dot
from kane.mechanism.elements.contact import backlash, clearance, stop
from kane.mechanism.elements.friction import coulomb, stribeck, viscous
from kane.mechanism.elements.place import on_coordinate
from kane.mechanism.elements.transmission import compliance, coupled_rotors, drive, rotor
from kane.mechanism.formula import name
from kane.mechanism.handles import Point, ReferenceFrame


def two_link():
    s = System()
    q1, q2 = s.coordinates("q1 q2")
    A = s.N.orient_new_axis("A", 3, q1)
    B = A.orient_new_axis("B", 3, q2)
    P = s.O.locate_new("P", A.x)
    Q = P.locate_new("Q", B.x)
    s.particle("Q", Q, 1)
    return s, q1, A, B, P, Q


def declared_twice(s, q1, A, B, P, Q):
    s.speeds(q1=dot(q1))


REFUSED = {
    "a speed called as a coordinate": (declared_twice, "'q1' is declared twice"),
    "a coordinate called as a rate": (lambda s, *_: s.coordinates("q1_dot"), "'q1_dot' .* rate"),
    "a parameter called as an acceleration": (lambda s, *_: s.parameters(q2_ddot=1), "'q2_ddot' .* rate"),
    "a name before its rate's": (lambda s, *_: s.parameters("x_dot x"), "'x' .* 'x_dot'"),
    "pi": (lambda s, *_: s.parameters("pi"), "'pi'"),
    "no name": (lambda s, *_: s.coordinates("q-1"), "'q-1' cannot be a name"),
    "an axis of a third frame": (lambda s, q1, A, B, *_: s.N.orient_new_axis("C", B.x, q1), "belongs to neither"),
    "angles without axes": (lambda s, q1, *_: s.frame("C").orient_body_fixed(s.N, (q1, q1, 0), "12"), "3 angles"),
    "three of a quaternion": (lambda s, *_: s.frame("C").orient_quaternion(s.N, s.coordinates("a b c")), "a, b, c"),
    "a constant quaternion": (lambda s, *_: s.frame("C").orient_quaternion(s.N, s.parameters("a b c d")), "four"),
    "two speeds of a quaternion": (
        lambda s, *_: s.frame("C").orient_quaternion(s.N, s.coordinates("a b c d"), ("x", "y")),
        "speeds x, y",
    ),
    "no direction cosines": (lambda s, *_: s.frame("C").orient_explicit(s.N, 5), "three rows of three"),
    "a force without direction": (lambda s, q1, A, B, P, Q: s.force("F", Q, 3), "Force 'F' is given as '3'"),
    "a torque without direction": (lambda s, q1, A, B, P, Q: s.torque("T", B, q1), "Torque 'T' is given as 'q1'"),
    "gravity without direction": (lambda s, *_: s.gravity(9.81), "Gravity is given as '9.81'"),
    "a place without direction": (lambda s, q1, A, B, P, Q: Q.locate_new("R", 1), "position of R from Q"),
    "a point of another system": (lambda s, q1, A, B, P, Q: two_link()[5].set_pos(P, A.x), "located twice|another"),
    "a measure along a sum": (lambda s, q1, A, B, P, Q: s.velocity(Q, s.N, A.x + A.y), "not a basis vector"),
    "no mass": (lambda s, q1, A, B, P, Q: s.particle("X", P, None), "None is not a finite number"),
    "a negative length": (
        lambda s, q1, A, *_: s.beam("b", A, s.O, clamped_free(1), [s.coordinates("e")], -1, 1, 1), "length is -1"
    ),
    "no length": (
        lambda s, q1, A, *_: s.beam("b", A, s.O, clamped_free(1), [s.coordinates("e")], 0, 1, 1), "length is 0"
    ),
    "a negative density": (
        lambda s, q1, A, *_: s.beam("b", A, s.O, clamped_free(1), [s.coordinates("e")], 1, -1, 1), "density is -1"
    ),
    "more shapes than coordinates": (
        lambda s, q1, A, *_: s.beam("b", A, s.O, clamped_free(2), [s.coordinates("e")], 1, 1, 1), "for 2 shapes"
    ),
    "a shape in another name": (
        lambda s, q1, A, *_: s.beam("b", A, s.O, [name("z") ** 2], [s.coordinates("e")], 1, 1, 1), r"shape is z\*\*2"
    ),
    "a misspelt option": (
        lambda s, q1, A, *_: s.beam("b", A, s.O, [S**2], [s.coordinates("e")], 1, 1, 1, stiffening="geometrical"),
        "stiffening is geometrical",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_where_it_is_said(case):
    call, words = REFUSED[case]
    with pytest.raises(InputError, match=words):
        call(*two_link())


PLACE = on_coordinate("q1")
IMPOSSIBLE = {
    "gain": (lambda: drive("d", PLACE, 10, 1, 2), "'d': efficiency is 2.*at most 1"),
    "no efficiency": (lambda: drive("d", PLACE, 10, 1, 0), "efficiency is 0"),
    "no ratio": (lambda: drive("d", PLACE, 0, 1), "ratio is 0"),
    "no ratio of a spring": (lambda: compliance("c", PLACE, on_coordinate("q2"), 0, 5), "'c': its ratio is 0"),
    "a spring that pushes": (lambda: compliance("c", PLACE, on_coordinate("q2"), 3, -5), "stiffness is -5"),
    "friction that drives": (lambda: viscous("v", PLACE, -1), "'v': coefficient is -1"),
    "dry friction that drives": (lambda: coulomb("v", PLACE, "-1/2"), "level is -0.5"),
    "a negative width": (lambda: coulomb("v", PLACE, 1, -0.1), "width is -0.1"),
    "no velocity": (lambda: stribeck("s", PLACE, 1, 2, 0), "velocity is 0"),
    "stops exchanged": (lambda: stop("s", PLACE, 1, -1, 100), "lower end 1 is above its upper end -1"),
    "a negative gap": (lambda: backlash("s", PLACE, -0.1, 100), "gap is -0.1"),
    "a hole too small": (lambda: clearance("s", "P", "Q", -0.1, 100), "gap is -0.1"),
    "a negative rotor": (lambda: rotor("r", "A", basis("A", 2), -1, PLACE), "inertia is -1"),
    "a rotor without a carrier": (
        lambda: coupled_rotors("r", ["A"], [basis("A", 2)] * 2, [1, 1], [PLACE], [[1], [2]]), "'r' need one carrier"
    ),
    "gearing without a column": (
        lambda: coupled_rotors("r", ["A"], [basis("A", 2)], [1], [PLACE, PLACE], [[1]]), "one column a joint"
    ),
    "no load": (lambda: System().add(viscous("v", PLACE, 1)), "neither a load nor a constraint"),
}  # fmt: skip


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_joint_elements_that_cannot_be(case):
    call, words = IMPOSSIBLE[case]
    with pytest.raises(InputError, match=words):
        call()


def test_what_was_refused_can_be_said_again():
    s, q1, A, B, P, _ = two_link()
    for refused, said in (
        (lambda: s.N.orient_new_axis("C", B.x, q1), lambda: s.N.orient_new_axis("C", 1, q1)),
        (lambda: P.locate_new("R", 1), lambda: P.locate_new("R", A.x)),
        (lambda: s.beam("b", A, P, [S**2], [q1], -1, 1, 1), lambda: s.beam("b", A, P, [S**2], [q1], 1, 1, 1)),
    ):
        with pytest.raises(InputError):
            refused()
        said()


def test_a_point_belongs_to_one_system():
    _, _, A, _, P, _ = two_link()
    with pytest.raises(InputError, match="another system"):
        System().point("R").set_pos(P, A.x)


@pytest.mark.parametrize("moments", [(-1, 0, 0), (-1, 1, 1), (1, 1, 5), (1, 1, 1, 2, 0, 0)])
def test_inertia_that_no_body_has(moments):
    s, _, _, B, _, Q = two_link()
    s.body("X", B, Q, 1, moments)
    with pytest.raises(InertiaError, match=r"'X'.*principal moments"):
        s.mechanism()


def test_one_moment_of_a_body_in_a_plane_is_enough():
    s, _, _, B, _, Q = two_link()
    s.body("X", B, Q, 1, (0, 0, 2))
    assert constrained(kane_equations(s.mechanism())).accelerations([0, 0], [0, 0]).udot.tolist() == [0, 0]


def test_lines_of_one_point():
    s, *_, Q = two_link()
    s.spring("k", Q, Q, 3)
    with pytest.raises(InputError, match=r"'k'.*one point"):
        kane_equations(s.mechanism())


class TestNumbers:
    @pytest.fixture
    def equations(self):
        s = System()
        q, L, m = s.coordinates("q"), *s.parameters("L m")
        g = s.parameters(g=9)
        a, b = s.inputs("a b")
        A = s.N.orient_new_axis("A", 3, q)
        s.particle("P", s.O.locate_new("P", L * A.x), m)
        s.torque("drive", A, (a + 10 * b) * A.z)
        s.gravity(g * s.N.x)
        return kane_equations(s.mechanism())

    @pytest.mark.parametrize(
        ("values", "error", "words"),
        [
            ({"L": 1}, InputError, "'m' has no value"),
            ({"L": 1, "m": 1, "M": 1}, UnknownNameError, "no parameter 'M'"),
            ({"L": 1, "m": -2}, InertiaError, "'P'.*-2 kg"),
            ({"L": float("nan"), "m": 1}, NumberError, "'L' is given as nan"),
            ({"L": "long", "m": 1}, NumberError, "'long'"),
        ],
    )
    def test_parameters(self, equations, values, error, words):
        with pytest.raises(error, match=words):
            constrained(equations, values)

    def test_a_value_of_the_description_may_be_replaced(self, equations):
        for g in ({}, {"g": 1.62}):
            motion = constrained(equations, {"L": 2, "m": 1, **g}).accelerations([np.pi / 2], [0])
            assert motion.udot == pytest.approx(-g.get("g", 9) / 2)

    def test_inputs_by_name_or_in_order(self, equations):
        motion = constrained(equations, {"L": 1, "m": 1, "g": 9})
        for f, expected in (((), 0), (None, 0), ({"b": 1}, 10), ([1, 2], 21), ({"b": 2, "a": 1}, 21)):
            assert motion.accelerations([0], [0], f).udot == pytest.approx(expected)
        with pytest.raises(UnknownNameError, match="no input 'c'; there are a, b"):
            motion.accelerations([0], [0], {"c": 1})
        with pytest.raises(ShapeError, match=r"1 values .* 2: a, b"):
            motion.accelerations([0], [0], [1])

    def test_names_to_trim(self, equations):
        values = {"L": 1, "m": 1}
        with pytest.raises(UnknownNameError, match="no speed 'u'"):
            trim(equations, [0.1], [0], free=("q",), steady=("u",), values=values)
        assert trim(equations, [0.1], [0], free="q", values=values).q == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("held", [False, True])
def test_speeds_that_move_no_inertia_are_named(held):
    s = System()
    q1, q2, q3 = s.coordinates("q1 q2 q3")
    A = s.N.orient_new_axis("A", 3, q1)
    B = A.orient_new_axis("B", 1, q2 / 3)
    C = B.orient_new_axis("C", 3, q3)
    s.body("A", A, s.O, 1, (1, 1, 1))
    s.body("C", C, s.O, 1, (0, 0, 0))
    if held:
        s.holonomic("h", q1 - q3)
    equations = kane_equations(s.mechanism())
    for call in (constrained(equations).accelerations, lambda q, u: linearize(equations, q, u)):
        with pytest.raises(MasslessJointError, match="speed 'q2'" if held else "speed 'q[23]'"):
            call([0.1, 0.2, 0.1], [0, 0, 0])


def test_quaternions_stay_unit_while_a_loop_is_closed_and_trimmed():
    """A body pinned at a point 0.5, 0.2 off its mass centre hangs with it straight below."""
    s = System()
    a, b, c, d = s.coordinates("a b c d")
    x, y, z = s.coordinates("x y z")
    C = s.frame("C").orient_quaternion(s.N, (a, b, c, d), ("w1", "w2", "w3"))
    G = s.O.locate_new("G", s.N.x * x + s.N.y * y + s.N.z * z)
    s.body("C", C, G, 1, (1, 2, "2.5"))
    s.coincide("pin", G.locate_new("H", C.x * 0.5 + C.y * 0.2), s.O, s.N)
    s.gravity(-9.81 * s.N.z)
    equations = kane_equations(s.mechanism())
    motion = constrained(equations)
    q = motion.consistent_configuration([0.9, 0.3, 0.2, -0.1, 0.4, 0, 0])
    assert q[:4] @ q[:4] == pytest.approx(1, abs=1e-14)
    assert np.linalg.norm(q[4:]) == pytest.approx(np.hypot(0.5, 0.2), abs=1e-12)
    point = trim(equations, [0.7, 0, 0.7, 0, 0, 0, -0.5], np.zeros(6), free=equations.points.coordinates.names)
    assert point.q[:4] @ point.q[:4] == pytest.approx(1, abs=1e-14)
    assert point.q[4:] == pytest.approx([0, 0, point.q[6]], abs=1e-9)
    assert abs(point.q[6]) == pytest.approx(np.hypot(0.5, 0.2), abs=1e-12)


@pytest.mark.parametrize("order", ["body first", "arm first"])
def test_material_points_are_those_of_the_rigid_body(order):
    """A block that slides without turning: a force at a fixed place works through the block's own velocity."""
    s = System()
    x, y = s.coordinates("x y")
    A = s.N.orient_new_axis("A", 3, 0.3)
    place = s.O.locate_new("place", s.N.y)
    if order == "arm first":
        s.O.locate_new("mark", 2 * A.y)
    G = s.O.locate_new("G", x * A.x + y * A.y)
    s.body("block", A, G, 2, (1, 1, 1))
    s.force("push", place, 6 * A.x, body=A)
    assert constrained(kane_equations(s.mechanism())).accelerations([0.4, 0.1], [1, 1]).udot == pytest.approx([3, 0])


def test_material_points_of_two_bodies_in_one_frame():
    s, _, A, _, P, _ = two_link()
    s.body("near", A, P, 1, (1, 1, 1))
    slide = s.O.locate_new("slide", A.y * s.coordinates("x"))
    s.body("slider", A, slide, 1, (1, 1, 1))
    s.torque("allowed", A, A.z)
    kane_equations(s.mechanism())
    s.force("push", P, A.y, body=A)
    with pytest.raises(InputError, match="'near' and 'slider' share the frame 'A'"):
        s.mechanism()


class TestTasks:
    @pytest.mark.parametrize(
        ("tasks", "words"),
        [
            ({"w1": "velocity(Q, N, n1)**2", "w2": "q1_dot"}, "'w1' is not linear"),
            ({"w1": "q1_dot", "w2": "q1_dot*velocity(Q, N, n1)"}, "'w2' is not linear"),
            ({"w1": "q1", "w2": "q1_dot"}, "w1 contains no speed"),
            ({"w1": "q1_dot", "w2": "2*q1_dot"}, "w2 depends"),
            ({"w1": "q1_dot"}, "1 task speeds for 2"),
        ],
    )
    def test_task_speeds(self, tasks, words):
        with pytest.raises(InputError, match=words):
            task_equations(kane_equations(two_link()[0].mechanism()), tasks)

    @pytest.mark.parametrize("rows", [(3, 9), (-1,), ()])
    def test_rows_of_the_twist(self, rows):
        program = task_program(kane_equations(two_link()[0].mechanism()), "Q")
        with pytest.raises(InputError, match="rows of the twist"):
            task_space(program, {"q": [0.1, 0.7], "u": [1, 2], "t": [0]}, rows=rows)


def test_linearisation_and_trim_of_robots_and_systems():
    """They take what kane_equations takes, and refuse the rest by name."""
    s, _, _, _, P, _ = two_link()
    s.particle("P", P, 1)
    s.gravity(9.81 * s.N.x)
    wanted = linearize(kane_equations(s.mechanism()), [0, 0], [0, 0]).A
    for source in (s, s.mechanism()):
        assert np.array_equal(linearize(source, [0, 0], [0, 0]).A, wanted)
        assert trim(source, [0.1, 0.1], [0, 0], free=("q1", "q2")).q == pytest.approx([0, 0], abs=1e-9)
    assert kane.linearize(kane.load("two_link"), [0, 0], [0, 0]).A.shape == (4, 4)
    with pytest.raises(InputError, match=r"two_link.*is a name"):
        kane.linearize("two_link", [0, 0], [0, 0])


def test_entries_that_steps_do_not_have():
    """Partial velocities count from 1; a point P_1 is not the first partial velocity of a point P."""
    s, _, A, _, P, _ = two_link()
    s.particle("P_1", P.locate_new("P_1", A.y), 1)
    s.particle("P", P, 1)
    steps = work_out(kane_equations(s.mechanism()))
    right = {"v_P_1": "q1_dot*a2 - q1_dot*a1", "v_P_2": "0*a1", "v_Q_2": "b2", "v_P_1_1": "a2 - a1"}
    assert all(found.equal for found in check_steps(steps, right))
    for entry in ("v_P_0", "v_P_3", "v_R", "v_P_r"):
        with pytest.raises(UnknownNameError, match=r"no entry .*v_Q_1, v_Q_2"):
            check_steps(steps, {entry: "a1"})


METHODS = [
    (owner, name, [p.name for p in parameters], k)
    for owner in (System, ReferenceFrame, Point)
    for name, method in vars(owner).items()
    if not name.startswith("_") and inspect.isfunction(method)
    for parameters in [list(inspect.signature(method).parameters.values())[1:]]
    for k, p in enumerate(parameters)
    if str(p.annotation).split(" |")[0] in ("Point", "ReferenceFrame")
]


@pytest.mark.parametrize("owner, name, arguments, k", METHODS, ids=lambda x: getattr(x, "__name__", str(x)))
@pytest.mark.parametrize("wrong", ["its name", "of another system", "of the other kind", None])
def test_where_a_point_or_frame_belongs_only_one_of_the_system_is_taken(owner, name, arguments, k, wrong):
    s, q, A, B, P, Q = two_link()
    e = s.coordinates("e")
    right = {
        "point": P, "other": Q, "mass_centre": P, "start": P, "contact": P, "frame": A, "body": B, "reaction": A,
        "surface": A, "parent": A, "vector": A.x, "axis": A.x, "name": "new", "mass": 1, "inertia": (1, 1, 1),
        "magnitude": 1, "stiffness": 1, "length": 1, "coefficient": 1, "axes": (1, 2), "angle": q, "shapes": [S**2],
        "coordinates": [e], "density": 1, "rigidity": 1, "options": None, "angles": (q,), "order": "1",
        "quaternion": s.coordinates("a b c d"), "speeds": (), "dcm": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    }  # fmt: skip
    given = {a: right[a] for a in arguments if a != "options"}
    here = {System: s, ReferenceFrame: s.frame("new frame"), Point: s.point("new point")}[owner]
    handle = given[arguments[k]]
    others = {
        "its name": handle.name, "of another system": {"P": System().O, "Q": System().O}.get(handle.name, System().N),
        "of the other kind": P if isinstance(handle, ReferenceFrame) else A, None: None,
    }  # fmt: skip
    if wrong is None and (name, arguments[k]) == ("force", "body"):
        return  # a force on a point that no body carries
    with pytest.raises(InputError, match=r"none of the|another system"):
        getattr(here, name)(**given | {arguments[k]: others[wrong]})
    getattr(here, name)(**given)  # the right ones are taken after the refusal
