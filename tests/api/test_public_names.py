"""The public names: all there, whatever was imported before."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kane


@pytest.mark.parametrize("name", kane.__all__)
def test_each_public_name_is_there(name: str) -> None:
    made = getattr(kane, name)
    assert made.__name__ == name
    assert made.__doc__


def test_listed_names_are_those_with_a_home() -> None:
    assert sorted(kane._HOME) == sorted(kane.__all__)
    assert set(kane.__all__) < set(dir(kane))


@pytest.mark.parametrize("first", ["import kane.explicit.model", "import kane.api.explicit", "kane.explicit", "pass"])
def test_the_folder_explicit_does_not_hide_the_function(first: str) -> None:
    script = f"import kane\n{first}\nfor _ in range(2): print(kane.explicit(kane.load('two_link')).B_columns)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "((0, 1),)\n" * 2


def test_what_a_console_shows_is_one_line() -> None:
    robot = kane.load("puma560")
    equations = kane.derive(robot)
    assert repr(robot) == "<Robot puma560: 6 coordinates, 6 speeds>"
    assert repr(equations) == "<Equations of puma560: parameters 'numeric', effort 'low'>"
    assert repr(equations.compile()) == "<Dynamics of puma560, float64>"
    assert "\n" not in repr(kane.explicit(kane.load("two_link")))


def test_what_the_tasks_of_a_tree_leave_out_is_said() -> None:
    s = kane.System("pulled")
    q = s.coordinates("q")
    point = s.O.locate_new("P", q * s.N.x)
    s.particle("bob", point, 1)
    s.force("pull", point, 3 * s.N.x)
    equations = kane.derive(s)
    assert equations.left_out == ("pull",) and "without pull" in repr(equations)
    assert kane.derive(kane.load("two_link")).left_out == ()
