"""The result: names, residuals, files, pictures, interruption, progress."""

import json
import re

import numpy as np
import pytest

from kane import robots
from kane.errors import FormatError, InputError, MissingExtraError, UnknownNameError, UnsupportedError
from kane.robots.generated import chain
from kane.simulation.files import load_run
from kane.simulation.inputs import Controller
from kane.simulation.model import prepare
from kane.simulation.simulate import simulate
from simulation import simulated as sim


@pytest.fixture(scope="module")
def run():
    return simulate(sim.double_pendulum(), 3.0, [0.6, -0.4], [0, 0])


def test_shape_of_solve_ivp(run):
    assert run.y.shape == (4, len(run.t)) and run.status == 0 and run.success and run.nfev > 100
    assert run.sol(1.0).shape == (len(run.model.layout.names),) and run.sol([1.0, 2.0]).shape[1] == 2
    assert np.array_equal(run["a"], run.y[0]) and np.array_equal(run["b_dot"], run.y[3])
    assert np.allclose(run.sol(run.t)[:4], run.y, atol=1e-12)
    with pytest.raises(UnknownNameError, match="no 'c'; there are: a, b, a_dot, b_dot"):
        run["c"]


def test_output_times(run):
    r = simulate(run.model, 3.0, [0.6, -0.4], [0, 0], t_eval=[0, 1.5, 3.0])
    assert np.allclose(r.t, [0, 1.5, 3]) and np.allclose(r.y[:, 2], run.y[:, -1], atol=1e-12)
    plain = simulate(run.model, 3.0, [0.6, -0.4], [0, 0], dense=False)
    assert plain.sol is None and np.allclose(plain.y[:, -1], run.y[:, -1], atol=1e-12) and plain.nfev < run.nfev
    later = simulate(run.model, (5.0, 8.0), [0.6, -0.4], [0, 0])
    assert later.t[0] == 5.0 and later.t[-1] == 8.0 and np.allclose(later.y[:, -1], run.y[:, -1], atol=1e-9)


def test_energy_beyond_its_tolerance_is_said(run):
    r = simulate(run.model, 3.0, [0.6, -0.4], [0, 0], rtol=1e-4, atol=1e-4, energy_tolerance=1e-9)
    assert not r.energy_ok and "exceeds its tolerance 1e-09" in r.message and "EXCEEDS" in r.summary()
    assert run.energy_ok and run.energy_error < 1e-10 and "EXCEEDS" not in run.summary()


def test_files(run, tmp_path):
    data, facts = load_run(run.save(tmp_path / "run.npz"))
    assert np.array_equal(data["a"], run["a"]) and np.array_equal(data["t"], run.t)
    assert facts["names"] == ["a", "b", "a_dot", "b_dot"] and facts["status"] == 0
    polars = pytest.importorskip("polars")
    table = polars.read_parquet(run.save(tmp_path / "run.parquet"))
    assert np.array_equal(table["b_dot"].to_numpy(), run["b_dot"]) and "energy_residual" in table.columns
    again, known = load_run(tmp_path / "run.parquet")
    assert known == facts and again.keys() == data.keys()
    assert all(np.array_equal(again[name], data[name]) for name in data)
    with pytest.raises(UnsupportedError, match="csv"):
        run.save(tmp_path / "run.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.npz", "run.parquet"]


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@pytest.mark.parametrize("content", [b"", b"\0no file", b"PK\3\4 broken", b"PAR1 broken PAR1", "another"])
def test_files_that_hold_no_run_are_named_with_what_is_read(tmp_path, suffix, content):
    polars, path = pytest.importorskip("polars"), tmp_path / f"other{suffix}"
    if content != "another":
        path.write_bytes(content)
    elif suffix == ".npz":
        np.savez(path, t=np.zeros(3))
    else:
        polars.DataFrame({"t": [0.0]}).write_parquet(path)
    with pytest.raises(FormatError, match=rf"{suffix} file holds no run .*\.npz and \.parquet are read") as caught:
        load_run(path)
    assert "pickle" not in str(caught.value) and caught.value.file == str(path)


