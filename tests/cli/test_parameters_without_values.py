"""Mechanisms whose parameters have no values: what needs none works, what needs them says which, and how."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction
from pathlib import Path

import pytest

import kane
from kane.cli import main
from kane.errors import UnknownNameError
from kane.formats.toml import write_toml
from kane.mechanism import formula as f
from kane.mechanism.builder import System, dot
from kane.mechanism.inertia import mass_of, moving_mass, total_mass
from kane.mechanism.model import Inertia, Joint, Limits, Link, Mechanism, Parameter, Rotor, Translate

VALUES = {"m": "1.5", "L": "0.4", "J": "0.1", "g": "9.81", "c": "0.1", "mu": "0.2", "k": "3", "r": "0.001"}
Z = f.ZERO


def two_links(*without: str) -> Mechanism:
    """Two links in a plane, a parameter in every place that takes a formula; `without`: parameters without values."""
    m, L, J, g, c, mu, k, r = map(f.name, VALUES)
    tenth, up = f.exact("0.1"), (Z, Z, f.exact(1))
    links = (
        Link("base", Inertia(m)),
        Link("one", Inertia(m, (L, Z, Z), (J, Z, Z, J, Z, J))),
        Link("two", Inertia(f.exact(2), (tenth, Z, Z), (tenth, Z, Z, tenth, Z, tenth))),
    )
    limits = Limits(-2.0, 2.0, 3.0, 10.0)
    joints = (
        Joint("q1", "revolute", "base", "one", axis=up, damping=c, friction=mu, stiffness=k,
              rotor=Rotor(r, f.exact(50)), limits=limits),
        Joint("q2", "revolute", "one", "two", placement=(Translate((L, Z, Z)),), axis=up, limits=limits),
    )  # fmt: skip
    known = tuple(Parameter(p, None if p in without else Fraction(v)) for p, v in VALUES.items())
    return Mechanism("two_links", links, joints, gravity=(Z, -g, Z), parameters=known)


def by_hand() -> Mechanism:
    """As docs/kane-method.md declares two links: speeds of their own, forces, gravity by a letter."""
    s = System("by_hand")
    q1, q2 = s.coordinates("q1 q2")
    m, L, g = s.parameters("m L g")
    s.speeds(u1=dot(q1), u2=dot(q2))
    A = s.N.orient_new_axis("A", 3, q1)
    B = A.orient_new_axis("B", 3, q2)
    P1 = s.O.locate_new("P1", L * A.x)
    s.particle("P1", P1, m)
    s.particle("P2", P1.locate_new("P2", L * B.x), m)
    s.gravity(-g * s.N.x)
    torque = s.inputs("T")
    s.torque("motor", A, torque * A.z)
    return s.mechanism()


MECHANISMS = {
    "gravity": lambda: two_links("g"), "friction": lambda: two_links("c", "mu", "k"),
    "rotor": lambda: two_links("r"), "all": lambda: two_links(*VALUES), "by_hand": by_hand,
}  # fmt: skip
MISSING = {"gravity": "g", "friction": "c", "rotor": "r", "all": "m", "by_hand": "m"}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end, warnings.catch_warnings():
        warnings.simplefilter("error")
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out + err


def written(tmp_path: Path, kind: str) -> str:
    file = tmp_path / "robot.toml"
    file.write_text(write_toml(MECHANISMS[kind]()), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize(
    "command",
    [
        "derive --out OUT", "check", "counts --effort low --task mass_matrix", "code --out OUT",
        "code --target latex --out OUT", "code --target text --out OUT", "report --quick --out OUT/page.html",
    ],
)  # fmt: skip
def test_commands_that_need_no_values(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str, command: str
) -> None:
    name, *options = command.replace("OUT", str(tmp_path / "out")).split()
    status, text = run(capsys, name, written(tmp_path, kind), *options)
    assert status == 0, text


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("command", ["simulate", "linearize", "excite --rounds 1", "identify LOG"])
def test_commands_that_need_values(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str, command: str
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("t\n0\n")
    name, *options = command.replace("LOG", str(log)).split()
    status, text = run(capsys, name, written(tmp_path, kind), *options)
    assert status == 2
    assert f"Parameter '{MISSING[kind]}' has no value" in text and f"--values {MISSING[kind]}=" in text


@pytest.mark.parametrize("kind", ["gravity", "all"])
def test_an_abbreviation_needs_values(capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str) -> None:
    robot = written(tmp_path, kind)
    asked = ["explicit", robot, "--tolerance", "1%", "--acceleration", "1,1"]
    status, text = run(capsys, *asked)
    assert status == 2 and "has no value" in text and "--values" in text and text.count("has no value") == 1
    given = ",".join(f"{name}={value}" for name, value in VALUES.items())
    status, text = run(capsys, *asked, "--values", given)
    assert status == 0, text


def test_formulas_stand_where_values_are_missing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, text = run(capsys, "code", written(tmp_path, "all"), "--target", "text", "--out", str(tmp_path), "--json")
    head = json.loads(text)
    assert status == 0
    assert head["gravity"] == [0.0, "-g", 0.0]
    assert head["robot"]["mass_total"] == "m + m + 2" and head["robot"]["mass_moving"] == "m + 2"
    shown = kane.api.robot.Robot(two_links("g", "m")).summary()
    assert "gravity (0, -g, 0)" in shown and "mass m + m + 2 kg" in shown and "moving m + 2 kg" in shown


def test_masses() -> None:
    known = two_links()
    assert total_mass(known) == pytest.approx(5.0) and moving_mass(known) == pytest.approx(3.5)
    assert f.number(mass_of(known, "still"), known.parameter_values) == 1.5


@pytest.mark.parametrize("asked", ["gravity", "total_mass", "moving_mass"])
def test_properties_name_the_parameter(asked: str) -> None:
    robot = kane.api.robot.Robot(two_links("g", "m"))
    with pytest.raises(UnknownNameError, match="has no value") as error:
        getattr(robot, asked)
    assert error.value.name == ("g" if asked == "gravity" else "m") and "with_parameters" in str(error.value.remedy)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_the_report_of_a_mechanism(tmp_path: Path, kind: str) -> None:
    page = kane.report(MECHANISMS[kind](), tmp_path / "page.html")
    assert "Drawn with made-up values" in page.read_text(encoding="utf-8")
