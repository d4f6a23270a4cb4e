"""Evaluation of tasks in tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kane.equations.derive import derive_task
from kane.equations.system import Parameters
from kane.graph.evaluate import evaluate
from kane.mechanism.model import Mechanism


def values(
    mechanism: Mechanism,
    task: str,
    state: Mapping[str, np.ndarray],
    frame: str | None = None,
    external: Sequence[str] = (),
    parameters: Parameters = "numeric",
) -> dict[str, np.ndarray]:
    """All outputs of a task; run-time parameters by the values of the description."""
    made = derive_task(mechanism, task, frame, parameters, external)
    p = [np.nan if x is None else x for x in made.parameters.values()]
    return evaluate(made.program, {"p": np.array(p)} | dict(state))


def value(mechanism: Mechanism, task: str, state: Mapping[str, np.ndarray], **options: object) -> np.ndarray:
    """The first output of a task."""
    return next(iter(values(mechanism, task, state, **options).values()))  # type: ignore[arg-type]
