"""Many logs, here or on many machines (dask): each becomes factors, merged in the order of the logs.

The answer is that of all samples in one fit, to rounding, however many workers there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from kane.errors import FormatError, InputError
from kane.identification.factors import Factors, merged
from kane.identification.finding import Finding
from kane.identification.identifier import Identifier, shares_of_range
from kane.identification.logs import Log, iter_log, read_log
from kane.identification.signals import differentiated, parallel_filter, sample_time
from kane.identification.stream import Watch, plain_factors, raw_factors
from kane.identification.torque_model import TorqueModel


def log_factors(model: TorqueModel, path: str | Path, cutoff: float | None = None) -> Factors:
    """Factors of one log, read in chunks.

    As it is when it holds qd and qdd; else filtered below `cutoff` Hz and differentiated.  Raises InputError when rates
    are missing and no cutoff is given, or for a log that betrays an error.
    """
    return examined(model, path, cutoff)[0]


def examined(
    model: TorqueModel, path: str | Path, cutoff: float | None, accept: Sequence[str] = ()
) -> tuple[Factors, tuple[Finding, ...]]:
    """Factors of one log and what was found in it; accept: kinds of findings that are not refused."""
    watch = Watch(model, accept)
    logs = iter_log(path, model.log_names)
    parts = (
        plain_factors(model, _plain(logs), watch) if cutoff is None else raw_factors(model, _raw(logs), cutoff, watch)
    )
    return merged(parts), watch.findings()


def fit_log(identifier: Identifier, path: str | Path, cutoff: float | None = None) -> Identifier:
    """Fit one log of any size: raw when a cutoff is given, else with its own qd and qdd.

    It is held in memory when it is one chunk long, or when the method is "irls".
    """
    names = identifier.model.log_names
    if cutoff is None and identifier.method == "irls":
        return _whole(identifier, read_log(path, names))
    logs = iter_log(path, names)
    head = list(islice(logs, 2))
    if not head:
        raise FormatError("The log is empty.", file=str(path), remedy="Record a motion first.")
    if cutoff is not None:
        return identifier.fit_raw_chunks(_raw(chain(head, logs)), cutoff)
    if len(head) == 1:
        return _whole(identifier, head[0])
    return identifier.fit_chunks(_plain(chain(head, logs)))


def predicted_log(
    identifier: Identifier, path: str | Path, cutoff: float | None = None
) -> dict[str, tuple[float, float]]:
    """For each joint the root mean square error of predicted torques of a log, and its share of the torque's range.

    A raw log's torques and predictions are compared below the cutoff (Hz).
    """
    model = identifier.model
    log = read_log(path, model.log_names)
    if cutoff is None:
        return identifier.prediction_error(log.q, *(_required(log, name) for name in ("qd", "qdd", "tau")))
    t = _required(log, "t")
    motion = differentiated(t, log.q, _required(log, "tau"), cutoff, log.qd)
    W, tau = parallel_filter(model.regressor(motion.q, motion.qd, motion.qdd), motion.tau, sample_time(t), cutoff)
    return shares_of_range(model.joints, tau - W @ identifier.x_, tau)


def _whole(identifier: Identifier, log: Log) -> Identifier:
    return identifier.fit(log.q, _required(log, "qd"), _required(log, "qdd"), _required(log, "tau"), log.t)


def _plain(logs: Iterable[Log]) -> Iterator[tuple[Any, ...]]:
    for log in logs:
        yield (log.q, *(_required(log, name) for name in ("qd", "qdd", "tau")), log.t)


def _raw(logs: Iterable[Log]) -> Iterator[tuple[Any, Any, Any, Any]]:
    for log in logs:
        yield _required(log, "t"), log.q, _required(log, "tau"), log.qd


def _required(log: Log, name: str) -> Any:
    value = getattr(log, name)
    if value is None:
        told = {"t": "Record times.", "tau": "Record tau of every joint."}
        rates = "Record times and give a cutoff (Hz) to have rates from positions, or record qd and qdd."
        raise InputError(f"The log has no {name}.", file=log.source, name=name, remedy=told.get(name, rates))
    return value


def _task(settings: dict[str, Any], path: str, cutoff: float | None) -> tuple[Factors, tuple[Finding, ...]]:
    """What a worker does; it derives the model for itself."""
    identifier = Identifier(**settings)
    return examined(identifier.model, path, cutoff, identifier.accept)


def fit_logs(
    identifier: Identifier, paths: Sequence[str | Path], cutoff: float | None = None, client: Any = None
) -> Identifier:
    """Fit all logs; client: a dask.distributed Client whose workers see the files, else one after the other here."""
    if not paths:
        raise InputError("No logs were given.", name="paths", remedy="Give at least one.")
    if client is None:
        parts: Sequence[Any] = [examined(identifier.model, path, cutoff, identifier.accept) for path in paths]
    else:
        settings = identifier.get_params()
        futures = client.map(_task, [settings] * len(paths), [str(p) for p in paths], [cutoff] * len(paths), pure=False)
        parts = client.gather(futures)
    still = set.intersection(*({f.joint for f in found if f.kind == "still"} for _, found in parts))
    findings = [
        replace(f, text=f"{Path(path).name}: {f.text}")
        for path, (_, found) in zip(paths, parts, strict=True)
        for f in found
        if f.kind != "still" or f.joint in still
    ]
    return identifier.fit_factors(merged(factors for factors, _ in parts), findings)
