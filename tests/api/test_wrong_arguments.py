"""What is handed over wrongly is named, with the way out; never an error of Python's own about our insides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane

TAKES_A_ROBOT: dict[str, Callable[[Any], Any]] = {
    "derive": kane.derive,
    "explicit": kane.explicit,
    "kane_equations": kane.kane_equations,
    "base_parameters": kane.base_parameters,
    "report": kane.report,
    "simulate": lambda x: kane.simulate(x, 1.0),
    "Identifier": lambda x: kane.Identifier(x).model,
}


@pytest.mark.parametrize("name", TAKES_A_ROBOT)
@pytest.mark.parametrize("given", [None, 5, np.zeros(3), kane.load, object()], ids=lambda x: type(x).__name__)
def test_what_is_no_robot_is_named(name: str, given: Any) -> None:
    with pytest.raises(kane.InputError, match=r"is not a robot\..*kane\.load"):
        TAKES_A_ROBOT[name](given)


@pytest.mark.parametrize("name", TAKES_A_ROBOT)
@pytest.mark.parametrize("given", ["two_link", Path("arm.urdf")])
def test_a_name_is_to_be_read_first(name: str, given: Any) -> None:
    with pytest.raises(kane.InputError, match=r"Read it first: kane\.load\("):
        TAKES_A_ROBOT[name](given)


@pytest.mark.parametrize("make", [kane.derive, kane.explicit])
def test_parameters_are_checked_at_once(make: Callable[..., Any]) -> None:
    robot = kane.load("two_link")
    with pytest.raises(kane.UnknownNameError, match="symbolic"):
        make(robot, parameters="all")
    with pytest.raises(kane.UnknownNameError, match=r"'mass' is no parameter.*m1"):
        make(robot, parameters=["m1", "mass"])
    with pytest.raises(kane.InputError, match="'m1' comes twice in the run-time parameters"):
        make(robot, parameters=["m1", "l1", "m1"])
    with pytest.raises(kane.InputError, match="set, which has no order"):
        make(robot, parameters={"m1", "l1"})
    with pytest.raises(kane.InputError, match="5 is no name, but one of the run-time parameters"):
        make(robot, parameters=["m1", 5])


def test_inertial_parameters_are_listed() -> None:
    with pytest.raises(kane.UnknownNameError, match=r"'link1.cx' is no inertial parameter of link 'link1'.*hx"):
        kane.derive(kane.load("two_link"), parameters=["link1.cx"])


def test_an_external_frame_comes_once() -> None:
    with pytest.raises(kane.InputError, match="'link2' comes twice in the external frames"):
        kane.derive(kane.load("two_link"), external=["link2", "link2"])


def test_one_task_and_one_frame_need_no_list() -> None:
    robot = kane.load("two_link")
    equations = kane.derive(robot, tasks="mass_matrix", external="link2")
    assert equations.external == ("link2",)


@pytest.mark.parametrize("gravity", [5, "9.81", (0, 0), None.__class__, ((0, 0, 1), 2)], ids=str)
def test_gravity_is_three_numbers(gravity: Any) -> None:
    with pytest.raises(kane.InputError, match=r"gravity is .*three numbers"):
        kane.load("two_link", gravity=gravity)


@pytest.mark.parametrize("start", ["a", ["x", "y"], {"q1": "fast"}, {"q1": None, "q2": [1, 2]}], ids=str)
def test_a_start_is_numbers(start: Any) -> None:
    with pytest.raises(kane.KaneError, match=r"q1?2? (is|has)"):
        kane.simulate(kane.load("two_link"), 1.0, start)


def test_a_task_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="inverse_dynamics"):
        kane.derive(kane.load("two_link")).compile().inverse_dynamic  # noqa: B018


CALLS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "too few": (r"takes 3 arrays \(q, qd, qdd\); 2 were given", lambda d: d.inverse_dynamics([0, 0], [0, 0])),
    "too many": ("5 were given", lambda d: d.inverse_dynamics(*[[0, 0]] * 5)),
    "one": (r"takes 1 array \(q\); 0 were given", lambda d: d.mass_matrix()),
    "by name": ("by their place: q, qd, qdd", lambda d: d.inverse_dynamics(q=[0, 0])),
    "other keyword": ("out and threads, not where", lambda d: d.mass_matrix([0, 0], where=[0, 0])),
    "text": ("q is not an array", lambda d: d.mass_matrix("q")),
    "mapping": ("q is not an array", lambda d: d.mass_matrix({"q1": 0})),
    "swapped": ("name of a frame or link behind q, not", lambda d: d.jacobian("link2", [0, 0])),
    "number for a frame": (r"behind q, not 5.*\(q, 'link2'\)", lambda d: d.forward_kinematics([0, 0], 5)),
    "frame too early": ("behind q, qd, not", lambda d: d.jacobian_rate([0, 0], "link2", [0, 0])),
    "no frame": ("wants the name of a frame", lambda d: d.jacobian_rate([0, 0], [0, 0])),
    "nothing but a frame": ("q is not an array", lambda d: d.jacobian(frame="link2")),
    "nothing": ("wants the name of a frame", lambda d: d.partial_velocities()),
    "p where there is none": (r"1 array \(q\); 2 were given", lambda d: d.jacobian([0, 0], "link2", [1])),
    "keyword p where there is none": ("out and threads, not p", lambda d: d.jacobian([0, 0], "link2", p=[1])),
    "tasks": ("tasks are given as '5'", lambda d: d.equations.compile(5)),
    "counts": ("no task '5'", lambda d: d.counts[5]),
    "bound by name": ("out and threads, not p", lambda d: d.mass_matrix.prepare(np.zeros(2), p=[1])),
    "bound": ("2 were given", lambda d: d.inverse_dynamics.prepare(np.zeros(2), np.zeros(2))),
}


@pytest.mark.parametrize("call", CALLS)
def test_calls_with_other_arguments(call: str) -> None:
    told, use = CALLS[call]
    with pytest.raises(kane.KaneError, match=told):
        use(kane.derive(kane.load("two_link")).compile())


@pytest.mark.parametrize("arrays", [2, 3, 6])
@pytest.mark.parametrize("how", ["call", "prepare"])
def test_wrenches_left_out_are_asked_for(arrays: int, how: str) -> None:
    f = kane.derive(kane.load("two_link"), external="link2").compile().inverse_dynamics
    with pytest.raises(kane.ArgumentsError, match=r"\(q, qd, qdd, w\).*on link2; zeros for none") as told:
        (f.prepare if how == "prepare" else f)(*[np.zeros(2)] * arrays)
    assert isinstance(told.value, TypeError)


@pytest.mark.parametrize("w", ["w", [[None] * 6], np.zeros(6), np.zeros((1, 6)) + 1j, {}])
def test_wrenches_are_arrays_of_numbers(w: Any) -> None:
    f = kane.derive(kane.load("two_link"), external="link2").compile().inverse_dynamics
    with pytest.raises(kane.ShapeError, match=r"^w "):
        f(*np.zeros((3, 2)), w)


def test_parameters_by_name_have_all_arrays_before_them() -> None:
    f = kane.derive(kane.load("two_link"), parameters=["m1", "m2"]).compile().inverse_dynamics
    q, p = np.array([0.3, 0.2]), np.array([1.0, 3.0])
    assert np.array_equal(f(q, q, q, p=p), f(q, q, q, p))
    assert np.array_equal(f(q, q, q, p=None), f(q, q, q))
    assert np.array_equal(f.prepare(q, q, q, p=p)(), f(q, q, q, p))
    for arrays, given in (([q, q], 3), ([q, q, q, p], 5)):
        for call in (f, f.prepare):
            with pytest.raises(kane.ArgumentsError, match=rf"\(q, qd, qdd, p\); {given} were given"):
                call(*arrays, p=p)
    with pytest.raises(kane.ArgumentsError, match="p may be left out"):
        f(q, q)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_bound_call_with_wrenches(dtype: Any) -> None:
    f = kane.derive(kane.load("two_link"), external="link2").compile(dtype=dtype).inverse_dynamics
    q, qd, qdd, w = (np.full(shape, 0.3, dtype) for shape in (2, 2, 2, (1, 6)))
    step = f.prepare(q, qd, qdd, w)
    for copied in (w.tolist(), np.asfortranarray(np.zeros((2, 6), dtype))[:1]):
        with pytest.raises(kane.ShapeError, match="w cannot be bound"):
            f.prepare(q, qd, qdd, copied)
    for _ in range(3):
        w += np.arange(6)
        q += 0.1
        assert np.array_equal(step(), f(q, qd, qdd, w))


@pytest.mark.parametrize("option", ["parameters", "external", "tasks"])
def test_options_of_derive_that_are_no_lists(option: str) -> None:
    with pytest.raises(kane.InputError, match="'5'"):
        kane.derive(kane.load("two_link"), **{option: 5})  # type: ignore[arg-type]