@pytest.mark.parametrize("name", ["run.csv", "run.mat", "run", "run.NPZ"])
def test_files_of_other_types_are_not_read(tmp_path, name):
    (tmp_path / name).write_bytes(b"PAR1")
    with pytest.raises(UnsupportedError, match=r"not read from files of type .*: \.npz and \.parquet are read"):
        load_run(tmp_path / name)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_runs_that_are_not_there(tmp_path, suffix):
    with pytest.raises(FileNotFoundError):
        load_run(tmp_path / f"none{suffix}")
    with pytest.raises(OSError):
        (tmp_path / f"folder{suffix}").mkdir()
        load_run(tmp_path / f"folder{suffix}")


def test_plain_data(run):
    data = json.loads(json.dumps(run.as_dict()))
    assert data["status"] == 0 and data["state"]["a"] == run["a"][-1] and data["t"] == [0.0, 3.0]
    assert data["energy_error"] < 1e-10 and data["energy_ok"] and data["redundant"] == []
    loop = simulate(sim.four_bar(), 0.2, **sim.FOUR_BAR_START).as_dict()
    assert 0 < loop["constraint_residual"] < 1e-12 and set(loop["work"]) >= {"work_of_actuators", "work_of_motions"}


def test_interruption_keeps_a_valid_part(run, tmp_path):
    def stop(t, end):
        if t > 10:
            raise KeyboardInterrupt

    r = simulate(run.model, 1000.0, [0.6, -0.4], [0, 0], progress=stop)
    assert r.status == -1 and "interrupted at t = 1" in r.message and 10 < r.t[-1] < 30
    data, facts = load_run(r.save(tmp_path / "part.npz"))
    assert data["t"][-1] == r.t[-1] and "interrupted" in facts["message"]
    part = r.t <= 3
    assert np.allclose(r.y[:, part], run.sol(r.t[part])[:4], atol=1e-9)

    def law(t, q, u):
        if t > 0.5:
            raise KeyboardInterrupt
        return [0.0, 0.0]

    r = simulate(run.model, 1.0, [0.6, -0.4], [0, 0], inputs=law)
    assert "interrupted" in r.message and 0.3 < r.t[-1] <= 0.5


def test_ctrl_c_while_machine_code_runs(run):
    import _thread
    import signal
    import threading

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job has it ignored
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    r = simulate(run.model, 1e6, [0.6, -0.4], [0, 0], dense=False)
    timer.cancel()
    signal.signal(signal.SIGINT, before)
    assert r.status == -1 and r.message.startswith("interrupted at t =") and len(r.t) > 1000
    assert f"{r.t[-1]:.9g}" in r.message and r.energy_error < 1e-6


def test_progress_is_told(run):
    seen = []
    simulate(run.model, 30.0, [0.6, -0.4], [0, 0], progress=lambda t, end: seen.append((t, end)))
    assert len(seen) > 3 and seen[-1] == (30.0, 30.0) and np.all(np.diff([t for t, _ in seen]) >= 0)


