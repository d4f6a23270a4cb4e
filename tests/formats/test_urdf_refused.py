"""URDF that is refused: one message that names file, line, element, value and remedy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kane.errors import FormatError, InputError, NumberError, TopologyError, UnsupportedError
from kane.formats import read_urdf

sys.path.insert(0, str(Path(__file__).parent))
from urdf_texts import body, joint, robot, two_joints


def refused(text: str | bytes, error: type[InputError], strict: bool = False) -> InputError:
    with pytest.raises(error) as caught:
        read_urdf(text, strict=strict)
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "nan",
        "inf",
        "-Infinity",
        "0x10",
        "1,5",
        "",
        "1.2.3",
        "1e",
        "--1",
        "1e400",
        "1e-500",
        "1.8e308",
        "1_0",
        "１",
        "one",
        "9" * 500,
    ],
)
def test_what_is_no_number(text: str) -> None:
    error = refused(two_joints(b=body("b", mass=text)), NumberError)
    assert (error.line, error.element, error.name, error.value) == (4, "<mass>", "link 'b'", text)


@pytest.mark.parametrize(
    "text", ["0 0", "0 0 0 0", "0,0,0", "0.1,0.2,0.3", "0,1 0 0", "0\u00a00 0", "nan 0 0", "", "a b c"]
)
def test_what_is_no_vector(text: str) -> None:
    error = refused(two_joints(j2=joint("j2", "a", "b", origin=f'xyz="{text}"')), NumberError)
    assert (error.line, error.element, error.name) == (6, "<origin>", "joint 'j2'")
    assert error.value in text and (error.value or not text)


def test_bad_numbers_in_limits_dynamics_and_mimic() -> None:
    for extra in ('<dynamics damping="x"/>', '<mimic joint="j1" multiplier="1,0"/>'):
        assert refused(two_joints(j2=joint("j2", "a", "b", extra=extra)), NumberError).line == 6
    assert refused(two_joints().replace('effort="10"', 'effort="ten"'), NumberError).element == "<limit>"


def test_an_infinite_limit_is_none_unless_strict() -> None:
    text = two_joints().replace('effort="10"', 'effort="inf"')
    m = read_urdf(text)
    assert m.joint("j1").limits.effort is None
    assert m.report.of("repaired")
    refused(text, FormatError, strict=True)


@pytest.mark.parametrize(
    "text",
    [
        "<robot name='r'><link name='a'>",
        "<robot",
        "<robot name='r'><link name='a'/></robot></robot>",
        "<robot a='1' a='2'/>",
        "<",
    ],
)
def test_xml_that_does_not_parse(text: str) -> None:
    error = refused(text, FormatError)
    assert error.line == 1
    assert "does not parse" in error.message


def test_a_document_of_another_kind() -> None:
    assert refused("<html><body/></html>", FormatError).element == "<html>"


def test_entities_are_refused() -> None:
    bomb = (
        '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(9))
        + "]>"
        + robot('<link name="&j;"/>')
    )
    assert refused(bomb, FormatError).element == "<!ENTITY>"


def test_external_entities_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    text = f'<!DOCTYPE r [<!ENTITY x SYSTEM "file://{secret}">]>' + robot('<link name="&x;"/>')
    assert refused(text, FormatError).element == "<!ENTITY>"


def test_deep_nesting_is_refused() -> None:
    assert "nested" in refused(robot("<a>" * 5000 + "</a>" * 5000), FormatError).message


def test_wrong_encodings_are_refused() -> None:
    head = b'<?xml version="1.0" encoding="%s"?>\n'
    assert refused(head % b"no-such-code" + two_joints().encode(), FormatError).value == "no-such-code"
    assert refused(head % b"utf-8" + two_joints(a=body("\xe4")).encode("latin-1"), FormatError).line is not None
    assert refused(head % b"hex" + two_joints().encode(), FormatError).value == "hex"


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.urdf", tmp_path):
        with pytest.raises(FormatError) as caught:
            read_urdf(path)
        assert caught.value.file == str(path)


@pytest.mark.parametrize(
    ("kind", "hint"), [("revolut", "'revolute'"), ("hinge", "revolute"), ("", "no type"), ("Revolute", "'revolute'")]
)
def test_unknown_joint_types(kind: str, hint: str) -> None:
    error = refused(two_joints(j2=joint("j2", "a", "b", kind)), UnsupportedError)
    assert (error.name, error.line) == ("j2", 6)
    assert hint in str(error)


def test_a_zero_axis() -> None:
    error = refused(two_joints(j2=joint("j2", "a", "b", axis="0 0.0 0e3")), NumberError)
    assert (error.element, error.line) == ("<axis>", 6)


def test_missing_names_parents_and_children() -> None:
    assert "no name" in refused(two_joints(a=body("")), FormatError).message
    for tag in ("parent", "child"):
        text = two_joints(
            j2=joint("j2", "a", "b").replace(f"<{tag} ", "<dynamics ").replace('link="', 'damping="0" x="')
        )
        assert refused(text, FormatError).line == 6


def test_mimic_of_nobody_and_in_a_circle() -> None:
    error = refused(two_joints(j2=joint("j2", "a", "b", extra='<mimic joint="j11"/>')), TopologyError)
    assert (error.name, error.value) == ("j2", "j11")
    assert "'j1'" in str(error)
    loop = two_joints(
        j1=joint("j1", "base", "a", extra='<mimic joint="j2"/>'), j2=joint("j2", "a", "b", extra='<mimic joint="j1"/>')
    )
    error = refused(loop, TopologyError)
    assert "j1" in error.message and "j2" in error.message
    assert "j2" in refused(two_joints(j2=joint("j2", "a", "b", extra='<mimic joint="j2"/>')), TopologyError).message


def test_mimic_with_several_coordinates() -> None:
    refused(two_joints(j2=joint("j2", "a", "b", "planar", extra='<mimic joint="j1"/>')), UnsupportedError)
    refused(
        two_joints(j1=joint("j1", "base", "a", "floating"), j2=joint("j2", "a", "b", extra='<mimic joint="j1"/>')),
        TopologyError,
    )


def test_an_unexpanded_xacro_file() -> None:
    text = two_joints(more='<xacro:property name="l" value="2"/>')
    assert refused(text, FormatError).code == "XacroError"
    with pytest.raises(NumberError):
        read_urdf(two_joints(b=body("b", mass="${m}")))


REPAIRS = [
    two_joints(
        a='<link name="a"><inertial><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
    ),
    two_joints(a='<link name="a"><inertial><mass value="1"/></inertial></link>'),
    two_joints(a=body("a", inertia='<inertia ixx="1" iyy="1" izz="1"/>')),
    two_joints(a=body("a", extra=body("a").removeprefix('<link name="a">').removesuffix("</link>"))),
    two_joints(j2=joint("j2", "a", "b").replace('lower="-2" upper="2"', 'lower="2" upper="-2"')),
    two_joints().replace(' name="r"', ""),
    two_joints(j2=joint("j2", "a", "b", "spherical")),
]


@pytest.mark.parametrize("text", REPAIRS)
def test_repairs_are_listed_and_refused_when_strict(text: str) -> None:
    assert read_urdf(text).report.of("repaired")
    refused(text, FormatError, strict=True)


def test_typos_are_refused_when_strict() -> None:
    error = refused(two_joints(more='<jiont name="x"/>'), FormatError, strict=True)
    assert error.line == 7
    read_urdf(two_joints(more="<vendor/>"), strict=True)


def test_damage_in_the_trees_is_refused_with_the_line() -> None:
    assert refused(two_joints(j2=joint("j2", "a", "a")), TopologyError).line == 6
    assert refused(two_joints(j2=joint("j1", "a", "b")), TopologyError).line == 6
    assert refused(two_joints(b=body("a"), j2=""), TopologyError).line == 4
    assert refused(two_joints(j2=joint("j2", "a", "c")), TopologyError).value == "c"
    assert refused(two_joints(j2=""), TopologyError).name == "base, b"
    assert refused(robot(), TopologyError)


@pytest.mark.parametrize("tag", ["rotorInertia", "mechanicalReduction"])
@pytest.mark.parametrize("text", ["1,5", "nan", "1e", "", "0x10"])
def test_damaged_numbers_of_transmissions(tag: str, text: str) -> None:
    value = f"<{tag}>{text}</{tag}>" + ("" if tag == "rotorInertia" else "<rotorInertia>1</rotorInertia>")
    motor = f'<transmission name="t"><joint name="j1"/><actuator name="m">{value}</actuator></transmission>'
    assert refused(two_joints(more=motor), NumberError).line == 7


def test_a_damaged_ratio_without_effect_is_listed() -> None:
    value = "<mechanicalReduction>reduction</mechanicalReduction>"
    motor = f'<transmission name="t"><joint name="j1"/><actuator name="m">{value}</actuator></transmission>'
    text = two_joints(more=motor)
    assert "'reduction'" in read_urdf(text).report.of("repaired")[0].text
    refused(text, FormatError, strict=True)


def test_an_unknown_encoding_of_sixteen_bits() -> None:
    text = '<?xml version="1.0" encoding="no-such-code"?>' + two_joints()
    refused(text.encode("utf-16"), FormatError)
