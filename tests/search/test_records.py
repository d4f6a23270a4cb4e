"""Operation counts of the search against the published records."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kane.graph.evaluate import equal, evaluate
from kane.mechanism.model import Mechanism
from kane.robots.bundled import load as bundled
from kane.search import optimise

sys.path.insert(0, str(Path(__file__).parent))
from record_models import general, puma_full, rx90, stanford


def puma() -> Mechanism:
    return bundled("puma560")


# model, parameters, task, at most (OpenSYMORO's count, for comparison)
QUICK = [
    (puma, "numeric", "inverse_dynamics", 275),  # 349
    (puma, "numeric", "mass_matrix", 118),  # 248
    (stanford, "symbolic", "mass_matrix", 175),  # 252
]
SLOW = [
    (puma, "numeric", "forward_dynamics", 460),  # 988
    (puma_full, "symbolic", "inverse_dynamics", 435),  # 541
    (rx90, "symbolic", "inverse_dynamics", 420),  # 513
    (stanford, "symbolic", "inverse_dynamics", 390),  # 473
    (lambda: stanford(diagonal=True), "symbolic", "inverse_dynamics", 205),  # 239
    (lambda: stanford(diagonal=True), "symbolic", "mass_matrix", 100),  # 151
    (general, "symbolic", "inverse_dynamics", 670),  # 846
]


def check(model: Callable[[], Mechanism], parameters: str, task: str, most: int) -> None:
    found = optimise(model(), task, parameters=parameters)  # type: ignore[arg-type]
    counts = found.program.counts
    assert counts.total <= most
    assert counts.trig <= 12 and counts.div <= 6
    assert equal(found.program, found.unsearched, primes=5)


@pytest.mark.parametrize(("model", "parameters", "task", "most"), QUICK)
def test_records(model: Callable[[], Mechanism], parameters: str, task: str, most: int) -> None:
    check(model, parameters, task, most)


@pytest.mark.sweep
@pytest.mark.parametrize(("model", "parameters", "task", "most"), SLOW)
def test_records_of_larger_models(model: Callable[[], Mechanism], parameters: str, task: str, most: int) -> None:
    check(model, parameters, task, most)


def test_numbers_agree_with_the_unsearched_program() -> None:
    found = optimise(puma(), "mass_matrix")
    q = np.random.default_rng(5).uniform(-3, 3, (200, 6))
    a, b = (evaluate(p, {"q": q})["M"] for p in (found.program, found.unsearched))
    assert np.abs(a - b).max() < 1e-12 * np.abs(b).max()
