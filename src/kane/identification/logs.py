"""Logs of motions: CSV, npz, MAT, Parquet, rosbag2 and MCAP with JointState; whole or in chunks.

A column is found by the joint's name and what it holds: q, position or angle; qd or velocity; qdd or acceleration; tau,
effort, torque or current; in any usual order ("q1", "q_elbow", "elbow_position", "elbow.velocity", "position[elbow]").
Time is t, time or stamp, in seconds unless the name says ms, us or ns ("t_ms", "time [us]").
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kane.errors import FormatError, KaneError, MissingExtraError, UnknownNameError, install

Array = np.ndarray[Any, np.dtype[Any]]
Name = str | Sequence[str]
CHUNK = 50_000  # samples
KINDS: dict[str, tuple[str, ...]] = {
    "q": ("q", "position", "pos", "angle", "theta"),
    "qd": ("qd", "dq", "velocity", "vel", "speed", "qdot"),
    "qdd": ("qdd", "ddq", "acceleration", "acc", "qddot"),
    "tau": ("tau", "effort", "torque", "force", "tor", "eff"),
}
TIMES = ("t", "time", "stamp", "timestamp", "seconds", "sec")
_SECONDS = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "msec": 1e-3, "us": 1e-6, "usec": 1e-6, "µs": 1e-6, "ns": 1e-9}
_TIME_UNIT = re.compile(rf"(?:t|time|stamp|timestamp)[\s_.\[(/-]+({'|'.join(_SECONDS)})[\s\])]*", re.I)


@dataclass(frozen=True, slots=True)
class Log:
    """t (n,) or None; q, qd, qdd, tau (n, joints) or None, joints as asked for; start: number of its first sample."""

    joints: tuple[str, ...]
    t: Array | None
    q: Array
    qd: Array | None
    qdd: Array | None
    tau: Array | None
    source: str = ""
    start: int = 0

    def __len__(self) -> int:
        return len(self.q)


def read_log(path: str | Path, joints: Sequence[Name]) -> Log:
    """The whole log, columns by joint name (one, or several to try) or by number: q1, q2, ...

    Raises FormatError for a file that cannot be read, UnknownNameError for a joint without a column, MissingExtraError.
    """
    parts = list(iter_log(path, joints))
    if not parts:
        raise FormatError("The log is empty.", file=str(path), remedy="Record a motion first.")

    def joined(name: str) -> Array | None:
        arrays = [getattr(p, name) for p in parts]
        return None if arrays[0] is None else np.concatenate(arrays)

    q = joined("q")
    assert q is not None
    return replace(parts[0], t=joined("t"), q=q, qd=joined("qd"), qdd=joined("qdd"), tau=joined("tau"))


def iter_log(path: str | Path, joints: Sequence[Name], rows: int = CHUNK) -> Iterator[Log]:
    """The log in chunks of at most `rows` samples: memory does not grow with the file (npz and MAT are read whole)."""
    path = Path(path)
    reader = READERS.get("" if path.is_dir() else path.suffix.lower())
    if reader is None:
        raise FormatError(
            f"Logs of type {path.suffix!r} are not read.", file=str(path), value=path.suffix,
            remedy=f"Give one of {', '.join(k for k in READERS if k)}, or a rosbag2 folder.",
        )  # fmt: skip
    if not path.exists():
        raise FormatError("The log does not exist.", file=str(path), remedy="Check the path.")
    names = tuple((j,) if isinstance(j, str) else tuple(j) for j in joints)
    start = 0
    for columns in _guarded(path, reader(path, rows)):
        log = _arranged(columns, names, str(path), start)
        start += len(log)
        yield log


def _guarded(path: Path, chunks: Iterator[Mapping[str, Array]]) -> Iterator[Mapping[str, Array]]:
    """The chunks; what a library says about a broken file as a FormatError."""
    while True:
        try:
            columns = next(chunks, None)
        except KaneError:
            raise
        except Exception as error:  # every library has errors of its own
            text = " ".join(str(error).split())
            raise FormatError(
                f"The log cannot be read ({type(error).__name__}: {text}).", file=str(path),
                remedy="Is the file whole, and of the type that its name says?",
            ) from error  # fmt: skip
        if columns is None:
            return
        yield columns


# columns to arrays


def _arranged(columns: Mapping[str, Array], names: tuple[tuple[str, ...], ...], source: str, start: int) -> Log:
    """Columns, or whole arrays "q" (n, joints), put in the order of the joints."""
    joints = tuple(several[0] for several in names)
    arrays: dict[str, Array | None] = {}
    for kind, words in KINDS.items():
        whole = next((columns[w] for w in words if w in columns and np.ndim(columns[w]) == 2), None)
        if whole is not None:
            if whole.shape[1] != len(joints):
                raise FormatError(
                    f"{kind} has {whole.shape[1]} columns, the robot {len(joints)} joints.", file=source, name=kind,
                    remedy=f"Order: {', '.join(joints)}.",
                )  # fmt: skip
            arrays[kind] = np.asarray(whole, dtype=np.float64)
            continue
        found = [_column(columns, words, several, k, len(names) == 1) for k, several in enumerate(names)]
        missing = [j for j, f in zip(joints, found, strict=True) if f is None]
        if len(missing) == len(joints):
            arrays[kind] = None
        elif missing:
            raise UnknownNameError(
                f"{kind} of joint {missing[0]!r} has no column; there are: {', '.join(columns)}.", file=source,
                name=missing[0], remedy=f"Name it {words[0]}_{missing[0]}.",
            )  # fmt: skip
        else:
            arrays[kind] = np.stack([columns[f] for f in found if f is not None], axis=1).astype(np.float64)
    if arrays["q"] is None:
        raise UnknownNameError(
            f"No positions of {', '.join(joints)}; there are: {', '.join(columns)}.", file=source, name=joints[0],
            remedy=f"Name them q_{joints[0]}, ...",
        )  # fmt: skip
    return Log(joints, _times(columns), arrays["q"], arrays["qd"], arrays["qdd"], arrays["tau"], source, start)


def _times(columns: Mapping[str, Array]) -> Array | None:
    """The times in seconds, by a name without a unit first."""
    named = {name: _SECONDS[found[1].lower()] for name in columns if (found := _TIME_UNIT.fullmatch(name.strip()))}
    named = {name: 1.0 for name in columns if name.lower() in TIMES} | named
    for name, unit in named.items():
        t = np.asarray(columns[name], dtype=np.float64).reshape(-1)
        return t if unit == 1.0 else t * unit
    return None


def _column(
    columns: Mapping[str, Array], words: Sequence[str], joint: Sequence[str], number: int, single: bool
) -> str | None:
    """The column of a quantity of a joint: by one of its names, else by its number (1, 2, ...); alone if single."""
    plain = {_plain(name): name for name in columns}
    if single and (alone := next((plain[word] for word in words if word in plain), None)):
        return alone
    keys = [_plain(name) for name in joint]
    keys += [key[1:] for key in keys if re.fullmatch(r"q\d+", key)]  # coordinates named q1, q2, ...
    for key in keys:
        for word in words:
            for text in (f"{word}{key}", f"{key}{word}"):
                if text in plain:
                    return plain[text]
    return next((plain[f"{word}{number + 1}"] for word in words if f"{word}{number + 1}" in plain), None)


def _plain(name: str) -> str:
    return re.sub(r"[^0-9a-z]+", "", name.lower())


# readers: path, rows -> chunks of columns

Chunks = Iterator[Mapping[str, Array]]


def _csv(path: Path, rows: int) -> Chunks:
    """Comma, semicolon or tab; the first line holds the names."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        head = file.readline()
        separator = max((",", ";", "\t"), key=head.count)
        names = [name.strip() for name in next(csv.reader([head], delimiter=separator), [])]
        line = 2
        while True:
            block = [text for _, text in zip(range(rows), file, strict=False)]
            if not block:
                return
            try:
                values = np.array([text.split(separator) for text in block if text.strip()], dtype=np.float64)
            except ValueError:
                values = _slowly(block, separator, len(names), path, line)
            if values.size and values.shape[1] != len(names):
                raise FormatError(
                    f"{values.shape[1]} values under {len(names)} names.",
                    file=str(path),
                    line=line,
                    remedy="Repair the line.",
                )
            line += len(block)
            if values.size:
                yield dict(zip(names, values.T, strict=True))


