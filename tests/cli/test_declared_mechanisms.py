"""Commands on mechanisms declared by hand: speeds that are rates, loads, constraints."""

import json

import numpy as np
import pytest

from kane.cli import main
from kane.formats import write_toml
from kane.mechanism.builder import System, dot


def pendulums(order):
    """Two pendulums, u1 and u2 the rates of the coordinates in this order; none declared where there is no order."""
    s = System("pendulums")
    q = s.coordinates("q1 q2")
    if order:
        s.speeds(u1=dot(q[order[0]]), u2=dot(q[order[1]]))
    A = s.N.orient_new_axis("A", 3, q[0])
    B = A.orient_new_axis("B", 3, q[1])
    P1 = s.O.locate_new("P1", A.x)
    s.particle("P1", P1, 1.5)
    s.particle("P2", P1.locate_new("P2", B.x * 0.5), 0.7)
    s.gravity(-9.81 * s.N.x)
    return s


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return ended.value.code


def linearized(system, folder, capsys):
    file = folder / "model.toml"
    file.write_text(write_toml(system.mechanism()))
    assert run("linearize", str(file), "--q", "0.3,0.5", "--qd", "1,2", "--json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_speeds_that_are_rates_are_taken_for_them(order, tmp_path, capsys):
    wanted, found = (linearized(pendulums(x), tmp_path, capsys) for x in ((), order))
    assert found["states"] == wanted["states"] == ["q1", "q2", "d q1", "d q2"]
    assert np.array_equal(found["A"], wanted["A"]) and np.array_equal(found["B"], wanted["B"])


def test_loads_left_out_are_said_to_be(tmp_path, capsys):
    s = pendulums((0, 1))
    s.torque("spring", s.frames["A"], -3 * s.N.z)
    file = tmp_path / "model.toml"
    file.write_text(write_toml(s.mechanism()))
    assert run("linearize", str(file)) == 0
    assert "leave them out" in capsys.readouterr().out


def geared(tmp_path):
    """A file of pendulums that a condition couples."""
    s = pendulums(())
    s.holonomic("gear", "q1 - 2*q2")
    file = tmp_path / "model.toml"
    file.write_text(write_toml(s.mechanism()))
    return str(file)


def test_constraints_are_refused(tmp_path, capsys):
    assert run("linearize", geared(tmp_path)) != 0
    assert "has constraints" in capsys.readouterr().err


def test_derive_says_what_it_leaves_out(tmp_path, capsys):
    assert run("derive", geared(tmp_path), "--effort", "low") == 0
    assert "The mechanism has constraints; the tasks of its tree leave them out" in capsys.readouterr().out
