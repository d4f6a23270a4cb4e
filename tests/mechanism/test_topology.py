"""Trees and what is not one: all culprits are named."""

from __future__ import annotations

import pytest

from kane.errors import TopologyError
from kane.mechanism.model import Joint, Link
from kane.mechanism.topology import check_tree


def links(names: str) -> list[Link]:
    return [Link(name, line=k + 1) for k, name in enumerate(names)]


def joints(*pairs: str) -> list[Joint]:
    return [Joint(f"j{k}", "revolute", pair[0], pair[1], line=10 + k) for k, pair in enumerate(pairs)]


def refused(names: str, *pairs: str) -> TopologyError:
    with pytest.raises(TopologyError) as caught:
        check_tree(links(names), joints(*pairs), "file")
    assert caught.value.remedy
    return caught.value


def test_the_root_is_found_wherever_it_stands() -> None:
    assert check_tree(links("cba"), joints("bc", "ab")) == "a"
    assert check_tree(links("a"), []) == "a"


def test_two_roots() -> None:
    error = refused("abc", "ab")
    assert (error.name, error.line) == ("a, c", 3)


def test_a_diamond_names_link_joints_and_parents() -> None:
    error = refused("abcd", "ab", "ac", "bd", "cd")
    assert (error.value, error.line) == ("d", 13)
    assert all(name in error.message for name in ("'j2'", "'j3'", "'b'", "'c'"))


def test_a_loop_beside_the_tree_and_a_loop_alone() -> None:
    for names, pairs in (("abcde", ("ab", "cd", "de", "ec")), ("cde", ("cd", "de", "ec"))):
        error = refused(names, *pairs)
        assert all(f"'{name}'" in error.message for name in "cde")
        assert "'b'" not in error.message


def test_a_link_that_is_its_own_parent() -> None:
    error = refused("ab", "ab", "bb")
    assert (error.name, error.value, error.line) == ("j1", "b", 11)


def test_ends_that_do_not_exist() -> None:
    assert refused("ab", "ab", "bx").value == "x"
    assert refused("ab", "xb").value == "x"


def test_duplicates_are_named_with_their_lines() -> None:
    error = refused("abb", "ab")
    assert (error.name, error.line) == ("b", 3)
    assert "2, 3" in error.message
    twins = [Joint("j", "fixed", "a", "b", line=7), Joint("j", "fixed", "b", "c", line=8)]
    with pytest.raises(TopologyError) as caught:
        check_tree(links("abc"), twins)
    assert (caught.value.name, caught.value.line, caught.value.element) == ("j", 8, "<joint>")


def test_a_joint_may_have_the_name_of_a_link() -> None:
    assert check_tree(links("ab"), [Joint("a", "fixed", "a", "b")]) == "a"


def test_large_trees_and_loops() -> None:
    n = 20_000
    many = [Link(str(k)) for k in range(n)]
    chain = [Joint(f"j{k}", "fixed", str(k), str(k + 1)) for k in range(n - 1)]
    assert check_tree(many, chain) == "0"
    with pytest.raises(TopologyError):
        check_tree(many, [*chain, Joint("back", "fixed", str(n - 1), "0")])


def test_nothing_at_all() -> None:
    with pytest.raises(TopologyError):
        check_tree([], [])