def _slowly(block: Sequence[str], separator: str, width: int, path: Path, first: int) -> Array:
    """A block that is not plain numbers, line by line: empty cells are NaN, what is no number is named."""
    result = []
    for k, text in enumerate(block):
        if not text.strip():
            continue
        cells = [c.strip() for c in text.split(separator)]
        if len(cells) != width:
            raise FormatError(
                f"{len(cells)} values under {width} names.", file=str(path), line=first + k, remedy="Repair the line."
            )
        try:
            result.append([float(c) if c else np.nan for c in cells])
        except ValueError:
            bad = next(c for c in cells if not _is_number(c))
            raise FormatError(
                f"{bad!r} is not a number.", file=str(path), line=first + k, value=bad, remedy="Repair the line."
            ) from None
    return np.array(result)


def _is_number(text: str) -> bool:
    try:
        float(text or "nan")
    except ValueError:
        return False
    return True


def _npz(path: Path, rows: int) -> Chunks:
    with np.load(path, allow_pickle=False) as data:
        yield from _slices({name: data[name] for name in data.files}, rows)


def _mat(path: Path, rows: int) -> Chunks:
    from scipy.io import loadmat

    try:
        data = loadmat(path, squeeze_me=False)
    except (ValueError, NotImplementedError) as error:
        raise FormatError(f"No MAT file that is read: {error}.", file=str(path), remedy="Save it with -v7.") from None
    kept = {n: np.asarray(a) for n, a in data.items() if not n.startswith("__") and np.asarray(a).dtype.kind in "fiu"}
    yield from _slices({n: a.reshape(-1) if 1 in a.shape else a for n, a in kept.items()}, rows)


