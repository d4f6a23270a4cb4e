"""Writing URDF: what is read back is the same; patching touches only what changed."""

from __future__ import annotations

import difflib
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.errors import UnsupportedError
from kane.formats import patch_urdf, read_urdf, write_urdf
from kane.mechanism import edit
from kane.mechanism.checks import mass_matrix
from kane.mechanism.model import Inertia, Limits, Mechanism, Rotor, Translate
from kane.mechanism.numeric import SomeValues
from kane.robots import load
from kane.robots.generated import tree

sys.path.insert(0, str(Path(__file__).parent))
from mechanism_state import without_lines
from urdf_texts import body, joint, robot, two_joints

EXTRA = '<dynamics damping="0.8" friction="0.5" spring_stiffness="3" spring_reference="-0.1"/>'
SHAPES = '<visual><origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/><geometry><box size="1 2 3"/></geometry><material name=""><color rgba="1 0 0.5 1"/></material></visual><visual><geometry><mesh filename="a&amp;b.stl"/></geometry></visual>'  # noqa: E501
RICH = robot(
    '<link name="base"/>', body("a", "1.50", extra=SHAPES), body("b &lt;1&gt;", inertia='<inertia ixx="0.10" ixy="1e-5" ixz="0" iyy="0.20" iyz="0" izz="0.250"/>'),  # noqa: E501
    body("c"), joint("j1", "base", "a", origin='xyz="1e-20 0.1 0" rpy="0.1 0.2 0.3"', extra=EXTRA),
    joint("j2", "a", "b &lt;1&gt;", "prismatic", axis="0.3 0.4 0.5", origin='rpy="3.141592653589793 0 1e-13"'),
    joint("j3", "a", "c", "continuous", extra='<mimic joint="j1" multiplier="0.333" offset="0.25"/>'),
    '<transmission name="t"><joint name="j1"/><actuator name="m"><mechanicalReduction>50</mechanicalReduction><rotorInertia>3e-5</rotorInertia></actuator></transmission>',  # noqa: E501
)  # fmt: skip


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_load_save_load(base: str) -> None:
    m = read_urdf(RICH, base=base)  # type: ignore[arg-type]
    text = write_urdf(m)
    again = read_urdf(text)
    assert without_lines(again) == without_lines(m)
    assert write_urdf(again) == text


@given(
    st.lists(st.decimals(-1000, 1000, allow_nan=False, places=9), min_size=10, max_size=10),
    st.lists(st.floats(-3.2, 3.2), min_size=3, max_size=3),
)
def test_any_numbers_come_back(numbers: list, angles: list[float]) -> None:  # type: ignore[type-arg]
    moments = " ".join(f'{k}="{v}"' for k, v in zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), numbers, strict=False))
    text = two_joints(a=body("a", str(numbers[6]), " ".join(map(str, numbers[7:])), f"<inertia {moments}/>"),
                      j2=joint("j2", "a", "b", origin=f'rpy="{" ".join(map(repr, angles))}"'))  # fmt: skip
    m = read_urdf(text)
    again = read_urdf(write_urdf(m))
    assert again.joint("j2").placement == m.joint("j2").placement
    one, two = m.link("a").inertia, again.link("a").inertia
    assert one is not None and two is not None
    assert (one.mass, one.com, one.moments) == (two.mass, two.com, two.moments)


@pytest.mark.parametrize("seed", range(4))
def test_other_mechanisms_keep_their_mass_matrix(seed: int) -> None:
    m = tree(8, types=("revolute", "prismatic", "continuous", "fixed", "planar"), seed=seed)
    again = read_urdf(write_urdf(m))
    np.testing.assert_allclose(
        mass_matrix(again, SomeValues())[1], mass_matrix(m, SomeValues())[1], rtol=1e-11, atol=1e-13
    )


def test_robots_with_named_parameters_are_written_with_their_values() -> None:
    m = load("puma560")
    values = SomeValues(**m.parameter_values)
    again = read_urdf(write_urdf(m))
    values.update({f"joint{k}": values[f"q{k}"] for k in range(1, 7)})
    np.testing.assert_allclose(mass_matrix(again, values)[1], mass_matrix(m, values)[1], rtol=1e-12, atol=1e-14)


def test_what_urdf_cannot_say() -> None:
    m = read_urdf(two_joints())
    for bad in (
        tree(1, types=("screw",)),
        m.replace_joint(replace(m.joint("j1"), rotor=Rotor(Fraction(1), exact=True))),
        edit.with_payload(m, "a", "mp"),
        edit.with_payload(m, "a", 1, ("r", 0, 0)),
        m.replace_joint(replace(m.joint("j1"), placement=(Translate((edit.f.name("d"), Fraction(0), Fraction(0))),))),
    ):
        with pytest.raises(UnsupportedError):
            write_urdf(bad)


def changed_lines(old: str | bytes, new: bytes) -> list[str]:
    before = (old if isinstance(old, str) else old.decode("latin-1")).splitlines()
    return [line for line in difflib.ndiff(before, new.decode("latin-1").splitlines()) if line[0] in "+-"]


