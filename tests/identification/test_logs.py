"""Logs in every format give the same arrays; many logs give the fit of all samples."""

import pickle

import numpy as np
import pytest

from identification.arms import fourier, rough, spatial
from kane.errors import FormatError, InputError, UnknownNameError
from kane.identification.identifier import Identifier
from kane.identification.logs import iter_log, read_log
from kane.identification.sweep import fit_logs, log_factors

JOINTS = ("yaw", "pitch", "slide")


@pytest.fixture
def arrays():
    t, q, qd, qdd = fourier(3, 1200, 5, amplitude=0.2)
    return {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": 0.1 * np.random.default_rng(0).normal(size=q.shape)}


def columns(arrays, style):
    named = {"t": arrays["t"]}
    for kind in ("q", "qd", "qdd", "tau"):
        for j, joint in enumerate(JOINTS):
            named[style(kind, joint, j)] = arrays[kind][:, j]
    return named


STYLES = {
    "plain": lambda kind, joint, j: f"{kind}_{joint}",
    "ros": lambda kind, joint, j: (
        f"{joint}_" + {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "effort"}[kind]
    ),
    "brackets": lambda kind, joint, j: {"q": "pos", "qd": "vel", "qdd": "acc", "tau": "torque"}[kind] + f"[{joint}]",
    "numbers": lambda kind, joint, j: f"{kind}{j + 1}",
}


def write_csv(path, table, separator=","):
    rows = [separator.join(table)]
    rows += [separator.join(f"{x:.17g}" for x in row) for row in zip(*table.values(), strict=True)]
    path.write_text("\n".join(rows) + "\n")


def same(log, arrays):
    return all(np.array_equal(getattr(log, name), arrays[name]) for name in ("t", "q", "qd", "qdd", "tau"))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_by_name_or_number_in_any_column_order(tmp_path, arrays, style, separator):
    table = columns(arrays, STYLES[style])
    table = dict(sorted(table.items(), reverse=True)) | {"comment": arrays["t"] * 0}
    write_csv(tmp_path / "log.csv", table, separator)
    assert same(read_log(tmp_path / "log.csv", JOINTS), arrays)


def test_npz_and_mat_hold_arrays_or_columns(tmp_path, arrays):
    from scipy.io import savemat

    np.savez(tmp_path / "a.npz", **arrays)
    np.savez(tmp_path / "b.npz", **columns(arrays, STYLES["plain"]))
    savemat(tmp_path / "c.mat", arrays)
    for name in ("a.npz", "b.npz", "c.mat"):
        assert same(read_log(tmp_path / name, JOINTS), arrays)


def test_parquet(tmp_path, arrays):
    polars = pytest.importorskip("polars")
    polars.DataFrame(columns(arrays, STYLES["ros"])).write_parquet(tmp_path / "log.parquet")
    assert same(read_log(tmp_path / "log.parquet", JOINTS), arrays)


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_bag_of_joint_states_with_joints_in_another_order(tmp_path, arrays, storage):
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    state, header, time = (
        store.types[name]
        for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    order = [2, 0, 1]
    plugin = {"sqlite3": StoragePlugin.SQLITE3, "mcap": StoragePlugin.MCAP}[storage]
    with Writer(tmp_path / "bag", version=9, storage_plugin=plugin) as writer:
        connection = writer.add_connection("/joint_states", state.__msgtype__, typestore=store)
        for i in range(60):
            nanoseconds = round(arrays["t"][i] * 1e9)
            stamp = time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
            message = state(
                header=header(stamp=stamp, frame_id=""), name=[JOINTS[k] for k in order],
                position=arrays["q"][i, order], velocity=arrays["qd"][i, order], effort=arrays["tau"][i, order],
            )  # fmt: skip
            writer.write(connection, nanoseconds, store.serialize_cdr(message, state.__msgtype__))
    log = read_log(tmp_path / "bag", JOINTS)
    assert np.array_equal(log.q, arrays["q"][:60]) and np.array_equal(log.tau, arrays["tau"][:60])
    assert np.allclose(log.t, arrays["t"][:60], atol=1e-9) and log.qdd is None


def test_chunks_follow_each_other(tmp_path, arrays):
    write_csv(tmp_path / "log.csv", columns(arrays, STYLES["plain"]))
    parts = list(iter_log(tmp_path / "log.csv", JOINTS, rows=500))
    assert [len(p) for p in parts] == [500, 500, 200] and [p.start for p in parts] == [0, 500, 1000]
    assert np.array_equal(np.concatenate([p.q for p in parts]), arrays["q"])


def test_bad_files_are_named_with_line_and_value(tmp_path, arrays):
    path = tmp_path / "log.csv"
    write_csv(path, columns(arrays, STYLES["plain"]))
    text = path.read_text().splitlines()
    cells = text[7].split(",")
    path.write_text("\n".join([*text[:7], ",".join([cells[0], "oops", *cells[2:]]), *text[8:]]))
    with pytest.raises(FormatError, match=r"log\.csv:8: 'oops' is not a number"):
        read_log(path, JOINTS)
    path.write_text("\n".join([*text[:7], ",".join([cells[0], "", *cells[2:]]), *text[8:]]))
    assert np.isnan(read_log(path, JOINTS).q[6, 0])
    path.write_text("\n".join([*text[:3], "1,2,3", *text[4:]]))
    with pytest.raises(FormatError, match=r"log\.csv:4: 3 values under 13 names"):
        read_log(path, JOINTS)
    with pytest.raises(UnknownNameError, match="'wrist'"):
        path.write_text("\n".join(text))
        read_log(path, (*JOINTS[:2], "wrist"))
    with pytest.raises(FormatError, match=r"'\.xyz'"):
        read_log(tmp_path / "log.xyz", JOINTS)
    with pytest.raises(FormatError, match="does not exist"):
        read_log(tmp_path / "none.csv", JOINTS)


@pytest.fixture
def recorded(tmp_path):
    """Three logs of one arm and the samples of all."""
    fit = Identifier(rough(spatial(), [0.4, 0.5, 0.6], [1.0, 0.8, 2.0]), method="wls")
    rng = np.random.default_rng(3)
    everything, paths = [], []
    for k in range(3):
        t, q, qd, qdd = fourier(3, 900, 20 + k, amplitude=0.2)
        tau = fit.model.torque(q, qd, qdd, fit.model.prior) + 0.1 * rng.normal(size=q.shape)
        everything.append((q, qd, qdd, tau))
        paths.append(tmp_path / f"{k}.npz")
        np.savez(paths[-1], t=t, q=q, qd=qd, qdd=qdd, tau=tau)
    return fit, paths, [np.concatenate(a) for a in zip(*everything, strict=True)]


def test_many_logs_are_one_fit(recorded):
    fit, paths, samples = recorded
    whole = Identifier(**fit.get_params()).fit(*samples)
    fit_logs(fit, paths)
    assert np.allclose(fit.coef_, whole.coef_, rtol=1e-8, atol=1e-11) and fit.n_samples_ == 2700


def test_what_workers_get_and_give_can_be_sent(recorded):
    fit, paths, _ = recorded
    assert pickle.loads(pickle.dumps(fit.get_params())) == fit.get_params()
    factors = log_factors(fit.model, paths[0])
    assert np.array_equal(pickle.loads(pickle.dumps(factors)).R, factors.R)


def test_two_workers_give_the_same_estimate(recorded):
    distributed = pytest.importorskip("distributed")
    fit, paths, _ = recorded
    here = fit_logs(Identifier(**fit.get_params()), paths).coef_
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        fit_logs(fit, paths, client=client)
    assert np.array_equal(fit.coef_, here)


def test_logs_without_rates_need_a_cutoff(recorded, tmp_path):
    fit, _, _ = recorded
    t, q, qd, qdd = fourier(3, 5000, 31, amplitude=0.2)
    tau = fit.model.torque(q, qd, qdd, fit.model.prior)
    np.savez(tmp_path / "raw.npz", t=t, q=q, tau=tau)
    with pytest.raises(InputError, match="no qd"):
        log_factors(fit.model, tmp_path / "raw.npz")
    fit_logs(fit, [tmp_path / "raw.npz"], cutoff=8.0)
    assert np.abs(fit.coef_ - fit.model.prior).max() < 0.02
    with pytest.raises(InputError, match="No logs"):
        fit_logs(fit, [])


def test_joint_or_coordinate_names_both_find_the_columns(tmp_path, arrays):
    from kane.identification.torque_model import torque_model
    from kane.robots import load

    model = torque_model(load("puma560"))
    assert model.joints[0] == "joint1" and model.log_names[0] == ("joint1", "q1")
    values = np.random.default_rng(0).normal(size=(5, 6))
    for style in ("joint{}_position", "q{}", "position_q{}", "pos{}"):
        write_csv(tmp_path / "log.csv", {style.format(k + 1): values[:, k] for k in range(6)})
        assert np.array_equal(read_log(tmp_path / "log.csv", model.log_names).q, values)
