"""DH tables: conventions, entries, units, coordinates, gravity, mounting, refusals."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from kane.errors import FormatError, InputError, NumberError
from kane.formats.dh import read_dh
from kane.formats.motors import read_rotors
from kane.mechanism import formula as f
from kane.mechanism.checks import judge, mass_matrix
from kane.mechanism.model import Mechanism, Translate, Turn
from kane.mechanism.numeric import SomeValues, joint_moves, pose

MODIFIED = """# modified DH (Craig) ; point mass at the far end of each link
joint,alpha_prev_rad,a_prev_m,d_m,theta,mass_kg,com_x_m,com_y_m,com_z_m
1,0,0,0,q1,m1=1.7,L1=0.4,0,0
2,0,L1=0.4,0,q2,m2=1.2,L2=0.3,0,0
# gravity acts along -y of frame 0 with g = 9.81
"""


def table(*rows: str, header: str = "joint,alpha_rad,a_m,d_m,theta", comment: str = "standard DH") -> str:
    return "\n".join([f"# {comment}", header, *rows]) + "\n"


def tip(m: Mechanism, values: dict[str, float], link: str) -> tuple[np.ndarray, np.ndarray]:
    above = {j.child: j for j in m.joints}
    path = []
    while link in above:
        path.append(above[link])
        link = path[-1].parent
    R, p = np.eye(3), np.zeros(3)
    for j in reversed(path):
        turn, step = pose(joint_moves(j), values)
        R, p = R @ turn, p + R @ step
    return R, p


def rot(axis: str, angle: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = pose((Turn("xyz".index(axis), f.exact(angle)),), {})[0]  # type: ignore[arg-type]
    return T


def trans(x: float = 0, z: float = 0) -> np.ndarray:
    T = np.eye(4)
    T[0, 3], T[2, 3] = x, z
    return T


ROWS = [(0.3, 0.2, -0.1), (-1.2, -0.4, 0.5), (0.0, 0.3, 0.0), (1.5707963267948966, 0.0, 0.2)]


@pytest.mark.parametrize(("convention", "slides"), list(itertools.product(("standard", "modified"), (False, True))))
def test_frames_follow_the_definition(convention: str, slides: bool) -> None:
    rows = [
        f"{k},{al!r},{a},{'q' + str(k) if slides and k == 2 else d},{'0.7' if slides and k == 2 else f'q{k}'}"
        for k, (al, a, d) in enumerate(ROWS, 1)
    ]
    m = read_dh(table(*rows, comment=f"{convention} DH"))
    q = {f"q{k}": 0.3 * k - 0.5 for k in range(1, 5)}
    T = np.eye(4)
    for k, (al, a, d) in enumerate(ROWS, 1):
        theta = q[f"q{k}"]
        if slides and k == 2:
            theta, d = 0.7, q["q2"]
        if convention == "standard":
            T = T @ rot("z", theta) @ trans(z=d) @ trans(x=a) @ rot("x", al)
        else:
            T = T @ rot("x", al) @ trans(x=a) @ rot("z", theta) @ trans(z=d)
        R, p = tip(m, q, f"link{k}")
        np.testing.assert_allclose(R, T[:3, :3], atol=1e-14)
        np.testing.assert_allclose(p, T[:3, 3], atol=1e-14)


def test_declared_names_are_parameters_and_gravity_is_read() -> None:
    m = read_dh(MODIFIED)
    assert [(p.name, p.value) for p in m.parameters] == [
        ("m1", Fraction("1.7")),
        ("L1", Fraction("0.4")),
        ("m2", Fraction("1.2")),
        ("L2", Fraction("0.3")),
    ]
    assert m.gravity == (0, Fraction("-9.81"), 0)
    assert [j.coordinates for j in m.joints] == [("q1",), ("q2",)]
    assert m.joints[1].placement == (Translate((f.name("L1"), Fraction(0), Fraction(0))),)
    values = SomeValues(q1=0.4, q2=-0.9, **m.parameter_values)
    m1, m2, l1, l2, c = 1.7, 1.2, 0.4, 0.3, np.cos(-0.9)
    second, cross = m2 * l2**2, m2 * l1 * l2 * c
    expected = [[m1 * l1**2 + m2 * l1**2 + second + 2 * cross, second + cross], [second + cross, second]]
    np.testing.assert_allclose(mass_matrix(m, values)[1], expected, rtol=1e-14)


def test_a_standard_link_keeps_its_own_frame() -> None:
    m = read_dh(
        table(
            "1,0.3,pi/2,0.2,q1,2.0,-0.1,0.05,0.02,0.01,0.02,0.03",
            header="joint,a_m,alpha_rad,d_m,theta,mass_kg,com_x_m,com_y_m,com_z_m,Ixx,Iyy,Izz",
        )
    )
    assert m.joint("joint1").type == "revolute"
    assert m.joint("link1_frame").placement == (
        Translate((Fraction("0.3"), Fraction(0), Fraction(0))),
        Turn(0, f.parse("pi/2")),
    )
    assert m.link("link1").inertia.com == (Fraction("-0.1"), Fraction("0.05"), Fraction("0.02"))  # type: ignore[union-attr]
    # about z0: Iyy of the link frame and the distance of the mass centre, (0.3 - 0.1, -0.02) in the plane
    assert mass_matrix(m, SomeValues(q1=0.3))[1][0, 0] == pytest.approx(0.02 + 2 * (0.2**2 + 0.02**2))


@pytest.mark.parametrize(
    ("entry", "placement", "axis"),
    [
        ("q1+pi/2", (Turn(2, f.parse("pi/2")),), 1),
        ("q1 - 90deg", (Turn(2, f.parse("-pi/2")),), 1),
        ("-q1", (), -1),
        ("pi - q1", (Turn(2, f.parse("pi")),), -1),
        ("0.5+q1", (Turn(2, Fraction(1, 2)),), 1),
        ("q1", (), 1),
    ],
)
def test_coordinates_with_offsets(entry: str, placement: tuple[Turn, ...], axis: int) -> None:
    j = read_dh(table(f"1,0,0,0,{entry}")).joints[0]
    assert [f.number(m.angle) for m in j.placement] == pytest.approx([f.number(m.angle) for m in placement])  # type: ignore[union-attr]
    assert (j.type, j.coordinates, j.axis) == ("revolute", ("q1",), (0, 0, axis))


def test_a_coordinate_in_d_is_a_slide() -> None:
    m = read_dh(table("1,0,0,q1+0.2,-pi/2", "2,0,0,d2,0", "3,0,0,0.1,0"))
    assert [j.type for j in m.joints] == ["prismatic", "prismatic", "fixed"]
    assert m.joints[1].coordinates == ("d2",)
    assert m.joints[0].placement == (Translate((Fraction(0), Fraction(0), Fraction("0.2"))), Turn(2, f.parse("-pi/2")))


def test_undeclared_lengths_are_parameters_without_value() -> None:
    m = read_dh(table("1,0,L,d1,q1"))
    assert [(p.name, p.value) for p in m.parameters] == [("L", None), ("d1", None)]


def test_units_in_the_header_and_in_entries() -> None:
    m = read_dh(table("1,30,200,100,q1", header="joint,alpha_deg,a_mm,d_cm,theta"))
    assert m.joint("link1_frame").placement == (
        Translate((Fraction(1, 5), Fraction(0), Fraction(0))),
        Turn(0, f.parse("pi/6")),
    )
    assert m.joint("joint1").placement == (Translate((Fraction(0), Fraction(0), Fraction(1))),)
    odd = read_dh(table("1,20,0,0,q1", header="joint,alpha_deg,a,d,theta")).joint("link1_frame").placement[0]
    assert f.number(odd.angle) == pytest.approx(np.pi / 9)  # type: ignore[union-attr]


def test_decimal_angles_next_to_pi_over_two_are_snapped_and_said() -> None:
    m = read_dh(table("1,1.5707963267948966,0,0,q1"))
    assert m.joint("link1_frame").placement == (Turn(0, f.parse("pi/2")),)
    assert m.report.of("snapped")
    assert read_dh(table("1,1.5708,0,0,q1")).joint("link1_frame").placement == (Turn(0, Fraction("1.5708")),)


def test_inertia_about_the_origin_is_moved_to_the_mass_centre() -> None:
    header = "joint,alpha,a,d,theta,mass,com_x,com_y,com_z,Ixx,Ixy,Ixz,Iyy,Iyz,Izz"
    text = table(
        "1,0,0,0,q1,2,0.1,0.2,0.3,1,0,0,2,0,3", header=header, comment="standard DH\n# inertia about the link origin"
    )
    moments = read_dh(text).link("link1").inertia.moments  # type: ignore[union-attr]
    c = np.array([0.1, 0.2, 0.3])
    expected = np.diag([1, 2, 3]) - 2 * (c @ c * np.eye(3) - np.outer(c, c))
    np.testing.assert_allclose([float(x) for x in moments], expected[np.triu_indices(3)], atol=1e-15)  # type: ignore[arg-type]


def test_mounting_turns_the_base() -> None:
    m = read_dh(table("1,0,0,0,q1", comment="standard DH\n# mounted: rpy = 0 pi/2 0"))
    assert m.joints[0].placement == (Turn(1, f.parse("pi/2")),)
    assert m.root == "world"


TOML = """
name = "arm"
convention = "modified"
gravity = [0, 0, -1.62]
[parameters]
L = 0.1
[mount]
xyz = [0, 0, 1]
rpy = ["pi", 0, 0]
[tool]
xyz = [0, 0, "L"]
[[joint]]
name = "waist"
alpha_prev_deg = 0
a_prev = 0
d = 0.25
theta = "q1"
mass = 1.5
com = [0.1, 0, 0]
inertia = [0.01, 0.02, 0.02]
rotor_inertia = 3e-5
gear_ratio = -100
lower = "-pi/2"
upper = "pi/2"
effort = 20
[[joint]]
alpha_prev_deg = 90
a_prev = "L"
d = 0
theta = "q2"
mass = 1
inertia = [0.01, 0, 0, 0.02, 0, 0.02]
"""


def test_toml_and_json() -> None:
    m = read_dh(TOML)
    assert (m.name, m.gravity) == ("arm", (0, 0, Fraction("-1.62")))
    j = m.joint("waist")
    assert (j.child, j.placement) == ("waist_link", (Translate((Fraction(0), Fraction(0), Fraction(1, 4))),))
    assert j.rotor is not None and (j.rotor.inertia, j.rotor.ratio) == (Fraction("3e-5"), -100)
    assert (j.limits.lower, j.limits.effort) == (pytest.approx(-np.pi / 2), 20.0)
    assert m.frames[0].link == "link2"
    judge(m)
    json = '{"convention": "standard", "joints": [{"alpha": 0, "a": 0.10000000000000000001, "d": 0, "theta": "q1", "mass": 1}]}'  # noqa: E501
    assert read_dh(json).joint("link1_frame").placement == (
        Translate((Fraction("0.10000000000000000001"), Fraction(0), Fraction(0))),
    )


def refused(text: str, error: type[InputError] = FormatError) -> InputError:
    with pytest.raises(error) as caught:
        read_dh(text)
    assert caught.value.remedy
    return caught.value


def test_a_table_without_convention_is_refused_and_may_be_told() -> None:
    text = table("1,0,0,0,q1", comment="my robot")
    assert refused(text).name == "convention"
    assert read_dh(text, convention="modified").joints[0].type == "revolute"
    assert refused(table("1,0,0,0,q1", header="joint,alpha_prev,a_prev,d,theta")).value == "modified, standard"
    refused(table("1,0,0,0,q1", comment="standard or modified"))


@pytest.mark.parametrize(
    ("row", "value"),
    [("1,x y,0,0,q1", "x y"), ("1,0,nan,0,q1", "nan"), ("1,0,inf,0,q1", "inf"), ("1,0,0,0,q1*q1", "q1*q1"), ("1,0,0,0,2*q1", "2*q1"),  # noqa: E501
     ("1,0,0,0,sin(q1)", "sin(q1)"), ("1,0,0,0,__import__('os')", "__import__('os')"), ("1,0,L=M,0,q1", "L=M"), ("1,0,0x10,0,q1", "0x10"), ("1,0,1_0,0,q1", "1_0"), ("1,0,1/0,0,q1", "1/0"), ("1,0,0,0,q1+q2", "q1+q2")],  # noqa: E501
)  # fmt: skip
def test_bad_entries(row: str, value: str) -> None:
    assert value in str(refused(table(row), NumberError))


def test_decimal_commas_change_the_number_of_entries() -> None:
    error = refused(table("1,0,0,5,0,q1"))
    assert error.line == 3


def test_other_mistakes() -> None:
    assert "twice" in str(refused(table("1,0,L=1,0,q1", "2,0,L=2,0,q2"), NumberError))
    assert refused(table("1,0,0,0,q1", header="joint,alpha,a,d,thta")).name == "thta"
    assert refused(table("1,0,0,q1", header="joint,alpha,a,theta")).name == "d"
    refused(table())
    refused("[[joint]]\nalpha = \n")
    refused('{"joints": [1]}')
    refused('{"convention": "standard", "joints": [{"alpha": NaN, "a": 0, "d": 0, "theta": "q1"}]}', NumberError)
    refused(table("1,0,0,q1,q2"))


def test_motor_tables(tmp_path: Path) -> None:
    text = "joint,rotor_inertia_kg_m2,gear_ratio\nj1,3.0e-5,120\nj2,2.0e-5,-80\n"
    path = tmp_path / "motors.csv"
    path.write_text(text)
    expected = {"j1": (Fraction("3e-5"), Fraction(120)), "j2": (Fraction("2e-5"), Fraction(-80))}
    assert read_rotors(path) == read_rotors(text) == expected
    for bad, error in (
        (text.replace("120", "x"), NumberError),
        (text.replace("gear_ratio", "g"), FormatError),
        (text + "j1,1,1\n", FormatError),
        ("\n", FormatError),
    ):
        with pytest.raises(error):
            read_rotors(bad)


@pytest.mark.parametrize(
    ("comment", "gravity"),
    [
        ("gravity acts along -y of frame 0 with g = 9.81", ("0", "-9.81", "0")),
        ("gravity acts along +x with g = 1.62.", ("1.62", "0", "0")),
        ("Gravity: 0, -9.8, 0", ("0", "-9.8", "0")),
        ("gravity = (0 0 9.81)", ("0", "0", "9.81")),
        ("gravity along z", ("0", "0", "9.81")),
    ],
)
def test_gravity_comments(comment: str, gravity: tuple[str, str, str]) -> None:
    assert read_dh(table("1,0,0,0,q1", comment=f"standard DH\n# {comment}")).gravity == tuple(map(Fraction, gravity))


@pytest.mark.parametrize(
    "comment",
    [
        "gravity g = 9,81 along -z with g = 9,81",
        "gravity = 0 0 -9,81",
        "gravity points down",
        "gravity along z with g = 1e999999999",
        "gravity = 0 0 nan",
    ],
)
def test_gravity_that_is_not_understood(comment: str) -> None:
    refused(table("1,0,0,0,q1", comment=f"standard DH\n# {comment}"))


def test_limits_need_values() -> None:
    refused(table("1,0,0,0,q1,x", header="joint,alpha,a,d,theta,upper"), NumberError)


def test_units_of_mass_and_inertia_are_converted() -> None:
    header = "joint,alpha,a,d,theta,mass_g,com_x_mm,Ixx_g_cm2,Iyy_kg_mm2,Izz_kg_m2,rotor_inertia_gcm2"
    m = read_dh(table("1,0,0,0,q1,1500,20,3,4,5e-6,7", header=header))
    inertia, rotor = m.link("link1").inertia, m.joint("joint1").rotor
    assert inertia is not None and rotor is not None
    assert (inertia.mass, inertia.com[0]) == (Fraction(3, 2), Fraction(1, 50))
    assert inertia.moments == (Fraction("3e-7"), 0, 0, Fraction("4e-6"), 0, Fraction("5e-6"))
    assert rotor.inertia == Fraction("7e-7")
    assert read_rotors("joint,rotor_inertia_g_cm2,gear_ratio\nj,7,1\n")["j"][0] == Fraction("7e-7")
    assert refused(table("1,0,0,0,q1,1", header="joint,alpha,a,d,theta,mass_m")).value == "m"


def test_an_offset_column_is_added_to_the_coordinate() -> None:
    header = "joint,type,alpha,a,d,theta,offset"
    m = read_dh(table("1,R,0,0,0.1,q1,pi/2", "2,P,0,0,q2,0,0.3", "3,R,0,0,0,0,pi", header=header))
    d = Fraction("0.1")
    assert m.joint("joint1").placement == (Translate((Fraction(0), Fraction(0), d)), Turn(2, f.parse("pi/2")))
    assert m.joint("joint2").placement == (Translate((Fraction(0), Fraction(0), Fraction("0.3"))),)
    assert (m.joint("joint3").coordinates, m.joint("joint3").placement) == (("q3",), (Turn(2, f.parse("pi")),))


def test_a_coordinate_in_two_rows_moves_both_joints() -> None:
    """A parallelogram: the third link keeps its direction when q2 moves."""
    m = read_dh(table("1,0,0.3,0,q1", "2,0,0.4,0,q2", "3,0,0.1,0,-q2"))
    assert m.joint("joint3").mimic is not None
    assert m.joint("joint3").mimic.joint == "joint2"  # type: ignore[union-attr]
    values = {"q1": 0.3, "q2": 0.8, "joint3": 0.8}
    R, _ = tip(m, values, "link3")
    np.testing.assert_allclose(R, rot("z", 0.3)[:3, :3], atol=1e-14)


@pytest.mark.parametrize(
    "bad", ["1e5.5", "-1e-500", "1" + "0" * 320, "--1", "+-1", "1_000", "１", "nan", "1 2", "0x10", "1e", "1.0.", "1d5"]
)
@pytest.mark.parametrize("column", ["d", "gear_ratio", "com_x", "upper", "friction"])
def test_entries_without_effect_are_read_too(bad: str, column: str) -> None:
    """No rotor, no mass: the gear ratio and the mass centre do nothing, and are no place for damage."""
    columns = ["joint", "alpha", "a", "theta", "d", "rotor_inertia", "gear_ratio", "com_x", "upper", "friction"]
    row = dict.fromkeys(columns, "0") | {"joint": "1", "theta": "q1", column: bad}
    assert refused(table(",".join(row.values()), header=",".join(columns)), NumberError).line == 3


@pytest.mark.parametrize(
    "entry",
    [f'"a": 0.{"9" * 5000}', '"inertia": [1,2,3,4]',
     '"com": [1,5, 2, 3]', '"inertia": [1,5, 2, 3]', '"inertia": [1, 2]', '"com": [1]', '"d": 1e400', '"d": -1e-500'],
)
def test_lists_have_the_right_length_and_numbers_are_in_range(entry: str) -> None:
    text = '{"convention": "standard", "joints": [{"alpha": 0, "a": 0, "d": 0, "theta": "q1", ENTRY}]}'
    refused(text.replace("ENTRY", entry), NumberError)


@pytest.mark.parametrize("place", ["gravity", "mount", "tool", "parameters"])
@pytest.mark.parametrize("bad", ["nan", "inf", "1e400", "-1e-500", '"1_0"', '"１"'])
def test_numbers_of_the_whole_table(place: str, bad: str) -> None:
    parts = {
        "gravity": f"gravity = [0, 0, {bad}]", "mount": f"[mount]\nxyz = [0, {bad}, 0]",
        "tool": f"[tool]\nrpy = [0, 0, {bad}]", "parameters": f"[parameters]\nL = {bad}",
    }  # fmt: skip
    row = '[[joint]]\nalpha = 0\na = 0\nd = 0\ntheta = "q1"\n'
    refused(f'convention = "standard"\n{parts[place]}\n{row}', NumberError)
    refused(f"convention = 'standard'\n[mount]\nxyz = [0, 0]\n{row}", NumberError)


def test_a_damaged_parameter_in_a_comment() -> None:
    refused(table("1,0,L,0,q1", comment="standard DH\n# parameters: L = 1e"), NumberError)