def patched(text: str, m: Mechanism) -> bytes:
    new = patch_urdf(text, m)
    assert without_lines(read_urdf(new)) == without_lines(m)
    return new


def test_without_changes_not_a_byte_changes() -> None:
    odd = RICH.replace("<robot", "<!-- a comment -->\r\n<robot").replace('mass value="1.50"', "mass\n  value = '1.50' ")
    assert patch_urdf(odd, read_urdf(odd)) == odd.encode()


def test_only_the_changed_numbers_are_touched() -> None:
    m = read_urdf(RICH)
    inertia = m.link("a").inertia
    assert inertia is not None
    moments = (inertia.moments[0], Fraction("0.0012"), *inertia.moments[2:])
    new = m.replace_link(replace(m.link("a"), inertia=replace(inertia, mass=Fraction("1.7"), moments=moments)))  # type: ignore[arg-type]
    text = patch_urdf(RICH, new).decode()
    assert text == RICH.replace('value="1.50"', 'value="1.7"').replace(
        'ixy="0" ixz="0" iyy="0.02"', 'ixy="0.0012" ixz="0" iyy="0.02"', 1
    )


def test_a_moved_mass_centre_and_friction() -> None:
    m = read_urdf(RICH)
    inertia = m.link("c").inertia
    assert inertia is not None
    new = m.replace_link(
        replace(m.link("c"), inertia=replace(inertia, com=(Fraction("0.11"), Fraction(0), Fraction("-0.02"))))
    )
    new = new.replace_joint(replace(new.joint("j1"), friction=Fraction("0.75"))).replace_joint(
        replace(new.joint("j2"), damping=Fraction(2))
    )
    lines = changed_lines(RICH, patched(RICH, new))
    assert len(lines) == 6
    assert any('xyz="0.11 0 -0.02"' in line for line in lines)
    assert any('friction="0.75"' in line for line in lines)
    assert any('<dynamics damping="2"/>' in line for line in lines)


def test_a_payload_is_added_and_a_missing_inertial_too() -> None:
    m = edit.with_payload(read_urdf(RICH), "c", "1.2", ("0.4", 0, 0))
    m = m.replace_link(replace(m.link("base"), inertia=Inertia(Fraction(3))))
    new = patched(RICH, m)
    assert RICH.splitlines()[2:-1] == new.decode().splitlines()[7 : 7 + len(RICH.splitlines()) - 3]


def test_other_changes_are_refused() -> None:
    m = read_urdf(RICH)
    for bad in (
        edit.without_subtree(m, "j3"),
        edit.renamed(m, joints={"j1": "x"}),
        m.replace_joint(replace(m.joint("j1"), axis=(Fraction(1), Fraction(0), Fraction(0)))),
    ):
        with pytest.raises(UnsupportedError):
            patch_urdf(RICH, bad)


def test_patching_keeps_the_encoding() -> None:
    text = '<?xml version="1.0" encoding="iso-8859-1"?>\n' + two_joints(
        a=body("ärmel"), j1=joint("j1", "base", "ärmel"), j2=joint("j2", "ärmel", "b")
    )
    data = text.encode("latin-1")
    m = read_urdf(data)
    inertia = m.link("b").inertia
    assert inertia is not None
    new = patch_urdf(data, m.replace_link(replace(m.link("b"), inertia=replace(inertia, mass=Fraction(9)))))
    assert len(changed_lines(data, new)) == 2
    assert read_urdf(new).link("ärmel")


@pytest.mark.parametrize("name", ["puma560", "stanford", "rx90", "ur_like", "scara", "elbow3", "two_link", "planar_rp"])
def test_what_is_written_is_read_by_others(name: str, tmp_path: Path) -> None:
    """Limits that a description leaves open are written as URDF demands them, and lock no joint."""
    pinocchio = pytest.importorskip("pinocchio")
    m = load(name)
    file = tmp_path / "robot.urdf"
    file.write_text(write_urdf(m), encoding="utf-8")
    model = pinocchio.buildModelFromUrdf(str(file))
    moving = [j for j in m.joints if j.type != "fixed"]
    assert model.nv == len(moving)
    for j in moving:
        place = model.joints[model.getJointId(j.name)].idx_q
        lower, upper = model.lowerPositionLimit[place], model.upperPositionLimit[place]
        assert lower == (-1e9 if j.limits.lower is None else j.limits.lower)
        assert upper == (1e9 if j.limits.upper is None else j.limits.upper)
    again = read_urdf(file)
    assert [j.limits for j in again.joints if j.type != "fixed"] == [j.limits for j in moving]


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous"])
@pytest.mark.parametrize("given", ["lower", "upper", "effort", "velocity", "acceleration", None])
def test_single_limits_come_back(kind: str, given: str | None) -> None:
    m = read_urdf(two_joints())
    none = given is None or (kind == "continuous" and given in ("lower", "upper"))
    limits = Limits() if none else Limits(**{given: 2.5})
    m = m.replace_joint(replace(m.joint("j2"), type=kind, limits=limits))
    text = write_urdf(m)
    assert read_urdf(text).joint("j2").limits == limits and write_urdf(read_urdf(text)) == text
