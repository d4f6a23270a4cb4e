"""Results asked wrongly: times outside the run, files that cannot be, runs without a point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kane
from kane.simulation import Model, load_run, simulate
from simulation import simulated as sim

NAN, INF = float("nan"), float("inf")
STARTS = sim.STARTS


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return sim.kinds()


def fails(t: float, *_: Any) -> Any:
    raise LookupError("the user's own")


@pytest.fixture(scope="module")
def results(models: dict[str, Model]) -> dict[str, Any]:
    made = {}
    for which in ("declared", "loop", "floating"):
        model, start = models[which], STARTS[which]
        made[f"{which} whole"] = simulate(model, 0.1, **start)
        made[f"{which} stopped"] = simulate(model, 0.1, **start, inputs=fails)
        made[f"{which} without points"] = simulate(model, 0.1, **start, inputs=fails, t_eval=[0.05])
    return made


PARTS = ("whole", "stopped", "without points")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("which", ["declared", "loop", "floating"])
def test_results_of_every_length(results: dict[str, Any], which: str, part: str, tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    run = results[f"{which} {part}"]
    k = len(run.t)
    assert (k == 0) == (part == "without points") and (k == 1) == (part == "stopped")
    for name in ("energy", "energy_residual", "power_residual", "constraint_residual", "speed_residual"):
        assert getattr(run, name).shape == (k,), name
    assert run.rates().shape[1] == k and run.summary() and run.as_dict() and isinstance(run.redundant, tuple)
    if which == "loop":
        assert all(x.shape == (k,) for x in run.reactions().values())
    data, facts = load_run(run.save(tmp_path / "run.npz"))
    assert len(data["t"]) == k and facts["status"] == run.status
    if k:
        assert run.animate() and run.plot()
    else:
        for show in (run.plot, run.animate):
            with pytest.raises(kane.InputError, match=r"no point for .*stopped at t = 0.*t_eval"):
                show()


@pytest.mark.parametrize("t", [-1, 0.2, NAN, INF, "x", None, [0.05, 9], np.zeros((2, 2)), 1j, ["a"]], ids=str)
def test_times_outside_the_run(results: dict[str, Any], t: Any) -> None:
    for which in ("declared", "loop", "floating"):
        run = results[f"{which} whole"]
        with pytest.raises(kane.KaneError, match=r"^t (=|is|has)"):
            run.sol(t)
        assert run.sol([]).shape == (len(run.model.layout.names), 0) and np.isfinite(run.sol(0.1 + 1e-13)).all()


@pytest.mark.parametrize(("name", "call"), {
    "path": lambda run, x: run.save(x),
    "path ": lambda run, x: run.plot(x or 5),
    "path  ": lambda run, x: run.animate(x or 5),
    "fps": lambda run, x: run.animate(fps=x),
    "names": lambda run, x: run.plot(names=5 if x is None else [x]),
    "phase": lambda run, x: run.plot(phase=x),
    "link": lambda run, x: run.joint_reaction(x),
    "row": lambda run, x: run[x],
    "file": lambda run, x: load_run(x),
}.items(), ids=lambda x: x.strip() if isinstance(x, str) else "")  # fmt: skip
@pytest.mark.parametrize("value", [None, [1], {}, NAN, b"\0", 0], ids=str)
def test_what_results_are_asked(
    results: dict[str, Any], name: str, call: Callable[[Any, Any], Any], value: Any
) -> None:
    pytest.importorskip("matplotlib")
    with pytest.raises(kane.KaneError):
        pytest.fail(f"{name}: {call(results['declared whole'], value)}")


@pytest.mark.parametrize("suffix", [".npz", ".svg", ".html"])
def test_files_that_cannot_be(results: dict[str, Any], suffix: str, tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    run = results["declared whole"]
    write = {".npz": run.save, ".svg": run.plot, ".html": run.animate}[suffix]
    (tmp_path / f"folder{suffix}").mkdir()
    wrong = {f"no/run{suffix}": "folder.*not there", f"folder{suffix}": "is a folder", "run.odd": "'.odd'"}
    for path, text in wrong.items():
        with pytest.raises(kane.InputError, match=text):
            write(tmp_path / path)
    assert [p.name for p in tmp_path.iterdir()] == [f"folder{suffix}"]
    (tmp_path / "other.npz").write_bytes(b"no archive")
    with pytest.raises(kane.FormatError, match="no run"):
        load_run(tmp_path / "other.npz")
