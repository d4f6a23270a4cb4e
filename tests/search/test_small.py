"""Explicit forms of small robots in the search."""

import pytest

import kane
from kane.equations.derive import derive_task
from kane.graph.evaluate import equal
from kane.mechanism.builder import System, dot
from kane.robots import bundled
from kane.search import optimise
from kane.search.small import explicit_task, is_plain


def two_links(declared):
    s = System("two")
    a, b = s.coordinates("a b")
    A = s.N.orient_new_axis("A", 3, a)
    B = A.orient_new_axis("B", 3, b)
    P = s.O.locate_new("P", 0.5 * A.x)
    s.particle("P", P, 2)
    s.particle("Q", P.locate_new("Q", 0.4 * B.x), 3)
    if declared:
        s.speeds(u1=dot(b), u2=dot(a))
    s.gravity(-10 * s.N.y)
    return s.mechanism()


@pytest.mark.parametrize("task", ["mass_matrix", "gravity_forces", "forward_dynamics", "bias_forces"])
def test_rates_under_other_names_are_searched(task):
    """The explicit model is in the rates of the coordinates, and may not enter where they have other names."""
    made = two_links(declared=True)
    start = derive_task(made, task).program
    assert explicit_task(made, task, "numeric") is None
    assert explicit_task(two_links(declared=False), task, "numeric") is not None
    assert equal(optimise(made, task, effort="normal").program, start)


@pytest.mark.parametrize(("name", "task", "most"), [
    ("puma560", "mass_matrix", 130), ("puma560", "gravity_forces", 24), ("ur_like", "mass_matrix", 100),
    ("scara", "forward_dynamics", 62), ("elbow3", "inverse_dynamics", 50), ("planar_rp", "forward_dynamics", 18),
])  # fmt: skip
def test_low_effort_searches_what_is_small(name, task, most):
    """The mass matrix of the PUMA 560 takes 130 operations in its explicit form, gravity 28 by recursion."""
    found = optimise(bundled.load(name), task, effort="low")
    assert found.program.counts.total <= most and equal(found.program, found.unsearched)


@pytest.mark.parametrize(("roll", "plain"), [("1.5707963267948966", True), ("0.3", False)])
def test_low_effort_leaves_explicit_forms_of_general_placements(tmp_path, roll, plain):
    """They take half a minute for six joints; of quarter turns a second."""
    text = '<robot name="arm"><link name="l0"/>'
    for k in range(5):
        text += (
            f'<link name="l{k + 1}"><inertial><mass value="1"/>'
            f'<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j{k}" type="continuous"><origin xyz="0 0.2 0" rpy="{roll} 0 0"/>'
            f'<parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="0 0 1"/></joint>'
        )
    path = tmp_path / "arm.urdf"
    path.write_text(text + "</robot>")
    assert is_plain(kane.load(path).mechanism) == plain
