"""Names and order of coordinates and speeds, followers, symbols; the tree of elementary motions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from kane.errors import TopologyError, UnknownNameError
from kane.graph.arena import Graph
from kane.graph.derivative import forward
from kane.kinematics.coordinates import find_coordinates, make_symbols, symbol_name
from kane.kinematics.motion import derive_kinematics
from kane.kinematics.tree import ROOT, build_tree
from kane.mechanism.model import Frame, Joint, Link, Mechanism, Mimic, Translate, Turn
from strategies import random_mechanism


def chain(*joints: Joint, frames: tuple[Frame, ...] = ()) -> Mechanism:
    names = ["base", *(j.child for j in joints)]
    return Mechanism("chain", tuple(Link(n) for n in names), joints, frames)


def joint(name: str, kind: str, parent: str, child: str, **options: object) -> Joint:
    return Joint(name, kind, parent, child, **options)  # type: ignore[arg-type]


def test_names_in_file_order() -> None:
    m = chain(
        joint("b", "revolute", "base", "l1"), joint("f", "fixed", "l1", "l2"), joint("a", "cylindrical", "l2", "l3"),
        joint("s", "spherical", "l3", "l4"),
    )  # fmt: skip
    c = find_coordinates(m)
    assert c.names == ("b", "a.angle", "a.slide", "s.qw", "s.qx", "s.qy", "s.qz")
    assert c.speeds == ("b", "a.angle", "a.slide", "s.wx", "s.wy", "s.wz")
    assert c.angles == (True, True, False, None, None, None, None)
    assert c.quaternions == ((("s.qw", "s.qx", "s.qy", "s.qz"), ("s.wx", "s.wy", "s.wz")),)


def test_floating_base_has_one_speed_less() -> None:
    c = find_coordinates(chain(joint("root", "floating", "base", "l1")))
    assert c.names == tuple(f"root.{n}" for n in ("x", "y", "z", "qw", "qx", "qy", "qz"))
    assert c.speeds == tuple(f"root.{n}" for n in ("wx", "wy", "wz", "vx", "vy", "vz"))


def test_quaternion_stays_unit() -> None:
    """q . qdot = 0 identically, with |q| = 1 known to the graph."""
    g = Graph()
    c = find_coordinates(chain(joint("root", "floating", "base", "l1")))
    s = make_symbols(g, c)
    q = [s.by_name[n] for n in c.quaternions[0][0]]
    assert g.sum(g.mul(x, x) for x in q) == g.one
    assert g.dot(q, [s.rates[n] for n in c.quaternions[0][0]]) == g.zero


def test_followers_of_followers() -> None:
    """2 (3 q + 1/2) - 1 = 6 q."""
    m = chain(
        joint("q", "revolute", "base", "l1"),
        joint("c", "revolute", "l1", "l2", mimic=Mimic("b", Fraction(2), Fraction(-1))),
        joint("b", "prismatic", "l2", "l3", mimic=Mimic("q", Fraction(3), Fraction(1, 2))),
    )
    c = find_coordinates(m)
    assert c.names == ("q",)
    assert c.values["c"].evaluate({"q": 0.7}) == pytest.approx(6 * 0.7)  # type: ignore[union-attr]
    assert c.values["b"].evaluate({"q": 0.7}) == pytest.approx(3 * 0.7 + 0.5)  # type: ignore[union-attr]


def test_circle_of_followers_is_refused() -> None:
    m = chain(
        joint("a", "revolute", "base", "l1", mimic=Mimic("b")), joint("b", "revolute", "l1", "l2", mimic=Mimic("a"))
    )  # fmt: skip
    with pytest.raises(TopologyError, match="a, b follow each other in a circle"):
        find_coordinates(m)


def test_symbol_names() -> None:
    assert [symbol_name("qd", n) for n in ("q1", "q_12", "elbow", "q")] == ["qd1", "qd12", "qd_elbow", "qd_q"]


def test_order_of_coordinates_can_be_given() -> None:
    m = replace(
        chain(joint("a", "revolute", "base", "l1"), joint("b", "prismatic", "l1", "l2")), coordinates=("b", "a")
    )
    c = find_coordinates(m)
    assert (c.names, c.speeds, c.angles) == (("b", "a"), ("b", "a"), (False, True))


def test_tree_of_motions() -> None:
    """Fixed joints disappear into placements; a joint of two degrees is two nodes, the first without links."""
    step = (Translate((Fraction(1), Fraction(0), Fraction(0))),)
    m = chain(
        joint("a", "revolute", "base", "l1", placement=step), joint("f", "fixed", "l1", "l2", placement=step),
        joint("u", "universal", "l2", "l3"), frames=(Frame("tip", "l3", step), Frame("foot", "base")),
    )  # fmt: skip
    tree = build_tree(m, find_coordinates(m))
    assert [n.name for n in tree.nodes] == ["l1", "l3.1", "l3.2"]
    assert [n.parent for n in tree.nodes] == [ROOT, 0, 1]
    assert [item.link for item in tree.nodes[0].links] == ["l1", "l2"]
    assert tree.nodes[1].links == ()
    assert tree.nodes[1].fixed == step
    assert tree.locate("tip") == (2, step)
    assert tree.locate("foot") == (ROOT, ())
    assert tree.children(0) == (1,)
    with pytest.raises(UnknownNameError, match="no link or frame named 'hand'; there are: base, l1"):
        tree.locate("hand")


def test_unconnected_link_is_named() -> None:
    m = Mechanism("m", (Link("base"), Link("lost"), Link("a")), (joint("j", "revolute", "base", "a"),))
    with pytest.raises(TopologyError, match="Links lost are not connected"):
        build_tree(m, find_coordinates(m))


def test_partials_are_derivatives_of_the_rate() -> None:
    """The rate of every motion is linear in the speeds with the partials as coefficients."""
    for seed in range(4):
        k = derive_kinematics(random_mechanism(seed, 4, mimic=0.3))
        g = k.graph
        for motion in k.motions:
            total = [g.sum(g.mul(k.symbols.u[r], p[i]) for r, p in motion.partials.items()) for i in range(3)]
            assert total == list(motion.rate)
            for r, partial in motion.partials.items():
                assert forward(g, list(motion.rate), {k.symbols.u[r]: g.one}) == list(partial)


def test_a_turn_by_a_fixed_angle_is_no_motion() -> None:
    m = chain(joint("g", "general", "base", "l1", moves=(Turn(0, Fraction(1, 2)),)))
    assert build_tree(m, find_coordinates(m)).nodes == ()
