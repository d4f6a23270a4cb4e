"""The TOML form: written and read back identically; mistakes are named."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.errors import FormatError, InputError, NumberError, TopologyError
from kane.formats import read, read_toml, write_toml
from kane.mechanism import constraints, loads
from kane.mechanism import formula as f
from kane.mechanism.basis import FrameVector
from kane.mechanism.checks import judge
from kane.mechanism.model import Frame, Geometry, Mechanism, Rotor, SpeedDefinition, Turn
from kane.robots import load, names
from kane.robots.generated import ALL_TYPES, symbolic_arm, tree


@pytest.mark.parametrize("name", names())
def test_bundled_robots(name: str) -> None:
    m = load(name)
    assert read_toml(write_toml(m)) == m


@given(st.integers(0, 10**6), st.booleans())
def test_generated_trees_of_every_joint_type(seed: int, extras: bool) -> None:
    m = tree(15, types=ALL_TYPES, seed=seed, extras=extras)
    text = write_toml(m)
    assert read_toml(text) == m
    assert write_toml(read_toml(text)) == text
    assert read(text) == m


def declared() -> Mechanism:
    """A mechanism with everything that a description can hold."""
    m = symbolic_arm(("0", "pi/2"))
    vector = FrameVector((("link1", 0, f.parse("k*sin(q1)")), ("base", 2, Fraction(1, 3))))
    odd = f.Formula("add", (f.formula(2), f.formula(3)))  # a sum that its text would fold
    measure = f.name("position(tip, base, base.x)")
    return replace(
        m,
        frames=(Frame("tip", "link2", (Turn(0, f.parse("q1 + 1/3")),)),),
        joints=(replace(m.joints[0], rotor=Rotor(f.name("J"), Fraction(-3), True, "base", (Fraction(0), Fraction(1), f.PI))), m.joints[1]),  # noqa: E501
        links=(replace(m.links[0], geometry=(Geometry("box", (1.0, 2.5e-9, 3.0), (), "", (1.0, 0.5, 0.0, 1.0)),)), *m.links[1:]),  # noqa: E501
        loads=(loads.Force("F", "tip", vector), loads.Force("G", "tip", vector, "link2"), loads.Torque("T", "link1", vector),  # noqa: E501
               loads.LineForce("s", "tip", "base", odd), loads.GeneralizedForce("g", "q1", measure), loads.Input("u")),
        constraints=(constraints.Holonomic("h", measure), constraints.Coincident("c", "tip", "base", "base", (0, 2)),
                     constraints.MotionConstraint("m", f.parse("q1_dot - 2*q2_dot")), constraints.Rolling("r", "link1", "tip", "", "base")),  # noqa: E501
        speeds=(SpeedDefinition("u1", f.parse("q1_dot*cos(q2)")), SpeedDefinition("u2", measure)),
        coordinates=("q2", "q1"),
        gravity=(Fraction(0), f.parse("-g"), Fraction(0)),
    )  # fmt: skip


def test_everything_a_description_can_hold() -> None:
    m = declared()
    assert read_toml(write_toml(m)) == m


@given(st.fractions(), st.text())
def test_any_number_and_any_name(value: Fraction, name: str) -> None:
    m = load("two_link")
    m = replace(m, name=name, gravity=(value, Fraction(0), -value))
    assert read_toml(write_toml(m)) == m


def test_numbers_are_readable() -> None:
    text = write_toml(load("two_link"))
    assert "value = 0.22" in text
    assert 'mass = "m1"' in text


BASE = 'format = "kane mechanism 1"\nname = "x"\n[[link]]\nname = "a"\n'


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ('name = "x"\n', FormatError, "format"),
        (BASE + "mass = 1\n", FormatError, "mass"),
        (BASE + "inertia = {com = [0, 0, 0]}\n", FormatError, "mass"),
        (BASE + 'inertia = {mass = "1 +"}\n', NumberError, "1 +"),
        (BASE + "inertia = {mass = nan}\n", NumberError, "NaN"),
        (BASE + "inertia = {mass = true}\n", FormatError, "mass"),
        (BASE + "inertia = {mass = 1e999999999}\n", NumberError, "mass"),
        (BASE + "inertia = {mass = [1]}\n", FormatError, "mass"),
        (BASE + 'inertia = {mass = 1, axes = [{turn = "w", angle = 1}]}\n', FormatError, "axes"),
        (BASE + '[[link]]\nname = "a"\n', TopologyError, "a"),
        (BASE + '[[load]]\nis = "Nothing"\n', FormatError, "Nothing"),
        (BASE + "= 3\n", FormatError, "parse"),
        ('format = "kane mechanism 1"\n[[link]]\nname = "a"\n', FormatError, "name"),
    ],
)
def test_mistakes(text: str, error: type[InputError], told: str) -> None:
    with pytest.raises(error) as caught:
        read_toml(text)
    assert told in str(caught.value)
    assert caught.value.remedy


FORM = """format = "kane mechanism 1"
name = "m"
[[link]]
name = "a"
[[link]]
name = "b"
inertia = {mass = MASS, moments = [1, 0, 0, 1, 0, 1]}
[[joint]]
name = "j"
type = "revolute"
parent = "a"
child = "b"
"""
NO_MASSES = (
    '{op="num",value="x"}', '{op="num",value="1_0"}', '{op="num",value="nan"}', '{op="num",value="1/0"}', '{op="num"}',
    '{op="num",value=nan}', '{op="num",value=true}', '{op="num",value="1e999999999"}',
    '{op="num",value="-1e999999999"}',
    '{op="foo",args=[1]}', '{op="add",args=[1]}', '{op="name"}', '{op="name",value=3}', '{op="sin",args=[1,2]}',
    '{op="pi",args=[1]}', '{op="add",args=3}', "{op=3}", '{op="atan2",args=[1]}', '{op="neg",args=[1],more=2}',
    '"sin(q,2)"', '"atan2(1)"', '"nan"', '"inf*2"', '"1_0"', '"1e999999999"', '"１"', "nan", "inf", "1e999999999",
    "true", "[1]", "1979-05-27", '{is="Mechanism"}', '{translate=[1,2,3]}', "1" + "0" * 400,
)  # fmt: skip


@pytest.mark.parametrize("mass", NO_MASSES)
def test_what_is_no_number(mass: str) -> None:
    with pytest.raises(InputError) as caught:
        judge(read_toml(FORM.replace("MASS", mass)))
    assert caught.value.remedy


def test_formulas_that_have_no_text() -> None:
    m = read_toml(FORM.replace("MASS", '{op="add", args=[{op="num", value="1/3"}, {op="sqrt", args=[4]}]}'))
    assert f.number(m.link("b").inertia.mass) == pytest.approx(7 / 3)  # type: ignore[union-attr]


@pytest.mark.parametrize("line", ["inf", "1e400", "-1e-500", "1.5"])
def test_whole_numbers_are_whole(line: str) -> None:
    with pytest.raises(InputError):
        read_toml(FORM.replace("MASS", "1").replace('name = "a"', f'name = "a"\nline = {line}'))
