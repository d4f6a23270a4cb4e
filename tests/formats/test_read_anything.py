"""The one way in: formats are told apart; damaged input is refused, never a crash, never a hang."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane.errors import FormatError, InputError, MissingExtraError
from kane.formats import read, read_urdf, write_toml
from kane.formats.values import exact_decimal
from kane.mechanism.checks import judge
from kane.robots import load

sys.path.insert(0, str(Path(__file__).parent))
from urdf_texts import body, joint, robot, two_joints

MJCF = "<mujoco><worldbody><body name='b'><joint name='j'/><inertial pos='0 0 1' mass='1' diaginertia='1 1 1'/></body></worldbody></mujoco>"  # noqa: E501
DH = "# standard DH\njoint,alpha,a,d,theta,mass\n1,0,0.3,0,q1,1\n"
SDF = '<sdf version="1.9"><model name="m"><link name="a"/></model></sdf>'


@pytest.mark.parametrize(
    ("suffix", "text", "told"),
    [
        (".urdf", two_joints(), "urdf"), (".xml", two_joints(), "urdf"), (".xml", MJCF, "mjcf"), (".mjcf", MJCF, "mjcf"),  # noqa: E501
        (".csv", DH, "dh"), (".sdf", SDF, "sdf"), (".xml", SDF, "sdf"), (".toml", write_toml(load("scara")), "toml"),
        (".txt", DH, "dh"), ("", two_joints(), "urdf"),
    ],
)  # fmt: skip
def test_formats_are_told_apart(suffix: str, text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / f"robot{suffix}"
    path.write_text(text)
    m = read(path)
    assert m.report.format == told
    assert m.report.file == str(path)
    assert read(text).report.format == told


def test_dh_tables_and_toml_float_too() -> None:
    m = read(DH, base="floating")
    assert (m.root, m.joints[0].type) == ("world", "floating")


@pytest.mark.parametrize(
    "source", ["none.urdf", "none", "", b"", "no format\n", "<a/>", "<", b"\x00\x01\x02", b"\xff\xfe<\x00", "{}", "{"]
)
def test_what_is_no_robot(source: str | bytes) -> None:
    with pytest.raises(FormatError) as caught:
        read(source)
    assert caught.value.remedy


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "robot.xacro"
    path.write_text(two_joints())
    monkeypatch.setitem(sys.modules, "xacrodoc", None)
    with pytest.raises(MissingExtraError) as caught:
        read(path)
    assert "kane[xacro]" in str(caught.value)


NUMBERS = ("0.1", "1.5", "0.4 0 0", "0.01", "-2")
DAMAGE = (
    "nan",
    "1e999999999",
    "1,5",
    "",
    "0x1",
    "<",
    "&x;",
    "&#0;",
    '"',
    "1e-999999",
    "\x00",
    "9" * 1000,
    "--",
    "é",
    "]]>",
    "<!--",
    "<?xml?>",
    "<!DOCTYPE r>",
)


@settings(max_examples=250)
@given(st.integers(0, 2**32))
def test_damaged_urdf_is_read_or_refused(seed: int) -> None:
    """Bytes, tags and numbers are changed, doubled and taken out at random."""
    r = random.Random(seed)
    text = two_joints(
        more='<transmission name="t"><joint name="j1"/></transmission>',
        j1=joint("j1", "base", "a", extra='<mimic joint="j2" multiplier="2"/>'),
    )
    for _ in range(r.randint(1, 4)):
        kind, at = r.randint(0, 4), r.randrange(len(text))
        end = min(len(text), at + r.randint(1, 40))
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = text[:at] + r.choice(DAMAGE) + text[at:]
        elif kind == 2:
            old = r.choice(NUMBERS)
            text = text.replace(old, r.choice(DAMAGE), 1)
        elif kind == 3:
            text = text[:end] + text[at:end] + text[end:]
        else:
            names = ("base", "a", "b", "j1", "j2", "link", "joint", "parent", "child", "revolute", "inertia")
            text = text.replace(r.choice(names), r.choice(names), r.randint(1, 3))
    try:
        judge(read_urdf(text.encode("utf-8", "surrogatepass")), "accept")
    except InputError as error:
        assert str(error) and error.remedy


@settings(max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    for head in (b"", b"<robot>", b'<?xml version="1.0" encoding="'):
        with pytest.raises(InputError):
            read(head + data)


@given(st.text(max_size=30))
def test_a_number_is_read_as_python_reads_it_or_not_at_all(text: str) -> None:
    from fractions import Fraction

    value = exact_decimal(text)
    if value is not None:
        assert value == Fraction(text)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_every_decimal_in_range_is_read(value: object) -> None:
    from decimal import Decimal
    from fractions import Fraction

    assert isinstance(value, Decimal)
    if value == 0 or abs(value.adjusted()) < 300:
        assert exact_decimal(str(value)) == Fraction(value)


@pytest.mark.parametrize("source", [DH, MJCF, SDF, write_toml(load("two_link"))])
def test_damage_to_other_formats(source: str) -> None:
    r = random.Random(1)
    for _ in range(60):
        at = r.randrange(len(source))
        text = source[:at] + r.choice(DAMAGE) + source[at + r.randint(0, 10) :]
        try:
            judge(read(text), "accept")
        except InputError as error:
            assert str(error)


def test_a_long_chain_is_read_in_order() -> None:
    n = 2000
    parts = ['<link name="l0"/>']
    for k in range(1, n):
        parts += [body(f"l{k}"), joint(f"j{k}", f"l{k - 1}", f"l{k}")]
    assert len(read_urdf(robot(*parts)).joints) == n - 1
