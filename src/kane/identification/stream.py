"""Chunks that follow each other: factors in bounded memory, checked as one log, raw ones filtered without seams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kane.errors import InputError
from kane.identification.checks import broken_samples, check_log, noisy_rates, refuse
from kane.identification.estimate import chunks_of
from kane.identification.factors import Factors, chunk_factors
from kane.identification.finding import Finding
from kane.identification.signals import differentiated, edge, encoder_noise, parallel_filter, sample_time
from kane.identification.torque_model import TorqueModel

Array = np.ndarray[Any, np.dtype[Any]]


class Watch:
    """Looks at chunks one after the other: refuses what is refused in a log, keeps the first finding of each kind."""

    def __init__(self, model: TorqueModel, accept: Sequence[str] = ()) -> None:
        self.model, self.accept = model, accept
        self._found: dict[tuple[str, str], Finding] = {}
        self._still: set[str] | None = None
        self._last: float | None = None

    def broken(self, q: Array, qd: Array, qdd: Array, tau: Array, t: Array | None, start: int) -> None:
        """Refuse values that are not finite and times that do not increase, also from one chunk to the next."""
        found = [replace_sample(f, start) for f in broken_samples(self.model, q, qd, qdd, tau, t)]
        if t is not None and len(t):
            if not found and self._last is not None and t[0] <= self._last:
                text = f"Time does not increase: {self._last:.9g} s, then {t[0]:.9g} s at sample {start}."
                found = [Finding("time", text, sample=start)]
            self._last = float(t[-1])
        refuse(found, self.accept)

    def look(self, q: Array, qd: Array, qdd: Array, tau: Array, t: Array | None, start: int) -> None:
        """All checks of a chunk; those that fit the model at the first one only."""
        first = self._still is None
        found = [replace_sample(f, start) for f in check_log(self.model, q, qd, qdd, tau, t, first)]
        refuse(found, self.accept)
        still = {f.joint for f in found if f.kind == "still"}
        self._still = still if self._still is None else self._still & still
        self.keep(found)

    def keep(self, found: Iterable[Finding]) -> None:
        """Remember findings that are new."""
        for finding in found:
            self._found.setdefault((finding.kind, finding.joint), finding)

    def findings(self) -> tuple[Finding, ...]:
        """All of all chunks; a joint never moved when it moved in none."""
        return tuple(f for f in self._found.values() if f.kind != "still" or f.joint in (self._still or ()))


def replace_sample(finding: Finding, start: int) -> Finding:
    """The finding of a chunk with the sample of the log that the chunk starts at."""
    if not start or finding.sample is None:
        return finding
    old, new = finding.sample, finding.sample + start
    text = finding.text.replace(f"sample {old}", f"sample {new}").replace(f"samples {old} to", f"samples {new} to")
    return replace(finding, sample=new, text=text)


def plain_factors(model: TorqueModel, chunks: Iterable[Sequence[Any]], watch: Watch) -> Iterator[Factors]:
    """Factors of chunks (q, qd, qdd, tau) or (q, qd, qdd, tau, t)."""
    start = 0
    for chunk in chunks:
        q, qd, qdd, tau = model.checked(*chunk[:4])
        t = None if len(chunk) < 5 or chunk[4] is None else np.asarray(chunk[4], dtype=np.float64)
        watch.broken(q, qd, qdd, tau, t, start)
        watch.look(q, qd, qdd, tau, t, start)
        start += len(q)
        for part in chunks_of(q, qd, qdd, tau, blocks=1):
            yield chunk_factors(model.regressor(*part[:3]), part[3])


def raw_factors(
    model: TorqueModel, chunks: Iterable[tuple[Any, Any, Any, Any]], cutoff: float, watch: Watch
) -> Iterator[Factors]:
    """Factors of raw chunks (t, q, tau, qd or None), filtered below `cutoff` Hz."""
    for W, tau in raw_rows(model, chunks, cutoff, watch):
        yield from (chunk_factors(*part) for part in chunks_of(W, tau))


def raw_rows(
    model: TorqueModel, chunks: Iterable[tuple[Any, Any, Any, Any]], cutoff: float, watch: Watch
) -> Iterator[tuple[Array, Array]]:
    """W (n, nv, k) and tau (n, nv) of raw chunks, filtered and thinned.

    The filters spoil `edge` samples at each end, twice; as many are seen again with the next chunk.
    """
    held: list[Array] | None = None
    first = True
    start = 0
    for chunk in chunks:
        t, q, tau = (np.asarray(a, dtype=np.float64) for a in chunk[:3])
        speeds = None if chunk[3] is None else np.asarray(chunk[3], dtype=np.float64)
        q, qd, _, tau = model.checked(q, np.zeros_like(tau) if speeds is None else speeds, np.zeros_like(tau), tau)
        watch.broken(q, qd, np.zeros_like(tau), tau, t, start)
        arrays = [t, q, tau, qd]
        if held is not None:
            arrays = [np.concatenate(pair) for pair in zip(held, arrays, strict=True)]
        offset = start + len(t) - len(arrays[0])
        start += len(t)
        t, q, tau, qd = arrays
        step = sample_time(t, offset)
        overlap = 4 * edge(step, cutoff)
        if not first and len(t) <= overlap + 4:
            continue
        motion = differentiated(t, q, tau, cutoff, None if speeds is None else qd)
        watch.look(motion.q, motion.qd, motion.qdd, motion.tau, motion.t, offset + motion.trimmed)
        if first:
            watch.keep(noisy_rates(model, encoder_noise(q, step, cutoff), motion.qdd))
        yield parallel_filter(model.regressor(motion.q, motion.qd, motion.qdd), motion.tau, step, cutoff)
        first = False
        held = [a[-overlap:] for a in arrays]
    if first:
        raise InputError("There are no samples.", name="chunks", remedy="Record a motion first.")