def _slices(columns: Mapping[str, Array], rows: int) -> Chunks:
    n = max((len(a) for a in columns.values() if np.ndim(a)), default=0)
    kept = {name: a for name, a in columns.items() if np.ndim(a) and len(a) == n}
    for start in range(0, n, rows):
        yield {name: a[start : start + rows] for name, a in kept.items()}


def _parquet(path: Path, rows: int) -> Chunks:
    try:
        import polars
    except ImportError as error:
        raise _missing("polars") from error
    total = polars.scan_parquet(path).select(polars.len()).collect().item()
    for start in range(0, total, rows):
        frame = polars.scan_parquet(path).slice(start, rows).collect()
        yield {name: frame[name].to_numpy() for name in frame.columns if frame[name].dtype.is_numeric()}


def _bag(path: Path, rows: int) -> Chunks:
    """JointState messages of a rosbag2 folder, .db3 or .mcap file; time from the header, else from the bag."""
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError as error:
        raise _missing("rosbags") from error
    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        topics = [c for c in reader.connections if c.msgtype.endswith("JointState")]
        if not topics:
            raise FormatError("The bag has no JointState messages.", file=str(path), remedy="Record /joint_states.")
        block: dict[str, list[float]] = {}
        for connection, received, raw in reader.messages(connections=topics):
            message: Any = reader.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
            row = {"t": stamp or 1e-9 * received}
            for kind in ("position", "velocity", "effort"):
                row |= {f"{name}_{kind}": x for name, x in zip(message.name, getattr(message, kind), strict=False)}
            if block and row.keys() != block.keys():
                continue  # another robot's message on the same topic
            for name, x in row.items():
                block.setdefault(name, []).append(float(x))
            if len(block["t"]) == rows:
                yield {name: np.array(column) for name, column in block.items()}
                block = {name: [] for name in block}
        if block.get("t"):
            yield {name: np.array(column) for name, column in block.items()}


def _missing(name: str) -> MissingExtraError:
    return MissingExtraError(f"This log needs {name}.", name=name, remedy=install("logs"))


READERS: dict[str, Callable[[Path, int], Chunks]] = {
    ".csv": _csv, ".tsv": _csv, ".txt": _csv, ".npz": _npz, ".mat": _mat, ".parquet": _parquet, ".mcap": _bag,
    ".db3": _bag, "": _bag,
}  # fmt: skip
