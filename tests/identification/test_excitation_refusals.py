"""What no exciting motion can be made of is refused at once, by name: before the search, never by an error of NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from identification.arms import planar
from kane.errors import ConvergenceError, InputError, KaneError, NumberError, ShapeError, UnknownNameError
from kane.identification import Box, FourierMotion, Search, exciting_motion, motion_limits, torque_model
from kane.mechanism.model import Link, Mechanism

NAN, INF = float("nan"), float("inf")
SHORT = Search(starts=2, rounds=4)
ROOM = Box("l2", (-9.0, -9.0, -9.0), (9.0, 9.0, 9.0))


@pytest.fixture(scope="module")
def model() -> Any:
    return torque_model(planar())


@pytest.mark.parametrize("period", [0, -1, NAN, INF, 1e-300, 1e300, "20", None, True])
@pytest.mark.parametrize("harmonics", [None, 3])
def test_periods(model: Any, period: Any, harmonics: Any) -> None:
    with pytest.raises(InputError, match="period"):
        exciting_motion(model, (period, harmonics), search=SHORT)


@pytest.mark.parametrize("harmonics", [0, -3, 1, 2.5, "3", NAN, True, 1000, 10**9])
def test_harmonics(model: Any, harmonics: Any) -> None:
    with pytest.raises(InputError, match=f"{harmonics}"):
        exciting_motion(model, (20.0, harmonics), search=SHORT)


@pytest.mark.parametrize("series", [20.0, (20.0,), (1, 2, 3), None, "20"])
def test_series(model: Any, series: Any) -> None:
    with pytest.raises(InputError, match="series is"):
        exciting_motion(model, series)


@pytest.mark.parametrize("key", ["velocity", "acceleration", "effort"])
@pytest.mark.parametrize("value", [0, -1, NAN, 1e-300, [1, 0], None])
def test_limits_that_nothing_moves_within(model: Any, key: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"Joint 'j[12]' has the {key} limit"):
        motion_limits(model, **{key: value})
    numbers = np.broadcast_to(np.array(value, dtype=float), (2,))
    with pytest.raises(InputError, match=f"the {key} limit"):  # also in limits made by hand
        exciting_motion(model, limits=replace(motion_limits(model), **{key: numbers}))


@pytest.mark.parametrize("key", ["lower", "upper"])
@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e300])
def test_limits_without_room(model: Any, key: str, value: float) -> None:
    with pytest.raises(InputError, match="Joint 'j1' has the lower limit"):
        motion_limits(model, **{key: value})


@pytest.mark.parametrize("key", ["lower", "upper", "velocity", "acceleration", "effort"])
@pytest.mark.parametrize("value", ["x", [1, 2, 3], [[1, 2]], {}])
def test_limits_that_are_no_numbers(model: Any, key: str, value: Any) -> None:
    with pytest.raises(ShapeError, match=f"{key} is .*one a joint"):
        motion_limits(model, **{key: value})


@pytest.mark.parametrize("key", ["lower", "upper", "velocity", "acceleration", "effort"])
def test_limits_by_name(model: Any, key: str) -> None:
    own = getattr(motion_limits(model), key)
    np.testing.assert_array_equal(getattr(motion_limits(model, **{key: {"j2": 0.5}}), key), [own[0], 0.5])
    with pytest.raises(UnknownNameError, match="there are: j1, j2"):
        motion_limits(model, **{key: {"j3": 0.5}})
    with pytest.raises(ShapeError, match="some by name"):
        motion_limits(model, **{key: {"j1": "x"}})


@pytest.mark.parametrize("limits", [5, "x", {}])
def test_no_limits(model: Any, limits: Any) -> None:
    with pytest.raises(InputError, match="limits is"):
        exciting_motion(model, limits=limits)


def test_limits_of_another_robot(model: Any) -> None:
    limits = motion_limits(model)
    with pytest.raises(ShapeError, match="lower is not an array of 2 limits"):
        exciting_motion(model, limits=replace(limits, lower=np.zeros(3)))


CORNERS = {
    "exchanged": ((1, 1, 1), (0, 0, 0)),
    "flat": ((0, 0, 0), (1, 1, 0)),
    "nan": ((NAN, 0, 0), (1, 1, 1)),
    "infinite": ((-INF,) * 3, (INF,) * 3),
    "text": (("a", "b", "c"), (1, 1, 1)),
    "two": ((0, 0), (1, 1)),
    "letters": ("abc", "def"),
}


@pytest.mark.parametrize("corners", CORNERS)
def test_boxes_without_room(model: Any, corners: str) -> None:
    lower, upper = CORNERS[corners]
    box: Any = Box("l2", lower, upper)  # type: ignore[arg-type]
    with pytest.raises(InputError if len(lower) == 3 and corners != "letters" else ShapeError, match="l2"):
        exciting_motion(model, boxes=[box])


@pytest.mark.parametrize("boxes", [None, 5, ROOM, ["l2"]], ids=lambda x: type(x).__name__)
def test_no_boxes(model: Any, boxes: Any) -> None:
    with pytest.raises(InputError, match=r"Give \[Box\("):
        exciting_motion(model, boxes=boxes)


@pytest.mark.parametrize("name", ["starts", "rounds", "seed"])
@pytest.mark.parametrize("value", [-1, NAN, 2.5, "x", None])
def test_searches(model: Any, name: str, value: Any) -> None:
    search: Any = replace(SHORT, **{name: value})
    with pytest.raises(NumberError, match=f"{name} of the search"):
        exciting_motion(model, search=search)


@pytest.mark.parametrize("objective", ["cond", None, 3])
def test_objectives(model: Any, objective: Any) -> None:
    with pytest.raises(InputError, match="objective is"):
        exciting_motion(model, objective=objective)


@pytest.mark.parametrize("given", [planar(), None, "two_link"], ids=lambda x: type(x).__name__)
def test_what_is_no_torque_model(given: Any) -> None:
    for call in (exciting_motion, motion_limits):
        with pytest.raises(InputError, match=r"torque_model\(robot\)"):
            call(given)


def test_nothing_moves() -> None:
    with pytest.raises(InputError, match="No joint of stone moves"):
        exciting_motion(torque_model(Mechanism("stone", (Link("base"),), ())))


@pytest.mark.parametrize("period", [1e-4, 1e6])
def test_a_motion_that_shows_nothing_is_not_handed_out(model: Any, period: float) -> None:
    rough = torque_model(planar(), friction="all")
    with pytest.raises(ConvergenceError, match="does not show all parameters"):
        exciting_motion(rough, (period, 3), search=SHORT)


@pytest.mark.parametrize("limits", [{"effort": 1e-3}, {"lower": 1.0, "upper": 1.0 + 1e-9, "effort": 1e-3}])
def test_torques_that_do_not_even_hold_the_arm(model: Any, limits: Any) -> None:
    with pytest.raises(ConvergenceError, match="keeps effort"):
        exciting_motion(model, (20.0, 3), limits=motion_limits(model, **limits), search=SHORT)


@pytest.mark.parametrize("rate", [0, -1, NAN, INF, 1e300, "x", None])
def test_rates_of_a_table(rate: Any) -> None:
    motion = FourierMotion(("a",), 1.0, np.zeros(1), np.ones((1, 2)), np.ones((1, 2)))
    with pytest.raises(NumberError, match="rate is"):
        motion.csv(rate)
    with pytest.raises(NumberError, match="periods is"):
        motion.csv(10.0, rate)


@pytest.mark.parametrize(
    "wrong", [{"friction": None}, {"friction": 5}, {"rotors": "x"}, {"rotors": None}, {"width": -1}, {"width": NAN},
              {"width": "x"}], ids=str,
)  # fmt: skip
def test_settings_of_a_torque_model(wrong: Any) -> None:
    with pytest.raises(KaneError, match=next(iter(wrong))):
        torque_model(planar(), **wrong)
    with pytest.raises(InputError, match="is not a robot"):
        torque_model(wrong)
