"""Every command: the shape of its JSON, its exit status, its files; refusals in one message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.cli import main

COUNTS = {"mul", "add", "div", "sqrt", "trig", "trig_arguments", "total"}
ROBOT = {"name", "joints", "coordinates", "speeds", "mass_total", "mass_moving"}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    streams = capsys.readouterr()
    return int(end.value.code or 0), streams.out, streams.err


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    status, out, _ = run(capsys, *arguments, "--json")
    assert status == 0
    result: dict[str, Any] = json.loads(out)
    assert result["schema"] == 1 and result["command"] == arguments[0] and result["robot"].keys() == ROBOT
    return result


def test_derive(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    result = json_of(capsys, "derive", "two_link", "--out", str(tmp_path))
    assert set(result["counts"]) >= {"inverse_dynamics", "forward_dynamics", "mass_matrix"}
    assert all(c.keys() == COUNTS for c in result["counts"].values())
    assert result["verification"] and all(c["ok"] for c in result["verification"])
    assert {stage["name"] for stage in result["stages"]} >= {"derive inverse_dynamics", "verify"}
    assert sorted(Path(f).name for f in result["files"]) == sorted(p.name for p in tmp_path.iterdir())


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    result = json_of(capsys, "check", "scara")
    assert result["import"].keys() == {"lumped", "snapped", "ignored", "repaired", "defaulted"}
    assert all({"name", "value", "tolerance", "ok"} <= c.keys() for c in result["verification"])


def test_counts(capsys: pytest.CaptureFixture[str]) -> None:
    result = json_of(capsys, "counts", "two_link", "--task", "mass_matrix", "--effort", "low")
    assert {row["task"] for row in result["tasks"]} == {"mass_matrix"}
    assert [row["best"] for row in result["tasks"]].count(True) == 1
    searched = next(row for row in result["tasks"] if row["method"] == "searched")
    assert 0 < searched["instructions"] <= searched["counts"]["total"]
    least = min(row["counts"]["total"] for row in result["tasks"])
    assert next(row for row in result["tasks"] if row["best"])["counts"]["total"] == least


def test_counts_show_what_each_pass_saved(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("counts", "puma560", "--task", "mass_matrix", "--effort", "low")
    result = json_of(capsys, *asked)
    rows = {row["method"]: row["counts"]["total"] for row in result["tasks"]}
    saved = sum(row["saved_mul"] + row["saved_add"] for row in result["trail"])
    assert result["trail"] and rows["customised recursion"] - rows["searched"] == saved
    status, out, _ = run(capsys, *asked)
    assert status == 0 and all(row["pass"] in out and str(row["saved_mul"]) in out for row in result["trail"])
    assert "sin, cos" in out and "once" in out


def test_counts_trace_every_operation(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("counts", "two_link", "--task", "mass_matrix", "--effort", "low", "--trace")
    result = json_of(capsys, *asked)
    best = next(row for row in result["tasks"] if row["method"] == "searched")["counts"]
    traced = result["trace"]
    assert len(traced) == best["total"] + best["trig"] and {row["task"] for row in traced} == {"mass_matrix"}
    keys = {"task", "index", "section", "operation", "terms", "bodies", "parameters", "joints", "outputs"}
    assert all(row.keys() == keys and row["terms"] and row["outputs"] for row in traced)
    assert any(row["parameters"] and row["bodies"] for row in traced)
    status, out, _ = run(capsys, *asked)
    assert status == 0 and all(row["operation"] in out for row in traced)


def test_explicit_and_abbreviated(capsys: pytest.CaptureFixture[str]) -> None:
    result = json_of(capsys, "explicit", "two_link")
    assert len(result["A"]) == 2 and len(result["g"]) == 2 and len(result["B_columns"]) == 1
    assert {c["kind"] for c in result["constants"]} == {"inertia", "gravity"}
    short = json_of(capsys, "explicit", "puma560", "--tolerance", "5%", "--rule", "paper")
    assert {"joint", "bound", "reference", "share", "ranges", "method"} <= short["certificate"][0].keys()
    assert short["dropped"] and short["counts"]["inverse_dynamics"]["total"] < 534


def test_code_of_a_frame_task(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = ("--task", "jacobian:link2", "--out", str(tmp_path))
    result = json_of(capsys, "code", "two_link", "--target", "numpy", *out)
    assert all(Path(f).exists() for f in result["files"])


def test_simulate_keeps_energy(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    saved = tmp_path / "run.npz"
    result = json_of(capsys, "simulate", "two_link", "--time", "1", "--q", "q1=0.4,q2=0.1", "--out", str(saved))
    assert result["t_end"] == 1.0 and result["energy_ok"] and saved.exists()


def test_linearize_hanging_double_pendulum(capsys: pytest.CaptureFixture[str]) -> None:
    """Oscillations about the hanging rest have imaginary eigenvalues in pairs; A and B are those of M and V."""
    result = json_of(capsys, "linearize", "two_link", "--q=-1.5707963267948966,0")
    values = np.array([complex(*x) for x in result["eigenvalues"]])
    assert np.abs(values.real).max() < 1e-7 and (np.sort(np.abs(values.imag))[::2] > 0).all()
    M = kane.derive(kane.load("two_link")).compile().mass_matrix(np.array([-np.pi / 2, 0.0]))
    np.testing.assert_allclose(np.array(result["B"])[2:] @ M, np.eye(2), atol=1e-12)


def test_identify_from_its_own_torques(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    robot = kane.load("two_link")
    t = np.arange(0, 6, 0.01)
    q = np.stack([np.sin(1.3 * t), np.cos(2.1 * t)], axis=1)
    qd = np.stack([1.3 * np.cos(1.3 * t), -2.1 * np.sin(2.1 * t)], axis=1)
    qdd = np.stack([-(1.3**2) * np.sin(1.3 * t), -(2.1**2) * np.cos(2.1 * t)], axis=1)
    tau = kane.derive(robot).compile().inverse_dynamics(q, qd, qdd)
    log = tmp_path / "log.csv"
    names = ",".join(["t", *(f"{kind}{k}" for kind in ("q", "qd", "qdd", "tau") for k in (1, 2))])
    np.savetxt(log, np.column_stack([t, q, qd, qdd, tau]), delimiter=",", header=names, comments="", fmt="%.17g")
    result = json_of(capsys, "identify", "two_link", str(log), "--friction", "none")
    assert result["command"] == "identify"


@pytest.mark.parametrize(
    "arguments",
    [
        ("derive", "no_such_robot"),
        ("derive", "missing.urdf"),
        ("counts", "two_link", "--effort", "huge"),
        ("code", "two_link", "--target", "basic"),
        ("code", "two_link", "--task", "nothing"),
        ("explicit", "two_link", "--tolerance", "many"),
        ("simulate", "two_link", "--q", "a,b"),
        ("linearize", "two_link", "--q", "1,2,3"),
    ],
)
def test_refusals_end_with_status_2_and_one_message(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    status, out, err = run(capsys, *arguments)
    assert status == 2 and out == "" and err.startswith("kane: ") and "Traceback" not in err
    status, out, _ = run(capsys, *arguments, "--json")
    error = json.loads(out)["error"]
    assert status == 2 and error["code"] and {"file", "line", "element", "name", "value", "remedy"} <= error.keys()


SYMBOLS = """# modified DH
joint,alpha_prev_rad,a_prev_m,d_m,theta,mass_kg,com_x_m,com_y_m,com_z_m
1,0,0,0,q1,m1,L1,0,0
2,0,L1,0,q2,m2,L2,0,0
# gravity acts along -y of frame 0 with g = 9.81
"""


def test_a_table_with_symbols_gets_values(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Two point masses hanging: the poles are those of the double pendulum's M and K, by hand."""
    file = tmp_path / "arm.csv"
    file.write_text(SYMBOLS)
    status, _, err = run(capsys, "linearize", str(file))
    assert status == 2 and "--values L1=...,L2=...,m1=...,m2=..." in err
    hanging = ["--q", "-1.5707963267948966,0", "--values", "L1=0.5,L2=0.25,m1=2,m2=1"]
    result = json_of(capsys, "linearize", str(file), *hanging)
    M = np.array([[2 * 0.25 + 0.75**2, 0.25 * 0.75], [0.25 * 0.75, 0.0625]])
    K = 9.81 * np.array([[2 * 0.5 + 0.75, 0.25], [0.25, 0.25]])
    squared = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)
    found = np.sort([im**2 for _, im in result["eigenvalues"] if im > 0])
    assert found == pytest.approx(squared, rel=1e-9)
    for values, told in (("L9=1", "L1, L2"), ("L1", "L1=0.4,m2=1.2"), ("L1=x", "'x'"), ("m1=-1", "its mass is -1")):
        status, _, err = run(capsys, "check", str(file), "--values", values)
        assert status == 2 and told in " ".join(err.split())