def test_plots(run, tmp_path):
    pytest.importorskip("matplotlib")
    run.plot(tmp_path / "a.svg")
    run.plot(tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text() and "a_dot" in text and "energy residual" in text
    figure = run.plot(phase=True)
    (curve, _), (other, _) = (ax.lines for ax in figure.axes)
    assert np.allclose(other.get_ydata()[0], 0)
    at = [
        np.argmin(np.abs(curve.get_xdata() - q) + np.abs(curve.get_ydata() - u))
        for q, u in zip(run["a"], run["a_dot"], strict=True)
    ]
    assert np.allclose(curve.get_ydata()[at], run["a_dot"], atol=1e-9) and np.all(np.diff(at) > 0)
    run.plot(tmp_path / "c.png", names=["a", "energy"])
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(UnsupportedError, match=r"\.pdf"):
        run.plot(tmp_path / "d.pdf")


def test_energies_are_drawn_between_the_steps(run):
    pytest.importorskip("matplotlib")
    (ax,) = (ax for ax in run.plot().axes if ax.get_ylabel() == "energy, J")
    kinetic, potential, _ = (line.get_ydata() for line in ax.lines)
    assert len(kinetic) > len(run.t)
    assert np.allclose(np.interp(run.t, ax.lines[0].get_xdata(), kinetic), run.kinetic)
    work = np.interp(ax.lines[0].get_xdata(), run.t, run.work.sum(axis=0))
    assert np.ptp(kinetic + potential - work) < 1e-6 * np.ptp(kinetic)


@pytest.mark.parametrize("period", [None, 0.05])
def test_inputs_are_drawn_as_they_act(period):
    """A continuous law as its own curve between the steps, a sampled one as steps; by a name of their own."""
    pytest.importorskip("matplotlib")
    model = prepare(chain(2))
    law = Controller(lambda t, q, u: np.array([0.3 * np.sin(40 * t), -0.2 * u[1]]), period)
    run = simulate(model, 1.0, [0.3, -0.2], inputs=law)
    names = model.layout.inputs
    (ax,) = (ax for ax in run.plot().axes if ax.get_ylabel() == "inputs")
    first = ax.lines[0]
    t, drawn = first.get_xdata(), first.get_ydata()
    assert len(t) > len(run.t)
    if period is None:
        assert np.allclose(drawn, 0.3 * np.sin(40 * t), atol=1e-12)
    else:
        held = 0.3 * np.sin(40 * period * np.arange(21))
        assert np.abs(drawn[:, None] - held).min(axis=1).max() < 1e-9
    for k, name in enumerate(names):
        assert np.array_equal(run[f"input {name}"], run.inputs[k]) and not np.array_equal(run[name], run.inputs[k])
    (alone,) = run.plot(names=["input " + names[0]]).axes
    assert np.array_equal(alone.lines[0].get_ydata(), drawn)
    with pytest.raises(UnknownNameError, match=f"input {names[1]}"):
        run["input nothing"]


def test_plots_want_an_extra(run, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"kane\[plot\]"):
        run.plot()


def frames(page):
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
    return data, np.array(data["points"]).reshape(len(data["points"]), -1, 3) @ np.array(data["axes"]).T


def test_animation_shows_where_the_points_are(run, tmp_path):
    page = run.animate(tmp_path / "a.html", fps=10)
    assert "http" not in page and page == (tmp_path / "a.html").read_text() and page == run.animate(fps=10)
    data, points = frames(page)
    t = np.linspace(0, 3, len(points))
    a, b = run.sol(t)[:2]
    middle = np.stack([np.cos(a), np.sin(a), 0 * a], axis=1)
    tip = middle + 0.8 * np.stack([np.cos(b), np.sin(b), 0 * b], axis=1)
    for wanted in (middle, tip):
        assert min(np.abs(points[:, k] - wanted).max() for k in range(points.shape[1])) < 2e-4
    up = np.array(data["axes"])[0]
    assert up[2] == pytest.approx(-1) and data["view"] == [0, 0]  # x points where things fall: down, and faced


def test_animation_of_loops_and_robots():
    model = prepare(sim.four_bar())
    data, points = frames(simulate(model, 0.5, **sim.FOUR_BAR_START).animate())
    lengths = [np.linalg.norm(points[:, i] - points[:, j], axis=1) for i, j in data["lines"]]
    assert max(np.ptp(x) for x in lengths) < 1e-3 and len(data["masses"]) == 3
    data, points = frames(simulate(robots.load("puma560"), 0.2, [0.3] * 6).animate())
    assert {"link6", "link3*"} <= set(data["names"]) and np.isfinite(points).all()


def test_a_stopped_run_can_be_shown(run, tmp_path):
    r = simulate(run.model, 1.0, [0.6, -0.4], [0, 0], inputs=lambda t, q, u: [1 / 0 if t > 0.5 else 0.0, 0.0])
    page = r.animate()
    assert "division by zero" in page
    pytest.importorskip("matplotlib")
    r.plot(tmp_path / "r.svg")


def test_reactions_want_constraints(run):
    with pytest.raises(InputError, match="no constraints"):
        run.reactions()
    assert not run.constraint_residual.any()


def test_parameters_without_values():
    from kane.mechanism.builder import System

    s = System("mass")
    x = s.coordinates("x")
    m = s.parameters("m")
    P = s.O.locate_new("P", s.N.x * x)
    s.particle("P", P, m)
    s.force("spring", P, s.N.x * (-4 * x))
    with pytest.raises(InputError, match="'m' has no value"):
        prepare(s)
    with pytest.raises(UnknownNameError, match="no parameter 'k'"):
        prepare(s, parameters={"k": 1})
    r = simulate(s, 1.0, [0.1], parameters={"m": 4})
    assert r["x"][-1] == pytest.approx(0.1 * np.cos(1.0), abs=1e-11)
