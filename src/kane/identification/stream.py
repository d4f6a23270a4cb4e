"""Chunks that follow each other: factors in bounded memory, checked as one log, raw ones filtered without seams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kane.errors import InputError, ShapeError
from kane.identification.checks import broken_samples, check_log, noisy_rates, refuse
from kane.identification.estimate import chunks_of
from kane.identification.factors import Factors, chunk_factors
from kane.identification.finding import Finding
from kane.identification.signals import (
    FEWEST,
    checked_cutoff,
    differentiated,
    edge,
    encoder_noise,
    parallel_filter,
    sample_time,
)
from kane.identification.torque_model import TorqueModel
from kane.mechanism.given import real_array

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
        refuse(found, self.accept)
        if t is not None and len(t):
            self._last = float(t[-1])

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
    for chunk in _checked(chunks, "q, qd, qdd, tau[, t]", 4):
        q, qd, qdd, tau = model.checked(*chunk[:4])
        t = None if len(chunk) < 5 or chunk[4] is None else real_array("t", chunk[4])
        watch.broken(q, qd, qdd, tau, t, start)
        watch.look(q, qd, qdd, tau, t, start)
        start += len(q)
        for part in chunks_of(q, qd, qdd, tau, blocks=1):
            yield chunk_factors(model.regressor(*part[:3]), part[3])
    if not start:
        raise _nothing()


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
    first, measured, start, offset = True, False, 0, 0
    cutoff = checked_cutoff(cutoff)

    def piece(arrays: Sequence[Array], step: float) -> tuple[Array, Array]:
        t, q, tau, qd = arrays
        motion = differentiated(t, q, tau, cutoff, qd if measured else None)
        watch.look(motion.q, motion.qd, motion.qdd, motion.tau, motion.t, offset + motion.trimmed)
        if first:
            watch.keep(noisy_rates(model, encoder_noise(q, step, cutoff), motion.qdd))
        return parallel_filter(model.regressor(motion.q, motion.qd, motion.qdd), motion.tau, step, cutoff)

    for chunk in _checked(chunks, "t, q, tau[, qd]", 3):
        t, q, tau = (real_array(name, a) for name, a in zip(("t", "q", "tau"), chunk, strict=False))
        measured = len(chunk) > 3 and chunk[3] is not None
        q, qd, _, tau = model.checked(q, chunk[3] if measured else np.zeros_like(tau), np.zeros_like(tau), tau)
        watch.broken(q, qd, np.zeros_like(tau), tau, t, start)
        arrays = [t, q, tau, qd]
        if held is not None:
            arrays = [np.concatenate(pair) for pair in zip(held, arrays, strict=True)]
        offset = start + len(t) - len(arrays[0])
        start += len(t)
        held = arrays
        if len(held[0]) < FEWEST:
            continue
        step = sample_time(held[0], offset)
        overlap = 4 * edge(step, cutoff)
        if len(held[0]) <= overlap + 4:
            continue  # too few for the filters: they wait for the next chunk
        yield piece(held, step)
        first = False
        held = [a[-overlap:] for a in held]
    if first:
        if held is None or not len(held[0]):
            raise _nothing()
        yield piece(held, sample_time(held[0]))


def _checked(chunks: Any, form: str, least: int) -> Iterator[Sequence[Any]]:
    """The chunks, each of which has the arrays of `form`: `least` of them or one more.  Raises ShapeError."""
    remedy = f"Give an iterable of chunks ({form})."
    if isinstance(chunks, (str, bytes)) or not isinstance(chunks, Iterable):
        raise ShapeError(f"chunks is {chunks!r}.", name="chunks", value=repr(chunks)[:200], remedy=remedy)
    for n, chunk in enumerate(chunks):
        if not isinstance(chunk, Sequence) or isinstance(chunk, (str, bytes)) or len(chunk) not in (least, least + 1):
            given = f"{len(chunk)} arrays" if isinstance(chunk, Sequence) else type(chunk).__name__
            raise ShapeError(f"Chunk {n} is {given}.", name="chunks", value=n, remedy=remedy)
        yield chunk


def _nothing() -> InputError:
    return InputError("There are no samples.", name="chunks", remedy="Record a motion first.")
