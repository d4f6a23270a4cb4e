"""Equal constants are one constant; a page says which joint is which row and which link has which number."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from kane import explicit, load

ARM = """<robot name="arm"><link name="base"/>{links}{joints}</robot>"""
LINK = (
    '<link name="{name}"><inertial><origin xyz="0.2 0.01 0"/><mass value="2"/>'
    '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{name}" type="continuous"><origin xyz="0.4 0 {up}"/><parent link="{parent}"/><child link="{child}"/>'
    '<axis xyz="{axis}"/></joint>'
)


def arm(axes: list[str]) -> str:
    names = ["base", *(f"part{k}" for k in range(len(axes)))]
    links = "".join(LINK.format(name=n) for n in names[1:])
    joints = "".join(
        JOINT.format(name=f"hinge{k}", up=0 if k else 0.3, parent=names[k], child=names[k + 1], axis=axis)
        for k, axis in enumerate(axes)
    )
    return ARM.format(links=links, joints=joints)


@pytest.mark.parametrize("axes", [["0 1 0"] * 2, ["0 1 0"] * 3, ["0 0 1", "0 1 0", "0 1 0"], ["1 0 0", "0 1 0"]])
def test_no_constant_is_a_simple_multiple_of_another(axes: list[str]) -> None:
    """Parallel axes: the inner joint's inertia is contained in the outer one's, and is the same constant in both."""
    model = explicit(load(arm(axes))).model
    for a, b in combinations([c for c in model.constants if not c.parts], 2):
        p, q = a.coefficient, b.coefficient
        if a.kind == b.kind and p.keys() == q.keys():
            ratios = {Fraction(p[k]) / Fraction(q[k]) for k in p}
            assert len(ratios) > 1 or max(abs(next(iter(ratios)).numerator), next(iter(ratios)).denominator) > 12


def test_the_page_names_rows_and_links() -> None:
    page = str(explicit(load(arm(["0 1 0"] * 2))))
    assert "rows: 1 hinge0, 2 hinge1" in page and "links: 1 part0, 2 part1: m mass" in page
    assert "rows" not in str(explicit(load("two_link")))  # q1, q2: nothing to say
