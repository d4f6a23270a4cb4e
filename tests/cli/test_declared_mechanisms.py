"""Commands on mechanisms declared by hand: speeds that are rates, loads, constraints."""

import json

import numpy as np
import pytest

import kane
from kane.cli import main
from kane.formats import write_toml
from kane.mechanism import formula as f
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
    assert found["states"] == wanted["states"] == ["q1", "q2", "q1_dot", "q2_dot"]
    assert np.array_equal(found["A"], wanted["A"]) and np.array_equal(found["B"], wanted["B"])


def test_declared_loads_act(tmp_path, capsys):
    """A torque -k q1 on the first body adds -k to the stiffness: M dA = -k in the first row."""
    found = []
    for k in (0, 3):
        s = pendulums(())
        s.torque("spring", s.frames["A"], -k * f.name("q1") * s.N.z)
        found.append(linearized(s, tmp_path, capsys))
    plain, sprung = (np.array(x["A"])[2:] for x in found)
    M = np.linalg.inv(np.array(found[0]["B"])[2:])
    change = M @ (sprung - plain)
    assert np.allclose(change, np.outer([-3, 0], [1, 0, 0, 0]), atol=1e-9)
    assert not any("leave them out" in note for note in found[1]["notes"])


def geared(tmp_path):
    """A file of pendulums that a condition couples."""
    s = pendulums(())
    s.holonomic("gear", "q1 - 2*q2")
    file = tmp_path / "model.toml"
    file.write_text(write_toml(s.mechanism()))
    return str(file)


def test_constraints_are_kept(tmp_path, capsys):
    """Of two coordinates one is left, what is not named follows, and the motion is that of kane.linearize."""
    file = geared(tmp_path)
    assert run("linearize", file, "--q", "q1=0.4", "--qd", "q1=1", "--tau", "0.3,0.1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["q"] == pytest.approx([0.4, 0.2]) and found["qd"] == pytest.approx([1, 0.5])
    linear = kane.linearize(kane.load(file), [0.4, 0.2], [1, 0.5], [0.3, 0.1])
    assert found["states"] == list(linear.states) and len(linear.states) == 2
    assert np.allclose(found["A"], linear.A) and np.allclose(found["B"], linear.B)
    assert run("linearize", file, "--q", "0.4,0.4") == 2
    assert "contradicts constraint 'gear'" in capsys.readouterr().err


def test_a_state_that_no_inputs_hold_wants_them(tmp_path, capsys):
    s = System("cart and pole")
    x, th = s.coordinates("x th")
    push = s.inputs("F")
    cart = s.O.locate_new("cart", x * s.N.x)
    pole = s.N.orient_new_axis("pole", 3, th)
    s.particle("cart", cart, 1)
    s.particle("bob", cart.locate_new("bob", -pole.y), 1)
    s.gravity(-9.81 * s.N.y)
    s.force("push", cart, push * s.N.x)
    file = tmp_path / "model.toml"
    file.write_text(write_toml(s.mechanism()))
    assert run("linearize", str(file), "--q", "th=0.3") == 2
    assert "No inputs hold this state" in (text := capsys.readouterr().err) and "--tau" in text
    for more in (("--q", "th=0.3", "--tau", "F=0"), ("--q", "x=2")):
        assert run("linearize", str(file), *more) == 0


def test_derive_says_what_it_leaves_out(tmp_path, capsys):
    assert run("derive", geared(tmp_path), "--effort", "low") == 0
    assert "The mechanism has constraints; the tasks of its tree leave them out" in capsys.readouterr().out
