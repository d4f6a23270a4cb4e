"""kane identify end to end: every format of log, logs of many chunks, bad logs, files that are not written over."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from identification.arms import fourier, rough, spatial
from kane.cli import main
from kane.formats.toml import read_toml
from kane.formats.urdf_write import write_urdf
from kane.identification.torque_model import torque_model
from kane.mechanism.model import Limits

SHEET = Path(__file__).with_name("puma560_worksheet.toml")
JOINTS = ("yaw", "pitch", "slide")
DEGREE, RPM = 180 / np.pi, 60 / (2 * np.pi)
KINDS = ("q", "qd", "qdd", "tau")
FULL = ("--friction", "all", "--method", "wls")


@pytest.fixture(scope="module")
def arm():
    given = rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0])
    return replace(given, joints=tuple(replace(j, rotor=None) for j in given.joints))


@pytest.fixture(scope="module")
def model(arm):
    return torque_model(arm, friction="all")


@pytest.fixture(scope="module")
def urdf(arm, tmp_path_factory):
    path = tmp_path_factory.mktemp("robot") / "arm.urdf"
    path.write_text(write_urdf(arm))
    return path


def recorded(model, count=4000, seed=5, noise=0.01):
    """A log with noise of a share of the range of torque."""
    t, q, qd, qdd = fourier(3, count, seed, amplitude=0.15)
    rng = np.random.default_rng(seed)
    tau = model.torque(q, qd, qdd, model.prior)
    return {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau + noise * np.ptp(tau, axis=0) * rng.normal(size=q.shape)}


def columns(log, kinds=KINDS):
    return {"t": log["t"]} | {f"{k}_{j}": log[k][:, i] for k in kinds for i, j in enumerate(JOINTS)}


def csv(path, log, kinds=KINDS):
    table = columns(log, kinds)
    np.savetxt(path, np.column_stack(list(table.values())), delimiter=",", header=",".join(table), comments="")
    return path


def identify(capsys, *arguments):
    """Exit status and the JSON object."""
    return commanded(capsys, "identify", *arguments, *(() if "--friction" in arguments else FULL))


def commanded(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main([*map(str, arguments), "--json"])
    return int(end.value.code or 0), json.loads(capsys.readouterr().out)


def values(result):
    return np.array([p["value"] for p in result["parameters"]])


def refused(capsys, urdf, path, *more):
    before = urdf.read_bytes()
    status, result = identify(capsys, urdf, path, *more)
    assert status == 2 and result.keys() == {"error"} and urdf.read_bytes() == before
    return result["error"]


@pytest.mark.parametrize("name", ["log.csv", "log.npz", "arrays.npz", "log.mat", "log.parquet"])
def test_formats_with_accelerations(capsys, tmp_path, model, urdf, name):
    log = recorded(model)
    path = tmp_path / name
    if name.endswith("csv"):
        csv(path, log)
    elif name.endswith("npz"):
        np.savez(path, **(log if name == "arrays.npz" else columns(log)))
    elif name.endswith("mat"):
        pytest.importorskip("scipy.io").savemat(path, log)
    else:
        pytest.importorskip("polars").DataFrame(columns(log)).write_parquet(path)
    status, result = identify(capsys, urdf, path)
    assert status == 0 and result["samples"] == 4000 and not result["unknown"] and not result["findings"]
    deviations = np.array([p["deviation"] for p in result["parameters"]])
    assert (np.abs(values(result) - model.prior) < 4 * deviations).all()


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
@pytest.mark.parametrize("whole", [True, False])
def test_bags_of_joint_states(capsys, tmp_path, model, urdf, storage, whole):
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    log = recorded(model, 8000)
    store = get_typestore(Stores.ROS2_HUMBLE)
    state, header, time = (
        store.types[name]
        for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    plugin = {"sqlite3": StoragePlugin.SQLITE3, "mcap": StoragePlugin.MCAP}[storage]
    with Writer(tmp_path / "bag", version=9, storage_plugin=plugin) as writer:
        connection = writer.add_connection("/joint_states", state.__msgtype__, typestore=store)
        for i, t in enumerate(log["t"]):
            nanoseconds = 10**9 + round(t * 1e9)
            stamp = time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
            message = state(
                header=header(stamp=stamp, frame_id=""), name=list(JOINTS), position=log["q"][i],
                velocity=np.zeros(0), effort=log["tau"][i],
            )  # fmt: skip
            writer.write(connection, nanoseconds, store.serialize_cdr(message, state.__msgtype__))
    path = tmp_path / "bag"
    if not whole:  # the file of the bag alone
        inside = next(p for p in path.iterdir() if p.suffix in (".db3", ".mcap"))
        path = inside.rename(tmp_path / inside.name)
    error = refused(capsys, urdf, path)
    assert error["name"] == "qd" and "cutoff" in error["remedy"]
    status, result = identify(capsys, urdf, path, "--cutoff", "10")
    assert status == 0
    assert np.allclose(values(result), model.prior, rtol=0.1, atol=0.05)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_logs_of_many_chunks_are_one_log(capsys, tmp_path, model, urdf, kind, monkeypatch):
    log = recorded(model, 12_000)
    raw = {**log, "q": np.round(log["q"] / 1e-5) * 1e-5}
    paths = [tmp_path / f"{name}.{kind}" for name in ("full", "raw")]
    if kind == "csv":
        csv(paths[0], log)
        csv(paths[1], raw, ("q", "tau"))
    else:
        polars = pytest.importorskip("polars")
        polars.DataFrame(columns(log)).write_parquet(paths[0])
        polars.DataFrame(columns(raw, ("q", "tau"))).write_parquet(paths[1])
    whole = [identify(capsys, urdf, path, *more)[1] for path, more in zip(paths, ((), ("--cutoff", "10")), strict=True)]
    monkeypatch.setattr("kane.identification.logs.iter_log.__defaults__", (2500,))
    parts = [identify(capsys, urdf, path, *more)[1] for path, more in zip(paths, ((), ("--cutoff", "10")), strict=True)]
    assert np.allclose(values(parts[0]), values(whole[0]), rtol=1e-9, atol=1e-11)
    deviations = np.array([p["deviation"] for p in whole[1]["parameters"]])
    assert (np.abs(values(parts[1]) - values(whole[1])) < 0.5 * deviations).all()
    assert abs(parts[1]["samples"] - whole[1]["samples"]) < 10


def spoiled(log, kind):
    """A log with one error: what it is told as, the joints that may be named, the sample (None: any)."""
    q, qd, qdd, tau = (log[k] for k in KINDS)
    if kind == "nan in tau":
        tau[1234, 1] = np.nan
        return "LogNanError", {"pitch"}, 1234
    if kind == "inf in q":
        q[77, 2] = np.inf
        return "LogNanError", {"slide"}, 77
    if kind == "time back":
        log["t"][2000:] -= 1.0
        return "LogTimeError", {None}, 2000
    if kind == "time twice":
        log["t"][31] = log["t"][30]
        return "LogTimeError", {None}, 31
    if kind == "milliseconds":
        log["t"] *= 1000
        return "LogUnitsError", set(JOINTS), None
    if kind == "everything in degrees":
        for a in (q, qd, qdd):
            a[:, :2] *= DEGREE
        return "LogUnitsError", {"yaw", "pitch"}, None
    if kind == "speed in degrees":
        qd[:, 1] *= DEGREE
        return "LogUnitsError", {"pitch"}, None
    if kind == "speed in rpm":
        qd[:, :2] *= RPM
        return "LogUnitsError", {"yaw", "pitch"}, None
    if kind == "position in degrees":
        q[:, 0] *= DEGREE
        return "LogUnitsError", {"yaw"}, None
    arrays = {"torques": (tau,), "speeds": (qd,), "motions": (q, qd, qdd)}[kind.split()[-1]]
    for a in arrays:
        a[:] = a[:, [1, 0, 2]]
    return "LogSwappedError", {"yaw", "pitch"}, None


ERRORS = (
    "nan in tau", "inf in q", "time back", "time twice", "milliseconds", "everything in degrees", "speed in degrees",
    "speed in rpm", "position in degrees", "exchanged torques", "exchanged speeds", "exchanged motions",
)  # fmt: skip


@pytest.mark.parametrize("kind", ERRORS)
def test_bad_logs_are_refused_with_joint_and_sample(capsys, tmp_path, model, urdf, kind):
    log = recorded(model)
    code, joints, sample = spoiled(log, kind)
    error = refused(capsys, urdf, csv(tmp_path / "log.csv", log))
    assert error["code"] == code and error["name"] in joints
    assert isinstance(error["value"], int) and error["value"] == (error["value"] if sample is None else sample)
    assert "sample" in error["message"] and all(j is None or j in error["message"] for j in [error["name"]])


@pytest.mark.parametrize("kind", ["nan in tau", "inf in q", "time back", "everything in degrees", "exchanged torques"])
def test_bad_raw_logs_are_refused_too(capsys, tmp_path, model, urdf, kind):
    log = recorded(model)
    code, joints, sample = spoiled(log, kind)
    error = refused(capsys, urdf, csv(tmp_path / "log.csv", log, ("q", "tau")), "--cutoff", "8")
    assert error["code"] == code and error["name"] in joints and sample in (None, error["value"])


def test_bad_samples_of_a_late_chunk_have_the_number_of_the_log(capsys, tmp_path, model, urdf, monkeypatch):
    monkeypatch.setattr("kane.identification.logs.iter_log.__defaults__", (1000,))
    log = recorded(model)
    log["tau"][3210, 0] = np.nan
    error = refused(capsys, urdf, csv(tmp_path / "log.csv", log))
    assert (error["name"], error["value"]) == ("yaw", 3210) and "sample 3210" in error["message"]
    log = recorded(model)
    log["t"][3000:] -= 0.5
    error = refused(capsys, urdf, csv(tmp_path / "log.csv", log, ("q", "tau")), "--cutoff", "8")
    assert error["code"] == "LogTimeError" and error["value"] == 3000


def test_saturation_and_still_joints_are_told(capsys, tmp_path, model, urdf, monkeypatch):
    log = recorded(model)
    log["tau"][2500:2504, 0] = 80.0  # the limit of the description, four samples
    for k in ("q", "qd", "qdd"):
        log[k][:, 2] = 0.0
    log["q"][:, 2] = 0.1 + 1e-5 * np.random.default_rng(0).integers(0, 2, 4000)  # an encoder that dithers
    for rows in (50_000, 1000):
        monkeypatch.setattr("kane.identification.logs.iter_log.__defaults__", (rows,))
        status, result = identify(capsys, urdf, csv(tmp_path / "log.csv", log))
        found = {(f["kind"], f["joint"]): f for f in result["findings"]}
        assert status == 0 and found["saturated", "yaw"]["sample"] == 2500
        assert ("still", "slide") in found and any("slide" in u["name"] for u in result["unknown"])


def test_nothing_is_written_over_unasked(capsys, tmp_path, model, urdf):
    path, out = csv(tmp_path / "log.csv", recorded(model)), tmp_path / "new.urdf"
    pytest.importorskip("clarabel")
    assert "not written over" in refused(capsys, urdf, path, "--out", urdf)["message"]
    status, result = identify(capsys, urdf, path, "--out", out)
    assert status == 0 and result["files"] == [str(out)] and out.exists()
    first = out.read_bytes()
    assert "not written over" in refused(capsys, urdf, path, "--out", out)["message"] and out.read_bytes() == first
    assert identify(capsys, urdf, path, "--out", out, "--overwrite")[0] == 0
    bad = recorded(model)
    bad["tau"][9, 0] = np.nan
    refused(capsys, urdf, csv(path, bad), "--out", tmp_path / "never.urdf")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log.csv", "new.urdf"]


def test_broken_files_are_told(capsys, tmp_path, urdf):
    for name in ("a.npz", "a.mat", "a.parquet", "a.mcap", "a.db3", "a.csv"):
        path = tmp_path / name
        path.write_bytes(b"\x00\x01 this is no log \xff")
        error = refused(capsys, urdf, path)
        assert error["file"] == str(path) and error["code"] in ("FormatError", "UnknownNameError")


def test_one_joint_has_columns_without_a_name(capsys, tmp_path):
    from scipy.io import savemat

    pendulum = spatial()
    first = replace(pendulum, links=pendulum.links[:2], joints=(replace(pendulum.joints[0], limits=Limits()),))
    robot, path = tmp_path / "one.urdf", tmp_path / "log.mat"
    robot.write_text(write_urdf(first))
    t = np.arange(0, 10, 0.01)
    q = np.sin(t)
    savemat(path, {"t": t, "q": q, "qd": np.cos(t), "qdd": -q, "tau": -2.5 * q})
    status, result = identify(capsys, robot, path, "--friction", "none")
    assert status == 0 and np.allclose(values(result), 2.5)


def test_excite_writes_a_motion_within_limits_that_identify_reads(capsys, tmp_path, model, urdf):
    out, plot = tmp_path / "motion.csv", tmp_path / "motion.svg"
    options = ("--rounds", 30, "--velocity", "1.5", "--box=l3:-0.6,-0.6,-0.5,0.6,0.6,0.8", "--rate", 50)
    status, result = commanded(capsys, "excite", urdf, *options, "--out", out, "--plot", plot)
    assert status == 0 and result["files"] == [str(out), str(plot)] and plot.read_text().startswith("<svg")
    assert result["condition"] < result["random"] and max(result["margins"].values()) <= 1
    table = np.loadtxt(out, delimiter=",", skiprows=1)
    q, qd, qdd = table[:, 1:4], table[:, 4:7], table[:, 7:10]
    assert len(table) == 20 * 50 + 1 and np.abs(qd).max() <= 1.5
    _, refusal = commanded(capsys, "excite", urdf, "--out", out)
    assert "not written over" in refusal["error"]["message"]
    _, refusal = commanded(capsys, "excite", urdf, "--box", "l3:1,2")
    assert "six numbers" in refusal["error"]["message"]
    tau = model.torque(q, qd, qdd, model.prior)
    csv(out, {"t": table[:, 0], "q": q, "qd": qd, "qdd": qdd, "tau": tau})
    assert np.allclose(values(identify(capsys, urdf, out)[1]), model.prior, atol=1e-5)


def test_measure_reports_the_worksheet_and_writes_a_robot(capsys, tmp_path):
    out = tmp_path / "measured.toml"
    status, result = commanded(capsys, "measure", "puma560", SHEET, "--out", out)
    table = {row["name"]: row for row in result["table"]}
    assert status == 0 and np.isclose(table["link2.mass"]["value"], 17.4) and table["joint2.Im"]["error"] > 0.4
    assert np.isclose(float(read_toml(out).link("link3").inertia.mass), 4.8)
    assert commanded(capsys, "measure", "puma560", SHEET, "--out", out)[0] == 2
    status, refusal = commanded(capsys, "measure", "two_link", SHEET)
    assert status == 2 and refusal["error"]["name"] == "link3"


def test_prediction_of_another_log_is_reported(capsys, tmp_path, model, urdf):
    path = csv(tmp_path / "a.csv", recorded(model, 10_000))
    other = csv(tmp_path / "b.csv", recorded(model, 5000, 9, 0.0))
    for more in ((), ("--cutoff", "10")):
        _, result = identify(capsys, urdf, path, "--test", other, *more)
        assert result["prediction"].keys() == set(JOINTS)
        assert all(p["share"] < 0.01 for p in result["prediction"].values())
        correlation = np.array(result["correlation"])
        assert correlation.shape == (len(model.names),) * 2 and np.abs(correlation).max() <= 1 + 1e-9
    with pytest.raises(SystemExit):
        main(["identify", str(urdf), str(path), "--test", str(other), *FULL])
    assert "condition number" in capsys.readouterr().out
