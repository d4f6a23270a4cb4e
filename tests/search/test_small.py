"""Explicit forms of small robots in the search."""

import pytest

from kane.equations.derive import derive_task
from kane.graph.evaluate import equal
from kane.mechanism.builder import System, dot
from kane.search import optimise
from kane.search.small import explicit_task


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
