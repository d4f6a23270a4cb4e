"""Many logs, here or on many machines (dask): each becomes factors, merged in the order of the logs.

The answer is that of all samples in one fit, to rounding, however many workers there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kane.errors import InputError
from kane.identification.checks import broken_samples, refuse
from kane.identification.estimate import chunks_of
from kane.identification.factors import Factors, chunk_factors, merged
from kane.identification.identifier import Identifier
from kane.identification.logs import Log, iter_log, read_log
from kane.identification.signals import differentiated, parallel_filter, sample_time
from kane.identification.torque_model import TorqueModel


def log_factors(model: TorqueModel, path: str | Path, cutoff: float | None = None) -> Factors:
    """Factors of one log.

    As it is, in chunks, when it holds qd and qdd; else filtered below `cutoff` Hz and differentiated.  Raises
    InputError when rates are missing and no cutoff is given, or for samples that are not finite.
    """
    if cutoff is None:
        return merged(_plain(model, path))
    log = read_log(path, model.log_names)
    tau = _required(log, "tau")
    t = _required(log, "t")
    refuse(broken_samples(model, log.q, np.zeros_like(tau), np.zeros_like(tau), tau, t))
    motion = differentiated(t, log.q, tau, cutoff, log.qd)
    W = model.regressor(motion.q, motion.qd, motion.qdd)
    W, thin = parallel_filter(W, motion.tau, sample_time(t), cutoff)
    return merged(chunk_factors(*c) for c in chunks_of(W, thin))


def _plain(model: TorqueModel, path: str | Path) -> Iterator[Factors]:
    for log in iter_log(path, model.log_names):
        qd, qdd, tau = (_required(log, name) for name in ("qd", "qdd", "tau"))
        refuse(broken_samples(model, log.q, qd, qdd, tau))
        for q, *rates, torque in chunks_of(log.q, qd, qdd, tau, blocks=1):
            yield chunk_factors(model.regressor(q, rates[0], rates[1]), torque)


def _required(log: Log, name: str) -> Any:
    value = getattr(log, name)
    if value is None:
        raise InputError(
            f"The log has no {name}.", file=log.source, name=name,
            remedy="Name its columns, or give cutoff= to have rates from positions.",
        )  # fmt: skip
    return value


def _task(settings: dict[str, Any], path: str, cutoff: float | None) -> Factors:
    """What a worker does; it derives the model for itself."""
    return log_factors(Identifier(**settings).model, path, cutoff)


def fit_logs(
    identifier: Identifier, paths: Sequence[str | Path], cutoff: float | None = None, client: Any = None
) -> Identifier:
    """Fit all logs; client: a dask.distributed Client whose workers see the files, else one after the other here."""
    if not paths:
        raise InputError("No logs were given.", name="paths", remedy="Give at least one.")
    if client is None:
        parts: Sequence[Factors] = [log_factors(identifier.model, path, cutoff) for path in paths]
    else:
        settings = identifier.get_params()
        futures = client.map(_task, [settings] * len(paths), [str(p) for p in paths], [cutoff] * len(paths), pure=False)
        parts = client.gather(futures)
    return identifier.fit_factors(merged(parts))
