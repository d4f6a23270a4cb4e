"""A SCARA with a slide and a gripper that follows: how large terms become, with and without limits of the slides."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from kane.cli import main
from kane.explicit.evaluate import constant_values
from kane.explicit.model import ExplicitModel, explicit_model
from kane.explicit.ranges import Positions, positions
from kane.explicit.significance import greatest, significance
from kane.formats import read_urdf
from kane.mechanism.model import Limits, Mechanism
from kane.report.sections.explicit import explicit

FILE = Path(__file__).parent.parent / "data" / "scara_gripper.urdf"


def gripper(limits: bool = True) -> Mechanism:
    robot = read_urdf(FILE)
    return robot if limits else replace(robot, joints=tuple(replace(j, limits=Limits()) for j in robot.joints))


@pytest.fixture(scope="module", params=[True, False], ids=["limits", "no limits"])
def model(request: pytest.FixtureRequest) -> ExplicitModel:
    return explicit_model(gripper(request.param))


def limited(model: ExplicitModel) -> bool:
    return bool(np.isfinite(positions(model).lower).all())


def test_positions(model: ExplicitModel) -> None:
    """Angles take the whole turn when asked to, slides never do."""
    own, whole = positions(model), positions(model, whole_turns=True)
    assert model.turns == (True, True, False, True, False)
    if limited(model):
        assert own == Positions((-2.0, -2.5, 0.0, -3.0, 0.0), (2.0, 2.5, 0.2, 3.0, 0.04))
        assert whole.upper == (np.pi, np.pi, 0.2, np.pi, 0.04)
    else:
        assert own == whole and own.upper == (np.pi, np.pi, np.inf, np.pi, np.inf)


def test_the_greatest_terms_are_those_of_a_grid(model: ExplicitModel) -> None:
    """Every corner and an even grid of the ranges; with slides that have none the terms grow with the grid."""
    constants = constant_values(model)
    for reach in (1.0, 10.0):
        ends = positions(model)
        low, high = (np.clip(x, -reach, reach) if not limited(model) else np.array(x) for x in (ends.lower, ends.upper))
        low, high = (np.where(model.turns, x, y) for x, y in ((ends.lower, low), (ends.upper, high)))
        q = np.array(list(product(*(np.linspace(a, b, 9) for a, b in zip(low, high, strict=True)))))
        for s in significance(model, positions(model)):
            value = np.full(len(q), float(s.term.ratio) * constants[s.term.constant])
            for angle, c, power in s.term.factors:
                at = q @ np.array(angle, dtype=float)
                value = value * (at**c if power < 0 else np.cos(at) ** c * np.sin(at) ** power)
            found = float(np.abs(value).max())
            if np.isfinite(s.greatest):
                assert found <= s.greatest * (1 + 1e-12) and found >= 0.8 * s.greatest
            else:
                assert not limited(model) and found > 0 and s.share == 1.0


def test_shares(model: ExplicitModel) -> None:
    for s in significance(model):
        assert 0 <= s.share <= 1 and not np.isnan(s.constant_share)
        assert np.isfinite(s.greatest) or not limited(model)


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ((((1, 0), 2, -1),), np.inf),
        ((((1, 0), 1, -1), ((0, 1), 0, 1)), 0.0),  # sin(0) times a slide without a range
        ((((0, 1), 1, 0),), 1.0),
        ((), 1.0),
    ],
)  # fmt: skip
def test_zero_times_infinity(factors: tuple[tuple[tuple[int, ...], int, int], ...], expected: float) -> None:
    ranges = Positions((-np.inf, 0.0), (np.inf, 0.0))
    assert greatest(factors, ranges) == expected


def test_the_page_draws_within_the_limits(model: ExplicitModel) -> None:
    shown = explicit(model, counted=False).data["ranges"]
    assert np.isfinite([*shown["lower"], *shown["upper"]]).all()
    assert shown["upper"][2] == (0.2 if limited(model) else 1.0)


@pytest.mark.parametrize("limits", [True, False], ids=["limits", "no limits"])
@pytest.mark.parametrize(
    "command",
    [
        "derive --out OUT", "check", "counts --effort low --task gravity_forces", "code --target text --out OUT",
        "explicit", "report --quick --out OUT/page.html", "simulate --time 0.1", "linearize", "linearize --q j3=0.1",
    ],
)  # fmt: skip
def test_every_command_without_a_warning(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, limits: bool
) -> None:
    from kane.formats import write_toml

    file = tmp_path / "robot.toml"
    file.write_text(write_toml(gripper(limits)), encoding="utf-8")
    name, *options = command.replace("OUT", str(tmp_path / "out")).split()
    with pytest.raises(SystemExit) as end, warnings.catch_warnings():
        warnings.simplefilter("error")
        main([name, str(FILE if limits else file), *options])
    assert not end.value.code, capsys.readouterr().err
